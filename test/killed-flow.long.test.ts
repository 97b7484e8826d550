/**
 * SIGKILL after any step of a flow into files, from the reading of the documents to the answer that is recorded: each
 * document is in one whole file, once, and no number that a receiver knows it by is there twice.
 *
 * @module-tag numbers
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { XMLValidator } from "fast-xml-parser";
import { expect, test } from "vitest";
import { push, recover, runFlow } from "../src/engine/daemon.ts";
import { tempFolder } from "./support/folder.ts";
import { type FormatName, killedFlow, NUMBERS } from "./support/killed-flow.ts";
import { areAll } from "./support/runs.ts";
import { read } from "./files/x12.ts";

const PROGRAM = fileURLToPath(new URL("./support/killed-flow-program.ts", import.meta.url));
const STEPS_MAX = 200;
const { signal } = new AbortController();

interface Case {
  readonly format: FormatName;
  /** The document's number, and the number that the file has for its receiver. */
  readonly numberOf: RegExp;
  readonly controlOf: RegExp;
  readonly isWhole: (text: string) => boolean;
}

const cases: readonly Case[] = [
  {
    format: "x12",
    numberOf: /~BIG\*\d+\*([^*]+)\*/,
    controlOf: /^ISA.{87}(\d{9})/,
    isWhole: (text) => {
      const partner = { us: { id: "ACMEOIL" }, partner: { id: "SUPPLIERCO" } };
      return read("books.invoices", text, partner).changes[0]?.fault === undefined;
    },
  },
  {
    format: "idoc",
    numberOf: /<BELNR>([^<]+)</,
    controlOf: /<DOCNUM>(\d{16})</,
    isWhole: (text) =>
      XMLValidator.validate(text) === true && text.endsWith("</IDOC></INVOIC02>\n"),
  },
];

/** What the daemon does after a restart, until nothing is left to do. */
async function finish(folder: string, format: FormatName): Promise<void> {
  const { engine, flow, clock, store } = killedFlow(folder, format);
  recover(engine, flow);
  let { progress, wakeAt } = await runFlow(engine, flow, signal);
  for (let tries = 0; tries < 20 && (progress > 0 || wakeAt !== null); tries++) {
    clock.advance(60_000);
    ({ progress, wakeAt } = await push(engine, flow, signal));
    if (store.deliveries.counts(flow.flow).get("delivered") === NUMBERS.length) break;
  }
  store.close();
}

/** The first group of each text. */
const foundIn = (texts: readonly string[], pattern: RegExp): string[] =>
  texts.map((text) => pattern.exec(text)?.[1] ?? "");

/** Most steps are the engine's and the folder's, whatever is in the file: of the second format a third of them. */
const strideOf = (format: FormatName): number => (format === "x12" || areAll ? 1 : 3);

test.each(cases)(
  "a flow into $format, killed after each of its steps: each document is out once, whole, under a number of its own",
  async ({ format, numberOf, controlOf, isWhole }) => {
    const stride = strideOf(format);
    let kills = 0;
    for (let step = 1; step <= STEPS_MAX; step += stride) {
      const folder = tempFolder();
      mkdirSync(join(folder, "state"));
      const args = [PROGRAM, format, folder, String(step)];
      const child = spawn(process.execPath, args, { stdio: "inherit" });
      const [code, killed] = (await once(child, "exit")) as [number | null, string | null];
      if (killed === null) {
        expect(code).toBe(0);
        break;
      }
      kills++;
      const textsIn = (): string[] => {
        const out = join(folder, "out");
        return existsSync(out)
          ? readdirSync(out).map((name) => readFileSync(join(out, name), "latin1"))
          : [];
      };
      // What a receiver may take at this very moment is whole, too.
      expect(
        textsIn().filter((text) => !isWhole(text)),
        `step ${step}`,
      ).toEqual([]);
      await finish(folder, format);
      const texts = textsIn();
      expect(foundIn(texts, numberOf).toSorted(), `step ${step}`).toEqual(NUMBERS);
      const controls = foundIn(texts, controlOf);
      expect(controls).not.toContain("");
      expect(new Set(controls).size).toBe(NUMBERS.length);
      expect(texts.filter((text) => !isWhole(text))).toEqual([]);
    }
    expect(kills).toBeGreaterThan(20 / stride);
  },
);

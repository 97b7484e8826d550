/**
 * SIGKILL after any step of a flow into X12, from the reading of the documents to the answer that is recorded: each document
 * is in one whole interchange, once, and no control number is there twice.
 *
 * @module-tag numbers
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { push, recover, runFlow } from "../src/engine/run.ts";
import { tempFolder } from "./support/folder.ts";
import { killedFlow, NUMBERS } from "./support/x12-killed.ts";
import { read } from "../connectors/files/x12/x12.fixture.ts";

const PROGRAM = fileURLToPath(new URL("./support/x12-killed-program.ts", import.meta.url));
const STEPS_MAX = 200;
const { signal } = new AbortController();

/** What the daemon does after a restart, until nothing is left to do. */
async function finish(folder: string): Promise<void> {
  const { engine, flow, clock, store } = killedFlow(folder);
  recover(engine, flow);
  let { progress, wakeAt } = await runFlow(engine, flow, signal);
  for (let tries = 0; tries < 20 && (progress > 0 || wakeAt !== null); tries++) {
    clock.advance(60_000);
    ({ progress, wakeAt } = await push(engine, flow, signal));
    if (store.deliveries.counts(flow.flow).get("delivered") === NUMBERS.length) break;
  }
  store.close();
}

test("a flow of invoices, killed after each of its steps: each is out once, under a number of its own", async () => {
  let kills = 0;
  for (let step = 1; step <= STEPS_MAX; step++) {
    const folder = tempFolder();
    mkdirSync(join(folder, "state"));
    const child = spawn(process.execPath, [PROGRAM, folder, String(step)], { stdio: "inherit" });
    const [code, killed] = (await once(child, "exit")) as [number | null, string | null];
    if (killed === null) {
      expect(code).toBe(0);
      break;
    }
    kills++;
    await finish(folder);
    const texts = readdirSync(join(folder, "out")).map((name) =>
      readFileSync(join(folder, "out", name), "latin1"),
    );
    const numbers = texts.map((text) => /~BIG\*\d+\*([^*]+)\*/.exec(text)?.[1] ?? "");
    expect(numbers.toSorted(), `step ${step}`).toEqual(NUMBERS);
    expect(new Set(texts.map((text) => text.slice(90, 99))).size).toBe(NUMBERS.length);
    // Whole: the partner's reader takes each.
    const partner = { us: { id: "ACMEOIL" }, partner: { id: "SUPPLIERCO" } };
    for (const text of texts)
      expect(read("books.invoices", text, partner).changes[0]?.fault).toBeUndefined();
  }
  expect(kills).toBeGreaterThan(20);
});

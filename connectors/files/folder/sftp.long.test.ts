/**
 * Kills and cuts at every point of a delivery over SFTP, with an ERP that takes files away at once: a final file is never
 * partial, and never there twice.
 *
 * @module-tag numbers
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { files } from "../index.ts";
import type { Endpoint, Item, Outgoing, Sink } from "../../../src/core/contract.ts";
import { bill, itemOf, sinkConfig } from "../../../test/files/idoc.ts";
import { type Deed, startHostileServer, type Verb } from "../../../test/files/sftp-server.ts";
import { invoice, item, line } from "../../../test/files/sink.ts";
import { agreed, itemOf as orderedItem, order } from "../../../test/files/x12.ts";
import { tempFolder } from "../../../test/support/folder.ts";
import { isThere } from "../../../test/support/machine.ts";
import { startSshd } from "../../../test/support/sshd.ts";
import { surroundingsIn } from "../../../test/support/surroundings.ts";

const signal = new AbortController().signal;
const SENT = "2026-03-02T09:00:00.000Z";
const PROGRAM = fileURLToPath(new URL("../../../test/files/sftp-kill-program.ts", import.meta.url));
const STEPS_MAX = 60;

/** Of more than three writes. */
const large = item(
  invoice({ lines: Array.from({ length: 1_000 }, () => line("ULSD2", "8000", "2.3457", "1.00")) }),
);

/** A sink of each format, and what goes into it. */
const FORMATS: readonly (readonly [string, object, Item])[] = [
  ["a table", { document: "customer-invoices", folder: "in" }, large],
  ["an IDoc", { ...sinkConfig("INVOIC"), folder: "in" }, itemOf(bill())],
  [
    "an interchange",
    { format: "x12", document: "orders", folder: "in", x12: agreed },
    orderedItem(order()),
  ],
];

interface Erp {
  readonly config: Record<string, unknown>;
  /** Takes what lies there now; every file is whole. */
  readonly take: () => void;
  /** How many files it has taken. */
  readonly taken: () => number;
}

function erp(sftp: object, body: () => string, books: object = FORMATS[0]?.[1] ?? {}): Erp {
  const folder = tempFolder();
  const [target, read] = [join(folder, "in"), join(folder, "books")];
  mkdirSync(target);
  mkdirSync(read);
  let count = 0;
  return {
    config: {
      folder,
      sftp,
      sinks: { books },
    },
    take() {
      for (const name of readdirSync(target)) {
        expect(readFileSync(join(target, name), "utf8")).toBe(body());
        renameSync(join(target, name), join(read, String(++count)));
      }
    },
    taken: () => readdirSync(read).length,
  };
}

function open(config: unknown): Endpoint {
  const endpoint = files.open(
    files.config.parse(config),
    surroundingsIn("/nowhere", { now: () => new Date("2026-03-02T08:00:00Z") }),
  );
  onTestFinished(() => endpoint.close());
  return endpoint;
}

/** The number is that of an interchange; other formats have none. */
function requestOf(sink: Sink, one: Item = large): Outgoing {
  return { ...sink.freeze([one], 117), key: "fb1_key", items: [one], firstSentAt: null };
}

/** What the engine does after a restart, until it is done. */
async function recover(sink: Sink, request: Outgoing, take: () => void): Promise<void> {
  for (let tries = 0; tries < 5; tries++) {
    if (request.firstSentAt !== null) {
      const { found } = await sink.find(request, signal);
      take();
      if (found === "exact") return;
      expect(found).toBe("none");
    }
    await sink.prepare?.(request, signal);
    const { outcome } = await sink.send({ ...request, firstSentAt: SENT }, signal);
    take();
    if (outcome === "done") return;
  }
  throw new Error("it was not delivered in five tries");
}

describe.runIf(isThere("sshd"))("OpenSSH", () => {
  test.each(FORMATS)(
    "%s, SIGKILL after any answer of the server: one whole file, once",
    async (_name, books, one) => {
      const sshd = await startSshd();
      onTestFinished(() => sshd.end());
      let kills = 0;
      // The steps are those of the connector, whatever is in the file: of each format but one a sixth of them.
      const stride = one === large ? 1 : 6;
      for (const phase of ["prepare", "send"] as const)
        for (let step = 1; step <= STEPS_MAX; step += stride) {
          let body = "";
          const { config, take, taken } = erp(sshd.sftp, () => body, books);
          const sink = open(config).sinks["books"] as Sink;
          const request = requestOf(sink, one);
          ({ body } = request);
          if (phase === "send") await sink.prepare?.(request, signal);
          const sent = phase === "send" ? { ...request, firstSentAt: SENT } : request;
          const work = join(config["folder"] as string, "work");
          writeFileSync(work, JSON.stringify({ config, phase, request: sent, step }));
          const child = spawn(process.execPath, [PROGRAM, work], { stdio: "inherit" });
          const [code, killed] = (await once(child, "exit")) as [number | null, string | null];
          if (killed !== "SIGKILL") expect(code).toBe(0);
          take();
          await recover(sink, sent, take);
          expect(taken(), `${phase} ${step}`).toBe(1);
          if (killed === null) break;
          kills++;
        }
      expect(kills).toBeGreaterThan(20 / stride);
    },
  );
});

const POINTS: readonly (readonly [string, Verb, number])[] = [
  ["the opening", "OPEN", 1],
  ["the first write", "WRITE", 1],
  ["a write in the middle", "WRITE", 3],
  ["the closing", "CLOSE", 1],
  ["the reading back", "READ", 2],
  ["the look before the move", "LSTAT", 3],
  ["the move", "RENAME", 1],
];
const DEEDS: readonly Deed[] = ["dies", "dies-after", "hangs", "hangs-after", "fails"];

test.each(POINTS)(
  "the server breaks off at %s, before or after it did it: one whole file, once",
  async (_name, verb, nth) => {
    const server = await startHostileServer();
    onTestFinished(() => server.end());
    for (const deed of DEEDS) {
      let body = "";
      const { config, take, taken } = erp({ ...server.sftp, timeoutMs: 1_500 }, () => body);
      server.planned(() => "does");
      const sink = open(config).sinks["books"] as Sink;
      const request = requestOf(sink);
      ({ body } = request);
      let left = nth;
      server.planned((asked, _count, path) =>
        asked === verb && path.endsWith(".part") && --left === 0 ? deed : "does",
      );
      let sent = request;
      try {
        await sink.prepare?.(request, signal);
        sent = { ...request, firstSentAt: SENT };
        await sink.send(sent, signal);
      } catch (error) {
        expect(error).toMatchObject({ name: "SourceUnavailable" });
      }
      expect(left, `${verb} ${deed} was never reached`).toBeLessThanOrEqual(0);
      take();
      await recover(sink, sent, take);
      expect(taken(), `${verb} ${deed}`).toBe(1);
    }
  },
);

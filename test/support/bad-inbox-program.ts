/** Reads inboxes of prices in four formats to the platform, and prints what the store says of each row, and the most memory. */
import { join } from "node:path";
import Database from "better-sqlite3";
import { files } from "../../connectors/files/index.ts";
import { mappings } from "../../mappings/index.ts";
import { calendarOf } from "../../src/core/time.ts";
import { push, runFlow } from "../../src/engine/daemon.ts";
import { openPlatform } from "../../src/platform/endpoint.ts";
import { storeFile } from "../../src/store/database.ts";
import { openScratch } from "../../src/store/scratch.ts";
import { sourcesIn, type ToldRow } from "../files/bad-inbox.ts";
import { testClock } from "./clock.ts";
import { engineOn } from "./engine.ts";
import { peakMb } from "./memory.ts";
import { surroundingsIn } from "./surroundings.ts";

export interface Told {
  readonly rows: readonly ToldRow[];
  readonly obstacles: readonly {
    readonly flow: string;
    readonly what: string;
    readonly code: string;
  }[];
  readonly peakMb: number;
}

const [, , folder = "", url = "", apiKey = "", now = ""] = process.argv;
const state = join(folder, "state");
const clock = testClock(Number(now));
const bench = engineOn(state, clock);
const row = (_table: string, key: string) => ({ terminal: key, product: key });
const engine = { ...bench.engine, tables: { row } };
const platform = openPlatform({
  url,
  apiKey,
  auth: "bearer",
  environment: "live",
  version: "0.0.0-test",
  clock,
  governor: { admit: () => Promise.resolve({ admitted: true }), learn: () => {} },
  overlapMs: 300_000,
  settleMs: null,
  dayOf: calendarOf("America/Chicago"),
});
const { sources } = files.open(
  files.config.parse({ folder: ".", settleMs: 0, sources: sourcesIn() }),
  surroundingsIn(folder, { scratch: (bytes) => openScratch(state, bytes) }),
);
const mapping = mappings.find(({ name }) => name === "books/rack-prices");
const sink = platform.sinks["rackPrices"];
if (mapping === undefined || sink === undefined) throw new Error("no flow");
const { signal } = new AbortController();
for (const [name, source] of Object.entries(sources)) {
  const flow = bench.flow({ name, mapping, source, sink, side: "erp", from: `erp.${name}` });
  let ran: Pick<Awaited<ReturnType<typeof runFlow>>, "progress" | "wakeAt"> = await runFlow(
    engine,
    flow,
    signal,
  );
  for (let tries = 0; tries < 20 && (ran.progress > 0 || ran.wakeAt !== null); tries++) {
    clock.advance(60_000);
    ran = await push(engine, flow, signal);
  }
}
bench.store.close();
await platform.close();
const database = new Database(storeFile(state), { readonly: true });
const told: Told = {
  rows: database
    .prepare<[], ToldRow>(
      `select flow.name as flow, record.id, delivery.origin, delivery.state
       from delivery join record using (record) join flow on flow.flow = delivery.flow`,
    )
    .all(),
  obstacles: database
    .prepare<[], Told["obstacles"][number]>(
      "select flow.name as flow, blocked_file.name as what, code from blocked_file join flow using (flow)",
    )
    .all(),
  peakMb: peakMb(),
};
process.stdout.write(JSON.stringify(told));

/**
 * `npm run bench [pull|road|growth|outbound|workers|faults|tryton|reconcile|match|demo|memory|companies|large-file|files|sandbox|house|console|requests]`: without a name all of them, one after the other.
 * Figures move with the machine; the ratios, taken in one run, are what counts. A target that is missed is said and
 * fails nothing.
 */
import { parseArgs } from "node:util";
import { benchConsole } from "./console.ts";
import { benchDemo } from "./demo.ts";
import { benchFaults } from "./faults.ts";
import { benchFiles, benchIdoc } from "./files.ts";
import { benchGrowth } from "./growth.ts";
import { benchHouse } from "./house.ts";
import { benchLargeFile } from "./large-file.ts";
import { benchLine } from "./line.ts";
import { benchMatch } from "./match.ts";
import { benchCompanies, benchMemory } from "./memory.ts";
import { benchOutbound } from "./outbound.ts";
import { benchPull } from "./pull.ts";
import { benchRequests } from "./requests.ts";
import { benchRoad } from "./road.ts";
import { benchReconcile, benchReconcileSite } from "./reconcile.ts";
import { benchSandbox } from "./sandbox.ts";
import { benchWorkers } from "./workers.ts";
import { benchTryton } from "./tryton.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    /** Pairs of 20,000 records; of 200,000 there are half as many. */
    rounds: { type: "string", default: "4" },
    /** That are sent by each side. */
    jobs: { type: "string", default: "5000" },
    /** What the sandbox holds. */
    records: { type: "string", default: "200000" },
    /** In the store whose console is looked at. */
    documents: { type: "string", default: "1000000" },
    /** Of the demo's business. */
    days: { type: "string", default: "31" },
  },
});
const rounds = Number(values.rounds);
const benches: Readonly<Record<string, () => Promise<void>>> = {
  pull: () => benchPull({ 20_000: rounds, 200_000: Math.ceil(rounds / 2) }),
  road: () => benchRoad([20_000, 200_000], Math.ceil(rounds / 2)),
  growth: () => benchGrowth(10_000, 1_000_000, Math.ceil(rounds / 2)),
  outbound: () => benchOutbound(Number(values.jobs), rounds),
  workers: () => benchWorkers(Math.ceil(Number(values.jobs) / 5), rounds),
  faults: () => benchFaults(Math.ceil(rounds / 2)),
  tryton: () => benchTryton(200, rounds),
  reconcile: async () => {
    await benchReconcile(20_000, rounds);
    await benchReconcileSite(20_000, Math.ceil(rounds / 2));
  },
  match: () => benchMatch(100_000, Math.ceil(rounds / 2)),
  demo: benchDemo,
  memory: benchMemory,
  companies: benchCompanies,
  "large-file": benchLargeFile,
  files: async () => {
    await benchFiles(rounds);
    await benchIdoc(rounds);
    await benchLine(Math.ceil(rounds / 2));
  },
  sandbox: () => benchSandbox(Number(values.records)),
  house: benchHouse,
  console: () => benchConsole(Number(values.documents), rounds),
  requests: () => benchRequests(Number(values.days)),
};

const unknown = positionals.filter((name) => !Object.hasOwn(benches, name));
if (unknown.length > 0 || !(rounds >= 1)) {
  process.stderr.write(
    `npm run bench [${Object.keys(benches).join("|")}] [-- --rounds 4 --records 200000 --jobs 5000]\n`,
  );
  process.exitCode = 2;
} else
  for (const [name, bench] of Object.entries(benches))
    if (positionals.length === 0 || positionals.includes(name)) await bench();

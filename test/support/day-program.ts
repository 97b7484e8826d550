/**
 * A hub, or the companies of a configuration, as one process whose clock its test moves: `fork("day-program.ts", [FILE])`. Between two
 * moves time goes on as it does; a move lets what is due by then be done at once. It tells `quiet` when nothing is under way.
 */
import { subscribe } from "node:diagnostics_channel";
import { composeDaemon } from "../../src/app/compose.ts";
import { loadCompanies } from "../../src/app/configuration.ts";
import { boundGarbage, systemClock } from "../../src/app/process.ts";
import { startServices } from "../../src/app/services.ts";
import type { Clock } from "../../src/core/time.ts";
import { logOf, openLog } from "../../src/log.ts";
import type { Status } from "../../src/office/answers.ts";

/** `aheadMs`: of this machine's clock. */
export type Told = { readonly aheadMs: number } | { readonly ask: "status" };

export type Tells =
  /** Nothing is under way since the clock is so far ahead. */
  { readonly quiet: number } | { readonly statuses: readonly Status[] };

const LOOK_MS = 15;
/** Nothing is under way when nothing was for so many looks. */
const LOOKS = 4;

let aheadMs = Number(process.env["FUELBRIDGE_AHEAD_MS"] ?? 0);
let moved = new AbortController();
const machineNow = Date.now;
Date.now = () => machineNow() + aheadMs;

const system = systemClock();
const clock: Clock = {
  ...system,
  now() {
    const { machine, monoMs, wallMs, boot } = system.now();
    const now = { boot, monoMs: monoMs + aheadMs, wallMs };
    if (machine === undefined) return now;
    return { ...now, machine: { ...machine, upMs: machine.upMs + aheadMs } };
  },
  async pause(ms, signal) {
    if (ms <= 0 || signal?.aborted === true) return;
    const dueMs = clock.now().monoMs + ms;
    await system.pause(ms, AbortSignal.any([moved.signal, ...(signal ? [signal] : [])]));
    await clock.pause(dueMs - clock.now().monoMs, signal);
  },
};

let asked = 0;
let underWay = 0;
subscribe("undici:request:create", () => (asked++, underWay++));
for (const end of ["undici:request:trailers", "undici:request:error"])
  subscribe(end, () => underWay--);

const tell = (what: Tells): void => void process.send?.(what);

const [file = ""] = process.argv.slice(2);
const log = openLog({ level: "error", secrets: [], to: "stderr" });
const keys = new Map();
const daemons = await Promise.all(
  (await loadCompanies(file)).map(async (config) => {
    const own = logOf(log, config);
    const daemon = await composeDaemon(config, own, undefined, clock, keys);
    await startServices(config, daemon, own);
    daemon.run(new AbortController().signal).catch((error: unknown) => {
      own.error({ error }, "it has ended");
      process.exit(1);
    });
    return daemon;
  }),
);
boundGarbage();

let looks = 0;
let told: number | null = null;
let before = asked;
setInterval(() => {
  const isBusy =
    underWay > 0 ||
    asked !== before ||
    daemons.some(({ daemon }) => daemon.flows.some(({ name }) => daemon.isRunning(name)));
  before = asked;
  looks = isBusy ? 0 : looks + 1;
  if (looks < LOOKS || told === aheadMs) return;
  told = aheadMs;
  tell({ quiet: aheadMs });
}, LOOK_MS);

process.on("message", (message: Told) => {
  if ("ask" in message) {
    void Promise.all(daemons.map(({ office }) => office.status())).then((statuses) =>
      tell({ statuses }),
    );
    return;
  }
  ({ aheadMs } = message);
  looks = 0;
  moved.abort();
  moved = new AbortController();
});
process.on("disconnect", () => process.exit(0));

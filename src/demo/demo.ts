/**
 * `fuelbridge demo`: the sandbox, an ERP that is a folder, and the daemon between them with config/demo.yaml; with
 * `--erp sftp` the folder is behind an SFTP server. Exit 0
 * when both sides hold the same, 1 when they do not; without `--once` it goes on until it is stopped. With `--play`
 * both sides are told to change something first.
 */
import { relative } from "node:path";
import { calendarOf } from "../core/time.ts";
import { isOpen } from "../reconcile/case.ts";
import type { Report } from "../reconcile/report.ts";
import { agreementOf } from "../views/reconciliation.ts";
import type { Status } from "../office/answers.ts";
import { openLog } from "../log.ts";
import { serveAdmin } from "../office/server.ts";
import type { Answer } from "../cli/answer.ts";
import { type Composed, composeDaemon } from "../app/compose.ts";
import { loadConfiguration } from "../app/configuration.ts";
import { untilSignal } from "../app/process.ts";
import { counted } from "../views/table.ts";
import { play } from "./play.ts";
import { type DemoErp, openEntrance, openStage, type Stage } from "./stage.ts";
import { openScreen, type Screen, summary, whereToLook } from "./screen.ts";
import { compareSides, type Comparison } from "./totals.ts";
import { dropExports, PLATFORM, startPlatform, type World } from "./world.ts";
import { exitCodes } from "../core/errors.ts";

interface DemoOptions {
  /** Stop when in step. */
  readonly once: boolean;
  /** Both sides are told to pay, void and correct, once they are in step. */
  readonly play: boolean;
  readonly json: boolean;
  /** Where the ERP's folder is: on this machine, or behind OpenSSH on this machine. */
  readonly erp: DemoErp;
}

interface Outcome {
  readonly status: Status;
  readonly sides: readonly Comparison[];
  readonly changed: boolean;
  readonly seconds: number;
}

/** @throws EnvironmentError when there is no SFTP server to start */
export async function runDemo({ once, play: plays, json, erp }: DemoOptions): Promise<Answer> {
  const startedMs = performance.now();
  const screen = openScreen(json ? process.stderr : process.stdout, startedMs);
  const stage = await openStage(erp);
  const shownFolder = relative(process.cwd(), stage.folder) || ".";
  const fresh = dropExports(stage.folder);
  screen.say(
    fresh
      ? `A new demo in ${shownFolder}: the platform's sandbox, ${stage.erp}, and fuelbridge between them.`
      : `The demo in ${shownFolder} again, where it stopped.`,
  );
  const { result, exitCode } = await untilSignal(async (signal) => {
    const world = await startPlatform(stage.folder);
    process.env["FUELBRIDGE_PLATFORM_URL"] = world.url;
    try {
      return await withDaemon(stage.config, signal, async (composed, stop, entrance) => {
        if (!once) screen.say(`${entrance}\n`);
        let outcome = await untilInStep(composed, world, screen, startedMs, signal);
        if (outcome === null) return null;
        tell(screen, outcome, stage);
        if (plays) {
          if (!(await played(composed, world, screen, signal))) return null;
          const period = { from: null, to: null, flow: null, by: "demo" };
          const report = await composed.office.reconcile(period);
          outcome = { ...(await measured(composed, world, startedMs)), changed: true };
          tell(screen, outcome, stage, report);
        }
        if (once) stop();
        else screen.say(`${entrance}\nGoing on; Ctrl-C stops.`);
        return outcome;
      });
    } finally {
      await world.stop();
      await stage.end();
    }
  });
  const equal = result !== null && result.sides.every(({ equal }) => equal);
  return {
    data: result,
    text: "",
    exitCode: exitCode ?? (equal ? exitCodes.ok : exitCodes.runtime),
  };
}

/** Runs the daemon beside `work`, until `stop` is called or a signal comes. */
async function withDaemon<Result>(
  file: string,
  signal: AbortSignal,
  work: (composed: Composed, stop: () => void, entrance: string) => Promise<Result>,
): Promise<Result> {
  const config = await loadConfiguration(file);
  const log = openLog({ level: "warn", secrets: config.secrets, to: "stderr" });
  // The demo's platform has a month of this company before fuelbridge first works with it.
  const firstStart = calendarOf(config.timeZone)(new Date().toISOString());
  const platform = { ...config.platform, knownAs: PLATFORM };
  const composed = await composeDaemon({ ...config, firstStart, platform }, log);
  const stopper = new AbortController();
  const both = AbortSignal.any([signal, stopper.signal]);
  try {
    const { office } = composed;
    const { state, secrets } = config;
    const admin = await serveAdmin({ office, port: config.console.port, state, secrets });
    try {
      const { web, entrance } = await openEntrance(config, composed, (message, details) =>
        log.error(details, message),
      );
      const running = composed.run(both);
      const stop = (): void => stopper.abort();
      try {
        const [result] = await Promise.all([work(composed, stop, entrance), running]);
        return result;
      } finally {
        await web.close();
      }
    } finally {
      await admin.close();
    }
  } finally {
    await composed.close();
  }
}

/** Null when it was stopped before. */
async function untilInStep(
  composed: Composed,
  world: World,
  screen: Screen,
  startedMs: number,
  signal: AbortSignal,
): Promise<Outcome | null> {
  const before = await composed.office.status();
  const writesBefore = await world.writes();
  if (!(await settle(composed, world, screen, signal))) return null;
  const writes = await world.writes();
  const now = await measured(composed, world, startedMs);
  const changed =
    writes !== writesBefore ||
    now.status.flows.some(({ received }, at) => received !== before.flows[at]?.received);
  return { ...now, changed };
}

async function measured(
  { office, engine }: Composed,
  world: World,
  startedMs: number,
): Promise<Omit<Outcome, "changed">> {
  return {
    status: await office.status(),
    seconds: (performance.now() - startedMs) / 1_000,
    sides: await compareSides(engine.store, engine.tables, world, world.folder),
  };
}

/** All flows look until a look has written nothing more to the platform. False when it was stopped before. */
async function settle(
  composed: Composed,
  world: World,
  screen: Screen,
  signal: AbortSignal,
): Promise<boolean> {
  const { engine, daemon } = composed;
  let writes = await world.writes();
  for (let looks = 0; ; looks++) {
    const since = engine.clock.now().wallMs;
    for (const { name } of daemon.flows) daemon.wake(name);
    if (!(await untilLooked(composed, screen, since, signal))) return false;
    // What we have written comes by in the next look, and must be known as our own.
    const now = await world.writes();
    if (now === writes && looks > 0) return true;
    writes = now;
  }
}

function played(
  composed: Composed,
  world: World,
  screen: Screen,
  signal: AbortSignal,
): Promise<boolean> {
  const { office, engine } = composed;
  return play({
    world,
    office,
    folder: world.folder,
    today: engine.dayOf(new Date(engine.clock.now().wallMs).toISOString()),
    // Each step says its own line.
    settle: () => settle(composed, world, { ...screen, progress: () => {} }, signal),
    say: (text) => screen.say(text),
  });
}

/** A status counts every document: more often, and the demo is slower than what it shows. */
const LOOK_EVERY_MS = 300;

/** Every flow has looked since, and nothing more can go now. False when it was stopped before. */
async function untilLooked(
  { office, engine }: Composed,
  screen: Screen,
  sinceMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  while (!signal.aborted) {
    const status = await office.status();
    screen.progress(status);
    const looked = status.flows.every(
      ({ lastRunAt, state }) =>
        state !== "running" && lastRunAt !== null && Date.parse(lastRunAt) >= sinceMs,
    );
    // A stop is told at the end; what nothing stops is waited for.
    const isLeft = status.outOfStep.some(({ code, held }) => !held && code !== "stopped");
    if (looked && !isLeft) return true;
    await engine.clock.pause(LOOK_EVERY_MS, signal);
  }
  return false;
}

/** The last word after the play is that of a reconciliation, and of what waits for a person. */
function compared(report: Report, { quarantine }: Status, seconds: number): string {
  const differing = report.cases.filter(isOpen).length;
  const people = quarantine
    .filter(({ helps }) => !helps.includes("wait"))
    .reduce((sum, { count }) => sum + count, 0);
  return [
    `All that can go by itself has gone after ${seconds.toFixed(1)} s. ${agreementOf(report)}, says a reconciliation of this month.`,
    ...(differing === 0
      ? []
      : [
          `${counted(differing, "case")}, each with both values: node src/launch.mjs reconcile --last`,
        ]),
    ...(people === 0
      ? []
      : [
          `${counted(people, "document")} for a person, each with its reason: node src/launch.mjs quarantine list`,
        ]),
  ].join("\n");
}

function tell(
  screen: Screen,
  { status, sides, changed, seconds }: Outcome,
  { folder, config }: Stage,
  report: Report | null = null,
): void {
  const [shownFolder, shownConfig] = [folder, config].map((path) => relative(process.cwd(), path));
  const equal = sides.every((side) => side.equal);
  const memory = Math.round(process.memoryUsage.rss() / 1024 / 1024);
  screen.say(
    [
      "",
      summary(status, sides, seconds),
      "",
      report !== null
        ? compared(report, status, seconds)
        : equal && status.outOfStep.length > 0
          ? `Both sides hold the same after ${seconds.toFixed(1)} s, but are not in step: fuelbridge status says why.`
          : equal
            ? changed
              ? `In step after ${seconds.toFixed(1)} s: both sides hold the same.`
              : "Nothing has changed: both sides were in step already, and nothing was written."
            : "NOT in step: the totals above differ.",
      `${status.requests.used} requests to the platform this month, ${memory} MB of memory.`,
      "",
      whereToLook(shownFolder || ".", shownConfig || config, status),
    ].join("\n"),
  );
}

/**
 * `fuelbridge demo`: the sandbox, an ERP that is a folder, and the daemon between them with config/demo.yaml; with
 * `--erp sftp` the folder is behind an SFTP server. Exit 0
 * when both sides hold the same, 1 when they do not; without `--once` it goes on until it is stopped. With `--play`
 * both sides are told to change something, and people settle the rest, until a reconciliation says that both agree.
 */
import { counted } from "../core/text.ts";
import { relative, dirname, join } from "node:path";
import { calendarOf } from "../core/time.ts";
import { telling } from "../engine/reconcile/nightly.ts";
import type { Report } from "../reconcile/report.ts";
import { documentsIn, parted } from "../views/documents.ts";
import { agreementOf } from "../views/reconciliation.ts";
import type { Status } from "../office/answers.ts";
import { openLog } from "../log.ts";
import { serveAdmin } from "../office/server.ts";
import type { Answer } from "../cli/answer.ts";
import { type Composed, composeDaemon } from "../app/compose.ts";
import { loadConfiguration } from "../app/configuration.ts";
import { untilSignal } from "../app/process.ts";
import { instant, lined, table } from "../views/text.ts";
import { play } from "./play.ts";
import { compareSides, type Comparison, type Totals } from "./totals.ts";
import { dropExports, PLATFORM, startPlatform, type World, root } from "./world.ts";
import { exitCodes, EnvironmentError } from "../core/errors.ts";
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { parseDocument } from "yaml";
import { openWeb } from "../app/services.ts";
import type { Config } from "../config/config.ts";
import type { Web } from "../web/guard.ts";
import { openUsers } from "../web/users.ts";
import { type Sshd, startSshd } from "./sshd.ts";

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
  /** What a reconciliation says after the play. */
  readonly agrees?: boolean;
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
          const { agrees } = report;
          outcome = { ...(await measured(composed, world, startedMs)), changed: true, agrees };
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
  const equal =
    result !== null && result.agrees !== false && result.sides.every(({ equal }) => equal);
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
  // What is with a person is told by the next line.
  const differing = report.cases.filter(({ bucket }) => telling.has(bucket)).length;
  const people = documentsIn(parted(quarantine)[0]);
  return lined(
    `All that can go by itself has gone after ${seconds.toFixed(1)} s. ${agreementOf(report)}, says a reconciliation of this month.`,
    differing > 0 &&
      `${counted(differing, "case")}, each with both values: node src/launch.mjs reconcile --last`,
    people > 0 &&
      `${counted(people, "document")} for a person, each with its reason: node src/launch.mjs quarantine list`,
  );
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

/* What the demo shows while it works and when both sides are in step. A terminal is redrawn, a file gets lines. */

interface Screen {
  /** Shows where every flow stands; cheap to call often. */
  progress(status: Status): void;
  say(text: string): void;
}

const REDRAW_MS = 200;
const LINE_MS = 1_000;

function openScreen(stream: NodeJS.WriteStream, startedMs: number): Screen {
  let drawn = 0;
  let lastMs = 0;
  let lastText = "";
  const elapsed = (): number => (performance.now() - startedMs) / 1_000;
  const clear = (): string => (drawn === 0 ? "" : `\u001B[${drawn}A\u001B[J`);

  return {
    progress(status) {
      const now = performance.now();
      if (now - lastMs < (stream.isTTY ? REDRAW_MS : LINE_MS)) return;
      lastMs = now;
      const text = stream.isTTY ? fitted(panel(status, elapsed()), stream) : line(status);
      if (text === lastText && !stream.isTTY) return;
      lastText = text;
      stream.write(stream.isTTY ? `${clear()}${text}\n` : `${elapsed().toFixed(1)} s  ${text}\n`);
      drawn = stream.isTTY ? text.split("\n").length : 0;
    },
    say(text) {
      stream.write(`${clear()}${text}\n`);
      drawn = 0;
    },
  };
}

/** A line that goes on in the next one would be left behind when the panel is drawn again. */
const fitted = (text: string, { columns }: NodeJS.WriteStream): string =>
  text
    .split("\n")
    .map((line) => line.slice(0, Math.max((columns ?? 80) - 1, 1)))
    .join("\n");

function panel(status: Status, seconds: number): string {
  const rows = status.flows.map((flow) => [
    flow.name,
    `${flow.from} → ${flow.to}`,
    String(flow.received),
    String(flow.delivered),
    String(flow.quarantined),
    String(flow.pending),
    rate(flow.delivered, seconds),
  ]);
  const head = [
    "FLOW",
    "FROM → TO",
    "RECEIVED",
    "DELIVERED",
    "QUARANTINED",
    "PENDING",
    "PER SECOND",
  ];
  return `${table(head, rows)}\n\n${seconds.toFixed(1)} s, ${status.requests.used} requests to the platform`;
}

/** Only what moves: one line per second at most. */
function line(status: Status): string {
  const flows = status.flows
    .filter(({ received }) => received > 0)
    .map(({ name, delivered, received }) => `${name} ${delivered}/${received}`);
  return `${flows.join(", ") || "reading"}; ${status.requests.used} requests`;
}

const rate = (count: number, seconds: number): string =>
  seconds < 0.1 ? "-" : (count / seconds).toFixed(0);

function summary(status: Status, sides: readonly Comparison[], seconds: number): string {
  const flows = status.flows.map((flow) => [
    flow.name,
    String(flow.received),
    String(flow.delivered),
    String(flow.skipped),
    String(flow.echoes),
    String(flow.quarantined),
    rate(flow.delivered, seconds),
  ]);
  const totals = sides.flatMap(({ flow, platform, erp, equal }) => [
    [flow, "platform", ...cells(platform), equal ? "equal" : "DIFFERENT"],
    ["", "ERP", ...cells(erp), ""],
  ]);
  return [
    table(
      ["FLOW", "RECEIVED", "DELIVERED", "SKIPPED", "OWN ECHO", "QUARANTINED", "PER SECOND"],
      flows,
    ),
    "",
    "Control totals of what was delivered, counted on each side by itself:",
    table(["FLOW", "SIDE", "DOCUMENTS", "AMOUNT", "GALLONS", ""], totals),
  ].join("\n");
}

function cells({ documents, amount, gallons }: Totals): string[] {
  return [String(documents), amount?.fixed(2) ?? "-", gallons?.plain() ?? "-"];
}

function whereToLook(folder: string, config: string, status: Status): string {
  const people = documentsIn(parted(status.quarantine)[0]);
  const dues = status.flows.flatMap(({ nextDueAt }) => (nextDueAt === null ? [] : [nextDueAt]));
  const next = dues.toSorted((one, other) => one.localeCompare(other))[0] ?? null;
  return lined(
    `Where to look:`,
    `  ${folder}/erp/import  what the ERP gets, one CSV file per document`,
    `  ${folder}/erp/export  what the ERP gives; read files are in archive/`,
    `  export FUELBRIDGE_CONFIG=${config}, then`,
    "  node src/launch.mjs status                 the same flows, any time",
    "  node src/launch.mjs trace INV-2026-00007   one document's way",
    people > 0 &&
      `  node src/launch.mjs quarantine list        ${people} that a person must decide, each with its reason`,
    next && `Next look at ${instant(next)}.`,
  );
}

/* Where a demo takes place: its folder, its configuration, its console, and the server that its ERP's folder may be behind. */

/** Any other one where it is taken. */
const CONSOLE_PORT = 8086;
const NAME = "demo";

/** `entrance`: for people. The password is a new one each time, and is kept nowhere but as its hash. */
async function openEntrance(
  config: Config,
  daemon: Pick<Composed, "office" | "engine">,
  note: Parameters<typeof openWeb>[2],
): Promise<{ web: Web; entrance: string }> {
  const users = openUsers(config.state, () => new Date());
  const password = randomBytes(9).toString("base64url") + "-demo";
  const isThere = users.list().some(({ name }) => name === NAME);
  if (isThere) await users.setPassword(NAME, password);
  else await users.add(NAME, "operator", password);
  const at = (port: number): Promise<Web | null> =>
    openWeb({ ...config, console: { port: 0, web: { ...LOCAL, port } } }, daemon, note);
  const web = await at(CONSOLE_PORT).catch((error: unknown) => {
    if (!(error instanceof EnvironmentError)) throw error;
    return at(0);
  });
  if (web === null) throw new TypeError("the demo has a console");
  return {
    web,
    entrance: `The console: ${web.url}\n  log in as ${NAME}, password ${password}`,
  };
}

const LOCAL = { host: "127.0.0.1", names: [], tls: null, proxies: [] };

type DemoErp = "files" | "sftp";

const CONFIG = join(root, "config", "demo.yaml");

type Stage = Awaited<ReturnType<typeof openStage>>;

/** Its folder (absolute), its configuration's file, and its ERP, for people. @throws EnvironmentError when there is no OpenSSH server */
async function openStage(erp: DemoErp) {
  if (erp === "files")
    return {
      folder: join(root, "var", "demo"),
      config: CONFIG,
      erp: "an ERP that is a folder",
      end: async () => {},
    };
  const folder = join(root, "var", "demo-sftp");
  const sshd = await startSshd(join(folder, "sshd"));
  return {
    folder,
    config: writeConfiguration(folder, sshd),
    erp: "an ERP whose folder is behind OpenSSH",
    end: sshd.end,
  };
}

/** The demo's configuration in a folder of its own, with the ERP's folder behind the server. */
function writeConfiguration(folder: string, sshd: Sshd): string {
  const document = parseDocument(readFileSync(CONFIG, "utf8"));
  const path = join(folder, "demo-sftp.yaml");
  const { host, port, user, hostKey, keyFile } = sshd;
  document.setIn(["state"], "state");
  document.setIn(["platform", "apiKey"], "${file:api-key}");
  document.setIn(["crossReferences"], relative(folder, join(dirname(CONFIG), "crossref")));
  document.setIn(["endpoints", "erp", "folder"], join(folder, "erp"));
  const key = `\${file:${relative(folder, keyFile)}}`;
  document.setIn(["endpoints", "erp", "sftp"], { host, port, user, key, hostKey });
  mkdirSync(folder, { recursive: true });
  writeFileSync(path, document.toString());
  return path;
}

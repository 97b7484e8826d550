/** `run`, `once` and `worker`: commands that work until they are done, or until a signal asks for their end. */
import { counted } from "../core/text.ts";
import type { Command } from "commander";
import type { Keys } from "../app/carriers.ts";
import { loadCompanies, loadConfiguration } from "../app/configuration.ts";
import type { ProgressLine } from "../app/progress.ts";
import { untilSignal } from "../app/process.ts";
import type { Config } from "../config/config.ts";
import { defined } from "../core/defined.ts";
import { exitCodes } from "../core/errors.ts";
import type { Reason } from "../engine/schedule.ts";
import type { Logger } from "../log.ts";
import { lined } from "../views/text.ts";
import type { Status } from "../office/answers.ts";
import { type Answer, ofEach } from "./answer.ts";
import { addCommand, type Given } from "./command.ts";

export function daemonCommands(program: Command): void {
  addCommand(program, "run", "the daemon: keeps both sides in step until stopped", run, "all");
  addCommand(program, "once", "every flow, until nothing is left to do", once, "all");
  addCommand(
    program,
    "worker",
    "sends requests for the daemons that share its API key (queue: bullmq)",
    worker,
  );
}

/** `line`: of one company alone, shows how far long work is, and gives way to each line of the log. */
async function openLogs(
  configs: readonly Config[],
  to: "stdout" | "stderr",
): Promise<{ log: Logger; line: ProgressLine | undefined }> {
  const [{ openLog }, { openProgress }] = await Promise.all([
    import("../log.ts"),
    import("../app/progress.ts"),
  ]);
  const line = configs.length === 1 ? openProgress(process.stderr) : undefined;
  const secrets = configs.flatMap((config) => config.secrets);
  const level = configs[0]?.log.level ?? "info";
  return { line, log: openLog({ level, secrets, to, ...defined({ aside: line?.clear }) }) };
}

/** Standard output is the log, or with `--json` the answer at the end; then the log goes to standard error. */
async function untilStopped(
  { json }: Given,
  configs: readonly Config[],
  work: (log: Logger, line: ProgressLine | undefined, signal: AbortSignal) => Promise<void>,
): Promise<Answer> {
  const { log, line } = await openLogs(configs, json ? "stderr" : "stdout");
  const { exitCode } = await untilSignal((signal) => work(log, line, signal));
  log.info("fuelbridge has stopped");
  return { data: { stopped: true }, text: "", ...(exitCode === null ? {} : { exitCode }) };
}

async function run(given: Given): Promise<Answer> {
  const configs = await loadCompanies(given.file);
  const { runCompanies } = await import("./run.ts");
  return untilStopped(given, configs, (log, line, signal) =>
    runCompanies(configs, { log, line, signal }),
  );
}

/** For schedulers of one's own, and for trying out. The log goes to standard error. */
async function once({ file }: Given, command: string): Promise<Answer> {
  const configs = await loadCompanies(file);
  const [{ log, line }, { logOf }, { composeDaemon }, { answering }] = await Promise.all([
    openLogs(configs, "stderr"),
    import("../log.ts"),
    import("../app/compose.ts"),
    import("../app/ask.ts"),
  ]);
  const keys: Keys = new Map();
  const { result, exitCode } = await untilSignal((signal) =>
    ofEach(command, configs, async (config) => {
      const daemon = await composeDaemon(config, logOf(log, config), line, undefined, keys);
      try {
        await answering(config, daemon.office, "once", () => daemon.once(signal));
        return onceText(await daemon.office.status());
      } finally {
        line?.clear();
        await daemon.close();
      }
    }),
  );
  return exitCode === null ? result : { ...result, exitCode };
}

function onceText({ outOfStep, flows, quarantine }: Status): Answer {
  const quarantined = quarantine.reduce((sum, { count }) => sum + count, 0);
  const waiting = flows.flatMap(({ name, waits }) => (waits === null ? [] : [[name, waits]]));
  // What is paused, or not due yet, was not to be done.
  const isDone = outOfStep.every(({ held }) => held);
  return {
    data: {
      inStep: outOfStep.length === 0,
      outOfStep,
      quarantined,
      waits: Object.fromEntries(waiting) as object,
    },
    text: stepText(outOfStep, quarantined),
    exitCode: isDone ? exitCodes.ok : exitCodes.runtime,
  };
}

/** What is in quarantine keeps nothing else from being in step, and is told wherever it is not. */
function stepText(reasons: readonly Reason[], quarantined: number): string {
  const people = `${counted(quarantined, "document")} in quarantine: fuelbridge quarantine list`;
  if (reasons.length === 0) return quarantined === 0 ? "In step." : `In step, but for ${people}`;
  const isDone = reasons.every(({ held }) => held);
  return lined(
    isDone ? "Nothing is left to do now, but both sides are not in step:" : "Not in step:",
    reasons.flatMap(({ flow, message, next }) => [
      `  ${flow === null ? "" : `${flow}: `}${message}`,
      `    ${next}`,
    ]),
    quarantined > 0 && `  Beside that, ${people}`,
  );
}

/** What people should see in a log that shows little. */
const LEVELS: Readonly<Record<string, "warn" | "error">> = {
  "job failed": "error",
  "job refused": "warn",
  "redis can lose jobs": "warn",
  stopped: "warn",
};

async function worker(given: Given): Promise<Answer> {
  const config = await loadConfiguration(given.file);
  return untilStopped(given, [config], async (log, _, signal) => {
    const [{ openSender }, { openSharedWorker }, { sharedOptions }, { version }] =
      await Promise.all([
        import("../platform/client.ts"),
        import("../queue/shared.ts"),
        import("../app/carriers.ts"),
        import("../app/process.ts"),
      ]);
    const options = sharedOptions(config, (message, details) => {
      log[LEVELS[message] ?? "info"](details, message);
    });
    const opened = openSharedWorker(options, openSender({ ...config.platform, version }));
    try {
      await opened.looked;
      log.info({ redis: options.redis.url }, "fuelbridge works");
      await ended(signal);
    } finally {
      await opened.close();
    }
  });
}

const ended = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });

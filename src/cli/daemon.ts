/** `run`, `once` and `worker`: commands that work until they are done, or until a signal asks for their end. */
import type { Command } from "commander";
import { loadConfiguration } from "../app/configuration.ts";
import type { ProgressLine } from "../app/progress.ts";
import { boundGarbage, untilSignal } from "../app/process.ts";
import type { Config } from "../config/config.ts";
import { calendarOf } from "../core/time.ts";
import { exitCodes } from "../core/errors.ts";
import type { Reason } from "../engine/schedule.ts";
import type { Logger } from "../log.ts";
import { counted } from "../views/text.ts";
import type { Answer } from "./answer.ts";
import { addCommand, type Given } from "./command.ts";

export function daemonCommands(program: Command): void {
  addCommand(program, "run", "the daemon: keeps both sides in step until stopped", run);
  addCommand(program, "once", "every flow, until nothing is left to do", once);
  addCommand(
    program,
    "worker",
    "sends requests for the daemons that share its API key (queue: bullmq)",
    worker,
  );
}

/** `line`: shows how far long work is, and gives way to each line of the log. */
async function logOf(
  config: Config,
  to: "stdout" | "stderr",
): Promise<{ log: Logger; line: ProgressLine }> {
  const [{ openLog }, { openProgress }] = await Promise.all([
    import("../log.ts"),
    import("../app/progress.ts"),
  ]);
  const line = openProgress(process.stderr);
  const { secrets } = config;
  return { line, log: openLog({ level: config.log.level, secrets, to, aside: line.clear }) };
}

/** Standard output is the log, or with `--json` the answer at the end; then the log goes to standard error. */
async function untilStopped(
  { file, json }: Given,
  work: (config: Config, log: Logger, line: ProgressLine, signal: AbortSignal) => Promise<void>,
): Promise<Answer> {
  const config = await loadConfiguration(file);
  const { log, line } = await logOf(config, json ? "stderr" : "stdout");
  const { exitCode } = await untilSignal((signal) => work(config, log, line, signal));
  log.info("fuelbridge has stopped");
  return { data: { stopped: true }, text: "", ...(exitCode === null ? {} : { exitCode }) };
}

const run = (given: Given): Promise<Answer> =>
  untilStopped(given, async (config, log, line, signal) => {
    const [{ startServices }, { composeDaemon }, { planOf }, { stretchText }] = await Promise.all([
      import("../app/services.ts"),
      import("../app/compose.ts"),
      import("./budget-plan.ts"),
      import("../views/status.ts"),
    ]);
    const daemon = await composeDaemon(config, log, line);
    boundGarbage();
    try {
      const services = await startServices(config, daemon, log);
      // What `budget plan` refuses is run all the same, slowed.
      const { lists, forecast } = await daemon.office.budget();
      const { fault } = planOf(config, { writesPerDay: 0, documents: null, lists }, Date.now());
      if (fault !== null)
        log.warn({ next: fault.next, thisMonth: stretchText(forecast) }, fault.message);
      const { port, monitor, web } = services;
      log.info({ port, monitor, flows: config.flows.length }, "fuelbridge runs");
      if (web !== null) log.info({ url: web }, "the console listens");
      try {
        await daemon.run(signal);
      } finally {
        await services.close();
      }
    } finally {
      line.clear();
      await daemon.close();
    }
  });

/** For schedulers of one's own, and for trying out. The log goes to standard error. */
async function once({ file }: Given): Promise<Answer> {
  const config = await loadConfiguration(file);
  const [{ log, line }, { composeDaemon }, { answering }] = await Promise.all([
    logOf(config, "stderr"),
    import("../app/compose.ts"),
    import("../app/ask.ts"),
  ]);
  const { result, exitCode } = await untilSignal(async (signal) => {
    const daemon = await composeDaemon(config, log, line);
    try {
      await answering(config, daemon.office, "once", () => daemon.once(signal));
      return await daemon.office.status();
    } finally {
      line.clear();
      await daemon.close();
    }
  });
  const { outOfStep, flows, quarantine } = result;
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
    exitCode: exitCode ?? (isDone ? exitCodes.ok : exitCodes.runtime),
  };
}

/** What is in quarantine keeps nothing else from being in step, and is told wherever it is not. */
function stepText(reasons: readonly Reason[], quarantined: number): string {
  const people = `${counted(quarantined, "document")} in quarantine: fuelbridge quarantine list`;
  if (reasons.length === 0) return quarantined === 0 ? "In step." : `In step, but for ${people}`;
  const isDone = reasons.every(({ held }) => held);
  return [
    isDone ? "Nothing is left to do now, but both sides are not in step:" : "Not in step:",
    ...reasons.flatMap(({ flow, message, next }) => [
      `  ${flow === null ? "" : `${flow}: `}${message}`,
      `    ${next}`,
    ]),
    ...(quarantined === 0 ? [] : [`  Beside that, ${people}`]),
  ].join("\n");
}

/** What people should see in a log that shows little. */
const LEVELS: Readonly<Record<string, "warn" | "error">> = {
  "job failed": "error",
  "answer lost": "warn",
  "job refused": "warn",
  "redis can lose jobs": "warn",
  stopped: "warn",
};

const worker = (given: Given): Promise<Answer> =>
  untilStopped(given, async (config, log, _, signal) => {
    const [
      { openPlatform },
      { openSharedWorker },
      { sharedOptions },
      { systemClock },
      { version },
    ] = await Promise.all([
      import("../platform/endpoint.ts"),
      import("../queue/shared.ts"),
      import("../app/carriers.ts"),
      import("../app/process.ts"),
      import("../app/process.ts"),
    ]);
    const clock = systemClock();
    const options = sharedOptions(config, clock, (message, details) => {
      log[LEVELS[message] ?? "info"](details, message);
    });
    const dayOf = calendarOf(config.timeZone);
    const opened = openSharedWorker(options, (governor) =>
      openPlatform({ ...config.platform, clock, version, governor, dayOf }),
    );
    try {
      await opened.looked;
      log.info({ redis: options.redis.url }, "fuelbridge works");
      await Promise.race([opened.broken, ended(signal)]);
    } finally {
      await opened.close();
    }
  });

const ended = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });

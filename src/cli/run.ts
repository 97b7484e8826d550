/** The daemon of one company, and those of several in one process: what stops one of them stops no other. */
import type { Config } from "../config/config.ts";
import { consoleOrigin } from "../config/schema.ts";
import type { FuelbridgeError } from "../core/errors.ts";
import { type Logger, logOf } from "../log.ts";
import { stretchText } from "../views/status.ts";
import type { Keys } from "../app/carriers.ts";
import { loadSharers } from "../app/configuration.ts";
import { composeDaemon } from "../app/compose.ts";
import { boundGarbage, systemClock } from "../app/process.ts";
import type { ProgressLine } from "../app/progress.ts";
import { startServices } from "../app/services.ts";
import type { Beside } from "../web/route.ts";
import { needsOf, NOTHING_WRITTEN, planBeside } from "./budget-plan.ts";

interface Running {
  readonly log: Logger;
  readonly line: ProgressLine | undefined;
  readonly signal: AbortSignal;
  readonly keys: Keys;
  readonly beside: readonly Beside[];
  /** {@link needsOf} all companies of the installation. */
  readonly needs: ReadonlyMap<string, number>;
}

/** Until the signal. @throws what keeps it from its work */
async function runCompany(
  config: Config,
  { log, line, signal, keys, beside, needs }: Running,
): Promise<void> {
  const daemon = await composeDaemon(config, log, line, undefined, keys);
  boundGarbage();
  try {
    const services = await startServices(config, daemon, log, beside);
    // What `budget plan` refuses is run all the same, slowed.
    const { lists, forecast } = await daemon.office.budget();
    const { fault } = planBeside(config, needs, { ...NOTHING_WRITTEN, lists }, Date.now());
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
    line?.clear();
    await daemon.close();
  }
}

/** So long after it stopped a company starts again. */
const AGAIN_MS = 60_000;

/** Until the signal. One company alone ends with what keeps it from its work; of several each is tried again. */
export async function runCompanies(
  configs: readonly Config[],
  { log, line, signal }: Pick<Running, "log" | "line" | "signal">,
): Promise<void> {
  const beside = configs.flatMap(({ name, console: { web } }): Beside[] =>
    name === null || web === null || web.port === 0
      ? []
      : [{ name, url: consoleOrigin(web, web.port) }],
  );
  const needs = needsOf(await loadSharers(configs), NOTHING_WRITTEN, Date.now());
  const running = { log, line, signal, keys: new Map(), beside, needs };
  const work = configs.length === 1 ? runCompany : keepRunning;
  await Promise.all(configs.map((config) => work(config, { ...running, log: logOf(log, config) })));
}

async function keepRunning(config: Config, running: Running): Promise<void> {
  const { log, signal } = running;
  const clock = systemClock();
  while (!signal.aborted)
    try {
      await runCompany(config, running);
    } catch (error) {
      const { next } = error as FuelbridgeError;
      const againAt = new Date(Date.now() + AGAIN_MS).toISOString();
      log.error({ error, next, againAt }, "this company is not at work");
      await clock.pause(AGAIN_MS, signal);
    }
}

/** What runs beside the flows of a daemon: the admin interface, the port of a monitor, the alerts, and the web console. */
import { runAlerts, channelsOf, conditionsOf, quietHours } from "../alerts/alerts.ts";
import { type Config, ownerOf } from "../config/config.ts";
import { consoleOrigin } from "../config/schema.ts";
import { FuelbridgeError } from "../core/errors.ts";
import type { Engine } from "../engine/engine.ts";
import { keepTidy } from "../engine/retention.ts";
import type { Logger } from "../log.ts";
import { catchUp } from "../office/documents.ts";
import { serveAdmin, serveHub, serveMonitor } from "../office/server.ts";
import type { Web } from "../web/guard.ts";
import type { Beside } from "../web/route.ts";
import type { Composed } from "./compose.ts";
import { systemClock } from "./process.ts";

type Parts = Pick<Composed, "office" | "engine" | "backfills" | "lists">;

/**
 * `port`: of the admin interface; `monitor`: what answers a monitor (null: the admin interface does); `web`: the address of the
 * console (null: none is configured). `beside`: the consoles of the installation's companies. @throws EnvironmentError when a port is taken
 */
export async function startServices(
  config: Config,
  daemon: Parts,
  log: Logger,
  beside: readonly Beside[] = [],
) {
  const { office, engine, backfills, lists } = daemon;
  const { state, secrets, monitoring, retention } = config;
  const closing: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const end of closing) await end();
  };
  /** What was opened last is closed first. */
  const kept = <Service extends { close(): Promise<void> }>(service: Service): Service => {
    closing.unshift(() => service.close());
    return service;
  };
  try {
    const owner = ownerOf(config);
    const { port } = kept(
      await serveAdmin({ office, port: config.console.port, state, secrets, owner }),
    );
    const monitor =
      monitoring.port === null
        ? null
        : kept(await serveMonitor({ office, state, port: monitoring.port })).port;
    if (config.hub !== null) kept(await serveHub({ engine, lists, hub: config.hub, secrets }));
    kept(inBackground((signal) => sendAlerts(config, daemon, log, signal)));
    // Goes on with those that were cut off or paused. What a disk refuses ends the process, as everywhere.
    kept(
      inBackground(
        (signal) => backfills.keepOn(signal),
        () => backfills.close(),
      ),
    );
    kept(inBackground((signal) => keepTidy(engine, retention, signal)));
    const web = await openWeb(
      config,
      daemon,
      (message, details) => log.error(details, message),
      beside,
    );
    return { port, monitor, web: web === null ? null : kept(web).url, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Work until it is closed: what is in hand is finished. `end`: what else makes it end. */
function inBackground(
  work: (signal: AbortSignal) => Promise<void>,
  end = async (): Promise<void> => {},
): { close(): Promise<void> } {
  const ending = new AbortController();
  const running = work(ending.signal);
  return {
    async close() {
      ending.abort();
      await end();
      await running;
    },
  };
}

async function sendAlerts(
  { alerts, company, timeZone, console }: Config,
  { office, engine: { store, clock } }: Parts,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  const channels = channelsOf(alerts);
  if (channels.length === 0) return;
  const parts = {
    store,
    clock,
    company,
    channels,
    collectMs: alerts.collectMs,
    isQuiet: quietHours(alerts.quiet, timeZone),
    conditions: async () =>
      conditionsOf(await office.status(), alerts, clock.now().wallMs, urlOf(console.web)),
    note: (event: string, details: object) => log.warn(details, event),
  };
  await runAlerts(parts, signal);
}

/** Where people find the console; null: there is none, or nobody knows its port. */
const urlOf = (web: Config["console"]["web"]): string | null =>
  web === null || web.port === 0 ? null : consoleOrigin(web, web.port);

type Note = (message: string, details: Readonly<Record<string, unknown>>) => void;

/**
 * The web console over the office of a daemon that runs in this process; null when the configuration has none.
 * @throws EnvironmentError when it cannot listen
 */
export async function openWeb(
  config: Config,
  { office, engine }: Pick<Parts, "office" | "engine">,
  note: Note,
  beside: readonly Beside[] = [],
): Promise<Web | null> {
  const { company, currency, timeZone, state, secrets } = config;
  const { web } = config.console;
  if (web === null) return null;
  const [{ serveWeb }, { openUsers }] = await Promise.all([
    import("../web/guard.ts"),
    import("../web/users.ts"),
  ]);
  const served = await serveWeb({
    office,
    web,
    site: {
      company,
      currency,
      timeZone,
      environment: config.platform.environment,
      beside,
    },
    pack: async ({ report, audit }, by) => {
      const { packOf } = await import("./evidence-pack.ts");
      return packOf(config, report, { by, at: report.at, audit }, await office.findings());
    },
    users: openUsers(state, () => new Date()),
    secrets,
    note,
    clock: systemClock(),
  });
  // What came is taken into what is searched all the time: so that is done before somebody searches.
  const timer = setInterval(() => takeIn(engine, note), SEARCH_EVERY_MS);
  return {
    ...served,
    async close() {
      clearInterval(timer);
      await served.close();
    },
  };
}

/**
 * Takes what came into what is searched. What a mapping cannot say of a record is noted.
 * @throws FuelbridgeError for what the storage refuses: it ends the process, as everywhere
 */
export function takeIn(engine: Engine, note: Note): void {
  try {
    catchUp(engine, engine.flows, CATCH_UP_MS);
  } catch (thrown) {
    const error = engine.store.told(thrown);
    if (error instanceof FuelbridgeError) throw error;
    note("the search is not up to date", { error });
  }
}

/** How long that may keep the daemon from its work, each time. */
const CATCH_UP_MS = 10;
const SEARCH_EVERY_MS = 500;

/** What runs beside the flows of a daemon: the admin interface, the port of a monitor, the alerts, and the web console. */
import { runAlerts } from "../alerts/alerter.ts";
import { channelsOf } from "../alerts/channels.ts";
import { conditionsOf, quietHours } from "../alerts/conditions.ts";
import type { Config } from "../config/config.ts";
import { serveAdmin, serveMonitor } from "../office/server.ts";
import { keepTidy } from "../engine/retention.ts";
import type { Logger } from "../log.ts";
import type { Composed } from "./compose.ts";
import { openWeb } from "./web.ts";

export interface Services {
  /** Of the admin interface. */
  readonly port: number;
  /** What answers a monitor; null: the admin interface does. */
  readonly monitor: number | null;
  /** The address of the web console; null: none is configured. */
  readonly web: string | null;
  close(): Promise<void>;
}

/** @throws EnvironmentError when a port is taken */
export async function startServices(
  config: Config,
  daemon: Pick<Composed, "office" | "engine" | "backfills">,
  log: Logger,
): Promise<Services> {
  const { office } = daemon;
  const { state, secrets } = config;
  const admin = await serveAdmin({ office, port: config.console.port, state, secrets });
  const closing: (() => Promise<void>)[] = [() => admin.close()];
  let monitored: number | null = null;
  let url: string | null = null;
  try {
    const { port } = config.monitoring;
    if (port !== null) {
      const monitor = await serveMonitor({ office, state, port });
      monitored = monitor.port;
      closing.unshift(() => monitor.close());
    }
    closing.unshift(startAlerts(config, daemon, log));
    closing.unshift(startBackfills(daemon));
    closing.unshift(startRetention(config, daemon));
    const web = await openWeb(config, daemon, (message, details) => log.error(details, message));
    if (web !== null) {
      url = web.url;
      closing.unshift(() => web.close());
    }
  } catch (error) {
    for (const close of closing) await close();
    throw error;
  }
  return {
    port: admin.port,
    monitor: monitored,
    web: url,
    async close() {
      for (const close of closing) await close();
    },
  };
}

/** Goes on with those that were cut off or paused. What a disk refuses ends the process, as everywhere. */
function startBackfills({ backfills }: Pick<Composed, "backfills">): () => Promise<void> {
  const end = new AbortController();
  const running = backfills.keepOn(end.signal);
  return async () => {
    end.abort();
    await backfills.close();
    await running;
  };
}

function startRetention(
  { retention }: Config,
  { engine }: Pick<Composed, "engine">,
): () => Promise<void> {
  const end = new AbortController();
  const running = keepTidy(engine, retention, end.signal);
  return async () => {
    end.abort();
    await running;
  };
}

/** Returns what ends them: what is being sent is finished. */
function startAlerts(
  config: Config,
  { office, engine }: Pick<Composed, "office" | "engine">,
  log: Logger,
): () => Promise<void> {
  const { alerts, company, timeZone } = config;
  const channels = channelsOf(alerts);
  if (channels.length === 0) return async () => {};
  const { store, clock } = engine;
  const end = new AbortController();
  const running = runAlerts(
    {
      store,
      clock,
      company,
      channels,
      collectMs: alerts.collectMs,
      isQuiet: quietHours(alerts.quiet, timeZone),
      conditions: async () => conditionsOf(await office.status(), alerts, clock.now().wallMs),
      note: (event, details) => log.warn(details, event),
    },
    end.signal,
  );
  return async () => {
    end.abort();
    await running;
  };
}

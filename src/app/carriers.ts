/** Who carries requests to the platform and who admits them, as the configuration says. */
import { hostname } from "node:os";
import { type Config, shareOf, sitesOf } from "../config/config.ts";
import type { Sink } from "../core/contract.ts";
import { ConfigurationError, SourceUnavailable } from "../core/errors.ts";
import { type Spent } from "../core/budget.ts";
import { sha256 } from "../core/keys.ts";
import { rulesName } from "../core/sites.ts";
import type { Clock } from "../core/time.ts";
import { type Key, openKey, type ProcessGovernor } from "../platform/client.ts";
import type { Queue, SharedOptions } from "../queue/shared.ts";
import { spentAway } from "../store/backup.ts";
import type { StoreLedger } from "../store/journal.ts";

interface Carriers {
  readonly governor: ProcessGovernor;
  /** Requests of a month (`2026-11`), of all that share the key. */
  readonly spent: (month: string) => Spent;
  /** Of what all that share the key may use of the month, what this site may, 0 to 1. */
  readonly share: () => number;
  /** What keeps the queue from carrying, as of its last look. */
  readonly trouble: Queue["trouble"];
  /** Has a write sent by a worker; null: this process sends it. */
  readonly carry: Queue["carry"] | null;
  /** The platform's sinks, which wait while nothing can be carried. */
  readonly carried: (sinks: Readonly<Record<string, Sink>>) => Readonly<Record<string, Sink>>;
  /** The process is to end: nothing waits for its place within the minute any more. */
  readonly hurry: () => void;
  /** Finishes what is under way, and ends what was opened. */
  readonly close: () => Promise<void>;
}

interface Parts {
  readonly config: Config;
  readonly ledger: StoreLedger;
  readonly clock: Clock;
  readonly note: SharedOptions["note"];
  readonly keys: Keys;
}

/** The API keys that this process sends by: its companies under one key have one minute and one month. */
export type Keys = Map<string, Key>;

/** For a daemon. */
export async function openCarriers(parts: Parts): Promise<Carriers> {
  const { config, ledger, clock, note } = parts;
  if (config.queue.type === "embedded") return carriersWithin(parts);
  const { openSharedSite } = await import("../queue/shared.ts");
  const { governor, queue } = openSharedSite({
    ...sharedOptions(config, note),
    budget: config.platform.budget,
    clock,
    weight: config.queue.weight,
    rules: rulesName(config.sites),
    isHub: sitesOf(config)?.own === null,
    home: sha256(`${hostname()} ${config.state}`).slice(0, 16),
    ledger: { ...ledger, site: config.queue.site },
  });
  return {
    governor,
    spent: (month) => governor.spent(month),
    share: () => governor.share() ?? shareOf(config),
    trouble: () => queue.trouble() ?? governor.awaits(),
    carry: (request) => queue.carry(request),
    carried: (sinks) => awaiting(queue, sinks),
    hurry: () => governor.hurry(),
    close: () => queue.close(),
  };
}

/** While the queue is in trouble nothing counts as sent: the endpoint waits, and says why. */
const TROUBLE_WAITS_MS = 5_000;

const awaiting = (queue: Queue, sinks: Readonly<Record<string, Sink>>): Record<string, Sink> =>
  Object.fromEntries(
    Object.entries(sinks).map(([name, sink]) => {
      const prepare: Sink["prepare"] = async (request, signal) => {
        const trouble = queue.trouble();
        if (trouble === null) return sink.prepare?.(request, signal);
        const { message, next } = trouble;
        throw new SourceUnavailable(message, { next, waitMs: TROUBLE_WAITS_MS });
      };
      return [name, { ...sink, prepare }];
    }),
  );

/** For a process that asks and answers people: it joins no other process. */
export async function carriersWithin({ config, ledger, clock, keys }: Parts): Promise<Carriers> {
  const { budget } = config.platform;
  const scope = scopeOf(config);
  const sharers = config.sharers.map(({ company: site, weight, state }) => {
    return { site, weight, away: (month: string) => spentAway(state, month) };
  });
  const key = keys.get(scope) ?? openKey({ clock, budget }, sharers);
  keys.set(scope, key);
  const governor = key.join(config.company, ledger);
  return {
    governor,
    spent: key.spent,
    share: () => shareOf(config),
    trouble: () => null,
    carry: null,
    carried: (sinks) => sinks,
    hurry: () => governor.hurry(),
    close: async () => governor.leave(),
  };
}

const scopeOf = ({ platform }: Config): string =>
  sha256(`${platform.environment} ${platform.apiKey}`).slice(0, 16);

/** @throws ConfigurationError when the configuration has no queue that is shared */
export function sharedOptions(config: Config, note: SharedOptions["note"]): SharedOptions {
  const { queue } = config;
  if (queue.type === "embedded")
    throw new ConfigurationError(
      "This configuration has no queue for workers: the daemon sends its requests itself.",
      "Start `fuelbridge run`; or set queue: { type: bullmq, url: redis://... } for both.",
    );
  const { url, username, password } = queue;
  const redis = { url, username, password };
  return { redis, scope: scopeOf(config), note };
}

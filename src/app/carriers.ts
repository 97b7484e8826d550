/** Who carries requests to the platform and who admits them, as the configuration says. */
import { type Config, sitesAtKey } from "../config/config.ts";
import type { Sink } from "../core/contract.ts";
import { ConfigurationError } from "../core/errors.ts";
import { type Spent } from "../core/budget.ts";
import { sha256 } from "../core/keys.ts";
import { rulesName } from "../core/sites.ts";
import type { Clock } from "../core/time.ts";
import { openGovernor, type ProcessGovernor } from "../platform/client.ts";
import type { Queue, SharedOptions } from "../queue/shared.ts";
import type { StoreLedger } from "../store/journal.ts";

interface Carriers {
  readonly governor: ProcessGovernor;
  /** Requests of a month (`2026-11`), of all that share the key. */
  readonly spent: (month: string) => Spent;
  /** Of what all that share the key may use of the month, what this site may, 0 to 1. */
  readonly share: () => number;
  /** What keeps the queue from carrying, as of its last look. */
  readonly trouble: Queue["trouble"];
  /** The platform's sinks, as this process sends by them: itself, or by workers. */
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
}

/** For a daemon. */
export async function openCarriers(parts: Parts): Promise<Carriers> {
  const { config, ledger, clock, note } = parts;
  if (config.queue.type === "embedded") return carriersWithin(parts);
  const { carriedBy, openSharedSite } = await import("../queue/shared.ts");
  const { governor, queue } = openSharedSite({
    ...sharedOptions(config, clock, note),
    weight: config.queue.weight,
    rules: rulesName(config.sites),
    ledger: {
      ...ledger,
      site: config.queue.site,
      carried(purpose, requests) {
        const { wallMs } = clock.now();
        for (let at = 0; at < requests; at++) ledger.spend(wallMs, purpose);
      },
    },
  });
  return {
    governor,
    spent: (month) => governor.spent(month),
    share: () => governor.share() ?? 1 / sitesAtKey(config),
    trouble: () => queue.trouble() ?? governor.awaits(),
    carried: (sinks) => carriedBy(queue, sinks),
    hurry: () => governor.hurry(),
    close: () => queue.close(),
  };
}

/** For a process that asks and answers people: it joins no others. */
export async function carriersWithin({ config, ledger, clock }: Parts): Promise<Carriers> {
  const governor = openGovernor({ clock, budget: config.platform.budget, ledger });
  return {
    governor,
    spent: (month) => ledger.spent(month),
    share: () => 1 / sitesAtKey(config),
    trouble: () => null,
    carried: (sinks) => sinks,
    hurry: () => governor.hurry(),
    close: async () => {},
  };
}

/** @throws ConfigurationError when the configuration has no queue that is shared */
export function sharedOptions(
  { queue, platform }: Config,
  clock: Clock,
  note: SharedOptions["note"],
): SharedOptions {
  if (queue.type === "embedded")
    throw new ConfigurationError(
      "This configuration has no queue for workers: the daemon sends its requests itself.",
      "Start `fuelbridge run`; or set queue: { type: bullmq, url: redis://... } for both.",
    );
  const { url, username, password } = queue;
  const scope = sha256(`${platform.environment} ${platform.apiKey}`).slice(0, 16);
  return { redis: { url, username, password }, scope, budget: platform.budget, clock, note };
}

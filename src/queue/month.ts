/**
 * The month of all sites: how many requests each has used, by purpose. Counts only grow, so whoever knows more is
 * right; and every process tells again what it has seen, so that what Redis forgets comes back by itself.
 */
import type { Purpose, Spent } from "../core/budget.ts";
import type { Keys } from "./keys.ts";
import type { Hub } from "./redis.ts";

/** The month as this site's store keeps it. */
export interface SiteLedger {
  readonly site: string;
  spent(month: string): Spent;
  /** Counts one in that day (`2026-11-23`, UTC) and its month. */
  spend(day: string, purpose: Purpose): void;
  /** Counts what a worker has sent for it. */
  carried(purpose: Purpose, requests: number): void;
  /** When the platform may be asked again after it has closed the month, ms UTC; null: it has not. */
  closedUntil(nowMs: number): number | null;
}

export interface SharedMonth {
  /** Tells what this process knows of the month (`2026-11`), and learns what the others know. @throws RedisTrouble */
  refresh(name: string): Promise<void>;
  isKnown(name: string): boolean;
  /** Requests of all sites, as of the last refresh. */
  spent(name: string): Spent;
}

/** Longer than any month. */
export const MONTH_KEPT_S = 70 * 24 * 3_600;

export function openMonth(hub: Hub, keys: Keys, ledger: SiteLedger | null): SharedMonth {
  /** By `site purpose`. */
  let counts = new Map<string, number>();
  let known = "";
  return {
    async refresh(name) {
      if (known !== name) counts = new Map();
      const told = new Map(counts);
      if (ledger !== null)
        for (const [purpose, requests] of Object.entries(ledger.spent(name)))
          grow(told, `${ledger.site} ${purpose}`, requests);
      const args = [MONTH_KEPT_S, ...[...told].flat()];
      const reply = (await hub.run(MERGE, [keys.month(name)], args)) as string[];
      for (let at = 0; at < reply.length; at += 2)
        grow(counts, reply[at] as string, Number(reply[at + 1]));
      known = name;
    },
    isKnown: (name) => known === name,
    spent: (name) => (known === name ? totals(counts) : {}),
  };
}

function grow(counts: Map<string, number>, name: string, requests: number): void {
  counts.set(name, Math.max(counts.get(name) ?? 0, requests));
}

/** Over all sites. */
function totals(counts: ReadonlyMap<string, number>): Spent {
  const sums: Record<string, number> = {};
  for (const [name, requests] of counts) {
    const purpose = name.slice(name.indexOf(" ") + 1);
    sums[purpose] = (sums[purpose] ?? 0) + requests;
  }
  return sums;
}

/** Every count that is told is at least what it was: whoever knows more is right. */
const MERGE = `
for at = 2, #ARGV, 2 do
  local before = tonumber(redis.call('HGET', KEYS[1], ARGV[at]) or '0')
  if tonumber(ARGV[at + 1]) > before then redis.call('HSET', KEYS[1], ARGV[at], ARGV[at + 1]) end
end
redis.call('EXPIRE', KEYS[1], ARGV[1])
return redis.call('HGETALL', KEYS[1])`;

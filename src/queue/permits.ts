/**
 * One permit per job decides who may carry it out: BullMQ hands jobs out, sometimes twice, and Redis can forget. A job
 * is carried out only by whoever takes its open permit, and a permit opens once. What is not there any more cannot be
 * taken, and a permit of an earlier start of Redis proves nothing: a restart may have brought back an older state of
 * it. So nothing is ever carried out twice, and `withdrawn` proves that nobody did or will.
 */
import type { Purpose } from "../core/budget.ts";
import { type Answer, outcomes, unanswered } from "../core/outcome.ts";
import { type Keys, PRELUDE } from "./keys.ts";
import type { Hub } from "./redis.ts";

/** What became of an offer; only `offered` opened a permit. */
export type Offer = "offered" | "known" | "no-worker" | "other-site";

/** `gone`: Redis lost it; `restarted`: Redis did, and what it says of the permit may be older than the truth. */
export type Withdrawal = "withdrawn" | "taken" | "gone" | "restarted";

export type Taking =
  /** Ours to carry out; its first byte must leave within `startMs`. */
  | { readonly taken: true; readonly startMs: number }
  | { readonly taken: false; readonly why: string };

export interface Permits {
  /** Opens the permit of `job` for `startMs`, for a site that process `boot` speaks for. @throws RedisTrouble */
  offer(job: string, site: string, boot: string, startMs: number): Promise<Offer>;
  /** @throws RedisTrouble; then it may have been taken in vain */
  take(job: string, token: string): Promise<Taking>;
  /** Closes the permit unless it was taken. May be asked again. @throws RedisTrouble */
  withdraw(job: string): Promise<Withdrawal>;
  /** Leaves the answer where its site looks for it, whatever Redis has lost meanwhile. @throws RedisTrouble */
  settle(job: string, settled: Settled): Promise<void>;
  /** @throws RedisTrouble */
  settled(job: string): Promise<Settled | null>;
}

/** What came of a job. */
export interface Settled {
  readonly answer: Answer;
  /** How many requests it took, by purpose. */
  readonly used: Readonly<Partial<Record<Purpose, number>>>;
}

/** How long a worker that was not heard of still counts. */
export const WORKER_ALIVE_MS = 30_000;
/** As long as BullMQ knows its jobs, and longer than anything is under way. */
export const KEPT_MS = 48 * 3_600_000;

export function openPermits(hub: Hub, keys: Keys): Permits {
  return {
    async offer(job, site, boot, startMs) {
      const names = [keys.permit(job), keys.workers, keys.site(site)];
      return (await hub.run(OFFER, names, [startMs, KEPT_MS, boot, WORKER_ALIVE_MS])) as Offer;
    },
    async take(job, token) {
      const [state, ms] = (await hub.run(TAKE, [keys.permit(job)], [token])) as [string, number?];
      return state === "taken" ? { taken: true, startMs: ms ?? 0 } : { taken: false, why: state };
    },
    async withdraw(job) {
      return (await hub.run(WITHDRAW, [keys.permit(job)], [])) as Withdrawal;
    },
    async settle(job, settled) {
      await hub.run(SETTLE, [keys.permit(job)], [JSON.stringify(settled), KEPT_MS]);
    },
    async settled(job) {
      const text = await hub.ask(hub.redis.hget(keys.permit(job), "settled"));
      return text === null ? null : understood(JSON.parse(text) as Settled);
    },
  };
}

/** A worker of another version may answer what this one cannot weigh: then it is uncertain. */
function understood(settled: Settled): Settled {
  const { outcome, detail } = settled.answer;
  if (outcomes.includes(outcome)) return settled;
  const words = `the worker answered "${outcome}", which this version does not know: ${detail}`;
  return { ...settled, answer: unanswered(words) };
}

const OFFER = `${PRELUDE}
local owner = redis.call('GET', KEYS[3])
if owner and owner ~= ARGV[3] then return 'other-site' end
if redis.call('ZCOUNT', KEYS[2], now - ARGV[4], '+inf') == 0 then return 'no-worker' end
if redis.call('EXISTS', KEYS[1]) == 1 then return 'known' end
redis.call('HSET', KEYS[1], 'run', run, 'by', now + ARGV[1], 'open', 1)
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 'offered'`;

const TAKE = `${PRELUDE}
local permit = redis.call('HMGET', KEYS[1], 'run', 'by', 'open')
if not permit[1] then return {'Redis has no permit for it any more'} end
if permit[1] ~= run then return {'Redis was restarted since it was offered'} end
if not permit[3] then return {'its permit was taken or withdrawn already'} end
if now >= tonumber(permit[2]) then return {'it came too late'} end
redis.call('HSET', KEYS[1], 'taken', ARGV[1])
redis.call('HDEL', KEYS[1], 'open')
return {'taken', permit[2] - now}`;

/** Works without memory too: it only takes away. */
const WITHDRAW = `${PRELUDE}
local permit = redis.call('HMGET', KEYS[1], 'run', 'taken')
if not permit[1] then return 'gone' end
if permit[1] ~= run then return 'restarted' end
if permit[2] then return 'taken' end
redis.call('HDEL', KEYS[1], 'open')
return 'withdrawn'`;

const SETTLE = `
redis.call('HSET', KEYS[1], 'settled', ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])`;

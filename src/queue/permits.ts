/**
 * One permit per job decides who may carry it out: BullMQ hands jobs out, sometimes twice, and Redis can forget. A job is carried
 * out only by whoever takes its open permit, and a permit opens once. What is not there any more cannot be taken, and a permit of an
 * earlier start of Redis proves nothing: a restart may have brought back an older state of it. So nothing is ever carried out twice,
 * and `withdrawn` proves that nobody did or will.
 */
import type { Purpose } from "../core/budget.ts";
import { type Answer, outcomes, unanswered } from "../core/outcome.ts";
import { type Hub, type Keys, PRELUDE, SITE_ALIVE_MS } from "./redis.ts";

/** What became of an offer; only `offered` opened a permit. */
type Offer = "offered" | "known" | "no-worker" | "other-site";

/**
 * Where a permit stands. `orphaned`: whoever took it is not there any more. `gone`: Redis lost it; `restarted`: Redis did, and what it
 * says of the permit may be older than the truth.
 */
export type Standing = "open" | "withdrawn" | "taken" | "orphaned" | "gone" | "restarted";

/** What came of a job. */
export interface Settled {
  readonly answer: Answer;
  /** How many requests it took, by purpose. */
  readonly used: Readonly<Partial<Record<Purpose, number>>>;
}

/** How long a worker that was not heard of still counts. */
export const WORKER_ALIVE_MS = 5_000;
/** Longer than anything is under way. */
const KEPT_MS = 48 * 3_600_000;

export type Permits = ReturnType<typeof openPermits>;

/** Each call throws RedisTrouble; then it may have happened all the same. */
export function openPermits(hub: Hub, keys: Keys) {
  return {
    /** Opens the permit of `job` for `startMs`, for a site that process `boot` speaks for. */
    async offer(job: string, site: string, boot: string, startMs: number): Promise<Offer> {
      const names = [keys.permit(job), keys.workers, keys.sites];
      const args = [startMs, KEPT_MS, boot, WORKER_ALIVE_MS, site];
      return (await hub.run(OFFER, names, args)) as Offer;
    },
    /** By a worker. `startMs`: within it the first byte must leave; else why it may not be carried out. */
    async take(job: string, worker: string): Promise<{ startMs: number } | { why: string }> {
      const reply = await hub.run(TAKE, [keys.permit(job)], [worker]);
      const [state, ms] = reply as [string, number?];
      return state === "taken" ? { startMs: ms ?? 0 } : { why: state };
    },
    /** The answer of a job, or where it stands. `closes`: its permit is closed unless it was taken. */
    async look(job: string, closes: boolean): Promise<Settled | Standing> {
      const names = [keys.permit(job), keys.hands];
      const reply = await hub.run(STAND, names, [closes ? 1 : 0, WORKER_ALIVE_MS]);
      const [standing, text] = reply as [Standing | "settled", string?];
      return standing === "settled" ? settledIn(text ?? "") : standing;
    },
    /** Leaves the answer where its site looks for it, whatever Redis has lost meanwhile, and calls it out. */
    async settle(job: string, site: string, settled: Settled): Promise<void> {
      const text = JSON.stringify(settled);
      await hub.run(SETTLE, [keys.permit(job), keys.home(site)], [text, KEPT_MS, job]);
    },
  };
}

/** A worker of another version may answer what this one cannot weigh: then it is uncertain. */
export function settledIn(text: string): Settled {
  const settled = JSON.parse(text) as Settled;
  const { outcome, detail } = settled.answer;
  if (outcomes.includes(outcome)) return settled;
  const words = `the worker answered "${outcome}", which this version does not know: ${detail}`;
  return { ...settled, answer: unanswered(words) };
}

const OFFER = `${PRELUDE}
local seen, boot = string.match(redis.call('HGET', KEYS[3], ARGV[5]) or '', '^(%d+) %d+ (%S+)')
if boot and boot ~= ARGV[3] and now - seen < ${SITE_ALIVE_MS} then return 'other-site' end
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
const STAND = `${PRELUDE}
local permit = redis.call('HMGET', KEYS[1], 'run', 'taken', 'settled', 'open')
if permit[3] then return {'settled', permit[3]} end
if not permit[1] then return {'gone'} end
if permit[1] ~= run then return {'restarted'} end
if permit[2] then
  local seen = redis.call('ZSCORE', KEYS[2], permit[2])
  return {seen and now - seen < tonumber(ARGV[2]) and 'taken' or 'orphaned'}
end
if ARGV[1] == '0' and permit[4] then return {'open'} end
redis.call('HDEL', KEYS[1], 'open')
return {'withdrawn'}`;

const SETTLE = `
redis.call('HSET', KEYS[1], 'settled', ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
redis.call('PUBLISH', KEYS[2], ARGV[3] .. ' ' .. ARGV[1])`;

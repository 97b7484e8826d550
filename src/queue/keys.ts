/** Names in Redis. All that share one API key share one prefix, and its braces keep them together in a cluster. */
export interface Keys {
  /** Of BullMQ's own names. */
  readonly prefix: string;
  readonly permit: (job: string) => string;
  /** When each worker was last heard of. */
  readonly workers: string;
  /** Which process speaks for a site. */
  readonly site: (site: string) => string;
  /** The requests of the last minute, and until when none may go. */
  readonly minute: string;
  readonly gate: string;
  /** `2026-11`, UTC: requests by site. */
  readonly month: (month: string) => string;
}

/** `scope` names the API key without telling it. */
export function keysOf(scope: string): Keys {
  const prefix = `{fuelbridge-${scope}}`;
  return {
    prefix,
    // Daemons and workers of earlier versions know a permit by this name.
    permit: (job) => `${prefix}:ticket:${job}`,
    workers: `${prefix}:workers`,
    site: (site) => `${prefix}:site:${site}`,
    minute: `${prefix}:minute`,
    gate: `${prefix}:gate`,
    month: (month) => `${prefix}:month:${month}`,
  };
}

export const QUEUE = "jobs";

/** For every script: the time in ms, and which life of Redis this is. A restart or a failover begins another one. */
export const PRELUDE = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local run = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
  .. string.match(redis.call('INFO', 'replication'), 'master_replid:(%w+)')
`;

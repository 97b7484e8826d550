/** Whether this Redis can be relied on: BullMQ works over one that throws jobs away, and only prints a warning. */
import type { Hub, Trouble } from "./redis.ts";

export interface Health {
  /** Why nothing may be entrusted to this Redis; null when it is fit. Asked once a minute. @throws RedisTrouble */
  check(): Promise<Trouble | null>;
}

const CHECK_MS = 60_000;

/** `advise`: told what does no harm and should be put right, once. */
export function watchHealth(hub: Hub, advise: (advice: Trouble) => void): Health {
  let trouble: Trouble | null = null;
  let advice: Trouble | null = null;
  let checkedAt = -Infinity;
  // It may come back as another one.
  hub.redis.on("close", () => (checkedAt = -Infinity));
  return {
    async check() {
      if (trouble === null && performance.now() - checkedAt < CHECK_MS) return null;
      const before = advice;
      trouble = unfit(hub, await setting(hub, "maxmemory-policy", "memory", "maxmemory_policy"));
      advice = risky(hub, await setting(hub, "appendonly", "persistence", "aof_enabled"));
      checkedAt = performance.now();
      if (advice !== null && before === null) advise(advice);
      return trouble;
    },
  };
}

const unfit = ({ place }: Hub, policy: string): Trouble | null =>
  policy === "noeviction"
    ? null
    : {
        code: "evicts",
        message: `Redis at ${place} throws data away when its memory is full (maxmemory-policy ${policy})`,
        next: 'Set "maxmemory-policy noeviction" in its configuration; work goes on by itself.',
      };

const risky = ({ place }: Hub, aof: string): Trouble | null =>
  aof === "yes" || aof === "1"
    ? null
    : {
        code: "keeps-nothing",
        message: `Redis at ${place} keeps nothing on its disk: when it restarts, every job in hand becomes uncertain`,
        next: 'Set "appendonly yes" in its configuration.',
      };

/** From the configuration of Redis; where a provider forbids that, from what it tells of itself. */
async function setting(hub: Hub, name: string, section: string, field: string): Promise<string> {
  try {
    const [, value] = (await hub.redis.config("GET", name)) as [string, string?];
    if (value !== undefined) return value;
  } catch (error) {
    // Only Redis itself can forbid it; that it cannot be reached is for the next command to tell.
    if ((error as Error).name !== "ReplyError") return hub.ask(Promise.reject(error as Error));
  }
  const told = await hub.ask(hub.redis.info(section));
  return new RegExp(`^${field}:(\\S+)`, "m").exec(told)?.[1] ?? "unknown";
}

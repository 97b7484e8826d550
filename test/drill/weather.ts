/**
 * Everything that goes wrong at the platform, drawn from the seed.
 *
 * Why a duplicate would be fuelbridge's fault and not the drill's: a write that nobody knows the outcome of is looked
 * for after the site's settling time, and "nothing there" is believed. So that time must be longer than everything
 * that can still happen to a write at the platform: {@link DELAY_MS}, or {@link LATE_S} and {@link LAG_S} together, all
 * well below the two seconds of settling that a drill sets. The platform runs in the drill's own process, so a busy
 * machine delays its late writes and the reads that look for them alike. There is one exception, {@link SLOW_S}: a 504
 * on money may commit long after the settling time. Its key is held for a day, so that nothing repeats it, and a
 * person decides who looks only after that time.
 *
 * The platform's clock is moved only while no daemon runs. A daemon may send the same bytes again within 45 s of a
 * torn answer, trusting that the platform holds or remembers the key for at least 60 s of the time that both live in;
 * after a restart it trusts in no time at all. Key records that are gone after a day are met only this way.
 */
import { switches } from "./readings.ts";
import type { Random } from "../../src/sandbox/scenes/random.ts";
import type { Platform } from "./site.ts";

const DELAY_MS = 800;
export const LATE_S = 0.6;
const LAG_S = 0.3;
/** By the platform's clock. */
export const SLOW_S = 8;
const MINUTE_S = 61;
const DAY_S = 24 * 3_600 + 60;
const ARMED_MAX = 8;

const WRITES = ["/invoices", "/customers", "/suppliers", "/pricing/bulk/rack"] as const;
const READS = ["/invoices", "/connections", "/pricing/rack"] as const;
const PLENTY = { key: "supplier", perMinute: 1_000_000, monthlyCap: 100_000_000 };

type Fault = Readonly<Record<string, unknown>>;

/**
 * Before a daemon starts: the time of day, how the platform commits and reads, what it still allows. True when it is so
 * slow that a long life is needed to see it. The clock stands where workers may still send what an older daemon asked for.
 */
export async function beforeStart(
  { ask, read }: Platform,
  random: Random,
  { late, isShared, chosen }: { late: number; isShared: boolean; chosen: Chosen },
): Promise<boolean> {
  const weather = isShared ? 1 : random.next();
  if (weather < 0.12) await ask("POST", "/clock", { advanceSeconds: MINUTE_S });
  else if (weather < 0.15) await ask("POST", "/clock", { advanceSeconds: DAY_S });
  const isSlow = random.chance(0.05);
  await read({
    failingWritesCommitLateSeconds: isSlow ? SLOW_S : random.chance(0.5) ? late : 0,
    readLagSeconds: random.chance(0.3) ? LAG_S : 0,
    cursorLifeSeconds: random.chance(0.1) ? 0 : 3_600,
  });
  await ask("DELETE", "/faults");
  await ask("POST", "/limits", PLENTY);
  if (isSlow) {
    for (const path of ["/invoices", "/customers"])
      await arm({ ask }, { method: "POST", path, kind: "status", status: 504, when: "after" });
    return true;
  }
  await limit({ ask }, random);
  for (let count = random.int(0, ARMED_MAX); count > 0; count--) await arm({ ask }, drawn(random));
  for (const [name, drawn] of chosen) {
    const fault = random.chance(0.3) ? switches[name]?.fault?.(random, drawn) : null;
    if (fault === null || fault === undefined) continue;
    chosen.set(name, drawn + 1);
    await arm({ ask }, fault);
  }
  return false;
}

/** Kinds of faults that this drill has besides, and how often each was drawn. */
export type Chosen = Map<string, number>;

/** While it runs, now and then; never beside a 504 that commits slowly. */
export async function whileRunning(platform: Platform, random: Random): Promise<void> {
  const { ask } = platform;
  const { failingWritesCommitLateSeconds } = await ask<{ failingWritesCommitLateSeconds: number }>(
    "GET",
    "/readings",
  );
  const { faults } = await ask<{ faults: unknown[] }>("GET", "/faults");
  if (failingWritesCommitLateSeconds === SLOW_S || faults.length >= ARMED_MAX) return;
  await arm(platform, drawn(random));
}

export interface Held {
  readonly ms: number;
  /** Has the write come? */
  readonly isThere: () => Promise<boolean>;
}

/** The next write waits at the platform before it is carried out. */
export async function holdNextWrite({ ask }: Platform, random: Random): Promise<Held> {
  const ms = random.int(100, DELAY_MS);
  const { faults } = await ask<{ faults: { id: number; kind: string }[] }>("GET", "/faults");
  await ask("DELETE", "/faults");
  const { id } = await ask<{ id: number }>("POST", "/faults", {
    method: "POST",
    kind: "delay",
    ms,
  });
  for (const { id: _, ...fault } of faults) await ask("POST", "/faults", fault);
  const isThere = async (): Promise<boolean> =>
    !(await ask<{ faults: { id: number }[] }>("GET", "/faults")).faults.some(
      (fault) => fault.id === id,
    );
  return { ms, isThere };
}

/** Nothing more goes wrong. */
export async function calm({ ask, read }: Platform): Promise<void> {
  await ask("DELETE", "/faults");
  await ask("POST", "/limits", PLENTY);
  await read({
    failingWritesCommitLateSeconds: 0,
    readLagSeconds: 0,
    cursorLifeSeconds: 3_600,
  });
}

/** What was held for a minute or a day is free again. Only while no daemon runs. */
export const nextDay = ({ ask }: Platform): Promise<unknown> =>
  ask("POST", "/clock", { advanceSeconds: DAY_S });

/** Now and then the minute or the month has few requests left; the next start finds plenty again. */
async function limit({ ask }: Pick<Platform, "ask">, random: Random): Promise<void> {
  const draw = random.next();
  const few = random.int(3, 40);
  if (draw < 0.06) await ask("POST", "/limits", { key: "supplier", perMinute: few });
  else if (draw < 0.1) {
    const { limits } = await ask<{ limits: { key: string; monthUsed: number }[] }>("GET", "/state");
    const used = limits.find(({ key }) => key === "supplier")?.monthUsed ?? 0;
    await ask("POST", "/limits", { key: "supplier", monthlyCap: used + few });
  }
}

const arm = ({ ask }: Pick<Platform, "ask">, fault: Fault): Promise<unknown> =>
  ask("POST", "/faults", fault);

function drawn(random: Random): Fault {
  return random.chance(0.7)
    ? { method: "POST", path: random.pick(WRITES), ...ofWrite(random) }
    : { method: "GET", ...ofRead(random) };
}

function ofWrite(random: Random): Fault {
  const when = random.pick(["before", "after"]);
  const draw = random.next();
  if (draw < 0.3) return { kind: "status", status: random.pick([500, 502, 503]), when };
  if (draw < 0.4) return { kind: "status", status: 504, when };
  if (draw < 0.6) return { kind: "reset", when };
  if (draw < 0.7) return { kind: "truncate" };
  if (draw < 0.8) return { kind: "garbage" };
  if (draw < 0.85)
    return { kind: "status", status: 429, code: "RATE_LIMIT_EXCEEDED", retryAfter: 1 };
  return { kind: "delay", ms: random.int(50, DELAY_MS) };
}

function ofRead(random: Random): Fault {
  const draw = random.next();
  if (draw < 0.2) return { path: "/invoices", kind: "cursor" };
  const path = random.pick(READS);
  if (draw < 0.45) return { path, kind: "status", status: random.pick([500, 503, 504]) };
  if (draw < 0.6) return { path, kind: "reset" };
  if (draw < 0.75) return { path, kind: "truncate" };
  if (draw < 0.9) return { path, kind: "garbage" };
  return { path, kind: "delay", ms: random.int(50, DELAY_MS) };
}

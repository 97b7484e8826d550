/** Companies under one API key within a process: the minute and the month that they share, by a clock that the test moves. */
import { describe, expect, test } from "vitest";
import { times } from "../../test/conformance/support.ts";
import { numbers, runs } from "../../test/support/runs.ts";
import { type Budget, type Purpose, type Spent, usedOf, usualBudget } from "../core/budget.ts";
import type { Clock } from "../core/time.ts";
import { openKey } from "./client.ts";

const MINUTE = 60_000;

/** Whoever pauses waits until the time has come; it comes when nobody has anything left to do. */
function sharedClock(startMs: number) {
  let nowMs = startMs;
  let waiting: { atMs: number; wake: () => void }[] = [];
  const clock: Clock = {
    now: () => ({ boot: "boot", monoMs: nowMs, wallMs: nowMs }),
    pause: (ms) => new Promise((resolve) => void waiting.push({ atMs: nowMs + ms, wake: resolve })),
    chance: () => 0.5,
  };
  return {
    clock,
    /** Until nobody waits, or only for what lies behind `untilMs`. */
    pass: async (untilMs = Infinity): Promise<void> => {
      for (;;) {
        await new Promise((resolve) => setImmediate(resolve));
        const next = Math.min(...waiting.map(({ atMs }) => atMs));
        if (next === Infinity || next > untilMs) return;
        nowMs = next;
        const due = waiting.filter(({ atMs }) => atMs <= nowMs);
        waiting = waiting.filter(({ atMs }) => atMs > nowMs);
        for (const { wake } of due) wake();
      }
    },
  };
}

function companies(weights: Readonly<Record<string, number>>, limits: Partial<Budget> = {}) {
  const startMs = Date.parse("2026-11-01T06:00:00Z");
  const { clock, pass } = sharedClock(startMs);
  const budget = { ...usualBudget, perMonth: 10_000_000, ...limits };
  const sent: { atMs: number; company: string }[] = [];
  const gone = new Map<string, Spent | null>();
  const sharers = Object.entries(weights).map(([site, weight]) => ({
    site,
    weight,
    away: () => gone.get(site) ?? null,
  }));
  const key = openKey({ clock, budget }, sharers);
  const join = (company: string) => {
    const spent: Partial<Record<Purpose, number>> = {};
    return key.join(company, {
      spent: () => ({ ...spent }),
      spend(atMs, purpose) {
        sent.push({ atMs, company });
        spent[purpose] = (spent[purpose] ?? 0) + 1;
      },
      closedUntil: () => null,
    });
  };
  const governors = new Map(sharers.map(({ site }) => [site, join(site)]));
  /** Until it was admitted; ms that it took. */
  async function ask(company: string, purpose: Purpose): Promise<number> {
    const fromMs = clock.now().wallMs;
    for (;;) {
      const admission = await governors.get(company)?.admit(purpose);
      if (admission?.admitted === true) return clock.now().wallMs - fromMs;
      await clock.pause(admission?.waitMs ?? MINUTE);
    }
  }
  return { key, governors, gone, sent, clock, pass, ask, join };
}

/** So many requests by so many at once. */
async function work(count: number, ask: () => Promise<number>, atOnce = 16): Promise<void> {
  let left = count;
  await Promise.all(
    times(atOnce, async () => {
      while (left-- > 0) await ask();
    }),
  );
}

function expectMinutes(sent: readonly { atMs: number }[], limit: number): void {
  for (const [at, { atMs }] of sent.entries())
    expect(atMs - (sent[at - limit]?.atMs ?? -Infinity)).toBeGreaterThan(MINUTE);
}

/** Invoices come as long as it takes, one in seven minutes. */
const DOCUMENTS = runs(10_000, 40_000, 100_000);
const INVOICES = DOCUMENTS / 5_000;

describe("companies under one key", () => {
  test.each([1, 9])(
    `a backfill of ${DOCUMENTS} documents of one delays an invoice of %i others by no more than a minute`,
    numbers,
    async (others) => {
      const names = times(others, (at) => `c${at}`);
      const here = companies({ north: 1, ...Object.fromEntries(names.map((name) => [name, 1])) });
      const backfill = work(DOCUMENTS, () => here.ask("north", "backfill"));
      const delays: number[] = [];
      const invoices = names.map(async (name, at) => {
        for (let round = 1; round <= INVOICES; round++) {
          await here.clock.pause(7 * MINUTE + at * 1_001);
          const read = await here.ask(name, "read-back");
          delays.push(read + (await here.ask(name, "write")));
        }
      });
      await here.pass();
      await Promise.all([backfill, ...invoices]);
      expect(delays).toHaveLength(INVOICES * others);
      expect(Math.max(...delays)).toBeLessThanOrEqual(MINUTE);
      expectMinutes(here.sent, usualBudget.perMinute);
      // What the others leave is the backfill's: a tenth of the minute at most is kept for them.
      const hours = (here.clock.now().wallMs - (here.sent[0]?.atMs ?? 0)) / (60 * MINUTE);
      expect(hours).toBeLessThan((DOCUMENTS / (0.9 * 600) / 60) * 1.05);
    },
  );

  test("what all of them want is shared by their weights, minute by minute", async () => {
    const here = companies({ north: 3, south: 1 });
    const both = ["north", "south"].map((name) => work(30_000, () => here.ask(name, "poll")));
    const endMs = here.clock.now().wallMs + 30 * MINUTE;
    await here.pass(endMs);
    const of = (name: string) => here.sent.filter(({ company }) => company === name).length;
    expect(of("north") / of("south")).toBeCloseTo(3, 0);
    expectMinutes(here.sent, usualBudget.perMinute);
    await here.pass();
    await Promise.all(both);
  });

  test("the month is never over in sum, and each has its part though others would use it", async () => {
    const reserve = { writes: 0, readBacks: 0 };
    const here = companies({ north: 1, south: 1 }, { perMonth: 1_000, reserve });
    const admitted = async (name: string): Promise<number> => {
      for (let count = 0; ; count++)
        if (!(await here.governors.get(name)?.admit("write"))?.admitted) return count;
    };
    const counts: number[] = [];
    const asking = (async () => {
      for (const name of ["north", "south", "north"]) {
        counts.push(await admitted(name));
        await here.clock.pause(2 * MINUTE);
      }
    })();
    await here.pass();
    await asking;
    expect(counts[0]).toBeGreaterThanOrEqual(500);
    expect(counts[0]).toBeLessThan(520);
    expect(here.sent.length).toBeLessThanOrEqual(1_000);
    expect(counts[1]).toBeGreaterThanOrEqual(480);
    expect(usedOf(here.key.spent("2026-11"))).toBe(here.sent.length);
  });

  test("what one used that is away still counts, and of one that nobody can look at its whole part", async () => {
    const here = companies({ north: 1, south: 1 }, { perMonth: 1_000 });
    await Promise.all([here.ask("south", "poll"), here.ask("north", "poll")]);
    here.governors.get("south")?.leave();
    expect(here.key.spent("2026-11")).toEqual({ poll: 2 });
    const later = here.clock.pause(2 * MINUTE);
    await here.pass();
    await later;
    expect(here.key.spent("2026-11")).toEqual({ poll: 1, lost: 500 });
    here.gone.set("south", { write: 7 });
    const again = here.clock.pause(2 * MINUTE);
    await here.pass();
    await again;
    expect(here.key.spent("2026-11")).toEqual({ poll: 1, write: 7 });
    here.join("south");
    expect(here.key.spent("2026-11")).toEqual({ poll: 1 });
  });
});

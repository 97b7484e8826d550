import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { governed, usePlatform } from "../../test/platform/support.ts";
import { times } from "../../test/conformance/support.ts";
import { testClock } from "../../test/support/clock.ts";
import { usualBudget } from "../core/budget.ts";
import { openGovernor } from "./client.ts";

const MINUTE = 60_000;
const read = { method: "GET", path: "/invoices?pageSize=1", purpose: "poll" } as const;

/** The most of these instants that lie within 60 s. */
const mostInAMinute = (instants: readonly number[]): number =>
  Math.max(
    ...instants.map((from) => instants.filter((at) => at >= from && at < from + MINUTE).length),
  );

describe("the minute", () => {
  test("never more than its number in any 60 s, and none waits longer than it must", async () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 30_000 }), { minLength: 1, maxLength: 80 });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 7 }), gaps, async (perMinute, gaps) => {
        const clock = testClock();
        const governor = governed(clock, { perMinute });
        const admitted: number[] = [];
        for (const gap of gaps) {
          clock.advance(gap);
          const asked = clock.now().monoMs;
          await governor.admit("poll");
          const at = clock.now().monoMs;
          const place = admitted.at(-perMinute);
          expect(at).toBe(Math.max(asked, place === undefined ? 0 : place + MINUTE + 1_000));
          admitted.push(at);
        }
        expect(mostInAMinute(admitted)).toBeLessThanOrEqual(perMinute);
      }),
    );
  });

  const learning = async (headers: Record<string, string>, status = 200): Promise<number> => {
    const clock = testClock();
    const governor = governed(clock);
    governor.learn(headers, status);
    const before = clock.now().monoMs;
    await governor.admit("poll");
    return clock.now().monoMs - before;
  };

  test.each([
    ["nothing is left", 200, { "ratelimit-remaining": "0", "ratelimit-reset": "42" }, 42_000],
    ["something is left", 200, { "ratelimit-remaining": "1", "ratelimit-reset": "42" }, 0],
    ["a window that is none", 200, { "ratelimit-remaining": "0", "ratelimit-reset": "3600" }, 0],
    ["no number", 200, { "ratelimit-remaining": "", "ratelimit-reset": "42" }, 0],
    ["429 says when", 429, { "retry-after": "7" }, 7_000],
    ["429 of the month", 429, { "retry-after": "864000", "ratelimit-remaining": "9" }, 0],
    ["503 is no limit", 503, { "retry-after": "7" }, 0],
  ])("%s (%i %j): the next one waits %i ms", async (_, status, headers, waits) => {
    expect(await learning(headers, status)).toBe(waits);
  });

  test("what the platform says is left counts down with what is sent, in whatever order answers come", async () => {
    const clock = testClock();
    const governor = governed(clock);
    const before = clock.now().monoMs;
    const left = (remaining: string) =>
      governor.learn({ "ratelimit-remaining": remaining, "ratelimit-reset": "30" }, 200);
    left("3");
    await governor.admit("poll");
    left("5");
    await governor.admit("poll");
    await governor.admit("poll");
    expect(clock.now().monoMs).toBe(before);
    expect(governor.minute()).toEqual({ used: 3, limit: 600, opensInMs: 30_000 });
    await governor.admit("poll");
    expect(clock.now().monoMs - before).toBe(30_000);
  });
});

describe("the month", () => {
  const budget = { perMonth: 100, reserve: { writes: 20, readBacks: 10 } };

  test("what is refused says what is used, and asks to be asked again before the month turns", async () => {
    const clock = testClock(Date.parse("2026-11-29T23:50:00Z"));
    const governor = governed(clock, budget, { poll: 70 });
    expect(await governor.admit("poll")).toEqual({
      admitted: false,
      waitMs: 15 * MINUTE,
      detail:
        "70 of the 100 requests of 2026-11 are used (platform.budget.perMonth); the rest is kept for writes and for looking for them",
    });
    expect(await governor.admit("write")).toEqual({ admitted: true });
    expect(await governor.admit("read-back")).toEqual({ admitted: true });
  });

  test("reconciliation has its share and no more, and takes nothing of what writes are owed", async () => {
    const clock = testClock();
    const governor = governed(clock, { ...budget, share: { audit: 10 } }, { audit: 9, poll: 20 });
    expect(await governor.admit("audit")).toEqual({ admitted: true });
    expect(await governor.admit("audit")).toMatchObject({
      admitted: false,
      detail: expect.stringContaining("; of these reconciliation has had the 10 that it may use"),
    });
    expect(await governor.admit("poll")).toEqual({ admitted: true });
    const owed = governed(clock, { ...budget, share: { audit: 45 } }, { audit: 5, poll: 65 });
    expect(await owed.admit("audit")).toMatchObject({ admitted: false });
  });

  test("a write that the month does not allow waits for the next one", async () => {
    const clock = testClock(Date.parse("2026-11-29T23:50:00Z"));
    const governor = governed(clock, budget, { poll: 70, write: 30 });
    expect(await governor.admit("write")).toEqual({
      admitted: false,
      waitMs: (24 * 60 + 10) * MINUTE,
      detail: "100 of the 100 requests of 2026-11 are used (platform.budget.perMonth)",
    });
  });

  test("a month that the platform has closed is closed for all, until it may be asked again", async () => {
    const clock = testClock();
    const until = clock.now().wallMs + 60 * MINUTE;
    const governor = openGovernor({
      clock,
      budget: usualBudget,
      ledger: {
        spent: () => ({}),
        spend: () => {},
        closedUntil: (now) => (until > now ? until : null),
      },
    });
    for (const purpose of ["poll", "detail", "read-back", "check", "audit"] as const)
      expect(await governor.admit(purpose)).toMatchObject({ admitted: false, waitMs: 15 * MINUTE });
    expect(await governor.admit("write")).toMatchObject({ admitted: false, waitMs: 60 * MINUTE });
    clock.advance(60 * MINUTE);
    expect(await governor.admit("poll")).toEqual({ admitted: true });
  });
});

describe("against the sandbox", () => {
  const platform = usePlatform("conformance");
  const { control } = platform;
  const refusals = async () =>
    (await control.requests()).filter(({ status }) => status === 429).length;

  test("never more than perMinute in any 60 s by the platform's clock, and not one is refused", async () => {
    await control.limits({ key: "supplier", perMinute: 20 });
    const clock = await platform.clock();
    const client = platform.client({ clock, governor: governed(clock, { perMinute: 20 }) });
    for (let round = 0; round < 12; round++)
      await Promise.all(times(8, () => client.exchange(read)));
    const log = await control.requests();
    expect(log).toHaveLength(96);
    expect(mostInAMinute(log.map(({ at }) => Date.parse(String(at))))).toBe(20);
    expect(await refusals()).toBe(0);
  });

  test("a key that others use too: what they leave is all that is sent", async () => {
    await control.limits({ key: "supplier", perMinute: 20 });
    const clock = await platform.clock();
    const other = platform.client();
    const client = platform.client({ clock, governor: governed(clock) });
    for (let round = 0; round < 4; round++) {
      for (let theirs = 0; theirs < 8; theirs++) await other.exchange(read);
      for (let ours = 0; ours < 14; ours++)
        expect(await client.exchange(read)).toMatchObject({ status: 200 });
      await clock.pause(MINUTE);
    }
    expect(await refusals()).toBe(0);
  });
});

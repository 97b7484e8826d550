/** A drop that stays empty: learned from what arrived before, or told by the operator. */
import { expect, test } from "vitest";
import { bill, engineOn, receiver } from "../../test/support/engine.ts";
import { tempFolder } from "../../test/support/folder.ts";
import { statusText } from "../views/status.ts";
import { STATUS } from "../views/status.fixture.ts";
import type { Page } from "../core/contract.ts";
import { limitOf } from "../core/silence.ts";
import type { FlowStatus } from "../office/answers.ts";
import { storeOffice } from "../../test/support/office.ts";
import { Daemon } from "./daemon.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** A daemon over one source: `come` lets a file land now, or when it says. */
function drop(silenceMs: number | null) {
  const bench = engineOn(tempFolder());
  let pages: Page[] = [];
  const flow = bench.flow({
    sink: receiver(),
    source: {
      silenceMs,
      async *read() {
        yield* pages;
        pages = [];
      },
    },
  });
  const daemon = new Daemon(bench.engine, [flow]);
  const parts = { engine: bench.engine, flows: [flow], daemon, version: "0" };
  const office = storeOffice({ ...parts, startedAt: new Date(0) });
  const look = async () => {
    await daemon.once(new AbortController().signal);
    const { healthy, flows, outOfStep } = await office.status();
    return { silence: flows[0]?.silence ?? null, healthy, inStep: outOfStep.length === 0 };
  };
  return {
    look,
    told: () => bench.notes.filter((event) => event === "silent").length,
    come: async (at = new Date(bench.clock.now().wallMs)) => {
      pages = [{ changes: [], position: null, cameAt: at.toISOString(), notices: [] }];
      return look();
    },
    wait: async (hours: number) => {
      bench.clock.advance(hours * HOUR);
      return look();
    },
  };
}

test("a drop that is empty for longer than ever is told once, with since when, the longest before and what to do; a file ends it", async () => {
  const { come, wait, told } = drop(null);
  // Two weeks and a day of working days: each weekend is 72 hours.
  for (const [day] of Array.from({ length: 16 }).entries()) {
    if (day % 7 < 5) await come();
    await wait(24);
  }
  expect(told()).toBe(0);
  await come();
  expect(await wait(90)).toMatchObject({ silence: null, healthy: true });

  const { silence, healthy, inStep } = await wait(1);
  expect({ healthy, inStep }).toEqual({ healthy: false, inStep: true });
  expect(silence).toMatchObject({ longestMs: 3 * DAY, limitMs: 90 * HOUR });
  const [flow] = STATUS.flows as [(typeof STATUS.flows)[number]];
  const said = statusText({ ...STATUS, flows: [{ ...flow, silence }] });
  expect(said).toContain(`Flow orders brings nothing: Nothing came since ${silence?.since}.`);
  expect(said).toContain("between two of the 13 arrivals before was 72 hours.");
  expect(said).toContain("Look whether the program that exports still runs");

  await wait(24);
  expect(told()).toBe(1);
  expect(await come()).toMatchObject({ silence: null, healthy: true });
  // What it was silent for is no longer more than ever.
  expect((await wait(116)).silence).toBeNull();
});

/** A list that brought a document each hour from 13:00 to 22:00 UTC on working days, for five weeks where it learns. */
async function officeHours(silenceMs?: number) {
  const bench = engineOn(tempFolder());
  let count = 0;
  let brings = false;
  const source = {
    async *read() {
      if (brings) yield { changes: [bill(`INV-${++count}`, "1.00")], position: count };
    },
  };
  const flow = bench.flow({ sink: receiver(), source });
  const watched = { ...flow, ...(silenceMs === undefined ? {} : { silenceMs }) };
  const daemon = new Daemon(bench.engine, [watched]);
  const parts = { engine: bench.engine, flows: [watched], daemon, version: "0" };
  const office = storeOffice({ ...parts, startedAt: new Date(0) });
  const now = (): Date => new Date(bench.clock.now().wallMs);
  const isWork = (): boolean =>
    now().getUTCDay() % 6 !== 0 && now().getUTCHours() >= 13 && now().getUTCHours() <= 22;
  const look = async (works: boolean): Promise<void> => {
    brings = works && isWork();
    await daemon.once(new AbortController().signal);
    bench.clock.advance(HOUR);
  };
  const hour = async (works: boolean): Promise<FlowStatus["silence"]> => {
    await look(works);
    return (await office.status()).flows[0]?.silence ?? null;
  };
  if (silenceMs === undefined)
    for (let at = 0; at < 5 * 7 * 24; at++)
      if (isWork() || at % 6 === 0) await look(true);
      else bench.clock.advance(HOUR);
  return { hour, now, told: () => bench.notes.filter((event) => event === "silent").length };
}

test("a list that brings nothing for longer than it does at this hour of the week is told on the same day, nights and weekends are not", async () => {
  const { hour, now, told } = await officeHours();
  expect(told()).toBe(0);
  while (now().getUTCDay() !== 2 || now().getUTCHours() !== 17) expect(await hour(true)).toBeNull();
  let quiet = 0;
  let silence = await hour(false);
  for (; silence === null && quiet < 72; quiet++) silence = await hour(false);
  expect(quiet).toBeLessThanOrEqual(5);
  expect(silence?.message).toMatch(
    /^Nothing came since .* but at this hour of the week it is usually less than 4 hours\.$/,
  );
  expect(silence?.next).toContain("`silence` of this flow");
  // It stays told over the night, which is always quiet, and ends when something comes.
  for (let at = 0; at < 14; at++) expect(await hour(false)).not.toBeNull();
  while (now().getUTCHours() !== 15) await hour(false);
  expect(await hour(true)).toBeNull();
  expect(told()).toBe(1);
});

test("a limit that an operator sets for a list counts in place of what was learned, and off tells nothing", async () => {
  for (const [set, tells] of [
    [20 * HOUR, true],
    [Infinity, false],
  ] as const) {
    const { hour } = await officeHours(set);
    for (let at = 0; at < 20; at++) expect(await hour(false)).toBeNull();
    const [silence] = [await hour(false), await hour(false)].toReversed();
    expect(silence?.limitMs).toBe(tells ? 20 * HOUR : undefined);
  }
});

test("a limit that is set counts from the first look, and overrules what was learned", async () => {
  const { look, wait } = drop(2 * DAY);
  await look();
  expect((await wait(48)).silence).toBeNull();
  const { silence } = await wait(1);
  expect(silence).toMatchObject({ limitMs: 2 * DAY });
  expect(silence?.message).toContain("Nothing ever came; the limit that is set is 48 hours.");
});

test("a file that lay there while nobody looked came when it was written; one with an impossible time, when it was read", async () => {
  const { come, wait } = drop(null);
  for (let at = 0; at < 12; at++) {
    await wait(36);
    await come(new Date(0));
  }
  // The daemon did not run for ten days, and one file came after 40 hours.
  const written = new Date(Date.parse("2026-11-21T12:00:00Z") + (12 * 36 + 40) * HOUR);
  await wait(240);
  await come(written);
  const { silence } = await wait(1);
  expect(silence).toMatchObject({ since: written.toISOString(), longestMs: 40 * HOUR });
});

test.each([
  ["nine arrivals", { arrivals: 9, lastMs: 20 * DAY }, null, null],
  ["thirteen days", { arrivals: 99, lastMs: 13 * DAY }, null, null],
  ["a file each hour", { arrivals: 400, lastMs: 20 * DAY, longestMs: HOUR }, null, DAY],
  ["a limit of two hours", { arrivals: 0, lastMs: 0 }, 2 * HOUR, 2 * HOUR],
] as const)("%s: told after what is known to be usual, at least a day", (_, known, set, limit) => {
  expect(limitOf({ firstMs: 0, longestMs: 0, atThisHourMs: null, ...known }, set)).toBe(limit);
});

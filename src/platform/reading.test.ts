/** Whole lists, read by what has come of them: no server gives as much as it is asked for. */
import { expect, test } from "vitest";
import { times } from "../../test/conformance/support.ts";
import { testClock } from "../../test/support/clock.ts";
import type { Exchange, Exchanger } from "./client.ts";
import { allPages, type PageEnd, patiently, recordAt } from "./reading.ts";

/** The list's pages by their counts, the last one repeated; `total`: what it says it has. */
async function read(counts: readonly number[], total: number | null, ends: boolean, isWalk = true) {
  let asked = 0;
  const query = { pageSize: "100", ...(isWalk ? { updatedSince: "1970-01-01T00:00:00Z" } : {}) };
  const ask = async (): Promise<PageEnd> => {
    const count = counts[Math.min(asked, counts.length - 1)] ?? 0;
    asked++;
    const hasMore = !ends || asked < counts.length;
    const records = times(count, String);
    return { hasMore, nextCursor: hasMore ? `c${asked}` : null, total, records };
  };
  try {
    for await (const _ of allPages({ query, ask, stuck: (how) => new Error(how) }));
    return { asked, how: null };
  } catch (error) {
    return { asked, how: (error as Error).message };
  }
}

test.each([
  ["three records a page", times(84, () => 3), 250],
  ["an empty page before each", times(168, (n) => (n % 2 === 0 ? 0 : 3)), 250],
  ["five empty pages before each", times(60, (n) => (n % 6 === 5 ? 1 : 0)), 10],
  ["more than it says at first", times(15, () => 100), 900],
  ["no total, and full pages", times(500, () => 100), null],
] as const)("a list is read to its end: %s", async (_, counts, total) => {
  expect(await read(counts, total, true)).toEqual({ asked: counts.length, how: null });
});

test.each([
  ["pages of 100 that repeat", [100], 250, 16],
  ["pages of 3 that repeat", [3], 10, 17],
  ["nothing but empty pages", [0], 10, 11],
  ["empty pages after some records", [100, 100, 0], 250, 13],
  ["no total", [1], null, 10_000],
] as const)("a list that does not end is refused: %s", async (_, counts, total, pages) => {
  expect(await read(counts, total, false)).toEqual({
    asked: pages,
    how: `does not end after ${pages} pages`,
  });
});

const numbered = (counts: readonly number[], total: number | null, ends = true) =>
  read(counts, total, ends, false);

test("a list by page numbers is read to its end in small pages, with empty ones between them", async () => {
  const small = times(84, () => 3);
  expect(await numbered(small, 250)).toEqual({ asked: 84, how: null });
  const between = times(168, (n) => (n % 2 === 0 ? 0 : 3));
  expect(await numbered(between, 250)).toEqual({ asked: 168, how: null });
});

test("an empty page of a list by page numbers leads nowhere where its total is reached or not said", async () => {
  const how = "says there is more after an empty page";
  expect(await numbered([250, 0, 3], 250, false)).toEqual({ asked: 2, how });
  expect(await numbered([3, 0, 3], null, false)).toEqual({ asked: 2, how });
  expect((await numbered([3, 0], 250, false)).how).toBe("does not end after 12 pages");
});

test.each([
  ["an error envelope", '{"success":false,"error":{"code":"NOT_FOUND","message":"None."}}', null],
  ["a page of something in between", "<html><h1>404 Not Found</h1></html>", "404 404 Not Found"],
  ["nothing", "", "404"],
])("a record is absent by the platform's own word, not by %s", async (_, text, message) => {
  const exchange = async () => ({ kind: "answer" as const, status: 404, headers: {}, text });
  const client = { exchange } as unknown as Exchanger;
  const read = recordAt({ client, clock: testClock(), purpose: "detail" }, "/orders/1");
  if (message === null) expect(await read).toBeNull();
  else await expect(read).rejects.toThrow(`/orders/1 could not be read: ${message}`);
});

test.each([
  [204, ""],
  [202, '{"success":true}'],
  [200, '{"success":true,"da'],
])(
  "a read that is answered %i %j once is asked again: no list is empty for it",
  async (status, text) => {
    const list: Exchange = { kind: "answer", status: 200, headers: {}, text: '{"success":true}' };
    const answers: Exchange[] = [{ ...list, status, text }, list];
    const exchange = async (): Promise<Exchange> => answers.shift() ?? list;
    const client = { exchange } as unknown as Exchanger;
    expect(await patiently({ client, clock: testClock(), purpose: "poll" }, "/invoices")).toBe(
      list,
    );
  },
);

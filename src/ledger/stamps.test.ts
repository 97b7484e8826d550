import { expect, test } from "vitest";
import { SourceUnavailable } from "../core/errors.ts";
import type { Json } from "../core/json.ts";
import { type StampedRow, stampedList, stampedRows, unitedPages } from "./stamps.ts";

const never = new AbortController().signal;

/** Books that are rows with stamps, and somebody who reads them again and again. */
function books(once = false) {
  const rows: StampedRow[] = [];
  const after = (one: StampedRow, { at, id }: Pick<StampedRow, "at" | "id">): boolean =>
    one.at > at || (one.at === at && one.id > id);
  const state = {
    now: new Date("2026-11-21T12:00:00Z"),
    fails: null as Error | null,
    stop: () => {},
  };
  const source = stampedRows(
    [
      {
        name: "rows",
        once,
        newest: async () =>
          rows
            .map(({ at }) => at)
            .toSorted()
            .at(-1) ?? null,
        page: async (place, until, most) =>
          rows
            .filter((one) => after(one, place) && one.at <= until)
            .toSorted((one, other) => (after(one, other) ? 1 : -1))
            .slice(0, most),
      },
    ],
    async (records) => {
      state.stop();
      if (state.fails !== null) throw state.fails;
      return records;
    },
  )({
    tell: (records) => records.map((id) => ({ id: String(id), version: null, text: "{}" })),
    now: () => state.now,
    unavailable: (error) => new SourceUnavailable("not now", { next: "wait", cause: error }),
  });
  let position: Json | null = null;
  /** The ids that come; `pages`: the reader is gone after so many. */
  const read = async (pages = Infinity, signal = never): Promise<string[]> => {
    const ids: string[] = [];
    const reading = { signal, known: () => null, stored: () => false };
    for await (const page of source.read(position, reading)) {
      ids.push(...page.changes.map(({ id }) => id));
      position = page.position;
      if (--pages === 0) break;
    }
    return ids;
  };
  const add = (id: number, at: string, record = id): void => void rows.push({ id, at, record });
  return { add, read, state };
}

const AT = "2026-11-21T11:59:00.123456";

test("rows that share a stamp are neither lost nor repeated between pages, though the reader is killed after each", async () => {
  const { add, read } = books();
  for (let id = 1; id <= 250; id++) add(id, AT);
  const seen: string[] = [];
  for (let page = 0; page < 3; page++) seen.push(...(await read(1)));
  expect(seen.length).toBe(250);
  expect(new Set(seen).size).toBe(250);
});

test("a row that was committed late, behind what was read, is read by the next walk", async () => {
  const { add, read } = books();
  add(1, AT);
  await read();
  add(2, "2026-11-21T11:58:10.000001");
  expect(await read()).toContain("2");
});

test("once nothing can come up any more, nothing is read; a new row is", async () => {
  const { add, read, state } = books();
  add(1, AT);
  await read();
  expect(await read()).toEqual(["1"]);
  state.now = new Date("2026-11-21T12:11:00Z");
  expect(await read()).toEqual(["1"]);
  expect(await read()).toEqual([]);
  add(2, "2026-11-21T12:11:30.000000");
  expect(await read()).toContain("2");
});

test("a record of which many rows say the same is told once in a walk", async () => {
  const { add, read } = books(true);
  for (let id = 1; id <= 150; id++) add(id, AT, 7);
  expect(await read()).toEqual(["7"]);
});

test("a fault of the books stops the walk where it is, and is no fault when the reader was stopped", async () => {
  const { add, read, state } = books();
  add(1, AT);
  state.fails = new Error("cut off");
  await expect(read()).rejects.toThrow(SourceUnavailable);
  const stopped = new AbortController();
  state.stop = () => stopped.abort();
  expect(await read(Infinity, stopped.signal)).toEqual([]);
  state.fails = null;
  expect(await read()).toEqual(["1"]);
});

test("a list in pages goes on from its last stamp, back by as long as a transaction may take", async () => {
  let now = "2026-11-21T12:00:00Z";
  const rows = ["2026-11-21T10:00:00.123Z", "2026-11-21T10:05:00Z", "2026-11-21T11:00:00Z"];
  const asked: (string | null)[] = [];
  const source = stampedList<string>({
    name: "rows",
    async *pages(since) {
      asked.push(since);
      for (const row of rows) if (since === null || row >= since) yield [row];
    },
    stampOf: (row) => row,
  })({
    now: () => new Date(now),
    tell: (all) => all.map((id) => ({ id, version: null, text: "{}" })),
    unavailable: (error) => new SourceUnavailable("not now", { next: "wait", cause: error }),
  });
  const read = async (from: Json | null, pages = Infinity) => {
    const told: string[] = [];
    let position = from;
    for await (const page of source.read(from, {
      signal: never,
      known: () => null,
      stored: () => false,
    })) {
      told.push(...page.changes.map(({ id }) => id));
      position = page.position;
      if (told.length === pages) break;
    }
    return { told, position };
  };
  const first = await read(null, 2);
  expect(first.told).toEqual(rows.slice(0, 2));
  const second = await read(first.position);
  // A transaction that began before the last stamp came up behind it.
  expect(second.told).toEqual(rows);
  expect((await read(second.position)).told).toEqual(rows.slice(2));
  expect(asked).toEqual([null, "2026-11-21T09:55:00.000Z", "2026-11-21T10:50:00.000Z"]);
  // Long after it came to the last one, nothing can come up behind that: then all that was there at once is read no more.
  now = "2026-11-21T13:10:00Z";
  const settled = await read(second.position);
  expect(settled.told).toEqual(rows.slice(2));
  expect((await read(settled.position)).told).toEqual(rows.slice(-1));
  expect(asked.at(-1)).toBe("2026-11-21T11:00:00.000Z");
  // What is newer is looked at anew.
  rows.push("2026-11-21T13:09:00.000Z");
  const newer = await read(settled.position);
  expect(newer.told).toEqual(rows.slice(-2));
  expect((await read(newer.position)).told).toEqual(rows.slice(-1));
  expect(asked.at(-1)).toBe("2026-11-21T12:59:00.000Z");
});

test("a list in pages refuses a stamp that each machine reads in a zone of its own", async () => {
  const source = stampedList<string>({
    name: "rows",
    async *pages() {
      yield ["2026-11-21T10:00:00.123"];
    },
    stampOf: (row) => row,
  })({
    now: () => new Date("2026-11-21T12:00:00Z"),
    tell: () => [],
    unavailable: (error) => {
      throw error;
    },
  });
  const reading = source.read(null, { signal: never, known: () => null, stored: () => false });
  await expect(reading[Symbol.asyncIterator]().next()).rejects.toThrow(/has no zone/);
});

test("lists in pages are resumed in the list and at the page where they stopped", async () => {
  const list = (name: string) =>
    async function* (from: string | null) {
      for (const position of ["1", "2", null])
        if (from === null || position === null || position > from)
          yield { row: `${name} ${position}`, position };
    };
  const walk = async (from: string | null) => {
    const all: [string, string][] = [];
    for await (const { row, position } of unitedPages([list("a"), list("b")], from))
      all.push([row, position]);
    return all;
  };
  const whole = await walk(null);
  expect(whole.map(([row]) => row)).toEqual(["a 1", "a 2", "a null", "b 1", "b 2", "b null"]);
  for (const [at, [, position]] of whole.entries())
    expect(await walk(position)).toEqual(whole.slice(at + 1));
});

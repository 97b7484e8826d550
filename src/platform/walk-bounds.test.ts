/** Walks that do not end: how far they are read, what it costs, and how it is told. */
import { describe, expect, test } from "vitest";
import { instant, times } from "../../test/conformance/support.ts";
import { idsIn, reading, usePlatform, walked } from "../../test/platform/support.ts";
import type { Page } from "../core/contract.ts";
import { sortableInstant } from "../core/keys.ts";
import type { WalkPosition } from "../core/watermark.ts";
import { boundOf } from "./reading.ts";
import type { Exchanger } from "./client.ts";
import { walkSource } from "./walk.ts";

const platform = usePlatform();
const { control } = platform;

const invoices = (count: number) =>
  control.records(
    "invoices",
    times(count, (n) => ({ invoiceNumber: `W-${n}`, updatedAt: instant(n), lineItems: [] })),
  );
const idsOf = (rows: readonly Record<string, unknown>[]): string[] =>
  rows.map(({ id }) => String(id));
const detail = { operation: "getInvoice", lines: "lineItems" } as const;
const list = { list: "listInvoices", detail, overlapMs: 300_000 } as const;

async function feed() {
  const clock = await platform.clock();
  return walkSource(platform.client({ clock }), { ...list, clock });
}

test("three records on a page of a hundred, an empty page before each: all is read, at first and when all is known", async () => {
  const records = await invoices(120);
  await control.readings({ emptyPages: true, pageSizeMost: 3 });
  const clock = await platform.clock();
  const source = walkSource(platform.client(), {
    list: "listInvoices",
    overlapMs: 300_000,
    clock,
  });
  for (const isKnown of [false, true]) {
    const { pages, trouble } = await walked(
      source,
      { watermark: sortableInstant(instant(0)), walk: null },
      undefined,
      reading({ stored: () => isKnown }),
    );
    expect(trouble).toBeNull();
    expect(pages.length).toBeGreaterThan(75);
    expect(new Set(idsIn(pages))).toEqual(new Set(idsOf(records)));
  }
});

describe("a walk whose cursors never end", () => {
  /** What the engine does between pages: what was read is known from then on. */
  const remembering = () => {
    const known = new Set<string>();
    return {
      by: reading({ stored: (id, version) => known.has(`${id} ${version}`) }),
      keep: ({ changes }: Page): void => {
        for (const { id, version } of changes) known.add(`${id} ${version}`);
      },
    };
  };

  test("costs the pages that the list's total needs and some more, says so, and waits ever longer", async () => {
    const records = await invoices(250);
    await control.readings({ cursorsNeverEnd: true });
    const { by, keep } = remembering();
    let from: WalkPosition = { watermark: sortableInstant(instant(0)), walk: null };
    const waits: number[] = [];
    for (let run = 1; run <= 7; run++) {
      const { pages, position, trouble } = await walked(await feed(), from, keep, by);
      expect(pages).toHaveLength(14);
      if (run === 1) expect(new Set(idsIn(pages))).toEqual(new Set(idsOf(records)));
      expect(trouble?.message).toBe(
        "The walk of /invoices does not end after 14 pages, and the list says that it has 250 records.",
      );
      expect(trouble?.stop).toBe("endless");
      waits.push((trouble?.waitMs ?? 0) / 3_600_000);
      expect(position).toEqual({ watermark: from.watermark, walk: null, endless: run });
      from = position;
    }
    expect(waits).toEqual([6, 12, 24, 48, 96, 168, 168]);
    await control.readings({ cursorsNeverEnd: false });
    const { position, trouble } = await walked(await feed(), from, keep, by);
    expect(trouble).toBeNull();
    expect(position).toEqual({
      watermark: sortableInstant(instant(249)),
      walk: null,
      reached: expect.any(Object),
    });
  });

  test("a process that is ended in its middle is given no new pages for it", async () => {
    await invoices(250);
    await control.readings({ cursorsNeverEnd: true });
    const { by, keep } = remembering();
    let position: WalkPosition | null = null;
    let asked = 0;
    for (let start = 1; start <= 5; start++) {
      const life = await walked(
        await feed(),
        position,
        (page, number) => (keep(page), number === 4),
        by,
      );
      asked += life.pages.length;
      position = life.position;
      if (life.trouble !== null) break;
    }
    expect(asked).toBe(14);
  });

  test("where the list does not say how many there are, a run takes its share of the month, and the next goes on", async () => {
    await invoices(450);
    const client = platform.client();
    const silent: Exchanger = {
      ...client,
      async exchange(request) {
        const exchange = await client.exchange(request);
        if (exchange.kind !== "answer") return exchange;
        return { ...exchange, text: exchange.text.replaceAll(/"total":\d+,/g, "") };
      },
    };
    const source = walkSource(silent, { ...list, pagesPerRun: 2, clock: await platform.clock() });
    const first = await walked(source);
    expect(first.pages).toHaveLength(2);
    expect(first.trouble).toMatchObject({ stop: "endless", waitMs: 6 * 3_600_000 });
    const second = await walked(source, first.position);
    const third = await walked(source, second.position);
    expect([second.trouble?.waitMs, third.trouble]).toEqual([12 * 3_600_000, null]);
    const ids = [first, second, third].flatMap(({ pages }) => idsIn(pages));
    expect([ids.length, new Set(ids).size]).toEqual([450, 450]);
    expect(third.position).toEqual({
      watermark: sortableInstant(instant(449)),
      walk: null,
      reached: expect.any(Object),
    });
  });
});

test.each([
  [{ total: 250, pages: 14, before: 0, isNew: false }, "endless"],
  [{ total: 250, pages: 13, before: 0, isNew: false }, null],
  [{ total: 250, pages: 200, before: 0, isNew: true }, null],
  [{ total: 250, pages: 2_500, before: 0, isNew: true }, "enough"],
  [{ total: 500_000, pages: 5_500, before: 0, isNew: false }, "enough"],
  [{ total: 500_000, pages: 5_499, before: 0, isNew: true }, null],
  [{ total: null, pages: 2_500, before: 0, isNew: true }, "enough"],
  [{ total: null, pages: 2_501, before: 2_500, isNew: false }, null],
  [{ total: null, pages: 10_001, before: 10_000, isNew: true }, "endless"],
] as const)(
  "a walk may go as far as its total says, or its share of 50,000: %j",
  ({ total, ...at }, verdict) => {
    const whole = { told: at.pages * 100, idle: 0, ...at };
    expect(boundOf({ pageSize: 100, total, pagesPerRun: 2_500 }, whole)).toBe(verdict);
  },
);

test.each([
  ["three records a page, all known", { pages: 80, told: 240 }, null],
  ["more than the list says it has", { pages: 130, told: 390 }, "endless"],
  ["a few pages without a record", { pages: 20, told: 30, idle: 10 }, null],
  ["nothing but pages without a record", { pages: 21, told: 30, idle: 11 }, "endless"],
] as const)("what has come counts, not the pages that were asked for: %s", (_, at, verdict) => {
  const extent = { pageSize: 100, total: 250, pagesPerRun: 2_500 };
  expect(boundOf(extent, { before: 0, isNew: false, idle: 0, ...at })).toBe(verdict);
});

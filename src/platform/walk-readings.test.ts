/**
 * The specification leaves the order of a walk, its bound, the life of a cursor, the lines in lists and the age of
 * what is read open: under every combination of them nothing is lost (all of them in the long run, see runs.ts).
 */
import { expect, test } from "vitest";
import { type Row, times } from "../../test/conformance/support.ts";
import { isLongRun, numbers } from "../../test/support/runs.ts";
import { reading, usePlatform, walked } from "../../test/platform/support.ts";
import type { Page } from "../core/contract.ts";
import { sortableInstant } from "../core/keys.ts";
import { unread, type WalkPosition } from "../core/watermark.ts";
import { walkSource } from "./walk.ts";

const platform = usePlatform();
const { control } = platform;

const OVERLAP_S = 300;
const LAG_S = 120;
const either = [true, false] as const;

const combinations = either.flatMap((updatedSinceInclusive) =>
  (["updatedAt", "createdAtDesc"] as const).flatMap((walkOrder) =>
    either.flatMap((listsCarryLines) =>
      [3_600, 20].flatMap((cursorLifeSeconds) =>
        [0, LAG_S].map((readLagSeconds) => ({
          updatedSinceInclusive,
          walkOrder,
          listsCarryLines,
          cursorLifeSeconds,
          readLagSeconds,
        })),
      ),
    ),
  ),
);

/** What the store keeps of a walk: the latest version of each record. */
function shelf() {
  const versions = new Map<string, string>();
  return {
    versions,
    reading: reading({ stored: (id, version) => versions.get(id) === version }),
    /** How many were new. */
    take(page: Page): number {
      let taken = 0;
      for (const { id, version } of page.changes) {
        if (version === null || version <= (versions.get(id) ?? "")) continue;
        versions.set(id, version);
        taken++;
      }
      return taken;
    },
  };
}

const DAY_MS = 86_400_000;

/** Older records, and four that share the latest instant of all. */
async function grown(): Promise<Row[]> {
  const now = await control.now();
  const at = (n: number) => new Date(now - DAY_MS + Math.min(n, 206) * 60_000).toISOString();
  return control.records(
    "invoices",
    times(210, (n) => ({ createdAt: at(n), updatedAt: at(n) })),
  );
}

/**
 * Between two pages: records change and are made, one is committed late with a time before others that were read, and
 * time goes on, sometimes for longer than a short-lived cursor.
 */
function world(records: readonly Row[]) {
  let turn = 0;
  return async (): Promise<void> => {
    turn++;
    const at = (n: number): unknown => records[(n * 37) % records.length]?.["id"];
    await control.patch("invoices", at(turn), {});
    await control.patch("invoices", at(turn + 3), {});
    const updatedAt = new Date((await control.now()) - 100_000).toISOString();
    await control.records("invoices", [{}, {}, { createdAt: updatedAt, updatedAt }]);
    await control.advance([1, 0, 45, 7, 600][turn % 5] ?? 0);
  };
}

/** In the ordinary run 8 of the 32: each value of a reading beside each value of each other one. In the long run the others. */
const run = combinations.filter((_, at) => isPairwise(at) !== isLongRun);

function isPairwise(at: number): boolean {
  const [inclusive = 0, order = 0, lines = 0, life = 0, lag = 0] = [16, 8, 4, 2, 1].map((bit) =>
    Math.sign(at & bit),
  );
  return life === (inclusive ^ order) && lag === (inclusive ^ lines);
}

test.each(run)("nothing is lost: %j", numbers, async (readings) => {
  const records = await grown();
  await control.readings(readings);
  await platform.unlimited();
  await control.advance(readings.readLagSeconds + 1);
  const clock = await platform.clock();
  const source = walkSource(platform.client({ clock }), {
    list: "listInvoices",
    detail: { operation: "getInvoice", lines: "lineItems" },
    overlapMs: OVERLAP_S * 1000,
    clock,
  });
  const kept = shelf();
  const change = world(records);
  let position: WalkPosition = unread;
  let mark = "";
  const run = async (between: (page: number) => Promise<boolean>): Promise<number> => {
    let taken = 0;
    const on = async (page: Page, number: number) => {
      taken += kept.take(page);
      return between(number);
    };
    ({ position } = await walked(source, position, on, kept.reading));
    expect((position.watermark ?? "") >= mark, "the mark never moves back").toBe(true);
    mark = position.watermark ?? "";
    return taken;
  };

  // A walk while the world changes, one that is stopped after a page and resumed, and one more.
  for (const stopAfter of [99, 1, 99, 99])
    await run(async (page) => {
      await change();
      return page === stopAfter;
    });
  // Then nothing changes any more.
  await control.advance(LAG_S + 1);
  let quiet = 0;
  for (let rounds = 0; quiet < 2; rounds++) {
    expect(rounds).toBeLessThan(6);
    quiet = (await run(async () => false)) === 0 && position.walk === null ? quiet + 1 : 0;
  }

  const stored = await control.stored("invoices", "supplier");
  const wanted = stored.map(({ id, updatedAt }) => [id, sortableInstant(String(updatedAt))]);
  expect(kept.versions).toEqual(new Map(wanted as [string, string][]));
});

test("a walk goes on after an empty page that gives a cursor, and reads each record once", async () => {
  await control.readings({ emptyPages: true });
  await grown();
  const { pages, trouble, position } = await walked(
    walkSource(platform.client(), {
      list: "listInvoices",
      overlapMs: 0,
      clock: await platform.clock(),
    }),
  );
  expect(trouble).toBeNull();
  expect(position.walk).toBeNull();
  const ids = pages.flatMap(({ changes }) => changes.map(({ id }) => id));
  expect(pages.filter(({ changes }) => changes.length === 0).length).toBeGreaterThan(1);
  expect(new Set(ids).size).toBe((await control.stored("invoices")).length);
  expect(ids).toHaveLength(new Set(ids).size);
});

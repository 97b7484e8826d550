import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Found, Ground, plants } from "../../test/support/planted.ts";
import { askedOf } from "../../test/support/reconciling.ts";
import { numbers, runs } from "../../test/support/runs.ts";
import { tellOf, twoSides } from "../../test/support/two-sides.ts";
import { agreeing } from "./case.ts";
import { type CaseRow, reconcile, type Report } from "./report.ts";

const notAgreeing = ({ cases }: Report): readonly CaseRow[] =>
  cases.filter(({ bucket }) => !agreeing.has(bucket));

const keyOf = ({ kind, key }: Pick<Found, "kind" | "key">): string => `${kind} ${key}`;

/** Plants them all, and expects exactly what each says. */
function expectAllFound(chosen: readonly (typeof plants)[number][], size: number): void {
  const ground = new Ground(twoSides(size));
  const planted = chosen.map((one) => ({ name: one.name, found: one.plant(ground) }));
  const report = reconcile(askedOf(ground.sides, tellOf(ground.sides.pairs)));
  expect(report.failures).toEqual([]);
  const told = new Map(notAgreeing(report).map((row) => [keyOf(row), row]));
  for (const { name, found } of planted)
    for (const { bucket, field, code, ...one } of found) {
      const row = told.get(keyOf(one));
      expect({ name, bucket: row?.bucket }).toEqual({ name, bucket });
      const fields = row?.differences.map((difference) => difference.field);
      if (field !== undefined)
        expect({ name, fields }).toEqual({ name, fields: expect.arrayContaining([field]) });
      if (code !== undefined) expect({ name, code: row?.cause?.code }).toEqual({ name, code });
      expect(row?.cause?.next).not.toBe("");
    }
  const expected = planted.flatMap(({ found }) => found.map(keyOf)).toSorted();
  expect([...told.keys()].toSorted()).toEqual(expected);
  expect(report.agrees).toBe(expected.length === 0);
}

describe("200 planted differences", () => {
  test("two sides that agree are told to agree, every case once", () => {
    expectAllFound([], 400);
  });

  test.for(plants.map((one) => [one.name, one] as const))("alone: %s", ([, one]) => {
    expectAllFound([one], 40);
  });

  test("all at once, five of each kind: all found, none invented", () => {
    expect(plants.length).toBeGreaterThanOrEqual(40);
    const many = plants.flatMap((one) =>
      /price/.test(one.name) ? [one, one] : Array(5).fill(one),
    );
    expect(many.length).toBeGreaterThanOrEqual(200);
    expectAllFound(many, 1200);
  });

  test("any of them together, in any order", numbers, () => {
    fc.assert(
      fc.property(fc.shuffledSubarray([...plants]), (chosen) => {
        expectAllFound(chosen, 120);
      }),
      { numRuns: runs(4, 40, 100) },
    );
  });
});

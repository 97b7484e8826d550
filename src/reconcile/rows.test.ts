/** Which period a row counts in. */
import { expect, test } from "vitest";
import { Ground } from "../../test/support/planted.ts";
import { askedOf } from "../../test/support/reconciling.ts";
import { tellOf, twoSides } from "../../test/support/two-sides.ts";
import { reconcile } from "./report.ts";

const october = { from: "2026-10-01", to: "2026-10-31" };
const november = { from: "2026-11-01", to: "2026-11-30" };

test.each([
  ["books", { books: "2026-10-31", platform: "2026-11-01" }],
  ["platform", { platform: "2026-10-31", books: "2026-11-01" }],
] as const)(
  "an invoice that began on the side of the %s in October counts in October alone, whatever day the other side has",
  (began, days) => {
    const ground = new Ground(twoSides(20));
    const pair = ground.take("invoice", (one) => one.began === began);
    for (const side of ["books", "platform"] as const)
      ground.facts(side, pair, (facts) => ({
        ...facts,
        days: { ...facts.days, date: days[side] },
      }));
    const told = tellOf(ground.sides.pairs);
    const countsIn = (period: typeof october): boolean | undefined =>
      reconcile(askedOf(ground.sides, told, { period })).cases.find(({ records }) =>
        records.books.some(({ id }) => id === pair.books),
      )?.within;
    expect([countsIn(october), countsIn(november)]).toEqual([true, false]);
  },
);

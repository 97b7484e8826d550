/**
 * One side of the comparison in a process of its own: both sides of a month are matched, judged and summed; or a bare
 * loop pairs them by number and compares totals and states, and finds the same planted differences.
 */
import { Ground } from "../test/support/planted.ts";
import { askedOf } from "../test/support/reconciling.ts";
import { tellOf, twoSides } from "../test/support/two-sides.ts";
import { Decimal } from "../src/core/decimal.ts";
import { reconcile } from "../src/reconcile/report.ts";
import { PLANTED } from "./reconcile.ts";
import { report } from "./usage.ts";

const { FUELBRIDGE_SIDE: side = "", FUELBRIDGE_INVOICES: invoices = "" } = process.env;

const ground = new Ground(twoSides(Number(invoices)));
const { sides } = ground;
for (let at = 0; at < PLANTED; at++)
  ground.facts("books", ground.take("invoice"), (facts) => ({
    ...facts,
    money: { ...facts.money, total: (facts.money?.total ?? Decimal.zero).plus(Decimal.of("0.01")) },
  }));

/** Every kind, but totals and states only: no proof of a pair, no mapping, no lines, no sums. */
function bareLoop(): number {
  const byNumber = new Map(sides.books.map((one) => [keyOf(one), one]));
  return sides.platform.filter((one) => {
    const other = byNumber.get(keyOf(one));
    return (
      one.facts.state !== other?.facts.state ||
      one.facts.money?.total?.text !== other?.facts.money?.total?.text
    );
  }).length;
}

const keyOf = ({ kind, id, facts }: (typeof sides.books)[number]): string =>
  kind === "invoice" || kind === "bill"
    ? `${kind} ${facts.number}`
    : `${kind} ${id.replace("-b-", "-p-").replace(/^co-/, "")}`;

function fuelbridge(): number {
  const { cases, failures } = reconcile(askedOf(sides, tellOf(sides.pairs)));
  if (failures.length > 0) throw new Error(failures.join("; "));
  return cases.filter(({ bucket }) => bucket === "differs").length;
}

await report(async () => {
  const found = side === "bare" ? bareLoop() : fuelbridge();
  if (found !== PLANTED) throw new Error(`${side} found ${found} of ${PLANTED} differences`);
  return sides.platform.length + sides.books.length;
});

/** Documents that were delivered: are they still there, as far as they were brought, and do they say the same? */
import { type Delivered, gone, type Inspection, thereAsBrought } from "../core/contract.ts";
import type { Difference } from "../core/holdings.ts";
import { Decimal } from "../core/decimal.ts";
import type { BookKind, Books, Standing, Wanted } from "./adapter.ts";
import { compare } from "./compare.ts";
import { unavailable } from "./faults.ts";
import { look, type Planned } from "./look.ts";
import { differencesOf, isBelow, kindOf, type Next, settlementMark } from "./plan.ts";
import { adapterOf, type Carried, carriedIn } from "./wanted.ts";

/** Documents that one look asks for. */
const MANY = 200;

/** One inspection each, in their order. @throws SourceUnavailable */
export async function inspectBooks(
  books: Books,
  kind: BookKind,
  delivered: readonly Delivered[],
  signal: AbortSignal,
): Promise<Inspection[]> {
  const bodies = new Map<string, readonly Carried[]>();
  const carriedOf = ({ id, body, counterpart, waitsUntil }: Delivered): Carried | null => {
    if (body === null) return null;
    const carried = bodies.get(body) ?? carriedIn(kind, body);
    bodies.set(body, carried);
    const one = carried.find(({ document }) => idOf(document) === id);
    return one === undefined ? null : { ...one, counterpart, until: waitsUntil ?? null };
  };
  const inspections: Inspection[] = [];
  try {
    for (let at = 0; at < delivered.length; at += MANY) {
      const some = delivered.slice(at, at + MANY);
      const carried = some.map(carriedOf);
      const written = carried.filter((one) => one !== null);
      const call = { key: "inspect", signal };
      const planned = written.length === 0 ? [] : await look(books, kind, written, call);
      const linked = some.filter((_, index) => carried[index] === null);
      const ids = linked.map(({ counterpart }) => counterpart);
      const there = ids.length === 0 ? [] : await adapterOf(books, kind).get(ids, signal);
      const left = [...planned];
      for (const [index, { counterpart }] of some.entries()) {
        const one = carried[index] === null ? null : left.shift();
        const isThere = there.some(({ id }) => id === counterpart);
        if (one) inspections.push(inspected(books, kind, one));
        else inspections.push(isThere ? thereAsBrought : gone);
      }
    }
  } catch (error) {
    throw unavailable(error, books);
  }
  return inspections;
}

/** What its source calls it. */
const idOf = (document: object): string =>
  "companyId" in document ? String(document.companyId) : String((document as { id: unknown }).id);

function inspected(books: Books, kind: BookKind, { wanted, found, next }: Planned): Inspection {
  if (found.is === "several") {
    const held = found.standings.map(({ id }) => id).join(" and ");
    return { is: "there", differences: [{ field: "record", expected: "one", held }] };
  }
  // Void before it was booked: nothing of it was brought there.
  if (found.is === "none" && wanted.target === "cancelled") return thereAsBrought;
  if (found.is !== "one") return gone;
  const { standing, by } = found;
  const planning = { kind, ladder: adapterOf(books, kind).ladder, books };
  // Restored books give numbers a second time: without our mark the figures must be the same too.
  if (by !== "mark") {
    const { money } = wanted.expected;
    const figures = money === undefined ? {} : { money };
    if (compare(kindOf(planning, wanted), figures, standing.facts).length > 0) return gone;
  }
  const { byUs } = planning.ladder;
  const isDraftAgain = isBelow(standing.rung, "posted") && !isBelow(byUs, "posted");
  if (isDraftAgain || next.do === "cancelled" || next.do === "settle") return gone;
  if (wanted.target === "cancelled") return thereAsBrought;
  return {
    is: "there",
    differences: [
      ...(standing.rung === "cancelled"
        ? [{ field: "state", expected: stateOf(wanted), held: "cancelled" }]
        : differencesOf(planning, wanted, standing)),
      ...paidDifferences(wanted, standing, next),
    ],
  };
}

const stateOf = ({ target, disputed }: Wanted): string =>
  target === "settled" ? "paid" : disputed ? "disputed" : "open";

/**
 * Payments that the platform does not know of, until it calls the document paid as well; and one that was settled as one
 * and is open again.
 */
function paidDifferences(
  wanted: Wanted,
  { rung, payments, facts }: Standing,
  next: Next,
): Difference[] {
  if (wanted.target === "settled" && rung === "posted" && next.do === "ask")
    return [{ field: "state", expected: "paid", held: "open" }];
  if (wanted.target !== "posted" || isBelow(rung, "posted") || rung === "cancelled") return [];
  const own = settlementMark(wanted.mark);
  const others = payments.filter(({ mark }) => mark === null || mark === own);
  if (others.length === 0) return [];
  const paid = Decimal.sum(others.map(({ amount }) => amount));
  if (rung === "settled")
    return [{ field: "state", expected: stateOf(wanted), held: `paid (${paid.fixed(2)})` }];
  const open = facts.money?.open ?? Decimal.zero;
  return [{ field: "money.open", expected: open.plus(paid).fixed(2), held: open.fixed(2) }];
}

/** Which record in the books is the one of a document. Pure. */
import { sameNumber } from "../core/keys.ts";
import type { Ladder, Standing, Wanted } from "./adapter.ts";

/** How it was told: by our mark in it, by what its link calls it, or by its number (entered by hand). */
export type Identity = "mark" | "binding" | "number";

export type Identified =
  | { readonly is: "none" }
  | { readonly is: "one"; readonly standing: Standing; readonly by: Identity }
  | { readonly is: "several"; readonly standings: readonly Standing[] }
  /** It is not there, and another document has its number. */
  | {
      readonly is: "taken";
      readonly by: Pick<Standing, "id" | "mark" | "goods"> & {
        /** It keeps the number for good: no retry helps. */
        readonly isCancelled: boolean;
      };
    };

/**
 * One per document, in their order. Ours is what carries our mark; else what the binding names, if it carries no other
 * mark (restored books may have given that id to another document); else what has our number and party and no mark.
 * Another document under our number is `taken`, also one that comes earlier in the same request.
 */
export function identify(
  wanted: readonly Wanted[],
  all: readonly Standing[],
  { numbered }: Ladder,
): Identified[] {
  const absent: Wanted[] = [];
  const isOnce = numbered === "once";
  return wanted.map((one): Identified => {
    const found = matching(one, all);
    if (found !== null) return found;
    if (one.target === "cancelled" || one.party === null) return NONE;
    const before = absent.find((other) => isNumbered(one, other, "per-party"));
    absent.push(one);
    if (before !== undefined)
      return { is: "taken", by: { id: null, mark: before.mark, isCancelled: false } };
    // Where a number is given once, links are kept by it: a cancelled document keeps its own.
    const other = all.find(
      (row) => (isOnce || row.rung !== "cancelled") && isNumbered(one, row, numbered),
    );
    if (other === undefined) return NONE;
    return { is: "taken", by: { ...other, isCancelled: other.rung === "cancelled" } };
  });
}

const NONE = { is: "none" } as const;

function matching(wanted: Wanted, all: readonly Standing[]): Identified | null {
  const marked = all.filter(({ mark }) => mark === wanted.mark);
  if (marked.length > 0) return foundBy("mark", marked);
  const unmarked = all.filter(({ mark }) => mark === null);
  const bound = unmarked.filter(
    ({ id, goods }) => (id !== null && id === wanted.binding) || goods?.bound === true,
  );
  if (bound.length > 0) return foundBy("binding", bound);
  const numbered = unmarked.filter((row) => isNumbered(wanted, row, "per-party"));
  return numbered.length > 0 ? foundBy("number", numbered) : null;
}

const foundBy = (by: Identity, standings: readonly Standing[]): Identified =>
  standings.length === 1
    ? { is: "one", standing: standings[0] as Standing, by }
    : { is: "several", standings };

/** A document without a party (a payment) is never told by its number. */
const isNumbered = (
  { number, party }: Pick<Wanted, "number" | "party">,
  other: Pick<Standing, "number" | "party">,
  numbered: Ladder["numbered"],
): boolean =>
  number !== null &&
  party !== null &&
  other.number !== null &&
  sameNumber(other.number, number) &&
  (numbered === "once" || other.party === party);

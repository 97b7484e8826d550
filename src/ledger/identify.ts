/** Which record in the books is the one of a document. Pure. */
import { sameNumber } from "../core/keys.ts";
import type { Capabilities, Entry, Desired } from "./port.ts";

/** How it was told: by our mark in it, by what its link calls it, or by its number (entered by hand). */
export type Identity = "mark" | "binding" | "number";

export type Identified =
  | { readonly is: "none" }
  | { readonly is: "one"; readonly entry: Entry; readonly by: Identity }
  | { readonly is: "several"; readonly entries: readonly Entry[] }
  /** It is not there, and another document has its number. */
  | {
      readonly is: "taken";
      readonly by: Pick<Entry, "id" | "mark" | "goods"> & {
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
  desired: readonly Desired[],
  all: readonly Entry[],
  { numbered }: Capabilities,
): Identified[] {
  const absent: Desired[] = [];
  const isOnce = numbered === "once";
  return desired.map((one): Identified => {
    const found = matching(one, all);
    if (found !== null) return found;
    if (one.target === "cancelled" || one.party === null) return NONE;
    const before = absent.find((other) => isNumbered(one, other, "per-party"));
    absent.push(one);
    if (before !== undefined)
      return { is: "taken", by: { id: null, mark: before.mark, isCancelled: false } };
    // Where a number is given once, links are kept by it: a cancelled document keeps its own.
    const other = all.find(
      (row) => (isOnce || row.status !== "cancelled") && isNumbered(one, row, numbered),
    );
    if (other === undefined) return NONE;
    return { is: "taken", by: { ...other, isCancelled: other.status === "cancelled" } };
  });
}

const NONE = { is: "none" } as const;

function matching(desired: Desired, all: readonly Entry[]): Identified | null {
  const marked = all.filter(({ mark }) => mark === desired.mark);
  if (marked.length > 0) return foundBy("mark", marked);
  const unmarked = all.filter(({ mark }) => mark === null);
  const bound = unmarked.filter(
    ({ id, goods }) => (id !== null && id === desired.binding) || goods?.bound === true,
  );
  if (bound.length > 0) return foundBy("binding", bound);
  const numbered = unmarked.filter((row) => isNumbered(desired, row, "per-party"));
  return numbered.length > 0 ? foundBy("number", numbered) : null;
}

const foundBy = (by: Identity, entries: readonly Entry[]): Identified =>
  entries.length === 1 ? { is: "one", entry: entries[0] as Entry, by } : { is: "several", entries };

/** A document without a party (a payment) is never told by its number. */
const isNumbered = (
  { number, party }: Pick<Desired, "number" | "party">,
  other: Pick<Entry, "number" | "party">,
  numbered: Capabilities["numbered"],
): boolean =>
  number !== null &&
  party !== null &&
  other.number !== null &&
  sameNumber(other.number, number) &&
  (numbered === "once" || other.party === party);

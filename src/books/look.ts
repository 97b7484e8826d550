/** One look at the documents of a request: how each stands, and what is to be done about it next. */
import type { Waits } from "../core/outcome.ts";
import type { BookKind, Books, Call, Standing, Wanted } from "./adapter.ts";
import { type Identified, identify } from "./identify.ts";
import { partyCodes } from "./parties.ts";
import { type Next, plan } from "./plan.ts";
import { adapterOf, type Carried, wantedOf } from "./wanted.ts";

export interface Planned {
  readonly wanted: Wanted;
  readonly found: Identified;
  readonly next: Next;
}

/** One per document, in their order. Nothing is written. @throws BookError, Refused */
export async function look(
  books: Books,
  kind: BookKind,
  carried: readonly Carried[],
  call: Call,
): Promise<Planned[]> {
  const adapter = adapterOf(books, kind);
  const codes = await partyCodes(books, carried, call);
  const wanted = carried.map((one, at) => wantedOf(adapter, kind, one, codes[at] ?? null));
  const found = identify(wanted, await adapter.locate(wanted, call), adapter.ladder);
  const planning = { kind, ladder: adapter.ladder, books };
  return wanted.map((one, at) => {
    const its = found[at] as Identified;
    return { wanted: one, found: its, next: plan(planning, one, its) };
  });
}

const standingOf = ({ found }: Planned): Standing | null =>
  found.is === "one" ? found.standing : null;

/** Null for a document that was void before it was booked, and for one that another document covers. */
export const idsOf = (planned: readonly Planned[]): (string | null)[] =>
  planned.map((one) => standingOf(one)?.id ?? null);

/** Left out where none waits. */
export function waitsOf(planned: readonly Planned[]): { readonly waits?: Waits } {
  const waits = planned.map(({ next }) => (next.do === "nothing" ? next.until : null));
  return waits.every((until) => until === null) ? {} : { waits };
}

/** For the log: `S-12 posted, S-13 posted; waits for its payments until …, FL-3 is not there`. */
export const told = (planned: readonly Planned[]): string =>
  planned
    .map((one) => {
      const standing = standingOf(one);
      const { wanted, next } = one;
      if (standing === null) return `${wanted.number ?? wanted.mark} is not there`;
      const waits = next.do === "nothing" && next.until !== null;
      const until = waits ? `; waits for its payments until ${next.until}` : "";
      return `${standing.id ?? wanted.mark} ${standing.rung}${until}`;
    })
    .join(", ");

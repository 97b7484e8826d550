/** One look at the documents of a request: how each stands, and what is to be done about it next. */
import type { Answer, Waits } from "../core/outcome.ts";
import type { BookKind, Books, Call, Standing, Wanted } from "./adapter.ts";
import { type Identified, identify } from "./identify.ts";
import { isGoods, isTakenBack, onSideOf, planGoods } from "./goods.ts";
import { Parties } from "./parties.ts";
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
  parties = new Parties(books),
): Promise<Planned[]> {
  const adapter = adapterOf(books, kind);
  const wanted = await wantedOf(adapter, carried, await parties.of(carried, call), call);
  const { ladder } = adapter;
  const all = await adapter.locate(wanted, call);
  if (isGoods(kind))
    return wanted.map((one) => {
      const [found = ABSENT] = identify([one], onSideOf(one, all), ladder);
      const next = planGoods({ kind, books: books.name, ladder }, one, found, all);
      return { wanted: one, found, next };
    });
  const identified = identify(wanted, all, ladder);
  return wanted.map((one, at) => {
    const found = identified[at] ?? ABSENT;
    return { wanted: one, found, next: plan({ kind, ladder, books }, one, found) };
  });
}

const ABSENT = { is: "none" } as const;

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

/**
 * For the log, of all and of each: `S-12 posted, S-13 posted; waits for its payments until …, FL-3 is not there`.
 * @param settled why this send settled one as one, by its mark
 * @param before what is said first of each
 */
export function told(
  { name }: Pick<Books, "name">,
  planned: readonly Planned[],
  settled: ReadonlyMap<string, string> = new Map(),
  before = "",
): { readonly detail: string } & Pick<Answer, "each"> {
  const each = planned.map((one) => {
    const { wanted, next } = one;
    const isLater = next.do === "nothing" && wanted.target === "draft";
    const standing = standingOf(one);
    const called = wanted.number ?? wanted.mark;
    if (standing === null && isTakenBack(wanted))
      return `${called} does not count on the platform: nothing is in ${name}`;
    if (standing === null)
      return wanted.target === "cancelled"
        ? `${called} was void before it was booked: nothing is in ${name}`
        : isLater
          ? `${called} is booked when it is done: nothing is in ${name} yet`
          : `${called} is not there`;
    if (standing.id === null)
      return `${called} is part of what was settled as one, and noted on it`;
    if (standing.goods !== undefined) return standing.goods.told;
    const waits = next.do === "nothing" && next.until !== null;
    const until = waits ? `; waits for its payments until ${next.until}` : "";
    const why = settled.get(wanted.mark);
    const rung = standing.rung === "settled" ? "paid" : standing.rung;
    return `${standing.id} ${rung}${until}${why === undefined ? "" : `; ${why}`}`;
  });
  return {
    detail: `${before}${each.join(", ")}`,
    ...(each.length < 2 ? {} : { each: each.map((one) => `${before}${one}`) }),
  };
}

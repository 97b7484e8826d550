/** One look at the documents of a request: how each stands, and what is to be done about it next. */
import type { Answer, Waits } from "../core/outcome.ts";
import type { LedgerKind, Books, Call, Entry, Desired } from "./port.ts";
import { type Identified, identify } from "./identify.ts";
import { isGoods, isTakenBack, onSideOf, planGoods } from "./goods.ts";
import { Parties } from "./parties.ts";
import { type Next, plan } from "./plan.ts";
import { adapterOf, type Carried, desiredOf } from "./desired.ts";

export interface Planned {
  readonly desired: Desired;
  readonly found: Identified;
  readonly next: Next;
}

/** One per document, in their order. Nothing is written. @throws LedgerError, Refused */
export async function takeSnapshot(
  books: Books,
  kind: LedgerKind,
  carried: readonly Carried[],
  call: Call,
  parties = new Parties(books),
): Promise<Planned[]> {
  const adapter = adapterOf(books, kind);
  const desired = await desiredOf(adapter, carried, await parties.of(carried, call), call);
  const { can } = adapter;
  const all = await adapter.locate(desired, call);
  if (isGoods(kind))
    return desired.map((one) => {
      const [found = ABSENT] = identify([one], onSideOf(one, all), can);
      const next = planGoods({ kind, books: books.name, can }, one, found, all);
      return { desired: one, found, next };
    });
  const identified = identify(desired, all, can);
  return desired.map((one, at) => {
    const found = identified[at] ?? ABSENT;
    return { desired: one, found, next: plan({ kind, can, books }, one, found) };
  });
}

const ABSENT = { is: "none" } as const;

const entryOf = ({ found }: Planned): Entry | null => (found.is === "one" ? found.entry : null);

/** Null for a document that was void before it was booked, and for one that another document covers. */
export const idsOf = (planned: readonly Planned[]): (string | null)[] =>
  planned.map((one) => entryOf(one)?.id ?? null);

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
    const { desired, next } = one;
    const isLater = next.do === "nothing" && desired.target === "draft";
    const entry = entryOf(one);
    const called = desired.number ?? desired.mark;
    if (entry === null && isTakenBack(desired))
      return `${called} does not count on the platform: nothing is in ${name}`;
    if (entry === null)
      return desired.target === "cancelled"
        ? `${called} was void before it was booked: nothing is in ${name}`
        : isLater
          ? `${called} is booked when it is done: nothing is in ${name} yet`
          : `${called} is not there`;
    if (entry.id === null) return `${called} is part of what was settled as one, and noted on it`;
    if (entry.goods !== undefined) return entry.goods.told;
    const waits = next.do === "nothing" && next.until !== null;
    const until = waits ? `; waits for its payments until ${next.until}` : "";
    const why = settled.get(desired.mark);
    const status = entry.status === "settled" ? "paid" : entry.status;
    return `${entry.id} ${status}${until}${why === undefined ? "" : `; ${why}`}`;
  });
  return {
    detail: `${before}${each.join(", ")}`,
    ...(each.length < 2 ? {} : { each: each.map((one) => `${before}${one}`) }),
  };
}

/** A send: look, plan and step until every document is as far as it can be brought. */
import type { Outgoing } from "../core/contract.ts";
import type { Decimal } from "../core/decimal.ts";
import { Refused } from "../core/errors.ts";
import type { Fault } from "../core/record.ts";
import { type Answer, done, refused, type Waits } from "../core/outcome.ts";
import { adapterOf, type Carried, carriedIn, desiredOf, Parties } from "./desired.ts";
import { answerOf, faultOf, type Sorted, sorted, uncertain } from "./errors.ts";
import { isGoods, isTakenBack, onSideOf, planGoods } from "./goods.ts";
import {
  type Identified,
  identify,
  type Next,
  payable,
  plan,
  posts,
  settlementOf,
} from "./plan.ts";
import type { Books, Call, Desired, Entry, LedgerKind, StepTo, Verb } from "./port.ts";

/* One look at the documents of a request: how each stands, and what is to be done about it next. */

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

/** Looks of one send, with a step after each. */
const ROUNDS = 8;
/** How often somebody else may be faster within one send. */
const RACES = 2;
/** What is said first of a request that is not done. */
export const INCOMPLETE = "not all of it is done: ";

export const send = (
  books: Books,
  kind: LedgerKind,
  { key, body }: Outgoing,
  signal: AbortSignal,
): Promise<Answer> => new Send(books, kind, carriedIn(kind, body), key, signal).run();

class Send {
  readonly #books: Books;
  readonly #kind: LedgerKind;
  readonly #call: Call;
  #carried: readonly Carried[];
  #planned: readonly Planned[] = [];
  /** What is done just now: an error is sorted by it. */
  #verb: Verb = "locate";
  /** This send made records that were not taken back. */
  #made = false;
  /** This send changed records. */
  #changed = false;
  /** What this send made, by its mark: an ERP whose searches are behind may not show it yet. */
  readonly #own = new Set<string>();
  /** See {@link Call.compared}. */
  readonly #compared = new Map<string, Entry>();
  readonly #parties: Parties;
  /** Why this send settled an invoice as one, by its mark. */
  readonly #settled = new Map<string, string>();

  constructor(
    books: Books,
    kind: LedgerKind,
    carried: readonly Carried[],
    key: string,
    signal: AbortSignal,
  ) {
    this.#books = books;
    this.#kind = kind;
    this.#carried = carried;
    const [made, compared] = [this.#own, this.#compared];
    this.#call = { key, signal, purpose: "delivery", made, compared };
    this.#parties = new Parties(books);
  }

  async run(): Promise<Answer> {
    let races = 0;
    for (let round = 0; round < ROUNDS; round++) {
      try {
        this.#verb = "locate";
        const planned = await takeSnapshot(
          this.#books,
          this.#kind,
          this.#carried,
          this.#call,
          this.#parties,
        );
        this.#planned = planned;
        if (planned.every(({ next }) => next.do === "nothing")) {
          const { detail, ...each } = told(this.#books, planned, this.#settled);
          return done(detail, idsOf(planned), { ...each, ...waitsOf(planned) });
        }
        await this.#step();
      } catch (error) {
        if (error instanceof NotShown) break;
        if (error instanceof Refused) return this.#refuse(error.fault);
        const fault = this.#sorted(error);
        if (fault.sort === "raced" && races++ < RACES) continue;
        if (fault.sort === "data") return this.#refuse(faultOf(fault.row, fault.error.message));
        return answerOf(fault, this.#wrote);
      }
    }
    const { detail, ...each } = told(this.#books, this.#planned, this.#settled, INCOMPLETE);
    return uncertain(detail, each);
  }

  get #wrote(): boolean {
    return this.#made || this.#changed;
  }

  #sorted(error: unknown): Sorted {
    return sorted(error, this.#verb, this.#books.errors);
  }

  /** The lowest step that any of them needs, for all that need it: so what is posted is posted in one call. */
  async #step(): Promise<void> {
    for (const { next } of this.#planned)
      if (next.do === "ask" || next.do === "retracted") throw new Refused(next.fault);
    const absent = this.#planned.filter(({ next }) => next.do === "create");
    if (absent.length > 0) return this.#create(absent.map(({ desired }) => desired));
    for (const to of ["amended", "cancelled", "posted"] as const)
      if (this.#planned.some(({ next }) => next.do === to)) return this.#apply(to);
    for (const { desired, next } of this.#planned)
      if (next.do === "settle") await this.#settle(desired, next.entry, next.amount);
  }

  async #create(desired: readonly Desired[]): Promise<void> {
    this.#expectNew(desired);
    const adapter = adapterOf(this.#books, this.#kind);
    const { booked, covered } = await payable(this.#books, desired, this.#call);
    this.#verb = "create";
    const complete = await this.#parties.ensure(booked, this.#call);
    const ids = complete.length === 0 ? [] : await adapter.create(complete, this.#call);
    if (covered.length > 0) await adapter.covering?.cover(covered, this.#call);
    this.#made = true;
    for (const { mark } of desired) this.#own.add(mark);
    this.#carried = this.#carried.map((one) => {
      const at = complete.findIndex(({ document }) => document === one.document);
      return at < 0 ? one : { ...one, counterpart: ids[at] ?? one.counterpart };
    });
  }

  async #apply(to: Exclude<StepTo, "retracted">): Promise<void> {
    const steps = this.#planned.flatMap(({ desired, next }) =>
      next.do === to
        ? [
            {
              desired,
              entry: next.entry,
              differences: next.do === "amended" ? next.differences : [],
            },
          ]
        : [],
    );
    this.#verb = to;
    this.#compared.clear();
    await adapterOf(this.#books, this.#kind).apply(to, steps, this.#call);
    this.#changed = true;
    if (to !== "posted") return;
    // What is to be settled is read again in full: what pays it counts.
    for (const { desired, entry } of steps)
      if (desired.target === "posted") this.#compared.set(desired.mark, entry);
  }

  async #settle(desired: Desired, entry: Entry, amount: Decimal): Promise<void> {
    this.#verb = "locate";
    const payment = await settlementOf(this.#books, desired, entry, amount, this.#call);
    const { document } = payment;
    this.#expectNew([payment]);
    this.#verb = "create";
    await adapterOf(this.#books, "payment").create([payment], this.#call);
    this.#own.add(payment.mark);
    if ("description" in document) this.#settled.set(desired.mark, document.description ?? "");
    this.#changed = true;
  }

  /** What was made and is not shown is never made again before a read-back. @throws NotShown */
  #expectNew(desired: readonly Desired[]): void {
    if (desired.some(({ mark }) => this.#own.has(mark))) throw new NotShown();
  }

  /** Our own drafts are deleted first: a document that is refused leaves nothing behind. */
  async #refuse(fault: Fault): Promise<Answer> {
    const steps = this.#planned.flatMap(({ desired, found }) => {
      if (found.is !== "one" || !this.#isOwnDraft(desired, found.entry)) return [];
      return [{ desired, entry: found.entry, differences: [] }];
    });
    if (steps.length > 0)
      try {
        this.#verb = "retracted";
        await adapterOf(this.#books, this.#kind).apply("retracted", steps, this.#call);
        this.#made = false;
      } catch (error) {
        return uncertain(`${fault.message}; ${this.#sorted(error).error.message}`);
      }
    // An order or a ticket that was made stays: the next send goes on from it.
    return this.#wrote && !isGoods(this.#kind)
      ? uncertain(`${INCOMPLETE}${fault.message}`)
      : refused(fault);
  }

  #isOwnDraft({ mark, target }: Desired, entry: Entry): boolean {
    const isPosting = posts(adapterOf(this.#books, this.#kind).can);
    const isOurs = entry.mark === mark && entry.touched === false;
    return isOurs && isPosting && entry.status === "draft" && target !== "cancelled";
  }
}

/** The ERP took a document of this send and does not show it: the send ends as unknown. */
class NotShown extends Error {}

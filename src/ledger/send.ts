/** A send: look, plan and step until every document is as far as it can be brought. */
import type { Outgoing } from "../core/contract.ts";
import type { Decimal } from "../core/decimal.ts";
import { Refused } from "../core/errors.ts";
import type { Fault } from "../core/fault.ts";
import { type Answer, done, refused } from "../core/outcome.ts";
import type { LedgerKind, Books, Call, Entry, StepTo, Verb, Desired } from "./port.ts";
import { answerOf, faultOf, type Sorted, sorted, uncertain } from "./errors.ts";
import { isGoods } from "./goods.ts";
import { idsOf, takeSnapshot, type Planned, told, waitsOf } from "./snapshot.ts";
import { Parties } from "./parties.ts";
import { payable, settlementOf } from "./payable.ts";
import { posts } from "./plan.ts";
import { adapterOf, type Carried, carriedIn } from "./desired.ts";

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

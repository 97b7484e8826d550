/**
 * What an endpoint offers of an ERP's adapters: the sink of each kind of document, and what the books hold. A send looks, plans
 * and steps until there is nothing left to do, so it may be repeated after anything: a crash, a lost answer, a step that did
 * half of its work.
 */
import {
  type Delivered,
  gone,
  type Inspection,
  type Item,
  type Outgoing,
  type Sink,
  thereAsBrought,
} from "../core/contract.ts";
import { amountOf, Decimal } from "../core/decimal.ts";
import { defined } from "../core/defined.ts";
import { Refused } from "../core/errors.ts";
import { inGroups } from "../core/groups.ts";
import {
  type Day,
  type Difference,
  type Expected,
  type Holding,
  type HoldingKind,
  type Holdings,
  type HoldingState,
} from "../core/holdings.ts";
import { type Answer, done, type Finding, keyless, refused, type Waits } from "../core/outcome.ts";
import type { Fault } from "../core/record.ts";
import { inCents } from "../core/text.ts";
import { compare } from "./compare.ts";
import { orRefused } from "./entries.ts";
import { adapterOf, bodyOf, type Carried, carriedIn, desiredWith, Parties } from "./desired.ts";
import type { BornHere } from "./lists.ts";
import {
  answerOf,
  faultOf,
  finding,
  reading,
  type Sorted,
  sorted,
  unavailable,
  uncertain,
} from "./errors.ts";
import { goodsDifferences, isGoods, isTakenBack, onSideOf, planGoods } from "./goods.ts";
import {
  differencesOf,
  type Identified,
  identify,
  isBelow,
  kindOf,
  nameOf,
  type Next,
  payable,
  paymentsIn,
  plan,
  platformIdOf,
  type Planning,
  posts,
  settlementMark,
  settlementOf,
} from "./plan.ts";
import type {
  Books,
  Call,
  Capabilities,
  Desired,
  Entry,
  LedgerKind,
  Step,
  StepTo,
  Verb,
} from "./port.ts";

/** The sink of a configured endpoint. What it answers and finds is decided here, never by an adapter. */
export const ledgerSink = (books: Books, kind: LedgerKind): Sink => ({
  // Operations enter idempotency keys: they never change.
  operation: `${kind}.book`,
  writes: kind === "payment" ? "create" : "upsert",
  itemsMax: adapterOf(books, kind).can.atomic,
  // Two that post at once may wait for each other in the ERP.
  atOnce: 1,
  ...(kind === "invoice" || kind === "bill" ? { settleAfterMs: books.settleAfterMs } : {}),
  policy: { ...keyless, settleMs: books.settleMs },
  ...defined({ expect: books.expect }),
  freeze: (items) => ({
    target: isGoods(kind) ? `${kind}s` : `${books.name} ${kind}`,
    body: bodyOf(books, kind, items),
  }),
  send(request, signal, memory) {
    const parties = new Parties(books, memory?.isDismissed);
    return new Send(books, kind, request, parties, signal).run();
  },
  find: (request, signal) => finding(books.errors, () => find(books, kind, request, signal)),
  inspect: (delivered, signal) =>
    reading(books, () => inspectLedger(books, kind, delivered, signal)),
});

/**
 * What a request carries. A document that was to wait for its payments when its bytes were made, and is sent or found later
 * than that, waits anew: its payments wait until it is there (ADR 0010).
 */
function carriedBy(books: Books, kind: LedgerKind, { body, frozenAt }: Outgoing): Carried[] {
  const now = books.surroundings.now();
  const isOutlived = ({ until }: Carried): boolean =>
    until !== null && frozenAt !== undefined && frozenAt < until && until <= now.toISOString();
  const until = new Date(now.getTime() + books.settleAfterMs).toISOString();
  return carriedIn(kind, body).map((one) => (isOutlived(one) ? { ...one, until } : one));
}

/* One look at the documents of a request: how each stands, and what is to be done about it next. */

interface Planned {
  readonly desired: Desired;
  readonly found: Identified;
  readonly next: Next;
}

/** One per document, in their order. Nothing is written. @throws LedgerError, Refused */
async function takeSnapshot(
  books: Books,
  kind: LedgerKind,
  carried: readonly Carried[],
  call: Call,
  parties = new Parties(books),
): Promise<Planned[]> {
  const adapter = adapterOf(books, kind);
  const { can } = adapter;
  const desired = await desiredWith(books, kind, carried, call, parties);
  const all = await adapter.locate(desired, call);
  const identified = identify(desired, all, can);
  return desired.map((one, at) => {
    if (!isGoods(kind)) {
      const found = identified[at] ?? ABSENT;
      return { desired: one, found, next: plan({ kind, can, books }, one, found) };
    }
    const [found = ABSENT] = identify([one], onSideOf(one, all), can);
    const next = planGoods({ kind, books: books.name, can }, one, found, all);
    return { desired: one, found, next };
  });
}

const ABSENT = { is: "none" } as const;

const entryOf = ({ found }: Planned): Entry | null => (found.is === "one" ? found.entry : null);

/** Null for a document that was void before it was booked, and for one that another document covers. */
const idsOf = (planned: readonly Planned[]): (string | null)[] =>
  planned.map((one) => entryOf(one)?.id ?? null);

/** Left out where none waits. */
function waitsOf(planned: readonly Planned[]): { readonly waits?: Waits } {
  const waits = planned.map(({ next }) => (next.do === "nothing" ? next.until : null));
  return waits.every((until) => until === null) ? {} : { waits };
}

/**
 * For the log, of all and of each: `S-12 posted, S-13 posted; waits for its payments until …, FL-3 is not there`.
 * @param settled why this send settled one as one, by its mark
 * @param before what is said first of each
 */
function told(
  { name }: Pick<Books, "name">,
  planned: readonly Planned[],
  settled: ReadonlyMap<string, string> = new Map(),
  before = "",
): { readonly detail: string } & Pick<Answer, "each"> {
  const each = planned.map((one) => {
    const { desired, next } = one;
    const { number, target, mark } = desired;
    const entry = entryOf(one);
    if (entry === null && isTakenBack(desired))
      return `${number} does not count on the platform: nothing is in ${name}`;
    if (entry === null && target === "cancelled")
      return `${number} was void before it was booked: nothing is in ${name}`;
    if (entry === null && next.do === "nothing" && target === "draft")
      return `${number} is booked when it is done: nothing is in ${name} yet`;
    if (entry === null) return `${number} is not there`;
    if (entry.id === null) return `${number} is part of what was settled as one, and noted on it`;
    if (entry.goods !== undefined) return entry.goods.told;
    const isWaiting = next.do === "nothing" && next.until !== null;
    const until = isWaiting ? `; waits for its payments until ${next.until}` : "";
    const why = settled.has(mark) ? `; ${settled.get(mark)}` : "";
    return `${nameOf(entry)} ${entry.status === "settled" ? "paid" : entry.status}${until}${why}`;
  });
  return {
    detail: `${before}${each.join(", ")}`,
    ...(each.length < 2 ? {} : { each: each.map((one) => `${before}${one}`) }),
  };
}

const callOf = (key: string, signal: AbortSignal): Call => ({
  key,
  signal,
  purpose: "inspection",
  made: new Set(),
});

/** What is said first of a request that is not done. */
const INCOMPLETE = "not all of it is done: ";

/** Plans without stepping: any step that is left means that it is not there as it should be. */
async function find(
  books: Books,
  kind: LedgerKind,
  request: Outgoing,
  signal: AbortSignal,
): Promise<Finding> {
  const call = { ...callOf(request.key, signal), purpose: "delivery" } as const;
  const planned = await takeSnapshot(books, kind, carriedBy(books, kind, request), call);
  const asks = planned.flatMap(({ next }) => (next.do === "ask" ? [next] : []));
  const twice = asks.find(({ found }) => found === "several");
  if (twice !== undefined) return { found: "several", detail: twice.fault.message };
  const ask = asks.find(({ found }) => found === "different");
  if (ask !== undefined) return { found: "different", detail: ask.fault.message, fault: ask.fault };
  return planned.every(({ next }) => next.do === "nothing")
    ? { found: "exact", ids: idsOf(planned), ...waitsOf(planned), ...told(books, planned) }
    : { found: "none", ...told(books, planned, undefined, INCOMPLETE) };
}

/* A send. */

/** Looks of one send, with a step after each. */
const ROUNDS = 8;
/** How often somebody else may be faster within one send. */
const RACES = 2;

class Send {
  readonly #books: Books;
  readonly #kind: LedgerKind;
  readonly #call: Call;
  #carried: readonly Carried[];
  #planned: readonly Planned[] = [];
  /** What is done just now: an error is sorted by it. */
  #verb: Verb = "locate";
  /** Marks of the records that this send made and has not taken back. */
  readonly #made = new Set<string>();
  /** This send changed records. */
  #changed = false;
  /** What this send made, by its mark: an ERP whose searches are behind may not show it yet. */
  readonly #own = new Set<string>();
  /** The payment of a settlement that is made and to be posted. */
  #settling: Step | null = null;
  readonly #parties;
  /** Why this send settled an invoice as one, by its mark. */
  readonly #settled = new Map<string, string>();

  constructor(
    books: Books,
    kind: LedgerKind,
    request: Outgoing,
    parties: Parties,
    signal: AbortSignal,
  ) {
    this.#books = books;
    this.#kind = kind;
    this.#carried = carriedBy(books, kind, request);
    this.#call = { key: request.key, signal, purpose: "delivery", made: this.#own };
    this.#parties = parties;
  }

  async run(): Promise<Answer> {
    const [books, kind, call] = [this.#books, this.#kind, this.#call];
    let races = 0;
    for (let round = 0; round < ROUNDS; round++) {
      this.#settling = null;
      try {
        this.#verb = "locate";
        const planned = await takeSnapshot(books, kind, this.#carried, call, this.#parties);
        this.#planned = planned;
        if (planned.every(({ next }) => next.do === "nothing")) {
          const { detail, ...each } = told(books, planned, this.#settled);
          return done(detail, idsOf(planned), { ...each, ...waitsOf(planned) });
        }
        await this.#step();
      } catch (error) {
        if (error instanceof NotShown) break;
        if (error instanceof Refused) return this.#refuse(error.fault);
        const fault = this.#sorted(error);
        if (fault.sort === "raced" && races++ < RACES) continue;
        if (fault.sort === "data") return this.#refuse(this.#faultOf(fault));
        return answerOf(fault, this.#wrote);
      }
    }
    const { detail, ...each } = told(books, this.#planned, this.#settled, INCOMPLETE);
    return uncertain(detail, each);
  }

  get #wrote(): boolean {
    return this.#made.size > 0 || this.#changed;
  }

  #sorted(error: unknown): Sorted {
    return sorted(error, this.#verb, this.#books.errors);
  }

  /** Of a period that is closed with the day that it is about, which ERPs need not name. */
  #faultOf({ row, error: { message } }: Sorted): Fault {
    const [day, another] = [...new Set(this.#planned.flatMap(dayOf))];
    const isTold = row?.code === "closed-period" && day !== undefined && another === undefined;
    return faultOf(row, isTold ? `${message} (dated ${day})` : message);
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
    this.#note(desired);
    this.#carried = this.#carried.map((one) => {
      const at = complete.findIndex(({ document }) => document === one.document);
      return at < 0 ? one : { ...one, counterpart: ids[at] ?? one.counterpart };
    });
  }

  #note(made: readonly Desired[]): void {
    for (const { mark } of made) for (const marks of [this.#made, this.#own]) marks.add(mark);
  }

  async #apply(to: Exclude<StepTo, "retracted">): Promise<void> {
    const steps = this.#planned.flatMap(({ desired, next }) =>
      next.do === to
        ? {
            desired,
            entry: next.entry,
            differences: next.do === "amended" ? next.differences : [],
          }
        : [],
    );
    this.#verb = to;
    await adapterOf(this.#books, this.#kind).apply(to, steps, this.#call);
    this.#changed = true;
  }

  async #settle(desired: Desired, entry: Entry, amount: Decimal): Promise<void> {
    this.#verb = "locate";
    const { payment, draft } = await settlementOf(this.#books, desired, entry, amount, this.#call);
    const { document } = payment;
    const adapter = adapterOf(this.#books, "payment");
    if (draft !== undefined) {
      this.#verb = "posted";
      const step = { desired: payment, entry: draft, differences: [] };
      this.#settling = step;
      await adapter.apply("posted", [step], this.#call);
      this.#changed = true;
    } else {
      this.#expectNew([payment]);
      this.#verb = "create";
      await adapter.create([payment], this.#call);
      this.#note([payment]);
    }
    if ("description" in document) this.#settled.set(desired.mark, document.description ?? "");
  }

  /** What was made and is not shown is never made again before a read-back. @throws NotShown */
  #expectNew(desired: readonly Desired[]): void {
    if (desired.some(({ mark }) => this.#own.has(mark))) throw new NotShown();
  }

  /** Our own drafts are deleted first: a document that is refused leaves nothing behind. */
  async #refuse(fault: Fault): Promise<Answer> {
    const settling = this.#settling;
    const kind = settling === null ? this.#kind : "payment";
    const adapter = adapterOf(this.#books, kind);
    const drafts = this.#planned.flatMap(({ desired, found }) =>
      found.is === "one" ? { desired, entry: found.entry, differences: [] } : [],
    );
    const steps = (settling === null ? drafts : [settling]).filter(
      ({ desired, entry }) => posts(adapter.can) && isOwnDraft(desired, entry),
    );
    if (steps.length > 0)
      try {
        this.#verb = "retracted";
        await adapter.apply("retracted", steps, this.#call);
        for (const { desired } of steps) this.#made.delete(desired.mark);
      } catch (error) {
        return uncertain(`${fault.message}; ${this.#sorted(error).error.message}`);
      }
    // An order or a ticket that was made stays: the next send goes on from it.
    return this.#wrote && !isGoods(this.#kind)
      ? uncertain(`${INCOMPLETE}${fault.message}`)
      : refused(fault);
  }
}

/** The day of a document; of one that is settled as one, that of its payment. None where nothing is left to do. */
function dayOf({ desired: { document }, next }: Planned): Day[] {
  if (next.do === "nothing" || next.do === "ask" || !("number" in document)) return [];
  if (!("invoiceDate" in document)) return [document.date ?? []].flat();
  return [(next.do === "settle" ? document.paidDate : document.invoiceDate) ?? []].flat();
}

const isOwnDraft = ({ mark, target }: Desired, entry: Entry): boolean =>
  entry.mark === mark &&
  entry.touched === false &&
  entry.status === "draft" &&
  target !== "cancelled";

/** The ERP took a document of this send and does not show it: the send ends as unknown. */
class NotShown extends Error {}

/* Documents that were delivered: are they still there, as far as they were brought, and do they say the same? */

/** Documents that one look asks for. */
const MANY = 200;

/**
 * One inspection each, in their order. Ids of orders and tickets say how far these were brought: what is called so is that
 * far. What a person linked was brought to nothing by us. @throws LedgerError
 */
async function inspectLedger(
  books: Books,
  kind: LedgerKind,
  delivered: readonly Delivered[],
  signal: AbortSignal,
): Promise<Inspection[]> {
  const adapter = adapterOf(books, kind);
  const call = callOf("inspect", signal);
  const bodies = new Map<string, readonly Carried[]>();
  const carriedOf = ({ id, body, counterpart, waitsUntil }: Delivered): Carried | null => {
    if (body === null) return null;
    const carried = bodies.get(body) ?? carriedIn(kind, body);
    bodies.set(body, carried);
    const one = carried.find(({ document }) => idOf(document) === id);
    return one === undefined ? null : { ...one, counterpart, until: waitsUntil ?? null };
  };
  const inspections: Inspection[] = [];
  for (const some of inGroups(delivered, MANY)) {
    const asked = some.map((one) => ({ counterpart: one.counterpart, carried: carriedOf(one) }));
    const written = asked.flatMap(({ carried }) => carried ?? []);
    const linked = isGoods(kind) ? asked : asked.filter(({ carried }) => carried === null);
    const isWritten = written.length > 0;
    const planned =
      isWritten && !isGoods(kind) ? await takeSnapshot(books, kind, written, call) : [];
    const ids = linked.map(({ counterpart }) => counterpart);
    const held = ids.length === 0 ? [] : await adapter.get(ids, call);
    const desired = isWritten && isGoods(kind) ? await desiredWith(books, kind, written, call) : [];
    for (const { counterpart, carried } of asked) {
      const there = held.filter((entry) => isCalled(entry, counterpart));
      if (isGoods(kind)) {
        const one = carried === null ? undefined : desired.shift();
        const differences =
          one === undefined || there.length === 0 ? [] : goodsDifferences(kind, one, there);
        inspections.push(there.length === 0 ? gone : { is: "there", differences });
        continue;
      }
      const one = carried === null ? undefined : planned.shift();
      const isThere = there.some((entry) => !isDraftAgain(adapter.can, entry));
      if (one === undefined) inspections.push(isThere ? thereAsBrought : gone);
      else inspections.push(inspected(books, kind, one));
    }
  }
  return inspections;
}

const isCalled = ({ id, aliases = [] }: Entry, name: string): boolean =>
  id === name || aliases.includes(name);

const isState = ({ field }: Difference): boolean => field === "state";

const isDraftAgain = (can: Capabilities, { status }: Entry): boolean =>
  isBelow(status, "posted") && posts(can);

/** What its source calls it. */
const idOf = (document: object): string =>
  "companyId" in document ? String(document.companyId) : String((document as { id: unknown }).id);

function inspected(
  books: Books,
  kind: Planning["kind"],
  { desired, found, next }: Planned,
): Inspection {
  if (found.is === "several") {
    const held = found.entries.map(nameOf).join(" and ");
    return { is: "there", differences: [{ field: "record", expected: "one", held }] };
  }
  if (found.is !== "one") return gone;
  const { entry, by } = found;
  const planning = { kind, can: adapterOf(books, kind).can, books };
  // Restored books give numbers a second time: without our mark the figures must be the same too.
  if (by !== "mark") {
    const figures = defined({ money: desired.expected.money });
    if (compare(kindOf(planning, desired), figures, entry.facts).length > 0) return gone;
  }
  // Only what was brought is missing: it may be brought again.
  const isUndone = next.do === "amended" && next.differences.every(isState);
  // Its wait has ended and it is about to be settled; where nothing waits, what settled it is missing.
  const isUnsettled = next.do === "settle" && desired.until === null;
  if (isDraftAgain(planning.can, entry) || next.do === "cancelled" || isUnsettled) return gone;
  if (isUndone) return gone;
  if (desired.target === "cancelled") {
    // What stands then has something that no step of ours takes back.
    const stands = { field: "state", expected: "cancelled", held: stateOf(kind, entry) };
    return { is: "there", differences: entry.status === "cancelled" ? [] : [stands] };
  }
  const state = stateOf(kind, { ...desired, status: desired.target });
  const besides = (entry.besides ?? []).filter((one) => !isState(one) || one.expected === state);
  const unmarked = entry.made === true && by !== "mark";
  return {
    is: "there",
    differences: [
      ...(unmarked ? [{ field: "mark", expected: desired.mark, held: "none" }] : []),
      ...(entry.status === "cancelled"
        ? [{ field: "state", expected: state, held: "cancelled" }]
        : differencesOf(planning, desired, entry)),
      ...(besides.some(isState) ? [] : paidDifferences(state, desired, entry, next)),
      ...besides,
    ],
  };
}

/** What settles it and is no money. */
const insteadOf = (payments: Entry["payments"]): Entry["payments"] =>
  payments.filter(({ instead = null, amount }) => instead !== null && amount.sign > 0);

/**
 * Payments that the platform does not know of, until it calls the document paid as well; and one that was settled as one
 * and is open again.
 */
function paidDifferences(
  state: string,
  desired: Desired,
  { status, payments, facts }: Entry,
  next: Next,
): Difference[] {
  // What paid it is there and is not matched with it any more.
  const isApart = payments.length > 0 && facts.money?.open?.sign === 0 && next.do === "nothing";
  if (desired.target === "settled" && status === "posted" && (next.do === "ask" || isApart))
    return [{ field: "state", expected: "paid", held: "open" }];
  // Paid means paid with money (ADR 0010).
  const instead = insteadOf(payments);
  if (desired.target === "settled" && status === "settled" && instead.length > 0)
    return [{ field: "state", expected: "paid", held: `settled (${paymentsIn(instead)})` }];
  if (desired.target !== "posted" || isBelow(status, "posted") || status === "cancelled") return [];
  const own = settlementMark(desired.mark);
  const others = payments.filter(({ mark }) => mark === null || mark === own);
  if (others.length === 0) return [];
  const paid = amountOf(others);
  const isMoney = insteadOf(others).length === 0;
  const by = isMoney ? `payment ${paymentsIn(others)}` : paymentsIn(others);
  if (status === "settled")
    return [{ field: "state", expected: state, held: `${isMoney ? "paid" : "settled"} (${by})` }];
  const open = facts.money?.open ?? Decimal.zero;
  const held = `${inCents(open)} (${by}; the platform cannot take partial payments)`;
  return [{ field: "money.open", expected: inCents(open.plus(paid)), held }];
}

/* What books hold now, for reconciliation: told by the adapters through which documents are written, or by a source. */

/** Records that one call asks for. */
const PAGE_RECORDS = 200;

const ADAPTERS: Readonly<Partial<Record<HoldingKind, LedgerKind>>> = {
  invoice: "invoice",
  bill: "bill",
  payment: "payment",
  "bill-payment": "payment",
  order: "order",
  ticket: "shipment",
  party: "party",
};

/**
 * Of every kind whose adapter lists it.
 * @param born kinds that are told otherwise, or besides: where the books are the source of them
 */
export function ledgerHoldings(
  books: Books,
  born: Readonly<Partial<Record<HoldingKind, BornHere>>> = {},
): Holdings {
  const listed = Object.keys(ADAPTERS).filter(
    (kind) => "list" in (books.adapters[ADAPTERS[kind as HoldingKind] ?? "invoice"] ?? {}),
  );
  const adapterFor = (kind: HoldingKind) => {
    const name = ADAPTERS[kind];
    if (name === undefined) throw new Error(`${books.name} tells nothing of kind ${kind}`);
    return adapterOf(books, name);
  };
  return {
    strength: Object.fromEntries(
      [...listed, ...Object.keys(born)].map((kind) => [kind, "asked" as const]),
    ),
    async *list(kind, scope, from, signal) {
      const none = { position: null, total: null, serverTime: null };
      for await (const holdings of born[kind]?.(signal) ?? []) yield { holdings, ...none };
      if (!listed.includes(kind)) return;
      try {
        const position = typeof from === "number" ? String(from) : (from as string | null);
        for await (const page of adapterFor(kind).list(scope, position, signal)) {
          const { entries, ...more } = page;
          yield { ...none, ...more, holdings: held(kind, entries) };
        }
      } catch (error) {
        throw unavailable(error, books);
      }
    },
    async get(kind, ids, signal) {
      const found: Holding[] = [];
      for await (const all of born[kind]?.(signal) ?? [])
        found.push(...all.filter(({ id }) => ids.includes(id)));
      if (!listed.includes(kind)) return found;
      const call = callOf("get", signal);
      const asked = await reading(books, () => adapterFor(kind).get(ids, call));
      return [...found, ...held(kind, asked)];
    },
    named: async (kind, numbers, signal) =>
      // The list of what is born here tells all there is.
      listed.includes(kind)
        ? reading(books, async () => held(kind, await adapterFor(kind).named(numbers, signal)))
        : [],
    async expect(kind, items, signal) {
      if (kind !== "party" && kind !== "price")
        return reading(books, () => expectAll(books, ADAPTERS[kind] ?? "invoice", items, signal));
      const never = kind === "party" ? "is never written by itself" : "is never written";
      const message = `A ${kind} of ${books.name} ${never}`;
      const next = "Compare it with the platform: it starts in the books.";
      return items.map(() => ({ fault: { code: "not-written-here", message, next } }));
    },
  };
}

const held = (kind: HoldingKind, entries: readonly Entry[]): Holding[] =>
  entries.filter((one) => isOf(kind, one)).flatMap((one) => holdingOf(kind, one));

/** Payments of both directions have one adapter. */
const isOf = (kind: HoldingKind, { facts }: Entry): boolean =>
  (kind !== "payment" && kind !== "bill-payment") ||
  (kind === "payment") === (facts.words?.side === "sale");

function holdingOf(kind: HoldingKind, entry: Entry): Holding[] {
  const { id, mark, version, facts, status, aliases, pays, change = null, untold } = entry;
  if (id === null) return [];
  const own = mark === null ? null : platformIdOf(mark);
  const isDocument = kind === "invoice" || kind === "bill";
  const isOver = isDocument && status === "cancelled";
  return [
    {
      kind,
      id,
      version,
      mark: own,
      ...defined({ aliases, pays, untold }),
      change: isTold(kind, own) ? change : null,
      facts: {
        ...facts,
        state: stateOf(kind, entry),
        days: { ...facts.days, ...(isDocument ? { paid: entry.paid } : {}) },
        money: { ...facts.money, ...(isOver ? { open: Decimal.zero } : {}) },
      },
    },
  ];
}

/** What carries our mark came from the platform; a party with it is read like the others, and its mapping skips it. */
const isTold = (kind: HoldingKind, mark: string | null): boolean =>
  mark === null || kind === "party";

/** How far it is: what is held, with what settles it, and what is wanted at its target. */
function stateOf(
  kind: HoldingKind | LedgerKind,
  { status, disputed, payments = [] }: Pick<Entry, "status" | "disputed"> & Partial<Entry>,
): HoldingState {
  if (status === "cancelled") return "ended";
  if (kind === "order" || kind === "ticket" || kind === "shipment")
    return isBelow(status, "posted") ? "draft" : "posted";
  if (kind === "payment" || kind === "bill-payment") return "paid";
  if (status === "settled") return insteadOf(payments).length > 0 ? "settled" : "paid";
  if (kind === "party") return "open";
  if (isBelow(status, "posted")) return "draft";
  return disputed ? "disputed" : "open";
}

/** One that these books cannot keep as it is has a fault; the others are told. @throws LedgerError */
async function expectAll(
  books: Books,
  kind: LedgerKind,
  items: readonly Item[],
  signal: AbortSignal,
): Promise<Expected[]> {
  const call = callOf("expect", signal);
  const expected: Expected[] = [];
  for (const some of inGroups(items, PAGE_RECORDS)) {
    const page = await orRefused(some, async (item) =>
      carriedIn(kind, bodyOf(books, kind, [item])),
    );
    const carried = page.flatMap((one) => (one instanceof Refused ? [] : one));
    const desired = await desiredWith(books, kind, carried, call);
    for (const one of page) {
      if (one instanceof Refused) expected.push({ fault: one.fault });
      else expected.push(expectedOf(books, kind, desired.shift() as Desired));
    }
  }
  return expected;
}

/**
 * Goods are rightly not in the books where they do not count on the platform, and as drafts where these keep none. Of other
 * documents a draft waits for its accountant: how far it has come is not for us to say. Books that cannot mark an invoice
 * as disputed (no `state` in `amend`) hold it as open.
 */
function expectedOf(books: Books, kind: LedgerKind, desired: Desired): Expected {
  const { can } = adapterOf(books, kind);
  const { expected: all, target: status, binding, refusal } = desired;
  if (refusal !== undefined) return { fault: refusal };
  const disputed = desired.disputed && can.amend["state"] !== undefined;
  const state = stateOf(kind, { status, disputed });
  if (isGoods(kind)) {
    if (isTakenBack(desired)) return { skip: "it does not count on the platform" };
    if (status === "draft" && !can.has.includes("draft"))
      return { skip: `${books.name} keeps no draft of it: it is booked when it is done` };
    return { facts: { ...all, state } };
  }
  const { number, ...rest } = all;
  // One that was entered by hand has the books' own number: its link says so.
  const isNumbered = number !== undefined && (binding ?? number) === number;
  const facts = isNumbered ? all : rest;
  if (kind === "payment" || kind === "party") return { facts: { ...facts, state } };
  const isOver = status === "settled" || status === "cancelled";
  const open = isOver ? { open: Decimal.zero } : {};
  const shown = isOver || posts(can) ? { state } : {};
  return { facts: { ...facts, ...shown, money: { ...facts.money, ...open } } };
}

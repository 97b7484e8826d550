/** Invoices and bills in Tryton, for the driver of src/books. */
import type { BookAdapter, Call, Ladder, Standing, Wanted } from "../../src/books/adapter.ts";
import { inPages, PAGE_RECORDS } from "../../src/books/holdings.ts";
import type { Change } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import type { Difference, Scope } from "../../src/core/holdings.ts";
import type { Books } from "./books.ts";
import { disputedOf } from "../../src/books/notes.ts";
import { notesOf, resourceOf } from "./notes.ts";
import { type Guard, openGuard } from "./guard.ts";
import { type Credit, creditsOf } from "./invoice-credits.ts";
import {
  draftsIn,
  type Entry,
  idOf,
  type InvoiceType,
  isDraft,
  NO_CREDIT_NOTE,
  readInvoices,
} from "./invoice-facts.ts";
import { step } from "./invoice-steps.ts";
import { expectedOf, invoiceValues, isNumbered } from "./invoice-values.ts";
import { markOf, paidMarkIn } from "../../src/books/marks.ts";
import { addressedAll } from "./parties.ts";
import { ofCompany, rowsOf, scopeDomain } from "./search.ts";
import { invoiceChanges } from "./sources/invoices.ts";

type Kind = "invoice" | "bill";
type InvoiceStanding = Standing<Entry>;

export function invoiceAdapter<K extends Kind>(books: Books, kind: K): BookAdapter<K, Entry> {
  const type = kind === "invoice" ? "out" : "in";
  const guard = openGuard(books, "account.invoice", type);
  const told = async (clause: unknown, signal: AbortSignal): Promise<InvoiceStanding[]> =>
    toldAs(books, type, await read(books, type, [clause], signal), signal);
  return {
    ladder: ladderOf(books, type),
    expected: (documents) => expectedOf(books, documents),
    locate: (wanted, call) => locate(books, guard, type, wanted, call),
    create: (wanted) => create(books, guard, wanted),
    advance: (to, steps) => step(books, guard, to, steps),
    async get(ids, { purpose, signal }) {
      const clause = ["OR", ["number", "in", ids], ["id", "in", draftsIn(ids)]];
      if (purpose === "inspection") return told(clause, signal);
      return (await read(books, type, [clause], signal)).map((entry) => standingOf(entry));
    },
    named: (numbers, signal) =>
      told(["OR", ["number", "in", numbers], ["reference", "in", numbers]], signal),
    list: (scope, from, signal) => list(books, type, scope, from, signal),
  };
}

export const ladderOf = (books: Books, type: InvoiceType): Ladder => ({
  has: ["draft", "posted", "settled", "cancelled"],
  byUs: "settled",
  ...(books.config.posting === "post" ? {} : { posts: false }),
  amend: { "days.due": "settled", reference: "draft", order: "draft", state: "settled" },
  atomic: books.config.batch,
  numbered: isNumbered(books, type) ? "once" : "per-party",
});

/**
 * On a posted invoice Tryton changes the due date and nothing else, where it has one term. Of a draft that nobody else
 * has touched we write the head again.
 */
export const fixedIn = (entry: Pick<Entry, "state" | "made" | "ours" | "terms">): string[] => {
  const isOpen = entry.made && (isDraft(entry) ? entry.ours : entry.terms.length === 1);
  return isOpen ? [] : ["days.due", "reference", "order"];
};

async function locate(
  books: Books,
  guard: Guard,
  type: InvoiceType,
  wanted: readonly Wanted<Kind>[],
  { made, purpose, signal }: Call,
): Promise<InvoiceStanding[]> {
  const older = wanted.filter(({ mark }) => !made.has(mark));
  const known = await guard.known(older.map(({ mark }) => mark));
  const owners = new Map([...known].map(([mark, id]) => [id, mark]));
  const numbers = wanted.flatMap(({ number }) => number ?? []);
  const bindings = wanted.flatMap(({ binding }) => binding ?? []);
  const clause = [
    "OR",
    ["comment", "in", wanted.map(({ mark }) => markOf(mark))],
    ["reference", "in", numbers],
    ["number", "in", [...numbers, ...bindings]],
    ["id", "in", [...owners.keys(), ...draftsIn(bindings)]],
  ];
  const turned = purpose === "delivery" ? turnedOf(type, wanted, made) : [];
  const { company } = await books.tryton.session();
  const entries = await readInvoices(books, [
    ["company", "=", company],
    NO_CREDIT_NOTE,
    ["OR", [["type", "=", type], clause], ...turned],
  ]);
  // Nobody has noted a dispute on what this send has just made.
  const disputes = new Set(wanted.filter(({ disputed }) => disputed).map(({ mark }) => mark));
  const noted = entries.filter(
    ({ platformId: mark }) => mark === null || !made.has(mark) || disputes.has(mark),
  );
  const disputed = await disputedOf(notesOf(books), noted.map(resourceOf));
  const isInspected = purpose === "inspection";
  const credits = isInspected ? await creditsOf(books, entries, signal) : null;
  return entries.map((entry) => {
    const { id, platformId } = entry;
    const mark = platformId ?? owners.get(id) ?? null;
    const standing = standingOf(entry, {
      disputed: disputed.has(resourceOf(entry)),
      credits: credits?.get(id),
    });
    const besides = isInspected ? besidesOf(entry, mark, credits?.get(id) ?? []) : [];
    const { number: own, ...rest } = standing.facts;
    return {
      ...standing,
      mark,
      besides,
      ...(isNumbered(books, type) ? { number: numberIn(entry, wanted) } : {}),
      // What a person entered has Tryton's number, and ours as its reference.
      facts: entry.made && own !== undefined ? { ...rest, number: own } : rest,
    };
  });
}

/**
 * A sale that the platform has turned into a purchase, or back: while it stands it is told by its mark, and nothing is
 * booked beside it, also by a store that has lost its link. What is void there asks for its own kind only.
 */
function turnedOf(
  type: InvoiceType,
  wanted: readonly Wanted<Kind>[],
  made: Call["made"],
): unknown[] {
  const marks = wanted.flatMap(({ mark, target }) =>
    made.has(mark) || target === "cancelled" ? [] : [markOf(mark)],
  );
  if (marks.length === 0) return [];
  const other = type === "out" ? "in" : "out";
  return [
    [
      ["type", "=", other],
      ["comment", "in", marks],
      ["state", "!=", "cancelled"],
    ],
  ];
}

/**
 * Where we give Tryton's number: one that another invoice has is taken, whoever's it is; a reference that somebody typed
 * is the number of that party's only.
 */
function numberIn(
  { number, reference, facts }: Entry,
  wanted: readonly Pick<Wanted, "number" | "party">[],
): string | null {
  if (wanted.some((one) => one.number === number)) return number;
  const isTheirs = wanted.some((one) => one.number === reference && one.party === facts.party);
  return isTheirs ? reference : null;
}

const idsOf = (entries: readonly Entry[]): number[] => entries.map(({ id }) => id);

/** What other hands did to it that none of its fields shows. */
function besidesOf(
  { platformId, made, state, reconciled, total, toPay }: Entry,
  mark: string | null,
  credits: readonly Credit[],
): Difference[] {
  const isApart = state === "posted" && reconciled === null && total.sign !== 0 && toPay.sign === 0;
  const apart = "posted: what paid it is no longer reconciled with it";
  return [
    ...(made && mark !== platformId ? [{ field: "mark", expected: `${mark}`, held: "none" }] : []),
    ...credits.map(({ name, total }) => ({
      field: "credit note",
      expected: "none",
      held: `${name} of ${total.fixed(2)}`,
    })),
    ...(isApart ? [{ field: "state", expected: "paid", held: apart }] : []),
  ];
}

interface More {
  readonly id?: string;
  readonly disputed?: boolean;
  readonly credits?: readonly Credit[] | undefined;
  readonly change?: Change | null;
}

/** A credit note takes away of what is open, used or not; what it settles is no payment. */
function standingOf(entry: Entry, more: More = {}): InvoiceStanding {
  const { id, disputed = false, credits = [], change = null } = more;
  const { facts, settling } = entry;
  const payments = settling.filter(({ move }) => !credits.some((one) => one.move === move));
  const open = Decimal.sum([entry.toPay, ...credits.map(({ toPay }) => toPay)]);
  return {
    id: id ?? idOf(entry),
    aliases: [`#${entry.id}`],
    mark: entry.platformId,
    number: entry.reference,
    party: facts.party ?? null,
    rung: rungOf(entry),
    unfinished: false,
    touched: !entry.ours,
    made: entry.made,
    fixed: fixedIn(entry),
    disputed,
    payments: payments.map(({ move, description, amount }) => ({
      mark: paidMarkIn(description),
      amount,
      id: `#${move}`,
    })),
    facts: isDraft(entry) ? facts : { ...facts, money: { ...facts.money, open } },
    paid: entry.reconciled,
    version: entry.stamp,
    change,
    native: entry,
  };
}

/** With a queue in Tryton its state follows a little later than the payment. */
function rungOf(entry: Entry): Standing["rung"] {
  if (entry.state === "cancelled") return "cancelled";
  if (isDraft(entry)) return "draft";
  return entry.state === "paid" || entry.reconciled !== null ? "settled" : "posted";
}

async function create(
  books: Books,
  guard: Guard,
  wanted: readonly Wanted<Kind>[],
): Promise<string[]> {
  const parties = await addressedAll(books, wanted);
  const all: object[] = [];
  for (const [at, one] of wanted.entries()) {
    const values = await invoiceValues(books, one, parties[at] as (typeof parties)[number]);
    all.push(guard.isModule ? { ...values, external_id: one.mark } : values);
  }
  const make = () => books.tryton.call<number[]>("model.account.invoice.create", [all]);
  const made = await guard.create(
    wanted.map(({ mark }) => mark),
    make,
  );
  return made.map((id) => `#${id}`);
}

async function read(
  books: Books,
  type: InvoiceType,
  domain: readonly unknown[],
  signal?: AbortSignal,
): Promise<Entry[]> {
  return readInvoices(books, [...(await domainOf(books, type)), ...domain], { signal });
}

const domainOf = async (books: Books, type: InvoiceType): Promise<unknown[]> => [
  await ofCompany(books),
  ["type", "=", type],
  NO_CREDIT_NOTE,
];

/** Read in the order of database ids: what is made meanwhile comes last. */
async function* list(
  books: Books,
  type: InvoiceType,
  scope: Scope,
  from: string | null,
  signal: AbortSignal,
): ReturnType<BookAdapter<Kind, Entry>["list"]> {
  const isOpen = ["state", "in", ["draft", "validated", "posted"]];
  const within = scopeDomain(scope, "invoice_date", ["write_date", "create_date"], isOpen);
  const whole = [...(await domainOf(books, type)), within];
  const all = inPages(
    Number(from ?? 0),
    ({ id }: Entry) => id,
    (id) => readInvoices(books, [...whole, ["id", ">", id]], { most: PAGE_RECORDS, signal }),
  );
  for await (const { rows, last, isEnd } of all) {
    const standings = await toldAs(books, type, rows, signal);
    const count = "model.account.invoice.search_count";
    const total = isEnd ? await books.tryton.call<number>(count, [whole], { signal }) : undefined;
    yield { standings, position: String(last), ...(total === undefined ? {} : { total }) };
  }
}

/** For reconciliation: by the names that links have, with what sources tell of them. One credited in full has ended. */
async function toldAs(
  books: Books,
  type: InvoiceType,
  entries: readonly Entry[],
  signal: AbortSignal,
): Promise<InvoiceStanding[]> {
  if (entries.length === 0) return [];
  const credits = await creditsOf(books, entries, signal);
  const disputed = await disputedOf(notesOf(books), entries.map(resourceOf));
  const names = await namesOf(books, type, entries, signal);
  const changes = await changesOf(books, type, entries, signal);
  return entries.map((entry) => {
    const id = names.get(entry.id) ?? `#${entry.id}`;
    const its = credits.get(entry.id) ?? [];
    const change = changes.get(id) ?? null;
    const more = { id, disputed: disputed.has(resourceOf(entry)), credits: its, change };
    const credited = Decimal.sum(its.map(({ total }) => total)).abs();
    const isCredited = its.length > 0 && credited.compare(entry.total.abs()) >= 0;
    return { ...standingOf(entry, more), ...(isCredited ? { rung: "cancelled" } : {}) };
  });
}

/**
 * What links call them: the number; but where several have one number, it is the first that is not cancelled that has
 * it, and the others are named as drafts are.
 */
async function namesOf(
  books: Books,
  type: InvoiceType,
  entries: readonly Entry[],
  signal: AbortSignal,
): Promise<ReadonlyMap<number, string>> {
  const domain = [
    await ofCompany(books),
    ["type", "=", type],
    ["number", "in", entries.flatMap(({ number }) => number ?? [])],
  ];
  const all = await rowsOf<{ id: number; number: string; state: string }>(
    books,
    "account.invoice",
    domain,
    "number state",
    { signal },
  );
  return new Map(
    [...Map.groupBy(all, ({ number }) => number)].map(([number, same]) => {
      const owner = same.find(({ state }) => state !== "cancelled") ?? same[0];
      return [owner?.id ?? 0, number] as const;
    }),
  );
}

/** What the sources tell of those that were born here; flows read customer invoices only. */
async function changesOf(
  books: Books,
  type: InvoiceType,
  entries: readonly Entry[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Change>> {
  const own = entries.filter(({ platformId, number }) => platformId === null && number !== null);
  if (type === "in" || own.length === 0) return new Map();
  const changes = await invoiceChanges(books, idsOf(own), signal);
  return new Map(changes.map((change) => [change.id, change]));
}

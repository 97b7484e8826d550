/** Invoices and bills in Tryton: what it keeps of them, how they are found, made and brought on. */
import { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import type { Difference, FactLine, Facts, Scope } from "../../src/core/holdings.ts";
import { sameNumber, spellingsOf } from "../../src/core/keys.ts";
import type { InvoiceDocument } from "../../src/ledger/documents.ts";
import { inPages, PAGE_RECORDS } from "../../src/ledger/holdings.ts";
import { markOf, paidMarkIn } from "../../src/ledger/notes.ts";
import { isBelow } from "../../src/ledger/plan.ts";
import type { Call, Capabilities, Desired, Entry, Step, StepTo } from "../../src/ledger/port.ts";
import type { Records, Table } from "../../src/ledger/table.ts";
import { type Books, disputedOf, noteDispute, resourceOf, wizard } from "./books.ts";
import { type Guard, openGuard } from "./guard.ts";
import {
  cannotTell,
  creditsOf,
  draftName,
  draftsIn,
  type InvoiceType,
  isCreditedInFull,
  isDraft,
  NO_CREDIT_NOTE,
  readAgain,
  readInvoices,
  type TrytonInvoice,
} from "./invoice-rows.ts";
import { type Addressed, addressedAll } from "./parties.ts";
import { pricedLine } from "./priced.ts";
import {
  countOf,
  day,
  type Domain,
  either,
  float,
  inAnyCase,
  ofCompany,
  rowOf,
  rowsOf,
  scopeDomain,
  texts,
  where,
} from "./rows.ts";
import { invoiceChanges } from "./sources.ts";
import { DATE_ORDER, isWarningOf, TrytonError } from "./wire.ts";

type Kind = "invoice" | "bill";
const MODEL = "account.invoice";

/** What Tryton keeps of a document, in neutral words: its codes and ids follow when it is made. */
interface Kept {
  readonly facts: Facts;
}
/** What the values of one are made of. */
interface Making {
  readonly desired: Pick<Desired<Kind>, "document" | "mark">;
  readonly values: Kept;
}

export function invoiceTable<K extends Kind>(books: Books, kind: K): Table<K, Kept, TrytonInvoice> {
  const type = kind === "invoice" ? "out" : "in";
  return {
    can: capabilitiesOf(books, type),
    records: recordsOf(books, type),
    async codes(documents: readonly InvoiceDocument[]) {
      const lines = documents.flatMap((document) => document.lines);
      const named = [...lines, ...documents.flatMap(({ taxes }) => taxes)];
      const own = Object.values(accountsOf(books, type));
      await books.lookup.load({
        account: [...own, ...named.flatMap(({ account }) => account ?? [])],
        product: lines.flatMap(({ product }) => product ?? []),
        unit: lines.flatMap(({ unit }) => unit ?? []),
      });
      return null;
    },
    write: async (document: InvoiceDocument) => ({ facts: await factsOf(books, document) }),
    facts: ({ facts }) => facts,
    read: (row, desired) => entryOf(isNumbered(books, type), row, desired),
    tell: ({ native }) => native.change ?? null,
  };
}

export const capabilitiesOf = (books: Books, type: InvoiceType): Capabilities => ({
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
export const fixedIn = (
  entry: Pick<TrytonInvoice, "state" | "made" | "ours" | "terms">,
): string[] => {
  const isOpen = entry.made && (isDraft(entry) ? entry.ours : entry.terms.length === 1);
  return isOpen ? [] : ["days.due", "reference", "order"];
};

/** A credit note takes away of what is open, used or not; what it settles is no payment. */
function entryOf(
  givesNumber: boolean,
  row: TrytonInvoice,
  desired: readonly Pick<Desired, "number" | "party">[],
): Omit<Entry, "facts" | "native" | "unfinished"> & { readonly facts: Facts } {
  const { credits = [], number, status, reference, made, owner = null } = row;
  const draft = draftName(row.id);
  const mark = row.mark ?? owner;
  const payments = row.settling.filter(
    ({ name }) => !credits.some(({ settles }) => settles === name),
  );
  const open = Decimal.sum([row.amount_to_pay, ...credits.map(({ toPay }) => toPay)]);
  const isSought = desired.length > 0;
  return {
    id: row.called ?? number ?? draft,
    aliases: [draft],
    mark,
    number: isSought && givesNumber ? numberIn(row, desired) : reference,
    party: row.party.code,
    status: row.listed === true && isCreditedInFull(row) ? "cancelled" : status,
    touched: !row.ours,
    made,
    disputed: row.disputed ?? false,
    payments: payments.map(({ name, description, amount, instead }) => ({
      mark: paidMarkIn(description),
      amount,
      id: name,
      instead,
    })),
    paid: row.reconciled,
    version: row.write_date ?? row.create_date,
    fixed: fixedIn(row),
    ...(row.inspected === true ? { besides: besidesOf(row, mark) } : {}),
    ...(row.untold === undefined ? {} : { untold: cannotTell(row.untold) }),
    facts: {
      // What a person entered has the books' number, and ours as its reference.
      ...(number === null || (isSought && !made) ? {} : { number }),
      ...(isBelow(status, "posted") ? {} : { money: { open } }),
    },
  };
}

/** What other hands did to it that none of its fields shows. @param mark whose it is, whatever became of its mark */
function besidesOf(row: TrytonInvoice, mark: string | null): Difference[] {
  const { made, status, total_amount, amount_to_pay, credits = [] } = row;
  const isApart = status === "posted" && total_amount.sign !== 0 && amount_to_pay.sign === 0;
  const apart = "posted: what paid it is no longer reconciled with it";
  return [
    ...(made && mark !== row.mark ? [{ field: "mark", expected: `${mark}`, held: "none" }] : []),
    ...credits.map(({ name, total }) => ({
      field: "credit note",
      expected: "none",
      held: `${name} of ${total.fixed(2)}`,
    })),
    ...(isApart ? [{ field: "state", expected: "paid", held: apart }] : []),
  ];
}

const isOf =
  (held: string | null) =>
  ({ number }: Pick<Desired, "number">): boolean =>
    held !== null && sameNumber(number, held);

/**
 * Where we give Tryton's number: one that another invoice has is taken, whoever's it is; a reference that somebody typed
 * is the number of that party's only. Null: it has none of those that are wanted.
 */
function numberIn(
  { number, reference, party }: Pick<TrytonInvoice, "number" | "reference" | "party">,
  desired: readonly Pick<Desired, "number" | "party">[],
): string | null {
  if (desired.some(isOf(number))) return number;
  const isTheirs = desired.some((one) => isOf(reference)(one) && one.party === party.code);
  return isTheirs ? reference : null;
}

/* How they are found, listed and made. */

/** What is looked for: everything that one of these names. */
interface Names {
  readonly marks?: readonly string[];
  readonly references?: readonly string[];
  /** Of those the numbers that a person may have typed in any case: what has no link yet. */
  readonly typed?: readonly string[];
  readonly numbers?: readonly string[];
  readonly ids?: readonly number[];
  /** Marks of what may stand on the other side: a sale that became a purchase. What is cancelled there does not count. */
  readonly turned?: readonly string[];
}

/** Customer invoices, or bills. */
interface Side {
  readonly books: Books;
  readonly type: InvoiceType;
  readonly guard: Guard;
}

const ofSide = async ({ books, type }: Pick<Side, "books" | "type">): Promise<Domain> =>
  where({ ...(await ofCompany(books)), "type =": type });

function recordsOf<K extends Kind>(
  books: Books,
  type: InvoiceType,
): Records<K, Kept, TrytonInvoice> {
  const guard = openGuard(books, MODEL, type);
  const side = { books, type, guard };
  return {
    async search({ desired, ids = [], numbers = [] }, call) {
      if (desired !== undefined) return located(side, desired, call);
      const { signal, purpose } = call;
      const names = { numbers: [...ids, ...numbers], references: numbers, ids: draftsIn(ids) };
      const rows = await found(side, names, signal);
      return purpose === "delivery" ? rows : listed(side, rows, signal);
    },
    // In the order of database ids: what is made meanwhile comes last.
    async *list(scope, from, signal) {
      const domain = [...(await ofSide(side)), NO_CREDIT_NOTE, within(scope)];
      const search = { most: PAGE_RECORDS, signal };
      const read = (after: number) => readInvoices(books, [...domain, ["id", ">", after]], search);
      for await (const page of inPages(Number(from ?? 0), ({ id }: TrytonInvoice) => id, read)) {
        const total = page.isEnd ? { total: await countOf(books, MODEL, domain, signal) } : {};
        yield {
          rows: await listed(side, page.rows, signal),
          position: String(page.last),
          ...total,
        };
      }
    },
    async create(all) {
      const desired = all.map((one) => one.desired);
      const parties = await addressedAll(books, desired);
      const values: object[] = [];
      for (const [at, one] of all.entries()) {
        const its = await invoiceValues(books, one, parties[at] as Addressed);
        values.push(guard.isErps ? { ...its, external_id: one.desired.mark } : its);
      }
      const make = () => books.tryton.call<number[]>(`model.${MODEL}.create`, [values]);
      return (await guard.create(marksOf(desired), make)).map(draftName);
    },
    async apply(to, steps) {
      await step(books, to, steps);
      if (to === "retracted") await guard.release(marksOf(steps.map(({ desired }) => desired)));
    },
  };
}

async function found(
  { books, type }: Side,
  { marks = [], references = [], typed = [], numbers = [], ids = [], turned = [] }: Names,
  signal: AbortSignal,
  compared: readonly TrytonInvoice[] = [],
): Promise<TrytonInvoice[]> {
  const clause = either(
    {
      "comment in": marks.map(markOf),
      "reference in": references,
      "number in": numbers,
      "id in": ids,
    },
    ...inAnyCase("reference", typed),
  );
  const other = type === "out" ? "in" : "out";
  const there = { "type =": other, "comment in": turned.map(markOf), "state !=": "cancelled" };
  const sides = [
    [...(await ofSide({ books, type })), clause],
    ...(turned.length === 0 ? [] : [where(there)]),
  ];
  const company = where(await ofCompany(books));
  return readAgain(books, [...company, NO_CREDIT_NOTE, ["OR", ...sides]], compared, { signal });
}

async function located(
  side: Side,
  desired: readonly Desired<Kind>[],
  { made, compared = new Map(), purpose, signal }: Call,
): Promise<TrytonInvoice[]> {
  const { books, guard } = side;
  const older = desired.filter(({ mark }) => !made.has(mark));
  const known = await guard.known(marksOf(older));
  const owners = new Map([...known].map(([mark, id]) => [id, mark]));
  const references = [...new Set(desired.flatMap(({ number }) => spellingsOf(number)))];
  const bindings = desired.flatMap(({ binding }) => binding ?? []);
  const inspected = purpose === "inspection";
  const names = {
    marks: marksOf(desired),
    references,
    typed: inspected ? [] : desired.flatMap(({ binding, number }) => (binding ? [] : number)),
    numbers: [...references, ...bindings],
    ids: [...owners.keys(), ...draftsIn(bindings)],
    // What stands on the other side is told by its mark, and nothing is booked beside it, also by a store that has lost
    // its link. What is void asks for its own side only.
    turned: inspected ? [] : marksOf(older.filter(({ target }) => target !== "cancelled")),
  };
  const before = [...compared.values()].map(({ native }) => native as TrytonInvoice);
  const rows = await found(side, names, signal, before);
  // Nothing is decided by half of a document.
  for (const { untold } of rows) if (untold !== undefined) throw untold;
  // Nobody has noted a dispute on what this send has just made.
  const disputes = new Set(marksOf(desired.filter(({ disputed }) => disputed)));
  const noted = rows.filter(({ mark }) => mark === null || !made.has(mark) || disputes.has(mark));
  const disputed = await disputedOf(books, noted);
  const credits = inspected ? await creditsOf(books, rows, signal) : null;
  return rows.map((row) => ({
    ...row,
    owner: owners.get(row.id) ?? null,
    disputed: disputed.has(row.id),
    credits: credits?.get(row.id) ?? [],
    inspected,
  }));
}

/** For reconciliation: by the names that links have, with what sources tell of them. One credited in full has ended. */
async function listed(
  side: Side,
  rows: readonly TrytonInvoice[],
  signal: AbortSignal,
): Promise<TrytonInvoice[]> {
  const { books, type } = side;
  if (rows.length === 0) return [];
  const credits = await creditsOf(books, rows, signal);
  const disputed = await disputedOf(books, rows);
  const names = await namesOf(side, rows, signal);
  // What was born here tells what its source does; flows read customer invoices only.
  const own = rows.filter(({ mark, number }) => mark === null && number !== null);
  const ids = type === "in" ? [] : own.map(({ id }) => id);
  const told = ids.length === 0 ? [] : await invoiceChanges(books, ids, signal);
  const changes = new Map(told.map((change) => [change.id, change]));
  return rows.map((row) => {
    const called = names.get(row.id) ?? draftName(row.id);
    return {
      ...row,
      called,
      listed: true,
      disputed: disputed.has(row.id),
      credits: credits.get(row.id) ?? [],
      change: changes.get(called) ?? null,
    };
  });
}

/**
 * What links call them: the number; but where several have one number, it is the first that is not cancelled that has
 * it, and the others are named as drafts are.
 */
async function namesOf(
  side: Side,
  rows: readonly TrytonInvoice[],
  signal: AbortSignal,
): Promise<ReadonlyMap<number, string>> {
  const numbers = rows.flatMap(({ number }) => number ?? []);
  const domain = [...(await ofSide(side)), ["number", "in", numbers]];
  const all = await rowsOf(side.books, MODEL, domain, texts("number state"), { signal });
  return new Map(
    [...Map.groupBy(all, ({ number }) => number)].map(([number, same]) => {
      const owner = same.find(({ state }) => state !== "cancelled") ?? same[0];
      return [owner?.id ?? 0, number] as const;
    }),
  );
}

const marksOf = (desired: readonly Pick<Desired, "mark">[]): string[] =>
  desired.map(({ mark }) => mark);

const within = (scope: Scope): Domain =>
  scopeDomain(scope, "invoice_date", ["state", "in", ["draft", "validated", "posted"]]);

/*
 * An invoice as these books would show it, had it just been booked, and as Tryton's server takes it. What the client fills
 * in for a person the server leaves empty, so all of it is sent. What cannot be known beforehand is not expected: a number
 * that Tryton gives, a due date that a payment term computes.
 */

type Line = InvoiceDocument["lines"][number];
type Type = InvoiceDocument["type"];

/** What is owed, and lines whose product has no account. */
const accountsOf = ({ config: { accounts } }: Books, type: Type) =>
  type === "out"
    ? { owed: accounts.receivable, line: accounts.revenue }
    : { owed: accounts.payable, line: accounts.expense };

/** @throws Refused for a code that Tryton does not have, TrytonError */
export async function factsOf(books: Books, document: InvoiceDocument): Promise<Facts> {
  const { type, number, invoiceDate: date, dueDate, description, taxes } = document;
  const lines: FactLine[] = [];
  for (const line of document.lines) lines.push(await lineOf(books, type, line));
  const isComputed = dueDate === null && books.config.paymentTerm !== undefined;
  return {
    ...(isNumbered(books, type) ? { number } : {}),
    days: { date, ...(isComputed ? {} : { due: dueDate ?? date }) },
    words: { reference: number, order: description },
    lines,
    taxes: taxes.map(({ account: code, description: text, base, amount }) => ({
      code,
      text,
      base,
      amount,
    })),
  };
}

/** Do invoices of this type get the platform's number? */
const isNumbered = ({ config }: Books, type: Type): boolean =>
  type === "out" && config.numbering === "platform";

async function lineOf(books: Books, type: Type, line: Line): Promise<FactLine> {
  const { lookup } = books;
  const product = line.product === null ? null : await lookup.product(line.product);
  const unit = line.unit === null ? null : await lookup.unit(line.unit);
  const own = type === "out" ? product?.revenue : product?.expense;
  const { lump, ...sent } = pricedLine(line, {
    quantity: unit?.digits ?? null,
    unitPrice: await lookup.pricePlaces(),
  });
  return {
    ...sent,
    product: lump ? null : line.product,
    account: line.account ?? own?.code ?? accountsOf(books, type).line,
    unit: lump ? null : line.unit,
    amount: line.amount,
  };
}

/** The values of one `account.invoice.create`. @throws Refused, TrytonError */
export async function invoiceValues(
  books: Books,
  { desired: { document, mark }, values: { facts } }: Making,
  party: Addressed,
): Promise<object> {
  const { config, lookup } = books;
  const { type, dueDate, invoiceDate, number } = document;
  const lines: object[] = [];
  for (const line of facts.lines ?? []) lines.push(await lineValues(books, line));
  const taxes: object[] = [];
  for (const { account, description, base, amount } of document.taxes)
    taxes.push({ manual: true, account: await lookup.account(account), description, base, amount });
  const term = dueDate === null ? config.paymentTerm : undefined;
  const { revenue, expense } = config.journals;
  return {
    type,
    company: (await books.tryton.session()).company,
    party: party.id,
    invoice_address: party.address,
    currency: await lookup.currency(config.currency),
    journal: await lookup.journal(type === "out" ? revenue : expense),
    account: await lookup.account(accountsOf(books, type).owed),
    reference: number,
    ...(isNumbered(books, type) ? { number } : {}),
    description: document.description,
    comment: markOf(mark),
    invoice_date: day(invoiceDate),
    ...(term === undefined
      ? { payment_term_date: day(dueDate ?? invoiceDate) }
      : { payment_term: await lookup.paymentTerm(term) }),
    lines: [["create", lines]],
    ...(taxes.length === 0 ? {} : { taxes: [["create", taxes]] }),
  };
}

async function lineValues({ lookup }: Books, line: FactLine): Promise<object> {
  const { product, unit, account, quantity, unitPrice, text } = line;
  return {
    type: "line",
    account: await lookup.account(account ?? ""),
    ...(product === null ? {} : { product: (await lookup.product(product)).id }),
    ...(unit === null ? {} : { unit: (await lookup.unit(unit)).id }),
    quantity: float(quantity ?? ONE),
    unit_price: unitPrice,
    description: text,
  };
}

const ONE = Decimal.of("1");

/* What is done to invoices that are there: amended, posted, cancelled, and drafts of ours that are taken back. */

type InvoiceStep = Step<Kind, TrytonInvoice>;

/** One step for all of them; it may be taken again after anything. @throws Refused, TrytonError */
async function step(books: Books, to: StepTo, steps: readonly InvoiceStep[]): Promise<void> {
  if (to === "posted") return post(books, steps);
  if (to === "retracted") return takeBack(books, steps);
  for (const one of steps) await (to === "amended" ? amend(books, one) : cancel(books, one));
}

/** Writes what differs: of a posted invoice the due date, of a draft its head; a dispute is a note. */
async function amend(books: Books, { desired, entry, differences }: InvoiceStep): Promise<void> {
  const { native: invoice } = entry;
  const { number: reference, description, dueDate, invoiceDate } = desired.document;
  const due = day(dueDate ?? invoiceDate);
  const differs = (field: string): boolean => differences.some((one) => one.field === field);
  if (differs("state")) await noteDispute(books, resourceOf(invoice), desired.disputed);
  if (differences.every(({ field }) => field === "state")) return;
  if (!isDraft(invoice)) {
    const values = { maturity_date: due };
    await books.tryton.call("model.account.move.line.write", [invoice.terms, values]);
    return;
  }
  const term = invoice.facts.days?.due === undefined ? {} : { payment_term_date: due };
  const values = { reference, description, ...term };
  await books.tryton.call("model.account.invoice.write", [[invoice.id], values]);
}

/**
 * One call for all, whose numbers Tryton gives in the order of their dates. It asks for a yes once for each invoice that
 * has a reason, one at a time: the first one stands for all of the batch that may have it.
 */
async function post(books: Books, steps: readonly InvoiceStep[]): Promise<void> {
  const ids = invoiceIds(steps);
  // Tryton goes by its server's day, which may be a day ahead of the company's.
  const soon = books.surroundings.now().getTime() + DAY_MS;
  const today = books.surroundings.dayOf(new Date(soon).toISOString());
  const past = steps.filter(
    ({ desired: { document } }) => (document.dueDate ?? document.invoiceDate) < today,
  );
  const { warningOf } = await books.tryton.release();
  const accepted = new Set<string>();
  for (;;) {
    try {
      await books.tryton.call("model.account.invoice.post", [ids]);
      return;
    } catch (error) {
      const name = error instanceof TrytonError ? error.warning : undefined;
      const kind = HARMLESS.find((kind) => name !== undefined && isWarningOf(kind, name));
      if (name === undefined || kind === undefined || accepted.has(name)) throw error;
      const others = invoiceIds(kind === PAST_DUE ? past : steps);
      const names = new Set([name, ...others.map((id) => warningOf(kind, id))]);
      await accept(
        books,
        [...names].filter((one) => !accepted.has(one)),
      );
      for (const one of names) accepted.add(one);
    }
  }
}

const invoiceIds = (steps: readonly InvoiceStep[]): number[] =>
  steps.map(({ entry }) => entry.native.id);

const PAST_DUE = "invoice_payment_term";
/**
 * Kinds of warnings that need no person. A due date in the past; an invoice date in the future (of the server, whose
 * day may be behind the company's): the period must be open all the same; taxes that are not the product's: they are
 * the platform's.
 */
const HARMLESS = [PAST_DUE, "invoice_date_future", "invoice_taxes"];

const DAY_MS = 86_400_000;

/** Says yes to warnings, by their names. @throws TrytonError */
export async function accept(
  { tryton }: Pick<Books, "tryton">,
  names: readonly string[],
): Promise<void> {
  const { user } = await tryton.session();
  const { accepting } = await tryton.release();
  for (const [method, params] of accepting(user, names)) await tryton.call(method, params);
}

/** Tryton deletes no invoice that has a number, and a draft has the platform's. */
async function takeBack(books: Books, steps: readonly InvoiceStep[]): Promise<void> {
  await unnumber(books, invoiceIds(steps));
  await books.tryton.call("model.account.invoice.delete", [invoiceIds(steps)]);
}

async function unnumber({ tryton }: Books, ids: readonly number[]): Promise<void> {
  await tryton.call("model.account.invoice.write", [ids, { number: null }]);
}

/**
 * Cancels: Tryton dates that as the invoice itself, while its period is open. Where it may not be cancelled, a credit
 * note takes it back. Both are in the books.
 */
async function cancel(books: Books, { desired, entry }: InvoiceStep): Promise<void> {
  const { tryton } = books;
  const { id, state, number } = entry.native;
  if (state === "draft" && number !== null) await unnumber(books, [id]);
  try {
    await tryton.call("model.account.invoice.cancel", [[id]]);
  } catch (error) {
    if (!(error instanceof TrytonError && KEPT.test(error.message))) throw error;
    await credit(books, id, desired.document.endedDate);
  }
  // A button says nothing when it does nothing, and a second press would make a second credit note.
  const now = await rowOf(books, "account.invoice", id, texts("state"));
  if (now.state !== "cancelled") throw notCancelled(desired.document, entry.native);
}

/**
 * The company cancels no customer invoice (8.0 has no button for it then), or the period of this one is closed: then a
 * credit note must do.
 */
const KEPT =
  /company setup does not allow it|You can not call "cancel" on |period of move .* is closed/;

const notCancelled = ({ number }: InvoiceDocument, invoice: TrytonInvoice): Refused =>
  new Refused({
    code: "not-cancelled",
    message: `invoice ${number} (${invoice.number ?? draftName(invoice.id)}) is void on the platform, and Tryton did not cancel it`,
    next: "Cancel it in Tryton by hand, then retry.",
  });

/**
 * Takes an invoice back with a credit note of the day on which it became void. Tryton numbers in the order of dates:
 * where a later credit note has its number already, this one is of the company's today, if that is in the same period.
 */
async function credit(books: Books, id: number, endedDate?: string): Promise<void> {
  const today = books.surroundings.dayOf(books.surroundings.now().toISOString());
  const ended = endedDate ?? today;
  try {
    await creditOn(books, id, ended);
  } catch (error) {
    const late = error instanceof TrytonError && DATE_ORDER.test(error.message);
    if (!late || !(await isOnePeriod(books, ended, today))) throw error;
    await creditOn(books, id, today);
  }
}

/** Without a date Tryton would take its server's today. */
const creditOn = ({ tryton }: Books, id: number, date: string): Promise<void> =>
  wizard(tryton, "account.invoice.credit", ["account.invoice", id], async (execute) => {
    const start = { with_refund: true, invoice_date: day(date) };
    await execute({ start }, "credit");
  });

async function isOnePeriod(books: Books, one: string, other: string): Promise<boolean> {
  const domain = where({
    ...(await ofCompany(books)),
    "type =": "standard",
    "start_date <=": day(one),
    "end_date >=": day(other),
  });
  return one <= other && (await countOf(books, "account.period", domain)) > 0;
}

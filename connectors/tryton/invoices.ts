/** Invoices and bills in Tryton, for src/ledger/invoices.ts. */
import { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import type { FactLine, Facts, Scope } from "../../src/core/holdings.ts";
import type { InvoiceDocument } from "../../src/ledger/documents.ts";
import { codesIn, invoiceFacts, orRefused } from "../../src/ledger/entries.ts";
import { claimGuard, type Guard, noGuard } from "../../src/ledger/guard.ts";
import { PAGE_RECORDS } from "../../src/ledger/holdings.ts";
import { invoiceAdapter as adapterOf } from "../../src/ledger/invoices.ts";
import { markOf, noteDispute } from "../../src/ledger/notes.ts";
import type { Capabilities, Desired, LedgerAdapter, Step, StepTo } from "../../src/ledger/port.ts";
import { pricedLine } from "../../src/ledger/priced.ts";
import { type Addressed, addressedAll, type Books, notesOf, resourceOf, wizard } from "./books.ts";
import {
  creditsOf,
  type InvoiceType,
  isDraft,
  NO_CREDIT_NOTE,
  readAgain,
  readInvoices,
  type TrytonInvoice,
} from "./invoice-facts.ts";
import {
  countOf,
  day,
  type Domain,
  either,
  float,
  idsOrNone,
  inAnyCase,
  ofCompany,
  rowOf,
  rowsOf,
  scopeDomain,
  texts,
  textsOrNone,
  where,
} from "./rows.ts";
import { invoiceChanges } from "./sources.ts";
import { busy, DATE_ORDER, isWarningOf, TRYTON, TrytonError } from "./wire.ts";

/*
 * What keeps an invoice or a payment from being made twice in Tryton (src/ledger/guard.ts). `search` keeps nobody else out.
 * `claim` lets one send through: an id can be taken once in `ir.model.data`. `module` has the database refuse the second
 * one when it is made.
 */

/** @param model what is made: `account.invoice` @param type of the document: both sides may be companies of one database */
export function openGuard(books: Books, model: string, type: InvoiceType): Guard {
  switch (books.config.guard) {
    case "search":
      return noGuard;
    case "claim":
      return claimsIn(books, model, type);
    case "module":
      return moduleGuard(books, model, type);
  }
}

/** Claims in `ir.model.data`, where Tryton gives each name once. */
function claimsIn(books: Books, model: string, type: InvoiceType): Guard {
  const { tryton, config } = books;
  const call = <T>(method: string, ...params: unknown[]): Promise<T> =>
    tryton.call<T>(`model.ir.model.data.${method}`, params);
  const suffix = async () => `.${type}.${(await tryton.session()).company}`;
  return claimGuard({
    errors: TRYTON.errors,
    ownerMs: 2 * config.deadlineMs + config.settleMs,
    async of(marks) {
      const ending = await suffix();
      const names = marks.map((mark) => `${mark}${ending}`);
      const domain = where({ "module =": MODULE, "model =": model, "fs_id in": names });
      const rows = await rowsOf(books, "ir.model.data", domain, CLAIM);
      return rows.map(({ id, fs_id, db_id, create_date, write_date }) => ({
        id,
        mark: fs_id.slice(0, -ending.length),
        record: db_id,
        ageMs: Date.parse(`${write_date ?? create_date}Z`) - Date.parse(`${create_date}Z`),
      }));
    },
    async take(marks) {
      const ending = await suffix();
      const rows = marks.map((mark) => ({
        module: MODULE,
        model,
        fs_id: `${mark}${ending}`,
        noupdate: true,
      }));
      return call<number[]>("create", rows).catch(busyWhen(/must be unique/));
    },
    touch: (ids) => call("write", ids, { noupdate: true }),
    keep: (records) =>
      call("write", ...[...records].flatMap(([id, db_id]) => [[id], { db_id }] as const)),
    drop: (ids) => call("delete", ids),
    busy,
  });
}

const CLAIM = {
  ...texts("fs_id create_date"),
  ...idsOrNone("db_id"),
  ...textsOrNone("write_date"),
};

const MODULE = "fuelbridge";
const JUST_TAKEN_MS = 1_000;

/** Another send of the same document came first: what it made is found the next time. */
const busyWhen =
  (words: RegExp) =>
  (error: unknown): never => {
    if (error instanceof TrytonError && words.test(error.message))
      throw busy("another send of the same document came first", JUST_TAKEN_MS);
    throw error;
  };

/** The server module of `server-module/`: the platform's id is unique there. */
const moduleGuard = (books: Books, model: string, type: InvoiceType): Guard => ({
  ...noGuard,
  isErps: true,
  async known(marks) {
    if (marks.length === 0) return new Map();
    const domain = where({
      ...(await ofCompany(books)),
      "external_id in": marks,
      ...(model === "account.invoice" ? { "type =": type } : {}),
    });
    const rows = await rowsOf(books, model, domain, texts("external_id"));
    return new Map(rows.map(({ id, external_id }) => [external_id, id]));
  },
  create: (_, make) => make().catch(busyWhen(/FUELBRIDGE-DUPLICATE/)),
});

/* What is done to invoices that are there: amended, posted, cancelled, and drafts of ours that are taken back. */

type InvoiceStep = Step<"invoice" | "bill", TrytonInvoice>;

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
  if (differs("state")) await noteDispute(notesOf(books), resourceOf(invoice), desired.disputed);
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
export async function accept({ tryton }: Books, names: readonly string[]): Promise<void> {
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
    message: `invoice ${number} (${invoice.name}) is void on the platform, and Tryton did not cancel it`,
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

/*
 * An invoice as these books would show it, had it just been booked, and as Tryton's server takes it. What the client fills
 * in for a person the server leaves empty, so all of it is sent. What cannot be known beforehand is not expected: a number
 * that Tryton gives, a due date that a payment term computes.
 */

type Line = InvoiceDocument["lines"][number];
type Type = InvoiceDocument["type"];

/**
 * In the order of the documents, without party, state and what is open; or why Tryton cannot keep one: a code that it
 * does not have. The ids of codes are loaded in a few calls for all. @throws TrytonError
 */
export async function expectedOf(
  books: Books,
  documents: readonly InvoiceDocument[],
): Promise<(Facts | Refused)[]> {
  const codes = codesIn(documents);
  const own = documents.flatMap(({ type }) => Object.values(accountsOf(books, type)));
  await books.lookup.load({ ...codes, account: [...own, ...codes.account] });
  return orRefused(documents, (document) => factsOf(books, document));
}

/** What is owed, and lines whose product has no account. */
const accountsOf = ({ config: { accounts } }: Books, type: Type) =>
  type === "out"
    ? { owed: accounts.receivable, line: accounts.revenue }
    : { owed: accounts.payable, line: accounts.expense };

async function factsOf(books: Books, document: InvoiceDocument): Promise<Facts> {
  const { config } = books;
  const { type, number, invoiceDate: date, dueDate } = document;
  const lines: FactLine[] = [];
  for (const line of document.lines) lines.push(await lineOf(books, type, line));
  const isComputed = dueDate === null && config.paymentTerm !== undefined;
  return {
    ...(isNumbered(books, type) ? { number } : {}),
    ...invoiceFacts(document, config.currency, lines),
    days: { date, ...(isComputed ? {} : { due: dueDate ?? date }) },
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
    books: TRYTON.name,
    where: "in Tryton (Product > Units of Measure)",
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
  { document, expected, mark }: Pick<Desired<"invoice" | "bill">, "document" | "expected" | "mark">,
  party: Addressed,
): Promise<object> {
  const { config, lookup } = books;
  const { type, dueDate, invoiceDate, number } = document;
  const lines: object[] = [];
  for (const line of expected.lines ?? []) lines.push(await lineValues(books, line));
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

type Kind = "invoice" | "bill";
const MODEL = "account.invoice";

export function invoiceAdapter<K extends Kind>(
  books: Books,
  kind: K,
): LedgerAdapter<K, TrytonInvoice> {
  const [type, other] = kind === "invoice" ? (["out", "in"] as const) : (["in", "out"] as const);
  const guard = openGuard(books, MODEL, type);
  const ofSide = async () => where({ ...(await ofCompany(books)), "type =": type });
  const listed = async (scope: Scope): Promise<Domain> => {
    const isOpen = ["state", "in", ["draft", "validated", "posted"]];
    const within = scopeDomain(scope, "invoice_date", ["write_date", "create_date"], isOpen);
    return [...(await ofSide()), NO_CREDIT_NOTE, within];
  };
  return adapterOf<K, TrytonInvoice>({
    can: capabilitiesOf(books, type),
    givesNumber: isNumbered(books, type),
    guard,
    notes: notesOf(books),
    resourceOf,
    fixedIn,
    expected: (documents) => expectedOf(books, documents),
    async search(names, signal, compared = []) {
      const {
        marks = [],
        references = [],
        typed = [],
        numbers = [],
        ids = [],
        turned = [],
      } = names;
      const clause = either(
        {
          "comment in": marks.map(markOf),
          "reference in": references,
          "number in": numbers,
          "id in": ids,
        },
        ...inAnyCase("reference", typed),
      );
      const there = { "type =": other, "comment in": turned.map(markOf), "state !=": "cancelled" };
      const sides = [[...(await ofSide()), clause], ...(turned.length === 0 ? [] : [where(there)])];
      const company = where(await ofCompany(books));
      return readAgain(books, [...company, NO_CREDIT_NOTE, ["OR", ...sides]], compared, { signal });
    },
    async page(scope, after, signal) {
      const domain = [...(await listed(scope)), ["id", ">", after]];
      return readInvoices(books, domain, { most: PAGE_RECORDS, signal });
    },
    count: async (scope, signal) => countOf(books, MODEL, await listed(scope), signal),
    credits: (entries, signal) => creditsOf(books, entries, signal),
    async owners(numbers, signal) {
      const domain = [...(await ofSide()), ["number", "in", numbers]];
      const rows = await rowsOf(books, MODEL, domain, texts("number state"), { signal });
      return rows.map((row) => ({ ...row, isCancelled: row.state === "cancelled" }));
    },
    // Flows read customer invoices only.
    changes: async (ids, signal) => (type === "in" ? [] : invoiceChanges(books, ids, signal)),
    prepare: (desired) => prepare(books, guard.isErps, desired),
    step: (to, steps) => step(books, to, steps),
  });
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

async function prepare(books: Books, isErps: boolean, desired: readonly Desired<Kind>[]) {
  const parties = await addressedAll(books, desired);
  const all: object[] = [];
  for (const [at, one] of desired.entries()) {
    const values = await invoiceValues(books, one, parties[at] as Addressed);
    all.push(isErps ? { ...values, external_id: one.mark } : values);
  }
  return () => books.tryton.call<number[]>("model.account.invoice.create", [all]);
}

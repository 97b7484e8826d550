/** Invoices and bills in Tryton: what it keeps of them, how they are found, made and brought on. */
import { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import type { FactLine, Facts } from "../../src/core/holdings.ts";
import { spellingsOf } from "../../src/core/keys.ts";
import type { InvoiceDocument } from "../../src/ledger/documents.ts";
import { markOf, orderText, taxText } from "../../src/ledger/entries.ts";
import type { Call, Capabilities, Desired, Step } from "../../src/ledger/port.ts";
import type { Records, Table } from "../../src/ledger/table.ts";
import {
  accepting,
  type Books,
  disputedOf,
  expectDigits,
  type Guard,
  noteDispute,
  openGuard,
  asRead,
  resourceOf,
  wizard,
} from "./books.ts";
import {
  changeOf,
  creditsOf,
  draftName,
  draftsIn,
  entryOf,
  type InvoiceType,
  isDraft,
  LIVE_STATES,
  NO_CREDIT_NOTE,
  readInvoices,
  TOLD,
  TOLD_STATES,
  type TrytonInvoice,
} from "./invoice-rows.ts";
import { type Addressed, addressedAll, changedRows } from "./lists.ts";
import * as rpc from "./rows.ts";
import { DATE_ORDER, says } from "./wire.ts";
import { DAY_MS } from "../../src/core/time.ts";
import { inCents } from "../../src/core/text.ts";

type Kind = "invoice" | "bill";
const MODEL = "account.invoice";

/** What Tryton keeps of a document is written in neutral words: its codes and ids follow when it is made. */
export function invoiceTable<K extends Kind>(
  books: Books,
  kind: K,
): Table<K, Facts, TrytonInvoice> {
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
    },
    write: (document: InvoiceDocument) => factsOf(books, document),
    read: (row, desired) => entryOf(row, isNumbered(books, type), desired),
    tell: ({ native }) => changeOf(native),
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

/* How they are found, listed and made. */

const PARTS = [{ model: MODEL, record: "id", domain: [["type", "=", "out"]] }];

/** How they are read. Every function @throws LedgerError */
function readsOf(books: Books, type: InvoiceType, guard: Guard) {
  const ofSide = (): Promise<rpc.Domain> => rpc.ownOf(books, [["type", "=", type]]);

  async function located(
    desired: readonly Desired<Kind>[],
    { made, purpose, signal }: Call,
  ): Promise<TrytonInvoice[]> {
    const older = desired.filter(({ mark }) => !made.has(mark));
    const known = await guard.known(marksOf(older));
    const owners = new Map([...known].map(([mark, id]) => [id, mark]));
    const spellings = [...new Set(desired.flatMap(({ number }) => spellingsOf(number)))];
    // 6.0 keeps the blank that comes with a number that a person pastes.
    const references = spellings.flatMap((one) => [one, ` ${one}`, `${one} `]);
    const bindings = desired.flatMap(({ binding }) => binding ?? []);
    const isInspected = purpose === "inspection";
    // What has no link yet may have been typed in any case, with other signs.
    const typed = desired.filter(({ binding }) => binding === null && !isInspected);
    const numbers = typed.map(({ number }) => number);
    const theirs = ["party.code", "in", typed.flatMap(({ party }) => party ?? [])];
    const alike = [theirs, ["OR", ...rpc.inAnyWriting("reference", numbers)]];
    const clause = rpc.either(
      {
        "comment in": marksOf(desired).map(markOf),
        "reference in": references,
        "number in": [...spellings, ...bindings],
        "id in": [...owners.keys(), ...draftsIn(bindings)],
      },
      ...(numbers.length === 0 ? [] : [alike]),
    );
    // What stands on the other side is told by its mark, and nothing is booked beside it, also by a store that has lost
    // its link. What is void asks for its own side only, and what is cancelled there does not count.
    const turned = isInspected ? [] : older.filter(({ target }) => target !== "cancelled");
    const there = {
      "type =": type === "out" ? "in" : "out",
      "comment in": marksOf(turned).map(markOf),
      "state !=": "cancelled",
    };
    const sides = [
      [...(await ofSide()), clause],
      ...(turned.length === 0 ? [] : [rpc.where(there)]),
    ];
    const domain = await rpc.ownOf(books, [NO_CREDIT_NOTE, ["OR", ...sides]]);
    const rows = await readInvoices(books, domain, { signal });
    // Nothing is decided by half of a document.
    for (const { untold } of rows) if (untold !== undefined) throw untold;
    // Nobody has noted a dispute on what this send has just made.
    const disputes = new Set(marksOf(desired.filter((one) => one.disputed)));
    const isNoted = (row: TrytonInvoice): boolean => {
      const { mark } = entryOf(row, false);
      return mark === null || !made.has(mark) || disputes.has(mark);
    };
    const disputed = await disputedOf(books, rows.filter(isNoted));
    const credits = isInspected ? await creditsOf(books, rows, signal) : null;
    return rows.map((row) => ({
      ...row,
      owner: owners.get(row.id) ?? null,
      disputed: disputed.has(row.id),
      credits: credits?.get(row.id) ?? [],
      ...(isInspected ? { purpose: "inspection" as const } : {}),
    }));
  }

  /**
   * With what links call them: the number; but where several have one number, it is the first that is not cancelled that
   * has it, and the others are named as drafts are. Of customer invoices how many count is told as well: flows read no others.
   */
  async function named(rows: readonly TrytonInvoice[], signal: AbortSignal) {
    const numbers = rows.flatMap(({ number }) => number ?? []);
    const domain = [...(await ofSide()), ["number", "in", numbers]];
    const all = await rpc.rowsOf(books, MODEL, domain, rpc.texts("number state"), { signal });
    const byNumber = Map.groupBy(all, ({ number }) => number);
    return rows.map((row): TrytonInvoice => {
      const same = byNumber.get(row.number ?? "") ?? [];
      const owner = same.find(({ state }) => state !== "cancelled") ?? same[0];
      const namesakes = same.filter(({ state }) => LIVE_STATES.includes(state)).length;
      const called = owner?.id === row.id ? owner.number : draftName(row.id);
      return { ...row, called, ...(type === "out" ? { namesakes } : {}) };
    });
  }

  /** For reconciliation: by the names that links have, with what sources tell of them. One credited in full has ended. */
  async function listed(rows: readonly TrytonInvoice[], signal: AbortSignal) {
    if (rows.length === 0) return [];
    const credits = await creditsOf(books, rows, signal);
    const disputed = await disputedOf(books, rows);
    return (await named(rows, signal)).map((row): TrytonInvoice => ({
      ...row,
      purpose: "listing",
      disputed: disputed.has(row.id),
      credits: credits.get(row.id) ?? [],
    }));
  }

  return { ofSide, located, named, listed };
}

function recordsOf<K extends Kind>(
  books: Books,
  type: InvoiceType,
): Records<K, Facts, TrytonInvoice> {
  const guard = openGuard(books, MODEL, { "type =": type });
  const { ofSide, located, named, listed } = readsOf(books, type, guard);
  const fields = type === "out" ? TOLD : undefined;
  return {
    async search({ desired, ids = [], numbers = [] }, call) {
      if (desired !== undefined) return located(desired, call);
      const { signal, purpose } = call;
      const isListed = purpose === "inspection";
      const names = { "number in": [...ids, ...numbers], "reference in": numbers };
      const clause = rpc.either({ ...names, "id in": draftsIn(ids) });
      const domain = [...(await ofSide()), NO_CREDIT_NOTE, clause];
      const rows = await readInvoices(books, domain, { signal }, isListed ? fields : undefined);
      return isListed ? listed(rows, signal) : rows;
    },
    async *list(scope, from, signal) {
      const isOpen = ["state", "in", ["draft", "validated", "posted"]];
      const within = rpc.scopeDomain(scope, "invoice_date", isOpen);
      const domain = [...(await ofSide()), NO_CREDIT_NOTE, within];
      const read = (after: rpc.Domain, search: rpc.Search) =>
        readInvoices(books, [...domain, after], search, fields);
      for await (const { rows, isEnd, position } of rpc.pagesOf(from, signal, read, ({ id }) => id))
        yield {
          rows: await listed(rows, signal),
          position,
          ...(isEnd ? { total: await rpc.countOf(books, MODEL, domain, signal) } : {}),
        };
    },
    async createAll(all) {
      const desired = all.map((one) => one.desired);
      const parties = await addressedAll(books, desired);
      const values: object[] = [];
      for (const [at, { desired: one, values: facts }] of all.entries()) {
        const its = await invoiceValues(books, one, facts, parties[at] as Addressed);
        values.push(guard.isErps ? { ...its, external_id: one.mark } : its);
      }
      const make = () => books.tryton.call<number[]>(`model.${MODEL}.create`, [values]);
      return (await guard.create(make)).map(draftName);
    },
    async applyAll(to, steps) {
      const { amend, cancel, post, takeBack } = stepsIn(books);
      if (to === "posted") return post(steps);
      for (const one of steps) {
        if (to === "amended") await amend(one);
        if (to === "cancelled") await cancel(one);
      }
      if (to === "retracted") await takeBack(steps.map(({ entry }) => entry.native.id));
    },
    // Posting stamps an invoice anew, and from then on Tryton lets nobody change its lines or taxes: its own stamp is enough.
    changed: changedRows(books, PARTS, async (ids, signal) => {
      const its = { "id in": ids, "state in": TOLD_STATES, "number !=": null };
      const domain = await rpc.ownOf(books, rpc.where(its));
      const all = await named(await readInvoices(books, domain, { signal }, TOLD), signal);
      return all.map((row) => ({ ...row, called: row.number ?? "" }));
    }),
  };
}

const marksOf = (desired: readonly Pick<Desired, "mark">[]): string[] =>
  desired.map(({ mark }) => mark);

/*
 * An invoice as these books would show it, had it just been booked, and as Tryton's server takes it. What the client fills
 * in for a person the server leaves empty, so all of it is sent. What cannot be known beforehand is not expected: a number
 * that Tryton gives, a due date that a payment term computes.
 */

type Line = InvoiceDocument["lines"][number];

/** What is owed, and lines whose product has no account. */
const accountsOf = ({ config: { accounts } }: Books, type: InvoiceType) =>
  type === "out"
    ? { owed: accounts.receivable, line: accounts.revenue }
    : { owed: accounts.payable, line: accounts.expense };

/** @throws Refused for a code that Tryton does not have, LedgerError */
export async function factsOf(books: Books, document: InvoiceDocument): Promise<Facts> {
  const { type, number, invoiceDate: date, dueDate, taxes } = document;
  const lines: FactLine[] = [];
  for (const line of document.lines) lines.push(await lineOf(books, type, line));
  const isComputed = dueDate === null && books.config.paymentTerm !== undefined;
  return {
    ...(isNumbered(books, type) ? { number } : {}),
    days: { date, ...(isComputed ? {} : { due: dueDate ?? date }) },
    words: { reference: number, order: orderText(document) },
    lines,
    taxes: taxes.map(({ base, amount, ...tax }) => ({
      code: tax.account,
      text: taxText(tax),
      base,
      amount,
    })),
  };
}

/** Do invoices of this type get the platform's number? */
const isNumbered = ({ config }: Books, type: InvoiceType): boolean =>
  type === "out" && config.numbering === "platform";

async function lineOf(books: Books, type: InvoiceType, line: Line): Promise<FactLine> {
  const { lookup } = books;
  const product = line.product === null ? null : await lookup.product(line.product);
  const unit = line.unit === null ? null : await lookup.unit(line.unit);
  const own = type === "out" ? product?.revenue : product?.expense;
  const places = { quantity: unit?.digits ?? null, unitPrice: await lookup.pricePlaces() };
  return {
    ...pricedLine(line, places),
    account: line.account ?? own?.code ?? accountsOf(books, type).line,
    amount: line.amount,
  };
}

/**
 * Tryton computes a line's amount as quantity × unit price, rounded to the cent. Where that is not the amount of the
 * document's line, or Tryton would not keep its digits, the amount stands: the line is booked as 1 × amount, without
 * product and unit, and its quantity, unit and price are in its text. The total is right to the cent, no cent hides in
 * another line, and no figure counts a gallon that was not there.
 * @param places that Tryton keeps: of quantities in the line's unit (null: it has none), and of unit prices
 * @throws Refused when a product's quantity has more digits than its unit takes
 */
export function pricedLine(
  line: Line,
  places: { readonly quantity: number | null; readonly unitPrice: number },
): Pick<FactLine, "product" | "unit" | "quantity" | "unitPrice" | "text"> {
  const { product, unit, quantity, unitPrice, amount, description: text } = line;
  const { quantity: digits } = places;
  const isCounted = quantity.times(unitPrice).round(CENTS).equals(amount);
  const isFit = quantity.round(digits ?? PLACES_WITHOUT_UNIT).equals(quantity);
  const isPriced = unitPrice.round(places.unitPrice).equals(unitPrice);
  if (product !== null && digits !== null) expectDigits(quantity, unit ?? "", digits);
  if (isFit && isCounted && isPriced && (product === null || digits !== null))
    return { product, unit, quantity, unitPrice, text };
  // `ULSD (7500.5 gal × 2.413755 = 18104.38)`
  const measured = `${quantity.plain()}${unit === null ? "" : ` ${unit}`}`;
  const whole = `${text} (${measured} × ${unitPrice.plain()} = ${inCents(amount)})`;
  return { product: null, unit: null, quantity: Decimal.one, unitPrice: amount, text: whole };
}

/** Of the company's currency. */
const CENTS = 2;
/** What Tryton takes of a quantity without a unit. */
const PLACES_WITHOUT_UNIT = 2;

/** The values of one `account.invoice.create`. @throws Refused, LedgerError */
export async function invoiceValues(
  books: Books,
  { document, mark }: Pick<Desired<Kind>, "document" | "mark">,
  facts: Facts,
  party: Addressed,
): Promise<object> {
  const { config, lookup } = books;
  const { type, dueDate, invoiceDate, number } = document;
  const lines: object[] = [];
  for (const line of facts.lines ?? []) lines.push(await lineValues(books, line));
  const taxes: object[] = [];
  for (const { code, text: description, base, amount } of facts.taxes ?? [])
    taxes.push({ manual: true, account: await lookup.account(code), description, base, amount });
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
    description: orderText(document),
    comment: markOf(mark),
    invoice_date: rpc.day(invoiceDate),
    ...(term === undefined
      ? { payment_term_date: rpc.day(dueDate ?? invoiceDate) }
      : { payment_term: await lookup.paymentTerm(term) }),
    // What is owed is what the platform says, to the cent.
    ...((await lookup.hasCashRounding()) ? { cash_rounding: false } : {}),
    lines: [["create", lines]],
    ...(taxes.length === 0 ? {} : { taxes: [["create", taxes]] }),
  };
}

async function lineValues({ lookup }: Books, line: FactLine): Promise<object> {
  const { product, unit, account, quantity, unitPrice, text } = line;
  return {
    type: "line",
    account: await lookup.account(account ?? ""),
    ...(product === null ? {} : { product: await lookup.booked("product", product) }),
    ...(unit === null ? {} : { unit: await lookup.booked("unit", unit) }),
    quantity: rpc.float(quantity ?? Decimal.one),
    unit_price: unitPrice,
    description: text,
  };
}

/* What is done to invoices that are there: amended, posted, cancelled, and drafts of ours that are taken back. */

type InvoiceStep = Step<Kind, TrytonInvoice>;

/** Steps, each of which may be taken again after anything. Every one @throws Refused, LedgerError */
function stepsIn(books: Books) {
  const { tryton, surroundings } = books;
  const call = (method: string, ...params: unknown[]): Promise<unknown> =>
    tryton.call(`model.${MODEL}.${method}`, params);
  const unnumber = (ids: readonly number[]) => call("write", ids, { number: null });

  /** Writes what differs: of a posted invoice the due date, of a draft its head; a dispute is a note. */
  async function amend({ desired, entry, differences }: InvoiceStep): Promise<void> {
    const { native: invoice } = entry;
    const { number: reference, dueDate, invoiceDate } = desired.document;
    const description = orderText(desired.document);
    const due = rpc.day(dueDate ?? invoiceDate);
    if (differences.some(({ field }) => field === "state"))
      await noteDispute(books, resourceOf(invoice), desired.disputed);
    if (differences.every(({ field }) => field === "state")) return;
    if (isDraft(invoice)) {
      const term = entry.facts.days?.due === undefined ? {} : { payment_term_date: due };
      await call("write", [invoice.id], { reference, description, ...term });
    } else {
      const terms = invoice.lines_to_pay.map(({ id }) => id);
      await tryton.call("model.account.move.line.write", [terms, { maturity_date: due }]);
    }
  }

  /**
   * One call for all, whose numbers Tryton gives in the order of their dates. It asks for a yes once for each invoice that
   * has a reason, one at a time: the first one stands for all of the batch that may have it.
   */
  async function post(steps: readonly InvoiceStep[]): Promise<void> {
    // Tryton goes by its server's day, which may be a day ahead of the company's.
    const soon = surroundings.now().getTime() + DAY_MS;
    const today = surroundings.dayOf(new Date(soon).toISOString());
    const isPast = ({ desired: { document } }: InvoiceStep): boolean =>
      (document.dueDate ?? document.invoiceDate) < today;
    const idsOf = (some: readonly InvoiceStep[]) => some.map(({ entry }) => entry.native.id);
    const { warningOf } = await tryton.release();
    const read = steps.map(({ entry: { native } }) => [resourceOf(native), native.stamp] as const);
    const run = () => tryton.call(`model.${MODEL}.post`, [idsOf(steps)], asRead(read));
    await accepting(books, HARMLESS, run, (kind) =>
      idsOf(kind === PAST_DUE ? steps.filter(isPast) : steps).map((id) => warningOf(kind, id)),
    );
  }

  /** Tryton deletes no invoice that has a number, and a draft has the platform's. */
  async function takeBack(ids: readonly number[]): Promise<void> {
    await unnumber(ids);
    await call("delete", ids);
  }

  /**
   * Cancels: Tryton dates that as the invoice itself, while its period is open. Where it may not be cancelled, a credit
   * note takes it back. Both are in the books.
   */
  async function cancel({ desired: { document }, entry }: InvoiceStep): Promise<void> {
    const { id, state, number } = entry.native;
    if (state === "draft" && number !== null) await unnumber([id]);
    try {
      await call("cancel", [id]);
    } catch (error) {
      if (!says(error, KEPT)) throw error;
      await credit(id, document.endedDate);
    }
    // A button says nothing when it does nothing, and a second press would make a second credit note.
    const now = await rpc.rowOf(books, MODEL, id, rpc.texts("state"));
    if (now.state === "cancelled") return;
    throw new Refused({
      code: "not-cancelled",
      message: `invoice ${document.number} (${number ?? draftName(id)}) is void on the platform, and Tryton did not cancel it`,
      next: "Cancel it in Tryton by hand, then retry.",
    });
  }

  /**
   * Takes an invoice back with a credit note of the day on which it became void. Tryton numbers in the order of dates:
   * where a later credit note has its number already, this one is of the company's today, if that is in the same period.
   */
  async function credit(id: number, endedDate?: string): Promise<void> {
    const today = surroundings.dayOf(surroundings.now().toISOString());
    const ended = endedDate ?? today;
    // Without a date Tryton would take its server's today.
    const creditOn = (date: string) =>
      wizard(tryton, "account.invoice.credit", [MODEL, id], async (execute) => {
        const start = { with_refund: true, invoice_date: rpc.day(date) };
        await execute({ start }, "credit");
      });
    try {
      await creditOn(ended);
    } catch (error) {
      if (!says(error, DATE_ORDER) || ended > today) throw error;
      const both = { "start_date <=": rpc.day(ended), "end_date >=": rpc.day(today) };
      const own = { ...(await rpc.ofCompany(books)), "type =": "standard" };
      const domain = rpc.where({ ...own, ...both });
      if ((await rpc.countOf(books, "account.period", domain)) === 0) throw error;
      await creditOn(today);
    }
  }

  return { amend, post, takeBack, cancel };
}

const PAST_DUE = "invoice_payment_term";
/**
 * Kinds of warnings that need no person. A due date in the past; an invoice date in the future (of the server, whose
 * day may be behind the company's): the period must be open all the same; taxes that are not the product's: they are
 * the platform's.
 */
const HARMLESS = [PAST_DUE, "invoice_date_future", "invoice_taxes"];

/**
 * The company cancels no customer invoice (8.0 has no button for it then), or the period of this one is closed: then a
 * credit note must do.
 */
const KEPT =
  /company setup does not allow it|You can not call "cancel" on |period of move .* is closed/;

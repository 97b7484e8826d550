/**
 * Invoices, bills and what pays them, as both QuickBooks keep them. Creating posts: what would differ is refused before, and
 * told after. QuickBooks has one sales tax per document, and fuel has many taxes: each of them is a line of an item of its
 * own, as product and freight are. How records are asked for and written is each connector's.
 */
import type { Change, Source, Surroundings } from "../../src/core/contract.ts";
import { amountOf, Decimal } from "../../src/core/decimal.ts";
import { defined } from "../../src/core/defined.ts";
import { Refused } from "../../src/core/errors.ts";
import type { Day, FactLine, Facts, Scope } from "../../src/core/holdings.ts";
import type { Fault } from "../../src/core/record.ts";
import { amountText } from "../../src/core/text.ts";
import type { InvoiceDocument, Party, PaymentDocument } from "../../src/ledger/documents.ts";
import {
  documentFacts,
  type KeptDocument,
  type KeptPayment,
  markOf,
  numberTwice,
  paidBy,
  partiesOnce,
  partyChange,
  partyFacts,
  paymentFacts,
  platformIdIn,
  some,
  taxText,
  toldInvoice,
} from "../../src/ledger/entries.ts";
import {
  type Call,
  type Capabilities,
  type Desired,
  type Entry,
  LedgerError,
  type LedgerSide,
  type PaymentOn,
  PAYMENTS,
  type RowPage,
  sideOf,
  SIDES,
} from "../../src/ledger/port.ts";
import { pagesOf, type Telling } from "../../src/ledger/stamps.ts";
import { READ, type Table } from "../../src/ledger/table.ts";
import { markedBy, type Memoed, partyName, sameName, type Side, suffixed } from "./text.ts";
import { AHEAD_MS, stampBefore } from "./walk.ts";

/* Invoices and bills. */

export type DocumentKind = "invoice" | "bill";

/** One that is there. */
export interface DocumentRow extends KeptDocument, Memoed {
  readonly id: string;
  readonly version: string | null;
  /** What documents call its party; QuickBooks' own id of it. Null: it has none, or QuickBooks does not say. */
  readonly party: string | null;
  readonly partyId: string | null;
  /** QuickBooks' id of the account that it is owed on. Left out, null: it does not say. */
  readonly accountId?: string | null;
  readonly isVoid: boolean;
  readonly isPaid: boolean;
  readonly salesTax: Decimal;
  readonly total: Decimal;
  readonly open: Decimal;
  /** What is linked with it and pays it. */
  readonly payments: readonly (PaymentOn & { readonly date: string })[];
  /** See {@link Entry.refusal}. */
  readonly refusal?: Fault;
  /** What people know it by; of one that is void, or has no number, its id. */
  readonly issued: string;
  /** As a source tells it, where that is not what is compared. */
  readonly told: Pick<Facts, "words"> & { readonly dueDate: Day | null; readonly state?: "draft" };
  /** Why its lines cannot be told. */
  readonly odd?: Fault | null;
  /** The customer who is billed, where a source tells it; null, left out: it is not known. */
  readonly payer?: {
    readonly code: string;
    /** The platform's id of the company; null: its notes name none. */
    readonly companyId: string | null;
  };
  /** Why a source cannot tell it. */
  readonly fault?: Fault;
}

type Values<Body> = KeptDocument & { readonly body?: Body };

/** A table of one connector, but for what both QuickBooks say alike of a record. */
export interface DocumentBooks<Body = never> extends Pick<
  Table<DocumentKind, Values<Body>, DocumentRow>,
  "accept" | "codes" | "write" | "records"
> {
  readonly can: Pick<Capabilities, "has" | "amend" | "numbered">;
  readonly taxItems: readonly string[];
  /** Whom invoices are for; of bills left out. */
  readonly customers?: PartyList;
  /** Of a line, what is compared. Left out: all of it. */
  compared?(line: FactLine): FactLine;
}

export const documentTable = <K extends DocumentKind, Body>({
  records,
  ...books
}: DocumentBooks<Body>): Table<K, Values<Body>, DocumentRow> => ({
  ...books,
  can: { ...books.can, byUs: "settled", atomic: 1 },
  facts: ({ lines, ...kept }) =>
    documentFacts({ ...kept, lines: lines.map((line) => books.compared?.(line) ?? line) }),
  // Somebody may have given it another number: no document is made before its day was looked through.
  dayOf: ({ invoiceDate }: InvoiceDocument) => invoiceDate,
  read(row, desired) {
    const { id, party, payments, refusal, isVoid, isPaid, total, open } = row;
    const { mark, number } = markedBy(row, marksOf(desired));
    const paid = payments.map(({ date }) => date).toSorted();
    return {
      id,
      mark,
      number,
      party: desired.find((one) => sameName(one.party ?? "", party ?? ""))?.party ?? party,
      status: isVoid ? "cancelled" : isPaid ? "settled" : "posted",
      payments,
      ...defined({ refusal }),
      paid: isPaid && !isVoid ? (paid.at(-1) ?? row.date) : null,
      version: row.version,
      facts: { number: id, money: { total, open } },
    };
  },
  // Flows read customer invoices only.
  tell: (entry) =>
    books.customers === undefined ? null : changeOf(books.taxItems, entry, entry.native.issued),
  records: {
    ...records,
    async search(where, call) {
      const rows = await records.search(where, call);
      const isTold = call.purpose === "inspection" && where.desired === undefined;
      return isTold ? withPayers(books, rows, call.signal) : rows;
    },
    list: (scope, from, signal) =>
      pagesOf(records.list(scope, from, signal), (rows) => withPayers(books, rows, signal)),
  },
});

/** {@link Telling} of those with these ids, as they are now, whoever is billed. */
export interface TellingInvoices extends Omit<Telling<never>, "tell"> {
  readonly tell: (ids: readonly string[], signal: AbortSignal) => Promise<Change[]>;
}

/** Customer invoices, and as a source of what was paid tells them: by their ids, void or of another shape as they may be. */
export const invoiceTables = <Body>(
  { records, ...books }: DocumentBooks<Body>,
  changed: (telling: TellingInvoices) => Source,
) => {
  const changedIn = (faults: boolean, { tell, ...telling }: Telling<DocumentRow>): Source =>
    changed({
      ...telling,
      async tell(ids, signal) {
        const rows = await records.search({ ids }, { ...READ, signal });
        const all = await withPayers(books, rows, signal);
        return tell(faults ? await withFaults(records, all, signal) : all);
      },
    });
  const table = (faults: boolean) =>
    documentTable<"invoice", Body>({
      ...books,
      records: { ...records, changed: (telling) => changedIn(faults, telling) },
    });
  const tell = (entry: Entry<DocumentRow>) => changeOf(books.taxItems, entry, entry.native.id);
  return { invoice: table(true), paidInvoice: { ...table(false), tell } };
};

const marksOf = (desired: readonly Desired[]): string[] => desired.map(({ mark }) => mark);

/** The customer of a job, by its full name (`Acme:Yard 3`). Null: it is no job. */
export const topOf = (party: string | null): string | null =>
  /^(.+?):/.exec(party ?? "")?.[1] ?? null;

/** With the customer who is billed: of a job, its customer. @throws LedgerError */
async function withPayers(
  { customers }: Pick<DocumentBooks, "customers">,
  rows: readonly DocumentRow[],
  signal: AbortSignal,
): Promise<DocumentRow[]> {
  if (customers === undefined) return [...rows];
  const ids = rows.flatMap(({ party, partyId }) => (topOf(party) === null ? (partyId ?? []) : []));
  const names = rows.flatMap(({ party }) => topOf(party) ?? []);
  const found = await customers.find({ ids, names }, signal);
  return rows.map((row) => {
    const top = topOf(row.party);
    const payer = found.find(({ id, name }) =>
      top === null ? id === row.partyId : sameName(name, top),
    );
    if (payer === undefined) return row;
    const code = partyCode("customer", payer.id);
    return { ...row, payer: { code, companyId: platformIdIn(payer.notes) } };
  });
}

/** With what is wrong with those that people made: QuickBooks takes a number twice, and knows lines that we do not. */
async function withFaults(
  records: Pick<DocumentBooks["records"], "search">,
  rows: readonly DocumentRow[],
  signal: AbortSignal,
): Promise<DocumentRow[]> {
  const made = rows.filter((row) => !row.isVoid && markedBy(row).mark === null);
  const numbers = [...new Set(made.flatMap(({ number }) => number ?? []))];
  const found = numbers.length === 0 ? [] : await records.search({ numbers }, { ...READ, signal });
  const all = found.filter(({ isVoid }) => !isVoid);
  return rows.map((row) => {
    if (!made.includes(row)) return row;
    const isTwice = all.some(({ id, number }) => id !== row.id && number === row.number);
    const fault = isTwice ? numberTwice(BOOKS, row.number ?? "") : (row.odd ?? null);
    return fault === null ? row : { ...row, fault };
  });
}

/** What its source tells of a customer invoice, under a number: its taxes apart from its lines. */
function changeOf(
  taxItems: readonly string[],
  entry: Entry<DocumentRow>,
  number: string,
): Change | null {
  const { id, salesTax, total, open, told, payer, fault, ...row } = entry.native;
  const isTax = ({ product }: FactLine): boolean => product !== null && taxItems.includes(product);
  const lines = row.lines.filter((line) => !isTax(line));
  const taxes = row.lines
    .filter(isTax)
    .map(({ product, amount, text }) => ({ code: product ?? "", text: some(text), amount }));
  if (salesTax.sign !== 0) taxes.push({ code: "Sales tax", text: null, amount: salesTax });
  const tax = amountOf(taxes);
  const base = total.minus(tax);
  const facts: Facts = {
    party: payer?.code ?? row.party,
    days: { date: row.date },
    words: { ...entry.facts.words, ...told.words },
    money: { untaxed: base, tax, total, open },
    lines,
    taxes: taxes.map((one) => ({ ...one, text: one.text ?? one.code, base })),
  };
  const change = toldInvoice(
    { ...entry, id, facts },
    {
      number,
      ...(entry.status === "posted" ? defined({ state: told.state }) : {}),
      partyCompanyId: payer?.companyId ?? null,
      dueDate: told.dueDate,
      productNames: lines.map(({ product }) => product),
    },
  );
  return change === null || fault === undefined ? change : { ...change, fault };
}

/** An invoice that was deleted, of which hardly more than its id is left: its mapping sees whether it was told before. */
export const deletedInvoice = (
  id: string,
  state: "cancelled" | "deleted",
  facts: Required<Pick<Facts, "party" | "days" | "words">>,
): Change => {
  const { zero } = Decimal;
  const money = { untaxed: zero, tax: zero, total: zero, open: zero };
  const none = { status: "cancelled", payments: [], paid: null, mark: null } as const;
  return toldInvoice({ id, ...none, facts: { ...facts, money } }, { state }) as Change;
};

/* Payments: what customers pay, and what we pay. QuickBooks has one list of each. */

export interface PaymentRow extends KeptPayment {
  /** As links call it. */
  readonly id: string;
  readonly version: string | null;
  readonly party: string | null;
  /** What of its amount pays nothing. */
  readonly idle: Decimal;
  /** QuickBooks' ids of all that it pays; `document`: where it is one. */
  readonly pays: readonly string[];
  /** The platform's id of it, by these external ids where its memo does not say. */
  readonly markIn: (desired: readonly string[]) => string | null;
}

/** How one connector keeps payments. Every method @throws LedgerError, Refused */
export interface PaymentBooks {
  /** What QuickBooks keeps of its texts. */
  write(document: PaymentDocument): Pick<KeptPayment, "text"> & { readonly check: string | null };
  /** All that one of these names. */
  find(
    side: LedgerSide,
    names: { readonly ids: readonly string[]; readonly days: readonly Day[] },
    signal: AbortSignal,
  ): Promise<PaymentRow[]>;
  /** Ids of those that pay documents with one of these ids, or of these numbers. */
  paying(
    side: LedgerSide,
    of: { readonly ids: readonly string[]; readonly numbers: readonly string[] },
    signal: AbortSignal,
  ): Promise<readonly string[]>;
  /** All of the party of a document, from a day on: of a job those of its customer, whose money pays any of its jobs. */
  since(
    side: LedgerSide,
    since: Day,
    of: Pick<DocumentRow, "party" | "partyId">,
    signal: AbortSignal,
  ): Promise<PaymentRow[]>;
  list(scope: Scope, from: string | null, signal: AbortSignal): AsyncIterable<RowPage<PaymentRow>>;
  /** @param on what it pays. As links call it */
  create(document: PaymentDocument, on: DocumentRow, call: Call): Promise<string>;
}

/** One is found again by what it pays, its day, and its mark in the memo: a clerk may have moved it to another document. */
export const paymentTable = (books: PaymentBooks): Table<"payment", KeptPayment, PaymentRow> => ({
  ...PAYMENTS,
  dayOf: ({ date }: PaymentDocument) => date,
  write(document: PaymentDocument) {
    const { date, amount, invoice } = document;
    const { text, check } = books.write(document);
    const kept = { side: sideOf(document), date, amount, document: invoice, text };
    return check === null ? kept : { ...kept, check };
  },
  facts: paymentFacts,
  read: ({ id, party, amount, version, idle, pays, markIn }, desired) => ({
    id,
    mark: markIn(marksOf(desired)),
    party,
    idle,
    ...(pays.length > 1 ? { pays } : {}),
    // One of 0.00 is void, or applies credits and moves no money: its document tells those.
    status: amount.sign === 0 ? "cancelled" : "posted",
    version,
    facts: { number: id },
  }),
  records: {
    async search({ ids = [], documents = [], numbers = [], days = [], desired }, { signal }) {
      const found: PaymentRow[] = [];
      for (const side of SIDES) {
        const those = desired?.filter(({ document }) => sideOf(document) === side) ?? [];
        const paid = those.map(({ document }) => document.invoice);
        const bound = desired === undefined ? ids : those.flatMap(({ binding }) => binding ?? []);
        const on = { ids: documents.length === 0 ? [] : [...new Set(paid)], numbers };
        const isOf = (day: Day): boolean => those.some(({ document }) => document.date === day);
        const named = days.length === 0 ? bound : [];
        const isPaying = [...on.ids, ...on.numbers].length > 0;
        const paying = isPaying ? await books.paying(side, on, signal) : [];
        const names = { ids: [...named, ...paying], days: [...new Set(days)].filter(isOf) };
        if ([...names.ids, ...names.days].length > 0)
          found.push(...(await books.find(side, names, signal)));
      }
      return found;
    },
    async idle({ document, on }, since, { signal }) {
      const paid = paidBy(on).native as DocumentRow;
      const rows = await books.since(sideOf(document), since, paid, signal);
      return rows.map((row) => ({ ...row, party: paid.party }));
    },
    // Nothing of a payment stays open.
    list: (scope, from, signal) => books.list({ ...scope, open: false }, from, signal),
    create: ({ desired: { document, on } }, call) =>
      books.create(document, paidBy(on).native as DocumentRow, call),
  },
});

/* Lines, as QuickBooks keeps them. */

/** Digits after the point that QuickBooks keeps of quantities and rates. */
const DIGITS = 5;
const CENTS = 2;

/**
 * Products and charges, then taxes, by the gallon where that comes to the amount. A line without a product is booked on the item that its account names, else on
 * `charge`; a tax on the item that its account names. A quantity of null: the line has an amount alone. A rate of null is left
 * to QuickBooks: what it would make of the platform's is another amount.
 * @throws Refused when an amount has more than cents, a quantity more than five digits, or the lines do not add up to the
 * total: QuickBooks adds up by itself, and posts at once
 */
export function itemLines(document: InvoiceDocument, charge: string) {
  const lines = [
    ...document.lines.map(({ product, account, quantity, unitPrice, amount, description }) => ({
      item: product ?? account ?? charge,
      text: description,
      quantity: product === null ? null : quantity,
      rate: product === null || !isExact(quantity, unitPrice, amount) ? null : unitPrice,
      amount,
      isTax: false,
    })),
    ...document.taxes.map(({ gallons = null, rate = null, ...tax }) => {
      const quantity = gallons?.round(DIGITS).equals(gallons) === true ? gallons : null;
      const isRated = quantity !== null && rate !== null && isExact(quantity, rate, tax.amount);
      return {
        item: tax.account,
        text: taxText(tax),
        quantity: isRated ? quantity : null,
        rate: isRated ? rate : null,
        amount: tax.amount,
        isTax: true,
      };
    }),
  ];
  for (const [at, { amount, quantity }] of lines.entries()) {
    if (!amount.round(CENTS).equals(amount))
      throw notHeld(`line ${at + 1} comes to ${amountText(amount)}, which is not whole cents`);
    if (quantity !== null && !quantity.round(DIGITS).equals(quantity))
      throw notHeld(
        `line ${at + 1} has the quantity ${quantity.plain()}: more than ${DIGITS} digits`,
      );
  }
  const sum = amountOf(lines);
  if (!sum.equals(document.total))
    throw notHeld(
      `its lines and taxes come to ${amountText(sum)}, its total is ${amountText(document.total)}`,
    );
  return lines;
}

/** QuickBooks multiplies where it is told a rate: it must come to the same cent. */
const isExact = (quantity: Decimal, rate: Decimal, amount: Decimal): boolean =>
  rate.round(DIGITS).equals(rate) && roundHalfUp(quantity.times(rate)).equals(amount);

/** To cents as QuickBooks, Desktop and Online, rounds what it multiplies: half a cent goes away from zero. */
export const roundHalfUp = (value: Decimal): Decimal => value.round(CENTS, "away");

const notHeld = (says: string): Refused =>
  new Refused({
    code: "not-held",
    message: `QuickBooks cannot keep this document: ${says}`,
    next: "Correct the document where it comes from, then retry; or an accountant enters it by hand and closes it here.",
    field: "lines",
  });

/*
 * Customers and vendors of both QuickBooks: a document's party is found by its name or its id, else by the platform's id in
 * its notes, else it is created. How one is read and written is each connector's {@link PartyList}.
 */

/** What people call it in a message. */
export const BOOKS = "QuickBooks";

/** A customer or vendor as QuickBooks has it. */
export interface PartyRow {
  /** QuickBooks' own, which no rename changes: `58`, `80000001-1699900000`. */
  readonly id: string;
  /** No other one of its list has it. */
  readonly name: string;
  /** As the platform is told it. */
  readonly title: string;
  /** With the platform's id of the company, where it came from there. */
  readonly notes: string | null;
  readonly email: string | null;
  readonly phone: string | null;
  /** Null: it has no address. */
  readonly address: {
    readonly lines: readonly (string | null | undefined)[];
    readonly city: string | null;
    readonly state: string | null;
    readonly zip: string | null;
    readonly country: string | null;
  } | null;
  readonly active: boolean;
  readonly version: string | null;
  /** Null: the company's own, or it does not say. */
  readonly currency: string | null;
  /** A job: its invoices are its customer's, and it is not told. */
  readonly isJob: boolean;
}

/** A list of customers or vendors. Every method @throws LedgerError */
export interface PartyList {
  readonly side: Side;
  /** What is an id of QuickBooks in a code. */
  readonly id: RegExp;
  /** A site's own name of a party may look like such a code: `V-2001`. Left out: none does. */
  readonly namesLikeIds?: true;
  /** Characters of a name, and how these books change text. */
  readonly most: number;
  readonly held: (text: string) => string;
  /** What is done when another list has the name. */
  readonly sameName: "refuse" | "suffix";
  /** QuickBooks' code for a name that is taken. */
  readonly taken: string;
  /** What documents call it. */
  called(row: PartyRow): string;
  find(
    names: { readonly ids?: readonly string[]; readonly names?: readonly string[] },
    signal: AbortSignal,
  ): Promise<PartyRow[]>;
  list(from: string | null, signal: AbortSignal): AsyncIterable<RowPage<PartyRow>>;
  /** Notes of all that changed at or after a stamp (null: of all), each with its id and its stamp. */
  notes(since: string | null, signal: AbortSignal): Promise<readonly Noted[]>;
  /** Makes it. What documents call it. */
  write(party: Party, name: string, call: Call): Promise<string>;
  /** Which session of QuickBooks this is: in the next one the company may be a restored one. Left out: all are one. */
  session?(): number | undefined;
}

interface Noted {
  readonly id: string;
  readonly at: string;
  readonly notes: string | null;
}

/** One that documents are about. */
interface FoundParty {
  readonly row: PartyRow;
  readonly name: string;
  /** What documents call it. */
  readonly code: string;
  /** What documents called it. */
  readonly aliases: readonly string[];
}

const LETTERS: Readonly<Record<Side, string>> = { customer: "C", vendor: "V" };

/** As sources and links call it: `C-58`; a vendor is `V-77`. */
export const partyCode = (side: Side, id: string): string => `${LETTERS[side]}-${id}`;

/** QuickBooks' own id in such a code; null: the code is a name. */
function idIn({ side, id: pattern }: PartyList, code: string): string | null {
  const id = code.slice(2);
  return code === partyCode(side, id) && pattern.test(id) ? id : null;
}

/**
 * QuickBooks keeps each customer, vendor and account in one currency, and their documents in it: an amount in the company's
 * own would become the same number of another one. @param currency not the company's own; null: it is @throws Refused
 */
export function expectOwnCurrency(currency: string | null | undefined, name: string): void {
  if (!currency) return;
  throw new Refused({
    code: "other-currency",
    message: `${name} is kept in ${currency} in QuickBooks, the document is in the company's own currency`,
    next: "Name a party in the company's own currency in the cross-reference, then retry; nothing is converted.",
    field: "party",
  });
}

/** QuickBooks' record of a document's party; null: it is not there. */
export const partyOf = (payer: Entry | null | undefined): PartyRow | null =>
  (payer?.native as FoundParty | undefined)?.row ?? null;

export function partyTable(
  list: PartyList,
  surroundings: Pick<Surroundings, "now">,
): Table<"party", Pick<FoundParty, "code" | "name">, FoundParty> {
  const { side } = list;
  const marked = markedIn(list, surroundings);
  const found = (row: PartyRow, code = list.called(row), aliases: string[] = []): FoundParty => ({
    row,
    name: row.name,
    code,
    aliases,
  });

  /** What of these may be it: by its id, by the platform's id, or by its name. One of another company keeps its code. */
  function foundFor(
    { mark, number: code }: Desired<"party">,
    rows: readonly PartyRow[],
  ): FoundParty[] {
    const id = idIn(list, code);
    const names = namesOf(list, code);
    const name = names.find((one) => rows.some((row) => sameName(row.name, one))) ?? code;
    const named = (row: PartyRow): boolean => row.id === id || sameName(row.name, name);
    const those = rows.filter((row) => named(row) || platformIdIn(row.notes) === mark);
    const isSure = (row: PartyRow): boolean => row.id === id || platformIdIn(row.notes) === mark;
    const hasSure = those.some(isSure);
    return those.map((row) => {
      const own = platformIdIn(row.notes);
      // A name counts where nothing else says which one it is.
      if ((own !== null && own !== mark) || (hasSure && !isSure(row))) return found(row, code);
      return found(row, list.called(row), named(row) ? [code] : []);
    });
  }

  return {
    ...partiesOnce(["posted", "cancelled"], 1),
    write: ({ code }: Party) => ({ code, name: code }),
    facts: ({ code, name }) => partyFacts(code, name),
    read: ({ row, code, aliases }) => ({
      id: list.called(row),
      aliases,
      mark: platformIdIn(row.notes),
      number: code,
      lasting: row.id,
      status: row.active ? "posted" : "cancelled",
      version: row.version,
    }),
    tell: ({ native }) => toldParty(side, native.row),
    records: {
      async search({ desired = [], ids: lasting = [] }, { signal }) {
        if (desired.length === 0)
          return (await list.find({ ids: lasting }, signal)).map((row) => found(row));
        const codes = desired.map(({ number }) => number);
        const ids = codes.flatMap((code) => idIn(list, code) ?? []);
        const names = codes.flatMap((code) =>
          list.namesLikeIds || idIn(list, code) === null ? namesOf(list, code) : [],
        );
        const named = await list.find({ ids, names }, signal);
        const absent = desired.filter((one) => foundFor(one, named).length === 0);
        const marks = absent.map(({ mark }) => mark);
        const rows = [...named, ...(marks.length === 0 ? [] : await marked(marks, signal))];
        const each = [...new Map(rows.map((row) => [row.id, row])).values()];
        return desired.flatMap((one) => foundFor(one, each));
      },
      list: (_scope, from, signal) =>
        pagesOf(list.list(from, signal), (rows) => rows.map((row) => found(row))),
      create: ({ desired }, call) => create(list, desired.document, call),
    },
  };
}

/** Under which one of this code may have been made: the first that is there counts. */
const namesOf = ({ side, most, sameName }: PartyList, code: string): string[] =>
  sameName === "suffix" ? [code, suffixed(code, side, most)] : [code];

/** Under its code, else under the code with the suffix of its list. @throws Refused, LedgerError */
async function create(list: PartyList, party: Party, call: Call): Promise<string> {
  const { side, most } = list;
  const { code } = party;
  if (list.namesLikeIds === undefined && idIn(list, code) !== null)
    throw new Refused({
      code: "party-gone",
      message: `the ${side} ${code} (${party.name}) is not in QuickBooks any more: it was deleted or merged`,
      next: `Name the ${side} that counts now in the cross-reference, or write ${markOf(party.companyId)} into its notes in QuickBooks (QuickBooks Online keeps them of customers alone); then retry.`,
      field: "party",
    });
  const name = partyName(code, most, list.held);
  try {
    return await list.write(party, name, call);
  } catch (error) {
    if (!(error instanceof LedgerError) || error.code !== list.taken) throw error;
    // Somebody was faster.
    const [there] = await list.find({ names: [name] }, call.signal);
    if (there !== undefined) return list.called(there);
    const other = suffixed(name, side, most);
    if (list.sameName === "suffix") return await list.write(party, other, call);
    throw new Refused({
      code: "name-taken",
      message: `QuickBooks has the name ${JSON.stringify(name)} in another list, so no ${side} can have it`,
      next: `Give the company another code in the cross-reference (${other}), or rename the other one in QuickBooks; or set sameName: suffix. Then retry.`,
      field: "party",
    });
  }
}

/*
 * By the platform's id in their notes, which QuickBooks cannot be asked for (ADR 0017). In each session all of a list are
 * read once; after that, those that have changed since.
 */

/** Machines of one company file stamp by clocks of their own. */
const OVERLAP_MS = 10 * 60_000;
/** All is read again after so long: when summer time ends, stamps go back by an hour. */
const KEPT_MS = 3_600_000;

/** What is known of one list: the greatest stamp there was (empty: none), and marks by QuickBooks' ids. @param readAt by our clock, ms */
const emptyIndex = (session: number | undefined, readAt: number) => ({
  session,
  readAt,
  newest: "",
  marks: new Map<string, string | null>(),
});

/** Finds parties by their marks, as they are when they are found. */
function markedIn(list: PartyList, surroundings: Pick<Surroundings, "now">) {
  let known = emptyIndex(undefined, 0);
  return async (marks: readonly string[], signal: AbortSignal): Promise<PartyRow[]> => {
    const nowMs = surroundings.now().getTime();
    const session = list.session?.();
    const isGood =
      known.session === session &&
      known.newest !== "" &&
      Math.abs(nowMs - known.readAt) < KEPT_MS &&
      // A record that was stamped by a clock which was ahead would hide what changes now.
      Date.parse(`${known.newest}Z`) <= nowMs + AHEAD_MS;
    if (!isGood) known = emptyIndex(session, nowMs);
    const since = isGood ? stampBefore(known.newest, OVERLAP_MS) : null;
    for (const { id, at, notes } of await list.notes(since, signal)) {
      known.marks.set(id, platformIdIn(notes));
      if (at > known.newest) known.newest = at;
    }
    const ids = [...known.marks].flatMap(([id, mark]) =>
      mark !== null && marks.includes(mark) ? [id] : [],
    );
    // One that was deleted or whose notes were changed meanwhile is not it any more.
    const rows = await list.find({ ids }, signal);
    return rows.filter(({ notes }) => marks.includes(platformIdIn(notes) ?? ""));
  };
}

/* As sources tell them. */

/** Null: a job. */
export function toldParty(side: Side, row: PartyRow): Change | null {
  if (row.isJob) return null;
  const { lines = [], city = null, state = null, zip = null, country = null } = row.address ?? {};
  const region = row.address === null ? NOWHERE : regionOf(country, state);
  return partyChange(BOOKS, {
    code: partyCode(side, row.id),
    name: row.title,
    isCustomer: side === "customer",
    isSupplier: side === "vendor",
    companyId: platformIdIn(row.notes),
    email: row.email,
    phone: row.phone,
    street: some(lines.filter((line) => some(line) !== null).join("\n")),
    city,
    state: region.state,
    zip,
    country: region.country,
    active: row.active,
  });
}

/** One that was deleted, of which its id and at most a name are left: it is told as inactive. */
export const goneParty = (side: Side, id: string, name: string): Change =>
  partyChange(BOOKS, {
    code: partyCode(side, id),
    name,
    isCustomer: side === "customer",
    isSupplier: side === "vendor",
    active: false,
  });

/** QuickBooks deletes a party only by merging it into another one: the connection stays until a person looks. */
export const goneNotice = (side: Side, id: string): string =>
  `QuickBooks has ${partyCode(side, id)} no more: it was deleted, or merged into another ${side}. The platform keeps its company and connection; end the connection there if it should not be used, and correct cross-references that name ${partyCode(side, id)}.`;

/** A price is told by the name of what has it, which is gone with it. @param called `item 19` */
export const goneWithPrice = (called: string): string =>
  `QuickBooks has ${called} no more: a price of it that the platform has stays there until a person changes it.`;

const NOWHERE = { country: null, state: null };
const AMERICA = /^(?:|US|USA|U\.S\.A\.|UNITED STATES(?: OF AMERICA)?)$/;

/**
 * Country (ISO 3166-1) and state (ISO 3166-2). People write a country as they like: what is no code and not America is left
 * out, and a state without a country, too.
 */
function regionOf(
  country: string | null,
  state: string | null,
): { readonly country: string | null; readonly state: string | null } {
  const upper = country?.trim().toUpperCase() ?? "";
  const code = AMERICA.test(upper) ? "US" : /^[A-Z]{2}$/.test(upper) ? upper : null;
  const part = state?.trim().toUpperCase() ?? "";
  const isCode = code !== null && /^[A-Z]{2,3}$/.test(part);
  return { country: code, state: isCode ? `${code}-${part}` : null };
}

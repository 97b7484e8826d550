/**
 * Invoices, bills and what pays them, as both QuickBooks keep them. Creating posts: what would differ is refused before, and
 * told after. QuickBooks has one sales tax per document, and fuel has many taxes: each of them is a line of an item of its
 * own, as product and freight are. How records are asked for and written is each connector's.
 */
import type { Change, Source } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { defined } from "../../src/core/defined.ts";
import { Refused } from "../../src/core/errors.ts";
import type { Day, FactLine, Facts, Scope } from "../../src/core/holdings.ts";
import type { Fault } from "../../src/core/record.ts";
import type { InvoiceDocument, PaymentDocument } from "../../src/ledger/documents.ts";
import {
  documentFacts,
  type KeptDocument,
  type KeptPayment,
  numberTwice,
  paymentFacts,
  some,
  taxText,
} from "../../src/ledger/entries.ts";
import { platformIdIn } from "../../src/ledger/notes.ts";
import {
  type Call,
  type Capabilities,
  type Desired,
  type Entry,
  type LedgerSide,
  type PaymentOn,
  PAYMENTS,
  type RowPage,
  sideOf,
  SIDES,
} from "../../src/ledger/port.ts";
import {
  type Table,
  type Telling,
  toldInvoice,
  type Where,
  type Writing,
} from "../../src/ledger/table.ts";
import { BOOKS, partyCode, type PartyList } from "./parties.ts";
import { markedBy, type Memoed, sameName } from "./text.ts";

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

/** How one connector keeps documents of one kind. Every method @throws LedgerError, Refused */
export interface DocumentBooks<Body = never> {
  readonly can: Pick<Capabilities, "has" | "amend" | "numbered">;
  readonly taxItems: readonly string[];
  /** Whom invoices are for; of bills left out. */
  readonly customers?: PartyList;
  accept(document: InvoiceDocument): void;
  codes?(documents: readonly InvoiceDocument[], signal: AbortSignal): Promise<void>;
  write(document: InvoiceDocument): Values<Body> | Promise<Values<Body>>;
  /** Of a line, what is compared. Left out: all of it. */
  compared?(line: FactLine): FactLine;
  find(where: Where<DocumentKind>, signal: AbortSignal): Promise<DocumentRow[]>;
  list(scope: Scope, from: string | null, signal: AbortSignal): AsyncIterable<RowPage<DocumentRow>>;
  create(one: Writing<DocumentKind, Values<Body>>, call: Call): Promise<string>;
  amend(row: DocumentRow, values: Values<Body>, call: Call): Promise<unknown>;
  cancel(row: DocumentRow, call: Call): Promise<unknown>;
  changed?(telling: Telling<DocumentRow>): Source;
}

export const documentTable = <K extends DocumentKind, Body>(
  books: DocumentBooks<Body>,
): Table<K, Values<Body>, DocumentRow, void> => ({
  can: { ...books.can, byUs: "settled", atomic: 1 },
  sums: ["total"],
  accept: (document: InvoiceDocument) => books.accept(document),
  codes: async (documents: readonly InvoiceDocument[], { signal }) =>
    books.codes?.(documents, signal),
  write: (document: InvoiceDocument) => books.write(document),
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
      ...(refusal === undefined ? {} : { refusal }),
      paid: isPaid && !isVoid ? (paid.at(-1) ?? row.date) : null,
      version: row.version,
      facts: { number: id, money: { total, open } },
    };
  },
  ...(books.customers === undefined
    ? {}
    : { tell: (entry) => changeOf(books.taxItems, entry, entry.native.issued) }),
  records: {
    async search(where, { signal, purpose }) {
      const rows = await books.find(where, signal);
      const isTold = purpose === "inspection" && where.desired === undefined;
      return isTold ? withPayers(books, rows, signal) : rows;
    },
    async *list(scope, from, signal) {
      for await (const { rows, position } of books.list(scope, from, signal))
        yield { rows: await withPayers(books, rows, signal), position };
    },
    create: (one, call) => books.create(one, call),
    async apply(to, { entry, values }, call) {
      if (to === "amended" && values !== null) await books.amend(entry.native, values, call);
      if (to === "cancelled") await books.cancel(entry.native, call);
    },
    ...(books.changed === undefined
      ? {}
      : { changed: (telling) => books.changed?.(telling) as Source }),
  },
});

/** Customer invoices, and as a source of what was paid tells them: by their ids, void or of another shape as they may be. */
export const invoiceTables = <Body>(
  books: DocumentBooks<Body>,
  changed: (faults: boolean) => NonNullable<DocumentBooks["changed"]>,
) => ({
  invoice: documentTable<"invoice", Body>({ ...books, changed: changed(true) }),
  paidInvoice: {
    ...documentTable<"invoice", Body>({ ...books, changed: changed(false) }),
    tell: (entry: Entry<DocumentRow>) => changeOf(books.taxItems, entry, entry.native.id),
  },
});

const marksOf = (desired: readonly Desired[]): string[] => desired.map(({ mark }) => mark);

/** With the customer who is billed: of a job (`Acme:Yard 3`), its customer. @throws LedgerError */
export async function withPayers(
  { customers }: Pick<DocumentBooks, "customers">,
  rows: readonly DocumentRow[],
  signal: AbortSignal,
): Promise<DocumentRow[]> {
  if (customers === undefined) return [...rows];
  const topOf = ({ party }: DocumentRow): string | null => /^(.+?):/.exec(party ?? "")?.[1] ?? null;
  const ids = rows.flatMap((row) => (topOf(row) === null ? (row.partyId ?? []) : []));
  const names = rows.flatMap((row) => topOf(row) ?? []);
  const found = await customers.find({ ids, names }, signal);
  return rows.map((row) => {
    const top = topOf(row);
    const payer = found.find(({ id, name }) =>
      top === null ? id === row.partyId : sameName(name, top),
    );
    if (payer === undefined) return row;
    const code = partyCode("customer", payer.id);
    return { ...row, payer: { code, companyId: platformIdIn(payer.notes) } };
  });
}

/**
 * With what is wrong with those that people made: QuickBooks takes a number twice, and knows lines that we do not.
 * @param others invoices that are not void and have one of these numbers
 */
export async function withFaults(
  rows: readonly DocumentRow[],
  others: (numbers: readonly string[]) => Promise<readonly Pick<DocumentRow, "id" | "number">[]>,
): Promise<DocumentRow[]> {
  const made = rows.filter((row) => !row.isVoid && markedBy(row).mark === null);
  const numbers = [...new Set(made.flatMap(({ number }) => number ?? []))];
  const all = numbers.length === 0 ? [] : await others(numbers);
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
  const tax = Decimal.sum(taxes.map(({ amount }) => amount));
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
  readonly isVoid: boolean;
  /** The platform's id of it, by these external ids where its memo does not say. */
  readonly markIn: (desired: readonly string[]) => string | null;
}

/** What payments of one side are looked for by; each may name none. */
interface PaymentNames {
  readonly ids: readonly string[];
  /** QuickBooks' ids of documents that they pay. */
  readonly documents: readonly string[];
  /** The numbers of these. */
  readonly numbers: readonly string[];
  readonly days: readonly Day[];
}

/** How one connector keeps payments. Every method @throws LedgerError, Refused */
interface PaymentBooks {
  /** What QuickBooks keeps of its texts. */
  write(document: PaymentDocument): Pick<KeptPayment, "text"> & { readonly check: string | null };
  find(side: LedgerSide, names: PaymentNames, signal: AbortSignal): Promise<PaymentRow[]>;
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
  read: ({ id, party, isVoid, version, markIn }, desired) => ({
    id,
    mark: markIn(marksOf(desired)),
    party,
    status: isVoid ? "cancelled" : "posted",
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
        const names = {
          ids: days.length === 0 ? bound : [],
          documents: documents.length === 0 ? [] : [...new Set(paid)],
          numbers,
          days: [...new Set(those.map(({ document }) => document.date))].filter((day) =>
            days.includes(day),
          ),
        };
        if (Object.values(names).some((some_) => some_.length > 0))
          found.push(...(await books.find(side, names, signal)));
      }
      return found;
    },
    // Nothing of a payment stays open.
    list: (scope, from, signal) => books.list({ ...scope, open: false }, from, signal),
    create: ({ desired: { document, on } }, call) =>
      books.create(document, (on as Entry<DocumentRow>).native, call),
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
      throw notHeld(`line ${at + 1} comes to ${amount.plain()}, which is not whole cents`);
    if (quantity !== null && !quantity.round(DIGITS).equals(quantity))
      throw notHeld(
        `line ${at + 1} has the quantity ${quantity.plain()}: more than ${DIGITS} digits`,
      );
  }
  const sum = Decimal.sum(lines.map(({ amount }) => amount));
  if (!sum.equals(document.total))
    throw notHeld(
      `its lines and taxes come to ${sum.plain()}, its total is ${document.total.plain()}`,
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
    next: "Correct the document where it comes from, then retry; or an accountant enters it by hand and resolves it here.",
    field: "lines",
  });

/** Invoices, bills and what pays them. QuickBooks has no drafts here: what is created is posted. */
import type { Change } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import type { Day, FactLine } from "../../src/core/holdings.ts";
import type { InvoiceDocument, PaymentDocument } from "../../src/ledger/documents.ts";
import { platformIdIn } from "../../src/ledger/notes.ts";
import { type Desired, type Entry, type PaymentOn, PAYMENTS } from "../../src/ledger/port.ts";
import type { Table, Writing } from "../../src/ledger/table.ts";
import { invoiceChange, itemLines } from "../quickbooks/lines.ts";
import { ascii, documentNumber, REF_NUMBER_MOST } from "../quickbooks/text.ts";
import type { DesktopConfig } from "./config.ts";
import { partyCode, partyRef } from "./parties.ts";
import type { Element, Values } from "./qbxml.ts";
import {
  type Asked,
  byListId,
  byTxnId,
  desktopMemo,
  documentsIn,
  guidOf,
  heldNumber,
  heldOf,
  heldText,
  markedBy,
  marksOf,
  memoText,
  named,
  numbered,
  ofDays,
  once,
  type Reading,
  recordsOf,
  voided,
  written,
} from "./records.ts";

type Kind = "invoice" | "bill";
const KINDS = ["invoice", "bill"] as const;

/** As QuickBooks calls both, and what pays them. */
const TABLES = {
  invoice: {
    table: "Invoice",
    partyRef: "CustomerRef",
    accountRef: "ARAccountRef",
    most: REF_NUMBER_MOST.invoice,
    untaxed: "Subtotal",
    open: "BalanceRemaining",
    // In the order in which they are told.
    lines: [/^InvoiceLine(?:Group)?Ret$/],
    payment: {
      table: "ReceivePayment",
      partyRef: "CustomerRef",
      amount: "TotalAmount",
      most: REF_NUMBER_MOST.receivePayment,
    },
  },
  bill: {
    table: "Bill",
    partyRef: "VendorRef",
    accountRef: "APAccountRef",
    most: REF_NUMBER_MOST.bill,
    untaxed: "AmountDue",
    open: "OpenAmount",
    lines: [/^Item(?:Group)?LineRet$/, /^ExpenseLineRet$/],
    payment: {
      table: "BillPaymentCheck",
      partyRef: "PayeeEntityRef",
      amount: "Amount",
      most: REF_NUMBER_MOST.billPayment,
    },
  },
} as const;

const ORDER_MOST = 25;
const TEXT_MOST = 1_000;
const LINE_MOST = 4_095;

/** An invoice or a bill as QuickBooks keeps it. */
interface Kept {
  readonly date: Day;
  readonly due: Day | null;
  readonly reference: string | null;
  /** Of invoices. */
  readonly order: string | null;
  /** Each amount once. */
  readonly lines: readonly FactLine[];
}

/** One that is there, with the payments that are linked with it. */
export interface InvoiceRow extends Kept {
  readonly row: Element;
  readonly payments: readonly (PaymentOn & { readonly date: string })[];
  readonly salesTax: Decimal;
  readonly total: Decimal;
  readonly open: Decimal;
  /** The customer who is billed, where it is told; null: it is not known. */
  readonly payer: Payer | null;
}

type InvoiceConfig = Pick<
  DesktopConfig,
  "chargeItem" | "taxCode" | "taxItems" | "receivableAccount" | "payableAccount" | "class"
>;

/** @param isTold whether each invoice says what a source tells of it */
export function invoiceTable<K extends Kind>(
  wire: Asked,
  config: InvoiceConfig,
  currency: string,
  kind: K,
  isTold = false,
): Table<K, Kept, InvoiceRow> {
  const { table, partyRef: party, most } = TABLES[kind];
  const isSale = kind === "invoice";
  const documents = documentsIn(wire, [table]);
  const rowsOf = async (rows: readonly Element[], signal: AbortSignal): Promise<InvoiceRow[]> => {
    const all = await invoiceRows(wire, kind, rows, signal);
    return isTold ? await withPayers(wire, all, signal) : all;
  };
  return {
    can: {
      has: ["posted", "settled", "cancelled"],
      byUs: "settled",
      amend: { "days.due": "posted", ...(isSale ? { order: "posted" } : {}) },
      atomic: 1,
      numbered: "per-party",
    },
    sums: ["total"],
    dayOf: (document: InvoiceDocument) => document.invoiceDate,
    accept(document: InvoiceDocument) {
      if (document.total.sign === 0 && document.status !== "void") throw ofNothing(kind);
      itemLines(document, config.chargeItem);
    },
    write: (document: InvoiceDocument) => ({
      date: document.invoiceDate,
      due: document.dueDate ?? document.invoiceDate,
      reference: ascii(document.number),
      order: heldText(document.description, ORDER_MOST),
      lines: itemLines(document, config.chargeItem).map(
        ({ item: product, rate: unitPrice, quantity, amount, text }) => ({
          product,
          quantity,
          unit: null,
          unitPrice,
          amount,
          text: heldText(text, LINE_MOST),
        }),
      ),
    }),
    facts: ({ date, due, reference, order, lines }) => ({
      days: { date, due },
      words: { reference, ...(isSale ? { order } : {}) },
      // Quantities and amounts say it: QuickBooks keeps five digits of a price.
      lines: lines.map((line) => ({ ...line, unit: null, unitPrice: null })),
    }),
    read({ row, date, total, open, lines, payments }, desired) {
      const id = row.needed("TxnID");
      const isVoid = total.sign === 0 && lines.every(({ amount }) => amount.sign === 0);
      const isPaid = row.yes("IsPaid") ?? open.sign === 0;
      const [lastPaid = date] = payments
        .map((one) => one.date)
        .toSorted()
        .toReversed();
      const { mark, number } = markedBy(row, marksOf(desired));
      return {
        id,
        mark,
        number,
        party: partyOf(row.ref(party).name, desired),
        status: isVoid ? "cancelled" : isPaid ? "settled" : "posted",
        payments,
        paid: isPaid && !isVoid ? lastPaid : null,
        version: row.text("EditSequence"),
        facts: { number: id, money: { total, open } },
      };
    },
    ...(isTold
      ? { tell: (entry) => toldInvoice(config, currency, entry, issuedNumber(entry)) }
      : {}),
    records: {
      async search({ ids = [], numbers = [], days = [] }, { signal }) {
        const asked = [...numbered(numbers, most), ...byTxnId(ids), ...ofDays(days)];
        return rowsOf(await documents.find(asked, signal), signal);
      },
      async *list(scope, from, signal) {
        for await (const { rets, position } of documents.list(scope, from, signal))
          yield { rows: await rowsOf(rets, signal), position };
      },
      async create([one], { signal }) {
        if (one === undefined) return [];
        const content = addOf(config, kind, one);
        return [(await written(wire, `${table}Add`, content, signal)).needed("TxnID")];
      },
      async apply(to, [step], { signal }) {
        if (step === undefined) return;
        const { row } = step.entry.native;
        if (to === "cancelled") await voided(wire, table, row, signal);
        if (to !== "amended" || step.values === null) return;
        const { due: DueDate, order: PONumber } = step.values;
        const values = { ...heldOf(row), DueDate, ...(isSale ? { PONumber } : {}) };
        await written(wire, `${table}Mod`, values, signal);
      },
    },
  };
}

/** QuickBooks shows a void document as one of 0.00: it could not be told from a document that never had an amount. */
const ofNothing = (kind: Kind): Refused =>
  new Refused({
    code: "not-held",
    message: `QuickBooks cannot keep this ${kind}: it comes to 0.00, which in QuickBooks means void`,
    next: "Nothing is to be paid on it: resolve it here with a note; or correct it where it comes from, then retry.",
    field: "total",
  });

function addOf(
  config: InvoiceConfig,
  kind: Kind,
  { desired, values }: Writing<Kind, Kept>,
): Values {
  const { partyRef: party, accountRef, most } = TABLES[kind];
  const { document, mark, number } = desired;
  const ClassRef = named(config.class);
  const lines = values.lines.map(({ product, text, quantity, unitPrice, amount }) => ({
    ItemRef: { FullName: product },
    Desc: text,
    Quantity: quantity,
    [kind === "invoice" ? "Rate" : "Cost"]: unitPrice,
    Amount: amount,
    ...(kind === "invoice" ? { SalesTaxCodeRef: named(config.taxCode) } : { ClassRef }),
  }));
  return {
    [party]: partyRef(desired),
    [accountRef]: named(kind === "invoice" ? config.receivableAccount : config.payableAccount),
    TxnDate: values.date,
    DueDate: values.due,
    RefNumber: documentNumber(number, number, most),
    Memo: desktopMemo({ number, mark, text: document.description }),
    ExternalGUID: guidOf(mark),
    ...(kind === "bill"
      ? { ItemLineAdd: lines }
      : {
          ClassRef,
          PONumber: values.order,
          IsToBePrinted: false,
          IsToBeEmailed: false,
          InvoiceLineAdd: lines,
        }),
  };
}

/** QuickBooks names without regard to case; the comparison is by letters. */
const partyOf = (name: string | null, desired: readonly Desired[]): string | null =>
  desired.find(({ party }) => party !== null && party.toLowerCase() === name?.toLowerCase())
    ?.party ?? name;

/** Payments are told by their own memos: a link has only their ids. @throws LedgerError */
async function invoiceRows(
  wire: Asked,
  kind: Kind,
  rows: readonly Element[],
  signal: AbortSignal,
): Promise<InvoiceRow[]> {
  const { untaxed, open, most, payment } = TABLES[kind];
  const paying = await paymentsBy(wire, kind, linkedIn(rows, payment.table), signal);
  const all = await linesOf(wire, kind, rows, signal);
  return rows.map((row) => {
    const lines = all.get(row) ?? [];
    const salesTax = kind === "bill" ? Decimal.zero : row.amount("SalesTaxTotal");
    const total = (row.decimal(untaxed) ?? sumOf(lines)).plus(salesTax);
    const payments = row
      .all("LinkedTxn")
      // An order or a receipt that it came of is linked by quantity, and pays nothing of it.
      .filter((one) => one.text("LinkType") !== "QUANTYPE")
      .filter((one) => !CAME_OF.has(one.text("TxnType") ?? ""))
      .flatMap((one) => settlingIn(row, one, paying));
    // Of a bill that is paid QuickBooks need not say what is open.
    const isPaidBill = kind === "bill" && row.yes("IsPaid") === true;
    const left = isPaidBill ? Decimal.zero : row.decimal(open);
    return {
      row,
      date: row.needed("TxnDate").slice(0, 10),
      due: row.day("DueDate"),
      reference: heldNumber(row, most),
      order: row.text("PONumber"),
      lines,
      payments,
      salesTax,
      total,
      open: left ?? total.minus(Decimal.sum(payments.map(({ amount }) => amount))),
      payer: null,
    };
  });
}

/** QuickBooks need not say how it is linked. */
const CAME_OF: ReadonlySet<string> = new Set([
  "Estimate",
  "SalesOrder",
  "PurchaseOrder",
  "ItemReceipt",
]);

/** What moves money; a link that does not say what it is counts as a payment. */
const MONEY: ReadonlySet<string | null> = new Set([
  null,
  "ReceivePayment",
  "BillPaymentCheck",
  "BillPaymentCreditCard",
  "Check",
  "CreditCardCharge",
  "Deposit",
]);

/** A discount that was granted with a payment is no money: whether its link includes it is not documented. */
function settlingIn(
  row: Element,
  link: Element,
  paying: ReadonlyMap<string, Element>,
): InvoiceRow["payments"][number][] {
  const id = link.needed("TxnID");
  const type = link.text("TxnType");
  const amount = link.amount("Amount").abs();
  const date = link.day("TxnDate") ?? "";
  if (amount.sign === 0) return [];
  if (!MONEY.has(type)) {
    const number = link.text("RefNumber") ?? id;
    const called = (type ?? "").replaceAll(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();
    return [{ id, mark: null, amount, date, instead: `${called} ${number}` }];
  }
  const payment = paying.get(id);
  const mark = payment === undefined ? null : markedBy(payment).mark;
  const applied = payment
    ?.all("AppliedToTxnRet")
    .find((one) => one.needed("TxnID") === row.needed("TxnID"));
  const discount = applied?.amount("DiscountAmount").abs() ?? Decimal.zero;
  if (applied === undefined || discount.sign === 0) return [{ id, mark, amount, date }];
  const money = applied.amount("Amount").abs();
  return [
    { id, mark, amount: amount.compare(money) <= 0 ? amount : money, date },
    { id, mark: null, amount: discount, date, instead: `discount in payment ${id}` },
  ];
}

/** Payments by their ids. @throws LedgerError */
async function paymentsBy(
  wire: Reading,
  kind: Kind,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Element>> {
  const rows = await paymentsOf(wire, kind).find(byTxnId(ids), signal);
  return new Map(rows.map((row) => [row.needed("TxnID"), row]));
}

const paymentsOf = (wire: Reading, ...kinds: readonly Kind[]) =>
  documentsIn(
    wire,
    kinds.map((kind) => TABLES[kind].payment.table),
    { IncludeLineItems: true },
  );

/** The ids of what is linked with these records, of one type. */
const linkedIn = (rows: readonly Element[], type: string): string[] => {
  const links = rows.flatMap((row) => row.all("LinkedTxn"));
  const own = links.filter((one) => one.text("TxnType") === type);
  return [...new Set(own.map((one) => one.needed("TxnID")))];
};

/*
 * Lines of invoices and bills, whoever entered them: each amount once. A group is its lines; a line of text has no amount;
 * a line of a subtotal item repeats those above it. Which items those are is asked only where lines do not add up.
 */

interface Line extends FactLine {
  /** The ListID of its item; null: it has none. */
  readonly item: string | null;
}

/**
 * Of each document its lines with amounts. They may not add up to what it says it comes to: nobody knows which of them
 * count. @throws LedgerError
 */
async function linesOf(
  wire: Reading,
  kind: Kind,
  rows: readonly Element[],
  signal: AbortSignal,
): Promise<ReadonlyMap<Element, readonly FactLine[]>> {
  const all = new Map(rows.map((row) => [row, linesIn(kind, row)] as const));
  const off = [...all].filter(
    ([row, lines]) => row.decimal(TABLES[kind].untaxed)?.equals(sumOf(lines)) === false,
  );
  const ids = new Set(off.flatMap(([, lines]) => lines.flatMap(({ item }) => item ?? [])));
  // No line says of what kind its item is.
  const more = { IncludeRetElement: ["ListID"] };
  const items = await byListId(wire, "ItemQuery", [...ids], signal, more);
  const subtotals = new Set(
    items.filter(({ name }) => name === "ItemSubtotalRet").map((one) => one.needed("ListID")),
  );
  for (const [row, lines] of off)
    all.set(
      row,
      lines.filter(({ item }) => item === null || !subtotals.has(item)),
    );
  return all;
}

const sumOf = (lines: readonly Pick<FactLine, "amount">[]): Decimal =>
  Decimal.sum(lines.map(({ amount }) => amount));

const linesIn = (kind: Kind, row: Element): Line[] =>
  TABLES[kind].lines.flatMap((names) =>
    row.below
      .filter(({ name }) => names.test(name))
      .flatMap((one) => {
        if (!one.name.includes("Group")) return lineIn(one, "Amount");
        const own = linesIn(kind, one);
        // Itself where QuickBooks tells none of its lines.
        return own.length > 0 ? own : lineIn(one, "TotalAmount");
      }),
  );

function lineIn(line: Element, amountName: "Amount" | "TotalAmount"): Line[] {
  const amount = line.decimal(amountName);
  const { id, name } = line.ref("ItemRef");
  const product = name ?? line.ref("AccountRef").name ?? line.ref("ItemGroupRef").name;
  if (amount === null || (amount.sign === 0 && product === null)) return [];
  return [
    {
      item: id,
      product,
      quantity: line.decimal("Quantity"),
      unit: line.text("UnitOfMeasure"),
      unitPrice: line.decimal("Rate"),
      amount,
      text: line.text("Desc") ?? line.text("Memo"),
    },
  ];
}

/* Customer invoices as sources tell them, with what was paid on them. A job's invoice is its customer's. */

/** Under a number of the caller's. */
export function toldInvoice(
  { taxItems }: Pick<DesktopConfig, "taxItems">,
  currency: string,
  entry: Entry<InvoiceRow>,
  number: string,
): Change {
  const { row, payer, date, lines, salesTax, total, open, due, order } = entry.native;
  // The name of the invoice's currency where it is not the company's own, whose rate is 1.
  const isForeign = row.decimal("ExchangeRate")?.equals(Decimal.of("1")) === false;
  return invoiceChange(entry, {
    id: row.needed("TxnID"),
    number,
    ...(row.yes("IsPending") === true ? { state: "draft" as const } : {}),
    facts: {
      party: payer?.code ?? row.ref("CustomerRef").name,
      days: { date },
      words: {
        currency: (isForeign ? row.ref("CurrencyRef").name : null) ?? currency,
        reference: order,
        order: memoText(row),
      },
    },
    lines,
    taxItems,
    salesTax,
    total,
    open,
    dueDate: due,
    partyCompanyId: payer?.companyId ?? null,
  });
}

/** What people know it by; of one that is void, or has no number, its id. */
export const issuedNumber = ({ id, status, native: { row } }: Entry<InvoiceRow>): string =>
  (status === "cancelled" ? id : row.text("RefNumber")) ?? row.needed("TxnID");

interface Payer {
  readonly code: string;
  /** The platform's id of the company; null: its notes name none. */
  readonly companyId: string | null;
}

/** The customer who is billed, of a job too. @throws LedgerError */
async function withPayers(
  wire: Reading,
  rows: readonly InvoiceRow[],
  signal: AbortSignal,
): Promise<InvoiceRow[]> {
  const refs = rows.map(({ row }) => row.ref("CustomerRef"));
  const isJob = ({ name }: (typeof refs)[number]): boolean => name?.includes(":") === true;
  const top = ({ name }: (typeof refs)[number]): string => (name ?? "").split(":")[0] ?? "";
  const ask = async (name: "ListID" | "FullName", all: readonly string[]): Promise<Element[]> => {
    const IncludeRetElement = ["ListID", "Name", "FullName", "Notes"];
    const values = { [name]: [...new Set(all)], IncludeRetElement };
    return all.length === 0
      ? []
      : await recordsOf(wire, [{ name: "CustomerQuery", values }], signal);
  };
  const own = refs.filter((ref) => !isJob(ref)).flatMap(({ id }) => id ?? []);
  const customers = await ask("ListID", own);
  const parents = await ask(
    "FullName",
    refs.filter((ref) => ref.id !== null && isJob(ref)).map(top),
  );
  return rows.map((row, at) => {
    const ref = refs[at];
    if (ref === undefined || ref.id === null) return row;
    const found = isJob(ref)
      ? parents.find((one) => one.text("FullName")?.toLowerCase() === top(ref).toLowerCase())
      : customers.find((one) => one.needed("ListID") === ref.id);
    if (found === undefined) return row;
    const code = partyCode("customer", found.needed("ListID"));
    return { ...row, payer: { code, companyId: platformIdIn(found.text("Notes")) } };
  });
}

/* Payments: what customers pay (`ReceivePayment`), and what we pay (`BillPaymentCheck`). */

interface Payment {
  readonly pays: Kind;
  readonly date: Day;
  readonly amount: Decimal;
  /** The TxnID of what it pays; null: of nothing, or of several. */
  readonly document: string | null;
  readonly text: string | null;
  /** Undefined: whatever QuickBooks has. */
  readonly check: string | null | undefined;
}
interface PaymentRow extends Payment {
  readonly row: Element;
}

type PaymentConfig = Pick<DesktopConfig, "bankAccount" | "depositAccount" | "paymentMethod">;

const paidKind = ({ type }: PaymentDocument): Kind => (type === "out" ? "invoice" : "bill");

/** It is found again by what it pays, its day, and its mark in the memo: a clerk may have moved it to another invoice. */
export const paymentTable = (
  wire: Asked,
  config: PaymentConfig,
): Table<"payment", Payment, PaymentRow> => ({
  ...PAYMENTS,
  dayOf: (document: PaymentDocument) => document.date,
  write: (document: PaymentDocument) => ({
    pays: paidKind(document),
    date: document.date,
    amount: document.amount,
    document: document.invoice,
    text: heldText(document.description, TEXT_MOST),
    check: checkOf(document) ?? undefined,
  }),
  facts: ({ pays, date, amount, document, text, check }) => ({
    days: { date },
    money: { amount },
    words: {
      side: pays === "invoice" ? "sale" : "purchase",
      document,
      reference: text,
      ...(check === undefined ? {} : { check }),
    },
  }),
  read({ row, pays, amount }, desired) {
    const id = row.needed("TxnID");
    return {
      id,
      mark: markedBy(row, marksOf(desired)).mark,
      party: row.ref(TABLES[pays].payment.partyRef).name,
      status: amount.sign === 0 ? "cancelled" : "posted",
      version: row.text("EditSequence"),
      facts: { number: id },
    };
  },
  records: {
    async search({ ids = [], documents = [], numbers = [], days = [], desired }, { signal }) {
      const those = (kind: Kind): readonly Desired<"payment">[] =>
        desired?.filter(({ document }) => paidKind(document) === kind) ?? [];
      const paid = KINDS.flatMap((kind) => {
        const { table, most } = TABLES[kind];
        const TxnID = new Set(those(kind).map(({ document }) => document.invoice));
        const asked: Values[] = [
          ...(documents.length === 0 ? [] : byTxnId([...TxnID])),
          ...(numbers.length === 0
            ? []
            : [{ RefNumberCaseSensitive: numbers.map((one) => documentNumber(one, one, most)) }]),
        ];
        return documentsIn(wire, [table], { IncludeLinkedTxns: true }).queries(asked);
      });
      const linked = await recordsOf(wire, paid, signal);
      const queries = KINDS.flatMap((kind) => {
        const own =
          desired === undefined ? ids : those(kind).flatMap(({ binding }) => binding ?? []);
        const bound = days.length === 0 ? own : [];
        const pays = linkedIn(linked, TABLES[kind].payment.table);
        const dated = those(kind).flatMap(({ document }) => document.date);
        return paymentsOf(wire, kind).queries([
          ...byTxnId([...new Set([...bound, ...pays])]),
          ...ofDays(days.filter((day) => dated.includes(day))),
        ]);
      });
      return once(await recordsOf(wire, queries, signal)).map(paymentRow);
    },
    async *list(scope, from, signal) {
      const paid = { ...scope, open: false };
      for await (const { rets, position } of paymentsOf(wire, ...KINDS).list(paid, from, signal))
        yield { rows: rets.map(paymentRow), position };
    },
    async create([one], { signal }) {
      if (one === undefined) return [];
      const name = `${TABLES[one.values.pays].payment.table}Add`;
      return [(await written(wire, name, paymentAdd(config, one), signal)).needed("TxnID")];
    },
  },
});

function paymentRow(row: Element): PaymentRow {
  const pays = row.name === `${TABLES.bill.payment.table}Ret` ? "bill" : "invoice";
  const [on, another] = row.all("AppliedToTxnRet");
  return {
    row,
    pays,
    date: row.needed("TxnDate").slice(0, 10),
    amount: row.amount(TABLES[pays].payment.amount),
    document: on === undefined || another !== undefined ? null : on.needed("TxnID"),
    text: markedBy(row).text,
    check: row.text("RefNumber"),
  };
}

/** The payer's own number, where QuickBooks holds it whole: a number that is cut is another check's. */
function checkOf(document: PaymentDocument): string | null {
  const { most } = TABLES[paidKind(document)].payment;
  const number = heldText(document.reference ?? null, most + 1);
  return number === null || number.length > most ? null : number;
}

function paymentAdd(
  config: PaymentConfig,
  { desired: { document, mark, on }, values }: Writing<"payment", Payment>,
): Values {
  const { number, description, amount, date, invoice } = document;
  const { accountRef, partyRef: party, payment } = TABLES[values.pays];
  const row = (on?.native as InvoiceRow | undefined)?.row;
  const [who, account] = [row?.ref(party), row?.ref(accountRef)];
  const RefNumber = values.check ?? null;
  return {
    [payment.partyRef]: who?.id ? { ListID: who.id } : { FullName: who?.name },
    // Both sides of what is owed are on one account.
    [accountRef]: account?.id ? { ListID: account.id } : null,
    TxnDate: date,
    RefNumber,
    Memo: desktopMemo({ number, mark, text: description.slice(0, TEXT_MOST) }),
    ExternalGUID: guidOf(mark),
    AppliedToTxnAdd: [{ TxnID: invoice, PaymentAmount: amount }],
    ...(values.pays === "bill"
      ? {
          BankAccountRef: named(config.bankAccount),
          IsToBePrinted: RefNumber === null ? false : null,
        }
      : {
          TotalAmount: amount,
          PaymentMethodRef: named(config.paymentMethod),
          DepositToAccountRef: named(config.depositAccount),
        }),
  };
}

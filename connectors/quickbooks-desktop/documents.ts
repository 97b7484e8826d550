/** Invoices, bills and what pays them in QuickBooks Desktop. It has no drafts here: what is created is posted. */
import { amountOf, Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import type { FactLine } from "../../src/core/holdings.ts";
import type { InvoiceDocument, PaymentDocument } from "../../src/ledger/documents.ts";
import { type KeptDocument, orderParts, orderText } from "../../src/ledger/entries.ts";
import { type LedgerSide, sideOf, SIDES } from "../../src/ledger/port.ts";
import { pagesOf } from "../../src/ledger/stamps.ts";
import type { Writing } from "../../src/ledger/table.ts";
import type { Element } from "../quickbooks/element.ts";
import {
  type DocumentBooks,
  type DocumentKind,
  type DocumentRow,
  itemLines,
  type PartyList,
  type PaymentBooks,
  type PaymentRow,
  topOf,
} from "../quickbooks/documents.ts";
import { ascii, guidOf, markedBy, whole } from "../quickbooks/text.ts";
import type { DesktopConfig } from "./config.ts";
import { partyRef } from "./sources.ts";
import { numberMost, type Values } from "./qbxml.ts";
import {
  desktopMemo,
  type DocumentNames,
  heldNumber,
  heldOf,
  heldText,
  memoed,
  memoText,
  named,
  numberIn,
  type Records,
} from "./wire.ts";

/** As QuickBooks calls what we sell and what we buy, and what pays both. */
const TABLES = {
  sale: {
    table: "Invoice",
    partyRef: "CustomerRef",
    accountRef: "ARAccountRef",
    untaxed: "Subtotal",
    open: "BalanceRemaining",
    // In the order in which they are told.
    lines: [/^InvoiceLine(?:Group)?Ret$/],
    payment: {
      table: "ReceivePayment",
      partyRef: "CustomerRef",
      amount: "TotalAmount",
    },
  },
  purchase: {
    table: "Bill",
    partyRef: "VendorRef",
    accountRef: "APAccountRef",
    untaxed: "AmountDue",
    open: "OpenAmount",
    lines: [/^Item(?:Group)?LineRet$/, /^ExpenseLineRet$/],
    payment: {
      table: "BillPaymentCheck",
      partyRef: "PayeeEntityRef",
      amount: "Amount",
    },
  },
} as const;

const ORDER_MOST = 25;
const SHIP_TO_MOST = 41;
const TEXT_MOST = 1_000;
const LINE_MOST = 4_095;

/** A sale has a field for the PO number. */
const orderOf = (document: InvoiceDocument) =>
  orderParts(document, (poNumber) => heldText(poNumber, ORDER_MOST));

/** As the tables of both QuickBooks take them. @param customers of invoices: whom sources tell */
export function documentBooks(
  records: Records,
  config: DesktopConfig,
  side: LedgerSide,
  customers?: PartyList,
): DocumentBooks {
  const { table } = TABLES[side];
  const isSale = side === "sale";
  const documents = records.documents([table]);
  const rowsOf = documentRows(records, side);
  return {
    can: {
      has: ["posted", "settled", "cancelled"],
      amend: { "days.due": "posted", ...(isSale ? { order: "posted" } : {}) },
      numbered: "per-party",
    },
    taxItems: config.taxItems,
    ...(customers === undefined ? {} : { customers }),
    accept(document) {
      // QuickBooks shows a void document as one of 0.00: it could not be told from one that never had an amount.
      if (document.total.sign === 0 && document.status !== "void")
        throw new Refused({
          code: "not-held",
          message: `QuickBooks cannot keep this ${isSale ? "invoice" : "bill"}: it comes to 0.00, which in QuickBooks means void`,
          next: "Nothing is to be paid on it: close it here with a note; or correct it where it comes from, then retry.",
          field: "total",
        });
      itemLines(document, config.chargeItem);
    },
    write: (document) => ({
      date: document.invoiceDate,
      due: document.dueDate ?? document.invoiceDate,
      reference: ascii(document.number),
      ...(isSale ? { order: orderOf(document).field } : {}),
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
    // Quantities and amounts say it: QuickBooks keeps five digits of a price.
    compared: (line) => ({ ...line, unit: null, unitPrice: null }),
    records: {
      search: async ({ ids = [], numbers = [], days = [] }, { signal }) =>
        rowsOf(await documents.find({ ids, numbers, days }, signal), signal),
      list: (scope, from, signal) =>
        pagesOf(documents.list(scope, from, signal), (rows) => rowsOf(rows, signal)),
      async create(one, { signal }) {
        const content = addOf(config, side, one);
        return (await records.write(`${table}Add`, content, signal)).needed("TxnID");
      },
      async apply(to, { entry: { native: row }, values }, { signal }) {
        if (to === "cancelled") await records.cancel(table, row, signal);
        if (values === null) return;
        // An empty element takes away what is there; one that is left out leaves it.
        const order = values.order ?? (row.order ? "" : null);
        const changes = { DueDate: values.due, ...(isSale ? { PONumber: order } : {}) };
        await records.write(`${table}Mod`, { ...heldOf(row), ...changes }, signal);
      },
    },
  };
}

function addOf(
  config: DesktopConfig,
  side: LedgerSide,
  { desired, values }: Writing<DocumentKind, KeptDocument>,
): Values {
  const { table, partyRef: party, accountRef } = TABLES[side];
  const { document, mark, number } = desired;
  const isSale = side === "sale";
  const ClassRef = named(config.class);
  const shipTo = heldText(document.shipTo ?? null, SHIP_TO_MOST);
  const lines = values.lines.map(({ product, text, quantity, unitPrice, amount }) => ({
    ItemRef: { FullName: product },
    Desc: text,
    Quantity: quantity,
    [isSale ? "Rate" : "Cost"]: unitPrice,
    Amount: amount,
    ...(isSale ? { SalesTaxCodeRef: named(config.taxCode) } : { ClassRef }),
  }));
  const sold = {
    ClassRef,
    ShipAddress: shipTo === null ? null : { Addr1: shipTo },
    PONumber: values.order,
    IsToBePrinted: false,
    IsToBeEmailed: false,
    InvoiceLineAdd: lines,
  };
  return {
    [party]: partyRef(desired),
    [accountRef]: named(isSale ? config.receivableAccount : config.payableAccount),
    TxnDate: values.date,
    DueDate: values.due,
    RefNumber: numberIn(table, number),
    Memo: desktopMemo({
      number,
      mark,
      text: isSale ? orderOf(document).rest : orderText(document),
    }),
    ExternalGUID: guidOf(mark),
    ...(isSale ? sold : { ItemLineAdd: lines }),
  };
}

/** How documents of a side are read. Both @throws LedgerError */
function documentRows(records: Records, side: LedgerSide) {
  /**
   * Of each document its lines with amounts. They may not add up to what it says it comes to: nobody knows which of them
   * count. @throws LedgerError
   */
  async function linesOf(rows: readonly Element[], signal: AbortSignal) {
    const all = new Map(rows.map((row) => [row, linesIn(side, row)] as const));
    const off = [...all].filter(
      ([row, lines]) => row.decimal(TABLES[side].untaxed)?.equals(amountOf(lines)) === false,
    );
    const ids = new Set(off.flatMap(([, lines]) => lines.flatMap(({ item }) => item ?? [])));
    // No line says of what kind its item is.
    const more = { IncludeRetElement: ["ListID"] };
    const items = await records.byListId("ItemQuery", [...ids], signal, more);
    const subtotals = new Set<string | null>(
      items.filter(({ name }) => name === "ItemSubtotalRet").map((one) => one.needed("ListID")),
    );
    for (const [row, lines] of off)
      all.set(
        row,
        lines.filter(({ item }) => !subtotals.has(item)),
      );
    return all;
  }

  /** Payments are told by their own memos: a link has only their ids. */
  return async (rows: readonly Element[], signal: AbortSignal): Promise<DocumentRow[]> => {
    const { untaxed, open: openName, partyRef: party, accountRef, payment } = TABLES[side];
    const ids = linkedIn(rows, payment.table);
    const found = await paymentsOf(records, side).find({ ids }, signal);
    const paying = new Map(found.map((row) => [row.needed("TxnID"), row]));
    const all = await linesOf(rows, signal);
    return rows.map((row): DocumentRow => {
      const id = row.needed("TxnID");
      const lines = all.get(row) ?? [];
      const salesTax = side === "purchase" ? Decimal.zero : row.amount("SalesTaxTotal");
      const total = (row.decimal(untaxed) ?? amountOf(lines)).plus(salesTax);
      const isVoid = total.sign === 0 && lines.every(({ amount }) => amount.sign === 0);
      const payments = row
        .all("LinkedTxn")
        // An order or a receipt that it came of is linked by quantity, and pays nothing of it.
        .filter((one) => one.text("LinkType") !== "QUANTYPE")
        .filter((one) => !CAME_OF.has(one.text("TxnType") ?? ""))
        .flatMap((one) => settlingIn(row, one, paying));
      // Of a bill that is paid QuickBooks need not say what is open.
      const isPaid = row.yes("IsPaid");
      const left = side === "purchase" && isPaid === true ? Decimal.zero : row.decimal(openName);
      const open = left ?? total.minus(amountOf(payments));
      const order = row.text("PONumber");
      const currency = records.foreign(row);
      return {
        ...memoed(row),
        id,
        version: row.text("EditSequence"),
        party: row.ref(party).name,
        partyId: row.ref(party).id,
        accountId: row.ref(accountRef).id,
        date: row.needed("TxnDate").slice(0, 10),
        due: row.day("DueDate"),
        reference: heldNumber(row),
        ...(side === "sale" ? { order } : {}),
        ...(currency === null ? {} : { currency }),
        lines,
        isVoid,
        isPaid: isPaid ?? open.sign === 0,
        salesTax,
        total,
        open,
        payments,
        issued: (isVoid ? null : row.text("RefNumber")) ?? id,
        told: {
          words: {
            reference: order,
            order: memoText(row),
          },
          dueDate: row.day("DueDate"),
          ...(row.yes("IsPending") === true ? { state: "draft" } : {}),
        },
      };
    });
  };
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
): DocumentRow["payments"][number][] {
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
  const mark = payment === undefined ? null : markedBy(memoed(payment)).mark;
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

const linesIn = (side: LedgerSide, row: Element): Line[] =>
  TABLES[side].lines.flatMap((names) =>
    row.below
      .filter(({ name }) => names.test(name))
      .flatMap((one) => {
        if (!one.name.includes("Group")) return lineIn(one, "Amount");
        const own = linesIn(side, one);
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

/* What customers pay (`ReceivePayment`), and what we pay (`BillPaymentCheck`). */

const paymentsOf = (records: Records, ...sides: readonly LedgerSide[]) => {
  const tables = sides.map((side) => TABLES[side].payment.table);
  return records.documents(tables, { IncludeLineItems: true });
};

export function desktopPayments(records: Records, config: DesktopConfig): PaymentBooks {
  const find = async (side: LedgerSide, names: DocumentNames, signal: AbortSignal) =>
    (await paymentsOf(records, side).find(names, signal)).map(paymentRow);
  return {
    write: (document) => ({
      text: heldText(document.description, TEXT_MOST),
      check: checkOf(document),
    }),
    find,
    async paying(side, of, signal) {
      const { table, payment } = TABLES[side];
      const paid = records.documents([table], { IncludeLinkedTxns: true });
      return linkedIn(await paid.find(of, signal), payment.table);
    },
    since: (side, date, { party }, signal) =>
      find(side, { since: [{ party: topOf(party) ?? party, date }] }, signal),
    list: (scope, from, signal) =>
      pagesOf(paymentsOf(records, ...SIDES).list(scope, from, signal), (rows) =>
        rows.map(paymentRow),
      ),
    async create(document, on, { signal }) {
      const name = `${TABLES[sideOf(document)].payment.table}Add`;
      const content = paymentAdd(config, document, on);
      return (await records.write(name, content, signal)).needed("TxnID");
    },
  };
}

function paymentRow(row: Element): PaymentRow {
  const side = row.name === `${TABLES.purchase.payment.table}Ret` ? "purchase" : "sale";
  const { payment } = TABLES[side];
  const applied = row.all("AppliedToTxnRet");
  const pays = applied.map((one) => one.needed("TxnID"));
  const amount = row.amount(payment.amount);
  return {
    side,
    date: row.needed("TxnDate").slice(0, 10),
    amount,
    document: pays.length === 1 ? (pays[0] ?? null) : null,
    pays,
    text: markedBy(memoed(row)).text,
    check: row.text("RefNumber"),
    id: row.needed("TxnID"),
    version: row.text("EditSequence"),
    party: row.ref(payment.partyRef).name,
    idle: amount.minus(Decimal.sum(applied.map((one) => one.amount("Amount")))),
    markIn: (desired) => markedBy(memoed(row), desired).mark,
  };
}

const checkOf = (document: PaymentDocument): string | null =>
  whole(document.reference, numberMost(TABLES[sideOf(document)].payment.table), ascii);

function paymentAdd(config: DesktopConfig, document: PaymentDocument, on: DocumentRow): Values {
  const { id: mark, number, description, amount, date, invoice } = document;
  const side = sideOf(document);
  const { accountRef, payment } = TABLES[side];
  const RefNumber = checkOf(document);
  return {
    [payment.partyRef]: on.partyId === null ? { FullName: on.party } : { ListID: on.partyId },
    // Both sides of what is owed are on one account.
    [accountRef]: on.accountId ? { ListID: on.accountId } : null,
    TxnDate: date,
    RefNumber,
    Memo: desktopMemo({ number, mark, text: description.slice(0, TEXT_MOST) }),
    ExternalGUID: guidOf(mark),
    AppliedToTxnAdd: [{ TxnID: invoice, PaymentAmount: amount }],
    ...(side === "purchase"
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

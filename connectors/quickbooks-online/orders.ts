/**
 * The platform's orders in QuickBooks, for src/ledger/goods.ts: what we sell as estimates (QuickBooks Online has no sales
 * orders), what we buy as purchase orders. Neither posts an amount: the platform's invoice is the one that is booked.
 */
import { amountOf, Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import type { InvoiceDocument, OrderDocument } from "../../src/ledger/documents.ts";
import {
  goodsLine,
  type GoodsRow,
  type GoodsTable,
  isNumber,
  planOf,
} from "../../src/ledger/goods.ts";
import { type LedgerSide, SIDES as BOTH, type StepTo } from "../../src/ledger/port.ts";
import { roundHalfUp } from "../quickbooks/documents.ts";
import { type Element, elementOf } from "../quickbooks/element.ts";
import { DOC_NUMBER_MOST, documentNumber, memoIn, oneLine } from "../quickbooks/text.ts";
import {
  bodyOf,
  heldNumber,
  linesIn,
  loadNames,
  noteOf,
  shipAddress,
  numberOf,
  type Writer,
  writeNumbered,
} from "./documents.ts";
import { expectFit, having, inScope, listed, type Names, type Online } from "./online.ts";
import { identityOf, isId, partyIn, SIDES } from "./wire.ts";

const markIn = (row: Element): string | null => memoIn(row.text("PrivateNote"))?.mark ?? null;

/** With the record itself. */
interface OrderRow extends GoodsRow {
  readonly record: Element;
}

export function orderTable(online: Online): GoodsTable<"order", OrderRow> {
  const { wire, names } = online;
  return {
    markedIn: "its memo",
    accept: expectKept,
    async codes(documents, { signal }) {
      await expectFit(online, signal);
      for (const side of BOTH) {
        const these = documents.filter(({ type }) => type === side).map(billed);
        await loadNames(online, side, these);
      }
    },
    async kept(document) {
      const body = elementOf("order", await orderBody(online, document));
      return { number: oneLine(document.number), lines: comparedIn(names, body) };
    },
    async search({ side, marks, references, numbers, ids, days }, signal) {
      const table = SIDES[side].order;
      const DocNumber = references.map((number) =>
        documentNumber(number, marks[0] ?? "", DOC_NUMBER_MOST),
      );
      const fields = { Id: [...numbers, ...ids].filter(isId), DocNumber, TxnDate: days };
      const rows = await having(wire, table, fields, signal);
      return rows.map((row) => bookedOf(names, side, row));
    },
    list(side, scope, from, signal) {
      const lists = inScope(SIDES[side].order, { ...scope, open: false });
      return listed(wire, lists, from, signal, (rows) =>
        rows.map((row) => bookedOf(names, side, row)),
      );
    },
    async create({ document, payer, mark }, call) {
      const { type } = document;
      const made = { document: billed(document), body: await orderBody(online, document), payer };
      // Several loads may share one loading number: the order that another one of the platform is, is no clash.
      const entity = SIDES[type].order;
      return writeNumbered(online, [type, entity], made, call, (row, party) =>
        partyIn(type, row).partyId === party && (markIn(row) ?? mark) === mark
          ? "counts"
          : "of-another",
      );
    },
    async apply(to, { desired: { document }, entry, differences }, call) {
      const { record } = entry.native;
      const { id: Id, version: SyncToken } = identityOf(record);
      const named = differences.some(isNumber) ? namesOf(document) : {};
      const change = await orderChange(to, { Id, SyncToken }, online, document, named);
      await wire.write(SIDES[document.type].order, change, call);
    },
  };
}

/** @throws Refused for what QuickBooks has no place for */
function expectKept(document: OrderDocument): void {
  if (document.type === "sale" || document.status !== "draft") return;
  throw new Refused({
    code: "no-draft",
    message: `purchase order ${document.number} is a draft, and QuickBooks keeps no drafts of purchase orders`,
    next: "Confirm the order on the platform; its next version is delivered by itself.",
    field: "status",
  });
}

/** As lines of an invoice: what each comes to is its quantity at its price, half a cent up. */
function billed({ lines, date, ...order }: OrderDocument): InvoiceDocument {
  const priced = lines.map((line) => ({
    ...line,
    account: null,
    amount: roundHalfUp(line.quantity.times(line.unitPrice)),
    description: `${line.description}${isWhole(line.unitPrice) ? "" : `, price ${line.unitPrice.plain()}`}`,
  }));
  const total = amountOf(priced);
  return {
    ...order,
    type: order.type === "sale" ? "out" : "in",
    status: "open",
    invoiceDate: date ?? "",
    dueDate: null,
    paidDate: null,
    lines: priced,
    taxes: [],
    subtotal: total,
    tax: Decimal.zero,
    total,
  };
}

/** Digits that QuickBooks keeps of a price: with more, quantity and price stand in the text. */
const isWhole = (price: Decimal): boolean => price.round(5).equals(price);

const namesOf = (document: OrderDocument) => ({
  DocNumber: numberOf(document),
  PrivateNote: orderNote(document),
});

/** With the terminal and the window of its day: QuickBooks Online has no fields for these. */
function orderNote(document: OrderDocument): string {
  const { terminal, window } = planOf(document);
  const plan = [
    document.description,
    terminal && `terminal ${terminal}`,
    window && `delivery ${window}`,
  ];
  return noteOf({ ...document, description: plan.filter(Boolean).join("; ") || null });
}

/** Where and when it is wanted: an estimate has a day of its delivery, a purchase order the day that it is due. */
function planBody(document: OrderDocument) {
  const { shipTo, day } = planOf(document);
  const isSale = document.type === "sale";
  return {
    DueDate: isSale ? null : day,
    ShipAddr: isSale ? shipAddress(shipTo) : null,
    ShipDate: isSale ? day : null,
  };
}

/** Of an order's line its text does not count: people write theirs. */
const comparedIn = (names: Pick<Names, "codeOf">, row: Element) =>
  linesIn(names, row).map((line) => goodsLine(line, line.amount));

function bookedOf(names: Names, side: LedgerSide, row: Element): OrderRow {
  const id = row.needed("Id");
  const memo = memoIn(row.text("PrivateNote"));
  // A purchase order counts from the moment that it is made; an estimate from its acceptance.
  const state =
    side === "purchase" ? (row.text("POStatus") ?? "Open") : (row.text("TxnStatus") ?? "Pending");
  // QuickBooks closes a purchase order that was billed; one without a bill was closed by a person.
  const isGivenUp = state === "Closed" && row.child("LinkedTxn") === null;
  const status =
    side === "sale" ? (STATUSES[state] ?? "posted") : isGivenUp ? "cancelled" : "posted";
  return {
    side,
    id,
    number: status === "draft" ? null : id,
    state,
    status,
    marks: memo === null ? [] : [memo.mark],
    reference: heldNumber(row),
    party: partyIn(side, row).party ?? "",
    date: row.day("TxnDate"),
    lines: comparedIn(names, row),
    record: row,
  };
}

const STATUSES: Readonly<Record<string, "draft" | "cancelled">> = {
  Pending: "draft",
  Rejected: "cancelled",
};

/** What is posted to make it. Members stand in the order of Intuit's schema. @throws Refused, LedgerError */
export async function orderBody(writer: Writer, document: OrderDocument) {
  const { type, status, date } = document;
  const { Line, ...body } = await bodyOf(type, writer, billed(document), { isOrder: true });
  const { CustomerRef, VendorRef, CustomerMemo, ShipAddr: _, APAccountRef, ...head } = body;
  const isSale = type === "sale";
  return {
    ...head,
    TxnDate: date,
    PrivateNote: orderNote(document),
    TxnStatus: !isSale ? null : status === "draft" ? "Pending" : "Accepted",
    Line,
    CustomerRef,
    VendorRef,
    APAccountRef,
    CustomerMemo,
    ...planBody(document),
    POStatus: isSale ? null : "Open",
  };
}

/** Changes of an estimate that is not accepted yet, and nothing else of it (`sparse`); see goods.ts. @throws Refused, LedgerError */
export async function orderChange(
  to: StepTo | "renumbered",
  { Id, SyncToken }: { readonly Id: string; readonly SyncToken: string },
  writer: Writer,
  document: OrderDocument,
  named: object = {},
): Promise<object> {
  const head = { sparse: true, Id, SyncToken };
  if (to === "renumbered") return { ...head, ...named };
  if (to !== "amended") return { ...head, TxnStatus: to === "posted" ? "Accepted" : "Rejected" };
  const { Line } = await orderBody(writer, document);
  return { ...head, ...named, Line, ...planBody(document) };
}

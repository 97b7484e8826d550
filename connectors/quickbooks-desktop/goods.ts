/**
 * Orders and item receipts, for src/ledger/goods.ts. QuickBooks has no drafts of them: what is created is open, and nothing
 * is posted by it.
 */
import { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import type { FactLine } from "../../src/core/holdings.ts";
import { sha256Hex } from "../../src/core/keys.ts";
import { inCents } from "../../src/core/text.ts";
import type { OrderDocument, ShipmentDocument } from "../../src/ledger/documents.ts";
import {
  goodsLine,
  type GoodsRow,
  type GoodsTable,
  haulOf,
  noteOf,
  orderIn,
  planOf,
} from "../../src/ledger/goods.ts";
import { platformIdIn } from "../../src/ledger/entries.ts";
import { type Desired, LedgerError } from "../../src/ledger/port.ts";
import { pagesOf } from "../../src/ledger/stamps.ts";
import { roundHalfUp } from "../quickbooks/documents.ts";
import type { Element } from "../quickbooks/element.ts";
import { ascii, guidOf, markedBy, sameName, whole } from "../quickbooks/text.ts";
import type { DesktopConfig } from "./config.ts";
import { partyRef } from "./sources.ts";
import type { Values } from "./qbxml.ts";
import {
  desktopMemo,
  heldNumber,
  heldOf,
  heldText,
  identityOf,
  memoed,
  named,
  numberIn,
  type Records,
  renumbered,
} from "./wire.ts";

const DIGITS = 5;
/** A line that is made anew; those that are not named are deleted. */
const NEW_LINE = { TxnLineID: "-1" };

/** @throws Refused for a unit that items are not counted in, or digits that QuickBooks does not keep */
function countedOf(
  unit: string,
  line: { readonly product: string; readonly quantity: Decimal; readonly unit: string },
): Decimal {
  const { quantity } = line;
  const isCounted = line.unit === unit;
  if (isCounted && quantity.round(DIGITS).equals(quantity)) return quantity;
  const says = isCounted
    ? `the quantity ${quantity.plain()} has more than ${DIGITS} digits after the point`
    : `it is in ${line.unit}, and items of QuickBooks are counted in ${unit}`;
  throw new Refused({
    code: isCounted ? "not-held" : "unit-not-held",
    message: `QuickBooks cannot keep the line of ${line.product}: ${says}`,
    next: isCounted
      ? "Correct the quantity where it comes from, then retry."
      : `Enter it by hand and close it here; or set unit, where items are counted in ${line.unit}.`,
    field: "lines",
  });
}

/* Sales orders and purchase orders. Editions without sales orders say so when one is to be made (1030, 3250). */

type Side = OrderDocument["type"];

const TABLES = {
  sale: {
    table: "SalesOrder",
    partyRef: "CustomerRef",
    what: "sales orders: Premier and Enterprise have them",
    full: "IsFullyInvoiced",
    moved: "Invoiced",
  },
  purchase: {
    table: "PurchaseOrder",
    partyRef: "VendorRef",
    what: "purchase orders, or they are switched off",
    full: "IsFullyReceived",
    moved: "ReceivedQuantity",
  },
} as const;

/** With the record itself. */
interface Row extends GoodsRow {
  readonly element: Element;
}

export const orderTable = (records: Records, config: DesktopConfig): GoodsTable<"order", Row> => ({
  markedIn: "its memo",
  // It is open when it is made. Until goods came or it was invoiced, it can be changed and closed.
  can: { has: ["posted", "cancelled"], amend: { lines: "posted" } },
  kept: (document) => ({
    number: ascii(document.number),
    // Prices are compared by what a line comes to: QuickBooks keeps five digits of a rate.
    lines: orderLines(config, document).map((line) => goodsLine(line, line.amount)),
  }),
  async search({ side, marks, references, numbers, ids, days }, signal) {
    const orders = records.documents([TABLES[side].table]);
    const names = { numbers: references, ids: [...numbers, ...ids], days };
    const found: readonly Element[] = await orders.find(names, signal).catch(noneIn);
    return found.map((row) => orderOf(side, row, marks));
  },
  async *list(side, scope, from, signal) {
    const orders = records.documents([TABLES[side].table]);
    const pages = orders.list({ ...scope, open: false }, from, signal);
    try {
      yield* pagesOf(pages, (rows) => rows.map((row) => orderOf(side, row, [])));
    } catch (error) {
      noneIn(error);
    }
  },
  async create(desired, { signal }) {
    const { document, mark, number } = desired;
    const { table, partyRef: party, what } = TABLES[document.type];
    const content = {
      [party]: partyRef(desired),
      TxnDate: document.date,
      RefNumber: numberIn(table, number),
      ...planValues(document),
      Memo: orderMemo(config, desired),
      IsToBePrinted: false,
      IsToBeEmailed: false,
      ExternalGUID: guidOf(mark),
      [`${table}LineAdd`]: lineValues(config, document),
    };
    try {
      return (await records.write(`${table}Add`, content, signal)).needed("TxnID");
    } catch (error) {
      if (!isNotThere(error)) throw error;
      const product = records.wire.company?.product ?? "this edition of QuickBooks";
      const message = `${product} has no ${what}. ${error.message}`;
      throw new LedgerError("answered", message, { code: error.code, cause: error });
    }
  },
  async apply(to, { desired, entry }, { signal }) {
    if (to !== "cancelled" && to !== "amended") return;
    const { element: row } = entry.native;
    const { document, number } = desired;
    const { table } = TABLES[document.type];
    const changes =
      to === "cancelled"
        ? { IsManuallyClosed: true, Memo: `VOID: ${row.text("Memo") ?? ""}`.trim() }
        : {
            ...renumbered(row, number),
            ...planValues(document),
            Memo: orderMemo(config, desired),
            [`${table}LineMod`]: lineValues(config, document).map((line) => ({
              ...NEW_LINE,
              ...line,
            })),
          };
    await records.write(`${table}Mod`, { ...heldOf(identityOf(row)), ...changes }, signal);
  },
});

/** Where and when it is wanted. A text that QuickBooks would cut stands on the lines alone. */
function planValues(document: OrderDocument): Values {
  const { shipTo, day, window, terminal } = planOf(document);
  const isSale = document.type === "sale";
  return {
    ...(isSale
      ? { ShipAddress: shipTo === null ? null : { Addr1: whole(shipTo, 41, ascii) } }
      : {}),
    [isSale ? "ShipDate" : "ExpectedDate"]: day,
    FOB: whole(terminal, 13, ascii),
    [isSale ? "Other" : "Other1"]: whole(window, 25, ascii),
  };
}

const NOT_THERE = new Set(["1030", "3250"]);

const isNotThere = (error: unknown): error is LedgerError =>
  error instanceof LedgerError && NOT_THERE.has(error.code ?? "");

/** An edition without these orders holds none. @throws the error, if it is another one */
function noneIn(error: unknown): readonly [] {
  if (isNotThere(error)) return [];
  throw error;
}

/** A rate that has more digits than QuickBooks keeps is left to the amount, which is what QuickBooks multiplies. @throws Refused */
const orderLines = ({ unit }: DesktopConfig, { lines }: OrderDocument) =>
  lines.map((line) => {
    const { product, description: text, unitPrice } = line;
    const quantity = countedOf(unit, line);
    const rate = unitPrice.round(DIGITS).equals(unitPrice) ? unitPrice : null;
    return { product, text, quantity, rate, amount: roundHalfUp(quantity.times(unitPrice)) };
  });

const lineValues = (config: DesktopConfig, document: OrderDocument): Values[] =>
  orderLines(config, document).map(({ product, text, quantity, rate, amount }) => ({
    ItemRef: { FullName: product },
    Desc: heldText(text, 4095),
    Quantity: quantity,
    Rate: rate,
    Amount: amount,
    ...(document.type === "sale" ? { SalesTaxCodeRef: named(config.taxCode) } : {}),
  }));

function orderOf(side: Side, row: Element, marks: readonly string[]): Row {
  const { table, partyRef: party, full, moved } = TABLES[side];
  const id = row.needed("TxnID");
  const rows = row.all(`${table}LineRet`);
  const [items, others] = [rows.filter(hasItem), rows.filter((line) => !hasItem(line))];
  const lines = items.map((line) => lineOf(line, line.amount("Amount")));
  const { mark, text } = markedBy(memoed(row), marks);
  const isClosed = row.yes("IsManuallyClosed") === true;
  const isVoid = isClosed && row.text("Memo")?.startsWith("VOID:") === true;
  // Groups, and lines of text, which a person entered: we write none, and lines that are not named are deleted.
  const isOurs =
    text?.startsWith(`${LINES}${digestOf(lines)}`) === true &&
    row.child(`${table}LineGroupRet`) === null &&
    others.every((line) => line.text("Desc") === null);
  const state = isVoid
    ? "cancelled"
    : isClosed || row.yes(full) === true
      ? "closed"
      : items.some((line) => line.amount(moved).sign !== 0)
        ? "open, and goods of it have moved"
        : isOurs
          ? "open"
          : "open, and its lines were changed there";
  return {
    side,
    id,
    number: id,
    state,
    status: isVoid ? "cancelled" : "posted",
    marks: mark === null ? [] : [mark],
    reference: heldNumber(row),
    party: row.ref(party).name ?? "",
    date: row.day("TxnDate"),
    lines,
    fixed: state === "open" ? [] : ["lines"],
    element: row,
  };
}

const hasItem = (line: Element): boolean => line.ref("ItemRef").name !== null;

/** Before the digest of the lines that were written last: lines that somebody changed since are never overwritten. */
const LINES = "lines:";

function digestOf(lines: readonly Pick<FactLine, "product" | "quantity" | "amount">[]): string {
  const all = lines.map(({ product, quantity, amount }) =>
    [product?.toLowerCase(), quantity?.plain(), inCents(amount)].join(" "),
  );
  return sha256Hex(all.join("\n")).slice(0, 12);
}

function orderMemo(config: DesktopConfig, { document, mark, number }: Desired<"order">): string {
  const digest = digestOf(orderLines(config, document));
  const text = `${LINES}${digest} ${document.description ?? ""}`;
  return desktopMemo({ number, mark, text });
}

/*
 * Item receipts of delivery tickets that come in. QuickBooks has no document of goods that go out.
 * A receipt owes the vendor what it comes to, and the platform's bill owes that once more: so it comes to 0.00, or it is
 * linked with its order and this endpoint writes no bills (`receipts`, ADR 0017).
 */

export function receiptTable(records: Records, config: DesktopConfig): GoodsTable<"shipment", Row> {
  const mod = (row: Element, values: Values, signal: AbortSignal): Promise<Element> =>
    records.write("ItemReceiptMod", { ...heldOf(identityOf(row)), ...values }, signal);
  // What a ticket may be: a receipt, and the bill that a person made of one.
  const tickets = records.documents(["ItemReceipt", "Bill"]);
  const ordersOf = records.documents([TABLES.purchase.table]);

  /**
   * A line of the order brings its item and its price along, and takes a quantity alone beside the link (3153). A product that
   * nobody ordered is received at the item's own cost.
   */
  async function linkedLines({ order, lines }: ShipmentDocument, signal: AbortSignal) {
    const name = order === null ? null : orderIn(order);
    const TxnID = name?.side === "purchase" ? (name.number ?? name.id) : null;
    const orders = await ordersOf.find({ ids: TxnID === null ? [] : [TxnID] }, signal);
    const ordered = orders.flatMap((row) => row.all("PurchaseOrderLineRet"));
    return lines.map((line): Values => {
      const at = ordered.findIndex((one) => sameName(one.ref("ItemRef").name ?? "", line.product));
      const [one] = at < 0 ? [] : ordered.splice(at, 1);
      const Quantity = countedOf(config.unit, line);
      return one === undefined
        ? { ItemRef: { FullName: line.product }, Quantity }
        : { Quantity, LinkToTxn: { TxnID, TxnLineID: one.needed("TxnLineID") } };
    });
  }

  /** @throws Refused: a bill that follows would put into stock what the receipt has put there */
  async function expectNoStock({ lines }: ShipmentDocument, signal: AbortSignal): Promise<void> {
    if (config.receipts === "linked") return;
    const FullName = lines.map(({ product }) => product);
    const values = { FullName, IncludeRetElement: ["FullName"] };
    const items = await records.of([{ name: "ItemQuery", values }], signal);
    const stock = items.find(({ name }) => /^ItemInventory(?:Assembly)?Ret$/.test(name));
    if (stock === undefined) return;
    throw new Refused({
      code: "counted-twice",
      message: `QuickBooks keeps a stock of the item ${stock.text("FullName") ?? ""}: the item receipt and the platform's bill would each add to it`,
      next: "Make it a non-inventory part; or set receipts: linked, and enter bills in QuickBooks from the receipts; or take the flow of tickets out. Then retry.",
      field: "lines",
    });
  }

  return {
    // What is entered is received: a ticket that waits is entered when it is done.
    can: {
      has: ["posted", "cancelled"],
      amend: { lines: "posted", "days.date": "posted", reference: "posted" },
    },
    accept(document) {
      if (document.type === "in") return;
      throw new Refused({
        code: "not-held",
        message: `QuickBooks Desktop has no document of goods that go out: ticket ${document.number} is of a sale`,
        next: "Set options: { only: purchases } on this flow: what was sold and delivered is on the invoice.",
        field: "type",
      });
    },
    kept: ({ number, reference, lines }) => ({
      number: ascii(number),
      words: { reference: referenceIn(`${TICKET}${ascii(reference)}`) },
      lines: lines.map((line) =>
        goodsLine({ product: line.product, quantity: countedOf(config.unit, line) }),
      ),
    }),
    async search({ numbers, ids, marks, days }, signal) {
      const names = { numbers, ids, days: marks.length === 0 ? [] : days };
      const rows = receiptsIn(await tickets.find(names, signal));
      // Of a day all are told: those that have none of these marks are others'.
      return rows.filter(
        (one) => marks.length === 0 || one.marks.some((mark) => marks.includes(mark)),
      );
    },
    async *list(side, scope, from, signal) {
      if (side === "sale") return;
      yield* pagesOf(tickets.list({ ...scope, open: false }, from, signal), receiptsIn);
    },
    async create(desired, { signal }) {
      const { document, mark, number } = desired;
      await expectNoStock(document, signal);
      const content = {
        VendorRef: partyRef(desired),
        TxnDate: document.date,
        RefNumber: numberIn("ItemReceipt", number),
        Memo: receiptMemo(desired),
        ExternalGUID: guidOf(mark),
        ItemLineAdd:
          config.receipts === "unpriced"
            ? unpricedLines(config, document)
            : await linkedLines(document, signal),
      };
      await records.write("ItemReceiptAdd", content, signal);
    },
    async apply(to, { desired, entry: { native: row } }, { signal }) {
      const { document, number } = desired;
      const { element, marks } = row;
      if (to === "amended") {
        const lines = unpricedLines(config, document).map((line) => ({ ...NEW_LINE, ...line }));
        const head = { TxnDate: document.date, ...renumbered(element, number) };
        await mod(element, { ...head, Memo: receiptMemo(desired), ItemLineMod: lines }, signal);
        return;
      }
      // One that a person entered says from now on whose it is.
      let held = element;
      if (!marks.includes(document.id)) {
        const memo = `${element.text("Memo") ?? ""} ${noteOf(document)}`;
        held = await mod(element, { Memo: ascii(memo) }, signal);
      }
      if (to === "cancelled" && row.status !== "cancelled")
        await records.cancel("ItemReceipt", identityOf(held), signal);
    },
  };
}

/** A line of QuickBooks. */
const lineOf = (line: Element, amount?: Decimal): FactLine =>
  goodsLine({ product: line.ref("ItemRef").name, quantity: line.decimal("Quantity") }, amount);

/** What follows the mark in its memo: `ticket BOL 4471; driver …`. */
const TICKET = "ticket ";

const receiptMemo = ({ document, mark, number }: Desired<"shipment">): string =>
  desktopMemo({ number, mark, text: `${TICKET}${document.reference}; ${haulOf(document)}` });

const referenceIn = (text: string): string => text.slice(TICKET.length).split(/; |;$/)[0] ?? "";

/** QuickBooks makes a bill of a receipt when a person enters the vendor's bill from it: other bills are no tickets. */
const receiptsIn = (rows: readonly Element[]): Row[] =>
  rows.flatMap((row) => {
    const isBill = row.name === "BillRet";
    if (isBill && markedBy(memoed(row)).text?.startsWith(TICKET) !== true) return [];
    return [receiptOf(row, isBill ? "billed" : "received")];
  });

function receiptOf(row: Element, state: "received" | "billed"): Row {
  const id = row.needed("TxnID");
  const memo = row.text("Memo") ?? "";
  const { text } = markedBy(memoed(row));
  const number = heldNumber(row);
  const lines = row.all("ItemLineRet").filter((line) => line.decimal("Quantity") !== null);
  const isVoid = /^VOID:/i.test(memo) && lines.every((line) => line.amount("Quantity").sign === 0);
  const isOpen =
    state === "received" &&
    row.child("LinkedTxn") === null &&
    // Lines that are not named are deleted when it is changed: groups are a person's.
    row.child("ItemGroupLineRet") === null &&
    row.amount("TotalAmount").sign === 0;
  return {
    side: "purchase",
    id,
    number: number ?? id,
    called: `item receipt ${row.text("RefNumber") ?? id}`,
    state: isVoid ? "void" : state,
    status: isVoid ? "cancelled" : "posted",
    fixed: isOpen ? [] : ["lines"],
    marks: [platformIdIn(memo) ?? []].flat(),
    party: row.ref("VendorRef").name ?? "",
    reference: text?.startsWith(TICKET) === true ? referenceIn(text) : number,
    date: row.day("TxnDate"),
    lines: lines.map((line) => lineOf(line)),
    element: row,
  };
}

const unpricedLines = ({ unit }: DesktopConfig, { lines }: ShipmentDocument): Values[] =>
  lines.map((line) => ({
    ItemRef: { FullName: line.product },
    Quantity: countedOf(unit, line),
    Cost: Decimal.zero,
    Amount: Decimal.zero,
  }));

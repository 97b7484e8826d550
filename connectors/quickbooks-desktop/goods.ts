/**
 * Sales orders and purchase orders, for src/ledger/orders.ts. QuickBooks has no drafts of them: what is created is open.
 * Nothing is posted by one. Editions without sales orders say so when one is to be made (1030, 3250).
 */
import { createHash } from "node:crypto";
import { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import type { FactLine, Facts } from "../../src/core/holdings.ts";
import { sameNumber } from "../../src/core/keys.ts";
import type { OrderDocument, ShipmentDocument } from "../../src/ledger/documents.ts";
import { goodsLine } from "../../src/ledger/goods.ts";
import {
  orderAdapter as adapterOf,
  type BookedOrder,
  type BookedTicket,
  orderIn,
  ticketAdapter,
  ticketsOf,
} from "../../src/ledger/orders.ts";
import {
  type Call,
  type Capabilities,
  type Desired,
  type GoodsAdapter,
  LedgerError,
  type Step,
  type StepTo,
} from "../../src/ledger/port.ts";
import type { DesktopConfig } from "./config.ts";
import { branches, pages, WITH_LINES } from "./lists.ts";
import type { Element, Values } from "./qbxml.ts";
import {
  desktopMemo,
  guidOf,
  heldNumber,
  heldText,
  markedBy,
  numbered,
  ofDays,
  only,
} from "./rows.ts";
import type { Wire } from "./wire.ts";
import { ascii, documentNumber, REF_NUMBER_MOST, sameName } from "../quickbooks/text.ts";

type OrderConfig = Pick<DesktopConfig, "taxCode" | "unit">;
type OrderAsked = Pick<Wire, "read" | "write"> & Partial<Pick<Wire, "company">>;
type Side = OrderDocument["type"];

const TABLES = {
  sale: {
    table: "SalesOrder",
    partyRef: "CustomerRef",
    what: "sales orders: Premier and Enterprise have them",
    full: "IsFullyInvoiced",
    moved: "Invoiced",
    most: REF_NUMBER_MOST.salesOrder,
  },
  purchase: {
    table: "PurchaseOrder",
    partyRef: "VendorRef",
    what: "purchase orders, or they are switched off",
    full: "IsFullyReceived",
    moved: "ReceivedQuantity",
    most: REF_NUMBER_MOST.purchaseOrder,
  },
} as const;

/** It is open when it is made. Until goods came or it was invoiced, it can be changed and closed. */
const ORDER_CAPABILITIES: Capabilities = {
  has: ["posted", "cancelled"],
  byUs: "posted",
  amend: { lines: "posted" },
  atomic: 1,
  numbered: "per-party",
};

export const orderAdapter = (
  wire: OrderAsked,
  config: OrderConfig,
): GoodsAdapter<"order", Element> =>
  adapterOf<Element>({
    markedIn: "its memo",
    can: ORDER_CAPABILITIES,
    kept: (document) => keptOrder(config, document),
    async search(side, { marks, references, numbers, ids, days }, signal) {
      const { table, most } = TABLES[side];
      const ask = async (all: readonly Values[]): Promise<Element[]> => {
        const asked = all.map((values) => ({
          name: `${table}Query`,
          values: { ...values, ...WITH_LINES },
        }));
        const replies = await without(side, wire, () => wire.read(asked, signal), []);
        return replies.flatMap(({ rets }) => rets);
      };
      const named = await ask([
        ...numbered(references, most),
        ...(numbers.length + ids.length === 0 ? [] : [{ TxnID: [...numbers, ...ids] }]),
      ]);
      const isOurs = (row: Element): boolean => marks.includes(markedBy(row, marks).mark ?? "");
      // It may have another number by now: no order is made before its day was looked through.
      const others = named.some(isOurs) || days.length === 0 ? [] : await ask(ofDays(days));
      const rows = [...named, ...others.filter(isOurs)];
      const once = new Map(rows.map((row) => [row.needed("TxnID"), row]));
      return [...once.values()].map((row) => bookedOrder(side, row, marks));
    },
    async *list(side, { dated, changedSince }, from, signal) {
      const lists = branches({ dated, changedSince, open: false }).map((values) => ({
        name: `${TABLES[side].table}Query`,
        values: { ...values, ...WITH_LINES },
      }));
      try {
        for await (const { rets, position } of pages(wire, lists, from, signal))
          yield { rows: rets.map((row) => bookedOrder(side, row, [])), position };
      } catch (error) {
        if (!isNotHere(error)) throw error;
      }
    },
    isUnfinished: () => Promise.resolve(false),
    async create(desired, { signal }) {
      const { type } = desired.document;
      const { table } = TABLES[type];
      const request = {
        name: `${table}Add`,
        values: { [`${table}Add`]: orderAdd(config, desired) },
      };
      const { rets } = await without(type, wire, () => wire.write(request, signal));
      return only(rets).needed("TxnID");
    },
    step: (to, one, { signal }) => step(wire, config, to, one, signal),
  });

/**
 * An edition without these orders holds none.
 * @param instead what is there without them; left out: that edition is told
 */
async function without<T>(
  side: Side,
  { company }: OrderAsked,
  asked: () => Promise<T>,
  instead?: T,
): Promise<T> {
  try {
    return await asked();
  } catch (error) {
    if (!isNotHere(error)) throw error;
    if (instead !== undefined) return instead;
    const product = company?.product ?? "this edition of QuickBooks";
    const message = `${product} has no ${TABLES[side].what}. ${error.message}`;
    throw new LedgerError("answered", message, { code: error.code, cause: error });
  }
}

const NOT_HERE = new Set(["1030", "3250"]);

const isNotHere = (error: unknown): error is LedgerError =>
  error instanceof LedgerError && NOT_HERE.has(error.code ?? "");

const CENTS = 2;
const DIGITS = 5;

interface OrderLine {
  readonly item: string;
  readonly text: string;
  readonly quantity: Decimal;
  /** Null: it has more digits than QuickBooks keeps, and is left to the amount. */
  readonly rate: Decimal | null;
  readonly amount: Decimal;
}

/** @throws Refused for a unit that items are not counted in, or digits that QuickBooks does not keep */
function linesOf(unit: string, { lines }: OrderDocument): OrderLine[] {
  return lines.map((line) => {
    const { unitPrice } = line;
    const quantity = countedOf(unit, line);
    const rate = unitPrice.round(DIGITS).equals(unitPrice) ? unitPrice : null;
    const amount = quantity.times(unitPrice).round(CENTS);
    return { item: line.product, text: line.description, quantity, rate, amount };
  });
}

/** @throws Refused */
function countedOf(
  unit: string,
  line: { readonly product: string; readonly quantity: Decimal; readonly unit: string },
): Decimal {
  const { quantity } = line;
  const refused = (code: string, says: string, next: string): Refused =>
    new Refused({
      code,
      message: `QuickBooks cannot keep the line of ${line.product}: ${says}`,
      next,
      field: "lines",
    });
  if (line.unit !== unit)
    throw refused(
      "unit-not-held",
      `it is in ${line.unit}, and items of QuickBooks are counted in ${unit}`,
      `Enter it by hand and resolve it here; or set unit, where items are counted in ${line.unit}.`,
    );
  if (!quantity.round(DIGITS).equals(quantity))
    throw refused(
      "not-held",
      `the quantity ${quantity.plain()} has more than ${DIGITS} digits after the point`,
      "Correct the quantity where it comes from, then retry.",
    );
  return quantity;
}

const keptOrder = ({ unit }: OrderConfig, document: OrderDocument): Facts => ({
  number: ascii(document.number),
  words: { side: document.type },
  lines: linesOf(unit, document).map(({ item, quantity, amount }) =>
    lineFacts(item, quantity, amount),
  ),
});

/** Prices are compared by what a line comes to: QuickBooks keeps five digits of a rate. */
const lineFacts = (
  product: string | null,
  quantity: Decimal | null,
  amount: Decimal,
): FactLine => ({
  product,
  quantity,
  unit: null,
  unitPrice: null,
  amount,
});

function bookedOrder(side: Side, row: Element, marks: readonly string[]): BookedOrder<Element> {
  const { table, partyRef, full, moved, most } = TABLES[side];
  const id = row.needed("TxnID");
  const lines = row.all(`${table}LineRet`).filter((line) => line.ref("ItemRef").name !== null);
  const facts = lines.map((line) =>
    lineFacts(line.ref("ItemRef").name, line.decimal("Quantity"), line.amount("Amount")),
  );
  const { mark, number, text } = markedBy(row, marks);
  const isClosed = row.yes("IsManuallyClosed") === true;
  const isVoid = isClosed && VOID.test(row.text("Memo") ?? "");
  const hasMoved = lines.some((line) => line.amount(moved).sign !== 0);
  const isOurs = text?.startsWith(`${LINES}${digestOf(facts)}`) === true && !hasOthers(row, table);
  const state = isVoid
    ? "cancelled"
    : isClosed || row.yes(full) === true
      ? "closed"
      : hasMoved
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
    mark,
    reference: heldNumber(row, number, most),
    party: row.ref(partyRef).name ?? "",
    date: row.day("TxnDate"),
    lines: facts,
    open: state === "open",
    native: row,
  };
}

/** Groups, and lines of text, which a person entered: we write none, and lines that are not named are deleted. */
const hasOthers = (row: Element, table: string): boolean =>
  row.all(`${table}LineGroupRet`).length > 0 ||
  row
    .all(`${table}LineRet`)
    .some((line) => line.ref("ItemRef").name === null && line.text("Desc") !== null);

const VOID = /^VOID:/;
/** Before the digest of the lines that were written last: lines that somebody changed since are never overwritten. */
const LINES = "lines:";

const digestOf = (lines: readonly FactLine[]): string =>
  createHash("sha256")
    .update(
      lines
        .map(({ product, quantity, amount }) =>
          [product?.toLowerCase(), quantity?.plain(), amount.fixed(CENTS)].join(" "),
        )
        .join("\n"),
    )
    .digest("hex")
    .slice(0, 12);

function orderMemo({ unit }: OrderConfig, { document, mark, number }: Desired<"order">): string {
  const lines = digestOf(keptOrder({ unit }, document).lines ?? []);
  return desktopMemo({ number, mark, text: `${LINES}${lines} ${document.description ?? ""}` });
}

function orderAdd(config: OrderConfig, desired: Desired<"order">): Values {
  const { document, mark, number, party, payer } = desired;
  const { table, partyRef, most } = TABLES[document.type];
  const row = payer?.native as Element | undefined;
  const ListID = row === undefined ? null : row.text("ListID");
  return {
    [partyRef]: ListID === null ? { FullName: party } : { ListID },
    TxnDate: document.date,
    RefNumber: documentNumber(number, number, most),
    Memo: orderMemo(config, desired),
    IsToBePrinted: false,
    IsToBeEmailed: false,
    ExternalGUID: guidOf(mark),
    [`${table}LineAdd`]: lineValues(config, document),
  };
}

const lineValues = ({ taxCode, unit }: OrderConfig, document: OrderDocument): Values[] =>
  linesOf(unit, document).map(({ item, text, quantity, rate, amount }) => ({
    ItemRef: { FullName: item },
    Desc: heldText(text, 4095),
    Quantity: quantity,
    Rate: rate,
    Amount: amount,
    ...(document.type === "sale" && taxCode !== undefined
      ? { SalesTaxCodeRef: { FullName: taxCode } }
      : {}),
  }));

/** A line that is made anew; those that are not named are deleted. */
const NEW_LINE = { TxnLineID: "-1" };

/** Guarded by the edit sequence: an order that somebody changed meanwhile is refused (3200). */
async function step(
  wire: OrderAsked,
  config: OrderConfig,
  to: StepTo,
  { desired, entry: { native: row } }: Step<"order", Element>,
  signal: AbortSignal,
): Promise<void> {
  const { table, most } = TABLES[desired.document.type];
  const isRenumbered = !sameNumber(
    heldNumber(row, markedBy(row, []).number, most) ?? "",
    ascii(desired.number),
  );
  const named = isRenumbered
    ? { RefNumber: documentNumber(desired.number, desired.number, most) }
    : {};
  const held = { TxnID: row.needed("TxnID"), EditSequence: row.needed("EditSequence") };
  const changes =
    to === "cancelled"
      ? { IsManuallyClosed: true, Memo: `VOID: ${row.text("Memo") ?? ""}`.trim() }
      : {
          ...named,
          Memo: orderMemo(config, desired),
          [`${table}LineMod`]: lineValues(config, desired.document).map((line) => ({
            ...NEW_LINE,
            ...line,
          })),
        };
  if (to !== "cancelled" && to !== "amended") return;
  const values = { [`${table}Mod`]: { ...held, ...changes } };
  await wire.write({ name: `${table}Mod`, values }, signal);
}

/*
 * Item receipts of delivery tickets that come in, for src/ledger/orders.ts. QuickBooks has no document of goods that go out.
 * A receipt owes the vendor what it comes to, and the platform's bill owes that once more: so it comes to 0.00, or it is
 * linked with its order and this endpoint writes no bills (`receipts`, ADR 0017).
 */

type ReceiptConfig = Pick<DesktopConfig, "receipts" | "unit">;
type Asked = Pick<Wire, "read" | "write">;
type Ticket = Desired<"shipment">;

const MOST = REF_NUMBER_MOST.itemReceipt;

/** What is entered is received: a ticket that waits is entered when it is done. */
const RECEIPT_CAPABILITIES: Capabilities = {
  has: ["posted", "cancelled"],
  byUs: "posted",
  amend: { lines: "posted", "days.date": "posted", reference: "posted" },
  atomic: 1,
  numbered: "once",
};

export function receiptAdapter(
  wire: Asked,
  config: ReceiptConfig,
): GoodsAdapter<"shipment", BookedTicket<Element>> {
  const mod = (row: Element, values: Values, { signal }: Call): Promise<unknown> =>
    wire.write(
      { name: "ItemReceiptMod", values: { ItemReceiptMod: { ...heldOf(row), ...values } } },
      signal,
    );
  const adapter = ticketAdapter<Element>({
    can: RECEIPT_CAPABILITIES,
    notes: "within",
    kept: (document) => keptReceipt(config, document),
    async search({ numbers, ids, marks, days }, signal) {
      const asked = [
        ...numbered(numbers, MOST),
        ...(ids.length === 0 ? [] : [{ TxnID: ids }]),
        ...(marks.length === 0 ? [] : ofDays(days)),
      ];
      if (asked.length === 0) return [];
      const replies = await wire.read(
        asked.flatMap((values) =>
          QUERIES.map((name) => ({
            name,
            values: { ...values, ...WITH_LINES },
          })),
        ),
        signal,
      );
      // Of a day all are told: those that have none of these marks are others'.
      return replies
        .flatMap(({ rets }, at) =>
          rets
            .filter((row) => at % 2 === 0 || isReceipt(row))
            .map((row) => bookedReceipt(row, at % 2 === 0 ? "received" : "billed")),
        )
        .filter((one) => marks.length === 0 || ticketsOf(one).some((mark) => marks.includes(mark)));
    },
    async *list({ dated, changedSince }, from, signal) {
      const lists = branches({ dated, changedSince, open: false }).flatMap((values) =>
        QUERIES.map((name) => ({ name, values: { ...values, ...WITH_LINES } })),
      );
      for await (const { name, rets, position } of pages(wire, lists, from, signal))
        yield {
          rows:
            name === "BillQuery"
              ? rets.filter(isReceipt).map((row) => bookedReceipt(row, "billed"))
              : rets.map((row) => bookedReceipt(row, "received")),
          position,
        };
    },
    async create(desired, { signal }) {
      const values = await receiptAdd(wire, config, desired, signal);
      await wire.write({ name: "ItemReceiptAdd", values: { ItemReceiptAdd: values } }, signal);
    },
    async note(row, text, call) {
      await mod(row, { Memo: ascii(`${row.text("Memo") ?? ""} ${text}`) }, call);
    },
    async amend({ document, mark, number }, row, call) {
      const { date: TxnDate } = document;
      const lines = unpricedLines(config, document).map((line) => ({ TxnLineID: "-1", ...line }));
      const Memo = receiptMemo({ document, mark, number });
      const isRenumbered = !sameNumber(
        heldNumber(row, markedBy(row, []).number, MOST) ?? "",
        ascii(number),
      );
      const named = isRenumbered ? { RefNumber: documentNumber(number, number, MOST) } : {};
      await mod(row, { TxnDate, ...named, Memo, ItemLineMod: lines }, call);
    },
    async cancel(row, { signal }) {
      const values = { TxnVoidType: "ItemReceipt", TxnID: row.needed("TxnID") };
      await wire.write({ name: "TxnVoid", values }, signal);
    },
    bring: () => Promise.resolve(),
  });
  return {
    ...adapter,
    accept(document) {
      adapter.accept?.(document);
      if (document.type === "out") throw goesOut(document);
    },
  };
}

const goesOut = ({ number }: ShipmentDocument): Refused =>
  new Refused({
    code: "not-held",
    message: `QuickBooks Desktop has no document of goods that go out: ticket ${number} is of a sale`,
    next: "Set options: { only: purchases } on this flow: what was sold and delivered is on the invoice.",
    field: "type",
  });

const keptReceipt = (config: ReceiptConfig, document: ShipmentDocument): Facts => ({
  number: ascii(document.number),
  ...(document.date === null ? {} : { days: { date: document.date } }),
  words: { side: "purchase", reference: referenceIn(`${TICKET}${ascii(document.reference)}`) },
  lines: document.lines.map((line) =>
    goodsLine({
      product: line.product,
      quantity: countedOf(config.unit, line),
      unit: null,
      unitPrice: null,
    }),
  ),
});

const heldOf = (row: Element): Values => ({
  TxnID: row.needed("TxnID"),
  EditSequence: row.needed("EditSequence"),
});

/** What follows the mark in its memo: `ticket BOL 4471; driver …`. */
const TICKET = "ticket ";
const END = "; ";

const receiptMemo = ({
  document,
  mark,
  number,
}: Pick<Ticket, "document" | "mark" | "number">): string =>
  desktopMemo({
    number,
    mark,
    text: `${TICKET}${document.reference}${END}${document.note ?? ""}`,
  });

/** What a ticket may be: a receipt, and the bill that a person made of one. */
const QUERIES = ["ItemReceiptQuery", "BillQuery"] as const;

/** QuickBooks makes a bill of a receipt when a person enters the vendor's bill from it. */
const isReceipt = (row: Element): boolean => markedBy(row, []).text?.startsWith(TICKET) === true;

function bookedReceipt(row: Element, state: "received" | "billed"): BookedTicket<Element> {
  const id = row.needed("TxnID");
  const memo = row.text("Memo") ?? "";
  const marked = markedBy(row, []);
  const { text } = marked;
  const number = heldNumber(row, marked.number, MOST);
  const lines = row.all("ItemLineRet").filter((line) => line.decimal("Quantity") !== null);
  const isVoid = /^VOID:/i.test(memo) && lines.every((line) => line.amount("Quantity").sign === 0);
  const isLinked = row.all("LinkedTxn").length > 0;
  // Lines that are not named are deleted when it is changed: groups are a person's.
  const hasGroups = row.all("ItemGroupLineRet").length > 0;
  const isOpen =
    state === "received" && !isLinked && !hasGroups && row.amount("TotalAmount").sign === 0;
  return {
    type: "in",
    id,
    number: number ?? id,
    called: `item receipt ${row.text("RefNumber") ?? id}`,
    state: isVoid ? "void" : state,
    stage: isVoid ? "cancelled" : "done",
    fixed: true,
    open: isOpen,
    party: row.ref("VendorRef").name ?? "",
    reference: text?.startsWith(TICKET) === true ? referenceIn(text) : number,
    date: row.day("TxnDate"),
    lines: lines.map((line) =>
      goodsLine({
        product: line.ref("ItemRef").name,
        quantity: line.decimal("Quantity"),
        unit: null,
        unitPrice: null,
      }),
    ),
    notes: [memo],
    native: row,
  };
}

const referenceIn = (text: string): string => {
  const [reference = ""] = text.slice(TICKET.length).split(/; |;$/);
  return reference;
};

async function receiptAdd(
  wire: Asked,
  config: ReceiptConfig,
  desired: Ticket,
  signal: AbortSignal,
): Promise<Values> {
  const { document, mark, number, party, payer } = desired;
  await expectNoStock(wire, config, document, signal);
  const row = payer?.native as Element | undefined;
  const ListID = row === undefined ? null : row.text("ListID");
  return {
    VendorRef: ListID === null ? { FullName: party } : { ListID },
    TxnDate: document.date,
    RefNumber: documentNumber(number, number, MOST),
    Memo: receiptMemo(desired),
    ExternalGUID: guidOf(mark),
    ItemLineAdd:
      config.receipts === "unpriced"
        ? unpricedLines(config, document)
        : await linkedLines(wire, config, document, signal),
  };
}

const unpricedLines = ({ unit }: ReceiptConfig, { lines }: ShipmentDocument): Values[] =>
  lines.map((line) => ({
    ItemRef: { FullName: line.product },
    Quantity: countedOf(unit, line),
    Cost: Decimal.zero,
    Amount: Decimal.zero,
  }));

/**
 * A line of the order brings its item and its price along, and takes a quantity alone beside the link (3153). A product that
 * nobody ordered is received at the item's own cost.
 */
async function linkedLines(
  wire: Asked,
  { unit }: ReceiptConfig,
  { order, lines }: ShipmentDocument,
  signal: AbortSignal,
): Promise<Values[]> {
  const named = order === null ? null : orderIn(order);
  const TxnID = named?.side === "purchase" ? (named.number ?? named.id) : null;
  const ordered = TxnID === null ? [] : await orderedLines(wire, TxnID, signal);
  return lines.map((line) => {
    const at = ordered.findIndex((one) => sameName(one.ref("ItemRef").name ?? "", line.product));
    const [one] = at < 0 ? [] : ordered.splice(at, 1);
    const Quantity = countedOf(unit, line);
    return one === undefined
      ? { ItemRef: { FullName: line.product }, Quantity }
      : { Quantity, LinkToTxn: { TxnID, TxnLineID: one.needed("TxnLineID") } };
  });
}

async function orderedLines(wire: Asked, TxnID: string, signal: AbortSignal): Promise<Element[]> {
  const values = { TxnID, ...WITH_LINES };
  const [reply] = await wire.read([{ name: "PurchaseOrderQuery", values }], signal);
  return (reply?.rets ?? []).flatMap((row) => row.all("PurchaseOrderLineRet"));
}

/** @throws Refused: a bill that follows would put into stock what the receipt has put there */
async function expectNoStock(
  wire: Asked,
  { receipts }: ReceiptConfig,
  { lines }: ShipmentDocument,
  signal: AbortSignal,
): Promise<void> {
  if (receipts === "linked") return;
  const FullName = lines.map(({ product }) => product);
  const values = { FullName, IncludeRetElement: ["FullName"] };
  const [reply] = await wire.read([{ name: "ItemQuery", values }], signal);
  const stock = (reply?.rets ?? []).find(({ name }) => STOCK.test(name));
  if (stock === undefined) return;
  throw new Refused({
    code: "counted-twice",
    message: `QuickBooks keeps a stock of the item ${stock.text("FullName") ?? ""}: the item receipt and the platform's bill would each add to it`,
    next: "Make it a non-inventory part; or set receipts: linked, and enter bills in QuickBooks from the receipts; or take the flow of tickets out. Then retry.",
    field: "lines",
  });
}

const STOCK = /^ItemInventory(?:Assembly)?Ret$/;

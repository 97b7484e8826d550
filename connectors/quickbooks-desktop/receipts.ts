/**
 * Item receipts of delivery tickets that come in, for src/ledger/tickets.ts. QuickBooks has no document of goods that go out.
 * A receipt owes the vendor what it comes to, and the platform's bill owes that once more: so it comes to 0.00, or it is
 * linked with its order and this endpoint writes no bills (`receipts`, ADR 0068).
 */
import type { Call, GoodsAdapter, Capabilities, Desired } from "../../src/ledger/port.ts";
import type { ShipmentDocument } from "../../src/ledger/documents.ts";
import { goodsLine } from "../../src/ledger/goods.ts";
import { orderIn } from "../../src/ledger/orders.ts";
import { type BookedTicket, ticketAdapter, ticketsOf } from "../../src/ledger/tickets.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import type { Facts } from "../../src/core/holdings.ts";
import { sameNumber } from "../../src/core/keys.ts";
import { sameName } from "../quickbooks/names.ts";
import { documentNumber, REF_NUMBER_MOST } from "../quickbooks/numbers.ts";
import { ascii } from "../quickbooks/text.ts";
import type { DesktopConfig } from "./config.ts";
import { countedOf } from "./orders.ts";
import { branches, pages, WITH_LINES } from "./pages.ts";
import { amountOf, below, dayOf, decimalOf, needed, refOf, textOf } from "./read.ts";
import { desktopMemo, guidOf, heldNumber, markedBy, numbered, ofDays } from "./rows.ts";
import type { Wire } from "./wire.ts";
import type { Values } from "./write.ts";
import type { Element } from "./xml.ts";

type ReceiptConfig = Pick<DesktopConfig, "receipts" | "unit">;
type Asked = Pick<Wire, "read" | "write">;
type Ticket = Desired<"shipment">;

const MOST = REF_NUMBER_MOST.itemReceipt;

/** What is entered is received: a ticket that waits is entered when it is done. */
const CAPABILITIES: Capabilities = {
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
    can: CAPABILITIES,
    notes: "within",
    kept: (document) => keptOf(config, document),
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
            .map((row) => bookedOf(row, at % 2 === 0 ? "received" : "billed")),
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
              ? rets.filter(isReceipt).map((row) => bookedOf(row, "billed"))
              : rets.map((row) => bookedOf(row, "received")),
          position,
        };
    },
    async create(desired, { signal }) {
      const values = await addOf(wire, config, desired, signal);
      await wire.write({ name: "ItemReceiptAdd", values: { ItemReceiptAdd: values } }, signal);
    },
    async note(row, text, call) {
      await mod(row, { Memo: ascii(`${textOf(row, "Memo") ?? ""} ${text}`) }, call);
    },
    async amend({ document, mark, number }, row, call) {
      const { date: TxnDate } = document;
      const lines = unpricedLines(config, document).map((line) => ({ TxnLineID: "-1", ...line }));
      const Memo = memoOf({ document, mark, number });
      const isRenumbered = !sameNumber(
        heldNumber(row, markedBy(row, []).number, MOST) ?? "",
        ascii(number),
      );
      const named = isRenumbered ? { RefNumber: documentNumber(number, number, MOST) } : {};
      await mod(row, { TxnDate, ...named, Memo, ItemLineMod: lines }, call);
    },
    async cancel(row, { signal }) {
      const values = { TxnVoidType: "ItemReceipt", TxnID: needed(row, "TxnID") };
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

const keptOf = (config: ReceiptConfig, document: ShipmentDocument): Facts => ({
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
  TxnID: needed(row, "TxnID"),
  EditSequence: needed(row, "EditSequence"),
});

/** What follows the mark in its memo: `ticket BOL 4471; driver …`. */
const TICKET = "ticket ";
const END = "; ";

const memoOf = ({ document, mark, number }: Pick<Ticket, "document" | "mark" | "number">): string =>
  desktopMemo({
    number,
    mark,
    text: `${TICKET}${document.reference}${END}${document.note ?? ""}`,
  });

/** What a ticket may be: a receipt, and the bill that a person made of one. */
const QUERIES = ["ItemReceiptQuery", "BillQuery"] as const;

/** QuickBooks makes a bill of a receipt when a person enters the vendor's bill from it. */
const isReceipt = (row: Element): boolean => markedBy(row, []).text?.startsWith(TICKET) === true;

function bookedOf(row: Element, state: "received" | "billed"): BookedTicket<Element> {
  const id = needed(row, "TxnID");
  const memo = textOf(row, "Memo") ?? "";
  const marked = markedBy(row, []);
  const { text } = marked;
  const number = heldNumber(row, marked.number, MOST);
  const lines = below(row, "ItemLineRet").filter((line) => decimalOf(line, "Quantity") !== null);
  const isVoid =
    /^VOID:/i.test(memo) && lines.every((line) => amountOf(line, "Quantity").sign === 0);
  const isLinked = below(row, "LinkedTxn").length > 0;
  // Lines that are not named are deleted when it is changed: groups are a person's.
  const hasGroups = below(row, "ItemGroupLineRet").length > 0;
  const isOpen =
    state === "received" && !isLinked && !hasGroups && amountOf(row, "TotalAmount").sign === 0;
  return {
    type: "in",
    id,
    number: number ?? id,
    called: `item receipt ${textOf(row, "RefNumber") ?? id}`,
    state: isVoid ? "void" : state,
    stage: isVoid ? "cancelled" : "done",
    fixed: true,
    open: isOpen,
    party: refOf(row, "VendorRef").name ?? "",
    reference: text?.startsWith(TICKET) === true ? referenceIn(text) : number,
    date: dayOf(row, "TxnDate"),
    lines: lines.map((line) =>
      goodsLine({
        product: refOf(line, "ItemRef").name,
        quantity: decimalOf(line, "Quantity"),
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

async function addOf(
  wire: Asked,
  config: ReceiptConfig,
  desired: Ticket,
  signal: AbortSignal,
): Promise<Values> {
  const { document, mark, number, party, payer } = desired;
  await expectNoStock(wire, config, document, signal);
  const row = payer?.native as Element | undefined;
  const ListID = row === undefined ? null : textOf(row, "ListID");
  return {
    VendorRef: ListID === null ? { FullName: party } : { ListID },
    TxnDate: document.date,
    RefNumber: documentNumber(number, number, MOST),
    Memo: memoOf(desired),
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
    const at = ordered.findIndex((one) => sameName(refOf(one, "ItemRef").name ?? "", line.product));
    const [one] = at < 0 ? [] : ordered.splice(at, 1);
    const Quantity = countedOf(unit, line);
    return one === undefined
      ? { ItemRef: { FullName: line.product }, Quantity }
      : { Quantity, LinkToTxn: { TxnID, TxnLineID: needed(one, "TxnLineID") } };
  });
}

async function orderedLines(wire: Asked, TxnID: string, signal: AbortSignal): Promise<Element[]> {
  const values = { TxnID, ...WITH_LINES };
  const [reply] = await wire.read([{ name: "PurchaseOrderQuery", values }], signal);
  return (reply?.rets ?? []).flatMap((row) => below(row, "PurchaseOrderLineRet"));
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
    message: `QuickBooks keeps a stock of the item ${textOf(stock, "FullName") ?? ""}: the item receipt and the platform's bill would each add to it`,
    next: "Make it a non-inventory part; or set receipts: linked, and enter bills in QuickBooks from the receipts; or take the flow of tickets out. Then retry.",
    field: "lines",
  });
}

const STOCK = /^ItemInventory(?:Assembly)?Ret$/;

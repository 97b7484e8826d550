/**
 * The platform's orders in QuickBooks, for src/ledger/orders.ts: what we sell as estimates (QuickBooks Online has no sales
 * orders), what we buy as purchase orders. Neither posts an amount: the platform's invoice is the one that is booked.
 */
import { roundHalfUp } from "../quickbooks/lines.ts";
import type { Call, Desired, GoodsAdapter, Step, StepTo } from "../../src/ledger/port.ts";
import type { InvoiceDocument, OrderDocument } from "../../src/ledger/documents.ts";
import { orRefused } from "../../src/ledger/entries.ts";
import {
  type BookedOrder,
  orderAdapter as adapterOf,
  type OrderNames,
} from "../../src/ledger/orders.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import type { FactLine } from "../../src/core/holdings.ts";
import {
  DOC_NUMBER_MOST,
  documentNumber,
  memoIn,
  numberHeld,
  oneLine,
} from "../quickbooks/text.ts";
import {
  amountLines,
  customerMemo,
  factOf,
  lineBodies,
  lineIn,
  linesOf,
  noteOf,
  numberOf,
  partyIdIn,
  partyIn,
  type Writing,
} from "./documents.ts";
import { idsOf, loadNames, writeNumbered } from "./invoices.ts";
import { expectFit, type Online } from "./online.ts";
import { inCurrency, partyIdOf } from "./parties.ts";
import { conditionsOf, having, isId, listed, OrderRow } from "./rows.ts";

type Side = OrderDocument["type"];

const ENTITIES = { sale: "Estimate", purchase: "PurchaseOrder" } as const;
/** The document whose lines and party an order has. */
const KINDS = { sale: "invoice", purchase: "bill" } as const;

export function orderAdapter(online: Online): GoodsAdapter<"order", OrderRow> {
  const adapter = adapterOf<OrderRow>({
    markedIn: "its memo",
    search: (side, names, signal) => search(online, side, names, signal),
    async *list(side, { dated, changedSince }, from, signal) {
      const of = { entity: ENTITIES[side], schema: OrderRow } as const;
      const conditions = conditionsOf({ dated, changedSince, open: false });
      for await (const { rows, position } of listed(online.wire, of, conditions, from, signal))
        yield { rows: rows.map((row) => bookedOf(online, side, row)), position };
    },
    isUnfinished: () => Promise.resolve(false),
    create: (desired, call) => create(online, desired, call),
    async renumber({ document }, { Id, SyncToken }, call) {
      const body = { sparse: true, Id, SyncToken, ...namesOf(document) };
      await online.wire.write(ENTITIES[document.type], body, call);
    },
    step: (to, one, call) => step(online, to, one, call),
  });
  return {
    ...adapter,
    accept: expectKept,
    async expected(documents, { signal }) {
      await expectFit(online, signal);
      for (const side of ["sale", "purchase"] as const) {
        const these = documents.filter(({ type }) => type === side).map(billed);
        await loadNames(online, KINDS[side], these);
      }
      return orRefused(documents, async (document) => {
        const kind = KINDS[document.type];
        const lines = linesOf(kind, online.config, billed(document)).map(factOf).map(untold);
        await idsOf(online, kind, billed(document));
        return { number: oneLine(document.number), words: { side: document.type }, lines };
      });
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
  const total = Decimal.sum(priced.map(({ amount }) => amount));
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

const namesOf = (document: OrderDocument): object => ({
  DocNumber: numberOf(document),
  PrivateNote: noteOf(document),
});

/** Of an order's line its text does not count: people write theirs. */
const untold = ({ product, quantity, unit, unitPrice, amount }: FactLine): FactLine => ({
  product,
  quantity,
  unit,
  unitPrice,
  amount,
});

async function search(
  online: Online,
  side: Side,
  { marks, references, numbers, ids, days }: OrderNames,
  signal: AbortSignal,
): Promise<BookedOrder<OrderRow>[]> {
  const { wire } = online;
  const entity = ENTITIES[side];
  const DocNumber = references.map((number) =>
    documentNumber(number, marks[0] ?? "", DOC_NUMBER_MOST),
  );
  const fields = { Id: [...numbers, ...ids].filter(isId), DocNumber };
  const rows = await having(wire, entity, OrderRow, fields, signal);
  // Somebody may have given it another number: no order is made before its day was looked through.
  const isAbsent = marks.some((mark) =>
    rows.every(({ PrivateNote }) => memoIn(PrivateNote)?.mark !== mark),
  );
  const others = isAbsent ? await having(wire, entity, OrderRow, { TxnDate: days }, signal) : [];
  const marked = others.filter(
    ({ Id, PrivateNote }) =>
      marks.includes(memoIn(PrivateNote)?.mark ?? "") && rows.every((row) => row.Id !== Id),
  );
  return [...rows, ...marked].map((row) => bookedOf(online, side, row));
}

function bookedOf({ names }: Online, side: Side, row: OrderRow): BookedOrder<OrderRow> {
  const { Id, TxnDate, DocNumber } = row;
  const memo = memoIn(row.PrivateNote);
  const { state, status } = entryIn(side, row);
  return {
    side,
    id: Id,
    number: status === "draft" ? null : Id,
    state,
    status,
    mark: memo?.mark ?? null,
    reference:
      memo === null
        ? DocNumber
        : numberHeld(
            DocNumber,
            memo.number,
            documentNumber(memo.number, memo.mark, DOC_NUMBER_MOST),
          ),
    party: partyIn(KINDS[side], row) ?? "",
    date: TxnDate,
    lines: amountLines(row).map((line) => untold(lineIn(names, line))),
    native: row,
  };
}

const STATUSES = { Pending: "draft", Rejected: "cancelled" } as const;

/** A purchase order counts from the moment that it is made; an estimate from its acceptance. */
function entryIn(
  side: Side,
  { TxnStatus, POStatus }: OrderRow,
): Pick<BookedOrder<OrderRow>, "state" | "status"> {
  if (side === "purchase") return { state: POStatus ?? "Open", status: "posted" };
  const state = TxnStatus ?? "Pending";
  return { state, status: STATUSES[state as keyof typeof STATUSES] ?? "posted" };
}

async function create(online: Online, desired: Desired<"order">, call: Call): Promise<string> {
  const { document, payer } = desired;
  const kind = KINDS[document.type];
  inCurrency(online, payer);
  const party = partyIdOf(payer);
  const ids = await idsOf(online, kind, billed(document));
  const body = orderBody({ ...writingOf(online, ids), party }, document);
  const number = numberOf(document);
  // Several loads may share one loading number: the order that another one of the platform is, is no clash.
  return writeNumbered(online, ENTITIES[document.type], { number, body }, call, (row) => {
    const mark = memoIn(row.PrivateNote)?.mark ?? desired.mark;
    return partyIdIn(kind, row) === party && mark === desired.mark ? "counts" : "of-another";
  });
}

const writingOf = (
  { config, surroundings }: Online,
  ids: ReadonlyMap<string, string>,
): Omit<Writing, "party"> => ({
  ...config,
  currency: surroundings.currency,
  itemId: (name) => ids.get(`item ${name}`) ?? "",
  accountId: (code) => ids.get(`account ${code}`) ?? "",
});

/** What is posted to make it. Members stand in the order of Intuit's schema. @throws Refused */
export function orderBody(writing: Writing, document: OrderDocument): object {
  const { type, status, date } = document;
  const kind = KINDS[type];
  const head = {
    DocNumber: numberOf(document),
    ...(date === null ? {} : { TxnDate: date }),
    ...(writing.multicurrency === "home" ? { CurrencyRef: { value: writing.currency } } : {}),
    PrivateNote: noteOf(document),
  };
  const Line = lineBodies(kind, writing, linesOf(kind, writing, billed(document)));
  const party = { value: writing.party };
  if (type === "purchase") return { ...head, Line, VendorRef: party, POStatus: "Open" };
  const TxnStatus = status === "draft" ? "Pending" : "Accepted";
  return { ...head, TxnStatus, Line, CustomerRef: party, ...customerMemo(document) };
}

/** Changes of an estimate that is not accepted yet, and nothing else of it (`sparse`); see goods.ts. @throws Refused */
export function orderChange(
  to: StepTo,
  { Id, SyncToken }: Pick<OrderRow, "Id" | "SyncToken">,
  writing: Omit<Writing, "party">,
  document: OrderDocument,
  named: object = {},
): object {
  const head = { sparse: true, Id, SyncToken };
  if (to !== "amended") return { ...head, TxnStatus: to === "posted" ? "Accepted" : "Rejected" };
  const kind = KINDS[document.type];
  return {
    ...head,
    ...named,
    Line: lineBodies(kind, writing, linesOf(kind, writing, billed(document))),
  };
}

async function step(
  online: Online,
  to: StepTo,
  { desired: { document }, entry, differences }: Step<"order", OrderRow>,
  call: Call,
): Promise<void> {
  const kind = KINDS[document.type];
  const ids =
    to === "amended" ? await idsOf(online, kind, billed(document)) : new Map<string, string>();
  const isRenumbered = differences.some(({ field }) => field === "number");
  const named = isRenumbered ? namesOf(document) : {};
  const body = orderChange(to, entry.native, writingOf(online, ids), document, named);
  await online.wire.write(ENTITIES[document.type], body, call);
}

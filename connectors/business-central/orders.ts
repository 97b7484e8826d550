/**
 * The platform's orders as sales and purchase orders. The API releases none and keeps no drafts apart: an order is made when
 * the platform confirms it. Business Central deletes one that is invoiced in full.
 */
import { z } from "zod";
import { Refused } from "../../src/core/errors.ts";
import type { Difference, FactLine } from "../../src/core/holdings.ts";
import type { OrderDocument } from "../../src/ledger/documents.ts";
import { goodsLine } from "../../src/ledger/goods.ts";
import { markOf, platformIdIn } from "../../src/ledger/notes.ts";
import type { GoodsRow, GoodsTable } from "../../src/ledger/orders.ts";
import type { LedgerSide } from "../../src/ledger/port.ts";
import type { BusinessCentralConfig } from "./config.ts";
import {
  cents,
  commentBody,
  dayOrNone,
  expectKept,
  Head,
  headOf,
  inScope,
  keptLine,
  lineBody,
  lineOf,
  LineRow,
  linesIn,
  Made,
  named,
  orderMarkIn,
  orderNumber,
  SIDES,
  textOrNone,
} from "./rows.ts";
import { BOOKS, equals, idsAre, type Wire } from "./wire.ts";

const NAMES = {
  sale: {
    set: "salesOrders",
    lines: "salesOrderLines",
    price: "unitPrice",
    moved: "salesShipments",
    movedLines: "salesShipmentLines",
    state: "shipped",
  },
  purchase: {
    set: "purchaseOrders",
    lines: "purchaseOrderLines",
    price: "directUnitCost",
    moved: "purchaseReceipts",
    movedLines: "purchaseReceiptLines",
    state: "received",
  },
} as const;

/** `order SO-1001`, with the platform's id where no field has it. */
const NUMBERED = /^order (.+?)(?: platform:\S+)?$/;

const Order = Head.extend({
  externalDocumentNumber: textOrNone,
  customerNumber: textOrNone,
  vendorNumber: textOrNone,
});
type Order = z.infer<typeof Order>;

/** What an order and its posted shipments or receipts say of it, with the texts of their comment lines. */
function orderIn(side: LedgerSide, row: Order, comments: readonly string[]) {
  const mark = orderMarkIn(row.externalDocumentNumber) ?? platformIdIn(comments.join("\n"));
  return {
    side,
    id: row.id,
    status: "posted" as const,
    marks: mark === null ? [] : [mark],
    reference: comments.flatMap((one) => NUMBERED.exec(one)?.[1] ?? []).at(0) ?? null,
    party: (side === "sale" ? row.customerNumber : row.vendorNumber) ?? "",
  };
}

const orderRow = (side: LedgerSide) =>
  Order.extend({ number: z.string(), orderDate: dayOrNone, status: named })
    .and(z.object({ [NAMES[side].lines]: z.array(LineRow) }))
    .transform((row): GoodsRow => {
      const all = row[NAMES[side].lines] as unknown as LineRow[];
      const { comments, lines } = linesIn(all);
      const isMoved = all.some(({ shippedQuantity, receivedQuantity, invoicedQuantity }) =>
        [shippedQuantity, receivedQuantity, invoicedQuantity].some((one) => one?.sign === 1),
      );
      return {
        ...orderIn(side, row, comments),
        number: row.number,
        state: row.status,
        date: row.orderDate,
        lines: lines.map(untold),
        ...(isMoved ? { besides: [movedTwice(side)] } : {}),
      };
    });

/** An order that Business Central has deleted, because it is delivered and invoiced in full. */
const movedRow = (side: LedgerSide) =>
  Order.extend({ orderNumber: textOrNone })
    .and(z.object({ [NAMES[side].movedLines]: z.array(MovedLine) }))
    .transform((row): GoodsRow => {
      const lines = row[NAMES[side].movedLines] as unknown as z.infer<typeof MovedLine>[];
      return {
        ...orderIn(
          side,
          row,
          lines.filter(({ lineType }) => lineType === "").map(({ description }) => description),
        ),
        number: row.orderNumber,
        state: NAMES[side].state,
        date: null,
        lines: null,
        besides: [movedTwice(side)],
      };
    });
const MovedLine = z.object({ lineType: named, description: z.string() });

/** The platform's invoice or bill moves its goods when it is posted: an order that people post moves them a second time. */
const movedTwice = (side: LedgerSide): Difference => ({
  field: "state",
  expected: "confirmed",
  held: `${NAMES[side].state} there, and once more by the platform's ${side === "sale" ? "invoice" : "bill"}`,
});

/** What the floor compares of a line. */
const untold = ({ product, quantity, unit, unitPrice }: FactLine): FactLine =>
  goodsLine({ product, quantity, unit, unitPrice });

const keptLines = ({ lines }: OrderDocument) =>
  lines.map(({ description: text, ...line }) =>
    keptLine(
      { ...line, account: null, amount: cents(line.quantity.times(line.unitPrice)), text },
      "",
    ),
  );

export function orders(wire: Wire, config: BusinessCentralConfig): GoodsTable<"order", GoodsRow> {
  const rows = { sale: orderRow("sale"), purchase: orderRow("purchase") };
  const movedRows = { sale: movedRow("sale"), purchase: movedRow("purchase") };
  const more = lineOf(config);
  return {
    can: { has: ["posted"], amend: {} },
    markedIn: "its external document number, or its comment line",
    accept({ type, date, party }) {
      expectKept(party);
      // Its mark is in a comment, so it is found again among the orders of its day.
      if (type === "purchase" && date === null)
        throw new Refused({
          code: "no-date",
          message: `a purchase order needs a date in ${BOOKS}`,
          next: "Correct it where the order comes from; it is delivered by itself.",
          field: "date",
        });
    },
    kept: (document) => ({
      number: document.number,
      words: { side: document.type },
      lines: keptLines(document).map(untold),
    }),
    async search({ side, marks, references, numbers, ids, days }, signal) {
      const { set, lines, moved, movedLines } = NAMES[side];
      const external =
        side === "sale" ? equals("externalDocumentNumber", marks.map(orderNumber)) : [];
      const either = async (conditions: readonly (readonly string[])[]) =>
        (
          await Promise.all(
            conditions.map((one) => wire.either(set, one, rows[side], signal, { $expand: lines })),
          )
        ).flat();
      const found = await either([
        idsAre(ids),
        equals("number", numbers),
        side === "sale" ? external : days.map((day) => `orderDate eq ${day}`),
        // No field has the platform's number: who asks by it alone is shown all that are open.
        references.length > 0 && marks.length === 0 ? ["number ne ''"] : [],
      ]);
      const isAsked = ({ reference }: GoodsRow) =>
        marks.length > 0 || references.length === 0 || references.includes(reference ?? "");
      const known = new Map(found.filter(isAsked).map((row) => [row.id, row]));
      const isThere = (number: string | null) => found.some((row) => row.number === number);
      // One that is gone is known by what was shipped of it.
      const gone = numbers.filter((number) => !isThere(number));
      for (const conditions of [equals("orderNumber", gone), external])
        for (const row of await wire.either(moved, conditions, movedRows[side], signal, {
          $expand: movedLines,
        }))
          if (row.number !== null && !isThere(row.number)) known.set(row.number, row);
      return [...known.values()];
    },
    list(side, scope, from, signal) {
      const { set, lines } = NAMES[side];
      const asked = { query: { $expand: lines }, row: rows[side], date: "orderDate" };
      return inScope(wire, set, asked, { ...scope, open: false }, from, signal);
    },
    async create({ document, payer, mark, party }, { signal }) {
      const { type: side, date, number } = document;
      const { set, lines, price } = NAMES[side];
      const isSale = side === "sale";
      const body = {
        ...(isSale ? { externalDocumentNumber: orderNumber(mark) } : {}),
        [SIDES[side].party]: payer?.number ?? party,
        ...(date === null ? {} : { orderDate: date }),
        ...headOf(config),
        [lines]: [
          ...keptLines(document).map((line) => lineBody(line, price, more)),
          commentBody(`order ${number}${isSale ? "" : ` ${markOf(mark)}`}`),
        ],
      };
      return (await wire.call(`/${set}`, Made, { body }, signal)).id;
    },
    // What is to change or to end is a person's.
    apply: async () => {},
  };
}

/**
 * The platform's orders as sales and purchase orders. The API releases none and keeps no drafts apart: an order is made when
 * the platform confirms it. Business Central deletes one that is invoiced in full.
 */
import { z } from "zod";
import { Refused } from "../../src/core/errors.ts";
import { Decimal } from "../../src/core/decimal.ts";
import type { FactLine } from "../../src/core/holdings.ts";
import type { OrderDocument } from "../../src/ledger/documents.ts";
import { goodsLine } from "../../src/ledger/goods.ts";
import { markOf, platformIdIn } from "../../src/ledger/notes.ts";
import type { GoodsRow, GoodsTable } from "../../src/ledger/orders.ts";
import type { LedgerSide } from "../../src/ledger/port.ts";
import type { BusinessCentralConfig } from "./config.ts";
import {
  commentBody,
  dayOrNone,
  expectKept,
  externalNumber,
  Head,
  headOf,
  inScope,
  keptLine,
  lineBody,
  lineOf,
  LineRow,
  linesIn,
  Made,
  markIn,
  named,
  SIDES,
  textOrNone,
} from "./rows.ts";
import { BOOKS, equals, idsAre, type Wire } from "./wire.ts";

const NAMES = {
  sale: { set: "salesOrders", lines: "salesOrderLines", price: "unitPrice" },
  purchase: { set: "purchaseOrders", lines: "purchaseOrderLines", price: "directUnitCost" },
} as const;

/** `order SO-1001`, with the platform's id where no field has it. */
const NUMBERED = /^order (.+?)(?: platform:\S+)?$/;

function orderRow(side: LedgerSide) {
  const { lines } = NAMES[side];
  const { party } = SIDES[side];
  return Head.extend({
    number: z.string(),
    orderDate: dayOrNone,
    status: named,
    externalDocumentNumber: textOrNone,
  })
    .and(z.object({ [party]: z.string() }))
    .and(z.object({ [lines]: z.array(LineRow) }))
    .transform((row): GoodsRow => {
      const { comments, lines: counted } = linesIn(row[lines] as unknown as LineRow[]);
      const mark = markIn(row.externalDocumentNumber) ?? platformIdIn(comments.join("\n"));
      return {
        side,
        id: row.id,
        number: row.number,
        status: "posted",
        state: row.status,
        marks: mark === null ? [] : [mark],
        reference: comments.flatMap((one) => NUMBERED.exec(one)?.[1] ?? []).at(0) ?? null,
        party: row[party] ?? "",
        date: row.orderDate,
        lines: counted.map(untold),
      };
    });
}

/** What the floor compares of a line. */
const untold = ({ product, quantity, unit, unitPrice }: FactLine): FactLine =>
  goodsLine({ product, quantity, unit, unitPrice });

const keptLines = ({ lines }: OrderDocument) =>
  lines.map(({ description: text, ...line }) =>
    keptLine({ ...line, account: null, amount: Decimal.zero, text }, ""),
  );

export function orders(wire: Wire, config: BusinessCentralConfig): GoodsTable<"order", GoodsRow> {
  const rows = { sale: orderRow("sale"), purchase: orderRow("purchase") };
  const more = lineOf(config);
  return {
    can: { has: ["posted"], amend: {} },
    markedIn: "its external document number, or its comment line",
    accept({ type, date, lines, party }) {
      expectKept(party, lines);
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
      const { set, lines } = NAMES[side];
      const found = await Promise.all(
        [
          idsAre(ids),
          equals("number", numbers),
          side === "sale"
            ? equals("externalDocumentNumber", marks.map(externalNumber))
            : days.map((day) => `orderDate eq ${day}`),
        ].map((conditions) => wire.either(set, conditions, rows[side], signal, { $expand: lines })),
      );
      // No field has the platform's number: who asks by it alone is shown all that are open.
      const all = references.length > 0 && marks.length === 0;
      const open = all
        ? await wire.either(set, ["number ne ''"], rows[side], signal, { $expand: lines })
        : [];
      const named = open.filter(({ reference }) => references.includes(reference ?? ""));
      return [...new Map([...found.flat(), ...named].map((row) => [row.id, row])).values()];
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
        ...(isSale ? { externalDocumentNumber: externalNumber(mark) } : {}),
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

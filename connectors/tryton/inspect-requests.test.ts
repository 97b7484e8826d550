import { describe, expect, test } from "vitest";
import type { Answer } from "../../src/core/outcome.ts";
import type { Sink } from "../../src/core/contract.ts";
import type { OrderDocument, ShipmentDocument } from "../../src/ledger/documents.ts";
import { numbers, runs } from "../../test/support/runs.ts";
import { trytonIsThere, useTryton } from "../../test/support/tryton.ts";
import { fileOf } from "../../test/support/tryton-file.ts";
import type { Books } from "./books.ts";
import {
  between,
  COMPANY_ID,
  d,
  type Desk,
  deskIn,
  inspected,
  invoiceDocument,
  send,
} from "./sink.fixture.ts";
import { invoiceSink, orderSink, shipmentSink } from "./sinks.fixture.ts";

/** In the long run as many as one look asks for (src/ledger/driver.ts). */
const MANY = runs(5, 200);

interface Sent {
  readonly id: string;
  readonly number: string;
}
/** What a link calls a document; `at`: its number among many, as {@link multiply} gives it. */
type Named = (document: Sent, at: number) => string;
/** Columns that are not copied as they are, as SQL over the row and `at`. */
type Columns = Readonly<Record<string, string>>;

describe.skipIf(!trytonIsThere)("what an inspection asks of Tryton", () => {
  const server = useTryton();

  test(
    `${MANY} orders cost as many requests as one, and a changed line of one is found`,
    numbers,
    async () => {
      const desk = deskIn(server);
      const { tables, named, sent } = await anOrder(desk);
      const inspect = await expectEqualCost(desk, orderSink, sent, tables, named);
      change(desk, "update sale_line set quantity = 1 where id = (select max(id) from sale_line)");
      expect(await inspect()).toEqual([expect.stringMatching(/^lines\.\d/)]);
    },
  );

  test(
    `${MANY} delivery tickets cost as many requests as one, and another day of one is found`,
    numbers,
    async () => {
      const desk = deskIn(server);
      const { tables, named, sent } = await aTicket(desk);
      const inspect = await expectEqualCost(desk, shipmentSink, sent, tables, named);
      change(
        desk,
        `update stock_shipment_out set effective_date = '2026-11-19' where id = ${LAST}`,
      );
      expect(await inspect()).toEqual([`days.date: 2026-11-19 for ${sent.date}`]);
    },
  );

  test(
    `${MANY} invoices cost as many requests as one, and another reference of one is found`,
    numbers,
    async () => {
      const desk = deskIn(server);
      const sent = invoiceDocument();
      expect(await send(invoiceSink(desk.books), sent)).toMatchObject({ outcome: "done" });
      const tables = {
        account_invoice: { number: NUMBER(sent), reference: NUMBER(sent), comment: ID("comment") },
        account_invoice_line: { invoice: "invoice * 1000 + at" },
        account_invoice_tax: { invoice: "invoice * 1000 + at" },
      };
      const inspect = await expectEqualCost(
        desk,
        invoiceSink,
        sent,
        tables,
        ({ number }) => number,
      );
      change(desk, `update account_invoice set reference = 'PO 1' where id = ${LAST}`);
      expect(await inspect()).toEqual([`reference: PO 1 for ${sent.number}-${MANY - 1}`]);
    },
  );
});

const NUMBER = ({ number }: Sent): string => `'${number}-' || at`;
/** Every platform id in the column becomes one of its own. */
const ID = (column: string): string => `replace(${column}, :id, :id || '-' || at)`;

/** The id of the last copy of a first row. */
const LAST = 1000 + MANY - 1;

const change = ({ database }: Desk, sql: string): void => void fileOf(database).exec(sql);

/**
 * Compares the cost of the first document with that of many, made of it row by row in Tryton's database. Inspects them
 * again: the differences of all of them.
 */
async function expectEqualCost(
  desk: Desk,
  sinkOf: (books: Books) => Sink,
  document: Sent,
  tables: Readonly<Record<string, Columns>>,
  named: Named,
): Promise<() => Promise<string[]>> {
  multiply(desk, tables, document.id);
  const calls: string[] = [];
  const before = async (method: string): Promise<void> => void calls.push(method);
  const sink = sinkOf(between(desk.books, { before }));
  const differences = async (documents: readonly Sent[]): Promise<string[]> => {
    const answer: Answer = {
      outcome: "done",
      detail: "",
      ids: documents.map((one, at) => named(one, at)),
    };
    return (await inspected(sink, documents, answer)).flat();
  };
  const costOf = async (documents: readonly Sent[]): Promise<string[]> => {
    calls.length = 0;
    expect(await differences(documents)).toEqual([]);
    return calls.toSorted();
  };
  const many = Array.from({ length: MANY - 1 }, (_, at) => ({
    ...document,
    id: `${document.id}-${at + 1}`,
    number: `${document.number}-${at + 1}`,
  }));
  // What accounts, products and units are called is asked for once in ten minutes.
  await costOf([document]);
  const one = await costOf([document]);
  expect(await costOf([document, ...many])).toEqual(one);
  expect(one.length).toBeLessThanOrEqual(5);
  return () => differences([document, ...many]);
}

/** Copies of all rows of these tables, MANY - 1 of each; a row's id gets a place among a thousand. */
function multiply(desk: Desk, tables: Readonly<Record<string, Columns>>, id: string): void {
  const file = fileOf(desk.database);
  for (const [table, changed] of Object.entries(tables)) {
    const columns = file.pragma(`table_info(${table})`) as { readonly name: string }[];
    const names = columns.map(({ name }) => `"${name}"`);
    const values = columns.map(({ name }) =>
      name === "id" ? "id * 1000 + at" : (changed[name] ?? `"${name}"`),
    );
    file
      .prepare(
        `with recursive place (at) as (select 1 union all select at + 1 from place where at < :most)
         insert into ${table} (${names.join(", ")}) select ${values.join(", ")} from ${table}, place`,
      )
      .run({ most: MANY - 1, ...(JSON.stringify(changed).includes(":id") ? { id } : {}) });
  }
}

const PARTY = { code: "C1", name: "Acme", companyId: COMPANY_ID };

async function anOrder({ books }: Desk) {
  const line = { unit: "gal", unitPrice: d("2.413755"), description: "ULSD" };
  const sent: OrderDocument = {
    id: "0b6f7a52-4c1e-4d8a-9f5e-1c2d3e4f5a6b",
    number: "LD-1",
    party: PARTY,
    type: "sale",
    status: "confirmed",
    date: "2026-11-20",
    description: null,
    lines: ["ULSD-CLR", "087"].map((product) => ({ ...line, product, quantity: d("8000.5") })),
  };
  expect(await send(orderSink(books), sent)).toMatchObject({ outcome: "done" });
  const tables = {
    sale_sale: { number: "1000 + at", reference: NUMBER(sent), comment: ID("comment") },
    sale_line: { sale: "sale * 1000 + at" },
  };
  const named: Named = ({ id }, at) => `sale ${at === 0 ? 1 : 1000 + at} platform:${id}`;
  return { sent, tables, named };
}

async function aTicket({ books }: Desk) {
  const measured = { grossGallons: null, netGallons: null, temperature: null, apiGravity: null };
  const sent: ShipmentDocument = {
    id: "1c6f7a52-4c1e-4d8a-9f5e-1c2d3e4f5a6b",
    number: "DT-1",
    party: PARTY,
    type: "out",
    status: "done",
    order: null,
    date: "2026-11-20",
    reference: "BOL 1",
    note: null,
    lines: [{ product: "ULSD-CLR", quantity: d("7998.7"), unit: "gal", ...measured }],
  };
  expect(await send(shipmentSink(books), sent)).toMatchObject({ outcome: "done" });
  const resource = `'stock.shipment.out,' || (substr(%, length('stock.shipment.out,') + 1) * 1000 + at)`;
  const tables = {
    stock_shipment_out: { number: NUMBER(sent) },
    stock_move: { shipment: resource.replace("%", "shipment") },
    ir_note: { resource: resource.replace("%", "resource"), message: ID("message") },
  };
  const named: Named = ({ id, number }) => `${number} done platform:${id}`;
  return { sent, tables, named };
}

/**
 * Orders in Tryton, for src/books/orders.ts: sales to customers and purchases from suppliers.
 *
 * Tryton invoices nothing of them (`invoice_method` manual): the platform's invoice is the one that is booked. Nor does
 * it plan their delivery: see orders-expected.ts.
 */
import type { GoodsAdapter, Step, StepTo, Wanted } from "../../src/books/adapter.ts";
import type { OrderDocument } from "../../src/books/documents.ts";
import { goodsLine } from "../../src/books/goods.ts";
import { markOf, platformIdIn } from "../../src/books/marks.ts";
import { type BookedOrder, orderAdapter as adapterOf } from "../../src/books/orders.ts";
import type { Decimal } from "../../src/core/decimal.ts";
import type { Books } from "./books.ts";
import { closeExpected, isExpected } from "./orders-expected.ts";
import { type Addressed, addressedAll } from "./parties.ts";
import { ofCompany, rowsOf } from "./search.ts";
import { day, exact, float } from "./values.ts";

type Type = OrderDocument["type"];

/** An order as it stands in Tryton. */
interface Row {
  readonly id: number;
  readonly number: string | null;
  readonly state: "draft" | "quotation" | "confirmed" | "processing" | "done" | "cancelled";
  readonly invoice_method: string;
  readonly "party.": { readonly code: string };
  readonly comment: string | null;
  readonly reference: string | null;
  readonly "lines.": readonly {
    readonly id: number;
    readonly quantity: Decimal | number;
    readonly unit_price: Decimal | number;
    readonly "product.": { readonly code: string | null } | null;
    readonly "unit.": { readonly symbol: string } | null;
  }[];
}

const FIELDS = `
  number state invoice_method party.code comment reference
  lines(quantity unit_price product.code unit.symbol)
`;

const MANUAL = "manual";

export const orderAdapter = (books: Books): GoodsAdapter<"order", Row> =>
  adapterOf({
    markedIn: "its comment",
    async search(type, { marks, references, numbers, ids }, signal) {
      const clause = [
        "OR",
        ...marks.map((mark) => ["comment", "like", `%${markOf(mark)}%`]),
        ["reference", "in", references],
        ["number", "in", numbers],
        ["id", "in", ids.map(Number)],
      ];
      const domain = [await ofCompany(books), clause];
      const rows = await rowsOf<Row>(books, `${type}.${type}`, domain, FIELDS, { signal });
      return rows.map((row) => bookedOf(type, row));
    },
    isUnfinished: ({ side, native }) => isExpected(books, side, native.id),
    create: (wanted) => create(books, wanted),
    step: (to, one) => step(books, to, one),
  });

const OPEN: readonly string[] = ["draft", "quotation"];

function bookedOf(side: Type, native: Row): BookedOrder<Row> {
  const { id, number, state, comment, reference, invoice_method, ...row } = native;
  const rung = state === "cancelled" ? state : OPEN.includes(state) ? "draft" : "posted";
  const isInvoiced = rung === "posted" && invoice_method !== MANUAL;
  return {
    side,
    id: String(id),
    number,
    state,
    rung,
    mark: platformIdIn(comment),
    reference,
    party: row["party."].code,
    lines: row["lines."].map((line) =>
      goodsLine({
        product: line["product."]?.code ?? null,
        quantity: exact(line.quantity),
        unit: line["unit."]?.symbol ?? null,
        unitPrice: exact(line.unit_price),
      }),
    ),
    ...(isInvoiced ? { stranger: "is invoiced by Tryton itself" } : {}),
    native,
  };
}

async function create(books: Books, wanted: Wanted<"order">): Promise<string> {
  const { tryton, config, lookup } = books;
  const { type, date, number, description } = wanted.document;
  const [{ id: party, address }] = (await addressedAll(books, [wanted])) as [Addressed];
  const values = {
    company: (await tryton.session()).company,
    party,
    invoice_address: address,
    currency: await lookup.currency(config.currency),
    warehouse: await lookup.location(config.warehouse),
    ...methodsOf(type),
    ...(type === "sale" ? { shipment_address: address } : {}),
    ...(date === null ? {} : { [`${type}_date`]: day(date) }),
    reference: number,
    description: description?.replaceAll(/\s+/g, " ") ?? null,
    comment: markOf(wanted.mark),
    lines: [["create", await lineValues(books, wanted.document)]],
  };
  const [id] = await tryton.call<[number]>(`model.${type}.${type}.create`, [[values]]);
  return String(id);
}

const methodsOf = (type: Type): object => ({
  invoice_method: MANUAL,
  ...(type === "sale" ? { shipment_method: MANUAL } : {}),
});

async function lineValues({ lookup }: Books, { lines }: OrderDocument): Promise<object[]> {
  const values: object[] = [];
  for (const { product, quantity, unit, unitPrice, description } of lines)
    values.push({
      type: "line",
      product: (await lookup.product(product)).id,
      quantity: float(quantity),
      unit: (await lookup.unit(unit)).id,
      unit_price: unitPrice,
      description,
    });
  return values;
}

/** @throws Refused, TrytonError */
async function step(
  books: Books,
  to: StepTo,
  { wanted: { document }, standing }: Step<"order", Row>,
): Promise<void> {
  const { id, state, invoice_method, "lines.": rows } = standing.native;
  const call = (method: string, ...params: unknown[]): Promise<unknown> =>
    books.tryton.call(`model.${document.type}.${document.type}.${method}`, [[id], ...params]);
  if (to === "cancelled") await call("cancel");
  if (to === "amended") {
    if (state === "quotation") await call("draft");
    const old = rows.map((row) => row.id);
    const lines = [
      ["delete", old],
      ["create", await lineValues(books, document)],
    ];
    await call("write", { lines });
  }
  if (to !== "posted") return;
  if (OPEN.includes(state)) {
    if (invoice_method !== MANUAL) await call("write", methodsOf(document.type));
    // What a kill left as a quotation is one: 8.0 makes none of it again.
    if (state === "draft") await call("quote");
    await call("confirm");
  }
  await closeExpected(books, document.type, id);
}

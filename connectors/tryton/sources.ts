/** What changed in Tryton, by its stamps, and the prices of its price lists. */
import type { StampFeed } from "../../src/ledger/stamps.ts";
import { type PriceTable, stampedRows } from "../../src/ledger/table.ts";
import type { Books } from "./books.ts";
import * as rpc from "./rows.ts";

/*
 * Tryton's stamps for the walk of src/ledger/stamps.ts: `create_date`, and `write_date` from the first change on (null
 * before it).
 */

/** Rows of one model whose change is a change of a record: the record's own, or those of its parts. */
export interface Part {
  /** `account.invoice.line` */
  readonly model: string;
  /** The field that has the record's id: `invoice`, or `id` for the record itself. */
  readonly record: string;
  /** Which rows. They must not leave it by being changed, or that change is not seen. */
  readonly domain: rpc.Domain;
  /** What its position is stored under, where two parts are of one model; its model when left out. */
  readonly name?: string;
  /** See {@link StampFeed}. */
  readonly once?: boolean;
}

const STAMPS = ["create_date", "write_date"] as const;

/** A source of records that are made of these parts. @param rowsOf these records as they are now */
export const changedRows = <Row>(
  books: Books,
  parts: readonly Part[],
  rowsOf: (ids: readonly number[], signal: AbortSignal) => Promise<readonly Row[]>,
) =>
  stampedRows(
    parts.flatMap((part) => STAMPS.map((field) => feedOf(books, part, field))),
    rowsOf,
  );

function feedOf(books: Books, part: Part, field: (typeof STAMPS)[number]): StampFeed {
  const { model, record, name = model, once = false } = part;
  const fields = {
    at: rpc.called(field, rpc.as<string>()),
    record: rpc.called(record, rpc.as<number>()),
  };
  const read = (
    domain: rpc.Domain,
    direction: "ASC" | "DESC",
    most: number,
    signal: AbortSignal,
  ) => {
    const order = [
      [field, direction],
      ["id", direction],
    ] as const;
    const rows = [...part.domain, [field, "!=", null], ...unchanged(field), ...domain];
    // Inactive rows have changed too: that is how they became inactive.
    const search = { order, most, inactive: true, signal } as const;
    return rpc.rowsOf(books, model, rows, fields, search);
  };
  return {
    name: `${name} ${field}`,
    once,
    async newest(signal) {
      const [newest] = await read([], "DESC", 1, signal);
      return newest?.at ?? null;
    },
    page: ({ at, id }, until, most, signal) =>
      read(after(field, at, id, until), "ASC", most, signal),
  };
}

/** The rows after (at, id), up to a stamp. Comparisons with a stamp that is null are false on every database. */
const after = (field: string, at: string, id: number, until: string): rpc.Domain => [
  [field, "<=", rpc.stamp(until)],
  rpc.either(
    { [`${field} >`]: rpc.stamp(at) },
    rpc.where({ [`${field} =`]: rpc.stamp(at), "id >": id }),
  ),
];

/** A row that was changed comes by its write_date. */
const unchanged = (field: string): rpc.Domain =>
  field === "create_date" ? rpc.where({ "write_date =": null }) : [];

/*
 * Prices of products in price lists, of which people name one after each terminal. A line that is for one product and
 * whose formula is a number is its price; one that is for a category, or for all products, is no price of a product.
 */

const PRICE_LINES = "product.price_list.line";
/** A list that is renamed is another terminal: all of its prices come again. */
const PRICE_PARTS: readonly Part[] = [
  { model: PRICE_LINES, record: "price_list", domain: [] },
  { model: "product.price_list", record: "id", domain: [] },
];

const LINE = {
  ...rpc.texts("formula"),
  // The least quantity that it is for.
  ...rpc.amountsOrNone("quantity"),
  ...rpc.texts("price_list.name"),
  product: rpc.one({
    ...rpc.textsOrNone("code"),
    ...rpc.texts("name default_uom.symbol"),
  }),
};

export const priceTable = (books: Books): PriceTable<PriceRow> => ({
  records: {
    changed: changedRows(books, PRICE_PARTS, (ids, signal) => priceRows(books, ids, signal)),
  },
  line: ({ price_list, product, formula, quantity }) => ({
    list: price_list,
    code: product.code,
    name: product.name,
    unit: product.default_uom,
    formula,
    byQuantity: quantity !== null && quantity.sign !== 0,
  }),
});

type PriceRow = rpc.RowOf<typeof LINE>;

/** All lines of products in these lists as they are now. @throws TrytonError */
async function priceRows(
  books: Books,
  ids: readonly number[],
  signal: AbortSignal,
): Promise<readonly PriceRow[]> {
  const asked = rpc.where({ "id in": ids });
  const lists = await rpc.rowsOf(books, "product.price_list", asked, rpc.texts("name"), { signal });
  // By name: two lists of one name would be two prices of one terminal.
  const domain = rpc.where({
    ...(await rpc.ofCompany(books, "price_list.company")),
    "price_list.name in": lists.map(({ name }) => name),
    "product !=": null,
  });
  return rpc.rowsOf(books, PRICE_LINES, domain, LINE, { order: ORDER, signal });
}

/** As Tryton looks for the line that counts: the first one in this order. */
const ORDER = [
  ["price_list", "ASC"],
  ["sequence", "ASC"],
  ["id", "ASC"],
] as const;

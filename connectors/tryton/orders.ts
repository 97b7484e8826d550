/**
 * Orders in Tryton, for the driver of src/books: sales to customers and purchases from suppliers.
 *
 * Tryton invoices nothing of them (`invoice_method` manual): the platform's invoice is the one that is booked. Nor does
 * it plan their delivery: see orders-expected.ts.
 */
import {
  BARE,
  type GoodsAdapter,
  type Standing,
  type Step,
  type StepTo,
  type Wanted,
} from "../../src/books/adapter.ts";
import type { OrderDocument } from "../../src/books/documents.ts";
import { goodsLine } from "../../src/books/goods.ts";
import { markOf, platformIdIn } from "../../src/books/marks.ts";
import type { Decimal } from "../../src/core/decimal.ts";
import type { Facts } from "../../src/core/holdings.ts";
import type { Books } from "./books.ts";
import { closeExpected, isExpected } from "./orders-expected.ts";
import { addressedAll } from "./parties.ts";
import { ofCompany, rowsOf } from "./search.ts";
import { day, exact, float } from "./values.ts";

type Type = OrderDocument["type"];
type OrderStep = Step<"order", Row>;

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

const TYPES = ["sale", "purchase"] as const;
const MANUAL = "manual";

export const orderAdapter = (books: Books): GoodsAdapter<"order", Row> => ({
  ladder: {
    has: ["draft", "posted", "cancelled"],
    byUs: "posted",
    amend: { lines: "draft" },
    atomic: 1,
    numbered: "per-party",
  },
  expected: async (documents) => documents.map(expectedOf),
  locate: async (wanted) => (await Promise.all(wanted.map((one) => locate(books, one)))).flat(),
  create: (wanted) => create(books, wanted),
  async advance(to, steps) {
    for (const one of steps) await step(books, to, one);
  },
  async get(ids, { signal }) {
    const all: Standing<Row>[] = [];
    for (const type of TYPES) {
      const asked = ids.flatMap((id) => orderIn(id) ?? []).filter((order) => order.type === type);
      const numbers = asked.flatMap(({ number }) => number ?? []);
      const drafts = asked.flatMap(({ draft }) => draft ?? []);
      const named = ["OR", ["number", "in", numbers], ["id", "in", drafts]];
      const domain = [await ofCompany(books), named];
      const rows = await rowsOf<Row>(books, `${type}.${type}`, domain, FIELDS, { signal });
      // What has its number was confirmed: one that is open again is of books set back to before that.
      for (const one of rows.map((row) => standingOf(type, row)))
        all.push(one.rung === "draft" ? { ...one, id: one.aliases?.[0] ?? null } : one);
    }
    return all;
  },
});

const expectedOf = ({ type, lines }: OrderDocument): Facts => ({
  words: { side: type },
  lines: lines.map(({ product, quantity, unit, unitPrice }) =>
    goodsLine({ product, quantity, unit, unitPrice }),
  ),
});

/**
 * What has its mark or its reference, and what its link names; of the other type too. What a person entered before us has
 * no mark; another document's is not its own, though books that were restored have given it our number.
 */
async function locate(
  books: Books,
  { document, mark, binding }: Wanted<"order">,
): Promise<Standing<Row>[]> {
  const named = binding === null ? null : orderIn(binding);
  const all: Standing<Row>[] = [];
  for (const type of TYPES) {
    const isOwn = type === document.type;
    const called = named?.type === type && (isOwn || named.platformId === null) ? named : null;
    const clause = [
      "OR",
      ["comment", "like", `%${markOf(mark)}%`],
      ["reference", "=", document.number],
      ...(called?.number ? [["number", "=", called.number]] : []),
      ...(called?.draft ? [["id", "=", called.draft]] : []),
    ];
    const domain = [await ofCompany(books), clause];
    for (const row of await rowsOf<Row>(books, `${type}.${type}`, domain, FIELDS)) {
      const whose = platformIdIn(row.comment);
      const isBound =
        row.number === null ? row.id === called?.draft : row.number === called?.number;
      const isEntered = isOwn ? isBound || row.state !== "cancelled" : isBound;
      if (whose !== mark && (whose !== null || !isEntered)) continue;
      all.push(
        standingOf(type, row, {
          unfinished: isOwn && rungOf(row) === "posted" && (await isExpected(books, type, row.id)),
          bound: isOwn && isBound && row.number !== null,
          owner: mark,
        }),
      );
    }
  }
  return all;
}

/** What the id of an order says. */
interface OrderName {
  readonly type: "sale" | "purchase";
  /** Null for a draft. */
  readonly number: string | null;
  /** A draft's database id. */
  readonly draft: number | null;
  /** The platform's id that its comment has; null where a person entered it, and in ids that had no mark yet. */
  readonly platformId: string | null;
}

/**
 * `sale 12 platform:0b6f…`, `purchase #5 platform:…`. In books that were restored a number is given again, and a
 * database id too: only with the mark it is the same order. Null: no id of ours.
 */
export function orderIn(id: string): OrderName | null {
  const [, type, draft, number, platformId = null] =
    /^(sale|purchase) (?:#(\d+)|(\S+))(?: platform:(\S+))?$/.exec(id) ?? [];
  if (type === undefined) return null;
  return {
    type: type as OrderName["type"],
    number: number ?? null,
    draft: draft === undefined ? null : Number(draft),
    platformId,
  };
}

const OPEN: readonly string[] = ["draft", "quotation"];

const rungOf = ({ state }: Row): "draft" | "posted" | "cancelled" =>
  state === "cancelled" ? state : OPEN.includes(state) ? "draft" : "posted";

/** `sale 12`, `purchase #5` (a draft has no number): both kinds count from 1, and a name must be of one of them. */
function standingOf(
  type: Type,
  row: Row,
  { unfinished = false, bound = false, owner = "" } = {},
): Standing<Row> {
  const { id, number, state, comment } = row;
  const rung = rungOf(row);
  const mark = platformIdIn(comment);
  const called = `${type} ${number ?? `#${id}`}`;
  const marked = (name: string): string[] =>
    mark === null ? [name] : [name, `${name} ${markOf(mark)}`];
  return {
    ...BARE,
    id: marked(called).at(-1) ?? called,
    aliases: [...marked(`${type} #${id}`), ...(rung === "draft" ? [] : marked(called))],
    mark,
    number: row.reference,
    party: row["party."].code,
    rung,
    unfinished,
    facts: {
      words: { side: type },
      lines: row["lines."].map((line) =>
        goodsLine({
          product: line["product."]?.code ?? null,
          quantity: exact(line.quantity),
          unit: line["unit."]?.symbol ?? null,
          unitPrice: exact(line.unit_price),
        }),
      ),
    },
    goods: {
      called,
      state,
      told: `${called} ${state}`,
      bound,
      ...(rung === "posted" && row.invoice_method !== MANUAL
        ? { stranger: "is invoiced by Tryton itself" }
        : {}),
      unmarking: `${markOf(mark ?? owner)} out of its comment`,
    },
    native: row,
  };
}

async function create(books: Books, wanted: readonly Wanted<"order">[]): Promise<string[]> {
  const { tryton, config, lookup } = books;
  const parties = await addressedAll(books, wanted);
  const ids: string[] = [];
  for (const [at, { document, mark }] of wanted.entries()) {
    const { type, date, number, description } = document;
    const { id: party, address } = parties[at] as (typeof parties)[number];
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
      comment: markOf(mark),
      lines: [["create", await lineValues(books, document)]],
    };
    const [id] = await tryton.call<[number]>(`model.${type}.${type}.create`, [[values]]);
    ids.push(`${type} #${id} ${markOf(mark)}`);
  }
  return ids;
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
async function step(books: Books, to: StepTo, { wanted, standing }: OrderStep): Promise<void> {
  const { document } = wanted;
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

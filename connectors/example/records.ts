/**
 * Records as the ledger answers them, and its calls for them, which are the same for every table. Money and quantities are
 * exact; days are `YYYY-MM-DD`; stamps are UTC.
 */
import { z } from "zod";
import {
  counter,
  day,
  dayOrNone,
  decimal,
  decimalOrNone,
  text,
  textOrNone,
} from "../../src/ledger/documents.ts";
import type { Call, Desired, StepTo } from "../../src/ledger/port.ts";
import type { Notes } from "../../src/ledger/entries.ts";
import { openList, paged, type Rest } from "../../src/ledger/rest.ts";
import { rowsIn } from "../../src/ledger/stamps.ts";
import type { Records, TableKind } from "../../src/ledger/table.ts";

/** Every record. `id`: the number that the ledger gave it. `seq`: its database id. */
const head = {
  id: text,
  seq: counter,
  /** Changes with every change. */
  version: text,
  /** The last change, UTC without a zone: `2026-11-21T09:10:11.425559`. */
  stamp: text,
  /** Who changed it last is not who made it. */
  touched: z.boolean(),
  /** The platform's id, where it came from there. */
  mark: textOrNone,
};

export const PartyRow = z.object({
  ...head,
  name: text,
  isCustomer: z.boolean(),
  isSupplier: z.boolean(),
  email: textOrNone,
  active: z.boolean(),
});

const Line = z.object({
  product: textOrNone,
  account: text,
  quantity: decimal,
  unit: textOrNone,
  unitPrice: decimal,
  amount: decimal,
  text: text,
});

/** A customer invoice or a supplier's bill. */
export const InvoiceRow = z.object({
  ...head,
  state: z.enum(["draft", "posted", "paid", "cancelled"]),
  /** The number that its issuer gave it. */
  reference: textOrNone,
  party: text,
  date: day,
  due: dayOrNone,
  order: textOrNone,
  disputed: z.boolean(),
  lines: z.array(Line),
  taxes: z.array(z.object({ account: text, text: text, base: decimal, amount: decimal })),
  untaxed: decimal,
  tax: decimal,
  total: decimal,
  open: decimal,
  paid: dayOrNone,
  payments: z.array(
    z.object({
      id: text,
      mark: textOrNone,
      amount: decimal,
      /** What it is where it is no money: `credit note C-7`. */
      instead: textOrNone.default(null),
    }),
  ),
});

export const PaymentRow = z.object({
  ...head,
  state: z.enum(["posted", "cancelled"]),
  side: z.enum(["sale", "purchase"]),
  /** The ledger's number of the invoice or bill. */
  document: text,
  party: text,
  date: day,
  amount: decimal,
  text: text,
});

export const PriceRow = z.object({
  ...head,
  list: text,
  product: text,
  price: decimalOrNone,
  unit: text,
});

/** A note on a record of any table, `document` its id. */
const Notes = z.object({ rows: z.array(z.object({ document: text, text: text })) });

const PAGE = 100;
const Ids = z.object({ ids: z.array(z.string()) });

const CALLS: Readonly<Record<StepTo, string>> = {
  amended: "change",
  posted: "post",
  cancelled: "cancel",
  retracted: "delete",
};

/** What a table takes besides a document's values, and what an amendment writes. Left out: nothing. */
interface Besides<K extends TableKind, Values, Row> {
  readonly created?: (desired: Desired<K>) => object;
  readonly amended?: (values: Values, desired: Desired<K>) => object;
  /** What finds all rows that are told together with this one. */
  readonly shared?: (row: Row) => string;
}

/** All of a call's records are written, or none; one whose version is another by now is refused (`stale`). */
export function recordsOf<
  K extends TableKind,
  Values,
  Row extends z.infer<z.ZodObject<typeof head>>,
>(
  wire: Rest,
  name: string,
  schema: z.ZodType<Row>,
  { created = () => ({}), amended = () => ({}), shared }: Besides<K, Values, Row> = {},
) {
  const Page = z.object({ rows: z.array(schema), next: textOrNone });
  const pages = (asked: object, from: string | null, signal: AbortSignal) =>
    paged(from, async (after) => {
      const where = { ...asked, after, most: PAGE };
      const { rows, next } = await wire.call(`/${name}/search`, where, Page, signal);
      return { rows, position: next };
    });
  const { search, ...lists } = openList<object, Row>({
    name,
    pages,
    scope: (scope) => [{ scope }],
    since: (since) => ({ since: since ?? "" }),
    stampOf: ({ stamp }) => `${stamp}Z`,
    whole: async (rows, signal) =>
      shared === undefined ? rows : rowsIn(pages({ numbers: rows.map(shared) }, null, signal)),
  });
  return {
    ...lists,
    search: ({ ids, marks, numbers }, { signal }) => search([[{ ids, marks, numbers }]], signal),
    async createAll(all, { signal }) {
      const records = all.map(({ desired, values }) => ({
        mark: desired.mark,
        ...values,
        ...created(desired),
      }));
      return (await wire.call(`/${name}/create`, { records }, Ids, signal)).ids;
    },
    async applyAll(to, steps, { signal }) {
      const records = steps.map(({ desired, values, entry: { native } }) => ({
        id: native.id,
        version: native.version,
        ...(values === null ? {} : amended(values, desired)),
      }));
      await wire.call(`/${name}/${CALLS[to]}`, { records }, z.object({}), signal);
    },
  } satisfies Records<K, Values, Row>;
}

/** Notes on the ledger's records, by their ids. */
export const notesIn = (wire: Rest, { signal }: Call): Notes => ({
  async on(numbers, beginnings) {
    const { rows } = await wire.call("/notes/search", { numbers }, Notes, signal);
    const isWanted = ({ text }: (typeof rows)[number]): boolean =>
      beginnings.length === 0 || beginnings.some((one) => text.startsWith(one));
    return rows
      .filter(isWanted)
      .map(({ document: resource, text: message }) => ({ resource, message }));
  },
  async add(document, text) {
    await wire.call("/notes/create", { records: [{ mark: null, document, text }] }, Ids, signal);
  },
});

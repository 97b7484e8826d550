/**
 * What records of tables are made of: every layout that a source of tables may have. Where its fields stand in a file is said
 * by a profile (`profile.ts`), which may be a site's own.
 */
import { z } from "zod";
import {
  day,
  decimal as bookDecimal,
  InvoiceRecord,
  PartyRecord,
  PriceRecord,
} from "../../ledger/documents.ts";
import { Decimal } from "../../core/decimal.ts";
import type { CellType } from "./cells.ts";

/** A field. `T` is what its cell becomes; null stands for an empty cell. */
export interface Field<T = unknown> {
  readonly type: CellType;
  /** An empty cell is a fault. */
  readonly filled: boolean;
  /** An empty cell is an empty text. */
  readonly blank?: true;
  readonly schema: z.ZodType<T>;
}

export type Fields = Readonly<Record<string, Field>>;
type Lists = Readonly<Record<string, Fields>>;
type RowOf<F extends Fields> = { [K in keyof F]: F[K] extends Field<infer T> ? T : never };

/** A record as far as it could be read: what a key is made from. */
export type Partially<R> = { readonly [K in keyof R]: R[K] | null };

export interface Layout<R = unknown> {
  /** `plain/terminals`: how the configuration names it. */
  readonly name: string;
  readonly head: Fields;
  /** Lists of the record, by the field that they are. */
  readonly lists: Lists;
  /** Those of the lists that are null where they are not exported at all. */
  readonly optional: readonly string[];
  /** The files say how things are, not what happened: the same file may rightly come again after another one. */
  readonly restates: boolean;
  readonly record: z.ZodType<R>;
  /** The id people and the ERP know the record by; null when it cannot be made. */
  key(record: Partially<R>): string | null;
}

const field = <T>(type: CellType, schema: z.ZodType<T>): Field<T | null> => ({
  type,
  filled: false,
  schema: schema.nullable(),
});

export const text = field("text", z.string());
export const decimal = field(
  "decimal",
  z.custom<Decimal>((value) => value instanceof Decimal, "expected a number"),
);
/** `YYYY-MM-DD` */
export const date = field("date", z.string());
/** ISO 8601, UTC */
export const stamp = field("stamp", z.string());
export const flag = field("flag", z.boolean());

/** A field that a record cannot do without. */
export const filled = <T>(from: Field<T | null>): Field<T> => ({
  ...from,
  filled: true,
  schema: from.schema as z.ZodType<T>,
});

/** Fields of text that may be empty. */
const texts = <K extends string>(...names: readonly K[]): Record<K, typeof text> =>
  Object.fromEntries(names.map((name) => [name, text])) as Record<K, typeof text>;

type Nested<H extends Fields, L extends Lists, O extends Lists> = RowOf<H> & {
  [K in keyof L]: RowOf<L[K]>[];
} & { [K in keyof O]: RowOf<O[K]>[] | null };

// oxlint-disable-next-line typescript/no-generated-empty-object-type -- of a record without lists
type NoLists = Record<never, never>;

/** `optional`: further lists, null where they are not exported. */
export function records<
  H extends Fields,
  L extends Lists = NoLists,
  O extends Lists = NoLists,
>(shape: {
  readonly name: string;
  readonly restates?: boolean;
  readonly head: H;
  readonly lists?: L;
  readonly optional?: O;
  key(record: Partially<Nested<H, L, O>>): string | null;
}): Layout<Nested<H, L, O>> {
  const { name, head, restates = false } = shape;
  const lists: Lists = shape.lists ?? {};
  const optional: Lists = shape.optional ?? {};
  const schema = z.object({
    ...schemas(head),
    ...map(lists, (fields) => z.array(z.object(schemas(fields)))),
    ...map(optional, (fields) => z.array(z.object(schemas(fields))).nullable()),
  });
  return {
    name,
    head,
    lists: { ...lists, ...optional },
    optional: Object.keys(optional),
    restates,
    record: schema as unknown as z.ZodType<Nested<H, L, O>>,
    key: (record) => shape.key(record),
  };
}

const schemas = (fields: Fields): Record<string, z.ZodType> => map(fields, ({ schema }) => schema);

function map<A, B>(from: Readonly<Record<string, A>>, to: (value: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(from).map(([name, value]) => [name, to(value)]));
}

/**
 * The layout of records and documents that have a schema already: its fields are the layout's. `types`: which schemas are more
 * than text.
 */
export function fromSchema<R>(
  record: z.ZodType<R>,
  types: ReadonlyMap<z.ZodType, CellType>,
  rest: Pick<Layout<R>, "name" | "restates" | "key">,
): Layout<R> {
  const typeOf = (schema: z.ZodType): CellType => {
    const known = types.get(schema);
    if (known !== undefined) return known;
    if (
      schema instanceof z.ZodNullable ||
      schema instanceof z.ZodOptional ||
      schema instanceof z.ZodDefault
    )
      return typeOf(schema.unwrap() as z.ZodType);
    return schema instanceof z.ZodBoolean ? "flag" : "text";
  };
  const fieldOf = (schema: z.ZodType): Field => {
    const type = typeOf(schema);
    if (schema.safeParse(null).success || schema.safeParse(undefined).success)
      return { type, filled: false, schema };
    return type === "text" && schema.safeParse("").success
      ? { type, filled: false, blank: true, schema }
      : { type, filled: true, schema };
  };
  const head: Record<string, Field> = {};
  const lists: Record<string, Fields> = {};
  for (const [name, schema] of Object.entries((record as unknown as z.ZodObject).shape))
    if (schema instanceof z.ZodArray)
      lists[name] = map((schema as z.ZodArray<z.ZodObject>).element.shape, fieldOf);
    else head[name] = fieldOf(schema);
  return { ...rest, head, lists, optional: [], record };
}

/** Tryton's list of parties, exported once for the category Customer and once for Supplier. */
const parties = (name: string) =>
  records({
    name,
    restates: true,
    head: {
      id: filled(text),
      code: filled(text),
      name: filled(text),
      // `email`: the party's first address; further ones are not exported.
      ...texts("phone", "mobile", "email", "paymentTerm"),
    },
    // `subdivision`: ISO 3166-2, `US-TX`.
    lists: { addresses: texts("building", "street", "zip", "city", "subdivision", "country") },
    key: ({ code }) => code,
  });
export const customers = parties("tryton-export/customers");
export const suppliers = parties("tryton-export/suppliers");

/** Tryton's price lists: one per terminal, one row per price. A file restates all prices of the moment. */
export const priceLists = records({
  name: "tryton-export/price-lists",
  restates: true,
  head: {
    id: filled(text),
    /** The terminal, as people named the list. */
    list: filled(text),
    unit: text,
    taxIncluded: flag,
    editedAt: stamp,
    createdAt: stamp,
    ...texts("sequence", "product", "productName", "category"),
    /** The least quantity that the price holds for. */
    minQuantity: decimal,
    /** An expression; a price when it is a constant. A decimal point in every language. */
    formula: text,
  },
  key({ list, product, category, minQuantity }) {
    if (list === null) return null;
    const what = product ?? (category === null ? "any" : `category ${category}`);
    const from = minQuantity === null ? "" : `|from ${minQuantity.plain()}`;
    return `${list.trim()}|${what}${from}`;
  },
});
export type PriceLine = z.infer<typeof priceLists.record>;

/** What customer and supplier invoices of a Tryton export have alike, as have {@link ownId} and their due dates. */
export const invoiceHead = {
  id: filled(text),
  /** `number` is given on posting: a draft has none. */
  ...texts("number", "reference", "description"),
  /** draft, validated, posted, paid, cancelled: not translated */
  state: filled(text),
  date,
  partyCode: filled(text),
  party: text,
  currency: filled(text),
  paymentTerm: text,
  untaxed: filled(decimal),
  tax: filled(decimal),
  total: filled(decimal),
  amountToPay: decimal,
  reconciled: date,
  editedAt: stamp,
};

/** Its own id: drafts have no number, and an invoice that gets another number is the same one. */
export const ownId = ({ id }: { readonly id: string | null }): string | null => id;

/** Tryton's customer invoices; their lines and taxes are lists of their own there, and may be left out. */
export const customerInvoices = records({
  name: "tryton-export/customer-invoices",
  head: { ...invoiceHead, comment: text },
  lists: { dueDates: { due: date } },
  optional: {
    lines: {
      id: filled(text),
      /** Drafts have no number, so rows are joined by id. */
      invoiceId: filled(text),
      ...texts("invoiceNumber", "sequence"),
      /** `line`, or `comment`, `title`, `subtotal` without amounts */
      type: filled(text),
      ...texts("product", "productName", "description"),
      quantity: decimal,
      unit: text,
      unitPrice: decimal,
      amount: decimal,
    },
    taxes: {
      id: filled(text),
      invoiceId: filled(text),
      ...texts("invoiceNumber", "sequence", "description", "tax"),
      /** Money, also for a tax per gallon. */
      base: decimal,
      amount: filled(decimal),
      manual: flag,
    },
  },
  key: ownId,
});
export type CustomerInvoice = z.infer<typeof customerInvoices.record>;

/*
 * Lists of any ERP: what the platform takes and no export of Tryton tells. A field that an ERP does not know stays empty.
 * Ids are those of the platform, which are in the files that were written for the ERP.
 */

/** Tickets that the ERP made; those that came from the platform are left out of the list. */
export const deliveryTickets = records({
  name: "plain/delivery-tickets",
  head: {
    number: filled(text),
    /** DRAFT, ISSUED, SIGNED, VOID */
    status: filled(text),
    // `supplier`, `receiver`: party codes of the ERP.
    ...texts("orderId", "supplier", "receiver", "bolNumber"),
    delivered: date,
    ...texts("driver", "carrier", "terminal", "destination", "notes"),
  },
  lists: {
    lines: {
      // `product`: the ERP's code.
      ...texts("product", "spec"),
      grossGallons: decimal,
      netGallons: decimal,
      temperature: decimal,
      apiGravity: decimal,
    },
  },
  key: ({ number }) => number,
});
export type PlainTicketLine = z.infer<typeof deliveryTickets.record>["lines"][number];

export const ticketSignatures = records({
  name: "plain/ticket-signatures",
  head: {
    /** The platform's id of a ticket, or the number of one that the ERP made. */
    ticket: filled(text),
    receiverName: filled(text),
    discrepancies: text,
  },
  key: ({ ticket }) => ticket,
});

/** Money in the company's currency; the surcharge in percent. */
export const freightRates = records({
  name: "plain/freight-rates",
  restates: true,
  head: {
    code: filled(text),
    connectionId: filled(text),
    ...texts("originTerminalId", "originCity", "originState", "destinationZip"),
    // `product`: the ERP's code; empty: any product.
    ...texts("destinationZipPrefix", "destinationCity", "destinationState", "product"),
    ratePerMile: decimal,
    flatFee: decimal,
    minCharge: decimal,
    fuelSurchargePercent: decimal,
    effective: date,
    notes: text,
  },
  key: ({ code }) => code,
});

export const endedFreightRates = records({
  name: "plain/ended-freight-rates",
  head: { code: filled(text), connectionId: filled(text) },
  key: ({ code }) => code,
});

export const terminals = records({
  name: "plain/terminals",
  restates: true,
  head: {
    code: filled(text),
    name: filled(text),
    ...texts("city", "state", "zip", "country"),
    latitude: decimal,
    longitude: decimal,
    capacity: decimal,
    operatingHours: text,
    active: flag,
  },
  key: ({ code }) => code,
});

export const orderNotes = records({
  name: "plain/order-notes",
  // `id`: the ERP's own id of the note.
  head: { id: filled(text), orderId: filled(text), note: filled(text) },
  key: ({ id }) => id,
});

/** The neutral records of books, read from files: the shipped mappings `books/...` take them. */
const BOOK_TYPES = new Map<z.ZodType, CellType>([
  [bookDecimal, "decimal"],
  [day, "date"],
]);

/** Every layout that the files source reads. */
export const layouts: readonly Layout[] = [
  customers,
  suppliers,
  priceLists,
  customerInvoices,
  deliveryTickets,
  ticketSignatures,
  freightRates,
  endedFreightRates,
  terminals,
  orderNotes,
  fromSchema(PartyRecord, BOOK_TYPES, {
    name: "books.parties",
    restates: true,
    key: ({ code }) => code,
  }),
  fromSchema(PriceRecord, BOOK_TYPES, {
    name: "books.prices",
    restates: true,
    key: ({ list, product }) =>
      list === null || product === null ? null : `${list.trim()}|${product}`,
  }),
  // A row is its invoice's own id: an invoice that gets another number is the same one.
  ...["books.invoices", "books.paidInvoices"].map((name) =>
    fromSchema(InvoiceRecord, BOOK_TYPES, {
      name,
      restates: false,
      key: ({ id, number }) => id ?? number,
    }),
  ),
];

/**
 * What records and documents of tables are made of. Where their fields stand in a file is said by a profile (`profile.ts`),
 * which may be a site's own. A layout follows from its schema: what a field is, whether it may be empty, and its lists.
 */
import { z } from "zod";
import {
  day,
  dayOrNone,
  decimal,
  decimalOrNone,
  members,
  InvoiceRecord,
  PartyRecord,
  priceKey,
  PriceRecord,
  text,
  textOrNone,
} from "../../ledger/documents.ts";
import { dayNamed, dayOfInstant, documents, instant } from "../documents.ts";
import type { CellType } from "./cells.ts";

/** A field. */
export interface Field {
  readonly type: CellType;
  /** An empty cell is a fault. */
  readonly filled: boolean;
  /** An empty cell is an empty text. */
  readonly blank?: true;
}

export type Fields = Readonly<Record<string, Field>>;

/** A record as far as it could be read: what a key is made from. */
type Partially<R> = { readonly [K in keyof R]: R[K] | null };

export interface Layout<R = unknown, Name extends string = string> {
  /** `plain/terminals`: how the configuration names it. */
  readonly name: Name;
  readonly head: Fields;
  /** Lists of the record, by the field that they are. */
  readonly lists: Readonly<Record<string, Fields>>;
  /** Those of the lists that are null where they are not exported at all. */
  readonly optional: readonly string[];
  /** The list whose rows add up to what nothing else in the record says; null: none does. */
  readonly adds: string | null;
  /** The files say how things are, not what happened: the same file may rightly come again after another one. */
  readonly restates: boolean;
  readonly record: z.ZodType<R>;
  /** The id people and the ERP know the record by; null when it cannot be made. */
  key(record: Partially<R>): string | null;
}

/** Schemas that are more than text. */
const TYPES = new Map<z.ZodType, CellType>([
  [decimal, "decimal"],
  [day, "date"],
  [dayOfInstant, "day"],
  [dayNamed, "day"],
  [instant, "instant"],
]);

const isOpen = (schema: z.ZodType): schema is z.ZodNullable | z.ZodOptional | z.ZodDefault =>
  schema instanceof z.ZodNullable ||
  schema instanceof z.ZodOptional ||
  schema instanceof z.ZodDefault;

/** Without what says that it may be missing or empty. */
const bare = (schema: z.ZodType): z.ZodType =>
  TYPES.has(schema) || !isOpen(schema) ? schema : bare(schema.unwrap() as z.ZodType);

function fieldOf(schema: z.ZodType): Field {
  const inner = bare(schema);
  const type = TYPES.get(inner) ?? (inner instanceof z.ZodBoolean ? "flag" : "text");
  if (schema.safeParse(null).success || schema.safeParse(undefined).success)
    return { type, filled: false };
  return type === "text" && schema.safeParse("").success
    ? { type, filled: false, blank: true }
    : { type, filled: true };
}

const fieldsOf = (schema: z.ZodType): Record<string, Field> =>
  Object.fromEntries(
    Object.entries((schema as z.ZodObject).shape).map(([name, one]) => [
      name,
      fieldOf(one as z.ZodType),
    ]),
  );

/** The layout of records that have this schema. */
export function layoutOf<R, const Name extends string>(
  record: z.ZodType<R>,
  {
    name,
    restates = false,
    adds = null,
    key,
  }: Pick<Layout<R, Name>, "name" | "key"> & Partial<Pick<Layout, "restates" | "adds">>,
): Layout<R, Name> {
  const head: Record<string, Field> = {};
  const lists: Record<string, Fields> = {};
  const optional: string[] = [];
  for (const [field, schema] of Object.entries((record as unknown as z.ZodObject).shape)) {
    const inner = bare(schema as z.ZodType);
    if (inner instanceof z.ZodArray) {
      lists[field] = fieldsOf(inner.element as z.ZodType);
      if (schema instanceof z.ZodNullable) optional.push(field);
    } else head[field] = fieldOf(schema as z.ZodType);
  }
  return { name, head, lists, optional, adds, restates, record, key };
}

/*
 * Lists of any ERP: what the platform takes and no ledger tells. A field that an ERP does not know stays empty.
 * Ids are those of the platform, which are in the files that were written for the ERP.
 */

/** Tickets that the ERP made; those that came from the platform are left out of the list. */
export const deliveryTickets = layoutOf(
  z.object({
    number: text,
    /** DRAFT, ISSUED, SIGNED, VOID */
    status: text,
    // `supplier`, `receiver`: party codes of the ERP.
    ...members(textOrNone, "orderId supplier receiver bolNumber"),
    delivered: dayOrNone,
    ...members(textOrNone, "driver carrier terminal destination notes"),
    lines: z.array(
      z.object({
        // `product`: the ERP's code.
        ...members(textOrNone, "product spec"),
        ...members(decimalOrNone, "grossGallons netGallons temperature apiGravity"),
      }),
    ),
  }),
  { name: "plain/delivery-tickets", adds: "lines", key: ({ number }) => number },
);
export type PlainTicketLine = z.infer<typeof deliveryTickets.record>["lines"][number];

export const ticketSignatures = layoutOf(
  // `ticket`: the platform's id of a ticket, or the number of one that the ERP made.
  z.object({ ticket: text, receiverName: text, discrepancies: textOrNone }),
  { name: "plain/ticket-signatures", key: ({ ticket }) => ticket },
);

/** Money in the company's currency; the surcharge in percent. */
export const freightRates = layoutOf(
  z.object({
    code: text,
    connectionId: text,
    ...members(textOrNone, "originTerminalId originCity originState destinationZip"),
    // `product`: the ERP's code; empty: any product.
    ...members(textOrNone, "destinationZipPrefix destinationCity destinationState product"),
    ...members(decimalOrNone, "ratePerMile flatFee minCharge fuelSurchargePercent"),
    effective: dayOrNone,
    notes: textOrNone,
  }),
  { name: "plain/freight-rates", restates: true, key: ({ code }) => code },
);

export const endedFreightRates = layoutOf(z.object({ code: text, connectionId: text }), {
  name: "plain/ended-freight-rates",
  key: ({ code }) => code,
});

export const terminals = layoutOf(
  z.object({
    code: text,
    name: text,
    ...members(textOrNone, "city state zip country"),
    ...members(decimalOrNone, "latitude longitude capacity"),
    operatingHours: textOrNone,
    active: z.boolean().nullable(),
  }),
  { name: "plain/terminals", restates: true, key: ({ code }) => code },
);

export const orderNotes = layoutOf(
  // `id`: the ERP's own id of the note.
  z.object({ id: text, orderId: text, note: text }),
  { name: "plain/order-notes", key: ({ id }) => id },
);

/* The neutral records of books, read from files: the shipped mappings `books/...` take them. */

export const parties = layoutOf(PartyRecord, {
  name: "books.parties",
  restates: true,
  key: ({ code }) => code,
});

export const prices = layoutOf(PriceRecord, {
  name: "books.prices",
  restates: true,
  key: ({ list, product, minQuantity }) =>
    list === null ? null : priceKey({ list, product: product ?? "any", minQuantity }),
});

// A row is its invoice's own id: an invoice that gets another number is the same one.
const invoicesAs = (name: string): Layout<InvoiceRecord> =>
  layoutOf(InvoiceRecord, { name, key: ({ id, number }) => id ?? number });
export const invoices = invoicesAs("books.invoices");

/** Every layout that the files source reads. */
export const layouts: readonly Layout[] = [
  deliveryTickets,
  ticketSignatures,
  freightRates,
  endedFreightRates,
  terminals,
  orderNotes,
  parties,
  prices,
  invoices,
  invoicesAs("books.paidInvoices"),
];

/** What files of our documents are made of, by the documents' names. */
export const documentLayouts = new Map<string, Layout>(
  Object.entries(documents).map(([name, { schema }]) => [
    name,
    layoutOf<{ id: string }, string>(schema, { name: `files.${name}`, key: ({ id }) => id }),
  ]),
);

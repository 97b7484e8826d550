/**
 * The resources as the sandbox keeps them, one table: which schema of the contract a record follows, what a new one has
 * beside the contract's defaults, what is kept and not shown, and by what lists find it.
 */
import { randomUUID } from "node:crypto";
import { z } from "zod";
import type { Json } from "../core/json.ts";
import { Invoice, Payment } from "../platform/contract/invoice.ts";
import { Connection, FreightRate } from "../platform/contract/network.ts";
import { RackPrice } from "../platform/contract/pricing.ts";
import {
  Allocation,
  CompanyProfile,
  Location,
  SupplierTerminal,
} from "../platform/contract/place.ts";
import { decimal, integer } from "../platform/contract/primitives.ts";
import { DeliveryTicket } from "../platform/contract/delivery-ticket.ts";
import { Order, OrderNote } from "../platform/contract/order.ts";
import { companies } from "./scenes/companies.ts";

export type Fields = Readonly<Record<string, Json>>;

/** A record as the platform keeps it: the fields of the specification, and whatever else was put there. */
export type RawRecord = { id: string; [field: string]: Json };

/** The part that a company has in a record, by which it sees it. */
export type Role = "own" | "issuer" | "payer" | "outbound" | "inbound" | "all";

/** What a new record is made of besides what is given. */
interface Birth {
  readonly owner: string;
  /** Now, ISO 8601. */
  readonly at: string;
  /** A number for people, unique in this sandbox. */
  readonly next: number;
}

/** What an answer shows of each resource: its fields, in their order, are the record's. */
export const schemas = {
  orders: Order,
  "order-notes": OrderNote,
  "delivery-tickets": DeliveryTicket,
  invoices: Invoice,
  payments: Payment,
  "rack-prices": RackPrice,
  connections: Connection,
  "freight-rates": FreightRate,
  locations: Location,
  allocations: Allocation,
  "supplier-terminals": SupplierTerminal,
  companies: CompanyProfile,
} satisfies Record<string, z.ZodObject>;

export type Kind = keyof typeof schemas;
/** Companies are no resource: they come with the parties that are created. */
export type ResourceName = Exclude<Kind, "companies">;

export const isResource = (name: string): name is ResourceName =>
  name !== "companies" && Object.hasOwn(schemas, name);
export const resourceNames = Object.keys(schemas).filter(isResource);

interface Resource {
  /** As messages name one of them. */
  readonly title: string;
  /** What the schema has no default for: ids, times, and values of enums. */
  readonly born?: (birth: Birth) => Fields;
  /** Rows inside a record: the field that points to it, and what the schema has no default for. */
  readonly rows?: Readonly<Record<string, { readonly parent?: string; readonly born?: Fields }>>;
  /** Rows that a list leaves out when the reading `listsCarryLines` is off. */
  readonly lines?: readonly string[];
  /** Fields that the interface has no place for (readings: stored, not shown). */
  readonly unshown?: readonly string[];
  /** The roles that see a record by its id; `own` when left out. */
  readonly roles?: readonly Role[];
  /** References of a request to other records, which must exist (readings). `lines.supplierId` is a row's. */
  readonly references?: Readonly<Record<string, Kind>>;
  /** The fields behind a list's filters and orders: whole value (`status` when left out), parent, search. */
  readonly status?: string;
  readonly parent?: string;
  readonly search?: readonly string[];
  /** What the filter `product` compares. */
  readonly products?: string;
  /** The fields that make the key under which a company has a record once, or looks for it. */
  readonly natural?: readonly string[];
  /** Whether records are looked up by their parent without being listed. */
  readonly isChild?: true;
  /** Whether an index of words finds them: the lists that grow with every delivery. */
  readonly hasWords?: true;
}

export const kinds: Readonly<Record<Kind, Resource>> = {
  orders: {
    title: "The order",
    born: ({ owner }) => ({
      companyId: owner,
      status: "POSTED",
      orderType: "direct",
      pricingType: "fixed",
      urgency: "routine",
    }),
    rows: { lines: { parent: "orderId" } },
    lines: ["lines"],
    unshown: ["bids", "pickup", "delivery"],
    references: {
      locationId: "locations",
      carrierCompanyId: "companies",
      "lines.supplierId": "companies",
    },
    search: ["notes", "loadingNumber", "lines.product"],
    products: "lines.product",
    hasWords: true,
  },
  "order-notes": {
    title: "The order note",
    born: () => ({ orderId: randomUUID() }),
    unshown: ["updatedAt"],
    parent: "orderId",
    isChild: true,
  },
  "delivery-tickets": {
    title: "The delivery ticket",
    born: ({ next }) => ({ ticketNumber: `DT-${numbered(next)}`, status: "DRAFT" }),
    lines: ["productLines"],
    unshown: [
      "companyId",
      "bolNumbers",
      "deliveryNotes",
      "receiverName",
      "discrepancies",
      "signedAt",
    ],
    references: {
      orderId: "orders",
      supplierCompanyId: "companies",
      receiverCompanyId: "companies",
    },
    parent: "orderId",
  },
  invoices: {
    title: "The invoice",
    born: ({ owner, next }) => ({
      companyId: owner,
      invoiceNumber: `INV-${numbered(next)}`,
      status: "OUTSTANDING",
    }),
    rows: { lineItems: { parent: "invoiceId" }, taxLines: { parent: "invoiceId" } },
    lines: ["lineItems", "taxLines"],
    roles: ["issuer", "payer"],
    references: { orderId: "orders", payerCompanyId: "companies" },
    parent: "orderId",
    search: ["invoiceNumber", "notes"],
    natural: ["invoiceNumber"],
    hasWords: true,
  },
  payments: {
    title: "The payment",
    born: ({ at }) => ({
      invoiceId: randomUUID(),
      method: "ach",
      status: "SUCCEEDED",
      paidAt: at,
    }),
    unshown: ["createdAt", "updatedAt"],
    roles: ["issuer", "payer"],
    parent: "invoiceId",
    isChild: true,
  },
  "rack-prices": {
    title: "The rack price",
    born: ({ owner, at }) => ({
      companyId: owner,
      terminalId: "T-1",
      product: "ULSD",
      price: 1,
      unit: "gal",
      effectiveAt: at,
    }),
    parent: "terminalId",
    natural: ["terminalId", "product"],
    products: "product",
  },
  connections: {
    title: "The connection",
    born: ({ owner }) => ({
      fromCompanyId: owner,
      toCompanyId: companies.customer.id,
      status: "ACCEPTED",
    }),
    roles: ["all"],
  },
  "freight-rates": {
    title: "The freight rate",
    born: ({ at }) => ({ connectionId: randomUUID(), distanceUnit: "MILES", effectiveAt: at }),
    rows: { customFees: {} },
    unshown: ["companyId"],
    references: { originTerminalId: "supplier-terminals" },
    parent: "connectionId",
    isChild: true,
  },
  locations: {
    title: "The location",
    born: ({ owner, next }) => ({
      companyId: owner,
      name: `Location ${next}`,
      country: "US",
      isActive: true,
    }),
    rows: {
      contacts: {},
      assets: { parent: "locationId", born: { assetType: "TANK", unit: "gal", maxFillPct: 90 } },
    },
    unshown: ["schedules", "compartments"],
    status: "isActive",
    search: ["name", "city"],
  },
  allocations: {
    title: "The allocation",
    born: ({ owner }) => ({
      companyId: owner,
      connectionId: randomUUID(),
      terminalId: "T-1",
      product: "ULSD",
      period: "daily",
    }),
    parent: "terminalId",
  },
  "supplier-terminals": {
    title: "The terminal",
    born: ({ owner, next }) => ({
      companyId: owner,
      terminalCode: `T-${next}`,
      name: `Terminal ${next}`,
      isActive: true,
    }),
    unshown: ["countryCode", "region", "taxingAuthority", "unitSystem"],
    status: "state",
    search: ["name", "terminalCode"],
    natural: ["terminalCode"],
  },
  companies: { title: "The company", unshown: ["contact", "sandbox", "updatedAt"] },
};

const numbered = (next: number): string => String(next).padStart(6, "0");

/**
 * A whole record: every field of its kind, given or by default, and whatever else is given. Nested rows get ids
 * and point to their record.
 */
export function complete(kind: Kind, given: Fields, birth: Birth): RawRecord {
  const { born, rows = {} } = kinds[kind];
  const schema: z.ZodObject = schemas[kind];
  const id = typeof given.id === "string" ? given.id : randomUUID();
  const record: Record<string, Json> = { id, ...blankOf(schema), ...born?.(birth), ...given };
  for (const [field, { parent, born }] of Object.entries(rows)) {
    const list = record[field];
    if (!Array.isArray(list)) continue;
    const row = rowSchema(schema.shape[field]);
    record[field] = list.map((item: Json) => {
      if (!isFields(item)) return item;
      const rowId = "id" in row.shape ? { id: item.id ?? randomUUID() } : {};
      const own = { ...rowId, ...(parent && { [parent]: id }) };
      const whole = { ...own, ...blankOf(row), ...born, ...own, ...item };
      return field === "lines" ? withAliases(whole, item) : whole;
    });
  }
  const { createdAt = birth.at, updatedAt = birth.at, ...rest } = record;
  return { ...rest, id, createdAt, updatedAt };
}

/** Both names of quantity and unit are shown, whichever was given (specification 2.2). */
function withAliases(line: Fields, given: Fields): Fields {
  const quantity = given.quantity ?? given.gallons ?? 1;
  const unit = given.unitCode ?? given.unit ?? "gal";
  return { ...line, gallons: quantity, unit, quantity, unitCode: unit };
}

function rowSchema(field: unknown): z.ZodObject {
  if (field instanceof z.ZodDefault || field instanceof z.ZodNullable)
    return rowSchema(field.unwrap());
  return (field as z.ZodArray<z.ZodObject>).element;
}

const blanks = new Map<z.ZodObject, Fields>();

/** What a schema says of a field that is not there: null, nothing, zero. Ids and times have no such value. */
function blankOf(schema: z.ZodObject): Fields {
  const known = blanks.get(schema);
  if (known !== undefined) return known;
  const fields = Object.entries(schema.shape).map(([name, field]): [string, Json | undefined] => {
    if (field instanceof z.ZodDefault) return [name, field.def.defaultValue as Json];
    if (field instanceof z.ZodArray) return [name, []];
    if (field instanceof z.ZodBoolean) return [name, false];
    if (field === decimal || field === integer) return [name, 0];
    return [name, field instanceof z.ZodString && field.format === null ? "" : undefined];
  });
  const blank = Object.fromEntries(fields.filter(([, value]) => value !== undefined)) as Fields;
  blanks.set(schema, blank);
  return blank;
}

export function isFields(value: Json | undefined): value is Fields {
  return (
    typeof value === "object" && value !== null && !Array.isArray(value) && !("toJSON" in value)
  );
}

/** The rows of a list inside a record; none where it has no such list. */
export function rowsIn(record: Fields, field: string): Fields[] {
  const list = record[field];
  return Array.isArray(list) ? (list as readonly Json[]).filter(isFields) : [];
}

/**
 * Every operation with a known contract (specification part 4), in its order. The client and the sandbox are two
 * readers of this table. Paths stand in it and nowhere else.
 */
import { ticketOperations } from "./delivery-ticket.ts";
import { invoiceOperations } from "./invoice.ts";
import { networkOperations } from "./network.ts";
import type { Operation } from "./operation.ts";
import { orderOperations } from "./order.ts";
import { placeOperations } from "./place.ts";
import { pricingOperations } from "./pricing.ts";
import { z } from "zod";
import { Lookout, type Shape } from "../../core/shape.ts";
import { knownIn } from "./primitives.ts";

export const operations = {
  ...orderOperations,
  ...ticketOperations,
  ...invoiceOperations,
  ...pricingOperations,
  ...networkOperations,
  ...placeOperations,
} as const satisfies Record<string, Operation>;

type Table = typeof operations;
export type OperationId = keyof Table;

/** Operations on one record, or on what belongs to one: their path has an id. */
export type RecordOperation = {
  [Id in OperationId]: Table[Id]["path"] extends `${string}{id}${string}` ? Id : never;
}[OperationId];
/** The others. */
export type ListOperation = Exclude<OperationId, RecordOperation>;

type IdOf<Id extends OperationId> = Id extends RecordOperation ? [id: string] : [];

/** The path of an operation below the base URL: `/orders/<id>/notes`. The id is escaped. */
export const pathOf = <Id extends OperationId>(operation: Id, ...[id = ""]: IdOf<Id>): string =>
  operations[operation].path.replace("{id}", () => encodeURIComponent(id));

/** Method and path, as a sink freezes them: `PUT /invoices/<id>/mark-paid`. */
export const targetOf = <Id extends OperationId>(operation: Id, ...id: IdOf<Id>): string =>
  `${operations[operation].method} ${pathOf(operation, ...id)}`;

/** The part of the specification that an operation belongs to: `freight-rates` are in that of connections. */
export function groupOf({ path }: Operation): string {
  const name = path.split("/")[1] ?? "";
  return GROUPS[name] ?? name;
}

const GROUPS: Readonly<Record<string, string>> = {
  "freight-rates": "connections",
  customers: "parties",
  suppliers: "parties",
};

/** One sentence of each, for the description of the API and for its reference page. */
export const summaries: Readonly<Record<OperationId, string>> = {
  listOrders: "The company's orders: filtered, sorted, or as a walk over what changed.",
  createOrder: "Places an order of up to 20 lines.",
  getOrder: "One order with its lines, bids, pickup and delivery.",
  updateOrder: "Changes the fields that are sent; lines are replaced as a whole.",
  listOrderNotes: "An order's notes, oldest first.",
  addOrderNote: "Adds a note to an order, whatever its status.",
  listDeliveryTickets: "Delivery tickets, or a walk over those that changed.",
  createDeliveryTicket: "Opens a ticket, with as many of its fields as are known.",
  getDeliveryTicket: "One delivery ticket.",
  updateDeliveryTicket: "Changes the fields that are sent.",
  getDeliveryTicketPdf: "The ticket on paper.",
  signDeliveryTicket: "Signs a ticket in the receiver's name.",
  listInvoices: "Invoices issued or to be paid, or a walk over those that changed.",
  createInvoice: "Issues an invoice, with up to 50 lines.",
  getInvoice: "One invoice with its lines and taxes, for issuer and payer.",
  getInvoicePdf: "The invoice on paper.",
  markInvoicePaid: "Sets an invoice to paid, on a date of one's own if given.",
  listPayments: "Payments received or made.",
  getPayment: "One payment.",
  listRackPrices: "The company's rack prices.",
  listTerminalPrices: "All rack prices of one terminal.",
  upsertRackPrices: "Sets up to 200 rack prices at once.",
  calculateFreight: "What a haul would cost; nothing is kept.",
  listConnections: "The company's connections, in either direction.",
  getConnection: "One connection.",
  listFreightRates: "All freight rates of a connection.",
  createFreightRate: "Adds a rate for a lane of a connection.",
  updateFreightRate: "Changes the fields that are sent; its connection stays.",
  createCustomer: "Creates a customer and an accepted connection to it.",
  createSupplier: "Creates a supplier and an accepted connection to it.",
  deleteFreightRate: "Removes a freight rate.",
  listLocations: "Sites with their tanks and other assets.",
  getLocation: "One site with contacts and assets.",
  updateLocation: "Changes the fields that are sent; a list is never emptied.",
  listAllocations: "What suppliers grant, and how much of it is used.",
  listSupplierTerminals: "The company's supplier terminals.",
  createSupplierTerminal: "Adds a terminal under a code.",
  getSupplierTerminal: "One supplier terminal.",
  updateSupplierTerminal: "Changes the fields that are sent.",
  getCompanyProfile: "The company's own profile.",
};

// What the contract expects of the records of a list, for what the platform tells beyond it (src/core/shape.ts).

/** A new one, which has seen no record yet. */
export function lookoutOf(list: ListOperation): Lookout {
  const { success }: Operation = operations[list];
  return new Lookout(shapeOf(success.data, "") ?? { fields: new Map() });
}

/** Null: nothing is known of what it has. */
function shapeOf(schema: unknown, prefix: string): Shape | null {
  const inner = bare(schema);
  if (inner instanceof z.ZodArray) return shapeOf(inner.element, prefix);
  if (!(inner instanceof z.ZodObject)) return null;
  const members = Object.entries<z.ZodType>(inner.shape);
  if (members.length === 0) return null;
  const fields = members.map(([name, member]) => {
    const path = `${prefix}${name}`;
    const isRequired = !(member instanceof z.ZodOptional || member instanceof z.ZodDefault);
    const own = { values: knownIn(bare(member)), inner: shapeOf(member, `${path}.`) };
    return [name, { path, isRequired, ...own }] as const;
  });
  return { fields: new Map(fields) };
}

/** Without what lets it be null or left out, or prepares it. */
function bare(schema: unknown): unknown {
  if (schema instanceof z.ZodPipe) return bare(schema.out);
  return schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault
    ? bare(schema.unwrap())
    : schema;
}

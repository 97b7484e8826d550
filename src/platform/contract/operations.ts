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

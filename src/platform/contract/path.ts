/** Where an operation is asked for. Paths stand in the table of operations and nowhere else. */
import { type OperationId, operations } from "./operations.ts";

type Table = typeof operations;
type WithId = `${string}{id}${string}`;

/** Operations on one record, or on what belongs to one: their path has an id. */
export type RecordOperation = {
  [Id in OperationId]: Table[Id]["path"] extends WithId ? Id : never;
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

/** The notes that a shipment has of its ticket: what Tryton has no field for, and whose it is. */
import type { Books } from "./books.ts";
import type { ShipmentDocument } from "../../src/books/documents.ts";
import { markOf, platformIdIn } from "./marks.ts";
import { KINDS } from "./shipments-values.ts";

type Type = ShipmentDocument["type"];

interface Shipment {
  readonly id: number;
}

/** The platform's tickets that each of these is of; one by its database id. @throws TrytonFault */
export async function ticketsOf(
  books: Books,
  type: Type,
  shipments: readonly Shipment[],
): Promise<ReadonlyMap<number, readonly string[]>> {
  const notes = await notesOf(books, type, shipments);
  return new Map(
    shipments.map((one) => [
      one.id,
      notes
        .filter(({ resource }) => resource === resourceOf(type, one))
        .flatMap(({ message }) => platformIdIn(message) ?? []),
    ]),
  );
}

/** Of a void one only whose it is still matters. @throws TrytonFault */
export async function isNoted(
  books: Books,
  document: ShipmentDocument,
  shipment: Shipment,
): Promise<boolean> {
  const notes = await notesOf(books, document.type, [shipment]);
  return document.status === "cancelled"
    ? notes.some(({ message }) => platformIdIn(message) === document.id)
    : notes.some(({ message }) => message === noteText(document));
}

/** @throws TrytonFault */
export async function note(
  { tryton }: Books,
  document: ShipmentDocument,
  shipment: Shipment,
): Promise<void> {
  const values = { resource: resourceOf(document.type, shipment), message: noteText(document) };
  await tryton.call("model.ir.note.create", [[values]]);
}

/** The platform's id is in its last line. */
const noteText = ({ id, note }: ShipmentDocument): string =>
  [...(note === null ? [] : [note]), markOf(id)].join("\n");

const resourceOf = (type: Type, { id }: Shipment): string => `${KINDS[type].model},${id}`;

interface Note {
  readonly resource: string;
  readonly message: string | null;
}

async function notesOf(
  { tryton }: Books,
  type: Type,
  shipments: readonly Shipment[],
): Promise<Note[]> {
  if (shipments.length === 0) return [];
  const domain = [["resource", "in", shipments.map((one) => resourceOf(type, one))]];
  const params = [domain, 0, null, null, ["resource", "message"]];
  return tryton.call<Note[]>("model.ir.note.search_read", params);
}

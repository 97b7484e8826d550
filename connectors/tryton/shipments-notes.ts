/** The notes that a shipment has of its ticket: what Tryton has no field for, and whose it is. */
import type { Books } from "./books.ts";
import type { ShipmentDocument } from "../../src/books/documents.ts";
import { markOf, platformIdIn } from "./marks.ts";
import { addNote, type Note, notesOn } from "./notes.ts";
import { KINDS } from "./shipments-values.ts";

type Type = ShipmentDocument["type"];

interface Shipment {
  readonly id: number;
}

/** The platform's tickets that each of these is of; one by its database id. @throws TrytonError */
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

/** Of a void one only whose it is still matters. @throws TrytonError */
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

/** @throws TrytonError */
export const note = (books: Books, document: ShipmentDocument, shipment: Shipment): Promise<void> =>
  addNote(books, resourceOf(document.type, shipment), noteText(document));

/** The platform's id is in its last line. */
const noteText = ({ id, note }: ShipmentDocument): string =>
  [...(note === null ? [] : [note]), markOf(id)].join("\n");

const resourceOf = (type: Type, { id }: Shipment): string => `${KINDS[type].model},${id}`;

const notesOf = (books: Books, type: Type, shipments: readonly Shipment[]): Promise<Note[]> =>
  notesOn(
    books,
    shipments.map((one) => resourceOf(type, one)),
  );

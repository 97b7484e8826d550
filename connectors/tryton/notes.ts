/** Notes on records of Tryton: what it has no field for. */
import type { Books } from "./books.ts";
import { rowsOf } from "./search.ts";

export interface Note {
  /** `account.invoice,12` */
  readonly resource: string;
  readonly message: string | null;
}

/** Those on these records, oldest first; of them those in the domain. @throws TrytonError */
export async function notesOn(
  books: Books,
  resources: readonly string[],
  ...domain: readonly unknown[]
): Promise<Note[]> {
  if (resources.length === 0) return [];
  const on = [["resource", "in", resources], ...domain];
  return rowsOf<Note>(books, "ir.note", on, "resource message");
}

/** @throws TrytonError */
export async function addNote({ tryton }: Books, resource: string, message: string): Promise<void> {
  await tryton.call("model.ir.note.create", [[{ resource, message }]]);
}

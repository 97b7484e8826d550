/** Notes on records of Tryton: what it has no field for. */
import type { Books } from "./books.ts";

export interface Note {
  /** `account.invoice,12` */
  readonly resource: string;
  readonly message: string | null;
}

/** Those on these records, oldest first; of them those in the domain. @throws TrytonError */
export async function notesOn(
  { tryton }: Books,
  resources: readonly string[],
  ...domain: readonly unknown[]
): Promise<Note[]> {
  if (resources.length === 0) return [];
  const on = [["resource", "in", resources], ...domain];
  const params = [on, 0, null, [["id", "ASC"]], ["resource", "message"]];
  return tryton.call<Note[]>("model.ir.note.search_read", params);
}

/** @throws TrytonError */
export async function addNote({ tryton }: Books, resource: string, message: string): Promise<void> {
  await tryton.call("model.ir.note.create", [[{ resource, message }]]);
}

/** A dispute has no state in Tryton: it is a note on the invoice, and its end another one. */
import type { Books } from "./books.ts";
import { addNote, notesOn } from "./notes.ts";

const DISPUTED = "Disputed on the platform.";
const SETTLED = "No longer disputed on the platform.";

/** The invoices whose last note of ours says that they are disputed. @throws TrytonFault */
export async function disputedOf(
  books: Books,
  invoices: readonly number[],
): Promise<ReadonlySet<number>> {
  const ours = ["message", "in", [DISPUTED, SETTLED]];
  const disputed = new Set<number>();
  for (const { resource, message } of await notesOn(books, invoices.map(resourceOf), ours)) {
    const invoice = Number(resource.split(",")[1]);
    if (message === DISPUTED) disputed.add(invoice);
    else disputed.delete(invoice);
  }
  return disputed;
}

/** @throws TrytonFault */
export const noteDispute = (books: Books, invoice: number, disputed: boolean): Promise<void> =>
  addNote(books, resourceOf(invoice), disputed ? DISPUTED : SETTLED);

/** What a note is on. */
export const resourceOf = (invoice: number): string => `account.invoice,${invoice}`;

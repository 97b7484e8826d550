/** A dispute has no state in Tryton: it is a note on the invoice, and its end another one. */
import type { Books } from "./books.ts";
import { disputeMark, markIn } from "../../src/books/marks.ts";
import { addNote, notesOn } from "./notes.ts";

/** The mark decides; what follows it is for people. */
const DISPUTED = `${disputeMark("open")}\nDisputed on the platform.`;
const SETTLED = `${disputeMark("over")}\nNo longer disputed on the platform.`;
/** Notes of versions that wrote no mark. */
const UNMARKED = {
  disputed: "Disputed on the platform.",
  settled: "No longer disputed on the platform.",
};

/** The invoices whose last note of ours says that they are disputed. @throws TrytonError */
export async function disputedOf(
  books: Books,
  invoices: readonly number[],
): Promise<ReadonlySet<number>> {
  const ours = [
    "OR",
    ["message", "like", disputeMark("%")],
    ["message", "in", Object.values(UNMARKED)],
  ];
  const disputed = new Set<number>();
  for (const { resource, message } of await notesOn(books, invoices.map(resourceOf), ours)) {
    const invoice = Number(resource.split(",")[1]);
    if (message === UNMARKED.disputed || markIn(message ?? "") === disputeMark("open"))
      disputed.add(invoice);
    else disputed.delete(invoice);
  }
  return disputed;
}

/** @throws TrytonError */
export const noteDispute = (books: Books, invoice: number, disputed: boolean): Promise<void> =>
  addNote(books, resourceOf(invoice), disputed ? DISPUTED : SETTLED);

/** What a note is on. */
export const resourceOf = (invoice: number): string => `account.invoice,${invoice}`;

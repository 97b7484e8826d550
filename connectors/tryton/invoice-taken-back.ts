/** PAID that the platform takes back, of an invoice that we have settled in Tryton. */
import type { Fault } from "../../src/core/fault.ts";
import type { Books } from "./books.ts";
import type { InvoiceDocument } from "../../src/books/documents.ts";
import { type Entry, idOf, isDraft, readByIds, type Settling } from "./invoice-facts.ts";
import { markIn, settlementMark } from "./marks.ts";

interface Booked {
  readonly document: InvoiceDocument;
  readonly entry: Entry;
}

/**
 * Of these the ones that are to be open and that a settlement of ours pays, by their ids, and what a person must know.
 * Our settlement is not taken back by machine: it may be matched with a bank statement already. @throws TrytonFault
 */
export async function takenBackOf(
  books: Books,
  booked: readonly Booked[],
): Promise<ReadonlyMap<number, Fault>> {
  const open = booked.filter(
    ({ document: { status }, entry }) =>
      (status === "open" || status === "disputed") &&
      !isDraft(entry) &&
      entry.state !== "cancelled",
  );
  const standings = await readByIds(
    books,
    open.map(({ entry }) => entry.id),
    "progress",
  );
  return new Map(
    open.flatMap(({ document, entry }) => {
      const settling = standings.find(({ id }) => id === entry.id)?.settling ?? [];
      const ours = settling.filter((one) => isSettlementOf(document.id, one));
      return ours.length === 0 ? [] : [[entry.id, faultOf(document, entry, ours)] as const];
    }),
  );
}

/** Is it what paid this invoice when the platform called it paid? */
export const isSettlementOf = (platformId: string, { description }: Settling): boolean =>
  markIn(description ?? "") === settlementMark(platformId);

function faultOf({ number }: InvoiceDocument, entry: Entry, ours: readonly Settling[]): Fault {
  const moves = ours.map(({ move, amount }) => `#${move} of ${amount.fixed(2)}`).join(", ");
  return {
    code: "paid-taken-back",
    message: `invoice ${number} (${idOf(entry)}) is no longer paid on the platform, and was settled in Tryton when it was: by the payment move ${moves}`,
    next: "An accountant finds out whether the money came. If it did not, cancel that move in Tryton (Cancel Moves) and remove it from the invoice's payment lines, then retry. If it did, have it marked as paid on the platform.",
  };
}

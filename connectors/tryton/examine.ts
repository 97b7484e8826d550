/** What must hold in Tryton before the first document goes. */
import type { Examination } from "../../src/core/contract.ts";
import type { Books } from "./books.ts";

export async function checkTryton(books: Books, _signal: AbortSignal): Promise<void> {
  await books.tryton.session();
}

export async function examineTryton(
  _books: Books,
  _signal: AbortSignal,
): Promise<readonly Examination[]> {
  return [];
}

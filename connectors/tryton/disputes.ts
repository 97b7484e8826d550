/** A dispute has no state in Tryton: it is a note on the invoice, and its end another one. */
import type { Books } from "./books.ts";

const DISPUTED = "Disputed on the platform.";
const SETTLED = "No longer disputed on the platform.";

/** The invoices whose last note of ours says that they are disputed. @throws TrytonFault */
export async function disputedOf(
  { tryton }: Books,
  invoices: readonly number[],
): Promise<ReadonlySet<number>> {
  const disputed = new Set<number>();
  if (invoices.length === 0) return disputed;
  const domain = [
    ["resource", "in", invoices.map(resourceOf)],
    ["message", "in", [DISPUTED, SETTLED]],
  ];
  const notes = await tryton.call<{ resource: string; message: string }[]>(
    "model.ir.note.search_read",
    [domain, 0, null, [["id", "ASC"]], ["resource", "message"]],
  );
  for (const { resource, message } of notes) {
    const invoice = Number(resource.split(",")[1]);
    if (message === DISPUTED) disputed.add(invoice);
    else disputed.delete(invoice);
  }
  return disputed;
}

/** @throws TrytonFault */
export async function noteDispute(
  { tryton }: Books,
  invoice: number,
  disputed: boolean,
): Promise<void> {
  const note = { resource: resourceOf(invoice), message: disputed ? DISPUTED : SETTLED };
  await tryton.call("model.ir.note.create", [[note]]);
}

/** What a note is on. */
export const resourceOf = (invoice: number): string => `account.invoice,${invoice}`;

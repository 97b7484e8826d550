/** A dispute has no state in Tryton: it is a note on the invoice, and its end another one. */
import type { Books } from "./books.ts";
import { disputeMark, markIn } from "./marks.ts";

/** The mark decides; what follows it is for people. */
const DISPUTED = `${disputeMark("open")}\nDisputed on the platform.`;
const SETTLED = `${disputeMark("over")}\nNo longer disputed on the platform.`;
/** Notes of versions that wrote no mark. */
const UNMARKED = {
  disputed: "Disputed on the platform.",
  settled: "No longer disputed on the platform.",
};

/** The invoices whose last note of ours says that they are disputed. @throws TrytonFault */
export async function disputedOf(
  { tryton }: Books,
  invoices: readonly number[],
): Promise<ReadonlySet<number>> {
  const disputed = new Set<number>();
  if (invoices.length === 0) return disputed;
  const domain = [
    ["resource", "in", invoices.map(resourceOf)],
    ["OR", ["message", "like", disputeMark("%")], ["message", "in", Object.values(UNMARKED)]],
  ];
  const notes = await tryton.call<{ resource: string; message: string }[]>(
    "model.ir.note.search_read",
    [domain, 0, null, [["id", "ASC"]], ["resource", "message"]],
  );
  for (const { resource, message } of notes) {
    const invoice = Number(resource.split(",")[1]);
    if (message === UNMARKED.disputed || markIn(message) === disputeMark("open"))
      disputed.add(invoice);
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

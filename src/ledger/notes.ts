/** Notes on records of books: what these have no field for. Each begins with a mark of ours, and is for people besides. */
import { Decimal } from "../core/decimal.ts";
import { PLAIN_ENTRY, type Call, type Covering, type Entry, type Desired } from "./port.ts";
import type { PaymentDocument } from "./documents.ts";
import { coveredIn, coveredMark, disputeMark, markIn, paidMarkIn, paymentMark } from "./marks.ts";

export interface Note {
  /** The record that it is on, as the ERP calls it: `account.invoice,12`. */
  readonly resource: string;
  readonly message: string | null;
}

/** What an ERP adds. Every method @throws a fault of the ERP. */
export interface Notes {
  /** Those on these records, oldest first. @param beginnings of those that are wanted; none: all of them */
  on(resources: readonly string[], beginnings: readonly string[]): Promise<readonly Note[]>;
  add(resource: string, message: string): Promise<void>;
}

/** The mark decides; what follows it is for people. */
const DISPUTES = {
  open: `${disputeMark("open")}\nDisputed on the platform.`,
  over: `${disputeMark("over")}\nNo longer disputed on the platform.`,
};
/** Notes of versions that wrote no mark. */
const UNMARKED = ["Disputed on the platform.", "No longer disputed on the platform."] as const;

/** The documents whose last note of ours says that they are disputed. A dispute is a note, and its end another one. */
export async function disputedOf(
  notes: Notes,
  resources: readonly string[],
): Promise<ReadonlySet<string>> {
  const disputed = new Set<string>();
  for (const { resource, message } of await notes.on(resources, [disputeMark(""), ...UNMARKED])) {
    const mark = markIn(message ?? "");
    if (message === UNMARKED[0] || mark === disputeMark("open")) disputed.add(resource);
    if (message === UNMARKED[1] || mark === disputeMark("over")) disputed.delete(resource);
  }
  return disputed;
}

export const noteDispute = (notes: Notes, resource: string, disputed: boolean): Promise<void> =>
  notes.add(resource, disputed ? DISPUTES.open : DISPUTES.over);

/** What is noted on these documents as part of their settlements, by what the driver calls the payments (ADR 0017). */
async function coveredOn(
  notes: Notes,
  resources: readonly string[],
): Promise<ReadonlyMap<string, Decimal>> {
  const all = await notes.on(resources, [paymentMark("")]);
  const noted = all.map(({ message }) => coveredIn(message ?? "")).filter((one) => one !== null);
  return new Map(noted.map(([mark, amount]) => [paidMarkIn(mark) ?? mark, Decimal.of(amount)]));
}

const noteCovered = (
  notes: Notes,
  resource: string,
  { id, amount, date, description }: PaymentDocument,
): Promise<void> =>
  notes.add(
    resource,
    `${coveredMark(id, amount.fixed(2))}\nPaid on ${date}: ${description}. It is part of what was settled as one before.`,
  );

/**
 * What {@link Covering} is where payments are noted on their invoice.
 * @param resourceOf the record of an invoice, as {@link Note.resource}
 */
export const coveringBy = (
  notesOf: (call: Call) => Notes,
  resourceOf: (invoice: Entry) => string,
): Covering<"payment"> => ({
  async covered(invoice, call) {
    return Decimal.sum([...(await coveredOn(notesOf(call), [resourceOf(invoice)])).values()]);
  },
  async cover(desired, call) {
    for (const { document, on } of desired)
      await noteCovered(notesOf(call), resourceOf(paidBy(on)), document);
  },
});

/** The invoice that a payment pays. @throws TypeError when the driver has not looked for it */
export function paidBy(on: Entry | undefined): Entry {
  if (on === undefined) throw new TypeError("a payment without its invoice");
  return on;
}

/** Of these payments those that are noted on one of these records. What a note says of one is its amount. */
export async function coveredAmong(
  notes: Notes,
  resources: readonly string[],
  desired: readonly Desired<"payment">[],
): Promise<Entry<null>[]> {
  const noted = desired.length === 0 ? new Map() : await coveredOn(notes, resources);
  return desired.flatMap(({ mark, expected: { words } }) => {
    const amount = noted.get(mark);
    const facts = { money: { amount }, words: { side: words?.side ?? null } };
    return amount === undefined
      ? []
      : [{ ...PLAIN_ENTRY, id: null, mark, status: "posted" as const, facts, native: null }];
  });
}

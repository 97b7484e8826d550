/** Notes on records of books: what these have no field for. Each begins with a mark of ours, and is for people besides. */
import { Decimal } from "../core/decimal.ts";
import { isSettlement, settlementMark as settledAs } from "./plan.ts";
import { type Call, type Covering, type Desired, type Entry, PLAIN_ENTRY } from "./port.ts";

/*
 * By what we know our own in books that have no field for the platform's id: words of texts that survive posting and can
 * be searched. With a colon, as nobody writes it by hand.
 */

/** In an invoice's comment: it came from the platform. */
export const markOf = (platformId: string): string => `platform:${platformId}`;

/** The platform's id in an invoice's comment; null: it did not come from there. */
export const platformIdIn = (comment: string | null): string | null =>
  /(?:^|\s)platform:(\S+)/.exec(comment ?? "")?.[1] ?? null;

/** Before the description of a payment that the platform told us of. */
export const paymentMark = (paymentId: string): string => `payment:${paymentId}`;

/** The first line of the note of a payment that is counted and not booked: its mark and amount. */
export const coveredMark = (paymentId: string, amount: string): string =>
  `${paymentMark(paymentId)} ${amount}`;

/** Mark and amount in the first line of such a note; null: it is another note. */
export function coveredIn(note: string): readonly [mark: string, amount: string] | null {
  const [, mark, amount] = /^(payment:\S+) (\d+\.\d\d)(?:\s|$)/.exec(note) ?? [];
  return mark === undefined || amount === undefined ? null : [mark, amount];
}

/** The first line of the note that a dispute is `open` or `over`. */
export const disputeMark = (state: string): string => `dispute:${state}`;

/** Does this description of a payment say that the platform knows of it? */
export const isOurPayment = (description: string | null): boolean =>
  /^(?:payment|platform):\S/.test(description ?? "");

/** The mark at its beginning. */
export const markIn = (description: string): string => /^\S*/.exec(description)?.[0] ?? "";

/** What the driver calls the payment that a description begins with; null: the platform does not know of it. */
export function paidMarkIn(description: string | null): string | null {
  const [, kind, id = ""] = /^(payment|platform):(\S+)/.exec(description ?? "") ?? [];
  if (kind === undefined) return null;
  return kind === "payment" ? id : settledAs(id);
}

/** What the description of a payment begins with, by what the driver calls it. */
export const payingMark = (mark: string): string =>
  isSettlement(mark) ? markOf(mark.slice(settledAs("").length)) : paymentMark(mark);

interface Note {
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

/** What is noted on these documents as part of their settlements, by what the driver calls the payments (ADR 0010). */
async function coveredOn(
  notes: Notes,
  resources: readonly string[],
): Promise<ReadonlyMap<string, Decimal>> {
  const all = await notes.on(resources, [paymentMark("")]);
  const noted = all.map(({ message }) => coveredIn(message ?? "")).filter((one) => one !== null);
  return new Map(noted.map(([mark, amount]) => [paidMarkIn(mark) ?? mark, Decimal.of(amount)]));
}

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
    for (const { document, on } of desired) {
      const { id, amount, date, description } = document;
      const note = `${coveredMark(id, amount.fixed(2))}\nPaid on ${date}: ${description}. It is part of what was settled as one before.`;
      await notesOf(call).add(resourceOf(paidBy(on)), note);
    }
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

/**
 * Customer invoices that have their number, those that came from the platform too: `platformId` says so. Posting stamps
 * an invoice anew, and from then on Tryton lets nobody change its lines or taxes; so the invoice's own stamp is enough.
 */
import type { Change, Source } from "../../../src/core/contract.ts";
import { Decimal } from "../../../src/core/decimal.ts";
import type { Fault } from "../../../src/core/fault.ts";
import { stringifyExact } from "../../../src/core/json.ts";
import type { Books } from "../books.ts";
import { invoiceRecord } from "../../../src/books/facts.ts";
import { amountLines, type Entry, MORE, readInvoices } from "../invoice-facts.ts";
import { isOurPayment } from "../../../src/books/marks.ts";
import { ofCompany, rowsOf } from "../search.ts";
import { feed, type Part } from "./feed.ts";
import { companyIdOf } from "./parties.ts";

const MODEL = "account.invoice";
const PARTS: readonly Part[] = [{ model: MODEL, record: "id", domain: [["type", "=", "out"]] }];

/** A draft is not told: it has no number, and it may still change without a stamp. */
const NUMBERED = ["posted", "paid", "cancelled"];
export const invoices = (books: Books): Source =>
  feed(books, PARTS, (ids, signal) => invoiceChanges(books, ids, signal));

/** The same: what is paid, what is paid in part, and what is no longer. */
export const paidInvoices = (books: Books): Source => invoices(books);

/** What the sources tell of these, by their database ids; of those that have a number. @throws TrytonError */
export async function invoiceChanges(
  books: Books,
  ids: readonly number[],
  signal: AbortSignal,
): Promise<Change[]> {
  const own = await ofCompany(books);
  const domain = [["id", "in", ids], own, ["state", "in", NUMBERED], ["number", "!=", null]];
  const entries = await readInvoices(books, domain, { signal }, MORE);
  const rows = entries.filter((one): one is Numbered => one.number !== null);
  const same = [
    ["number", "in", rows.map(({ number }) => number)],
    ["id", "not in", rows.map(({ id }) => id)],
    own,
    ["type", "=", "out"],
    ["state", "in", LIVE],
  ];
  const others = await rowsOf<{ number: string }>(books, MODEL, same, "number", { signal });
  const live = [...rows.filter(isLive), ...others];
  return rows.flatMap((row) => {
    const count = live.filter(({ number }) => number === row.number).length;
    // One that was cancelled and booked anew under its number tells nothing of the new one.
    if (!isLive(row) && count > 0) return [];
    return count > 1 ? { ...changeOf(row), fault: numberTwice(row.number) } : changeOf(row);
  });
}

type Numbered = Entry & { readonly number: string };

const LIVE: readonly string[] = ["posted", "paid"];
const isLive = ({ state }: Entry): boolean => LIVE.includes(state);

/** Tryton takes a number twice; links are kept by it, and an amount would be delivered under the other's. */
const numberTwice = (number: string): Fault => ({
  code: "number-twice",
  message: `Tryton has more than one customer invoice ${number}`,
  next: "An accountant looks which of them counts and cancels the other in Tryton; that one is then read again.",
  field: "Number",
});

function changeOf(entry: Numbered): Change {
  const { id, number, state, reconciled, platformId, toPay } = entry;
  const record = invoiceRecord(entry.facts, {
    number,
    id: String(id),
    state,
    partyCompanyId: companyIdOf(entry["party."]["identifiers."] ?? []),
    dueDate: lastOf(entry["lines_to_pay."].map((line) => line.maturity_date)),
    open: toPay,
    paidDate: reconciled,
    paidByPlatform: isPaidByPlatform(entry),
    paidByOthers: paidByOthers(entry),
    platformId,
    productNames: amountLines(entry).map((line) => line["product."]?.name ?? null),
  });
  return { id: number, version: null, text: stringifyExact(record) };
}

const isOurs = ({ description }: Entry["settling"][number]): boolean => isOurPayment(description);

/** What settled it: payments, and nothing but those that we booked for the platform. */
function isPaidByPlatform({ state, settling }: Entry): boolean {
  const settled = settling.filter(({ isReconciled }) => isReconciled);
  return state === "paid" && settled.length > 0 && settled.every(isOurs);
}

/** Payments of an open invoice are settled with it in full, or with one of its terms, or not yet. */
function paidByOthers({ state, settling, total, toPay }: Entry): Decimal | null {
  if (state !== "posted") return null;
  const ours = Decimal.sum(settling.filter(isOurs).map(({ amount }) => amount));
  const others = total.minus(toPay).minus(ours);
  return others.sign > 0 ? others : null;
}

const lastOf = (days: readonly (string | null)[]): string | null =>
  days
    .filter((day) => day !== null)
    .toSorted()
    .at(-1) ?? null;

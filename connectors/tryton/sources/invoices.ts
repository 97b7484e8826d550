/**
 * Customer invoices that have their number, those that came from the platform too: `platformId` says so. Posting stamps
 * an invoice anew, and from then on Tryton lets nobody change its lines or taxes; so the invoice's own stamp is enough.
 */
import type { Change, Source } from "../../../src/core/contract.ts";
import { stringifyExact } from "../../../src/core/json.ts";
import type { Books } from "../books.ts";
import { cannotTell } from "../../../src/ledger/booked.ts";
import { companyIdOf, numberTwice, payersOf } from "../../../src/ledger/changes.ts";
import { invoiceRecord } from "../../../src/ledger/facts.ts";
import { isOurPayment } from "../../../src/ledger/marks.ts";
import { amountLines, readTold, type ToldInvoice } from "../invoice-facts.ts";
import { texts } from "../rows.ts";
import { ofCompany, rowsOf, where } from "../search.ts";
import { TRYTON } from "../errors.ts";
import { feed, type Part } from "./feed.ts";

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
  const domain = where({ "id in": ids, ...own, "state in": NUMBERED, "number !=": null });
  const entries = await readTold(books, domain, { signal });
  const rows = entries.filter((one): one is Numbered => one.number !== null);
  const same = where({
    ...own,
    "type =": "out",
    "state in": LIVE,
    "number in": rows.map(({ number }) => number),
    "id not in": rows.map(({ id }) => id),
  });
  const others = await rowsOf(books, MODEL, same, texts("number"), { signal });
  const live = [...rows.filter(isLive), ...others];
  return rows.flatMap((row) => {
    const count = live.filter(({ number }) => number === row.number).length;
    // One that was cancelled and booked anew under its number tells nothing of the new one.
    if (!isLive(row) && count > 0) return [];
    const change = changeOf(row);
    if (row.untold !== undefined) return { ...change, fault: cannotTell(row.untold) };
    return count > 1 ? { ...change, fault: numberTwice(TRYTON.name, row.number) } : change;
  });
}

type Numbered = ToldInvoice & { readonly number: string };

const LIVE: readonly string[] = ["posted", "paid"];
const isLive = ({ state }: ToldInvoice): boolean => LIVE.includes(state);

function changeOf(entry: Numbered): Change {
  const { number, state, reconciled, platformId, toPay } = entry;
  const record = invoiceRecord(entry.facts, {
    number,
    // Tryton refuses to change the number of a posted invoice: it is what links call it.
    id: number,
    state,
    partyCompanyId: companyIdOf(entry.party.identifiers),
    dueDate: lastOf(entry.lines_to_pay.map((line) => line.maturity_date)),
    open: toPay,
    paidDate: reconciled,
    ...payersOf({
      state,
      total: entry.total,
      open: toPay,
      settling: entry.settling.map((one) => ({
        ...one,
        isOurs: isOurPayment(one.description),
      })),
    }),
    platformId,
    productNames: amountLines(entry.lines).map(({ product }) => product?.name ?? null),
  });
  return { id: number, version: null, text: stringifyExact(record) };
}

const lastOf = (days: readonly (string | null)[]): string | null =>
  days
    .filter((day) => day !== null)
    .toSorted()
    .at(-1) ?? null;

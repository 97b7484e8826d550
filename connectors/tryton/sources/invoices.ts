/**
 * Customer invoices that have their number, those that came from the platform too: `platformId` says so. Posting stamps
 * an invoice anew, and from then on Tryton lets nobody change its lines or taxes; so the invoice's own stamp is enough.
 */
import type { Change, Source } from "../../../src/core/contract.ts";
import { Decimal } from "../../../src/core/decimal.ts";
import type { Fault } from "../../../src/core/fault.ts";
import { stringifyExact } from "../../../src/core/json.ts";
import type { Books } from "../books.ts";
import { amountLines, readRows, type WholeLine, type WholeRow } from "../invoice-facts.ts";
import { isOurPayment, platformIdIn } from "../marks.ts";
import type { InvoiceRecord } from "../../../src/books/records.ts";
import { ofCompany, rowsOf } from "../search.ts";
import { exact } from "../values.ts";
import { feed, type Part } from "./feed.ts";
import { companyIdOf } from "./parties.ts";

const MODEL = "account.invoice";
const PARTS: readonly Part[] = [{ model: MODEL, record: "id", domain: [["type", "=", "out"]] }];

/** A draft is not told: it has no number, and it may still change without a stamp. */
const NUMBERED = ["posted", "paid", "cancelled"];
export const invoices = (books: Books): Source =>
  feed(books, PARTS, (ids, signal) => invoiceChanges(books, ids, signal));

/** The same: what is paid, what is paid in part, and what is no longer. */
export const paidInvoices = invoices;

/** What the sources tell of these, by their database ids; of those that have a number. @throws TrytonError */
export async function invoiceChanges(
  books: Books,
  ids: readonly number[],
  signal: AbortSignal,
): Promise<Change[]> {
  const own = await ofCompany(books);
  const domain = [["id", "in", ids], own, ["state", "in", NUMBERED], ["number", "!=", null]];
  const rows = await readRows(books, domain, signal);
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

const LIVE: readonly string[] = ["posted", "paid"];
const isLive = ({ state }: WholeRow): boolean => LIVE.includes(state);

/** Tryton takes a number twice; links are kept by it, and an amount would be delivered under the other's. */
const numberTwice = (number: string): Fault => ({
  code: "number-twice",
  message: `Tryton has more than one customer invoice ${number}`,
  next: "An accountant looks which of them counts and cancels the other in Tryton; that one is then read again.",
  field: "Number",
});

function changeOf(row: WholeRow): Change {
  const { code: partyCode, "identifiers.": identifiers } = row["party."];
  const record = {
    number: row.number,
    id: String(row.id),
    type: row.type,
    state: row.state,
    reference: some(row.reference),
    description: some(row.description),
    partyCode,
    partyCompanyId: companyIdOf(identifiers),
    currency: row["currency."].code,
    invoiceDate: row.invoice_date,
    dueDate: lastOf(row["lines_to_pay."].map((line) => line.maturity_date)),
    untaxed: exact(row.untaxed_amount),
    tax: exact(row.tax_amount),
    total: exact(row.total_amount),
    amountToPay: exact(row.amount_to_pay),
    paidDate: row.reconciled,
    paidByPlatform: isPaidByPlatform(row),
    paidByOthers: paidByOthers(row),
    platformId: platformIdIn(row.comment),
    lines: amountLines(row).map(lineOf),
    taxes: row["taxes."].map((tax) => ({
      description: tax.description,
      account: some(tax["account."].code),
      base: exact(tax.base),
      amount: exact(tax.amount),
    })),
  } satisfies InvoiceRecord;
  return { id: row.number, version: null, text: stringifyExact(record) };
}

const lineOf = (line: WholeLine): InvoiceRecord["lines"][number] => ({
  product: some(line["product."]?.code),
  productName: some(line["product."]?.name),
  description: some(line.description),
  quantity: line.quantity === null ? null : exact(line.quantity),
  unit: some(line["unit."]?.symbol),
  unitPrice: line.unit_price === null ? null : exact(line.unit_price),
  amount: exact(line.amount),
  account: some(line["account."]?.code),
});

/** What settled it besides its own move: payments, and nothing but those that we booked for the platform. */
function isPaidByPlatform({ state, move, "lines_to_pay.": due }: WholeRow): boolean {
  const settling = due
    .flatMap((line) => line["reconciliation."]?.["lines."] ?? [])
    .filter((line) => line["move."].id !== move);
  if (state !== "paid" || settling.length === 0) return false;
  return settling.every((line) => isOurPayment(line["move."].description));
}

/** Payments of an open invoice are settled with it in full, or with one of its terms, or not yet. */
function paidByOthers(row: WholeRow): Decimal | null {
  if (row.state !== "posted") return null;
  const settled = row["lines_to_pay."].flatMap((line) => line["reconciliation."]?.["lines."] ?? []);
  const unsettled = row["payment_lines."].filter(({ reconciliation }) => reconciliation === null);
  const ours = [...settled, ...unsettled].filter((line) => isOurPayment(line["move."].description));
  const amounts = new Map(
    ours.map(({ id, debit, credit }) => [id, exact(credit).minus(exact(debit))]),
  );
  const paid = exact(row.total_amount).minus(exact(row.amount_to_pay));
  const others = paid.minus(Decimal.sum([...amounts.values()]));
  return others.sign > 0 ? others : null;
}

const lastOf = (days: readonly (string | null)[]): string | null =>
  days
    .filter((day) => day !== null)
    .toSorted()
    .at(-1) ?? null;

const some = (text: string | null | undefined): string | null => {
  const trimmed = text?.trim() ?? "";
  return trimmed === "" ? null : trimmed;
};

/**
 * Payments as the books hold them: accounting moves with a line on what customers owe, or on what we owe. The move that
 * cancels another one is no payment; the other one was taken back.
 */
import { Decimal } from "../../src/core/decimal.ts";
import type { Books } from "./books.ts";
import { isOurPayment, markIn } from "../../src/books/marks.ts";
import { rowsOf } from "./search.ts";
import { exact } from "./values.ts";

export interface PaymentMove {
  readonly move: number;
  /** What its description begins with, when it came from the platform: see src/books/marks.ts. */
  readonly mark: string | null;
  /** The rest of its description: method and reference. */
  readonly words: string;
  /** `YYYY-MM-DD` */
  readonly date: string;
  /** The whole of it, what stays on account too. Negative: money that went back. */
  readonly amount: Decimal;
  /** On what customers owe; else on what we owe. */
  readonly isSale: boolean;
  /** Somebody cancelled it. */
  readonly takenBack: boolean;
  /** The party's code. */
  readonly party: string | null;
  /** Database ids of the invoices that it pays, and of the moves that it settles together with. */
  readonly invoices: readonly number[];
  readonly settles: readonly number[];
  /** The last change of any of its rows; null where Tryton keeps none. */
  readonly stamp: string | null;
}

/** A payment in the books that the platform told us of. */
export type Paid = PaymentMove & { readonly mark: string };

/** Those that were made on one invoice and that the platform told us of, taken back or not. @throws TrytonError */
export async function paymentsOf(books: Books, invoice: number): Promise<Paid[]> {
  const moves = await paymentMoves(books, [
    ["move.origin", "=", `account.invoice,${invoice}`],
    ["move.description", "!=", null],
  ]);
  return moves.filter((one): one is Paid => one.mark !== null);
}

/** Payments by a domain of their lines, by the ids of their moves. @throws TrytonError */
export async function paymentMoves(
  books: Books,
  domain: readonly unknown[],
  signal?: AbortSignal,
): Promise<PaymentMove[]> {
  const owed = [...domain, OWED];
  const rows = await rowsOf<LineRow>(books, "account.move.line", owed, FIELDS, { signal });
  const lines = rows.filter(({ origin }) => !isCancelling(origin));
  return [...Map.groupBy(lines, ({ move }) => move)]
    .toSorted(([one], [other]) => one - other)
    .map(([move, of]) => moveOf(move, of));
}

const RECEIVABLE = ["account.type.receivable", "=", true];
const PAYABLE = ["account.type.payable", "=", true];
const OWED = ["OR", RECEIVABLE, PAYABLE];

const FIELDS = `
  move move(description date create_date write_date) create_date write_date origin party.code
  debit credit account.type.receivable invoice_payments reconciliation.lines(move origin)
`;

interface Stamped {
  readonly create_date: string | null;
  readonly write_date: string | null;
}

interface LineRow extends Stamped {
  readonly id: number;
  readonly move: number;
  readonly "move.": Stamped & { readonly description: string | null; readonly date: string };
  readonly origin: string | null;
  readonly "party.": { readonly code: string } | null;
  readonly debit: unknown;
  readonly credit: unknown;
  readonly "account.": { readonly "type.": { readonly receivable: boolean | number } };
  readonly invoice_payments: readonly number[];
  readonly "reconciliation.": {
    readonly "lines.": readonly { readonly move: number; readonly origin: string | null }[];
  } | null;
}

const LINE = "account.move.line,";
const isCancelling = (origin: string | null): boolean => origin?.startsWith(LINE) ?? false;

function moveOf(move: number, lines: readonly LineRow[]): PaymentMove {
  const [{ "move.": head, "party.": party, "account.": account }] = lines as [LineRow];
  const description = head.description ?? "";
  const mark = isOurPayment(description) ? markIn(description) : null;
  const credit = Decimal.sum(lines.map((line) => exact(line.credit).minus(exact(line.debit))));
  const isSale = Boolean(account["type."].receivable);
  const others = lines.flatMap((line) => line["reconciliation."]?.["lines."] ?? []);
  const ids = new Set(lines.map(({ id }) => `${LINE}${id}`));
  const stamps = [head, ...lines].map((row) => row.write_date ?? row.create_date ?? "");
  return {
    move,
    mark,
    words: description.slice(mark?.length ?? 0).trim(),
    date: head.date,
    amount: isSale ? credit : credit.negated(),
    isSale,
    takenBack: others.some(({ origin }) => origin !== null && ids.has(origin)),
    party: party?.code ?? null,
    invoices: lines.flatMap((line) => line.invoice_payments),
    settles: others.map((line) => line.move).filter((other) => other !== move),
    stamp: stamps.toSorted().at(-1) ?? null,
  };
}

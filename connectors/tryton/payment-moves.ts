/**
 * Payments as the books hold them: accounting moves with a line on what customers owe, or on what we owe. The move that
 * cancels another one is no payment; the other one was taken back.
 */
import { Decimal } from "../../src/core/decimal.ts";
import type { Books } from "./books.ts";
import { BARE, type Standing } from "../../src/books/adapter.ts";
import { isOurPayment, markIn, paidMarkIn } from "../../src/books/marks.ts";
import { isSettlement } from "../../src/books/plan.ts";
import { rowsOf } from "./search.ts";
import { exact } from "./values.ts";

export interface PaymentMove {
  readonly move: number;
  /** What its description begins with, when it came from the platform: see src/books/marks.ts. */
  readonly mark: string | null;
  /** Somebody cancelled it. */
  readonly takenBack: boolean;
  /** Database ids of the invoices that it pays, and of the moves that it settles together with. */
  readonly invoices: readonly number[];
  readonly settles: readonly number[];
  /** Without the number of what it pays. Its amount is the whole, what stays on account too; negative: money that went back. */
  readonly standing: Standing;
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
    .map(([move, of]) => moveOf(books.config.currency, move, of));
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

function moveOf(currency: string, move: number, lines: readonly LineRow[]): PaymentMove {
  const [{ "move.": head, "party.": party, "account.": account }] = lines as [LineRow];
  const description = head.description ?? "";
  const mark = isOurPayment(description) ? markIn(description) : null;
  const platformId = paidMarkIn(mark);
  const credit = Decimal.sum(lines.map((line) => exact(line.credit).minus(exact(line.debit))));
  const isSale = Boolean(account["type."].receivable);
  const others = lines.flatMap((line) => line["reconciliation."]?.["lines."] ?? []);
  const ids = new Set(lines.map(({ id }) => `${LINE}${id}`));
  const takenBack = others.some(({ origin }) => origin !== null && ids.has(origin));
  const stamps = [head, ...lines].map((row) => row.write_date ?? row.create_date ?? "");
  return {
    move,
    mark,
    takenBack,
    invoices: lines.flatMap((line) => line.invoice_payments),
    settles: others.map((line) => line.move).filter((other) => other !== move),
    standing: {
      ...BARE,
      id: mark === null ? `#${move}` : `#${move} ${mark}`,
      aliases: [`#${move}`],
      mark: platformId,
      rung: takenBack ? "cancelled" : "posted",
      version: stamps.toSorted().at(-1) ?? null,
      facts: {
        party: party?.code ?? null,
        days: { date: head.date },
        money: { amount: isSale ? credit : credit.negated() },
        words: {
          side: isSale ? "sale" : "purchase",
          currency,
          document: null,
          reference: description.slice(mark?.length ?? 0).trim(),
          // What settles an invoice as one has no payment of the platform's: its mark names the invoice.
          notes: platformId !== null && isSettlement(platformId) ? mark : null,
        },
      },
      native: null,
    },
  };
}

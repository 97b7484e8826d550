/** What parties owe by the ledger, beside what their invoices say is open. */
import { reading } from "../../src/books/errors.ts";
import { inPages } from "../../src/books/holdings.ts";
import { Decimal } from "../../src/core/decimal.ts";
import type { Books } from "./books.ts";
import { TRYTON } from "./errors.ts";
import { ofCompany, rowsOf } from "./search.ts";
import { exact } from "./values.ts";

/**
 * What parties owe us (`invoice`), or we owe them (`bill`), by the lines of the ledger's receivable or payable accounts
 * that are not reconciled. @throws SourceUnavailable
 */
export function controlOf(
  books: Books,
  kind: "invoice" | "bill",
  signal: AbortSignal,
): Promise<{ readonly party: string; readonly open: Decimal }[]> {
  return reading(TRYTON, async () => {
    const company = await ofCompany(books, "move.company");
    const account = kind === "invoice" ? "account.type.receivable" : "account.type.payable";
    const sums = new Map<string, Decimal>();
    const open = [
      company,
      ["move.state", "=", "posted"],
      [account, "=", true],
      ["reconciliation", "=", null],
    ];
    const read = (id: number): Promise<LedgerRow[]> => {
      const domain = [...open, ["id", ">", id]];
      const search = { most: ROWS, signal };
      return rowsOf(books, "account.move.line", domain, "debit credit party.code", search);
    };
    for await (const { rows } of inPages(0, ({ id }: LedgerRow) => id, read, ROWS))
      for (const row of rows) {
        const party = row["party."]?.code ?? "";
        const debit = exact(row.debit).minus(exact(row.credit));
        const open = kind === "invoice" ? debit : debit.negated();
        sums.set(party, (sums.get(party) ?? Decimal.zero).plus(open));
      }
    return [...sums]
      .map(([party, open]) => ({ party, open }))
      .filter(({ open }) => open.sign !== 0);
  });
}

/** Of the ledger in one call. */
const ROWS = 1_000;

interface LedgerRow {
  readonly id: number;
  readonly debit: unknown;
  readonly credit: unknown;
  readonly "party.": { readonly code: string } | null;
}

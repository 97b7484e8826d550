/** What parties owe by the ledger, beside what their invoices say is open. */
import { Decimal } from "../../src/core/decimal.ts";
import type { Books } from "./books.ts";
import { reading } from "./fault.ts";
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
  return reading(async () => {
    const { company } = await books.tryton.session();
    const account = kind === "invoice" ? "account.type.receivable" : "account.type.payable";
    const sums = new Map<string, Decimal>();
    let last = 0;
    for (let goesOn = true; goesOn;) {
      const domain = [
        ["move.company", "=", company],
        ["move.state", "=", "posted"],
        [account, "=", true],
        ["reconciliation", "=", null],
        ["id", ">", last],
      ];
      const rows = await books.tryton.call<LedgerRow[]>(
        "model.account.move.line.search_read",
        [domain, 0, LEDGER_LOT, [["id", "ASC"]], ["debit", "credit", "party.code"]],
        { signal },
      );
      for (const row of rows) {
        const party = row["party."]?.code ?? "";
        const debit = exact(row.debit).minus(exact(row.credit));
        const open = kind === "invoice" ? debit : debit.negated();
        sums.set(party, (sums.get(party) ?? Decimal.zero).plus(open));
      }
      goesOn = rows.length === LEDGER_LOT;
      last = rows.at(-1)?.id ?? last;
    }
    return [...sums]
      .map(([party, open]) => ({ party, open }))
      .filter(({ open }) => open.sign !== 0);
  });
}

const LEDGER_LOT = 1_000;

interface LedgerRow {
  readonly id: number;
  readonly debit: unknown;
  readonly credit: unknown;
  readonly "party.": { readonly code: string } | null;
}

/** What parties owe by the ledger, beside what their invoices say is open. */
import { openByParty } from "../../src/ledger/booked.ts";
import { reading } from "../../src/ledger/errors.ts";
import { inPages } from "../../src/ledger/holdings.ts";
import type { Decimal } from "../../src/core/decimal.ts";
import type { Books } from "./books.ts";
import { TRYTON } from "./errors.ts";
import { amounts, oneOrNone, type RowOf, texts } from "./rows.ts";
import { ofCompany, rowsOf, where } from "./search.ts";

/**
 * What parties owe us (`invoice`), or we owe them (`bill`), by the lines of the ledger's receivable or payable accounts
 * that are not reconciled. @throws SourceUnavailable
 */
export const controlOf = (
  books: Books,
  kind: "invoice" | "bill",
  signal: AbortSignal,
): Promise<{ readonly party: string; readonly open: Decimal }[]> =>
  reading(TRYTON, () => openByParty(entriesOf(books, kind === "invoice", signal)));

async function* entriesOf(books: Books, isOwedToUs: boolean, signal: AbortSignal) {
  const open = where({
    ...(await ofCompany(books, "move.company")),
    "move.state =": "posted",
    [`account.type.${isOwedToUs ? "receivable" : "payable"} =`]: true,
    "reconciliation =": null,
  });
  const read = (id: number): Promise<Line[]> => {
    const domain = [...open, ["id", ">", id]];
    return rowsOf(books, "account.move.line", domain, LINE, { most: ROWS, signal });
  };
  for await (const { rows } of inPages(0, ({ id }: Line) => id, read, ROWS))
    yield rows.map(({ party, debit, credit }) => ({
      party: party?.code ?? "",
      open: isOwedToUs ? debit.minus(credit) : credit.minus(debit),
    }));
}

/** Of the ledger in one call. */
const ROWS = 1_000;

const LINE = { ...amounts("debit credit"), party: oneOrNone(texts("code")) };
type Line = RowOf<typeof LINE>;

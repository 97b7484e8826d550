/** What is in QuickBooks Online, from the company's own rows. */
import type { Company } from "../../connectors/quickbooks-online/company.fixture.ts";
import type { Decimal } from "../../src/core/decimal.ts";
import { figuresIn } from "../support/booked.ts";
import type { Expected } from "../tryton/ledger.ts";

interface Row {
  readonly TxnDate: string;
  readonly PrivateNote?: string;
  readonly TotalAmt: Decimal;
  readonly CustomerRef?: { readonly name: string };
  readonly VendorRef?: { readonly name: string };
  readonly Line: readonly {
    readonly Amount: Decimal;
    readonly SalesItemLineDetail?: { readonly ItemRef: { readonly value: string } };
    readonly ItemBasedExpenseLineDetail?: { readonly ItemRef: { readonly value: string } };
    readonly AccountBasedExpenseLineDetail?: { readonly AccountRef: { readonly value: string } };
  }[];
}

const BOOKED = { Invoice: "out", Bill: "in" } as const;
const PAID = { Payment: "out", BillPayment: "in" } as const;

/** Every invoice, bill and payment there is. A void one has no amounts. */
export function figuresOf(books: Company, folder: string): Expected {
  const called = (table: "Item" | "Account", id: string): string => {
    const row = books.rows(table).find((one) => one.Id === id);
    return String(row?.["AcctNum"] ?? row?.["Name"]);
  };
  const lineOf = (line: Row["Line"][number]) => {
    const item = (line.SalesItemLineDetail ?? line.ItemBasedExpenseLineDetail)?.ItemRef.value;
    const expense = line.AccountBasedExpenseLineDetail?.AccountRef.value ?? "";
    const code = item === undefined ? called("Account", expense) : called("Item", item);
    return { code, amount: line.Amount };
  };
  const booked = Object.entries(BOOKED).flatMap(([table, type]) =>
    rowsOf(books, table).map((row) => ({
      type,
      party: partyIn(row),
      date: row.TxnDate,
      total: row.TotalAmt,
      lines: row.TotalAmt.sign === 0 ? [] : row.Line.map(lineOf),
    })),
  );
  const paid = Object.entries(PAID).flatMap(([table, type]) =>
    rowsOf(books, table).map((row) => ({ type, party: partyIn(row), amount: row.TotalAmt })),
  );
  return figuresIn(folder, booked, paid);
}

const partyIn = ({ CustomerRef, VendorRef }: Row): string => (CustomerRef ?? VendorRef)?.name ?? "";

const rowsOf = (books: Company, table: string): Row[] => books.rows(table) as unknown as Row[];

/** Each document of ours by its mark, with its table. */
export const marksIn = (books: Company): string[] =>
  ["Invoice", "Bill", "Payment", "BillPayment"].flatMap((table) =>
    rowsOf(books, table).flatMap(({ PrivateNote = "" }) => {
      const [mark] = /(?:platform|payment):\S+/.exec(PrivateNote) ?? [];
      return mark === undefined ? [] : [`${table} ${mark}`];
    }),
  );

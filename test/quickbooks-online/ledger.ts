/** What is in QuickBooks, as test/tryton/ledger.ts counts it, from the company's own rows. No code of fuelbridge's between. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import type { Company, Record_ } from "../../connectors/quickbooks-online/company.fixture.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { type Expected, Sums } from "../tryton/ledger.ts";

interface Row {
  readonly TxnDate: string;
  readonly DocNumber?: string;
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

const SIDES = {
  Invoice: { type: "out", account: "1200", fuel: "4000", sign: Decimal.of("1") },
  Bill: { type: "in", account: "2100", fuel: "5000", sign: Decimal.of("-1") },
} as const;
const PAYS = { Payment: "Invoice", BillPayment: "Bill" } as const;

/** Every invoice, bill and payment there is. A void one has no amounts. */
export function figuresOf(books: Company, folder: string): Expected {
  const [ledger, invoices] = [new Sums(), new Sums()];
  const fuels = fuelItems(folder);
  const called = (table: "Item" | "Account", id: string): string => {
    const row = books.rows(table).find((one) => one.Id === id);
    return String(row?.["AcctNum"] ?? row?.["Name"]);
  };
  for (const [table, { type, account, fuel, sign }] of Object.entries(SIDES))
    for (const row of rowsOf(books, table)) {
      if (row.TotalAmt.sign === 0) continue;
      const party = partyIn(row);
      ledger.add(`account ${account}`, sign.times(row.TotalAmt));
      ledger.add(`${account} of ${party}`, sign.times(row.TotalAmt));
      invoices.add(`${type} ${row.TxnDate.slice(0, 7)} ${party}`, row.TotalAmt);
      for (const line of row.Line) {
        const item = (line.SalesItemLineDetail ?? line.ItemBasedExpenseLineDetail)?.ItemRef.value;
        const expense = line.AccountBasedExpenseLineDetail?.AccountRef.value ?? "";
        const code = item === undefined ? called("Account", expense) : called("Item", item);
        const isFuel = item !== undefined && fuels.has(code);
        ledger.add(`account ${isFuel ? fuel : code}`, sign.times(line.Amount).negated());
      }
    }
  for (const [table, of] of Object.entries(PAYS))
    for (const row of rowsOf(books, table)) {
      const { account, sign } = SIDES[of];
      ledger.add("account 1000", sign.times(row.TotalAmt));
      ledger.add(`account ${account}`, sign.times(row.TotalAmt).negated());
      ledger.add(`${account} of ${partyIn(row)}`, sign.times(row.TotalAmt).negated());
    }
  return { balances: ledger.balances(), invoicesByMonth: invoices.counted() };
}

const partyIn = ({ CustomerRef, VendorRef }: Row): string => (CustomerRef ?? VendorRef)?.name ?? "";

const rowsOf = (books: Company, table: string): (Row & Record_)[] =>
  books.rows(table) as unknown as (Row & Record_)[];

function fuelItems(folder: string): ReadonlySet<string> {
  const file = readFileSync(join(folder, "config", "crossref", "items.csv"), "utf8");
  return new Set(
    parse<{ item: string }>(file, { columns: true, bom: true }).map(({ item }) => item),
  );
}

/** Each document of ours by its mark, with its table. */
export const marksIn = (books: Company): string[] =>
  ["Invoice", "Bill", "Payment", "BillPayment"].flatMap((table) =>
    rowsOf(books, table).flatMap(({ PrivateNote = "" }) => {
      const [mark] = /(?:platform|payment):\S+/.exec(PrivateNote) ?? [];
      return mark === undefined ? [] : [`${table} ${mark}`];
    }),
  );

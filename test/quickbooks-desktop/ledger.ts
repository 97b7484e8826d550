/** What is in the company file, from its own rows. */
import type { CompanyFile } from "../../connectors/quickbooks-desktop/company-file.fixture.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { figuresIn } from "../support/booked.ts";
import type { Expected } from "../tryton/ledger.ts";

const BOOKED = { Invoice: "out", Bill: "in" } as const;
const PAID = { ReceivePayment: "out", BillPaymentCheck: "in" } as const;

/** Every invoice, bill and payment there is. */
export function figuresOf(books: CompanyFile, folder: string): Expected {
  const booked = (["Invoice", "Bill"] as const).flatMap((table) =>
    books.rows(table).map((row) => ({
      type: BOOKED[table],
      party: row.fields[table === "Invoice" ? "CustomerRef" : "VendorRef"] ?? "",
      date: row.fields["TxnDate"] ?? "",
      total: books.total(row),
      lines: row.lines
        .filter(({ ItemRef = "" }) => books.kinds.get(ItemRef) !== "Subtotal")
        .map(({ ItemRef = "", Amount = "0" }) => ({ code: ItemRef, amount: Decimal.of(Amount) })),
    })),
  );
  const paid = (["ReceivePayment", "BillPaymentCheck"] as const).flatMap((table) =>
    books.rows(table).map(({ fields, applied }) => ({
      type: PAID[table],
      party: fields[table === "ReceivePayment" ? "CustomerRef" : "PayeeEntityRef"] ?? "",
      amount: Decimal.sum(applied.map(({ amount }) => Decimal.of(amount))),
    })),
  );
  return figuresIn(folder, booked, paid);
}

/** The tables that documents are booked in. */
export const TABLES = [
  "Invoice",
  "Bill",
  "ReceivePayment",
  "BillPaymentCheck",
  "SalesOrder",
  "PurchaseOrder",
  "ItemReceipt",
] as const;

/** Each document of ours by its mark, with its table. */
export const marksIn = (books: CompanyFile): string[] =>
  TABLES.flatMap((table) =>
    books.rows(table).flatMap(({ fields: { Memo = "" } }) => {
      const [mark] = /(?:platform|payment):\S+/.exec(Memo) ?? [];
      return mark === undefined ? [] : [`${table} ${mark}`];
    }),
  );

/** What is in QuickBooks Online, from the company's own rows. */
import type { Company } from "../../connectors/quickbooks-online/company.fixture.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { figuresIn } from "../support/booked.ts";
import type { Members } from "../support/books-site.ts";
import { type Expected, number, text } from "../tryton/ledger.ts";

interface ItemDetail {
  readonly ItemRef: { readonly value: string };
  readonly Qty?: Decimal;
}

interface Row {
  readonly Id: string;
  readonly TxnStatus?: string;
  readonly TxnDate: string;
  readonly PrivateNote?: string;
  readonly TotalAmt: Decimal;
  readonly CustomerRef?: { readonly name: string };
  readonly VendorRef?: { readonly name: string };
  readonly Line: readonly {
    readonly DetailType: string;
    readonly Amount: Decimal;
    readonly Description?: string;
    readonly SalesItemLineDetail?: ItemDetail;
    readonly ItemBasedExpenseLineDetail?: ItemDetail;
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
      lines: row.TotalAmt.sign === 0 ? [] : row.Line.filter(isAmount).map(lineOf),
    })),
  );
  const paid = Object.entries(PAID).flatMap(([table, type]) =>
    rowsOf(books, table).map((row) => ({ type, party: partyIn(row), amount: row.TotalAmt })),
  );
  return figuresIn(folder, booked, paid);
}

/** Texts have no amount, and a subtotal repeats those above it. */
const isAmount = ({ DetailType }: Row["Line"][number]): boolean =>
  DetailType !== "SubTotalLineDetail" && DetailType !== "DescriptionOnly";

const partyIn = ({ CustomerRef, VendorRef }: Row): string => (CustomerRef ?? VendorRef)?.name ?? "";

const rowsOf = (books: Company, table: string): Row[] => books.rows(table) as unknown as Row[];

/** Each document of ours by its mark, with its table. */
export const marksIn = (books: Company): string[] =>
  ["Invoice", "Bill", "Payment", "BillPayment", "Estimate", "PurchaseOrder"].flatMap((table) =>
    rowsOf(books, table).flatMap(({ PrivateNote = "" }) => {
      const [mark] = /(?:platform|payment):\S+/.exec(PrivateNote) ?? [];
      return mark === undefined ? [] : [`${table} ${mark}`];
    }),
  );

const ORDERED = { Estimate: "sale", PurchaseOrder: "purchase" } as const;

/** Each order by the platform's id of it: its side, its gallons and what it comes to. In the order of the ids. */
export const ordersIn = (books: Company): string[] =>
  Object.entries(ORDERED)
    .flatMap(([table, side]) =>
      rowsOf(books, table).map((row) => {
        const [, mark = "by hand"] = /platform:(\S+)/.exec(row.PrivateNote ?? "") ?? [];
        const gallons = Decimal.sum(row.Line.map(gallonsOf));
        return orderFigures(mark, side, gallons, row.TotalAmt);
      }),
    )
    .toSorted();

/** Where quantity and price do not fit, the quantity stands at the end of the text. */
function gallonsOf(line: Row["Line"][number]): Decimal {
  const { Qty } = line.SalesItemLineDetail ?? line.ItemBasedExpenseLineDetail ?? {};
  const [, written = "0"] = /, quantity (\S+)$/.exec(line.Description ?? "") ?? [];
  return Qty ?? Decimal.of(written);
}

/** The same of the platform's own records: a line comes to gallons times price, half a cent up. */
export const ordersWanted = (orders: readonly Members[]): string[] =>
  orders
    .map(({ id, lines }) => {
      const all = lines as readonly Members[];
      const isSale = all.some(({ sellPrice }) => sellPrice !== null);
      const figures = all.map(({ quantity, rate, sellPrice, buyPrice }) => ({
        gallons: number(quantity),
        price: number((isSale ? sellPrice : buyPrice) ?? rate),
      }));
      const gallons = Decimal.sum(figures.map((line) => line.gallons));
      const total = Decimal.sum(figures.map((line) => halfUp(line.gallons.times(line.price))));
      return orderFigures(text(id), isSale ? "sale" : "purchase", gallons, total);
    })
    .toSorted();

const orderFigures = (id: string, side: string, gallons: Decimal, total: Decimal): string =>
  `${id} ${side} ${gallons.plain()} gal ${total.fixed(2)}`;

/** To cents. */
const halfUp = (amount: Decimal): Decimal => {
  const [whole = "", digits = ""] = amount.text.split(".");
  const cents = BigInt(`${whole}${digits.padEnd(2, "0").slice(0, 2)}`);
  const up = (digits[2] ?? "0") >= "5" ? 1n : 0n;
  return Decimal.of(String(cents + up)).times(Decimal.of("0.01"));
};

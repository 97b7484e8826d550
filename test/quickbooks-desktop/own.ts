/** What people enter in QuickBooks: customers, invoices, payments, prices; and what the platform has of it. */
import type { Row } from "../../connectors/quickbooks-desktop/company-file.fixture.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { pricesAt } from "../support/on-platform.ts";
import type { OwnInvoice } from "../tryton/office.ts";
import { type DesktopSite, SUBTOTAL } from "./site.ts";

export const KNOWN = { name: "A-1001", companyId: "0942f541-2340-4858-9502-8b0979809fca" };
export const FEED = "Brazos Gin & Feed";
const TERMINALS = ["T-76-TX-2799", "T-75-TX-2688"];

/** An invoice that was made in QuickBooks, with its TxnID. */
export type Made = OwnInvoice & { readonly txn: string };

/** A customer whom the platform knows, one whom it does not, three invoices of which one is paid, and three prices. */
export function enterInQuickbooks({ books }: DesktopSite): Made[] {
  books.enter("Customer", { Name: KNOWN.name, Notes: `platform:${KNOWN.companyId}` });
  books.enter("Customer", { Name: FEED });
  const first = newInvoice(books, KNOWN.name, "FL-9001", ["7500.5", "2.4137"]);
  const open = newInvoice(books, FEED, "FL-9002", ["812.25", "2.5"]);
  const paid = newInvoice(books, FEED, "FL-9003", ["120", "2.613"]);
  books.pay(paid.txn, paid.total.fixed(2));
  for (const [Name, price] of [
    ["ULSD-CLR", "2.413755"],
    ["087", "2.19127"],
  ] as const)
    books.enter("Item", { Name, "*": priceOf(price) });
  const level = `<PriceLevelPerItemRet><ItemRef><FullName>ULSD-CLR</FullName></ItemRef><CustomPrice>2.5</CustomPrice></PriceLevelPerItemRet>`;
  books.enter("PriceLevel", { Name: "t-75-tx-2688", "*": level });
  return [first, open, { ...paid, paid: true }];
}

export const priceOf = (price: string): string =>
  `<SalesOrPurchase><Price>${price}</Price></SalesOrPurchase>`;

/** Diesel in two lines, which a line of a subtotal item adds up, in a group, and a line of text. */
export function newInvoice(
  books: DesktopSite["books"],
  party: string,
  RefNumber: string,
  [gallons, price]: readonly [string, string],
): Made {
  const [Quantity, Rate] = [Decimal.of(gallons), Decimal.of(price)];
  const amount = Quantity.times(Rate).round(2);
  const line = {
    ItemRef: "ULSD-CLR",
    Desc: "ULSD, cash and carry",
    Quantity: gallons,
    Rate: price,
    Amount: amount.fixed(2),
  };
  const total = amount.plus(amount);
  const date = books.now.slice(0, 10);
  const fields = { RefNumber, TxnDate: date, DueDate: date, CustomerRef: party };
  const { id: txn } = books.enter("Invoice", fields, [
    line,
    { ...line, Group: "Delivered" },
    { ItemRef: SUBTOTAL, Group: "Delivered", Amount: line.Amount },
    { ItemRef: SUBTOTAL, Amount: total.fixed(2) },
    { Desc: "Thank you" },
  ]);
  return { id: 0, txn, number: RefNumber, party, date, total, paid: false };
}

/** The platform's company that stands for a customer of QuickBooks. */
export async function companyOf(site: DesktopSite, { id }: Row): Promise<unknown> {
  const connections = await site.records("connections");
  return connections.find(({ erpId }) => erpId === `C-${id}`)?.["toCompanyId"];
}

/** Our prices at the terminals that QuickBooks has prices of, by terminal and product. */
export async function pricesOf(site: DesktopSite): Promise<Record<string, string>> {
  const prices: Record<string, string> = {};
  for (const terminal of TERMINALS)
    for (const [product, price] of Object.entries(await pricesAt(site, terminal)))
      prices[`${terminal} ${product}`] = price;
  return prices;
}

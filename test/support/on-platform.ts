/** What the platform holds of a site's documents, as its raw records say. */
import type { Json } from "../../src/core/json.ts";
import { number, text } from "../tryton/ledger.ts";
import type { OwnInvoice } from "../tryton/office.ts";
import type { BooksSite, Members } from "./books-site.ts";

type Platform = Pick<BooksSite, "records" | "companyId">;

/** Statuses of orders that count in books. */
const CONFIRMED: readonly Json[] = [
  "CONFIRMED",
  "IN_TRANSIT",
  "DELIVERED",
  "PENDING_VERIFICATION",
  "INVOICED",
];

/** The platform's orders that count in books, as it holds them. */
export async function confirmedOrders(site: Pick<Platform, "records">): Promise<Members[]> {
  const orders = await site.records("orders?key=supplier");
  return orders.filter(({ status }) => CONFIRMED.includes(status ?? null));
}

/** Of those with one line the first ones become what the platform's people ordered for themselves: it has no selling price. */
export async function purchaseSome(
  site: Pick<BooksSite, "records" | "control">,
  count: number,
): Promise<void> {
  const single = (await confirmedOrders(site)).filter(
    ({ lines }) => (lines as Members[]).length === 1,
  );
  for (const { id, lines } of single.slice(0, count))
    await site.control.patch("orders", id, {
      lines: (lines as Members[]).map((line) => ({ ...line, sellPrice: null })),
    });
}

/** Number, payer, total and status of invoices that were made in the books, in their order. */
export async function ownOnPlatform(
  site: Pick<Platform, "records">,
  own: readonly Pick<OwnInvoice, "number">[],
): Promise<unknown[][]> {
  const records = await site.records("invoices");
  return own.flatMap((one) =>
    records
      .filter(({ invoiceNumber }) => invoiceNumber === one.number)
      .map((row) => [
        one.number,
        row["payerCompanyId"],
        number(row["total"]).fixed(2),
        row["status"],
      ]),
  );
}

/** Our rack prices of diesel and regular at a terminal, by product. */
export async function pricesAt(
  site: Platform,
  terminal: string,
): Promise<Readonly<Record<string, string>>> {
  const prices = (await site.records("rack-prices")).filter(
    ({ companyId, terminalId, product }) =>
      companyId === site.companyId &&
      terminalId === terminal &&
      (product === "ULSD-CLR" || product === "UNL-87"),
  );
  return Object.fromEntries(
    prices.map(({ product, price }) => [text(product), number(price).plain()] as const),
  );
}

/** What is in Business Central, from the company's own rows. */
import type { Company, Row } from "../../connectors/business-central/company.fixture.ts";
import type { Decimal } from "../../src/core/decimal.ts";
import { Decimal as D } from "../../src/core/decimal.ts";
import { figuresIn } from "../support/booked.ts";
import type { Expected } from "../tryton/ledger.ts";

const BOOKED = {
  salesInvoices: ["out", "customerNumber", "salesInvoiceLines"],
  purchaseInvoices: ["in", "vendorNumber", "purchaseInvoiceLines"],
} as const;

interface Line {
  readonly lineType: string;
  readonly lineObjectNumber: string;
  readonly netAmount: Decimal;
  readonly quantity: Decimal;
}

/** Every posted invoice and bill, and what was paid. A cancelled one and one that is credited in full have no amounts. */
export function figuresOf(books: Company, folder: string): Expected {
  const credited = new Set(
    books.rows("purchaseCreditMemos").flatMap((row) => (isPosted(row) ? row["invoiceId"] : [])),
  );
  const booked = Object.entries(BOOKED).flatMap(([set, [type, party, lines]]) =>
    books
      .rows(set)
      .filter(isPosted)
      .map((row) => {
        const isVoid = row["status"] === "Canceled" || credited.has(row.id);
        return {
          type,
          party: String(row[party]),
          date: String(row["invoiceDate"]),
          total: isVoid ? D.zero : (row["totalAmountIncludingTax"] as Decimal),
          lines: (row[lines] as Line[])
            .filter(({ lineType }) => lineType !== "Comment")
            .map(({ lineObjectNumber: code, netAmount: amount }) => ({ code, amount })),
        };
      }),
  );
  return figuresIn(folder, booked, books.paid);
}

const isPosted = ({ status }: Row): boolean => status !== "Draft";

/** Each document of ours by its mark, with its set. A payment is two entries. */
export const marksIn = (books: Company): string[] => [
  ...["salesInvoices", "salesOrders"].flatMap((set) =>
    books.rows(set).flatMap((row) => {
      const mark = externalOf(row);
      return mark === "" ? [] : [`${set} ${mark}`];
    }),
  ),
  ...["purchaseInvoices", "purchaseOrders", "generalLedgerEntries"].flatMap((set) =>
    books.rows(set).flatMap((row) => {
      const [mark] = /(?:platform|payment):[\w-]+/.exec(JSON.stringify(row)) ?? [];
      const isCredit = set === "generalLedgerEntries" && (row["creditAmount"] as Decimal).sign > 0;
      return mark === undefined || isCredit ? [] : [`${set} ${mark}`];
    }),
  ),
];

const externalOf = (row: Row): string => (row["externalDocumentNumber"] ?? "") as string;

const ORDERED = {
  salesOrders: ["sale", "salesOrderLines"],
  purchaseOrders: ["purchase", "purchaseOrderLines"],
} as const;

/** Each order: its side, its gallons and what it comes to, in their order. */
export const ordersIn = (books: Company): string[] =>
  Object.entries(ORDERED)
    .flatMap(([set, [side, lines]]) =>
      books.rows(set).map((row) => {
        const text = `${externalOf(row)} ${JSON.stringify(row)}`;
        const gallons = D.sum(
          (row[lines] as Line[])
            .filter(({ lineType }) => lineType !== "Comment")
            .map(({ quantity }) => quantity),
        );
        return `${markOf(text)} ${side} ${gallons.plain()} gal ${(row["totalAmountIncludingTax"] as Decimal).fixed(2)}`;
      }),
    )
    .toSorted();

const markOf = (text: string): string => {
  const [, digits] = /FBO([0-9A-F]{32})/.exec(text) ?? [];
  if (digits === undefined) return /platform:([\w-]+)/.exec(text)?.[1] ?? "by hand";
  const [, ...parts] = /(.{8})(.{4})(.{4})(.{4})(.{12})/.exec(digits.toLowerCase()) ?? [];
  return parts.join("-");
};

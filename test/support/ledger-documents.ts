/** Documents for books whose figures add up. */
import type { Item } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import type {
  InvoiceDocument,
  OrderDocument,
  PaymentDocument,
} from "../../src/ledger/documents.ts";

const d = (digits: string): Decimal => Decimal.of(digits);
const TODAY = "2026-11-21";
const PARTY = { code: "CUST-1", name: "Ranch Supply", companyId: "company-1" };

/** One line and one tax: 18103.96 and 1830.12, together 19934.08. @param taxAccount where the tax is booked */
export const invoiceOf = (
  number: string,
  taxAccount: string,
  more: Partial<InvoiceDocument> = {},
): InvoiceDocument => ({
  id: `id-${number}`,
  number,
  party: PARTY,
  type: "out",
  status: "open",
  invoiceDate: TODAY,
  dueDate: "2026-12-08",
  paidDate: null,
  poNumber: "4711",
  shipTo: "Yard 3",
  description: "contract C-9",
  lines: [
    {
      product: "ULSD-CLR",
      account: null,
      quantity: d("7500.5"),
      unit: "gal",
      unitPrice: d("2.4137"),
      amount: d("18103.96"),
      description: "ULSD; BOL 123456",
    },
  ],
  taxes: [
    {
      account: taxAccount,
      description: "Federal excise",
      base: d("18103.96"),
      amount: d("1830.12"),
    },
  ],
  subtotal: d("18103.96"),
  tax: d("1830.12"),
  total: d("19934.08"),
  ...more,
});

/** A receipt of 100.00. @param invoice its id in the books */
export const paymentOf = (
  id: string,
  invoice: string,
  more: Partial<PaymentDocument> = {},
): PaymentDocument => ({
  id,
  number: id,
  type: "out",
  invoice,
  invoiceId: null,
  amount: d("100.00"),
  date: TODAY,
  reference: "4711",
  description: "ACH 4711",
  ...more,
});

/** A sale of 8000.5 gallons at 2.4137, together 19310.81. */
export const orderOf = (number: string, more: Partial<OrderDocument> = {}): OrderDocument => ({
  id: `id-${number}`,
  number,
  party: PARTY,
  type: "sale",
  status: "confirmed",
  date: TODAY,
  description: "Gate 3",
  lines: [
    {
      product: "ULSD-CLR",
      quantity: d("8000.5"),
      unit: "gal",
      unitPrice: d("2.4137"),
      description: "ULSD",
    },
  ],
  ...more,
});

/** @param counterpart what its link calls it */
export const itemOf = (
  document: { readonly id: string; readonly number: string },
  counterpart: string | null = null,
): Item => ({ number: document.number, id: document.id, revision: "r1", document, counterpart });

export const withProduct = <D extends { readonly lines: readonly object[] }>(
  document: D,
  product: string,
): D => ({ ...document, lines: document.lines.map((line) => ({ ...line, product })) });

/**
 * The mappings toward the platform at their bounds; what a whole record becomes is in the cases of mappings/books and
 * mappings/lists.
 */
import { expect, test } from "vitest";
import type { References } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import { parseExact, stringifyExact } from "../../src/core/json.ts";
import type { InvoiceRecord, PartyRecord, PriceRecord } from "../../src/ledger/documents.ts";
import type { CreateInvoice } from "../../src/platform/contract/invoice.ts";
import {
  bookedCustomers,
  bookedInvoices,
  bookedPaidInvoices,
  bookedRackPrices,
} from "./records.ts";

const d = (digits: string): Decimal => Decimal.of(digits);
const references: References = {
  currency: "USD",
  dayOf: (instant) => instant.slice(0, 10),
  find: () => null,
  counterpart: (_, id) => `platform ${id}`,
  row: (_, key) => ({ product: `their ${key}`, terminal: " T-9 " }),
};
type Line = NonNullable<InvoiceRecord["lines"]>[number];
const line = (more: Partial<Line>): Line => ({
  product: null,
  productName: null,
  description: "Diesel",
  quantity: d("7500"),
  unit: "gal",
  unitPrice: d("2.4315"),
  amount: d("18236.25"),
  account: null,
  ...more,
});
const invoice = (more: Partial<InvoiceRecord> = {}): InvoiceRecord => ({
  id: "S-1",
  number: "S-1",
  type: "out",
  state: "posted",
  reference: null,
  description: null,
  partyCode: "C-1",
  partyCompanyId: null,
  currency: "USD",
  invoiceDate: "2026-11-20",
  dueDate: null,
  untaxed: d("18236.25"),
  tax: d("0"),
  total: d("18236.25"),
  amountToPay: null,
  paidDate: null,
  paidByPlatform: false,
  paidByOthers: null,
  clearedBy: "money",
  platformId: null,
  lines: [line({})],
  taxes: null,
  ...more,
});
const address = {
  building: null,
  street: null,
  city: null,
  state: "US-TX",
  zip: null,
  country: "US",
};
const party = (more: Partial<PartyRecord> = {}): PartyRecord => ({
  code: "C",
  name: "N",
  isCustomer: true,
  isSupplier: false,
  companyId: null,
  active: true,
  email: null,
  phone: null,
  street: null,
  city: null,
  state: null,
  zip: null,
  country: null,
  ...more,
});
const price = (digits: string, list = "T-75-TX-2688"): PriceRecord => ({
  list,
  product: "U",
  price: d(digits),
  unit: null,
});

const issue = (more: Partial<InvoiceRecord> = {}) =>
  bookedInvoices.map(invoice(more), references) as CreateInvoice;
/** An invoice of one line, whose sums are the line's. */
const billed = (more: Partial<Line>) => {
  const one = line(more);
  const amount = d("18236.25");
  return issue({ lines: [one], untaxed: amount, total: amount }).lineItems[0];
};
const companyOf = (more: Partial<PartyRecord>) => bookedCustomers.map(party(more), references);
const priced = (...of: Parameters<typeof price>) =>
  bookedRackPrices.map(price(...of), references) as { terminalId: string; price: unknown };

/** As it leaves, with its digits. */
const sent = (value: unknown): unknown => parseExact(stringifyExact(value));

test.each([
  ["whole gallons that give the amount", {}, `{"gallons":7500,"rate":2.4315}`],
  ["a tenth of a gallon", { quantity: d("7500.1") }, `{"description":"Diesel [7500.1 gal]"}`],
  [
    "a rate that misses the amount",
    { unitPrice: d("2.43") },
    `{"description":"Diesel [7500 gal]"}`,
  ],
  ["another unit", { unit: "l" }, `{"description":"Diesel [7500 l]"}`],
  ["one piece", { unit: null, quantity: d("1"), description: "Fee" }, `{"description":"Fee"}`],
  [
    "no text but the product's name",
    { description: " ", productName: "ULSD" },
    `{"description":"ULSD"}`,
  ],
  [
    "no words at all",
    { description: null, product: "087" },
    `{"description":"087","product":"their 087"}`,
  ],
  ["our product", { product: "U" }, `{"product":"their U"}`],
  ["a bill of lading", { description: "BOL #0048240" }, `{"bolNumber":"0048240"}`],
  ["three digits after the point", { amount: d("18236.250") }, `{"amount":18236.25}`],
] as const)("a line of %s goes out as it is", (_, more, expected) => {
  expect(sent(billed(more))).toMatchObject(parseExact(expected) as object);
});

test("two bills of lading stay in the text", () => {
  expect(billed({ description: "BOL 0048240, BOL 0048241" })).not.toHaveProperty("bolNumber");
});

test("gallons are counted from the field, else from the text, else not at all", () => {
  const gallons = (lineItems: readonly object[]) =>
    bookedInvoices
      .figures({ ...issue(), lineItems: lineItems as CreateInvoice["lineItems"] })
      .gallons?.plain();
  expect(gallons([{ description: "Diesel", gallons: 7500 }])).toBe("7500");
  expect(gallons([{ description: "Diesel [7500.1 gal]", gallons: null }])).toBe("7500.1");
  expect(gallons([{ description: "Diesel [7500 l]" }])).toBe("0");
  const document = issue();
  expect(bookedInvoices.figures(document)).toEqual({
    amount: d("18236.25"),
    gallons: d("7500"),
    party: "platform C-1",
  });
  expect(document).toMatchObject({ payerCompanyId: "platform C-1", dueDate: null });
});

test("a settlement names the platform's id of its invoice, and noon of the day it was settled", () => {
  const paid = invoice({ state: "paid", paidDate: "2026-11-20" });
  const expected = { invoiceId: "platform S-1", paidAt: "2026-11-20T12:00:00Z" };
  expect(bookedPaidInvoices.map(paid, references)).toEqual(expected);
});

test("the first address is the company's, further ones are notes, a state loses its country", () => {
  const addresses = ["1 Main St", "2 Yard Rd"].map((street) => ({ ...address, street }));
  const expected = { name: "N", externalId: "C", state: "TX", country: "US", street: "1 Main St" };
  const notes = "Further address: 2 Yard Rd, TX, US";
  expect(companyOf({ addresses })).toEqual({ ...expected, notes });
});

test("a list that is a control number is that terminal, any other is looked up", () => {
  expect(priced("1", " T-75-TX-2688 ").terminalId).toBe("T-75-TX-2688");
  expect(priced("1", "t-75-tx-2688").terminalId).toBe("T-9");
  expect(stringifyExact(priced("999999.0").price)).toBe("999999");
});

const tax = { description: "State", account: null, base: null };
const refusals: readonly (readonly [
  code: string,
  field: string | undefined,
  make: () => unknown,
])[] = [
  ["no-cents", "Amount", () => billed({ amount: d("1.005") })],
  ["no-cents", "Amount", () => billed({ amount: null })],
  ["negative-line", "Amount", () => billed({ amount: d("-0.01") })],
  ["too-long", "Description", () => billed({ description: "x".repeat(201) })],
  ["missing", "Description", () => billed({ description: null, quantity: null })],
  ["other-currency", "Currency/Code", () => issue({ currency: "EUR" })],
  ["credit-note", "Total", () => issue({ total: d("-0.01") })],
  ["too-many-lines", undefined, () => issue({ lines: Array.from({ length: 51 }, () => line({})) })],
  ["no-lines", undefined, () => issue({ lines: [] })],
  ["no-lines", undefined, () => issue({ lines: null })],
  ["does-not-add-up", "Untaxed", () => issue({ untaxed: d("18236.26"), total: d("18236.26") })],
  ["does-not-add-up", "Total", () => issue({ total: d("18236.26") })],
  ["does-not-add-up", "Tax", () => issue({ taxes: [{ ...tax, amount: d("0.01") }] })],
  ["bad-email", "E-Mail", () => companyOf({ email: "at example.com" })],
  ["too-long", "Name", () => companyOf({ name: "x".repeat(201) })],
  ["missing", "Code", () => companyOf({ code: " " })],
  ["zero-price", "price", () => priced("0.000")],
  ["negative-price", "price", () => priced("-0.0001")],
  ["price-too-high", "price", () => priced("999999.01")],
];
test("a copy of an invoice whose reference is its own number is known by its lines", () => {
  const alike = (number: string, reference: string | null) =>
    bookedInvoices.likeness?.(invoice({ number, reference }), references)?.names;
  expect(alike("FL-2", "FL-2")).toEqual(alike("FL-1", "fl-1 "));
  expect(alike("FL-2", "FL-2")).toEqual(alike("FL-1", null));
  expect(alike("FL-1", "PO-7")).not.toEqual(alike("FL-1", null));
});

test.each(refusals)("%s is refused by its code and field %s", (code, field, make) => {
  try {
    expect(make()).toBe("refused");
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    expect([error.fault.code, error.fault.field]).toEqual([code, field]);
  }
});

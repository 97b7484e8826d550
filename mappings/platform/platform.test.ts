/**
 * The parts that the mappings toward the platform share, at their bounds; what a whole record becomes is in the cases of
 * mappings/books and mappings/tryton-export.
 */
import { expect, test } from "vitest";
import type { References } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import { parseExact, stringifyExact } from "../../src/core/json.ts";
import {
  type ErpInvoice,
  gallonsOf,
  issued,
  issuedFigures,
  issuedLikeness,
  type Line,
  lineItem,
  settled,
} from "./invoices.ts";
import { companyOf, priceWithin, terminalOf } from "./masters.ts";
import { noonOf } from "../values.ts";

const d = (digits: string): Decimal => Decimal.of(digits);
const references: References = {
  currency: "USD",
  dayOf: (instant) => instant.slice(0, 10),
  find: () => null,
  counterpart: (_, id) => `platform ${id}`,
  row: (_, key) => ({ product: `their ${key}`, terminal: " T-9 " }),
};
const line = (more: Partial<Line>): Line => ({
  product: null,
  productName: null,
  description: "Diesel",
  quantity: d("7500"),
  unit: "gal",
  unitPrice: d("2.4315"),
  amount: d("18236.25"),
  ...more,
});
const invoice = (more: Partial<ErpInvoice> = {}): ErpInvoice => ({
  key: "S-1",
  number: "S-1",
  state: "posted",
  reference: null,
  currency: "USD",
  untaxed: d("18236.25"),
  tax: d("0"),
  total: d("18236.25"),
  lines: [line({})],
  taxes: null,
  dueDate: null,
  notes: null,
  ...more,
});
const party = { code: "C", name: "N", email: null, phone: null, mobile: null, addresses: [] };
const address = (street: string) => ({
  building: null,
  street,
  city: null,
  subdivision: "US-TX",
  zip: null,
  country: "US",
});

/** As it leaves, with its digits. */
const sent = (value: object): unknown => parseExact(stringifyExact(value));
const sentAs = (json: string): unknown => parseExact(json);

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
  ["our product", { product: "U" }, `{"product":"their U"}`],
  ["a bill of lading", { description: "BOL #0048240" }, `{"bolNumber":"0048240"}`],
  ["three digits after the point", { amount: d("18236.250") }, `{"amount":18236.25}`],
] as const)("a line of %s goes out as it is", (_, more, expected) => {
  expect(sent(lineItem(line(more), references))).toMatchObject(sentAs(expected) as object);
});

test("two bills of lading stay in the text", () => {
  const item = lineItem(line({ description: "BOL 0048240, BOL 0048241" }), references);
  expect(item).not.toHaveProperty("bolNumber");
});

test("gallons are counted from the field, else from the text, else not at all", () => {
  const all = [
    { description: "Diesel", gallons: 7500 },
    { description: "Diesel [7500.1 gal]", gallons: null },
    { description: "Diesel [7500 l]" },
  ];
  expect(all.map((item) => gallonsOf(item).plain())).toEqual(["7500", "7500.1", "0"]);
  const document = issued(invoice(), references, () => "payer");
  if ("skip" in document) throw new Error("it is skipped");
  expect(issuedFigures(document)).toEqual({ amount: d("18236.25"), gallons: d("7500") });
  expect(document).toMatchObject({ invoiceNumber: "S-1", payerCompanyId: "payer", dueDate: null });
});

test("a settlement names the platform's id of its invoice, and noon of the day it was settled", () => {
  const settlement = {
    key: "S-1",
    state: "paid",
    total: d("10.00"),
    amountToPay: null,
    reconciled: "2026-11-20",
  };
  const expected = { invoiceId: "platform S-1", paidAt: noonOf("2026-11-20") };
  expect(settled(settlement, references)).toEqual(expected);
  expect(noonOf("2026-11-20")).toBe("2026-11-20T12:00:00Z");
});

test("the first address is the company's, further ones are notes, a state loses its country", () => {
  const company = companyOf({ ...party, addresses: [address("1 Main St"), address("2 Yard Rd")] });
  expect(company).toEqual({
    name: "N",
    externalId: "C",
    street: "1 Main St",
    state: "TX",
    country: "US",
    notes: "Further address: 2 Yard Rd, TX, US",
  });
});

test("a list that is a control number is that terminal, any other is looked up", () => {
  expect(terminalOf(references, " T-75-TX-2688 ")).toBe("T-75-TX-2688");
  expect(terminalOf(references, "t-75-tx-2688")).toBe("T-9");
  expect(stringifyExact(priceWithin(d("999999.0"), "price"))).toBe("999999");
});

const refusals: readonly (readonly [
  code: string,
  field: string | undefined,
  make: () => unknown,
])[] = [
  ["no-cents", "Amount", () => lineItem(line({ amount: d("1.005") }), references)],
  ["no-cents", "Amount", () => lineItem(line({ amount: null }), references)],
  ["negative-line", "Amount", () => lineItem(line({ amount: d("-0.01") }), references)],
  ["too-long", "Description", () => lineItem(line({ description: "x".repeat(201) }), references)],
  [
    "missing",
    "Description",
    () => lineItem(line({ description: null, quantity: null }), references),
  ],
  ["other-currency", "Currency/Code", () => issue({ currency: "EUR" })],
  ["credit-note", "Total", () => issue({ total: d("-0.01") })],
  ["too-many-lines", undefined, () => issue({ lines: Array.from({ length: 51 }, () => line({})) })],
  ["no-lines", undefined, () => issue({ lines: [] })],
  ["no-lines", undefined, () => issue({ lines: null })],
  ["does-not-add-up", "Untaxed", () => issue({ untaxed: d("18236.26"), total: d("18236.26") })],
  ["does-not-add-up", "Total", () => issue({ total: d("18236.26") })],
  ["does-not-add-up", "Tax", () => issue({ taxes: [{ name: "State", amount: d("0.01") }] })],
  ["bad-email", "E-Mail", () => companyOf({ ...party, email: "at example.com" })],
  ["too-long", "Name", () => companyOf({ ...party, name: "x".repeat(201) })],
  ["missing", "Code", () => companyOf({ ...party, code: " " })],
  ["zero-price", "price", () => priceWithin(d("0.000"), "price")],
  ["negative-price", "price", () => priceWithin(d("-0.0001"), "price")],
  ["price-too-high", "price", () => priceWithin(d("999999.01"), "price")],
];
test("a copy of an invoice whose reference is its own number is known by its lines", () => {
  const alike = (number: string, reference: string | null) =>
    issuedLikeness({ ...invoice({ number, reference }), party: "C-1", day: "2026-11-20" })
      ?.reference;
  expect(alike("FL-2", "FL-2")).toEqual(alike("FL-1", "fl-1 "));
  expect(alike("FL-2", "FL-2")).toEqual(alike("FL-1", null));
  expect(alike("FL-1", "PO-7")).not.toEqual(alike("FL-1", null));
});

const issue = (more: Partial<ErpInvoice>) => issued(invoice(more), references, () => "payer");

test.each(refusals)("%s is refused by its code and field %s", (code, field, make) => {
  try {
    expect(make()).toBe("refused");
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    expect([error.fault.code, error.fault.field]).toEqual([code, field]);
  }
});

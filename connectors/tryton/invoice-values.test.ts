import { describe, expect, test } from "vitest";
import { Refused } from "../../src/core/errors.ts";
import { difference, figuresOf, quantities } from "./invoice-values.ts";
import { d, invoiceDocument } from "./sink.fixture.ts";

const product = { id: 7, revenue: 1, expense: 2, unit: 25 };
const gallons = { id: 25, digits: 4 };
const line = {
  product: "ULSD-CLR",
  account: null,
  quantity: d("7500.5"),
  unit: "gal",
  unitPrice: d("2.4137"),
  amount: d("18103.96"),
  description: "ULSD",
};
const freight = { ...line, product: null, unit: null, description: "Freight" };

describe("quantities of a line", () => {
  test.for([
    ["half a cent goes to the even one, as in Tryton", "1", "0.125", "0.12"],
    ["credits are rounded as charges are", "-3", "0.115", "-0.34"],
    ["digits that a double does not have", "1234567.8901", "0.123456", "152414.81"],
  ] as const)("%s: quantity × price stands", ([, quantity, unitPrice, amount]) => {
    const one = { ...line, quantity: d(quantity), unitPrice: d(unitPrice), amount: d(amount) };
    expect(quantities(one, product, gallons, 6)).toMatchObject({
      product: 7,
      unit: 25,
      unit_price: d(unitPrice),
      description: "ULSD",
    });
  });

  test.for([
    ["a cent more", { amount: d("18103.97") }, "(7500.5 gal × 2.4137 = 18103.97)"],
    ["half a cent up", { quantity: d("1"), unitPrice: d("0.125"), amount: d("0.13") }, "0.13)"],
    [
      "a price of more digits than Tryton keeps",
      { unitPrice: d("2.413700000001"), amount: d("18103.96") },
      "(7500.5 gal × 2.413700000001 = 18103.96)",
    ],
  ] as const)("%s: the amount stands, and says where it is from", ([, more, words]) => {
    expect(quantities({ ...line, ...more }, product, gallons, 6)).toEqual({
      quantity: 1,
      unit_price: d(more.amount.text),
      description: expect.stringMatching(/^ULSD \(/) as string,
    });
    expect(quantities({ ...line, ...more }, product, gallons, 6)).toMatchObject({
      description: expect.stringContaining(words) as string,
    });
  });

  test("freight by the gallon keeps its sum when Tryton would not take its digits", () => {
    const fine = {
      ...freight,
      quantity: d("7500.1234"),
      unitPrice: d("0.02"),
      amount: d("150.00"),
    };
    expect(quantities(fine, null, null, 6)).toEqual({
      quantity: 1,
      unit_price: d("150.00"),
      description: "Freight (7500.1234 × 0.02 = 150.00)",
    });
  });

  test("more digits of a product than its unit takes are refused, never rounded", () => {
    const fine = { ...line, quantity: d("7500.50001") };
    expect(() => quantities(fine, product, gallons, 6)).toThrow(Refused);
    expect(() => quantities(fine, product, gallons, 6)).toThrow("4 decimal places");
  });
});

describe("figures", () => {
  const expected = figuresOf(invoiceDocument());

  test("2 and 2.00 are the same", () => {
    expect(difference({ ...expected, tax: d("1875.3700") }, expected)).toBeNull();
  });

  test("a total that agrees does not hide a tax that differs", () => {
    const booked = { ...expected, tax: d("1875.38"), untaxed: d("18253.95") };
    expect(difference(booked, expected)).toBe("tax 1875.38 instead of 1875.37");
  });
});

import { describe, expect, test } from "vitest";
import { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import { pricedLine } from "./priced.ts";

const d = (digits: string): Decimal => Decimal.of(digits);
const gallons = { quantity: 4, unitPrice: 6 };
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
    ["half a cent goes to the even one, as in ERPs", "1", "0.125", "0.12"],
    ["credits are rounded as charges are", "-3", "0.115", "-0.34"],
    ["digits that a double does not have", "1234567.8901", "0.123456", "152414.81"],
  ] as const)("%s: quantity × price stands", ([, quantity, unitPrice, amount]) => {
    const one = { ...line, quantity: d(quantity), unitPrice: d(unitPrice), amount: d(amount) };
    expect(pricedLine(one, gallons)).toEqual({
      lump: false,
      quantity: d(quantity),
      unitPrice: d(unitPrice),
      text: "ULSD",
    });
  });

  test.for([
    ["a cent more", { amount: d("18103.97") }, "(7500.5 gal × 2.4137 = 18103.97)"],
    ["half a cent up", { quantity: d("1"), unitPrice: d("0.125"), amount: d("0.13") }, "0.13)"],
    [
      "a price of more digits than the books keep",
      { unitPrice: d("2.413700000001"), amount: d("18103.96") },
      "(7500.5 gal × 2.413700000001 = 18103.96)",
    ],
  ] as const)("%s: the amount stands, and says where it is from", ([, more, words]) => {
    expect(pricedLine({ ...line, ...more }, gallons)).toEqual({
      lump: true,
      quantity: d("1"),
      unitPrice: d(more.amount.text),
      text: expect.stringMatching(/^ULSD \(/) as string,
    });
    expect(pricedLine({ ...line, ...more }, gallons)).toMatchObject({
      text: expect.stringContaining(words) as string,
    });
  });

  test("freight by the gallon keeps its sum when the books would not take its digits", () => {
    const fine = {
      ...freight,
      quantity: d("7500.1234"),
      unitPrice: d("0.02"),
      amount: d("150.00"),
    };
    expect(pricedLine(fine, { ...gallons, quantity: null })).toEqual({
      lump: true,
      quantity: d("1"),
      unitPrice: d("150.00"),
      text: "Freight (7500.1234 × 0.02 = 150.00)",
    });
  });

  test("more digits of a product than its unit takes are refused, never rounded", () => {
    const fine = { ...line, quantity: d("7500.50001") };
    expect(() => pricedLine(fine, gallons)).toThrow(Refused);
    expect(() => pricedLine(fine, gallons)).toThrow("4 decimal places");
  });
});

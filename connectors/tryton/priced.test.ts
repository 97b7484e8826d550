import { expect, test } from "vitest";
import { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import { type Books, openLookup } from "./books.ts";
import { invoiceValues, pricedLine } from "./invoices.ts";
import type { Tryton } from "./wire.ts";
import { invoiceDocument } from "./sink.fixture.ts";
import { surroundingsIn } from "../../test/support/surroundings.ts";

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

test.for([
  ["half a cent goes to the even one, as in ERPs", "1", "0.125", "0.12"],
  ["credits are rounded as charges are", "-3", "0.115", "-0.34"],
  ["digits that a double does not have", "1234567.8901", "0.123456", "152414.81"],
] as const)("%s: quantity × price stands", ([, quantity, unitPrice, amount]) => {
  const one = { ...line, quantity: d(quantity), unitPrice: d(unitPrice), amount: d(amount) };
  const { product, unit } = line;
  const kept = { product, unit, quantity: d(quantity), unitPrice: d(unitPrice), text: "ULSD" };
  expect(pricedLine(one, gallons)).toEqual(kept);
});

type Line = Parameters<typeof pricedLine>[0];
const freight = { product: null, unit: null, description: "Freight" };
test.for<[says: string, more: Partial<Line>, text: string]>([
  ["a cent more", { amount: d("18103.97") }, "ULSD (7500.5 gal × 2.4137 = 18103.97)"],
  [
    "half a cent up",
    { quantity: d("1"), unitPrice: d("0.125"), amount: d("0.13") },
    "ULSD (1 gal × 0.125 = 0.13)",
  ],
  [
    "a price of more digits than the books keep",
    { unitPrice: d("2.413700000001") },
    "ULSD (7500.5 gal × 2.413700000001 = 18103.96)",
  ],
  [
    "freight by the gallon of more digits than the books keep",
    { ...freight, quantity: d("7500.1234"), unitPrice: d("0.02"), amount: d("150.00") },
    "Freight (7500.1234 × 0.02 = 150.00)",
  ],
])("%s: the amount stands, and says where it is from", ([, more, text]) => {
  const one: Line = { ...line, ...more };
  const digits = { ...gallons, quantity: one.unit === null ? null : gallons.quantity };
  const kept = { product: null, unit: null, quantity: d("1"), unitPrice: one.amount, text };
  expect(pricedLine(one, digits)).toEqual(kept);
});

test("more digits of a product than its unit takes are refused, never rounded", () => {
  const fine = { ...line, quantity: d("7500.50001") };
  expect(() => pricedLine(fine, gallons)).toThrow(Refused);
  expect(() => pricedLine(fine, gallons)).toThrow("4 decimal places");
});

test("where Tryton rounds what is owed in cash, a document of the platform is not rounded: asked once", async () => {
  for (const fields of [{ cash_rounding: {} }, {}]) {
    const asked: string[] = [];
    const tryton = {
      session: async () => ({ user: 2, company: 1 }),
      call: async (method: string) => {
        asked.push(method);
        return method.endsWith("fields_get") ? fields : [{ id: 7, code: "USD" }];
      },
    } as unknown as Tryton;
    const lookup = openLookup(tryton, surroundingsIn("."));
    const books = {
      tryton,
      lookup: {
        ...lookup,
        account: async () => 1,
        journal: async () => 2,
        currency: async () => 3,
      },
      config: { currency: "USD", accounts: {}, journals: {} },
    } as unknown as Books;
    const document = invoiceDocument();
    const party = { id: 4, address: 5 };
    for (const mark of ["one", "two"]) {
      const values = await invoiceValues(books, { document, mark }, {}, party);
      expect("cash_rounding" in values).toBe("cash_rounding" in fields);
      expect(values).not.toMatchObject({ cash_rounding: true });
    }
    expect(asked).toEqual(["model.account.invoice.fields_get"]);
  }
});

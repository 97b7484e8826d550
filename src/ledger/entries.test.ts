/** Where books have a field for the PO number, it stands there alone; elsewhere one text says PO and contract. */
import { describe, expect, test } from "vitest";
import { Decimal } from "../core/decimal.ts";
import { coveringBy, orderParts, orderText, toldInvoice } from "./entries.ts";
import { type Entry, PLAIN_ENTRY } from "./port.ts";

const both = { poNumber: "4500017823", description: "contract C-9" };

test.each([
  [both, "PO 4500017823, contract C-9"],
  [{ ...both, poNumber: null }, "contract C-9"],
  [{ ...both, description: null }, "PO 4500017823"],
  [{ description: null }, null],
])("PO and contract are one text where books have no field: %j", (document, text) => {
  expect(orderText(document)).toBe(text);
});

test("a field for the PO number holds it alone, and the text beside it does not repeat it", () => {
  expect(orderParts(both, (poNumber) => poNumber)).toEqual({
    field: "4500017823",
    rest: "contract C-9",
  });
});

test("a PO number that the field cuts stays whole in the text", () => {
  expect(orderParts(both, (poNumber) => poNumber.slice(0, 4))).toEqual({
    field: "4500",
    rest: "PO 4500017823, contract C-9",
  });
});

test.each(["12.5", "12.50", "12.500", "125e-1"])(
  "a payment of %s that is noted on its invoice is read back, however its amount was written",
  async (digits) => {
    const notes: string[] = [];
    const covering = coveringBy(
      () => ({
        on: async () => notes.map((message) => ({ message, resource: "S-1", id: "1" })),
        add: async (_, message) => void notes.push(message),
      }),
      ({ id }) => String(id),
    );
    const on = { id: "S-1" } as Entry;
    const document = {
      id: "P-1",
      amount: Decimal.of(digits),
      date: "2026-11-21",
      description: "ACH",
    };
    await covering.cover([{ document, on }] as never, {} as never);
    expect((await covering.covered(on, {} as never)).plain()).toBe("12.5");
  },
);

describe("an invoice that is told", () => {
  const [net, tax] = ["100", "8.25"].map((digits) => Decimal.of(digits)) as [Decimal, Decimal];
  const facts = {
    party: "C-1",
    days: { date: "2026-11-21" },
    words: { currency: "USD" },
    money: { untaxed: net, tax, total: net.plus(tax), open: net.plus(tax) },
    taxes: [{ code: "2300", text: "Sales tax", amount: tax }],
  };
  const entry = { ...PLAIN_ENTRY, id: "S-1", mark: null, status: "posted", facts } as const;

  test("has taxes without a base where the books keep none", () => {
    expect(JSON.parse(toldInvoice(entry)?.text ?? "")).toMatchObject({
      taxes: [{ description: "Sales tax", base: null, amount: 8.25 }],
    });
  });

  test("names the field that its table forgot", () => {
    expect(() => toldInvoice({ ...entry, facts: { ...facts, words: {} } })).toThrow(
      /lack words\.currency$/,
    );
  });
});

/** Invoices with amounts of up to four decimal places, through the mappings that book them. */
import { array, assert, boolean, constantFrom, integer, property, tuple } from "fast-check";
import { expect, test } from "vitest";
import type { References } from "../src/core/contract.ts";
import { Decimal } from "../src/core/decimal.ts";
import { Refused } from "../src/core/errors.ts";
import { mappings } from "./index.ts";

const ID = "00000000-0000-4000-8000-000000000001";
const AT = "2026-11-04T10:15:00Z";
const references: References = {
  currency: "USD",
  dayOf: (instant) => instant.slice(0, 10),
  find: () => null,
  counterpart: (_, id) => id,
  row: () => ({ account: "A-1", tax: "T-1", sales: "4000", purchases: "5000", name: "Ann" }),
};

const tenThousandths = (units: number): Decimal =>
  Decimal.of(String(units)).times(Decimal.of("0.0001"));

const halves = ["even", "away"] as const;
/** Each amount is rounded, or their sum. */
const ways = [...halves, "sum"] as const;

function invoiceOf(
  lines: readonly Decimal[],
  taxes: readonly Decimal[],
  off: Decimal,
  way: (typeof ways)[number],
) {
  const rounded = (amounts: readonly Decimal[]) =>
    way === "sum"
      ? Decimal.sum(amounts).round(2)
      : Decimal.sum(amounts.map((one) => one.round(2, way)));
  const [subtotal, tax] = [rounded(lines).plus(off), rounded(taxes)];
  const part = { id: ID, invoiceId: ID };
  return {
    id: ID,
    companyId: ID,
    payerCompanyId: ID,
    invoiceNumber: "FL-1",
    status: "OUTSTANDING",
    subtotal,
    tax,
    total: subtotal.plus(tax),
    lineItems: lines.map((amount) => ({ ...part, description: "Freight", amount })),
    taxLines: taxes.map((amount) => ({ ...part, taxType: "State", amount })),
    createdAt: AT,
    updatedAt: AT,
  };
}

interface Booked {
  readonly lines: readonly { readonly amount: Decimal }[];
  readonly taxes: readonly { readonly amount: Decimal }[];
}

const amounts = (minLength: number) =>
  array(integer({ min: -30_000, max: 90_000 }).map(tenThousandths), { minLength, maxLength: 9 });
const off = tuple(boolean(), integer({ min: -100, max: 100 })).map(([some, units]) =>
  some ? tenThousandths(units) : Decimal.zero,
);
const names = constantFrom(
  "books/customer-invoices",
  "books/supplier-invoices",
  "canonical/customer-invoices",
  "canonical/supplier-invoices",
);

test("never a cent is gained or lost: what is booked adds up to the invoice's sums, or is refused", () => {
  let [booked, refused] = [0, 0];
  assert(
    property(names, amounts(1), amounts(0), off, constantFrom(...ways), (...given) => {
      const [name, lines, taxes, off, way] = given;
      const mapping = mappings.find((one) => one.name === name);
      if (mapping === undefined) throw new Error(`no mapping ${name}`);
      const invoice = invoiceOf(lines, taxes, off, way);
      try {
        const document = mapping.map(mapping.input.parse(invoice), references) as Booked;
        const of = (parts: Booked["lines"]) => parts.map(({ amount }) => amount);
        expect(Decimal.sum(of(document.lines)).plain()).toBe(invoice.subtotal.plain());
        expect(Decimal.sum(of(document.taxes)).plain()).toBe(invoice.tax.plain());
        const cents = of(document.lines).map((one) => one.plain());
        if (way !== "sum" && off.sign === 0)
          expect(
            halves.map((half) => lines.map((one) => one.round(2, half).plain())),
          ).toContainEqual(cents);
        // Each is one of the two cents beside it.
        for (const [at, one] of of(document.lines).entries())
          expect(
            one
              .minus(lines[at] ?? one)
              .abs()
              .compare(Decimal.of("0.01")),
          ).toBe(-1);
        booked++;
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        expect(["does-not-add-up", "no-cents"]).toContain(error.fault.code);
        // Only fractions that add up to the sum as they are: which of them takes the odd cent, nothing says.
        const isExact = [lines, taxes].some((parts) => {
          const [exact, cents] = [Decimal.sum(parts), parts.map((one) => one.round(2))];
          return exact.round(2).equals(exact) && !Decimal.sum(cents).equals(exact);
        });
        if (off.sign === 0)
          expect([way, error.fault.code, isExact]).toEqual(["sum", "no-cents", true]);
        refused++;
      }
    }),
  );
  expect(booked).toBeGreaterThan(20);
  expect(refused).toBeGreaterThan(10);
});

test("the sums of a platform that adds in doubles are taken for what they mean, to the cent", () => {
  const cents = (least: number) =>
    array(integer({ min: -50_000_000, max: 500_000_000 }), { minLength: least, maxLength: 50 });
  const added = (parts: readonly number[]) => parts.reduce((sum, one) => sum + one / 100, 0);
  const exactly = (parts: readonly number[]) =>
    Decimal.sum(parts.map((one) => Decimal.of(`${one}e-2`))).plain();
  const written = (value: number) => Decimal.of(String(value));
  assert(
    property(names, cents(1), cents(0), (name, lines, taxes) => {
      const mapping = mappings.find((one) => one.name === name);
      if (mapping === undefined) throw new Error(`no mapping ${name}`);
      const [subtotal, tax] = [added(lines), added(taxes)];
      const parts = (all: readonly number[]) => all.map((one) => written(one / 100));
      const invoice = {
        ...invoiceOf(parts(lines), parts(taxes), Decimal.zero, "even"),
        subtotal: written(subtotal),
        tax: written(tax),
        total: written(subtotal + tax),
      };
      const read = mapping.input.parse(invoice) as { readonly total: Decimal };
      const document = mapping.map(read, references) as Booked;
      expect(Decimal.sum(document.lines.map(({ amount }) => amount)).plain()).toBe(exactly(lines));
      expect(Decimal.sum(document.taxes.map(({ amount }) => amount)).plain()).toBe(exactly(taxes));
      expect(read.total.plain()).toBe(exactly([...lines, ...taxes]));
    }),
  );
});

/**
 * Documents for books: those of the cases of mappings/books, and random ones. Golden digests are of what these draw (test/
 * golden.test.ts): where a document's type changes, map what is drawn into the new type, and draw nothing else.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import type { z } from "zod";
import type {
  InvoiceDocument,
  OrderDocument,
  Party,
  PaymentDocument,
} from "../../src/ledger/documents.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { readCases } from "../../src/mapping/cases.ts";

const CASES = join(import.meta.dirname, "../../mappings/books/cases");

/** @param statuses what one of these has: other kinds have others */
export function documentsOfCases<D extends { readonly status: string }>(
  schema: z.ZodType<D>,
  statuses: readonly string[],
): D[] {
  return readdirSync(CASES).flatMap((name) =>
    readCases(join(CASES, name)).cases.flatMap(({ expected }) => {
      const document = schema.safeParse("document" in expected ? expected.document : null);
      return document.success && statuses.includes(document.data.status) ? [document.data] : [];
    }),
  );
}

export const text = (most: number) =>
  fc.string({ minLength: 1, maxLength: most, unit: "grapheme" });
export const day = fc
  .integer({ min: 0, max: 5000 })
  .map((days) => new Date(Date.UTC(2020, 0, 1 + days)).toISOString().slice(0, 10));
export const decimal = (most: number, places: number) =>
  fc
    .tuple(fc.integer({ min: 0, max: most }), fc.integer({ min: 0, max: 10 ** places - 1 }))
    .map(([whole, rest]) => Decimal.of(`${whole}.${String(rest).padStart(places, "0")}`));
export const optional = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: null });
export const anyParty: fc.Arbitrary<Party> = fc.record({
  code: text(110),
  name: text(200),
  companyId: fc.uuid(),
});

const line = fc
  .record({
    product: optional(text(40)),
    account: optional(text(20)),
    quantity: decimal(20_000, 2),
    unit: fc.constant("gal"),
    unitPrice: fc.oneof(decimal(9, 4), decimal(9, 6)),
    description: text(200),
    other: decimal(99_999, 2),
    isPriced: fc.boolean(),
  })
  .map(({ other, isPriced, ...one }) => ({
    ...one,
    amount: isPriced ? one.quantity.times(one.unitPrice).round(2) : other,
  }));

/** @param type whether we issue it, or pay it */
export const anyInvoice = (type: InvoiceDocument["type"]): fc.Arbitrary<InvoiceDocument> =>
  fc
    .record({
      id: fc.uuid(),
      number: text(60),
      party: anyParty,
      status: fc.constantFrom("open" as const, "paid" as const),
      invoiceDate: day,
      dueDate: optional(day),
      paidDate: optional(day),
      description: optional(text(2000)),
      lines: fc.array(line, { minLength: 1, maxLength: 50 }),
      taxes: fc.array(
        fc.record({
          account: text(40),
          description: text(200),
          base: decimal(99_999, 2),
          amount: decimal(999, 2),
        }),
        { maxLength: 8 },
      ),
    })
    .map((one) => {
      const [subtotal, tax] = [one.lines, one.taxes].map((all) =>
        Decimal.sum(all.map(({ amount }) => amount)),
      ) as [Decimal, Decimal];
      return { ...one, type, subtotal, tax, total: subtotal.plus(tax) };
    });

export const anyOrder = (type: OrderDocument["type"]): fc.Arbitrary<OrderDocument> =>
  fc.record({
    id: fc.uuid(),
    number: text(60),
    party: anyParty,
    type: fc.constant(type),
    status: fc.constantFrom("draft" as const, "confirmed" as const),
    date: optional(day),
    description: optional(text(2000)),
    lines: fc.array(
      fc.record({
        product: text(40),
        quantity: decimal(20_000, 2),
        unit: fc.constant("gal"),
        unitPrice: fc.oneof(decimal(9, 4), decimal(9, 6)),
        description: text(200),
      }),
      { minLength: 1, maxLength: 50 },
    ),
  });

export const anyPayment = (type: PaymentDocument["type"]): fc.Arbitrary<PaymentDocument> =>
  fc.record({
    id: fc.uuid(),
    number: text(60),
    type: fc.constant(type),
    invoice: fc.constant("145"),
    invoiceId: optional(fc.uuid()),
    amount: decimal(99_999, 2),
    date: day,
    reference: optional(text(30)),
    description: text(1500),
  });

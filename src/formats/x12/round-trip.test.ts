/** Random documents, written as X12 and read back from the bytes: equal to the cent and the character. */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { X12Sink } from "../../../connectors/files/config.ts";
import { Decimal } from "../../core/decimal.ts";
import { type Row, setText } from "./set-writer.ts";
import { x12Writer } from "./write.ts";
import { code, decimal, dialects, invoices } from "../../../test/files/random-x12.ts";
import { numbers, runs } from "../../../test/support/runs.ts";
import {
  agreed,
  context,
  d,
  envelope,
  itemOf,
  options,
  read,
  records,
} from "../../../test/files/x12.ts";

/** Documents of each kind. */
const numRuns = runs(50, 2_000, 10_000);
const SLOW = { ...numbers, timeout: 600_000 };

test("what is written as X12 reads back to the cent and the character", SLOW, () => {
  fc.assert(
    fc.property(invoices, dialects, (document, dialect) => {
      const settings = { ...agreed, ...dialect };
      const sink = X12Sink.parse({
        format: "x12",
        document: "customer-invoices",
        folder: "out",
        x12: settings,
      });
      // The partner's side: who sends there is who receives here.
      const swapped = { ...dialect, us: agreed.partner, partner: agreed.us, text: "refuse" };
      const written = x12Writer(sink, context()).textOf([itemOf(document)], 117);
      const { changes } = read("books.invoices", Buffer.from(written, "latin1"), swapped);
      expect(changes.map(({ fault }) => fault)).toEqual([undefined]);
      const record = records(changes)[0] ?? {};
      expect(record).toMatchObject({
        number: document.number,
        partyCode: document.customer,
        reference: document.poNumber,
        description: document.notes,
      });
      const lines = record["lines"] as readonly Record<string, unknown>[];
      expect(lines.map(({ product }) => product)).toEqual(document.lines.map(({ item }) => item));
      expect(lines.map(({ amount }) => (amount as Decimal).fixed(2))).toEqual(
        document.lines.map(({ amount }) => amount.fixed(2)),
      );
      for (const [at, { description, bolNumber }] of document.lines.entries()) {
        const told = String(lines[at]?.["description"]);
        expect(told.startsWith(description)).toBe(true);
        expect(told.endsWith(bolNumber === null ? "" : `BOL ${bolNumber}`)).toBe(true);
      }
      expect((record["total"] as Decimal).fixed(2)).toBe(document.total.fixed(2));
      const taxes = record["taxes"] as readonly { readonly amount: Decimal }[];
      // They stand with their lines.
      expect(taxes.map(({ amount }) => amount.fixed(2)).toSorted()).toEqual(
        document.taxes.map(({ amount }) => amount.fixed(2)).toSorted(),
      );
    }),
    { numRuns },
  );
  fc.assert(
    fc.property(
      fc.array(fc.tuple(code, decimal(0, 99_999_999, 5)), { minLength: 1, maxLength: 9 }),
      fc.array(fc.tuple(code, decimal(1, 999_999_999, 2)), { minLength: 1, maxLength: 9 }),
      (prices, paid) => {
        const products = [...new Map(prices)];
        const catalogue = wrapped("SC", "832", [
          ["BCT", "PC", "C1"],
          ["N1", "SF", null, "92", "T-73-OK-2700"],
          ...products.flatMap(([product, price], at): Row[] => [
            ["LIN", String(at + 1), "VP", product],
            ["CTP", null, "UCP", price, d("1"), "GA"],
          ]),
        ]);
        const told = records(read("books.prices", catalogue).changes);
        expect(
          told.map(({ product, price }) => [product, (price as unknown as Decimal).plain()]),
        ).toEqual(products.map(([product, price]) => [product, price.plain()]));
        const invoices = [...new Map(paid)];
        const sum = Decimal.sum(invoices.map(([, amount]) => amount));
        const advice = wrapped("RA", "820", [
          ["BPR", "I", sum, "C", "ACH", ...Array<null>(11).fill(null), "2026-11-28"],
          ["N1", "PR", null, "92", "ACME"],
          ...invoices.map(([number, amount]): Row => ["RMR", "IV", number, null, amount, amount]),
        ]);
        const settled = records(read("books.paidInvoices", advice).changes);
        expect(
          settled.map(({ number, state, total }) => [
            number,
            state,
            (total as unknown as Decimal).fixed(2),
          ]),
        ).toEqual(invoices.map(([number, amount]) => [number, "paid", amount.fixed(2)]));
      },
    ),
    { numRuns },
  );
});

const wrapped = (functionalId: string, set: string, rows: readonly Row[]): string =>
  envelope({ functionalId, sets: [[set, ...setText(options(), set, 0, rows).slice(1, -1)]] });

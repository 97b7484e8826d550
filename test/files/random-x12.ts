/** Random documents for X12, and what partners have agreed on. */
import * as fc from "fast-check";
import { Decimal } from "../../src/core/decimal.ts";
import type { CustomerInvoiceDocument, OrderDocument } from "../../src/formats/documents.ts";
import { d, invoice, order } from "./x12.ts";

type Line = CustomerInvoiceDocument["lines"][number];

/** So many cents, or ten thousandths, as digits. */
export const decimal = (min: number, max: number, places: number) =>
  fc.integer({ min, max }).map((units) => {
    const digits = String(Math.abs(units)).padStart(places + 1, "0");
    const at = digits.length - places;
    return d(`${units < 0 ? "-" : ""}${digits.slice(0, at)}.${digits.slice(at)}`);
  });

/** Every character of the extended set but the delimiters `*`, `>`, `~` and `^`, which is none of 004010. */
const characters = Array.from("ABCXYZabcxyz0189 !\"&'()+,-./:;?=%@[]_{}\\|<#$");
const text = (max: number) =>
  fc
    .array(fc.constantFrom(...characters), { minLength: 1, maxLength: max })
    .map((all) => all.join("").trim().replace(/ +/g, " "))
    .filter((one) => one !== "");
export const code = fc
  .array(fc.constantFrom(...Array.from("ABCDEFXYZ0123456789-./")), { minLength: 2, maxLength: 22 })
  .map((all) => all.join(""));

const line = fc
  .record({
    item: fc.option(code),
    description: text(200),
    gallons: fc.option(decimal(1, 99_999_999, 2)),
    rate: fc.option(decimal(0, 99_999, 4)),
    free: decimal(-9_999_999, 999_999_999, 2),
    isOwn: fc.boolean(),
    bolNumber: fc.option(code),
  })
  .map(({ free, isOwn, ...one }): Line => {
    const product =
      one.gallons === null || one.rate === null ? null : one.gallons.times(one.rate).round(2);
    return {
      ...one,
      product: one.item,
      spec: null,
      grossGallons: null,
      netGallons: null,
      amount: isOwn || product === null ? free : product,
      deliveryTicket: null,
      location: null,
      carrier: null,
      deliveredDate: null,
    };
  });

export const invoices = fc
  .record({
    number: code,
    customer: code,
    poNumber: fc.option(code),
    notes: fc.option(text(300)),
    lines: fc.array(line, { minLength: 1, maxLength: 6 }),
    taxes: fc.array(decimal(0, 9_999_999, 2), { maxLength: 3 }),
  })
  .map(({ taxes, ...one }) => {
    const amounts = [...one.lines.map(({ amount }) => amount), ...taxes];
    const [tax] = invoice().taxes;
    return invoice({
      ...one,
      total: Decimal.sum(amounts),
      taxes: taxes.map((amount, at) => ({
        ...(tax as NonNullable<typeof tax>),
        amount,
        product: one.lines[at]?.product ?? null,
      })),
    });
  });

/** What partners agree on differently. */
export const dialects = fc.record({
  version: fc.constantFrom("004010", "005010"),
  separators: fc.constantFrom({}, { element: "`", segment: "¬", component: "¦" }),
  lineEnds: fc.constantFrom("none", "lf", "crlf"),
});

/** Some with everything that an 850 has room for, some with as little as there may be. */
export const orders: fc.Arbitrary<OrderDocument> = fc
  .record({
    id: fc.uuid(),
    number: code,
    locationId: fc.option(code),
    requestedDate: fc.option(fc.constant("2026-11-17T06:00:00Z")),
    deliveryDate: fc.option(fc.constant("2026-11-18T06:00:00Z")),
    notes: fc.option(text(300)),
    lines: fc.array(
      fc.record({
        item: code,
        product: text(100),
        // Without a code it stands in N104, which has two characters at least.
        terminal: fc.option(text(50).filter(({ length }) => length > 1)),
        terminalCode: fc.option(code),
        quantity: decimal(1, 99_999_999, 2),
        rate: decimal(0, 99_999, 4),
      }),
      { minLength: 1, maxLength: 6 },
    ),
  })
  .map(({ lines, ...head }) => {
    const [line] = order().lines;
    // Without a loading number the platform's id is its number.
    const number = head.number.endsWith("0") ? head.id : head.number;
    return order({
      ...head,
      number,
      deliveryStart: head.requestedDate === null ? null : "6:00",
      lines: lines.map((one) => ({ ...(line as NonNullable<typeof line>), ...one })),
    });
  });

/** What a partner's software, or a line, does to one of our 810. */
export const damages: fc.Arbitrary<(text: string) => string> = fc.constantFrom(
  (text: string) => text,
  (text: string) => text.replace(/~TDS[^~]*/, ""),
  (text: string) => text.replace(/~BIG[^~]*/, ""),
  (text: string) => text.replace(/(~SE.)\d+/, "$199"),
  (text: string) => text.replace(/(~SE.\d+.)\d+/, "$17777"),
  (text: string) => text.replace(/~SE[^~]*/, ""),
  (text: string) => text.replace(/(~GE.)\d+/, "$17"),
  (text: string) => text.replace(/(~BIG.)\d{4}/, "$120AB"),
  (text: string) => text.replace(/(~CUR.SE.)USD/, "$1U"),
  (text: string) => text.replace(/(~PID.F.{4})[^~]*/, `$1${"too long ".repeat(12)}`),
  (text: string) => text.replaceAll("004010", "003040"),
  (text: string) => text.replace(/~ST.810/, "~ST*811"),
);

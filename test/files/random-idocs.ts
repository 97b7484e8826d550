/** Random documents for SAP, within the room that it has. */
import * as fc from "fast-check";
import type { OrderDocument, ShipmentDocument } from "../../src/ledger/documents.ts";
import { Decimal } from "../../src/core/decimal.ts";
import type { SupplierInvoiceDocument } from "../../src/formats/documents.ts";
import { bill, billLine, billTax, order, ticket } from "./idoc.ts";

/** Everything a field may hold: markup, accents, other scripts, characters of four bytes. */
const text = (most: number): fc.Arbitrary<string> =>
  fc
    .string({ unit: "binary", maxLength: most })
    .map((value) => value.replaceAll(/[\p{Cc}\p{Cs}\u2028\u2029\ufffe\uffff]/gu, "&").trim())
    .filter((value) => value !== "" && value.length <= most);
const code = (most: number): fc.Arbitrary<string> =>
  fc.oneof(
    text(most),
    fc.stringMatching(/^0{0,3}[0-9]{1,4}$/),
    fc
      .constantFrom("0", "000417", "1E5", "0x10", "<&>", "]]>", "&amp;", "'\"")
      .filter((one) => one.length <= most),
  );
const decimal = (most: bigint, places: number): fc.Arbitrary<Decimal> =>
  fc.bigInt({ min: -most, max: most }).map((units) => Decimal.of(`${units}e-${places}`));
const money = decimal(10n ** 13n, 2);
const gallons = fc.bigInt({ min: 1n, max: 10n ** 9n }).map((units) => Decimal.of(`${units}e-3`));
const rate = fc.bigInt({ min: 1n, max: 10n ** 8n }).map((units) => Decimal.of(`${units}e-6`));
const orNone = <T>(one: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(one, { freq: 4 });
const day = fc
  .date({ min: new Date("2000-01-01"), max: new Date("2099-12-31"), noInvalidDate: true })
  .map((date) => `${date.toISOString().slice(0, 10)}T18:00:00Z`);

export const bills: fc.Arbitrary<SupplierInvoiceDocument> = fc
  .record({
    id: fc.uuid(),
    number: code(16),
    vendor: code(10),
    poNumber: code(35),
    contractNumber: orNone(code(35)),
    invoiceDate: day,
    dueDate: orNone(day),
    notes: orNone(
      fc.array(text(100), { minLength: 1, maxLength: 2 }).map((lines) => lines.join("\n")),
    ),
    lines: fc.array(
      fc.record({
        item: code(35),
        gallons,
        rate,
        amount: money,
        deliveryTicket: orNone(code(35)),
        description: text(90),
      }),
      { minLength: 1, maxLength: 2 },
    ),
    taxes: fc.uniqueArray(fc.record({ taxCode: code(7), amount: money }), {
      maxLength: 2,
      selector: ({ taxCode }) => taxCode,
    }),
  })
  .map(({ lines, taxes, ...head }) => {
    const bare = { bolNumber: null, deliveredDate: null };
    const subtotal = Decimal.sum(lines.map(({ amount }) => amount));
    const taxTotal = Decimal.sum(taxes.map(({ amount }) => amount));
    return bill({
      ...head,
      subtotal,
      taxTotal,
      total: subtotal.plus(taxTotal),
      lines: lines.map((line) => ({ ...billLine(null, null, null, "0"), ...bare, ...line })),
      taxes: taxes.map((tax) => ({ ...billTax("0"), ...tax })),
    });
  });

export const orders: fc.Arbitrary<OrderDocument> = fc
  .record({
    id: fc.uuid(),
    number: code(35),
    code: code(10),
    date: day.map((one) => one.slice(0, 10)),
    product: code(35),
    quantity: gallons,
    unitPrice: rate,
  })
  .map(({ id, number, code: party, date, ...line }) =>
    order({
      id,
      number,
      date,
      requestedDate: date,
      shipTo: null,
      party: { ...order().party, code: party },
      lines: [{ ...line, unit: "gal", description: "x", terminal: "T-76-TX-2780" }],
    }),
  );

export const tickets: fc.Arbitrary<ShipmentDocument> = fc
  .record({
    id: fc.uuid(),
    number: code(35),
    code: code(10),
    reference: code(35),
    order: orNone(code(35)),
    product: code(18),
    quantity: gallons,
    grossGallons: orNone(gallons),
  })
  .map(({ id, number, code: party, reference, order: of, ...line }) =>
    ticket({
      id,
      number,
      reference,
      order: of,
      party: { ...ticket().party, code: party },
      lines: [{ ...line, unit: "gal", netGallons: null, temperature: null, apiGravity: null }],
    }),
  );

/** What we ship: their numbers are SAP's deliveries. */
export const shipments: fc.Arbitrary<ShipmentDocument> = fc
  .tuple(tickets, fc.integer({ min: 1, max: 9_999_999_999 }))
  .map(([one, number]) => ({ ...one, type: "out" as const, number: String(number) }));

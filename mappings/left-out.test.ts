/**
 * A field of the platform's that no mapping brings over is a difference that nobody would see: it is mapped, or the
 * connector's README lists it under "What is not compared".
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import type { Mapping } from "../src/core/contract.ts";
import { Decimal } from "../src/core/decimal.ts";
import { Refused } from "../src/core/errors.ts";
import { type Json, parseExact, stringifyExact } from "../src/core/json.ts";
import { DeliveryTicket } from "../src/platform/contract/delivery-ticket.ts";
import { Invoice, Payment } from "../src/platform/contract/invoice.ts";
import { Order } from "../src/platform/contract/order.ts";
import { mappings } from "./index.ts";
import { everything } from "./references.fixture.ts";

const uuid = (digit: number): string => `00000000-0000-4000-8000-00000000000${digit}`;
const US = uuid(1);
const AT = "2026-11-04T10:15:00Z";

const references = everything(US);

/** A value in every field. */
const samples = {
  invoice: {
    schema: Invoice,
    record: {
      id: uuid(2),
      companyId: uuid(3),
      orderId: uuid(4),
      payerCompanyId: uuid(5),
      invoiceNumber: "FL-1",
      status: "PAID",
      subtotal: 29.1,
      tax: 2,
      total: 31.1,
      dueDate: AT,
      paidAt: AT,
      notes: "n",
      contractNumber: "c",
      poNumber: "p",
      lineItems: [
        {
          id: uuid(6),
          invoiceId: uuid(2),
          description: "d",
          product: "ULSD",
          location: "l",
          spec: "s",
          bolNumber: "b",
          deliveryTicket: "t",
          carrier: "c",
          gallons: 10,
          grossGallons: 11,
          netGallons: 10,
          rate: 2.41,
          rackPrice: 2,
          margin: 0.41,
          amount: 24.1,
          deliveredDate: AT,
        },
        { id: uuid(8), invoiceId: uuid(2), description: "Fee", amount: 5 },
      ],
      taxLines: [
        {
          id: uuid(7),
          invoiceId: uuid(2),
          taxType: "State",
          authority: "TX",
          productRef: "ULSD",
          rateDisplay: "$0.2",
          rate: 0.2,
          gallons: 10,
          amount: 2,
        },
      ],
      createdAt: AT,
      updatedAt: AT,
    },
  },
  order: {
    schema: Order,
    record: {
      id: uuid(2),
      companyId: US,
      locationId: uuid(4),
      status: "CONFIRMED",
      orderType: "direct",
      pricingType: "fixed",
      urgency: "routine",
      notes: "n",
      requirements: { hazmat: true },
      requestedDate: AT,
      deliveryDate: AT,
      deliveryStart: "08:00",
      deliveryEnd: "10:00",
      carrierCompanyId: uuid(5),
      maxRate: 1,
      bidDeadline: AT,
      loadingNumber: "L-1",
      lines: [
        {
          id: uuid(6),
          orderId: uuid(2),
          product: "ULSD",
          terminal: "Waco",
          supplierId: uuid(7),
          gallons: 10,
          unit: "gal",
          quantity: 10,
          unitCode: "gal",
          rate: 2.41,
          buyPrice: 2.3,
          sellPrice: 2.5,
          loadingNumber: "LL-1",
          lat: 31,
          lng: -97,
          productCode: "P",
          terminalCode: "T-74-TX-2755",
        },
      ],
      createdAt: AT,
      updatedAt: AT,
    },
  },
  ticket: {
    schema: DeliveryTicket,
    record: {
      id: uuid(2),
      ticketNumber: "T-1",
      orderId: uuid(4),
      supplierCompanyId: US,
      receiverCompanyId: uuid(5),
      status: "SIGNED",
      bolNumber: "b",
      driverName: "d",
      carrierCompanyName: "c",
      loadingTerminalName: "l",
      destinationName: "e",
      deliveryDate: AT,
      productLines: [
        {
          product_name: "ULSD",
          spec: "s",
          gross_gallons: 11,
          net_gallons: 10,
          temperature: 60,
          api_gravity: 35,
        },
      ],
      createdAt: AT,
      updatedAt: AT,
    },
  },
  payment: {
    schema: Payment,
    record: {
      id: uuid(2),
      invoiceId: uuid(3),
      amount: 10,
      method: "ach",
      reference: "r",
      processorChargeId: "ch",
      status: "SUCCEEDED",
      failureReason: "f",
      surchargeAmount: 1,
      paidAt: AT,
    },
  },
} as const satisfies Record<string, { schema: z.ZodType; record: object }>;

const kinds = { ...samples, bill: samples.invoice };
type Name = keyof typeof kinds;
type Path = readonly (string | number)[];

/** Every field of a schema; a list's by its first element. */
function pathsOf(schema: unknown, at: Path = []): Path[] {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodNullable)
    return pathsOf(schema.unwrap(), at);
  if (schema instanceof z.ZodOptional) return pathsOf(schema.unwrap(), at);
  if (schema instanceof z.ZodPipe) return pathsOf(schema.out, at);
  if (schema instanceof z.ZodArray) return pathsOf(schema.element, [...at, 0]);
  if (!(schema instanceof z.ZodObject) || Object.keys(schema.shape).length === 0) return [at];
  return Object.entries(schema.shape).flatMap(([name, part]) => pathsOf(part, [...at, name]));
}

function withValue(record: Json, [step, ...rest]: Path, value: Json): Json {
  if (step === undefined) return value;
  const inner = (record as Record<string | number, Json>)[step] as Json;
  const changed = withValue(inner, rest, value);
  return Array.isArray(record)
    ? [changed, ...(record as readonly Json[]).slice(1)]
    : { ...(record as object), [step]: changed };
}

/** Whatever the schema takes is tried. */
const OTHERS: readonly Json[] = [
  Decimal.of("7"),
  "OVERDUE",
  "ISSUED",
  "IN_TRANSIT",
  "2026-07-01T12:00:00Z",
  uuid(9),
  "another text",
  { hazmat: false },
];

/** What becomes of a record, as text: a document, a skip or a refusal; null: it is no such record. */
function mapped(mapping: Mapping, record: Json): string | null {
  const input = mapping.input.safeParse(record);
  if (!input.success) return null;
  try {
    const out = mapping.map(input.data, references) as object;
    return stringifyExact("skip" in out ? out : mapping.output.parse(out));
  } catch (error) {
    if (error instanceof Refused) return error.message;
    throw error;
  }
}

function leftOut(mapping: Mapping, name: Name): string[] {
  const { schema } = kinds[name];
  const record = parseExact(JSON.stringify(kinds[name].record));
  const before = mapped(mapping, record);
  return pathsOf(schema)
    .filter((path) =>
      OTHERS.map((value) => mapped(mapping, withValue(record, path, value))).every(
        (after) => after === null || after === before,
      ),
    )
    .map((path) => path.filter((step) => step !== 0).join("."));
}

/** The fields in backticks of a row of the README's table. */
function listed(connector: string, name: Name): string[] {
  const path = join(import.meta.dirname, `../connectors/${connector}/README.md`);
  const [, section = ""] = readFileSync(path, "utf8").split("## What is not compared");
  const row = section.split("\n").find((line) => line.startsWith(`| ${name} `)) ?? "";
  return [...row.matchAll(/`([^`]+)`/g)].map(([, field = ""]) => field);
}

test.each([
  ["files", "canonical/customer-invoices", "invoice"],
  ["files", "canonical/supplier-invoices", "bill"],
  ["files", "canonical/orders", "order"],
  ["files", "canonical/delivery-tickets", "ticket"],
  ["tryton", "books/customer-invoices", "invoice"],
  ["tryton", "books/supplier-invoices", "bill"],
  ["tryton", "books/orders", "order"],
  ["tryton", "books/delivery-tickets", "ticket"],
  ["tryton", "books/payments-received", "payment"],
  ["tryton", "books/payments-made", "payment"],
] as const)("%s: every field is mapped by %s, or the README lists it", (connector, name, kind) => {
  const mapping = mappings.find((one) => one.name === name);
  if (mapping === undefined) throw new Error(`no mapping ${name}`);
  const record = parseExact(JSON.stringify(kinds[kind].record));
  expect(mapping.map(mapping.input.parse(record), references)).toMatchObject({ id: uuid(2) });
  expect(leftOut(mapping, kind).toSorted()).toEqual(listed(connector, kind).toSorted());
});

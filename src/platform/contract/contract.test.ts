import { describe, expect, it } from "vitest";
import type { z } from "zod";
import { Decimal } from "../../core/decimal.ts";
import { parseExact, stringifyExact } from "../../core/json.ts";
import { CreateInvoice, Invoice, invoiceStatuses, Payment } from "./invoice.ts";
import { CreateFreightRate, CreateParty, UpdateFreightRate } from "./network.ts";
import { BulkRackPrice, FreightCalculate } from "./pricing.ts";
import { ErrorEnvelope, listOf, type Operation } from "./operation.ts";
import { operations } from "./operations.ts";
import { UpdateLocation, UpdateTerminal, UpsertTerminal } from "./place.ts";
import { decimal, id, integer, isKnown, timestamp } from "./primitives.ts";
import {
  CreateDeliveryTicket,
  SignDeliveryTicket,
  UpdateDeliveryTicket,
} from "./delivery-ticket.ts";
import { CreateOrder, Order, UpdateOrder } from "./order.ts";

const uuid = "11111111-1111-1111-1111-111111111111";
const instant = "2026-07-01T08:00:00.123456+02:00";
const passes = (schema: z.ZodType, value: unknown): boolean => schema.safeParse(value).success;
const all: Operation[] = Object.values(operations);

describe("operations", () => {
  it("are the 39 of part 4 and the inferred update of a location", () => {
    expect(all.filter((operation) => !operation.inferred)).toHaveLength(39);
    expect(all.filter((operation) => operation.inferred)).toEqual([operations.updateLocation]);
  });

  it("have one entry per method and path", () => {
    expect(new Set(all.map(({ method, path }) => `${method} ${path}`)).size).toBe(all.length);
  });

  it("want an idempotency key on every write but the freight calculation", () => {
    const without = all.filter(({ method, idempotencyKey }) => method !== "GET" && !idempotencyKey);
    expect(without).toEqual([operations.calculateFreight]);
    expect(all.some(({ method, idempotencyKey }) => method === "GET" && idempotencyKey)).toBe(
      false,
    );
  });

  it("walk by cursor over orders, invoices and delivery tickets", () => {
    const walked = all.filter((operation) => operation.cursorWalk).map(({ path }) => path);
    expect(walked).toEqual(["/orders", "/delivery-tickets", "/invoices"]);
  });

  it("page every list, and nothing else", () => {
    for (const { success, pageSize } of all)
      expect(pageSize !== undefined).toBe(success.kind === "list");
  });
});

describe("queries", () => {
  const query = operations.listOrders.query;

  it("apply defaults, and count an empty parameter as not sent", () => {
    const defaults = { page: 1, pageSize: 20, sortBy: "createdAt", sortOrder: "desc" };
    expect(query.parse({})).toEqual(defaults);
    expect(query.parse({ page: "", status: "", updatedSince: "", sortBy: "" })).toEqual(defaults);
  });

  it("drop unknown parameters", () => {
    expect(query.parse({ colour: "red" })).not.toHaveProperty("colour");
  });

  it.each([
    ["pageSize", "100", "101"],
    ["pageSize", "1", "0"],
    ["page", "1", "0"],
    ["page", "2", "1.5"],
    ["status", "IN_TRANSIT", "LOST"],
    ["search", "s".repeat(100), "s".repeat(101)],
    ["updatedSince", "2026-07-01T00:00:00Z", "2026-07-01"],
  ])("%s: %s passes, %s does not", (name, good, bad) => {
    expect(passes(query, { [name]: good })).toBe(true);
    expect(passes(query, { [name]: bad })).toBe(false);
  });

  it("read isActive as text", () => {
    expect(operations.listLocations.query.parse({ isActive: "false" })).toMatchObject({
      isActive: false,
    });
    expect(passes(operations.listLocations.query, { isActive: "no" })).toBe(false);
  });
});

const line = { product: "ULSD", gallons: 1 };
const item = { description: "Fuel", amount: 1 };
const invoice = { invoiceNumber: "1", subtotal: 1, total: 1, lineItems: [item] };
const withItem = (fields: object) => ({
  ...invoice,
  lineItems: [{ description: "Fuel", ...fields }],
});
const price = { terminalId: "T", product: "ULSD", price: 1 };
const rate = { connectionId: uuid, flatFee: 1 };
const freight = { originTerminalId: "T", destinationZip: "123", product: "ULSD", gallons: 1 };
const terminal = { terminalCode: "T", name: "Terminal" };
const many = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

describe("limits of requests", () => {
  const cases: [string, z.ZodType, unknown, unknown][] = [
    ["order lines", CreateOrder, { lines: many(20, line) }, { lines: many(21, line) }],
    ["no order lines", CreateOrder, { lines: [line] }, { lines: [] }],
    ["gallons", CreateOrder, { lines: [line] }, { lines: [{ ...line, gallons: 0 }] }],
    ["whole gallons", CreateOrder, { lines: [line] }, { lines: [{ ...line, gallons: 1.5 }] }],
    [
      "quantity in place of gallons",
      CreateOrder,
      { lines: [{ product: "ULSD", quantity: 1.5, unitCode: "mt" }] },
      { lines: [{ product: "ULSD" }] },
    ],
    [
      "latitude",
      CreateOrder,
      { lines: [{ ...line, lat: -90 }] },
      { lines: [{ ...line, lat: -90.000001 }] },
    ],
    ["update to null", UpdateOrder, { notes: null }, { urgency: null }],
    [
      "ticket lines",
      CreateDeliveryTicket,
      { productLines: many(50, {}) },
      { productLines: many(51, {}) },
    ],
    ["receiver", SignDeliveryTicket, { receiverName: "r".repeat(120) }, { receiverName: "" }],
    ["invoice number", CreateInvoice, invoice, { ...invoice, invoiceNumber: "1".repeat(51) }],
    [
      "line items",
      CreateInvoice,
      { ...invoice, lineItems: many(50, item) },
      { ...invoice, lineItems: many(51, item) },
    ],
    ["subtotal", CreateInvoice, { ...invoice, subtotal: 0 }, { ...invoice, subtotal: -0.01 }],
    [
      "price above 0",
      BulkRackPrice,
      { prices: [{ ...price, price: 1e-9 }] },
      { prices: [{ ...price, price: 0 }] },
    ],
    [
      "price up to 999999",
      BulkRackPrice,
      { prices: [{ ...price, price: Decimal.of("999999.00") }] },
      { prices: [{ ...price, price: Decimal.of("999999.00000000000000001") }] },
    ],
    ["prices", BulkRackPrice, { prices: many(200, price) }, { prices: many(201, price) }],
    [
      "written litres",
      BulkRackPrice,
      { prices: [{ ...price, unit: "ltr" }] },
      { prices: [{ ...price, unit: "liter" }] },
    ],
    ["zip", FreightCalculate, freight, { ...freight, destinationZip: "12" }],
    ["one price of a rate", CreateFreightRate, rate, { ...rate, flatFee: null, customFees: [] }],
    [
      "zip prefix",
      CreateFreightRate,
      { ...rate, destinationZipPrefix: "770" },
      { ...rate, destinationZipPrefix: "77" },
    ],
    ["immutable connection", UpdateFreightRate, { flatFee: 1 }, { connectionId: uuid }],
    [
      "email",
      CreateParty,
      { name: "N", contactEmail: "a@b.example" },
      { name: "N", contactEmail: "a" },
    ],
    ["terminal code", UpsertTerminal, terminal, { name: "Terminal" }],
    ["empty contacts", UpdateLocation, { contacts: [{ name: "N" }] }, { contacts: [] }],
    [
      "an open day",
      UpdateLocation,
      { schedules: [{ isOpen: false }] },
      { schedules: [{ isOpen: true, openTime: "08:00" }] },
    ],
  ];

  it.each(cases)("%s", (_name, schema, good, bad) => {
    expect(schema.safeParse(good).error).toBeUndefined();
    expect(passes(schema, bad)).toBe(false);
  });

  it("count UTF-16 units, as the platform's reading goes", () => {
    const notes = "\u{1F600}".repeat(1000);
    expect(passes(CreateOrder, { lines: [line], notes })).toBe(true);
    expect(passes(CreateOrder, { lines: [line], notes: `${notes}x` })).toBe(false);
  });

  it("take no Decimal for an object", () => {
    expect(passes(CreateOrder, { lines: [line], requirements: {} })).toBe(true);
    expect(passes(CreateOrder, { lines: [line], requirements: Decimal.of("1") })).toBe(false);
  });

  it("apply defaults on creation, never on a partial update", () => {
    expect(CreateOrder.parse({ lines: [line] })).toMatchObject({ urgency: "routine" });
    expect(UpdateOrder.parse({})).toEqual({});
    expect(UpdateDeliveryTicket.parse({})).toEqual({});
    expect(UpdateTerminal.parse({})).toEqual({});
    expect(UpsertTerminal.parse(terminal)).toMatchObject({ unitSystem: "gal", isActive: true });
  });

  it("rule I1: amount is rate times gallons within a cent, or there is no rate", () => {
    expect(passes(CreateInvoice, withItem({ rate: 2.345, gallons: 1000 }))).toBe(true);
    expect(passes(CreateInvoice, withItem({ rate: 2.345, gallons: 1000, amount: 2345.01 }))).toBe(
      true,
    );
    expect(passes(CreateInvoice, withItem({ rate: 2.345, gallons: 1000, amount: 2345.011 }))).toBe(
      false,
    );
    expect(passes(CreateInvoice, withItem({ rate: 2.345 }))).toBe(false);
    expect(passes(CreateInvoice, withItem({ rate: null, gallons: 1000, amount: 7 }))).toBe(true);
  });

  it("keep fields they do not know", () => {
    expect(CreateOrder.parse({ lines: [line], costCentre: "7" })).toHaveProperty("costCentre", "7");
  });
});

describe("responses", () => {
  const body = {
    id: uuid,
    companyId: uuid,
    invoiceNumber: "INV-1",
    status: "REFUNDED_LATER",
    lineItems: [],
    taxLines: [],
    createdAt: instant,
    updatedAt: instant,
    settlement: { currency: "USD" },
  };
  const answer = `${JSON.stringify(body).slice(0, -1)},"subtotal":0.10,"tax":1E2,"total":12345678901234567890.120}`;
  const read = Invoice.parse(parseExact(answer));

  it("keep every digit of a number", () => {
    expect(stringifyExact([read.subtotal, read.tax, read.total])).toBe(
      "[0.10,1E2,12345678901234567890.120]",
    );
  });

  it("accept an enum value that is new, and tell it apart", () => {
    expect(read.status).toBe("REFUNDED_LATER");
    expect(isKnown(invoiceStatuses, read.status)).toBe(false);
    expect(isKnown(invoiceStatuses, "PAID")).toBe(true);
  });

  it("keep unknown fields, and read a missing nullable one as null", () => {
    expect(read["settlement"]).toEqual({ currency: "USD" });
    expect(read.poNumber).toBeNull();
  });

  it("may leave the lines out of a list, not out of a detail", () => {
    const { lineItems: _, ...bare } = read;
    expect(passes(operations.listInvoices.success.data, bare)).toBe(true);
    expect(passes(Invoice, bare)).toBe(false);
  });

  it("have ids of any UUID form, and nothing else", () => {
    expect(passes(id, uuid)).toBe(true);
    expect(passes(id, "4711")).toBe(false);
  });

  it("have times with a zone, in any notation of ISO 8601, with every digit", () => {
    expect(timestamp.parse(instant)).toBe(instant);
    expect(timestamp.parse("2026-07-01t05:30:00.50z")).toBe("2026-07-01T05:30:00.50Z");
    expect(timestamp.parse("2026-07-01T05:30-0500")).toBe("2026-07-01T05:30:00-05:00");
    expect(passes(timestamp, "2026-02-30T00:00:00Z")).toBe(false);
    expect(passes(timestamp, "2026-07-01T00:00:00")).toBe(false);
  });

  it("have the numbers that a platform meant which adds in doubles", () => {
    expect(decimal.parse(Decimal.of("26480.719999999998"))).toEqual(Decimal.of("26480.72"));
    expect(integer.parse(Decimal.of("8000.000000000001"))).toBe(8000);
  });

  it("tell numbers from text, and counts from fractions", () => {
    expect(passes(decimal, "1")).toBe(false);
    expect(integer.parse(Decimal.of("8e3"))).toBe(8000);
    expect(passes(integer, Decimal.of("1.5"))).toBe(false);
  });

  it("come in envelopes", () => {
    const list = parseExact(
      '{"success":true,"data":[],"meta":{"total":0,"page":1,"pageSize":20,"totalPages":0,"hasMore":false}}',
    );
    expect(listOf(Payment).parse(list).meta).toMatchObject({ total: 0, nextCursor: null });
    const error = parseExact(
      '{"success":false,"error":{"code":"RATE_LIMIT_EXCEEDED","message":"m","retryAfterSec":7}}',
    );
    expect(ErrorEnvelope.parse(error).error.retryAfterSec).toBe(7);
    expect(passes(listOf(Order), error)).toBe(false);
  });
});

import { buffer } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import {
  freight,
  freightRate,
  invoice,
  nowhere,
  order,
  party,
  prices,
  terminal,
  ticket,
} from "../../test/conformance/samples.ts";
import { errorOf, key, useTypedClient } from "../../test/platform/typed-client.ts";
import { ConfigurationError, EnvironmentError } from "../core/errors.ts";
import { Decimal } from "../core/decimal.ts";
import type { Operation } from "./contract/operation.ts";
import { groupOf, type OperationId, operations } from "./contract/operations.ts";
import type { PlatformClient } from "./platform-client.ts";

const platform = useTypedClient("conformance");
const { control, open, against } = platform;

/** The generic face of the methods: the samples of the conformance suite are untyped. */
type Methods = Record<OperationId, (call: object) => Promise<unknown>>;

describe("every operation of the table, against the sandbox", () => {
  const ids = Object.keys(operations) as OperationId[];
  const first = async (resource: string): Promise<string> =>
    String((await control.stored(resource))[0]?.["id"]);
  /** Where `{id}` is not the id of the group's own records. */
  const pathIds: Partial<Record<OperationId, () => Promise<string>>> = {
    listTerminalPrices: async () =>
      String((await control.stored("rack-prices"))[0]?.["terminalId"]),
    listFreightRates: () => first("connections"),
    createFreightRate: () => first("connections"),
    updateFreightRate: () => first("freight-rates"),
    deleteFreightRate: () => first("freight-rates"),
    getCompanyProfile: async () => platform.company("supplier"),
    markInvoicePaid: async () => String((await platform.post("/invoices", invoice())).data["id"]),
  };
  const bodies: Partial<Record<OperationId, (id: string) => unknown>> = {
    createOrder: () => order(),
    updateOrder: () => ({ notes: "Call first" }),
    addOrderNote: () => ({ content: "Loaded" }),
    createDeliveryTicket: () => ticket(),
    updateDeliveryTicket: () => ({ bolNumber: "BOL-2" }),
    signDeliveryTicket: () => ({ receiverName: "R. Ivy" }),
    createInvoice: () => invoice(),
    markInvoicePaid: () => undefined,
    upsertRackPrices: () => prices(),
    calculateFreight: () => freight(),
    createFreightRate: (id) => freightRate(id),
    updateFreightRate: () => ({ flatFee: 99 }),
    createCustomer: () => party(),
    createSupplier: () => party(),
    updateLocation: () => ({ name: "Yard" }),
    createSupplierTerminal: () => terminal(),
    updateSupplierTerminal: () => ({ name: "Rack" }),
  };

  test.each(ids)("%s", async (name) => {
    const operation: Operation = operations[name];
    const { kind } = operation.success;
    const withId = operation.path.includes("{id}");
    const id = withId ? await (pathIds[name] ?? (() => first(groupOf(operation))))() : "";
    const body = bodies[name]?.(id);
    expect(name in bodies).toBe(operation.body !== undefined);
    const result = await (open() as unknown as Methods)[name]({
      ...(withId ? { id } : {}),
      ...(operation.query === undefined ? {} : { query: {} }),
      ...(body === undefined ? {} : { body }),
      ...(operation.idempotencyKey ? { idempotencyKey: key() } : {}),
    });
    if (kind === "none") expect(result).toBeUndefined();
    if (kind === "one") expect(result).toEqual(expect.any(Object));
    if (kind === "array") expect(result).toEqual(expect.any(Array));
    if (kind === "list")
      expect(result).toMatchObject({ data: expect.any(Array) as unknown[], meta: { page: 1 } });
    if (kind === "pdf") {
      const bytes = (await buffer(result as NodeJS.ReadableStream)).toString("latin1");
      expect(bytes.startsWith("%PDF-")).toBe(true);
      expect(bytes.trimEnd().endsWith("%%EOF")).toBe(true);
    }
    const sent = await control.requests();
    expect(sent.at(-1)).toMatchObject({
      method: operation.method,
      status: operation.success.status,
    });
  });
});

test("the types are those of the row", () => {
  const compiled = (client: PlatformClient): Promise<unknown>[] => [
    client.listOrders(),
    client.listInvoices({ query: { role: "payer", page: 2, orderId: undefined } }),
    client.markInvoicePaid({ id: nowhere, idempotencyKey: "" }),
    client.updateOrder({ id: nowhere, body: { lines: [line] }, idempotencyKey: "" }),
    // @ts-expect-error without a key
    client.createOrder({ body: { lines: [line] } }),
    // @ts-expect-error a line without a product
    client.updateOrder({ id: nowhere, body: { lines: [{}] }, idempotencyKey: "" }),
    // @ts-expect-error a key where there is none
    client.getOrder({ id: nowhere, idempotencyKey: "" }),
    // @ts-expect-error another status
    client.listOrders({ query: { status: "LOST" } }),
    // @ts-expect-error no walk
    client.walk("listPayments", { cursor: "" }).next(),
    // @ts-expect-error a walk from nowhere
    client.walk("listOrders", {}).next(),
    // @ts-expect-error no list
    client.pages("getOrder").next(),
  ];
  const line = { product: "ULSD", gallons: Decimal.of("1") };
  expect(compiled).toHaveLength(1);
});

describe("numbers", () => {
  test("are exact in both directions", async () => {
    const price = Decimal.of("2.450000000000000000010");
    const body = { prices: [{ terminalId: "T-1", product: "ULSD", price }] };
    const client = open();
    await client.upsertRackPrices({ body, idempotencyKey: key() });
    const [back] = await client.listTerminalPrices({ id: "T-1" });
    expect(back?.price.text).toBe("2.450000000000000000010");
  });
});

describe("what the platform would refuse is not sent", () => {
  const client = () => open() as unknown as Methods;

  test.each([
    ["a key that is too short", "createOrder", { body: order(), idempotencyKey: "short" }],
    ["a key of other characters", "createOrder", { body: order(), idempotencyKey: "ä".repeat(20) }],
    ["a missing key", "deleteFreightRate", { id: nowhere }],
    ["an id that is no UUID", "getOrder", { id: "4711" }],
    ["a text id that a path swallows", "listTerminalPrices", { id: ".." }],
    ["a page that is too large", "listOrders", { query: { pageSize: 101 } }],
    ["a body over the contract", "createOrder", { body: { lines: [] }, idempotencyKey: key() }],
    ["a missing body", "calculateFreight", {}],
  ] as const)("%s", async (_what, operation, call) => {
    const error = await errorOf(client()[operation](call));
    expect(error).toMatchObject({ kind: "invalid", status: null, operation, executed: "no" });
    expect(error.details).toMatchObject({ issues: [{ path: expect.any(String) as string }] });
    expect(await control.requests()).toEqual([]);
  });
});

describe("what failed", () => {
  test("a refusal has its status, code and details", async () => {
    const body = { connectionId: nowhere, flatFee: 1 };
    const id = nowhere;
    const call = { id, body, idempotencyKey: key() };
    const error = await errorOf(open().createFreightRate(call));
    expect(error.message).toMatch(/^createFreightRate: 40/);
    const missing = await errorOf(open().getOrder({ id }));
    expect(missing).toMatchObject({ kind: "not-found", status: 404, code: "NOT_FOUND" });
    const amount = { ...invoice(), orderId: nowhere };
    const refused = await errorOf(
      open().createInvoice({ body: amount as never, idempotencyKey: key() }),
    );
    expect(refused).toMatchObject({ kind: "invalid", status: 400, code: "VALIDATION_ERROR" });
    expect(refused.details).toMatchObject({ issues: [{ path: "orderId" }] });
  });

  test("credentials and rights", async () => {
    const unknown = open({ apiKey: "svc_live_nobody" });
    expect(await errorOf(unknown.listAllocations())).toMatchObject({ kind: "unauthorised" });
    const body = { name: "Bayou" };
    const readOnly = open({}, "supplier-read-only");
    expect(await errorOf(readOnly.createCustomer({ body, idempotencyKey: key() }))).toMatchObject({
      kind: "forbidden",
      code: "INSUFFICIENT_SCOPE",
      executed: "no",
    });
  });

  test("the keys of writes", async () => {
    const idempotencyKey = key();
    const client = open();
    await client.createCustomer({ body: { name: "Bayou" }, idempotencyKey });
    const other = client.createCustomer({ body: { name: "Brazos" }, idempotencyKey });
    expect(await errorOf(other)).toMatchObject({ kind: "key-conflict", status: 409 });
    const held = { body: { name: "Pecos" }, idempotencyKey: key() };
    await control.fault({ method: "POST", path: "/customers", kind: "status", status: 503 });
    expect(await errorOf(client.createCustomer(held))).toMatchObject({
      kind: "failed",
      status: 503,
      executed: "unknown",
    });
    const again = await errorOf(client.createCustomer(held));
    expect(again).toMatchObject({ kind: "outcome-unknown", executed: "unknown" });
    expect(again.waitMs).toBeGreaterThan(0);
  });

  test("limits say how long to wait", async () => {
    await control.limits({ key: "supplier", perMinute: 1_000, monthlyCap: 0 });
    const spent = await errorOf(open().listAllocations());
    expect(spent).toMatchObject({ kind: "month-spent", code: "MONTHLY_CAP_EXCEEDED" });
    expect(spent.waitMs).toBeGreaterThan(60_000);
    await control.limits({ key: "supplier", perMinute: 0 });
    const slow = await errorOf(open().listAllocations());
    expect(slow).toMatchObject({ kind: "slow-down", status: 429 });
    expect(slow.waitMs).toBeLessThanOrEqual(61_000);
  });

  test("no answer: torn when it may have arrived, not-sent when it cannot have", async () => {
    await control.fault({ method: "GET", path: "/allocations", kind: "reset" });
    const torn = await errorOf(open().listAllocations());
    expect(torn).toMatchObject({ kind: "torn", status: null, executed: "unknown" });
    const nobody = open({ url: "http://127.0.0.1:1/v1/public" });
    const error = await errorOf(nobody.listAllocations());
    expect(error).toMatchObject({ kind: "not-sent", status: null, executed: "no" });
  });

  test("a deadline is the caller's to choose", async () => {
    const silent = await against(() => ({ end: false }), { deadlineMs: 100 });
    const late = await errorOf(silent.listAllocations());
    expect(late).toMatchObject({ kind: "torn", status: null });
    expect(late.message).toMatch(/^listAllocations: TimeoutError: /);
  });

  test.each([
    ["no JSON", "<html>"],
    ["another envelope", '{"success":true,"items":[]}'],
    ["a record without what it always has", '{"success":true,"data":[{"id":"1"}]}'],
  ])("a success that cannot be read: %s", async (_what, body) => {
    const client = await against(() => ({ body }));
    expect(await errorOf(client.listAllocations())).toMatchObject({
      kind: "unreadable",
      status: 200,
      requestId: "req-1",
    });
  });
});

describe("PDF", () => {
  const id = nowhere;

  test("of another media type is unreadable", async () => {
    const client = await against(() => ({ type: "text/html", body: "<html>" }));
    expect(await errorOf(client.getInvoicePdf({ id }))).toMatchObject({ kind: "unreadable" });
  });

  test("that does not exist is not found", async () => {
    expect(await errorOf(open().getInvoicePdf({ id }))).toMatchObject({ kind: "not-found" });
  });

  test("that breaks off fails while it is read", async () => {
    const answer = () => ({ type: "application/pdf", body: "%PDF-1.7", end: false as const });
    const client = await against(answer, { deadlineMs: 1_000 });
    const stream = await client.getInvoicePdf({ id });
    expect(await errorOf(buffer(stream))).toMatchObject({ kind: "torn", status: 200 });
  });

  test("that nobody reads, or that is given up, holds nothing", async () => {
    const body = Buffer.alloc(1024 * 1024);
    const answer = () => ({ type: "application/pdf", body, end: false as const });
    const client = await against(answer, { deadlineMs: 1_000 });
    for (let calls = 0; calls < 10; calls++) (await client.getInvoicePdf({ id })).destroy();
    const unread = await client.getInvoicePdf({ id });
    await setTimeout(1_200);
    expect(await errorOf(buffer(unread))).toMatchObject({ kind: "torn" });
  });

  test("that does not end ends at 32 MiB", async () => {
    const body = Buffer.alloc(32 * 1024 * 1024 + 1);
    const client = await against(() => ({ type: "application/pdf", body }));
    const stream = await client.getInvoicePdf({ id });
    expect((await errorOf(buffer(stream))).message).toContain("larger than 33554432 bytes");
  });
});

describe("live and sandbox", () => {
  test.each([
    ["a test key for the live environment", { apiKey: "svc_test_x" }],
    ["a live key for the test environment", { environment: "test" }],
    ["no key of the platform", { apiKey: "x" }],
    ["http to another machine", { url: "http://platform.test/v1/public" }],
    ["no web address", { url: "ftp://127.0.0.1/v1/public" }],
  ] as const)("%s does not open", (_what, options) => {
    expect(() => open(options)).toThrow(ConfigurationError);
  });

  test.each(["https://platform.test/v1/public", "http://[::1]:8080/v1", "http://localhost/v1"])(
    "%s opens",
    (url) => {
      expect(open({ url })).toHaveProperty("listOrders");
    },
  );

  test("a platform that answers for the other one is left alone", async () => {
    const client = await against(() => ({ body: '{"success":true,"data":[]}' }), {
      environment: "test",
      apiKey: "svc_test_x",
    });
    await expect(client.listAllocations()).rejects.toThrow(EnvironmentError);
  });
});

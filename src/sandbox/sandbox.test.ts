/** What the conformance suite (test/conformance) does not ask of the sandbox: what stands beside the specification. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Driver, invoice } from "./driver.suite.ts";

const START = "?updatedSince=2000-01-01T00:00:00Z";
const id = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;

let sandbox: Driver;
beforeAll(async () => {
  sandbox = await Driver.start();
});
afterAll(() => sandbox.close());
beforeEach(() => sandbox.control("POST", "/reset", {}));

const total = async (path: string, key = "supplier") =>
  (await sandbox.get(path, { key })).json.meta.total;

describe("lists", () => {
  it("tell microseconds apart", async () => {
    const orders = ["100", "200"].map((micros, n) => ({
      id: id(n),
      updatedAt: `2026-01-01T00:00:00.000${micros}Z`,
    }));
    await sandbox.raw("orders", orders);
    const since = "2026-01-01T00:00:00.000150Z";
    expect(await sandbox.walk(`/orders?updatedSince=${since}`)).toEqual([id(1)]);
  });

  it("keep their role and filters in the cursor", async () => {
    await sandbox.raw(
      "invoices",
      [1, 2, 3].map((n) => ({ id: id(n), status: n === 2 ? "PAID" : "OVERDUE" })),
    );
    const payerCompanyId = (await sandbox.key("customer")).companyId;
    for (const n of [1, 2, 3])
      await sandbox.control("PATCH", `/records/invoices/${id(n)}`, { payerCompanyId });
    const walk = `/invoices${START}&pageSize=1&role=payer&status=OVERDUE`;
    expect(await sandbox.walk(walk, { key: "customer" })).toEqual([id(1), id(3)]);
  });

  it("no cursor outlives a reset", async () => {
    await sandbox.raw("orders", [{}, {}]);
    const { nextCursor } = (await sandbox.get(`/orders${START}&pageSize=1`)).json.meta;
    expect((await sandbox.get(`/orders?cursor=${nextCursor}`)).status).toBe(200);
    await sandbox.control("POST", "/reset", {});
    expect((await sandbox.get(`/orders?cursor=${nextCursor}`)).status).toBe(400);
  });

  it("listsCarryLines noTaxes leaves the tax lines to the detail, and nothing else", async () => {
    await sandbox.read({ listsCarryLines: "noTaxes" });
    await sandbox.post("/invoices", invoice());
    const listed = (await sandbox.get("/invoices")).json.data[0];
    expect(listed).not.toHaveProperty("taxLines");
    expect(listed).toHaveProperty("lineItems.0.amount");
  });

  it("readLagSeconds: lists, counts and details are that far behind; raw records are not", async () => {
    await sandbox.raw("invoices", [{ id: id(1), status: "OUTSTANDING" }]);
    await sandbox.read({ readLagSeconds: 30 });
    await sandbox.put(`/invoices/${id(1)}/mark-paid`, {});
    const { json } = await sandbox.post("/invoices", invoice());
    const [list, old, fresh] = [
      await sandbox.get("/invoices"),
      await sandbox.get(`/invoices/${id(1)}`),
      await sandbox.get(`/invoices/${json.data.id}`),
    ];
    expect(list.json.meta.total).toBe(1);
    expect([old.json.data.status, fresh.status]).toEqual(["OUTSTANDING", 404]);
    expect(await sandbox.records("invoices")).toHaveLength(2);
    await sandbox.advance(31);
    expect((await sandbox.get("/invoices")).json.meta.total).toBe(2);
    expect((await sandbox.get(`/invoices/${id(1)}`)).json.data.status).toBe("PAID");
  });

  it("count by status and by filter, and keep the counts true", async () => {
    await sandbox.raw("invoices", [
      { id: id(1), status: "PAID", invoiceNumber: "A-1" },
      { id: id(2), status: "VOID", invoiceNumber: "A-2", notes: "Ünïque" },
    ]);
    const total = async (query: string) => (await sandbox.get(`/invoices${query}`)).json.meta.total;
    await sandbox.control("PATCH", `/records/invoices/${id(1)}`, { status: "VOID" });
    expect([
      await total(""),
      await total("?status=VOID"),
      await total("?status=PAID"),
      await total("?search=a-2"),
      await total("?search=ÜNÏQUE"),
      await total("?role=payer"),
    ]).toEqual([2, 2, 0, 1, 1, 0]);
  });
});

describe("raw records", () => {
  it("raw numbers keep their digits, in and out", async () => {
    const body = '{"key":"supplier","records":[{"total":1234567890123456.7890,"tax":0.10}]}';
    await fetch(`${sandbox.controlUrl}/records/invoices`, { method: "POST", body });
    const { text } = await sandbox.get("/invoices");
    expect(text).toContain('"total":1234567890123456.7890');
    expect(text).toContain('"tax":0.10');
  });

  it("a payment moves its invoice, and is seen by its parties", async () => {
    const past = "2026-01-01T00:00:00.000Z";
    const payerCompanyId = (await sandbox.key("customer")).companyId;
    const [bill] = await sandbox.raw("invoices", [{ status: "DRAFT", updatedAt: past }]);
    const [payment] = await sandbox.raw("payments", [{ invoiceId: bill?.id, amount: 5 }]);
    const invoiceNow = await sandbox.get(`/invoices/${bill?.id ?? ""}`);
    expect(invoiceNow.json.data.updatedAt).not.toBe(past);
    const asPayer = () => sandbox.get("/payments?role=payer", { key: "customer" });
    expect((await asPayer()).json.meta.total).toBe(0);
    const change = { payerCompanyId, status: "OUTSTANDING" };
    await sandbox.control("PATCH", `/records/invoices/${bill?.id ?? ""}`, change);
    expect((await asPayer()).json.data.map(({ id }) => id)).toEqual([payment?.id]);
    expect((await asPayer()).json.meta.total).toBe(1);
    const nobody = await sandbox.get(`/payments/${payment?.id ?? ""}`, { key: "outsider" });
    expect(nobody.status).toBe(404);
  });

  it("a payment that was there before its invoice is seen by its parties, too", async () => {
    const payerCompanyId = (await sandbox.key("customer")).companyId;
    const id = "00000000-0000-4000-8000-000000000001";
    await sandbox.raw("payments", [{ invoiceId: id }]);
    await sandbox.raw("invoices", [{ id, payerCompanyId }]);
    expect(await total("/payments?role=payer", "customer")).toBe(1);
    await sandbox.control("PATCH", `/records/invoices/${id}`, { payerCompanyId: null });
    expect(await total("/payments?role=payer", "customer")).toBe(0);
    expect(await total("/payments")).toBe(1);
  });

  it("come in portions when there are many", async () => {
    await sandbox.raw(
      "orders",
      Array.from({ length: 2_500 }, (_, n) => ({ loadingNumber: String(n) })),
    );
    const orders = await sandbox.records("orders");
    expect(orders.map(({ loadingNumber }) => loadingNumber)).toEqual(
      Array.from({ length: 2_500 }, (_, n) => String(n)),
    );
    expect(await sandbox.records("orders", "customer")).toEqual([]);
  });
});

describe("clock, faults, mistakes", () => {
  const write = () => sandbox.post("/invoices", invoice(), { idem: "sandbox-test-key-1" });

  it("the Date of an answer is the sandbox's", async () => {
    await sandbox.advance(10 * 24 * 3600);
    const ahead = Date.parse((await sandbox.get("/orders")).headers.get("Date") ?? "") - Date.now();
    expect(ahead).toBeGreaterThan(9.9 * 24 * 3600 * 1000);
  });

  it("late commits: a retry after the hold runs before the first write arrives", async () => {
    await sandbox.read({ failingWritesCommitLateSeconds: 90 });
    await sandbox.arm({ kind: "status", status: 500, when: "after" });
    await write();
    expect(await total("/invoices")).toBe(0);
    await sandbox.advance(60);
    expect((await write()).status).toBe(201);
    expect(await total("/invoices")).toBe(1);
    await sandbox.advance(30);
    expect(await total("/invoices")).toBe(2);
  });

  it("a reset of the sandbox drops a write that is still delayed", async () => {
    await sandbox.arm({ kind: "delay", ms: 600 });
    const torn = expect(write()).rejects.toThrow();
    while ((await sandbox.requests()).length === 0) await new Promise(setImmediate);
    await sandbox.control("POST", "/reset", {});
    await torn;
    expect(await total("/invoices")).toBe(0);
  });

  it.each([
    {},
    { kind: "unknown" },
    { kind: "status" },
    { kind: "status", status: 200 },
    { kind: "delay" },
    { kind: "reset", path: "/nowhere" },
    { kind: "reset", key: "nobody" },
    { kind: "reset", times: 0 },
  ])("refuses the fault %j", async (fault) => {
    await expect(sandbox.arm(fault)).rejects.toThrow("400");
  });

  it.each([
    ["PUT", "/clock", {}, 404],
    ["GET", "/requests?since=x", undefined, 400],
  ])("%s %s %j is refused", async (method, path, body, status) => {
    await expect(sandbox.control(method, path, body)).rejects.toThrow(`: ${status} `);
  });
});

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Driver, invoice } from "./driver.suite.ts";

let sandbox: Driver;
beforeAll(async () => {
  sandbox = await Driver.start();
});
afterAll(() => sandbox.close());
beforeEach(() => sandbox.control("POST", "/reset", {}));

const total = async (path: string, key = "supplier") =>
  (await sandbox.get(path, { key })).json.meta.total;

describe("raw records", () => {
  it("take any field, and the rest by default", async () => {
    const [record] = await sandbox.raw("invoices", [
      { status: "FROZEN", surprise: { deep: [1.5] }, lineItems: [{ id: "line-1", amount: 2 }] },
    ]);
    const { companyId } = await sandbox.key("supplier");
    expect(record).toMatchObject({ companyId, status: "FROZEN", tax: 0, taxLines: [] });
    const { json } = await sandbox.get(`/invoices/${record?.id ?? ""}`);
    expect(json.data).toMatchObject({
      surprise: { deep: [1.5] },
      lineItems: [{ id: "line-1", invoiceId: record?.id, product: null }],
    });
  });

  it("change raw, and move updatedAt to now unless it is given", async () => {
    const past = "2026-01-01T00:00:00.000Z";
    const [{ id } = { id: "" }] = await sandbox.raw("orders", [
      { createdAt: past, updatedAt: past },
    ]);
    const kept = await sandbox.control("PATCH", `/records/orders/${id}`, {
      notes: "a",
      updatedAt: past,
    });
    expect(kept).toMatchObject({ id, notes: "a", updatedAt: past });
    const moved = await sandbox.control("PATCH", `/records/orders/${id}`, {
      status: null,
      id: "x",
    });
    expect(moved).toMatchObject({ id, status: null, createdAt: past });
    expect(moved.updatedAt).not.toBe(past);
  });

  it("keep what the interface does not show", async () => {
    const written = await sandbox.post("/delivery-tickets", { deliveryNotes: "gate 4", other: 1 });
    expect(written.json.data).not.toHaveProperty("deliveryNotes");
    const [ticket] = await sandbox.records("delivery-tickets");
    expect(ticket).toMatchObject({ id: written.json.data.id, deliveryNotes: "gate 4" });
    expect(ticket).not.toHaveProperty("other");
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

describe("generate", () => {
  it("adds what is asked for, paid by the customer, other records every time", async () => {
    const wanted = { orders: 3, deliveryTickets: 2, invoices: 4, rackPrices: 5 };
    for (const _ of [1, 2])
      expect(await sandbox.control("POST", "/generate", { key: "supplier", ...wanted })).toEqual(
        wanted,
      );
    expect([
      await total("/orders"),
      await total("/delivery-tickets"),
      await total("/invoices"),
      await total("/invoices?role=payer", "customer"),
      await total("/pricing/rack"),
    ]).toEqual([6, 4, 8, 8, 10]);
  });

  it("the same seed tells the same story", async () => {
    const numbers: unknown[] = [];
    for (const _ of [1, 2]) {
      await sandbox.control("POST", "/reset", {});
      await sandbox.control("POST", "/generate", { key: "supplier", invoices: 3, seed: 7 });
      const bills = await sandbox.records("invoices");
      numbers.push(bills.map(({ id, invoiceNumber, total }) => [id, invoiceNumber, total]));
    }
    expect(numbers[0]).toEqual(numbers[1]);
  });
});

describe("clock, log, tokens, mistakes", () => {
  it("the Date of an answer is the sandbox's", async () => {
    await sandbox.advance(10 * 24 * 3600);
    const ahead = Date.parse((await sandbox.get("/orders")).headers.get("Date") ?? "") - Date.now();
    expect(ahead).toBeGreaterThan(9.9 * 24 * 3600 * 1000);
  });

  it("a reset empties the log, and the sequence goes on", async () => {
    await sandbox.get("/orders?status=PAID&x=1");
    const [before] = await sandbox.requests();
    await sandbox.control("POST", "/reset", {});
    expect(await sandbox.requests()).toEqual([]);
    await sandbox.post("/invoices", invoice(), { key: "outsider", idem: null });
    const [after] = await sandbox.requests();
    expect(before).toMatchObject({
      path: "/orders",
      query: { status: "PAID", x: "1" },
      status: 400,
    });
    expect(after).toMatchObject({ key: "outsider", status: 400, idempotencyKey: null });
    expect(after?.seq).toBe((before?.seq ?? 0) + 1);
    expect(await sandbox.requests(`?since=${after?.seq ?? 0}`)).toEqual([]);
  });

  it("a token is its key's company for 15 minutes", async () => {
    const { token } = await sandbox.control<{ token: string }>("POST", "/tokens", {
      key: "supplier-test",
    });
    const call = () =>
      fetch(`${sandbox.baseUrl}/orders`, { headers: { Authorization: `Bearer ${token}` } });
    const answer = await call();
    expect([answer.status, answer.headers.get("X-SVC-Sandbox")]).toEqual([200, "true"]);
    await sandbox.advance(15 * 60);
    expect((await call()).status).toBe(401);
    const forged = `${token.slice(0, token.lastIndexOf("."))}.${"A".repeat(342)}`;
    const headers = { Authorization: `Bearer ${forged}` };
    expect((await fetch(`${sandbox.baseUrl}/orders`, { headers })).status).toBe(401);
  });

  it.each([
    ["POST", "/reset", { scenario: "nowhere" }, 400],
    ["POST", "/clock", { advanceSeconds: -1 }, 400],
    ["POST", "/clock", {}, 400],
    ["POST", "/limits", { key: "nobody" }, 400],
    ["POST", "/readings", { unheardOf: true }, 400],
    ["POST", "/records/orders", { key: "supplier" }, 400],
    ["POST", "/records/nothing", { key: "supplier", records: [] }, 404],
    ["PATCH", "/records/orders/nothing", {}, 404],
    ["GET", "/requests?since=x", undefined, 400],
    ["GET", "/nothing", undefined, 404],
    ["PUT", "/clock", {}, 404],
  ])("%s %s %j is refused", async (method, path, body, status) => {
    await expect(sandbox.control(method, path, body)).rejects.toThrow(`: ${status} `);
  });
});

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Driver, invoice } from "./driver.suite.ts";

const START = "?updatedSince=2000-01-01T00:00:00Z";
const at = (second: number): string => new Date(Date.UTC(2026, 0, 1, 12, 0, second)).toISOString();
const id = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;

let sandbox: Driver;
beforeAll(async () => {
  sandbox = await Driver.start();
});
afterAll(() => sandbox.close());
beforeEach(() => sandbox.control("POST", "/reset", {}));

/** Created 1 to 5; changed so that 4 and 2 share an instant and 1 comes last. */
const seed = () =>
  sandbox.raw("orders", [
    { id: id(1), createdAt: at(1), updatedAt: at(50) },
    { id: id(2), createdAt: at(2), updatedAt: at(20) },
    { id: id(3), createdAt: at(3), updatedAt: at(10) },
    { id: id(4), createdAt: at(4), updatedAt: at(20) },
    { id: id(5), createdAt: at(5), updatedAt: at(40) },
  ]);

describe("walks (rule P2; readings, Lists)", () => {
  it("go by updatedAt, then id, in pages that share no record", async () => {
    await seed();
    const ids = await sandbox.walk(`/orders${START}&pageSize=2`);
    expect(ids).toEqual([3, 2, 4, 5, 1].map(id));
  });

  it.each([
    [true, [2, 4, 5, 1]],
    [false, [5, 1]],
  ])("updatedSinceInclusive %s", async (updatedSinceInclusive, expected) => {
    await seed();
    await sandbox.read({ updatedSinceInclusive });
    const ids = await sandbox.walk(`/orders?updatedSince=${at(20)}&pageSize=3`);
    expect(ids).toEqual(expected.map(id));
  });

  it("walkOrder createdAtDesc", async () => {
    await seed();
    await sandbox.read({ walkOrder: "createdAtDesc" });
    expect(await sandbox.walk(`/orders${START}&pageSize=2`)).toEqual([5, 4, 3, 2, 1].map(id));
  });

  it("tell microseconds apart", async () => {
    const orders = ["100", "200"].map((micros, n) => ({
      id: id(n),
      updatedAt: `2026-01-01T00:00:00.000${micros}Z`,
    }));
    await sandbox.raw("orders", orders);
    const since = "2026-01-01T00:00:00.000150Z";
    expect(await sandbox.walk(`/orders?updatedSince=${since}`)).toEqual([id(1)]);
  });

  it("see what changes on the way, and keep their own parameters", async () => {
    await seed();
    const first = await sandbox.get(`/orders${START}&pageSize=2`);
    await sandbox.control("PATCH", `/records/orders/${id(3)}`, { notes: "changed" });
    const { nextCursor } = first.json.meta;
    const rest = await sandbox.get(`/orders?cursor=${nextCursor}&page=7&sortBy=status`);
    expect(rest.json.data.map((order) => order.id)).toEqual([4, 5].map(id));
    const last = await sandbox.get(`/orders?cursor=${rest.json.meta.nextCursor}`);
    expect(last.json.data.map((order) => order.id)).toEqual([1, 3].map(id));
    expect(last.json.meta).toMatchObject({ hasMore: false, nextCursor: null });
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

  it("a cursor that is invented, outdated, or another list's or company's is invalid", async () => {
    await seed();
    const { nextCursor } = (await sandbox.get(`/orders${START}&pageSize=2`)).json.meta;
    const answers = [
      await sandbox.get("/orders?cursor=invented"),
      await sandbox.get(`/invoices?cursor=${nextCursor}`),
      await sandbox.get(`/orders?cursor=${nextCursor}`, { key: "customer" }),
    ];
    await sandbox.advance(3_590);
    expect((await sandbox.get(`/orders?cursor=${nextCursor}`)).status).toBe(200);
    await sandbox.advance(11);
    answers.push(await sandbox.get(`/orders?cursor=${nextCursor}`));
    await sandbox.read({ cursorLifeSeconds: 1e6 });
    expect((await sandbox.get(`/orders?cursor=${nextCursor}`)).status).toBe(200);
    await sandbox.control("POST", "/reset", {});
    answers.push(await sandbox.get(`/orders?cursor=${nextCursor}`));
    for (const { status, json } of answers)
      expect([status, json.error.code]).toEqual([400, "VALIDATION_ERROR"]);
  });
});

describe("readings that change lists", () => {
  it("listsCarryLines off leaves the lines to the detail", async () => {
    await sandbox.read({ listsCarryLines: false });
    const { json } = await sandbox.post("/invoices", invoice());
    const listed = (await sandbox.get("/invoices")).json.data[0];
    expect(listed).not.toHaveProperty("lineItems");
    expect(listed).toMatchObject({ id: json.data.id, total: 100 });
    expect((await sandbox.get(`/invoices/${json.data.id}`)).json.data.lineItems).toHaveLength(1);
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

  it("externalIdBecomesErpId decides what a new party's connection says", async () => {
    const erpIds = [];
    for (const externalIdBecomesErpId of [true, false]) {
      await sandbox.read({ externalIdBecomesErpId });
      const name = `Party ${externalIdBecomesErpId}`;
      await sandbox.post("/customers", { name, externalId: "C-7" });
      erpIds.push(
        (await sandbox.get(`/connections?search=${name.toUpperCase()}`)).json.data[0]?.erpId,
      );
    }
    expect(erpIds).toEqual(["C-7", null]);
  });

  it("deduplicateInvoiceNumbers refuses a number that the company has issued", async () => {
    await sandbox.read({ deduplicateInvoiceNumbers: true });
    const statuses = [];
    for (const key of ["supplier", "supplier", "customer"])
      statuses.push((await sandbox.post("/invoices", invoice("SAME"), { key })).status);
    expect(statuses).toEqual([201, 400, 201]);
  });
});

describe("pages, filters, sorting", () => {
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

  it("a page past the end is empty, a page that is too large is refused", async () => {
    await sandbox.raw("orders", [{}, {}, {}]);
    const past = await sandbox.get("/orders?page=9&pageSize=2");
    expect(past.json).toMatchObject({
      data: [],
      meta: { total: 3, page: 9, pageSize: 2, totalPages: 2, hasMore: false },
    });
    expect((await sandbox.get("/orders?pageSize=101")).status).toBe(400);
    expect((await sandbox.get("/connections?pageSize=500")).status).toBe(200);
  });

  it("orders sort by status along the life cycle, null last", async () => {
    await sandbox.raw(
      "orders",
      ["CANCELLED", null, "DRAFT", "DELIVERED"].map((status) => ({ status })),
    );
    const sorted = async (order: string) =>
      (await sandbox.get(`/orders?sortBy=status&sortOrder=${order}`)).json.data.map(
        (o) => o.status,
      );
    expect(await sorted("asc")).toEqual(["DRAFT", "DELIVERED", "CANCELLED", null]);
    expect(await sorted("desc")).toEqual(["CANCELLED", "DELIVERED", "DRAFT", null]);
  });

  it("raw numbers keep their digits, in and out", async () => {
    const body = '{"key":"supplier","records":[{"total":1234567890123456.7890,"tax":0.10}]}';
    await fetch(`${sandbox.controlUrl}/records/invoices`, { method: "POST", body });
    const { text } = await sandbox.get("/invoices");
    expect(text).toContain('"total":1234567890123456.7890');
    expect(text).toContain('"tax":0.10');
  });
});

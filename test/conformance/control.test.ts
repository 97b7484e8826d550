/** The control interface: clock, records, generation, readings, the request log. Faults: faults.test.ts. */
import { describe, expect, it } from "vitest";
import { order, orderLine, price, terminal } from "./samples.ts";
import { idsOf, instant, resources, type Row, useSandbox } from "./support.ts";

const sandbox = useSandbox("conformance");
const { control } = sandbox;

describe("the clock", () => {
  it("starts at real time", async () => {
    const before = Date.now();
    const now = await control.now();
    expect(now).toBeGreaterThan(before - 1_000);
    expect(now).toBeLessThan(Date.now() + 1_000);
  });

  it("POST /clock moves it, by fractions too, and it runs on", async () => {
    const since = performance.now();
    const start = await control.now();
    const moved = await control.advance(3600.5);
    const passed = performance.now() - since;
    expect(moved - start).toBeGreaterThanOrEqual(3_600_500);
    expect(moved - start).toBeLessThan(3_600_500 + passed + 1_000);
    expect(await control.now()).toBeGreaterThanOrEqual(moved);
  });
});

describe("records", () => {
  const minimal: Record<string, () => Promise<Row>> = {
    "order-notes": async () => ({
      orderId: (await control.stored("orders"))[0]?.["id"],
      content: "n",
    }),
    payments: async () => ({ invoiceId: (await control.stored("invoices"))[0]?.["id"], amount: 1 }),
    "rack-prices": async () => price(),
    connections: async () => ({ toCompanyId: sandbox.company("outsider") }),
    "freight-rates": async () => ({
      connectionId: (await control.stored("connections"))[0]?.["id"],
    }),
    allocations: async () => ({
      connectionId: (await control.stored("connections"))[0]?.["id"],
      terminalId: "T",
    }),
    "supplier-terminals": async () => terminal(),
  };

  it.each(resources)(
    "POST /records/%s creates with the given fields, the rest by default",
    async (resource) => {
      const id = "20000000-0000-4000-8000-000000000001";
      const given = { ...(await minimal[resource]?.()), id };
      const answer = await control.ask("POST", `/records/${resource}`, {
        key: "supplier",
        records: [given],
      });
      expect(answer.status).toBe(201);
      expect((answer.body["records"] as Row[])[0]).toMatchObject(given);
      expect(idsOf(await control.stored(resource))).toContain(id);
    },
  );

  it("takes any field: status, timestamps, nested rows with their ids", async () => {
    const lineId = "20000000-0000-4000-8000-000000000002";
    const fields = { status: "IN_TRANSIT", createdAt: instant(1), updatedAt: instant(2) };
    const [row] = await control.records("orders", [
      { ...fields, lines: [{ ...orderLine(), id: lineId }] },
    ]);
    const { data } = await sandbox.get(`/orders/${String(row?.["id"])}`);
    expect(data).toMatchObject(fields);
    expect((data["lines"] as Row[])[0]?.["id"]).toBe(lineId);
  });

  it("checks nothing: a status the contract does not know is served as it is", async () => {
    const [row] = await control.records("orders", [{ status: "TELEPORTED" }]);
    const { data } = await sandbox.get(`/orders/${String(row?.["id"])}`);
    expect(data["status"]).toBe("TELEPORTED");
  });

  it("belongs to the company of the key", async () => {
    const [row] = await control.records("orders", [{}], "customer");
    for (const [as, status] of [
      ["customer", 200],
      ["supplier", 404],
    ] as const)
      expect((await sandbox.get(`/orders/${String(row?.["id"])}`, { as })).status).toBe(status);
  });

  it("PATCH changes raw fields and moves updatedAt unless it is given", async () => {
    const [row] = await control.records("orders", [{ updatedAt: instant(1) }]);
    const moved = await control.patch("orders", row?.["id"], { status: "INVOICED" });
    expect(moved).toMatchObject({ id: row?.["id"], status: "INVOICED" });
    expect(String(moved["updatedAt"]) > instant(1)).toBe(true);
    const kept = await control.patch("orders", row?.["id"], { updatedAt: instant(5) });
    expect(kept["updatedAt"]).toBe(instant(5));
  });

  it("GET /records/{resource} tells every one, with a key those of its company", async () => {
    await control.records("orders", [{}], "customer");
    const all = await control.stored("orders");
    expect(await control.stored("orders", "customer")).toHaveLength(1);
    expect(await control.stored("orders", "supplier")).toHaveLength(all.length - 1);
  });

  it.each([
    ["POST", "/records/nothing", { key: "supplier", records: [] }],
    ["GET", "/records/nothing", undefined],
    ["GET", "/nothing", undefined],
    ["PATCH", "/records/orders/20000000-0000-4000-8000-00000000ffff", {}],
  ] as const)("%s %s is 404 {error}", async (method, path, body) => {
    const answer = await control.ask(method, path, body);
    expect(answer.status).toBe(404);
    expect(answer.body["error"]).toBeTypeOf("string");
  });
});

const content = async () => {
  await control.reset("empty");
  await control.generate({ key: "supplier", invoices: 5, seed: 7 });
  return (await control.stored("invoices")).map((row) => [row["invoiceNumber"], row["total"]]);
};

describe("POST /generate", () => {
  it("creates that many and answers the numbers", async () => {
    await control.reset("empty");
    const asked = { orders: 12, deliveryTickets: 9, invoices: 7, rackPrices: 5 };
    expect(await control.generate({ key: "supplier", ...asked, seed: 1 })).toMatchObject(asked);
    for (const [resource, count] of [
      ["orders", 12],
      ["delivery-tickets", 9],
      ["invoices", 7],
      ["rack-prices", 5],
    ] as const)
      expect(await control.stored(resource, "supplier")).toHaveLength(count);
  });

  it("updatedAt is spread over the last 30 days", async () => {
    await control.reset("empty");
    await control.generate({ key: "supplier", orders: 50 });
    const now = await control.now();
    const ages = (await control.stored("orders")).map(
      (row) => (now - Date.parse(String(row["updatedAt"]))) / 86_400_000,
    );
    expect(Math.min(...ages)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...ages)).toBeLessThanOrEqual(30.1);
    expect(Math.max(...ages) - Math.min(...ages)).toBeGreaterThan(10);
  });

  it("seed fixes all but times; invoices are paid by customer", async () => {
    expect(await content()).toEqual(await content());
    for (const row of await control.stored("invoices"))
      expect(row["payerCompanyId"]).toBe(sandbox.company("customer"));
  });
});

describe("readings", () => {
  const defaults = {
    updatedSinceInclusive: true,
    walkOrder: "updatedAt",
    listsCarryLines: true,
    cursorLifeSeconds: 3600,
    cursorsNeverEnd: false,
    externalIdBecomesErpId: true,
    failingWritesCommitLateSeconds: 0,
    readLagSeconds: 0,
    deduplicateInvoiceNumbers: false,
    supplierConnectionRuns: "fromUs",
    createdInvoiceStatus: "OUTSTANDING",
    numbersWritten: "plain",
    lateCommitSeconds: 0,
    replayShown: true,
    connectionSearch: "partner",
    invoiceNumbersKept: "asSent",
    emptyPages: false,
    pageSizeMost: null,
    timesWritten: "utc",
    idsWritten: "small",
    bulkPrices: "all",
  };

  it("GET /readings tells all of them; POST answers all of them", async () => {
    expect((await control.ask("GET", "/readings")).body).toEqual(defaults);
    expect(await control.readings({ readLagSeconds: 5 })).toEqual({
      ...defaults,
      readLagSeconds: 5,
    });
  });

  it("failingWritesCommitLateSeconds: a write that failed takes place later after all", async () => {
    await control.reset("empty");
    await control.readings({ failingWritesCommitLateSeconds: 20 });
    await control.fault({ kind: "status", status: 500, when: "after" });
    expect((await sandbox.post("/orders", order())).status).toBe(500);
    expect((await sandbox.get("/orders")).rows).toHaveLength(0);
    await control.advance(21);
    expect((await sandbox.get("/orders")).rows).toHaveLength(1);
  });
});

describe("GET /requests", () => {
  it("tells seq, at, key, method, path, query, idempotencyKey, status, replayed, fault, bodyHash", async () => {
    const key = "one-and-the-same-key";
    await sandbox.post("/orders", order(), { key });
    await sandbox.post("/orders", order(), { key });
    await sandbox.get("/orders?status=POSTED");
    const [first, second, third] = await control.requests();
    expect(first).toMatchObject({
      key: "supplier",
      method: "POST",
      path: "/orders",
      idempotencyKey: key,
      status: 201,
      replayed: false,
      fault: null,
    });
    expect(second).toMatchObject({ status: 201, replayed: true });
    expect(second?.["bodyHash"]).toBe(first?.["bodyHash"]);
    expect(third).toMatchObject({ method: "GET", path: "/orders", query: { status: "POSTED" } });
    expect(Number(first?.["seq"])).toBeLessThan(Number(second?.["seq"]));
    expect(Date.parse(String(first?.["at"]))).not.toBeNaN();
  });

  it("since is exclusive; method and path narrow it", async () => {
    await sandbox.get("/orders");
    await sandbox.get("/invoices");
    await sandbox.post("/orders", order());
    const all = await control.requests();
    expect(all).toHaveLength(3);
    expect(await control.requests(`?since=${String(all[0]?.["seq"])}`)).toEqual(all.slice(1));
    expect(await control.requests("?method=POST")).toEqual(all.slice(2));
    expect(await control.requests("?path=/orders")).toEqual([all[0], all[2]]);
  });

  it("refused requests are logged, control requests are not", async () => {
    await control.now();
    await sandbox.get("/orders", { as: null });
    await control.limits({ key: "supplier", perMinute: 0 });
    await sandbox.get("/orders");
    await sandbox.post("/orders", order(), { as: "supplier-read-only" });
    expect((await control.requests()).map((row) => row["status"])).toEqual([401, 429, 403]);
  });

  it("a torn connection has no status, and names its fault", async () => {
    await control.fault({ kind: "reset" });
    await expect(sandbox.get("/orders")).rejects.toThrow();
    expect(await control.requests()).toMatchObject([{ status: null, fault: "reset" }]);
  });

  it("a reset empties it, and seq goes on", async () => {
    await sandbox.get("/orders");
    const [before] = await control.requests();
    await control.reset();
    expect(await control.requests()).toEqual([]);
    await sandbox.get("/orders");
    const [after] = await control.requests();
    expect(Number(after?.["seq"])).toBeGreaterThan(Number(before?.["seq"]));
  });
});

describe("bad control requests", () => {
  it.each([
    ["/clock", { advanceSeconds: -1 }],
    ["/clock", { advanceSeconds: "1" }],
    ["/clock", { advanceSeconds: null }],
    ["/clock", {}],
    ["/records/orders", { key: "supplier" }],
    ["/records/orders", { records: [{}] }],
    ["/records/orders", { key: "supplier", records: "x" }],
    ["/readings", { walkOrder: "random" }],
    ["/readings", { readLagSeconds: -1 }],
    ["/readings", { listsCarryLines: "no" }],
    ["/limits", { key: "supplier", perMinute: -1 }],
    ["/limits", { key: "supplier", monthlyCap: "many" }],
    ["/limits", { perMinute: 1 }],
    ["/limits", { key: "nobody" }],
    ["/readings", { unheardOf: true }],
    ["/tokens", {}],
    ["/faults", { kind: "explode" }],
    ["/faults", {}],
    ["/generate", { key: "supplier", orders: -1 }],
  ])("POST %s %j is 400 {error}", async (path, body) => {
    const answer = await control.ask("POST", path, body);
    expect(answer.status).toBe(400);
    expect(answer.body["error"]).toBeTypeOf("string");
  });

  it.each([
    ["/tokens", { key: "nobody" }],
    ["/generate", { key: "nobody", orders: 1 }],
    ["/reset", { scenario: "nothing" }],
  ])("POST %s %j is 400 or 404 {error}", async (path, body) => {
    const answer = await control.ask("POST", path, body);
    expect([400, 404]).toContain(answer.status);
    expect(answer.body["error"]).toBeTypeOf("string");
  });
});

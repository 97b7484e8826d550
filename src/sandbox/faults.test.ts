import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Driver, invoice } from "./driver.suite.ts";

const KEY = "faults-test-key-0001";

describe("faults", () => {
  let sandbox: Driver;
  beforeAll(async () => {
    sandbox = await Driver.start();
  });
  afterAll(() => sandbox.close());
  beforeEach(() => sandbox.control("POST", "/reset", {}));

  const write = () => sandbox.post("/invoices", invoice(), { idem: KEY });
  const count = async () => (await sandbox.records("invoices")).length;

  it("a status before the write leaves nothing, one after leaves the record", async () => {
    await sandbox.arm({ kind: "status", status: 400, retryAfter: 7 });
    const before = await write();
    expect([before.status, before.headers.get("Retry-After"), await count()]).toEqual([
      400,
      "7",
      0,
    ]);
    await sandbox.arm({ kind: "status", status: 418, when: "after", code: "TEAPOT" });
    const after = await write();
    expect([after.status, after.json.error.code, await count()]).toEqual([418, "TEAPOT", 1]);
    expect(after.headers.get("RateLimit-Limit")).toBe("600");
  });

  it("a reset before leaves the key free, one after leaves the success", async () => {
    await sandbox.arm({ kind: "reset", when: "before" });
    await expect(write()).rejects.toThrow();
    expect(await count()).toBe(0);
    await sandbox.arm({ kind: "reset", when: "after" });
    await expect(write()).rejects.toThrow();
    const again = await write();
    expect([again.status, again.headers.get("Idempotency-Replayed")]).toEqual([201, "true"]);
    expect(await count()).toBe(1);
    expect((await sandbox.requests()).map(({ status, fault }) => [status, fault])).toEqual([
      [null, "reset"],
      [null, "reset"],
      [201, null],
    ]);
  });

  it("truncate cuts the body, garbage is no JSON; both writes stand", async () => {
    await sandbox.arm({ kind: "truncate" });
    await expect(write()).rejects.toThrow();
    expect((await write()).headers.get("Idempotency-Replayed")).toBe("true");
    await sandbox.arm({ kind: "garbage", path: "/invoices" });
    const garbage = await sandbox.post("/invoices", invoice("B"), { idem: `${KEY}-b` });
    expect([garbage.status, garbage.json]).toEqual([200, null]);
    const replay = await sandbox.post("/invoices", invoice("B"), { idem: `${KEY}-b` });
    expect([replay.status, replay.json.data.invoiceNumber]).toEqual([201, "B"]);
    expect(await count()).toBe(2);
  });

  it("a delayed write goes on when its client leaves", async () => {
    await sandbox.arm({ kind: "delay", ms: 50 });
    const { key } = await sandbox.key("supplier");
    const leaving = fetch(`${sandbox.baseUrl}/invoices`, {
      method: "POST",
      headers: { "X-API-Key": key, "Idempotency-Key": KEY, "Content-Type": "application/json" },
      body: JSON.stringify(invoice()),
      signal: AbortSignal.timeout(20),
    });
    await expect(leaving).rejects.toThrow();
    while ((await count()) === 0) await new Promise(setImmediate);
    expect((await write()).headers.get("Idempotency-Replayed")).toBe("true");
  });

  it("cursor waits for a request that carries one", async () => {
    await sandbox.raw("orders", [{}, {}]);
    await sandbox.arm({ kind: "cursor", path: "/orders" });
    const start = await sandbox.get("/orders?updatedSince=2000-01-01T00:00:00Z&pageSize=1");
    expect(start.status).toBe(200);
    const next = `/orders?cursor=${start.json.meta.nextCursor}`;
    expect((await sandbox.get(next)).json.error.code).toBe("VALIDATION_ERROR");
    expect((await sandbox.get(next)).status).toBe(200);
  });

  it("the oldest fault that matches is used up, as often as it says", async () => {
    await sandbox.arm({ kind: "status", status: 503, path: "/orders", times: 2 });
    await sandbox.arm({ kind: "status", status: 502, method: "GET" });
    await sandbox.arm({ kind: "status", status: 500, key: "customer" });
    const statuses: number[] = [];
    for (const path of ["/invoices", "/orders", "/orders", "/orders"])
      statuses.push((await sandbox.get(path)).status);
    statuses.push((await sandbox.get("/orders", { key: "customer" })).status);
    expect(statuses).toEqual([502, 503, 503, 200, 500]);
  });

  it("what is refused or replayed anyway uses none up", async () => {
    await write();
    await sandbox.arm({ kind: "status", status: 500 });
    await write();
    await sandbox.get("/orders", { headers: { "X-API-Key": "nobody" } });
    await sandbox.post("/invoices", invoice(), { idem: null });
    await sandbox.post("/invoices", invoice(), { key: "supplier-read-only" });
    const { faults } = await sandbox.control<{ faults: unknown[] }>("GET", "/faults");
    expect(faults).toHaveLength(1);
    await sandbox.control("DELETE", "/faults");
    expect((await sandbox.get("/orders")).status).toBe(200);
  });

  it("a reset of the sandbox drops a write that is still delayed", async () => {
    await sandbox.arm({ kind: "delay", ms: 60 });
    const torn = expect(write()).rejects.toThrow();
    while ((await sandbox.requests()).length === 0) await new Promise(setImmediate);
    await sandbox.control("POST", "/reset", {});
    await torn;
    expect(await count()).toBe(0);
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
});

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Driver, invoice } from "./driver.suite.ts";

describe("limits (specification parts 7 and 8)", () => {
  let sandbox: Driver;
  beforeAll(async () => {
    sandbox = await Driver.start();
  });
  afterAll(() => sandbox.close());
  beforeEach(() => sandbox.control("POST", "/reset", {}));

  const limit = (limits: object) =>
    sandbox.control("POST", "/limits", { key: "supplier", ...limits });

  it("counts down within a window of a minute by the sandbox's clock", async () => {
    await limit({ perMinute: 2 });
    const answers = [];
    for (let at = 0; at < 3; at++) answers.push(await sandbox.get("/orders"));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(answers.map(({ headers }) => headers.get("RateLimit-Remaining"))).toEqual([
      "1",
      "0",
      "0",
    ]);
    const [, , refused] = answers;
    expect(refused?.json.error).toMatchObject({ code: "RATE_LIMIT_EXCEEDED", kind: "burst" });
    expect(refused?.headers.get("RateLimit-Policy")).toBe("2;w=60");
    expect(refused?.headers.get("Retry-After")).toBe(String(refused?.json.error.retryAfterSec));
    expect((await sandbox.get("/orders", { key: "customer" })).status).toBe(200);
    await sandbox.advance(60);
    expect((await sandbox.get("/orders")).status).toBe(200);
  });

  it("0 refuses everything, and a change counts at once what was used", async () => {
    await sandbox.get("/orders");
    await limit({ perMinute: 1 });
    expect((await sandbox.get("/orders")).status).toBe(429);
    await limit({ perMinute: 2 });
    expect((await sandbox.get("/orders")).status).toBe(200);
    await limit({ perMinute: 0 });
    await sandbox.advance(3600);
    expect((await sandbox.get("/orders")).status).toBe(429);
  });

  it("the cap counts what is billed, by the calendar month", async () => {
    await limit({ monthlyCap: 2 });
    const idem = "limits-test-key-0001";
    await sandbox.post("/invoices", invoice(), { idem });
    await sandbox.post("/invoices", invoice(), { idem });
    await sandbox.post("/invoices", {});
    expect((await sandbox.get("/orders")).status).toBe(200);
    const refused = await sandbox.get("/orders");
    expect(refused.json.error).toMatchObject({ code: "MONTHLY_CAP_EXCEEDED", kind: "quota" });
    const resetAt = String(refused.json.error.resetAt);
    expect(resetAt).toMatch(/-01T00:00:00\.000Z$/);
    await sandbox.advance(Number(refused.json.error.retryAfterSec) + 1);
    expect((await sandbox.get("/orders")).status).toBe(200);
  });

  it("401 comes with the default limit's headers and counts for nobody", async () => {
    const { status, headers } = await sandbox.get("/orders", { headers: { "X-API-Key": "x" } });
    expect([status, headers.get("RateLimit-Limit"), headers.get("RateLimit-Remaining")]).toEqual([
      401,
      "600",
      "600",
    ]);
  });
});

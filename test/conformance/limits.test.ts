/** Part 7's rate-limit errors, part 8, and the readings about limits. */
import { describe, expect, it } from "vitest";
import { nowhere, order } from "./samples.ts";
import { type Answer, refused, times, useSandbox } from "./support.ts";

const sandbox = useSandbox();
const { control } = sandbox;

const names = ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset", "ratelimit-policy"];
const header = (answer: Answer, name: string): number => Number(answer.headers.get(name));
const remaining = (answer: Answer): number => header(answer, "ratelimit-remaining");
const tooFast = refused(429, "RATE_LIMIT_EXCEEDED");
const monthSpent = refused(429, "MONTHLY_CAP_EXCEEDED");

function hasHeaders(answer: Answer): void {
  for (const name of names.slice(0, 3)) expect(answer.headers.get(name), name).toMatch(/^\d+$/);
  expect(answer.headers.get("ratelimit-policy")).toMatch(/^\d+;w=60$/);
}

describe("RateLimit headers", () => {
  it("are on every response", async () => {
    const answers = [
      await sandbox.get("/orders"),
      await sandbox.post("/orders", order()),
      await sandbox.post("/orders", {}),
      await sandbox.get(`/orders/${nowhere}`),
      await sandbox.get("/nothing"),
      await sandbox.get("/orders", { as: "supplier-blocked-ip" }),
      await sandbox.post("/orders", order(), { key: null }),
      await sandbox.get("/orders/4711"),
      await sandbox.post("/orders", undefined, {
        raw: "{",
        headers: { "content-type": "application/json" },
      }),
      await sandbox.post("/orders", undefined, {
        raw: "{}",
        headers: { "content-type": "text/plain" },
      }),
    ];
    for (const answer of answers) hasHeaders(answer);
  });

  it("are on a replay, and on a response a fault gives", async () => {
    const key = "one-and-the-same-key";
    await sandbox.post("/orders", order(), { key });
    hasHeaders(await sandbox.post("/orders", order(), { key }));
    await control.fault({ kind: "status", status: 503 });
    hasHeaders(await sandbox.get("/orders"));
  });

  it("reading: a 401 carries the default limit's", async () => {
    const answer = await sandbox.get("/orders", { as: null });
    hasHeaders(answer);
    expect(header(answer, "ratelimit-limit")).toBe(600);
  });

  it("600 requests per minute per key, policy window 60 seconds", async () => {
    const answer = await sandbox.get("/orders");
    expect(header(answer, "ratelimit-limit")).toBe(600);
    expect(answer.headers.get("ratelimit-policy")).toBe("600;w=60");
  });

  it("RateLimit-Remaining counts down", async () => {
    const first = remaining(await sandbox.get("/orders"));
    expect(first).toBe(599);
    expect(remaining(await sandbox.get("/orders"))).toBe(first - 1);
  });

  it("RateLimit-Reset tells the seconds until the window resets", async () => {
    const first = header(await sandbox.get("/orders"), "ratelimit-reset");
    expect(first).toBeGreaterThan(0);
    expect(first).toBeLessThanOrEqual(60);
    await control.advance(first + 1);
    expect(remaining(await sandbox.get("/orders"))).toBe(599);
  });

  it("tell the limit of the key", async () => {
    await control.limits({ key: "supplier", perMinute: 7 });
    const answer = await sandbox.get("/orders");
    expect(header(answer, "ratelimit-limit")).toBe(7);
    expect(answer.headers.get("ratelimit-policy")).toBe("7;w=60");
  });
});

const exceed = async (): Promise<Answer> => {
  await control.limits({ key: "supplier", perMinute: 2 });
  await sandbox.get("/orders");
  await sandbox.get("/orders");
  return sandbox.get("/orders");
};

describe("429 RATE_LIMIT_EXCEEDED", () => {
  it("the request over the limit", async () => {
    expect(await exceed()).toMatchObject(tooFast);
  });

  it("at the default limit: the 601st of a minute", async () => {
    const answers = await Promise.all(times(600, () => sandbox.get("/pricing/rack?pageSize=1")));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(await sandbox.get("/orders")).toMatchObject(tooFast);
  });

  it("has retryAfterSec, an integer, and kind burst; reading: resetAt too", async () => {
    const { error } = await exceed();
    expect(Number.isInteger(error["retryAfterSec"])).toBe(true);
    expect(error).toMatchObject({ kind: "burst" });
    expect(error).toHaveProperty("resetAt");
  });

  it("has Retry-After and RateLimit headers, remaining 0", async () => {
    const answer = await exceed();
    hasHeaders(answer);
    expect(remaining(answer)).toBe(0);
    expect(header(answer, "retry-after")).toBeGreaterThan(0);
    expect(header(answer, "retry-after")).toBeLessThanOrEqual(60);
    expect(answer.error["retryAfterSec"]).toBe(header(answer, "retry-after"));
  });

  it("ends when Retry-After has passed", async () => {
    await control.advance(header(await exceed(), "retry-after"));
    expect((await sandbox.get("/orders")).status).toBe(200);
  });

  it("holds for reads and writes alike, and writes nothing", async () => {
    await exceed();
    expect(await sandbox.post("/orders", order())).toMatchObject(tooFast);
    expect(await control.stored("orders")).toHaveLength(0);
  });

  it("is per key: another key of the company goes on", async () => {
    await exceed();
    expect((await sandbox.get("/orders", { as: "supplier-read-only" })).status).toBe(200);
  });

  it("an answer below 429 carries no Retry-After", async () => {
    expect((await sandbox.get("/orders")).headers.get("retry-after")).toBeNull();
  });
});

const spend = async (cap: number): Promise<void> => {
  await control.limits({ key: "supplier", monthlyCap: cap });
  for (let n = 0; n < cap; n++) expect((await sandbox.get("/orders")).status).toBe(200);
};

describe("429 MONTHLY_CAP_EXCEEDED", () => {
  it("the request over the cap", async () => {
    await spend(4);
    expect(await sandbox.get("/orders")).toMatchObject(monthSpent);
    expect(await sandbox.post("/orders", order())).toMatchObject(monthSpent);
  });

  it("has kind quota, retryAfterSec and resetAt", async () => {
    await spend(0);
    const { error, headers } = await sandbox.get("/orders");
    expect(error).toMatchObject({ kind: "quota" });
    expect(Number.isInteger(error["retryAfterSec"])).toBe(true);
    expect(headers.get("retry-after")).toMatch(/^\d+$/);
    expect(error).toHaveProperty("resetAt");
  });

  it("reading: the month is the calendar month, UTC: the wait ends on the first", async () => {
    const now = new Date(await control.now());
    const next = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);
    await spend(1);
    const { error } = await sandbox.get("/orders");
    const end = (await control.now()) + Number(error["retryAfterSec"]) * 1000;
    expect(Math.abs(end - next)).toBeLessThan(60_000);
  });

  it("the next month serves again", async () => {
    await spend(1);
    await control.advance(31 * 24 * 60 * 60);
    expect((await sandbox.get("/orders")).status).toBe(200);
  });

  it("reading: answers of 400 and more are not billable", async () => {
    await control.limits({ key: "supplier", monthlyCap: 1 });
    for (let n = 0; n < 3; n++) {
      expect((await sandbox.get(`/orders/${nowhere}`)).status).toBe(404);
      expect((await sandbox.post("/orders", {})).status).toBe(400);
    }
    expect((await sandbox.get("/orders")).status).toBe(200);
    expect((await sandbox.get("/orders")).status).toBe(429);
  });

  it("reading: replays are not billable", async () => {
    await control.limits({ key: "supplier", monthlyCap: 2 });
    const key = "one-and-the-same-key";
    for (let n = 0; n < 4; n++)
      expect((await sandbox.post("/orders", order(), { key })).status).toBe(201);
    expect((await sandbox.get("/orders")).status).toBe(200);
    expect((await sandbox.get("/orders")).status).toBe(429);
  });

  it("reading: per key", async () => {
    await spend(1);
    expect((await sandbox.get("/orders", { as: "supplier-pricing-only" })).status).toBe(200);
  });
});

describe("POST /limits", () => {
  it("answers the limits; defaults are 600 and 50,000", async () => {
    expect(await control.limits({ key: "supplier" })).toMatchObject({
      perMinute: 600,
      monthlyCap: 50_000,
    });
    expect(await control.limits({ key: "supplier", perMinute: 5 })).toMatchObject({
      perMinute: 5,
      monthlyCap: 50_000,
    });
  });

  it("what was used counts", async () => {
    for (let n = 0; n < 3; n++) await sandbox.get("/orders");
    await control.limits({ key: "supplier", perMinute: 3 });
    expect(await sandbox.get("/orders")).toMatchObject(tooFast);
    await control.limits({ key: "supplier", perMinute: 600, monthlyCap: 3 });
    expect(await sandbox.get("/orders")).toMatchObject(monthSpent);
  });

  it.each(["perMinute", "monthlyCap"])("%s 0 refuses everything", async (limit) => {
    await control.limits({ key: "supplier", [limit]: 0 });
    expect((await sandbox.get("/orders")).status).toBe(429);
  });

  it.each([
    { key: "supplier", perMinute: -1 },
    { key: "supplier", monthlyCap: "many" },
    { perMinute: 1 },
  ])("400 {error} to %j", async (body) => {
    const answer = await control.ask("POST", "/limits", body);
    expect(answer.status).toBe(400);
    expect(answer.body["error"]).toBeTypeOf("string");
  });
});

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

const unread = (raw: string, type: string): Promise<Answer> =>
  sandbox.post("/orders", undefined, { raw, headers: { "content-type": type } });

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
      ...(await Promise.all([unread("{", "application/json"), unread("{}", "text/plain")])),
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

  it("600 requests per minute per key, policy window 60 seconds; RateLimit-Remaining counts down", async () => {
    const answer = await sandbox.get("/orders");
    expect(header(answer, "ratelimit-limit")).toBe(600);
    expect(answer.headers.get("ratelimit-policy")).toBe("600;w=60");
    expect([remaining(answer), remaining(await sandbox.get("/orders"))]).toEqual([599, 598]);
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
  it("at the default limit: the 601st of a minute", async () => {
    const answers = await Promise.all(times(600, () => sandbox.get("/pricing/rack?pageSize=1")));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(await sandbox.get("/orders")).toMatchObject(tooFast);
  });

  it("has retryAfterSec, kind burst, Retry-After and RateLimit headers, remaining 0; reading: resetAt too; and ends then", async () => {
    const answer = await exceed();
    expect(answer).toMatchObject(tooFast);
    expect(answer.error).toMatchObject({
      kind: "burst",
      retryAfterSec: header(answer, "retry-after"),
    });
    expect(answer.error).toHaveProperty("resetAt");
    hasHeaders(answer);
    expect(remaining(answer)).toBe(0);
    expect(answer.headers.get("retry-after")).toMatch(/^(?:[1-9]|[1-5]\d|60)$/);
    await control.advance(header(answer, "retry-after"));
    const next = await sandbox.get("/orders");
    expect([next.status, next.headers.get("retry-after")]).toEqual([200, null]);
  });

  it("holds for reads and writes alike, and writes nothing; another key of the company goes on", async () => {
    await exceed();
    expect(await sandbox.post("/orders", order())).toMatchObject(tooFast);
    expect(await control.stored("orders")).toHaveLength(0);
    expect((await sandbox.get("/orders", { as: "supplier-read-only" })).status).toBe(200);
  });
});

const spend = async (cap: number): Promise<void> => {
  await control.limits({ key: "supplier", monthlyCap: cap });
  for (let n = 0; n < cap; n++) expect((await sandbox.get("/orders")).status).toBe(200);
};

describe("429 MONTHLY_CAP_EXCEEDED", () => {
  it("the request over the cap; has kind quota, retryAfterSec and resetAt; reading: per key", async () => {
    await spend(4);
    const { error, headers, ...answer } = await sandbox.get("/orders");
    expect(answer).toMatchObject(monthSpent);
    expect(await sandbox.post("/orders", order())).toMatchObject(monthSpent);
    expect(error).toMatchObject({ kind: "quota" });
    expect(Number.isInteger(error["retryAfterSec"])).toBe(true);
    expect(headers.get("retry-after")).toMatch(/^\d+$/);
    expect(error).toHaveProperty("resetAt");
    expect((await sandbox.get("/orders", { as: "supplier-pricing-only" })).status).toBe(200);
  });

  it("reading: the month is the calendar month, UTC: the wait ends on the first, and the next month serves again", async () => {
    const now = new Date(await control.now());
    const next = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);
    await spend(1);
    const { error } = await sandbox.get("/orders");
    const end = (await control.now()) + Number(error["retryAfterSec"]) * 1000;
    expect(Math.abs(end - next)).toBeLessThan(60_000);
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
});

describe("POST /limits", () => {
  it("answers the limits; defaults are 600 and 50,000", async () => {
    const monthlyCap = 50_000;
    for (const [more, perMinute] of [
      [{}, 600],
      [{ perMinute: 5 }, 5],
    ] as const)
      expect(await control.limits({ key: "supplier", ...more })).toMatchObject({
        perMinute,
        monthlyCap,
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
});

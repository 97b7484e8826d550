import { request as send } from "node:http";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Driver } from "./driver.suite.ts";

let sandbox: Driver;
beforeAll(async () => {
  sandbox = await Driver.start();
});
beforeEach(() => sandbox.control("POST", "/reset", {}));
afterAll(() => sandbox.close());

describe("the page", () => {
  it("is one document that knows the control interface and loads nothing from elsewhere", async () => {
    const answer = await fetch(new URL("/", sandbox.baseUrl));
    const html = await answer.text();
    expect([answer.status, answer.headers.get("Content-Type")]).toEqual([
      200,
      "text/html; charset=utf-8",
    ]);
    expect(html).toContain(`data-control="${new URL(sandbox.controlUrl).pathname}"`);
    expect(html).not.toMatch(/\bsrc=|@import|url\(|https?:/);
    expect(html).not.toMatch(/innerHTML|insertAdjacentHTML|document\.write/);
    expect(answer.headers.get("Content-Security-Policy")).toMatch(/^default-src 'none';/);
    expect(await sandbox.requests()).toEqual([]);
  });

  it("GET /state tells what the page shows", async () => {
    await sandbox.raw("orders", [{}, {}]);
    await sandbox.get("/orders");
    const state = await sandbox.control("GET", "/state");
    expect(state).toMatchObject({
      scenario: "empty",
      records: { orders: 2, payments: 0 },
      faults: [],
    });
    expect(state.limits).toContainEqual({
      key: "supplier",
      perMinute: 600,
      minuteUsed: 1,
      monthlyCap: 50_000,
      monthUsed: 1,
    });
    await sandbox.get("/invoices");
    const [last] = await sandbox.requests("?last=1");
    expect(last).toMatchObject({ path: "/invoices", status: 200 });
  });
});

describe("the control interface and browsers", () => {
  const status = (headers: Record<string, string>, method = "POST", path = "/__sandbox__/clock") =>
    new Promise<number | undefined>((resolve, reject) => {
      const request = send(new URL(path, sandbox.baseUrl), { method, headers }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
      request.on("error", reject);
      request.end(method === "POST" ? '{"advanceSeconds":0}' : "");
    });
  const { origin, port } = {
    origin: () => new URL(sandbox.baseUrl).origin,
    port: () => new URL(sandbox.baseUrl).port,
  };

  it("lets in programs and the page", async () => {
    const own = { "Sec-Fetch-Site": "same-origin", Origin: origin() };
    for (const headers of [{}, own, { "Sec-Fetch-Site": "none" }, { Host: `localhost:${port()}` }])
      expect(await status(headers)).toBe(200);
  });

  it.each([
    { "Sec-Fetch-Site": "cross-site" },
    { "Sec-Fetch-Site": "same-site" },
    { Origin: "https://elsewhere.example" },
    { Origin: "http://127.0.0.1:1" },
    { Origin: "null" },
    { Host: "elsewhere.example" },
    { Host: "127.0.0.1.elsewhere.example:80" },
  ])("refuses %j", async (headers) => {
    expect(await status(headers)).toBe(403);
    expect(await status(headers, "GET", "/__sandbox__/keys")).toBe(403);
  });
});

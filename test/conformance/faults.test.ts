/** The faults of the control interface: what the client sees, and what became of the write. */
import { describe, expect, it } from "vitest";
import { invoice, order } from "./samples.ts";
import { type Answer, invalid, refused, type Row, useSandbox } from "./support.ts";

const sandbox = useSandbox();
const { control } = sandbox;

const key = "one-and-the-same-key";
const send = (): Promise<Answer> => sandbox.post("/orders", order(), { key });
const written = async (): Promise<number> => (await control.stored("orders")).length;
const replayed = (answer: Answer): boolean => answer.headers.get("idempotency-replayed") === "true";

describe("arming", () => {
  it("POST /faults answers 201 {id}, GET tells them, DELETE disarms them all", async () => {
    const answer = await control.ask("POST", "/faults", { kind: "status", status: 500 });
    expect(answer.status).toBe(201);
    expect(answer.body["id"]).toBeDefined();
    expect(await control.faults()).toMatchObject([{ kind: "status", status: 500 }]);
    expect((await control.ask("DELETE", "/faults")).status).toBeLessThan(300);
    expect(await control.faults()).toEqual([]);
    expect((await sandbox.get("/orders")).status).toBe(200);
  });

  it("method narrows it", async () => {
    await control.fault({ kind: "status", status: 500, method: "POST" });
    expect((await sandbox.get("/orders")).status).toBe(200);
    expect((await send()).status).toBe(500);
  });

  it("path is a route as the specification writes it", async () => {
    const [record] = await control.records("invoices", [{ status: "OUTSTANDING" }]);
    await control.fault({ kind: "status", status: 500, path: "/invoices/{id}/mark-paid" });
    expect((await sandbox.get("/invoices")).status).toBe(200);
    expect((await sandbox.get(`/invoices/${String(record?.["id"])}`)).status).toBe(200);
    expect((await sandbox.put(`/invoices/${String(record?.["id"])}/mark-paid`, {})).status).toBe(
      500,
    );
  });
});

describe("a request that is refused, replayed or held uses none up", () => {
  it.each<[number, string, () => Promise<Answer>]>([
    [401, "no credentials", () => sandbox.get("/orders", { as: null })],
    [403, "no scope", () => sandbox.post("/orders", order(), { as: "supplier-read-only" })],
    [400, "no key", () => sandbox.post("/orders", order(), { key: null })],
    [429, "too fast", () => sandbox.get("/orders", { as: "customer" })],
  ])("refused: %i, %s", async (status, _why, call) => {
    await control.limits({ key: "customer", perMinute: 0 });
    await control.fault({ kind: "status", status: 500 });
    expect((await call()).status).toBe(status);
    expect(await control.faults()).toHaveLength(1);
  });
});

describe("status", () => {
  it.each([
    [400, "VALIDATION_ERROR"],
    [401, "INVALID_API_KEY"],
    [403, "INSUFFICIENT_SCOPE"],
    [404, "NOT_FOUND"],
    [429, "RATE_LIMIT_EXCEEDED"],
    [504, "REQUEST_TIMEOUT"],
  ])("%i comes in the error envelope, by default with %s", async (status, code) => {
    await control.fault({ kind: "status", status });
    expect(await sandbox.get("/orders")).toMatchObject(refused(status, code));
  });

  it.each([409, 410, 418, 500, 502, 503])("%i comes in the error envelope", async (status) => {
    await control.fault({ kind: "status", status });
    const answer = await sandbox.get("/orders");
    expect(answer).toMatchObject(refused(status, String(answer.error["code"])));
  });

  it("code and retryAfter are those of the fault", async () => {
    const fault = { status: 429, code: "MONTHLY_CAP_EXCEEDED", retryAfter: 7 };
    await control.fault({ kind: "status", ...fault });
    const answer = await sandbox.get("/orders");
    expect(answer).toMatchObject(refused(429, "MONTHLY_CAP_EXCEEDED"));
    expect(answer.headers.get("retry-after")).toBe("7");
  });

  it("counts, carries the RateLimit headers, and is named in the request log", async () => {
    await control.fault({ kind: "status", status: 500 });
    for (const remaining of ["599", "598"])
      expect((await sandbox.get("/orders")).headers.get("ratelimit-remaining")).toBe(remaining);
    expect((await control.requests()).map((row) => row["fault"])).toEqual(["status", null]);
  });
});

it("reset: on a read", async () => {
  await control.fault({ kind: "reset" });
  await expect(sandbox.get("/orders")).rejects.toThrow();
  expect((await sandbox.get("/orders")).status).toBe(200);
});

describe("delay", () => {
  it("the answer comes late", async () => {
    await control.fault({ kind: "delay", ms: 120 });
    const start = performance.now();
    expect((await sandbox.get("/orders")).status).toBe(200);
    expect(performance.now() - start).toBeGreaterThanOrEqual(115);
  });

  it("other requests go on meanwhile", async () => {
    await control.fault({ kind: "delay", ms: 1_000, path: "/invoices" });
    const ended: string[] = [];
    const get = async (path: string) => {
      await sandbox.get(path);
      ended.push(path);
    };
    await Promise.all([get("/invoices"), get("/orders")]);
    expect(ended).toEqual(["/orders", "/invoices"]);
  });

  it("waits before the write, and the write goes on when the client leaves", async () => {
    await control.fault({ kind: "delay", ms: 150 });
    const leaving = new AbortController();
    const call = sandbox.post("/orders", order(), { key, signal: leaving.signal });
    while ((await control.faults()).length > 0);
    expect(await written()).toBe(0);
    leaving.abort();
    await expect(call).rejects.toThrow();
    while ((await written()) === 0);
    expect(replayed(await send())).toBe(true);
    expect(await written()).toBe(1);
  });
});

const read = async (): Promise<Response> => {
  const headers = { "x-api-key": sandbox.secret("supplier") };
  const response = await fetch(`${sandbox.urls().baseUrl}/orders`, { headers });
  expect(response.status).toBe(200);
  return response;
};

it("truncate: headers and half of the body, then the connection is torn down", async () => {
  await control.fault({ kind: "truncate" });
  await expect((await read()).text()).rejects.toThrow();
});

it("garbage: 200 with a body that is not JSON", async () => {
  await control.fault({ kind: "garbage" });
  const text = await (await read()).text();
  expect(() => JSON.parse(text) as unknown).toThrow(SyntaxError);
});

it("cursor: waits for a request that carries a cursor and answers it 400 VALIDATION_ERROR", async () => {
  await control.records("orders", [{}, {}, {}]);
  await control.fault({ kind: "cursor" });
  const { status, meta } = await sandbox.get(
    "/orders?updatedSince=2020-01-01T00:00:00Z&pageSize=1",
  );
  expect(status).toBe(200);
  const next = `/orders?cursor=${String(meta.nextCursor)}`;
  expect(await sandbox.get(next)).toMatchObject(invalid);
  expect((await sandbox.get(next)).status).toBe(200);
});

describe("twice", () => {
  it("the request is carried out as if it came twice; the client sees the second answer, a replay", async () => {
    await control.fault({ kind: "twice" });
    const answer = await send();
    expect(answer.status).toBe(201);
    expect(replayed(answer)).toBe(true);
    expect(await written()).toBe(1);
    expect(await control.requests()).toMatchObject([{ fault: "twice", replayed: true }]);
  });

  it("a request that is refused is refused again, and a read is answered", async () => {
    await control.fault({ kind: "twice", times: 2 });
    expect(await sandbox.post("/orders", {}, { key })).toMatchObject(invalid);
    expect((await sandbox.get("/orders")).status).toBe(200);
    expect(await control.faults()).toEqual([]);
  });

  it("reading switched: replayShown false: a replay does not say that it is one", async () => {
    await control.readings({ replayShown: false });
    const { data } = await send();
    const again = await send();
    expect(replayed(again)).toBe(false);
    expect(again.data).toEqual(data);
  });
});

describe("held", () => {
  const bulk = (price: number): Row => ({ prices: [{ terminalId: "H", product: "ULSD", price }] });
  const post = (price: number, key: string): Promise<Answer> =>
    sandbox.post("/pricing/bulk/rack", bulk(price), { key });
  const price = async (): Promise<unknown> => (await control.stored("rack-prices"))[0]?.["price"];

  it("the connection is torn; the request is carried out so much later", async () => {
    await control.fault({ kind: "held", seconds: 60 });
    await expect(send()).rejects.toThrow();
    expect(await written()).toBe(0);
    await control.advance(61);
    expect(await written()).toBe(1);
    expect(replayed(await send())).toBe(true);
    expect(await control.requests()).toMatchObject([
      { status: null, fault: "held" },
      { status: 201, replayed: false },
      { replayed: true },
    ]);
  });

  it("a late one changes nothing where its key is on record, and everything where it is not", async () => {
    await control.fault({ kind: "held", seconds: 60, times: 2 });
    await expect(post(1, key)).rejects.toThrow();
    await expect(post(2, "another-key-for-that")).rejects.toThrow();
    await post(1, key);
    await post(3, "and-the-newest-prices");
    expect(await price()).toBe(3);
    await control.advance(61);
    expect(await price()).toBe(2);
  });

  it("a read that is held is gone", async () => {
    await control.fault({ kind: "held", seconds: 1 });
    await expect(sandbox.get("/orders")).rejects.toThrow();
    expect((await sandbox.get("/orders")).status).toBe(200);
  });
});

describe("nothing is lost or doubled", () => {
  const faults: Row[] = [
    { kind: "reset", when: "before" },
    { kind: "reset", when: "after" },
    { kind: "truncate" },
    { kind: "garbage" },
    { kind: "status", status: 429 },
    { kind: "delay", ms: 20 },
    { kind: "twice" },
    { kind: "held", seconds: 0 },
  ];

  it.each(faults)("an invoice sent again under its key after %j is there once", async (fault) => {
    const body = invoice();
    await control.fault(fault);
    await sandbox.post("/invoices", body, { key }).catch(() => undefined);
    expect((await sandbox.post("/invoices", body, { key })).status).toBe(201);
    expect(await control.stored("invoices")).toHaveLength(1);
  });
});

import nock from "nock";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { clientFor, clientOptions, counting, usePlatform } from "../../test/platform/support.ts";
import type { Governor } from "../core/budget.ts";
import { EnvironmentError } from "../core/errors.ts";
import { openClient, type PlatformRequest } from "./client.ts";

const read = { method: "GET", path: "/invoices?pageSize=1", purpose: "poll" } as const;
const write: PlatformRequest = {
  method: "POST",
  path: "/invoices",
  purpose: "write",
  body: '{"total":1.10}',
  idempotencyKey: "fb1_test_0123456789abcdef",
};

// It stands in for platforms that a sandbox cannot be; where it is not needed, sockets are real.
nock.restore();

describe("a platform that misbehaves", () => {
  const host = "http://platform.test";
  beforeEach(() => nock.activate());
  afterEach(() => {
    nock.cleanAll();
    nock.restore();
  });

  test.each([301, 302, 303, 307, 308])(
    "%i is reported, never followed, and no second host sees a header",
    async (status) => {
      const second = nock("http://elsewhere.test");
      second.get(/.*/).reply(200).post(/.*/).reply(200);
      const at = { Location: "http://elsewhere.test/v1/public/invoices" };
      nock(host).get("/v1/public/invoices?pageSize=1").reply(status, "", at);
      nock(host).post("/v1/public/invoices").reply(status, "", at);
      const client = clientFor();
      expect(await client.exchange(read)).toMatchObject({ kind: "answer", status });
      expect(await client.exchange(write)).toMatchObject({ kind: "answer", status });
      expect(second.pendingMocks()).toHaveLength(2);
    },
  );

  test.each([
    ["bearer", { authorization: "Bearer svc_live_a-key-for-tests" }, "x-api-key"],
    ["x-api-key", { "x-api-key": "svc_live_a-key-for-tests" }, "authorization"],
  ] as const)(
    "the key goes as %s and no other way; nothing packed is asked for",
    async (auth, reqheaders, not) => {
      nock(host, {
        reqheaders: {
          ...reqheaders,
          "accept-encoding": "identity",
          "user-agent": "fuelbridge/0.0.0-test",
        },
        badheaders: [not, "idempotency-key", "content-type"],
      })
        .get("/v1/public/invoices?pageSize=1")
        .reply(200, "{}");
      expect(await clientFor({ auth }).exchange(read)).toMatchObject({ status: 200 });
    },
  );

  test("a write carries its key, and says what it is", async () => {
    const reqheaders = {
      "idempotency-key": "fb1_test_0123456789abcdef",
      "content-type": "application/json",
    };
    nock(host, { reqheaders }).post("/v1/public/invoices").reply(201, "{}");
    expect(await clientFor().exchange(write)).toMatchObject({ status: 201 });
  });

  test("an address with a slash at its end is the same address", async () => {
    nock(host).get("/v1/public/invoices?pageSize=1").reply(200, "{}");
    const client = clientFor({ url: `${host}/v1/public/` });
    expect(await client.exchange(read)).toMatchObject({ status: 200 });
  });

  test("8 MiB are read, more is not", async () => {
    const most = 8 * 1024 * 1024;
    nock(host).get("/v1/public/invoices?pageSize=1").reply(200, "x".repeat(most));
    nock(host)
      .get("/v1/public/invoices?pageSize=1")
      .reply(200, "x".repeat(most + 1));
    const client = clientFor();
    expect(await client.exchange(read)).toMatchObject({ kind: "answer", status: 200 });
    expect(await client.exchange(read)).toEqual({
      kind: "torn",
      detail: "TOO_LARGE: the answer is larger than 8388608 bytes",
    });
  });

  test("what is packed all the same is not unpacked", async () => {
    const packed = Buffer.from("1f8b0800000000000003ab56ca", "hex");
    nock(host)
      .get("/v1/public/invoices?pageSize=1")
      .reply(200, packed, { "Content-Encoding": "gzip" });
    const answer = await clientFor().exchange(read);
    expect(answer).toMatchObject({ kind: "answer", text: packed.toString("utf8") });
  });

  test("a redirect or a refusal without X-SVC-Sandbox proves no mix-up: the key was not looked at", async () => {
    const client = clientFor({ environment: "test" });
    for (const status of [302, 401, 403, 429, 502]) {
      nock(host).get("/v1/public/invoices?pageSize=1").reply(status, "");
      expect(await client.exchange(read), String(status)).toMatchObject({ kind: "answer", status });
    }
  });

  test("after a mix-up nothing more is sent, and the client closes", async () => {
    const answers = nock(host).get("/v1/public/invoices?pageSize=1");
    answers.reply(200, "x".repeat(1_000_000), { "X-SVC-Sandbox": "true" });
    const { governor, counts } = counting();
    const client = openClient(clientOptions({ governor }));
    await expect(client.exchange(read)).rejects.toThrow(EnvironmentError);
    await expect(client.exchange(write)).rejects.toThrow(EnvironmentError);
    await expect(client.exchange(read)).rejects.toThrow(EnvironmentError);
    expect(counts()).toEqual({ poll: 1 });
    await client.close();
  });

  test("what the governor does not admit is not sent, and says how long to wait", async () => {
    const asked = nock(host).post("/v1/public/invoices").reply(201, "{}");
    const governor: Governor = {
      admit: async (purpose) => ({ admitted: false, waitMs: 42_000, detail: `no ${purpose}` }),
      learn: () => {},
    };
    const client = clientFor({ governor });
    const held = { kind: "held", detail: "no write", waitMs: 42_000 };
    expect(await client.exchange(write)).toEqual(held);
    expect(await client.download(write, "application/pdf")).toEqual(held);
    expect(asked.isDone()).toBe(false);
  });

  test("the governor learns the head of every answer, success or not", async () => {
    const learnt: unknown[] = [];
    const governor: Governor = {
      admit: async () => ({ admitted: true }),
      learn: (headers, status) => void learnt.push([headers["ratelimit-remaining"], status]),
    };
    const client = clientFor({ governor });
    for (const status of [200, 429, 503]) {
      const left = { "RateLimit-Remaining": String(status) };
      nock(host).get("/v1/public/invoices?pageSize=1").reply(status, "{}", left);
      await client.exchange(read);
    }
    expect(learnt).toEqual([
      ["200", 200],
      ["429", 429],
      ["503", 503],
    ]);
  });
});

describe("a platform that cannot be reached", () => {
  test.each([
    ["nobody listens", "http://127.0.0.1:1/v1/public", "ECONNREFUSED"],
    ["the name is unknown", "http://platform.invalid/v1/public", ""],
  ])("%s: nothing was sent", async (_, url, code) => {
    const answer = await clientFor({ url }).exchange(write);
    expect(answer).toEqual({
      kind: "not-sent",
      detail: expect.stringContaining(code) as string,
    });
  });
});

describe("against the sandbox", () => {
  const platform = usePlatform("conformance");
  const { control } = platform;
  const invoice =
    '{"invoiceNumber":"C-1","subtotal":1.10,"total":1.10,"lineItems":[{"description":"d","amount":1.10}]}';
  const send = { ...write, body: invoice };
  const stored = async () =>
    (await control.stored("invoices", "supplier")).filter((one) => one["invoiceNumber"] === "C-1");

  test("TLS where none is spoken: nothing was sent", async () => {
    const url = platform.urls().baseUrl.replace("http:", "https:");
    expect(await platform.client({ url }).exchange(write)).toMatchObject({ kind: "not-sent" });
    expect(await control.requests()).toEqual([]);
  });

  test.each(["bearer", "x-api-key"] as const)("the key is taken as %s", async (auth) => {
    const client = platform.client({ auth });
    expect(await client.exchange(read)).toMatchObject({ status: 200 });
    expect(await client.exchange(send)).toMatchObject({ status: 201 });
    expect(await control.requests()).toMatchObject([
      { key: "supplier", method: "GET", path: "/invoices" },
      { key: "supplier", idempotencyKey: "fb1_test_0123456789abcdef" },
    ]);
  });

  test.each([
    ["reset", { kind: "reset", when: "before" }, 0],
    ["reset", { kind: "reset", when: "after" }, 1],
    ["cut off in the middle", { kind: "truncate" }, 1],
  ])(
    "a connection %s is torn, whether the write was carried out or not: %j",
    async (_, fault, count) => {
      await control.fault({ ...fault, method: "POST" });
      const answer = await platform.client().exchange(send);
      expect(answer).toMatchObject({ kind: "torn" });
      expect(await stored()).toHaveLength(count);
    },
  );

  test("an answer that is no JSON is handed on as it is", async () => {
    await control.fault({ kind: "garbage" });
    const answer = await platform.client().exchange(read);
    expect(answer).toMatchObject({ kind: "answer", status: 200 });
    expect(answer).toMatchObject({ text: expect.stringContaining("<html>") as string });
  });

  test("a live daemon stops at the first answer for a test key", async () => {
    const client = platform.client({ environment: "live" }, "supplier-test");
    await expect(client.exchange(read)).rejects.toThrow(/answered for a test key/);
    await expect(client.exchange(send)).rejects.toThrow(EnvironmentError);
    expect(await control.requests("?method=POST")).toEqual([]);
  });

  test("a test daemon stops at the first answer for a live key", async () => {
    const client = platform.client({ environment: "test" }, "supplier");
    await expect(client.exchange(read)).rejects.toThrow(/answered for a live key/);
    await expect(client.exchange(send)).rejects.toThrow(EnvironmentError);
    expect(await control.requests("?method=POST")).toEqual([]);
  });

  test("a test daemon with a test key works", async () => {
    const client = platform.client({ environment: "test" }, "supplier-test");
    expect(await client.exchange(send)).toMatchObject({ status: 201 });
    expect(await stored()).toEqual([]);
  });

  test("the bytes arrive as they were given", async () => {
    await platform.client().exchange(send);
    expect((await control.ask("GET", "/records/invoices")).text).toContain('"total":1.10');
  });

  test("every request is counted with its purpose, whatever comes of it", async () => {
    const { governor, counts } = counting();
    const endpoint = platform.endpoint({ governor });
    const client = platform.client({ governor });
    await endpoint.check(new AbortController().signal);
    await control.fault({ kind: "reset", method: "POST" });
    await client.exchange(send);
    await client.exchange(send);
    await client.exchange({ ...read, purpose: "detail" });
    expect(counts()).toEqual({ check: 1, write: 2, detail: 1 });
    expect(await control.requests()).toHaveLength(4);
  });
});

/** Part 5, part 1 convention 6, and the readings about access. */
import { Buffer } from "node:buffer";
import { describe, expect, it } from "vitest";
import type { Operation } from "../../src/platform/contract/operation.ts";
import { operations } from "../../src/platform/contract/operations.ts";
import {
  freight,
  freightRate,
  invoice,
  nowhere,
  order,
  party,
  prices,
  terminal,
  ticket,
} from "./samples.ts";
import { forbidden, idsOf, refused, type Row, useSandbox } from "./support.ts";

const sandbox = useSandbox();
const { control } = sandbox;

const unauthorised = refused(401, "INVALID_API_KEY");
const bearer = (token: string) => ({ as: null, headers: { authorization: `Bearer ${token}` } });
const part = (token: string, at: number): Row =>
  JSON.parse(Buffer.from(token.split(".")[at] ?? "", "base64url").toString()) as Row;

describe("credentials", () => {
  it.each<[string, () => Promise<Record<string, string>>]>([
    ["an API key in X-API-Key", async () => ({ "x-api-key": sandbox.secret("supplier") })],
    ["as a Bearer token", async () => ({ authorization: `Bearer ${sandbox.secret("supplier")}` })],
    ["in any case", async () => ({ authorization: `bearer ${sandbox.secret("supplier")}` })],
    [
      "an access token",
      async () => ({ authorization: `Bearer ${await control.token("supplier")}` }),
    ],
  ])("%s: writes and reads work identically", async (_what, credentials) => {
    const options = { as: null, headers: await credentials() };
    const { status, data } = await sandbox.post("/orders", order(), options);
    expect(status).toBe(201);
    expect(idsOf((await sandbox.get("/orders", options)).rows)).toEqual([data["id"]]);
    expect(idsOf((await sandbox.get("/orders")).rows)).toEqual([data["id"]]);
  });

  it("missing: 401 INVALID_API_KEY", async () => {
    expect(await sandbox.get("/orders", { as: null })).toMatchObject(unauthorised);
  });

  it.each(["svc_live_wrong", "", "x", "svc_test_"])('invalid X-API-Key "%s": 401', async (key) => {
    const headers = { "x-api-key": key };
    expect(await sandbox.get("/orders", { as: null, headers })).toMatchObject(unauthorised);
  });

  it.each(["Bearer wrong", "Bearer", "Basic dXNlcjpwYXNz", "Bearer a.b.c"])(
    'invalid Authorization "%s": 401',
    async (authorization) => {
      const answer = await sandbox.get("/orders", { as: null, headers: { authorization } });
      expect(answer).toMatchObject(unauthorised);
    },
  );

  it("reading: with two credentials X-API-Key counts", async () => {
    const headers = { authorization: `Bearer ${sandbox.secret("outsider")}` };
    await sandbox.post("/orders", order());
    expect((await sandbox.get("/orders", { headers })).rows).toHaveLength(1);
    const wrong = {
      "x-api-key": "svc_live_wrong",
      authorization: `Bearer ${sandbox.secret("supplier")}`,
    };
    expect((await sandbox.get("/orders", { as: null, headers: wrong })).status).toBe(401);
  });

  it("every operation needs them: an unknown record is 401, not 404", async () => {
    expect((await sandbox.get(`/orders/${nowhere}`, { as: null })).status).toBe(401);
  });
});

const forge = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

describe("access tokens", () => {
  it("are RS256 JWTs with a lifetime of 15 minutes", async () => {
    const token = await control.token("supplier");
    const { iat, exp } = part(token, 1);
    expect(part(token, 0)).toMatchObject({ alg: "RS256" });
    expect(Number(exp) - Number(iat)).toBe(900);
  });

  it("serve until then, and are 401 after it", async () => {
    const token = await control.token("supplier");
    await control.advance(890);
    expect((await sandbox.get("/orders", bearer(token))).status).toBe(200);
    await control.advance(15);
    expect(await sandbox.get("/orders", bearer(token))).toMatchObject(unauthorised);
  });

  it("are 401 when they were changed", async () => {
    const [head = "", payload = "", signature = ""] = (await control.token("supplier")).split(".");
    const longer = forge({ ...JSON.parse(Buffer.from(payload, "base64url").toString()), exp: 9e9 });
    const none = forge({ alg: "none", typ: "JWT" });
    const forged = [
      `${head}.${longer}.${signature}`,
      `${none}.${payload}.`,
      `${head}.${payload}.`,
      `${head}.${payload}.${signature.slice(0, -4)}AAAA`,
    ];
    for (const token of forged)
      expect(await sandbox.get("/orders", bearer(token))).toMatchObject(unauthorised);
  });

  it("carry the scopes of their key", async () => {
    const token = await control.token("supplier-read-only");
    expect(await sandbox.post("/orders", order(), bearer(token))).toMatchObject(forbidden);
  });
});

describe("keys", () => {
  it("live keys start with svc_live_, sandbox keys with svc_test_", async () => {
    for (const { key, sandbox: test } of await control.keys())
      expect(key).toMatch(test ? /^svc_test_./ : /^svc_live_./);
  });

  it("convention 6: answers to a test key carry X-SVC-Sandbox: true, others do not", async () => {
    for (const [as, shown] of [
      ["supplier-test", "true"],
      ["supplier", null],
      [null, null],
    ] as const)
      for (const path of ["/orders", `/orders/${nowhere}`])
        expect((await sandbox.get(path, { as })).headers.get("x-svc-sandbox")).toBe(shown);
  });

  it("convention 6: a test key reads and changes no live data", async () => {
    const { data } = await sandbox.post("/orders", order());
    const as = "supplier-test";
    expect((await sandbox.get("/orders", { as })).rows).toEqual([]);
    await sandbox.post("/orders", order(), { as });
    expect(idsOf((await sandbox.get("/orders")).rows)).toEqual([data["id"]]);
  });

  it("convention 6: a test key has its own monthly cap", async () => {
    await control.limits({ key: "supplier", monthlyCap: 0 });
    expect((await sandbox.get("/orders")).status).toBe(429);
    expect((await sandbox.get("/orders", { as: "supplier-test" })).status).toBe(200);
  });
});

const writes = async (): Promise<[Parameters<typeof sandbox.call>[0], string, unknown][]> => {
  const connection = String((await control.stored("connections"))[0]?.["id"]);
  const pathOf = async (resource: string, fields: Row = {}): Promise<string> =>
    `/${resource}/${String((await control.records(resource, [fields]))[0]?.["id"])}`;
  const anOrder = await pathOf("orders");
  const aTicket = await pathOf("delivery-tickets");
  const rate = await pathOf("freight-rates", { connectionId: connection });
  const anInvoice = await pathOf("invoices", { status: "OUTSTANDING" });
  return [
    ["POST", "/orders", order()],
    ["PUT", anOrder, {}],
    ["POST", `${anOrder}/notes`, { content: "n" }],
    ["POST", "/delivery-tickets", ticket()],
    ["PUT", aTicket, {}],
    ["POST", `${aTicket}/sign`, { receiverName: "R" }],
    ["POST", "/invoices", invoice()],
    ["PUT", `${anInvoice}/mark-paid`, {}],
    ["POST", "/pricing/bulk/rack", prices()],
    ["POST", `/connections/${connection}/freight-rates`, freightRate(connection)],
    ["PUT", rate, {}],
    ["DELETE", rate, undefined],
    ["POST", "/customers", party()],
    ["POST", "/suppliers", party()],
    ["PUT", await pathOf("locations", { name: "Yard" }), {}],
    ["POST", "/supplier-terminals", terminal()],
    ["PUT", await pathOf("supplier-terminals", terminal()), {}],
  ];
};

describe("scopes", () => {
  it.each([
    [
      "reading: supplier-read-only gets 403 INSUFFICIENT_SCOPE on every write",
      "supplier-read-only",
      /^$/,
    ],
    [
      "reading: supplier-pricing-only on every write but pricing",
      "supplier-pricing-only",
      /pricing/,
    ],
    ["a key with all scopes on none", "supplier", /./],
  ])("%s", async (_sentence, as, may) => {
    for (const [method, path, body] of await writes()) {
      const answer = await sandbox.call(method, path, body, { as });
      if (may.test(path))
        expect(answer.status, `${method} ${path}: ${answer.text}`).toBeLessThan(300);
      else expect(answer, `${method} ${path}`).toMatchObject(forbidden);
    }
  });

  it("reading: reading needs no scope, and calculating freight neither", async () => {
    const lists = Object.values<Operation>(operations).filter(
      ({ method, path }) => method === "GET" && !path.includes("{id}"),
    );
    for (const as of ["supplier-read-only", "supplier-pricing-only"])
      for (const { path } of lists)
        expect((await sandbox.get(path, { as })).status, `${as} ${path}`).toBe(200);
    const as = "supplier-pricing-only";
    expect((await sandbox.post("/pricing/freight-calculate", freight(), { as })).status).toBe(200);
  });

  it("a refused write writes nothing", async () => {
    await sandbox.post("/orders", order(), { as: "supplier-read-only" });
    expect(await control.stored("orders")).toHaveLength(0);
  });

  it("an IP allowlist without the caller: 403 INSUFFICIENT_SCOPE, on reads too", async () => {
    const as = "supplier-blocked-ip";
    expect(await sandbox.get("/orders", { as })).toMatchObject(forbidden);
    expect(await sandbox.post("/orders", order(), { as })).toMatchObject(forbidden);
  });
});

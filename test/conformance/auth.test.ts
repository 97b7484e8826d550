/** Part 5, part 1 convention 6, and the readings about access. */
import { Buffer } from "node:buffer";
import { describe, expect, it } from "vitest";
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
  it("an API key in X-API-Key", async () => {
    expect((await sandbox.get("/orders")).status).toBe(200);
  });

  it("an API key as a Bearer token: both work identically", async () => {
    const { data } = await sandbox.post("/orders", order());
    const answer = await sandbox.get("/orders", bearer(sandbox.secret("supplier")));
    expect(idsOf(answer.rows)).toEqual([data["id"]]);
  });

  it("an access token as a Bearer token", async () => {
    const { data } = await sandbox.post("/orders", order());
    const answer = await sandbox.get("/orders", bearer(await control.token("supplier")));
    expect(idsOf(answer.rows)).toEqual([data["id"]]);
  });

  it("the scheme's name is written in any case", async () => {
    const headers = { authorization: `bearer ${sandbox.secret("supplier")}` };
    expect((await sandbox.get("/orders", { as: null, headers })).status).toBe(200);
  });

  it("a write works with either", async () => {
    const answer = await sandbox.post("/orders", order(), bearer(await control.token("supplier")));
    expect(answer.status).toBe(201);
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

  it("convention 6: answers to a test key carry X-SVC-Sandbox: true", async () => {
    const read = await sandbox.get("/orders", { as: "supplier-test" });
    const bad = await sandbox.get(`/orders/${nowhere}`, { as: "supplier-test" });
    expect(read.headers.get("x-svc-sandbox")).toBe("true");
    expect(bad.headers.get("x-svc-sandbox")).toBe("true");
  });

  it("answers to a live key, and to none, do not", async () => {
    expect((await sandbox.get("/orders")).headers.get("x-svc-sandbox")).toBeNull();
    expect((await sandbox.get("/orders", { as: null })).headers.get("x-svc-sandbox")).toBeNull();
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

const id = (row: Row | undefined) => String(row?.["id"]);

const writes = async (): Promise<[string, string, unknown, string][]> => {
  const connection = String((await control.stored("connections"))[0]?.["id"]);
  const [o] = await control.records("orders", [{}]);
  const [t] = await control.records("delivery-tickets", [{}]);
  const [i] = await control.records("invoices", [{ status: "OUTSTANDING" }]);
  const [r] = await control.records("freight-rates", [{ connectionId: connection }]);
  const [l] = await control.records("locations", [{ name: "Yard" }]);
  const [s] = await control.records("supplier-terminals", [terminal()]);
  return [
    ["POST", "/orders", order(), "orders"],
    ["PUT", `/orders/${id(o)}`, {}, "orders"],
    ["POST", `/orders/${id(o)}/notes`, { content: "n" }, "orders"],
    ["POST", "/delivery-tickets", ticket(), "tickets"],
    ["PUT", `/delivery-tickets/${id(t)}`, {}, "tickets"],
    ["POST", `/delivery-tickets/${id(t)}/sign`, { receiverName: "R" }, "tickets"],
    ["POST", "/invoices", invoice(), "invoices"],
    ["PUT", `/invoices/${id(i)}/mark-paid`, {}, "invoices"],
    ["POST", "/pricing/bulk/rack", prices(), "pricing"],
    ["POST", `/connections/${connection}/freight-rates`, freightRate(connection), "freight"],
    ["PUT", `/freight-rates/${id(r)}`, {}, "freight"],
    ["DELETE", `/freight-rates/${id(r)}`, undefined, "freight"],
    ["POST", "/customers", party(), "parties"],
    ["POST", "/suppliers", party(), "parties"],
    ["PUT", `/locations/${id(l)}`, {}, "locations"],
    ["POST", "/supplier-terminals", terminal(), "terminals"],
    ["PUT", `/supplier-terminals/${id(s)}`, {}, "terminals"],
  ];
};

describe("scopes", () => {
  it("reading: supplier-read-only gets 403 INSUFFICIENT_SCOPE on every write", async () => {
    for (const [method, path, body] of await writes()) {
      const answer = await sandbox.call(method as "POST", path, body, { as: "supplier-read-only" });
      expect(answer, `${method} ${path}`).toMatchObject(forbidden);
    }
  });

  it("reading: supplier-pricing-only gets 403 on every write but pricing", async () => {
    for (const [method, path, body, group] of await writes()) {
      const answer = await sandbox.call(method as "POST", path, body, {
        as: "supplier-pricing-only",
      });
      if (group === "pricing") expect(answer.status, path).toBe(200);
      else expect(answer, `${method} ${path}`).toMatchObject(forbidden);
    }
  });

  it("a key with all scopes may do every one of them", async () => {
    for (const [method, path, body] of await writes()) {
      const { status, text } = await sandbox.call(method as "POST", path, body);
      expect(status, `${method} ${path}: ${text}`).toBeLessThan(300);
    }
  });

  it("reading: reading needs no scope", async () => {
    for (const as of ["supplier-read-only", "supplier-pricing-only"])
      for (const path of [
        "/orders",
        "/invoices",
        "/delivery-tickets",
        "/payments",
        "/pricing/rack",
        "/connections",
        "/locations",
        "/supplier-terminals",
        "/allocations",
      ])
        expect((await sandbox.get(path, { as })).status, `${as} ${path}`).toBe(200);
  });

  it("a pricing key calculates freight", async () => {
    const answer = await sandbox.post("/pricing/freight-calculate", freight(), {
      as: "supplier-pricing-only",
    });
    expect(answer.status).toBe(200);
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

/** Part 1, conventions 2 to 4, and part 7: the frames around every answer. */
import { describe, expect, it } from "vitest";
import type { Operation } from "../../src/platform/contract/operation.ts";
import { operations } from "../../src/platform/contract/operations.ts";
import * as bodies from "./samples.ts";
import { nowhere, order } from "./samples.ts";
import { chars, invalid, notFound, type Row, useSandbox } from "./support.ts";

const sandbox = useSandbox("conformance");

const lists = Object.values<Operation>(operations).filter(({ pageSize }) => pageSize);

describe("success", () => {
  it("a single answer is {success: true, data}", async () => {
    const { body } = await sandbox.get(`/companies/${sandbox.company("supplier")}/profile`);
    expect(Object.keys(body).toSorted()).toEqual(["data", "success"]);
    expect(body["success"]).toBe(true);
  });

  it.each(lists.map(({ path }) => path))(
    "GET %s is {success: true, data: [..], meta}",
    async (path) => {
      const { body, meta } = await sandbox.get(path);
      expect(Object.keys(body).toSorted()).toEqual(["data", "meta", "success"]);
      expect(body).toMatchObject({ success: true, data: expect.any(Array) as unknown });
      for (const name of ["total", "page", "pageSize", "totalPages"] as const)
        expect(Number.isInteger(meta[name]), name).toBe(true);
      expect(meta.hasMore).toBe(false);
    },
  );

  it.each(["/allocations", "/pricing/terminal/HOU-1"])(
    "GET %s has no meta: data is the whole array",
    async (path) => {
      await sandbox.post("/pricing/bulk/rack", {
        prices: [{ terminalId: "HOU-1", product: "ULSD", price: 2 }],
      });
      const { body } = await sandbox.get(path);
      expect(Object.keys(body).toSorted()).toEqual(["data", "success"]);
    },
  );

  it("convention 1: the same paths answer without /public, in JSON, and a write is the same write", async () => {
    const base = sandbox.urls().baseUrl.replace(/\/public$/, "");
    expect(base).toMatch(/\/v1$/);
    const [inside, outside] = [
      await sandbox.get("/orders"),
      await sandbox.get("/orders", { base }),
    ];
    expect(outside.status).toBe(200);
    expect(outside.headers.get("content-type")).toMatch(/^application\/json/);
    expect(outside.rows).toEqual(inside.rows);
    const key = "one-order-two-roots";
    const first = await sandbox.post("/orders", order(), { key });
    const second = await sandbox.post("/orders", order(), { key, base });
    expect(second.headers.get("idempotency-replayed")).toBe("true");
    expect(second.data).toEqual(first.data);
  });
});

describe("errors", () => {
  it("an error is {success: false, error: {code, message, details?}}", async () => {
    const { body, error } = await sandbox.get(`/orders/${nowhere}`);
    expect(Object.keys(body).toSorted()).toEqual(["error", "success"]);
    expect(error).toMatchObject({ code: "NOT_FOUND", message: expect.any(String) as string });
  });

  it("details is an object when it is there", async () => {
    const { error } = await sandbox.post("/orders", {});
    if (error["details"] !== undefined) expect(error["details"]).toBeTypeOf("object");
  });

  const withId = Object.values(operations).filter(
    (operation) => operation.path.includes("{id}") && !("textId" in operation),
  );
  it.each(withId.map(({ method, path }) => [method, path] as const))(
    "400 VALIDATION_ERROR: %s %s with an id that is no UUID",
    async (method, path) => {
      const body = method === "GET" || method === "DELETE" ? undefined : {};
      expect(await sandbox.call(method, path.replace("{id}", "4711"), body)).toMatchObject(invalid);
    },
  );

  it.each(["[]", '"text"', "1", "null", "{", "{'lines': []}", "", '{"lines":"none"}'])(
    "400 VALIDATION_ERROR: %s is neither an order nor a partial update of one",
    async (raw) => {
      const [record] = await sandbox.control.stored("orders", "supplier");
      const body = { raw, headers: { "content-type": "application/json" } };
      const path = `/orders/${String(record?.["id"])}`;
      expect(await sandbox.post("/orders", undefined, body)).toMatchObject(invalid);
      expect(await sandbox.put(path, undefined, body)).toMatchObject(invalid);
    },
  );

  it("404 NOT_FOUND: a path the contract does not know", async () => {
    expect(await sandbox.get("/nothing")).toMatchObject(notFound);
  });

  it.each([
    ["PATCH", "/orders"],
    ["DELETE", "/orders"],
    ["PUT", "/invoices"],
    ["POST", "/allocations"],
  ] as const)("reading: an unknown method is 404, %s %s", async (method, path) => {
    expect(await sandbox.call(method, path, {})).toMatchObject({
      status: 404,
      body: { success: false },
    });
  });

  it.each([
    ["another content type is 415", "text/plain", 415],
    ["one with a charset is JSON all the same", "application/json; charset=utf-8", 201],
  ])("reading: %s", async (_sentence, type, status) => {
    const sent = { raw: JSON.stringify(order()), headers: { "content-type": type } };
    const answer = await sandbox.post("/orders", undefined, sent);
    expect(answer).toMatchObject({ status, body: { success: status === 201 } });
  });

  it("reading: a body over 256 kB is 413; just under, it passes, for unknown fields are ignored", async () => {
    const answer = await sandbox.post("/orders", order({ padding: chars(256 * 1024) }));
    expect(answer).toMatchObject({ status: 413, body: { success: false } });
    expect((await sandbox.post("/orders", order({ padding: chars(250_000) }))).status).toBe(201);
  });
});

describe("reading: unknown body fields are ignored", () => {
  it.each<[string, Row]>([
    ["/orders", bodies.order()],
    ["/delivery-tickets", bodies.ticket()],
    ["/invoices", bodies.invoice()],
    ["/pricing/bulk/rack", bodies.prices()],
    ["/pricing/freight-calculate", bodies.freight()],
    ["/customers", bodies.party()],
    ["/supplier-terminals", bodies.terminal()],
  ])("POST %s", async (path, body) => {
    expect((await sandbox.post(path, { ...body, costCentre: "7" })).status).toBeLessThan(300);
  });
});

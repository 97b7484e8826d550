/** Part 4, rules W1 to W6, and part 8's holds and retention. */
import { describe, expect, it } from "vitest";
import { operations } from "../../src/platform/contract/operations.ts";
import { freight, freightRate, nowhere, order, party, prices } from "./samples.ts";
import { type Answer, chars, invalid, notFound, refused, useSandbox } from "./support.ts";

const sandbox = useSandbox();
const { control } = sandbox;

const key = "write-0123456789_ABC";
const day = 24 * 60 * 60;
const conflict = refused(409, "IDEMPOTENCY_KEY_CONFLICT");
const unknownOutcome = refused(409, "IDEMPOTENCY_OUTCOME_UNKNOWN");
const keyRequired = refused(400, "IDEMPOTENCY_KEY_REQUIRED");
const body = order({ notes: "first" });
const send = (sent: unknown = body, as = "supplier"): Promise<Answer> =>
  sandbox.post("/orders", sent, { key, as });
const orders = async (): Promise<number> => (await control.stored("orders")).length;
const replayed = (answer: Answer): boolean => answer.headers.get("idempotency-replayed") === "true";
const retryAfter = (answer: Answer): number => Number(answer.headers.get("retry-after"));

describe("W1: every write needs an Idempotency-Key", () => {
  const writes = Object.values(operations).filter((operation) => operation.idempotencyKey);

  it.each(writes.map(({ method, path }) => [method, path] as const))(
    "%s %s without a key is 400 IDEMPOTENCY_KEY_REQUIRED",
    async (method, path) => {
      const sent = method === "DELETE" ? undefined : {};
      const answer = await sandbox.call(method, path.replace("{id}", nowhere), sent, { key: null });
      expect(answer).toMatchObject(keyRequired);
    },
  );

  it("reading: an empty header counts as missing", async () => {
    expect(await sandbox.post("/orders", body, { key: "" })).toMatchObject(keyRequired);
  });

  it("POST /pricing/freight-calculate needs none", async () => {
    const answer = await sandbox.post("/pricing/freight-calculate", freight(), { key: null });
    expect(answer.status).toBe(200);
  });

  it("reading: a key on freight-calculate is ignored", async () => {
    const path = "/pricing/freight-calculate";
    expect((await sandbox.post(path, freight(), { key })).status).toBe(200);
    const second = await sandbox.post(path, freight({ gallons: 1 }), { key });
    expect([second.status, replayed(second)]).toEqual([200, false]);
    expect((await sandbox.post(path, freight(), { key: "short" })).status).toBe(200);
    expect((await send()).status).toBe(201);
  });

  it.each([16, 200])("a key of %i characters is accepted", async (length) => {
    expect((await sandbox.post("/orders", body, { key: chars(length) })).status).toBe(201);
  });

  it.each([1, 15, 201])("a key of %i characters is 400 VALIDATION_ERROR", async (length) => {
    expect(await sandbox.post("/orders", body, { key: chars(length) })).toMatchObject(invalid);
  });

  it("a key has characters of A-Z, a-z, 0-9, underscore, hyphen", async () => {
    const good = "ABCXYZabcxyz0189_-";
    expect((await sandbox.post("/orders", body, { key: good })).status).toBe(201);
  });

  it.each([".", " ", ":", "/", "~", "+", "="])('a key with "%s" is 400', async (sign) => {
    const bad = `${chars(10)}${sign}${chars(10)}`;
    expect(await sandbox.post("/orders", body, { key: bad })).toMatchObject(invalid);
  });

  it("a key on a read is ignored", async () => {
    expect((await sandbox.get("/orders", { key: "short" })).status).toBe(200);
  });
});

describe("W2: same key, same body", () => {
  it("the original response is replayed with Idempotency-Replayed: true", async () => {
    const [first, second] = [await send(), await send()];
    expect([first.status, replayed(first)]).toEqual([201, false]);
    expect([second.status, replayed(second)]).toEqual([201, true]);
    expect(second.text).toBe(first.text);
  });

  it("side effects are not repeated", async () => {
    await send();
    await send();
    expect(await orders()).toBe(1);
  });

  it("a replay tells what was, not what is", async () => {
    const first = await send();
    await sandbox.put(`/orders/${String(first.data["id"])}`, { notes: "second" });
    expect((await send()).data["notes"]).toBe("first");
  });

  it("an update that is replayed does not overwrite what came after it", async () => {
    const { data } = await send();
    const path = `/orders/${String(data["id"])}`;
    const again = { key: "update-the-notes-1" };
    await sandbox.put(path, { notes: "second" }, again);
    await sandbox.put(path, { notes: "third" });
    expect(replayed(await sandbox.put(path, { notes: "second" }, again))).toBe(true);
    expect((await sandbox.get(path)).data["notes"]).toBe("third");
  });

  it("a deletion is replayed as 204", async () => {
    const connection = (await control.stored("connections"))[0]?.["id"];
    const path = `/connections/${String(connection)}/freight-rates`;
    const { data } = await sandbox.post(path, freightRate(connection));
    const [first, second] = [
      await sandbox.delete(`/freight-rates/${String(data["id"])}`, { key }),
      await sandbox.delete(`/freight-rates/${String(data["id"])}`, { key }),
    ];
    expect([first.status, replayed(first)]).toEqual([204, false]);
    expect([second.status, replayed(second)]).toEqual([204, true]);
  });

  it("bulk prices are replayed with the counts of the first time", async () => {
    const first = await sandbox.post("/pricing/bulk/rack", prices(), { key });
    const second = await sandbox.post("/pricing/bulk/rack", prices(), { key });
    expect(first.data).toEqual({ updated: 0, created: 1 });
    expect([second.data, replayed(second)]).toEqual([first.data, true]);
  });

  it("reading: the same JSON value is the same body, whatever its spacing and order", async () => {
    const first = await sandbox.post("/orders", undefined, {
      key,
      raw: '{"notes":"n","lines":[{"product":"ULSD","gallons":1}]}',
      headers: { "content-type": "application/json" },
    });
    const second = await sandbox.post("/orders", undefined, {
      key,
      raw: '{ "lines": [ { "gallons": 1, "product": "ULSD" } ], "notes": "n" }',
      headers: { "content-type": "application/json" },
    });
    expect([first.status, second.status, replayed(second)]).toEqual([201, 201, true]);
  });

  it("a replay within 24 hours: one second before the end it still is one", async () => {
    await send();
    await control.advance(day - 10);
    expect(replayed(await send())).toBe(true);
  });

  it("after 24 hours the key is new", async () => {
    await send();
    await control.advance(day + 1);
    const answer = await send();
    expect([answer.status, replayed(answer)]).toEqual([201, false]);
    expect(await orders()).toBe(2);
  });

  it("reading: the 24 hours begin at arrival, a replay does not prolong them", async () => {
    await send();
    await control.advance(day / 2);
    await send();
    await control.advance(day / 2 + 1);
    expect(replayed(await send())).toBe(false);
  });

  it("reading: a key belongs to a company: another company's same key is free", async () => {
    await send();
    const other = await send(body, "customer");
    expect([other.status, replayed(other)]).toEqual([201, false]);
  });

  it("reading: another credential of the same company finds the key used", async () => {
    await send();
    const authorization = `Bearer ${await control.token("supplier")}`;
    const again = await sandbox.post("/orders", body, {
      key,
      as: null,
      headers: { authorization },
    });
    expect(replayed(again)).toBe(true);
  });
});

describe("W3: same key, different body", () => {
  it("is 409 IDEMPOTENCY_KEY_CONFLICT and writes nothing", async () => {
    await send();
    expect(await send(order({ notes: "other" }))).toMatchObject(conflict);
    expect(await orders()).toBe(1);
  });

  it("does not disturb the original: it still replays", async () => {
    await send();
    await send(order({ notes: "other" }));
    expect(replayed(await send())).toBe(true);
  });

  it("reading: the same body under another path is a conflict", async () => {
    await sandbox.post("/customers", party(), { key });
    expect(await sandbox.post("/suppliers", party(), { key })).toMatchObject(conflict);
  });

  it("reading: a key's record is looked at before the body", async () => {
    await send();
    expect(await send({ lines: [] })).toMatchObject(conflict);
  });
});

async function slow(): Promise<{ arrived: Promise<Answer> }> {
  await control.fault({ kind: "delay", ms: 400, path: "/orders" });
  const arrived = send();
  while ((await control.faults()).length > 0);
  return { arrived };
}

describe("W4: same key while the first request is in flight", () => {
  const inFlight = refused(409, "IDEMPOTENCY_IN_FLIGHT");

  /** A write that takes a while; `arrived` once the sandbox holds its key. */
  it("is 409 IDEMPOTENCY_IN_FLIGHT with Retry-After", async () => {
    const { arrived } = await slow();
    const second = await send();
    expect(second).toMatchObject(inFlight);
    expect(retryAfter(second)).toBeGreaterThanOrEqual(1);
    expect((await arrived).status).toBe(201);
  });

  it("once the first has ended it replays", async () => {
    await control.fault({ kind: "delay", ms: 50, path: "/orders" });
    await send();
    expect(replayed(await send())).toBe(true);
    expect(await orders()).toBe(1);
  });

  it("reading: a different body meanwhile is a conflict", async () => {
    const { arrived } = await slow();
    expect(await send(order({ notes: "other" }))).toMatchObject(conflict);
    await arrived;
  });

  it("ten at once make one record", async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => send()));
    expect(await orders()).toBe(1);
    for (const { status } of answers) expect([201, 409]).toContain(status);
  });
});

describe("W5: same key after the original ended in 5xx", () => {
  it.each([500, 502, 503])(
    "after %i: 409 IDEMPOTENCY_OUTCOME_UNKNOWN, 60 seconds",
    async (status) => {
      await control.fault({ kind: "status", status });
      const since = performance.now();
      expect((await send()).status).toBe(status);
      const held = await send();
      const passed = (performance.now() - since) / 1_000;
      expect(held).toMatchObject(unknownOutcome);
      expect(retryAfter(held)).toBeGreaterThan(58 - passed);
      expect(retryAfter(held)).toBeLessThanOrEqual(60);
    },
  );

  it("Retry-After gives the time left", async () => {
    await control.fault({ kind: "status", status: 500 });
    const since = performance.now();
    await send();
    await control.advance(40);
    const left = retryAfter(await send());
    expect(left).toBeGreaterThan(18 - (performance.now() - since) / 1_000);
    expect(left).toBeLessThanOrEqual(20);
  });

  it("before the 60 seconds are over nothing runs", async () => {
    await control.fault({ kind: "status", status: 500 });
    await send();
    await control.advance(50);
    expect(await send()).toMatchObject(unknownOutcome);
    expect(await orders()).toBe(0);
  });

  it("then a retry runs", async () => {
    await control.fault({ kind: "status", status: 500 });
    await send();
    await control.advance(61);
    const answer = await send();
    expect([answer.status, replayed(answer)]).toEqual([201, false]);
    expect(replayed(await send())).toBe(true);
  });

  it("asking again does not prolong the hold", async () => {
    await control.fault({ kind: "status", status: 500 });
    await send();
    await control.advance(50);
    await send();
    await control.advance(11);
    expect((await send()).status).toBe(201);
  });

  it("reading: the retry runs even if the first write had completed: two records", async () => {
    await control.fault({ kind: "status", status: 500, when: "after" });
    await send();
    expect(await orders()).toBe(1);
    await control.advance(61);
    await send();
    expect(await orders()).toBe(2);
  });

  it("after 504 REQUEST_TIMEOUT the key is held 24 hours", async () => {
    await control.fault({ kind: "status", status: 504 });
    expect(await send()).toMatchObject(refused(504, "REQUEST_TIMEOUT"));
    await control.advance(61);
    expect(await send()).toMatchObject(unknownOutcome);
    await control.advance(day - 120);
    expect(await send()).toMatchObject(unknownOutcome);
    await control.advance(61);
    expect((await send()).status).toBe(201);
  });

  it("reading: a held key answers with Retry-After after a 504 too", async () => {
    await control.fault({ kind: "status", status: 504 });
    await send();
    await control.advance(3600);
    const left = retryAfter(await send());
    expect(left).toBeGreaterThan(day - 3700);
    expect(left).toBeLessThanOrEqual(day - 3600);
  });

  it("reading: a different body under a held key is a conflict", async () => {
    await control.fault({ kind: "status", status: 500 });
    await send();
    expect(await send(order({ notes: "other" }))).toMatchObject(conflict);
  });

  it("another key is not held", async () => {
    await control.fault({ kind: "status", status: 500 });
    await send();
    expect((await sandbox.post("/orders", body)).status).toBe(201);
  });
});

describe("W6: after a 4xx the key is free at once", () => {
  it("after 400: the same key takes a corrected body", async () => {
    expect(await send({ lines: [] })).toMatchObject(invalid);
    const answer = await send();
    expect([answer.status, replayed(answer)]).toEqual([201, false]);
  });

  it("after a 400 that took a while", async () => {
    await control.fault({ kind: "delay", ms: 20 });
    expect(await send({ lines: [] })).toMatchObject(invalid);
    expect((await send()).status).toBe(201);
  });

  it("after 404", async () => {
    expect(await sandbox.put(`/orders/${nowhere}`, { notes: "n" }, { key })).toMatchObject(
      notFound,
    );
    expect((await send()).status).toBe(201);
  });

  it("after 403", async () => {
    const first = await sandbox.post("/orders", body, { key, as: "supplier-read-only" });
    expect(first.status).toBe(403);
    expect((await send()).status).toBe(201);
  });

  it("after 429", async () => {
    await control.limits({ key: "supplier", perMinute: 0 });
    expect((await send()).status).toBe(429);
    await control.limits({ key: "supplier", perMinute: 600 });
    expect((await send()).status).toBe(201);
  });

  it.each([400, 409, 410, 422])("after a %i that a fault gives", async (status) => {
    await control.fault({ kind: "status", status });
    expect((await send()).status).toBe(status);
    expect((await send()).status).toBe(201);
  });
});

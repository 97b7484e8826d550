/** Part 4, rules W1 to W6, and part 8's holds and retention. */
import { describe, expect, it } from "vitest";
import { operations } from "../../src/platform/contract/operations.ts";
import { freight, freightRate, nowhere, order, prices } from "./samples.ts";
import { type Answer, chars, invalid, refused, useSandbox } from "./support.ts";

const sandbox = useSandbox();
const { control } = sandbox;

const key = "write-0123456789_ABC";
const keyRequired = refused(400, "IDEMPOTENCY_KEY_REQUIRED");
const body = order({ notes: "first" });
const send = (sent: unknown = body, as = "supplier"): Promise<Answer> =>
  sandbox.post("/orders", sent, { key, as });
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

  it("POST /pricing/freight-calculate needs none; reading: one is ignored, and on a read too", async () => {
    const path = "/pricing/freight-calculate";
    expect((await sandbox.post(path, freight(), { key: null })).status).toBe(200);
    expect((await sandbox.post(path, freight(), { key })).status).toBe(200);
    const second = await sandbox.post(path, freight({ gallons: 1 }), { key });
    expect([second.status, replayed(second)]).toEqual([200, false]);
    expect((await sandbox.post(path, freight(), { key: "short" })).status).toBe(200);
    expect((await sandbox.get("/orders", { key: "short" })).status).toBe(200);
    expect((await send()).status).toBe(201);
  });

  it.each([chars(16), chars(200), "ABCXYZabcxyz0189_-"])("the key %s is accepted", async (good) => {
    expect((await sandbox.post("/orders", body, { key: good })).status).toBe(201);
  });

  it.each([
    ...[1, 15, 201].map(chars),
    ...[".", " ", ":", "/", "~", "+", "="].map((sign) => `${chars(10)}${sign}${chars(10)}`),
  ])("the key %s is 400 VALIDATION_ERROR: 16 to 200 of A-Z, a-z, 0-9, _ and -", async (bad) => {
    expect(await sandbox.post("/orders", body, { key: bad })).toMatchObject(invalid);
  });
});

describe("W2: same key, same body", () => {
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
});

describe("W6: after a 4xx the key is free at once", () => {
  it.each<[number, () => Promise<Answer>]>([
    [404, () => sandbox.put(`/orders/${nowhere}`, { notes: "n" }, { key })],
    [403, () => sandbox.post("/orders", body, { key, as: "supplier-read-only" })],
    [429, () => send()],
  ])("after %i", async (status, call) => {
    if (status === 429) await control.limits({ key: "supplier", perMinute: 0 });
    expect((await call()).status).toBe(status);
    await control.limits({ key: "supplier", perMinute: 600 });
    expect((await send()).status).toBe(201);
  });

  it.each([400, 409, 410, 422])("after a %i that a fault gives", async (status) => {
    await control.fault({ kind: "status", status });
    expect((await send()).status).toBe(status);
    expect((await send()).status).toBe(201);
  });
});

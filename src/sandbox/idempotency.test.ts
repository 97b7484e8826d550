import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Driver, invoice } from "./driver.suite.ts";

const KEY = "idempotency-test-0001";
const DAY = 24 * 3600;

describe("idempotency (specification part 4, W1 to W6)", () => {
  let sandbox: Driver;
  beforeAll(async () => {
    sandbox = await Driver.start();
  });
  afterAll(() => sandbox.close());
  beforeEach(() => sandbox.control("POST", "/reset", {}));

  const write = (body: unknown = invoice(), idem: string | null = KEY, path = "/invoices") =>
    sandbox.post(path, body, { idem });
  const count = async () => (await sandbox.records("invoices")).length;

  it("W1: a write without a key, or with an empty one, is refused", async () => {
    for (const idem of [null, ""]) {
      const { status, json } = await write(invoice(), idem);
      expect([status, json.error.code]).toEqual([400, "IDEMPOTENCY_KEY_REQUIRED"]);
    }
  });

  it.each(["short", "x".repeat(201), "sixteen-letters!", "ümlaut-ümlaut-ümlaut"])(
    "W1: the key %s has the wrong form",
    async (key) => {
      const encoded = Buffer.from(key, "utf8").toString("latin1");
      const { status, json } = await write(invoice(), encoded);
      expect([status, json.error.code]).toEqual([400, "VALIDATION_ERROR"]);
    },
  );

  it("W1: the freight calculation ignores a key", async () => {
    const lane = { originTerminalId: "T", destinationZip: "77002", product: "ULSD", gallons: 1 };
    const path = "/pricing/freight-calculate";
    const answers = [await write(lane, null, path), await write(lane, KEY, path)];
    answers.push(await write({ ...lane, gallons: 2 }, KEY, path));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  it("W2: the same value is replayed, whatever its notation, and written once", async () => {
    const first = await write(
      '{"subtotal":100,"total":100.0,"invoiceNumber":"A","lineItems":[{"description":"x","amount":1e2}]}',
    );
    const again = await write(
      '{"invoiceNumber":"A","subtotal":100.00,"total":100,"lineItems":[{"amount":100,"description":"x"}]}',
    );
    expect(first.status).toBe(201);
    expect(first.headers.get("Idempotency-Replayed")).toBeNull();
    expect([again.status, again.text]).toEqual([201, first.text]);
    expect(again.headers.get("Idempotency-Replayed")).toBe("true");
    expect(await count()).toBe(1);
  });

  it("W2: the record is kept for 24 hours and no longer", async () => {
    const first = await write();
    await sandbox.advance(DAY - 30);
    expect((await write()).text).toBe(first.text);
    await sandbox.advance(30);
    const later = await write();
    expect(later.headers.get("Idempotency-Replayed")).toBeNull();
    expect(await count()).toBe(2);
  });

  it("W2: another company's key is another key", async () => {
    await write();
    const other = await sandbox.post("/invoices", invoice("B"), { idem: KEY, key: "customer" });
    expect(other.status).toBe(201);
  });

  it("W3: another body, method or path under the same key is a conflict", async () => {
    await write();
    const answers = [await write(invoice("B")), await write(invoice(), KEY, "/customers")];
    expect(answers.map(({ json }) => json.error.code)).toEqual([
      "IDEMPOTENCY_KEY_CONFLICT",
      "IDEMPOTENCY_KEY_CONFLICT",
    ]);
  });

  it("W4: the key is in flight while the first request runs", async () => {
    await sandbox.arm({ kind: "delay", ms: 300 });
    const first = write();
    await until(async () => (await sandbox.requests()).length > 0);
    const second = await write();
    expect([second.status, second.json.error.code]).toEqual([409, "IDEMPOTENCY_IN_FLIGHT"]);
    expect(Number(second.headers.get("Retry-After"))).toBeGreaterThan(0);
    expect((await first).status).toBe(201);
    expect((await write()).headers.get("Idempotency-Replayed")).toBe("true");
  });

  it.each([500, 502, 503])("W5: after %i the key is held for 60 seconds", async (status) => {
    await sandbox.arm({ kind: "status", status, when: "after" });
    const since = performance.now();
    expect((await write()).status).toBe(status);
    await sandbox.advance(30);
    const held = await write();
    expect([held.status, held.json.error.code]).toEqual([409, "IDEMPOTENCY_OUTCOME_UNKNOWN"]);
    const passed = (performance.now() - since) / 1_000;
    expect(Number(held.headers.get("Retry-After"))).toBeGreaterThan(28 - passed);
    expect(Number(held.headers.get("Retry-After"))).toBeLessThanOrEqual(30);
    expect((await write(invoice("B"))).json.error.code).toBe("IDEMPOTENCY_KEY_CONFLICT");
    await sandbox.advance(30);
    expect((await write()).status).toBe(201);
    expect(await count()).toBe(2);
  });

  it("W5: after 504 the key is held for 24 hours", async () => {
    await sandbox.arm({ kind: "status", status: 504 });
    expect((await write()).json.error.code).toBe("REQUEST_TIMEOUT");
    await sandbox.advance(DAY - 60);
    const held = await write();
    expect(held.json.error.code).toBe("IDEMPOTENCY_OUTCOME_UNKNOWN");
    expect(Number(held.headers.get("Retry-After"))).toBeLessThanOrEqual(60);
    await sandbox.advance(60);
    expect((await write()).status).toBe(201);
    expect(await count()).toBe(1);
  });

  it("W6: after a 4xx the key is free at once", async () => {
    expect((await write({})).status).toBe(400);
    expect((await write()).status).toBe(201);
  });

  it("W6: a 4xx that wrote frees the key as well", async () => {
    await sandbox.arm({ kind: "status", status: 400, when: "after" });
    expect((await write()).status).toBe(400);
    expect((await write()).status).toBe(201);
    expect(await count()).toBe(2);
  });

  it("late commits: a retry after the hold runs before the first write arrives", async () => {
    await sandbox.read({ failingWritesCommitLateSeconds: 90 });
    await sandbox.arm({ kind: "status", status: 500, when: "after" });
    await write();
    expect(await count()).toBe(0);
    await sandbox.advance(60);
    expect((await write()).status).toBe(201);
    expect(await count()).toBe(1);
    await sandbox.advance(30);
    expect(await count()).toBe(2);
  });
});

/** Asks until it is so: what happens in another request has no other sign. */
async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise(setImmediate);
}

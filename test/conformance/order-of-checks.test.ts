/** Which refusal a request with several faults gets (readings, Idempotency). */
import { describe, expect, it } from "vitest";
import { invoice, nowhere, order } from "./samples.ts";
import { invalid, refused, useSandbox } from "./support.ts";

const sandbox = useSandbox();
const { control } = sandbox;
const body = order();

describe("reading: the order of the checks", () => {
  it("401 comes before the key", async () => {
    expect((await sandbox.post("/orders", {}, { as: null, key: null })).status).toBe(401);
  });

  it("429 comes before 403", async () => {
    await control.limits({ key: "supplier-read-only", perMinute: 0 });
    const answer = await sandbox.post("/orders", body, { as: "supplier-read-only", key: null });
    expect(answer.status).toBe(429);
  });

  it("403 comes before the key", async () => {
    const answer = await sandbox.post("/orders", body, { as: "supplier-read-only", key: null });
    expect(answer.status).toBe(403);
  });

  it("the key comes before the body", async () => {
    expect(await sandbox.post("/orders", {}, { key: null })).toMatchObject(
      refused(400, "IDEMPOTENCY_KEY_REQUIRED"),
    );
  });

  it("the body comes before 404", async () => {
    expect(await sandbox.put(`/orders/${nowhere}`, { lines: [] })).toMatchObject(invalid);
  });

  it("a role that is refused leaves the key free", async () => {
    const key = "one-and-the-same-key";
    const [raw] = await control.records("invoices", [
      { ...invoice(), payerCompanyId: sandbox.company("customer"), status: "OUTSTANDING" },
    ]);
    const path = `/invoices/${String(raw?.["id"])}/mark-paid`;
    expect((await sandbox.put(path, {}, { as: "customer", key })).status).toBe(403);
    expect((await sandbox.post("/orders", body, { as: "customer", key })).status).toBe(201);
  });
});

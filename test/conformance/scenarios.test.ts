/** The control interface: scenarios, keys and the way back to the first state. */
import { describe, expect, it } from "vitest";
import { order } from "./samples.ts";
import { idsOf, resources, useSandbox } from "./support.ts";

const sandbox = useSandbox("conformance");
const { control } = sandbox;

const names = [
  "supplier",
  "customer",
  "carrier",
  "outsider",
  "supplier-pricing-only",
  "supplier-read-only",
  "supplier-blocked-ip",
  "supplier-test",
];

describe("scenarios and keys", () => {
  it.each(["empty", "conformance", "demo"])("%s has the eight keys", async (scenario) => {
    await control.reset(scenario);
    const keys = await control.keys();
    expect(keys.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
    const company = (name: string) => keys.find((key) => key.name === name)?.companyId;
    expect(new Set(names.map(company)).size).toBe(5);
    for (const name of names.slice(4, 7)) expect(company(name)).toBe(company("supplier"));
  });

  it("GET /keys tells name, key, company, type, scopes, sandbox", async () => {
    const types = Object.fromEntries(
      (await control.keys()).map((key) => [key.name, [key["companyType"], key["sandbox"]]]),
    );
    expect(types).toMatchObject({
      supplier: ["SUPPLIER", false],
      customer: ["CUSTOMER", false],
      carrier: ["CARRIER", false],
      outsider: ["BROKER", false],
      "supplier-test": ["SUPPLIER", true],
    });
    for (const key of await control.keys()) expect(key["scopes"]).toBeInstanceOf(Array);
  });

  it("keys and companies are the same after a reset", async () => {
    const before = await control.keys();
    await control.reset();
    expect(await control.keys()).toEqual(before);
  });

  it("empty holds connections from the supplier to customer and carrier, accepted, and nothing else", async () => {
    await control.reset("empty");
    const connections = await control.stored("connections");
    expect(new Set(connections.map((row) => row["toCompanyId"]))).toEqual(
      new Set([sandbox.company("customer"), sandbox.company("carrier")]),
    );
    for (const row of connections)
      expect(row).toMatchObject({ fromCompanyId: sandbox.company("supplier"), status: "ACCEPTED" });
    for (const resource of resources.filter((name) => name !== "connections"))
      expect(await control.stored(resource), resource).toEqual([]);
  });

  it.each(resources)("conformance holds %s, of the supplier alone", async (resource) => {
    const count = (await control.stored(resource)).length;
    expect(count).toBeGreaterThan(0);
    expect(await control.stored(resource, "supplier")).toHaveLength(count);
  });

  it("demo holds a month of a distributor, the same ids on every start", async () => {
    await control.reset("demo");
    const counts: Record<string, number> = {};
    for (const resource of ["supplier-terminals", "orders", "delivery-tickets", "invoices"])
      counts[resource] = (await control.stored(resource, "supplier")).length;
    expect(counts["supplier-terminals"]).toBeGreaterThanOrEqual(35);
    expect(counts["orders"]).toBeGreaterThanOrEqual(380);
    expect(counts["delivery-tickets"]).toBeGreaterThanOrEqual(330);
    expect((await control.stored("invoices")).length).toBeGreaterThanOrEqual(280);
    expect((await sandbox.get("/invoices?role=payer")).meta.total).toBeGreaterThan(0);
    const ids = idsOf(await control.stored("invoices"));
    await control.reset("demo");
    expect(idsOf(await control.stored("invoices"))).toEqual(ids);
  });
});

describe("POST /reset", () => {
  it("answers the scenario and the clock; without a scenario: the last one", async () => {
    for (const scenario of ["empty", undefined]) {
      const answer = await control.reset(scenario);
      expect(answer).toMatchObject({ scenario: "empty", now: expect.any(String) as string });
    }
  });

  it("puts back records, clock, limits, faults and readings", async () => {
    const before = idsOf(await control.stored("orders"));
    await sandbox.post("/orders", order());
    await control.advance(1e6);
    await control.limits({ key: "supplier", perMinute: 0 });
    await control.fault({ kind: "status", status: 500 });
    await control.readings({ updatedSinceInclusive: false });
    await control.reset();
    expect(idsOf(await control.stored("orders"))).toEqual(before);
    const real = Date.now();
    const now = await control.now();
    expect(now).toBeGreaterThan(real - 1_000);
    expect(now).toBeLessThan(Date.now() + 1_000);
    expect((await sandbox.get("/orders")).status).toBe(200);
    expect(await control.faults()).toEqual([]);
    expect(await control.readings({})).toMatchObject({ updatedSinceInclusive: true });
  });

  it("forgets idempotency records", async () => {
    const key = "one-and-the-same-key";
    await sandbox.post("/orders", order(), { key });
    await control.reset();
    const again = await sandbox.post("/orders", order(), { key });
    expect(again.headers.get("idempotency-replayed")).not.toBe("true");
  });
});

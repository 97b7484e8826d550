/** Part 4, Locations, terminals, allocations, companies, with rules L1 and P3 for locations. Filters: lists.test.ts. */
import { describe, expect, it } from "vitest";
import { terminal } from "./samples.ts";
import { idsOf, invalid, notFound, type Row, useSandbox } from "./support.ts";

const sandbox = useSandbox();
const { control } = sandbox;

const contact = {
  name: "Ana",
  title: "Dispatcher",
  email: "a@b.example",
  phone: "1",
  isPrimary: true,
};
const location = async (fields: Row = {}): Promise<string> => {
  const [row] = await control.records("locations", [
    { name: "Yard", city: "Houston", contacts: [contact], isActive: true, ...fields },
  ]);
  return `/locations/${String(row?.["id"])}`;
};

describe("locations", () => {
  it("reading: lists show contacts", async () => {
    await location();
    expect((await sandbox.get("/locations")).rows[0]).toMatchObject({ contacts: [contact] });
  });

  it("country defaults to US, an asset's unit to gal and maxFillPct to 90", async () => {
    const path = await location({ assets: [{ name: "Tank 1", assetType: "TANK" }] });
    const { data } = await sandbox.get(path);
    expect(data).toMatchObject({ country: "US" });
    expect((data["assets"] as Row[])[0]).toMatchObject({ unit: "gal", maxFillPct: 90 });
  });
});

describe("L1: location update", () => {
  it.each(["contacts", "schedules", "compartments"])("an empty %s array is 400", async (field) => {
    const path = await location();
    expect(await sandbox.put(path, { [field]: [] })).toMatchObject(invalid);
    expect((await sandbox.get(path)).data).toMatchObject({ contacts: [contact] });
  });

  it("omitting the field leaves it unchanged", async () => {
    const path = await location();
    await sandbox.put(path, { name: "Yard 2" });
    expect((await sandbox.get(path)).data).toMatchObject({ name: "Yard 2", contacts: [contact] });
  });

  it("isActive false stands a site down", async () => {
    const path = await location();
    expect((await sandbox.put(path, { isActive: false })).data).toMatchObject({ isActive: false });
    expect((await sandbox.get("/locations?isActive=true")).rows).toEqual([]);
  });

  it.each([
    [200, { isOpen: true, openTime: "08:00", closeTime: "17:00" }],
    [200, { isOpen: false }],
    [400, { isOpen: true }],
    [400, { isOpen: true, openTime: "08:00" }],
    [400, { isOpen: true, closeTime: "17:00" }],
    [400, { isOpen: true, openTime: null, closeTime: "17:00" }],
  ])("an open schedule day needs both times, a closed one neither: %i: %j", async (...row) => {
    const [status, times] = row;
    const schedules = [{ day: "MONDAY", ...times }];
    const answer = await sandbox.put(await location(), { schedules });
    expect(answer).toMatchObject(status === 400 ? invalid : { status });
  });

  it("contacts that are sent replace the contacts", async () => {
    const path = await location();
    const { data } = await sandbox.put(path, { contacts: [{ name: "Ben" }] });
    expect(data["contacts"]).toEqual([
      { name: "Ben", title: null, email: null, phone: null, isPrimary: false },
    ]);
  });
});

describe("supplier terminals", () => {
  it("POST: 201 SupplierTerminal; defaults: active, gal; reading: codes are not unique", async () => {
    const answer = await sandbox.post("/supplier-terminals", terminal());
    expect(answer).toMatchObject({ status: 201, data: { ...terminal(), isActive: true } });
    expect(answer.data).toMatchObject({ companyId: sandbox.company("supplier"), city: null });
    expect((await control.stored("supplier-terminals"))[0]).toMatchObject({ unitSystem: "gal" });
    const again = await sandbox.post("/supplier-terminals", terminal());
    expect(again.data["id"]).not.toBe(answer.data["id"]);
  });

  it("POST: answers what was sent", async () => {
    const address = { city: "Houston", state: "TX", zip: "77002", country: "US" };
    const place = { ...address, lat: 29.7, lng: -95.3, capacity: 100_000 };
    const sent = terminal({ ...place, operatingHours: "24/7", isActive: false });
    expect((await sandbox.post("/supplier-terminals", sent)).data).toMatchObject(sent);
  });
});

describe("allocations", () => {
  it("rows of one terminal, product and period are told apart by brand and supplierId; others see none of them", async () => {
    const [connection] = await control.stored("connections");
    const period = { product: "ULSD", period: "2026-07", monthlyAllocation: 100 };
    const same = { connectionId: connection?.["id"], terminalId: "T", ...period };
    const supplierId = sandbox.company("customer");
    await control.records("allocations", [same, { ...same, brand: "B" }, { ...same, supplierId }]);
    const { rows } = await sandbox.get("/allocations");
    // Brand is an empty text when unbranded, supplierId null on the caller's own row.
    expect(
      new Set(rows.map(({ brand, supplierId: of }) => `${String(brand)}|${String(of)}`)),
    ).toEqual(new Set(["|null", "B|null", `|${supplierId}`]));
    expect(new Set(idsOf(rows)).size).toBe(3);
    expect((await sandbox.get("/allocations", { as: "outsider" })).rows).toEqual([]);
  });
});

describe("GET /companies/{id}/profile", () => {
  it.each([
    ["supplier", "SUPPLIER"],
    ["customer", "CUSTOMER"],
    ["carrier", "CARRIER"],
    ["outsider", "BROKER"],
  ])("%s: its own, of type %s", async (as, type) => {
    const id = sandbox.company(as);
    const { data } = await sandbox.get(`/companies/${id}/profile`, { as });
    expect(data).toMatchObject({ id, type });
  });

  it("own company through tenant scope: another's is 404", async () => {
    const path = `/companies/${sandbox.company("outsider")}/profile`;
    expect(await sandbox.get(path)).toMatchObject(notFound);
  });
});

/** Part 4, Locations, terminals, allocations, companies, with rules L1 and P3 for locations. */
import { describe, expect, it } from "vitest";
import { nowhere, terminal } from "./samples.ts";
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
const listed = async (path: string): Promise<unknown[]> =>
  (await sandbox.get(path)).rows.map((row) => row["name"]);

describe("locations", () => {
  it.each([
    ["name", "gate", { name: "North Gate" }],
    ["city", "gate", { city: "Gateway" }],
  ])("reading: search finds part of the %s, case ignored", async (_where, search, fields) => {
    await location();
    await location(fields);
    expect((await sandbox.get(`/locations?search=${search}`)).rows).toHaveLength(1);
  });

  it("isActive is true or false as text", async () => {
    await location({ name: "on", isActive: true });
    await location({ name: "off", isActive: false });
    expect(await listed("/locations?isActive=true")).toEqual(["on"]);
    expect(await listed("/locations?isActive=false")).toEqual(["off"]);
    expect(await listed("/locations")).toHaveLength(2);
  });

  it.each(["isActive=1", "isActive=TRUE", `search=${"x".repeat(101)}`])(
    "%s is 400",
    async (query) => {
      expect(await sandbox.get(`/locations?${query}`)).toMatchObject(invalid);
    },
  );

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

const day = (fields: Row): Row => ({ schedules: [{ day: "MONDAY", ...fields }] });

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
    expect(await listed("/locations?isActive=true")).toEqual([]);
  });

  it("a schedule day marked open with both openTime and closeTime is accepted", async () => {
    const body = day({ isOpen: true, openTime: "08:00", closeTime: "17:00" });
    expect((await sandbox.put(await location(), body)).status).toBe(200);
  });

  it.each([
    {},
    { openTime: "08:00" },
    { closeTime: "17:00" },
    { openTime: null, closeTime: "17:00" },
  ])("a schedule day marked open with only %j is 400", async (times) => {
    const body = day({ isOpen: true, ...times });
    expect(await sandbox.put(await location(), body)).toMatchObject(invalid);
  });

  it("a closed day needs neither", async () => {
    expect((await sandbox.put(await location(), day({ isOpen: false }))).status).toBe(200);
  });

  it("contacts that are sent replace the contacts", async () => {
    const path = await location();
    const { data } = await sandbox.put(path, { contacts: [{ name: "Ben" }] });
    expect(data["contacts"]).toEqual([
      { name: "Ben", title: null, email: null, phone: null, isPrimary: false },
    ]);
  });
});

const post = () => sandbox.post("/supplier-terminals", terminal());

describe("supplier terminals", () => {
  it("POST: 201 SupplierTerminal; defaults: active, gal", async () => {
    const answer = await sandbox.post("/supplier-terminals", terminal());
    expect(answer).toMatchObject({ status: 201, data: { ...terminal(), isActive: true } });
    expect(answer.data).toMatchObject({ companyId: sandbox.company("supplier"), city: null });
    expect((await control.stored("supplier-terminals"))[0]).toMatchObject({ unitSystem: "gal" });
  });

  it("POST: answers what was sent", async () => {
    const sent = terminal({
      city: "Houston",
      state: "TX",
      zip: "77002",
      country: "US",
      lat: 29.7,
      lng: -95.3,
      capacity: 100000,
      operatingHours: "24/7",
      isActive: false,
    });
    expect((await sandbox.post("/supplier-terminals", sent)).data).toMatchObject(sent);
  });

  it("POST: reading: terminal codes are not unique", async () => {
    expect((await post()).data["id"]).not.toBe((await post()).data["id"]);
  });

  it("PUT: answers the updated terminal", async () => {
    const { data } = await sandbox.post("/supplier-terminals", terminal());
    const path = `/supplier-terminals/${String(data["id"])}`;
    expect(await sandbox.put(path, { name: "New" })).toMatchObject({
      status: 200,
      data: { ...terminal({ name: "New" }), id: data["id"] },
    });
    expect((await sandbox.get(path)).data).toMatchObject({ name: "New" });
  });

  it("GET: search finds part of name and code, case ignored", async () => {
    await sandbox.post("/supplier-terminals", terminal({ name: "Gate" }));
    await sandbox.post("/supplier-terminals", terminal({ terminalCode: "T-GATE" }));
    await sandbox.post("/supplier-terminals", terminal());
    expect((await sandbox.get("/supplier-terminals?search=gate")).rows).toHaveLength(2);
  });

  it("GET: state", async () => {
    await sandbox.post("/supplier-terminals", terminal({ name: "a", state: "TX" }));
    await sandbox.post("/supplier-terminals", terminal({ name: "b", state: "LA" }));
    expect(await listed("/supplier-terminals?state=LA")).toEqual(["b"]);
  });

  it.each(["state=TEX", `search=${"x".repeat(101)}`])("GET: %s is 400", async (query) => {
    expect(await sandbox.get(`/supplier-terminals?${query}`)).toMatchObject(invalid);
  });
});

describe("allocations", () => {
  it("rows sharing terminal, product and period are told apart by brand and supplierId", async () => {
    const [connection] = await control.stored("connections");
    const same = {
      connectionId: connection?.["id"],
      terminalId: "T",
      product: "ULSD",
      period: "2026-07",
      monthlyAllocation: 100,
    };
    await control.records("allocations", [
      same,
      { ...same, brand: "B" },
      { ...same, supplierId: sandbox.company("customer") },
    ]);
    const { rows } = await sandbox.get("/allocations");
    expect(
      new Set(rows.map((row) => `${String(row["brand"])}|${String(row["supplierId"])}`)).size,
    ).toBe(3);
    expect(new Set(idsOf(rows)).size).toBe(3);
  });

  it("brand is an empty string when unbranded, supplierId null on the caller's own row", async () => {
    const [connection] = await control.stored("connections");
    await control.records("allocations", [{ connectionId: connection?.["id"], terminalId: "T" }]);
    expect((await sandbox.get("/allocations")).rows[0]).toMatchObject({
      brand: "",
      supplierId: null,
    });
  });

  it("others see none of them", async () => {
    const [connection] = await control.stored("connections");
    await control.records("allocations", [{ connectionId: connection?.["id"], terminalId: "T" }]);
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
    expect((await sandbox.get(`/companies/${id}/profile`, { as })).data).toMatchObject({
      id,
      type,
    });
  });

  it("own company through tenant scope: another's is 404", async () => {
    const path = `/companies/${sandbox.company("outsider")}/profile`;
    expect(await sandbox.get(path)).toMatchObject(notFound);
    expect(await sandbox.get(`/companies/${nowhere}/profile`)).toMatchObject(notFound);
  });
});

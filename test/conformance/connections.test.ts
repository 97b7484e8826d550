/** Part 4, Connections and freight rates, Parties, and their readings. */
import { beforeEach, describe, expect, it } from "vitest";
import { freightRate, party } from "./samples.ts";
import { idsOf, invalid, notFound, type Row, useSandbox } from "./support.ts";

const sandbox = useSandbox();
const { control } = sandbox;

let connection = "";
beforeEach(async () => {
  const customer = sandbox.company("customer");
  const rows = await control.stored("connections");
  connection = String(rows.find((row) => row["toCompanyId"] === customer)?.["id"]);
});
const listed = async (query: string, as = "supplier"): Promise<Row[]> =>
  (await sandbox.get(`/connections?${query}`, { as })).rows;

describe("GET /connections", () => {
  it("direction: outbound from the caller, inbound to it, all by default", async () => {
    expect(await listed("direction=outbound")).toHaveLength(2);
    expect(await listed("direction=inbound")).toHaveLength(0);
    expect(await listed("")).toHaveLength(2);
    expect(idsOf(await listed("direction=inbound", "customer"))).toEqual([connection]);
    expect(await listed("direction=outbound", "customer")).toHaveLength(0);
    expect(idsOf(await listed("direction=all", "customer"))).toEqual([connection]);
  });

  it("reading: search finds part of a company's name, case ignored", async () => {
    const { data } = await sandbox.post("/customers", party({ name: "Zebra Trucking" }));
    expect(idsOf(await listed("search=zEBra"))).toEqual([data["connectionId"]]);
  });
});

describe("GET /connections/{id}", () => {
  it("200 Connection", async () => {
    expect((await sandbox.get(`/connections/${connection}`)).data).toMatchObject({
      id: connection,
      fromCompanyId: sandbox.company("supplier"),
      toCompanyId: sandbox.company("customer"),
      status: "ACCEPTED",
    });
  });
});

const rates = (): string => `/connections/${connection}/freight-rates`;

const create = async (fields: Row = {}): Promise<Row> =>
  (await sandbox.post(rates(), freightRate(connection, fields))).data;

const pathOf = (rate: Row): string => `/freight-rates/${String(rate["id"])}`;

describe("freight rates", () => {
  it("POST: 201 ConnectionFreightRate, by default in miles; GET: 200 data: array", async () => {
    const answer = await sandbox.post(rates(), freightRate(connection));
    const rate = { connectionId: connection, ratePerMile: 3.25 };
    const data = { ...rate, distanceUnit: "MILES", customFees: null };
    expect(answer).toMatchObject({ status: 201, data });
    expect(idsOf((await sandbox.get(rates())).rows)).toEqual([answer.data["id"]]);
  });

  it("POST: answers what was sent, each custom fee with an id", async () => {
    const sent = {
      originCity: "Houston",
      originState: "TX",
      destinationZipPrefix: "770",
      destinationCity: "Dallas",
      destinationState: "TX",
      product: "ULSD",
      flatFee: 100,
      minCharge: 50,
      fuelSurchargePercent: 12.5,
      distanceUnit: "KILOMETERS",
      notes: "n",
      customFees: [{ label: "Pump", amount: 10, unit: "flat" }],
    };
    const data = await create(sent);
    expect(data).toMatchObject(sent);
    expect((data["customFees"] as Row[])[0]?.["id"]).toEqual(expect.stringMatching(/./));
  });

  it.each([
    { ratePerMile: 1 },
    { flatFee: 0 },
    { minCharge: 1 },
    { fuelSurchargePercent: 1 },
    { customFees: [{ label: "Pump" }] },
  ])("POST: one pricing field is enough: %j", async (fields) => {
    expect((await sandbox.post(rates(), { connectionId: connection, ...fields })).status).toBe(201);
  });

  it.each([
    {},
    { ratePerMile: null },
    { customFees: [] },
    { customFees: null },
    { product: "ULSD" },
  ])("POST: without one it is 400; reading: null and [] count as missing: %j", async (fields) => {
    const answer = await sandbox.post(rates(), { connectionId: connection, ...fields });
    expect(answer).toMatchObject(invalid);
  });

  it("POST: reading: path and body that differ are 400", async () => {
    const other = (await control.stored("connections")).find((row) => row["id"] !== connection);
    expect(await sandbox.post(rates(), freightRate(other?.["id"]))).toMatchObject(invalid);
  });

  it("PUT: 200 the updated rate; reading: partial", async () => {
    const rate = await create({ notes: "keep", distanceUnit: "KILOMETERS" });
    const { status, data } = await sandbox.put(pathOf(rate), { ratePerMile: 4 });
    expect(status).toBe(200);
    expect(data).toMatchObject({ ratePerMile: 4, notes: "keep", distanceUnit: "KILOMETERS" });
  });

  it("PUT: connectionId is immutable; reading: 400", async () => {
    const rate = await create();
    expect(await sandbox.put(pathOf(rate), { connectionId: connection })).toMatchObject(invalid);
  });

  it("DELETE: 204, no body; a second one is 404", async () => {
    const path = pathOf(await create());
    const answer = await sandbox.delete(path);
    expect([answer.status, answer.text]).toEqual([204, ""]);
    expect((await sandbox.get(rates())).rows).toEqual([]);
    expect(await sandbox.delete(path)).toMatchObject(notFound);
  });

  it("V1: of others: 404", async () => {
    const as = { as: "outsider" };
    const path = pathOf(await create());
    for (const answer of [
      await sandbox.get(`/connections/${connection}`, as),
      await sandbox.get(rates(), as),
      await sandbox.post(rates(), freightRate(connection), as),
      await sandbox.put(path, { flatFee: 1 }, as),
      await sandbox.delete(path, as),
    ])
      expect(answer).toMatchObject(notFound);
    expect((await sandbox.get(rates())).rows).toHaveLength(1);
  });
});

describe.each([
  ["/customers", "CUSTOMER"],
  ["/suppliers", "SUPPLIER"],
])("POST %s", (path, type) => {
  it("201 data: NetworkParty: company plus accepted connection between the two, and it can be named as carrier", async () => {
    const { status, data } = await sandbox.post(path, party({ name: "Zebra" }));
    expect(status).toBe(201);
    expect(data).toMatchObject({ name: "Zebra", type, connectionStatus: "ACCEPTED" });
    const answer = await sandbox.get(`/connections/${String(data["connectionId"])}`);
    expect(answer.data).toMatchObject({ status: "ACCEPTED" });
    expect(new Set([answer.data["fromCompanyId"], answer.data["toCompanyId"]])).toEqual(
      new Set([sandbox.company("supplier"), data["id"]]),
    );
    const body = { lines: [{ product: "ULSD", gallons: 1 }], carrierCompanyId: data["id"] };
    expect((await sandbox.post("/orders", body)).status).toBe(201);
  });

  it("names are not unique: POST always creates", async () => {
    const [first, second] = [await sandbox.post(path, party()), await sandbox.post(path, party())];
    expect(first.data["id"]).not.toBe(second.data["id"]);
    expect(first.data["connectionId"]).not.toBe(second.data["connectionId"]);
  });

  it("reading: externalId becomes the connection's erpId", async () => {
    const { data } = await sandbox.post(path, party({ externalId: "C-4711" }));
    const { data: read } = await sandbox.get(`/connections/${String(data["connectionId"])}`);
    expect(read["erpId"]).toBe("C-4711");
  });

  it("reading switched: externalIdBecomesErpId false keeps it away", async () => {
    await control.readings({ externalIdBecomesErpId: false });
    const { data } = await sandbox.post(path, party({ externalId: "C-4711" }));
    const { data: read } = await sandbox.get(`/connections/${String(data["connectionId"])}`);
    expect(read["erpId"]).toBeNull();
    const company = (await control.stored("companies")).find(({ id }) => id === data["id"]);
    expect(company).toMatchObject({ contact: { externalId: "C-4711" } });
  });
});

it("reading switched: supplierConnectionRuns toUs: the connection runs from the supplier to us", async () => {
  await control.readings({ supplierConnectionRuns: "toUs" });
  const us = sandbox.company("supplier");
  const made = await Promise.all(
    ["/suppliers", "/customers"].map(async (path) => (await sandbox.post(path, party())).data),
  );
  const [supplier, customer] = await Promise.all(
    made.map(
      async ({ connectionId }) => (await sandbox.get(`/connections/${String(connectionId)}`)).data,
    ),
  );
  expect(supplier).toMatchObject({ fromCompanyId: made[0]?.["id"], toCompanyId: us });
  expect(customer).toMatchObject({ fromCompanyId: us, toCompanyId: made[1]?.["id"] });
  for (const [direction, one] of [
    ["inbound", supplier],
    ["outbound", customer],
  ] as const)
    expect(idsOf(await listed(`direction=${direction}&search=bayou`))).toEqual([one?.["id"]]);
});

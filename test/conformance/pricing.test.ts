/** Part 4, Pricing, and the readings about prices and freight. Filters: lists.test.ts. */
import { describe, expect, it } from "vitest";
import { freight, freightRate, nowhere, price, prices } from "./samples.ts";
import { invalid, notFound, type Row, useSandbox } from "./support.ts";

const sandbox = useSandbox();
const { control } = sandbox;

const write = (...items: Row[]) => sandbox.post("/pricing/bulk/rack", prices(...items));
const rack = async (query = ""): Promise<Row[]> =>
  (await sandbox.get(`/pricing/rack?${query}`)).rows;

describe("POST /pricing/bulk/rack", () => {
  it("200 data: {updated, created}; another terminal or product is another price", async () => {
    const items = [price(), price({ product: "REG" }), price({ terminalId: "DAL-1" })];
    const answer = await write(...items);
    expect(answer).toMatchObject({ status: 200, data: { updated: 0, created: 3 } });
    expect(await rack()).toHaveLength(3);
  });

  it("reading: one price by company, terminalId and product: written again it is updated", async () => {
    await write(price({ price: 2.1 }));
    const counts = { updated: 1, created: 1 };
    expect((await write(price({ price: 2.2 }), price({ product: "REG" }))).data).toEqual(counts);
    expect((await rack("product=ULSD")).map((row) => row["price"])).toEqual([2.2]);
  });

  it("reading: in one call the later one wins and counts as updated", async () => {
    const answer = await write(price({ price: 1 }), price({ price: 2 }), price({ price: 3 }));
    expect(answer.data).toEqual({ updated: 2, created: 1 });
    expect((await rack()).map((row) => row["price"])).toEqual([3]);
  });

  it("an update keeps the id and moves updatedAt", async () => {
    await write(price());
    const [before] = await rack();
    await control.advance(60);
    await write(price({ price: 9 }));
    const [after] = await rack();
    expect(after?.["id"]).toBe(before?.["id"]);
    expect(after?.["createdAt"]).toBe(before?.["createdAt"]);
    expect(String(after?.["updatedAt"]) > String(before?.["updatedAt"])).toBe(true);
  });

  it("one bad price refuses the call as a whole", async () => {
    expect(await write(price(), price({ price: 0 }))).toMatchObject(invalid);
    expect(await rack()).toEqual([]);
  });

  it.each([
    [undefined, "gal"],
    ["gal", "gal"],
    ["ltr", "liter"],
    ["bbl", "bbl"],
    ["mt", "mt"],
  ])(
    "reading: unit %s goes in, %s comes out, and the price keeps its digits",
    async (unit, read) => {
      await write(price({ unit, price: 2.456789 }));
      expect((await rack())[0]).toMatchObject({ unit: read, price: 2.456789 });
    },
  );

  it("reading: liter is refused on the way in", async () => {
    expect(await write(price({ unit: "liter" }))).toMatchObject(invalid);
  });

  it("reading: a manual price has spread 0, indexSource null, effectiveAt now", async () => {
    const now = await control.advance(7000);
    await write(price());
    const [row] = await rack();
    expect(row).toMatchObject({ spread: 0, indexSource: null, expiresAt: null });
    expect(Math.abs(Date.parse(String(row?.["effectiveAt"])) - now)).toBeLessThan(60_000);
  });

  it("reading: a price that is written over one that has ended is in force", async () => {
    await write(price());
    const [before] = await rack();
    await control.patch("rack-prices", String(before?.["id"]), {
      expiresAt: "2020-01-01T00:00:00Z",
    });
    await write(price());
    expect(await rack()).toMatchObject([{ id: before?.["id"], expiresAt: null }]);
  });
});

describe("GET /pricing/terminal/{id}", () => {
  it("the prices of that terminal; its id is a string, no UUID, and is decoded", async () => {
    const here = { terminalId: "HOU 1/A" };
    await write(price(here), price({ ...here, product: "REG" }), price({ terminalId: "DAL-1" }));
    const { rows } = await sandbox.get(`/pricing/terminal/${encodeURIComponent("HOU 1/A")}`);
    expect(new Set(rows.map((row) => row["product"]))).toEqual(new Set(["REG", "ULSD"]));
  });

  it("an unknown terminal is 404", async () => {
    expect(await sandbox.get("/pricing/terminal/NOWHERE")).toMatchObject(notFound);
  });

  it("reading: a terminal of one's own without prices is 200, empty", async () => {
    const [own] = await control.records("supplier-terminals", [
      { terminalCode: "T-OWN", name: "Own" },
    ]);
    const answers = [
      await sandbox.get("/pricing/terminal/T-OWN"),
      await sandbox.get(`/pricing/terminal/${String(own?.["id"])}`),
    ];
    expect(answers.some(({ status, rows }) => status === 200 && rows.length === 0)).toBe(true);
  });
});

const quote = async (fields: Row = {}, as = "supplier") =>
  sandbox.post("/pricing/freight-calculate", freight(fields), { as });

const saved = async (fields: Row): Promise<unknown> => {
  const connection = (await control.stored("connections"))[0]?.["id"];
  const path = `/connections/${String(connection)}/freight-rates`;
  expect((await sandbox.post(path, freightRate(connection, fields))).status).toBe(201);
  return connection;
};

describe("POST /pricing/freight-calculate", () => {
  it("reading: base = rate × miles, surcharge = base × percent / 100, total = base + surcharge + fees", async () => {
    const { data } = await quote({ fuelSurchargePercent: 12.5, additionalFees: 40 });
    expect(data).toEqual({
      ratePerMile: 3.25,
      distanceMiles: 100,
      baseCost: 325,
      fuelSurcharge: 40.625,
      additionalFees: 40,
      totalFreight: 405.625,
    });
  });

  it("fuelSurchargePercent and additionalFees default to 0; it writes nothing", async () => {
    const free = { fuelSurcharge: 0, additionalFees: 0, totalFreight: 325 };
    expect((await quote()).data).toMatchObject(free);
    expect(await control.stored("freight-rates")).toEqual([]);
  });

  it("all six are numbers, even without a rate or a distance", async () => {
    const { ratePerMile: _, distanceMiles: __, ...body } = freight();
    const { status, data } = await sandbox.post("/pricing/freight-calculate", body);
    expect(status).toBe(200);
    for (const value of Object.values(data)) expect(value).toBeTypeOf("number");
    expect(Object.keys(data)).toHaveLength(6);
  });

  describe("with a connectionId", () => {
    it.each([
      ["a saved rate of that connection", {}, null],
      ["the rate of the lane", { destinationZip: "77002" }, { destinationZip: "10001" }],
      ["a lane by zip prefix", { destinationZipPrefix: "770" }, { destinationZipPrefix: "100" }],
    ])("resolves %s", async (_what, lane, other) => {
      if (other !== null) await saved({ ratePerMile: 4, ...other });
      const connectionId = await saved({ ratePerMile: 5, ...lane });
      const { ratePerMile: _, ...body } = freight({ connectionId });
      const { data } = await sandbox.post("/pricing/freight-calculate", body);
      expect(data).toMatchObject({ ratePerMile: 5, baseCost: 500 });
    });

    it("reading: a sent rate wins over a saved one", async () => {
      const connectionId = await saved({ ratePerMile: 4 });
      expect((await quote({ connectionId })).data).toMatchObject({ ratePerMile: 3.25 });
    });

    it("reading: an unknown connectionId is 404", async () => {
      expect(await quote({ connectionId: nowhere })).toMatchObject(notFound);
    });

    it("V1: somebody else's connection is 404", async () => {
      const connectionId = await saved({ ratePerMile: 4 });
      expect(await quote({ connectionId }, "outsider")).toMatchObject(notFound);
    });
  });
});

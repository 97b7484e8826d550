/** Part 4, Orders, and the readings about them. Field limits: field-limits.test.ts; filters: lists.test.ts. */
import { describe, expect, it } from "vitest";
import { order, orderLine } from "./samples.ts";
import { idsOf, instant, invalid, nulls, type Row, useSandbox } from "./support.ts";

const sandbox = useSandbox();
const { control } = sandbox;

const create = async (body: Row = order()): Promise<Row> =>
  (await sandbox.post("/orders", body)).data;
const listed = async (query: string): Promise<unknown[]> =>
  idsOf((await sandbox.get(`/orders?${query}`)).rows);
const firstLine = (data: Row): Row => (data["lines"] as Row[])[0] ?? {};

describe("POST /orders", () => {
  it("201 Order of the caller's company, of now; direct, fixed, routine, null where nothing is sent; reading: POSTED", async () => {
    const before = await control.advance(1000);
    const { status, data } = await sandbox.post("/orders", order());
    expect(status).toBe(201);
    expect(data).toMatchObject({
      companyId: sandbox.company("supplier"),
      status: "POSTED",
      orderType: "direct",
      pricingType: "fixed",
      urgency: "routine",
      ...nulls("locationId", "notes", "requirements", "requestedDate", "deliveryStart"),
      ...nulls("carrierCompanyId", "maxRate", "bidDeadline", "loadingNumber"),
    });
    for (const field of ["createdAt", "updatedAt"]) {
      const off = Date.parse(String(data[field])) - before;
      expect(off).toBeGreaterThanOrEqual(0);
      expect(off).toBeLessThan(60_000);
    }
  });

  it("a line's unit is gal, its rate 0; gallons and unit are permanent aliases of quantity and unitCode; codes are null when uncertain", async () => {
    expect(firstLine(await create())).toMatchObject({
      gallons: 7500,
      quantity: 7500,
      unit: "gal",
      unitCode: "gal",
      rate: 0,
      ...nulls("terminal", "supplierId", "lat", "productCode", "terminalCode"),
    });
  });

  it.each([
    [12.5, "bbl"],
    [0.5, "mt"],
  ])(
    "reading: quantity %d and unitCode %s are accepted in their place, fractions too, and both pairs are shown",
    async (quantity, unitCode) => {
      const data = await create({ lines: [{ product: "ULSD", quantity, unitCode }] });
      const both = { gallons: quantity, quantity, unit: unitCode, unitCode };
      expect(firstLine(data)).toMatchObject(both);
    },
  );

  it("answers what was sent", async () => {
    const sent = {
      orderType: "bid",
      pricingType: "bid",
      urgency: "urgent",
      notes: "Gate 4",
      requirements: { truckType: "tanker", hazmat: true },
      deliveryStart: "08:00",
      deliveryEnd: "12:00",
      carrierCompanyId: sandbox.company("carrier"),
      maxRate: 3.875,
      loadingNumber: "L-1",
    };
    const more = { terminal: "HOU-1", rate: 2.3456, buyPrice: 2.1, lat: 29.7, lng: -95.3 };
    const line = orderLine(more);
    const data = await create({ ...sent, lines: [line] });
    expect(data).toMatchObject(sent);
    expect(firstLine(data)).toMatchObject(line);
    expect((await sandbox.get(`/orders/${String(data["id"])}`)).data).toMatchObject(data);
  });

  it("a time is the same instant", async () => {
    const fields = ["requestedDate", "deliveryDate", "bidDeadline"];
    const times = Object.fromEntries(fields.map((field) => [field, "2026-07-01T08:00:00+02:00"]));
    const data = await create(order(times));
    for (const field of fields)
      expect(Date.parse(String(data[field])), field).toBe(Date.parse("2026-07-01T06:00:00Z"));
  });

  it("reading: lengths count UTF-16 units", async () => {
    const notes = "😀".repeat(1000);
    expect((await sandbox.post("/orders", order({ notes }))).status).toBe(201);
    expect(await sandbox.post("/orders", order({ notes: `${notes}x` }))).toMatchObject(invalid);
  });

  it("lines keep their order and carry the order's id", async () => {
    const lines = ["A", "B", "C"].map((product) => orderLine({ product }));
    const data = await create({ lines });
    const answered = data["lines"] as Row[];
    expect(answered.map((line) => line["product"])).toEqual(["A", "B", "C"]);
    expect(new Set(answered.map((line) => line["orderId"]))).toEqual(new Set([data["id"]]));
    expect(new Set(idsOf(answered)).size).toBe(3);
  });

  it.each(["DRAFT", "CANCELLED"])("reading: a sent status is ignored, %s", async (status) => {
    expect(await create(order({ status }))).toMatchObject({ status: "POSTED" });
  });
});

const sorted = () =>
  control.records(
    "orders",
    (["30 200 DELIVERED", "10 100 DRAFT", "20 300 BIDDING"] as const).map((words, at) => {
      const [updated, requested, status] = words.split(" ");
      return {
        createdAt: instant(at + 1),
        updatedAt: instant(Number(updated)),
        requestedDate: instant(Number(requested)),
        status,
      };
    }),
  );

describe("GET /orders", () => {
  it.each([
    ["createdAt", [0, 1, 2]],
    ["updatedAt", [1, 2, 0]],
    ["requestedDate", [1, 0, 2]],
    ["status", [1, 2, 0]],
  ])(
    "sortBy=%s ascending and descending (reading: status by the life cycle)",
    async (by, places) => {
      const ids = idsOf(await sorted());
      const expected = places.map((at) => ids[at]);
      expect(await listed(`sortBy=${by}&sortOrder=asc`)).toEqual(expected);
      expect(await listed(`sortBy=${by}&sortOrder=desc`)).toEqual(expected.toReversed());
    },
  );

  it("by default createdAt, desc", async () => {
    const ids = idsOf(await sorted());
    expect(await listed("")).toEqual(ids.toReversed());
    expect(await listed("sortBy=updatedAt")).toEqual([ids[0], ids[2], ids[1]]);
  });

  it.each([
    ["requestedDate", instant(5)],
    ["status", "CANCELLED"],
  ])("reading: null comes last, whichever way: %s", async (field, value) => {
    const fields = [{ [field]: null }, { [field]: value }];
    const ids = idsOf(await control.records("orders", fields)).toReversed();
    for (const direction of ["asc", "desc"])
      expect(await listed(`sortBy=${field}&sortOrder=${direction}`)).toEqual(ids);
  });
});

const posted = async (): Promise<string> => `/orders/${String((await create())["id"])}/notes`;

describe("order notes", () => {
  it("POST: 201 data: PublicOrderNote; GET: in chronological order, none yet is an empty array", async () => {
    const path = await posted();
    expect((await sandbox.get(path)).rows).toEqual([]);
    for (const content of ["one", "two", "three"]) {
      const answer = await sandbox.post(path, { content });
      expect(answer).toMatchObject({ status: 201, data: { content } });
      await control.advance(1);
    }
    const { rows } = await sandbox.get(path);
    expect(rows.map((row) => row["content"])).toEqual(["one", "two", "three"]);
  });

  it.each(["DRAFT", "POSTED", "DELIVERED", "INVOICED", "CANCELLED"])(
    "part 3: notes may be appended in status %s",
    async (status) => {
      const [record] = await control.records("orders", [{ status }]);
      const path = `/orders/${String(record?.["id"])}/notes`;
      expect((await sandbox.post(path, { content: "n" })).status).toBe(201);
    },
  );
});

/** Part 4, Orders, and the readings about them. Field limits: field-limits.test.ts. */
import { describe, expect, it } from "vitest";
import { order, orderLine } from "./samples.ts";
import { idsOf, instant, invalid, type Row, useSandbox } from "./support.ts";

const sandbox = useSandbox();
const { control } = sandbox;

const listed = async (query: string): Promise<unknown[]> =>
  idsOf((await sandbox.get(`/orders?${query}`)).rows);
const firstLine = (data: Row): Row => (data["lines"] as Row[])[0] ?? {};

describe("POST /orders", () => {
  it("201 data: Order, owned by the caller's company", async () => {
    const { status, data } = await sandbox.post("/orders", order());
    expect(status).toBe(201);
    expect(data).toMatchObject({ companyId: sandbox.company("supplier") });
  });

  it("reading: created POSTED", async () => {
    expect((await sandbox.post("/orders", order())).data).toMatchObject({ status: "POSTED" });
  });

  it("defaults: direct, fixed, routine; a line's unit gal and rate 0", async () => {
    const { data } = await sandbox.post("/orders", order());
    expect(data).toMatchObject({ orderType: "direct", pricingType: "fixed", urgency: "routine" });
    expect(firstLine(data)).toMatchObject({ unit: "gal", rate: 0 });
  });

  it("nullable fields that are not sent are null", async () => {
    const { data } = await sandbox.post("/orders", order());
    expect(data).toMatchObject({
      locationId: null,
      notes: null,
      requirements: null,
      requestedDate: null,
      deliveryStart: null,
      carrierCompanyId: null,
      maxRate: null,
      bidDeadline: null,
      loadingNumber: null,
    });
    expect(firstLine(data)).toMatchObject({ terminal: null, supplierId: null, lat: null });
  });

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
    const line = orderLine({
      terminal: "HOU-1",
      rate: 2.3456,
      buyPrice: 2.1,
      lat: 29.7,
      lng: -95.3,
    });
    const { data } = await sandbox.post("/orders", { ...sent, lines: [line] });
    expect(data).toMatchObject(sent);
    expect(firstLine(data)).toMatchObject(line);
  });

  it.each(["requestedDate", "deliveryDate", "bidDeadline"])(
    "%s is the same instant",
    async (field) => {
      const { data } = await sandbox.post(
        "/orders",
        order({ [field]: "2026-07-01T08:00:00+02:00" }),
      );
      expect(Date.parse(String(data[field]))).toBe(Date.parse("2026-07-01T06:00:00Z"));
    },
  );

  it("reading: quantity may be a fraction, in any unit", async () => {
    const lines = [{ product: "ULSD", quantity: 0.5, unitCode: "mt" }];
    const { status, data } = await sandbox.post("/orders", { lines });
    expect(status).toBe(201);
    expect(firstLine(data)).toMatchObject({ quantity: 0.5, unitCode: "mt" });
  });

  it("reading: lengths count UTF-16 units", async () => {
    const notes = "😀".repeat(1000);
    expect((await sandbox.post("/orders", order({ notes }))).status).toBe(201);
    expect(await sandbox.post("/orders", order({ notes: `${notes}x` }))).toMatchObject(invalid);
  });

  it("lines keep their order and carry the order's id", async () => {
    const lines = ["A", "B", "C"].map((product) => orderLine({ product }));
    const { data } = await sandbox.post("/orders", { lines });
    const answered = data["lines"] as Row[];
    expect(answered.map((line) => line["product"])).toEqual(["A", "B", "C"]);
    expect(new Set(answered.map((line) => line["orderId"]))).toEqual(new Set([data["id"]]));
    expect(new Set(idsOf(answered)).size).toBe(3);
  });

  it("gallons and unit are permanent aliases of quantity and unitCode", async () => {
    const { data } = await sandbox.post("/orders", order());
    expect(firstLine(data)).toMatchObject({
      gallons: 7500,
      quantity: 7500,
      unit: "gal",
      unitCode: "gal",
    });
  });

  it("reading: quantity and unitCode are accepted in their place, and both pairs are shown", async () => {
    const line = { product: "ULSD", quantity: 12.5, unitCode: "bbl" };
    const { data } = await sandbox.post("/orders", { lines: [line] });
    expect(firstLine(data)).toMatchObject({
      gallons: 12.5,
      quantity: 12.5,
      unit: "bbl",
      unitCode: "bbl",
    });
  });

  it("createdAt and updatedAt are the sandbox's now", async () => {
    const before = await control.advance(1000);
    const { data } = await sandbox.post("/orders", order());
    for (const field of ["createdAt", "updatedAt"]) {
      const off = Date.parse(String(data[field])) - before;
      expect(off).toBeGreaterThanOrEqual(0);
      expect(off).toBeLessThan(60_000);
    }
  });

  it.each(["DRAFT", "CANCELLED"])(
    "reading: a status that is sent is ignored, %s",
    async (status) => {
      const { data } = await sandbox.post("/orders", order({ status }));
      expect(data["status"]).toBe("POSTED");
    },
  );

  it("a productCode or terminalCode is null when uncertain", async () => {
    const { data } = await sandbox.post("/orders", order());
    expect(firstLine(data)).toMatchObject({ productCode: null, terminalCode: null });
  });
});

const sorted = () =>
  control.records("orders", [
    {
      createdAt: instant(1),
      updatedAt: instant(30),
      requestedDate: instant(200),
      status: "DELIVERED",
    },
    {
      createdAt: instant(2),
      updatedAt: instant(10),
      requestedDate: instant(100),
      status: "DRAFT",
    },
    {
      createdAt: instant(3),
      updatedAt: instant(20),
      requestedDate: instant(300),
      status: "BIDDING",
    },
  ]);

describe("GET /orders", () => {
  const statuses = [
    "DRAFT",
    "POSTED",
    "BIDDING",
    "ASSIGNED",
    "CONFIRMED",
    "IN_TRANSIT",
    "DELIVERED",
    "PENDING_VERIFICATION",
    "INVOICED",
    "CANCELLED",
  ];

  it.each(statuses)("status=%s", async (status) => {
    const records = await control.records(
      "orders",
      statuses.map((status) => ({ status })),
    );
    const expected = records.filter((record) => record["status"] === status);
    expect(await listed(`status=${status}`)).toEqual(idsOf(expected));
  });

  it("an unknown status is 400", async () => {
    expect(await sandbox.get("/orders?status=posted")).toMatchObject(invalid);
  });

  it("reading: product is whole, case ignored", async () => {
    const { data } = await sandbox.post(
      "/orders",
      order({ lines: [orderLine({ product: "ULSD #2" })] }),
    );
    expect(await listed("product=ulsd%20%232")).toEqual([data["id"]]);
    expect(await listed("product=ULSD")).toEqual([]);
  });

  it("product: string max 50", async () => {
    expect((await sandbox.get(`/orders?product=${"x".repeat(50)}`)).status).toBe(200);
    expect(await sandbox.get(`/orders?product=${"x".repeat(51)}`)).toMatchObject(invalid);
  });

  it.each([
    ["notes", order({ notes: "Leave at GATE four" })],
    ["loading number", order({ loadingNumber: "LN-gate-1" })],
    ["products", order({ lines: [orderLine({ product: "Gate oil" })] })],
  ])("reading: search finds part of the %s, case ignored", async (_where, body) => {
    await sandbox.post("/orders", order());
    const { data } = await sandbox.post("/orders", body);
    expect(await listed("search=gate")).toEqual([data["id"]]);
  });

  it.each(["%25", "_", "%27", "*"])("search takes %s literally", async (sign) => {
    await sandbox.post("/orders", order({ notes: "plain" }));
    expect(await listed(`search=${sign}`)).toEqual([]);
  });

  it("search: string max 100", async () => {
    expect((await sandbox.get(`/orders?search=${"x".repeat(100)}`)).status).toBe(200);
    expect(await sandbox.get(`/orders?search=${"x".repeat(101)}`)).toMatchObject(invalid);
  });

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

  it.each(["asc", "desc"])("reading: null comes last, %s", async (direction) => {
    const [, bare] = await control.records("orders", [
      { requestedDate: instant(5) },
      { requestedDate: null },
    ]);
    expect((await listed(`sortBy=requestedDate&sortOrder=${direction}`)).at(-1)).toBe(bare?.["id"]);
  });

  it.each(["sortBy=total", "sortOrder=up"])("%s is 400", async (query) => {
    expect(await sandbox.get(`/orders?${query}`)).toMatchObject(invalid);
  });

  it("filters work together", async () => {
    const [hit] = await control.records("orders", [
      { status: "BIDDING", notes: "gate" },
      { status: "BIDDING", notes: "none" },
      { status: "POSTED", notes: "gate" },
    ]);
    expect(await listed("status=BIDDING&search=gate")).toEqual([hit?.["id"]]);
  });

  it("reading: lists show lines", async () => {
    await sandbox.post("/orders", order());
    const { rows } = await sandbox.get("/orders");
    expect(rows[0]?.["lines"]).toHaveLength(1);
  });

  it("reading switched: listsCarryLines false leaves them to the detail", async () => {
    const { data } = await sandbox.post("/orders", order());
    await control.readings({ listsCarryLines: false });
    expect((await sandbox.get("/orders")).rows[0]?.["lines"] ?? []).toEqual([]);
    expect((await sandbox.get(`/orders/${String(data["id"])}`)).data["lines"]).toHaveLength(1);
  });
});

describe("GET and PUT /orders/{id}", () => {
  it("200 Order as it was created", async () => {
    const { data } = await sandbox.post("/orders", order());
    const { data: read } = await sandbox.get(`/orders/${String(data["id"])}`);
    expect(read).toMatchObject(data);
  });

  it("PUT answers the updated Order", async () => {
    const { data } = await sandbox.post("/orders", order());
    const path = `/orders/${String(data["id"])}`;
    const answer = await sandbox.put(path, { notes: "new" });
    expect(answer).toMatchObject({ status: 200, data: { id: data["id"], notes: "new" } });
    expect((await sandbox.get(path)).data).toMatchObject({ notes: "new" });
  });
});

const posted = async (): Promise<string> =>
  `/orders/${String((await sandbox.post("/orders", order())).data["id"])}/notes`;

describe("order notes", () => {
  it("GET: none yet is an empty array", async () => {
    expect((await sandbox.get(await posted())).rows).toEqual([]);
  });

  it("GET: in chronological order", async () => {
    const path = await posted();
    for (const content of ["one", "two", "three"]) {
      await sandbox.post(path, { content });
      await control.advance(1);
    }
    const { rows } = await sandbox.get(path);
    expect(rows.map((row) => row["content"])).toEqual(["one", "two", "three"]);
  });

  it("POST: 201 data: PublicOrderNote", async () => {
    const answer = await sandbox.post(await posted(), { content: "Call first" });
    expect(answer).toMatchObject({ status: 201, data: { content: "Call first" } });
  });

  it.each(statusesOfNote())("part 3: notes may be appended in status %s", async (status) => {
    const [record] = await control.records("orders", [{ status }]);
    const path = `/orders/${String(record?.["id"])}/notes`;
    expect((await sandbox.post(path, { content: "n" })).status).toBe(201);
  });
});

function statusesOfNote(): string[] {
  return ["DRAFT", "POSTED", "DELIVERED", "INVOICED", "CANCELLED"];
}

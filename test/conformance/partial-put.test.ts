/** Part 4, rule P3: a PUT changes what is sent and nothing else. */
import { describe, expect, it } from "vitest";
import { orderLine, terminal } from "./samples.ts";
import { type Row, useSandbox } from "./support.ts";

const sandbox = useSandbox();
const { control } = sandbox;

interface Partial {
  readonly path: string;
  readonly record: Row;
  readonly changes: readonly Row[];
}
const time = "2026-07-01T08:00:00.000Z";
const cases: Partial[] = [
  {
    path: "orders",
    record: {
      orderType: "bid",
      pricingType: "bid",
      urgency: "emergency",
      notes: "keep",
      deliveryStart: "08:00",
      maxRate: 3.5,
      requestedDate: time,
      loadingNumber: "L",
      lines: [orderLine({ rate: 2.5, unit: "bbl" })],
    },
    changes: [
      { notes: "new" },
      { orderType: "direct" },
      { urgency: "urgent" },
      { requestedDate: "2026-08-01T00:00:00.000Z" },
      { deliveryDate: "2026-08-02T00:00:00.000Z" },
      {},
    ],
  },
  {
    path: "delivery-tickets",
    record: {
      status: "ISSUED",
      ticketNumber: "T-1",
      bolNumber: "B",
      driverName: "D",
      deliveryDate: time,
    },
    changes: [
      { bolNumber: "B-2" },
      { driverName: "E" },
      { carrierCompanyName: "C" },
      { destinationName: "Yard" },
      { status: "VOID" },
      {},
    ],
  },
  {
    path: "supplier-terminals",
    record: terminal({ city: "Houston", isActive: false, capacity: 5, operatingHours: "24/7" }),
    changes: [{ name: "New" }, { terminalCode: "X" }, { city: "Dallas" }, { capacity: 7 }, {}],
  },
  {
    path: "locations",
    record: {
      name: "Yard",
      city: "Houston",
      country: "CA",
      isActive: false,
      gateCode: "1",
      contacts: [{ name: "Ana" }],
    },
    changes: [{ name: "New" }, { gateCode: "2" }, { lat: 29.7, lng: -95.3 }, { zip: "77002" }, {}],
  },
];

const create = async ({ path, record }: Partial): Promise<string> => {
  const [row] = await control.records(path, [record]);
  return `/${path}/${String(row?.["id"])}`;
};
const settled = (row: Row): Row => ({ ...row, updatedAt: null });

describe.each(cases)("P3: PUT /$path/{id}", (partial) => {
  it.each(partial.changes)("%j changes that and leaves everything else", async (change) => {
    const path = await create(partial);
    const before = (await sandbox.get(path)).data;
    const answer = await sandbox.put(path, change);
    expect(answer).toMatchObject({ status: 200, data: { id: before["id"], ...change } });
    const after = (await sandbox.get(path)).data;
    expect(settled(after)).toEqual(settled({ ...before, ...change }));
  });

  it("schema defaults do not overwrite", async () => {
    const path = await create(partial);
    const { data } = await sandbox.put(path, {});
    for (const field of ["urgency", "orderType", "pricingType", "status", "isActive", "country"])
      if (field in partial.record) expect(data[field], field).toEqual(partial.record[field]);
  });
});

describe("P3: reading: null clears a nullable field", () => {
  it.each([
    ["orders", { notes: "n" }, "notes"],
    ["orders", { requestedDate: time }, "requestedDate"],
    ["delivery-tickets", { bolNumber: "B" }, "bolNumber"],
    ["delivery-tickets", { productLines: [{ product_name: "ULSD" }] }, "productLines"],
    ["supplier-terminals", terminal({ city: "Houston" }), "city"],
    ["locations", { name: "Yard", gateCode: "1" }, "gateCode"],
  ])("%s %j", async (path, record, field) => {
    const url = await create({ path, record, changes: [] });
    expect((await sandbox.put(url, { [field]: null })).data[field]).toBeNull();
  });
});

describe("P3: lines of an order", () => {
  it("are replaced as a whole when they are sent, with their own defaults", async () => {
    const lines = [orderLine({ product: "A", rate: 9 }), orderLine({ product: "B" })];
    const [row] = await control.records("orders", [{ lines }]);
    const { data } = await sandbox.put(`/orders/${String(row?.["id"])}`, {
      lines: [{ product: "C", gallons: 5 }],
    });
    expect(data["lines"]).toHaveLength(1);
    expect((data["lines"] as Row[])[0]).toMatchObject({
      product: "C",
      gallons: 5,
      rate: 0,
      unit: "gal",
    });
  });
});

/** Part 4, Delivery tickets, part 3, and the readings about them. Filters: lists.test.ts; PUT: partial-put.test.ts. */
import { describe, expect, it } from "vitest";
import { ticket } from "./samples.ts";
import { invalid, type Row, useSandbox } from "./support.ts";

const sandbox = useSandbox();
const { control } = sandbox;

const statuses = ["DRAFT", "ISSUED", "SIGNED", "VOID"];
const create = async (body: Row = ticket()): Promise<Row> =>
  (await sandbox.post("/delivery-tickets", body)).data;
const pathOf = (record: Row | undefined): string => `/delivery-tickets/${String(record?.["id"])}`;

describe("POST /delivery-tickets", () => {
  it("201 DeliveryTicket; its number is generated when omitted; reading: DRAFT", async () => {
    const first = await sandbox.post("/delivery-tickets", ticket());
    const ticketNumber = expect.stringMatching(/./) as string;
    expect(first).toMatchObject({ status: 201, data: { ticketNumber, status: "DRAFT" } });
    expect((await create())["ticketNumber"]).not.toBe(first.data["ticketNumber"]);
  });

  it("ticketNumber is kept when given; reading: it need not be unique", async () => {
    expect(await create({ ticketNumber: "T-1" })).toMatchObject({ ticketNumber: "T-1" });
    expect((await sandbox.post("/delivery-tickets", { ticketNumber: "T-1" })).status).toBe(201);
    expect(await control.stored("delivery-tickets")).toHaveLength(2);
  });

  it.each(statuses)("part 3: created in the given status, %s", async (status) => {
    expect(await create(ticket({ status }))).toMatchObject({ status });
  });

  it("answers what was sent", async () => {
    const order = (await control.records("orders", [{}]))[0]?.["id"];
    const sent = {
      orderId: order,
      supplierCompanyId: sandbox.company("supplier"),
      receiverCompanyId: sandbox.company("customer"),
      bolNumber: "BOL-1",
      driverName: "Ana",
      carrierCompanyName: "Bayou",
      loadingTerminalName: "Houston",
      destinationName: "Yard",
    };
    const gallons = { gross_gallons: 7512.5, net_gallons: 7498.25 };
    const line = { product_name: "ULSD", spec: "S15", ...gallons, temperature: 71.5 };
    const all = { ...sent, productLines: [{ ...line, api_gravity: 36.2 }] };
    expect(await create(all)).toMatchObject(all);
  });

  it("drafts are saved incrementally", async () => {
    const path = pathOf(await create({}));
    await sandbox.put(path, { bolNumber: "B" });
    await sandbox.put(path, { driverName: "D" });
    const saved = { bolNumber: "B", driverName: "D", status: "DRAFT" };
    expect((await sandbox.get(path)).data).toMatchObject(saved);
  });

  it("reading: fields without a place in the answer are stored, not shown", async () => {
    const sent = { deliveryNotes: "n", bolNumbers: ["B1", "B2"] };
    const answer = await create({ ...sent, other: 1 });
    const [ticket] = await control.stored("delivery-tickets");
    expect(ticket).toMatchObject({ ...sent, id: answer["id"] });
    expect(ticket).not.toHaveProperty("other");
    expect(answer).not.toHaveProperty("deliveryNotes");
    expect(answer).not.toHaveProperty("bolNumbers");
  });
});

const sign = (record: Row, body: Row = { receiverName: "R. Eceiver" }, as = "supplier") =>
  sandbox.post(`${pathOf(record)}/sign`, body, { as });

describe("POST /delivery-tickets/{id}/sign", () => {
  it.each([{}, { discrepancies: "50 gal short" }])(
    "%j: answers the signed ticket",
    async (more) => {
      const record = await create(ticket({ status: "ISSUED" }));
      const signed = { id: record["id"], status: "SIGNED" };
      const answer = await sign(record, { receiverName: "R", ...more });
      expect(answer).toMatchObject({ status: 200, data: signed });
      expect((await sandbox.get(pathOf(record))).data).toMatchObject(signed);
    },
  );

  it("reading: sign of VOID is 400", async () => {
    const record = await create(ticket({ status: "VOID" }));
    expect(await sign(record)).toMatchObject(invalid);
    expect((await sandbox.get(pathOf(record))).data).toMatchObject({ status: "VOID" });
  });

  it("the named receiver may sign", async () => {
    const record = await create(ticket({ receiverCompanyId: sandbox.company("customer") }));
    const answer = await sign(record, { receiverName: "R" }, "customer");
    expect(answer).toMatchObject({ status: 200, data: { status: "SIGNED" } });
  });
});

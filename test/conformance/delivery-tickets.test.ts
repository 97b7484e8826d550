/** Part 4, Delivery tickets, part 3, and the readings about them. */
import { describe, expect, it } from "vitest";
import { nowhere, ticket } from "./samples.ts";
import { idsOf, invalid, type Row, useSandbox } from "./support.ts";

const sandbox = useSandbox();
const { control } = sandbox;

const statuses = ["DRAFT", "ISSUED", "SIGNED", "VOID"];
const create = async (body: Row = ticket()): Promise<Row> =>
  (await sandbox.post("/delivery-tickets", body)).data;
const pathOf = (record: Row | undefined): string => `/delivery-tickets/${String(record?.["id"])}`;

describe("POST /delivery-tickets", () => {
  it("201 DeliveryTicket", async () => {
    expect((await sandbox.post("/delivery-tickets", ticket())).status).toBe(201);
  });

  it("ticketNumber is generated when omitted", async () => {
    const [first, second] = [await create(), await create()];
    expect(first["ticketNumber"]).toEqual(expect.stringMatching(/./));
    expect(first["ticketNumber"]).not.toBe(second["ticketNumber"]);
  });

  it("ticketNumber is kept when given; reading: it need not be unique", async () => {
    expect(await create({ ticketNumber: "T-1" })).toMatchObject({ ticketNumber: "T-1" });
    expect((await sandbox.post("/delivery-tickets", { ticketNumber: "T-1" })).status).toBe(201);
    expect(await control.stored("delivery-tickets")).toHaveLength(2);
  });

  it("reading: DRAFT unless a status is given", async () => {
    expect(await create()).toMatchObject({ status: "DRAFT" });
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
      productLines: [
        {
          product_name: "ULSD",
          spec: "S15",
          gross_gallons: 7512.5,
          net_gallons: 7498.25,
          temperature: 71.5,
          api_gravity: 36.2,
        },
      ],
    };
    expect(await create(sent)).toMatchObject(sent);
  });

  it("drafts are saved incrementally", async () => {
    const path = pathOf(await create({}));
    await sandbox.put(path, { bolNumber: "B" });
    await sandbox.put(path, { driverName: "D" });
    expect((await sandbox.get(path)).data).toMatchObject({
      bolNumber: "B",
      driverName: "D",
      status: "DRAFT",
    });
  });

  it("reading: fields without a place in the answer are stored, not shown", async () => {
    const sent = { deliveryNotes: "n", bolNumbers: ["B1", "B2"] };
    const answer = await create(sent);
    expect((await control.stored("delivery-tickets"))[0]).toMatchObject(sent);
    expect(answer).not.toHaveProperty("deliveryNotes");
    expect(answer).not.toHaveProperty("bolNumbers");
  });
});

describe("GET /delivery-tickets", () => {
  it.each(statuses)("status=%s", async (status) => {
    const records = await control.records(
      "delivery-tickets",
      statuses.map((status) => ({ status })),
    );
    const { rows } = await sandbox.get(`/delivery-tickets?status=${status}`);
    expect(idsOf(rows)).toEqual(idsOf(records.filter((record) => record["status"] === status)));
  });

  it("orderId", async () => {
    const [order] = await control.records("orders", [{}]);
    const hit = await create({ orderId: order?.["id"] });
    await create();
    const { rows } = await sandbox.get(`/delivery-tickets?orderId=${String(order?.["id"])}`);
    expect(idsOf(rows)).toEqual([hit["id"]]);
  });

  it("orderId of nothing is an empty list", async () => {
    expect((await sandbox.get(`/delivery-tickets?orderId=${nowhere}`)).rows).toEqual([]);
  });

  it.each(["orderId=4711", "status=OPEN", "status=draft"])("%s is 400", async (query) => {
    expect(await sandbox.get(`/delivery-tickets?${query}`)).toMatchObject(invalid);
  });
});

describe("PUT /delivery-tickets/{id}", () => {
  it("200 DeliveryTicket", async () => {
    const record = await create();
    const answer = await sandbox.put(pathOf(record), { destinationName: "Yard 2" });
    expect(answer).toMatchObject({
      status: 200,
      data: { id: record["id"], destinationName: "Yard 2" },
    });
  });
});

describe("GET /delivery-tickets/{id}/pdf", () => {
  it("200 binary application/pdf", async () => {
    const answer = await sandbox.get(`${pathOf(await create())}/pdf`);
    expect(answer.headers.get("content-type")).toBe("application/pdf");
  });
});

const sign = (record: Row | undefined, body: Row = { receiverName: "R. Eceiver" }) =>
  sandbox.post(`${pathOf(record)}/sign`, body);

describe("POST /delivery-tickets/{id}/sign", () => {
  it("answers the signed ticket", async () => {
    const record = await create(ticket({ status: "ISSUED" }));
    expect(await sign(record)).toMatchObject({
      status: 200,
      data: { id: record["id"], status: "SIGNED" },
    });
    expect((await sandbox.get(pathOf(record))).data).toMatchObject({ status: "SIGNED" });
  });

  it("takes discrepancies", async () => {
    const record = await create();
    expect((await sign(record, { receiverName: "R", discrepancies: "50 gal short" })).status).toBe(
      200,
    );
  });

  it("reading: sign of VOID is 400", async () => {
    const record = await create(ticket({ status: "VOID" }));
    expect(await sign(record)).toMatchObject(invalid);
    expect((await sandbox.get(pathOf(record))).data).toMatchObject({ status: "VOID" });
  });

  it("the named receiver may sign", async () => {
    const record = await create(ticket({ receiverCompanyId: sandbox.company("customer") }));
    const body = { receiverName: "R" };
    const answer = await sandbox.post(`${pathOf(record)}/sign`, body, { as: "customer" });
    expect(answer).toMatchObject({ status: 200, data: { status: "SIGNED" } });
  });
});

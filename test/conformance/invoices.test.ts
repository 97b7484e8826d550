/** Part 4, Invoices and payments, rule I1, and the readings about them. Filters: lists.test.ts. */
import { describe, expect, it } from "vitest";
import { invoice, lineItem, nowhere } from "./samples.ts";
import { forbidden, instant, invalid, notFound, type Row, useSandbox } from "./support.ts";

const sandbox = useSandbox();
const { control } = sandbox;

const create = async (body: Row = invoice()): Promise<Row> =>
  (await sandbox.post("/invoices", body)).data;
const pathOf = (record: Row | undefined): string => `/invoices/${String(record?.["id"])}`;
const firstItem = (data: Row): Row => (data["lineItems"] as Row[])[0] ?? {};

describe("POST /invoices", () => {
  it("201 Invoice of the caller's company, without tax by default; reading: OUTSTANDING", async () => {
    const { status, data } = await sandbox.post("/invoices", invoice());
    expect(status).toBe(201);
    const born = { companyId: sandbox.company("supplier"), status: "OUTSTANDING", paidAt: null };
    expect(data).toMatchObject({ ...born, tax: 0, taxLines: [] });
  });

  it("answers what was sent", async () => {
    const order = (await control.records("orders", [{}]))[0]?.["id"];
    const sent = {
      invoiceNumber: "INV-7",
      subtotal: 2500,
      tax: 187.65,
      total: 2687.65,
      orderId: order,
      payerCompanyId: sandbox.company("customer"),
      notes: "net 30",
      contractNumber: "C-1",
      poNumber: "PO-1",
    };
    const goods = { product: "ULSD", location: "HOU", spec: "S15", bolNumber: "B" };
    const gallons = { deliveryTicket: "T", carrier: "C", grossGallons: 1002, netGallons: 1000 };
    const item = lineItem({ ...goods, ...gallons });
    const excise = { taxType: "Excise", amount: 187.65, authority: "IRS" };
    const taxLine = { ...excise, rate: 0.18765, gallons: 1000 };
    const data = await create({ ...sent, lineItems: [item], taxLines: [taxLine] });
    expect(data).toMatchObject(sent);
    expect(firstItem(data)).toMatchObject({ ...item, amount: 2500, invoiceId: data["id"] });
    expect((data["taxLines"] as Row[])[0]).toMatchObject({ ...taxLine, invoiceId: data["id"] });
  });

  it("amounts past a double's precision come back to the digit", async () => {
    const exact = "12345678901234567.89";
    const raw = JSON.stringify(invoice()).replace('"total":2500', `"total":${exact}`);
    const headers = { "content-type": "application/json" };
    const { status, text, data } = await sandbox.post("/invoices", undefined, { raw, headers });
    expect(status).toBe(201);
    expect(text).toContain(`"total":${exact}`);
    expect((await sandbox.get(pathOf(data))).text).toContain(`"total":${exact}`);
  });

  it("line items keep their order", async () => {
    const lineItems = ["a", "b", "c"].map((description) => lineItem({ description }));
    const items = (await create(invoice({ lineItems })))["lineItems"] as Row[];
    expect(items.map((item) => item["description"])).toEqual(["a", "b", "c"]);
  });

  it("reading: total need not be subtotal plus tax", async () => {
    expect(await create(invoice({ subtotal: 1, tax: 1, total: 7 }))).toMatchObject({ total: 7 });
  });

  it("reading: invoice numbers are not unique, POST always creates", async () => {
    const body = invoice({ invoiceNumber: "TWICE" });
    const [first, second] = [await create(body), await create(body)];
    expect(first["id"]).not.toBe(second["id"]);
    expect((await sandbox.get("/invoices?search=TWICE")).rows).toHaveLength(2);
  });

  it("reading switched: createdInvoiceStatus DRAFT: a new invoice is not issued yet", async () => {
    await control.readings({ createdInvoiceStatus: "DRAFT" });
    const payerCompanyId = sandbox.company("customer");
    const { status, data } = await sandbox.post("/invoices", invoice({ payerCompanyId }));
    expect([status, data["status"]]).toEqual([201, "DRAFT"]);
    const path = `/invoices/${String(data["id"])}`;
    expect((await sandbox.get(path, { as: "customer" })).status).toBe(404);
  });

  it("reading switched: deduplicateInvoiceNumbers makes no second one", async () => {
    await control.readings({ deduplicateInvoiceNumbers: true });
    const body = invoice({ invoiceNumber: "TWICE" });
    await sandbox.post("/invoices", body);
    await sandbox.post("/invoices", body);
    expect(await control.stored("invoices")).toHaveLength(1);
  });
});

const send = (fields: Row) =>
  sandbox.post("/invoices", invoice({ lineItems: [{ description: "Fuel", ...fields }] }));

describe("rule I1", () => {
  it.each([
    [{}],
    [{ rate: 2.5 }],
    [{ gallons: 10 }],
    [{ rate: null, gallons: null }],
    [{ rate: 2.5, gallons: null }],
  ])("amount is required unless rate and gallons are both present: %j is 400", async (fields) => {
    expect(await send(fields)).toMatchObject(invalid);
  });

  it.each([
    [{ amount: 5 }, 5],
    [{ rate: 2.345, gallons: 1000 }, 2345],
    // A null amount counts as not sent.
    [{ rate: 2.5, gallons: 10, amount: null }, 25],
    // It stands alone when one of them is missing.
    [{ rate: 2.5, amount: 7 }, 7],
    [{ rate: 2.345, gallons: 1000, amount: 2345 }, 2345],
    // Reading: within 0.01.
    [{ rate: 2.345, gallons: 1000, amount: 2345.01 }, 2345.01],
    [{ rate: 2.345, gallons: 1000, amount: 2344.99 }, 2344.99],
    // Exactly that, and not that of a double.
    [{ rate: 0.07, gallons: 100, amount: 7.01 }, 7.01],
    [{ rate: 1.1, gallons: 3, amount: 3.31 }, 3.31],
  ])("%j is taken; without an amount it is rate times gallons: %d", async (fields, amount) => {
    const { status, data } = await send(fields);
    expect(status).toBe(201);
    expect(firstItem(data)).toMatchObject({ ...fields, amount });
  });

  it.each([2345.02, 2344.98, 2345.0101, 0])("amount %d is not", async (amount) => {
    expect(await send({ rate: 2.345, gallons: 1000, amount })).toMatchObject(invalid);
  });

  it("one bad item refuses the invoice as a whole", async () => {
    const lineItems = [lineItem(), { description: "Fee" }];
    expect(await sandbox.post("/invoices", invoice({ lineItems }))).toMatchObject(invalid);
    expect(await control.stored("invoices")).toHaveLength(0);
  });
});

const markPaid = (record: Row | undefined, body?: Row, as = "supplier") =>
  sandbox.put(`${pathOf(record)}/mark-paid`, body, { as });

describe("PUT /invoices/{id}/mark-paid", () => {
  it("answers the updated invoice: PAID", async () => {
    const record = await create();
    const answer = await markPaid(record, {});
    expect(answer).toMatchObject({ status: 200, data: { id: record["id"], status: "PAID" } });
    expect((await sandbox.get(pathOf(record))).data).toMatchObject({ status: "PAID" });
  });

  it("the body is optional; reading: paidAt defaults to now", async () => {
    const now = await control.advance(5000);
    const { status, data } = await markPaid(await create());
    expect(status).toBe(200);
    expect(Math.abs(Date.parse(String(data["paidAt"])) - now)).toBeLessThan(60_000);
  });

  it("the body may carry paidAt", async () => {
    const { data } = await markPaid(await create(), { paidAt: "2026-03-01T12:00:00+01:00" });
    expect(Date.parse(String(data["paidAt"]))).toBe(Date.parse("2026-03-01T11:00:00Z"));
  });

  it("reading: notes replace the notes; without them they stay", async () => {
    const record = await create(invoice({ notes: "old" }));
    expect((await markPaid(record, {})).data).toMatchObject({ notes: "old" });
    expect((await markPaid(record, { notes: "new" })).data).toMatchObject({ notes: "new" });
    expect((await markPaid(record, { notes: null })).data).toMatchObject({ notes: null });
  });

  it.each(["OUTSTANDING", "OVERDUE", "DISPUTED"])("from %s", async (status) => {
    const [record] = await control.records("invoices", [{ status }]);
    expect((await markPaid(record)).data).toMatchObject({ status: "PAID" });
  });

  it.each(["VOID", "DRAFT"])("reading: mark-paid of %s is 400", async (status) => {
    const [record] = await control.records("invoices", [{ status }]);
    expect(await markPaid(record)).toMatchObject(invalid);
    expect((await sandbox.get(pathOf(record))).data).toMatchObject({ status });
  });

  it("reading: the payer gets 403", async () => {
    const record = await create(invoice({ payerCompanyId: sandbox.company("customer") }));
    expect(await markPaid(record, {}, "customer")).toMatchObject(forbidden);
    expect((await sandbox.get(pathOf(record))).data).toMatchObject({ status: "OUTSTANDING" });
  });
});

const paid = async (fields: Row = {}): Promise<string> => {
  const record = await create(invoice({ payerCompanyId: sandbox.company("customer") }));
  const payment = { invoiceId: record["id"], amount: 25.5, method: "ach", paidAt: instant(1) };
  const [row] = await control.records("payments", [{ ...payment, ...fields }]);
  return `/payments/${String(row?.["id"])}`;
};

describe("GET /payments/{id}", () => {
  it.each(["PENDING", "PROCESSING", "SUCCEEDED", "FAILED", "REFUNDED"])(
    "200 Payment, status %s",
    async (status) => {
      const answer = await sandbox.get(await paid({ status }));
      expect(answer).toMatchObject({ status: 200, data: { amount: 25.5, method: "ach", status } });
    },
  );

  it("V1: payer sees it by id, a company that is neither gets 404", async () => {
    const path = await paid();
    expect((await sandbox.get(path, { as: "customer" })).status).toBe(200);
    expect(await sandbox.get(path, { as: "outsider" })).toMatchObject(notFound);
    expect(await sandbox.get(`/payments/${nowhere}`)).toMatchObject(notFound);
  });
});

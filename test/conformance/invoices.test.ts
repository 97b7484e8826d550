/** Part 4, Invoices and payments, rule I1, and the readings about them. */
import { describe, expect, it } from "vitest";
import { invoice, lineItem, nowhere } from "./samples.ts";
import { forbidden, idsOf, instant, invalid, notFound, type Row, useSandbox } from "./support.ts";

const sandbox = useSandbox();
const { control } = sandbox;

const create = async (body: Row = invoice()): Promise<Row> =>
  (await sandbox.post("/invoices", body)).data;
const pathOf = (record: Row | undefined): string => `/invoices/${String(record?.["id"])}`;
const listed = async (query: string, as = "supplier"): Promise<unknown[]> =>
  idsOf((await sandbox.get(`/invoices?${query}`, { as })).rows);
const firstItem = (data: Row): Row => (data["lineItems"] as Row[])[0] ?? {};

describe("POST /invoices", () => {
  it("201 Invoice, owned by the caller's company", async () => {
    const { status, data } = await sandbox.post("/invoices", invoice());
    expect(status).toBe(201);
    expect(data).toMatchObject({ companyId: sandbox.company("supplier") });
  });

  it("reading: created OUTSTANDING", async () => {
    expect(await create()).toMatchObject({ status: "OUTSTANDING", paidAt: null });
  });

  it("tax defaults to 0", async () => {
    expect(await create()).toMatchObject({ tax: 0, taxLines: [] });
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
    const item = lineItem({
      product: "ULSD",
      location: "HOU",
      spec: "S15",
      bolNumber: "B",
      deliveryTicket: "T",
      carrier: "C",
      grossGallons: 1002,
      netGallons: 1000,
    });
    const taxLine = {
      taxType: "Excise",
      amount: 187.65,
      authority: "IRS",
      rate: 0.18765,
      gallons: 1000,
    };
    const data = await create({ ...sent, lineItems: [item], taxLines: [taxLine] });
    expect(data).toMatchObject(sent);
    expect(firstItem(data)).toMatchObject({ ...item, amount: 2500, invoiceId: data["id"] });
    expect((data["taxLines"] as Row[])[0]).toMatchObject({ ...taxLine, invoiceId: data["id"] });
  });

  it("amounts come back with the value that was sent", async () => {
    const amounts = { subtotal: 12345678.91, tax: 0.01, total: 12345678.92 };
    expect(await create(invoice(amounts))).toMatchObject(amounts);
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
    expect(await listed("search=TWICE")).toHaveLength(2);
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
  it("amount is required unless rate and gallons are both present", async () => {
    expect((await send({ amount: 5 })).status).toBe(201);
    expect(await send({})).toMatchObject(invalid);
    expect(await send({ rate: 2.5 })).toMatchObject(invalid);
    expect(await send({ gallons: 10 })).toMatchObject(invalid);
    expect(await send({ rate: null, gallons: null })).toMatchObject(invalid);
    expect(await send({ rate: 2.5, gallons: null })).toMatchObject(invalid);
  });

  it("then it is computed as rate times gallons", async () => {
    const { data } = await send({ rate: 2.345, gallons: 1000 });
    expect(firstItem(data)).toMatchObject({ amount: 2345 });
  });

  it("a null amount counts as not sent", async () => {
    const { data } = await send({ rate: 2.5, gallons: 10, amount: null });
    expect(firstItem(data)).toMatchObject({ amount: 25 });
  });

  it.each([2345, 2345.01, 2344.99])(
    "amount %d stands beside 2.345 × 1000 (reading: within 0.01)",
    async (amount) => {
      const { status, data } = await send({ rate: 2.345, gallons: 1000, amount });
      expect(status).toBe(201);
      expect(firstItem(data)).toMatchObject({ amount });
    },
  );

  it.each([2345.02, 2344.98, 2345.0101, 0])("amount %d does not", async (amount) => {
    expect(await send({ rate: 2.345, gallons: 1000, amount })).toMatchObject(invalid);
  });

  it("the tolerance is exact, not that of a double: 0.07 × 100 + 0.01", async () => {
    expect((await send({ rate: 0.07, gallons: 100, amount: 7.01 })).status).toBe(201);
    expect((await send({ rate: 1.1, gallons: 3, amount: 3.31 })).status).toBe(201);
  });

  it("amount stands alone when one of them is missing", async () => {
    const { data } = await send({ rate: 2.5, amount: 7 });
    expect(firstItem(data)).toMatchObject({ amount: 7, rate: 2.5, gallons: null });
  });

  it("one bad item refuses the invoice as a whole", async () => {
    const lineItems = [lineItem(), { description: "Fee" }];
    expect(await sandbox.post("/invoices", invoice({ lineItems }))).toMatchObject(invalid);
    expect(await control.stored("invoices")).toHaveLength(0);
  });
});

describe("GET /invoices", () => {
  const statuses = ["DRAFT", "OUTSTANDING", "PAID", "OVERDUE", "DISPUTED", "VOID"];

  it.each(statuses)("status=%s", async (status) => {
    const records = await control.records(
      "invoices",
      statuses.map((status) => ({ status })),
    );
    const expected = records.filter((record) => record["status"] === status);
    expect(await listed(`status=${status}`)).toEqual(idsOf(expected));
  });

  it("role defaults to issuer", async () => {
    const own = await create(invoice({ payerCompanyId: sandbox.company("customer") }));
    expect(await listed("")).toEqual([own["id"]]);
    expect(await listed("role=issuer")).toEqual([own["id"]]);
    expect(await listed("role=payer")).toEqual([]);
  });

  it("role=payer lists what the caller has to pay", async () => {
    const own = await create(invoice({ payerCompanyId: sandbox.company("customer") }));
    await create(invoice({ payerCompanyId: sandbox.company("carrier") }));
    expect(await listed("role=payer", "customer")).toEqual([own["id"]]);
    expect(await listed("role=issuer", "customer")).toEqual([]);
  });

  it("reading: drafts are left out of a payer's list", async () => {
    const payerCompanyId = sandbox.company("customer");
    await control.records("invoices", [{ status: "DRAFT", payerCompanyId }]);
    expect(await listed("role=payer", "customer")).toEqual([]);
    expect(await listed("")).toHaveLength(1);
  });

  it("orderId", async () => {
    const [order] = await control.records("orders", [{}]);
    const hit = await create(invoice({ orderId: order?.["id"] }));
    await create();
    expect(await listed(`orderId=${String(order?.["id"])}`)).toEqual([hit["id"]]);
  });

  it.each([
    ["the number", invoice({ invoiceNumber: "A-gate-1" })],
    ["the notes", invoice({ notes: "At the GATE" })],
  ])("search matches %s", async (_where, body) => {
    await create();
    const hit = await create(body);
    expect(await listed("search=gate")).toEqual([hit["id"]]);
  });

  it("search matches nothing else", async () => {
    await create(invoice({ poNumber: "gate", lineItems: [lineItem({ description: "gate" })] }));
    expect(await listed("search=gate")).toEqual([]);
  });

  it.each(["status=OPEN", "role=owner", "orderId=1", `search=${"x".repeat(101)}`])(
    "%s is 400",
    async (query) => {
      expect(await sandbox.get(`/invoices?${query}`)).toMatchObject(invalid);
    },
  );

  it("reading: lists show lines", async () => {
    await create();
    expect((await sandbox.get("/invoices")).rows[0]?.["lineItems"]).toHaveLength(1);
  });

  it("reading switched: listsCarryLines false leaves them to the detail", async () => {
    const record = await create();
    await control.readings({ listsCarryLines: false });
    expect((await sandbox.get("/invoices")).rows[0]?.["lineItems"] ?? []).toEqual([]);
    expect((await sandbox.get(pathOf(record))).data["lineItems"]).toHaveLength(1);
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

  it("V1: a company that is neither gets 404", async () => {
    const record = await create(invoice({ payerCompanyId: sandbox.company("customer") }));
    expect(await markPaid(record, {}, "outsider")).toMatchObject(notFound);
    expect(await markPaid({ id: nowhere })).toMatchObject(notFound);
  });
});

const paid = async (fields: Row = {}): Promise<{ invoice: Row; payment: Row }> => {
  const record = await create(invoice({ payerCompanyId: sandbox.company("customer") }));
  const [payment] = await control.records("payments", [
    { invoiceId: record["id"], amount: 25.5, method: "ach", paidAt: instant(1), ...fields },
  ]);
  return { invoice: record, payment: payment ?? {} };
};

const payments = async (query: string, as = "supplier") =>
  idsOf((await sandbox.get(`/payments?${query}`, { as })).rows);

describe("payments", () => {
  it("GET /payments: role defaults to issuer", async () => {
    const { payment } = await paid();
    expect(await payments("")).toEqual([payment["id"]]);
    expect(await payments("role=payer")).toEqual([]);
  });

  it("GET /payments: role=payer lists the payer's", async () => {
    const { payment } = await paid();
    expect(await payments("role=payer", "customer")).toEqual([payment["id"]]);
    expect(await payments("", "customer")).toEqual([]);
  });

  it("GET /payments: invoiceId", async () => {
    const { invoice, payment } = await paid();
    await paid();
    expect(await payments(`invoiceId=${String(invoice["id"])}`)).toEqual([payment["id"]]);
    expect(await payments(`invoiceId=${nowhere}`)).toEqual([]);
  });

  it.each(["invoiceId=1", "role=owner"])("GET /payments: %s is 400", async (query) => {
    expect(await sandbox.get(`/payments?${query}`)).toMatchObject(invalid);
  });

  it.each(["PENDING", "PROCESSING", "SUCCEEDED", "FAILED", "REFUNDED"])(
    "GET /payments/{id}: 200 Payment, status %s",
    async (status) => {
      const { payment } = await paid({ status });
      const answer = await sandbox.get(`/payments/${String(payment["id"])}`);
      expect(answer).toMatchObject({ status: 200, data: { amount: 25.5, method: "ach", status } });
    },
  );

  it("V1: payer sees it by id, a company that is neither gets 404", async () => {
    const { payment } = await paid();
    const path = `/payments/${String(payment["id"])}`;
    expect((await sandbox.get(path, { as: "customer" })).status).toBe(200);
    expect(await sandbox.get(path, { as: "outsider" })).toMatchObject(notFound);
    expect(await sandbox.get(`/payments/${nowhere}`)).toMatchObject(notFound);
  });
});

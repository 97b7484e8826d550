/** Part 4, rule V1, and part 5, rule 6: what is not visible does not exist. */
import { describe, expect, it } from "vitest";
import { freightRate, invoice, nowhere, order, terminal, ticket } from "./samples.ts";
import { notFound, type Row, useSandbox } from "./support.ts";

const sandbox = useSandbox();
const { control } = sandbox;

const own: [string, Row][] = [
  ["orders", {}],
  ["delivery-tickets", {}],
  ["invoices", { status: "OUTSTANDING" }],
  ["locations", { name: "Yard" }],
  ["supplier-terminals", terminal()],
];
const create = async (resource: string, fields: Row): Promise<string> =>
  `/${resource}/${String((await control.records(resource, [fields]))[0]?.["id"])}`;

describe("V1: a resource of another company answers 404", () => {
  it.each(own)("GET /%s/{id}, and its list has nothing of it", async (resource, fields) => {
    const path = await create(resource, fields);
    expect((await sandbox.get(path)).status).toBe(200);
    for (const as of ["outsider", "supplier-test"])
      expect(await sandbox.get(path, { as })).toMatchObject(notFound);
    expect((await sandbox.get(`/${resource}`, { as: "outsider" })).rows).toEqual([]);
  });

  it.each(["orders", "delivery-tickets", "locations", "supplier-terminals"])(
    "PUT /%s/{id} changes nothing",
    async (resource) => {
      const path = await create(
        resource,
        resource === "supplier-terminals" ? terminal() : { name: "Yard" },
      );
      const before = (await sandbox.get(path)).data;
      expect(await sandbox.put(path, {}, { as: "outsider" })).toMatchObject(notFound);
      expect((await sandbox.get(path)).data).toEqual(before);
    },
  );

  it.each([
    ["POST", "orders", "/notes", { content: "n" }],
    ["GET", "orders", "/notes", undefined],
    ["POST", "delivery-tickets", "/sign", { receiverName: "R" }],
    ["GET", "delivery-tickets", "/pdf", undefined],
    ["GET", "invoices", "/pdf", undefined],
    ["PUT", "invoices", "/mark-paid", {}],
  ] as const)("%s /%s/{id}%s", async (method, resource, tail, body) => {
    const path = await create(resource, resource === "invoices" ? { status: "OUTSTANDING" } : {});
    expect(await sandbox.call(method, path + tail, body, { as: "outsider" })).toMatchObject(
      notFound,
    );
  });

  it("reading: being connected shows no order, location, terminal or price", async () => {
    for (const [resource, fields] of own.filter(([name]) =>
      /orders|locations|terminals/.test(name),
    ))
      expect(await sandbox.get(await create(resource, fields), { as: "customer" })).toMatchObject(
        notFound,
      );
    await control.records("rack-prices", [{ terminalId: "T", product: "ULSD", price: 1 }]);
    expect((await sandbox.get("/pricing/rack", { as: "customer" })).rows).toEqual([]);
  });
});

const billed = async (fields: Row = {}): Promise<string> =>
  create("invoices", {
    ...invoice(),
    status: "OUTSTANDING",
    payerCompanyId: sandbox.company("customer"),
    ...fields,
  });

describe("what is not there answers 404", () => {
  it.each<[Parameters<typeof sandbox.call>[0], string, Row?]>([
    ["GET", "/orders/{id}"],
    ["PUT", "/orders/{id}", { notes: "n" }],
    ["GET", "/orders/{id}/notes"],
    ["POST", "/orders/{id}/notes", { content: "n" }],
    ["PUT", "/invoices/{id}/mark-paid", {}],
    ["GET", "/payments/{id}"],
    ["PUT", "/delivery-tickets/{id}", {}],
    ["GET", "/delivery-tickets/{id}/pdf"],
    ["POST", "/delivery-tickets/{id}/sign", { receiverName: "R. Eceiver" }],
    ["GET", "/locations/{id}"],
    ["PUT", "/locations/{id}", { name: "n" }],
    ["GET", "/supplier-terminals/{id}"],
    ["PUT", "/supplier-terminals/{id}", { name: "n" }],
    ["GET", "/connections/{id}"],
    ["GET", "/connections/{id}/freight-rates"],
    ["POST", "/connections/{id}/freight-rates", freightRate(nowhere)],
    ["PUT", "/freight-rates/{id}", { flatFee: 1 }],
    ["DELETE", "/freight-rates/{id}"],
    ["GET", "/companies/{id}/profile"],
  ])("%s %s", async (method, path, body) => {
    const answer = await sandbox.call(method, path.replace("{id}", nowhere), body);
    expect(answer).toMatchObject(notFound);
  });
});

describe("V1: invoices and payments", () => {
  it("issuer and payer see it", async () => {
    const path = await billed();
    for (const as of ["supplier", "customer"]) {
      expect((await sandbox.get(path, { as })).status).toBe(200);
      expect((await sandbox.get(`${path}/pdf`, { as })).status).toBe(200);
    }
  });

  it("a company that is neither gets 404, same as an unknown id", async () => {
    const path = await billed();
    const foreign = await sandbox.get(path, { as: "carrier" });
    const unknown = await sandbox.get(`/invoices/${nowhere}`, { as: "carrier" });
    expect(foreign).toMatchObject(notFound);
    expect(String(foreign.error["message"]).replace(path.slice(10), "")).toBe(
      String(unknown.error["message"]).replace(nowhere, ""),
    );
  });

  it("a payer reading an unissued draft by id gets 404; reading: its PDF too", async () => {
    const path = await billed({ status: "DRAFT" });
    expect((await sandbox.get(path)).status).toBe(200);
    expect(await sandbox.get(path, { as: "customer" })).toMatchObject(notFound);
    expect(await sandbox.get(`${path}/pdf`, { as: "customer" })).toMatchObject(notFound);
  });
});

it("reading: a ticket is visible to both named companies and the one that wrote it, and listed for the receiver", async () => {
  const path = await create("delivery-tickets", {
    ...ticket(),
    supplierCompanyId: sandbox.company("carrier"),
    receiverCompanyId: sandbox.company("customer"),
  });
  for (const as of ["supplier", "carrier", "customer"])
    expect((await sandbox.get(path, { as })).status, as).toBe(200);
  expect(await sandbox.get(path, { as: "outsider" })).toMatchObject(notFound);
  expect((await sandbox.get("/delivery-tickets", { as: "customer" })).rows).toHaveLength(1);
});

it("reading: a reference to a record that the caller cannot see is 400: an order's location", async () => {
  const [location] = await control.records("locations", [{ name: "Theirs" }], "outsider");
  const answer = await sandbox.post("/orders", order({ locationId: location?.["id"] }));
  expect(answer.status).toBe(400);
});

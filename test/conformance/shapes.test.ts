/** Part 2: every answer has every field of its resource, in the types of the contract. */
import { describe, expect, it } from "vitest";
import { parseExact } from "../../src/core/json.ts";
import { listOf, type Operation, successOf } from "../../src/platform/contract/operation.ts";
import { type OperationId, operations } from "../../src/platform/contract/operations.ts";
import { z } from "zod";
import {
  fields,
  freight,
  freightRate,
  invoice,
  order,
  party,
  terminal,
  ticket,
} from "./samples.ts";
import { type Answer, type Row, useSandbox } from "./support.ts";

const sandbox = useSandbox("conformance");
const { control } = sandbox;

const first = async (path: string): Promise<string> => {
  const { rows } = await sandbox.get(path);
  expect(rows.length, `${path} has records in the conformance scenario`).toBeGreaterThan(0);
  return String(rows[0]?.["id"]);
};
const firstConnection = async (): Promise<string> => {
  const rates = await control.stored("freight-rates");
  expect(rates.length).toBeGreaterThan(0);
  return String(rates[0]?.["connectionId"]);
};

function fits(operation: OperationId, answer: Answer): void {
  const { success } = operations[operation];
  if (!("data" in success)) throw new Error(`${operation} has no data`);
  const envelope = {
    one: () => successOf(success.data),
    list: () => listOf(success.data),
    array: () => successOf(z.array(success.data)),
  }[success.kind]();
  expect(answer.status).toBe(success.status);
  const parsed = envelope.safeParse(parseExact(answer.text));
  expect(parsed.error?.issues).toBeUndefined();
}

const hasAll = (row: Row | undefined, resource: keyof typeof fields): void => {
  expect(Object.keys(row ?? {})).toEqual(expect.arrayContaining([...fields[resource]]));
};

describe("lists hold the fields of their resource", () => {
  const resources: Readonly<Record<string, readonly [OperationId, keyof typeof fields]>> = {
    "/orders": ["listOrders", "Order"],
    "/delivery-tickets": ["listDeliveryTickets", "DeliveryTicket"],
    "/invoices": ["listInvoices", "Invoice"],
    "/payments": ["listPayments", "Payment"],
    "/pricing/rack": ["listRackPrices", "RackPrice"],
    "/connections": ["listConnections", "Connection"],
    "/locations": ["listLocations", "Location"],
    "/supplier-terminals": ["listSupplierTerminals", "SupplierTerminal"],
    "/allocations": ["listAllocations", "Allocation"],
  };
  const isList = ({ path, success }: Operation) =>
    /^(?:list|array)$/.test(success.kind) && !path.includes("{id}");
  const lists = Object.values<Operation>(operations).filter(isList);

  it.each(lists.map(({ path }) => path))("GET %s", async (path) => {
    const [operation, resource] = resources[path] ?? [];
    if (operation === undefined || resource === undefined) throw new Error(`name ${path} here`);
    const answer = await sandbox.get(path);
    fits(operation, answer);
    expect(answer.rows.length).toBeGreaterThan(0);
    for (const row of answer.rows) hasAll(row, resource);
  });

  it.each<[string, OperationId, keyof typeof fields, () => Promise<unknown>]>([
    [
      "/pricing/terminal/{id}",
      "listTerminalPrices",
      "RackPrice",
      async () => (await control.stored("rack-prices"))[0]?.["terminalId"],
    ],
    [
      "/connections/{id}/freight-rates",
      "listFreightRates",
      "ConnectionFreightRate",
      firstConnection,
    ],
    [
      "/orders/{id}/notes",
      "listOrderNotes",
      "PublicOrderNote",
      async () => (await control.stored("order-notes"))[0]?.["orderId"],
    ],
  ])("GET %s: data is an array: %s of %s", async (path, operation, resource, id) => {
    const answer = await sandbox.get(path.replace("{id}", String(await id())));
    fits(operation, answer);
    hasAll(answer.rows[0], resource);
  });
});

describe("details hold the fields of their resource", () => {
  it.each<[string, OperationId, keyof typeof fields]>([
    ["/orders", "getOrder", "Order"],
    ["/delivery-tickets", "getDeliveryTicket", "DeliveryTicket"],
    ["/invoices", "getInvoice", "Invoice"],
    ["/payments", "getPayment", "Payment"],
    ["/connections", "getConnection", "Connection"],
    ["/locations", "getLocation", "Location"],
    ["/supplier-terminals", "getSupplierTerminal", "SupplierTerminal"],
  ])("GET %s/{id}", async (path, operation, resource) => {
    const answer = await sandbox.get(`${path}/${await first(path)}`);
    fits(operation, answer);
    hasAll(answer.data, resource);
  });

  it("GET /orders/{id}: with lines, bids, pickup, delivery", async () => {
    const { data } = await sandbox.get(`/orders/${await first("/orders")}`);
    for (const line of data["lines"] as Row[]) hasAll(line, "OrderLine");
    expect(Object.keys(data)).toEqual(expect.arrayContaining(["bids", "pickup", "delivery"]));
  });

  it("GET /invoices/{id}: with line items and tax lines", async () => {
    const rows = await control.stored("invoices");
    const id = rows.find((row) => (row["taxLines"] as Row[]).length > 0)?.["id"];
    const { data } = await sandbox.get(`/invoices/${String(id)}`);
    for (const item of data["lineItems"] as Row[]) hasAll(item, "InvoiceLineItem");
    for (const tax of data["taxLines"] as Row[]) hasAll(tax, "InvoiceTaxLine");
  });

  it("GET /locations/{id}: with contacts and assets", async () => {
    const { data } = await sandbox.get(`/locations/${await first("/locations")}`);
    expect(Object.keys((data["contacts"] as Row[])[0] ?? {})).toEqual(
      expect.arrayContaining(["name", "title", "email", "phone", "isPrimary"]),
    );
    hasAll((data["assets"] as Row[])[0], "Asset");
  });

  it("GET /companies/{id}/profile", async () => {
    const answer = await sandbox.get(`/companies/${sandbox.company("supplier")}/profile`);
    fits("getCompanyProfile", answer);
    hasAll(answer.data, "CompanyProfile");
    expect(answer.data).toMatchObject({ id: sandbox.company("supplier"), type: "SUPPLIER" });
  });
});

describe("writes answer their resource", () => {
  it.each<[OperationId, string, () => Row, keyof typeof fields]>([
    ["createOrder", "/orders", order, "Order"],
    ["createDeliveryTicket", "/delivery-tickets", ticket, "DeliveryTicket"],
    ["createInvoice", "/invoices", invoice, "Invoice"],
    ["calculateFreight", "/pricing/freight-calculate", freight, "FreightQuote"],
    ["createCustomer", "/customers", party, "NetworkParty"],
    ["createSupplier", "/suppliers", party, "NetworkParty"],
    ["createSupplierTerminal", "/supplier-terminals", terminal, "SupplierTerminal"],
  ])("%s: POST %s", async (operation, path, body, resource) => {
    const answer = await sandbox.post(path, body());
    fits(operation, answer);
    hasAll(answer.data, resource);
  });

  it("createFreightRate", async () => {
    const connection = await firstConnection();
    const answer = await sandbox.post(
      `/connections/${connection}/freight-rates`,
      freightRate(connection),
    );
    fits("createFreightRate", answer);
    hasAll(answer.data, "ConnectionFreightRate");
  });

  it("addOrderNote", async () => {
    const path = `/orders/${await first("/orders")}/notes`;
    const answer = await sandbox.post(path, { content: "Call first" });
    fits("addOrderNote", answer);
    hasAll(answer.data, "PublicOrderNote");
  });

  it.each<[OperationId, string, Row]>([
    ["updateOrder", "/orders", { notes: "n" }],
    ["updateDeliveryTicket", "/delivery-tickets", { bolNumber: "B" }],
    ["updateLocation", "/locations", { name: "Yard" }],
    ["updateSupplierTerminal", "/supplier-terminals", { name: "Yard" }],
  ])("%s: PUT %s/{id}", async (operation, path, body) => {
    fits(operation, await sandbox.put(`${path}/${await first(path)}`, body));
  });
});

describe("files", () => {
  it.each(["/invoices", "/delivery-tickets"])(
    "GET %s/{id}/pdf: binary application/pdf",
    async (path) => {
      const answer = await sandbox.get(`${path}/${await first(path)}/pdf`);
      expect(answer.status).toBe(200);
      expect(answer.headers.get("content-type")).toBe("application/pdf");
      expect(answer.text.startsWith("%PDF-")).toBe(true);
    },
  );
});

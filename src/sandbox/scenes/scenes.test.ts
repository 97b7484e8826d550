import { describe, expect, it } from "vitest";
import type { z } from "zod";
import { Decimal } from "../../core/decimal.ts";
import { type Json, parseExact, stringifyExact } from "../../core/json.ts";
import { invoiceStatuses, paymentStatuses } from "../../platform/contract/invoice.ts";
import { priceUnits } from "../../platform/contract/pricing.ts";
import { CompanyProfile } from "../../platform/contract/place.ts";
import { ticketStatuses } from "../../platform/contract/delivery-ticket.ts";
import { orderStatuses } from "../../platform/contract/order.ts";
import { type RawRecord, type ResourceName, resourceNames, schemas } from "../kinds.ts";
import { companies, generate, isSceneName, type Scene, scene, type SceneName } from "./index.ts";

const { supplier, customer, carrier, outsider, supplierTest } = companies;
const now = new Date("2026-08-20T12:34:56.789Z");
const names: SceneName[] = ["empty", "conformance", "demo"];
const options = { companyId: supplier.id, payerCompanyId: customer.id, now };
const sample = { ...options, orders: 500, deliveryTickets: 500, invoices: 500, rackPrices: 500 };

const counts = ({ records }: Scene): Record<string, number> =>
  Object.fromEntries(Object.entries(records).map(([resource, list]) => [resource, list.length]));
const all = ({ records }: Scene): RawRecord[] => Object.values(records).flat();
const statuses = (list: readonly RawRecord[]): Set<Json | undefined> =>
  new Set(list.map((record) => record["status"]));
const rows = (record: RawRecord, field: string): RawRecord[] =>
  (record[field] ?? []) as RawRecord[];
const timeless = (value: unknown): string =>
  stringifyExact(value).replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "(time)");

function* ids(value: unknown): Generator<string> {
  if (typeof value !== "object" || value === null) return;
  for (const [field, inner] of Object.entries(value))
    if (field === "id") yield inner as string;
    else yield* ids(inner);
}

/** Digits as they go over the wire. */
const exact = (value: Json | undefined): Decimal => Decimal.of(stringifyExact(value));
const total = (list: readonly RawRecord[]): Decimal =>
  Decimal.sum(list.map((row) => exact(row["amount"])));

function expectToAddUp(invoice: RawRecord): void {
  const [lines, taxes] = [rows(invoice, "lineItems"), rows(invoice, "taxLines")];
  for (const row of [...lines, ...taxes]) {
    if (row["gallons"] === null || row["rate"] === null) continue;
    const product = exact(row["rate"]).times(exact(row["gallons"])).round(2);
    expect(exact(row["amount"]).plain()).toBe(product.plain());
    expect(stringifyExact(row["rate"])).toMatch(/^\d+(\.\d{1,6})?$/);
  }
  for (const field of ["subtotal", "tax", "total"])
    expect(stringifyExact(invoice[field])).toMatch(/^\d+(\.\d\d?)?$/);
  expect(total(lines).plain()).toBe(exact(invoice["subtotal"]).plain());
  expect(total(taxes).plain()).toBe(exact(invoice["tax"]).plain());
  const sum = exact(invoice["subtotal"]).plus(exact(invoice["tax"]));
  expect(sum.plain()).toBe(exact(invoice["total"]).plain());
}

function expectTimesInOrder(record: RawRecord): void {
  const [created, updated] = [record["createdAt"] as string, record["updatedAt"] as string];
  if (updated === undefined) return;
  expect(created <= updated).toBe(true);
  expect(updated <= now.toISOString()).toBe(true);
  expect(updated >= new Date(now.getTime() - 30 * 86_400_000).toISOString()).toBe(true);
}

/** Nothing left out, nested rows included: a field that the schema had to fill in would be one. */
function expectWhole(schema: z.ZodObject, record: unknown): void {
  const sent = parseExact(stringifyExact(record));
  const { data, error } = schema.safeParse(sent);
  expect(error?.issues ?? []).toEqual([]);
  expect([...fields(data)].sort()).toEqual([...fields(sent)].sort());
}

function* fields(value: unknown, path = ""): Generator<string> {
  if (typeof value !== "object" || value === null || value instanceof Decimal) return;
  for (const [field, inner] of Object.entries(value)) {
    yield `${path}.${field}`;
    yield* fields(inner, `${path}.${field}`);
  }
}

const isGiven = (value: unknown): boolean => value !== undefined;

describe.each(names)("scene %s", (name) => {
  const told = scene(name, now);

  it("is the same on every start, apart from times", () => {
    expect(timeless(scene(name, now))).toBe(timeless(told));
    expect(timeless(scene(name, new Date("2027-02-28T23:59:59.999Z")))).toBe(timeless(told));
  });

  it("gives records that the caller may change", () => {
    const again = scene(name, now);
    for (const record of all(again)) record["status"] = "changed";
    expect(scene(name, now)).toEqual(told);
  });

  it("gives no id twice", () => {
    const list = [...ids([told.companies, told.records])].filter((id) => !id.startsWith("fee-"));
    expect(new Set(list).size).toBe(list.length);
  });

  it("has whole records that the contract accepts", () => {
    for (const company of told.companies) expectWhole(CompanyProfile, company);
    for (const resource of resourceNames)
      for (const record of told.records[resource]) expectWhole(schemas[resource], record);
  });

  it("says whose every record is, and changed it within the last 30 days", () => {
    const known = new Set(told.companies.map(({ id }) => id));
    for (const record of all(told)) {
      const owners = [record["companyId"], record["ownerCompanyId"]].filter(isGiven);
      expect(owners).toHaveLength(1);
      expect(known).toContain(owners[0]);
      expectTimesInOrder(record);
    }
  });

  it("refers to nothing that is not there", () => {
    const known = new Set(ids([told.companies, told.records]));
    const check = (value: unknown): void => {
      if (typeof value !== "object" || value === null) return;
      for (const [field, inner] of Object.entries(value))
        if (/[a-z]Id$/.test(field) && !/^(erp|terminal|processorCharge)Id$/.test(field))
          expect(inner === null || known.has(inner as string), `${field} ${inner}`).toBe(true);
        else check(inner);
    };
    check(told.records);
  });

  it("points nested rows to their record", () => {
    for (const invoice of told.records.invoices)
      for (const row of [...rows(invoice, "lineItems"), ...rows(invoice, "taxLines")])
        expect(row["invoiceId"]).toBe(invoice.id);
    for (const order of told.records.orders)
      for (const line of rows(order, "lines")) expect(line["orderId"]).toBe(order.id);
  });

  it("has invoices that add up to the cent", () => {
    for (const invoice of told.records.invoices) expectToAddUp(invoice);
  });

  it("connects the supplier to his customer and his carrier, and nobody to the others", () => {
    const { connections } = told.records;
    const accepted = connections.filter(({ status }) => status === "ACCEPTED");
    const partners = accepted.map((connection) => connection["toCompanyId"]);
    expect(partners).toEqual(expect.arrayContaining([customer.id, carrier.id]));
    for (const connection of connections) expect(connection["fromCompanyId"]).toBe(supplier.id);
    for (const { id } of [outsider, supplierTest])
      expect(stringifyExact(told.records)).not.toContain(id);
  });
});

describe("scene conformance", () => {
  const told = scene("conformance", now);

  it("has a handful of every resource, all of it the supplier's", () => {
    for (const [resource, count] of Object.entries(counts(told)))
      expect(count, resource).toBeGreaterThanOrEqual(resource === "connections" ? 2 : 3);
    for (const record of all(told))
      expect(record["companyId"] ?? record["ownerCompanyId"]).toBe(supplier.id);
  });

  it("shows every status and unit", () => {
    const { records } = told;
    expect(statuses(records.orders).size).toBe(6);
    expect(statuses(records.invoices)).toEqual(new Set(invoiceStatuses));
    expect(statuses(records["delivery-tickets"])).toEqual(new Set(ticketStatuses));
    expect(statuses(records.payments)).toEqual(new Set(paymentStatuses));
    const units = new Set(records["rack-prices"].map((price) => price["unit"]));
    expect(units).toEqual(new Set(priceUnits));
    expect(records.allocations.map((row) => row["brand"])).toContain("Bluebonnet");
    expect(records["freight-rates"].some((rate) => rows(rate, "customFees").length > 0)).toBe(true);
  });
});

describe("scene demo", () => {
  const told = scene("demo", now);
  const { records } = told;

  it("has the counts that the documentation promises", () => {
    expect(counts(told)).toMatchObject({
      orders: 400,
      "delivery-tickets": 350,
      "rack-prices": 400,
      "supplier-terminals": 40,
    });
    expect(told.companies.filter(({ type }) => type === "CUSTOMER")).toHaveLength(60);
    expect(new Set(records["rack-prices"].map((price) => price["product"])).size).toBe(12);
    expect(statuses(records.orders)).toEqual(new Set(orderStatuses));
  });

  it("has 300 invoices that the supplier can see, and a draft that he cannot", () => {
    const issued = records.invoices.filter((invoice) => invoice["companyId"] === supplier.id);
    const due = records.invoices.filter((invoice) => invoice["payerCompanyId"] === supplier.id);
    const drafts = due.filter(({ status }) => status === "DRAFT");
    expect([issued.length, due.length, drafts.length]).toEqual([240, 61, 1]);
    expect(issued.length + due.length).toBe(records.invoices.length);
    expect(statuses(issued)).toEqual(new Set(invoiceStatuses));
    const numbers = records.invoices.map((invoice) =>
      stringifyExact([invoice["companyId"], invoice["invoiceNumber"]]),
    );
    expect(new Set(numbers).size).toBe(numbers.length);
  });

  it("knows every customer by a number of the ERP", () => {
    const numbers = records.connections.flatMap(({ erpId }) =>
      typeof erpId === "string" && erpId.startsWith("A-") ? [erpId] : [],
    );
    expect(new Set(numbers).size).toBe(60);
  });

  it("pays a paid invoice in full", () => {
    for (const invoice of records.invoices.filter(({ status }) => status === "PAID")) {
      const paid = records.payments.filter(({ invoiceId }) => invoiceId === invoice.id);
      expect(total(paid).plain()).toBe(exact(invoice["total"]).plain());
    }
  });

  it("has nothing overdue before its day", () => {
    for (const invoice of records.invoices) {
      const due = invoice["dueDate"] as string;
      if (invoice["status"] === "OVERDUE") expect(due < now.toISOString()).toBe(true);
      if (invoice["status"] === "OUTSTANDING") expect(due > now.toISOString()).toBe(true);
    }
  });

  it("has one price and one allocation each for what tells them apart", () => {
    const keys = [...records["rack-prices"], ...records.allocations].map((row) =>
      stringifyExact(
        ["terminalId", "product", "period", "brand", "supplierId"].map((field) => row[field]),
      ),
    );
    expect(new Set(keys).size).toBe(keys.length);
  });

  it("has the oddities that a bridge must survive", () => {
    const text = stringifyExact(told);
    for (const oddity of ['"=SUM(', "28390.5", "Café", '\\"Quick Fill\\"', '"+Plus', '"-30-'])
      expect(text).toContain(oddity);
  });
});

describe("generate", () => {
  const made = [...generate(sample)];
  const of = (resource: ResourceName): RawRecord[] =>
    made.filter((one) => one.resource === resource).map(({ record }) => record);

  it("makes as many as asked for", () => {
    expect(resourceNames.map((resource) => of(resource).length).filter(Boolean)).toEqual([
      500, 500, 500, 500,
    ]);
    expect([...generate(options)]).toEqual([]);
    expect([...generate({ ...options, invoices: 3 })]).toHaveLength(3);
  });

  it("makes whole records that the contract accepts, within the last 30 days", () => {
    for (const { resource, record } of made) {
      expectWhole(schemas[resource], record);
      expectTimesInOrder(record);
    }
  });

  it("makes invoices that add up to the cent and that the payer can see", () => {
    for (const invoice of of("invoices")) {
      expectToAddUp(invoice);
      expect(invoice).toMatchObject({ companyId: supplier.id, payerCompanyId: customer.id });
      expect(invoice["status"]).not.toBe("DRAFT");
    }
  });

  it("repeats itself with the seed, apart from times", () => {
    const again = [...generate({ ...sample, seed: 1, now: new Date("2027-01-01T00:00:00.000Z") })];
    expect(timeless(again)).toBe(timeless(made));
  });

  it("shares no id with another seed, another company or a scene", () => {
    const others = [
      ...generate({ ...sample, seed: 2 }),
      ...generate({ ...sample, companyId: supplierTest.id }),
    ];
    const list = [...ids([made, others, names.map((name) => scene(name, now).records.orders)])];
    expect(new Set(list).size).toBe(list.length);
  });

  it("gives a terminal and product one price, whatever the seed", () => {
    const prices = [
      of("rack-prices"),
      [...generate({ ...options, rackPrices: 500, seed: 2 })].map(({ record }) => record),
    ].flat();
    const keys = prices.map(
      (price) => `${price["terminalId"] as string} ${price["product"] as string}`,
    );
    expect(new Set(keys).size).toBe(keys.length);
  });

  it("is lazy", () => {
    const endless = generate({ ...options, orders: Number.MAX_SAFE_INTEGER });
    expect(endless.next().value).toMatchObject({ resource: "orders" });
  });
});

it("knows the names of the scenes", () => {
  expect(names.every(isSceneName)).toBe(true);
  expect(isSceneName("toString")).toBe(false);
});

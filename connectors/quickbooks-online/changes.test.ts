/** What a source tells by change data capture: changes and deletions, at what cost, and when QuickBooks cannot tell all. */
import { expect, test } from "vitest";
import type { Page, Reading, Source } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { type Json, parseExact } from "../../src/core/json.ts";
import type { Company, Record_ } from "./company.fixture.ts";
import { openCompany } from "./company-server.fixture.ts";
import { never, opened, settings } from "./quickbooks-online.fixture.ts";

const sourceOf = (company: Company, name: string, now?: () => Date): Source =>
  opened(settings(company, { prices: { list: "T-1" } }), now === undefined ? {} : { now }).sources[
    name
  ] as Source;

const READING: Reading = { signal: never, known: () => null, stored: () => false };

/** All pages after a position, as one: changes as records by their ids. */
async function readAll(source: Source, from: Json | null) {
  const pages: Page[] = [];
  for await (const page of source.read(from, READING)) pages.push(page);
  return {
    records: Object.fromEntries(
      pages.flatMap(({ changes }) =>
        changes.map(({ id, text }) => [id, parseExact(text) as Record<string, unknown>] as const),
      ),
    ),
    faults: Object.fromEntries(
      pages.flatMap(({ changes }) => changes.map(({ id, fault }) => [id, fault?.code ?? null])),
    ),
    notices: pages.flatMap(({ notices }) => notices ?? []),
    position: pages.at(-1)?.position ?? from,
  };
}

const enterInvoice = (company: Company, customer: Record_, DocNumber: string): Record_ =>
  company.enter("Invoice", {
    DocNumber,
    TxnDate: "2026-11-21",
    CustomerRef: { value: customer.Id, name: customer["DisplayName"] },
    Line: [
      {
        DetailType: "SalesItemLineDetail",
        Amount: Decimal.of("100.00"),
        SalesItemLineDetail: { ItemRef: { value: "1", name: "ULSD-CLR" } },
      },
    ],
  });

test("once all was read, a look is one call: it tells what changed, once, and what was deleted", async () => {
  const company = await openCompany();
  const customer = company.enter("Customer", { DisplayName: "Old Ranch" });
  const [kept, gone] = ["FL-1", "FL-2"].map((one) => enterInvoice(company, customer, one));
  const source = sourceOf(company, "invoices");
  const first = await readAll(source, null);
  expect(Object.keys(first.records)).toHaveLength(2);
  company.asked.length = 0;
  const again = await readAll(source, first.position);
  expect(company.asked[0]).toBe("cdc Invoice,Payment");
  company.asked.length = 0;
  expect((await readAll(source, again.position)).records).toEqual({});
  expect(company.asked).toEqual(["cdc Invoice,Payment"]);

  company.edit("Invoice", kept?.Id ?? "", { DueDate: "2026-12-31" });
  company.delete("Invoice", gone?.Id ?? "");
  const { records, position } = await readAll(source, again.position);
  expect(records).toMatchObject({
    [kept?.Id ?? ""]: { number: "FL-1", dueDate: "2026-12-31" },
    [gone?.Id ?? ""]: { number: gone?.Id, state: "deleted" },
  });
  company.asked.length = 0;
  expect((await readAll(source, position)).records).toEqual({});
  expect(company.asked).toEqual(["cdc Invoice,Payment"]);
});

test.each(["delete", "takeOff"] as const)(
  "a payment that a person has taken away (%s) opens its invoice again, though QuickBooks does not stamp the invoice",
  async (away) => {
    const company = await openCompany();
    company.stampsPaid = false;
    const customer = company.enter("Customer", { DisplayName: "Old Ranch" });
    const invoice = enterInvoice(company, customer, "FL-1");
    const payment = company.settle(invoice, "2026-11-22");
    const source = sourceOf(company, "paidInvoices");
    const first = await readAll(source, null);
    expect(first.records[invoice.Id]).toMatchObject({ state: "paid" });
    company[away]("Payment", payment.Id);
    const { records } = await readAll(source, first.position);
    expect(records[invoice.Id]).toMatchObject({ state: "posted", number: invoice.Id });
  },
);

test("a deleted customer is told as inactive, a deleted item is not; a notice names each", async () => {
  const company = await openCompany();
  const customer = company.enter("Customer", { DisplayName: "Old Ranch" });
  for (const [name, table, id, told] of [
    ["parties", "Customer", customer.Id, { [`C-${customer.Id}`]: { active: false } }],
    ["prices", "Item", "1", {}],
  ] as const) {
    const source = sourceOf(company, name);
    const { position } = await readAll(source, (await readAll(source, null)).position);
    company.delete(table, id);
    const { records, notices } = await readAll(source, position);
    expect(records).toMatchObject(told);
    expect(Object.keys(records)).toEqual(Object.keys(told));
    expect(notices).toEqual([expect.stringContaining(name === "parties" ? `C-${id}` : "item 1")]);
  }
});

test("two items of one name, as categories have them, have no single price, whichever was changed last", async () => {
  const company = await openCompany();
  const item = { Name: "DYED", UnitPrice: Decimal.of("2.25"), Active: true };
  company.enter("Item", { ...item, FullyQualifiedName: "North:DYED" });
  const source = sourceOf(company, "prices");
  const faults = async (from: Json | null) => {
    const { faults, position } = await readAll(source, from);
    return [faults["T-1|DYED"], position] as const;
  };
  const [one, first] = await faults(null);
  expect(one).toBeNull();
  const twin = { ...item, UnitPrice: Decimal.of("2.5"), FullyQualifiedName: "South:DYED" };
  const { Id } = company.enter("Item", twin);
  const [two, second] = await faults(first);
  expect(two).toBe("no-single-price");
  company.edit("Item", Id, { UnitPrice: Decimal.of("2.6") });
  expect((await faults(second))[0]).toBe("no-single-price");
});

test("an item whose price has the tax in it says so: rack prices are without", async () => {
  const company = await openCompany();
  const price = { UnitPrice: Decimal.of("2.25"), SalesTaxIncluded: true, Active: true };
  company.enter("Item", { ...price, Name: "DYED", FullyQualifiedName: "DYED" });
  const { records } = await readAll(sourceOf(company, "prices"), null);
  expect(records["T-1|DYED"]).toMatchObject({ taxIncluded: true });
});

test("an inactive item has no price under the name that QuickBooks gives it, and its twin's counts alone", async () => {
  const company = await openCompany();
  const item = { Name: "DYED", UnitPrice: Decimal.of("2.25"), Active: true };
  company.enter("Item", { ...item, FullyQualifiedName: "North:DYED" });
  const twin = { ...item, UnitPrice: Decimal.of("2.5"), FullyQualifiedName: "South:DYED" };
  const { Id } = company.enter("Item", twin);
  const source = sourceOf(company, "prices");
  const first = await readAll(source, null);
  expect(first.faults).toMatchObject({ "T-1|DYED": "no-single-price" });
  company.edit("Item", Id, { Active: false });
  const second = await readAll(source, first.position);
  expect(second.faults).toEqual({ "T-1|DYED": null });
  expect(second.records["T-1|DYED"]).toMatchObject({ price: Decimal.of("2.25") });
});

test("customers and vendors are held for reconciliation, inactive ones as ended, each in its role", async () => {
  const company = await openCompany();
  const enter = (table: "Customer" | "Vendor", name: string, more: object = {}): string =>
    company.enter(table, { DisplayName: name, ...more }).Id;
  const ids = [
    `C-${enter("Customer", "Old Ranch", { Notes: "platform:co-1" })}`,
    `C-${enter("Customer", "Older Ranch", { Active: false })}`,
    `V-${enter("Vendor", "Gulf", { Active: false })}`,
  ];
  const { holdings } = opened(settings(company));
  const scope = { dated: null, changedSince: null, open: true };
  const held = [];
  for await (const page of holdings?.list("party", scope, null, never) ?? [])
    held.push(...page.holdings);
  const told = held.map(({ id, role, mark, facts }) => [id, role, mark, facts.state]);
  expect(told).toEqual([
    [ids[0], "customer", "co-1", "open"],
    [ids[1], "customer", null, "ended"],
    [ids[2], "supplier", null, "ended"],
  ]);
  const again = await holdings?.get("party", ids.slice(1), never);
  expect(again?.map(({ id }) => id)).toEqual(ids.slice(1));
});

test("a position of a month ago is walked by queries, and a notice says what is not told", async () => {
  const company = await openCompany();
  const customer = company.enter("Customer", { DisplayName: "Old Ranch" });
  let aheadMs = 0;
  const now = () => new Date(Date.now() + aheadMs);
  const source = sourceOf(company, "invoices", now);
  const first = await readAll(source, null);
  for (const days of [29, 40]) {
    aheadMs = days * 86_400_000;
    const row = enterInvoice(company, customer, `FL-${days}`);
    company.asked.length = 0;
    const { records, notices } = await readAll(source, first.position);
    expect(records[row.Id]).toMatchObject({ number: `FL-${days}` });
    expect(notices).toEqual([expect.stringMatching(/what was deleted is not told/)]);
    expect(company.asked.filter((path) => path.startsWith("cdc"))).toEqual([]);
  }
  // The two clocks differ: QuickBooks refuses the question, and nothing is lost either.
  aheadMs = 0;
  company.clockMs = 40 * 86_400_000;
  const late = enterInvoice(company, customer, "FL-late");
  const { records, notices } = await readAll(source, first.position);
  expect(records[late.Id]).toMatchObject({ number: "FL-late" });
  expect(notices).toHaveLength(1);
});

test("an answer of 1,000 objects may be cut off: all that is there is told, and a notice says what is not", async () => {
  const company = await openCompany();
  const customer = company.enter("Customer", { DisplayName: "Old Ranch" });
  const source = sourceOf(company, "parties");
  const { position } = await readAll(source, null);
  company.delete("Customer", customer.Id);
  for (let at = 0; at < 1000; at++) {
    // A hundred in a second.
    if (at % 100 === 0) company.clockMs += 1000;
    company.enter("Vendor", { DisplayName: `Vendor ${at}` });
  }
  // Killed after three pages: the next read goes on.
  const before: Page[] = [];
  for await (const page of source.read(position, READING)) if (before.push(page) === 3) break;
  const { records } = await readAll(source, before.at(-1)?.position ?? null);
  const ids = [
    ...before.flatMap(({ changes }) => changes.map(({ id }) => id)),
    ...Object.keys(records),
  ];
  expect(new Set(ids).size).toBe(1001);
  expect(before.flatMap(({ notices }) => notices ?? [])).toEqual([
    expect.stringMatching(/what was deleted is not told/),
    expect.stringContaining(`C-${customer.Id}`),
  ]);
});

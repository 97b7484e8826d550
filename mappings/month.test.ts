/** The demo's month through the mappings for books: all of it maps, to the cent and the gallon. */
import { calendarOf } from "../src/core/calendar.ts";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openTables } from "../src/config/crossref.ts";
import type { References } from "../src/core/contract.ts";
import { Decimal } from "../src/core/decimal.ts";
import { NotMapped } from "../src/core/errors.ts";
import { parseExact } from "../src/core/json.ts";
import { companies } from "../src/sandbox/scenes/companies.ts";
import { demo } from "../src/sandbox/scenes/demo.ts";
import { mappings } from "./index.ts";

const { records } = demo(new Date("2026-11-21T12:00:00Z"));
const us = companies.supplier.id;
const tables = openTables(join(import.meta.dirname, "../config/crossref"));

/** Nothing is delivered yet, except what others wait for. */
const references: References = {
  currency: "USD",
  dayOf: calendarOf("America/Chicago"),
  find: () => null,
  counterpart: (kind, id) => `${kind} ${id}`,
  row(table, key) {
    const row = tables.row(table, key);
    if (row === null) throw new NotMapped(table, key);
    return row;
  },
};

type Row = Readonly<Record<string, unknown>>;
interface Mapped {
  readonly type: string;
  readonly party?: { readonly code: string };
}

function judged(name: string, rows: readonly Row[]) {
  const mapping = mappings.find((candidate) => candidate.name === name);
  if (mapping === undefined) throw new Error(`no mapping ${name}`);
  const skipped = new Map<string, number>();
  const documents: Mapped[] = [];
  const amounts: Decimal[] = [];
  const gallons: Decimal[] = [];
  for (const row of rows) {
    const out = mapping.map(mapping.input.parse(parseExact(JSON.stringify(row))), references);
    if (typeof out === "object" && out !== null && "skip" in out) {
      const why = String(out.skip);
      skipped.set(why, (skipped.get(why) ?? 0) + 1);
      continue;
    }
    const document = mapping.output.parse(out);
    documents.push(document as Mapped);
    const figures = mapping.figures(document);
    amounts.push(figures.amount ?? Decimal.zero);
    gallons.push(figures.gallons ?? Decimal.zero);
  }
  return {
    documents,
    skipped: Object.fromEntries(skipped),
    amount: Decimal.sum(amounts).fixed(2),
    gallons: Decimal.sum(gallons).plain(),
  };
}

const totals = (rows: readonly Row[], field: string, leaving: readonly string[]): string =>
  Decimal.sum(
    rows
      .filter(({ status }) => !leaving.includes(String(status)))
      .map((row) => Decimal.of(String(row[field]))),
  ).fixed(2);
const count = (rows: readonly Row[], status: string): number =>
  rows.filter((row) => row["status"] === status).length;

test.each([
  ["books/customer-invoices", "companyId", "out"],
  ["books/supplier-invoices", "payerCompanyId", "in"],
])("%s: every invoice that counts, at its total", (name, field, type) => {
  const rows = records.invoices.filter((row: Row) => row[field] === us);
  const { documents, skipped, amount } = judged(name, rows);
  const left = Object.values(skipped).reduce((sum, each) => sum + each, 0);
  expect(documents.length).toBeGreaterThan(20);
  expect(left).toBe(count(rows, "DRAFT") + count(rows, "VOID"));
  expect(documents.length).toBe(rows.length - left);
  expect(amount).toBe(totals(rows, "total", ["DRAFT", "VOID"]));
  expect(new Set(documents.map((document) => document.type))).toEqual(new Set([type]));
});

test("books/orders: every confirmed order is a sale to the customer whose site it is for", () => {
  const { documents, skipped } = judged("books/orders", records.orders);
  const early = ["DRAFT", "POSTED", "BIDDING", "ASSIGNED", "CANCELLED"];
  expect(skipped).toEqual(
    Object.fromEntries(
      early.map((status) => [status.toLowerCase(), count(records.orders, status)]),
    ),
  );
  expect(new Set(documents.map(({ type }) => type))).toEqual(new Set(["sale"]));
  const customers = new Set(documents.map(({ party }) => party?.code));
  expect(customers.size).toBeGreaterThan(40);
});

test("books/delivery-tickets: net gallons of every ticket that was issued", () => {
  const rows = records["delivery-tickets"].filter(
    (row: Row) => row["supplierCompanyId"] === us || row["receiverCompanyId"] === us,
  );
  const { documents, skipped, gallons } = judged("books/delivery-tickets", rows);
  expect(skipped).toEqual({ draft: count(rows, "DRAFT"), void: count(rows, "VOID") });
  expect(documents.length).toBeGreaterThan(100);
  const issued = rows.filter((row: Row) => row["status"] !== "DRAFT" && row["status"] !== "VOID");
  const net = issued.flatMap((row: Row) =>
    (row["productLines"] as { net_gallons: number }[]).map(({ net_gallons }) =>
      Decimal.of(String(net_gallons)),
    ),
  );
  expect(gallons).toBe(Decimal.sum(net).plain());
});

test("books/payments-received: every payment that went through, and no other", () => {
  const issued = new Set(
    records.invoices.filter((row: Row) => row["companyId"] === us).map(({ id }) => id),
  );
  const rows = records.payments.filter((row: Row) => issued.has(row["invoiceId"] as string));
  const { documents, amount } = judged("books/payments-received", rows);
  expect(documents.length).toBe(count(rows, "SUCCEEDED"));
  const others = ["PENDING", "PROCESSING", "FAILED", "REFUNDED"];
  expect(amount).toBe(totals(rows, "amount", others));
});

/** The demo's month through the mappings for files and for books: all that counts maps, to the cent and the gallon. */
import { expect, test } from "vitest";
import { Decimal } from "../src/core/decimal.ts";
import { parseExact } from "../src/core/json.ts";
import { companies } from "../src/sandbox/scenes/companies.ts";
import { demo } from "../src/sandbox/scenes/demo.ts";
import { judged, mappingNamed, sum } from "../test/support/judged.ts";

const { records } = demo(new Date("2026-11-21T12:00:00Z"));
const us = companies.supplier.id;

type Row = Readonly<Record<string, unknown>>;
interface Traded {
  readonly type: string;
  readonly party: { readonly code: string };
}

const invoices: readonly Row[] = records.invoices;
const issued = invoices.filter((row) => row["companyId"] === us);
const payable = invoices.filter((row) => row["payerCompanyId"] === us);
const ids = new Set(issued.map((row) => row["id"]));
const payments = (records.payments as readonly Row[]).filter((row) => ids.has(row["invoiceId"]));
const tickets = (records["delivery-tickets"] as readonly Row[]).filter(
  (row) => row["supplierCompanyId"] === us || row["receiverCompanyId"] === us,
);
const ENDED = ["DRAFT", "VOID"];
const EARLY = ["DRAFT", "POSTED", "BIDDING", "ASSIGNED", "CANCELLED"];
const UNPAID = ["PENDING", "PROCESSING", "FAILED", "REFUNDED"];

const of = (row: Row, field: string): Decimal => Decimal.of(String(row[field]));
const net = (row: Row): Decimal =>
  sum((row["productLines"] as readonly Row[]).map((line) => of(line, "net_gallons")));
const nothing = (): Decimal => Decimal.zero;
const total = (row: Row): Decimal => of(row, "total");
const amount = (row: Row): Decimal => of(row, "amount");

test.each<
  [name: string, rows: readonly Row[], left: string[], (row: Row) => Decimal, type: string | null]
>([
  ["books/customer-invoices", issued, ENDED, total, "out"],
  ["books/supplier-invoices", payable, ENDED, total, "in"],
  ["books/orders", records.orders, EARLY, nothing, "sale"],
  ["books/delivery-tickets", tickets, ENDED, net, null],
  ["books/payments-received", payments, UNPAID, amount, "out"],
  ["canonical/customer-invoices", issued, ENDED, total, null],
  ["canonical/supplier-invoices", payable, ENDED, total, null],
  ["canonical/orders", records.orders, ["DRAFT", "CANCELLED"], nothing, null],
  ["canonical/delivery-tickets", tickets, ENDED, net, null],
  ["canonical/payments-received", payments, UNPAID, amount, null],
])(
  "%s: every record that counts, with its amount or its net gallons",
  (name, rows, left, figure, type) => {
    const mapping = mappingNamed(name);
    const verdicts = rows.map((row) => judged(mapping, parseExact(JSON.stringify(row))));
    const counting = rows.filter((row) => !left.includes(String(row["status"])));
    expect(counting.length).toBeGreaterThan(20);
    expect(verdicts.map(({ skip }) => skip?.toUpperCase() ?? null)).toEqual(
      rows.map((row) => (left.includes(String(row["status"])) ? row["status"] : null)),
    );
    expect(verdicts.flatMap(({ fault }) => fault ?? [])).toEqual([]);
    const figures = verdicts.map((one) => (figure === net ? one.gallons : one.amount));
    expect(sum(figures).plain()).toBe(sum(counting.map(figure)).plain());
    const documents = verdicts.flatMap(({ document }) => (document as Traded | undefined) ?? []);
    if (type !== null) expect(new Set(documents.map((one) => one.type))).toEqual(new Set([type]));
    // Every confirmed order is a sale to the customer whose site it is for.
    if (name === "books/orders")
      expect(new Set(documents.map(({ party }) => party.code)).size).toBeGreaterThan(40);
  },
);

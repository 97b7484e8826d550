import { join } from "node:path";
import { expect, test } from "vitest";
import { bookedSupplierInvoices as supplierInvoices } from "../../mappings/invoices.ts";
import type { Change } from "../core/contract.ts";
import { type Json, stringifyExact } from "../core/json.ts";
import { Daemon } from "../engine/daemon.ts";
import { readCases } from "../mapping/cases.ts";
import { toBook } from "./documents.ts";
import { bill, engineOn, pagesOf, receiver } from "../../test/support/engine.ts";
import { tempFolder } from "../../test/support/folder.ts";

const { cases } = readCases(
  join(import.meta.dirname, "../../mappings/books/cases/supplier-invoices.json"),
);
const invoice = cases.find(({ name }) => name === "fuel-and-freight")?.record as Readonly<
  Record<string, Json>
>;

test("documents that are stored and wait are counted by the company's day that they are booked on", async () => {
  const bench = engineOn(tempFolder());
  const change = (id: string, createdAt: string): Change => ({
    id,
    version: createdAt,
    text: stringifyExact({ ...invoice, id, invoiceNumber: id, createdAt }),
  });
  const bills = bench.flow({
    name: "invoices-payable",
    side: "platform",
    mapping: supplierInvoices,
    sink: receiver({ operation: "bill.book" }),
    source: pagesOf([
      {
        changes: [
          change("3c3b4a70-0000-4000-8000-000000000001", "2026-11-04T18:00:00.000Z"),
          change("3c3b4a70-0000-4000-8000-000000000002", "2026-11-04T19:00:00.000Z"),
          // In Texas the month has not begun.
          change("3c3b4a70-0000-4000-8000-000000000003", "2026-11-01T03:00:00.000Z"),
          { id: "torn", version: "1", text: "{}" },
        ],
        position: 1,
      },
    ]),
  });
  const others = bench.flow({
    sink: receiver(),
    source: pagesOf([{ changes: [bill("INV-1", "100.00", { payer: "C-1" })], position: 1 }]),
  });
  await new Daemon(bench.engine, [bills, others]).once(new AbortController().signal);
  expect(bench.store.questions.quarantine().length).toBeGreaterThan(0);
  expect(toBook(bench.engine, [bills, others])).toEqual([
    { day: "2026-11-04", flow: "invoices-payable", count: 2 },
    { day: "2026-10-31", flow: "invoices-payable", count: 1 },
  ]);
});

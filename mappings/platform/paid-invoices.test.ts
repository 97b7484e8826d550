/** All invoices of a Tryton export against its payments: what counts as paid, and that the payments would not tell. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { bookedPaidInvoices as paidInvoices } from "./records.ts";
import { calendarOf } from "../../src/core/time.ts";
import type { References } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { invoices as invoiceList } from "../../src/formats/table/layouts.ts";
import { dropFolder, type DropFolder, picks, recordsOf } from "../../test/files/source.ts";
import { payments as paymentLines } from "../../test/files/specimens.ts";

let folder: DropFolder;
beforeEach(async () => {
  folder = await dropFolder();
});
afterEach(() => folder.remove());

const ID = "00000000-0000-4000-8000-000000000001";
/** Every invoice is on the platform. */
const references: References = {
  currency: "USD",
  dayOf: calendarOf("America/Chicago"),
  find: () => null,
  counterpart: () => ID,
  row: () => ({}),
};

test("paid are the invoices whose payments are all of their total, on the day of the last one", async () => {
  await folder.copy("customer-invoices.csv");
  const invoices = recordsOf(invoiceList, (await folder.read(picks.invoiceHeads)).changes);
  await folder.copy("payments.csv");
  const lines = recordsOf(paymentLines, (await folder.read(picks.payments)).changes);
  const lineOf = Map.groupBy(
    lines.filter(({ type }) => type === "out"),
    ({ invoiceNumber }) => invoiceNumber,
  );

  const counts = new Map<string, number>();
  const reconciledYetOpen: string[] = [];
  for (const invoice of invoices) {
    const number = invoice.number ?? "";
    const paid = lineOf.get(number) ?? [];
    const sum = Decimal.sum(paid.map(({ credit }) => credit));
    const out = paidInvoices.map(invoice, references);
    const verdict = "skip" in out ? String(out.skip) : "paid";
    counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
    if (verdict === "paid") {
      expect(sum.plain(), number).toBe(invoice.total.plain());
      const last = paid
        .map(({ date }) => date)
        .toSorted()
        .at(-1);
      expect(out, number).toEqual({ invoiceId: ID, paidAt: `${last}T12:00:00Z` });
    } else if (verdict === "partly paid") {
      expect([sum.sign, sum.compare(invoice.total)], number).toEqual([1, -1]);
      if (paid.every(({ reconciled }) => reconciled !== null)) reconciledYetOpen.push(number);
    } else expect(paid, number).toEqual([]);
  }
  expect(Object.fromEntries(counts)).toEqual({
    paid: 54,
    "partly paid": 9,
    "not paid": 55,
    draft: 1,
    cancelled: 2,
    "credit note": 1,
  });
  // One of two due dates is paid: every payment line is reconciled, and half of the invoice is open.
  expect(reconciledYetOpen).toEqual(["INV-2026-00046"]);
});

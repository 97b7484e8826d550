/**
 * The day of a real Tryton's cancellation, and periods that are closed.
 *
 * @module-tag numbers
 */
import { describe, expect, test } from "vitest";
import { trytonIsThere, useTryton } from "../../test/support/tryton.ts";
import { calendarOf } from "../../src/core/time.ts";
import type { InvoiceDocument } from "../../src/ledger/documents.ts";
import { billSink, invoiceSink } from "./sinks.fixture.ts";
import {
  allInvoices,
  billDocument,
  type Desk,
  deskIn,
  invoiceDocument,
  rows,
  send,
} from "./sink.fixture.ts";

/** Dates and periods of the credit notes, by the mark that they share with what they credit. */
async function creditNotes(desk: Desk): Promise<Record<string, string[]>> {
  const notes = await rows<{
    comment: string;
    invoice_date: string;
    "move.": { date: string; "period.": { name: string } };
  }>(
    desk,
    "account.invoice",
    [["lines.origin", "like", "account.invoice.line,%"]],
    ["comment", "invoice_date", "move.date", "move.period.name"],
  );
  return Object.fromEntries(
    notes.map(({ comment, invoice_date, "move.": { date, "period.": period } }) => [
      comment,
      [invoice_date, date, period.name],
    ]),
  );
}

async function closePeriod({ admin }: Desk, name: string): Promise<void> {
  const ids = await admin.call<number[]>("model.account.period.search", [[["name", "=", name]]]);
  expect(ids).toHaveLength(1);
  await admin.call("model.account.period.close", [ids]);
}

describe.skipIf(!trytonIsThere)("the day of a void", () => {
  const server = useTryton();

  test("is the company's day, in its period; a closed one is for a person", async () => {
    const desk = deskIn(server);
    // 2026-12-03, 20:47 in Chicago; Tryton's own today is another day.
    const now = () => new Date("2026-12-04T02:47:00Z");
    const dayOf = calendarOf("America/Chicago");
    const books = { ...desk.books, surroundings: { ...desk.books.surroundings, now, dayOf } };
    const [sink, bills] = [invoiceSink(books), billSink(books)];
    const voided = (document: InvoiceDocument, endedDate?: string) => {
      const ended = endedDate === undefined ? {} : { endedDate };
      const empty = { ...document, status: "void", ...ended } as const;
      return send(document.type === "out" ? sink : bills, empty);
    };
    const lastEvening = invoiceDocument();
    const frozenByOlderVersion = invoiceDocument();
    const late = invoiceDocument();
    const tooLate = invoiceDocument();
    const bill = billDocument({ invoiceDate: "2026-10-20" });
    expect(await send(sink, lastEvening, frozenByOlderVersion, late, tooLate)).toMatchObject({
      outcome: "done",
    });
    expect(await send(bills, bill)).toMatchObject({ outcome: "done" });
    const mark = ({ id }: InvoiceDocument): string => `platform:${id}`;

    expect(await voided(lastEvening, dayOf("2026-12-01T02:47:00Z"))).toMatchObject({
      outcome: "done",
    });
    expect(await voided(frozenByOlderVersion)).toMatchObject({ outcome: "done" });
    // Tryton numbers in the order of dates: a later one has its number by now.
    expect(await voided(late, "2026-12-01")).toMatchObject({ outcome: "done" });
    // Not even then in another period.
    expect(await voided(tooLate, "2026-11-30")).toMatchObject({ fault: { code: "date-order" } });
    // A bill whose own period is closed is credited on the day of its void.
    await closePeriod(desk, "2026-10");
    expect(await voided(bill, "2026-11-30")).toMatchObject({ outcome: "done" });
    const booked = {
      [mark(lastEvening)]: ["2026-11-30", "2026-11-30", "2026-11"],
      [mark(frozenByOlderVersion)]: ["2026-12-03", "2026-12-03", "2026-12"],
      [mark(late)]: ["2026-12-03", "2026-12-03", "2026-12"],
      [mark(bill)]: ["2026-11-30", "2026-11-30", "2026-11"],
    };
    expect(await creditNotes(desk)).toEqual(booked);

    await closePeriod(desk, "2026-11");
    expect(await voided(tooLate, "2026-11-30")).toMatchObject({ fault: { code: "closed-period" } });
    expect(await creditNotes(desk)).toEqual(booked);
    const states = (await allInvoices(desk)).map(({ state }) => state);
    expect(states.filter((state) => state === "cancelled")).toHaveLength(4);
    expect(states.filter((state) => state === "posted")).toHaveLength(1);
  });
});

/**
 * What an inspection of invoices in a real Tryton finds, and what it asks for it.
 *
 * @module-tag numbers
 */
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { trytonIsThere, useTryton } from "../../test/support/tryton.ts";
import { billSink } from "./sinks.fixture.ts";
import {
  billDocument,
  d,
  deskIn,
  deskWithOne,
  type InvoiceRow,
  lostOf,
  missingOf,
  rows,
  send,
} from "./sink.fixture.ts";

const PAID = { status: "paid", paidDate: "2026-11-20" } as const;

describe.skipIf(!trytonIsThere)("invoices that restored books lost", () => {
  const server = useTryton();

  test("a bill of another document under its number does not pass for it", async () => {
    const desk = deskIn(server);
    const sink = billSink(desk.books);
    const empty = desk.database.keep();
    const [lost, other] = [billDocument(), billDocument()];
    const before = await send(sink, lost);
    expect(await lostOf(sink, [lost], before)).toEqual([]);
    desk.database.restore(empty);
    const after = await send(sink, other);
    expect(after.ids).toEqual(before.ids);
    expect(await lostOf(sink, [lost], before)).toEqual(before.ids);
    expect(await lostOf(sink, [other], after)).toEqual([]);
    // What a person linked is theirs to know.
    expect(await missingOf(sink, [...(before.ids as string[]), "BILL-0"])).toEqual(["BILL-0"]);
  });

  test("a clerk's own bill under its number does not pass for it; what a person linked or entered stays", async () => {
    const desk = deskIn(server);
    const sink = billSink(desk.books);
    const empty = desk.database.keep();
    const document = billDocument();
    const before = await send(sink, document);
    const enterByHand = (reference: string): void => {
      const file = new Database(desk.database.path);
      const entered = "update account_invoice set comment = 'entered by Ann', reference = ?";
      file.prepare(entered).run(reference);
      file.close();
    };
    for (const reference of [document.number, "4711"]) {
      enterByHand(reference);
      expect(await lostOf(sink, [document], before)).toEqual([]);
    }

    desk.database.restore(empty);
    const [line] = document.lines;
    const own = { lines: line === undefined ? [] : [line], taxes: [], tax: d("0") };
    const figures = { subtotal: d("18103.96"), total: d("18103.96") };
    const after = await send(sink, billDocument({ ...own, ...figures }));
    expect(after).toMatchObject({ outcome: "done", ids: before.ids });
    for (const reference of [document.number, "4711"]) {
      enterByHand(reference);
      expect(await lostOf(sink, [document], before)).toEqual(before.ids);
    }
  });

  test.for([
    { what: "settlement", type: "in", next: PAID },
    { what: "void", type: "in", next: { status: "void" } },
    { what: "settlement", type: "out", next: PAID },
    { what: "credit note", type: "out", next: { status: "void" } },
    { what: "dispute", type: "out", next: { status: "disputed" } },
  ] as const)(
    "a $what that was lost is told of an invoice ($type) that is still there",
    async ({ type, next }) => {
      const { desk, sink, document } = await deskWithOne(server, type);
      const kept = desk.database.keep();
      const later = { ...document, ...next };
      const answer = await send(sink, later);
      expect(await lostOf(sink, [later], answer)).toEqual([]);
      desk.database.restore(kept);
      expect(await lostOf(sink, [document], answer)).toEqual([]);
      expect(await lostOf(sink, [later], answer)).toEqual(answer.ids);
      // As after a retry.
      expect(await send(sink, later)).toMatchObject({ outcome: "done", ids: answer.ids });
      expect(await lostOf(sink, [later], answer)).toEqual([]);
    },
  );

  test("what a clerk changed since then is not lost: paid by hand, or cancelled", async () => {
    const desk = deskIn(server);
    const sink = billSink(desk.books);
    const document = billDocument();
    const answer = await send(sink, document);
    const [bill] = await rows<InvoiceRow>(desk, "account.invoice", []);
    await desk.clerk.call("model.account.invoice.cancel", [[bill?.id]]);
    expect(await lostOf(sink, [document], answer)).toEqual([]);
  });
});

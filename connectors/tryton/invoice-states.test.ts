import { describe, expect, test } from "vitest";
import { isLongRun, numbers, steps } from "../../test/support/runs.ts";
import { fileOf } from "../../test/support/tryton-file.ts";
import { trytonIsThere, useTryton } from "../../test/support/tryton.ts";
import { invoiceSink } from "./sinks.fixture.ts";
import {
  allInvoices,
  between,
  d,
  type Desk,
  deskIn,
  deskWithOne,
  find,
  invoiceDocument,
  losing,
  rows,
  send,
} from "./sink.fixture.ts";

const PAID = { status: "paid", paidDate: "2026-11-20" } as const;
const VOID = { status: "void" } as const;

/** Move lines that the pay wizard made, with what they say. */
const payments = (desk: Desk): Promise<object[]> =>
  rows(
    desk,
    "account.move.line",
    [
      ["move.description", "!=", null],
      ["account.code", "in", ["1200", "2100"]],
    ],
    ["debit", "credit", "date", "move.description"],
  );

describe.skipIf(!trytonIsThere)("what becomes of an invoice", () => {
  const server = useTryton();

  test("one that is paid is paid in Tryton on that day, once", async () => {
    const { desk, sink, document } = await deskWithOne(server, "out");
    const paid = { ...document, ...PAID };
    expect(await find(sink, paid)).toMatchObject({ found: "none" });
    const answer = await send(sink, paid);
    expect(answer).toMatchObject({
      outcome: "done",
      detail: `${document.number} paid; settled as one`,
    });
    expect(await send(sink, paid)).toMatchObject({ detail: `${document.number} paid` });
    expect(await find(sink, paid)).toMatchObject({ found: "exact", ids: [document.number] });
    expect(await payments(desk)).toMatchObject([
      {
        credit: d("20129.33"),
        date: "2026-11-20",
        "move.": { description: `platform:${document.id} settled as one` },
      },
    ]);
  });

  test("a draft that a clerk changes just before it is posted stays a draft, and is a person's", async () => {
    const desk = deskIn(server);
    const document = invoiceDocument();
    let isChanged = false;
    const before = async (method: string, [ids]: readonly unknown[]): Promise<void> => {
      if (isChanged || !method.endsWith("account.invoice.post")) return;
      isChanged = true;
      const [id] = ids as [number];
      const its = ["invoice", "=", id];
      const [line] = await rows<{ id: number }>(desk, "account.invoice.line", [its], ["quantity"]);
      const lines = [["write", [line?.id], { unit_price: d("1.5") }]];
      await desk.clerk.call("model.account.invoice.write", [[id], { lines }]);
    };
    // SQLite tells seconds apart, no less.
    const after = async (method: string): Promise<void> => {
      if (!method.endsWith("account.invoice.create")) return;
      fileOf(desk.database).exec("UPDATE account_invoice SET create_date = '2026-01-01 00:00:00'");
    };
    const sink = invoiceSink(between(desk.books, { before, after }));
    expect(await send(sink, document)).toMatchObject({ outcome: "unknown" });
    expect(await send(sink, document)).toMatchObject({ fault: { code: "draft-in-books" } });
    expect(await allInvoices(desk)).toMatchObject([{ state: "draft" }]);
  });

  test("paid without a day is work for a person: no day is made up", async () => {
    const desk = deskIn(server);
    const document = invoiceDocument({ status: "paid" });
    const sink = invoiceSink(desk.books);
    // It is posted by then: a read-back tells the rest.
    expect(await send(sink, document)).toMatchObject({ outcome: "unknown" });
    expect(await find(sink, document)).toMatchObject({
      found: "different",
      fault: { code: "no-paid-date" },
    });
    expect(await send(sink, document)).toMatchObject({
      outcome: "refused",
      fault: { code: "no-paid-date" },
    });
    expect(await allInvoices(desk)).toMatchObject([{ state: "posted" }]);
  });

  test("a void bill is cancelled, and its number stays", async () => {
    const { desk, sink, document } = await deskWithOne(server, "in");
    const empty = { ...document, ...VOID };
    expect(await find(sink, empty)).toMatchObject({ found: "none" });
    const answer = await send(sink, empty);
    expect(answer).toMatchObject({ outcome: "done", ids: ["BILL-2026-00001"] });
    expect(await send(sink, empty)).toEqual(answer);
    expect(await find(sink, empty)).toMatchObject({ found: "exact", ids: ["BILL-2026-00001"] });
    expect(await allInvoices(desk)).toMatchObject([
      { number: "BILL-2026-00001", state: "cancelled" },
    ]);
  });

  test("a void customer invoice is cancelled where the company allows it", async () => {
    const { desk, sink, document } = await deskWithOne(server, "out");
    const { company } = await desk.admin.session();
    await desk.admin.call("model.company.company.write", [[company], { cancel_invoice_out: true }]);
    expect(await send(sink, { ...document, ...VOID })).toMatchObject({ outcome: "done" });
    expect(await allInvoices(desk)).toMatchObject([{ state: "cancelled" }]);
  });

  test("where it does not, one credit note takes it back, and the link stays with the original", async () => {
    const { desk, sink, document } = await deskWithOne(server, "out");
    const empty = { ...document, ...VOID };
    const answer = await send(sink, empty);
    expect(answer).toMatchObject({ outcome: "done", ids: [document.number] });
    expect(await send(sink, empty)).toEqual(answer);
    expect(await find(sink, empty)).toMatchObject({ found: "exact", ids: [document.number] });
    expect(await allInvoices(desk)).toMatchObject([
      { number: document.number, state: "cancelled" },
      { number: "CRN-2026-00001", state: "paid", total_amount: d("-20129.33") },
    ]);
  });

  test("a dispute is a note, its end another one; the same words do not come twice", async () => {
    const desk = deskIn(server);
    const sink = invoiceSink(desk.books);
    const document = invoiceDocument({ status: "disputed" });
    const open = { ...document, status: "open" } as const;
    const notes = async (): Promise<string[]> =>
      (await rows<{ message: string }>(desk, "ir.note", [], ["message"])).map((row) => row.message);
    await send(sink, document);
    await send(sink, document);
    expect(await find(sink, document)).toMatchObject({ found: "exact" });
    expect(await notes()).toEqual(["dispute:open\nDisputed on the platform."]);
    expect(await find(sink, open)).toMatchObject({ found: "none" });
    await send(sink, open);
    await send(sink, open);
    expect(await notes()).toEqual([
      "dispute:open\nDisputed on the platform.",
      "dispute:over\nNo longer disputed on the platform.",
    ]);
    await send(sink, document);
    expect(await notes()).toHaveLength(3);
  });

  describe.runIf(isLongRun)("in the long run", numbers, () => {
    test("whichever answer is lost, one credit note in the end", async () => {
      const { desk, sink, document: first } = await deskWithOne(server, "out");
      /** Takes one back and loses the answer to this change of it; how many changes it took. */
      const takenBack = async (lost: number, document = first): Promise<number> => {
        await send(sink, document);
        const empty = { ...document, ...VOID };
        const lossy = losing(desk.books, lost);
        await send(invoiceSink(lossy.books), empty);
        expect(await send(sink, empty)).toMatchObject({ outcome: "done", ids: [document.number] });
        return lossy.changes();
      };
      const changes = await takenBack(0);
      expect(changes).toBeGreaterThan(2);
      const lose = steps(changes);
      for (const lost of lose) await takenBack(lost, invoiceDocument());
      const all = await allInvoices(desk);
      expect(all.filter(({ state }) => state === "cancelled")).toHaveLength(lose.length + 1);
      expect(all).toHaveLength(2 * (lose.length + 1));
    });

    test("a draft that becomes void is cancelled, though it has the platform's number", async () => {
      const { desk, sink, document } = await deskWithOne(server, "out", { posting: "draft" });
      expect(await send(sink, { ...document, ...VOID })).toMatchObject({ outcome: "done" });
      expect(await allInvoices(desk)).toMatchObject([{ state: "cancelled" }]);
    });
  });
});

/**
 * Invoices through every fault of a real Tryton: hanging, killed between its calls, numbers that are taken.
 *
 * @module-tag numbers
 */
import { describe, expect, test } from "vitest";
import { trytonIsThere, useTryton } from "../../test/support/tryton.ts";
import { testedSeries } from "../../test/support/tryton-releases.ts";
import { TrytonWarning } from "./wire.ts";
import { billSink, invoiceSink } from "./sinks.fixture.ts";
import {
  allInvoices,
  begun,
  between,
  billDocument,
  booksOf,
  d,
  type Desk,
  deskIn,
  deskWith,
  deskWithOne,
  find,
  invoiceDocument,
  type InvoiceRow,
  requestOf,
  rows,
  send,
} from "./sink.fixture.ts";

const SLOW_MS = 600_000;
const VOID = { status: "void" } as const;
const DRAFT = { posting: "draft" };
const never = new AbortController().signal;

describe.skipIf(!trytonIsThere)("what can go wrong", { timeout: SLOW_MS }, () => {
  const server = useTryton();

  const closePeriods = async ({ admin }: Desk): Promise<void> => {
    const open = await admin.call("model.account.period.search", [
      [["start_date", "<=", { __class__: "date", year: 2026, month: 11, day: 21 }]],
      0,
      null,
      null,
    ]);
    await admin.call("model.account.period.close", [open]);
  };

  test("a closed period is an accountant's: never another date, and nothing left behind", async () => {
    const desk = deskIn(server);
    await closePeriods(desk);
    expect(await send(invoiceSink(desk.books), invoiceDocument())).toMatchObject({
      outcome: "refused",
      fault: { code: "closed-period", message: expect.stringContaining("11/21/2026") as string },
    });
    expect(await allInvoices(desk)).toEqual([]);
  });

  test("a void of a closed period is an accountant's: nothing is cancelled on another day", async () => {
    const { desk, sink, document } = await deskWithOne(server, "in");
    await closePeriods(desk);
    // Cancelling would book today what was booked then.
    const empty = { ...document, status: "void" } as const;
    expect(await send(sink, empty)).toMatchObject({
      outcome: "refused",
      fault: { code: "closed-period" },
    });
    expect(await allInvoices(desk)).toMatchObject([{ state: "posted" }]);
  });

  test("a warning that we do not know is an accountant's", async () => {
    const desk = deskIn(server);
    const before = async (method: string): Promise<void> => {
      if (method.endsWith("account.invoice.post"))
        throw new TrytonWarning("Is that so?", "unheard_of_1");
    };
    expect(
      await send(invoiceSink(between(desk.books, { before })), invoiceDocument()),
    ).toMatchObject({
      outcome: "refused",
      fault: { code: "needs-accountant", message: "Is that so?" },
    });
    expect(await allInvoices(desk)).toEqual([]);
  });

  test("due dates that have passed need no person, however many", async () => {
    const desk = deskIn(server);
    const documents = ["2026-01-31", "2026-11-20", "2026-12-08"].map((dueDate) =>
      invoiceDocument({ dueDate }),
    );
    expect(await send(invoiceSink(desk.books), ...documents)).toMatchObject({ outcome: "done" });
    expect(await rows(desk, "res.user.warning", [])).toEqual([]);
  });

  test("Tryton's numbers go by date: a batch in any order is numbered, one too late is refused", async () => {
    const desk = deskIn(server, { numbering: "tryton" });
    const sink = invoiceSink(desk.books);
    const [later, earlier] = ["2026-11-20", "2026-11-10"].map((invoiceDate) =>
      invoiceDocument({ invoiceDate }),
    );
    expect(await send(sink, later!, earlier!)).toMatchObject({
      ids: ["INV-2026-00002", "INV-2026-00001"],
    });
    expect(await send(sink, invoiceDocument({ invoiceDate: "2026-11-01" }))).toMatchObject({
      outcome: "refused",
      fault: { code: "date-order" },
    });
    expect(await allInvoices(desk)).toHaveLength(2);
  });

  test("Tryton's own sentence comes with a refusal that we have no name for", async () => {
    const desk = deskIn(server);
    const [excise, sales] = invoiceDocument().taxes;
    const taxes = [{ ...excise!, base: d("18103.961") }, sales!];
    const { outcome, fault } = await send(invoiceSink(desk.books), invoiceDocument({ taxes }));
    expect(outcome).toBe("refused");
    expect(fault?.code).toBe("refused-by-tryton");
    expect(fault?.message).toMatch(/number of digits.*18103\.961/);
    expect(fault?.message.length).toBeLessThan(500);
  });

  test("a right that is lacking stops, and refuses nothing", async () => {
    const desk = deskIn(server);
    const { user } = await desk.books.tryton.session();
    await desk.admin.call("model.res.user.write", [
      [user],
      { groups: [["remove", await groups(desk)]] },
    ]);
    expect(await send(invoiceSink(desk.books), invoiceDocument())).toMatchObject({
      outcome: "nothing",
      stop: "scope",
    });
  });

  const groups = (desk: Desk): Promise<number[]> =>
    desk.admin.call("model.res.group.search", [[["name", "=", "Account"]], 0, null, null]);

  test("a wrong password stops, and refuses nothing", async () => {
    const desk = deskIn(server);
    const books = booksOf({ ...desk.database, password: "not-it-4711" });
    expect(await send(invoiceSink(books), invoiceDocument())).toMatchObject({
      outcome: "nothing",
      stop: "credentials",
    });
  });

  test("a draft that somebody deletes before it is compared is not called done", async () => {
    const desk = deskIn(server, { posting: "draft", numbering: "tryton" });
    let looks = 0;
    const before = async (method: string): Promise<void> => {
      if (method !== "model.account.invoice.search_read" || ++looks !== 2) return;
      const ids = (await allInvoices(desk)).slice(0, 1).map(({ id }) => id);
      await desk.clerk.call("model.account.invoice.delete", [ids]);
    };
    const documents = [invoiceDocument(), invoiceDocument()];
    expect(await send(invoiceSink(between(desk.books, { before })), ...documents)).toMatchObject({
      outcome: "unknown",
      holdMs: 60_000,
      detail: expect.stringContaining(documents[0]!.number) as string,
    });
    expect(await send(invoiceSink(desk.books), ...documents)).toMatchObject({ outcome: "done" });
    expect(await allInvoices(desk)).toHaveLength(2);
  });

  test("a draft that somebody else has written is left to them", async () => {
    const { desk, document } = await deskWithOne(server, "out", DRAFT);
    const [{ id }] = (await allInvoices(desk)) as [InvoiceRow];
    await desk.clerk.call("model.account.invoice.write", [[id], { description: "checked" }]);
    expect(await send(invoiceSink(booksOf(desk.database)), document)).toMatchObject({
      outcome: "refused",
      fault: { code: "draft-in-books" },
    });
    expect(await allInvoices(desk)).toMatchObject([{ state: "draft" }]);
  });

  /** A copy of the first invoice, as a clerk would have typed it: without the platform's id. */
  async function typed(desk: Desk, more: object): Promise<void> {
    const [{ id }] = (await allInvoices(desk)) as [InvoiceRow];
    await desk.clerk.call("model.account.invoice.copy", [
      [id],
      {
        comment: null,
        invoice_date: { __class__: "date", year: 2026, month: 11, day: 21 },
        payment_term_date: { __class__: "date", year: 2026, month: 12, day: 8 },
        ...more,
      },
    ]);
    const [copy] = (await allInvoices(desk)).slice(-1) as [InvoiceRow];
    await desk.clerk.call("model.account.invoice.post", [[copy.id]]);
  }

  test("one that a clerk has typed in already is taken for it when all of it agrees", async () => {
    const desk = await deskWith(server, [begun("out")], { numbering: "tryton" });
    const document = invoiceDocument();
    await typed(desk, { reference: document.number });
    const sink = invoiceSink(booksOf(desk.database));
    const ids = ["INV-2026-00002"];
    expect(await find(sink, document)).toMatchObject({ found: "exact", ids });
    expect(await send(sink, document)).toMatchObject({ outcome: "done", ids });
    const other = { ...document, total: d("20129.34") };
    expect(await find(sink, other)).toMatchObject({ found: "different" });
    expect(await send(sink, other)).toMatchObject({ fault: { code: "other-in-books" } });
    expect(await allInvoices(desk)).toHaveLength(2);
  });

  test("a bill that a clerk has typed in with a blank before or after its number is not booked a second time", async () => {
    const { desk, sink } = await deskWithOne(server, "in");
    for (const typedAs of [(number: string) => ` ${number}`, (number: string) => `${number} `]) {
      const document = billDocument();
      await typed(desk, { reference: typedAs(document.number) });
      const answer = await send(sink, document);
      // 8.0 leaves the blanks out.
      expect(answer).toMatchObject(
        testedSeries === "6.0" ? { fault: { code: "other-in-books" } } : { outcome: "done" },
      );
    }
    expect(await allInvoices(desk)).toHaveLength(3);
  });

  test("a bill that a clerk has typed in with other signs in its number is not booked a second time", async () => {
    const { desk, sink } = await deskWithOne(server, "in");
    const writings = [
      (number: string) => number.replaceAll("-", ""),
      (number: string) => `${number.replaceAll("-", " ").toLowerCase()}/`,
      (number: string) => `#${Array.from(number).join(".")}`,
    ];
    for (const typedAs of writings) {
      const document = billDocument();
      const reference = typedAs(document.number);
      await typed(desk, { reference });
      for (const round of [1, 2])
        expect(await send(sink, document), `${reference}, ${round}`).toMatchObject({
          outcome: "refused",
          fault: { code: "number-alike", message: expect.stringContaining(`(${reference})`) },
        });
      expect(await find(sink, document)).toMatchObject({ found: "different" });
    }
    expect(await allInvoices(desk)).toHaveLength(1 + writings.length);
  });

  test("a number that another invoice has is not given twice", async () => {
    const { desk, sink, document } = await deskWithOne(server, "out");
    const other = { ...invoiceDocument(), number: document.number };
    expect(await send(sink, other)).toMatchObject({ fault: { code: "number-taken" } });
    expect(await find(sink, other)).toMatchObject({ found: "different" });
    // Links are kept by it, so a cancelled invoice keeps its number.
    await send(sink, { ...document, ...VOID });
    expect(await send(sink, other)).toMatchObject({ fault: { code: "number-kept" } });
    // A reference that somebody typed for another party takes no number of ours.
    await typed(desk, { reference: "4711" });
    const party = { code: "CUST-2", name: "Co-op", companyId: "co-op" };
    const ours = invoiceDocument({ number: "4711", party });
    expect(await send(sink, ours)).toMatchObject({ outcome: "done", ids: ["4711"] });
  });

  test("what stands as a sale is not booked as a purchase too, though no link names it; once it is void it is", async () => {
    const { desk, document: sale } = await deskWithOne(server, "out");
    const turned = billDocument({ id: sale.id, number: sale.number });
    expect(await send(billSink(desk.books), turned)).toMatchObject({
      fault: {
        code: "differs",
        message: expect.stringContaining("side: Tryton sale, platform purchase") as string,
      },
    });
    expect(await allInvoices(desk)).toHaveLength(1);
    await send(invoiceSink(desk.books), { ...sale, ...VOID });
    expect(await send(billSink(desk.books), turned)).toMatchObject({ outcome: "done" });
  });

  test("a number that the supplier has given already is not booked twice, in a batch neither; after a cancellation it is", async () => {
    const desk = deskIn(server);
    const sink = billSink(desk.books);
    const first = billDocument();
    const twin = (more: object = {}) => billDocument({ number: first.number, ...more });
    const [second, third] = [twin(), twin({ total: d("20129.34"), tax: d("1875.38") })];
    const ofAnother = twin({ party: { ...first.party, code: "SUP-2", companyId: "another" } });
    expect(await send(sink, first, ofAnother, second)).toMatchObject({
      fault: { code: "number-taken", message: expect.stringContaining(first.id) as string },
    });
    expect(await allInvoices(desk)).toEqual([]);
    expect(await send(sink, first, ofAnother)).toMatchObject({ outcome: "done" });
    for (const one of [second, third]) {
      expect(await find(sink, one)).toMatchObject({ found: "different" });
      expect(await send(sink, one)).toMatchObject({
        fault: { code: "number-taken", message: expect.stringContaining(first.id) as string },
      });
    }
    expect(await allInvoices(desk)).toHaveLength(2);
    await send(sink, { ...first, ...VOID });
    expect(await send(sink, second)).toMatchObject({ outcome: "done" });
    expect(await send(sink, third)).toMatchObject({ fault: { code: "number-taken" } });
    const states = (await allInvoices(desk)).map(({ state }) => state);
    expect(states).toEqual(["cancelled", "posted", "posted"]);
    expect(await send(sink, { ...third, ...VOID })).toMatchObject({ ids: [null] });
  });

  test("what was delivered under a link is the document's, though its mark is not ours: what differs is told", async () => {
    const desk = await deskWith(server, [begun("out")], { numbering: "tryton" });
    await typed(desk, { reference: "entered by hand" });
    const sink = invoiceSink(booksOf(desk.database));
    const document = invoiceDocument({ status: "disputed" });
    const request = requestOf(sink, [document], ["INV-2026-00002"]);
    expect(await sink.send(request, never)).toMatchObject({
      fault: {
        code: "other-in-books",
        message: `invoice ${document.number} in Tryton was entered by hand and differs:\nreference: Tryton entered by hand, platform ${document.number}`,
      },
    });
    expect(await allInvoices(desk)).toHaveLength(2);
  });
});

describe.skipIf(!trytonIsThere)("Tryton goes away", { timeout: SLOW_MS }, () => {
  const server = useTryton();

  test("killed between create and post: the draft is found and posted", async () => {
    const desk = deskIn(server);
    const documents = [invoiceDocument(), invoiceDocument()];
    const before = async (method: string): Promise<void> => {
      if (method === "model.account.invoice.post") await server.kill();
    };
    const answer = await send(invoiceSink(between(desk.books, { before })), ...documents);
    // The drafts are made: only a read-back says what is left to do.
    expect(answer).toMatchObject({ outcome: "unknown" });
    const sink = invoiceSink(booksOf(desk.database));
    expect(await find(sink, ...documents)).toMatchObject({ found: "unreadable" });
    await server.restart();
    expect(await find(sink, ...documents)).toMatchObject({ found: "none" });
    expect(await allInvoices(desk)).toMatchObject([{ state: "draft" }, { state: "draft" }]);
    expect(await send(sink, ...documents)).toMatchObject({ outcome: "done" });
    expect(await allInvoices(desk)).toMatchObject([{ state: "posted" }, { state: "posted" }]);
  });

  test("hanging while it posts: torn, and exactly one when it goes on", async () => {
    const desk = deskIn(server);
    const document = invoiceDocument();
    // The first call loads the database there: on a busy machine for longer than the deadline of what is to hang.
    expect(await find(invoiceSink(desk.books), document)).toMatchObject({ found: "none" });
    const before = async (method: string): Promise<void> => {
      if (method === "model.account.invoice.create") server.pause();
    };
    const hasty = booksOf(desk.database, { deadlineMs: 5_000 });
    const answer = await send(invoiceSink(between(hasty, { before })), document);
    server.resume();
    expect(answer).toMatchObject({ outcome: "unknown", probe: true, unanswered: true });
    // The call is still on its way; it is carried out now. Only then does a look prove anything: settleMs.
    const sink = invoiceSink(booksOf(desk.database));
    await expect.poll(() => allInvoices(desk), { timeout: 60_000 }).toHaveLength(1);
    expect(await find(sink, document)).toMatchObject({ found: "none" });
    expect(await send(sink, document)).toMatchObject({ outcome: "done", ids: [document.number] });
    expect(await allInvoices(desk)).toMatchObject([{ state: "posted" }]);
  });
});

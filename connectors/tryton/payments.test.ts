import { describe, expect, test } from "vitest";
import { isLongRun, numbers, steps } from "../../test/support/runs.ts";
import { trytonIsThere, type TrytonServer, useTryton } from "../../test/support/tryton.ts";
import { testedSeries } from "../../test/support/tryton-releases.ts";
import type { Inspection, Sink } from "../../src/core/contract.ts";
import type { Answer } from "../../src/core/outcome.ts";
import type { PaymentDocument } from "../../src/ledger/documents.ts";
import { ledgerOf } from "./index.ts";
import { billSink, invoiceSink, paymentSink } from "./sinks.fixture.ts";
import type { Decimal } from "../../src/core/decimal.ts";
import { addCompany } from "../../test/support/tryton-setup.ts";
import { readInvoices } from "./invoice-rows.ts";
import { takeBack, unreconcile } from "./clerk.fixture.ts";
import { day } from "./rows.ts";
import {
  allInvoices,
  begun,
  billDocument,
  booksOf,
  d,
  type Desk,
  deskIn,
  deskWith,
  find,
  inspected,
  invoiceDocument,
  type InvoiceRow,
  losing,
  missingOf,
  paymentDocument,
  requestOf,
  rows,
  send,
} from "./sink.fixture.ts";

const never = new AbortController().signal;

/** How the books hold a payment that was delivered under this answer. */
async function inspect(
  sink: Sink,
  payment: PaymentDocument,
  { ids = [] }: Answer,
): Promise<readonly Inspection[] | undefined> {
  const { body } = requestOf(sink, [payment]);
  const delivered = ids.map((id) => ({ id: payment.id, counterpart: id as string, body }));
  return sink.inspect?.(delivered, never);
}

/** `#12 payment:5f0c…` */
const moveIn = ({ ids = [] }: Answer): number => Number(/^#(\d+)/.exec(ids[0] as string)?.[1]);

/** Books with one invoice of 20129.33, and the sink of payments. */
async function booked(server: TrytonServer, more: object = {}) {
  const invoice = begun("out");
  const desk = await deskWith(server, [invoice], more);
  const toPay = async (): Promise<unknown> =>
    (await rows<object>(desk, "account.invoice", [], ["amount_to_pay", "state"]))[0];
  return { desk, sink: paymentSink(desk.books), invoice, toPay };
}

/** A clerk books cash on what the party of the invoice owes, without the invoice; the entry. */
async function cashOf({ clerk, books }: Desk, party: string, amount: Decimal): Promise<number> {
  const one = (model: string, ...domain: unknown[]): Promise<number | undefined> =>
    clerk.call<number[]>(`model.${model}.search`, [domain, 0, 1, null]).then(([id]) => id);
  const account = (code: string) => one("account.account", ["code", "=", code]);
  const date = day("2026-11-21");
  const line = { debit: d("0"), credit: d("0") };
  const values = {
    company: (await books.tryton.session()).company,
    journal: await one("account.journal", ["code", "=", "CASH"]),
    period: await one("account.period", ["start_date", "<=", date], ["end_date", ">=", date]),
    date,
    lines: [
      [
        "create",
        [
          { ...line, account: await account("1000"), debit: amount },
          {
            ...line,
            account: await account("1200"),
            credit: amount,
            party: await one("party.party", ["code", "=", party]),
          },
        ],
      ],
    ],
  };
  const [move] = await clerk.call<[number]>("model.account.move.create", [[values]]);
  await clerk.call("model.account.move.post", [[move]]);
  return move;
}

describe.skipIf(!trytonIsThere)("payments into Tryton", () => {
  const server = useTryton();

  test("two companies of one database that are both on the platform book the one payment each", async () => {
    const { database, books } = deskIn(server);
    await addCompany({ ...database, ...database.admin }, "Mesa");
    const mesa = booksOf(database, { company: "Mesa" });
    const [sold, bought] = [begun("out"), begun("in")];
    await send(invoiceSink(books), sold);
    await send(billSink(mesa), bought);
    const received = paymentDocument({ invoice: sold.number });
    const [bill] = await readInvoices(mesa, [["type", "=", "in"]]);
    const made = paymentDocument({ ...received, type: "in", invoice: bill?.number ?? "" });
    for (const [sink, payment] of [
      [paymentSink(books), received],
      [paymentSink(mesa), made],
    ] as const) {
      const answer = await send(sink, payment);
      expect(answer.outcome).toBe("done");
      expect(await find(sink, payment)).toMatchObject({ found: "exact", ids: answer.ids });
    }
    expect(await readInvoices(books, [["state", "=", "paid"]])).toHaveLength(2);
  });

  test("payments settle their invoice, each booked once", async () => {
    const { desk, sink, invoice, toPay } = await booked(server);
    const part = paymentDocument({ invoice: invoice.number, amount: d("129.33") });
    expect(await find(sink, part)).toMatchObject({ found: "none" });
    const answer = await send(sink, part);
    expect(answer).toMatchObject({
      outcome: "done",
      ids: [expect.stringMatching(/^#\d+ payment:/)],
    });
    expect(await send(sink, part)).toEqual(answer);
    expect(await find(sink, part)).toMatchObject({ found: "exact", ids: answer.ids });
    expect(await toPay()).toMatchObject({ amount_to_pay: d("20000.00"), state: "posted" });
    const rest = paymentDocument({ invoice: invoice.number, amount: d("20000.00") });
    await send(sink, rest);
    await send(sink, rest);
    expect(await toPay()).toMatchObject({ state: "paid" });
    const moves = [["description", "like", "payment:%"]];
    expect(await rows(desk, "account.move", moves, ["description", "date"])).toMatchObject([
      { description: `payment:${part.id} ACH 4711`, date: "2026-11-21" },
      { description: `payment:${rest.id} ACH 4711` },
    ]);
  });

  test.skipIf(testedSeries === "6.0")(
    "an invoice that an accountant gave another payee is settled with that one, and waits for nothing",
    async () => {
      const document = invoiceDocument();
      const desk = await deskWith(server, [], { posting: "draft" });
      await send(invoiceSink(desk.books), document);
      const [{ id }] = (await allInvoices(desk)) as [InvoiceRow];
      const values = { code: "FACTOR", name: "Factoring Bank" };
      const [payee] = await desk.clerk.call<[number]>("model.party.party.create", [[values]]);
      const change = { alternative_payees: [["add", [payee]]] };
      await desk.clerk.call("model.account.invoice.write", [[id], change]);
      await desk.clerk.call("model.account.invoice.post", [[id]]);
      const sink = paymentSink(desk.books);
      for (const [amount, state] of [
        ["129.33", "posted"],
        ["20000.00", "paid"],
      ] as const) {
        const payment = paymentDocument({ invoice: document.number, amount: d(amount) });
        const answer = await send(sink, payment);
        expect(answer).toMatchObject({ outcome: "done" });
        expect(await send(sink, payment)).toEqual(answer);
        expect(await rows(desk, "account.invoice", [], ["state"])).toMatchObject([{ state }]);
      }
    },
  );

  test("whichever answer is lost, it is booked once in the end", numbers, async () => {
    const { desk, sink, invoice, toPay } = await booked(server);
    const payment = () => paymentDocument({ invoice: invoice.number, amount: d("10.00") });
    const whole = losing(desk.books);
    await send(paymentSink(whole.books), payment());
    const changes = whole.changes();
    expect(changes).toBeGreaterThan(3);
    const lose = steps(changes);
    for (const lost of lose) {
      const one = payment();
      await send(paymentSink(losing(desk.books, lost).books), one);
      expect(await send(sink, one)).toMatchObject({ outcome: "done" });
    }
    const moves = [["description", "like", "payment:%"]];
    expect(await rows(desk, "account.move", moves)).toHaveLength(lose.length + 1);
    expect(await toPay()).toMatchObject({
      amount_to_pay: d("20129.33").minus(d("10.00").times(d(String(lose.length + 1)))),
    });
  });

  test("a bill is paid by Tryton's number of it", async () => {
    const desk = await deskWith(server, [begun("in")]);
    const payment = paymentDocument({ type: "in", invoice: "BILL-2026-00001" });
    expect(await send(paymentSink(desk.books), payment)).toMatchObject({ outcome: "done" });
    expect(await allInvoices(desk)).toMatchObject([{ state: "paid" }]);
  });

  test("what the bank is yet to pay of a bill leaves it open, and a payment of the platform's is a person's", async () => {
    const document = begun("in");
    const desk = await deskWith(server, []);
    const bills = billSink(desk.books);
    const answer = await send(bills, document);
    const lines = await rows<{ id: number; party: number }>(
      desk,
      "account.move.line",
      [["account.code", "=", "2100"]],
      ["party"],
    );
    const [journal] = await rows(desk, "account.payment.journal", []);
    const order = {
      kind: "payable",
      amount: document.total,
      line: lines[0]?.id,
      party: lines[0]?.party,
      journal: (journal as { id: number }).id,
    };
    await desk.clerk.call("model.account.payment.create", [[order]]);
    expect(await inspected(bills, [document], answer)).toEqual([[]]);
    const [held] = await ledgerOf(desk.books).holdings.get("bill", ["BILL-2026-00001"], never);
    expect(held?.facts.money?.open).toEqual(document.total);
    const payment = paymentDocument({ type: "in", invoice: "BILL-2026-00001" });
    expect(await send(paymentSink(desk.books), payment)).toMatchObject({
      fault: {
        code: "paid-by-others",
        message: expect.stringContaining("of which 20,129.33 is to be paid by the bank") as string,
      },
    });
    const paid = { ...document, status: "paid", paidDate: "2026-11-20" } as const;
    expect(await send(bills, paid)).toMatchObject({ fault: { code: "paid-in-part" } });
    expect(await allInvoices(desk)).toMatchObject([{ state: "posted" }]);
  });

  test("more than is to pay settles the invoice, and the rest stands on the party's account", async () => {
    const { desk, sink, invoice, toPay } = await booked(server);
    const part = paymentDocument({ invoice: invoice.number, amount: d("129.33") });
    await send(sink, part);
    const over = paymentDocument({ invoice: invoice.number, amount: d("20050.00") });
    const answer = await send(sink, over);
    expect(answer).toMatchObject({
      outcome: "done",
      ids: [expect.stringMatching(/^#\d+ payment:/)],
    });
    expect(await send(sink, over)).toEqual(answer);
    expect(await find(sink, over)).toMatchObject({ found: "exact", ids: answer.ids });
    expect(await toPay()).toMatchObject({ state: "paid" });
    const lines = await rows<{ credit: unknown; reconciliation: number | null }>(
      desk,
      "account.move.line",
      [
        ["account.code", "=", "1200"],
        ["move.description", "like", `payment:${over.id}%`],
      ],
      ["credit", "reconciliation", "party.code"],
    );
    expect(lines.map((line) => [String(line.credit), line.reconciliation === null])).toEqual([
      ["20000.00", false],
      ["50.00", true],
    ]);
    const [held] = (await inspect(sink, over, answer)) ?? [];
    expect(held).toEqual({ is: "there", differences: [] });

    // Tryton takes no payment of an invoice that is paid: a person enters it.
    const again = paymentDocument({ invoice: invoice.number, amount: d("1.00") });
    expect(await send(sink, again)).toMatchObject({
      outcome: "refused",
      fault: {
        code: "more-than-to-pay",
        message: `payment ACH 4711: invoice ${invoice.number} in Tryton has 0.00 to pay, not 1.00`,
      },
    });
  });

  test("payments of what was settled as one are noted on it with their references, and counted once", async () => {
    const { desk, sink, invoice } = await booked(server);
    // Only what nothing was paid of is settled as one (ADR 0010).
    const paid = { ...invoice, status: "paid", paidDate: "2026-11-21" } as const;
    expect(await send(invoiceSink(desk.books), paid)).toMatchObject({ outcome: "done" });
    const amounts = ["15129.33", "5000.00"];
    for (const [at, amount] of amounts.entries()) {
      const one = paymentDocument({
        invoice: invoice.number,
        amount: d(amount),
        description: `Check ${at}`,
      });
      expect(await find(sink, one)).toMatchObject({ found: "none" });
      for (let times = 0; times < 2; times++)
        expect(await send(sink, one)).toMatchObject({ outcome: "done", ids: [null] });
      expect(await find(sink, one)).toMatchObject({ found: "exact", ids: [null] });
    }
    const notes = await rows<{ message: string }>(desk, "ir.note", [], ["message"]);
    expect(notes.map(({ message }) => message.replace(/payment:\S+/, "payment"))).toEqual(
      amounts.map(
        (amount, at) =>
          `payment ${amount}\nPaid on 2026-11-21: Check ${at}. It is part of what was settled as one before.`,
      ),
    );
    // All of what was settled as one has its payment: this is more money.
    const more = paymentDocument({ invoice: invoice.number, amount: d("0.01") });
    expect(await send(sink, more)).toMatchObject({ fault: { code: "more-than-to-pay" } });
  });

  test("a payment that somebody took off its invoice is not made a second time: a person is told which one", async () => {
    const { desk, sink, invoice } = await booked(server);
    const whole = paymentDocument({ invoice: invoice.number, amount: d("20129.33") });
    const made = await send(sink, whole);
    expect(made).toMatchObject({ outcome: "done" });
    const [row] = await rows<{ id: number; payment_lines: number[] }>(
      desk,
      "account.invoice",
      [],
      ["payment_lines"],
    );
    await unreconcile(desk, moveIn(made));
    const taken = { payment_lines: [["remove", row?.payment_lines ?? []]] };
    await desk.clerk.call("model.account.invoice.write", [[row?.id], taken]);
    const paid = { ...invoice, status: "paid", paidDate: whole.date } as const;
    expect(await send(invoiceSink(desk.books), paid)).toMatchObject({
      fault: {
        code: "paid-by-others",
        message: expect.stringContaining(`20,129.33 of #${moveIn(made)} `) as string,
      },
    });
  });

  test("a clerk's cash of the same sum that names no invoice is not booked a second time: a person is told which one", async () => {
    const { desk, sink, invoice, toPay } = await booked(server);
    const move = await cashOf(desk, invoice.party.code, d("20129.33"));
    const payment = paymentDocument({ invoice: invoice.number, amount: d("20129.33") });
    expect(await send(sink, payment)).toMatchObject({
      fault: {
        code: "paid-by-others",
        message: expect.stringContaining(`20,129.33 of #${move}, which names no`) as string,
      },
    });
    const paid = { ...invoice, status: "paid", paidDate: "2026-11-21" } as const;
    expect(await send(invoiceSink(desk.books), paid)).toMatchObject({
      fault: {
        code: "paid-by-others",
        message: expect.stringContaining(`20,129.33 of #${move}`) as string,
      },
    });
    expect(await toPay()).toMatchObject({ amount_to_pay: d("20129.33") });
    await cashOf(desk, invoice.party.code, d("20129.34"));
    await takeBack(desk, move);
    expect(await send(invoiceSink(desk.books), paid)).toMatchObject({ outcome: "done" });
  });

  test("a payment that was taken back or moved in Tryton is told field by field, one that is gone as gone", async () => {
    const { desk, sink, invoice, toPay } = await booked(server);
    const payments = ["100.00", "29.33"].map((amount) =>
      paymentDocument({ invoice: invoice.number, amount: d(amount) }),
    );
    const [back, kept] = payments as [PaymentDocument, PaymentDocument];
    const [backId, keptId] = [await send(sink, back), await send(sink, kept)];
    await takeBack(desk, moveIn(backId));
    expect(await toPay()).toMatchObject({ amount_to_pay: d("20100.00") });
    // Sending it again books nothing: a person is told that it was taken back.
    expect(await find(sink, back)).toMatchObject({ found: "different" });
    expect(await send(sink, back)).toMatchObject({ fault: { code: "cancelled-in-books" } });
    expect(await inspect(sink, back, backId)).toEqual([
      {
        is: "there",
        differences: [{ field: "state", expected: "paid", held: "cancelled" }],
      },
    ]);
    expect(await inspect(sink, kept, keptId)).toEqual([{ is: "there", differences: [] }]);
    // What was brought says otherwise: as if somebody had edited it.
    const edited = { ...kept, amount: d("30.00"), date: "2026-11-20", description: "Check 1" };
    expect(await inspect(sink, edited, keptId)).toMatchObject([
      { differences: [{ field: "days.date" }, { field: "money.amount" }, { field: "reference" }] },
    ]);
    const lost = { ...kept, id: "x" };
    expect(await inspect(sink, lost, { ...keptId, ids: ["#4711 payment:x"] })).toEqual([
      { is: "gone" },
    ]);
  });

  test("a payment of an invoice that its link names as a draft is booked once a person has posted it", async () => {
    const { desk, sink } = await booked(server, { posting: "draft", numbering: "tryton" });
    const [{ id }] = (await allInvoices(desk)) as [InvoiceRow];
    await desk.clerk.call("model.account.invoice.post", [[id]]);
    const payment = paymentDocument({ invoice: `#${id}` });
    const answer = await send(sink, payment);
    expect(answer).toMatchObject({ outcome: "done" });
    expect(await send(sink, payment)).toEqual(answer);
    expect(await inspect(sink, payment, answer)).toEqual([{ is: "there", differences: [] }]);
  });

  test("of what was booked, what a restored backup does not have is told", async () => {
    const { desk, sink, invoice } = await booked(server);
    const kept = desk.database.keep();
    const payment = paymentDocument({ invoice: invoice.number });
    const { ids = [] } = await sink.send(requestOf(sink, [payment]), never);
    expect(await missingOf(sink, ids as string[])).toEqual([]);
    desk.database.restore(kept);
    expect(await missingOf(sink, ids as string[])).toEqual(ids);
  });

  describe.runIf(isLongRun)("in the long run", numbers, () => {
    test("two payments with one reference are two payments, and each keeps it", async () => {
      const { desk, sink, invoice, toPay } = await booked(server);
      const description = "Check 4711; surcharge 1.00";
      const two = [d("29.33"), d("100.00")].map((amount) =>
        paymentDocument({ invoice: invoice.number, amount, description }),
      );
      for (const one of two) expect(await send(sink, one)).toMatchObject({ outcome: "done" });
      expect(await toPay()).toMatchObject({ amount_to_pay: d("20000.00") });
      const found = [["description", "ilike", "%check 4711%"]];
      expect(await rows(desk, "account.move", found, ["description"])).toMatchObject(
        two.map(({ id }) => ({ description: `payment:${id} ${description}` })),
      );
    });

    test("a payment that is booked on another invoice already is not booked again, where no link names it either", async () => {
      const { desk, sink, invoice: before } = await booked(server);
      const after = invoiceDocument();
      await send(invoiceSink(desk.books), after);
      const first = paymentDocument({ invoice: before.number, amount: d("300.00") });
      await send(sink, first);
      const moved = { ...first, invoice: after.number, invoiceId: after.id };
      expect(await send(sink, moved)).toMatchObject({
        fault: {
          code: "differs",
          message: expect.stringContaining(before.number) as string,
        },
      });
      const lines = await rows<object>(desk, "account.invoice", [], ["amount_to_pay"]);
      expect(lines).toMatchObject([
        { amount_to_pay: d("19829.33") },
        { amount_to_pay: d("20129.33") },
      ]);
    });

    test("another payment that has its move's id since then does not pass for it", async () => {
      const { desk, sink, invoice } = await booked(server);
      const kept = desk.database.keep();
      const lost = paymentDocument({ invoice: invoice.number, amount: d("100.00") });
      const { ids = [] } = await send(sink, lost);
      desk.database.restore(kept);
      const other = paymentDocument({ invoice: invoice.number, amount: d("100.00") });
      const { ids: others = [] } = await send(sink, other);
      const [before, after] = [ids[0] as string, others[0] as string];
      expect(after.split(" ")[0]).toBe(before.split(" ")[0]);
      expect(await missingOf(sink, [before, after])).toEqual([before]);
      // What was delivered when ids had no mark yet is still told by them.
      const [old] = after.split(" ") as [string];
      expect(await missingOf(sink, [old, "#4711", "by hand"])).toEqual(["#4711", "by hand"]);
    });

    test("a payment is not booked on the bill that restored books gave its bill's number to", async () => {
      const desk = deskIn(server);
      const kept = desk.database.keep();
      const sink = paymentSink(desk.books);
      const [lost, other] = [billDocument(), billDocument()];
      const { ids: [number] = [] } = await send(billSink(desk.books), lost);
      desk.database.restore(kept);
      expect(await send(billSink(desk.books), other)).toMatchObject({ ids: [number] });
      const payment = (invoiceId: string) =>
        paymentDocument({ type: "in", invoice: number as string, invoiceId, amount: d("1.00") });
      const late = payment(lost.id);
      expect(await find(sink, late)).toMatchObject({ found: "none" });
      expect(await send(sink, late)).toMatchObject({
        outcome: "refused",
        fault: { code: "another-invoice" },
      });
      expect(await send(sink, payment(other.id))).toMatchObject({ outcome: "done" });
      const [bill] = await rows<{ amount_to_pay: unknown }>(
        desk,
        "account.invoice",
        [],
        ["amount_to_pay"],
      );
      expect(bill?.amount_to_pay).toEqual(d("20128.33"));
    });
  });
});

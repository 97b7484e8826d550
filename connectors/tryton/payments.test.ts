import { describe, expect, test } from "vitest";
import { trytonIsThere, useTryton } from "../../test/support/tryton.ts";
import { billSink, invoiceSink } from "./invoices.ts";
import { paymentSink } from "./payments.ts";
import {
  allInvoices,
  billDocument,
  booksOf,
  d,
  type Desk,
  deskIn,
  find,
  invoiceDocument,
  losing,
  missingOf,
  paymentDocument,
  requestOf,
  rows,
  send,
} from "./sink.fixture.ts";

const never = new AbortController().signal;

/** One invoice of 20129.33 in the books, and the sink of payments. */
async function booked(desk: Desk) {
  const invoice = invoiceDocument();
  await send(invoiceSink(desk.books), invoice);
  const toPay = async (): Promise<unknown> =>
    (await rows<object>(desk, "account.invoice", [], ["amount_to_pay", "state"]))[0];
  return { sink: paymentSink(desk.books), invoice, toPay };
}

describe.skipIf(!trytonIsThere)("payments into Tryton", { timeout: 60_000 }, () => {
  const server = useTryton();

  test("payments settle their invoice, each booked once", async () => {
    const desk = deskIn(server);
    const { sink, invoice, toPay } = await booked(desk);
    const part = paymentDocument({ invoice: invoice.number, amount: d("129.33") });
    expect(await find(sink, part)).toMatchObject({ found: "none" });
    const answer = await send(sink, part);
    expect(answer).toMatchObject({ name: "done", ids: [expect.stringMatching(/^#\d+ payment:/)] });
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

  test("whichever answer is lost, it is booked once in the end", { timeout: 120_000 }, async () => {
    const desk = deskIn(server);
    const { sink, invoice, toPay } = await booked(desk);
    const payment = () => paymentDocument({ invoice: invoice.number, amount: d("10.00") });
    const whole = losing(desk.books);
    await send(paymentSink(whole.books), payment());
    const changes = whole.changes();
    expect(changes).toBeGreaterThan(3);
    for (let lost = 1; lost <= changes; lost++) {
      const one = payment();
      await send(paymentSink(losing(booksOf(desk.database), lost).books), one);
      expect(await send(sink, one)).toMatchObject({ name: "done" });
    }
    const moves = [["description", "like", "payment:%"]];
    expect(await rows(desk, "account.move", moves)).toHaveLength(changes + 1);
    expect(await toPay()).toMatchObject({
      amount_to_pay: d("20129.33").minus(d("10.00").times(d(String(changes + 1)))),
    });
  });

  test("a bill is paid by Tryton's number of it", async () => {
    const desk = deskIn(server);
    await send(billSink(desk.books), billDocument());
    const payment = paymentDocument({ type: "in", invoice: "BILL-2026-00001" });
    expect(await send(paymentSink(desk.books), payment)).toMatchObject({ name: "done" });
    expect(await allInvoices(desk)).toMatchObject([{ state: "paid" }]);
  });

  test("more than is to pay is refused with both figures", async () => {
    const desk = deskIn(server);
    const { sink, invoice, toPay } = await booked(desk);
    const payment = paymentDocument({ invoice: invoice.number, amount: d("20129.34") });
    expect(await send(sink, payment)).toMatchObject({
      name: "invalid",
      fault: {
        code: "more-than-to-pay",
        message: `payment ACH 4711: invoice ${invoice.number} has 20129.33 to pay, not 20129.34`,
      },
    });
    expect(await toPay()).toMatchObject({ amount_to_pay: d("20129.33") });
  });

  test("a payment of what was settled as paid before is not booked again", async () => {
    const desk = deskIn(server);
    const { sink, invoice } = await booked(desk);
    const first = paymentDocument({ invoice: invoice.number, amount: d("129.33") });
    await send(sink, first);
    const paid = { ...invoice, status: "paid", paidDate: "2026-11-21" } as const;
    await send(invoiceSink(desk.books), paid);
    const second = paymentDocument({ invoice: invoice.number, amount: d("20000.00") });
    expect(await send(sink, second)).toMatchObject({ name: "done", ids: [null] });
    expect(await find(sink, second)).toMatchObject({ found: "exact", ids: [null] });
    const third = paymentDocument({ invoice: invoice.number, amount: d("20000.01") });
    expect(await send(sink, third)).toMatchObject({ fault: { code: "more-than-to-pay" } });
    expect(await send(sink, first)).toMatchObject({ name: "done", ids: [expect.any(String)] });
  });

  test("the same payment with another amount is told apart", async () => {
    const desk = deskIn(server);
    const { sink, invoice } = await booked(desk);
    const payment = paymentDocument({ invoice: invoice.number, amount: d("100.00") });
    await send(sink, payment);
    const other = { ...payment, amount: d("200.00") };
    expect(await find(sink, other)).toMatchObject({ found: "different" });
    expect(await send(sink, other)).toMatchObject({ fault: { code: "other-in-tryton" } });
  });

  test("an invoice that Tryton does not have, or only as a draft, is named", async () => {
    const desk = deskIn(server, { posting: "draft" });
    const { sink, invoice } = await booked(desk);
    const draft = paymentDocument({ invoice: invoice.number });
    expect(await send(sink, draft)).toMatchObject({ fault: { code: "not-posted" } });
    expect(await send(sink, paymentDocument({ invoice: "FL-0" }))).toMatchObject({
      name: "invalid",
      fault: {
        code: "no-such-invoice",
        message: "payment ACH 4711: invoice FL-0 is not in Tryton",
      },
    });
  });

  test("a payment on a day without a period is an accountant's", async () => {
    const desk = deskIn(server);
    const { sink, invoice, toPay } = await booked(desk);
    const payment = paymentDocument({ invoice: invoice.number, date: "2024-12-31" });
    expect(await send(sink, payment)).toMatchObject({ fault: { code: "closed-period" } });
    expect(await toPay()).toMatchObject({ amount_to_pay: d("20129.33") });
  });

  test("of what was booked, what a restored backup does not have is told", async () => {
    const desk = deskIn(server);
    const { sink, invoice } = await booked(desk);
    const kept = desk.database.keep();
    const payment = paymentDocument({ invoice: invoice.number });
    const { ids = [] } = await sink.send(requestOf(sink, [payment]), never);
    expect(await missingOf(sink, ids as string[])).toEqual([]);
    desk.database.restore(kept);
    expect(await missingOf(sink, ids as string[])).toEqual(ids);
  });

  test("another payment that has its move's id since then does not pass for it", async () => {
    const desk = deskIn(server);
    const { sink, invoice } = await booked(desk);
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
      name: "invalid",
      fault: { code: "another-invoice" },
    });
    expect(await send(sink, payment(other.id))).toMatchObject({ name: "done" });
    const [bill] = await rows<{ amount_to_pay: unknown }>(
      desk,
      "account.invoice",
      [],
      ["amount_to_pay"],
    );
    expect(bill?.amount_to_pay).toEqual(d("20128.33"));
  });
});

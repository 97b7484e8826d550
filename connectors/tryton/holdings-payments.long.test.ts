/**
 * Payments, parties and prices as a real Tryton's books hold them, for reconciliation.
 *
 * @module-tag numbers
 */
import { describe, expect, onTestFinished, test } from "vitest";
import type { Holding, HoldingKind, Scope } from "../../src/core/holdings.ts";
import { trytonIsThere, useTryton } from "../../test/support/tryton.ts";
import { tryton } from "./index.ts";
import { billSink, invoiceSink, paymentSink } from "./sinks.fixture.ts";
import { pay } from "./payments.ts";
import {
  allInvoices,
  billDocument,
  COMPANY_ID,
  d,
  deskIn,
  invoiceDocument,
  type InvoiceRow,
  paymentDocument,
  requestOf,
  send,
} from "./sink.fixture.ts";

const never = new AbortController().signal;
const EVERYTHING: Scope = {
  dated: { from: "2026-01-01", to: "2026-12-31" },
  changedSince: null,
  open: true,
};

describe.skipIf(!trytonIsThere)("what Tryton holds besides invoices", () => {
  const server = useTryton();

  test("payments, parties and prices are told as they are, one page of a call's size after the other", async () => {
    const desk = deskIn(server);
    const { books } = desk;
    const endpoint = tryton.open(books.config, books.surroundings);
    onTestFinished(() => endpoint.close());
    const { holdings } = endpoint;
    if (holdings === undefined) throw new Error("it cannot be asked");
    const all = async (kind: HoldingKind, scope = EVERYTHING): Promise<Holding[]> => {
      const found: Holding[] = [];
      for await (const page of holdings.list(kind, scope, null, never))
        found.push(...page.holdings);
      return found;
    };

    const [invoice, lumped, byHand] = [invoiceDocument(), invoiceDocument(), invoiceDocument()];
    await send(invoiceSink(books), invoice, lumped, byHand);
    const payment = paymentDocument({ invoice: invoice.number, amount: d("20200.00") });
    const { ids: [id] = [] } = await send(paymentSink(books), payment);
    const paid = { ...lumped, status: "paid", paidDate: "2026-11-20" } as const;
    await send(invoiceSink(books), paid);
    const invoices = await allInvoices(desk);
    const hand = invoices.find(({ number }) => number === byHand.number) as InvoiceRow;
    const check = { date: "2026-11-19", description: "check 12", how: "part" } as const;
    await pay(books, { ...check, invoice: hand.id, amount: d("129.33") });
    const bill = billDocument();
    await send(billSink(books), bill);
    const made = paymentDocument({ type: "in", invoice: "BILL-2026-00001", amount: d("29.33") });
    await send(paymentSink(books), made);

    const payments = await all("payment");
    expect(payments.map(({ mark, facts }) => ({ mark, ...facts }))).toMatchObject([
      {
        mark: payment.id,
        party: "CUST-1",
        state: "paid",
        days: { date: "2026-11-21" },
        money: { amount: d("20200.00") },
        words: { side: "sale", document: invoice.number, reference: "ACH 4711", notes: null },
      },
      {
        mark: lumped.id,
        days: { date: "2026-11-20" },
        money: { amount: d("20129.33") },
        words: {
          document: lumped.number,
          reference: "settled as one",
          notes: `platform:${lumped.id}`,
        },
      },
      {
        mark: null,
        words: { document: byHand.number, reference: "check 12", notes: null },
      },
    ]);
    expect(payments[0]?.id).toBe(id);
    expect(await all("bill-payment")).toMatchObject([
      {
        kind: "bill-payment",
        mark: made.id,
        facts: {
          party: "SUP-1",
          money: { amount: d("29.33") },
          words: { side: "purchase", document: "BILL-2026-00001" },
        },
      },
    ]);
    // The rest of the overpayment, and what pays a part, are settled with nothing.
    const open = await all("payment", { dated: null, changedSince: null, open: true });
    expect(open.map(({ facts }) => facts.words?.document)).toEqual([invoice.number, byHand.number]);
    const since = "2126-01-01T00:00:00Z";
    expect(await all("payment", { dated: null, changedSince: since, open: false })).toEqual([]);
    const known = payments.map((one) => one.id);
    expect(await holdings.get("payment", [...known, "#4711", "by hand"], never)).toEqual(payments);
    const sink = paymentSink(books);
    const { items } = requestOf(sink, [payment]);
    const [expected] = await holdings.expect(
      "payment",
      items.map((item) => ({ ...item, document: payment, counterpart: id ?? null })),
      never,
    );
    expect(expected).toEqual({
      facts: {
        state: "paid",
        days: { date: "2026-11-21" },
        money: { amount: d("20200.00") },
        words: {
          side: "sale",
          currency: "USD",
          document: invoice.number,
          reference: "ACH 4711",
          notes: null,
        },
      },
    });

    const parties = await all("party");
    expect(parties.find((one) => one.id === "CUST-1")).toMatchObject({
      mark: COMPANY_ID,
      change: { id: "CUST-1", version: null },
      facts: { number: "CUST-1", state: "open", words: { name: "Ranch Supply" } },
    });
    expect(await holdings.get("party", ["CUST-1", "NOBODY"], never)).toMatchObject([
      { id: "CUST-1" },
    ]);

    type Row = { id: number; code: string };
    const { company } = await desk.clerk.session();
    const products = await desk.clerk.call<Row[]>("model.product.product.search_read", [
      [["code", "in", ["ULSD-CLR", "087"]]],
      0,
      null,
      [["code", "DESC"]],
      ["code"],
    ]);
    const [ulsd, regular] = products as [Row, Row];
    const lines = [
      { product: ulsd.id, formula: "2.413750" },
      { product: regular.id, formula: "unit_price * 2" },
    ];
    await desk.clerk.call("model.product.price_list.create", [
      [{ name: "T-1 San Antonio", company, lines: [["create", lines]] }],
    ]);
    const prices = await all("price");
    expect(prices).toMatchObject([
      {
        id: "T-1 San Antonio|ULSD-CLR",
        facts: {
          number: "T-1 San Antonio ULSD-CLR",
          money: { price: d("2.413750") },
          words: { unit: "gal", currency: "USD" },
        },
      },
      { facts: { number: "T-1 San Antonio 087" }, change: { fault: { code: "no-constant" } } },
    ]);
    expect(prices[1]?.facts.money).toBeUndefined();
    expect(await holdings.get("price", ["T-1 San Antonio|ULSD-CLR"], never)).toHaveLength(1);
    expect(await holdings.expect("party", [], never)).toEqual([]);
  });
});

/**
 * Invoices as a real Tryton's books hold them, for reconciliation.
 *
 * @module-tag numbers
 */
import { describe, expect, test } from "vitest";
import { trytonIsThere, useTryton } from "../../test/support/tryton.ts";
import { compare } from "../../src/ledger/compare.ts";
import { Decimal } from "../../src/core/decimal.ts";
import type { Holding, Scope } from "../../src/core/holdings.ts";
import { controlOf } from "./examine.ts";
import { ledgerOf } from "./index.ts";
import { billSink, invoiceSink } from "./sinks.fixture.ts";
import { pay } from "./payments.ts";
import { creditInTryton } from "./clerk.fixture.ts";
import {
  allInvoices,
  billDocument,
  booksOf,
  d,
  type Desk,
  deskIn,
  invoiceDocument,
  type InvoiceRow,
  rows,
  send,
} from "./sink.fixture.ts";

const never = new AbortController().signal;
const holdingsOf = (desk: Desk) => ledgerOf(desk.books).holdings;
const NOTHING: Scope = { dated: null, changedSince: null, open: false };
const NOVEMBER: Scope = { ...NOTHING, dated: { from: "2026-11-01", to: "2026-11-30" } };

async function listed(
  desk: Desk,
  kind: "invoice" | "bill",
  scope: Scope,
  from: number | null = null,
) {
  const holdings: Holding[] = [];
  let total: number | null = null;
  for await (const page of holdingsOf(desk).list(kind, scope, from, never)) {
    holdings.push(...page.holdings);
    total = page.total;
  }
  return { holdings, total };
}

describe.skipIf(!trytonIsThere)("invoices that Tryton holds", () => {
  const server = useTryton();

  test("one that Tryton cannot tell, for its currency has no rate, is one row that says so; the others are told", async () => {
    const desk = deskIn(server);
    const documents = [invoiceDocument(), invoiceDocument(), invoiceDocument()] as const;
    await send(invoiceSink(desk.books), ...documents);
    const all = await allInvoices(desk);
    const idOf = ({ number }: { number: string }): number =>
      all.find((row) => row.number === number)?.id ?? 0;
    const [currency] = await desk.admin.call<[number]>("model.currency.currency.create", [
      [
        {
          name: "Euro",
          code: "EUR",
          symbol: "e",
          rates: [["create", [{ date: DAY, rate: d("0.9") }]]],
        },
      ],
    ]);
    const [like] = await rows<{
      company: number;
      party: number;
      invoice_address: number;
      journal: number;
      account: number;
      lines: number[];
    }>(
      desk,
      "account.invoice",
      [["id", "=", idOf(documents[1])]],
      ["company", "party", "invoice_address", "journal", "account", "lines"],
    );
    const [line] = await rows<{ account: number }>(
      desk,
      "account.invoice.line",
      [["id", "in", like?.lines]],
      ["account"],
    );
    const { company, party, invoice_address, journal, account } = like as NonNullable<typeof like>;
    const make = async (reference: string): Promise<number> => {
      const lines = [
        [
          "create",
          [
            {
              type: "line",
              currency,
              company,
              account: line?.account,
              quantity: 1,
              unit_price: d("90.00"),
              description: "Abroad",
            },
          ],
        ],
      ];
      const values = {
        type: "out",
        company,
        party,
        invoice_address,
        journal,
        account,
        currency,
        reference,
        invoice_date: DAY,
        payment_term_date: "2099-01-01",
        lines,
      };
      const [id] = await desk.clerk.call<[number]>("model.account.invoice.create", [[values]]);
      return id;
    };
    const copy = await make("abroad");
    await make("abroad, a draft");
    await desk.clerk.call("model.account.invoice.post", [[copy]]);
    const payment = { date: "2026-11-21", description: "check 9", how: "part" } as const;
    await pay(desk.books, { invoice: copy, amount: d("10.00"), ...payment });
    const rates = await desk.admin.call<number[]>("model.currency.currency.rate.search", [
      [["currency", "=", currency]],
    ]);
    await desk.admin.call("model.currency.currency.rate.delete", [rates]);
    const { holdings } = await listed(desk, "invoice", NOVEMBER);
    const [made] = await rows<InvoiceRow>(desk, "account.invoice", [["id", "=", copy]], ["number"]);
    const number = made?.number ?? "";
    const untold = holdings.filter((one) => one.untold !== undefined);
    const message =
      'the books cannot tell it: model.account.invoice.search_read: No rate found for currency "Euro" on "11/21/2026".';
    expect(untold).toMatchObject([
      {
        id: number,
        facts: { number, money: { total: d("90.00") }, words: { currency: "EUR" } },
        untold: { message },
        change: { fault: { message } },
      },
    ]);
    expect(holdings).toHaveLength(documents.length + 2);
    // So it is where it is asked for by its number.
    const named = await holdingsOf(desk).named?.("invoice", [number], never);
    expect(named).toMatchObject([{ untold: { message } }]);
    // A send decides nothing by half of a document.
    const again = await send(invoiceSink(desk.books), { ...documents[0], number });
    expect(again.outcome).not.toBe("done");
  });

  test("each is told as it stands, with what is expected of it, and open amounts add up to the ledger's", async () => {
    const desk = deskIn(server);
    const sink = invoiceSink(desk.books);
    const documents = {
      open: invoiceDocument(),
      paid: invoiceDocument({ status: "paid", paidDate: "2026-11-20" }),
      disputed: invoiceDocument({ status: "disputed" }),
      void: invoiceDocument(),
      credited: invoiceDocument(),
      partly: invoiceDocument({ party: { code: "CUST-2", name: "Co-op", companyId: "co-op" } }),
      october: invoiceDocument({ invoiceDate: "2026-10-31", dueDate: null }),
    };
    const names = Object.keys(documents) as (keyof typeof documents)[];
    await send(sink, ...Object.values(documents));
    await send(sink, { ...documents.void, ...VOID });
    const all = await allInvoices(desk);
    const idOf = ({ number }: { number: string }): number =>
      all.find((row) => row.number === number)?.id ?? 0;
    await creditInTryton(desk, idOf(documents.credited), false);
    const part = { date: "2026-11-20", description: "check 7", how: "part" } as const;
    await pay(desk.books, { invoice: idOf(documents.partly), amount: d("129.33"), ...part });
    await desk.clerk.call("model.account.invoice.copy", [
      [idOf(documents.open)],
      { comment: null, reference: "by hand", invoice_date: DAY, payment_term_date: DAY },
    ]);

    const { holdings, total } = await listed(desk, "invoice", { ...NOVEMBER, open: true });
    // The draft of a clerk has no number yet.
    expect(holdings).toHaveLength(names.length + 1);
    expect(total).toBe(holdings.length);
    const held = new Map(holdings.map((one) => [one.id, one]));
    const of = (name: keyof typeof documents): Holding =>
      held.get(documents[name].number) as Holding;
    const states = names.map((name) => [
      name,
      of(name).facts.state,
      of(name).facts.money?.open?.text,
    ]);
    expect(states).toEqual([
      ["open", "open", "20129.33"],
      ["paid", "paid", "0"],
      ["disputed", "disputed", "20129.33"],
      ["void", "ended", "0"],
      ["credited", "ended", "0"],
      ["partly", "open", "20000.00"],
      ["october", "open", "20129.33"],
    ]);
    for (const name of names) {
      expect(of(name)).toMatchObject({ mark: documents[name].id, change: null, kind: "invoice" });
      expect(of(name).version).toMatch(/^2026-/);
    }

    const items = names.map((name) => ({
      number: documents[name].number,
      id: documents[name].id,
      revision: "r",
      document: { ...documents[name], ...(name === "void" ? { status: "void" } : {}) },
      counterpart: null,
    }));
    const bad = { ...items[0]!, document: { ...documents.open, party: TWO } };
    await desk.admin.call("model.party.party.create", [
      [1, 2].map((n) => ({
        name: `Twin ${n}`,
        identifiers: [["create", [{ code: TWO.companyId }]]],
      })),
    ]);
    const expected = await holdingsOf(desk).expect("invoice", [...items, bad], never);
    expect(expected.at(-1)).toMatchObject({ fault: { code: "twice-in-books" } });
    const differences = names.flatMap((name, at) => {
      const one = expected[at];
      if (one === undefined || !("facts" in one)) return [`${name}: fault`];
      return compare("invoice", one.facts, of(name).facts).map(({ field }) => `${name}: ${field}`);
    });
    expect(differences).toEqual(["credited: state"]);

    const sums = new Map<string, Decimal>();
    for (const { facts } of holdings) {
      const open = facts.money?.open;
      if (open && open.sign !== 0)
        sums.set(String(facts.party), open.plus(sums.get(String(facts.party)) ?? Decimal.zero));
    }
    const ledger = await controlOf(desk.books, "invoice", never);
    expect(new Map(ledger.map(({ party, open }) => [party, open.fixed(2)]))).toEqual(
      new Map([...sums].map(([party, open]) => [party, open.fixed(2)])),
    );
  });

  test("a scope is a union; lists go on after a position; one is told by its number or its id", async () => {
    const desk = deskIn(server);
    const sink = billSink(desk.books);
    const [october, november] = [
      billDocument({ invoiceDate: "2026-10-31", status: "paid", paidDate: "2026-11-20" }),
      billDocument(),
    ];
    await send(sink, october);
    await send(sink, november);
    const numbers = async (scope: Scope, from: number | null = null): Promise<(string | null)[]> =>
      (await listed(desk, "bill", scope, from)).holdings.map(({ mark }) => mark);
    expect(await numbers(NOTHING)).toEqual([]);
    expect(await numbers({ ...NOTHING, open: true })).toEqual([november.id]);
    expect(await numbers(NOVEMBER)).toEqual([november.id]);
    expect(await numbers({ ...NOVEMBER, changedSince: "2026-01-01T00:00:00.000Z" })).toEqual([
      october.id,
      november.id,
    ]);
    expect(await numbers({ ...NOVEMBER, changedSince: "2199-01-01T00:00:00.000Z" })).toEqual([
      november.id,
    ]);
    const [{ id: first }] = (await allInvoices(desk)) as [InvoiceRow];
    expect(await numbers({ ...NOTHING, changedSince: "2026-01-01T00:00:00.000Z" }, first)).toEqual([
      november.id,
    ]);
    const holdings = holdingsOf(desk);
    const got = await holdings.get("bill", ["BILL-2026-00001", "BILL-2026-00009"], never);
    expect(got).toMatchObject([
      { id: "BILL-2026-00001", mark: october.id, facts: { state: "paid" } },
    ]);
    expect(await controlOf(desk.books, "bill", never)).toMatchObject([
      { party: "SUP-1", open: d("20129.33") },
    ]);

    // One number twice: the one that stands has it, the other one is named by its id.
    const own = invoiceSink(booksOf(desk.database, { numbering: "tryton" }));
    const document = invoiceDocument();
    await send(own, document);
    const [invoice] = (await allInvoices(desk)).slice(-1) as [InvoiceRow];
    await desk.clerk.call("model.account.invoice.copy", [
      [invoice.id],
      { comment: null, number: invoice.number, invoice_date: DAY, payment_term_date: LATER },
    ]);
    const twin = (await allInvoices(desk)).at(-1) as InvoiceRow;
    const told = await holdingsOf(desk).get("invoice", [String(invoice.number)], never);
    expect(told.map(({ id }) => id)).toEqual([invoice.number, `#${twin.id}`]);
    await desk.clerk.call("model.account.invoice.post", [[twin.id]]);
    const [, change] = await holdingsOf(desk).get(
      "invoice",
      [`#${twin.id}`, `#${invoice.id}`],
      never,
    );
    expect(change).toMatchObject({ id: `#${twin.id}`, change: null });
  });
});

const DAY = { __class__: "date", year: 2026, month: 11, day: 21 };
const VOID = { status: "void" } as const;
const LATER = { __class__: "date", year: 2027, month: 1, day: 8 };
const TWO = { code: "NONE", name: "Twins", companyId: "0a000000-0000-4000-8000-00000000c0ff" };

import { expect, test } from "vitest";
import type { Source } from "../core/contract.ts";
import { Decimal } from "../core/decimal.ts";
import type { Books, Call, Capabilities, LedgerAdapter, LedgerKind } from "./port.ts";
import type { InvoiceDocument } from "./documents.ts";
import { bodyOf, Parties } from "./desired.ts";
import { ledgerHoldings, ledgerSink } from "./driver.ts";
import { priceHoldings } from "./lists.ts";
import { books as named, can, desired, entry } from "./plan.fixture.ts";

const never = new AbortController().signal;
const call: Call = { key: "k", signal: never, purpose: "delivery", made: new Set() };
const none = Decimal.zero;
const change = { id: "C-1", version: null, text: "{}" };

/** Books in which nothing stands but one party; `made`: the calls that created parties, with how many each. */
function booksWith(
  of: Partial<Capabilities>,
  made: number[] = [],
  standing: Partial<LedgerAdapter> = {},
): Books {
  const adapter = (more: Partial<LedgerAdapter>): LedgerAdapter => ({
    can: { ...can, ...of },
    expected: (documents) => Promise.resolve(documents.map(() => ({}))),
    locate: () => Promise.resolve([]),
    create: () => Promise.resolve([]),
    apply: () => Promise.resolve(),
    get: () => Promise.resolve([entry({ id: "C-1", mark: "company-1", number: "C-1", change })]),
    named: () => Promise.resolve([]),
    async *list() {},
    ...more,
  });
  const create: LedgerAdapter["create"] = (parties) => {
    made.push(parties.length);
    return Promise.resolve([]);
  };
  const adapters: Partial<Record<LedgerKind, LedgerAdapter>> = {
    invoice: adapter(standing),
    bill: adapter(standing),
    payment: adapter({}),
    party: adapter({ create }),
  };
  return { ...named, adapters, errors: [], settleMs: 0, settleAfterMs: 0 };
}

const partyOf = (code: string) => ({ code, name: `Party ${code}`, companyId: `company-${code}` });
const disputed: InvoiceDocument = {
  id: "id-1",
  number: "FL-1",
  party: partyOf("C-1"),
  type: "out",
  status: "disputed",
  invoiceDate: "2026-11-21",
  dueDate: null,
  paidDate: null,
  description: null,
  lines: [
    {
      product: null,
      account: "4000",
      quantity: none,
      unit: null,
      unitPrice: none,
      amount: none,
      description: "Freight",
    },
  ],
  taxes: [],
  subtotal: none,
  tax: none,
  total: none,
};

test.each([
  ["disputed", { state: "posted" }],
  ["open", {}],
] as const)("a disputed invoice is held as %s with amend %j", async (state, amend) => {
  const item = { number: "FL-1", id: "id-1", revision: "r", document: disputed, counterpart: null };
  const told = await ledgerHoldings(booksWith({ amend })).expect("invoice", [item], never);
  expect(told).toMatchObject([{ facts: { state } }]);
});

test("a party that came from the platform is told with its change, an invoice is not", async () => {
  const holdings = ledgerHoldings(booksWith({}));
  expect(await holdings.get("party", ["C-1"], never)).toMatchObject([
    { mark: "company-1", change },
  ]);
  expect(await holdings.get("invoice", ["C-1"], never)).toMatchObject([
    { mark: "company-1", change: null },
  ]);
});

const memo = { mark: null, amount: Decimal.of("5"), instead: "credit memo 7" };
test.each([
  ["paid", [{ mark: null, amount: Decimal.of("100") }]],
  // Another invoice in the same reconciliation raised what was open.
  ["paid", [{ ...memo, amount: Decimal.of("-5") }]],
  ["settled", [{ mark: null, amount: Decimal.of("95") }, memo]],
] as const)("what is settled is held as %s: %j", async (state, payments) => {
  for (const kind of ["invoice", "bill"] as const) {
    const get = () => Promise.resolve([entry({ status: "settled", payments })]);
    const [held] = await ledgerHoldings(booksWith({}, [], { get })).get(kind, ["S-1"], never);
    expect(held?.facts.state).toBe(state);
  }
});

test("no call creates more parties than the books take in one, and none twice in a send", async () => {
  const made: number[] = [];
  const documents = ["A", "B", "C"].map((code) => ({ ...disputed, party: partyOf(code) }));
  const all = documents.map((document) => desired({ document }));
  const parties = new Parties(booksWith({ atomic: 2 }, made));
  for (let round = 0; round < 2; round++) await parties.ensure(all, call);
  expect(made).toEqual([2, 1]);
});

test("a party that documents of one look name by its code and by its id is one party", async () => {
  const found = entry({ id: "C-1", mark: "company-1", number: "C-1" });
  const locate: LedgerAdapter["locate"] = (all) => Promise.resolve(all.map(() => found));
  const books = booksWith({});
  const { party } = books.adapters;
  const parties = new Parties({
    ...books,
    adapters: { ...books.adapters, party: { ...(party as LedgerAdapter<"party">), locate } },
  });
  const named = ["C-1", "Lone Prairie"].map((code) => ({
    document: { ...disputed, party: { code, name: "Lone Prairie", companyId: "company-1" } },
  }));
  const [one, other] = await parties.of(named, call);
  expect([one, other]).toEqual([one, one]);
  expect(one).toEqual({ code: "C-1", entry: found });
});

test("prices are what their source tells from its beginning; several of one name have none", async () => {
  const at = (product: string, price: string) => ({
    id: `T-1|${product}`,
    version: null,
    text: `{"list":"T-1","product":"${product}","price":${price},"unit":"gal"}`,
  });
  const source: Source = {
    async *read(position) {
      expect(position).toBeNull();
      yield { changes: [at("087", "2.5"), at("089", "2.6")], position: 1 };
      // Told twice alike: a list and a line of it have changed.
      yield { changes: [at("087", "2.5"), at("089", "2.7")], position: 2 };
    },
  };
  const price = priceHoldings("the ledger", "USD", source);
  const prices = ledgerHoldings(booksWith({}), { price });
  const [first, second] = await prices.get("price", ["T-1|087", "T-1|089"], never);
  expect(first).toMatchObject({ facts: { number: "T-1 087" } });
  expect(first).not.toHaveProperty("untold");
  expect(second?.untold).toMatchObject({
    code: "no-single-price",
    message: "the ledger tells more than one price of T-1|089",
  });
  await expect(prices.get("price", [], AbortSignal.abort())).rejects.toThrow(/abort/i);
});

test.each([
  ["open", { payments: [{ mark: null, amount: Decimal.of("5") }] }],
  ["paid", { status: "settled" }],
  ["open", { refusal: { code: "not-cancelled", message: "it stands", next: "Cancel it." } }],
] as const)("a void that the books have %s again is told: %j", async (held, now) => {
  const standing = { locate: () => Promise.resolve([entry(now)]) };
  for (const kind of ["invoice", "bill"] as const) {
    const books = booksWith({}, [], standing);
    const document = { ...disputed, status: "void" as const };
    const item = { number: "FL-1", id: "id-1", revision: "r", document, counterpart: null };
    const body = bodyOf(books, kind, [item]);
    const delivered = [{ id: "id-1", counterpart: "S-1", body }];
    expect(await ledgerSink(books, kind).inspect?.(delivered, never)).toEqual([
      { is: "there", differences: [{ field: "state", expected: "cancelled", held }] },
    ]);
  }
});

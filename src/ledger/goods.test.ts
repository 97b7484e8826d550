import { describe, expect, test } from "vitest";
import { Decimal } from "../core/decimal.ts";
import type { Facts } from "../core/holdings.ts";
import { stringifyExact } from "../core/json.ts";
import type { Books, Desired, Entry, GoodsEntry, LedgerAdapter } from "./port.ts";
import type { OrderDocument } from "./documents.ts";
import { ledgerSink } from "./driver.ts";
import { goodsLine, onSideOf, planGoods } from "./goods.ts";
import { identify } from "./plan.ts";
import { books as named, can as canInvoice, desired as document, entry } from "./plan.fixture.ts";

const lineOf = (gallons: string) =>
  goodsLine({
    product: "ULSD",
    quantity: Decimal.of(gallons),
    unit: "gal",
    unitPrice: Decimal.of("2.4"),
  });
const factsOf = (gallons = "8000", side: "sale" | "purchase" = "sale"): Facts => ({
  words: { side },
  lines: [lineOf(gallons)],
});
const goods: GoodsEntry = {
  called: "sale 1",
  state: "processing",
  told: "sale 1 processing",
  unmarking: "platform:id-1 out of its comment",
};
const can = { ...canInvoice, amend: { lines: "draft" } } as const;
const order = (more: Partial<Entry> = {}): Entry =>
  entry({ id: "sale 1", touched: null, facts: factsOf(), goods, ...more });
const desired = (more: Partial<Desired> = {}): Desired =>
  document({ expected: factsOf(), ...more });

/** @param upTo how far its lines can be changed */
function planned(one: Desired, all: readonly Entry[], upTo: "draft" | "posted" = "draft") {
  const [found = { is: "none" as const }] = identify([one], onSideOf(one, all), can);
  const own = { ...can, amend: { lines: upTo } };
  const next = planGoods({ kind: "order", books: "Books", can: own }, one, found, all);
  return next.do === "ask" ? next.fault.code : next.do;
}

const other = factsOf("7500");
const draft = { status: "draft" } as const;
const entered = { mark: null } as const;

test.for<[says: string, does: string, one: Partial<Desired>, ...all: Partial<Entry>[]]>([
  ["one that is not there is made", "create", {}],
  ["one that ended before it was booked is nothing", "nothing", { target: "cancelled" }],
  ["a draft is confirmed", "posted", {}, draft],
  ["a draft that is to be one stays it", "nothing", { target: "draft" }, draft],
  ["what is left of a step is completed", "posted", {}, { unfinished: true }],
  ["our own draft is written anew", "amended", {}, { ...draft, facts: other }],
  ["a confirmed one is not", "changed-after-confirmation", {}, { facts: other }],
  [
    "nor is one that moves already",
    "changed-after-confirmation",
    {},
    { ...draft, facts: other, fixed: ["lines"] },
  ],
  [
    "one that a person entered is taken when it says the same",
    "posted",
    {},
    { ...draft, ...entered },
  ],
  [
    "and left alone when it does not, whether its link names it or not",
    "another-order",
    { binding: "sale 1" },
    { ...draft, ...entered, facts: other },
  ],
  [
    "so is one that these books bill by themselves",
    "another-order",
    {},
    { ...entered, goods: { ...goods, stranger: "is invoiced by Books itself" } },
  ],
  ["another party's is not ours", "another-order", {}, { party: "C-2" }],
  ["two are for a person", "another-order", {}, {}, {}],
  ["an open one is cancelled", "cancelled", { target: "cancelled" }, draft],
  ["a confirmed one is for a person", "cancelled-after-confirmation", { target: "cancelled" }, {}],
  ["so is one that was cancelled there", "cancelled-in-books", {}, { status: "cancelled" }],
  [
    "one that turned round since it was booked is not booked twice",
    "turned",
    {},
    { facts: factsOf("8000", "purchase") },
  ],
  [
    "until the first is cancelled",
    "create",
    {},
    { facts: factsOf("8000", "purchase"), status: "cancelled" },
  ],
  [
    "one that counts less on the platform than it does there is for a person",
    "taken-back",
    { target: "draft" },
    {},
  ],
])("an order: %s", ([, does, one, ...all]) => {
  expect(planned(desired(one), all.map(order))).toBe(does);
});

test("an order that these books keep open is written anew, and cancelled", () => {
  expect(planned(desired(), [order({ facts: other })], "posted")).toBe("amended");
  expect(planned(desired({ target: "cancelled" }), [order()], "posted")).toBe("cancelled");
});

/** Books that hold these orders, and take no write. */
function holding(...all: readonly Partial<Entry>[]) {
  const writes: string[] = [];
  const wrote = (what: string) => async () => {
    writes.push(what);
    return [];
  };
  const rows = all.map((one) => order({ aliases: ["sale 1 platform:id-1"], ...one }));
  const adapter: LedgerAdapter<"order"> = {
    can,
    expected: async (documents) =>
      documents.map(({ type, lines }) => ({
        words: { side: type },
        lines: lines.map((line) => goodsLine(line)),
      })),
    locate: async () => rows,
    create: wrote("create"),
    apply: async (to) => void (await wrote(to)()),
    get: async () => rows,
    named: async () => rows,
    async *list() {
      yield { entries: rows, position: "" };
    },
  };
  const books: Books = {
    ...named,
    adapters: { order: adapter },
    errors: [],
    settleMs: 0,
    settleAfterMs: 0,
  };
  return { sink: ledgerSink(books, "order"), writes };
}

const signal = new AbortController().signal;
const confirmed: OrderDocument = {
  id: "id-1",
  number: "FL-1",
  party: { code: "C-1", name: "Acme", companyId: "company-1" },
  type: "sale",
  status: "confirmed",
  date: "2026-11-20",
  description: null,
  lines: [
    {
      product: "ULSD",
      quantity: Decimal.of("8000"),
      unit: "gal",
      unitPrice: Decimal.of("2.4"),
      description: "ULSD",
    },
  ],
};

describe("an order that went back on the platform, after the store was lost", () => {
  const takenBack = { ...confirmed, status: "taken-back", platformStatus: "POSTED", lines: [] };
  const told = async (...all: readonly Partial<Entry>[]) => {
    const { sink, writes } = holding(...all);
    const item = { number: "FL-1", id: "id-1", revision: "r", document: takenBack };
    const items = [{ ...item, counterpart: null }];
    const request = { ...sink.freeze(items), key: "k", items, firstSentAt: null };
    const [found, answer] = [await sink.find(request, signal), await sink.send(request, signal)];
    expect(writes).toEqual([]);
    return { found, answer };
  };

  test.for<[says: string, ...held: Partial<Entry>[]]>([
    ["confirmed", {}],
    ["a draft", draft],
    ["done with other lines", { facts: other }],
    ["entered by a person", entered],
    ["on the other side", { facts: factsOf("8000", "purchase") }],
    ["there twice", {}, {}],
  ])("%s in the books: one line for a person, and no write", async ([, ...held]) => {
    const { found, answer } = await told(...held);
    const books = held.map(() => "sale 1 processing").join(" and ");
    const message = `the ledger holds ${books}, and on the platform the order FL-1 is POSTED`;
    expect(answer).toMatchObject({ outcome: "refused", fault: { code: "taken-back", message } });
    expect(found).toMatchObject({ found: "different", fault: { message } });
  });

  test.for<[says: string, ...held: Partial<Entry>[]]>([
    ["not in the books"],
    ["cancelled in the books", { status: "cancelled" }],
    ["of another party there", { ...entered, party: "C-2" }],
  ])("%s: nobody is asked, and no write", async ([, ...held]) => {
    const { found, answer } = await told(...held);
    expect(answer).toMatchObject({ outcome: "done" });
    expect(found).toMatchObject({ found: "exact" });
  });
});

test("where nothing can wait as a draft, one that is to wait is made when it is posted", () => {
  const next = (target: Desired["target"]) =>
    planGoods(
      { kind: "order", books: "Books", can: { ...can, has: ["posted", "cancelled"] } },
      desired({ target }),
      { is: "none" },
      [],
    ).do;
  expect([next("draft"), next("posted")]).toEqual(["nothing", "create"]);
});

describe("an order that was delivered", () => {
  const inspected = async (now: Partial<Entry>, document: object = confirmed) => {
    const { sink } = holding(now);
    const body = stringifyExact([{ document, counterpart: null, until: null }]);
    const delivered = [{ id: "id-1", counterpart: "sale 1 platform:id-1", body }];
    const [one] = (await sink.inspect?.(delivered, signal)) ?? [];
    return one?.is === "there" ? one.differences.map((all) => Object.values(all).join(" ")) : one;
  };

  test.for<[says: string, now: Partial<Entry>, told: string[]]>([
    ["is as it was brought there", {}, []],
    ["other gallons", { facts: other }, ["lines.1.quantity 8000.00 7500.00"]],
    ["another party", { party: "C-2" }, ["party C-1 C-2"]],
    ["cancelled", { status: "cancelled" }, ["state confirmed processing"]],
  ])("what people change there is told: %s", async ([, now, told]) => {
    expect(await inspected(now)).toEqual(told);
  });

  test("one that was cancelled and stands again is told", async () => {
    expect(await inspected({}, { ...confirmed, status: "cancelled" })).toEqual([
      "state cancelled processing",
    ]);
  });

  test("one that is confirmed there, and on the platform not yet, is told", async () => {
    expect(await inspected({}, { ...confirmed, status: "draft" })).toEqual([
      "state draft processing",
    ]);
  });

  test("one that is not there is gone", async () => {
    expect(await inspected({ aliases: [], id: "sale 2" })).toEqual({ is: "gone" });
  });
});

/** The driver of src/ledger over a ledger that loses answers, is slow, refuses, and is restored. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { compare } from "../../src/ledger/compare.ts";
import { InvoiceDocument } from "../../src/ledger/documents.ts";
import type { Change, Endpoint, Item, Reading, Sink, Source } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { type Json, parseExact } from "../../src/core/json.ts";
import type { HoldingKind, Holdings } from "../../src/core/holdings.ts";
import { type Case, readCases } from "../../src/mapping/cases.ts";
import {
  billDocument,
  deliver,
  deliveredAs,
  enterInvoice,
  invoiceDocument,
  itemOf,
  never,
  opened,
  openedAt,
  openLedger,
  paymentDocument,
  requestOf,
  SENT,
  sinkOf,
} from "./example.fixture.ts";
import { example } from "./index.ts";
import type { Ledger } from "./ledger.fixture.ts";
import { errors } from "./wire.ts";

const d = (digits: string): Decimal => Decimal.of(digits);
const find = (sink: Sink, item: Item) => sink.find(requestOf(sink, [item]), never);
const one = (ledger: Ledger, table = "invoices") => ledger.rows(table).at(-1);

test("sample.yaml is a section of this connector", () => {
  const text = readFileSync(join(import.meta.dirname, "sample.yaml"), "utf8");
  const { endpoints } = parse(text) as { endpoints: { books: Record<string, unknown> } };
  const { connector, ...section } = endpoints.books;
  expect(connector).toBe(example.name);
  expect(example.config.safeParse(section).error).toBeUndefined();
});

describe("an invoice", () => {
  test("whose lines do not come to its total is not posted, and its draft is taken back", async () => {
    const ledger = await openLedger();
    const sink = sinkOf(ledger, "invoices");
    const wrong = invoiceDocument("FL-1", { subtotal: d("18103.97"), total: d("19934.09") });
    expect(await deliver(sink, itemOf(wrong))).toMatchObject({
      outcome: "refused",
      fault: {
        code: "would-differ",
        message: expect.stringContaining("18103.96, platform 18103.97"),
      },
    });
    expect(ledger.rows("invoices")).toEqual([]);
  });

  test("that a send left as a draft is completed; one that a person changed meanwhile is theirs", async () => {
    const ledger = await openLedger();
    const sink = sinkOf(ledger, "invoices");
    const item = itemOf(invoiceDocument("FL-1"));
    ledger.loses = 2;
    expect(await deliver(sink, item)).toMatchObject({ outcome: "unknown", unanswered: true });
    expect(one(ledger)).toMatchObject({ state: "draft" });
    expect(await find(sink, item)).toMatchObject({ found: "none" });
    const left = ledger.backup();
    expect(await deliver(sink, item)).toMatchObject({ outcome: "done" });
    expect(one(ledger)).toMatchObject({ state: "posted" });
    ledger.restore(left);
    ledger.edit("invoices", one(ledger)?.id ?? "", {});
    expect(await deliver(sink, item)).toMatchObject({ fault: { code: "draft-in-books" } });
    expect(one(ledger)).toMatchObject({ state: "draft" });
  });

  test("that was entered by hand is adopted when it is equal, and is for a person when it is not", async () => {
    const ledger = await openLedger();
    const sink = sinkOf(ledger, "invoices");
    ledger.enter("parties", { id: "CUST-1", name: "Ranch Supply" });
    const row = enterInvoice(ledger, { reference: "FL-1" });
    const item = itemOf(invoiceDocument("FL-1"));
    expect(await deliver(sink, item)).toMatchObject({ outcome: "done", ids: [row.id] });
    ledger.edit("invoices", row.id, { date: "2026-11-01" });
    expect(await deliver(sink, item)).toMatchObject({ fault: { code: "other-in-books" } });
    expect(ledger.rows("invoices")).toHaveLength(1);
  });

  test.each(["invoices", "bills"])(
    "that was entered by hand with other signs in its number is not booked beside it: %s",
    async (name) => {
      const ledger = await openLedger();
      const sink = sinkOf(ledger, name);
      const document = name === "bills" ? billDocument : invoiceDocument;
      await deliver(
        sink,
        itemOf(document("FL59190010", { id: "typed", invoiceDate: "2026-10-02" })),
      );
      ledger.edit(name, one(ledger, name)?.id ?? "", { mark: null });
      const before = ledger.asked.length;
      const item = itemOf(document("FL-59190010"));
      expect(await deliver(sink, item)).toMatchObject({
        outcome: "refused",
        fault: {
          code: "number-alike",
          message: expect.stringContaining("(FL59190010)"),
          next: expect.stringContaining("link it here"),
        },
      });
      expect(ledger.asked.slice(before)).toEqual(["/parties/search", `/${name}/search`]);
      expect(await find(sink, item)).toMatchObject({ found: "different" });
      expect(ledger.rows(name)).toHaveLength(1);
    },
  );

  test("is amended after posting where the ledger lets us, and asks a person for the rest", async () => {
    const ledger = await openLedger();
    const sink = sinkOf(ledger, "invoices");
    await deliver(sink, itemOf(invoiceDocument("FL-1")));
    const later = { dueDate: "2026-12-31", status: "disputed" } as const;
    expect(await deliver(sink, itemOf(invoiceDocument("FL-1", later)))).toMatchObject({
      outcome: "done",
    });
    expect(one(ledger)).toMatchObject({ state: "posted", due: "2026-12-31", disputed: true });
    expect(await deliver(sink, itemOf(invoiceDocument("FL-1")))).toMatchObject({ outcome: "done" });
    expect(one(ledger)).toMatchObject({ due: "2026-12-08", disputed: false });
    const redated = itemOf(invoiceDocument("FL-1", { invoiceDate: "2026-11-01" }));
    expect(await deliver(sink, redated)).toMatchObject({ fault: { code: "differs" } });
    expect(one(ledger)).toMatchObject({ date: "2026-11-21" });
  });

  test("under a number that another document has is not booked", async () => {
    const ledger = await openLedger();
    const sink = sinkOf(ledger, "invoices");
    await deliver(sink, itemOf(invoiceDocument("FL-1")));
    const other = itemOf(invoiceDocument("FL-1", { id: "id-other" }));
    expect(await deliver(sink, other)).toMatchObject({ fault: { code: "number-taken" } });
    expect(ledger.rows("invoices")).toHaveLength(1);
  });

  test("with posting: draft stays a draft, and is delivered as one", async () => {
    const ledger = await openLedger();
    const sink = sinkOf(ledger, "invoices", { posting: "draft" });
    const item = itemOf(invoiceDocument("FL-1"));
    expect(await deliver(sink, item)).toMatchObject({ outcome: "done" });
    expect(await find(sink, item)).toMatchObject({ found: "exact" });
    expect(one(ledger)).toMatchObject({ state: "draft" });
  });

  test("with a text that the ledger would cut is refused before it is sent", async () => {
    const sink = sinkOf(await openLedger(), "invoices");
    const [line] = invoiceDocument("FL-1").lines;
    const lines = line === undefined ? [] : [{ ...line, description: "x".repeat(201) }];
    expect(() => sink.freeze([itemOf(invoiceDocument("FL-1", { lines }))])).toThrow(/200/);
  });

  test("of a party that the books know by the platform's id only is booked on that party", async () => {
    const ledger = await openLedger();
    const sink = sinkOf(ledger, "invoices");
    ledger.enter("parties", { id: "OLD-7", name: "Ranch", mark: "company-1" });
    await deliver(sink, itemOf(invoiceDocument("FL-1")), itemOf(invoiceDocument("FL-2")));
    expect(ledger.rows("invoices").map(({ party }) => party)).toEqual(["OLD-7", "OLD-7"]);
    expect(ledger.rows("parties")).toHaveLength(1);
  });
});

test("a product that is priced twice in one list is told as that, whichever row was written last", async () => {
  const ledger = await openLedger();
  const price = { list: "T-1", product: "ULSD-CLR", price: d("2.5"), unit: "gal" };
  const first = ledger.enter("prices", price);
  ledger.enter("prices", { ...price, list: "T-2" });
  const source = opened(ledger).sources["prices"] as Source;
  let position: Json | null = null;
  const told = async () => {
    const changes: Change[] = [];
    const reading = { signal: never, known: () => null, stored: () => false };
    for await (const page of source.read(position, reading)) {
      changes.push(...page.changes);
      position = page.position ?? position;
    }
    return Object.fromEntries(changes.map(({ id, fault }) => [id, fault?.code ?? "told"]));
  };
  expect(await told()).toEqual({ "T-1|ULSD-CLR": "told", "T-2|ULSD-CLR": "told" });
  const second = ledger.enter("prices", { ...price, price: d("2.6") });
  expect(await told()).toMatchObject({ "T-1|ULSD-CLR": "no-single-price" });
  ledger.edit("prices", first.id, { price: d("2.7") });
  expect(await told()).toMatchObject({ "T-1|ULSD-CLR": "no-single-price" });
  ledger.delete("prices", second.id);
  ledger.edit("prices", first.id, {});
  expect(await told()).toMatchObject({ "T-1|ULSD-CLR": "told" });
});

describe("a paid invoice", () => {
  const paid = itemOf(invoiceDocument("FL-1", { status: "paid", paidDate: "2026-11-21" }));
  const waiting = { ...paid, settledSince: SENT };
  const day = 24 * 3_600_000;

  test("waits for its payments, and is settled as one where none came, once", async () => {
    const ledger = await openLedger();
    const sink = sinkOf(ledger, "invoices");
    const first = await deliver(sink, waiting);
    expect(first).toMatchObject({ outcome: "done", waits: ["2026-11-22T14:00:00.000Z"] });
    const id = first.ids?.[0] ?? "";
    const later = openedAt(ledger, new Date(Date.parse(SENT) + 2 * day)).sinks["invoices"] as Sink;
    ledger.loses = 1;
    expect(await deliver(later, waiting)).toMatchObject({ outcome: "unknown", unanswered: true });
    expect(await find(later, waiting)).toMatchObject({ found: "exact", ids: [id] });
    expect(await deliver(later, waiting)).toMatchObject({ outcome: "done", ids: [id] });
    const marks = ledger.rows("payments").map(({ mark, amount }) => [mark, String(amount)]);
    expect(marks).toEqual([["settlement:id-FL-1", "19934.08"]]);
    const late = itemOf(paymentDocument("pay-2", id, { invoiceId: "id-FL-1" }));
    const payments = sinkOf(ledger, "payments");
    expect(await deliver(payments, late)).toMatchObject({ outcome: "done", ids: [null] });
    expect(ledger.rows("payments")).toHaveLength(1);
  });

  test.for([2, 3])(
    "that was made by %i steps without an answer, and is found after its wait, waits anew: its payments waited for it",
    async (steps) => {
      const ledger = await openLedger();
      ledger.loses = steps;
      const lost = { outcome: "unknown", unanswered: true };
      expect(await deliver(sinkOf(ledger, "invoices"), waiting)).toMatchObject(lost);
      const later = openedAt(ledger, new Date(Date.parse(SENT) + 2 * day)).sinks[
        "invoices"
      ] as Sink;
      const request = { ...requestOf(later, [waiting]), frozenAt: SENT, firstSentAt: SENT };
      const waits = ["2026-11-24T14:00:00.000Z"];
      if (steps === 2)
        expect(await later.send(request, never)).toMatchObject({ outcome: "done", waits });
      expect(await later.find(request, never)).toMatchObject({ found: "exact", waits });
      expect(ledger.rows("payments")).toEqual([]);
    },
  );

  test.for<[kind: "invoices" | "bills", type: "out" | "in"]>([
    ["invoices", "out"],
    ["bills", "in"],
  ])(
    "whose payments do not come to its total is for a person: no money is made up (%s)",
    async ([kind, type]) => {
      const ledger = await openLedger();
      const sink = sinkOf(ledger, kind);
      const document = invoiceDocument("FL-1", { type, status: "paid", paidDate: "2026-11-21" });
      const both = { ...itemOf(document), settledSince: SENT };
      const { ids } = await deliver(sink, both);
      const payments = sinkOf(ledger, "payments");
      const pay = (name: string, more: object) =>
        deliver(payments, itemOf(paymentDocument(name, ids?.[0] ?? "", { type, ...more })));
      expect(await pay("pay-1", {})).toMatchObject({ outcome: "done" });
      const later = openedAt(ledger, new Date(Date.parse(SENT) + 2 * day)).sinks[kind] as Sink;
      expect(await deliver(later, both)).toMatchObject({
        outcome: "refused",
        fault: {
          code: "paid-in-part",
          message: expect.stringContaining("100.00 of 19,934.08 is settled there (M-"),
        },
      });
      expect(ledger.rows("payments")).toHaveLength(1);
      expect(await pay("pay-2", { amount: d("19834.08") })).toMatchObject({ outcome: "done" });
      expect(await deliver(later, both)).toMatchObject({ outcome: "done" });
      expect(ledger.rows("payments")).toHaveLength(2);
    },
  );

  test("of a person's is told with what settles it where that is no money", async () => {
    const ledger = await openLedger();
    const payments = [
      { id: "M-1", mark: null, amount: d("10000.00") },
      { id: "C-7", mark: null, amount: d("9934.08"), instead: "credit note C-7" },
    ];
    const { id } = enterInvoice(ledger, { state: "paid", paid: "2026-11-21", payments });
    const clearedBy = async () => {
      const source = opened(ledger).sources["invoices"] as Source;
      const reading = { signal: never, revisions: () => null } as unknown as Reading;
      for await (const { changes } of source.read(null, reading))
        return (parseExact(changes[0]?.text ?? "") as { clearedBy: string }).clearedBy;
      return null;
    };
    expect(await clearedBy()).toBe("credit note C-7 of 9934.08");
    ledger.edit("invoices", id, { payments: [{ ...payments[0], amount: d("19934.08") }] });
    expect(await clearedBy()).toBe("money");
  });

  test("whose wait ended while nothing ran is there, and not gone; without a wait it would be", async () => {
    const ledger = await openLedger();
    const { ids, waits } = await deliver(sinkOf(ledger, "invoices"), waiting);
    const later = openedAt(ledger, new Date(Date.parse(SENT) + 2 * day)).sinks["invoices"] as Sink;
    const { body } = requestOf(later, [waiting]);
    const delivered = { id: waiting.id, counterpart: ids?.[0] ?? "", body };
    const inspect = async (more: object) => later.inspect?.([{ ...delivered, ...more }], never);
    expect(await inspect({ waitsUntil: waits?.[0] })).toEqual([{ is: "there", differences: [] }]);
    expect(await inspect({})).toEqual([{ is: "gone" }]);
  });

  test("that its payments settle needs no settlement", async () => {
    const ledger = await openLedger();
    const sink = sinkOf(ledger, "invoices");
    const { ids } = await deliver(sink, waiting);
    const whole = paymentDocument("pay-1", ids?.[0] ?? "", { amount: d("19934.08") });
    await deliver(sinkOf(ledger, "payments"), itemOf(whole));
    expect(await deliver(sink, paid)).toMatchObject({ outcome: "done" });
    expect(ledger.rows("payments")).toHaveLength(1);
  });

  test("that was settled as one and is open on the platform again is for a person", async () => {
    const ledger = await openLedger();
    const sink = sinkOf(ledger, "invoices");
    await deliver(sink, paid);
    expect(one(ledger)).toMatchObject({ state: "paid" });
    const again = await deliver(sink, itemOf(invoiceDocument("FL-1")));
    expect(again).toMatchObject({ fault: { code: "settled-before" } });
    const ended = await deliver(sink, itemOf(invoiceDocument("FL-1", { status: "void" })));
    expect(ended).toMatchObject({ fault: { code: "paid-already" } });
  });
});

test.each([
  ["no-such-invoice", "S-404", {}],
  ["another-invoice", "S-1", { invoiceId: "id-other" }],
  ["not-payable", "S-1", { amount: d("0.00") }],
  ["not-payable", "S-1", { amount: d("1.005") }],
  ["more-than-to-pay", "S-1", {}, { id: "M-0", mark: "pay-0", amount: d("19934.08") }],
  [
    "paid-by-others",
    "S-1",
    { amount: d("19934.09") },
    { id: "M-0", mark: null, amount: d("1.00") },
  ],
] as const)("a payment is refused as %s, and nothing is booked", async (...given) => {
  const [code, invoice, more, before] = given;
  const ledger = await openLedger();
  const payments = before === undefined ? [] : [before];
  enterInvoice(ledger, { mark: "id-FL-0", payments });
  const payment = itemOf(paymentDocument("pay-1", invoice, more));
  expect(await deliver(sinkOf(ledger, "payments"), payment)).toMatchObject({ fault: { code } });
  expect(ledger.rows("payments")).toEqual([]);
});

describe("a fault of the ledger", () => {
  const names = {
    data: { outcome: "refused" },
    raced: { outcome: "done" },
    busy: { outcome: "nothing", waitMs: expect.any(Number) },
    configuration: { outcome: "nothing", stop: expect.stringMatching(/^(credentials|scope)$/) },
  } as const;

  test("is told by its row, and nothing was booked; a race is planned again", async () => {
    for (const { when, sort } of errors) {
      const ledger = await openLedger();
      const sink = sinkOf(ledger, "invoices");
      const code = CODES.find((code) => when.code?.test(code) ?? true) ?? "";
      ledger.says = { path: /invoices.create/, status: when.status ?? 0, code };
      const answer = await deliver(sink, itemOf(invoiceDocument("FL-1")));
      const name = names[sort as keyof typeof names];
      expect(answer, code).toMatchObject(name);
      expect(ledger.rows("invoices"), code).toHaveLength(sort === "raced" ? 1 : 0);
    }
  });
  const CODES = ["stale", "more-than-open", "closed-period", "unknown-product", "any-other"];

  test("that no row knows is unknown to a writer, and nothing to a reader", async () => {
    const ledger = await openLedger();
    const sink = sinkOf(ledger, "invoices");
    const item = itemOf(invoiceDocument("FL-1"));
    ledger.says = { path: /invoices.create/, status: 500, code: "invented" };
    expect(await deliver(sink, item)).toMatchObject({ outcome: "unknown" });
    ledger.says = { path: /invoices.search/, status: 500, code: "invented" };
    expect(await deliver(sink, item)).toMatchObject({ outcome: "nothing" });
    ledger.says = { path: /invoices.search/, status: 500, code: "invented" };
    expect(await find(sink, item)).toMatchObject({ found: "unreadable" });
  });

  test("after a step that took effect is unknown, whatever it says", async () => {
    const ledger = await openLedger();
    const sink = sinkOf(ledger, "invoices");
    const item = itemOf(invoiceDocument("FL-1"));
    ledger.says = { path: /invoices.post/, status: 429, code: "busy" };
    expect(await deliver(sink, item)).toMatchObject({ outcome: "unknown" });
    expect(await find(sink, item)).toMatchObject({ found: "none" });
    ledger.says = { path: /invoices.post/, status: 422, code: "closed-period" };
    expect(await deliver(sink, item)).toMatchObject({
      fault: {
        code: "closed-period",
        message: expect.stringMatching(/ \(dated \d{4}-\d\d-\d\d\)$/) as string,
      },
    });
    expect(ledger.rows("invoices")).toEqual([]);
  });

  test("that is slower than its deadline is unknown, and what it did is found", async () => {
    const ledger = await openLedger();
    const item = itemOf(invoiceDocument("FL-1"));
    const { promise: until, resolve: goOn } = Promise.withResolvers<void>();
    ledger.slow = { path: /invoices.post/, until };
    // Long enough for the steps before it on a busy machine: only this one is held.
    const answer = await deliver(sinkOf(ledger, "invoices", { deadlineMs: 3000 }), item);
    expect(answer).toMatchObject({ outcome: "unknown", unanswered: true });
    goOn();
    await expect.poll(() => one(ledger)?.["state"], { timeout: 60_000 }).toBe("posted");
    expect(await find(sinkOf(ledger, "invoices"), item)).toMatchObject({ found: "exact" });
  });
});

describe("a search that does not show yet what was made", () => {
  test("makes no party twice when somebody was faster", async () => {
    const ledger = await openLedger();
    ledger.lag();
    ledger.says = { path: /invoices.create/, status: 409, code: "stale" };
    await deliver(sinkOf(ledger, "invoices"), itemOf(invoiceDocument("FL-1")));
    expect(ledger.asked.filter((path) => path === "/parties/create")).toHaveLength(1);
  });

  test("makes no document and no settlement twice", async () => {
    const ledger = await openLedger();
    const sink = sinkOf(ledger, "invoices");
    const [open, paid, other] = [
      invoiceDocument("FL-1"),
      invoiceDocument("FL-1", { status: "paid", paidDate: "2026-11-21" }),
      invoiceDocument("FL-2"),
    ].map((document) => itemOf(document)) as [Item, Item, Item];
    await deliver(sink, open);
    ledger.lag();
    expect(await deliver(sink, paid)).toMatchObject({ outcome: "unknown" });
    expect(await deliver(sink, other)).toMatchObject({ outcome: "unknown" });
    const made = ledger.asked.filter((path) => /^.(payments|invoices).create$/.test(path));
    const [invoice, payment] = ["/invoices/create", "/payments/create"];
    expect(made).toEqual([invoice, payment, invoice]);
  });
});

describe("what the ledger holds", () => {
  const KINDS: readonly (readonly [HoldingKind, string, Item])[] = [
    ["invoice", "invoices", itemOf(invoiceDocument("FL-1"))],
    ["bill", "bills", itemOf(billDocument("R-1"))],
    ["payment", "payments", itemOf(paymentDocument("pay-1", "S-1"))],
  ];

  test.each(KINDS)("%s: what was delivered is held with every field as expected", async (...of) => {
    const [kind, name, item] = of;
    const ledger = await openLedger();
    enterInvoice(ledger);
    const { sinks, holdings } = opened(ledger) as Endpoint & { readonly holdings: Holdings };
    const { ids } = await deliver(sinks[name] as Sink, item);
    const id = ids?.[0] ?? "";
    const [held] = await holdings.get(kind, [id], never);
    const [expected] = await holdings.expect(kind, [item], never);
    if (held === undefined || expected === undefined || !("facts" in expected))
      throw new Error("not held");
    expect(held).toMatchObject({ kind, id, mark: item.id });
    expect(compare(kind, expected.facts, held.facts)).toEqual([]);
    const scope = { dated: null, changedSince: null, open: true };
    const all = [];
    for await (const page of holdings.list(kind, scope, null, never)) all.push(...page.holdings);
    if (kind !== "payment") expect(all.map((one) => one.id)).toContain(id);
    expect(
      (await holdings.named?.(kind, [item.number, "S-1"], never))?.map((one) => one.id),
    ).toContain(id);
  });

  test("a document that is a draft again or open again is told, whoever did it", async () => {
    const ledger = await openLedger();
    const sink = sinkOf(ledger, "invoices");
    const paid = itemOf(invoiceDocument("FL-1", { status: "paid", paidDate: "2026-11-21" }));
    const { ids } = await deliver(sink, paid);
    const id = ids?.[0] ?? "";
    const inspected = async () => (await sink.inspect?.([deliveredAs(sink, paid, id)], never))?.[0];
    expect(await inspected()).toEqual({ is: "there", differences: [] });
    ledger.edit("invoices", id, { state: "posted", paid: null });
    expect(await inspected()).toMatchObject({ differences: [{ field: "state", held: "open" }] });
    ledger.edit("invoices", id, { state: "posted", paid: null, payments: [] });
    expect(await inspected()).toEqual({ is: "gone" });
    ledger.edit("invoices", id, { state: "draft" });
    expect(await inspected()).toEqual({ is: "gone" });
  });

  test("one that a person cancelled and entered anew under its mark is the new one; two that stand are told", async () => {
    const ledger = await openLedger();
    const sink = sinkOf(ledger, "invoices");
    const item = itemOf(invoiceDocument("FL-1"));
    const id = (await deliver(sink, item)).ids?.[0] ?? "";
    const { seq: _, id: __, ...row } = one(ledger) as object as Record<string, unknown>;
    const amended = ledger.enter("invoices", row).id;
    const inspected = async () => (await sink.inspect?.([deliveredAs(sink, item, id)], never))?.[0];
    const held = `${id} and ${amended}`;
    expect(await inspected()).toMatchObject({ differences: [{ field: "record", held }] });
    ledger.edit("invoices", id, { state: "cancelled" });
    expect(await inspected()).toEqual({ is: "there", differences: [] });
    expect(await deliver(sink, item)).toMatchObject({ outcome: "done", ids: [amended] });
    ledger.edit("invoices", amended, { reference: "another" });
    expect(await inspected()).toMatchObject({ differences: [{ held: "another" }] });
  });

  test("a payment that the platform does not know of is told, until it calls the invoice paid", async () => {
    const ledger = await openLedger();
    const sink = sinkOf(ledger, "invoices");
    const item = itemOf(invoiceDocument("FL-1"));
    const { ids } = await deliver(sink, item);
    const id = ids?.[0] ?? "";
    ledger.edit("invoices", id, { payments: [{ id: "M-9", mark: null, amount: d("10.00") }] });
    const inspected = (delivered: Item) =>
      sink.inspect?.([deliveredAs(sink, delivered, id)], never);
    expect(await inspected(item)).toMatchObject([
      {
        is: "there",
        differences: [
          {
            field: "money.open",
            expected: "19934.08",
            held: "19924.08 (payment M-9 of 10.00; the platform cannot take partial payments)",
          },
        ],
      },
    ]);
  });
});

test("documents of the mappings books/… are booked as they are", async () => {
  const ledger = await openLedger();
  for (const [sink, file, name] of [
    ["invoices", "customer-invoices", "overdue-is-open"],
    ["bills", "supplier-invoices", "fuel-and-freight"],
  ] as const) {
    const path = join(import.meta.dirname, `../../mappings/books/cases/${file}.json`);
    const written = readCases(path).cases.find((each) => each.name === name) as Case;
    const document = InvoiceDocument.parse(
      "document" in written.expected && written.expected.document,
    );
    for (const { product, account } of document.lines) {
      if (product !== null) ledger.products.add(product);
      if (account !== null) ledger.accounts.add(account);
    }
    expect(await deliver(sinkOf(ledger, sink), itemOf(document))).toMatchObject({
      outcome: "done",
    });
    expect(one(ledger, sink)).toMatchObject({ state: "posted", total: document.total });
  }
});

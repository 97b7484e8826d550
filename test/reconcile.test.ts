/** A reconciliation over HTTP against the sandbox, and books of which a test may change anything. */
import { describe, expect, test } from "vitest";
import { paymentsReceived } from "../mappings/invoices.ts";
import { Decimal } from "../src/core/decimal.ts";
import { WaitsFor } from "../src/core/errors.ts";
import type { Holding, HoldingKind, Holdings } from "../src/core/holdings.ts";
import type { Flow } from "../src/engine/engine.ts";
import { costOf, type KindPlan } from "../src/engine/reconcile/plan.ts";
import { keptReconciliation } from "../src/engine/reconcile/nightly.ts";
import { runFlow } from "../src/engine/daemon.ts";
import { reconciliationStatus } from "../src/office/status.ts";
import type { CaseRow } from "../src/reconcile/report.ts";
import { reportText } from "../src/views/reconciliation.ts";
import { times } from "./conformance/support.ts";
import { never, usePlatform } from "./platform/support.ts";
import {
  bookOf,
  edit,
  inWords,
  issued,
  one,
  recordOf,
  useOffice,
  wrong,
} from "./support/reconciled-site.ts";

const platform = usePlatform();
const { control } = platform;
const office = useOffice(platform);

test("both sides agree after delivery, and the store says since when, over how many documents and how much", async () => {
  const report = await office.ask();
  expect(inWords(report)).toEqual([]);
  expect(report).toMatchObject({ state: "done", agrees: true, failures: [], unasked: [] });
  expect(report.totals.map(({ kind, bucket, cases }) => `${kind} ${bucket} ${cases}`)).toEqual([
    "invoice out of scope 1",
    "invoice equal 7",
    "bill equal 1",
  ]);
  const { sweeps } = office.bench.store;
  expect(sweeps.agreements()).toMatchObject([
    { flow: "invoices-issued", documents: 7, amount: "785.75" },
    { flow: "invoices-payable", documents: 1, amount: "117.25" },
  ]);
  expect(sweeps.lastBy("test")).toMatchObject({ state: "done", agrees: 1 });
});

test("goods of books that cannot list them are named as not compared, with what to do; the rest agrees, and no alert repeats it", async () => {
  const [invoices] = office.flows as [Flow];
  const mapping = { ...invoices.mapping, kind: "delivery-ticket" } as const;
  const tickets: Flow = {
    ...invoices,
    name: "tickets",
    side: "erp",
    from: "erp.tickets",
    to: "platform.deliveryTickets",
    mapping,
  };
  const engine = { ...office.bench.engine, flows: [...office.flows, tickets] };
  const asked = async (flow: string | null) => {
    const question = { period: null, flow, askedBy: "daemon" };
    return (await keptReconciliation(engine, office.audit, question, false, never)).report;
  };
  const report = await asked(null);
  expect(report).toMatchObject({ state: "done", agrees: true });
  const text = reportText(report);
  expect(text).toContain(
    'Both sides agree in what was compared; tickets of flow "tickets" not compared',
  );
  expect(text).toMatch(/NOT COMPARED: erp: tickets, flow "tickets": .* when you close a month\./);
  expect(reconciliationStatus(engine, null)).toMatchObject({ notCompared: [] });
  expect(await asked("tickets")).toMatchObject({ agrees: false, unasked: [{ byNature: true }] });
  expect((await asked("invoices-issued")).unasked).toEqual([]);
});

test("the requests of a comparison are foretold with those of orders and tickets: their pages, and the walk that closes", () => {
  const { engine } = office.bench;
  const [flow] = office.flows as [Flow];
  const sweeps = { recordsSince: () => 250 };
  const store = { ...engine.store, sweeps } as unknown as typeof engine.store;
  const asked = { endpoint: "erp", holdings: {} as Holdings };
  const plan = (kind: HoldingKind): KindPlan => ({
    kind,
    flows: [flow],
    platform: asked,
    books: [asked],
    unasked: [],
  });
  const cost = (...kinds: HoldingKind[]) =>
    costOf({ ...engine, store }, kinds.map(plan), "2026-11-01");
  expect(cost("order")).toBe(4);
  expect(cost("order", "ticket")).toBe(8);
});

test("what is changed, lost, entered or ended on one side only is told with both values, and clears itself once it is mended", async () => {
  const before = await office.ask();
  const [edited, lost, ended, paid] = [0, 1, 2, 3].map((at) => one(before, "invoice", at)) as [
    CaseRow,
    CaseRow,
    CaseRow,
    CaseRow,
  ];
  const kept = new Map(office.books.held);
  edit(office, bookOf(edited), (held) => ({
    ...held,
    facts: {
      ...held.facts,
      party: "A-9999",
      money: { ...held.facts.money, total: Decimal.of("1.00") },
    },
  }));
  office.books.held.delete(bookOf(lost));
  await control.patch("invoices", recordOf(ended), { status: "VOID" });
  await control.patch("invoices", recordOf(paid), { status: "PAID" });
  for (const flow of office.flows) await runFlow(office.bench.engine, flow, never);
  // Brought over by the flows: now the books are put back to what they were.
  for (const row of [ended, paid])
    office.books.held.set(bookOf(row), kept.get(bookOf(row)) as Holding);

  const report = await office.ask();
  expect(report.agrees).toBe(false);
  const told = new Map(wrong(report).map((row) => [row.number, row]));
  expect([...told.keys()].toSorted()).toEqual(
    [edited, lost, ended, paid].map(({ number }) => number).toSorted(),
  );
  expect(told.get(edited.number)).toMatchObject({ bucket: "differs", cause: { code: "fields" } });
  expect(told.get(edited.number)?.differences).toEqual(
    expect.arrayContaining([
      { field: "party", platform: expect.stringMatching(/^A-/) as string, books: "A-9999" },
      { field: "money.total", platform: edited.amount.platform, books: "1.00" },
    ]),
  );
  expect(told.get(lost.number)).toMatchObject({
    bucket: "only on the platform",
    cause: { code: "gone" },
  });
  expect(told.get(ended.number)).toMatchObject({
    bucket: "differs",
    cause: { code: "void-stands" },
  });
  expect(told.get(paid.number)?.differences).toContainEqual({
    field: "state",
    platform: "paid",
    books: "open",
  });
  const { sweeps } = office.bench.store;
  expect(sweeps.inState("seen")).toHaveLength(4);

  for (const row of [edited, lost])
    office.books.held.set(bookOf(row), kept.get(bookOf(row)) as Holding);
  edit(office, bookOf(ended), (held) => ({ ...held, facts: { ...held.facts, state: "ended" } }));
  edit(office, bookOf(paid), (held) => ({ ...held, facts: { ...held.facts, state: "paid" } }));
  expect(inWords(await office.ask())).toEqual([]);
  expect(sweeps.inState("seen")).toEqual([]);
});

describe("what is under way is no difference", () => {
  test("a version that no walk has brought yet waits for the flow", async () => {
    const row = one(await office.ask());
    await control.advance(60);
    await control.patch("invoices", recordOf(row), { dueDate: "2027-01-31T18:00:00Z" });
    const report = await office.ask();
    expect(inWords(report)).toEqual([expect.stringContaining(`waiting | ${row.number} | waiting`)]);
  });

  test("a record that changes while it is read is read again; one that never stands still waits", async () => {
    const row = one(await office.ask());
    let lists = 0;
    let until = 1;
    office.books.onList = async () => {
      if (lists++ >= until) return;
      await control.advance(1);
      await control.patch("invoices", recordOf(row), { notes: `note ${lists}` });
    };
    const report = await office.ask();
    expect(inWords(report)).toEqual([expect.stringContaining(`waiting | ${row.number}`)]);
    expect(wrong(report)[0]?.cause?.message).toContain("the next run of");
    lists = 0;
    until = 1_000;
    const restless = await office.ask();
    expect(wrong(restless)[0]?.cause?.message).toContain("changed while it was read");
  });

  test("one that is delivered while it is compared is not missing", async () => {
    const now = { createdAt: undefined, updatedAt: undefined };
    await control.records("invoices", [issued(1, { invoiceNumber: "INV-20", ...now })]);
    const holdings = office.books.holdings as Holdings;
    const told = holdings.expect.bind(holdings);
    let isDelivered = false;
    const deliversFirst: Holdings["expect"] = async (...asked) => {
      if (!isDelivered) await runFlow(office.bench.engine, office.flows[0] as Flow, never);
      isDelivered = true;
      return told(...asked);
    };
    Object.assign(holdings, { expect: deliversFirst });
    expect(inWords(await office.ask())).toEqual([]);
    expect(isDelivered).toBe(true);
  });

  test("one that waits for a person in the quarantine says why", async () => {
    const row = one(await office.ask());
    await control.advance(60);
    await control.patch("invoices", recordOf(row), { total: 5 });
    await runFlow(office.bench.engine, office.flows[0] as Flow, never);
    const isInQuarantine = [
      expect.stringContaining(`in quarantine | ${row.number} | in-quarantine`),
    ];
    const report = await office.ask();
    expect(inWords(report)).toEqual(isInQuarantine);
    // No walk brings a version that was committed late, and it is with that person all the same.
    const stored = await control.stored("invoices");
    const { updatedAt } = stored.find(({ id }) => id === recordOf(row)) ?? {};
    const late = new Date(Date.parse(String(updatedAt)) + 1_000).toISOString();
    await control.advance(60);
    const later = one(report, "invoice", 1);
    await control.patch("invoices", recordOf(later), { notes: "later" });
    await runFlow(office.bench.engine, office.flows[0] as Flow, never);
    await control.patch("invoices", recordOf(row), { updatedAt: late });
    expect(inWords(await office.ask())).toEqual(isInQuarantine);
  });

  test("one that its mapping cannot compare yet says why, as the quarantine does", async () => {
    const [flow] = office.flows as [Flow];
    const map = () => {
      throw new WaitsFor("customer", "C-1");
    };
    Object.assign(flow, { mapping: { ...flow.mapping, map } });
    const [row] = wrong(await office.ask());
    expect(row?.cause).toMatchObject({
      code: "cannot-be-compared",
      message: "waits for customer C-1, and no flow delivers any customer",
    });
  });
});

test("what is in another currency is in no sum, is never equal, and says what it comes to", async () => {
  const before = await office.ask();
  const foreign = one(before, "invoice", 0);
  const bookSum = ({ totals }: typeof before): string =>
    Decimal.sum(totals.map(({ books }) => Decimal.of(books.amount))).fixed(2);
  const amount = Decimal.of("350500");
  edit(office, bookOf(foreign), (held) => ({
    ...held,
    facts: {
      ...held.facts,
      money: { ...held.facts.money, total: amount, open: amount },
      words: { ...held.facts.words, currency: "JPY" },
    },
  }));
  const report = await office.ask();
  expect(wrong(report)).toMatchObject([
    {
      number: foreign.number,
      bucket: "differs",
      amount: { platform: foreign.amount.platform, books: "0.00" },
      cause: { message: expect.stringContaining("350500.00 JPY") as string },
    },
  ]);
  // What counts with nothing is nothing of 0.00.
  expect(reportText(report)).toMatch(/platform [\d.]+, ERP no amount in USD/);
  const rest = Decimal.of(bookSum(before)).minus(Decimal.of(foreign.amount.books));
  expect(bookSum(report)).toBe(rest.fixed(2));
  expect(JSON.stringify(report.balances)).not.toContain("350500");
});

test("a month is asked for with what is open, and a document whose partner lies outside it is not missing", async () => {
  const before = await office.ask();
  const paid = before.cases.find(
    (row) =>
      row.kind === "invoice" && row.bucket === "equal" && row.records.books[0]?.state === "paid",
  ) as CaseRow;
  edit(office, bookOf(paid), (held) => ({
    ...held,
    mark: null,
    facts: { ...held.facts, days: { ...held.facts.days, date: "2020-01-31" } },
  }));
  const day = paid.day ?? "";
  const report = await office.ask({ period: { from: day, to: day } });
  expect(wrong(report).map(({ number, differences }) => [number, differences])).toEqual([
    [paid.number, [{ field: "days.date", platform: day, books: "2020-01-31" }]],
  ]);
});

test.each(["2020-01-31", "2027-01-31"])(
  "a partner outside the period that only its number names, entered by hand on %s, differs in its date, asked from either side",
  async (far) => {
    const before = await office.ask();
    const { day, ...paid } = before.cases.find(
      (row) =>
        row.kind === "invoice" && row.bucket === "equal" && row.records.books[0]?.state === "paid",
    ) as CaseRow;
    const { held } = office.books;
    const known = held.get(bookOf(paid as CaseRow)) as Holding;
    held.delete(known.id);
    const days = { ...known.facts.days, date: far };
    held.set("by hand", { ...known, id: "by hand", mark: null, facts: { ...known.facts, days } });
    const told = [[paid.number, "differs", [{ field: "days.date", platform: day, books: far }]]];
    for (const asked of [far, day ?? ""]) {
      const report = await office.ask({ period: { from: asked, to: asked } });
      expect(
        wrong(report).map(({ number, bucket, differences }) => [
          number,
          bucket,
          // The store's link names the record that was deleted.
          differences.filter(({ field }) => field !== "link"),
        ]),
      ).toEqual(told);
    }
    const requests = (await control.requests()) as unknown as { query: Record<string, string> }[];
    const searches = requests.filter(({ query }) => query["search"] === paid.number);
    // Changes since a day of the past are all there are; those since a day of the future are none.
    expect(searches).toHaveLength(far > (day ?? "") ? 1 : 0);
  },
);

test("a payment of some day counts with what paid the same invoice on other days, however the books call that invoice", async () => {
  const { bench, books, flows } = office;
  bench.flow({
    name: "payments-received",
    mapping: paymentsReceived,
    from: "platform.paymentsReceived",
    to: "erp.payments",
    side: "platform",
    source: (flows[0] as Flow).source,
    sink: books.sinks.invoices,
  });
  const invoice = [...books.held.values()].find(({ facts }) => facts.number === "INV-6") as Holding;
  const enter = (id: string, day: string, amount: string, document: string) =>
    books.held.set(id, {
      kind: "payment",
      id,
      version: null,
      mark: null,
      change: null,
      facts: {
        state: "paid",
        ...(document === "INV-6" ? { party: invoice.facts.party ?? null } : {}),
        days: { date: day },
        money: { amount: Decimal.of(amount) },
        words: { side: "sale", document },
      },
    });
  const told = async (flow: string | null = null) =>
    (await office.ask({ flow, period: { from: "2026-10-20", to: "2026-10-20" } })).cases
      .filter(({ kind }) => kind === "payment")
      .map(({ key, bucket, cause }) => [key, bucket, cause?.message]);
  const paid = "the platform takes no payments; invoice INV-6 is paid on both sides";
  for (const document of ["INV-6", invoice.id]) {
    enter("last", "2026-10-20", "50.00", document);
    enter("first", "2026-09-30", "64.25", document);
    for (const flow of [null, "payments-received"])
      expect(await told(flow)).toEqual([
        ["books:first", "out of scope", paid],
        ["books:last", "out of scope", paid],
      ]);
    enter("first", "2026-09-30", "64.24", document);
    expect(await told()).toMatchObject([
      ["books:first", "only in the ERP", expect.any(String)],
      ["books:last", "only in the ERP", expect.any(String)],
    ]);
  }
});

test("an endpoint that cannot be asked is never equal", async () => {
  const blind = { ...office.audit, endpoints: new Map([...office.audit.endpoints].slice(0, 1)) };
  const question = { period: null, flow: null, askedBy: "test" };
  const { report } = await keptReconciliation(office.bench.engine, blind, question, false, never);
  expect(report).toMatchObject({ agrees: false, cases: [] });
  expect(report.unasked.map(({ endpoint, kind }) => `${endpoint} ${kind}`)).toEqual([
    "erp invoice",
    "erp bill",
  ]);
});

test("a side that shows less than half of what it showed fails the run, and nothing is judged", async () => {
  const [first] = [...office.books.held.values()] as [Holding];
  for (const at of times(20, (at) => `more ${at}`))
    office.books.held.set(at, {
      ...first,
      id: at,
      mark: null,
      facts: { ...first.facts, number: at },
    });
  await office.ask();
  office.books.held.clear();
  const report = await office.ask();
  expect(report).toMatchObject({ state: "failed", agrees: false, cases: [] });
  expect(office.bench.store.sweeps.lastBy("test")).toMatchObject({ state: "failed" });
});

/** A reconciliation over HTTP against the sandbox, and books of which a test may change anything. */
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { root } from "../src/cli/demo/world.ts";
import { openTables } from "../src/config/crossref.ts";
import { Decimal } from "../src/core/decimal.ts";
import type { Holding } from "../src/core/holdings.ts";
import { keptReconciliation } from "../src/engine/reconcile/keep.ts";
import type { Audit, Question } from "../src/engine/reconcile/reconcile.ts";
import { walkDeeply } from "../src/engine/reconcile/late.ts";
import { Auditor } from "../src/engine/reconcile/auditor.ts";
import { Nightly } from "../src/engine/reconcile/nightly.ts";
import { usualBudget } from "../src/core/budget.ts";
import { push, runFlow } from "../src/engine/run.ts";
import { times } from "./conformance/support.ts";
import { customerInvoices } from "../mappings/canonical/customer-invoices.ts";
import { supplierInvoices } from "../mappings/canonical/supplier-invoices.ts";
import { usePlatform, never } from "./platform/support.ts";
import { engineOn, pagesOf, type Bench } from "./support/engine.ts";
import { tempFolder } from "./support/folder.ts";
import { type Books, ledgerBooks } from "./support/ledger-books.ts";
import type { CaseRow, Report } from "../src/reconcile/report.ts";
import { z } from "zod";
import { defineMapping, type Endpoint, type Sink, type Source } from "../src/core/contract.ts";
import { CreateInvoice } from "../src/platform/contract/invoice.ts";
import type { Flow } from "../src/engine/engine.ts";

/** Invoices that were made in the books. */
const erpInvoices = defineMapping({
  name: "test/made",
  kind: "invoice",
  input: z.looseObject({ number: z.string(), customer: z.string(), total: z.custom<Decimal>() }),
  output: CreateInvoice,
  number: ({ number }) => number,
  map: ({ number, customer, total }, references) => ({
    invoiceNumber: number,
    subtotal: total,
    tax: Decimal.zero,
    total,
    lineItems: [{ description: "Freight", amount: total }],
    payerCompanyId: references.counterpart("customer", customer),
  }),
  figures: ({ total }) => ({ amount: Decimal.of(String(total)), gallons: null }),
});

const platform = usePlatform();
const { control } = platform;

/** Of config/crossref. */
const payer = "0942f541-2340-4858-9502-8b0979809fca";
const issuer = "3c32a18c-b781-4efd-afcf-a5e1dcab93fb";

/** Issued in October, one a day; the last ones are paid, and one is void. */
const issued = (at: number, more: object = {}) => ({
  invoiceNumber: `INV-${at}`,
  payerCompanyId: payer,
  status: at === 8 ? "VOID" : at >= 6 ? "PAID" : "OUTSTANDING",
  subtotal: 100 + at,
  tax: 8.25,
  total: 108.25 + at,
  dueDate: "2026-11-30T18:00:00Z",
  createdAt: `2026-10-0${at}T15:00:00Z`,
  updatedAt: `2026-10-0${at}T16:00:00Z`,
  lineItems: [
    { description: "Diesel", product: "ULSD-CLR", gallons: 50, rate: 2, amount: 100 + at },
  ],
  taxLines: [{ taxType: "AL State Diesel Tax", amount: 8.25 }],
  ...more,
});

interface Office {
  readonly bench: Bench;
  readonly books: Books;
  readonly flows: readonly Flow[];
  readonly audit: Audit;
  readonly ask: (question?: Partial<Question>, settles?: boolean) => Promise<Report>;
}

let office: Office;
beforeEach(async () => {
  await control.records(
    "invoices",
    times(8, (at) => issued(at + 1)),
  );
  const bill = { payerCompanyId: platform.company("supplier"), companyId: issuer };
  await control.records("invoices", [issued(9, { ...bill, invoiceNumber: "B-1" })], "carrier");
  office = await opened();
  for (const flow of office.flows) await runFlow(office.bench.engine, flow, never);
});

async function opened(): Promise<Office> {
  const clock = await platform.clock();
  const bench = engineOn(tempFolder(), clock);
  const { dayOf } = bench.engine;
  const endpoint = platform.endpoint({ clock, dayOf });
  const books = ledgerBooks(dayOf);
  const tables = openTables(join(root, "config", "crossref"));
  const engine = { ...bench.engine, tables };
  const audit: Audit = {
    endpoints: new Map([
      ["platform", endpoint],
      ["erp", books],
    ]),
    ignore: {},
    spent: () => 0,
  };
  const flow = (name: string, mapping: Flow["mapping"], from: string, to: "invoices" | "bills") =>
    bench.flow({
      name,
      mapping,
      from: `platform.${from}`,
      to: `erp.${to}`,
      side: "platform",
      source: endpoint.sources[from] as Source,
      sink: books.sinks[to],
    });
  const flows = [
    flow("invoices-issued", customerInvoices, "invoicesIssued", "invoices"),
    flow("invoices-payable", supplierInvoices, "invoicesPayable", "bills"),
  ];
  return {
    bench: { ...bench, engine },
    books,
    flows,
    audit,
    ask: async (question = {}, settles = false) =>
      (
        await keptReconciliation(
          engine,
          audit,
          { period: null, flow: null, askedBy: "test", ...question },
          settles,
          never,
        )
      ).report,
  };
}

const wrong = ({ cases }: Report): CaseRow[] =>
  cases.filter(({ bucket }) => !["equal", "void on both", "out of scope"].includes(bucket));
const inWords = (report: Report): string[] =>
  wrong(report).map(({ bucket, number, cause, differences }) =>
    [
      bucket,
      number,
      cause?.code,
      ...differences.map(({ field, platform, books }) => `${field} ${platform} ${books}`),
    ].join(" | "),
  );
/** A case of a kind that is equal on both sides and still open. */
function one(report: Report, kind = "invoice", at = 0): CaseRow {
  const found = report.cases.filter(
    (row) => row.kind === kind && row.bucket === "equal" && row.records.books[0]?.state === "open",
  )[at];
  if (found === undefined) throw new Error("nothing is equal");
  return found;
}
const bookOf = ({ records }: CaseRow): string => records.books[0]?.id ?? "";
const recordOf = ({ records }: CaseRow): string => records.platform[0]?.id ?? "";
const edit = (id: string, change: (holding: Holding) => Holding): void => {
  office.books.held.set(id, change(office.books.held.get(id) as Holding));
};

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

test("what is changed, lost, entered or ended on one side only is told with both values, and clears itself once it is mended", async () => {
  const before = await office.ask();
  const [edited, lost, ended, paid] = [0, 1, 2, 3].map((at) => one(before, "invoice", at)) as [
    CaseRow,
    CaseRow,
    CaseRow,
    CaseRow,
  ];
  const kept = new Map(office.books.held);
  edit(bookOf(edited), (held) => ({
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
  expect(told.get(lost.number)).toMatchObject({ bucket: "only there", cause: { code: "gone" } });
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
  edit(bookOf(ended), (held) => ({ ...held, facts: { ...held.facts, state: "ended" } }));
  edit(bookOf(paid), (held) => ({ ...held, facts: { ...held.facts, state: "paid" } }));
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

  test("one that waits for a person in the quarantine says why", async () => {
    const row = one(await office.ask());
    await control.advance(60);
    await control.patch("invoices", recordOf(row), { total: 5 });
    await runFlow(office.bench.engine, office.flows[0] as Flow, never);
    expect(inWords(await office.ask())).toEqual([
      expect.stringContaining(`with a person | ${row.number} | with-a-person`),
    ]);
  });
});

test("a month is asked for with what is open, and a document whose partner lies outside it is not missing", async () => {
  const before = await office.ask();
  const paid = before.cases.find(
    (row) =>
      row.kind === "invoice" && row.bucket === "equal" && row.records.books[0]?.state === "paid",
  ) as CaseRow;
  edit(bookOf(paid), (held) => ({
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

describe("the daemon's own", () => {
  const night = async () => {
    const { engine } = office.bench;
    const auditor = new Auditor(engine, office.audit);
    const nightly = new Nightly(engine, auditor, {
      schedule: { cron: "20 2 * * *", timeZone: "UTC" },
      days: 35,
      budget: usualBudget,
    });
    const run = async (): Promise<boolean> => {
      const wait = Math.max(nightly.dueMs() - office.bench.clock.now().wallMs, 0);
      office.bench.clock.advance(wait);
      return new Promise((resolve, reject) => {
        nightly.start(
          (error, stirred) => (error === null ? resolve(stirred) : reject(error)),
          never,
        );
      });
    };
    const due = () => new Date(nightly.dueMs()).toISOString();
    return { nightly, run, due };
  };

  test("runs every night; what differs is confirmed a quarter of an hour later, told to a person once, and cleared by itself", async () => {
    const { run, due } = await night();
    const { store, clock } = office.bench;
    const row = one(await office.ask());
    const kept = office.books.held.get(bookOf(row)) as Holding;
    expect(due()).toMatch(/T02:20:00/);
    await run();
    expect(due()).toMatch(/T02:20:00/);
    const days = { due: "2027-01-01" };
    edit(bookOf(row), (held) => ({ ...held, facts: { ...held.facts, days } }));
    await run();
    const seen = clock.now().wallMs;
    expect(store.questions.quarantine()).toEqual([]);
    await run();
    expect(clock.now().wallMs - seen).toBeLessThan(20 * 60_000);
    const cause = expect.stringContaining(
      "due date: erp 2027-01-01, platform 2026-11-30",
    ) as string;
    expect(store.questions.quarantine()).toMatchObject([{ code: "differs", count: 1, cause }]);
    expect(store.links.find("invoice", "platform", recordOf(row))).not.toBeNull();
    // It is with a person until both agree again, and not told twice.
    expect(inWords(await office.ask({}, true))).toEqual([expect.stringContaining("with a person")]);
    expect(due()).toMatch(/T02:20:00/);
    office.books.held.set(bookOf(row), kept);
    await run();
    expect(store.questions.quarantine()).toEqual([]);
    expect(store.sweeps.agreements()).toHaveLength(2);
  });

  test("beyond its share of the month it is further apart, and says which share would do", async () => {
    const { engine } = office.bench;
    const pace = (perMonth: number) =>
      new Nightly(engine, new Auditor(engine, office.audit), {
        schedule: { cron: "20 2 * * *", timeZone: "UTC" },
        days: 35,
        budget: { perMonth, share: { audit: 10 } },
      }).pace();
    expect(pace(50_000)).toMatchObject({ everyNights: 1, wantsShare: null });
    expect(pace(3_000)).toMatchObject({ everyNights: 3, wantsShare: null });
    expect(pace(500)).toMatchObject({ everyNights: 7, wantsShare: 23 });
  });

  test("a side that cannot be read is tried again within the hour, and stops nothing", async () => {
    const { run, due } = await night();
    await control.fault({
      method: "GET",
      path: "/invoices",
      kind: "status",
      status: 503,
      times: 50,
    });
    await run();
    const { sweeps } = office.bench.store;
    expect(sweeps.lastEnded()).toMatchObject({
      state: "failed",
      detail: expect.stringContaining("503") as string,
    });
    expect(Date.parse(due()) - (sweeps.lastEnded()?.startedMs ?? 0)).toBe(3_600_000);
  });
});

test("an invoice of which nobody could tell whether it arrived is linked when it is there, and goes again when it is not there after a day", async () => {
  const { bench, books } = office;
  const { engine, store, clock } = bench;
  const numbers = ["ERP-1", "ERP-2"];
  const texts = new Map(
    numbers.map((number) => [
      number,
      `{"number":"${number}","customer":"A-1001","total":${number === "ERP-1" ? "10.00" : "20.00"}}`,
    ]),
  );
  const link = { content: null, amount: null, born: "erp", number: "A-1001" } as const;
  store.transaction(() =>
    store.links.save({ ...link, kind: "customer", platformId: payer, erpId: "A-1001" }, 0),
  );
  for (const [number, text] of texts)
    books.held.set(number, {
      kind: "invoice",
      id: number,
      version: null,
      mark: null,
      change: { id: number, version: null, text },
      facts: {
        number,
        party: "A-1001",
        state: "open",
        days: { date: office.bench.engine.dayOf(new Date(clock.now().wallMs).toISOString()) },
        money: { total: Decimal.of(number === "ERP-1" ? "10.00" : "20.00") },
      },
    });
  const endpoint = office.audit.endpoints.get("platform") as Endpoint;
  const flow = bench.flow({
    name: "invoices",
    mapping: erpInvoices,
    from: "erp.made",
    to: "platform.invoices",
    side: "erp",
    source: pagesOf([
      { changes: [...texts].map(([id, text]) => ({ id, version: null, text })), position: null },
    ]),
    sink: endpoint.sinks["invoices"] as Sink,
  });
  // One is never carried out, the other an hour after its answer was lost.
  await control.readings({ failingWritesCommitLateSeconds: 3_600 });
  const fault = { method: "POST", path: "/invoices", kind: "status", status: 504 };
  await control.fault({ ...fault, when: "before" });
  await control.fault({ ...fault, when: "after" });
  await runFlow(engine, flow, never);
  for (let at = 0; at < 4; at++) {
    await clock.pause(16 * 60_000);
    await push(engine, flow, never);
  }
  const waiting = (): number => store.deliveries.counts(flow.flow).get("quarantined") ?? 0;
  expect(waiting()).toBe(2);
  expect(store.questions.quarantine()[0]).toMatchObject({ code: "needs-decision" });
  await clock.pause(3_600_000);
  await office.ask({}, true);
  expect(waiting()).toBe(1);
  await clock.pause(26 * 3_600_000);
  await office.ask({}, true);
  expect(waiting()).toBe(1);
  await clock.pause(16 * 60_000);
  await office.ask({}, true);
  expect(waiting()).toBe(0);
  await push(engine, flow, never);
  const there = (await control.stored("invoices")).map((row) => row["invoiceNumber"] as string);
  expect(there.filter((number) => number.startsWith("ERP")).toSorted()).toEqual(numbers);
  expect(inWords(await office.ask())).toEqual([]);
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

test("a record that was committed 8 or 60 minutes late is taken in by the daemon's run and delivered as usual", async () => {
  await control.advance(3_600);
  await control.patch("invoices", recordOf(one(await office.ask())), { notes: "seen" });
  const { engine } = office.bench;
  const [flow] = office.flows as [Flow];
  await runFlow(engine, flow, never);
  // Committed just now, with times before the watermark that the walk has reached.
  const now = await control.now();
  const late = (minutes: number) => {
    const at = new Date(now - minutes * 60_000).toISOString();
    return issued(1, { invoiceNumber: `LATE-${minutes}`, createdAt: at, updatedAt: at });
  };
  await control.records("invoices", [late(8), late(60)]);
  await runFlow(engine, flow, never);
  expect(inWords(await office.ask())).toEqual([
    expect.stringContaining("only there | LATE-60 | missing"),
    expect.stringContaining("only there | LATE-8 | missing"),
  ]);
  const position = engine.store.flows.position(flow.name);
  await office.ask({}, true);
  expect(engine.store.flows.position(flow.name)).toEqual(position);
  await push(engine, flow, never);
  expect(inWords(await office.ask())).toEqual([]);
  // So it is by the walk that reaches two days back, which reads orders and tickets, too.
  await control.records("invoices", [{ ...late(90), createdAt: late(2_000).createdAt }]);
  await runFlow(engine, flow, never);
  expect(await walkDeeply(engine, flow, 2 * 86_400_000, never)).toBe(1);
  expect(engine.store.flows.position(flow.name)).toEqual(position);
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

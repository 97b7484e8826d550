/** What the daemon does with a reconciliation of its own: over HTTP against the sandbox. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { usualBudget } from "../src/core/budget.ts";
import { defineMapping, type Endpoint, type Sink } from "../src/core/contract.ts";
import { Decimal } from "../src/core/decimal.ts";
import type { Holding, Holdings } from "../src/core/holdings.ts";
import type { Flow } from "../src/engine/engine.ts";
import { Auditor, Nightly } from "../src/engine/reconcile/nightly.ts";
import { push, runFlow } from "../src/engine/daemon.ts";
import { knownDifferences, reconciliationStatus } from "../src/office/status.ts";
import { resolve, select } from "../src/office/decisions.ts";
import { groupsOf } from "../src/office/quarantine.ts";
import { CreateInvoice } from "../src/platform/contract/invoice.ts";
import { never, usePlatform } from "./platform/support.ts";
import { pagesOf } from "./support/engine.ts";
import {
  bookOf,
  edit,
  inWords,
  issued,
  one,
  payer,
  recordOf,
  useOffice,
} from "./support/reconciled-site.ts";

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
const office = useOffice(platform);

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
      return new Promise((settle, reject) => {
        nightly.start(
          (error, stirred) => (error === null ? settle(stirred) : reject(error)),
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
    edit(office, bookOf(row), (held) => ({ ...held, facts: { ...held.facts, days } }));
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
    expect(inWords(await office.ask({}, true))).toEqual([expect.stringContaining("in quarantine")]);
    expect(due()).toMatch(/T02:20:00/);
    office.books.held.set(bookOf(row), kept);
    await run();
    expect(store.questions.quarantine()).toEqual([]);
    expect(store.sweeps.agreements()).toHaveLength(2);
  });

  test("what a person resolves is accepted with the values that were told: both sides agree, until one of them changes", async () => {
    const { run } = await night();
    const { engine, store } = office.bench;
    const row = one(await office.ask());
    const due = (day: string) =>
      edit(office, bookOf(row), (held) => ({
        ...held,
        facts: { ...held.facts, days: { ...held.facts.days, due: day } },
      }));
    const resolved = () =>
      resolve(engine, select(engine, office.flows, "all"), { by: "ann", note: "as agreed" });
    due("2027-01-01");
    await run();
    await run();
    // Another value than the one that Ann is told is not accepted with it.
    due("2027-01-02");
    await office.ask();
    resolved();
    expect(inWords(await office.ask())).toEqual([expect.stringContaining("differs |")]);
    await run();
    await run();
    expect(store.questions.quarantine()).toMatchObject([{ code: "differs", count: 1 }]);
    resolved();
    expect(reconciliationStatus(engine, null).differences).toMatchObject({
      confirmed: 0,
      accepted: 1,
    });
    await run();
    const report = await office.ask();
    expect([report.agrees, ...inWords(report)]).toEqual([
      true,
      expect.stringContaining(`accepted | ${row.number} | accepted | days.due`),
    ]);
    due("2027-01-03");
    expect((await office.ask()).agrees).toBe(false);
    await run();
    await run();
    expect(store.questions.quarantine()).toMatchObject([{ code: "differs", count: 1 }]);
  });

  test("a part that is paid in the books needs nobody: it is told as that, and clears by itself", async () => {
    const { run } = await night();
    const { store, engine } = office.bench;
    const row = one(await office.ask());
    const kept = office.books.held.get(bookOf(row)) as Holding;
    edit(office, bookOf(row), (held) => {
      const total = held.facts.money?.total ?? Decimal.zero;
      const money = { ...held.facts.money, total, open: total.minus(Decimal.of("1.00")) };
      return { ...held, facts: { ...held.facts, money } };
    });
    await run();
    await run();
    expect(store.questions.quarantine()).toMatchObject([{ code: "partly-paid", count: 1 }]);
    expect(groupsOf(engine).map(({ shown }) => shown.helps)).toEqual([["wait", "resolve"]]);
    const { differences } = reconciliationStatus(engine, null);
    expect(differences).toEqual({ confirmed: 0, seen: 0, clears: 1, accepted: 0, first: [] });
    office.books.held.set(bookOf(row), kept);
    await run();
    expect(store.questions.quarantine()).toEqual([]);
  });

  test("an invoice that appears on one side after the other was read is told to nobody, unless a second run misses it too", async () => {
    const { endpoints } = office.audit;
    const books = endpoints.get("erp") as Endpoint & { readonly holdings: Holdings };
    const late = ["LATE-1", "LATE-2"];
    (endpoints as Map<string, Endpoint>).set("erp", {
      ...books,
      holdings: {
        ...books.holdings,
        async *list(kind, ...rest) {
          yield* books.holdings.list(kind, ...rest);
          if (kind !== "invoice" || late.length === 0) return;
          const at = new Date(await control.now()).toISOString();
          const made = late
            .splice(0)
            .map((invoiceNumber, more) =>
              issued(1 + more, { invoiceNumber, createdAt: at, updatedAt: at }),
            );
          await control.records("invoices", made);
        },
      },
    });
    const { run } = await night();
    const { engine } = office.bench;
    const told = () => ({
      quarantine: engine.store.questions.quarantine().length,
      confirmed: reconciliationStatus(engine, null).differences.confirmed,
      known: knownDifferences(engine).differences.filter(({ confirmed }) => confirmed).length,
    });
    await run();
    expect(late).toEqual([]);
    expect(told()).toEqual({ quarantine: 0, confirmed: 0, known: 0 });
    // One is delivered before the second run, the other is lost there.
    await control.advance(2);
    await runFlow(engine, office.flows[0] as Flow, never);
    const lost = [...office.books.held].find(([, { facts }]) => facts.number === "LATE-2");
    office.books.held.delete(lost?.[0] ?? "");
    await run();
    expect(inWords(await office.ask())).toEqual([expect.stringMatching(/in quarantine.*LATE-2/)]);
    expect(told()).toMatchObject({ quarantine: 1 });
  });

  test("a difference that no delivery stands for is named in the status, and kept with both values until both sides agree again", async () => {
    const { run } = await night();
    const { engine } = office.bench;
    const { held } = office.books;
    const row = one(await office.ask());
    const known = held.get(bookOf(row)) as Holding;
    const facts = { ...known.facts, number: "HAND-1" };
    held.set("by hand", { ...known, id: "by hand", mark: null, facts });
    await run();
    await run();
    expect(engine.store.questions.quarantine()).toEqual([]);
    const { differences } = reconciliationStatus(engine, null);
    expect(differences).toMatchObject({
      confirmed: 1,
      seen: 0,
      first: [{ kind: "invoice", number: "HAND-1", bucket: "only in the ERP" }],
    });
    const [told] = knownDifferences(engine).differences;
    expect(told).toMatchObject({
      confirmed: true,
      next: expect.stringMatching(/^Entered by hand, or doubled/) as string,
      row: { party: "A-1001", amount: { platform: "0.00", books: row.amount.books } },
    });
    held.delete("by hand");
    await run();
    expect(knownDifferences(engine).differences).toEqual([]);
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

test("a record that was committed 8 or 60 minutes late is taken in by the daemon's run and delivered as usual", async () => {
  await control.advance(3_600);
  await control.patch("invoices", recordOf(one(await office.ask())), { notes: "seen" });
  // The platform's clock is shown in whole seconds, and no watermark passes it.
  await control.advance(2);
  const { engine } = office.bench;
  const [flow] = office.flows as [Flow];
  await runFlow(engine, flow, never);
  // Committed just now, with times before the watermark that the walk has reached.
  const now = await control.now();
  const late = (minutes: number) => {
    const at = new Date(now - minutes * 60_000).toISOString();
    // Two invoices of one amount, payer and day would be told as copies.
    return issued(minutes === 8 ? 1 : 2, {
      invoiceNumber: `LATE-${minutes}`,
      createdAt: at,
      updatedAt: at,
    });
  };
  await control.records("invoices", [late(8), late(60)]);
  await runFlow(engine, flow, never);
  expect(inWords(await office.ask())).toEqual([
    expect.stringContaining("only on the platform | LATE-60 | missing"),
    expect.stringContaining("only on the platform | LATE-8 | missing"),
  ]);
  const position = engine.store.flows.position(flow.name);
  await office.ask({}, true);
  expect(engine.store.flows.position(flow.name)).toEqual(position);
  await push(engine, flow, never);
  expect(inWords(await office.ask())).toEqual([]);
});

test("what changed under a time before the stored one, when the platform's clock was put right, is taken in by the daemon's run", async () => {
  const { engine, clock } = office.bench;
  const [flow] = office.flows as [Flow];
  await control.advance(3_600);
  const id = recordOf(one(await office.ask()));
  const now = await control.now();
  const at = (hours: number): string => new Date(now + hours * 3_600_000).toISOString();
  await control.patch("invoices", id, { dueDate: "2026-12-15T18:00:00Z", updatedAt: at(24) });
  await runFlow(engine, flow, never);
  await push(engine, flow, never);
  expect(inWords(await office.ask())).toEqual([]);
  // Before what the next walk asks for.
  await control.patch("invoices", id, { dueDate: "2026-12-16T18:00:00Z", updatedAt: at(-0.5) });
  await runFlow(engine, flow, never);
  expect(inWords(await office.ask())).toHaveLength(1);
  clock.advance(16 * 60_000);
  await office.ask({}, true);
  await push(engine, flow, never);
  expect(inWords(await office.ask())).toEqual([]);
});

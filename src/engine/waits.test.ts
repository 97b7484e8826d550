import { expect, test } from "vitest";
import type { Item, Mapping, Outgoing, Sink } from "../core/contract.ts";
import { stringifyExact } from "../core/json.ts";
import { resolve, retry, select } from "../office/decisions.ts";
import { trace } from "../office/documents.ts";
import { type Bench, bill, billMapping, engineOn, receiver } from "../../test/support/engine.ts";
import { testClock } from "../../test/support/clock.ts";
import { tempFolder } from "../../test/support/folder.ts";
import { trip } from "./breakers.ts";
import { Daemon } from "./daemon.ts";
import { outOfStep } from "./schedule.ts";

const signal = new AbortController().signal;
const HOUR = 3_600_000;
/** As long as books wait for the payments of an invoice that is paid. */
const WAIT_MS = 26 * HOUR;

interface Body {
  readonly id: string;
  readonly until: string | null;
}

/** Books that settle a paid invoice as one when its payments do not come in time; `paid`: what payments have settled. */
function books({ clock }: Pick<Bench, "clock">, waitMs: number) {
  const paid = new Set<string>();
  const settled: string[] = [];
  const told = ({ body, frozenAt = "" }: Pick<Outgoing, "body" | "frozenAt">) => {
    const now = new Date(clock.now().wallMs).toISOString();
    const anew = new Date(clock.now().wallMs + waitMs).toISOString();
    const documents = (JSON.parse(body) as Body[]).map(({ id, until }) => ({
      id,
      until: until !== null && frozenAt < until && until <= now ? anew : until,
    }));
    const open = documents.filter(({ id }) => !paid.has(id) && !settled.includes(id));
    const waits = documents.map((one) =>
      open.includes(one) && one.until !== null && now < one.until ? one.until : null,
    );
    return { ids: documents.map(({ id }) => `book-${id}`), open, waits };
  };
  const bodyOf = ({ id, settledSince }: Item): Body => ({
    id,
    until:
      settledSince === undefined ? null : new Date(Date.parse(settledSince) + waitMs).toISOString(),
  });
  const sink = receiver({
    operation: "invoice.book",
    writes: "upsert",
    itemsMax: 20,
    settleAfterMs: waitMs,
    freeze: (items) => ({ target: "invoices", body: stringifyExact(items.map(bodyOf)) }),
    async find(request) {
      const { ids, open, waits } = told(request);
      const isDone = open.every(
        ({ id }) => waits[JSON.parse(request.body).findIndex((one: Body) => one.id === id)],
      );
      return isDone
        ? { found: "exact", ids, waits, detail: "there" }
        : { found: "none", detail: "" };
    },
    send: async (request) => {
      const { ids, open, waits } = told(request);
      sink.sent.push({ key: request.key, body: request.body });
      const left = open.filter((_, at) => waits[at] === null);
      settled.push(...left.map(({ id }) => id));
      return { outcome: "done", detail: "200", ids, waits };
    },
  });
  return { sink, paid, settled };
}

const payments: Mapping = {
  ...billMapping,
  name: "test/payments",
  kind: "payment",
  settles: { kind: "invoice", of: (record) => (record as { invoice: string }).invoice },
};

/** An invoice flow and, unless `without`, a payments flow to the same books. */
function site(bench: Bench, { without = false, waitMs = WAIT_MS } = {}) {
  const { sink, paid, settled } = books(bench, waitMs);
  const platform = { side: "platform", from: "platform.invoices", to: "books.invoices" } as const;
  const invoices: ReturnType<typeof bill>[][] = [];
  const told: ReturnType<typeof bill>[][] = [];
  const from = (pages: ReturnType<typeof bill>[][]) => ({
    async *read() {
      for (const changes of pages.splice(0)) yield { changes, position: 1 };
    },
  });
  const flow = bench.flow({ ...platform, name: "invoices", sink, source: from(invoices) });
  const paying: Sink = receiver({ operation: "payment.book" });
  const send = paying.send.bind(paying);
  paying.send = async (request, by) => {
    for (const { invoice } of JSON.parse(request.body) as { invoice: string }[]) paid.add(invoice);
    return send(request, by);
  };
  if (!without)
    bench.flow({
      ...platform,
      name: "payments",
      to: "books.payments",
      mapping: payments,
      sink: paying,
      source: from(told),
    });
  const once = () => new Daemon(bench.engine, bench.engine.flows).once(signal);
  const pay = (number: string, invoice: string) => told.push([bill(number, "1.00", { invoice })]);
  const waits = () => bench.store.waits.ofFlow(flow.flow);
  return { sink, flow, invoices, once, pay, paid, settled, waits };
}

test("an invoice that comes as paid waits for its payments, and is looked at when one was delivered", async () => {
  const bench = engineOn(tempFolder());
  const { flow, sink, invoices, once, pay, settled, waits } = site(bench);
  invoices.push([bill("INV-1", "1.00"), bill("INV-2", "1.00")]);
  const until = bench.clock.now().wallMs + WAIT_MS;
  expect(await once()).toEqual({ inStep: true });
  expect(waits()).toEqual({ count: 2, untilMs: until });
  expect(outOfStep(bench.engine, [flow])).toMatchObject([{ code: "waits", count: 2, held: true }]);
  expect(
    trace(bench.store, "INV-1").steps.map(({ event, detail }) => [event, detail]),
  ).toContainEqual(["waits", "for what settles it, until 2026-11-22T14:00:00.000Z at the latest"]);
  bench.clock.advance(HOUR);
  await once();
  expect(sink.sent).toHaveLength(1);
  pay("PAY-1", "INV-1");
  expect(await once()).toEqual({ inStep: true });
  expect(sink.sent).toHaveLength(2);
  expect(waits()).toEqual({ count: 1, untilMs: until });
  expect(settled).toEqual([]);
  expect(Object.fromEntries(bench.store.deliveries.counts(flow.flow))).toEqual({ delivered: 2 });
});

test("when the bound has passed the rest is settled as one, once, and it waits no longer", async () => {
  const bench = engineOn(tempFolder());
  const { sink, invoices, once, settled, waits } = site(bench);
  invoices.push([bill("INV-1", "1.00")]);
  await once();
  // `once` waits for what comes within two minutes.
  bench.clock.advance(WAIT_MS - HOUR);
  await once();
  expect([settled, sink.sent.length]).toEqual([[], 1]);
  bench.clock.advance(HOUR);
  expect(await once()).toEqual({ inStep: true });
  expect([settled, waits()]).toEqual([["INV-1"], null]);
  bench.clock.advance(WAIT_MS);
  await once();
  expect(sink.sent).toHaveLength(2);
});

test("what stood still for longer than the bound is settled by its payments, not as one", async () => {
  const bench = engineOn(tempFolder());
  const { sink, invoices, once, pay, settled, waits } = site(bench);
  invoices.push([bill("INV-1", "1.00")]);
  const stop = { breaker: "credentials", scope: "books", detail: "401", waitMs: WAIT_MS } as const;
  bench.store.transaction(() => trip(bench.engine, stop));
  await once();
  pay("PAY-1", "INV-1");
  bench.clock.advance(WAIT_MS);
  expect(await once()).toEqual({ inStep: true });
  expect([settled, waits()]).toEqual([[], null]);
  expect(sink.sent).toHaveLength(2);
});

test("the daemon wakes by itself when a wait ends", async () => {
  const bench = engineOn(tempFolder());
  const waitMs = HOUR / 4;
  const { invoices, settled } = site(bench, { waitMs });
  invoices.push([bill("INV-1", "1.00")]);
  for (const flow of bench.engine.flows) Object.assign(flow, { schedule: { everyMs: 24 * HOUR } });
  const end = new AbortController();
  const { clock } = bench;
  const pause = clock.pause.bind(clock);
  const stop = clock.now().wallMs + 2 * waitMs;
  clock.pause = async (ms, by) => {
    await pause(ms, by);
    if (clock.now().wallMs >= stop) end.abort();
    await new Promise(setImmediate);
  };
  await new Daemon(bench.engine, bench.engine.flows).run(end.signal);
  expect(settled).toEqual(["INV-1"]);
});

test("without a flow of payments to the same books nothing waits", async () => {
  const bench = engineOn(tempFolder());
  const { invoices, once, settled, waits } = site(bench, { without: true });
  invoices.push([bill("INV-1", "1.00")]);
  await once();
  expect([settled, waits()]).toEqual([["INV-1"], null]);
});

test("a newer version goes on with the same wait, also one that has nothing new to say", async () => {
  const bench = engineOn(tempFolder());
  const { sink, invoices, once, settled, waits } = site(bench);
  invoices.push([bill("INV-1", "1.00")]);
  await once();
  const before = waits();
  bench.clock.advance(20 * HOUR);
  invoices.push([bill("INV-1", "1.00", { note: "seen" })]);
  await once();
  expect([sink.sent.length, waits()]).toEqual([2, before]);
  // The same content under another text is nothing new.
  invoices.push([{ ...bill("INV-1", "1.00", { note: "seen" }), version: "2026" }]);
  await once();
  expect([sink.sent.length, waits()]).toEqual([2, before]);
  bench.clock.advance(6 * HOUR);
  await once();
  expect([settled, waits()]).toEqual([["INV-1"], null]);
});

test("killed at any point of a wait, it is settled once in the end", async () => {
  const folder = tempFolder();
  let bench = engineOn(folder);
  const first = site(bench);
  first.invoices.push([bill("INV-1", "1.00")]);
  const torn = first.sink.send.bind(first.sink);
  // The answer is lost; the read-back says that it waits.
  first.sink.send = async (request, by) => {
    await torn(request, by);
    return { outcome: "unknown", probe: true, unanswered: true, detail: "ECONNRESET" };
  };
  await first.once();
  expect(first.waits()).toMatchObject({ count: 1 });
  const { clock } = bench;
  clock.advance(WAIT_MS);
  // It was put back to pending, and the process ended before it was mapped.
  bench.store.transaction(() => {
    for (const due of bench.store.waits.due(first.flow.flow, clock.now().wallMs))
      bench.store.waits.reopen(due);
  });
  bench.store.close();
  clock.restart();
  bench = engineOn(folder, clock);
  const second = site(bench);
  expect(await second.once()).toEqual({ inStep: true });
  expect([second.settled, second.waits()]).toEqual([["INV-1"], null]);
});

test("what began to wait by a clock that was a year ahead waits from when that is put right", async () => {
  const folder = tempFolder();
  const clock = testClock();
  clock.set(365 * 24 * HOUR);
  const ahead = engineOn(folder, clock);
  const first = site(ahead);
  first.invoices.push([bill("INV-1", "1.00")]);
  await first.once();
  expect(first.waits()).toMatchObject({ count: 1 });
  ahead.store.close();
  clock.restart();
  clock.set(-365 * 24 * HOUR);
  const second = site(engineOn(folder, clock));
  await second.once();
  expect(second.settled).toEqual([]);
  clock.advance(WAIT_MS);
  await second.once();
  expect([second.settled, second.waits()]).toEqual([["INV-1"], null]);
});

test("what a person settled waits no longer; what books lost waits anew when it goes again", async () => {
  const bench = engineOn(tempFolder());
  const { flow, sink, invoices, once, settled, waits } = site(bench);
  invoices.push([bill("INV-1", "1.00"), bill("INV-2", "2.00")]);
  await once();
  // INV-1 changes its amount: a person decides, and books it by hand.
  invoices.push([bill("INV-1", "1.01")]);
  await once();
  bench.clock.advance(WAIT_MS - HOUR);
  bench.store.transaction(() => {
    const chosen = select(bench.engine, [flow], "all");
    resolve(bench.engine, chosen, { by: "ann", note: "booked by hand" });
  });
  sink.inspect = async (delivered) =>
    delivered.map(({ id }) => (id === "INV-2" ? { is: "gone" } : { is: "there", differences: [] }));
  await once();
  sink.inspect = undefined as never;
  bench.store.transaction(() => {
    for (const one of select(bench.engine, [flow], "all")) retry(bench.engine, one);
  });
  bench.clock.advance(HOUR);
  await once();
  expect(settled).toEqual([]);
  expect(waits()).toMatchObject({ count: 1 });
  bench.clock.advance(WAIT_MS);
  await once();
  expect([settled, waits()]).toEqual([["INV-2"], null]);
});

test("a changed bound counts for what already waits: longer, shorter, and without a flow of payments", async () => {
  const folder = tempFolder();
  let bench = engineOn(folder);
  const first = site(bench);
  first.invoices.push([bill("INV-1", "1.00"), bill("INV-2", "1.00")]);
  const began = bench.clock.now().wallMs;
  await first.once();
  const configured = async (options: Parameters<typeof site>[1]) => {
    bench.store.close();
    bench.clock.restart();
    bench = engineOn(folder, bench.clock);
    const next = site(bench, options);
    next.paid.add("INV-2");
    await next.once();
    return next;
  };
  const longer = await configured({ waitMs: 48 * HOUR });
  expect(longer.waits()).toMatchObject({ count: 2, untilMs: began + 48 * HOUR });
  bench.clock.advance(WAIT_MS + HOUR);
  await longer.once();
  expect([longer.settled, longer.waits()?.count]).toEqual([[], 2]);
  const shorter = await configured({ waitMs: 2 * HOUR });
  expect([shorter.settled, shorter.waits()]).toEqual([["INV-1"], null]);

  shorter.invoices.push([bill("INV-3", "1.00")]);
  await shorter.once();
  expect(shorter.waits()).toMatchObject({ count: 1 });
  const without = await configured({ without: true });
  expect([without.settled, without.waits()]).toEqual([["INV-3"], null]);
});

test("a wait that ends while nothing runs is settled at the next start, and nobody is asked about it", async () => {
  const folder = tempFolder();
  const before = engineOn(folder);
  const first = site(before);
  first.invoices.push([bill("INV-1", "1.00")]);
  await first.once();
  before.store.close();
  before.clock.restart();
  before.clock.advance(3 * WAIT_MS);
  const bench = engineOn(folder, before.clock);
  const { flow, sink, once, settled } = site(bench);
  const told: (string | undefined)[] = [];
  sink.inspect = async (delivered) =>
    delivered.map(({ waitsUntil }) => {
      told.push(waitsUntil);
      return { is: "there", differences: [] };
    });
  await once();
  // Its inspection hears that it waits, whatever the time.
  expect(told).toEqual([new Date(before.clock.now().wallMs - 2 * WAIT_MS).toISOString()]);
  expect(settled).toEqual(["INV-1"]);
  expect(Object.fromEntries(bench.store.deliveries.counts(flow.flow))).toEqual({ delivered: 1 });
});

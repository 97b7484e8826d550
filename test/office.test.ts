/** The office over a real store: what people ask and decide, without a daemon and with one. */
import { expect, test } from "vitest";
import { type Change, defineMapping, type Page, skip } from "../src/core/contract.ts";
import { trip } from "../src/engine/breakers.ts";
import { Daemon, runFlow } from "../src/engine/daemon.ts";
import type { Engine, Flow } from "../src/engine/engine.ts";
import type { Answer } from "../src/core/outcome.ts";
import { type AnswerName, outcomeOf } from "../src/platform/answers.ts";
import { OfficeError } from "../src/core/errors.ts";
import { calendarOf } from "../src/core/time.ts";
import type { FlowStatus } from "../src/office/answers.ts";
import type { Office } from "../src/office/questions.ts";
import { storeOffice } from "./support/office.ts";
import {
  type Bench,
  bill,
  billMapping,
  engineOn,
  pagesOf,
  quickPolicy,
  receiver,
} from "./support/engine.ts";
import { tempFolder } from "./support/folder.ts";

const signal = new AbortController().signal;
const page = (...changes: Change[]): Page[] => [{ changes, position: 1 }];
const answer = (name: AnswerName) => outcomeOf({ name, detail: name });

/** A bench with an office, and a cross-reference table that can be added to. */
function bench() {
  const made = engineOn(tempFolder());
  const rows = new Set<string>();
  const engine: Engine = {
    ...made.engine,
    tables: { row: (table, key) => (rows.has(`${table} ${key}`) ? { code: key } : null) },
  };
  const officeOf = (flows: readonly Flow[], daemon: Daemon | null = null): Office =>
    storeOffice({ engine, flows, daemon, version: "0.1.0", startedAt: new Date(0) });
  const flow = (options: Parameters<Bench["flow"]>[0]): Flow => made.flow(options);
  return { ...made, engine, rows, officeOf, flow };
}

const draftsAside = defineMapping({
  ...billMapping,
  map: (one, references) =>
    one["draft"] === true ? skip("draft") : billMapping.map(one, references),
});

/** What a flow's numbers are, of which none may be missing from the sum. */
async function numbers(office: Office, name = "bills") {
  const { flows } = await office.status();
  for (const flow of flows) {
    const { received, pending, delivered, skipped, echoes, quarantined, resolved, superseded } =
      flow;
    const sum = pending + delivered + skipped + echoes + quarantined + resolved + superseded;
    expect({ flow: flow.name, sum }).toEqual({ flow: flow.name, sum: received });
  }
  const found = flows.find((flow) => flow.name === name) as FlowStatus;
  const { received, pending, delivered, skipped, echoes, quarantined, resolved, superseded } =
    found;
  return Object.fromEntries(
    Object.entries({
      received,
      pending,
      delivered,
      skipped,
      echoes,
      quarantined,
      resolved,
      superseded,
    }).filter(([, count]) => count > 0),
  );
}

const causes = async (office: Office): Promise<string[]> =>
  (await office.quarantine()).map(({ cause, count }) => `${count} ${cause}`);
const groupOf = async (office: Office, cause: string): Promise<string> =>
  (await office.quarantine()).find((group) => group.cause === cause)?.id ?? `no group ${cause}`;

async function refusal(asked: Promise<unknown>): Promise<string> {
  const error = await asked.then(
    () => new Error("it was done"),
    (error: unknown) => error,
  );
  expect(error).toBeInstanceOf(OfficeError);
  const { message, next } = error as OfficeError;
  return `${message} ${next}`;
}

test("received is always the sum of what became of it, through every step of a story", async () => {
  const { engine, rows, officeOf, flow } = bench();
  const fault = { code: "bad-cell", message: "Total is not a number", next: "" } as const;
  const bills = flow({
    mapping: draftsAside,
    sink: receiver({ writes: "upsert" }),
    source: pagesOf(
      page(
        bill("INV-1", "1"),
        bill("INV-2", "2", { product: "ULSD" }),
        bill("INV-3", "3", { product: "ULSD" }),
        bill("INV-4", "4", { payer: "000417" }),
        bill("INV-5", "5", { draft: true }),
        { ...bill("INV-6", "6"), fault },
      ),
      page(bill("INV-6", "6.00"), bill("INV-3", "3", { product: "DEF" }), bill("INV-1", "1.01")),
    ),
  });
  const home = flow({
    name: "home",
    side: "platform",
    from: "platform.bills",
    to: "erp.bills",
    sink: receiver({ operation: "file.bill" }),
    source: pagesOf(page({ ...bill("INV-1", "1"), id: "id-of-INV-1", version: "2026" })),
  });
  const office = officeOf([bills, home]);
  expect(await numbers(office)).toEqual({});

  await runFlow(engine, bills, signal);
  expect(await numbers(office)).toEqual({ received: 6, delivered: 1, skipped: 1, quarantined: 4 });
  await runFlow(engine, home, signal);
  expect(await numbers(office, "home")).toEqual({ received: 1, echoes: 1 });

  // Corrected, changed while it waited, and changed after it was posted.
  await runFlow(engine, bills, signal);
  const corrected = { received: 9, delivered: 2, skipped: 1, quarantined: 4, superseded: 2 };
  expect(await numbers(office)).toEqual(corrected);
  expect(await causes(office)).toEqual([
    "1 crossref/products.csv has no row `DEF`",
    "1 crossref/products.csv has no row `ULSD`",
    "1 the amount changed from 1.00 to 1.01 after it was delivered",
    "1 waits for customer 000417, and no flow delivers any customer",
  ]);

  rows.add("products ULSD");
  await office.retry(await groupOf(office, "crossref/products.csv has no row `ULSD`"));
  expect(await numbers(office)).toEqual({ ...corrected, pending: 1, quarantined: 3 });
  await runFlow(engine, bills, signal);
  expect(await numbers(office)).toEqual({ ...corrected, delivered: 3, quarantined: 3 });

  const changed = await groupOf(
    office,
    "the amount changed from 1.00 to 1.01 after it was delivered",
  );
  await office.resolve(changed, { by: "ann", note: "credit note 7" });
  expect(await numbers(office)).toMatchObject({ delivered: 3, quarantined: 2, resolved: 1 });
  await office.resolve("all", { by: "ann", note: "by hand" });
  expect(await numbers(office)).toMatchObject({ received: 9, resolved: 3 });
  expect(await office.status()).toMatchObject({ healthy: true, daemon: null, stops: [] });
});

test("a group, one delivery or all are retried; the rest stays where it is", async () => {
  const { engine, rows, officeOf, flow } = bench();
  const sink = receiver();
  const changes = ["A", "A", "B", "C"].map((product, at) => bill(`INV-${at}`, "1", { product }));
  const bills = flow({ sink, source: pagesOf(page(...changes)) });
  const office = officeOf([bills]);
  await runFlow(engine, bills, signal);
  for (const product of ["A", "B", "C"]) rows.add(`products ${product}`);

  const group = await office.quarantineShow(
    await groupOf(office, "crossref/products.csv has no row `A`"),
  );
  expect(group).toMatchObject({ flow: "bills", code: "not-mapped", count: 2 });
  expect(group.next).toContain('the cross-reference table "products"');
  expect(group.deliveries.map(({ number, origin }) => [number, origin])).toEqual([
    ["INV-0", "bills.csv line INV-0"],
    ["INV-1", "bills.csv line INV-1"],
  ]);
  expect(await office.retry(group.deliveries[0]?.delivery ?? "")).toEqual({ retried: 1, left: 0 });
  expect(await causes(office)).toContain("1 crossref/products.csv has no row `A`");
  expect(await office.retry(await groupOf(office, "crossref/products.csv has no row `B`"))).toEqual(
    {
      retried: 1,
      left: 0,
    },
  );
  await runFlow(engine, bills, signal);
  expect(sink.executed).toHaveLength(2);
  expect(await office.retry("all")).toEqual({ retried: 2, left: 0 });
  await runFlow(engine, bills, signal);
  expect(await numbers(office)).toEqual({ received: 4, delivered: 4 });
  expect(await office.retry("all")).toEqual({ retried: 0, left: 0 });
});

test("what is retried too early comes back with the same reason", async () => {
  const { engine, officeOf, flow } = bench();
  const bills = flow({
    sink: receiver(),
    source: pagesOf(page(bill("INV-1", "1", { product: "A" }))),
  });
  const office = officeOf([bills]);
  await runFlow(engine, bills, signal);
  const before = await causes(office);
  await office.retry("all");
  await runFlow(engine, bills, signal);
  expect(await causes(office)).toEqual(before);
});

/** One invoice of which nobody can tell whether it arrived: a timeout held its key, and reads found nothing. */
async function undecided(
  writes: "create" | "upsert",
  answers: readonly AnswerName[] = ["timed-out"],
) {
  const made = bench();
  const policy = { ...quickPolicy, afterTimeout: "person" as const };
  const sink = receiver({ policy, writes });
  for (const name of answers) sink.script.push(() => ({ answer: answer(name), execute: false }));
  const change = { ...bill("INV-1", "12.50"), id: "invoice 7" };
  const bills = made.flow({ sink, source: pagesOf(page(change)) });
  const daemon = new Daemon(made.engine, [bills]);
  const office = made.officeOf([bills], daemon);
  await daemon.once(signal);
  expect(await causes(office)).toEqual([
    "1 nobody can tell by machine whether it arrived: not there",
  ]);
  expect(await numbers(office)).toEqual({ received: 1, quarantined: 1 });
  return { ...made, sink, bills, daemon, office };
}

test("money that waits for a person is retried under a key of its own, once", async () => {
  const { sink, daemon, office } = await undecided("create");
  expect(await office.retry("all")).toEqual({ retried: 1, left: 0 });
  await daemon.once(signal);
  await daemon.once(signal);
  const [first, second, ...more] = sink.sent;
  expect(more).toEqual([]);
  expect(second?.body).toBe(first?.body);
  expect(second?.key).not.toBe(first?.key);
  expect(sink.executed).toHaveLength(1);
  expect(await numbers(office)).toEqual({ received: 1, delivered: 1 });
});

test("found at the receiver and resolved with its id there, both sides are linked and nothing is sent", async () => {
  const { engine, store, sink, bills, daemon, office, flow, officeOf } = await undecided("create");
  const decision = { by: "ann", note: "found it", receiverId: "id-of-INV-1" };
  expect(await office.resolve("all", decision)).toEqual({ resolved: 1 });
  await daemon.once(signal);
  expect(sink.sent).toHaveLength(1);
  expect(await numbers(office)).toEqual({ received: 1, delivered: 1 });
  expect(store.links.find("invoice", "erp", "invoice 7")).toMatchObject({
    platformId: "id-of-INV-1",
    born: "erp",
    amount: "12.5",
  });
  const echo = { ...bill("INV-1", "12.50"), id: "id-of-INV-1", version: "2026" };
  const back = receiver({ operation: "file.bill" });
  const home = flow({ name: "home", side: "platform", sink: back, source: pagesOf(page(echo)) });
  await runFlow(engine, home, signal);
  expect(await numbers(officeOf([bills, home]), "home")).toEqual({ received: 1, echoes: 1 });
  expect(back.sent).toEqual([]);
});

test("one that may be at the receiver is not closed without its id there, and nothing changes by trying", async () => {
  const { sink, office, daemon } = await undecided("create");
  const said = await refusal(office.resolve("all", { by: "ann", note: "never mind" }));
  expect(said).toMatch(/INV-1 may be at the receiver.*with its id there/);
  expect(await numbers(office)).toEqual({ received: 1, quarantined: 1 });
  await daemon.once(signal);
  expect(sink.sent).toHaveLength(1);
});

test("one that is only overwritten by its next version may be closed, and is not sent again", async () => {
  const { sink, office, daemon } = await undecided("upsert");
  expect(await office.resolve("all", { by: "ann", note: "done by hand" })).toEqual({ resolved: 1 });
  await daemon.once(signal);
  expect(sink.sent).toHaveLength(1);
  expect(await numbers(office)).toEqual({ received: 1, resolved: 1 });
});

test("one id cannot be that of two documents", async () => {
  const { engine, officeOf, flow } = bench();
  const changes = [bill("INV-1", "1", { product: "A" }), bill("INV-2", "1", { product: "A" })];
  const bills = flow({ sink: receiver(), source: pagesOf(page(...changes)) });
  const office = officeOf([bills]);
  await runFlow(engine, bills, signal);
  const decision = { by: "ann", note: "there", receiverId: "x" };
  expect(await refusal(office.resolve("all", decision))).toMatch(/2 deliveries.*Name one delivery/);
  expect(await numbers(office)).toEqual({ received: 2, quarantined: 2 });
});

test("a document's story is found by its number, by its id at the platform and by its id in the ERP", async () => {
  const { sink: _, ...made } = await undecided("create");
  await made.office.retry("all");
  await made.daemon.once(signal);
  const byNumber = await made.office.trace(" INV-1 ");
  const events = byNumber.steps.map(({ event }) => event);
  expect(events).toEqual(
    expect.arrayContaining(["received", "send", "unknown", "manual", "retried", "done", "linked"]),
  );
  expect(events[0]).toBe("received");
  expect(byNumber.steps[0]).toMatchObject({
    flow: "bills",
    detail: "bills.csv line INV-1",
    platformId: "id-of-INV-1",
    erpId: "invoice 7",
  });
  for (const id of ["id-of-INV-1", "invoice 7"])
    expect((await made.office.trace(id)).steps).toEqual(byNumber.steps);
});

const TWENTY = Array.from({ length: 20 }, (_, at) => at + 1);
const posted = TWENTY.map((at) => `R-${at} posted`);
const ids = TWENTY.map((at) => `R-${at}`);

/** What a request of twenty is answered with, and what of it each story shows as its own. */
async function toldOfTwenty(
  said: Pick<Answer, "detail" | "each">,
): Promise<(at: number) => Promise<string[]>> {
  const { engine, officeOf, flow } = bench();
  const { detail } = said;
  const send = async (): Promise<Answer> => ({ outcome: "done", ids, ...said });
  const sink = { ...receiver({ itemsMax: 20 }), send };
  const changes = TWENTY.map((at) => ({ ...bill(`INV-${at}`, "1"), id: `record ${at}` }));
  const bills = flow({ sink, source: pagesOf(page(...changes)) });
  await runFlow(engine, bills, signal);
  return async (at) => {
    const { steps } = await officeOf([bills]).trace(`INV-${at}`);
    // The whole of it is kept beside.
    expect(steps.find(({ event }) => event === "done")?.detail).toBe(detail);
    return steps.flatMap(({ own }) => (own === null ? [] : [`${own.detail} with ${own.others}`]));
  };
}

test.each([
  ["it lists them", posted.join(", ")],
  ["it speaks of all", "20 invoices are booked"],
])(
  "of an answer that says something of each of a batch a document's story has its own part, and all of it beside: %s",
  async (_, detail) => {
    const each = posted.with(2, "INV-3 was void before it was booked, nothing is in Tryton");
    const all = await toldOfTwenty({ detail, each });
    for (const at of [1, 3, 10, 20]) expect(await all(at)).toEqual([`${each[at - 1]} with 19`]);
  },
);

test.each([
  ["it says nothing of each", undefined],
  ["it says something of fewer", posted.slice(0, 19)],
])("an answer is shown whole, whatever it lists: %s", async (_, each) => {
  const said = { detail: posted.join(", "), ...(each === undefined ? {} : { each }) };
  expect(await (await toldOfTwenty(said))(1)).toEqual([]);
});

test("a decision is kept with who took it and why", async () => {
  const { office } = await undecided("upsert");
  await office.resolve("all", { by: "ann", note: "credit note 7" });
  const { steps } = await office.trace("INV-1");
  expect(steps.map(({ event, detail }) => `${event} ${detail}`)).toContain(
    "resolved ann: credit note 7",
  );
});

test("what nobody knows is refused with what to do instead", async () => {
  const { office, bills, officeOf } = await undecided("create");
  const note = { by: "ann", note: "x" };
  expect(await refusal(office.trace("INV-9"))).toMatch(
    /Nothing is known about INV-9.*Check the number/,
  );
  expect(await refusal(office.quarantineShow("q1"))).toMatch(/no quarantine group "q1".*list/);
  expect(await refusal(office.retry("q1"))).toMatch(/called "q1".*or say all/);
  expect(await refusal(office.retry("999"))).toMatch(/called "999".*or say all/);
  expect(await refusal(office.resolve("q1", note))).toMatch(/called "q1".*or say all/);
  expect(await refusal(office.runNow("nope"))).toMatch(/no flow "nope".*Flows: bills/);
  expect(await refusal(office.release("doubled", "ann"))).toMatch(/no stop "doubled".*status/);
  expect(await refusal(officeOf([bills]).runNow("bills"))).toMatch(
    /No daemon runs.*fuelbridge run/,
  );
});

test("a flow that is told to run now is due at once", async () => {
  const { office, clock } = await undecided("create");
  const due = async () => (await office.status()).flows[0]?.nextDueAt;
  await office.runNow("all");
  expect(await due()).toBe(new Date(clock.now().wallMs).toISOString());
});

test("a flow whose reading is stopped is not said to look now, and looks next when its stop ends", async () => {
  const { engine, office, bills, clock } = await undecided("create");
  await office.runNow("all");
  const waitMs = 3_600_000;
  trip(engine, { breaker: "credentials", scope: bills.from, detail: "401", waitMs });
  const { flows } = await office.status();
  expect(flows[0]?.nextDueAt).toBe(new Date(clock.now().wallMs + waitMs).toISOString());
  expect(await refusal(office.runNow("all"))).toMatch(
    /No flow looks: credentials: 401.*release credentials/,
  );
  expect(await refusal(office.runNow("bills"))).toMatch(/bills does not look/);
});

test("a stop that only a person clears is cleared by one, and the work goes on", async () => {
  const made = bench();
  const sink = receiver();
  sink.script.push(() => ({ answer: answer("key-conflict"), execute: false }));
  const bills = made.flow({
    sink,
    source: pagesOf(page(bill("INV-1", "1")), page(bill("INV-2", "2"))),
  });
  const office = made.officeOf([bills]);
  await runFlow(made.engine, bills, signal);
  await runFlow(made.engine, bills, signal);
  expect(await office.status()).toMatchObject({
    healthy: false,
    stops: [{ breaker: "split-brain", scope: "platform" }],
  });
  expect(sink.executed).toEqual([]);
  expect(await office.release("split-brain", "ann")).toEqual({ released: "split-brain" });
  await runFlow(made.engine, bills, signal);
  expect((await office.status()).stops).toEqual([]);
  expect(await numbers(office)).toEqual({ received: 2, delivered: 1, quarantined: 1 });
});

const october = { from: "2026-10-01", to: "2026-10-31" };
const around = { from: "2026-09-27", to: "2026-11-02" };
const whole = { flow: null, period: october, at: "2026-11-01T12:00:00Z", state: "done" } as const;

test.each([
  ["America/Chicago", "2026-12-01T05:59:00Z", "2026-10"],
  ["America/Chicago", "2026-12-01T06:00:00Z", "2026-11"],
  ["Australia/Sydney", "2026-11-30T12:59:00Z", "2026-10"],
  ["Australia/Sydney", "2026-11-30T13:00:00Z", "2026-11"],
])("the last month is over by the company's calendar: %s %s", async (zone, at, month) => {
  const { engine } = bench();
  const wall = { ...engine.clock, now: () => ({ ...engine.clock.now(), wallMs: Date.parse(at) }) };
  const own = { ...engine, clock: wall, dayOf: calendarOf(zone) };
  const about = { flows: [], daemon: null, version: "0.1.0", startedAt: new Date(0) };
  expect(await storeOffice({ engine: own, ...about }).monthEnd(null)).toMatchObject({ month });
});

test.each([
  [true, "the month itself", {}],
  [true, "more days than the month's", { period: around }],
  [true, "all days", { period: null }],
  [false, "another month", { period: { from: "2026-11-01", to: "2026-11-30" } }],
  [false, "a part of the month", { period: { ...october, from: "2026-10-02" } }],
  [false, "one flow", { flow: "bills" }],
  [false, "the month before it was over", { at: "2026-10-31T23:00:00Z" }],
  [false, "the month, without an end", { state: "failed" } as const],
])("a month counts as compared: %s, by a comparison of %s", async (counts, _, more) => {
  const { officeOf, store } = bench();
  const office = officeOf([]);
  const { at, state, ...about } = { ...whole, ...more };
  const atMs = Date.parse(at);
  const sweep = store.sweeps.begin({ ...about, scope: "", askedBy: "ann" }, atMs);
  const unasked = { endpoint: "erp", why: "away", what: "payments", next: "Wait." };
  const ended = { counts: "[]", agrees: 1, detail: null, requests: 0, endedMs: atMs } as const;
  store.sweeps.end({ ...ended, sweep, state, unasked: JSON.stringify([unasked]) });
  expect(await office.monthEnd("2026-10")).toMatchObject({
    comparedAt: counts ? new Date(at).toISOString() : null,
    notCompared: counts ? [unasked] : [],
  });
});

test.each([
  [true, "since the month ended", "2026-11-01T06:00:00Z", null],
  [false, "before it ended", "2026-10-31T22:00:00Z", null],
  [false, "in vain", "2026-11-01T06:00:00Z", { code: "x", message: "no answer", next: "" }],
])("a month counts as read: %s, by a flow that was read %s", async (counts, _, at, why) => {
  const { officeOf, flow, store } = bench();
  const bills = flow({ sink: receiver(), source: pagesOf([]) });
  const home = { ...flow({ name: "home", sink: receiver(), source: pagesOf([]) }), paused: true };
  const ended = { atMs: Date.parse(at), dueMs: 0, pages: null, received: 0, tookMs: 1 };
  for (const one of [bills, home]) store.flows.ran(one.flow, ended, why);
  expect(await officeOf([bills, home]).monthEnd("2026-10")).toMatchObject({
    unread: counts ? [] : ["bills"],
    paused: ["home"],
  });
});

test("a month counts as matched by a run of all its papers after its end; a later one of one party takes nothing back", async () => {
  const { officeOf, store } = bench();
  const office = officeOf([]);
  const matched = (part: string | null, period: typeof october, at: string): number =>
    store.sweeps.matched({ part, period, askedBy: "ann" }, "{}", Date.parse(at));
  const at = "2026-11-03T00:00:00.000Z";
  matched(null, october, "2026-10-31T12:00:00Z");
  matched("V-1", around, at);
  matched(null, { ...october, from: "2026-10-02" }, at);
  expect(await office.monthEnd("2026-10")).toMatchObject({ matchedAt: null });
  matched(null, around, at);
  matched("V-1", around, "2026-11-04T00:00:00Z");
  expect(await office.monthEnd("2026-10")).toMatchObject({ matchedAt: at });
});

/** A past period, read anew over HTTP from the sandbox, beside a flow that goes on living. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, test } from "vitest";
import { customerInvoices } from "../mappings/invoices.ts";
import { openTables } from "../src/config/crossref.ts";
import type { Rereading, Source } from "../src/core/contract.ts";
import type { WalkPosition } from "../src/core/watermark.ts";
import { root } from "../src/demo/world.ts";
import { Backfills, type Filling } from "../src/engine/backfill.ts";
import type { Engine, Flow } from "../src/engine/engine.ts";
import { push, runFlow } from "../src/engine/daemon.ts";
import { times } from "./conformance/support.ts";
import { counting, never, usePlatform } from "./platform/support.ts";
import type { TestClock } from "./support/clock.ts";
import { engineOn } from "./support/engine.ts";
import { officeOn } from "./support/office.ts";
import { tempFolder } from "./support/folder.ts";
import { ledgerBooks } from "./support/ledger-books.ts";
import { issued } from "./support/reconciled-site.ts";

const platform = usePlatform();
const { control } = platform;
const person = { by: "ann", note: "March is missing" };
const march = { from: "2026-03-01", to: "2026-03-31", share: 5, person };
const PER_MONTH = 200;

/** A flow that has read eight invoices of October, and a platform that has had 150 of March meanwhile. */
async function site() {
  await control.records(
    "invoices",
    times(8, (at) => issued(at + 1)),
  );
  const clock = await platform.clock();
  const opened = openedOn(tempFolder(), clock);
  const { engine, store, flow } = opened;
  await runFlow(engine, flow, never);
  store.transaction(() =>
    store.flows.ran(
      flow.flow,
      { atMs: clock.now().wallMs, dueMs: 0, pages: 1, received: 0, tookMs: 0 },
      null,
    ),
  );
  const old = (at: number) => {
    const day = `2026-03-${String((at % 28) + 1).padStart(2, "0")}`;
    const at8 = `${day}T15:00:0${at % 10}Z`;
    const orders = { invoiceNumber: `OLD-${at}`, poNumber: `PO ${at}` };
    return issued(1, { ...orders, createdAt: at8, updatedAt: at8 });
  };
  await control.records("invoices", times(150, old));
  return opened;
}

/** `books`: those of before, where the store was opened before. */
function openedOn(folder: string, clock: TestClock, held?: ReturnType<typeof ledgerBooks>) {
  const bench = engineOn(folder, clock);
  const { engine: made, store } = bench;
  const tables = openTables(join(root, "config", "crossref"));
  const engine: Engine = { ...made, tables };
  const counted = counting();
  const endpoint = platform.endpoint({ clock, dayOf: made.dayOf, governor: counted.governor });
  const books = held ?? ledgerBooks(made.dayOf);
  const flow = bench.flow({
    name: "invoices-issued",
    mapping: customerInvoices,
    from: "platform.invoicesIssued",
    to: "erp.invoices",
    side: "platform",
    source: endpoint.sources["invoicesIssued"] as Source,
    sink: books.sinks["invoices"],
  });
  const requests = (): number => counted.counts()["backfill"] ?? 0;
  const means = { spent: requests, perMonth: PER_MONTH };
  const numbers = (): string[] => [...books.held.values()].map(({ facts }) => String(facts.number));
  const watermark = (): string | null =>
    (store.flows.position(flow.name) as unknown as WalkPosition).watermark;
  const backfills = (): Backfills => new Backfills(engine, means);
  const filling = (more: Partial<Filling> = {}): Filling => ({ flow, ...march, ...more });
  return {
    folder,
    engine,
    store,
    clock,
    flow,
    books,
    requests,
    means,
    numbers,
    watermark,
    backfills,
    filling,
  };
}

const events = async (engine: Engine, flow: Flow): Promise<string[]> => {
  const office = officeOn(engine, [flow]);
  const { entries } = await office.audit({ from: null, to: null, after: 0, people: false });
  return entries
    .filter(({ event }) => event.startsWith("backfill"))
    .map(({ event, who }) => `${event} ${who}`);
};

test("a past period is read beside a live flow: killed between pages it goes on there, and each document is delivered once", async () => {
  const { engine, flow, requests, numbers, watermark, backfills, filling } = await site();
  await runFlow(engine, flow, never);
  const before = watermark();
  expect(await backfills().cost(filling())).toMatchObject({
    records: 158,
    requests: 3,
    goesOn: false,
  });

  const killed = backfills();
  killed.stirred = () => {
    throw new Error("killed");
  };
  await expect(killed.run(filling(), 158)).rejects.toThrow("killed");
  expect(backfills().list()).toMatchObject([{ state: "reading", gone: 100, received: 100 }]);
  const soFar = requests();
  expect(watermark()).toBe(before);

  // Meanwhile the live flow brings something new, and is the only one that moves its position.
  const at = new Date((await control.now()) - 60_000).toISOString();
  await control.records("invoices", [
    issued(2, { invoiceNumber: "LIVE-1", createdAt: at, updatedAt: at }),
  ]);
  await Promise.all([backfills().goOn(), runFlow(engine, flow, never)]);
  expect(backfills().list()).toMatchObject([{ state: "done", records: 150, received: 150 }]);
  // The page that was read ahead when it was killed is the only one that is read again.
  expect(requests() - soFar).toBe(1);
  expect(watermark()?.slice(0, 19)).toBe(at.slice(0, 19));
  const live = watermark();
  await push(engine, flow, never);
  const delivered = numbers();
  // One of October is void.
  expect(delivered).toHaveLength(7 + 150 + 1);
  expect(new Set(delivered).size).toBe(delivered.length);

  // Once more, over everything: nothing is new, nothing goes out, nothing moves.
  const again = await backfills().run(filling({ to: engine.dayOf(at), share: 50 }), null);
  expect(again).toMatchObject({ state: "done", records: 159, received: 0 });
  await push(engine, flow, never);
  expect(numbers()).toEqual(delivered);
  expect(watermark()).toBe(live);
  expect(await events(engine, flow)).toEqual([
    "backfill began ann",
    "backfill done null",
    "backfill began ann",
    "backfill done null",
  ]);
});

test("a backfill that SIGKILL ends between two pages goes on there, and never moves the live position", async () => {
  const { folder, store, clock, flow, books } = await site();
  const before = store.flows.position(flow.name);
  store.close();
  const program = join(import.meta.dirname, "support", "backfill-killed-program.ts");
  const given = [folder, platform.urls().baseUrl, platform.secret("supplier")];
  const args = [program, ...given, String(clock.now().wallMs)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "inherit", "inherit"] });
  expect(await once(child, "exit")).toEqual([null, "SIGKILL"]);

  const again = openedOn(folder, clock, books);
  const [killed] = again.backfills().list();
  expect(killed).toMatchObject({ state: "reading", gone: 100, received: 100, askedBy: "ann" });
  expect(again.store.flows.position(flow.name)).toEqual(before);
  await again.backfills().goOn();
  expect(again.backfills().list()).toMatchObject([
    { state: "done", gone: 158, records: 150, received: 150 },
  ]);
  expect(again.store.flows.position(flow.name)).toEqual(before);
  await push(again.engine, again.flow, never);
  const delivered = again.numbers();
  expect(delivered).toHaveLength(7 + 150);
  expect(new Set(delivered).size).toBe(delivered.length);
});

test("a backfill that a person begins in the console is carried out at once by the daemon's own loop", async () => {
  const { backfills, filling, flow, store } = await site();
  const kept = backfills();
  const end = new AbortController();
  kept.stirred = () => {
    if (kept.list()[0]?.gone === 158) end.abort();
  };
  kept.begin(filling(), 158);
  expect(kept.list()).toMatchObject([{ state: "reading", gone: 0, askedBy: "ann" }]);
  const before = store.flows.position(flow.name);
  await kept.keepOn(end.signal);
  expect(kept.list()).toMatchObject([{ state: "done", received: 150 }]);
  expect(store.flows.position(flow.name)).toEqual(before);
});

test("an older version that a backfill reads never replaces a newer one", async () => {
  const { engine, store, flow, backfills, filling } = await site();
  const [sample] = store.samples.latest(flow.flow, 1);
  const older = {
    id: sample?.id ?? "",
    version: "2026-03-05T00:00:00.000000000Z",
    text: sample?.text ?? "",
  };
  const again: Rereading = {
    ...(flow.source.again as Rereading),
    async *read() {
      yield { changes: [older], position: null };
    },
  };
  const flows: Flow = { ...flow, source: { ...flow.source, again } };
  const done = await backfills().run(filling({ flow: flows }), null);
  expect(done).toMatchObject({ records: 1, received: 0 });
  expect(store.samples.latest(flow.flow, 1)).toEqual([sample]);
  expect(engine.store.deliveries.counts(flow.flow).get("superseded")).toBeUndefined();
});

test("what changes after the platform's clock was ahead and is put right is delivered at the next look, and told", async () => {
  const { engine, store, flow, books, clock } = await site();
  const now = await control.now();
  const at = (days: number): string => new Date(now + days * 24 * 3_600_000).toISOString();
  const ahead = issued(2, { invoiceNumber: "AHEAD", createdAt: at(3), updatedAt: at(3) });
  const [made] = await control.records("invoices", [ahead]);
  const bring = async (): Promise<unknown[]> => {
    await runFlow(engine, flow, never);
    await push(engine, flow, never);
    return [...books.held.values()].flatMap(({ facts }) =>
      facts.number === "AHEAD" ? [facts.days?.due] : [],
    );
  };
  expect(await bring()).toEqual(["2026-11-30"]);
  clock.advance(1_000);
  await control.patch("invoices", made?.["id"], { dueDate: "2026-12-15T18:00:00Z" });
  expect(await bring()).toEqual(["2026-12-15"]);
  expect(store.deliveries.counts(flow.flow).get("quarantined")).toBeUndefined();
  const { entries } = await officeOn(engine, [flow]).audit({
    from: null,
    to: null,
    after: 0,
    people: false,
  });
  const told = entries.filter(({ event }) => event === "notice").map(({ detail }) => detail);
  expect(told).toEqual([
    expect.stringContaining(`${String(made?.["id"])} changed under an earlier`),
  ]);
});

test("a share that is used up pauses a backfill, which says so, asks nothing more, and goes on with a larger one", async () => {
  const { clock, flow, engine, means, requests, backfills, filling } = await site();
  const small = new Backfills(engine, { ...means, perMonth: 100 });
  const paused = await small.run(filling({ share: 1 }), 158);
  expect(paused).toMatchObject({ state: "paused", code: "budget", received: 100 });
  expect(paused.message).toBe(
    "What backfills may use of the month's requests is used up: 1 % of 100 are 1.",
  );
  expect(paused.next).toContain("--share");
  const used = requests();
  clock.advance(2 * 3_600_000);
  await small.goOn();
  expect(requests()).toBe(used);
  expect(backfills().list()).toMatchObject([{ state: "paused", code: "budget" }]);
  expect(await backfills().cost(filling())).toMatchObject({ goesOn: true, records: 58 });
  expect(await backfills().run(filling({ share: 50 }), null)).toMatchObject({
    state: "done",
    received: 150,
  });
  expect(await events(engine, flow)).toEqual([
    "backfill began ann",
    "backfill paused null",
    "backfill goes on ann",
    "backfill done null",
  ]);
});

test("what cannot be read anew is refused with the reason: a list that is read whole, a source without versions", async () => {
  const { backfills, filling, flow } = await site();
  const without = (source: Source): Filling => filling({ flow: { ...flow, source } });
  const whole = without({ whole: true, async *read() {} });
  await expect(backfills().cost(whole)).rejects.toThrow("every look at it reads the whole list");
  const bare = without({ async *read() {} });
  await expect(backfills().cost(bare)).rejects.toThrow("keeps no versions");
  await expect(backfills().cost(filling({ flow: { ...flow, paused: true } }))).rejects.toThrow(
    "paused",
  );
});

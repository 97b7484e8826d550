/** A hub and a site over HTTP: what is told of a feed, and what is not. */
import { copyFileSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, onTestFinished, test } from "vitest";
import {
  bill,
  type Bench,
  billMapping,
  engineOn,
  pagesOf,
  receiver,
} from "../../test/support/engine.ts";
import { testClock } from "../../test/support/clock.ts";
import { tempFolder } from "../../test/support/folder.ts";
import type { Change, Page } from "../core/contract.ts";
import { SourceUnavailable } from "../core/errors.ts";
import { rulesName, type SiteRules } from "../core/sites.ts";
import { runFlow } from "../engine/daemon.ts";
import type { Engine } from "../engine/engine.ts";
import { hubEndpoint } from "../engine/sites.ts";
import { resolve, select } from "../office/decisions.ts";
import { serveHub } from "../office/server.ts";
import { storeFile } from "../store/database.ts";
import { type Exchanger, openClient } from "./client.ts";
import { examineFeeds, hubSource, sharedLists, withSharedLists } from "./hub.ts";

const rulesOf = (): SiteRules => ({
  north: [{ number: ["N-*"] }],
  south: [{ number: ["S-*"] }],
  all: [{ number: ["A-*"] }],
});
const RULES = rulesOf();
const TOKENS = { north: "the-token-of-north", south: "the-token-of-south" };
const signal = new AbortController().signal;
/** Collects what nothing holds any more. */
setFlagsFromString("--expose-gc");
const gc = runInNewContext("gc") as () => void;

/** The platform, as a hub and a site ask it: each answer tells which it is. */
function platform() {
  const asked: string[] = [];
  const exchange: Exchanger["exchange"] = async ({ path }) => {
    asked.push(path);
    const headers = { date: `${asked.length}`, "content-type": "application/json" };
    const status = path.includes("away") ? 503 : 200;
    return { kind: "answer", status, headers, text: `{"data":[],"told":${asked.length}}` };
  };
  return { asked, exchanger: { exchange } as Exchanger };
}

/** A hub with one feed; `tell` has it read this, and what it reads fails while it is told nothing. */
async function hubOn(folder: string, { whole = false, laterMs = 0 } = {}) {
  const bench: Bench = engineOn(folder);
  bench.clock.advance(laterMs);
  const engine: Engine = { ...bench.engine, sites: { own: null, rules: rulesOf() } };
  let pages: Page[] | null = null;
  const flow = bench.flow({
    name: "bills",
    from: "platform.bills",
    to: "hub.sites",
    side: "platform",
    mapping: billMapping,
    sink: hubEndpoint.sinks["sites"] as never,
    source: {
      ...(whole ? { whole } : {}),
      async *read() {
        if (pages === null) throw new SourceUnavailable("the platform is away.", { next: "Wait." });
        yield* pages;
      },
    },
  });
  const shared = platform();
  const { tokens, ...place } = { tokens: TOKENS, port: 0, host: "127.0.0.1", tls: null };
  const served = await serveHub({
    engine,
    lists: sharedLists(shared.exchanger, bench.clock),
    hub: { ...place, tokens },
    secrets: [],
  });
  return {
    engine,
    flow,
    asked: shared.asked,
    clock: bench.clock,
    url: `http://127.0.0.1:${served.port}`,
    async tell(...changes: Change[]) {
      await this.page({ changes });
    },
    async page({ changes, ...more }: Omit<Page, "position">) {
      const list = { name: "bills", total: changes.length, isLast: true, isComplete: true };
      pages = [{ changes, position: 1, ...(whole ? { list } : {}), ...more }];
      await this.read();
    },
    async read() {
      const atMs = bench.clock.now().wallMs;
      const { pages: read, received, trouble } = await runFlow(engine, flow, signal);
      const ran = { atMs, dueMs: atMs, pages: read, received, tookMs: 1 };
      bench.store.transaction(() => bench.store.flows.ran(flow.flow, ran, trouble));
    },
    async fail() {
      pages = null;
      await this.read();
    },
    async close() {
      await served.close();
      bench.store.close();
    },
  };
}

/** As a site with this token asks. */
function askingAt(url: string, token: string, rules: SiteRules = RULES) {
  const clock = {
    now: () => ({ boot: "1", monoMs: 0, wallMs: Date.now() }),
    pause: async () => {},
    chance: () => 0,
  };
  const governor = { admit: async () => ({ admitted: true as const }), learn: () => {} };
  const client = openClient({
    url,
    apiKey: token,
    auth: "bearer",
    environment: "test",
    clock,
    governor,
    version: "1",
  });
  onTestFinished(() => client.close());
  return { client, url, rules: rulesName(rules) };
}

/** What a site reads there from where it has got to: ids, and the position after. @throws SourceUnavailable */
async function readAt(
  url: string,
  name: keyof typeof TOKENS,
  position: Page["position"] = null,
  { token = TOKENS[name], rules = RULES, whole = false, feed = "bills" } = {},
) {
  const asking = askingAt(url, token, rules);
  const source = hubSource(asking, feed, whole);
  const examined = await examineFeeds(asking, [feed]);
  const reading = { signal, known: () => null, stored: () => false };
  const [ids, lists]: [string[], Page["list"][]] = [[], []];
  let at = position;
  for await (const page of source.read(position, reading)) {
    ids.push(...page.changes.map(({ id }) => id));
    lists.push(page.list);
    at = page.position;
  }
  expect(examined).toEqual([{ what: `feed ${feed} at the hub ${url}`, fault: null }]);
  return { ids, at, list: lists.at(-1) };
}

/** As the platform tells a record. */
const told = (id: string, number: string, day = "01"): Change => ({
  ...bill(number, "1", { id, updatedAt: `2026-11-${day}T00:00:00Z` }),
  id,
  version: `2026-11-${day}T00:00:00.000000000Z`,
});

test("a site hears once of each of its records and of every site's, and of what is another's now", async () => {
  const hub = await hubOn(tempFolder());
  await hub.tell(told("1", "N-1"), told("2", "S-1"), told("3", "A-1"), told("4", "X-1"));
  const first = await readAt(hub.url, "north");
  expect(first.ids).toEqual(["1", "3"]);
  expect((await readAt(hub.url, "north", first.at)).ids).toEqual([]);
  await hub.tell(told("1", "S-2", "02"));
  expect((await readAt(hub.url, "north", first.at)).ids).toEqual(["1"]);
  expect((await readAt(hub.url, "south")).ids).toEqual(["2", "3", "1"]);
});

test("what becomes a site's late is read, though it changed before all that the site has read", async () => {
  const hub = await hubOn(tempFolder());
  await hub.tell(told("1", "X-1", "01"), told("2", "N-1", "05"));
  const first = await readAt(hub.url, "north");
  expect(first.ids).toEqual(["2"]);
  // A person has corrected the rules at the hub, and retries it: the same version as before.
  const known = hub.engine.sites?.rules ?? {};
  const rules: SiteRules = { ...known, north: [...(known["north"] ?? []), { number: ["X-*"] }] };
  Object.assign(hub.engine.sites ?? {}, { rules });
  const { store } = hub.engine;
  store.transaction(() => store.deliveries.reopen(1));
  await hub.tell();
  expect((await readAt(hub.url, "north", first.at, { rules })).ids).toEqual(["1"]);
});

test("what a person resolves at a hub goes to the sites that had it before, and to no other", async () => {
  const hub = await hubOn(tempFolder());
  await hub.tell(told("1", "N-1"), told("2", "S-1"), told("3", "X-1"));
  const [north, south] = [await readAt(hub.url, "north"), await readAt(hub.url, "south")];
  await hub.tell(told("1", "X-2", "02"));
  expect((await readAt(hub.url, "north", north.at)).ids).toEqual([]);
  const { engine, flow } = hub;
  const byHand = (receiverId?: string) =>
    resolve(engine, select(engine, [flow], "all").slice(receiverId === undefined ? 0 : 1), {
      by: "kim",
      note: "by hand",
      ...(receiverId === undefined ? {} : { receiverId }),
    });
  expect(() => engine.store.transaction(() => byHand("77"))).toThrow("A hub has no receiver");
  engine.store.transaction(() => byHand());
  // The north has an older version of it, and is told by its own rules that nobody knows whose the newest is.
  expect((await readAt(hub.url, "north", north.at)).ids).toEqual(["1"]);
  expect((await readAt(hub.url, "south", south.at)).ids).toEqual([]);
  expect((await readAt(hub.url, "north")).ids).toEqual(["1"]);
});

test("nothing is told to be without news that the hub does not know of", async () => {
  const hub = await hubOn(tempFolder());
  await expect(readAt(hub.url, "north")).rejects.toThrow("has not been read whole yet");
  expect(await examineFeeds(askingAt(hub.url, TOKENS.north), ["bills"])).toMatchObject([
    {
      fault: {
        code: "unreadable",
        message: expect.stringContaining("has not been read whole yet"),
      },
    },
  ]);
  await hub.tell(told("1", "N-1"));
  await hub.fail();
  await expect(readAt(hub.url, "north")).rejects.toThrow(/answered 503: the platform is away\.$/);
  await expect(readAt(hub.url, "north", null, { feed: "orders" })).rejects.toThrow(
    "no flow that reads platform.orders",
  );
  await hub.tell();
  await expect(readAt(hub.url, "north", null, { token: TOKENS.south + "1" })).rejects.toThrow(
    "the token is no site's",
  );
  await expect(readAt(hub.url, "north", null, { rules: { north: [], south: [] } })).rejects.toThrow(
    "other rules",
  );
  expect((await readAt(hub.url, "north")).ids).toEqual(["1"]);
});

test("a hub whose store is another one, or an older copy, is read anew by each site", async () => {
  const [folder, older] = [tempFolder(), tempFolder()];
  const hub = await hubOn(folder);
  await hub.tell(told("1", "N-1"));
  const before = await readAt(hub.url, "north");
  await hub.close();
  copyFileSync(storeFile(folder), storeFile(older));
  const later = await hubOn(folder);
  await later.tell(told("2", "N-2"));
  const { at } = await readAt(later.url, "north", before.at);
  const restored = await hubOn(older, { laterMs: 1_000 });
  await restored.tell(told("3", "N-3"));
  expect((await readAt(restored.url, "north", at)).ids).toEqual(["1", "3"]);
  const empty = await hubOn(tempFolder());
  await empty.tell(told("4", "N-4"));
  expect((await readAt(empty.url, "north", at)).ids).toEqual(["4"]);
});

test("what the platform put back under an earlier time is taken by a site as by its hub, and what a restored hub has of it is old", async () => {
  const [folder, older] = [tempFolder(), tempFolder()];
  const hub = await hubOn(folder);
  const site = engineOn(tempFolder());
  const flow = site.flow({
    from: "platform.bills",
    side: "platform",
    mapping: billMapping,
    sink: receiver(),
    source: pagesOf([]),
  });
  /** What the site has once it has read there. */
  const readFrom = async ({ url }: { url: string }) => {
    const source = hubSource(askingAt(url, TOKENS.north), "bills", false);
    await runFlow(site.engine, { ...flow, source }, signal);
    return JSON.parse(site.store.openRecords.text(flow.flow, "1") ?? "{}").updatedAt;
  };
  await hub.tell(told("1", "N-1", "20"));
  expect(await readFrom(hub)).toContain("2026-11-20");
  hub.engine.store.rest();
  copyFileSync(storeFile(folder), storeFile(older));
  const asked = { atMs: hub.clock.now().wallMs + 3_600_000, answeredAt: null };
  await hub.page({ changes: [told("1", "N-1", "05")], asked });
  expect(await readFrom(hub)).toContain("2026-11-05");
  await hub.tell(told("1", "N-1", "06"));
  expect(await readFrom(hub)).toContain("2026-11-06");
  const restored = await hubOn(older, { laterMs: 1_000 });
  await restored.tell(told("2", "N-2"));
  expect(await readFrom(restored)).toContain("2026-11-06");
  await restored.page({ changes: [told("1", "N-1", "05")], asked });
  expect(await readFrom(restored)).toContain("2026-11-06");
});

test("of a whole list a site has its part, whole, and what left it is not in it", async () => {
  const hub = await hubOn(tempFolder(), { whole: true });
  await hub.tell(
    told("1", "N-1"),
    told("2", "S-1"),
    told("3", "N-2"),
    told("5", "N-4"),
    told("4", "N-3"),
  );
  const { ids, list } = await readAt(hub.url, "north", null, { whole: true });
  expect(ids).toEqual(["1", "3", "5", "4"]);
  expect(list).toEqual({ name: "bills", total: 4, isLast: true, isComplete: true });
  await hub.tell(told("1", "N-1"), told("2", "S-1"), told("5", "N-4"), told("4", "N-3"));
  expect((await readAt(hub.url, "north", null, { whole: true })).ids).toEqual(["1", "5", "4"]);
  await hub.fail();
  await expect(readAt(hub.url, "north", null, { whole: true })).rejects.toThrow(
    "the platform is away",
  );
});

test("a page of a list is asked for once for the comparisons of all sites, and anew after ten minutes", async () => {
  const hub = await hubOn(tempFolder());
  const own = platform();
  const client = withSharedLists(askingAt(hub.url, TOKENS.north), own.exchanger);
  const ask = (path: string) => client.exchange({ method: "GET", path, purpose: "audit" });
  const page = "/invoices?role=issuer&pageSize=100";
  const first = { status: 200, headers: { date: "1" }, text: '{"data":[],"told":1}' };
  expect(await Promise.all([ask(page), ask(page)])).toMatchObject([first, first]);
  expect(await ask(`${page}&page=2`)).toMatchObject({ text: '{"data":[],"told":2}' });
  hub.clock.advance(599_000);
  expect(await ask(page)).toMatchObject(first);
  hub.clock.advance(1_000);
  expect(await ask(page)).toMatchObject({ headers: { date: "3" }, text: '{"data":[],"told":3}' });
  // What the platform did not tell is asked again.
  expect(await ask("/away?page=1")).toMatchObject({ status: 503 });
  await ask("/away?page=1");
  expect(hub.asked).toHaveLength(5);
  // What one site looks for, and single records, are told by the platform as they are now.
  for (const one of ["/invoices?search=N-1", "/invoices/1", "/payments?invoiceId=1"])
    await ask(one);
  expect(own.asked).toHaveLength(3);
  expect(hub.asked).toHaveLength(5);
  const { client: direct } = askingAt(hub.url, TOKENS.north);
  const list = { method: "GET", path: "/lists?page=/invoices/1", purpose: "audit" } as const;
  expect(await direct.exchange(list)).toMatchObject({ status: 404 });
});

test("a hub keeps no more than 64 MB of lists, and none for longer than ten minutes, asked for again or not", async () => {
  const timers: { atMs: number; call: () => void }[] = [];
  const clock = testClock();
  const MB = 1024 * 1024;
  const [asked, told]: [string[], WeakRef<{ text: string }>[]] = [[], []];
  const exchange: Exchanger["exchange"] = async ({ path }) => {
    asked.push(path);
    const answer = {
      kind: "answer",
      status: 200,
      headers: {},
      text: "\u00e9".repeat(MB / 2),
    } as const;
    told.push(new WeakRef(answer));
    return answer;
  };
  const lists = sharedLists({ exchange } as Exchanger, clock, (ms, call) =>
    timers.push({ atMs: clock.now().monoMs + ms, call }),
  );
  const pass = (ms: number): void => {
    clock.advance(ms);
    for (const { atMs, call } of timers.splice(0))
      if (atMs <= clock.now().monoMs) call();
      else timers.push({ atMs, call });
  };
  const page = (at: number): string => `/invoices?pageSize=500&page=${at}`;
  const read = async (from: number, to: number): Promise<void> => {
    for (let at = from; at < to; at++) await lists(page(at));
  };
  /** Pages that are still in memory. */
  const held = async (): Promise<number> => {
    await setImmediate();
    gc();
    return told.filter((one) => one.deref() !== undefined).length;
  };
  // Of 100 pages of one MB each the newest 64 are kept.
  await read(0, 100);
  await read(36, 100);
  expect(asked).toHaveLength(100);
  expect(await held()).toBe(64);
  await read(0, 1);
  expect(asked).toHaveLength(101);
  pass(599_000);
  expect(await held()).toBe(64);
  // Nobody asks again.
  pass(1_000);
  expect(await held()).toBe(0);
});

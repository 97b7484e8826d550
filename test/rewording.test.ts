/**
 * Nothing decides by a sentence. Vitest runs this file twice: as it is, and with every message of the product reworded
 * (test/support/rewording.ts). What comes out must be the same.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { stringify } from "csv-stringify/sync";
import { afterEach, expect, test, vi } from "vitest";
import { type Composed, composeDaemon } from "../src/app/compose.ts";
import { loadConfiguration } from "../src/app/configuration.ts";
import { drop } from "../src/demo/erp.ts";
import { exportsFolder } from "../src/demo/world.ts";
import type { Config } from "../src/config/config.ts";
import type { Change } from "../src/core/contract.ts";
import type { Answer } from "../src/core/outcome.ts";
import { lost } from "../src/engine/delivered.ts";
import { runFlow } from "../src/engine/daemon.ts";
import { openLog } from "../src/log.ts";
import type { Office } from "../src/office/questions.ts";
import { storeOffice } from "./support/office.ts";
import { bill, engineOn, pagesOf, quickPolicy, receiver } from "./support/engine.ts";
import { tempFolder } from "./support/folder.ts";
import { REWORDED } from "./support/reworded.ts";
import { atWork, type Site } from "./support/site.ts";

const never = new AbortController().signal;
const log = openLog({ level: "silent" as "fatal", secrets: [] });
const isReworded = process.env["FUELBRIDGE_REWORDED"] === "yes";

afterEach(() => void vi.unstubAllEnvs());

/** Every word that a group of the quarantine says is another one, or none is. */
async function expectWords({ office }: Pick<Composed, "office">): Promise<void> {
  for (const { cause, next } of await office.quarantine()) {
    expect(REWORDED.test(cause)).toBe(isReworded);
    expect(REWORDED.test(next)).toBe(isReworded);
  }
}

/** The program on the site until nothing is left to do, within this process. */
async function onSite<T>(
  site: Site,
  ask: (composed: Composed) => Promise<T>,
  change: (config: Config) => Config = (config) => config,
): Promise<T> {
  vi.stubEnv("FUELBRIDGE_PLATFORM_URL", site.world.url);
  const composed = await composeDaemon(change(await loadConfiguration(site.config)), log);
  try {
    await composed.once(never);
    await expectWords(composed);
    return await ask(composed);
  } finally {
    await composed.close();
  }
}

async function standing({ office }: Composed) {
  const { flows, stops, healthy, outOfStep } = await office.status();
  const groups = await office.quarantine();
  return {
    totals: flows.map(
      ({ name, received, delivered, skipped, echoes, quarantined, superseded }) =>
        `${name} ${[received, delivered, skipped, echoes, quarantined, superseded].join(" ")}`,
    ),
    groups: groups
      .map(({ flow, code, count, helps }) => `${flow} ${code} ${count} ${helps.join(" ")}`)
      .toSorted(),
    states: [...new Set(flows.map(({ state, lastError }) => `${state} ${lastError?.code}`))],
    stops: stops.map(({ breaker, scope }) => `${breaker} ${scope}`),
    reasons: [...new Set(outOfStep.map(({ code }) => code))],
    healthy,
  };
}

type Row = Readonly<Record<string, string>>;

/** An export of the demo's ERP, cut down to these rows, moved into place. */
function exported(
  site: Site,
  name: string,
  keep: (row: Row) => boolean,
  change: (text: string) => string = (text) => text,
): Row[] {
  const text = readFileSync(join(exportsFolder, name.replace("paid", "customer")), "utf8");
  const all: Row[] = parse(text, { columns: true, bom: true });
  const rows = all.filter(keep);
  drop(site.demo, name, change(stringify(rows, { header: true })));
  return rows;
}

/** One of them has no valid e-mail address: its invoices wait for it. */
const PARTIES = ["000113", "000105"];
const customers = (site: Site, change?: (text: string) => string): void =>
  void exported(site, "customers.csv", (row) => PARTIES.includes(row["Code"] ?? ""), change);

/** A few parties with their invoices, the prices, and one feed of the platform. */
async function smallSite(): Promise<Site> {
  const site = await atWork();
  customers(site);
  const isOurs = (row: Row): boolean => PARTIES.includes(row["Party/Code"] ?? "");
  const invoices = exported(site, "customer-invoices.csv", isOurs);
  exported(site, "paid-invoices.csv", isOurs);
  const ids = new Set(invoices.map((row) => row["ID"]));
  for (const part of ["lines", "taxes"])
    exported(site, `customer-invoice-${part}.csv`, (row) => ids.has(row["Invoice/ID"]));
  return site;
}

const FLOWS = ["invoices-payable", "customers", "rack-prices", "invoices", "paid-invoices"];
const small = (config: Config): Config => ({
  ...config,
  flows: config.flows.filter(({ name }) => FLOWS.includes(name)),
});

/** All that is left of the month is kept for writes. */
const withoutBudget = (config: Config): Config => {
  const budget = {
    ...config.platform.budget,
    perMonth: 1_000,
    reserve: { writes: 80, readBacks: 20 },
  };
  return { ...small(config), platform: { ...config.platform, budget } };
};

const PRICES = [
  "rack-prices bad-cell 1 correct resolve",
  "rack-prices bad-cell 2 correct resolve",
  "rack-prices negative-price 1 correct resolve",
  "rack-prices quantity-break 1 correct resolve",
  "rack-prices zero-price 1 correct resolve",
];
const WAITING = ["invoices waits-for 5 wait resolve", "paid-invoices waits-for 2 wait resolve"];
const [BILLS, RACK] = ["invoices-payable 60 59 1 0 0 0", "rack-prices 174 168 0 0 6 0"];
const IDLE = { states: ["idle undefined"], stops: [], reasons: [] };

test("a site comes to the same totals, groups, stops and releases, whatever its messages say", async () => {
  const site = await smallSite();
  const tell = <T>(
    ask: (composed: Composed) => Promise<T>,
    change: (config: Config) => Config = small,
  ): Promise<T> => onSite(site, ask, change);

  expect(await tell(standing)).toEqual({
    ...IDLE,
    totals: [
      BILLS,
      "customers 2 1 0 0 1 0",
      RACK,
      "invoices 11 6 0 0 5 0",
      "paid-invoices 11 1 8 0 2 0",
    ],
    groups: ["customers bad-email 1 correct resolve", ...WAITING, ...PRICES],
    healthy: false,
  });

  // The customer is corrected, but the platform does not know us just now.
  customers(site, (text) => text.replace("office(at)00", "office@00"));
  await site.control.fault({ kind: "status", status: 401, times: 1 });
  const stopped = await tell(async (composed) => {
    const before = await standing(composed);
    return { ...before, ...(await composed.office.release("credentials", "ann")) };
  });
  expect(stopped).toMatchObject({
    stops: ["credentials platform"],
    states: ["stopped credentials", "idle undefined"],
    groups: [...WAITING, ...PRICES],
    released: "credentials",
  });

  const released = await tell(async (composed) => {
    const before = await standing(composed);
    const { resolved } = await composed.office.resolve("all", { by: "ann", note: "by hand" });
    return { ...before, resolved };
  });
  expect(released).toEqual({
    ...IDLE,
    totals: [
      BILLS,
      "customers 3 2 0 0 0 1",
      RACK,
      "invoices 11 11 0 0 0 0",
      "paid-invoices 11 3 8 0 0 0",
    ],
    groups: PRICES,
    healthy: false,
    resolved: 6,
  });

  expect(await tell(standing, withoutBudget)).toMatchObject({
    states: ["paused: budget budget", "idle undefined"],
    groups: [],
    stops: [],
    healthy: true,
  });
});

/** The events of one document's story, with what a batch's answer says of it. */
async function storyOf(office: Office, number: string): Promise<string[]> {
  return (await office.trace(number)).steps.map(({ event, own }) =>
    own === null ? event : `${event}: own part, ${own.others} others`,
  );
}

function bench(sink: Parameters<typeof receiver>[0], ...changes: Change[]) {
  const made = engineOn(tempFolder());
  const rows = new Set<string>();
  const tables = { row: (_: string, key: string) => (rows.has(key) ? { code: key } : null) };
  const engine = { ...made.engine, tables };
  const to = receiver(sink);
  const source = pagesOf([{ changes, position: 1 }]);
  const flow = made.flow({ sink: to, source });
  const home = { engine, flows: [flow], daemon: null, version: "1", startedAt: new Date(0) };
  const office = storeOffice(home);
  const step = async (): Promise<string[]> => {
    made.clock.advance(60_000);
    await runFlow(engine, flow, never);
    await expectWords({ office });
    const counts = made.store.deliveries.counts(flow.flow);
    const groups = await office.quarantine();
    return [
      ...[...counts].map(([state, count]) => `${state} ${count}`),
      ...groups.map(({ code, count }) => `${count} ${code}`),
    ].toSorted();
  };
  return { ...made, engine, flow, sink: to, office, rows, step };
}

test("what a person decided counts, whatever was said: retried, gone, another of the same name, released", async () => {
  const products = ["A", "A", "B"].map((product, at) => bill(`INV-${at}`, "1", { product }));
  const unmapped = bench({}, ...products);
  expect(await unmapped.step()).toEqual(["1 not-mapped", "2 not-mapped", "quarantined 3"]);
  unmapped.rows.add("A");
  expect(await unmapped.office.retry("all")).toEqual({ retried: 2, left: 1 });
  expect(await unmapped.step()).toEqual(["1 not-mapped", "delivered 2", "quarantined 1"]);

  // Gone at its receiver: it goes again when a person says so, and not with its next version.
  const { store, engine, flow } = unmapped;
  const link = store.links.find("invoice", "erp", "INV-0");
  store.transaction(() => expect(link && lost(engine, flow, link)).toBe(true));
  const source = pagesOf([{ changes: [bill("INV-0", "2", { product: "A" })], position: 2 }]);
  unmapped.clock.advance(60_000);
  await runFlow(engine, { ...flow, source }, never);
  expect((await unmapped.office.quarantine()).map(({ code }) => code).toSorted()).toEqual([
    "gone-before",
    "not-mapped",
  ]);
  await unmapped.office.retry("all");
  expect(await unmapped.step()).toEqual([
    "1 not-mapped",
    "delivered 2",
    "quarantined 1",
    "superseded 1",
  ]);

  // The receiver has something that may be the same; a person says that it is not.
  const candidates = ["other-1", "other-2"];
  const fault = {
    code: "same-name" as const,
    message: "two of that name",
    next: "Look there.",
    candidates,
  };
  const alike = bench(
    {
      policy: { ...quickPolicy, preflight: true },
      find: async (_request, _signal, memory) =>
        candidates.every((id) => memory?.isDismissed(id) === true)
          ? { found: "none", detail: "no other" }
          : { found: "different", detail: "two of that name", fault },
    },
    bill("PARTY-1", "1"),
  );
  const sameName = await alike.step();
  expect(sameName).toEqual(["1 same-name", "quarantined 1"]);
  await alike.office.retry("all");
  expect(await alike.step()).toEqual(["delivered 1"]);

  // Three first sends that are answered as repetitions stop it; what a person has seen to counts no more.
  const bills = Array.from({ length: 5 }, (_, at) => bill(`INV-${at}`, "1"));
  const replayed = bench({}, ...bills);
  for (let at = 0; at < 5; at++)
    replayed.sink.script.push(() => ({
      answer: { outcome: "done", repeated: true, detail: "200, replayed", ids: [`id-${at}`] },
      execute: true,
    }));
  await replayed.step();
  expect(replayed.store.journal.breakers().map(({ breaker }) => breaker)).toEqual(["split-brain"]);
  await replayed.office.release("split-brain", "ann");
  expect(await replayed.step()).toEqual(["delivered 5"]);
  expect(replayed.store.journal.breakers()).toEqual([]);

  // Of a batch each document has its own part of the answer.
  const each = ["R-0 posted, and more", "R-1 posted"];
  const send = async (): Promise<Answer> => ({
    outcome: "done",
    detail: "both are there",
    ids: ["R-0", "R-1"],
    each,
  });
  const batch = bench({ itemsMax: 20, send }, bill("INV-0", "1"), bill("INV-1", "1"));
  await batch.step();
  expect(await storyOf(batch.office, "INV-1")).toEqual([
    "received",
    "send",
    "done: own part, 1 others",
    "delivered",
    "linked",
  ]);
});

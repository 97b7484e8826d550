/** Two sites under one API key that have the same record, a party of `all`: whichever writes it, the platform has it once. */
import { expect, test } from "vitest";
import { z } from "zod";
import { usePlatform } from "../../../test/platform/support.ts";
import type { TestClock } from "../../../test/support/clock.ts";
import { engineOn, pagesOf } from "../../../test/support/engine.ts";
import { tempFolder } from "../../../test/support/folder.ts";
import { defineMapping, type Sink } from "../../core/contract.ts";
import type { Kind } from "../../core/kinds.ts";
import { push, recover, runFlow } from "../../engine/daemon.ts";
import type { Engine, Flow } from "../../engine/engine.ts";
import { retry, select } from "../../office/decisions.ts";

const platform = usePlatform();
const { control } = platform;
const never = new AbortController().signal;
const RULES = {
  north: [{ number: ["N-*"] }],
  south: [{ number: ["S-*"] }],
  all: [{ kind: ["customer", "supplier-terminal", "invoice"] }],
};

/** Holds up each who comes until so many are there. */
function meeting(count: number): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let there = 0;
  return () => {
    if (++there === count) resolve();
    return promise;
  };
}

interface Whose {
  readonly clock: TestClock;
  readonly kind: Kind;
  readonly part: string;
  /** After the first look of each. */
  readonly meet: () => Promise<void>;
  /** It is killed there: what it has committed stays. */
  readonly dies?: "before it sends" | "before its answer comes";
}

/** A site whose ERP tells these records, each the document itself, one list after the other. */
function siteOf(
  own: string,
  records: readonly object[],
  { clock, kind, part, meet, dies }: Whose,
  ...more: readonly (readonly object[])[]
) {
  const bench = engineOn(tempFolder(), clock);
  const engine: Engine = { ...bench.engine, company: own, sites: { own, rules: RULES } };
  const sink = platform.sink(part, { clock });
  const looked = new Set<string>();
  const { promise: killed, resolve: kill } = Promise.withResolvers<void>();
  let isDead = false;
  const dying: Sink = {
    ...sink,
    async find(request, ...args) {
      const finding = await sink.find(request, ...args);
      const { number = "" } = request.items[0] ?? {};
      if (!looked.has(number)) await meet();
      looked.add(number);
      return finding;
    },
    async send(...args) {
      if (dies === undefined || isDead) return sink.send(...args);
      isDead = true;
      if (dies === "before its answer comes") await sink.send(...args);
      kill();
      return new Promise(() => {});
    },
  };
  const mapping = defineMapping({
    name: "test/through",
    kind,
    input: z.looseObject({}),
    output: z.looseObject({}),
    number: (one: Readonly<Record<string, unknown>>) =>
      String(one["externalId"] ?? one["terminalCode"] ?? one["invoiceNumber"]),
    map: (one) => one,
    figures: () => ({ amount: null, gallons: null }),
  });
  const source = pagesOf(
    ...[records, ...more].map((list) => {
      const texts = list.map((record) => JSON.stringify(record));
      return [
        {
          changes: texts.map((text, at) => ({ id: `${at + 1}`, version: null, text })),
          position: 1,
        },
      ];
    }),
  );
  const flow: Flow = bench.flow({ mapping, sink: dying, source, to: `platform.${part}` });
  return {
    engine,
    flow,
    /** Runs; it ends with the kill. */
    ran: () => Promise.race([runFlow(engine, flow, never), killed]),
    restart: () => void recover(engine, flow),
    /** What it waits for, ms; null: nothing. */
    async push(): Promise<number | null> {
      const { wakeAt } = await push(engine, flow, never);
      return wakeAt === null ? null : wakeAt.monoMs - clock.now().monoMs;
    },
    counts: () =>
      Object.fromEntries(
        [...bench.store.deliveries.counts(flow.flow)].filter(([, count]) => count > 0),
      ),
    retry: () =>
      bench.store.transaction(() => {
        for (const chosen of select(engine, [flow], "all")) retry(engine, chosen);
      }),
    linked: () => bench.store.links.find(kind, "erp", "1")?.platformId ?? null,
    causes: () => bench.store.questions.quarantine().map(({ code }) => code),
    stops: () => bench.store.journal.breakers().map(({ breaker }) => breaker),
  };
}

type SiteUnderTest = ReturnType<typeof siteOf>;

/** As daemons do, until none of them has anything to wait for. Told: how long that took by their clock, ms. */
async function settled(clock: TestClock, ...sites: readonly SiteUnderTest[]): Promise<number> {
  const beganMs = clock.now().monoMs;
  for (let turn = 0; turn < 100; turn++) {
    const waits: number[] = [];
    for (const site of sites) waits.push((await site.push()) ?? Infinity);
    const least = Math.min(...waits);
    if (least === Infinity) return clock.now().monoMs - beganMs;
    await clock.pause(Math.max(least, 1));
  }
  throw new Error("they wait for ever");
}

const party = (more: object = {}) => ({ name: "Bayou Trucking", externalId: "000417", ...more });
const terminal = { terminalCode: "T-76-TX-2780", name: "Houston", lat: 29.76 };
const invoice = {
  invoiceNumber: "A-1",
  subtotal: 10,
  tax: 0,
  total: 10,
  lineItems: [{ description: "fuel", amount: 10 }],
};
/** What the platform has under the numbers above. */
const made = async (list: string) =>
  (await control.stored(list, "supplier")).filter(({ erpId, terminalCode, invoiceNumber }) =>
    ["000417", "T-76-TX-2780", "A-1"].includes(String(erpId ?? terminalCode ?? invoiceNumber)),
  );
const PARTY = { kind: "customer", part: "customers", list: "connections" } as const;

test.each([
  { what: "the same party", ...PARTY, records: [party(), party()] },
  {
    what: "the same party, written otherwise",
    ...PARTY,
    records: [party(), party({ city: "Houston" })],
  },
  {
    what: "the same party, and the first one's answer is lost",
    ...PARTY,
    records: [party(), party()],
    fault: { kind: "reset", when: "after" },
  },
  {
    what: "the same party, written otherwise, and the first one's answer is lost",
    ...PARTY,
    records: [party(), party({ city: "Houston" })],
    fault: { kind: "reset", when: "after" },
  },
  {
    what: "the same party, and the first one's is never carried out",
    ...PARTY,
    records: [party(), party()],
    fault: { kind: "status", status: 500 },
  },
  {
    what: "the same party, written otherwise, and the first one fails when it is carried out",
    ...PARTY,
    records: [party(), party({ city: "Houston" })],
    fault: { kind: "status", status: 500, when: "after" },
  },
  {
    what: "the same terminal",
    kind: "supplier-terminal",
    part: "supplierTerminals",
    list: "supplier-terminals",
    records: [terminal, terminal],
  },
  {
    what: "the same invoice",
    kind: "invoice",
    part: "invoices",
    list: "invoices",
    records: [invoice, invoice],
  },
] as const)(
  "two sites that write $what in the same second write it once, and both are linked with it",
  async (given) => {
    const { kind, part, list, records } = given;
    if ("fault" in given) await control.fault({ method: "POST", times: 1, ...given.fault });
    const clock = await platform.clock();
    const meet = meeting(2);
    const north = siteOf("north", [records[0]], { clock, kind, part, meet });
    const south = siteOf("south", [records[1]], { clock, kind, part, meet });
    await Promise.all([north.ran(), south.ran()]);
    await settled(clock, north, south);
    expect(await made(list)).toHaveLength(1);
    expect([north.counts(), south.counts()]).toEqual([{ delivered: 1 }, { delivered: 1 }]);
    expect(north.linked()).not.toBeNull();
    expect(south.linked()).toBe(north.linked());
    expect([...north.stops(), ...south.stops()]).toEqual([]);
  },
);

test.each(["before it sends", "before its answer comes"] as const)(
  "a site that dies %s holds up no other for long, and finds the party when it is back",
  async (dies) => {
    for (const other of [party(), party({ city: "Houston" })]) {
      await control.reset();
      const clock = await platform.clock();
      const whose = { clock, meet: meeting(2), ...PARTY };
      const north = siteOf("north", [party()], { ...whose, dies });
      const south = siteOf("south", [other], whose);
      await Promise.all([north.ran(), south.ran()]);
      expect(await settled(clock, south)).toBeLessThan(60_000);
      expect(south.counts()).toEqual({ delivered: 1 });
      north.restart();
      await settled(clock, north);
      expect(north.counts()).toEqual({ delivered: 1 });
      expect(north.linked()).toBe(south.linked());
      expect(await made("connections")).toHaveLength(1);
    }
  },
);

test("another firm that has the same code at another site is a person's, and gets a company of its own once that is said", async () => {
  const clock = await platform.clock();
  const whose = { clock, meet: meeting(2), ...PARTY };
  const sites = [
    siteOf("north", [party()], whose),
    siteOf("south", [party({ name: "Gulf Marine" })], whose),
  ];
  await Promise.all(sites.map((site) => site.ran()));
  expect(await settled(clock, ...sites)).toBeLessThan(60_000);
  expect(await made("connections")).toHaveLength(1);
  const [later, ...more] = sites.filter((site) => site.linked() === null);
  expect(more).toEqual([]);
  expect(later?.causes()).toEqual(["same-code"]);
  later?.retry();
  expect(await settled(clock, ...sites)).toBeLessThan(60_000);
  expect(await made("connections")).toHaveLength(2);
  expect(sites.map((site) => site.counts())).toEqual([{ delivered: 1 }, { delivered: 1 }]);
  expect(sites[0]?.linked()).not.toBe(sites[1]?.linked());
});

test("what was refused and is corrected goes under a key of its own", async () => {
  const clock = await platform.clock();
  const whose = { clock, meet: async () => {}, kind: "invoice", part: "invoices" } as const;
  await control.fault({ method: "POST", path: "/invoices", kind: "status", status: 400 });
  const north = siteOf("north", [{ ...invoice, invoiceNumber: "a-1" }], whose, [invoice]);
  await north.ran();
  await settled(clock, north);
  expect(north.counts()).toEqual({ quarantined: 1 });
  await north.ran();
  await settled(clock, north);
  expect(north.counts()).toEqual({ delivered: 1, superseded: 1 });
  expect(await made("invoices")).toHaveLength(1);
});

test("three sites that write the same six parties at once write each once, and stop at nothing", async () => {
  const clock = await platform.clock();
  const parties = (city: object) =>
    Array.from({ length: 6 }, (_, at) => ({
      ...party({ name: `Bayou ${at}` }),
      ...city,
      externalId: `C-${at}`,
    }));
  const whose = { clock, meet: meeting(3 * 6), ...PARTY };
  const sites = ["north", "south", "west"].map((name) =>
    siteOf(name, parties(name === "west" ? { city: "Houston" } : {}), whose),
  );
  await Promise.all(sites.map((site) => site.ran()));
  expect(await settled(clock, ...sites)).toBeLessThan(60_000);
  const codes = (await control.stored("connections", "supplier")).map(({ erpId }) => String(erpId));
  expect(codes.filter((code) => code.startsWith("C-")).toSorted()).toEqual(
    parties({}).map(({ externalId }) => externalId),
  );
  for (const site of sites) {
    expect(site.counts()).toEqual({ delivered: 6 });
    expect(site.stops()).toEqual([]);
  }
});

/** Several sites share the API key: each books its own records alone, and what is nobody's is a person's. */
import { expect, test } from "vitest";
import { bill, billMapping, engineOn, receiver } from "../../test/support/engine.ts";
import { tempFolder } from "../../test/support/folder.ts";
import { type Change, defineMapping } from "../core/contract.ts";
import type { Kind } from "../core/kinds.ts";
import type { SiteRules } from "../core/sites.ts";
import { runFlow } from "./daemon.ts";
import type { Engine } from "./engine.ts";

const signal = new AbortController().signal;
const SIDES = {
  platform: { from: "platform.records", to: "erp.records", side: "platform" },
  erp: { from: "erp.records", to: "platform.records", side: "erp" },
} as const;
const RULES: SiteRules = {
  north: [{ number: ["N-*"] }, { terminal: ["Dallas"], product: ["ULSD*"] }],
  south: [{ number: ["S-*", "n-9*"] }],
  all: [{ kind: ["customer"] }],
};

/** A site with one flow of each kind; `tell` has one of them read these records. */
function siteOf(own: string, side: keyof typeof SIDES, ...kinds: Kind[]) {
  const bench = engineOn(tempFolder());
  const pages = new Map<string, Change[]>();
  const engine: Engine = { ...bench.engine, sites: { own, rules: RULES } };
  const mapping = (kind: Kind) =>
    defineMapping({
      ...billMapping,
      kind,
      map: (record: Parameters<typeof billMapping.map>[0]) => record,
    });
  const flows = new Map(
    kinds.map((kind) => [
      kind,
      bench.flow({
        ...SIDES[side],
        name: kind,
        mapping: mapping(kind),
        sink: receiver({ operation: `${kind}.book`, writes: "upsert" }),
        source: {
          async *read() {
            yield { changes: pages.get(kind) ?? [], position: 1 };
          },
        },
      }),
    ]),
  );
  return {
    async tell(kind: Kind, ...changes: Change[]) {
      pages.clear();
      pages.set(kind, changes);
      for (let round = 0; round < 2; round++) {
        for (const flow of flows.values()) await runFlow(engine, flow, signal);
        pages.clear();
      }
    },
    of: (kind: Kind) =>
      Object.fromEntries(bench.store.deliveries.counts(flows.get(kind)?.flow as number)),
    elsewhere: (kind: Kind) => engine.store.deliveries.elsewhere(flows.get(kind)?.flow ?? 0),
    causes: () => bench.store.questions.quarantine().map(({ cause }) => cause.split(": ")[0]),
  };
}

const KINDS: readonly Kind[] = [
  "invoice",
  "bill",
  "payment",
  "order",
  "delivery-ticket",
  "rack-price",
];

test.each(
  KINDS.flatMap((kind) => (["platform", "erp"] as const).map((side) => [kind, side] as const)),
)(
  "each %s of the %s is booked by its own site alone, and told by the other",
  async (kind, side) => {
    for (const [own, other] of [
      ["north", "south"],
      ["south", "north"],
    ] as const) {
      const site = siteOf(own, side, kind);
      await site.tell(kind, bill("N-1", "1"), bill("S-1", "2"), bill("S-2", "3"));
      const mine = own === "north" ? 1 : 2;
      expect(site.of(kind)).toMatchObject({ delivered: mine, skipped: 3 - mine });
      expect(site.causes()).toEqual([]);
      expect(site.elsewhere(kind)).toEqual([{ site: other, count: 3 - mine }]);
    }
  },
);

test("every field of a rule must fit, and one rule of a site is enough", async () => {
  const site = siteOf("north", "platform", "order");
  await site.tell(
    "order",
    bill("1", "1", { lines: [{ terminal: "dallas", productCode: "ULSD-CLR" }] }),
    bill("S-2", "1", { terminal: "Dallas", product: "KERO" }),
  );
  expect(site.of("order")).toMatchObject({ delivered: 1, skipped: 1 });
});

test("what fits no site, or two, is a person's at each of them", async () => {
  for (const own of ["north", "south"]) {
    const site = siteOf(own, "platform", "invoice");
    await site.tell("invoice", bill("X-1", "1"), bill("N-90", "2"));
    expect(site.of("invoice")).toMatchObject({ quarantined: 2 });
    expect(new Set(site.causes())).toEqual(
      new Set(["no site's rule fits it", "rules of the sites north and south fit it"]),
    );
  }
});

test("what every site has is taken by each", async () => {
  const site = siteOf("south", "platform", "customer");
  await site.tell("customer", bill("4711", "1"));
  expect(site.of("customer")).toMatchObject({ delivered: 1 });
});

test("a payment goes with its invoice, whichever comes first and however its id is written, at each site", async () => {
  const id = "00000000-0000-4000-8000-0000000000ab";
  for (const own of ["north", "south"]) {
    const site = siteOf(own, "platform", "payment", "invoice");
    await site.tell("payment", bill("P-1", "1", { invoiceId: id.toUpperCase() }));
    expect(site.of("payment")).toMatchObject({ quarantined: 1 });
    await site.tell("invoice", { ...bill("N-1", "1"), id });
    await site.tell("payment", bill("P-2", "1", { invoiceId: id }));
    const fate = own === "north" ? "delivered" : "skipped";
    expect(site.of("payment")).toEqual({ [fate]: 2 });
  }
});

test("what was delivered here and is another site's now is a person's; what is ours stays ours", async () => {
  const site = siteOf("north", "platform", "invoice");
  await site.tell("invoice", { ...bill("N-1", "1"), version: "1" });
  await site.tell("invoice", { ...bill("S-1", "1"), id: "N-1", version: "2" });
  expect(site.causes()).toEqual([
    "N-1 was delivered here, and by the rules it is site south's now, and that site takes it, too",
  ]);
});

test("another site's record is no work here, though its source says that it is faulty", async () => {
  const site = siteOf("north", "platform", "invoice");
  const fault = { code: "cut", message: "it was cut short", next: "Send it again." } as const;
  await site.tell("invoice", { ...bill("S-1", "1"), fault }, { ...bill("N-1", "1"), fault });
  expect(site.of("invoice")).toMatchObject({ skipped: 1, quarantined: 1 });
});

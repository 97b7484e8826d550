/** Copies of documents, with the engine, the mappings of the shipped flows and the platform over HTTP. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { deliveryTickets, orders } from "../mappings/goods.ts";
import { deliveryTickets as ownTickets } from "../mappings/platform/lists.ts";
import { bookedInvoices } from "../mappings/platform/records.ts";
import type { Change } from "../src/core/contract.ts";
import { defined } from "../src/core/defined.ts";
import { type Json, parseExact, stringifyExact } from "../src/core/json.ts";
import { runFlow } from "../src/engine/daemon.ts";
import { readCases } from "../src/mapping/cases.ts";
import { retry, select } from "../src/office/decisions.ts";
import { counting, usePlatform } from "./platform/support.ts";
import { engineOn, pagesOf, receiver } from "./support/engine.ts";
import { tempFolder } from "./support/folder.ts";

const signal = new AbortController().signal;
const LATER = "2026-11-30T12:00:00.000000Z";

/** `like`: the mapping's case of one that travels. */
const goods = {
  orders: {
    mapping: orders,
    like: "confirmed",
    stands: { status: "CONFIRMED", loadingNumber: "LD-1" },
  },
  "delivery-tickets": {
    mapping: deliveryTickets,
    like: "signed",
    stands: {
      status: "SIGNED",
      ticketNumber: "DT-1",
      bolNumber: "BOL-1",
      deliveryDate: "2026-11-20T18:00:00.000000Z",
    },
  },
} as const;
type Goods = keyof typeof goods;

/** @param reads what each read tells, in place of the document's own fields */
function siteOf(name: Goods, reads: readonly Readonly<Record<string, Json>>[]) {
  const { mapping, stands } = goods[name];
  const folder = join(import.meta.dirname, "../mappings/canonical/cases");
  const { cases } = readCases(join(folder, `${name}.json`));
  const known = cases.find((one) => one.name === goods[name].like);
  const record = known?.record as Readonly<Record<string, Json>>;
  const changes = reads.map((more): Change => {
    const text = { ...record, createdAt: "2026-11-20T18:00:00.000000Z", ...stands, ...more };
    const { id, updatedAt } = text as unknown as { id: string; updatedAt: string };
    return { id, version: updatedAt, text: stringifyExact(text) };
  });
  const bench = engineOn(tempFolder());
  const engine = { ...bench.engine, tables: { row: () => ({ item: "087" }) } };
  const sink = receiver({});
  const source = pagesOf(...changes.map((change) => [{ changes: [change], position: 1 }]));
  const flow = bench.flow({ name, side: "platform", mapping, source, sink });
  return {
    sink,
    run: () => runFlow(engine, flow, signal),
    waiting: () => bench.store.questions.quarantine().map(({ code, cause }) => ({ code, cause })),
    retryAll: () =>
      bench.store.transaction(() => {
        for (const one of select(engine, [flow], "all")) retry(engine, one);
      }),
  };
}

const COPY = { id: "0b6f7a52-4c1e-4d8a-9f5e-1c2d3e4f5a6b" };

test.each(["orders", "delivery-tickets"] as const)(
  "a copy among %s waits before it goes, told with both; a person's word releases it for good",
  async (name) => {
    const copy = name === "orders" ? COPY : { ...COPY, ticketNumber: "DT-2" };
    const site = siteOf(name, [{}, copy, { ...copy, updatedAt: LATER, notes: "gate 2" }]);
    await site.run();
    await site.run();
    expect(site.sink.sent).toHaveLength(1);
    expect(site.waiting()).toMatchObject([
      { code: "duplicate", cause: expect.stringContaining(COPY.id) },
    ]);

    site.retryAll();
    await site.run();
    await site.run();
    expect(site.waiting()).toEqual([]);
    expect(site.sink.sent.length).toBeGreaterThan(1);
  },
);

test.each([
  ["orders", "loading number", { loadingNumber: "LD-2" }],
  ["orders", "day", { createdAt: "2026-11-21T18:00:00.000000Z" }],
  ["delivery-tickets", "bill of lading", { ticketNumber: "DT-2", bolNumber: "BOL-2" }],
  [
    "delivery-tickets",
    "day",
    { ticketNumber: "DT-2", deliveryDate: "2026-11-21T18:00:00.000000Z" },
  ],
] as const)("among %s one with another %s is no copy", async (name, _, other) => {
  const site = siteOf(name, [{}, { ...COPY, ...other }]);
  await site.run();
  await site.run();
  expect(site.waiting()).toEqual([]);
  expect(site.sink.sent).toHaveLength(2);
});

/* What only the platform knows: its own records over HTTP, by the mapping of the flow that writes them. */

const platform = usePlatform();
const { control } = platform;

/** As the platform keeps what the record of the case became, under another number. */
const written = {
  invoices: {
    mapping: bookedInvoices,
    cases: "books/cases/invoices.json",
    list: "/invoices",
    resource: "invoices",
    number: "invoiceNumber",
  },
  tickets: {
    mapping: ownTickets,
    cases: "plain/cases/delivery-tickets.json",
    list: "/delivery-tickets",
    resource: "delivery-tickets",
    number: "ticketNumber",
  },
} as const;

interface Base {
  readonly record: Readonly<Record<string, Json>>;
  readonly document: Readonly<Record<string, Json>>;
  readonly tables: Readonly<Record<string, Readonly<Record<string, Record<string, string>>>>>;
  readonly counterparts: Readonly<Record<string, string>>;
}

describe.each(["invoices", "tickets"] as const)("first sends of %s", (name) => {
  const { mapping, cases, list, resource, number } = written[name];
  const file = join(import.meta.dirname, "../mappings", cases);
  const { base } = parseExact(readFileSync(file, "utf8")) as unknown as { readonly base: Base };
  const { record, document } = base;

  /** @param there what the platform has beside what the document says; @param more further records that are new to it */
  async function site(there: Readonly<Record<string, unknown>>, more: readonly object[] = []) {
    const clock = await platform.clock();
    // Companies that the platform has, in place of the case's.
    const others = (await control.keys()).filter(({ name }) => name !== "supplier");
    const parties = Object.entries(base.counterparts).map(([party, id], at) => {
      const platformId = others[at]?.companyId ?? id;
      return { party, id, platformId };
    });
    const text = parties.reduce(
      (all, { id, platformId }) => all.replaceAll(id, platformId),
      stringifyExact(document),
    );
    const { status, ...fields } = JSON.parse(text) as Record<string, unknown>;
    const own = { status: name === "invoices" ? "OUTSTANDING" : status, orderId: null };
    const days = { createdAt: "2026-11-01T15:00:00Z", updatedAt: "2026-11-20T15:00:00Z" };
    await control.records(resource, [{ ...fields, ...own, ...days, ...there }]);
    const { governor, counts } = counting();
    const { sinks, holdings } = platform.endpoint({ governor, clock });
    const bench = engineOn(tempFolder(), clock);
    for (const { party, platformId } of parties) {
      const [kind, erpId = ""] = party.split(" ") as ["customer" | "supplier", string?];
      const named = { number: erpId, content: null, amount: null };
      bench.store.links.save({ kind, platformId, erpId, born: "erp", ...named }, 0);
    }
    const changes = [{}, ...more].map((one): Change => {
      const text = { ...record, orderId: null, ...one } as Record<string, Json>;
      const id = (text["id"] ?? text["number"]) as string;
      return { id, version: null, text: stringifyExact(text) };
    });
    const tables = { row: (table: string, key: string) => base.tables[table]?.[key] ?? null };
    const source = pagesOf([{ changes, position: 1 }]);
    const sink = sinks[name];
    if (sink === undefined) throw new Error(`the platform takes no ${name}`);
    const flow = bench.flow({ mapping, sink, source, ...defined({ holdings }) });
    await runFlow({ ...bench.engine, tables }, flow, signal);
    const requests = await control.requests();
    const asked = requests.filter(({ path }) => `${String(path)}?`.startsWith(list));
    return {
      waiting: bench.store.questions.quarantine().map(({ code, cause }) => `${code}: ${cause}`),
      writes: requests.filter(({ method }) => method === "POST").length,
      lists: asked.filter((one) => JSON.stringify(one).includes("updatedSince")).length,
      spent: counts(),
    };
  }

  test("one that is there under another number waits, told with both numbers and both ids, and all are compared by one list", async () => {
    const id = "00000000-0000-4000-8000-0000000000aa";
    const others = ["2026-10-01", "2026-09-01"].map((day, at) => ({
      id: `9${at}`,
      number: `OTHER-${at}`,
      ...(name === "invoices" ? { invoiceDate: day, dueDate: day } : { delivered: day }),
    }));
    const { waiting, writes, lists, spent } = await site({ [number]: "THERE-1", id }, others);
    expect(waiting).toEqual([expect.stringMatching(`^duplicate: .* looks like THERE-1 .${id}.`)]);
    expect([writes, lists]).toEqual([2, 1]);
    expect(spent).not.toHaveProperty("audit");
  });

  test.each([
    ["of another day", { createdAt: "2026-10-01T15:00:00Z", deliveryDate: null, dueDate: null }],
    ["that is void", { status: "VOID" }],
    ["with other figures", { total: 1, productLines: [] }],
  ])("one %s is another one", async (_, there) => {
    expect(await site({ [number]: "THERE-1", ...there })).toMatchObject({ waiting: [], writes: 1 });
  });
});

/**
 * Every end of the platform that a plain list or a file serves, over the real road: a folder, the store, the engine and
 * the sandbox. What comes again is not written again.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { storeOffice } from "./support/office.ts";
import { files } from "../connectors/files/index.ts";
import { mappings } from "../mappings/index.ts";
import { calendarOf } from "../src/core/time.ts";
import type { Mapping } from "../src/core/contract.ts";
import { Decimal } from "../src/core/decimal.ts";
import type { Engine, Flow } from "../src/engine/engine.ts";
import { push, runFlow } from "../src/engine/daemon.ts";
import { documents } from "../src/formats/documents.ts";
import { layouts } from "../src/formats/table/layouts.ts";
import { HEADS, openProfile } from "../src/formats/table/profile.ts";
import { columnsOf } from "../src/formats/table/columns.ts";
import { platformOffers } from "../src/platform/parts.ts";
import type { Row } from "./conformance/support.ts";
import { never, usePlatform } from "./platform/support.ts";
import { engineOn } from "./support/engine.ts";
import { tempFolder } from "./support/folder.ts";

const platform = usePlatform("conformance");
const { control } = platform;

type Cells = Readonly<Record<string, string>>;

/** A list with every column of its layout; what a row does not name is empty. */
function csvOf(layout: string, rows: readonly Cells[]): string {
  const columns = columnsOf(openProfile(layout, ""), HEADS);
  const labels = columns.map(({ label }) => label ?? "");
  const lines = rows.map((row) => labels.map((label) => row[label] ?? "").join(","));
  return `${[labels.join(","), ...lines].join("\n")}\n`;
}

/** A site whose ERP is a folder. */
async function site() {
  const folder = tempFolder();
  const clock = await platform.clock();
  const bench = engineOn(tempFolder(), clock);
  const row = (_table: string, key: string) => ({ item: `item ${key}`, product: `product ${key}` });
  const engine: Engine = { ...bench.engine, tables: { row } };
  const remote = platform.endpoint({ clock });
  const surroundings = {
    folder,
    now: () => new Date(clock.now().wallMs),
    pause: async () => {},
    currency: "USD",
    dayOf: calendarOf("America/Chicago"),
    ignore: {},
    note: () => {},
  };
  const open = (settings: object) =>
    files.open(files.config.parse({ folder: ".", settleMs: 0, ...settings }), surroundings);
  const mappingOf = (name: string): Mapping => {
    const mapping = mappings.find((one) => one.name === name);
    if (mapping === undefined) throw new Error(`no mapping ${name}`);
    return mapping;
  };
  const flows = new Map<string, Flow>();

  async function settled(flow: Flow): Promise<Record<string, number>> {
    let ran: Pick<Awaited<ReturnType<typeof runFlow>>, "progress" | "wakeAt"> = await runFlow(
      engine,
      flow,
      never,
    );
    for (let turns = 0; ran.progress > 0 || ran.wakeAt !== null; turns++) {
      expect(turns, flow.name).toBeLessThan(50);
      if (ran.wakeAt !== null)
        await clock.pause(Math.max(ran.wakeAt.monoMs - clock.now().monoMs, 1));
      ran = await push(engine, flow, never);
    }
    return Object.fromEntries(engine.store.deliveries.counts(flow.flow));
  }

  return {
    engine,
    flows,
    /** Drops a list and runs the flow that reads it. */
    list: async (name: string, rows: readonly Cells[]) => {
      const mapping = mappingOf(name);
      const { reads = "", writes = "" } = mapping;
      const pick = `${name.replace("/", "-")}*.csv`;
      const { sources } = open({ sources: { it: { layout: reads, pick } } });
      const sink = remote.sinks[writes.replace("platform.", "")];
      if (sources["it"] === undefined || sink === undefined) throw new Error(name);
      const flow =
        flows.get(name) ??
        bench.flow({ name: name.replace("/", "-"), mapping, source: sources["it"], sink });
      flows.set(name, flow);
      const at = readdirSync(folder).length;
      writeFileSync(join(folder, pick.replace("*", `-${at}`)), csvOf(reads, rows));
      return settled(flow);
    },
    /** Runs the flow of a feed twice, and tells its files. */
    feed: async (name: string): Promise<{ states: Record<string, number>; texts: string[] }> => {
      const mapping = mappingOf(name);
      const { reads = "", writes = "" } = mapping;
      const document = writes.replace("files.", "");
      const sink = open({ sinks: { it: { document, folder: document } } }).sinks["it"];
      const source = remote.sources[reads.replace("platform.", "")];
      if (source === undefined || sink === undefined) throw new Error(name);
      const side = "platform" as const;
      const flow = bench.flow({ name: name.replace("/", "-"), mapping, source, sink, side });
      await settled(flow);
      const states = await settled(flow);
      const names = readdirSync(join(folder, document));
      return {
        states,
        texts: names.map((one) => readFileSync(join(folder, document, one), "utf8")),
      };
    },
  };
}

const stored = (resource: string) => control.stored(resource, "supplier");
const first = async (resource: string): Promise<Row> => (await stored(resource))[0] ?? {};

test("tickets of the ERP arrive once, a changed one changes, and its signature signs it", async () => {
  const { list } = await site();
  const ticket = { Number: "T-1", Status: "ISSUED", "BOL Number": "B-1", Delivered: "2026-11-20" };
  const line = { "Lines/Product": "087", "Lines/Net Gallons": "7512.4" };
  const before = (await stored("delivery-tickets")).length;
  await list("plain/delivery-tickets", [{ ...ticket, ...line }]);
  await list("plain/delivery-tickets", [{ ...ticket, ...line, "BOL Number": "B-2" }]);
  await list("plain/ticket-signatures", [{ Ticket: "T-1", "Receiver Name": "R. Diaz" }]);
  const ours = (await stored("delivery-tickets")).filter((one) => one["ticketNumber"] === "T-1");
  expect(ours).toMatchObject([
    {
      bolNumber: "B-2",
      status: "SIGNED",
      deliveryDate: "2026-11-20T12:00:00Z",
      productLines: [{ product_name: "product 087", net_gallons: 7512.4 }],
    },
  ]);
  expect(await stored("delivery-tickets")).toHaveLength(before + 1);
});

test("freight rates of the ERP arrive once, a changed one changes, and an ended one goes; one that returns or stays is told, and goes anew by a person's decision", async () => {
  const { engine, flows, list } = await site();
  const connection = String((await first("connections"))["id"]);
  const rate = { Code: "R-1", "Connection ID": connection, Product: "087" };
  const before = (await stored("freight-rates")).length;
  await list("plain/freight-rates", [{ ...rate, "Rate per Mile": "3.25" }]);
  await list("plain/freight-rates", [
    { ...rate, "Rate per Mile": "3.50" },
    { ...rate, Code: "R-2", "Flat Fee": "90" },
  ]);
  const ours = (await stored("freight-rates")).slice(before);
  expect(ours.map(({ ratePerMile, flatFee }) => [ratePerMile, flatFee].map(String))).toEqual([
    ["3.5", "null"],
    ["null", "90"],
  ]);
  await list("plain/ended-freight-rates", [{ Code: "R-1", "Connection ID": connection }]);
  expect(await stored("freight-rates")).toHaveLength(before + 1);
  const causes = () =>
    engine.store.questions.quarantine().map(({ number, code }) => [number, code]);
  const other = { ...rate, Code: "R-2", "Flat Fee": "90" };
  await list("plain/freight-rates", [other]);
  expect(causes()).toEqual([]);
  await list("plain/freight-rates", [{ ...rate, "Rate per Mile": "3.50" }, other]);
  expect(causes()).toEqual([["R-1", "gone"]]);
  const office = storeOffice({
    engine,
    flows: [...flows.values()],
    daemon: null,
    version: "0",
    startedAt: new Date(0),
  });
  expect(await office.retry("all")).toEqual({ retried: 1, left: 0 });
  await engine.clock.pause(1_000);
  await list("plain/freight-rates", [{ ...rate, "Rate per Mile": "3.50" }, other]);
  expect(causes()).toEqual([]);
  expect(await stored("freight-rates")).toHaveLength(before + 2);
  // The old end is no end of the new rate; that its list lacks it is told. R-2 is ended while its own list has it still.
  const ended = ["R-1", "R-2"].map((Code) => ({ Code, "Connection ID": connection }));
  await list("plain/ended-freight-rates", ended);
  expect(await stored("freight-rates")).toHaveLength(before + 1);
  await list("plain/freight-rates", [other, { ...other, Code: "R-3" }]);
  expect(causes()).toEqual([
    ["R-1", "left-the-list"],
    ["R-2", "gone"],
  ]);
});

test("terminals and order notes of the ERP arrive once", async () => {
  const { list } = await site();
  const terminal = { Code: "T-76-TX-2780", Name: "Houston", Active: "1", Latitude: "29.7" };
  await list("plain/terminals", [terminal]);
  await list("plain/terminals", [{ ...terminal, City: "Houston" }]);
  const terminals = await stored("supplier-terminals");
  expect(terminals.filter((one) => one["terminalCode"] === terminal.Code)).toMatchObject([
    { city: "Houston", isActive: true },
  ]);
  const note = { ID: "N-1", "Order ID": String((await first("orders"))["id"]), Note: "SO-4711" };
  const before = (await stored("order-notes")).length;
  await list("plain/order-notes", [note]);
  const states = await list("plain/order-notes", [note, { ...note, ID: "N-2", Note: "SO-4712" }]);
  expect(states).toEqual({ delivered: 2 });
  expect(await stored("order-notes")).toHaveLength(before + 2);
});

const feeds = [
  ["canonical/rack-prices", "rack-prices", { product: "ULSD" }],
  ["canonical/terminals", "supplier-terminals", {}],
  ["canonical/locations", "locations", {}],
  ["canonical/allocations", "allocations", { product: "ULSD" }],
  ["canonical/connections", "connections", { erpId: null }],
] as const;

test.each(feeds)(
  "%s: each record of the platform becomes one file",
  async (name, resource, fields) => {
    const { feed } = await site();
    for (const { id } of await stored(resource)) await control.patch(resource, id, fields);
    const { states, texts } = await feed(name);
    const records = await stored(resource);
    expect(records.length).toBeGreaterThan(0);
    expect(states).toEqual({ delivered: records.length });
    expect(texts).toHaveLength(records.length);
    for (const { id } of records)
      expect(texts.filter((text) => text.includes(`"H","${String(id)}"`))).toHaveLength(1);
  },
);

test("a payment waits for its invoice and becomes one file, however its times and ids are written; one that is pending stays", async () => {
  const { feed, engine } = await site();
  await control.readings({ timesWritten: "alternating", idsWritten: "capitals" });
  const { id: invoiceId } = await first("invoices");
  await control.records("payments", [
    { invoiceId, amount: Decimal.of("12.30"), status: "SUCCEEDED", reference: "CHK-1" },
    { invoiceId, amount: Decimal.of("1"), status: "PENDING" },
  ]);
  const link = { kind: "invoice", platformId: String(invoiceId), erpId: "INV-1" } as const;
  engine.store.transaction(() =>
    engine.store.links.save(
      { ...link, born: "platform", number: "INV-1", content: null, amount: null },
      0,
    ),
  );
  const { texts } = await feed("canonical/payments-received");
  const ours = texts.filter((text) => text.includes("CHK-1"));
  expect(ours).toHaveLength(1);
  expect(ours[0]).toContain(",12.30,");
  expect(texts.filter((text) => !text.includes("SUCCEEDED"))).toEqual([]);
});

test("every source and sink of the platform, every layout and every document has a mapping", () => {
  const used = new Set(mappings.flatMap(({ reads, writes }) => [reads, writes]));
  const offered = [
    ...Object.values(platformOffers.sources).map(({ form }) => form),
    ...Object.values(platformOffers.sinks).map(({ form }) => form),
    ...layouts.map(({ name }) => name),
    ...Object.keys(documents).map((name) => `files.${name}`),
  ];
  expect(offered.filter((form) => !used.has(form))).toEqual([]);
});

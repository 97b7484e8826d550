/** From the platform's records to an ERP's import folder: the demo's month arrives whole, to the cent. */
import { calendarOf } from "../src/core/calendar.ts";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readDelivered, type TradedDocument } from "../src/demo/delivered.ts";
import { localDrop } from "../connectors/files/folder/local.ts";
import { SinkConfig } from "../connectors/files/config.ts";
import { openSinks } from "../connectors/files/sink.ts";
import { mappings } from "../mappings/index.ts";
import { openTables } from "../src/config/crossref.ts";
import type { Item, Mapping, References } from "../src/core/contract.ts";
import { Decimal } from "../src/core/decimal.ts";
import { NotMapped, WaitsFor } from "../src/core/errors.ts";
import { parseExact } from "../src/core/json.ts";
import { companies } from "../src/sandbox/scenes/companies.ts";
import { demo } from "../src/sandbox/scenes/demo.ts";

const scene = demo(new Date("2026-11-21T12:00:00Z"));
const supplier = companies.supplier.id;
const feeds = {
  orders: scene.records.orders,
  "delivery-tickets": scene.records["delivery-tickets"],
  "customer-invoices": scene.records.invoices.filter((one) => one["companyId"] === supplier),
  "supplier-invoices": scene.records.invoices.filter((one) => one["payerCompanyId"] === supplier),
} satisfies Record<TradedDocument, unknown>;

const tables = openTables(join(import.meta.dirname, "../config/crossref"));
const references: References = {
  currency: "USD",
  dayOf: calendarOf("America/Chicago"),
  find: () => null,
  counterpart(kind, id) {
    throw new WaitsFor(kind, id);
  },
  row(name, key) {
    const row = tables.row(name, key);
    if (row === null) throw new NotMapped(name, key);
    return row;
  },
};

function mappingOf(name: TradedDocument): Mapping {
  const mapping = mappings.find((candidate) => candidate.name === `canonical/${name}`);
  if (mapping === undefined) throw new Error(`no mapping for ${name}`);
  return mapping;
}

/** Every record of a feed, mapped: what is delivered, and why the others are not. */
function mapped(name: TradedDocument): { items: Item[]; skipped: string[] } {
  const mapping = mappingOf(name);
  const items: Item[] = [];
  const skipped: string[] = [];
  for (const record of feeds[name]) {
    const input = mapping.input.parse(parseExact(JSON.stringify(record)));
    const out = mapping.map(input, references);
    if (typeof out === "object" && out !== null && "skip" in out) skipped.push(String(out.skip));
    else {
      const document = mapping.output.parse(out);
      const { id } = record;
      items.push({ number: mapping.number(input), id, revision: id, document, counterpart: null });
    }
  }
  return { items, skipped };
}

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "canonical-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe.each(Object.keys(feeds) as TradedDocument[])("%s", (name) => {
  test("control totals of the import folder are those of the documents", async () => {
    const signal = new AbortController().signal;
    const surroundings = {
      folder,
      drop: localDrop(folder),
      now: () => new Date(),
      pause: () => Promise.resolve(),
      currency: "USD",
      dayOf: (instant: string) => instant.slice(0, 10),
      ignore: {},
      note: () => {},
    };
    const config = SinkConfig.parse({ document: name, folder: "import", per: "batch" });
    const sink = openSinks({ erp: config }, surroundings)["erp"];
    if (sink === undefined) throw new Error("no sink");
    const { items } = mapped(name);
    for (let at = 0; at < items.length; at += sink.itemsMax) {
      const some = items.slice(at, at + sink.itemsMax);
      const request = { ...sink.freeze(some), key: "fb1_key", items: some, firstSentAt: null };
      await sink.prepare?.(request, signal);
      expect(await sink.send(request, signal)).toMatchObject({ outcome: "done" });
    }
    const figures = items.map(({ document }) => mappingOf(name).figures(document));
    const delivered = await readDelivered(join(folder, "import"), name);
    expect(delivered.count).toBe(items.length);
    expect(delivered.gallons.plain()).toBe(
      Decimal.sum(figures.map(({ gallons }) => gallons ?? Decimal.zero)).plain(),
    );
    expect(delivered.amount?.plain() ?? "0").toBe(
      Decimal.sum(figures.map(({ amount }) => amount ?? Decimal.zero)).plain(),
    );
  });

  test("only drafts and what was cancelled stay behind", () => {
    const { items, skipped } = mapped(name);
    expect(items.length + skipped.length).toBe(feeds[name].length);
    expect(items.length).toBeGreaterThan(feeds[name].length * 0.9);
    for (const reason of skipped) expect(reason).toMatch(/^(draft|void|cancelled)$/);
  });
});

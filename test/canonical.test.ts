/** From the platform's records to an ERP's import folder: the demo's month arrives whole, to the cent. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readDelivered, type TradedDocument } from "../src/demo/totals.ts";
import { localDrop } from "../connectors/files/folder/local.ts";
import { SinkConfig } from "../connectors/files/config.ts";
import { sinkOf } from "./files/sink.ts";
import { judged, mappingNamed, sum } from "./support/judged.ts";
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

/** Every record of a feed that is delivered. */
function mapped(name: TradedDocument) {
  const mapping = mappingNamed(`canonical/${name}`);
  return feeds[name].flatMap((record) => {
    const { document, number, ...figures } = judged(mapping, parseExact(JSON.stringify(record)));
    const { id } = record;
    return document === undefined
      ? []
      : [{ item: { number, id, revision: id, document, counterpart: null }, figures }];
  });
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
    const sink = sinkOf(config, surroundings);
    const all = mapped(name);
    const items = all.map(({ item }) => item);
    for (let at = 0; at < items.length; at += sink.itemsMax) {
      const some = items.slice(at, at + sink.itemsMax);
      const request = { ...sink.freeze(some), key: "fb1_key", items: some, firstSentAt: null };
      await sink.prepare?.(request, signal);
      expect(await sink.send(request, signal)).toMatchObject({ outcome: "done" });
    }
    const delivered = await readDelivered(join(folder, "import"), name);
    expect(delivered.count).toBe(items.length);
    expect(delivered.gallons.plain()).toBe(sum(all.map(({ figures }) => figures.gallons)).plain());
    expect(delivered.amount?.plain() ?? "0").toBe(
      sum(all.map(({ figures }) => figures.amount)).plain(),
    );
  });
});

/**
 * A daemon over a store in a folder, which is started as a program and killed by the test beside it. It is told the number
 * of an invoice, delivers it to QuickBooks and says so.
 */
import { z } from "zod";
import { engineOn } from "./engine.ts";
import { surroundingsIn } from "./surroundings.ts";
import { InvoiceDocument } from "../../src/books/documents.ts";
import { defineMapping, type Sink } from "../../src/core/contract.ts";
import { clearBreakers } from "../../src/engine/breakers.ts";
import { push, recover, runFlow } from "../../src/engine/run.ts";
import { invoiceDocument } from "../../connectors/example/example.fixture.ts";
import { DesktopConfig } from "../../connectors/quickbooks-desktop/config.ts";
import { settings } from "../../connectors/quickbooks-desktop/desktop.fixture.ts";
import { quickbooksDesktop } from "../../connectors/quickbooks-desktop/index.ts";

const mapping = defineMapping({
  name: "killed",
  kind: "invoice",
  leaves: { record: [], document: [] },
  tables: {},
  input: z.object({ number: z.string() }),
  output: InvoiceDocument,
  posts: true,
  number: ({ number }) => number,
  map: ({ number }) => invoiceDocument(number),
  figures: ({ total }) => ({ amount: total, gallons: null }),
  about: () => ({}),
});

const [, , folder = "", port = ""] = process.argv;
const { signal } = new AbortController();
const { engine, store, clock, ...bench } = engineOn(folder);
const notebook = {
  get: (name: string) => store.notebooks.get("books", name),
  set: (name: string, text: string | null) =>
    store.transaction(() => store.notebooks.set("books", name, text)),
};
const arrived = (): void => clearBreakers(engine, ["books"]);
const { sinks } = quickbooksDesktop.open(
  DesktopConfig.parse(settings(Number(port), { holdMs: 50, patienceMs: 200, lingerMs: 0 })),
  surroundingsIn(".", { notebook, arrived }),
);
let number = "";
const source = {
  async *read() {
    const text = JSON.stringify({ number });
    yield { changes: [{ id: number, version: null, text, origin: number }], position: null };
  },
};
const ends = { side: "platform", from: "platform.invoicesIssued", to: "books.invoices" } as const;
const flow = bench.flow({
  name: "killed",
  mapping,
  source,
  sink: sinks["invoices"] as Sink,
  ...ends,
});
recover(engine, flow);
process.on("message", (told) => {
  number = String(told);
  void deliver();
});

async function deliver(): Promise<void> {
  await runFlow(engine, flow, signal);
  const pending = () => {
    const counts = store.deliveries.counts(flow.flow);
    return [...counts].some(([state, count]) => state !== "delivered" && count > 0);
  };
  while (pending()) {
    clock.advance(60_000);
    await push(engine, flow, signal);
  }
  process.send?.(number);
}

/**
 * A daemon over a store in a folder, which is started as a program and killed by the test beside it. It is told the number
 * of an invoice, an order or a ticket, delivers it to QuickBooks and says so.
 */
import { z } from "zod";
import { engineOn } from "./engine.ts";
import { surroundingsIn } from "./surroundings.ts";
import { InvoiceDocument, OrderDocument, ShipmentDocument } from "../../src/ledger/documents.ts";
import { defineMapping, type Sink } from "../../src/core/contract.ts";
import { clearBreakers } from "../../src/engine/breakers.ts";
import { push, recover, runFlow } from "../../src/engine/daemon.ts";
import { notebookIn } from "../../src/store/flows.ts";
import { invoiceDocument } from "../../connectors/example/example.fixture.ts";
import { DesktopConfig } from "../../connectors/quickbooks-desktop/config.ts";
import {
  orderDocument,
  settings,
  ticketDocument,
} from "../../connectors/quickbooks-desktop/desktop.fixture.ts";
import { quickbooksDesktop } from "../../connectors/quickbooks-desktop/index.ts";

const KINDS = {
  FL: { kind: "invoice", sink: "invoices", output: InvoiceDocument, document: invoiceDocument },
  LD: { kind: "order", sink: "orders", output: OrderDocument, document: orderDocument },
  DT: {
    kind: "delivery-ticket",
    sink: "shipments",
    output: ShipmentDocument,
    document: ticketDocument,
  },
} as const;

const mappingOf = ({ kind, output, document }: (typeof KINDS)[keyof typeof KINDS]) =>
  defineMapping({
    name: `killed-${kind}`,
    kind,
    leaves: { record: [], document: [] },
    tables: {},
    input: z.object({ number: z.string() }),
    output: output as z.ZodType<ReturnType<typeof document>>,
    number: ({ number }) => number,
    map: ({ number }) => document(number),
    figures: () => ({ amount: null, gallons: null }),
    about: () => ({}),
  });

const [, , folder = "", port = ""] = process.argv;
const { signal } = new AbortController();
const { engine, store, clock, ...bench } = engineOn(folder);
const notebook = notebookIn(store, "books");
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
const flows = Object.entries(KINDS).map(([prefix, one]) => {
  const mapping = mappingOf(one);
  const to = `books.${one.sink}`;
  const sink = sinks[one.sink] as Sink;
  const ends = { side: "platform", from: `platform.${one.sink}`, to } as const;
  const flow = bench.flow({ name: mapping.name, mapping, source, sink, ...ends });
  recover(engine, flow);
  return { prefix, flow };
});
process.on("message", (told) => {
  number = String(told);
  void deliver();
});

async function deliver(): Promise<void> {
  const flow = flows.find(({ prefix }) => number.startsWith(prefix))?.flow;
  if (flow === undefined) throw new Error(`no flow takes ${number}`);
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

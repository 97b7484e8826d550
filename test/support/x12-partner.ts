/** A site whose partner speaks X12: what is sent lies in \`out\`, what the partner sends in \`in\`. */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { files } from "../../connectors/files/index.ts";
import {
  bookedInvoices as booksInvoices,
  bookedPaidInvoices as paidInvoices,
  bookedRackPrices as rackPrices,
} from "../../mappings/platform/records.ts";
import { orders as canonicalOrders } from "../../mappings/goods.ts";
import { customerInvoices } from "../../mappings/invoices.ts";
import { deliveryTickets, orderNotes } from "../../mappings/platform/lists.ts";
import type { Endpoint, Sink, Source } from "../../src/core/contract.ts";
import { withAcknowledgements } from "../../src/engine/delivered.ts";
import type { Engine, Flow } from "../../src/engine/engine.ts";
import { replyFlow } from "../../src/engine/pull.ts";
import { agreed } from "../files/x12.ts";
import type { usePlatform } from "../platform/support.ts";
import { engineOn } from "./engine.ts";
import { tempFolder } from "./folder.ts";
import { surroundingsIn } from "./surroundings.ts";

const x12 = agreed;
const SETTINGS = {
  folder: ".",
  settleMs: 0,
  sinks: {
    invoices: {
      format: "x12",
      document: "customer-invoices",
      folder: "out",
      acknowledgements: { folder: "in", pick: "997*.edi" },
      x12,
    },
    orders: { format: "x12", document: "orders", folder: "out", x12 },
  },
  sources: {
    issued: { format: "x12", layout: "books.invoices", folder: "in", pick: "810*.edi", x12 },
    prices: {
      format: "x12",
      layout: "books.prices",
      folder: "in",
      pick: "832*.edi",
      replies: { folder: "out" },
      x12,
    },
    paid: { format: "x12", layout: "books.paidInvoices", folder: "in", pick: "820*.edi", x12 },
    answered: { format: "x12", layout: "plain/order-notes", folder: "in", pick: "855*.edi", x12 },
    shipped: {
      format: "x12",
      layout: "plain/delivery-tickets",
      folder: "in",
      pick: "856*.edi",
      x12,
    },
  },
};

export interface Partner {
  readonly engine: Engine;
  readonly flows: Readonly<
    Record<
      "invoices" | "orders" | "issued" | "prices" | "replies" | "paid" | "answered" | "shipped",
      Flow
    >
  >;
  /** The process ended, and another one opens the same store and the same folders. */
  readonly again: () => Promise<Partner>;
  /** Keeps the store as it is; `restored` is {@link again} over what was kept. */
  readonly keeps: () => void;
  readonly restored: () => Promise<Partner>;
  readonly hour: (hours: number) => void;
  /** What lies in our outbox, by what its names begin with. */
  readonly got: (kind: string) => string[];
  /** What lies in a folder of our inbox. */
  readonly lies: (folder: string) => string[];
  readonly loses: () => void;
  readonly puts: (name: string, text: string) => void;
  /** `flow: code`, one for each group of the quarantine. */
  readonly causes: () => string[];
  readonly cause: () => string;
  /** Events of the log. */
  readonly notes: readonly string[];
}

type Platform = ReturnType<typeof usePlatform>;

/** A new site, with its store and its folders. */
export async function partnerOn(platform: Platform): Promise<Partner> {
  const folder = tempFolder();
  mkdirSync(join(folder, "in"));
  return opened(platform, { folder, state: tempFolder(), clock: await platform.clock() });
}

interface Place {
  readonly folder: string;
  readonly state: string;
  readonly clock: Awaited<ReturnType<Platform["clock"]>>;
  readonly isRestored?: true;
}

async function opened(platform: Platform, place: Place): Promise<Partner> {
  const { folder, state, clock, isRestored = false } = place;
  const bench = engineOn(state, clock);
  const { dayOf } = bench.engine;
  const tables = {
    row: (table: string, key: string) =>
      ({
        products: { product: "ULSD-CLR" },
        items: { item: "ULSD2" },
        taxes: { tax: "FED-EX" },
        customers: { account: "ACME" },
      })[table] ?? { [table]: key },
  };
  const engine = { ...bench.engine, tables };
  const endpoint = platform.endpoint({ clock, dayOf });
  const now = (): Date => new Date(clock.now().wallMs);
  const erp: Endpoint = files.open(
    files.config.parse(SETTINGS),
    surroundingsIn(folder, {
      now,
      dayOf,
      sender: { store: "one", isRestored: () => isRestored, says: () => "", whose: () => null },
    }),
  );
  const sink = erp.sinks["invoices"] as Sink;
  const flow = (name: string, more: Partial<Flow> & Pick<Flow, "mapping" | "source" | "sink">) =>
    bench.flow({ name, ...more });
  const invoices = flow("invoices", {
    mapping: customerInvoices,
    from: "platform.invoicesIssued",
    to: "erp.invoices",
    side: "platform",
    source: withAcknowledgements(endpoint.sources["invoicesIssued"] as Source, sink),
    sink,
  });
  const orders = flow("orders", {
    mapping: canonicalOrders,
    from: "platform.orders",
    to: "erp.orders",
    side: "platform",
    source: endpoint.sources["orders"] as Source,
    sink: erp.sinks["orders"] as Sink,
  });
  const issued = flow("issued", {
    mapping: booksInvoices,
    source: erp.sources["issued"] as Source,
    sink: endpoint.sinks["invoices"] as Sink,
  });
  const prices = flow("prices", {
    mapping: rackPrices,
    source: erp.sources["prices"] as Source,
    sink: endpoint.sinks["rackPrices"] as Sink,
  });
  const replies = bench.flow(
    replyFlow(bench.store, prices, erp.sources["prices"]?.replies as Sink),
  );
  const paid = flow("paid", {
    mapping: paidInvoices,
    source: erp.sources["paid"] as Source,
    sink: endpoint.sinks["paidInvoices"] as Sink,
  });
  const answered = flow("answered", {
    mapping: orderNotes,
    source: erp.sources["answered"] as Source,
    sink: endpoint.sinks["orderNotes"] as Sink,
  });
  const shipped = flow("shipped", {
    mapping: deliveryTickets,
    source: erp.sources["shipped"] as Source,
    sink: endpoint.sinks["tickets"] as Sink,
  });
  return {
    engine,
    flows: { invoices, orders, issued, prices, replies, paid, answered, shipped },
    again: () => {
      bench.store.close();
      return opened(platform, place);
    },
    keeps: () => cpSync(state, `${state}.kept`, { recursive: true }),
    restored: () => {
      bench.store.close();
      rmSync(state, { recursive: true });
      cpSync(`${state}.kept`, state, { recursive: true });
      return opened(platform, { ...place, isRestored: true });
    },
    hour: (hours) => clock.advance(hours * 3_600_000),
    got: (kind) =>
      readdirSync(join(folder, "out"))
        .filter((name) => name.startsWith(kind))
        .toSorted()
        .map((name) => readFileSync(join(folder, "out", name), "utf8")),
    lies: (inside) => readdirSync(join(folder, "in", inside)).toSorted(),
    loses: () => rmSync(join(folder, "in"), { recursive: true }),
    puts: (name, text) => writeFileSync(join(folder, "in", name), text),
    causes: () => bench.store.questions.quarantine().map(({ flow, code }) => `${flow}: ${code}`),
    notes: bench.notes,
    cause: () => bench.store.questions.quarantine()[0]?.cause ?? "",
  };
}

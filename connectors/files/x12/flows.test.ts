/** X12 in flows: over the platform's sandbox, with the store, files and a partner that is the test. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { paidInvoices } from "../../../mappings/books/paid-invoices.ts";
import { rackPrices } from "../../../mappings/books/rack-prices.ts";
import { customerInvoices } from "../../../mappings/canonical/customer-invoices.ts";
import type { Endpoint, Sink, Source } from "../../../src/core/contract.ts";
import { withAcknowledgements } from "../../../src/engine/acknowledged.ts";
import type { Engine, Flow } from "../../../src/engine/engine.ts";
import { replyFlow } from "../../../src/engine/reply.ts";
import { runFlow } from "../../../src/engine/run.ts";
import { retry, select } from "../../../src/report/decisions.ts";
import { never, usePlatform } from "../../../test/platform/support.ts";
import { engineOn } from "../../../test/support/engine.ts";
import { tempFolder } from "../../../test/support/folder.ts";
import { surroundingsIn } from "../../../test/support/surroundings.ts";
import { files } from "../index.ts";
import { agreed, envelope, golden820, golden832 } from "./x12.fixture.ts";

const platform = usePlatform();
const { control } = platform;

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
  },
  sources: {
    prices: {
      format: "x12",
      layout: "books.prices",
      folder: "in",
      pick: "832*.edi",
      replies: { folder: "out" },
      x12,
    },
    paid: { format: "x12", layout: "books.paidInvoices", folder: "in", pick: "820*.edi", x12 },
  },
};

interface Partner {
  readonly engine: Engine;
  readonly flows: Readonly<Record<"invoices" | "prices" | "replies" | "paid", Flow>>;
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

async function opened(): Promise<Partner> {
  const folder = tempFolder();
  mkdirSync(join(folder, "in"));
  const clock = await platform.clock();
  const bench = engineOn(tempFolder(), clock);
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
    surroundingsIn(folder, { now, dayOf }),
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
  return {
    engine,
    flows: { invoices, prices, replies, paid },
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

const INVOICE = {
  invoiceNumber: "INV2026000118ACME",
  payerCompanyId: "0942f541-2340-4858-9502-8b0979809fca",
  status: "OUTSTANDING",
  subtotal: 18760.91,
  tax: 1951.51,
  total: 20712.42,
  dueDate: "2026-11-28T00:00:00Z",
  createdAt: "2026-11-18T15:00:00Z",
  updatedAt: "2026-11-18T16:00:00Z",
  lineItems: [
    {
      description: "ULSD NO 2",
      product: "ULSD-CLR",
      gallons: 7998,
      rate: 2.3457,
      amount: 18760.91,
    },
  ],
  taxLines: [{ taxType: "Federal excise", amount: 1951.51 }],
};

const saying = (control: number, group: number, ...verdict: readonly string[]): string =>
  envelope({
    functionalId: "FA",
    control: String(control),
    sets: [["997", `AK1*IN*${group}`, "AK2*810*0001", ...verdict, "AK9*R*1*1*0"]],
  });
const rejected = ["AK3*BIG*2**8", "AK4*2*76*7*INV2026000118ACME", "AK5*R*5"];

test("an invoice goes out as 810; a 997 that rejects it lands with a person, and a retry has a new number", async () => {
  await control.records("invoices", [INVOICE]);
  const { engine, flows, got, puts, causes, cause, notes } = await opened();
  await runFlow(engine, flows.invoices, never);
  expect(got("customer-invoices")).toEqual([expect.stringContaining("*000000001*0*T*>~GS*IN*")]);
  expect(got("customer-invoices")[0]).toContain("BIG*20261118*INV2026000118ACME~");
  expect(got("customer-invoices")[0]).toContain("TDS*2071242~TXI*FT*1951.51~CTT*1~");

  puts("997-1.edi", saying(501, 1, ...rejected));
  await runFlow(engine, flows.invoices, never);
  expect(causes()).toEqual(["invoices: refused-later"]);
  expect(cause()).toContain(
    'R rejected; segment 2, BIG02 has a code that is not known (7): "INV2026000118ACME"; segments are in error (5)',
  );
  for (const one of select(engine, [flows.invoices], "all")) retry(engine, one);
  await runFlow(engine, flows.invoices, never);
  expect(
    got("customer-invoices").map((text) => /GS\*IN(?:\*[^*]*){4}\*(\d+)/.exec(text)?.[1]),
  ).toEqual(["1", "2"]);
  const accepting = (control: number, group: number): string =>
    saying(control, group, "AK5*A").replace("AK9*R*1*1*0", "AK9*A*1*1*1");
  puts("997-2.edi", accepting(502, 2));
  await runFlow(engine, flows.invoices, never);
  expect({ causes: causes(), notes }).toMatchObject({ causes: [], notes: [] });
  // The first one counts there after all, so the partner has it twice: somebody must know.
  puts("997-3.edi", accepting(503, 1));
  await runFlow(engine, flows.invoices, never);
  expect(notes).toEqual(["notice"]);
});

test("a 997 that does not come in time lands with a person, and closes it when it comes late", async () => {
  await control.records("invoices", [INVOICE]);
  const { engine, flows, puts, causes, hour } = await opened();
  await runFlow(engine, flows.invoices, never);
  hour(23);
  await runFlow(engine, flows.invoices, never);
  expect(causes()).toEqual([]);
  hour(1);
  await runFlow(engine, flows.invoices, never);
  expect(causes()).toEqual(["invoices: not-acknowledged"]);
  // A group that is rejected (AK9 R) is rejected with its sets, whatever is said of each.
  puts("997-0.edi", saying(500, 1, "AK5*A"));
  await runFlow(engine, flows.invoices, never);
  expect(causes()).toEqual(["invoices: refused-later"]);
  puts("997-1.edi", saying(501, 1, "AK5*A").replace("AK9*R*1*1*0", "AK9*A*1*1*1"));
  await runFlow(engine, flows.invoices, never);
  expect(causes()).toEqual([]);
  expect(engine.store.deliveries.counts(flows.invoices.flow)).toEqual(new Map([["delivered", 1]]));
});

test("where acknowledgements cannot be read, invoices go out all the same, and it is told", async () => {
  await control.records("invoices", [INVOICE]);
  const { engine, flows, got, loses } = await opened();
  loses();
  const { trouble } = await runFlow(engine, flows.invoices, never);
  expect(trouble).toMatchObject({ code: "unavailable", message: expect.stringContaining("/in ") });
  expect(got("customer-invoices")).toHaveLength(1);
});

test("an 820 marks the invoice that went out as 810 as paid, and the partner gets no second 810", async () => {
  await control.records("invoices", [INVOICE]);
  const { engine, flows, got, puts, causes } = await opened();
  await runFlow(engine, flows.invoices, never);
  puts("820-1.edi", envelope({ functionalId: "RA", sets: [golden820] }));
  await runFlow(engine, flows.paid, never);
  const { records } = JSON.parse(
    (await control.ask("GET", "/records/invoices?key=supplier")).text,
  ) as {
    records: { status: string; paidAt: string }[];
  };
  expect(records).toMatchObject([{ status: "PAID" }]);
  expect(records[0]?.paidAt).toContain("2026-11-28");
  await runFlow(engine, flows.invoices, never);
  expect(got("customer-invoices")).toHaveLength(1);
  expect(causes()).toEqual([]);
});

test("an 832 becomes rack prices and is answered with one 997, whatever comes twice", async () => {
  const { engine, flows, got, lies, puts, causes } = await opened();
  const text = envelope({ functionalId: "SC", sets: [golden832] });
  puts("832-1.edi", text);
  await runFlow(engine, flows.prices, never);
  await runFlow(engine, flows.replies, never);
  expect(got("997")).toEqual([
    expect.stringContaining(
      "~ST*997*0001~AK1*SC*117~AK2*832*0001~AK5*A~AK9*A*1*1*1~SE*6*0001~GE*1*1~",
    ),
  ]);
  puts("832-again.edi", text);
  puts("832-other.edi", text.replace("2.3457", "2.3458"));
  await runFlow(engine, flows.prices, never);
  await runFlow(engine, flows.replies, never);
  expect(got("997")).toHaveLength(1);
  expect(lies("archive")).toHaveLength(2);
  // Another content under a number that came before: nobody can tell which of the two counts.
  expect(lies("failed")).toEqual([
    expect.stringMatching(/^832-other\.\w{8}\.edi$/),
    expect.stringMatching(/^832-other\.\w{8}\.errors\.csv$/),
  ]);
  expect(engine.store.deliveries.counts(flows.prices.flow)).toEqual(new Map([["delivered", 2]]));
  expect(causes()).toEqual([]);
});

test("a number is taken with the bytes that carry it, and never again after a restart", async () => {
  await control.records("invoices", [INVOICE]);
  const { engine, flows, got } = await opened();
  await runFlow(engine, flows.invoices, never);
  const sequence = flows.invoices.sink.sequence ?? "";
  expect(engine.store.transaction(() => engine.store.sequences.next(sequence))).toBe(2);
  expect(() =>
    engine.store.transaction(() => {
      engine.store.sequences.next(sequence);
      throw new Error("it was not stored");
    }),
  ).toThrow();
  expect(engine.store.transaction(() => engine.store.sequences.next(sequence))).toBe(3);
  engine.store.acknowledge(0);
  expect(engine.store.transaction(() => engine.store.sequences.next(sequence))).toBe(100_004);
  expect(got("customer-invoices")).toHaveLength(1);
});

/** Delivery tickets that start in the books, as a list of files, against the platform. */
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { files } from "../connectors/files/index.ts";
import { deliveryTickets } from "../mappings/platform/lists.ts";
import type { Sink, Source } from "../src/core/contract.ts";
import type { Flow } from "../src/engine/engine.ts";
import { keptReconciliation } from "../src/engine/reconcile/nightly.ts";
import { runFlow } from "../src/engine/daemon.ts";
import type { Report } from "../src/reconcile/report.ts";
import { never, usePlatform } from "./platform/support.ts";
import { engineOn } from "./support/engine.ts";
import { tempFolder } from "./support/folder.ts";
import { inWords } from "./support/reconciled-site.ts";
import { surroundingsIn } from "./support/surroundings.ts";

const platform = usePlatform();
const { control } = platform;
const HEADER =
  "Number,Status,Order ID,Supplier,Customer,BOL Number,Delivered,Driver,Carrier,Terminal,Destination,Notes,Lines/Product,Lines/Spec,Lines/Gross Gallons,Lines/Net Gallons,Lines/Temperature,Lines/API Gravity";

interface Ticket {
  readonly number: string;
  readonly day?: string;
  readonly status?: string;
  readonly gallons?: string;
}
const row = ({ number, day = "2026-11-10", status = "ISSUED", gallons = "7950" }: Ticket) =>
  `${number},${status},,,A-1,B-${number},${day},Ann,,,,,ULSD,,8000,${gallons},,`;

let site: {
  /** The ERP's newest list from now on; read by the flow. */
  readonly list: (...tickets: readonly Ticket[]) => Promise<void>;
  readonly ask: () => Promise<Report>;
};

beforeEach(async () => {
  const clock = await platform.clock();
  const folder = tempFolder();
  mkdirSync(join(folder, "in"));
  const bench = engineOn(folder, clock);
  const { dayOf } = bench.engine;
  const endpoint = platform.endpoint({ clock, dayOf });
  const sources = { it: { layout: "plain/delivery-tickets", folder: "in", pick: "tickets-*.csv" } };
  const config = files.config.parse({ folder, settleMs: 0, sources });
  const erp = files.open(config, surroundingsIn(folder));
  const engine = {
    ...bench.engine,
    tables: { ...bench.engine.tables, row: () => ({ product: "Diesel" }) },
  };
  const flow: Flow = bench.flow({
    name: "tickets",
    mapping: deliveryTickets,
    from: "erp.it",
    to: "platform.tickets",
    sink: endpoint.sinks["tickets"] as Sink,
    source: erp.sources["it"] as Source,
  });
  bench.store.links.save(
    {
      kind: "customer",
      platformId: platform.company("carrier"),
      erpId: "A-1",
      born: "erp",
      number: "A-1",
      content: null,
      amount: null,
    },
    0,
  );
  const audit = {
    endpoints: new Map([
      ["platform", endpoint],
      ["erp", erp],
    ]),
    ignore: {},
    spent: () => 0,
  };
  const question = { period: null, flow: null, askedBy: "test" };
  let lists = 0;
  site = {
    async list(...tickets) {
      const path = join(folder, "in", `tickets-${++lists}.csv`);
      writeFileSync(path, [HEADER, ...tickets.map(row), ""].join("\r\n"));
      utimesSync(path, 1_790_000_000, 1_790_000_000 + lists);
      await runFlow(engine, flow, never);
      expect(bench.notes).toEqual([]);
      expect(bench.store.questions.quarantine()).toEqual([]);
    },
    ask: async () => (await keptReconciliation(engine, audit, question, false, never)).report,
  };
});

test("tickets of the books are equal when the platform has them, signed there or not", async () => {
  await site.list(
    { number: "1" },
    { number: "2", status: "SIGNED" },
    { number: "3", status: "DRAFT" },
  );
  const [first] = (await control.stored("delivery-tickets", "supplier")) as { id: string }[];
  await control.patch("delivery-tickets", first?.id ?? "", { status: "SIGNED" });
  const report = await site.ask();
  expect(inWords(report)).toEqual([]);
  expect(report).toMatchObject({ agrees: true, unasked: [] });
  expect(report.totals.map(({ kind, bucket, cases }) => `${kind} ${bucket} ${cases}`)).toEqual([
    "ticket out of scope 1",
    "ticket equal 2",
  ]);
});

test("what differs in gallons, is void on one side or is lost is told with both; what lies before the list's days is not", async () => {
  const all = ["1", "2", "3", "4", "5"].map((number) => ({ number }));
  await site.list({ number: "0", day: "2026-10-01" }, ...all);
  const rows = (await control.stored("delivery-tickets", "supplier")) as {
    id: string;
    ticketNumber: string;
  }[];
  const patch = (number: string, change: Parameters<typeof control.patch>[2]) =>
    control.patch(
      "delivery-tickets",
      rows.find((one) => one.ticketNumber === number)?.id ?? "",
      change,
    );
  await patch("1", { productLines: [{ product_name: "Diesel", net_gallons: 7000 }] });
  await patch("2", { status: "VOID" });
  // The ERP lists its last days alone, and lacks 4.
  await site.list({ number: "1" }, { number: "2" }, { number: "3" }, { number: "5" });
  const told = inWords(await site.ask());
  expect(told).toEqual([
    expect.stringMatching(/^differs \| 1 \| fields \| .*7000.* .*7950/),
    expect.stringMatching(/^differs \| 2 \| void-stands/),
    expect.stringMatching(/^only on the platform \| 4 \| gone/),
  ]);
});

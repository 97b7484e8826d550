/** What was delivered under a link and would not be sent any more is told, and a person may accept it. */
import { beforeEach, expect, test } from "vitest";
import { bookedRackPrices } from "../mappings/platform/records.ts";
import type { Change, Sink } from "../src/core/contract.ts";
import { Decimal } from "../src/core/decimal.ts";
import type { Holdings } from "../src/core/holdings.ts";
import type { Flow } from "../src/engine/engine.ts";
import { keptReconciliation, SETTLE_MS } from "../src/engine/reconcile/nightly.ts";
import { runFlow } from "../src/engine/daemon.ts";
import type { Report } from "../src/reconcile/report.ts";
import { never, usePlatform } from "./platform/support.ts";
import { type Bench, engineOn } from "./support/engine.ts";
import { officeOn } from "./support/office.ts";
import { testConsole } from "./support/console.ts";
import { tempFolder } from "./support/folder.ts";
import { inWords } from "./support/reconciled-site.ts";

const platform = usePlatform();
const { control } = platform;

const price = (id: string, value: string, product = "ULSD"): Change => ({
  id,
  version: null,
  text: JSON.stringify({ list: "Dallas", product, price: Number(value), unit: "gal" }),
});

interface Site {
  readonly bench: Bench;
  /** What the books list; a test changes it as a clerk would. */
  books: readonly Change[];
  readonly tables: Map<string, Record<string, string>>;
  readonly look: () => Promise<void>;
  readonly ask: () => Promise<Report>;
  readonly office: ReturnType<typeof officeOn>;
}
let site: Site;

beforeEach(async () => {
  const clock = await platform.clock();
  const bench = engineOn(tempFolder(), clock);
  const endpoint = platform.endpoint({ clock, dayOf: bench.engine.dayOf });
  const tables = new Map<string, Record<string, string>>([
    ["terminals Dallas", { terminal: "T-75-TX-2700" }],
    ["products ULSD", { product: "ULSD-CLR" }],
  ]);
  const row = (table: string, key: string) => tables.get(`${table} ${key}`) ?? null;
  const engine = { ...bench.engine, tables: { ...bench.engine.tables, row } };
  const held = () =>
    site.books.map((change) => {
      const told = JSON.parse(change.text) as { price: number };
      const facts = { number: change.id, money: { price: Decimal.of(String(told.price)) } };
      return { kind: "price", id: change.id, version: null, mark: null, change, facts } as const;
    });
  const holdings: Holdings = {
    strength: { price: "asked" },
    async *list() {
      yield { holdings: held(), position: null, total: held().length, serverTime: null };
    },
    get: async (_kind, ids) => held().filter(({ id }) => ids.includes(id)),
    expect: async () => [],
  };
  const flow: Flow = bench.flow({
    name: "rack-prices",
    mapping: bookedRackPrices,
    from: "erp.prices",
    to: "platform.rackPrices",
    sink: endpoint.sinks["rackPrices"] as Sink,
    source: {
      async *read() {
        yield { changes: site.books, position: null };
      },
    },
  });
  const audit = {
    endpoints: new Map([
      ["platform", endpoint],
      ["erp", { ...endpoint, holdings }],
    ]),
    ignore: {},
    spent: () => 0,
  };
  const question = { period: null, flow: null, askedBy: "test" };
  site = {
    bench,
    books: [price("1", "2.5")],
    tables,
    look: () => runFlow(engine, flow, never).then(() => {}),
    async ask() {
      await clock.pause(SETTLE_MS);
      return (await keptReconciliation(engine, audit, question, true, never)).report;
    },
    office: officeOn(engine, [flow]),
  };
  await site.look();
  expect(inWords(await site.ask())).toEqual([]);
});

const move = (): void => void site.tables.set("terminals Dallas", { terminal: "T-75-TX-2799" });
const GONE = "only on the platform | T-75-TX-2700 ULSD-CLR | gone";

test("a row of a table that moves a price: both terminals are told before it is sent again, and the one that was left afterwards", async () => {
  move();
  const moved =
    "differs | T-75-TX-2700 ULSD-CLR | fields | number T-75-TX-2700 ULSD-CLR T-75-TX-2799 ULSD-CLR";
  expect(inWords(await site.ask())).toEqual([moved]);
  expect(inWords(await site.ask())).toEqual([moved]);
  expect(site.bench.store.questions.quarantine()).toHaveLength(1);
  site.books = [price("1", "2.6")];
  await site.look();
  expect(inWords(await site.ask())).toEqual([GONE]);
  const stored = (await control.stored("rack-prices", "supplier")) as { terminalId: string }[];
  expect(stored.map(({ terminalId }) => terminalId).toSorted()).toEqual([
    "T-75-TX-2700",
    "T-75-TX-2799",
  ]);
  // Moved back, it is known as its own again, and the other one is left.
  site.tables.set("terminals Dallas", { terminal: "T-75-TX-2700" });
  site.books = [price("1", "2.7")];
  await site.look();
  expect(inWords(await site.ask())).toEqual([
    "only on the platform | T-75-TX-2799 ULSD-CLR | gone",
  ]);
});

test("a row that moves a price to another product leaves the old one told, and another record that takes its place ends that", async () => {
  site.tables.set("products ULSD", { product: "ULSD-DYED" });
  site.books = [price("1", "2.6")];
  await site.look();
  expect(inWords(await site.ask())).toEqual([GONE]);
  site.tables.set("products DSL", { product: "ULSD-CLR" });
  site.books = [price("1", "2.6"), price("2", "2.5", "DSL")];
  await site.look();
  expect(inWords(await site.ask())).toEqual([]);
});

test("a price that the books do not list any more is told until a person accepts it, and again when its values change", async () => {
  site.books = [];
  const accept = (number = "T-75-TX-2700 ULSD-CLR") =>
    site.office.accept("rack-prices", number, { by: "ann", note: "agreed with the terminal" });
  await expect(accept()).rejects.toThrow(/No difference .* is known/);
  expect(inWords(await site.ask())).toEqual([GONE]);
  expect((await site.office.differences()).differences).toMatchObject([{ flow: "rack-prices" }]);
  await expect(accept("T-1")).rejects.toThrow(/No difference/);
  await accept();
  for (const night of ["first", "second"]) {
    const report = await site.ask();
    expect(inWords(report), night).toEqual(["accepted | T-75-TX-2700 ULSD-CLR | accepted"]);
    expect(report.agrees).toBe(true);
    const { differences, accepted } = await site.office.differences();
    expect([differences, accepted.map(({ number }) => number)]).toEqual([
      [],
      ["T-75-TX-2700 ULSD-CLR"],
    ]);
  }
  const [row] = (await control.stored("rack-prices", "supplier")) as { id: string }[];
  await control.patch("rack-prices", row?.id ?? "", { price: 3 });
  expect(inWords(await site.ask())).toEqual([GONE]);
  expect((await site.office.differences()).differences).toHaveLength(1);
});

test("the console's form accepts what differs: it is audited with name and reason, and gone from the page and from Today", async () => {
  site.books = [];
  await site.ask();
  await site.ask();
  const { as } = await testConsole(site.office);
  const [viewer, operator] = [await as("viewer"), await as("operator")];
  expect((await operator.get("/")).body).toContain("Both sides differ in 1 record");
  expect((await viewer.get("/reconciliation")).body).not.toContain("/accept");
  const page = (await operator.get("/reconciliation")).body;
  const [, action = "", form = ""] =
    /<form[^>]* action="([^"]+\/accept)"[^>]*>([\s\S]*?)<\/form>/.exec(page) ?? [];
  const [, number = ""] = /name="number" value="([^"]+)"/.exec(form) ?? [];
  expect([action, number]).toEqual(["/flows/rack-prices/accept", "T-75-TX-2700 ULSD-CLR"]);
  const fields = { number, note: "agreed with the terminal" };
  expect((await viewer.post(action, fields)).status).toBe(403);
  const wrongNumber = await operator.post(action, { ...fields, number: "T-1" });
  expect([wrongNumber.status, wrongNumber.body.includes("No difference")]).toEqual([422, true]);
  const done = await operator.post(action, fields);
  expect(done.status).toBe(303);
  const after = await operator.get(String(done.headers["location"]));
  expect(after.body).toContain("T-75-TX-2700 ULSD-CLR of rack-prices may stay as it is");
  expect((await operator.get("/reconciliation")).body).toContain("No difference is known.");
  const today = (await operator.get("/")).body;
  expect(today).not.toContain("Both sides differ");
  expect(today).toContain("1 difference that a person accepted");
  const audit = (await operator.get("/audit")).body;
  for (const told of ["difference accepted", "operator", "agreed with the terminal"])
    expect(audit).toContain(told);
});

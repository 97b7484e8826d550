/** `check` knows before the first document: everything it finds in one configuration, by the words of issue 11. */
import { chmodSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { connectorsNamed } from "../../connectors/index.ts";
import { mappings } from "../../mappings/index.ts";
import { platformOffers as platform } from "../platform/parts.ts";
import { loadConfig } from "./config.ts";
import { CANARY, changed, GOOD, setup } from "./check.fixture.ts";

const connectors = await connectorsNamed();

/** One flow in line 12, the hub in line 13. */
const HUB = `${GOOD.slice(0, GOOD.indexOf("endpoints:"))}endpoints: {}
flows:
  orders: { mapping: canonical/orders, from: platform.orders, to: hub.sites, every: auto }
hub: { port: 8791, tokens: { south: "\${CANARY}" } }
sites: { south: [{ number: [a] }], west: [{ number: [b] }] }
`;

test("a hub is right without a rule of its own", () => {
  expect(setup().problems(HUB)).toEqual([]);
});

test("a site on which everything is right has no problem", () => {
  expect(setup().problems()).toEqual([]);
});

const BAD = readFileSync(new URL("bad-sites.txt", import.meta.url), "utf8")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => line.split(" | ").map((cell) => cell.replaceAll("⏎", "\n")));

test.each(BAD)("check finds %s", (_, from = "", to = "", line, setting, message, remedy = "") => {
  const [base, part] = from.startsWith("hub: ") ? [HUB, from.slice(5)] : [GOOD, from];
  const text = from === "+" ? GOOD + to : base.replace(part, () => to);
  expect(text).not.toBe(base);
  const { problems, put, at } = setup();
  put("two-lines", "svc_live_abcdefgh\nsvc_live_12345678\n");
  chmodSync(at("two-lines"), 0o600);
  expect(problems(text)).toMatchObject([
    {
      line: Number(line),
      setting,
      message: expect.stringContaining(message ?? ""),
      remedy: expect.stringContaining(remedy),
    },
  ]);
});

test("check finds an end of a connector whose parts are not named by the configuration", () => {
  const tryton = `${GOOD.slice(0, GOOD.indexOf("endpoints:"))}endpoints:
  books:
    connector: tryton
    url: https://tryton.example.com
    database: prairie
    user: fuelbridge
    password: \${CANARY}
    company: Prairie Fuel
    accounts: { receivable: "1", payable: "2", revenue: "3", expense: "4" }
    paymentMethod: Bank
flows:
  orders: { mapping: books/orders, from: platform.orders, to: books.order, every: 10m, paused: true }
  bills: { mapping: books/supplier-invoices, from: platform.invoicesPayable, to: books.invoices, every: 10m, paused: true }
`;
  expect(setup().problems(tryton)).toMatchObject([
    { setting: "flows.orders.to", message: 'the endpoint "books" has no sink "order"' },
    { setting: "flows.bills.to", remedy: expect.stringContaining("Write books.bills here.") },
  ]);
});

/** With books in Tryton. */
const withBooks = (): string =>
  changed(
    "\nflows:",
    `
  books:
    connector: tryton
    url: http://127.0.0.1:8000
    database: books
    user: fuelbridge
    password: \${CANARY}
    company: Prairie Fuel
    accounts: { receivable: "1", payable: "2", revenue: "3", expense: "4" }
    paymentMethod: Bank
flows:`,
  );

test("PDFs are attached where the source has them and the sink takes them, and nowhere else", () => {
  const flow = (what: string): string =>
    `${withBooks().replace(/  orders: \{ mapping.*\n/, "")}  x: { mapping: ${what}, every: 1h, attach: pdf }\n`;
  const tickets = "books/delivery-tickets, from: platform.deliveryTickets, to: books.shipments";
  expect(setup().problems(flow(tickets), "settings")).toEqual([]);
  const orders = "books/orders, from: platform.orders, to: books.orders";
  const remedy = (names: string) => `Remove attach. PDFs go with ${names}.`;
  expect(setup().problems(flow(orders), "settings")).toMatchObject([
    {
      setting: "flows.x.attach",
      message: "the records of this source have no PDF",
      remedy: remedy("platform.deliveryTickets, platform.invoicesIssued, platform.invoicesPayable"),
    },
    {
      setting: "flows.x.attach",
      message: "no PDF can be attached to what this sink books",
      remedy: remedy("books.invoices, books.bills, books.shipments"),
    },
  ]);
});

test.each([
  ["from: platform.orders, to: erp.orders, every: auto, atLeast: 30s, atMost: 2h", null],
  ["from: platform.orders, to: erp.orders, every: auto, atMost: 12s", null],
  ["from: platform.orders, to: erp.orders, every: 10m, atMost: 2h", "flows.orders.atMost"],
  ["from: platform.orders, to: erp.orders, every: auto, atLeast: 5s", "flows.orders.atLeast"],
  ["from: platform.orders, to: erp.orders, every: auto, atMost: 5s", "flows.orders.atMost"],
  [
    "from: platform.orders, to: erp.orders, every: auto, atLeast: 2h, atMost: 1h",
    "flows.orders.atLeast",
  ],
])("a flow that finds its own pace has bounds that it can keep: %s", (what, setting) => {
  const text = GOOD.replace(
    / {2}orders: \{ mapping.*\n/,
    `  orders: { mapping: canonical/orders, ${what} }\n`,
  );
  expect(setup().problems(text, "settings")).toMatchObject(setting === null ? [] : [{ setting }]);
});

test("only what is read from the platform finds its own pace: the ERP costs no requests", () => {
  const text = changed(
    "from: erp.customers, to: platform.customers, every: 10m",
    "from: erp.customers, to: platform.customers, every: auto",
  );
  expect(setup().problems(text, "settings")).toMatchObject([
    { setting: "flows.customers.every", remedy: "Write every: 5m: reading the ERP costs none." },
  ]);
});

test("prices that are written to the platform are not read back: nothing tells them from others'", () => {
  const both = GOOD.replace(
    "    sinks:\n",
    '      prices: { layout: books.prices, profile: tryton-export/price-lists, pick: "p*.csv" }\n    sinks:\n      priceFiles: { document: rack-prices, folder: import/prices }\n',
  );
  const flows = `  prices: { mapping: books/rack-prices, from: erp.prices, to: platform.rackPrices, every: 1h }
  back: { mapping: canonical/rack-prices, from: platform.rackPrices, to: erp.priceFiles, every: 1h }\n`;
  expect(setup().problems(both + flows, "settings")).toMatchObject([
    {
      line: 26,
      setting: "flows.back.from",
      message: expect.stringContaining('flow "prices" writes "platform.rackPrices"'),
    },
  ]);
});

test("check finds missing tables and columns that a flow's mapping needs, each once", () => {
  const { at, put, problems } = setup();
  rmSync(at("crossref/taxes.csv"));
  put("crossref/items.csv", "product,code\n");
  expect(problems()).toMatchObject([
    {
      line: 20,
      setting: "flows.orders.mapping",
      message: `${at("crossref/items.csv")}:1 has no column item, which canonical/orders and canonical/customer-invoices read; it has product, code`,
      remedy: expect.stringContaining("product,item"),
    },
    {
      line: 21,
      message: `${at("crossref")} has no table taxes.csv, which canonical/customer-invoices reads`,
      remedy: expect.stringContaining("tax_type,tax"),
    },
  ]);
  // A flow that is paused needs nothing, and what no table says stops nothing that runs.
  expect(problems(GOOD.replaceAll("every: 10m }", "every: 10m, paused: true }"))).toEqual([]);
  expect(problems(GOOD, "settings")).toEqual([]);
});

test("check finds what is wrong in every table, with its file and line, beside the configuration's own problems", () => {
  const { at, put, problems } = setup();
  put("crossref/items.csv", "product,item\na\n");
  put("crossref/taxes.csv", "tax_type,tax\n,x\n");
  expect(problems(changed("currency: USD", "currency: US$"))).toMatchObject([
    { line: 3, setting: "currency" },
    { file: at("crossref/items.csv"), line: 2, message: "1 cell, but 2 in the header" },
    { file: at("crossref/taxes.csv"), line: 2 },
  ]);
});

test("tabs in YAML are told once, however many lines have them", () => {
  const { problems } = setup();
  expect(problems(GOOD.replaceAll("\n  ", "\n\t"))).toMatchObject([
    {
      line: 7,
      message: "is not YAML here: this line and 13 more begin with tabs",
      remedy: expect.stringContaining("replace each tab"),
    },
  ]);
});

test("a value from a file or a variable is shown in no message, whatever setting it stands in", () => {
  const { at, put, problems } = setup();
  put("canary", `${CANARY}\n`);
  chmodSync(at("canary"), 0o600);
  const settings = GOOD.split("\n").flatMap((line, index) => {
    const value = /: (?!\{)(\S+)$/.exec(line)?.[1];
    return value === undefined ? [] : [{ index, value }];
  });
  const inFlow = ["canonical/orders", "platform.orders", "erp.orders", "10m"].map((value) => ({
    index: 19,
    value,
  }));
  expect(settings.length).toBeGreaterThan(8);
  const references = ["${file:canary}", "${CANARY}", "x.${file:canary}", "x ${CANARY}"];
  for (const [at, { index, value }] of [...settings, ...inFlow].entries()) {
    const lines = GOOD.split("\n");
    const reference = references[at % references.length];
    lines[index] = lines[index]?.replace(value, () => `"${reference}"`) ?? "";
    const text = JSON.stringify(problems(lines.join("\n")));
    expect(text, lines[index]).not.toContain(CANARY);
  }
});

test("tables and folders whose place is a variable are named by it", () => {
  const { at, put, problems } = setup();
  put("crossref/items.csv", "product,item\na\n");
  rmSync(at("crossref/taxes.csv"));
  rmSync(at("exchange/export"), { recursive: true });
  const text = changed("folder: exchange", "folder: ${EXCHANGE}");
  const env = { EXCHANGE: at("exchange"), TABLES: at("crossref") };
  expect(problems(`${text}crossReferences: \${TABLES}\n`, "site", env)).toMatchObject([
    { message: "there is no folder ${EXCHANGE}/export" },
    { message: expect.stringMatching(/^\$\{TABLES\} has no table taxes.csv/) },
    { file: "${TABLES}/items.csv", line: 2 },
  ]);
});

test("what came from a file is hidden from answers and logs, whatever setting it stands in", () => {
  const { at, put, config } = setup();
  put("place", "https://api.example.com/v1/public\n");
  put("word", "live");
  writeFileSync(
    config,
    GOOD.replace("https://api.example.com/v1/public", "${file:place}").replace(
      "environment: live",
      "environment: ${file:word}",
    ),
  );
  const known = { env: { KEY: "svc_live_abcdefgh1234" }, connectors, mappings };
  expect(loadConfig(at("fuelbridge.yaml"), { ...known, platform }).secrets).toEqual([
    "svc_live_abcdefgh1234",
    "https://api.example.com/v1/public",
  ]);
});

test("a file that is no configuration is not shown either", () => {
  const { problems } = setup();
  for (const text of [CANARY, `${CANARY}:x:0:0\n${CANARY}:y`, `- ${CANARY}`])
    expect(problems(text)).toMatchObject([{ message: "there are no settings in it" }]);
});

test("a setting that is a list or a group is not shown with what is in it", () => {
  const text = changed("currency: USD", `currency: [ ${CANARY} ]`);
  expect(setup().problems(text)).toMatchObject([{ message: "it is a list, not text" }]);
});

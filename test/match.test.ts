/** `fuelbridge match` over a real store: a month of the sandbox, read by flows, matched without one request. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { loadConfiguration } from "../src/app/configuration.ts";
import { askOf } from "../src/app/ask.ts";
import type { Office } from "../src/office/questions.ts";
import type { MatchReport } from "../src/match/report.ts";
import { type Sandbox, startSandbox } from "../src/sandbox/server.ts";
import type { Fault } from "../src/sandbox/scenes/month.ts";
import { askCommand, commandHere } from "./support/here.ts";
import { tempFolder } from "./support/folder.ts";
import { scoreOf } from "./support/matched.ts";

const flow = (name: string, mapping: string, from: string, to: string): string =>
  `  ${name}: { mapping: canonical/${mapping}, from: platform.${from}, to: erp.${to}, every: 10m }`;
const sink = (name: string, document: string): string =>
  `      ${name}: { document: ${document}, folder: import/${name} }`;

/** Flows for every paper; freight rates cannot be read from the platform. `more`: settings of its own. */
const CONFIG = (url: string, more = ""): string => `version: 1
company: bluebonnet
currency: USD
timeZone: America/Chicago
state: ./state
firstStart: ${new Date().toISOString().slice(0, 10)}
platform: { url: '${url}', environment: live, apiKey: '\${MATCH_KEY}' }
endpoints:
  erp:
    connector: files
    folder: ./erp
    sinks:
${[
  ["orders", "orders"],
  ["tickets", "delivery-tickets"],
  ["invoices", "customer-invoices"],
  ["bills", "supplier-invoices"],
  ["prices", "rack-prices"],
  ["terminals", "terminals"],
  ["locations", "locations"],
  ["connections", "connections"],
]
  .map(([name = "", document = ""]) => sink(name, document))
  .join("\n")}
crossReferences: ./crossref
flows:
${flow("orders", "orders", "orders", "orders")}
${flow("tickets", "delivery-tickets", "deliveryTickets", "tickets")}
${flow("issued", "customer-invoices", "invoicesIssued", "invoices")}
${flow("payable", "supplier-invoices", "invoicesPayable", "bills")}
${flow("prices", "rack-prices", "rackPrices", "prices")}
${flow("terminals", "terminals", "supplierTerminals", "terminals")}
${flow("locations", "locations", "locations", "locations")}
${flow("connections", "connections", "connections", "connections")}
match: { basis: net${more} }
`;

let sandbox: Sandbox;
let key = "";
let truthFile = "";
const control = async (path: string, body?: object, method = "GET"): Promise<unknown> => {
  const response = await fetch(`${sandbox.controlUrl}${path}`, {
    method,
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
  });
  return response.json();
};

// Tests run in any order, and each changes what the platform holds.
beforeEach(async () => {
  truthFile = join(mkdtempSync(join(tmpdir(), "fuelbridge-")), "truth.json");
  sandbox = await startSandbox({
    scenario: "month",
    month: { trades: 60, faults: 13, seed: 11 },
    truth: truthFile,
  });
  const { keys } = (await control("/keys")) as { keys: { name: string; key: string }[] };
  key = keys.find(({ name }) => name === "supplier")?.key ?? "";
}, 60_000);
afterEach(async () => {
  await sandbox.close();
  rmSync(dirname(truthFile), { recursive: true, force: true });
});

function site(more = ""): string {
  vi.stubEnv("MATCH_KEY", key);
  onTestFinished(() => void vi.unstubAllEnvs());
  const folder = tempFolder();
  cpSync("config/crossref", join(folder, "crossref"), { recursive: true });
  mkdirSync(join(folder, "erp"));
  const file = join(folder, "config.yaml");
  writeFileSync(file, CONFIG(sandbox.baseUrl, more));
  return file;
}

const requests = async (): Promise<number> =>
  ((await control("/requests")) as { requests: unknown[] }).requests.length;
const found = (file: string, ...more: string[]) =>
  askCommand<MatchReport>("match", ...more, "--config", file);
const office = async <Result>(file: string, work: (office: Office) => Promise<Result>) =>
  askOf(await loadConfiguration(file), work, "match");

test("what the flows have stored is matched without one request; people settle what was found; values that change bring it back", async () => {
  const file = site(", alertAbove: 1000");
  await commandHere("once", "--config", file);
  // All that there is was read: what is missing would be a comparison that is not made.
  const { flows } = await office(file, (it) => it.status());
  const stored = (await control("/records/rack-prices?key=supplier")) as { records: unknown[] };
  expect(flows.find(({ name }) => name === "prices")?.received).toBe(stored.records.length);
  const before = await requests();
  const report = await found(file);
  expect(await requests()).toBe(before);

  const truth = JSON.parse(readFileSync(truthFile, "utf8")) as Fault[];
  const known = truth.filter(({ kind }) => kind !== "missing freight");
  expect(scoreOf(known, report)).toMatchObject({ missed: [], wrong: [] });
  expect(report.notCompared).toEqual(["freight: no flow brings freight rates"]);

  // One party, one direction, as CSV.
  const { direction, party } = report.parties[0] as MatchReport["parties"][number];
  const own = await found(file, "--party", party, "--direction", direction);
  expect(own.findings).toEqual(
    report.findings.filter((one) => one.party === party && one.direction === direction),
  );
  const { out, code } = await commandHere("match", "--csv", "--config", file);
  expect([code, out.trim().split("\n")[0]]).toEqual([
    1,
    "rule,certainty,direction,party,day,invoices,tickets,orders,compared,billed,expected,gallons,amount,favour,joined_by,cause,next",
  ]);

  // Large ones are a concern, which alerts tell.
  const { matching } = await office(file, (it) => it.status());
  expect(matching).toMatchObject({ open: report.findings.length });
  expect(matching.large.map(({ key }) => key).toSorted()).toEqual(
    report.findings
      .filter(({ amount }) => Number(amount ?? 0) > 1000)
      .map(({ key }) => key)
      .toSorted(),
  );

  // Accepted: it counts no more, and is written down.
  const rate = report.findings.find(({ rule }) => rule === "order-price");
  const person = { by: "ann", note: "agreed by phone" };
  await office(file, (it) => it.settleFinding(rate?.key ?? "", "accepted", person));
  const after = await found(file);
  expect(after.findings.map((one) => one.key)).not.toContain(rate?.key);
  expect(after.accepted.map((one) => one.key)).toEqual([rate?.key]);
  const { deeds } = await office(file, (it) => it.deeds(null));
  expect(deeds[0]).toMatchObject({
    by: "ann",
    reason: "agreed by phone",
    event: "finding accepted",
  });
  await expect(office(file, (it) => it.settleFinding("none", "accepted", person))).rejects.toThrow(
    "not known any more",
  );

  // Other values: it is back.
  const invoice = rate?.papers.find(({ kind }) => kind === "invoice");
  const all = (await control("/records/invoices")) as { records: Record<string, unknown>[] };
  const record = all.records.find(({ id }) => id === invoice?.id) as {
    lineItems: Record<string, unknown>[];
  };
  const lineItems = record.lineItems.map((line) =>
    line["product"] === null ? line : { ...line, rate: Number(line["rate"]) + 0.5 },
  );
  await control(`/records/invoices/${invoice?.id}`, { lineItems }, "PATCH");
  await commandHere("once", "--config", file);
  expect((await found(file)).findings.map((one) => one.key)).toContain(rate?.key);
}, 120_000);

test("a price list that was replaced is still known, for its versions are kept", async () => {
  const file = site();
  await commandHere("once", "--config", file);
  const first = await found(file);
  const old = first.findings.find(({ rule }) => rule === "old-price-list");
  expect(old).toBeDefined();
  const invoices = (await control("/records/invoices")) as {
    records: { id: string; lineItems: { product: string | null }[] }[];
  };
  const billed = invoices.records.find(({ id }) => id === old?.papers[0]?.id);
  const products = new Set(billed?.lineItems.map(({ product }) => product));
  const { records } = (await control("/records/rack-prices?key=supplier")) as {
    records: { id: string; product: string }[];
  };
  // The platform keeps one price by terminal and product: today's takes the place of the one before.
  const effectiveAt = new Date().toISOString();
  for (const { id, product } of records)
    if (products.has(product))
      await control(`/records/rack-prices/${id}`, { price: 9.99, effectiveAt }, "PATCH");
  await commandHere("once", "--config", file);
  const report = await found(file);
  expect(report.findings.find(({ key }) => key === old?.key)).toEqual(old);
}, 120_000);

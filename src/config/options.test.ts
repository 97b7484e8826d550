/** What a flow may set of its mapping, by the schema that the mapping declares. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { connectorsNamed } from "../../connectors/index.ts";
import { mappings } from "../../mappings/index.ts";
import { platformOffers } from "../platform/parts.ts";
import type { Depth } from "./check.ts";
import { type Config, loadConfig, mappingOf } from "./config.ts";
import { InvalidConfiguration, type Problem } from "./problems.ts";

const connectors = await connectorsNamed();
const US = "fd8815fe-a5ee-450d-8b2e-c22e5d6f9056";
const TABLES = {
  items: "product,item",
  customers: "company,account",
  vendors: "company,account",
  units: "unit,symbol",
  sites: "location,company",
};

function load(mapping: string, options: string, depth: Depth = "settings"): Config {
  const folder = mkdtempSync(join(tmpdir(), "fuelbridge-options-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, "crossref"));
  for (const [table, header] of Object.entries(TABLES))
    writeFileSync(join(folder, "crossref", `${table}.csv`), `${header}\n`);
  const file = join(folder, "fuelbridge.yaml");
  writeFileSync(
    file,
    `version: 1
company: prairie
currency: USD
timeZone: America/Chicago
state: ./state
platform: { url: "https://api.example.com/v1/public", environment: live, apiKey: "\${KEY}" }
endpoints:
  books:
    connector: tryton
    url: https://tryton.example.com
    database: prairie
    user: fuelbridge
    password: \${KEY}
    company: Prairie Fuel
    accounts: { receivable: "1", payable: "2", revenue: "3", expense: "4" }
    paymentMethod: Bank
flows:
  flow:
    mapping: ${mapping}
    options: ${options}
    from: platform.${mapping === "books/orders" ? "orders" : "rackPrices"}
    to: books.orders
    every: 10m
`,
  );
  const env = { KEY: "svc_live_abcdefgh1234" };
  const platform = platformOffers;
  return loadConfig(file, { env, connectors, mappings, platform }, depth);
}

function problems(...given: Parameters<typeof load>): readonly Problem[] {
  try {
    load(...given);
    return [];
  } catch (error) {
    if (!(error instanceof InvalidConfiguration)) throw error;
    return error.problems;
  }
}

test.each([
  ["that is wrong", "{ company: prairie }", "company", '"prairie" does not have', "a UUID"],
  ["that there is not", `{ compny: ${US} }`, "compny", "no such setting", 'mean "company"?'],
])("check finds an option %s, with its line", (_, options, setting, message, remedy) => {
  expect(problems("books/orders", options)).toMatchObject([
    {
      line: 20,
      setting: `flows.flow.options.${setting}`,
      message: expect.stringContaining(message),
      remedy: expect.stringContaining(remedy),
    },
  ]);
});

test("check finds options of a mapping that has none", () => {
  expect(problems("canonical/orders", "{ a: 1 }")).toContainEqual(
    expect.objectContaining({
      line: 20,
      setting: "flows.flow.options",
      message: "the mapping canonical/orders has no options",
    }),
  );
});

test("a table of one row is needed only where no option of the flow stands for it", () => {
  expect(problems("books/orders", "{}", "site")).toMatchObject([
    { message: expect.stringContaining("has no table own-company.csv, which books/orders") },
  ]);
  const config = load("books/orders", `{ company: ${US} }`, "site");
  const [flow] = config.flows;
  expect(flow).toMatchObject({ options: { company: US }, optionsLine: 20 });
  expect(Object.keys(mappingOf(config, flow ?? { mapping: "" }).tables ?? {})).not.toContain(
    "own-company",
  );
});

/** A site on which everything is right, for what `check` finds when something is not. */
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { connectorsNamed } from "../../connectors/index.ts";
import { mappings } from "../../mappings/index.ts";
import { platformOffers as platform } from "../platform/parts.ts";
import type { Depth } from "./check.ts";
import { completeCompanies, readCompanies } from "./config.ts";
import { InvalidConfiguration, type Problem } from "./problems.ts";

const connectors = await connectorsNamed();
export const ROOT = join(import.meta.dirname, "..", "..");
export const CANARY = "canary-7d1f0a93";

export const GOOD = `version: 1
company: prairie
currency: USD
timeZone: America/Chicago
state: ./state
platform:
  url: https://api.example.com/v1/public
  environment: live
  apiKey: \${KEY}
endpoints:
  erp:
    connector: files
    folder: exchange
    sources:
      customers: { layout: books.parties, profile: tryton-export/customers, folder: export, pick: customers*.csv }
    sinks:
      orders: { document: orders, folder: import/orders }
      invoices: { document: customer-invoices, folder: import/invoices }
flows:
  orders: { mapping: canonical/orders, from: platform.orders, to: erp.orders, every: 10m }
  issued: { mapping: canonical/customer-invoices, from: platform.invoicesIssued, to: erp.invoices, every: 10m }
  customers: { mapping: books/customers, from: erp.customers, to: platform.customers, every: 10m }
`;

/** A site on which everything is right. */
export function setup() {
  const folder = mkdtempSync(join(tmpdir(), "fuelbridge-check-"));
  const at = (...path: string[]) => join(folder, ...path);
  const config = at("fuelbridge.yaml");
  for (const path of ["exchange/export", "crossref"]) mkdirSync(at(path), { recursive: true });
  const put = (name: string, text: string) => writeFileSync(at(name), text);
  put("crossref/items.csv", "product,item\n");
  put("crossref/taxes.csv", "tax_type,tax\n");
  put("crossref/customers.csv", "company,account\n");
  function problems(
    text: string = GOOD,
    depth: Depth = "site",
    more: Readonly<Record<string, string>> = {},
  ): readonly Problem[] {
    writeFileSync(config, text);
    const env = { KEY: "svc_live_abcdefgh1234", CANARY, ...more };
    try {
      const known = { env, connectors, mappings, platform };
      completeCompanies(readCompanies(config, null, env), () => known, depth);
      return [];
    } catch (error) {
      if (!(error instanceof InvalidConfiguration)) throw error;
      for (const { line, column, message, remedy } of error.problems)
        expect([line > 0, column > 0, message !== "", remedy !== ""]).not.toContain(false);
      return error.problems;
    }
  }
  return { folder, at, config, put, problems };
}

export const changed = (from: string, to: string): string => {
  expect(GOOD).toContain(from);
  return GOOD.replace(from, () => to);
};

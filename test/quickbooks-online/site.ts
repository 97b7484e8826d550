/**
 * A site whose ERP is QuickBooks Online: the shipped configuration, a platform, and a company of the tests' own behind
 * Intuit's interface. fuelbridge works on it in this process.
 */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import {
  CLIENT,
  COMPANY,
  type Company,
} from "../../connectors/quickbooks-online/company.fixture.ts";
import { startCompany } from "../../connectors/quickbooks-online/company-server.fixture.ts";
import { writeTokens } from "../../connectors/quickbooks-online/tokens.ts";
import { root } from "../../src/cli/demo/world.ts";
import { type Json, parseExact } from "../../src/core/json.ts";
import type { QuarantineGroup } from "../../src/report/office.ts";
import { startSandbox } from "../../src/sandbox/server.ts";
import { controlOf } from "../conformance/support.ts";
import { settleIn, today } from "../support/site.ts";
import { commandHere } from "../support/site-command.ts";
import { askHere } from "../support/site-office.ts";
import { fuelbridge, type Running, type Said } from "../support/site-program.ts";

export type Members = Readonly<Record<string, Json>>;

export interface OnlineSite {
  readonly folder: string;
  readonly books: Company;
  readonly control: ReturnType<typeof controlOf>;
  readonly companyId: string;
  /** Raw records of the platform, whoever owns them, numbers exact. */
  records(resource: string): Promise<readonly Members[]>;
  here(...args: string[]): Promise<Said>;
  /** The same as a program of its own, which can be killed. */
  start(...args: string[]): Running;
  /** @throws Error when it was refused */
  ask<Data>(...args: string[]): Promise<Data>;
  /** `code: cause` of what waits for a person. */
  causes(): Promise<string[]>;
  close(): Promise<void>;
}

const DAY_MS = 86_400_000;

/** @param backup of the company of a site that was copied; left out: it is new, with what the shipped tables name */
export async function openOnlineSite(folder: string, backup?: string): Promise<OnlineSite> {
  const sandbox = await startSandbox({ db: join(folder, "platform.sqlite"), scenario: "demo" });
  const control = controlOf(() => sandbox.controlUrl);
  const supplier = (await control.keys()).find(({ name }) => name === "supplier");
  if (supplier === undefined) throw new Error("the sandbox has no supplier");
  const { company: books, close } = await startCompany();
  if (backup === undefined) {
    layOut(folder, supplier.key);
    stock(books, folder);
  } else {
    books.restore(backup);
    settleIn(join(folder, "var", "quickbooks-online", "state"));
  }
  const config = join(folder, "config", "quickbooks-online.yaml");
  const env = {
    FUELBRIDGE_PLATFORM_URL: sandbox.baseUrl,
    FUELBRIDGE_QUICKBOOKS_COMPANY: COMPANY,
    FUELBRIDGE_QUICKBOOKS_CLIENT: CLIENT.clientId,
    BOOKS_URL: books.url,
  };
  async function ask<Data>(...args: string[]): Promise<Data> {
    const known = await askHere(config, env, args);
    if (known === null) throw new Error(`not asked here: ${args.join(" ")}`);
    return known.data as Data;
  }
  return {
    folder,
    books,
    control,
    companyId: supplier.companyId,
    async records(resource) {
      const { text } = await control.ask("GET", `/records/${resource}`);
      return (parseExact(text) as unknown as { records: readonly Members[] }).records;
    },
    here: (...args) => commandHere([...args, "--config", config], env),
    start: (...args) => fuelbridge([...args, "--config", config], env),
    ask,
    async causes() {
      const { groups } = await ask<{ groups: QuarantineGroup[] }>("quarantine", "list");
      return groups.map(({ code, cause }) => `${code}: ${cause}`).sort();
    },
    async close() {
      close();
      await sandbox.close();
    },
  };
}

/** The shipped configuration, with prices and the tests' addresses. */
function layOut(folder: string, apiKey: string): void {
  cpSync(join(root, "config"), join(folder, "config"), { recursive: true });
  const file = join(folder, "config", "quickbooks-online.yaml");
  const more = `environment: production
    url: \${BOOKS_URL}
    tokenUrl: \${BOOKS_URL}/tokens
    prices: { list: T-76-TX-2799 }`;
  const flow = `flows:
  rack-prices:
    mapping: books/rack-prices
    from: books.prices
    to: platform.rackPrices
    every: 10m`;
  const yaml = readFileSync(file, "utf8")
    .replace(/(?<=connector: quickbooks-online[\s\S]*)environment: production/, more)
    .replace("flows:", flow);
  writeFileSync(file, `${yaml}\nfirstStart: ${today()}\n`);
  const own = join(folder, "var", "quickbooks-online");
  mkdirSync(join(own, "state"), { recursive: true, mode: 0o700 });
  for (const [name, value] of [
    ["api-key", apiKey],
    ["client-secret", CLIENT.clientSecret],
  ] as const)
    writeFileSync(join(own, name), `${value}\n`, { mode: 0o600 });
  const later = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString();
  writeTokens(join(own, "state", "quickbooks-online.json"), {
    company: COMPANY,
    accessToken: "access-0",
    accessUntil: later(1),
    refreshToken: "refresh-0",
    refreshUntil: later(90),
    authorisedAt: later(-1),
  });
}

/** What somebody set up in QuickBooks before the first document. */
function stock(books: Company, folder: string): void {
  const table = (name: string) =>
    parse<Record<string, string>>(
      readFileSync(join(folder, "config", "crossref", `${name}.csv`), "utf8"),
      { columns: true, bom: true },
    );
  const of = (name: string, column: string) =>
    table(name).flatMap((row) => (row[column] ? [row[column]] : []));
  const items = new Set([
    "Freight and fees",
    ...of("items", "item"),
    ...of("tryton-taxes", "sales"),
    ...of("tryton-accounts", "sales"),
  ]);
  for (const Name of items) books.enter("Item", { Name, Type: "NonInventory" });
  const accounts = new Set([
    "5000",
    ...of("tryton-taxes", "purchases"),
    ...of("tryton-accounts", "purchases"),
  ]);
  for (const AcctNum of accounts)
    books.enter("Account", { AcctNum, Name: `Account ${AcctNum}`, AccountType: "Expense" });
  for (const Name of ["Checking", "Undeposited Funds"])
    books.enter("Account", { Name, AccountType: "Bank" });
}

/**
 * The two sides of a drill and fuelbridge between them: a platform with its state on disk, an ERP's folder, the
 * configuration, and the daemon as the process that people start.
 */
import { appendFileSync, cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../src/demo/world.ts";
import { type Json, parseExact } from "../../src/core/json.ts";
import { startSandbox } from "../../src/sandbox/server.ts";
import { today } from "../support/site.ts";
import { fuelbridge, type Running } from "../support/site-program.ts";

export type Members = Readonly<Record<string, Json>>;

/** A line of the platform's request log. */
export interface Seen {
  readonly seq: number;
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly idempotencyKey: string | null;
  /** Null while it is under way, and of a torn connection. */
  readonly status: number | null;
  readonly replayed: boolean;
  readonly fault: string | null;
  readonly bodyHash: string | null;
}

export interface Platform {
  readonly url: string;
  readonly companyId: string;
  /** Asks the control interface. @throws Error when it refuses */
  readonly ask: <Answer>(
    method: "GET" | "POST" | "PATCH" | "DELETE",
    path: string,
    body?: unknown,
  ) => Promise<Answer>;
  /** Raw records of every company, numbers exact. */
  records(resource: string): Promise<readonly Members[]>;
  /** Switches readings; those that stand for the whole drill stand. */
  readonly read: (values: Readonly<Record<string, unknown>>) => Promise<unknown>;
  requests(query?: string): Promise<readonly Seen[]>;
  /** Writes that have arrived so far. */
  writes(): Promise<number>;
  close(): Promise<void>;
}

export interface Site {
  readonly folder: string;
  readonly config: string;
  readonly state: string;
  /** Where the ERP exports to and imports from. */
  readonly erp: string;
  readonly platform: Platform;
  start(...args: string[]): Running;
}

/** `settle` and `overlap` are seconds. The platform holds nothing but its companies. */
export async function openSite(
  folder: string,
  {
    settle,
    more = "",
    readings = {},
  }: {
    settle: number;
    more?: string;
    /** Of the platform, for the whole drill. */
    readings?: Readonly<Record<string, unknown>>;
  },
): Promise<Site> {
  const erp = join(folder, "erp");
  const config = join(folder, "drill.yaml");
  mkdirSync(join(erp, "export"), { recursive: true });
  mkdirSync(join(erp, "import", "invoices"), { recursive: true });
  cpSync(join(root, "config", "crossref"), join(folder, "crossref"), { recursive: true });
  // Nothing but their being ours keeps our invoices from going back to the ERP.
  appendFileSync(join(folder, "crossref", "taxes.csv"), "State Tax,ST\n");
  const { platform, apiKey } = await openPlatform(join(folder, "platform.sqlite"), readings);
  await platform.read({});
  writeFileSync(join(folder, "api-key"), `${apiKey}\n`, { mode: 0o600 });
  writeFileSync(config, configuration(platform.url, settle) + more);
  return {
    folder,
    config,
    state: join(folder, "state"),
    erp,
    platform,
    start: (...args) => fuelbridge([...args, "--config", config]),
  };
}

const configuration = (url: string, settle: number): string => `version: 1
company: drill
currency: USD
timeZone: America/Chicago
state: state
firstStart: ${today()}
platform:
  url: ${url}
  environment: live
  apiKey: \${file:api-key}
  settle: ${settle}s
  overlap: 10s
endpoints:
  erp:
    connector: files
    folder: erp
    settleMs: 0
    sources:
      customers: { layout: books.parties, profile: tryton-export/customers, folder: export, pick: "customers*.csv" }
      suppliers: { layout: books.parties, profile: tryton-export/suppliers, folder: export, pick: "suppliers*.csv" }
      prices: { layout: books.prices, profile: tryton-export/price-lists, folder: export, pick: "price-lists*.csv" }
      invoices:
        layout: books.invoices
        profile: tryton-export/customer-invoices
        folder: export
        pick:
          heads: "customer-invoices*.csv"
          lines: "customer-invoice-lines*.csv"
          taxes: "customer-invoice-taxes*.csv"
    sinks:
      invoices: { document: customer-invoices, folder: import/invoices }
flows:
  customers: { mapping: books/customers, from: erp.customers, to: platform.customers, every: 10s }
  suppliers: { mapping: books/suppliers, from: erp.suppliers, to: platform.suppliers, every: 10s }
  rack-prices: { mapping: books/rack-prices, from: erp.prices, to: platform.rackPrices, every: 10s }
  invoices: { mapping: books/invoices, from: erp.invoices, to: platform.invoices, every: 10s }
  invoices-issued: { mapping: canonical/customer-invoices, from: platform.invoicesIssued, to: erp.invoices, every: 10s }
`;

async function openPlatform(
  db: string,
  readings: Readonly<Record<string, unknown>>,
): Promise<{ platform: Platform; apiKey: string }> {
  const sandbox = await startSandbox({ db, scenario: "empty" });
  const exact = async (method: string, path: string, body?: unknown): Promise<string> => {
    const response = await fetch(sandbox.controlUrl + path, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text;
  };
  const ask = async <Answer>(method: string, path: string, body?: unknown): Promise<Answer> =>
    JSON.parse(await exact(method, path, body)) as Answer;
  const requests = async (query = ""): Promise<readonly Seen[]> =>
    (await ask<{ requests: Seen[] }>("GET", `/requests${query}`)).requests;
  const { keys } = await ask<{ keys: { name: string; key: string; companyId: string }[] }>(
    "GET",
    "/keys",
  );
  const supplier = keys.find(({ name }) => name === "supplier");
  if (supplier === undefined) throw new Error("the sandbox has no supplier");
  let writes = 0;
  let last = 0;
  return {
    apiKey: supplier.key,
    platform: {
      url: sandbox.baseUrl,
      companyId: supplier.companyId,
      ask,
      records: async (resource) =>
        (
          parseExact(await exact("GET", `/records/${resource}`)) as unknown as {
            records: Members[];
          }
        ).records,
      read: (values) => ask("POST", "/readings", { ...values, ...readings }),
      requests,
      async writes() {
        for (const { seq } of await requests(`?method=POST&since=${last}`)) {
          writes++;
          last = seq;
        }
        return writes;
      },
      close: () => sandbox.close(),
    },
  };
}

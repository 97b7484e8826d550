/**
 * Customer invoices per second, created and posted in a real Tryton through fuelbridge, against a bare client that makes
 * the same invoices with the same calls, 20 at a time, and does nothing else: no look before, no comparison, no memory.
 * Each side in a fresh process with books of its own, in turns; compared pair by pair.
 */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { request } from "undici";
import { z } from "zod";
import type { Side } from "./pull.ts";
import { inChild, inFolder, median, root, say, verdict } from "./support.ts";
import { bookedCustomerInvoices as customerInvoices } from "../mappings/invoices.ts";
import { openTables } from "../src/config/crossref.ts";
import { calendarOf } from "../src/core/time.ts";
import type { References } from "../src/core/contract.ts";
import { NotMapped } from "../src/core/errors.ts";
import { parseExact, stringifyExact } from "../src/core/json.ts";
import { InvoiceDocument } from "../src/ledger/documents.ts";
import { startSandbox } from "../src/sandbox/server.ts";
import { table } from "../src/views/text.ts";
import {
  type Books,
  startTryton,
  trytonIsThere,
  type TrytonServer,
} from "../test/support/tryton.ts";
import { logIn } from "../test/tryton/rpc.ts";

const TARGET = 0.9;
const ZONE = "America/Chicago";

export async function benchTryton(invoices: number, rounds: number): Promise<void> {
  if (!trytonIsThere)
    return say("", "tryton: trytond is not installed here (Debian: tryton-server)");
  const server = await startTryton();
  try {
    await inFolder((folder) => compare(server, folder, invoices, rounds));
  } finally {
    await server.stop();
  }
}

async function compare(
  server: TrytonServer,
  folder: string,
  invoices: number,
  rounds: number,
): Promise<void> {
  cpSync(join(root, "config", "crossref"), join(folder, "crossref"), { recursive: true });
  const platform = await platformWith(folder, invoices);
  const customers = await customersIn(server.copy("customers"), platform.documents);
  const pairs: { bare: Side; ours: Side }[] = [];
  say("", `tryton: ${invoices} customer invoices, 20 in a call`);
  let copies = 0;
  const side = async (file: string): Promise<Side> => {
    const at = ++copies;
    const books = server.copy(`bench${at}`);
    books.restore(customers);
    // A database that the server has not served yet is loaded at the first login.
    await logIn(books, books.clerk);
    return inChild<Side>(file, environment(join(folder, String(at)), books, platform));
  };
  try {
    for (let at = 0; at < rounds; at++) {
      const bare = await side("tryton-bare.ts");
      const ours = await side("tryton-fuelbridge.ts");
      pairs.push({ bare, ours });
      const [theirs, own] = [rate(bare).toFixed(1), rate(ours).toFixed(1)];
      say(`  bare client ${theirs}/s   fuelbridge ${own}/s   ${ratio({ bare, ours }).toFixed(2)}`);
    }
  } finally {
    await platform.close();
  }
  const middle = median(pairs.map(ratio));
  const rates = (name: "bare" | "ours"): string =>
    `${median(pairs.map((pair) => rate(pair[name]))).toFixed(1)}/s`;
  const row = [String(invoices), rates("bare"), rates("ours"), middle.toFixed(2), `>= ${TARGET}`];
  const head = ["TRYTON", "BARE CLIENT", "FUELBRIDGE", "RATIO", "TARGET", ""];
  say("", table(head, [[...row, verdict(middle >= TARGET)]]));
}

const rate = ({ records, seconds }: Side): number => records / seconds;
const ratio = ({ bare, ours }: { bare: Side; ours: Side }): number => bare.seconds / ours.seconds;

interface Platform {
  readonly url: string;
  readonly apiKey: string;
  /** The documents that the mapping makes of its invoices, as exact JSON. */
  readonly documents: string;
  close(): Promise<void>;
}

/** Open invoices, due next month, of as many customers as the table has. */
async function platformWith(folder: string, invoices: number): Promise<Platform> {
  const sandbox = await startSandbox({ db: ":memory:", scenario: "empty" });
  const control = async (method: "GET" | "POST" | "PATCH", path: string, order?: object) => {
    const body = order === undefined ? null : JSON.stringify(order);
    const answer = await request(sandbox.controlUrl + path, { method, body });
    const text = await answer.body.text();
    if (answer.statusCode >= 300) throw new Error(`the sandbox answered: ${text}`);
    return parseExact(text) as unknown;
  };
  const { keys } = (await control("GET", "/keys")) as { keys: { name: string; key: string }[] };
  await control("POST", "/generate", { key: "supplier", invoices, seed: 4711 });
  const customers = readFileSync(join(folder, "crossref", "customers.csv"), "utf8")
    .split("\n")
    .flatMap((row) => /^[0-9a-f-]{36}/.exec(row)?.[0] ?? []);
  const stored = (await control("GET", "/records/invoices")) as { records: { id: string }[] };
  const dueDate = new Date(Date.now() + 30 * 86_400_000).toISOString();
  const records: unknown[] = [];
  for (const [at, { id }] of stored.records.entries()) {
    const payerCompanyId = customers[at % customers.length];
    const open = { status: "OUTSTANDING", paidAt: null, dueDate, payerCompanyId };
    records.push(await control("PATCH", `/records/invoices/${id}`, open));
  }
  const documents = join(folder, "documents.json");
  const mapped = records.map((record) =>
    customerInvoices.map(customerInvoices.input.parse(record), referencesIn(folder)),
  );
  writeFileSync(documents, stringifyExact(mapped));
  const apiKey = keys.find(({ name }) => name === "supplier")?.key ?? "";
  return { url: sandbox.baseUrl, apiKey, documents, close: () => sandbox.close() };
}

/** A copy of the books with every customer in it: making parties is not what is measured. */
async function customersIn(books: Books, documents: string): Promise<string> {
  const tryton = await logIn(books, books.clerk);
  const all = z.array(InvoiceDocument).parse(parseExact(readFileSync(documents, "utf8")));
  const parties = new Map(all.map(({ party }) => [party.code, party]));
  for (const { code, name, companyId } of parties.values())
    await tryton.create("party.party", {
      code,
      name,
      identifiers: [["create", [{ code: companyId }]]],
      addresses: [["create", [{}]]],
    });
  return books.keep();
}

function referencesIn(folder: string): References {
  const tables = openTables(join(folder, "crossref"));
  return {
    currency: "USD",
    dayOf: calendarOf(ZONE),
    find: () => null,
    counterpart: (kind, id) => `${kind} ${id}`,
    row(table, key) {
      const row = tables.row(table, key);
      if (row === null) throw new NotMapped(table, key);
      return row;
    },
  };
}

function environment(
  folder: string,
  books: Books,
  { url, apiKey, documents }: Platform,
): Record<string, string> {
  mkdirSync(folder);
  const file = join(folder, "config.yaml");
  writeFileSync(file, CONFIG);
  return {
    FUELBRIDGE_CONFIG: file,
    FUELBRIDGE_PLATFORM_URL: url,
    FUELBRIDGE_API_KEY: apiKey,
    FUELBRIDGE_TRYTON_URL: books.url,
    FUELBRIDGE_TRYTON_DATABASE: books.database,
    FUELBRIDGE_TRYTON_PASSWORD: books.password,
    FUELBRIDGE_DOCUMENTS: documents,
  };
}

const CONFIG = `
version: 1
company: bench
currency: USD
timeZone: ${ZONE}
state: ./state
firstStart: ${new Date().toISOString().slice(0, 10)}
platform:
  url: \${FUELBRIDGE_PLATFORM_URL}
  environment: live
  apiKey: \${FUELBRIDGE_API_KEY}
endpoints:
  books:
    connector: tryton
    url: \${FUELBRIDGE_TRYTON_URL}
    database: \${FUELBRIDGE_TRYTON_DATABASE}
    user: fuelbridge
    password: \${FUELBRIDGE_TRYTON_PASSWORD}
    company: Prairie Fuel
    accounts: { receivable: "1200", payable: "2100", revenue: "4000", expense: "5000" }
    paymentMethod: Bank transfer
    posting: post
    batch: 20
crossReferences: ../crossref
flows:
  invoices-issued:
    mapping: books/customer-invoices
    from: platform.invoicesIssued
    to: books.invoices
    every: 10m
`;

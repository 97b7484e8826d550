/**
 * A CSV of 200,000 rows as documents, by the engine's own pull into the store, beside csv-parse alone, in turns and each in
 * a fresh process. The rows are what an ERP exports of delivery tickets of a wet-hose fueler: a ticket for each visit to a
 * fleet's yard, with a row for each of ten trucks that were filled. A row of an ERP's export is hardly ever a document of
 * its own: heads are written once, and their lines below them.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Side } from "./pull.ts";
import { inChild, inFolder, writePieces } from "./support.ts";

export const CUSTOMERS = Array.from({ length: 400 }, (_, at) => `C${1000 + at}`);
export const SUPPLIERS = ["V-GULF", "V-BAYOU", "V-PERMIAN"];
const LINES = 10;

export interface Round {
  readonly bare: Side;
  readonly pulled: Side;
  readonly mapped: Side;
}

/** `flags`, `env`: as the launcher starts the daemon. @throws Error when a side has not read all */
export function benchDocuments(
  rows: number,
  flags: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Round> {
  return inFolder(async (folder) => {
    const file = join(folder, "tickets.csv");
    await writePieces(file, tickets(rows));
    const bare = await inChild<Side>(
      "files-side.ts",
      { ...env, FUELBRIDGE_SIDE: "csv-parse", FUELBRIDGE_FILE: file },
      flags,
    );
    const round = { bare, pulled: await side("pulled"), mapped: await side("mapped") };
    const count = rows / LINES;
    if (bare.records !== rows) throw new Error(`csv-parse read ${bare.records} of ${rows} rows`);
    for (const name of ["pulled", "mapped"] as const)
      if (round[name].records !== count)
        throw new Error(`${name}: ${round[name].records} of ${count} tickets`);
    return round;

    function side(name: string): Promise<Side> {
      return inFolder(async (site) => {
        await makeSite(site, rows);
        const paths = { FUELBRIDGE_CONFIG: join(site, "config.yaml"), FUELBRIDGE_SIDE: name };
        return inChild<Side>("documents-side.ts", { ...env, ...KEY, ...paths }, flags);
      });
    }
  });
}

const KEY = { FUELBRIDGE_API_KEY: `svc_live_${"0".repeat(32)}` };

/** A configuration with one flow of tickets, its table of products, and the export. */
async function makeSite(folder: string, rows: number): Promise<void> {
  mkdirSync(join(folder, "erp"));
  mkdirSync(join(folder, "crossref"));
  await writePieces(join(folder, "erp", "tickets.csv"), tickets(rows));
  writeFileSync(join(folder, "config.yaml"), CONFIG);
  writeFileSync(join(folder, "crossref", "products.csv"), PRODUCTS);
}

/** Heads on the first row of a ticket, as the profile `plain/delivery-tickets` has them. */
function* tickets(rows: number): Generator<string> {
  yield (
    "Number,Status,Order ID,Supplier,Customer,BOL Number,Delivered,Driver,Carrier,Terminal,Destination,Notes," +
    "Lines/Product,Lines/Spec,Lines/Gross Gallons,Lines/Net Gallons,Lines/Temperature,Lines/API Gravity\r\n"
  );
  for (let at = 0; at < rows; at++) {
    const ticket = Math.floor(at / LINES);
    const customer = CUSTOMERS[ticket % CUSTOMERS.length];
    const supplier = SUPPLIERS[ticket % SUPPLIERS.length];
    const day = `11/${String(1 + (ticket % 28)).padStart(2, "0")}/2026`;
    const head =
      at % LINES === 0
        ? `DT-${100_000 + ticket},ISSUED,,${supplier},${customer},BOL${700_000 + ticket},${day},"Reyes, M.",Bluebonnet Wet Hose,T-76-TX-2604,"Yard ${ticket % 60}, Lockhart TX",`
        : ",,,,,,,,,,,";
    const gross = `${10 + (at % 140)}.${at % 10}`;
    const net = `${10 + (at % 140)}.${(at + 3) % 10}`;
    const product = at % 3 === 0 ? "ULSD-DYE" : "ULSD-CLR";
    yield `${head},${product},#2,${gross},${net},${61 + (at % 20)}.5,35.${at % 10}\r\n`;
  }
}

const PRODUCTS = "code,product\nULSD-CLR,ULSD #2 clear\nULSD-DYE,ULSD #2 dyed\n";

/** Nothing is sent: nobody listens there. */
const CONFIG = `
version: 1
company: bench
currency: USD
timeZone: America/Chicago
state: ./state
firstStart: ${new Date().toISOString().slice(0, 10)}
platform: { url: "http://127.0.0.1:9/v1/public", environment: live, apiKey: "\${FUELBRIDGE_API_KEY}" }
endpoints:
  erp:
    connector: files
    folder: ./erp
    settleMs: 0
    sources:
      tickets: { layout: plain/delivery-tickets, pick: tickets*.csv }
flows:
  tickets:
    mapping: plain/delivery-tickets
    from: erp.tickets
    to: platform.tickets
    every: 10m
`;

/**
 * Records per second from the sandbox into the store, with their deliveries, against a bare loop that fetches, parses
 * and inserts the same pages and does nothing else. Each side in a fresh process, in turns; compared pair by pair.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { table } from "../src/views/text.ts";
import {
  inChild,
  inFolder,
  median,
  type Platform,
  root,
  say,
  startPlatform,
  verdict,
  whole,
} from "./support.ts";

/** What a side reports of its measured part; the peak is of its whole process. */
export interface Side {
  readonly records: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly peakMb: number;
}

const TARGET = 0.6;

/** `rounds`: how many pairs for each number of records. */
export async function benchPull(rounds: Readonly<Record<number, number>>): Promise<void> {
  const platform = await startPlatform("empty");
  try {
    const results: string[][] = [];
    let present = 0;
    for (const [records, pairs] of Object.entries(rounds)) {
      await platform.generateInvoices(Number(records) - present);
      // The sandbox warms up, and keeps nothing from it.
      if (present === 0) await bareLoop(platform);
      present = Number(records);
      results.push(await compare(platform, present, pairs));
    }
    say(
      "",
      table(["PULL", "BARE LOOP", "FUELBRIDGE", "RATIO", "CPU RATIO", "TARGET", ""], results),
    );
  } finally {
    await platform.stop();
  }
}

async function compare(platform: Platform, records: number, pairs: number): Promise<string[]> {
  const rows: { bare: Side; ours: Side }[] = [];
  say("", `${whole(records)} invoices: records/s (peak MB)`);
  for (let at = 0; at < pairs; at++) {
    const bare = await bareLoop(platform);
    const ours = await inFolder((folder) => fuelbridge(platform, folder));
    if (bare.records !== records || ours.records !== records)
      throw new Error(`stored ${bare.records} and ${ours.records} of ${records} records`);
    rows.push({ bare, ours });
    say(`  bare loop ${shown(bare)}   fuelbridge ${shown(ours)}   ${ratio({ bare, ours })}`);
  }
  const middle = median(rows.map(({ bare, ours }) => bare.seconds / ours.seconds));
  const cpu = median(rows.map(({ bare, ours }) => bare.cpuSeconds / ours.cpuSeconds));
  return [
    whole(records),
    summary(rows.map(({ bare }) => bare)),
    summary(rows.map(({ ours }) => ours)),
    middle.toFixed(2),
    cpu.toFixed(2),
    `>= ${TARGET}`,
    verdict(middle >= TARGET),
  ];
}

const rate = ({ records, seconds }: Side): number => records / seconds;
const shown = (side: Side): string => `${whole(rate(side))} (${whole(side.peakMb)})`;
const summary = (sides: readonly Side[]): string =>
  `${whole(median(sides.map(rate)))}/s, ${whole(median(sides.map(({ peakMb }) => peakMb)))} MB`;
const ratio = ({ bare, ours }: { bare: Side; ours: Side }): string =>
  `${(bare.seconds / ours.seconds).toFixed(2)}, by CPU ${(bare.cpuSeconds / ours.cpuSeconds).toFixed(2)}`;

function bareLoop({ url, apiKey }: Platform): Promise<Side> {
  return inFolder((folder) =>
    inChild<Side>("pull-bare.ts", {
      FUELBRIDGE_PLATFORM_URL: url,
      FUELBRIDGE_API_KEY: apiKey,
      FUELBRIDGE_STORE: join(folder, "bare.sqlite"),
    }),
  );
}

/** `more`: variables of the environment. */
export function fuelbridge(
  { url, apiKey }: Platform,
  folder: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Side> {
  const file = join(folder, "config.yaml");
  mkdirSync(join(folder, "erp"));
  writeFileSync(file, `${CONFIG}crossReferences: ${join(root, "config", "crossref")}\n`);
  return inChild<Side>("pull-fuelbridge.ts", {
    FUELBRIDGE_PLATFORM_URL: url,
    FUELBRIDGE_API_KEY: apiKey,
    FUELBRIDGE_CONFIG: file,
    ...more,
  });
}

/** A site with one flow: issued invoices into files. */
export const CONFIG = `
version: 1
company: bench
currency: USD
timeZone: America/Chicago
state: ./state
firstStart: ${new Date().toISOString().slice(0, 10)}
platform:
  url: \${FUELBRIDGE_PLATFORM_URL}
  environment: live
  apiKey: \${FUELBRIDGE_API_KEY}
  # The bare loop asks nobody how fast it may go.
  budget: { perMinute: 100000, perMonth: 1000000 }
endpoints:
  erp:
    connector: files
    folder: ./erp
    sinks:
      invoices: { document: customer-invoices, folder: import }
flows:
  invoices-issued:
    mapping: canonical/customer-invoices
    from: platform.invoicesIssued
    to: erp.invoices
    every: 10m
`;

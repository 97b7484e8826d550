/**
 * Memory and time of `fuelbridge once` over one export of 200,000 prices (23 MB): read, stored and mapped. The mapping
 * refuses all but the first of a terminal's prices, so that the sandbox is no part of what is measured.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { table } from "../src/views/text.ts";
import { inFolder, root, say, startPlatform, verdict, whole, writePieces } from "./support.ts";
import { memoryOf } from "../test/support/memory.ts";

const ROWS = 200_000;
const MAX_MB = 250;

export async function benchLargeFile(): Promise<void> {
  const platform = await startPlatform("demo");
  try {
    const { peakMb, seconds } = await inFolder((folder) => measure(folder, platform));
    say(
      "",
      table(
        ["LARGE FILE", "SECONDS", "PEAK MB", "TARGET", ""],
        [
          [
            `${whole(ROWS)} rows`,
            seconds.toFixed(1),
            whole(peakMb),
            `< ${MAX_MB}`,
            verdict(peakMb < MAX_MB),
          ],
        ],
      ),
    );
  } finally {
    await platform.stop();
  }
}

async function measure(
  folder: string,
  { url, apiKey }: { url: string; apiKey: string },
): Promise<{ peakMb: number; seconds: number }> {
  const config = join(folder, "config.yaml");
  mkdirSync(join(folder, "erp"));
  writeFileSync(config, CONFIG);
  await writePieces(join(folder, "erp", "price-lists.csv"), prices());
  const startedMs = performance.now();
  const child = spawn(
    process.execPath,
    [...process.execArgv, join(root, "src", "launch.mjs"), "once", "--config", config],
    {
      stdio: ["ignore", "inherit", "inherit"],
      env: { ...process.env, FUELBRIDGE_PLATFORM_URL: url, FUELBRIDGE_API_KEY: apiKey },
    },
  );
  let peakMb = 0;
  const watch = setInterval(() => {
    // It may have ended a moment ago.
    if (child.exitCode === null) peakMb = Math.max(peakMb, peakOf(child.pid as number));
  }, 100);
  await once(child, "exit");
  clearInterval(watch);
  return { peakMb, seconds: (performance.now() - startedMs) / 1_000 };
}

/** 0 for one that has ended: until it is waited for it has no memory. */
function peakOf(pid: number): number {
  try {
    return memoryOf(pid).peak || 0;
  } catch {
    return 0;
  }
}

/** 115 bytes a row, as Tryton writes them. */
function* prices(): Generator<string> {
  yield (
    "ID,Name,Unit,Tax Included,Lines/Sequence,Lines/Product/Code,Lines/Product,Lines/Category,Lines/Quantity," +
    "Lines/Formula,Edited at,Created at\r\n"
  );
  for (let at = 0; at < ROWS; at++) {
    const list =
      at % 200 === 0 ? `${at / 200 + 1},T-76-TX-${at / 200} Terminal,product_default,0` : ",,,";
    const row = `${list},${at % 200},0${at % 90},Ultra-low sulfur diesel number 2 clear at the rack,,${at},2.${at % 10_000},11/21/2026 08:00:00 AM,11/20/2026 08:00:00 AM\r\n`;
    yield at % 200 === 0 ? row : row.replace(/,11\/21.*$/m, ",,");
  }
}

const CONFIG = `
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
endpoints:
  erp:
    connector: files
    folder: ./erp
    settleMs: 0
    maxBytes: 100000000
    sources:
      prices: { layout: books.prices, profile: tryton-export/price-lists, pick: price-lists*.csv }
flows:
  rack-prices:
    mapping: books/rack-prices
    from: erp.prices
    to: platform.rackPrices
    every: 10m
`;

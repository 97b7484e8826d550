/**
 * Seconds to match, judge and sum both sides of a month, besides the requests: so many invoices, half as many bills,
 * their payments, parties and prices, with differences planted. Beside it, in turns and each in a fresh process, a bare
 * loop over the same records.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { table } from "../src/views/text.ts";
import { CONFIG, type Side } from "./pull.ts";
import { inChild, inFolder, median, root, say, startPlatform, verdict, whole } from "./support.ts";

/** Invoices that differ. */
export const PLANTED = 25;
const TARGET_S = 60;

export async function benchReconcile(invoices: number, rounds: number): Promise<void> {
  say("", `reconcile: ${whole(invoices)} invoices, seconds (peak MB)`);
  const run = (side: string) =>
    inChild<Side>("reconcile-side.ts", {
      FUELBRIDGE_SIDE: side,
      FUELBRIDGE_INVOICES: String(invoices),
    });
  const rows: { bare: Side; ours: Side }[] = [];
  for (let at = 0; at < rounds; at++) {
    const [bare, ours] = [await run("bare"), await run("fuelbridge")];
    rows.push({ bare, ours });
    say(`  bare loop ${shown(bare)}   fuelbridge ${shown(ours)}`);
  }
  const ours = median(rows.map((row) => row.ours.seconds));
  say(
    "",
    table(
      ["RECONCILE", "RECORDS", "BARE LOOP S", "FUELBRIDGE S", "TARGET", ""],
      [
        [
          `${whole(invoices)} invoices`,
          whole(rows[0]?.ours.records ?? 0),
          median(rows.map((row) => row.bare.seconds)).toFixed(2),
          ours.toFixed(2),
          `< ${TARGET_S}`,
          verdict(ours < TARGET_S),
        ],
      ],
    ),
  );
}

/**
 * Seconds of the whole of it, as `fuelbridge reconcile` runs it, the requests to the sandbox included: read, matched,
 * mapped, judged, confirmed, kept and written as text, CSV and journals. The books are files, the store has a link for
 * every invoice.
 */
export async function benchReconcileSite(invoices: number, rounds: number): Promise<void> {
  say(
    "",
    `reconcile, the whole run with its requests: ${whole(invoices)} invoices, seconds (peak MB)`,
  );
  const sides: Side[] = [];
  for (let at = 0; at < rounds; at++) {
    const platform = await startPlatform("empty");
    try {
      await platform.generateInvoices(invoices);
      const side = await inFolder((folder) => {
        const file = join(folder, "config.yaml");
        writeFileSync(file, `${CONFIG}\ncrossReferences: ${join(root, "config", "crossref")}\n`);
        return inChild<Side>("reconcile-site.ts", {
          FUELBRIDGE_PLATFORM_URL: platform.url,
          FUELBRIDGE_API_KEY: platform.apiKey,
          FUELBRIDGE_CONTROL_URL: platform.controlUrl,
          FUELBRIDGE_CONFIG: file,
          FUELBRIDGE_INVOICES: String(invoices),
        });
      });
      sides.push(side);
      say(`  fuelbridge ${shown(side)}, of a processor ${side.cpuSeconds.toFixed(2)}`);
    } finally {
      await platform.stop();
    }
  }
  const seconds = median(sides.map((side) => side.seconds));
  say(
    "",
    table(
      ["RECONCILE, WITH REQUESTS", "SECONDS", "TARGET", ""],
      [
        [
          `${whole(invoices)} invoices`,
          seconds.toFixed(2),
          `< ${TARGET_S}`,
          verdict(seconds < TARGET_S),
        ],
      ],
    ),
  );
}

const shown = ({ seconds, peakMb }: Side): string => `${seconds.toFixed(2)} (${whole(peakMb)})`;

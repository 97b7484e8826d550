/**
 * Seconds to match, judge and sum both sides of a month, besides the requests: so many invoices, half as many bills,
 * their payments, parties and prices, with differences planted. Beside it, in turns and each in a fresh process, a bare
 * loop over the same records.
 */
import { table } from "../src/cli/table.ts";
import type { Side } from "./pull.ts";
import { inChild, median, say, verdict, whole } from "./support.ts";

/** Invoices that differ by a cent. */
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

const shown = ({ seconds, peakMb }: Side): string => `${seconds.toFixed(2)} (${whole(peakMb)})`;

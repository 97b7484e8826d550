/** Seconds and memory to match so many invoices, bills among them, with their orders and tickets: read from JSON, joined, judged. */
import { table } from "../src/views/text.ts";
import type { Side } from "./pull.ts";
import { inChild, median, say, verdict, whole } from "./support.ts";

const TARGET_S = 60;
const TARGET_MB = 300;
/** Of the daemon (src/launch.mjs), and half as much garbage: the process makes its papers itself. */
const FLAGS = ["--max-semi-space-size=4", "--heap-growing-percent=50"];

export async function benchMatch(invoices: number, rounds: number): Promise<void> {
  say("", `match: ${whole(invoices)} invoices, seconds (peak MB)`);
  const sides: Side[] = [];
  for (let at = 0; at < rounds; at++) {
    // As the launcher starts the daemon.
    const asked = { FUELBRIDGE_INVOICES: String(invoices), MALLOC_ARENA_MAX: "2" };
    const side = await inChild<Side>("match-side.ts", asked, FLAGS);
    sides.push(side);
    say(`  fuelbridge ${side.seconds.toFixed(2)} (${whole(side.peakMb)})`);
  }
  const seconds = median(sides.map((side) => side.seconds));
  const peak = Math.max(...sides.map(({ peakMb }) => peakMb));
  say(
    "",
    table(
      ["MATCH", "SECONDS", "TARGET", "", "PEAK MB", "TARGET", ""],
      [
        [
          `${whole(invoices)} invoices`,
          seconds.toFixed(2),
          `< ${TARGET_S}`,
          verdict(seconds < TARGET_S),
          whole(peak),
          `< ${TARGET_MB}`,
          verdict(peak < TARGET_MB),
        ],
      ],
    ),
  );
}

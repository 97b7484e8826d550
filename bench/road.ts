/**
 * The whole road of invoices: pulled from the sandbox, mapped, frozen and written into files, in CPU seconds; and how much
 * more ten times as many take, for no step of the road may read what came before it.
 */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { table } from "../src/views/text.ts";
import { fuelbridge, type Side } from "./pull.ts";
import { inFolder, median, say, startPlatform, verdict, whole } from "./support.ts";

/** CPU seconds of the first count, and how many times that each ten times as many may take. */
const SECONDS_MAX = 9;
const TIMES_MAX = 11;

export const benchRoad = (counts: readonly number[], rounds: number): Promise<void> =>
  // The files stay until all is measured: ext4 looks at each one that went lately before it makes another (3 s of 20,000).
  inFolder((folder) => benchIn(folder, counts, rounds));

async function benchIn(all: string, counts: readonly number[], rounds: number): Promise<void> {
  const platform = await startPlatform("empty");
  try {
    const results: string[][] = [];
    let before: number | null = null;
    let present = 0;
    for (const records of counts) {
      await platform.generateInvoices(records - present);
      present = records;
      const sides: Side[] = [];
      for (let at = 0; at < rounds; at++) {
        const folder = join(all, `${records}-${at}`);
        mkdirSync(folder);
        sides.push(await fuelbridge(platform, folder, { FUELBRIDGE_ROAD: "1" }));
        rmSync(join(folder, "state"), { recursive: true });
      }
      if (sides.some((side) => side.records !== records))
        throw new Error(`delivered ${sides.map((side) => side.records).join(", ")} of ${records}`);
      const seconds = median(sides.map(({ cpuSeconds }) => cpuSeconds));
      const most: number = before === null ? SECONDS_MAX : before * TIMES_MAX;
      results.push([
        whole(records),
        seconds.toFixed(1),
        `${whole(median(sides.map(({ peakMb }) => peakMb)))} MB`,
        `<= ${most.toFixed(1)}`,
        verdict(seconds <= most),
      ]);
      before = seconds;
    }
    say("", table(["ROAD", "CPU SECONDS", "PEAK", "TARGET", ""], results));
  } finally {
    await platform.stop();
  }
}

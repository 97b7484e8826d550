import { peakMb } from "../test/support/memory.ts";
import type { Side } from "./pull.ts";

/** Runs the measured part of a process and reports it on standard output. `work` returns how many records it stored. */
export async function report(work: () => Promise<number>): Promise<void> {
  const before = process.cpuUsage();
  const startedMs = performance.now();
  const records = await work();
  const seconds = (performance.now() - startedMs) / 1_000;
  const { user, system } = process.cpuUsage(before);
  const side: Side = {
    records,
    seconds,
    cpuSeconds: (user + system) / 1_000_000,
    peakMb: peakMb(),
  };
  process.stdout.write(`${JSON.stringify(side)}\n`);
}

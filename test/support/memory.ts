import { readFileSync } from "node:fs";
import { pid as ownPid, platform } from "node:process";

/** Megabytes in memory, now and at most. @throws Error where there is no /proc: only Linux tells it of another process */
export function memoryOf(pid: number): { now: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const of = (name: string): number =>
    Number(new RegExp(`^${name}:\\s*(\\d+) kB`, "m").exec(status)?.[1]) / 1024;
  return { now: of("VmRSS"), peak: of("VmHWM") };
}

/** The most megabytes that this program had. Linux counts in `maxRSS` also what the process that started it had then. */
export const peakMb = (): number =>
  platform === "linux" ? memoryOf(ownPid).peak : process.resourceUsage().maxRSS / 1024;

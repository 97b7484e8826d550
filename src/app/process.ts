/** The process that fuelbridge runs in: its signals, clocks, memory and version. */
import { exitCodes } from "../core/errors.ts";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Clock } from "../core/time.ts";
import { runInNewContext } from "node:vm";
import { setFlagsFromString } from "node:v8";
import manifest from "../../package.json" with { type: "json" };

const CODES = { SIGINT: exitCodes.interrupted, SIGTERM: exitCodes.terminated } as const;

/**
 * Runs `work` until it is done or was told to stop; `exitCode` is null when no signal came. The first SIGINT or SIGTERM asks
 * for an end: what is in hand is finished. The second stops waiting. A launcher that is gone, which would have passed them on,
 * asks as SIGTERM does.
 */
export async function untilSignal<Result>(
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<{ result: Result; exitCode: number | null }> {
  const controller = new AbortController();
  let exitCode: number | null = null;
  const stop = (signal: keyof typeof CODES): void => {
    if (exitCode !== null) process.exit(CODES[signal]);
    exitCode = CODES[signal];
    controller.abort();
  };
  const orphaned = (): void => {
    if (exitCode === null) stop("SIGTERM");
  };
  process.on("SIGINT", stop).on("SIGTERM", stop);
  const isLaunched = process.env["FUELBRIDGE_LAUNCHER"] === String(process.ppid);
  if (isLaunched && process.connected) {
    process.on("disconnect", orphaned);
    // It keeps nothing alive.
    process.channel?.unref();
  }
  try {
    const result = await work(controller.signal);
    return { result, exitCode };
  } finally {
    process.off("SIGINT", stop).off("SIGTERM", stop).off("disconnect", orphaned);
  }
}

/** The clocks of this process. */
export function systemClock(): Clock {
  const boot = randomBytes(9).toString("base64url");
  const machine = machineBoot();
  // Both count by the same clock of the machine, one from the start of the process.
  const startedMs = Number(process.hrtime.bigint() / 1_000_000n) - performance.now();
  return {
    now() {
      const monoMs = performance.now();
      const now = { boot, monoMs, wallMs: Date.now() };
      if (machine === null) return now;
      return { ...now, machine: { boot: machine, upMs: startedMs + monoMs } };
    },
    pause: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const done = (): void => {
          clearTimeout(timer);
          signal?.removeEventListener("abort", done);
          resolve();
        };
        const timer = setTimeout(done, ms);
        signal?.addEventListener("abort", done, { once: true });
      }),
    chance: Math.random,
  };
}

/** Identifies one start of the machine; null: only Linux says so, whose monotonic clock is the same for all processes. */
function machineBoot(): string | null {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return null;
  }
}

/**
 * Before work that lasts: short-lived garbage may not spread over 64 MB, and older garbage is collected when it comes to half
 * of what is in use: by itself V8 waits for four times that, and is no faster (bench/large-file.ts). While modules are
 * loaded, nothing they leave is garbage, and looking for it takes a fifth of a short command.
 */
export function boundGarbage(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
  setFlagsFromString("--heap-growing-percent=50");
}

/** Giving memory back takes at most one part in so many of a process's time: its companies rest one after the other. */
const RETURNS_OF = 20;

/**
 * Gives back what a piece of work has left behind, at a moment when nothing else is to do; by itself V8 waits for
 * minutes. It takes some tens of milliseconds, with many companies some hundreds; soon after the last time it is put off.
 */
export function returnMemory(): void {
  const waitMs = notBefore - performance.now();
  if (waitMs > 0) later ??= setTimeout(returnNow, waitMs).unref();
  else returnNow();
}

let notBefore = -Infinity;
let later: NodeJS.Timeout | null = null;
let collect: NonNullable<typeof globalThis.gc> | null = null;

function returnNow(): void {
  setFlagsFromString("--expose-gc");
  collect ??= runInNewContext("gc") as NonNullable<typeof globalThis.gc>;
  const began = performance.now();
  collect({ type: "major", flavor: "last-resort", execution: "sync" });
  const ended = performance.now();
  notBefore = ended + (ended - began) * RETURNS_OF;
  later = null;
}

export const { version } = manifest;

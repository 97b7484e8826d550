/** The first SIGINT or SIGTERM asks for an end: what is in hand is finished. The second stops waiting. */
import { exitCodes } from "../core/errors.ts";

const CODES = { SIGINT: exitCodes.interrupted, SIGTERM: exitCodes.terminated } as const;

/** Runs `work` until it is done or was told to stop; `exitCode` is null when no signal came. */
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
  process.on("SIGINT", stop).on("SIGTERM", stop);
  try {
    const result = await work(controller.signal);
    return { result, exitCode };
  } finally {
    process.off("SIGINT", stop).off("SIGTERM", stop);
  }
}

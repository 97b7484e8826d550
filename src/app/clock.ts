import { randomBytes } from "node:crypto";
import type { Clock } from "../core/moment.ts";

/** The clocks of this process. */
export function systemClock(): Clock {
  const boot = randomBytes(9).toString("base64url");
  return {
    now: () => ({ boot, monoMs: performance.now(), wallMs: Date.now() }),
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

/** What surrounds an endpoint that the demo, a test or a bench opens by itself: a company in UTC that keeps USD. */
import type { Surroundings } from "../core/contract.ts";

/** `more`: in place of the usual. */
export const surroundingsIn = (folder: string, more: Partial<Surroundings> = {}): Surroundings => ({
  folder,
  now: () => new Date(),
  pause: () => Promise.resolve(),
  currency: "USD",
  dayOf: (instant) => instant.slice(0, 10),
  ignore: {},
  note: () => {},
  ...more,
});

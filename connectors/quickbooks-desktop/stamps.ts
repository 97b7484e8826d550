/** Stamps of QuickBooks: `2026-11-21T12:00:00`, by the clock of its machine and in the time of that machine's zone. */
import { type Element, textOf } from "./xml.ts";

/**
 * Empty: it told none. Its zone is left out: QuickBooks tells a wrong one in summer
 * (https://github.com/jsgoupil/quickbooks-sync/pull/28).
 */
export const stampOf = (ret: Element, name: string): string =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.exec(textOf(ret, name) ?? "")?.[0] ?? "";

/** So many ms before a stamp. */
export const stampBefore = (stamp: string, ms: number): string =>
  new Date(Date.parse(`${stamp}Z`) - ms).toISOString().slice(0, 19);

/** No zone's time is further ahead of UTC. */
export const AHEAD_MS = 14 * 3_600_000;

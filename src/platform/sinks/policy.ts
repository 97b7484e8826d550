/**
 * How writes to the platform are treated when their outcome is unknown. How long a key is remembered and held is in
 * specification part 4 (W1 to W6); what the platform does not say (how late a write may show) is bounded from above.
 */
import type { Policy } from "../../core/outcome.ts";

const MINUTE = 60_000;

const base = {
  reads: 2,
  readGapMs: MINUTE,
  preflight: false,
  afterNone: "again",
  resendsMax: null,
  resend: "same",
  // The platform forgets a key after 24 h; an hour is left for clocks that differ.
  keyLifeMs: 23 * 60 * MINUTE,
  // A key is held 60 s after a failure that we may not have seen (W5); less the time to connect and a margin.
  probeMs: 45_000,
} as const;

/** Money and parties: looked for before the first send, and a person decides after a timeout. */
export const money: Policy = {
  ...base,
  settleMs: 15 * MINUTE,
  preflight: true,
  afterTimeout: "person",
};

/** Payments: a second time changes nothing, so they go again; looked for first, since not every invoice may be paid. */
export const payments: Policy = { ...money, afterTimeout: "again" };

/** Tickets and their signatures: found again by our own number, or by their id. */
export const tickets: Policy = { ...base, settleMs: 10 * MINUTE, afterTimeout: "again" };

/** Freight rates and terminals: what somebody entered by hand, or changed, is seen before the first send. */
export const masterData: Policy = { ...tickets, preflight: true };

/** Notes have nothing but their words to be known by: a person decides after a timeout, and after one more try. */
export const notes: Policy = { ...tickets, afterTimeout: "person", resendsMax: 1 };

/** Prices: the newest value wins, so old bytes go again only while the network may hold them (ADR 0003). */
export const prices: Policy = {
  ...base,
  settleMs: 5 * MINUTE,
  reads: 1,
  afterTimeout: "again",
  resend: "anew",
};

/** The configuration may shorten (or lengthen) the settling where the platform's bounds are known. */
export function settledIn(policy: Policy, settleMs: number | null): Policy {
  return settleMs === null
    ? policy
    : { ...policy, settleMs, readGapMs: Math.min(policy.readGapMs, settleMs) };
}

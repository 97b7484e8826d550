/** How long the request machine (request.ts) waits, and for how long the same bytes may go again unread. Pure. */
import { later, type Moment } from "./time.ts";
import type { Policy } from "./outcome.ts";
import type { RequestState } from "./request-state.ts";

export const SENDS_MAX = 12;
/** A key that is held for longer is given up: once nothing is proven to have happened, a new one takes its place. */
export const HOLD_WAITED_FOR_MS = 120_000;
/** By so much policies leave a key unused before its receiver forgets it ({@link Policy.keyLifeMs}). */
const CLOCK_MARGIN_MS = 3_600_000;
const BACK_OFF_MAX_MS = 5 * 60_000;

/** While the key is held it would only answer conflicts. */
export function held({ holdUntilWallMs }: RequestState, at: Moment): Moment {
  const holdMs = Math.max((holdUntilWallMs ?? 0) - at.wallMs, 0);
  return later(at, Math.min(holdMs, HOLD_WAITED_FOR_MS));
}

/** A refusal that nobody knows is a person's after so many tries, which take so long at least; or after so long. */
const UNLISTED_MAX = 3;
const UNLISTED_MIN_MS = 2 * 60_000;
const UNLISTED_LONG_MS = 15 * 60_000;

/**
 * Was it refused often enough in words that nobody knows? `once`: the first time counts, for it goes again otherwise: in
 * smaller requests, or with other values.
 */
export function isGivenUp(
  { unlisted, unlistedSinceMs }: RequestState,
  once: boolean,
  at: Moment,
): boolean {
  if (unlisted === 0) return false;
  // By either side: the clock may have been set since.
  const ms = Math.abs(at.wallMs - (unlistedSinceMs ?? at.wallMs));
  if (once || (unlisted > 1 && ms >= UNLISTED_LONG_MS)) return true;
  return unlisted >= UNLISTED_MAX && ms >= UNLISTED_MIN_MS;
}

/** The same bytes may go again without a read only this soon after the earliest unresolved send, in the same boot. */
export function mayProbe(request: RequestState, policy: Policy, now: Moment): boolean {
  const since = request.unresolved;
  return (
    since !== null &&
    since.boot === now.boot &&
    now.monoMs - since.monoMs < policy.probeMs &&
    // The monotonic clock stands still while a machine sleeps; a wall clock that jumped only costs a read.
    Math.abs(now.wallMs - since.wallMs) < policy.probeMs &&
    request.sends < SENDS_MAX &&
    !keyTooOld(request, policy, now)
  );
}

/** Is the key older than the receiver is sure to remember it? */
export function keyTooOld(request: RequestState, policy: Policy, now: Moment): boolean {
  if (policy.keyLifeMs === null || request.firstSentWallMs === null) return false;
  const ageMs = now.wallMs - request.firstSentWallMs;
  // A key that was first used in the future was used by a clock that was ahead: nobody knows how old it is.
  return ageMs >= policy.keyLifeMs || ageMs < -CLOCK_MARGIN_MS;
}

/** Doubling from a second to five minutes, with the jitter that keeps many from coming back at once. */
export function backOffMs(failures: number, chance: number): number {
  const ceiling = Math.min(1_000 * 2 ** Math.min(failures, 12), BACK_OFF_MAX_MS);
  return Math.round(ceiling / 2 + (chance * ceiling) / 2);
}

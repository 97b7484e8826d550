/**
 * How far a walk over changed records has got. The position holds until a walk is complete: the order of the platform's
 * walk is not promised, so nothing in the middle of one proves that nothing older is left.
 */
import { defined } from "./defined.ts";
import type { Moment } from "./time.ts";

export interface WalkPosition {
  /** Everything changed up to here was stored by a complete walk; server time, sortable text. Null: nothing yet. */
  readonly watermark: string | null;
  readonly walk: Walk | null;
  /** When a complete walk of this process first had that watermark; left out: none had. */
  readonly reached?: Moment;
  /** Where nothing is committed later than so many ms, nothing before the watermark is still to come; left out: nobody knows. */
  readonly settledMs?: number;
  /** How many walks in a row were given up because they did not end; left out: none. */
  readonly endless?: number;
}

export interface Walk {
  /** What the walk asks for, ISO 8601 UTC. */
  readonly since: string;
  readonly cursor: string | null;
  /** The latest change seen, sortable text. */
  readonly latest: string | null;
  /** The server's clock at the first page: a change during the walk may have been missed by it. */
  readonly startedAt: string;
  readonly pages: number;
  /** How many records the list said it has, the most that any page said; null or left out: it did not say. */
  readonly total?: number | null;
  /** Records that came, as often as they did; left out: as many as its pages were asked for. */
  readonly told?: number;
  /** Pages without a record in a row, up to where it stands; left out: none. */
  readonly idle?: number;
  /** How often this walk began again. */
  readonly restarts: number;
  /** What is known when it is complete and has brought nothing later, as {@link WalkPosition.settledMs}; left out: nothing. */
  readonly settlesMs?: number;
}

/** How late a record may be committed with an older time and still be found, ms, unless a configuration says so. */
export const LATE_MS = 7 * 86_400_000;

export const unread: WalkPosition = { watermark: null, walk: null };

/**
 * A walk that begins now. `overlapMs` is asked for again, for writes that were committed late, until a walk that began twice that
 * after the watermark was first had is complete: otherwise each look after a burst would read the burst anew, for as long as nothing
 * else changes. The clock is ours, and nobody can set it. A header `Date` may be of another clock than `updatedAt`. One overlap
 * would do, the second is a margin. The watermark itself is always asked for: what shares its time may come after it.
 */
export function begun(position: WalkPosition, overlapMs: number, now: Moment): Walk {
  const { watermark, reached, settledMs = -1 } = position;
  const isSettled = settledMs >= overlapMs;
  const sinceMs = watermark === null ? 0 : Date.parse(watermark) - (isSettled ? 0 : overlapMs);
  const isLater = reached?.boot === now.boot && now.monoMs - reached.monoMs >= 2 * overlapMs;
  const walk = walkSince(new Date(sinceMs).toISOString());
  return isSettled || !isLater ? walk : { ...walk, settlesMs: overlapMs };
}

export const walkSince = (since: string): Walk => ({
  since,
  cursor: null,
  latest: null,
  startedAt: "",
  pages: 0,
  restarts: 0,
});

/** The same walk from its beginning. */
export const begunAgain = ({ since, settlesMs, restarts }: Walk): Walk => ({
  ...walkSince(since),
  restarts: restarts + 1,
  ...defined({ settlesMs }),
});

/** The position after one more page, which came `now`. */
export function afterPage(
  position: WalkPosition,
  walk: Walk,
  page: { readonly cursor: string | null; readonly latest: string | null },
  now: Moment,
): WalkPosition {
  const latest = laterOf(walk.latest, page.latest);
  if (page.cursor !== null)
    return { ...position, walk: { ...walk, cursor: page.cursor, latest, pages: walk.pages + 1 } };
  const watermark = promoted(position.watermark, walk, latest);
  if (watermark === null) return unread;
  const isSame = watermark === position.watermark;
  const { reached = now } = isSame ? position : {};
  const settledMs = isSame ? (walk.settlesMs ?? position.settledMs) : undefined;
  return {
    watermark,
    walk: null,
    reached: reached.boot === now.boot ? reached : now,
    ...defined({ settledMs }),
  };
}

/**
 * The watermark never moves by our own clock, and never past the server's clock at the walk's start: records from the
 * future do not count. It moves back only to that clock: where it lies ahead of it, the server's clock was ahead once,
 * and changes since would have been asked for by nobody.
 */
function promoted(watermark: string | null, walk: Walk, latest: string | null): string | null {
  const reached = laterOf(watermark, latest);
  const { startedAt } = walk;
  return reached !== null && startedAt !== "" && reached > startedAt ? startedAt : reached;
}

function laterOf(one: string | null, other: string | null): string | null {
  if (one === null || other === null) return one ?? other;
  return one > other ? one : other;
}

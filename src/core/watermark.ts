/**
 * How far a walk over changed records has got. The position holds until a walk is complete: the order of the platform's
 * walk is not promised, so nothing in the middle of one proves that nothing older is left.
 */
export interface WalkPosition {
  /** Everything changed up to here was stored by a complete walk; server time, sortable text. Null: nothing yet. */
  readonly watermark: string | null;
  readonly walk: Walk | null;
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
}

/** How late a record may be committed with an older time and still be found, ms, unless a configuration says so. */
export const LATE_MS = 7 * 86_400_000;

export const unread: WalkPosition = { watermark: null, walk: null };

/** What to ask for first. `overlapMs` is asked for again, for writes that were committed late. */
export function sinceOf(position: WalkPosition, overlapMs: number): string {
  if (position.watermark === null) return new Date(0).toISOString();
  return new Date(Date.parse(position.watermark) - overlapMs).toISOString();
}

/** The position after one more page. */
export function afterPage(
  position: WalkPosition,
  walk: Walk,
  page: { readonly cursor: string | null; readonly latest: string | null },
): WalkPosition {
  const latest = laterOf(walk.latest, page.latest);
  if (page.cursor !== null)
    return { ...position, walk: { ...walk, cursor: page.cursor, latest, pages: walk.pages + 1 } };
  return { watermark: promoted(position.watermark, walk, latest), walk: null };
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

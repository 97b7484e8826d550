/**
 * How far a list is read. The specification says that a walk ends (rule P2), and nothing of what to do when it does not:
 * the list's own `meta.total` says how many pages there are, and a run never takes more than its share of the month
 * unless the list says that it needs more. Counted by the pages of the walk, which is part of the position: a process
 * that starts anew is given no new share.
 */
import { SourceUnavailable } from "../core/errors.ts";

/** More is read only where `meta.total` asks for it. */
const PAGES_MAX = 10_000;
/** Records move while they are read, and a moved one may come again: a tenth more, and no fewer than these. */
const SLACK_PAGES = 10;
const FIRST_WAIT_MS = 6 * 3_600_000;
const LONGEST_WAIT_MS = 7 * 24 * 3_600_000;

export interface Extent {
  readonly pageSize: number;
  /** The most that a page said; null: none did. */
  readonly total: number | null;
  /** Pages that one run may read, where the list does not say that it needs more. */
  readonly pagesPerRun: number;
}

/** How many pages a list of this total comes to at most; null: it does not say. */
function pagesOf({ pageSize, total }: Extent): number | null {
  if (total === null) return null;
  const needed = Math.ceil(total / pageSize);
  return needed + Math.max(SLACK_PAGES, Math.ceil(needed / 10));
}

/** Pages that a run may read at most. */
export const runMax = (extent: Extent): number =>
  Math.max(extent.pagesPerRun, pagesOf(extent) ?? 0);

/**
 * What is wrong after `pages` pages of a walk, the last of which says that there is more. `endless`: it leads nowhere.
 * `enough`: it may go on later from where it is. `before`: the pages of the walk when this run began; `isNew`: the last
 * page brought something that was not stored yet.
 */
export function boundOf(
  extent: Extent,
  { pages, before, isNew }: { pages: number; before: number; isNew: boolean },
): "endless" | "enough" | null {
  const expected = pagesOf(extent) ?? PAGES_MAX;
  if (pages > Math.max(expected, PAGES_MAX) || (pages > expected && !isNew)) return "endless";
  const run = runMax(extent);
  return pages >= (Math.floor(before / run) + 1) * run ? "enough" : null;
}

/** How long until it is tried again when that has happened so often in a row, ms: doubling from six hours to a week. */
export const endlessWaitMs = (times: number): number =>
  Math.min(FIRST_WAIT_MS * 2 ** Math.max(times - 1, 0), LONGEST_WAIT_MS);

/** Stops the source and nothing else. `what`: `The walk of /orders`. */
export function endless(
  what: string,
  pages: number,
  { total }: Extent,
  waitMs: number,
): SourceUnavailable {
  const told =
    total === null
      ? "the list does not say how many records it has"
      : `the list says that it has ${total} records`;
  const hours = Math.round(waitMs / 3_600_000);
  return new SourceUnavailable(`${what} does not end after ${pages} pages, and ${told}.`, {
    next: `What was read is stored. It is tried again in ${hours} hours (at once: fuelbridge release endless); report it to the platform's support.`,
    stop: "endless",
    waitMs,
  });
}

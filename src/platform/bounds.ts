/**
 * How far a list is read. The specification says that a walk ends (rule P2), and nothing of what to do when it does not:
 * the list's own `meta.total` says how many pages there are, and a run never takes more than its share of the month
 * unless the list says that it needs more. Counted by the pages of the walk, which is part of the position: a process
 * that starts anew is given no new share. A server may give fewer records on a page than were asked for, and none on
 * some: what leads nowhere is told by what has come, not by the pages that were expected.
 */
import { SourceUnavailable } from "../core/errors.ts";

/** More is read only where `meta.total` asks for it. */
const PAGES_MAX = 10_000;
/** Records move while they are read, and a moved one may come again: a tenth more, and no fewer than these. */
const SLACK_PAGES = 10;
const SLACK_RECORDS = 10;
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
  return needed + slackOf(needed);
}

const slackOf = (needed: number): number => Math.max(SLACK_PAGES, Math.ceil(needed / 10));

/** What a walk has brought so far. */
export interface Brought {
  /** Records, counted as often as they came. */
  readonly told: number;
  /** Pages without a record in a row, the last one included. */
  readonly idle: number;
}

/** So many pages without a record in a row lead nowhere; null: the list does not say how many records it has. */
export const isIdle = ({ pageSize, total }: Pick<Extent, "pageSize" | "total">, idle: number) =>
  total !== null && idle > slackOf(Math.ceil(total / pageSize));

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
  at: Brought & { readonly pages: number; readonly before: number; readonly isNew: boolean },
): "endless" | "enough" | null {
  const { pages, before, isNew, told } = at;
  const { total } = extent;
  const expected = pagesOf(extent) ?? PAGES_MAX;
  const isWhole = total === null || told > total + Math.max(SLACK_RECORDS, total / 10);
  if (isIdle(extent, at.idle)) return "endless";
  if (isWhole && pages > (isNew ? Math.max(expected, PAGES_MAX) : expected)) return "endless";
  const run = runMax(extent);
  return pages >= (Math.floor(before / run) + 1) * run ? "enough" : null;
}

/** Of what pages say that the list has; null: none said. */
export const mostOf = (one: number | null = null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : Math.max(one, other);

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

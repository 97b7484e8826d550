/**
 * What changed in books since a position, by stamps that the books keep of every row. Rows are walked in the order of
 * (stamp, id), so that those of one transaction, which may share a stamp, are neither lost nor repeated.
 *
 * A stamp is often the time at which its transaction began: a row that took long to commit comes up behind what was read
 * already. So a walk ends at the greatest stamp that was there when it began, and the next one goes back from there by
 * {@link OVERLAP_SECONDS}. What was deleted leaves no stamp: nothing here tells of it.
 */
import type { Change, Page, Source } from "../core/contract.ts";
import type { SourceUnavailable } from "../core/errors.ts";
import type { Day, Scope } from "../core/holdings.ts";
import type { Json } from "../core/json.ts";
import type { RowPage } from "./port.ts";

/** A row's place in the walk. Stamps are ISO 8601 text without a zone, UTC, with all digits that the books keep. */
interface Place {
  readonly at: string;
  readonly id: number;
}

export interface StampedRow extends Place {
  /** The record that the row is, or is a part of. */
  readonly record: number;
}

/** Rows with one kind of stamp, whose change is a change of a record. */
export interface StampFeed {
  /** What its position is stored under: it never changes. */
  readonly name: string;
  /** One row of a record says all that its other rows say: in one walk a record is read once. */
  readonly once: boolean;
  /** The greatest stamp there is; null: there are no rows. @throws a fault of the books */
  newest(signal: AbortSignal): Promise<string | null>;
  /** The first `most` rows after `after`, up to the stamp `until`, in the order of (stamp, id). @throws a fault of the books */
  page(
    after: Place,
    until: string,
    most: number,
    signal: AbortSignal,
  ): Promise<readonly StampedRow[]>;
}

/** Where one walk has got to; one per feed. */
export interface Mark {
  /** The greatest stamp that earlier walks have passed; null before the first. */
  readonly since: string | null;
  /** When we first saw it as the greatest, by our clock, ISO 8601 UTC. */
  readonly seenAt: string | null;
  /** Everything up to `since` was read once more, long after it: nothing can come up behind it. */
  readonly settled: boolean;
  /** The walk that is under way: the last row that was read, and the stamp it goes up to. */
  readonly walk: (Place & { readonly until: string }) | null;
}

/** What a source needs of the floor. */
export interface Telling<Row> {
  /** The changes of these rows; what is not told is left out. */
  readonly tell: (rows: readonly Row[]) => Change[];
  readonly now: () => Date;
  /** What a fault of the books means to a reader. @throws the error itself when it is none */
  readonly unavailable: (error: unknown) => SourceUnavailable;
}

const PAGE_ROWS = 100;
const OVERLAP_SECONDS = 60;
/** A transaction that takes longer than this would be seen only when its records change again. */
const SETTLED_MS = 10 * 60_000;
const NEW: Mark = { since: null, seenAt: null, settled: false, walk: null };

/**
 * A source of records by their stamps. Its changes have no version: a record is read as it is now, whole, and parts of it
 * may change without a stamp of their own, so its content says whether it is new.
 * @param rowsOf these records as they are now; those that are gone or are not wanted are left out. @throws a fault of the books
 */
export const stampedRows =
  <Row>(
    feeds: readonly StampFeed[],
    rowsOf: (records: readonly number[], signal: AbortSignal) => Promise<readonly Row[]>,
  ) =>
  (telling: Telling<Row>): Source => ({
    async *read(from: Json | null, { signal }): AsyncGenerator<Page> {
      let position = (from ?? {}) as unknown as Readonly<Record<string, Mark>>;
      try {
        for (const feed of feeds) {
          const told = new Set<number>();
          const walking = { feed, signal, now: () => telling.now() };
          for await (const { records, mark } of walk(walking, position[feed.name] ?? NEW)) {
            position = { ...position, [feed.name]: mark };
            const untold = feed.once ? records.filter((id) => !told.has(id)) : records;
            for (const id of untold) told.add(id);
            const rows = untold.length === 0 ? [] : await rowsOf(untold, signal);
            yield { changes: telling.tell(rows), position: position as unknown as Json };
          }
        }
      } catch (error) {
        throwUnlessStopped(telling, error, signal);
      }
    },
  });

/** Whoever stopped the reading does not need to know what that did to the call. */
function throwUnlessStopped(
  { unavailable }: Pick<Telling<never>, "unavailable">,
  error: unknown,
  signal: AbortSignal,
): void {
  const told = unavailable(error);
  if (!signal.aborted) throw told;
}

/** Rows of books that give pages with links of their own, in the order of their stamps. */
interface StampList<Row> {
  /** What its position is stored under: it never changes. */
  readonly name: string;
  /** All rows with this stamp or a later one, the earliest first; null: all. @throws a fault of the books */
  pages(since: string | null, signal: AbortSignal): AsyncIterable<readonly Row[]>;
  /** ISO 8601 with its zone: `2026-11-21T09:10:11Z`. Without one it would be read in this machine's. */
  stampOf(row: Row): string;
}

/** @throws TypeError for a stamp that means another instant on each machine */
function zoned(stamp: string): string {
  if (/(?:Z|[+-]\d\d:?\d\d)$/i.test(stamp)) return stamp;
  throw new TypeError(`the stamp ${stamp} of a list in pages has no zone: end it in Z`);
}

/** Where such a list has been read to. */
type ListMark = Pick<Mark, "since" | "seenAt" | "settled">;

/**
 * A source of such a list. Rows need no numbers: each reading goes on from the last stamp that was read, back by as long as
 * a transaction may take, and tells what lies there again, until it has done so that long after it came to this stamp: else
 * what was imported at once would be read again and again until something newer comes.
 */
export const stampedList =
  <Row>(list: StampList<Row>) =>
  (telling: Telling<Row>): Source => ({
    async *read(from: Json | null, { signal }): AsyncGenerator<Page> {
      const before = ((from ?? {}) as Readonly<Record<string, ListMark>>)[list.name] ?? NEW;
      const today = telling.now().toISOString();
      const seenAt = before.seenAt ?? today;
      const passed = before.since ?? BEGINNING;
      const backMs = before.settled ? 0 : SETTLED_MS;
      const since =
        before.since === null ? null : new Date(Date.parse(passed) - backMs).toISOString();
      let mark = { since: before.since, seenAt, settled: before.settled };
      const positionNow = (): Json => (mark.since === null ? (from ?? {}) : { [list.name]: mark });
      if (signal.aborted) return;
      try {
        for await (const rows of list.pages(since, signal)) {
          const last = rows.at(-1);
          const stamp = last === undefined ? undefined : zoned(list.stampOf(last));
          // What is read once more is no step back.
          if (stamp !== undefined && Date.parse(stamp) > Date.parse(passed))
            mark = { since: stamp, seenAt: today, settled: false };
          yield { changes: telling.tell(rows), position: positionNow() };
          if (signal.aborted) return;
        }
        if (mark.since !== before.since || before.since === null || mark.settled) return;
        if (Date.parse(today) - Date.parse(seenAt) < SETTLED_MS) return;
        mark = { ...mark, settled: true };
        yield { changes: [], position: positionNow() };
      } catch (error) {
        throwUnlessStopped(telling, error, signal);
      }
    },
  });

/**
 * Lists in pages, one after the other: a scope is a union, and many interfaces have no "or". The position says which list,
 * and where in it (null: that page was its last one); a row that is in two of them is told twice.
 * @param lists each from a position of its own pages on; null is its beginning
 */
export async function* unitedPages<P extends { readonly position: string | null }>(
  lists: readonly ((from: string | null) => AsyncIterable<P>)[],
  from: string | null,
): AsyncGenerator<P & { readonly position: string }> {
  const [, at = "0", within = ""] = /^(\d+) (.*)$/.exec(from ?? "") ?? [];
  for (const [index, pages] of lists.entries()) {
    if (index < Number(at)) continue;
    const start = index === Number(at) && within !== "" ? within : null;
    for await (const page of pages(start))
      yield {
        ...page,
        position: page.position === null ? `${index + 1} ` : `${index} ${page.position}`,
      };
  }
}

/** The same pages with what is made of their rows. */
export async function* pagesOf<Row, Made>(
  pages: AsyncIterable<RowPage<Row>>,
  made: (rows: readonly Row[]) => Promise<readonly Made[]> | readonly Made[],
): AsyncGenerator<RowPage<Made>> {
  for await (const { rows, ...page } of pages) yield { ...page, rows: await made(rows) };
}

/** All rows of such pages. */
export async function rowsIn<Row>(
  pages: AsyncIterable<{ readonly rows: readonly Row[] }>,
): Promise<Row[]> {
  const all: Row[] = [];
  for await (const { rows } of pages) all.push(...rows);
  return all;
}

/** The conditions that a scope is the union of, in an ERP's own words. @param of `open`: of what is not over; left out: nothing stays open */
export const conditionsIn = <Condition>(
  { dated, changedSince, open }: Scope,
  of: {
    readonly dated: (from: Day, to: Day) => Condition;
    readonly changed: (since: string) => Condition;
    readonly open?: Condition | undefined;
  },
): Condition[] => [
  ...(dated === null ? [] : [of.dated(dated.from, dated.to)]),
  ...(changedSince === null ? [] : [of.changed(changedSince)]),
  ...(open && of.open !== undefined ? [of.open] : []),
];

interface Walking {
  readonly feed: StampFeed;
  readonly signal: AbortSignal;
  readonly now: () => Date;
}

async function* walk(
  walking: Walking,
  before: Mark,
): AsyncGenerator<{ records: readonly number[]; mark: Mark }> {
  const { feed, signal } = walking;
  let mark = before.walk === null ? await begin(walking, before) : before;
  while (mark.walk !== null) {
    if (signal.aborted) return;
    const { until, at, id } = mark.walk;
    const rows = await feed.page({ at, id }, until, PAGE_ROWS, signal);
    const last = rows.at(-1);
    const goesOn = rows.length === PAGE_ROWS && last !== undefined;
    mark = {
      ...mark,
      since: goesOn ? mark.since : until,
      walk: goesOn ? { until, at: last.at, id: last.id } : null,
    };
    yield { records: [...new Set(rows.map(({ record }) => record))], mark };
  }
}

/** A new walk, when there is anything to walk over; the same mark when nothing is to be stored. */
async function begin({ feed, signal, now }: Walking, mark: Mark): Promise<Mark> {
  const { since } = mark;
  if (signal.aborted) return mark;
  // Rows leave a walk by creation when they are changed, so the greatest stamp may be smaller than it was.
  const until = [since, await feed.newest(signal)]
    .filter((text) => text !== null)
    .toSorted()
    .at(-1);
  if (until === undefined) return mark;
  const today = now();
  if (until !== since) {
    const start = since === null ? BEGINNING : earlier(since);
    const walk = { until, at: start, id: 0 };
    return { since, seenAt: today.toISOString(), settled: false, walk };
  }
  if (mark.settled || since === null) return mark;
  const age = today.getTime() - Date.parse(mark.seenAt ?? today.toISOString());
  const walk = { until, at: earlier(since), id: 0 };
  return { ...mark, settled: age >= SETTLED_MS, walk };
}

const BEGINNING = "1970-01-01T00:00:00.000000";

/** The digits of a fraction are kept; only the seconds go through Date. */
function earlier(text: string): string {
  const seconds = new Date(`${text.slice(0, 19)}Z`).getTime() - OVERLAP_SECONDS * 1000;
  return `${new Date(seconds).toISOString().slice(0, 19)}${text.slice(19)}`;
}

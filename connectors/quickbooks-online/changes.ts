/**
 * What changed in QuickBooks since the last look, by change data capture (ADR 0069): one call tells the changes of all
 * entities of a source, and what was deleted. It reaches back 30 days and tells at most 1,000 objects; what is older, or
 * more, is walked by stamps (src/ledger/stamps.ts), which tell no deletions: a notice says so.
 */
import { unavailable, sorted } from "../../src/ledger/errors.ts";
import { type Mark, type StampFeed, type Stamps, stampSource } from "../../src/ledger/stamps.ts";
import type { Change, Page, Reading, Source } from "../../src/core/contract.ts";
import { SourceUnavailable } from "../../src/core/errors.ts";
import type { Json } from "../../src/core/json.ts";
import { QUICKBOOKS } from "./errors.ts";
import { stampOf } from "./rows.ts";
import { type Changed, type ChangedRow, CHANGES_MOST } from "./captured.ts";
import type { Entity, Wire } from "./wire.ts";

/** What becomes of records that are there no more. */
export interface Gone {
  /** How they are told. */
  readonly changes?: readonly Change[];
  /** Records that may have changed with them, and are read again. */
  readonly records?: readonly number[];
  /** For a person. */
  readonly notices?: readonly string[];
}

/** An entity whose changes are changes of a source's records. */
export interface Feed {
  readonly entity: Entity;
  readonly stamps: StampFeed;
  /** The records that a row is, or is a part of. @throws LedgerError when it does not have QuickBooks' form */
  recordsOf(row: unknown): readonly number[];
  /** Of rows that were deleted. @throws LedgerError */
  gone(rows: readonly ChangedRow[], signal: AbortSignal): Promise<Gone>;
  /** Is a row that is still there to be treated as a deleted one as well? Left out: never. */
  isGone?(row: unknown): boolean;
}

/** Stored with the flow, beside the marks of the walks by stamps. */
interface Position {
  /** Everything up to `at` (QuickBooks' clock, UTC) was told; of the last minutes before it, `told` has what. */
  readonly cdc?: { readonly at: string; readonly told: readonly string[] };
  /** A walk by stamps is under way that began at this instant of QuickBooks' clock. */
  readonly begun?: string;
  readonly [feed: string]: unknown;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Less than Intuit's 30 days: the two clocks may differ. */
const WINDOW_MS = 28 * DAY_MS;
/** A row may be shown some time after its stamp: so much is asked for again. */
const OVERLAP_MS = 10 * MINUTE_MS;
const PAGE_RECORDS = 100;

export function changeSource(
  wire: Wire,
  feeds: readonly Feed[],
  more: Pick<Stamps, "details" | "now">,
): Source {
  const walk = stampSource({
    ...more,
    feeds: feeds.map(({ stamps }) => stamps),
    unavailable: (error) => unavailable(error, QUICKBOOKS),
  });
  const changes: Changes = { wire, feeds, details: more.details, now: more.now };
  return {
    async *read(from, reading) {
      const position = (from ?? {}) as unknown as Position;
      try {
        yield* readOn(changes, position, walk, reading);
      } catch (error) {
        if (error instanceof SourceUnavailable) throw error;
        const told = unavailable(error, QUICKBOOKS);
        if (!reading.signal.aborted) throw told;
      }
    },
  };
}

interface Changes extends Pick<Stamps, "details" | "now"> {
  readonly wire: Wire;
  readonly feeds: readonly Feed[];
}

async function* readOn(
  changes: Changes,
  position: Position,
  walk: Source,
  reading: Reading,
): AsyncGenerator<Page> {
  const { signal } = reading;
  const { cdc, begun, ...marks } = position;
  if (signal.aborted) return;
  if (cdc === undefined || begun !== undefined) {
    const start = begun ?? (await changes.wire.time(signal));
    return yield* walked(walk, { ...marks, begun: start }, reading);
  }
  const told = await capture(changes, cdc.at, signal);
  if (told !== null && told.rows.length < CHANGES_MOST) {
    return yield* captured(changes, position, told, signal);
  }
  // All up to `cdc.at` was told: the walk begins there.
  const since = stampOf(cdc.at);
  const mark: Mark = { since, seenAt: null, settled: false, walk: null };
  const next: Position = {
    ...Object.fromEntries(changes.feeds.map(({ stamps }) => [stamps.name, mark])),
    begun: told?.time ?? (await changes.wire.time(signal)),
  };
  const gone = await goneIn(changes, told?.rows ?? [], signal);
  yield* detailed(changes, position, gone.records, signal);
  if (signal.aborted) return;
  yield pageOf(next, gone.changes, [...gone.notices, untold(cdc.at)]);
  yield* walked(walk, next, reading);
}

const untold = (since: string): string =>
  `QuickBooks did not tell all that changed since ${since}: what is there is read by its stamps, what was deleted is not told. Run fuelbridge reconcile from that day on.`;

/** By stamps, from the beginning or from a mark. What changes meanwhile is told by the next capture. */
async function* walked(walk: Source, start: Position, reading: Reading): AsyncGenerator<Page> {
  let last: Position = start;
  for await (const page of walk.read(start as unknown as Json, reading)) {
    last = page.position as unknown as Position;
    yield page;
  }
  if (reading.signal.aborted) return;
  const { begun, ...marks } = last;
  yield pageOf({ ...marks, cdc: { at: begun ?? "", told: [] } });
}

/** Null: QuickBooks does not tell so far back. @throws LedgerError */
async function capture(
  { wire, feeds, now }: Changes,
  at: string,
  signal: AbortSignal,
): Promise<Changed | null> {
  if (now().getTime() - Date.parse(at) > WINDOW_MS) return null;
  const since = new Date(Date.parse(at) - OVERLAP_MS).toISOString();
  try {
    return await wire.changes(
      feeds.map(({ entity }) => entity),
      since,
      signal,
    );
  } catch (error) {
    if (sorted(error, "read", QUICKBOOKS.errors).sort === "data") return null;
    throw error;
  }
}

async function* captured(
  changes: Changes,
  position: Position,
  { time, rows }: Changed,
  signal: AbortSignal,
): AsyncGenerator<Page> {
  const before = new Set(position.cdc?.told);
  const fresh = rows.filter((row) => !before.has(keyOf(row)));
  const age = Date.parse(time) - Date.parse(position.cdc?.at ?? time);
  if (fresh.length === 0 && age < DAY_MS) return;
  const gone = await goneIn(changes, fresh, signal);
  const feedOf = new Map(changes.feeds.map((feed) => [feed.entity, feed]));
  const there = fresh.filter(({ deleted }) => !deleted);
  const records = [
    ...new Set([
      ...there.flatMap(({ entity, row }) => feedOf.get(entity)?.recordsOf(row) ?? []),
      ...gone.records,
    ]),
  ];
  yield* detailed(changes, position, records, signal);
  if (signal.aborted) return;
  // What may come again in the next answer.
  const late = new Date(Date.parse(time) - OVERLAP_MS);
  const told = rows.filter(({ at }) => at === null || new Date(at) >= late).map(keyOf);
  yield pageOf({ ...position, cdc: { at: time, told } }, gone.changes, gone.notices);
}

async function* detailed(
  { details }: Changes,
  position: Position,
  records: readonly number[],
  signal: AbortSignal,
): AsyncGenerator<Page> {
  for (let at = 0; at < records.length && !signal.aborted; at += PAGE_RECORDS)
    yield pageOf(position, await details(records.slice(at, at + PAGE_RECORDS), signal));
}

const keyOf = ({ entity, id, deleted, syncToken, at }: ChangedRow): string =>
  `${entity} ${id} ${deleted ? "deleted" : syncToken} ${at ?? ""}`.trim();

/** Of deleted rows, and of those that count as deleted. */
async function goneIn(
  { feeds }: Changes,
  rows: readonly ChangedRow[],
  signal: AbortSignal,
): Promise<Required<Gone>> {
  const changes: Change[] = [];
  const records: number[] = [];
  const notices: string[] = [];
  for (const feed of feeds) {
    const of = rows.filter(
      ({ entity, deleted, row }) =>
        entity === feed.entity && (deleted || feed.isGone?.(row) === true),
    );
    if (of.length === 0) continue;
    const gone = await feed.gone(of, signal);
    changes.push(...(gone.changes ?? []));
    records.push(...(gone.records ?? []));
    notices.push(...(gone.notices ?? []));
  }
  return { changes, records, notices };
}

const pageOf = (
  position: Position,
  changes: readonly Change[] = [],
  notices: readonly string[] = [],
): Page => ({
  changes,
  position: position as unknown as Json,
  ...(notices.length === 0 ? {} : { notices }),
});

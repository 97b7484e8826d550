/**
 * The platform's lists as sources: a change walk (`updatedSince`, then cursor after cursor: specification part 4, P2), and a
 * listing of what cannot be asked what changed since (P1).
 */
import type { Change, Page, Reading, Source } from "../core/contract.ts";
import { SourceUnavailable } from "../core/errors.ts";
import type { Json } from "../core/json.ts";
import { sortableInstant } from "../core/keys.ts";
import type { Clock } from "../core/time.ts";
import { type Purpose, runShareOf, usualBudget } from "../core/budget.ts";
import { type Drift, driftOf, type Lookout } from "../core/shape.ts";
import {
  afterPage,
  begun,
  begunAgain,
  unread,
  type Walk,
  type WalkPosition,
  walkSince,
} from "../core/watermark.ts";
import {
  addressOf,
  boundOf,
  brokenBy,
  changeOf,
  emptyBy,
  endless,
  endlessWaitMs,
  isIdle,
  type ListPage,
  mostOf,
  pageIn,
  patiently,
  type Query,
  readRecord,
  readSkimmed,
  recordOf,
  runMax,
} from "./reading.ts";
import { isAbsent } from "./answers.ts";
import type { Exchange, Exchanger } from "./client.ts";
import {
  type ListOperation,
  lookoutOf,
  operations,
  pathOf,
  type RecordOperation,
} from "./contract/operations.ts";
import type { Operation } from "./contract/operation.ts";

/** Reads one record where its list shows it without a field that it may leave out. */
export interface Detail {
  readonly operation: RecordOperation;
  /** The field without which, or with none in it, a record is read in detail. */
  readonly lines: string;
  /** Lists that a record shows, be they empty. */
  readonly others?: readonly string[];
}

interface WalkOptions {
  /** A list that may be asked for what changed. */
  readonly list: ListOperation;
  readonly query?: Query;
  /** Asked for again on every walk, for writes that were committed late. */
  readonly overlapMs: number;
  /** Left out: the list shows all of a record. */
  readonly detail?: Detail;
  /** How many pages one run may read, unless the list says that it needs more; the usual share when left out. */
  readonly pagesPerRun?: number;
  readonly clock: Clock;
}

/** What each of its records is looked at by, over all readings. */
interface Looked {
  readonly lookout: Lookout;
}

const PAGE_SIZE = 100;
const RESTARTS_MAX = 3;

export function walkSource(client: Exchanger, asked: WalkOptions): Source {
  const options = { ...asked, lookout: lookoutOf(asked.list) };
  const read: Source["read"] = (position, reading) =>
    walk(client, options, (position as unknown as WalkPosition | null) ?? unread, reading);
  return {
    read,
    again: {
      pageSize: PAGE_SIZE,
      from: (instant) => ({ watermark: instant, walk: null }) satisfies WalkPosition,
      async count(instant, reading) {
        const first = await fetchPage(client, options, walkSince(instant), reading, 1);
        return readPage(first, options).total;
      },
      read,
    },
  };
}

async function* walk(
  client: Exchanger,
  options: WalkOptions & Looked,
  from: WalkPosition,
  reading: Reading,
): AsyncGenerator<Page> {
  const what = `The walk of ${pathOf(options.list)}`;
  let position = from;
  let current: Walk = from.walk ?? begun(from, options.overlapMs, options.clock.now());
  let before = current.pages;
  // Its pages may be a snapshot of that moment, which a stored cursor does not tell.
  let begunMs = from.walk === null ? options.clock.now().wallMs : null;
  let fetching = fetchPage(client, options, current, reading);
  while (!reading.signal.aborted) {
    const exchange = await fetching;
    if (current.cursor !== null && exchange.kind === "answer" && exchange.status === 400) {
      if (current.restarts >= RESTARTS_MAX) {
        yield pageOf([], { ...position, walk: null });
        throw stuck(what, `began again ${RESTARTS_MAX} times: its cursor was refused`);
      }
      // The platform no longer knows the cursor: from the beginning of this walk, not from the watermark.
      current = begunAgain(current);
      before = 0;
      begunMs = options.clock.now().wallMs;
      fetching = fetchPage(client, options, current, reading);
      continue;
    }
    const listed = { ...readPage(exchange, options), begunMs };
    if (current.pages === 0) current = { ...current, startedAt: listed.serverTime };
    current = withPage(current, listed);
    const { cursor } = current;
    const broken = brokenBy(listed, new Set(cursor === null ? [] : [cursor]));
    const bound = broken === null ? boundIn(listed, current, { options, before, reading }) : null;
    const { nextCursor, latest } = listed;
    position = afterPage(position, current, { cursor: nextCursor, latest }, options.clock.now());
    const follows = broken === null && bound === null ? position.walk : null;
    // The next page is under way while this one is stored.
    if (follows !== null) {
      current = follows;
      fetching = fetchPage(client, options, current, reading);
      fetching.catch(() => {});
    }
    const changes =
      options.detail === undefined
        ? listed.changes
        : await detailed(client, options.detail, options.clock, listed, reading);
    if (broken !== null) {
      yield pageOf(changes, { ...from, walk: null }, listed);
      throw stuck(what, broken);
    }
    if (bound !== null) {
      const times = (from.endless ?? 0) + 1;
      const next = bound === "endless" ? { ...from, walk: null } : position;
      yield pageOf(changes, { ...next, endless: times }, listed);
      const extent = extentOf(options, current);
      throw endless(what, current.pages + 1, extent, endlessWaitMs(times));
    }
    yield pageOf(changes, position, listed);
    if (follows === null) return;
  }
}

const pageOf = (
  changes: readonly Change[],
  position: WalkPosition,
  { begunMs = null, answeredAt = null, drift = [] }: Partial<Told> = {},
): Page => ({
  changes,
  position: position as unknown as Json,
  ...(begunMs === null ? {} : { asked: { atMs: begunMs, answeredAt } }),
  ...(drift.length === 0 ? {} : { drift }),
});

/** `The walk of /orders`. What leads nowhere is forgotten: the next run does not go on with its cursor. */
const stuck = (what: string, how: string): SourceUnavailable =>
  new SourceUnavailable(`${what} ${how}.`, {
    next: "The next run begins again, nothing is lost; if it stays, report it to the platform's support.",
  });

/** Of a page, besides its changes. `begunMs`: when its walk was, by our clock; null: by another process, or run. */
type Told = Pick<Listed, "answeredAt" | "drift"> & { readonly begunMs: number | null };

interface Listed {
  readonly changes: readonly Change[];
  readonly drift: readonly Drift[];
  /** Those that are to be read in detail. */
  readonly halves: ReadonlySet<Change>;
  /** Sortable text. */
  readonly latest: string | null;
  readonly serverTime: string;
  /** What the server's clock said, sortable text; null: nothing. */
  readonly answeredAt: string | null;
  readonly hasMore: boolean;
  readonly nextCursor: string | null;
  /** Null: it does not say. */
  readonly total: number | null;
}

const purposeOf = ({ backfill }: Reading, usual: "poll" | "detail"): Purpose =>
  backfill === true ? "backfill" : usual;

function fetchPage(
  client: Exchanger,
  { list, query, clock }: WalkOptions,
  { since, cursor, restarts }: Walk,
  reading: Reading,
  pageSize = PAGE_SIZE,
): Promise<Exchange> {
  // P2 does not say whether a cursor may come with what its walk asked for: the last beginning goes without.
  const isAlone = cursor !== null && restarts === RESTARTS_MAX;
  const search = {
    ...query,
    ...(isAlone ? {} : { updatedSince: since }),
    pageSize: String(pageSize),
    ...(cursor === null ? {} : { cursor }),
  };
  const context = { client, clock, purpose: purposeOf(reading, "poll") };
  return patiently(context, addressOf(pathOf(list), search), reading.signal);
}

/** @throws SourceUnavailable when it is not a list page */
function readPage(exchange: Exchange, options: WalkOptions & Looked): Listed {
  const { list, clock, detail, lookout } = options;
  const asked = detail === undefined ? [] : [detail.lines, ...(detail.others ?? [])];
  const wanted = ["id", "updatedAt", ...asked];
  const page = pageIn(exchange, list, { clock, purpose: "poll" }, wanted, lookout);
  let latest: string | null = null;
  const halves = new Set<Change>();
  const changes = page.records.map((record, at) => {
    const { change, fields } = readSkimmed(record, page.members[at] ?? null) ?? readRecord(record);
    if (detail !== undefined && fields !== null && lacks(fields, detail)) halves.add(change);
    if (change.version !== null && (latest === null || change.version > latest))
      latest = change.version;
    return change;
  });
  const { hasMore, nextCursor, total } = page;
  const answeredAt = page.serverTime === null ? null : sortableInstant(page.serverTime);
  const serverTime = page.serverTime === null ? (latest ?? "") : (answeredAt ?? "");
  const drift = driftIn(changes, page.found);
  const rest = { hasMore, nextCursor, total };
  return { changes, drift, halves, latest, serverTime, answeredAt, ...rest };
}

const driftIn = (changes: readonly Change[], found: ListPage["found"]): Drift[] =>
  driftOf(changes.map(({ id }, at) => ({ id, found: found[at] ?? [] })));

function boundIn(
  { hasMore, changes }: Listed,
  walk: Walk,
  by: { options: WalkOptions; before: number; reading: Reading },
): ReturnType<typeof boundOf> {
  if (!hasMore) return null;
  const isNew = changes.some(
    ({ id, version }) => version !== null && !by.reading.stored(id, version),
  );
  const { told = 0, idle = 0 } = walk;
  const pages = walk.pages + 1;
  return boundOf(extentOf(by.options, walk), { pages, before: by.before, isNew, told, idle });
}

/** What it has brought once this page came; its place is as before. */
function withPage(walk: Walk, { changes: { length }, total }: Listed): Walk {
  const { told = walk.pages * PAGE_SIZE, idle = 0, ...rest } = walk;
  return {
    ...rest,
    total: mostOf(walk.total, total),
    told: told + length,
    ...(length === 0 ? { idle: idle + 1 } : {}),
  };
}

const extentOf = (
  { pagesPerRun = runShareOf(usualBudget) }: Pick<WalkOptions, "pagesPerRun">,
  { total = null }: Pick<Walk, "total">,
) => ({ pageSize: PAGE_SIZE, total, pagesPerRun });

/**
 * Whether a listed record is only half of it: that lists carry lines is not specified (part 4, Orders), nor how they
 * leave them out.
 */
function lacks(fields: Readonly<Record<string, unknown>>, { lines, others = [] }: Detail): boolean {
  const shown = fields[lines];
  const isEmpty =
    typeof shown === "string" ? EMPTY_LIST.test(shown) : Array.isArray(shown) && shown.length === 0;
  return isEmpty || [lines, ...others].some((name) => fields[name] === undefined);
}

/** As its sender wrote it. */
const EMPTY_LIST = /^\[ *\]$/;

/** Replaces records that are half and new to us by their details; the detail's own time is its version. */
async function detailed(
  client: Exchanger,
  detail: Detail,
  clock: Clock,
  { changes, halves }: Listed,
  reading: Reading,
): Promise<readonly Change[]> {
  if (halves.size === 0) return changes;
  const whole: Change[] = [];
  for (const change of changes) {
    const isWhole = !halves.has(change);
    if (isWhole || reading.stored(change.id, change.version ?? "")) {
      if (isWhole) whole.push(change);
      continue;
    }
    const path = pathOf(detail.operation, change.id);
    const context = { client, clock, purpose: purposeOf(reading, "detail") };
    const exchange = await patiently(context, path, reading.signal);
    if (!isAbsent(exchange)) whole.push(changeOf(recordOf(exchange, path, context)));
  }
  return whole;
}

interface ListingOptions {
  readonly list: ListOperation;
  /** The list's largest when left out (rule P1): each page is a request of the month's. */
  readonly pageSize?: number;
  readonly query?: Query;
  /** How many pages one run may read, unless the list says that it needs more; the usual share when left out. */
  readonly pagesPerRun?: number;
  readonly clock: Clock;
}

/**
 * All of a list, page by page, on every run. What is stored already is recognised by its version or, where the list tells
 * none, by its content. One that comes twice is recognised; one that was passed over is in the next run's listing.
 */
export function listingSource(client: Exchanger, options: ListingOptions): Source {
  const looked = { ...options, lookout: lookoutOf(options.list) };
  return { whole: true, read: (_position, reading) => listing(client, looked, reading) };
}

async function* listing(
  client: Exchanger,
  options: ListingOptions & Looked,
  { signal }: Reading,
): AsyncGenerator<Page> {
  const { list, clock, pagesPerRun = runShareOf(usualBudget) } = options;
  const what = `The list ${pathOf(list)}`;
  const seen = new Set<string>();
  let most: number | null = null;
  let idle = 0;
  // Its pages may be a snapshot of that moment.
  const atMs = clock.now().wallMs;
  for (let page = 1; !signal.aborted; page++) {
    const context = { client, clock, purpose: "poll" } as const;
    const exchange = await patiently(context, placeOf(options, page), signal);
    const listed = pageIn(exchange, list, context, [], options.lookout);
    const { records, found, hasMore, total, serverTime } = listed;
    const answeredAt = serverTime === null ? null : sortableInstant(serverTime);
    most = mostOf(most, total);
    const changes = records.map((record) => changeOf(record, true));
    const before = seen.size;
    for (const { id } of changes) seen.add(id);
    // There is nowhere to go on from: the next run begins at the first page again.
    const isComplete = !hasMore && (total === null || seen.size >= total);
    const whole = { total: most ?? seen.size, isLast: !hasMore, isComplete };
    const drift = driftIn(changes, found);
    const told = drift.length === 0 ? {} : { drift };
    const brought = { changes, position: null, asked: { atMs, answeredAt } };
    yield { ...brought, ...told, list: { name: pathOf(list), ...whole } };
    if (!hasMore) return;
    idle = changes.length === 0 ? idle + 1 : 0;
    const isOwing = most !== null && seen.size < most;
    const broken = emptyBy(hasMore, changes.length, isOwing);
    if (broken !== null) throw stuck(what, broken);
    if (idle === 0 && seen.size === before)
      throw stuck(what, "gives nothing but records that it gave before");
    // By what comes: a server may give fewer records on a page than it is asked for.
    const extent = { pageSize: Math.ceil(seen.size / page) || 1, total: most, pagesPerRun };
    const asked = { pageSize: pageSizeOf(options) ?? 1, total: most };
    if (isIdle(asked, idle) || page >= runMax(extent)) throw endless(what, page, extent, A_DAY_MS);
  }
}

/** Null: the list is not paged. */
function pageSizeOf({ list, pageSize }: ListingOptions): number | null {
  const operation: Operation = operations[list];
  return pageSize ?? operation.pageSize?.max ?? null;
}

/** What is not paged is asked for as it is. */
function placeOf(options: ListingOptions, page: number): string {
  const pageSize = pageSizeOf(options);
  const paging = pageSize === null ? {} : { page: String(page), pageSize: String(pageSize) };
  return addressOf(pathOf(options.list), { ...options.query, ...paging });
}

/** It has no position to keep a longer wait in. */
const A_DAY_MS = 24 * 3_600_000;

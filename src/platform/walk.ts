/**
 * The change walk of a list: `updatedSince`, then cursor after cursor (specification part 4, P2).
 * Nothing is assumed of its order, of the cursor's life, of the bound being inclusive, or of lines being in the list.
 */
import type { Change, Page, Reading, Source } from "../core/contract.ts";
import { SourceUnavailable } from "../core/errors.ts";
import { type Json, type Members, sliceArray, sliceObject } from "../core/json.ts";
import { sha256, sortableInstant } from "../core/keys.ts";
import type { Clock } from "../core/moment.ts";
import { runShareOf, usualBudget } from "../core/budget.ts";
import { afterPage, sinceOf, unread, type Walk, type WalkPosition } from "../core/watermark.ts";
import { boundOf, endless, endlessWaitMs, mostOf } from "./bounds.ts";
import type { Exchange, Exchanger, PlatformRequest } from "./client.ts";
import type { Operation } from "./contract/operation.ts";
import {
  type ListOperation,
  operations,
  pathOf,
  type RecordOperation,
} from "./contract/operations.ts";
import { bodyOf, isPassing, isQuota, waitOf } from "./outcomes.ts";
import { brokenBy } from "./paging.ts";

/** Reads one record where its list shows it without a field that it may leave out. */
export interface Detail {
  readonly operation: RecordOperation;
  /** The field without which, or with none in it, a record is read in detail. */
  readonly lines: string;
  /** Lists that a record shows, be they empty. */
  readonly others?: readonly string[];
}

export interface WalkOptions {
  /** A list that may be asked for what changed. */
  readonly list: ListOperation;
  readonly query?: Readonly<Record<string, string>>;
  /** Asked for again on every walk, for writes that were committed late. */
  readonly overlapMs: number;
  /** Left out: the list shows all of a record. */
  readonly detail?: Detail;
  /** How many pages one run may read, unless the list says that it needs more; the usual share when left out. */
  readonly pagesPerRun?: number;
  readonly clock: Clock;
}

const PAGE_SIZE = 100;
const RESTARTS_MAX = 3;
const TRIES = 5;
/** The window of the minute limit (specification part 8). */
const PAUSE_MAX_MS = 60_000;

export function walkSource(client: Exchanger, options: WalkOptions): Source {
  const read: Source["read"] = (position, reading) =>
    walk(client, options, (position as unknown as WalkPosition | null) ?? unread, reading);
  return {
    read,
    again: {
      pageSize: PAGE_SIZE,
      from: (instant) => ({ watermark: instant, walk: null }) satisfies WalkPosition,
      async count(instant, reading) {
        const first = await fetchPage(client, options, freshWalk(instant, 0), reading, 1);
        return readPage(first, options).total;
      },
      read,
    },
  };
}

async function* walk(
  client: Exchanger,
  options: WalkOptions,
  from: WalkPosition,
  reading: Reading,
): AsyncGenerator<Page> {
  let position = from;
  let current: Walk = from.walk ?? freshWalk(sinceOf(from, options.overlapMs), 0);
  let before = current.pages;
  let fetching = fetchPage(client, options, current, reading);
  while (!reading.signal.aborted) {
    const exchange = await fetching;
    if (current.cursor !== null && exchange.kind === "answer" && exchange.status === 400) {
      if (current.restarts >= RESTARTS_MAX) {
        yield pageOf([], { ...position, walk: null });
        throw stuck(options, `began again ${RESTARTS_MAX} times: its cursor was refused`);
      }
      // The platform no longer knows the cursor: from the beginning of this walk, not from the watermark.
      current = freshWalk(current.since, current.restarts + 1);
      before = 0;
      fetching = fetchPage(client, options, current, reading);
      continue;
    }
    const listed = readPage(exchange, options);
    if (current.pages === 0) current = { ...current, startedAt: listed.serverTime };
    current = withPage(current, listed);
    const { cursor } = current;
    const broken = brokenBy(listed, new Set(cursor === null ? [] : [cursor]));
    const bound = broken === null ? boundIn(listed, current, { options, before, reading }) : null;
    position = afterPage(position, current, { cursor: listed.nextCursor, latest: listed.latest });
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
      yield pageOf(changes, { ...from, walk: null });
      throw stuck(options, broken);
    }
    if (bound !== null) {
      const times = (from.endless ?? 0) + 1;
      const next = bound === "endless" ? { ...from, walk: null } : position;
      yield pageOf(changes, { ...next, endless: times });
      const extent = extentOf(options, current);
      const what = `The walk of ${pathOf(options.list)}`;
      throw endless(what, current.pages + 1, extent, endlessWaitMs(times));
    }
    yield pageOf(changes, position);
    if (follows === null) return;
  }
}

const pageOf = (changes: readonly Change[], position: WalkPosition): Page => ({
  changes,
  position: position as unknown as Json,
});

const freshWalk = (since: string, restarts: number): Walk => ({
  since,
  cursor: null,
  latest: null,
  startedAt: "",
  pages: 0,
  restarts,
});

/** A walk that leads nowhere is forgotten, so that the next run does not go on with its cursor. */
function stuck({ list }: WalkOptions, how: string): SourceUnavailable {
  return new SourceUnavailable(`The walk of ${pathOf(list)} ${how}.`, {
    next: "Report it to the platform's support; the next run begins again, nothing is lost.",
  });
}

interface Listed {
  readonly changes: readonly Change[];
  /** Those that are to be read in detail. */
  readonly halves: ReadonlySet<Change>;
  /** Sortable text. */
  readonly latest: string | null;
  readonly serverTime: string;
  readonly hasMore: boolean;
  readonly nextCursor: string | null;
  /** Null: it does not say. */
  readonly total: number | null;
}

async function fetchPage(
  client: Exchanger,
  { list, query, clock }: WalkOptions,
  { since, cursor }: Walk,
  { signal, backfill }: Reading,
  pageSize = PAGE_SIZE,
): Promise<Exchange> {
  const search = new URLSearchParams({
    ...query,
    updatedSince: since,
    pageSize: String(pageSize),
    ...(cursor === null ? {} : { cursor }),
  });
  return patiently(
    client,
    {
      method: "GET",
      path: `${pathOf(list)}?${search.toString()}`,
      purpose: backfill === true ? "backfill" : "poll",
    },
    clock,
    signal,
  );
}

/**
 * A read may be repeated: a few tries, as far apart as we are told or as doubles. What asks for a longer pause is left
 * to the next run.
 */
export async function patiently(
  client: Exchanger,
  request: PlatformRequest,
  clock: Clock,
  signal?: AbortSignal,
): Promise<Exchange> {
  for (let tries = 1; ; tries++) {
    const exchange = await client.exchange(request);
    const now = new Date(clock.now().wallMs);
    const torn = exchange.kind === "answer" && exchange.status === 200 && !isJson(exchange.text);
    if ((!isPassing(exchange) && !torn) || tries >= TRIES || isQuota(exchange, now))
      return exchange;
    const pause = waitOf(exchange, now) ?? 250 * 2 ** tries * (0.5 + clock.chance() / 2);
    if (pause > PAUSE_MAX_MS) return exchange;
    await clock.pause(pause, signal);
    if (signal?.aborted) return exchange;
  }
}

/** Cheap: a body that was cut off does not end like one that was not. */
function isJson(text: string): boolean {
  return text.startsWith("{") && text.trimEnd().endsWith("}");
}

/**
 * The page of a list, its records as the texts that they came as. `wanted`: members of theirs that are read while it is cut.
 * @throws SourceUnavailable when it is none
 */
export function sliced(
  exchange: Exchange,
  { list, clock }: { readonly list: ListOperation; readonly clock: Clock },
  wanted: readonly string[] = [],
) {
  const path = pathOf(list);
  const { text, headers } = bodyOf(exchange, path, new Date(clock.now().wallMs));
  const data = sliceArray(text, "data", wanted);
  const { success }: Operation = operations[list];
  const meta = success.kind === "array" ? wholeArray : metaOf(data?.rest);
  if (data !== null && meta !== null)
    return { headers, records: data.elements, members: data.members, ...meta };
  throw new SourceUnavailable(`${path} did not answer with a list.`, {
    next: "It is tried again by itself; if it stays, check that the address is the platform's API.",
  });
}

/** @throws SourceUnavailable when it is not a list page */
function readPage(exchange: Exchange, options: WalkOptions): Listed {
  const { detail } = options;
  const asked = detail === undefined ? [] : [detail.lines, ...(detail.others ?? [])];
  const wanted = ["id", "updatedAt", ...asked];
  const { headers, records, members, hasMore, nextCursor, total } = sliced(
    exchange,
    options,
    wanted,
  );
  let latest: string | null = null;
  const halves = new Set<Change>();
  const changes = records.map((record, at) => {
    const { change, fields } = readSkimmed(record, members[at] ?? null) ?? readRecord(record);
    if (detail !== undefined && fields !== null && lacks(fields, detail)) halves.add(change);
    if (change.version !== null && (latest === null || change.version > latest))
      latest = change.version;
    return change;
  });
  const serverTime = new Date(headers["date"] ?? Number.NaN);
  return {
    changes,
    halves,
    latest,
    serverTime: Number.isNaN(serverTime.getTime())
      ? (latest ?? "")
      : (sortableInstant(serverTime.toISOString()) ?? ""),
    hasMore,
    nextCursor: hasMore ? nextCursor : null,
    total,
  };
}

/** What is not paged says nothing of pages. */
const wholeArray = { hasMore: false, nextCursor: null, total: null };

function metaOf(rest: string | undefined) {
  try {
    const { meta } = JSON.parse(rest ?? "") as { meta: Record<string, unknown> };
    const { hasMore, nextCursor = null, total = null } = meta;
    if (typeof hasMore !== "boolean") return null;
    return {
      hasMore,
      nextCursor: typeof nextCursor === "string" ? nextCursor : null,
      total: Number.isSafeInteger(total) && Number(total) >= 0 ? Number(total) : null,
    };
  } catch {
    return null;
  }
}

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
function lacks(fields: Fields, { lines, others = [] }: Detail): boolean {
  const shown = fields[lines];
  const isEmpty =
    typeof shown === "string" ? EMPTY_LIST.test(shown) : Array.isArray(shown) && shown.length === 0;
  return isEmpty || [lines, ...others].some((name) => fields[name] === undefined);
}

/** As its sender wrote it. */
const EMPTY_LIST = /^\[ *\]$/;

/**
 * A record without an id, or a time unless it may be `undated`, is quarantined whole; the rest of the page goes on.
 * Undated records are compared by content.
 */
export const changeOf = (text: string, undated = false): Change => readRecord(text, undated).change;

type Fields = Readonly<Record<string, unknown>>;

interface ReadRecord {
  readonly change: Change;
  /** Null where it is quarantined whole. */
  readonly fields: Fields | null;
}

/** The same of a plain record, by the members that were read while it was cut; null: it must be parsed. */
function readSkimmed(text: string, members: Members | null): ReadRecord | null {
  const { id, updatedAt } = members ?? {};
  if (members === null || id?.startsWith('"') !== true || updatedAt?.startsWith('"') !== true)
    return null;
  const change = { id: id.slice(1, -1), version: sortableInstant(updatedAt.slice(1, -1)), text };
  const isUsable = change.id !== "" && change.id.length <= ID_MAX && !change.id.includes("\\");
  if (change.version === null || !isUsable) return null;
  return { change, fields: members };
}

const ID_MAX = 200;

/** The change that a record is, and its fields. It is parsed once. */
function readRecord(text: string, undated = false): ReadRecord {
  let fault = "is not valid JSON";
  try {
    const fields = JSON.parse(text) as Fields;
    const { id, updatedAt } = fields;
    const version = typeof updatedAt === "string" ? sortableInstant(updatedAt) : null;
    if (typeof id === "string" && id !== "" && id.length <= ID_MAX && (undated || version !== null))
      return { change: { id, version, text }, fields };
    fault =
      !undated && version === null
        ? `has no usable updatedAt (${String(updatedAt)})`
        : "has no usable id";
  } catch {
    // Said by `fault`.
  }
  const change: Change = {
    id: `unreadable-${sha256(text).slice(0, 22)}`,
    version: null,
    text: JSON.stringify(text),
    fault: {
      code: "unreadable-record",
      message: `the platform sent a record that ${fault}`,
      next: "Report it to the platform's support; it is taken as soon as it comes by whole.",
    },
  };
  return { change, fields: null };
}

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
    const purpose = reading.backfill === true ? "backfill" : "detail";
    const request = { method: "GET", path, purpose } as const;
    const exchange = await patiently(client, request, clock, reading.signal);
    if (exchange.kind === "answer" && exchange.status === 404) continue;
    const { text } = bodyOf(exchange, path, new Date(clock.now().wallMs));
    const data = sliceObject(text, "data");
    if (data === null) throw noRecord(path);
    whole.push(changeOf(data));
  }
  return whole;
}

const noRecord = (path: string): SourceUnavailable =>
  new SourceUnavailable(`${path} did not answer with a record.`, {
    next: "It is tried again by itself; if it stays, check that the address is the platform's API.",
  });

/**
 * The change walk of a list: `updatedSince`, then cursor after cursor (specification part 4, P2; reliability 3.3).
 * Nothing is assumed of its order, of the cursor's life, of the bound being inclusive, or of lines being in the list.
 */
import type { Change, Page, Reading, Source } from "../core/contract.ts";
import { SourceUnavailable } from "../core/errors.ts";
import { type Json, sliceArray, sliceObject } from "../core/json.ts";
import { sha256, sortableInstant } from "../core/keys.ts";
import type { Clock } from "../core/moment.ts";
import { afterPage, sinceOf, unread, type Walk, type WalkPosition } from "../core/watermark.ts";
import type { Exchange, PlatformClient, PlatformRequest } from "./client.ts";
import { bodyOf, isPassing, isQuota, waitOf } from "./outcomes.ts";

export interface WalkOptions {
  /** `/invoices` */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Asked for again on every walk, for writes that were committed late. */
  readonly overlapMs: number;
  /** A member without which a listed record is only half of it, and is read in detail. */
  readonly lines: string;
  readonly clock: Clock;
}

const PAGE_SIZE = 100;
const PAGES_MAX = 10_000;
const RESTARTS_MAX = 3;
const TRIES = 5;

export function walkSource(client: PlatformClient, options: WalkOptions): Source {
  return {
    async *read(position, reading) {
      const from = (position as unknown as WalkPosition | null) ?? unread;
      yield* walk(client, options, from, reading);
    },
  };
}

async function* walk(
  client: PlatformClient,
  options: WalkOptions,
  from: WalkPosition,
  reading: Reading,
): AsyncGenerator<Page> {
  let position = from;
  const since = sinceOf(from, options.overlapMs);
  let current: Walk = from.walk ?? freshWalk(since, 0);
  let fetching = fetchPage(client, options, current);
  while (!reading.signal.aborted) {
    const exchange = await fetching;
    if (current.cursor !== null && exchange.kind === "answer" && exchange.status === 400) {
      current = restart(current, options.path);
      fetching = fetchPage(client, options, current);
      continue;
    }
    const listed = readPage(exchange, options);
    if (current.pages === 0) current = { ...current, startedAt: listed.serverTime };
    const cursor = nextCursor(listed, current, options.path);
    position = afterPage(position, current, { cursor, latest: listed.latest });
    const follows = position.walk;
    // The next page is under way while this one is stored.
    if (follows !== null) {
      current = follows;
      fetching = fetchPage(client, options, current);
      fetching.catch(() => {});
    }
    const changes = listed.lacksLines
      ? await detailed(client, options, listed.changes, reading)
      : listed.changes;
    yield { changes, position: position as unknown as Json };
    if (follows === null) return;
  }
}

const freshWalk = (since: string, restarts: number): Walk => ({
  since,
  cursor: null,
  latest: null,
  startedAt: "",
  pages: 0,
  restarts,
});

/** The platform no longer knows the cursor: from the beginning of this walk, not from the watermark. */
function restart(current: Walk, path: string): Walk {
  if (current.restarts >= RESTARTS_MAX)
    throw new SourceUnavailable(
      `The walk of ${path} began again ${RESTARTS_MAX} times because the platform refused its cursor.`,
      { next: "Report it to the platform's support; the next run tries again, nothing is lost." },
    );
  return freshWalk(current.since, current.restarts + 1);
}

interface Listed {
  readonly changes: readonly Change[];
  /** Sortable text. */
  readonly latest: string | null;
  readonly serverTime: string;
  readonly hasMore: boolean;
  readonly nextCursor: string | null;
  readonly lacksLines: boolean;
}

async function fetchPage(
  client: PlatformClient,
  { path, query, clock }: WalkOptions,
  { since, cursor }: Walk,
): Promise<Exchange> {
  const search = new URLSearchParams({
    ...query,
    updatedSince: since,
    pageSize: String(PAGE_SIZE),
    ...(cursor === null ? {} : { cursor }),
  });
  return patiently(
    client,
    { method: "GET", path: `${path}?${search.toString()}`, purpose: "poll" },
    clock,
  );
}

/** A read may be repeated: a few tries, as far apart as we are told or as doubles. */
export async function patiently(
  client: PlatformClient,
  request: PlatformRequest,
  clock: Clock,
): Promise<Exchange> {
  for (let tries = 1; ; tries++) {
    const exchange = await client.exchange(request);
    const now = new Date(clock.now().wallMs);
    const torn = exchange.kind === "answer" && exchange.status === 200 && !isJson(exchange.text);
    if ((!isPassing(exchange) && !torn) || tries >= TRIES || isQuota(exchange, now))
      return exchange;
    await clock.pause(waitOf(exchange, now) ?? 250 * 2 ** tries * (0.5 + clock.chance() / 2));
  }
}

/** Cheap: a body that was cut off does not end like one that was not. */
function isJson(text: string): boolean {
  return text.startsWith("{") && text.trimEnd().endsWith("}");
}

/** @throws SourceUnavailable when it is not a list page */
function readPage(exchange: Exchange, { path, lines }: WalkOptions): Listed {
  const { text, headers } = bodyOf(exchange, path, new Date());
  const sliced = sliceArray(text, "data");
  const meta = metaOf(sliced?.rest);
  if (sliced === null || meta === null)
    throw new SourceUnavailable(`${path} did not answer with a list.`, {
      next: "It is tried again by itself; if it stays, check that the address is the platform's API.",
    });
  let latest: string | null = null;
  let lacksLines = false;
  const changes = sliced.elements.map((element) => {
    const change = changeOf(element);
    if (change.version !== null && (latest === null || change.version > latest))
      latest = change.version;
    lacksLines ||= !change.fault && !element.includes(`"${lines}"`);
    return change;
  });
  const serverTime = new Date(headers["date"] ?? Number.NaN);
  return {
    changes,
    latest,
    lacksLines,
    serverTime: Number.isNaN(serverTime.getTime())
      ? (latest ?? "")
      : (sortableInstant(serverTime.toISOString()) ?? ""),
    hasMore: meta.hasMore,
    nextCursor: meta.nextCursor,
  };
}

function metaOf(rest: string | undefined): { hasMore: boolean; nextCursor: string | null } | null {
  try {
    const { meta } = JSON.parse(rest ?? "") as { meta: Record<string, unknown> };
    const { hasMore, nextCursor = null } = meta;
    if (typeof hasMore !== "boolean") return null;
    return { hasMore, nextCursor: typeof nextCursor === "string" ? nextCursor : null };
  } catch {
    return null;
  }
}

/** The cursor to follow, or null at the end. @throws SourceUnavailable rather than walk in a circle */
function nextCursor(listed: Listed, walk: Walk, path: string): string | null {
  if (!listed.hasMore) return null;
  const broken =
    listed.nextCursor === null
      ? "says there is more but gives no cursor"
      : listed.nextCursor === walk.cursor
        ? "gives the same cursor twice"
        : listed.changes.length === 0
          ? "says there is more after an empty page"
          : walk.pages >= PAGES_MAX
            ? `does not end after ${PAGES_MAX} pages`
            : null;
  if (broken !== null)
    throw new SourceUnavailable(`The walk of ${path} ${broken}.`, {
      next: "Report it to the platform's support; the next run begins again, nothing is lost.",
    });
  return listed.nextCursor;
}

/** A record without an id or a time is quarantined whole; the rest of the page goes on. */
function changeOf(text: string): Change {
  let fault = "is not valid JSON";
  try {
    const { id, updatedAt } = JSON.parse(text) as { id?: unknown; updatedAt?: unknown };
    const version = typeof updatedAt === "string" ? sortableInstant(updatedAt) : null;
    if (typeof id === "string" && id !== "" && id.length <= 200 && version !== null)
      return { id, version, text };
    fault =
      version === null ? `has no usable updatedAt (${String(updatedAt)})` : "has no usable id";
  } catch {
    // Said by `fault`.
  }
  return {
    id: `unreadable-${sha256(text).slice(0, 22)}`,
    version: null,
    text: JSON.stringify(text),
    fault: {
      code: "unreadable-record",
      message: `the platform sent a record that ${fault}`,
      next: "Report it to the platform's support; it is taken as soon as it comes by whole.",
    },
  };
}

/** Replaces records that are new to us by their details; the detail's own time is its version. */
async function detailed(
  client: PlatformClient,
  { path, clock }: WalkOptions,
  changes: readonly Change[],
  reading: Reading,
): Promise<Change[]> {
  const whole: Change[] = [];
  for (const change of changes) {
    if (change.fault || change.version === null || reading.stored(change.id, change.version)) {
      if (change.fault) whole.push(change);
      continue;
    }
    const request = { method: "GET", path: `${path}/${change.id}`, purpose: "detail" } as const;
    const exchange = await patiently(client, request, clock);
    if (exchange.kind === "answer" && exchange.status === 404) continue;
    const { text } = bodyOf(exchange, request.path, new Date(clock.now().wallMs));
    const data = sliceObject(text, "data");
    if (data !== null) whole.push(changeOf(data));
  }
  return whole;
}

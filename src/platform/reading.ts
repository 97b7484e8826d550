/**
 * Reads of the platform: a request with patience, a page cut into its records, a whole list, one record. Nothing is built on
 * a list's order, on how long a cursor lives, on an inclusive bound, or on lines being in a list (specification part 4, P1
 * and P2).
 */
import type { z } from "zod";
import type { Purpose } from "../core/budget.ts";
import type { Change } from "../core/contract.ts";
import { SourceUnavailable } from "../core/errors.ts";
import { type Members, parseExact, sliceArray, sliceObject } from "../core/json.ts";
import { sha256, sortableInstant, usualId } from "../core/keys.ts";
import type { Fault } from "../core/record.ts";
import type { Lookout, Sighting } from "../core/shape.ts";
import type { Clock } from "../core/time.ts";
import type { Exchange, Exchanger, PlatformRequest } from "./client.ts";
import type { Operation } from "./contract/operation.ts";
import { type ListOperation, operations, pathOf } from "./contract/operations.ts";
import { answerRules, bodyOf, errorOf, isAbsent, isPassing, isQuota, waitOf } from "./answers.ts";
import { NoFile } from "../core/attachment.ts";
import { TransportError } from "../transport/http.ts";

export type Query = Readonly<Record<string, string>>;

export interface ReadContext {
  readonly client: Exchanger;
  readonly clock: Clock;
  /** Which part of the month's requests pays for it. */
  readonly purpose: Purpose;
}

const TRIES = 5;
/** The window of the minute limit (specification part 8). */
const PAUSE_MAX_MS = 60_000;

/**
 * A read may be repeated: a few tries, as far apart as we are told or as doubles. What asks for a longer pause is left
 * to the next run.
 */
export async function patiently(
  { client, clock, purpose }: ReadContext,
  path: string,
  signal?: AbortSignal,
): Promise<Exchange> {
  const request: PlatformRequest = { method: "GET", path, purpose };
  for (let tries = 1; ; tries++) {
    const exchange = await client.exchange(request);
    const now = new Date(clock.now().wallMs);
    const isWhole = exchange.kind === "answer" && exchange.status === 200 && isJson(exchange.text);
    const torn = exchange.kind === "answer" && exchange.status < 300 && !isWhole;
    if ((!isPassing(exchange) && !torn) || tries >= TRIES || isQuota(exchange, now))
      return exchange;
    const pause = waitOf(exchange, now) ?? 250 * 2 ** tries * (0.5 + clock.chance() / 2);
    if (pause > PAUSE_MAX_MS) return exchange;
    await clock.pause(pause, signal);
    if (signal?.aborted) return exchange;
  }
}

/** Cheap: a body that was cut off does not end like one that was not. */
const isJson = (text: string): boolean => text.startsWith("{") && text.trimEnd().endsWith("}");

/** Path and query, as they are asked for. */
export function addressOf(path: string, query: Query): string {
  const search = new URLSearchParams(query).toString();
  return search === "" ? path : `${path}?${search}`;
}

/** A page of a list, its records as the texts that they came as. */
export interface ListPage {
  readonly records: readonly string[];
  /** Of each record the members that were asked for; null: it must be parsed. */
  readonly members: readonly (Members | null)[];
  /** Of each record what the contract does not know; empty where nobody asked. */
  readonly found: readonly (readonly Sighting[])[];
  readonly hasMore: boolean;
  /** Null where no page follows. */
  readonly nextCursor: string | null;
  /** `meta.total`: how many the whole list says it has; null: it does not say. */
  readonly total: number | null;
  /** The server's clock, ISO 8601 UTC; null: not shown. */
  readonly serverTime: string | null;
}

/**
 * @param wanted members of the records that are read while the page is cut
 * @param lookout what they are looked at by meanwhile
 * @throws SourceUnavailable when it is no page of this list
 */
export function pageIn(
  exchange: Exchange,
  list: ListOperation,
  { clock, purpose }: Omit<ReadContext, "client">,
  wanted: readonly string[] = [],
  lookout: Lookout | null = null,
): ListPage {
  return cut(exchange, pathOf(list), isPaged(list), { clock, purpose }, wanted, lookout);
}

/** What is not paged says nothing of pages. */
const isPaged = (list: ListOperation): boolean => {
  const { success }: Operation = operations[list];
  return success.kind !== "array";
};

function cut(
  exchange: Exchange,
  path: string,
  paged: boolean,
  { clock, purpose }: Omit<ReadContext, "client">,
  wanted: readonly string[] = [],
  lookout: Lookout | null = null,
): ListPage {
  const { text, headers } = bodyOf(exchange, path, new Date(clock.now().wallMs));
  const data = sliceArray(text, "data", wanted, lookout);
  const meta = paged ? metaOf(data?.rest) : { hasMore: false, nextCursor: null, total: null };
  if (data === null || meta === null)
    throw unavailable(`${path} did not answer with a list.`, purpose);
  const date = new Date(headers["date"] ?? Number.NaN);
  const serverTime = Number.isNaN(date.getTime()) ? null : date.toISOString();
  const { elements: records, members, found } = data;
  return { records, members, found, ...meta, serverTime };
}

/** The specification does not say what a cursor is: it says of the others of `meta` that they are integers (part 1). */
const cursorOf = (told: unknown): string | null =>
  typeof told === "string" || Number.isSafeInteger(told) ? String(told) : null;

function metaOf(rest = ""): Pick<ListPage, "hasMore" | "nextCursor" | "total"> | null {
  try {
    const { meta } = JSON.parse(rest) as { meta: Record<string, unknown> };
    const { hasMore, nextCursor, total } = meta;
    if (typeof hasMore !== "boolean") return null;
    return {
      hasMore,
      nextCursor: hasMore ? cursorOf(nextCursor) : null,
      total: Number.isSafeInteger(total) && Number(total) >= 0 ? Number(total) : null,
    };
  } catch {
    return null;
  }
}

/** What people do about a read that failed, by what it was for. */
const unavailable = (message: string, purpose: Purpose): SourceUnavailable =>
  new SourceUnavailable(message, {
    next:
      purpose === "audit"
        ? "Run the reconciliation again; if it stays, check that the address is the platform's API."
        : "It is tried again by itself; if it stays, check that the address is the platform's API.",
  });

/** One request. A reading that was stopped is no complete one. @throws SourceUnavailable */
async function asked(
  context: ReadContext,
  path: string,
  query: Query,
  signal?: AbortSignal,
): Promise<Exchange> {
  const isStopped = (): boolean => signal?.aborted === true;
  const exchange = isStopped() ? null : await patiently(context, addressOf(path, query), signal);
  if (exchange !== null && !isStopped()) return exchange;
  throw unavailable(`The reading of ${path} was stopped.`, context.purpose);
}

/** The first page of a list. One request. @throws SourceUnavailable */
export const pageAt = async (
  context: ReadContext,
  list: ListOperation,
  query: Query,
  signal?: AbortSignal,
): Promise<ListPage> => pageIn(await asked(context, pathOf(list), query, signal), list, context);

/** How many records a list has; null where it does not say. One request. @throws SourceUnavailable */
export const countOf = async (
  context: ReadContext,
  list: ListOperation,
  query: Query,
  signal?: AbortSignal,
): Promise<number | null> =>
  (await pageAt(context, list, { ...query, pageSize: "1" }, signal)).total;

/**
 * All records of a list; records that move meanwhile may repeat. With `updatedSince` by cursors: those that changed since
 * an instant. @throws SourceUnavailable, also for a list that leads nowhere
 */
export const listed = (
  context: ReadContext,
  list: ListOperation,
  query: Query,
  signal?: AbortSignal,
): AsyncGenerator<ListPage> =>
  allPages({
    query,
    stuck: (how) => unavailable(`The reading of ${pathOf(list)} ${how}.`, context.purpose),
    async ask(search) {
      const exchange = await asked(context, pathOf(list), search, signal);
      const isRefused = exchange.kind === "answer" && exchange.status === 400;
      return isRefused && search["cursor"] !== undefined ? null : pageIn(exchange, list, context);
    },
  });

/** One record as the text that it came as; null when there is none to be seen (rule V1). @throws SourceUnavailable */
export async function recordAt(
  context: ReadContext,
  path: string,
  signal?: AbortSignal,
): Promise<string | null> {
  const exchange = await asked(context, path, {}, signal);
  return isAbsent(exchange) ? null : recordOf(exchange, path, context);
}

/** All of a list that is not paged; null when there is none to be seen (rule V1). @throws SourceUnavailable */
export async function arrayAt(
  context: ReadContext,
  path: string,
): Promise<readonly string[] | null> {
  const exchange = await asked(context, path, {});
  return isAbsent(exchange) ? null : cut(exchange, path, false, context).records;
}

/** For `doctor`, which asks: not being able to look is a fault as well. @throws what is no trouble of its source */
export function unreadable(error: unknown): Fault<string> {
  if (!(error instanceof SourceUnavailable)) throw error;
  return { code: error.stop ?? "unreadable", message: error.message, next: error.next };
}

/** The record of an answer, as the text that it came as. @throws SourceUnavailable */
export function recordOf(
  exchange: Exchange,
  path: string,
  { clock, purpose }: Omit<ReadContext, "client">,
): string {
  const { text } = bodyOf(exchange, path, new Date(clock.now().wallMs));
  const data = sliceObject(text, "data");
  if (data !== null) return data;
  throw unavailable(`${path} did not answer with a record.`, purpose);
}

/** A record in the shape of its contract; null when it does not have it. */
export function recordIn<T>(schema: z.ZodType<T>, record: string): T | null {
  try {
    return schema.safeParse(parseExact(record)).data ?? null;
  } catch {
    return null;
  }
}

interface List<Page> {
  readonly query: Query;
  /** One request. Null: the cursor was refused. */
  readonly ask: (query: Query) => Promise<Page | null>;
  /** What to throw for a list that leads nowhere: `gives the same cursor twice`. */
  readonly stuck: (how: string) => Error;
}

/** What a page says of how its list goes on. */
export type PageEnd = Pick<ListPage, "records" | "hasMore" | "nextCursor" | "total">;

const RESTARTS_MAX = 3;
/** More is read only where `meta.total` asks for it. */
const PAGES_MAX = 10_000;
/** A page where nobody asks for its size (rule P1). */
const USUAL_SIZE = 20;

/**
 * A whole list for who keeps no position in it: by cursors where the query has `updatedSince`, else by page numbers. A
 * cursor that is refused begins the walk again, three times at most; then records come twice.
 * @throws Error what `stuck` makes
 */
export async function* allPages<Page extends PageEnd>({
  query,
  ask,
  stuck,
}: List<Page>): AsyncGenerator<Page> {
  const isWalk = query["updatedSince"] !== undefined;
  const pageSize = Number(query["pageSize"] ?? USUAL_SIZE);
  for (let restarts = 0; restarts <= RESTARTS_MAX; restarts++) {
    const cursors = new Set<string>();
    const progress = new Progress(pageSize);
    let place: Query = isWalk ? {} : { page: "1" };
    for (let pages = 1; ; pages++) {
      const page = await ask({ ...query, ...place });
      if (page === null) break;
      const isEndless = progress.isEndless(page);
      yield page;
      if (!page.hasMore) return;
      const broken = isWalk
        ? brokenBy(page, cursors)
        : emptyBy(page.hasMore, page.records.length, progress.isOwing);
      if (broken !== null) throw stuck(broken);
      if (isEndless) throw stuck(`does not end after ${pages} pages`);
      cursors.add(page.nextCursor ?? "");
      place = isWalk ? { cursor: page.nextCursor ?? "" } : { page: String(pages + 1) };
    }
  }
  throw stuck("refused its own cursors");
}

/**
 * How a list goes on and leads nowhere, by what has come: a page may have fewer records than were asked for, or none
 * (part 4, P2).
 */
class Progress {
  readonly #pageSize: number;
  #total: number | null = null;
  #pages = 0;
  #told = 0;
  #largest = 0;
  #idle = 0;

  /** Does the list say that more records come than have come? */
  get isOwing(): boolean {
    return this.#total !== null && this.#told < this.#total;
  }

  constructor(pageSize: number) {
    this.#pageSize = pageSize;
  }

  /** Is there too much of it, with this page? */
  isEndless({ records: { length }, total }: PageEnd): boolean {
    this.#pages++;
    this.#told += length;
    this.#largest = Math.max(this.#largest, length);
    this.#idle = length === 0 ? this.#idle + 1 : 0;
    this.#total = mostOf(this.#total, total);
    if (this.#total === null) return this.#pages >= PAGES_MAX;
    const extent = { pageSize: this.#pageSize, total: this.#total };
    return isIdle(extent, this.#idle) || this.#told > roomOf(this.#total, this.#largest);
  }
}

/** Room for records that come in while a list is read: as many again, and ten pages of those that came. */
const roomOf = (total: number, largest: number): number => 2 * total + 10 * largest;

/**
 * Why a page of a walk cannot lead on; null when it can, or is the last one. An empty page leads on where it gives a new
 * cursor (part 4, P2: until `hasMore` is false). `cursors`: those that were used before.
 */
export function brokenBy(
  { hasMore, nextCursor }: Pick<ListPage, "hasMore" | "nextCursor">,
  cursors: ReadonlySet<string>,
): string | null {
  if (!hasMore) return null;
  if (nextCursor === null) return "says there is more but gives no cursor";
  return cursors.has(nextCursor) ? "gives the same cursor twice" : null;
}

/** The same of a list by page numbers: an empty page leads on as long as the list owes records by its own total. */
export const emptyBy = (hasMore: boolean, count: number, isOwing: boolean): string | null =>
  hasMore && count === 0 && !isOwing ? "says there is more after an empty page" : null;

type Fields = Readonly<Record<string, unknown>>;

interface ReadRecord {
  readonly change: Change;
  /** Null where it is quarantined whole. */
  readonly fields: Fields | null;
}

const ID_MAX = 200;

/**
 * A record without an id, or a time unless it may be `undated`, is quarantined whole; the rest of the page goes on.
 * Undated records are compared by content.
 */
export const changeOf = (text: string, undated = false): Change => readRecord(text, undated).change;

/** The change that a record is, and its fields. It is parsed once. */
export function readRecord(text: string, undated = false): ReadRecord {
  let fault = "is not valid JSON";
  try {
    const fields = JSON.parse(text) as Fields;
    const { id, updatedAt } = fields;
    const version = typeof updatedAt === "string" ? sortableInstant(updatedAt) : null;
    if (typeof id === "string" && id !== "" && id.length <= ID_MAX && (undated || version !== null))
      return { change: { id: usualId(id), version, text }, fields };
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

/** The same of a plain record, by the members that were read while it was cut; null: it must be parsed. */
export function readSkimmed(text: string, members: Members | null): ReadRecord | null {
  const { id, updatedAt } = members ?? {};
  if (members === null || id?.startsWith('"') !== true || updatedAt?.startsWith('"') !== true)
    return null;
  const version = sortableInstant(updatedAt.slice(1, -1));
  const change = { id: usualId(id.slice(1, -1)), version, text };
  const isUsable = change.id !== "" && change.id.length <= ID_MAX && !change.id.includes("\\");
  return change.version === null || !isUsable ? null : { change, fields: members };
}

// How far a list is read. The specification says that a walk ends (rule P2), and nothing of what to do when it does not:
// the list's own `meta.total` says how many pages there are, and a run never takes more than its share of the month
// unless the list says that it needs more. Counted by the pages of the walk, which is part of the position: a process
// that starts anew is given no new share. A server may give fewer records on a page than were asked for, and none on
// some: what leads nowhere is told by what has come, not by the pages that were expected.

/** Records move while they are read, and a moved one may come again: a tenth more, and no fewer than these. */
const SLACK_PAGES = 10;
const SLACK_RECORDS = 10;
const FIRST_WAIT_MS = 6 * 3_600_000;
const LONGEST_WAIT_MS = 7 * 24 * 3_600_000;

interface Extent {
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
interface Brought {
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

// A document's PDF, whole (specification part 4, `/pdf`): one request, never tried again here.

/** What fetches a PDF; a source names the one of its records (parts.ts). */
export type PdfOperation = "getInvoicePdf" | "getDeliveryTicketPdf";

const TYPE = "application/pdf";
const SIGNATURE = "%PDF-";

/**
 * The bytes of the PDF of a record, 32 MiB at most. The request is one of purpose `detail`, so that it never eats what
 * writes and read-backs keep of the month.
 * @throws NoFile, EnvironmentError
 */
export async function fetchPdf(
  client: Exchanger,
  operation: PdfOperation,
  id: string,
  now: Date,
): Promise<Uint8Array> {
  const request = { method: "GET", path: pathOf(operation, id), purpose: "detail" } as const;
  const exchange = await client.download(request, TYPE);
  if (exchange.kind !== "download") {
    const { kind, message, waitMs } = errorOf(operation, exchange, now);
    // A key that may not see this document may see the next one.
    const isPassing = answerRules[kind].outcome === "nothing" && kind !== "forbidden";
    throw new NoFile(isPassing ? "passing" : "failed", message, waitMs ?? undefined);
  }
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of exchange.body) chunks.push(chunk);
  } catch (error) {
    if (!(error instanceof TransportError)) throw error;
    const { code } = error.cause as { readonly code?: unknown };
    throw new NoFile(code === "TOO_LARGE" ? "never" : "failed", `${operation}: ${error.message}`);
  }
  const bytes = Buffer.concat(chunks);
  if (bytes.subarray(0, SIGNATURE.length).toString("latin1") !== SIGNATURE)
    throw new NoFile("failed", `${operation}: the answer is no PDF (${bytes.length} bytes)`);
  return bytes;
}

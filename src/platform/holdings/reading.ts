/**
 * Lists and single records as the reconciliation reads them: purpose `audit`, nothing stored, nothing built on what the
 * specification leaves open (part 4, P1 and P2: order, the cursor's life, an inclusive bound).
 */
import { z } from "zod";
import type { Item } from "../../core/contract.ts";
import { SourceUnavailable } from "../../core/errors.ts";
import { parseExact, sliceArray, sliceObject } from "../../core/json.ts";
import type { Expected, Holding, HoldingPage, Scope } from "../../core/holdings.ts";
import type { Clock } from "../../core/moment.ts";
import type { Exchange, Exchanger } from "../client.ts";
import { type ListOperation, pathOf, type RecordOperation } from "../contract/operations.ts";
import { integer, orNull, text } from "../contract/primitives.ts";
import { bodyOf } from "../outcomes.ts";
import { allPages, type Query } from "../paging.ts";
import { changeOf, patiently } from "../walk.ts";

export interface Reader {
  readonly client: Exchanger;
  readonly clock: Clock;
  /** The calendar day (`YYYY-MM-DD`) of an instant where the company is. */
  readonly dayOf: (instant: string) => string;
}

/** What one kind of holding can tell. */
export interface KindHoldings {
  list(scope: Scope, signal: AbortSignal): AsyncIterable<HoldingPage>;
  get(ids: readonly string[], signal: AbortSignal): Promise<readonly Holding[]>;
  /** Left out: its list tells all there is. */
  named?(numbers: readonly string[], signal: AbortSignal): Promise<readonly Holding[]>;
  expect(item: Item): Expected;
}

export interface ListPage {
  /** Each as the text that it came as. */
  readonly records: readonly string[];
  /** `meta.total`: how many the whole list says it has; null where it does not say. */
  readonly total: number | null;
  /** The server's clock, ISO 8601 UTC; null: not shown. */
  readonly serverTime: string | null;
}

/**
 * All records of a list; records that move meanwhile may repeat. With `updatedSince` by cursors: those that changed since
 * an instant. @throws SourceUnavailable, also for a list that leads nowhere
 */
export async function* listed(
  reader: Reader,
  list: ListOperation,
  query: Query & { readonly pageSize: string },
  signal: AbortSignal,
): AsyncGenerator<ListPage> {
  const path = pathOf(list);
  yield* allPages({
    query,
    stuck: (how) => stuck(path, how),
    async ask(search) {
      const exchange = await asked(reader, path, search, signal);
      const isRefused = exchange.kind === "answer" && exchange.status === 400;
      if (isRefused && search["cursor"] !== undefined) return null;
      return pageOf(reader, path, exchange);
    },
  });
}

/** All that changed since an instant. @throws SourceUnavailable */
export const walked = (
  reader: Reader,
  list: ListOperation,
  query: Query & { readonly updatedSince: string },
  signal: AbortSignal,
): AsyncGenerator<ListPage> => listed(reader, list, { ...query, pageSize: "100" }, signal);

export const EPOCH = "1970-01-01T00:00:00.000Z";
const DAY_MS = 86_400_000;

/** What a scope asks of documents that have a day and a time of change: walks, and what they tell. */
export interface Walks {
  readonly walks: AsyncIterable<ListPage>[];
  /** The whole list. */
  readonly all: () => AsyncIterable<ListPage>;
  /** It is dated after its last change: changes say nothing about days then, and only the whole list does. */
  readonly isOlderThanItself: (record: string) => boolean;
  readonly whole: (records: readonly string[]) => Promise<readonly string[]>;
  readonly tell: (records: readonly string[]) => Promise<readonly Holding[]>;
}

/** Each record once, whole, with the count of all that the walks say they have. @throws SourceUnavailable */
export async function* toldByWalks({ walks, ...of }: Walks): AsyncGenerator<HoldingPage> {
  const seen = new Set<string>();
  let missing = 0;
  let isAll = false;
  for (const walk of walks) {
    const ids = new Set<string>();
    let total: number | null = null;
    for await (const page of walk) {
      total = page.total ?? total;
      const fresh = page.records.filter((record) => {
        const { id } = changeOf(record);
        ids.add(id);
        return !seen.has(id) && seen.add(id);
      });
      const whole = await of.whole(fresh);
      if (!isAll && whole.some(of.isOlderThanItself)) {
        isAll = true;
        walks.push(of.all());
      }
      const holdings = await of.tell(whole);
      yield { holdings, position: null, total: null, serverTime: page.serverTime };
    }
    missing += Math.max((total ?? 0) - ids.size, 0);
  }
  yield { holdings: [], position: null, total: seen.size + missing, serverTime: null };
}

/** Since when what a scope asks for has changed: a document is changed when it is made, or later. Null: nothing is asked. */
export function changedIn({ dated, changedSince }: Scope): string | null {
  const since = dated === null ? null : dayBefore(dated.from);
  return since === null || changedSince === null
    ? (since ?? changedSince)
    : since < changedSince
      ? since
      : changedSince;
}

/** A day in the company's calendar begins up to 14 hours before or after that of UTC. */
const dayBefore = (day: string): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) - DAY_MS).toISOString();

/**
 * Whether lists carry lines is not specified: a record without one of these members (`"lines"`) is read by itself.
 * @param one the record as the text that it came as; null: it is not there any more
 */
export async function withMembers(
  records: readonly string[],
  members: readonly string[],
  one: (id: string) => Promise<string | null>,
): Promise<string[]> {
  const whole: string[] = [];
  for (const record of records) {
    const { id, fault } = changeOf(record);
    const isWhole = fault !== undefined || members.every((name) => record.includes(name));
    const read = isWhole ? record : await one(id);
    if (read !== null) whole.push(read);
  }
  return whole;
}

/** The first page of a list. One request. @throws SourceUnavailable */
export const pageAt = async (
  reader: Reader,
  list: ListOperation,
  query: Query,
  signal: AbortSignal,
): Promise<ListPage & { readonly hasMore: boolean }> =>
  pageOf(reader, pathOf(list), await asked(reader, pathOf(list), query, signal));

/** How many records a list has; null where it does not say. One request. @throws SourceUnavailable */
export async function countOf(
  reader: Reader,
  list: ListOperation,
  query: Query,
  signal: AbortSignal,
): Promise<number | null> {
  return (await pageAt(reader, list, { ...query, pageSize: "1" }, signal)).total;
}

/** One record as the text that it came as; null when there is none to be seen (rule V1). @throws SourceUnavailable */
export async function recordAt(
  reader: Reader,
  operation: RecordOperation,
  id: string,
  signal: AbortSignal,
): Promise<string | null> {
  const path = pathOf(operation, id);
  const exchange = await asked(reader, path, {}, signal);
  if (exchange.kind === "answer" && exchange.status === 404) return null;
  const { text } = bodyOf(exchange, path, new Date(reader.clock.now().wallMs));
  const data = sliceObject(text, "data");
  if (data !== null) return data;
  throw unavailable(`${path} did not answer with a record.`);
}

/** A record in the shape of its contract; null when it does not have it. */
export function recordIn<T>(schema: z.ZodType<T>, record: string): T | null {
  try {
    return schema.safeParse(parseExact(record)).data ?? null;
  } catch {
    return null;
  }
}

/** A reading that was stopped is no complete one. @throws SourceUnavailable */
async function asked(
  { client, clock }: Reader,
  path: string,
  query: Query,
  signal: AbortSignal,
): Promise<Exchange> {
  const search = new URLSearchParams(query).toString();
  const request = {
    method: "GET",
    path: search === "" ? path : `${path}?${search}`,
    purpose: "audit",
  } as const;
  if (!signal.aborted) {
    const exchange = await patiently(client, request, clock, signal);
    if (!signal.aborted) return exchange;
  }
  throw unavailable(`The reading of ${path} was stopped.`);
}

const Meta = z.looseObject({
  hasMore: z.boolean(),
  nextCursor: orNull(text),
  total: orNull(integer),
});

function pageOf({ clock }: Reader, path: string, exchange: Exchange) {
  const { text, headers } = bodyOf(exchange, path, new Date(clock.now().wallMs));
  const data = sliceArray(text, "data");
  const envelope = recordIn(z.looseObject({ meta: Meta }), data?.rest ?? "");
  if (data === null || envelope === null) throw unavailable(`${path} did not answer with a list.`);
  const { hasMore, nextCursor, total } = envelope.meta;
  const date = new Date(headers["date"] ?? Number.NaN);
  const serverTime = Number.isNaN(date.getTime()) ? null : date.toISOString();
  return {
    records: data.elements,
    hasMore,
    nextCursor: hasMore ? nextCursor : null,
    total,
    count: data.elements.length,
    serverTime,
  };
}

const unavailable = (message: string): SourceUnavailable =>
  new SourceUnavailable(message, {
    next: "Run the reconciliation again; if it stays, check that the address is the platform's API.",
  });

const stuck = (path: string, how: string): SourceUnavailable =>
  new SourceUnavailable(`The reconciliation's reading of ${path} ${how}.`, {
    next: "Run the reconciliation again; if it stays, report it to the platform's support.",
  });

/** Of a list that cannot be asked for single records: it is read whole each time. */
export function readWhole(
  read: (signal: AbortSignal) => Promise<Omit<HoldingPage, "position">>,
): Pick<KindHoldings, "list" | "get"> {
  return {
    async *list(_scope, signal) {
      yield { ...(await read(signal)), position: null };
    },
    async get(ids, signal) {
      const { holdings } = await read(signal);
      return holdings.filter(({ id }) => ids.includes(id));
    },
  };
}

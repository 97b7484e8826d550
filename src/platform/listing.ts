/**
 * A list that cannot be asked what changed since (specification part 4, P1): all of it, page by page, on every run. What
 * is stored already is recognised by its version or, where the list tells none, by its content.
 *
 * Records may move from page to page while it is read. One that comes twice is recognised; one that was passed over is
 * in the next run's listing.
 */
import type { Page, Reading, Source } from "../core/contract.ts";
import { SourceUnavailable } from "../core/errors.ts";
import type { Clock } from "../core/moment.ts";
import type { Exchanger } from "./client.ts";
import { runShareOf, usualBudget } from "../core/budget.ts";
import { endless, isIdle, mostOf, runMax } from "./bounds.ts";
import type { Operation } from "./contract/operation.ts";
import { type ListOperation, operations, pathOf } from "./contract/operations.ts";
import { emptyBy } from "./paging.ts";
import { changeOf, patiently, sliced } from "./walk.ts";

export interface ListingOptions {
  readonly list: ListOperation;
  /** The list's largest when left out (rule P1): each page is a request of the month's. */
  readonly pageSize?: number;
  readonly query?: Readonly<Record<string, string>>;
  /** How many pages one run may read, unless the list says that it needs more; the usual share when left out. */
  readonly pagesPerRun?: number;
  readonly clock: Clock;
}

export function listingSource(client: Exchanger, options: ListingOptions): Source {
  return { whole: true, read: (_position, reading) => listing(client, options, reading) };
}

async function* listing(
  client: Exchanger,
  options: ListingOptions,
  { signal }: Reading,
): AsyncGenerator<Page> {
  const { list, clock, pagesPerRun = runShareOf(usualBudget) } = options;
  const seen = new Set<string>();
  let most: number | null = null;
  let idle = 0;
  for (let page = 1; !signal.aborted; page++) {
    const request = { method: "GET", path: pageAt(options, page), purpose: "poll" } as const;
    const exchange = await patiently(client, request, clock, signal);
    const { records, hasMore, total } = sliced(exchange, options);
    most = mostOf(most, total);
    const changes = records.map((record) => changeOf(record, true));
    const before = seen.size;
    for (const { id } of changes) seen.add(id);
    // There is nowhere to go on from: the next run begins at the first page again.
    const isComplete = !hasMore && (total === null || seen.size >= total);
    const whole = { total: most ?? seen.size, isLast: !hasMore, isComplete };
    yield { changes, position: null, list: { name: pathOf(list), ...whole } };
    if (!hasMore) return;
    idle = changes.length === 0 ? idle + 1 : 0;
    const isOwing = most !== null && seen.size < most;
    const broken = emptyBy({ hasMore, count: changes.length }, isOwing);
    if (broken !== null) throw stuck(list, broken);
    if (idle === 0 && seen.size === before)
      throw stuck(list, "gives nothing but records that it gave before");
    // By what comes: a server may give fewer records on a page than it is asked for.
    const extent = { pageSize: Math.ceil(seen.size / page) || 1, total: most, pagesPerRun };
    const asked = { pageSize: pageSizeOf(options) ?? 1, total: most };
    if (isIdle(asked, idle) || page >= runMax(extent))
      throw endless(`The list ${pathOf(list)}`, page, extent, A_DAY_MS);
  }
}

/** Null: the list is not paged. */
function pageSizeOf({ list, pageSize }: ListingOptions): number | null {
  const operation: Operation = operations[list];
  return pageSize ?? operation.pageSize?.max ?? null;
}

/** What is not paged is asked for as it is. */
function pageAt(options: ListingOptions, page: number): string {
  const { list, query = {} } = options;
  const pageSize = pageSizeOf(options);
  const paging = pageSize === null ? {} : { page: String(page), pageSize: String(pageSize) };
  const search = new URLSearchParams({ ...query, ...paging }).toString();
  return pathOf(list) + (search === "" ? "" : `?${search}`);
}

/** It has no position to keep a longer wait in. */
const A_DAY_MS = 24 * 3_600_000;

const stuck = (list: ListOperation, how: string): SourceUnavailable =>
  new SourceUnavailable(`The list ${pathOf(list)} ${how}.`, {
    next: "The next run begins again, nothing is lost; if it stays, report it to the platform's support.",
  });

/**
 * A whole list, page after page, or cursor after cursor where it is asked what changed since (specification part 4, P1
 * and P2), for who keeps no position in it. Nothing is built on its order, or on how long a cursor lives.
 */
import { isIdle, mostOf } from "./bounds.ts";

export type Query = Readonly<Record<string, string>>;

/** What a page says of the list. */
export interface PageEnd {
  readonly hasMore: boolean;
  readonly nextCursor: string | null;
  /** `meta.total`; null: it does not say. */
  readonly total: number | null;
  /** Records on it. */
  readonly count: number;
}

const RESTARTS_MAX = 3;
/** Where a list does not say how many it has. */
const PAGES_MAX = 10_000;
/** A page where nobody asks for its size (rule P1). */
const USUAL_SIZE = 20;

/** Room for records that come in while a list is read: as many again, and ten pages of those that came. */
const roomOf = (total: number, largest: number): number => 2 * total + 10 * largest;

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
  isEndless({ count, total }: PageEnd): boolean {
    this.#pages++;
    this.#told += count;
    this.#largest = Math.max(this.#largest, count);
    this.#idle = count === 0 ? this.#idle + 1 : 0;
    this.#total = mostOf(this.#total, total);
    if (this.#total === null) return this.#pages >= PAGES_MAX;
    const extent = { pageSize: this.#pageSize, total: this.#total };
    return isIdle(extent, this.#idle) || this.#told > roomOf(this.#total, this.#largest);
  }
}

export interface List<Page> {
  readonly query: Query;
  /** One request. Null: the cursor was refused. */
  readonly ask: (query: Query) => Promise<Page | null>;
  /** What to throw for a list that leads nowhere: `gives the same cursor twice`. */
  readonly stuck: (how: string) => Error;
}

/**
 * By cursors where the query has `updatedSince`, else by page numbers. A cursor that is refused begins the walk again,
 * three times at most; then records come twice, as do those that move while the list is read.
 * @throws Error what `stuck` makes
 */
export async function* allPages<Page extends PageEnd>({
  query,
  ask,
  stuck,
}: List<Page>): AsyncGenerator<Page> {
  const isWalk = query["updatedSince"] !== undefined;
  const pageSize = Number(query["pageSize"] ?? USUAL_SIZE);
  let cursors = new Set<string>();
  let place: Query = isWalk ? {} : { page: "1" };
  let progress = new Progress(pageSize);
  let restarts = 0;
  for (let pages = 1; ; pages++) {
    const page = await ask({ ...query, ...place });
    if (page === null) {
      if (restarts++ >= RESTARTS_MAX) throw stuck("refused its own cursors");
      cursors = new Set();
      progress = new Progress(pageSize);
      place = {};
      pages = 0;
      continue;
    }
    const isEndless = progress.isEndless(page);
    yield page;
    if (!page.hasMore) return;
    const broken = isWalk ? brokenBy(page, cursors) : emptyBy(page, progress.isOwing);
    if (broken !== null) throw stuck(broken);
    if (isEndless) throw stuck(`does not end after ${pages} pages`);
    if (isWalk) cursors.add(page.nextCursor ?? "");
    place = isWalk ? { cursor: page.nextCursor ?? "" } : { page: String(pages + 1) };
  }
}

/**
 * Why a page of a walk cannot lead on; null when it can, or is the last one. An empty page leads on where it gives a new
 * cursor (part 4, P2: until `hasMore` is false). `cursors`: those that were used before.
 */
export function brokenBy(
  { hasMore, nextCursor }: Pick<PageEnd, "hasMore" | "nextCursor">,
  cursors: ReadonlySet<string>,
): string | null {
  if (!hasMore) return null;
  if (nextCursor === null) return "says there is more but gives no cursor";
  return cursors.has(nextCursor) ? "gives the same cursor twice" : null;
}

/** The same of a list by page numbers: an empty page leads on as long as the list owes records by its own total. */
export const emptyBy = (
  { hasMore, count }: Pick<PageEnd, "hasMore" | "count">,
  isOwing: boolean,
): string | null =>
  hasMore && count === 0 && !isOwing ? "says there is more after an empty page" : null;

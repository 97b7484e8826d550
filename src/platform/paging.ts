/**
 * A whole list, page after page, or cursor after cursor where it is asked what changed since (specification part 4, P1
 * and P2), for who keeps no position in it. Nothing is built on its order, or on how long a cursor lives.
 */

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

/** Room for records that come in while a list is read: twice its pages, and ten. */
const boundOf = (total: number | null, pageSize: number): number =>
  total === null ? PAGES_MAX : 2 * Math.ceil(total / pageSize) + 10;

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
  let bound = PAGES_MAX;
  let restarts = 0;
  for (let pages = 1; ; pages++) {
    const page = await ask({ ...query, ...place });
    if (page === null) {
      if (restarts++ >= RESTARTS_MAX) throw stuck("refused its own cursors");
      cursors = new Set();
      place = {};
      pages = 0;
      continue;
    }
    if (pages === 1) bound = boundOf(page.total, pageSize);
    yield page;
    if (!page.hasMore) return;
    const broken = brokenBy(page, isWalk ? cursors : null);
    if (broken !== null) throw stuck(broken);
    if (pages >= bound) throw stuck(`does not end after ${pages} pages`);
    if (isWalk) cursors.add(page.nextCursor ?? "");
    place = isWalk ? { cursor: page.nextCursor ?? "" } : { page: String(pages + 1) };
  }
}

/**
 * Why a page cannot lead on; null when it can, or is the last one. `cursors`: those that were used before; null: the
 * list goes by page numbers. An empty page leads on where it gives a new cursor (part 4, P2: until `hasMore` is false).
 */
export function brokenBy(
  { hasMore, nextCursor, count }: Omit<PageEnd, "total">,
  cursors: ReadonlySet<string> | null,
): string | null {
  if (!hasMore) return null;
  if (cursors !== null && nextCursor === null) return "says there is more but gives no cursor";
  if (cursors?.has(nextCursor ?? "")) return "gives the same cursor twice";
  return cursors === null && count === 0 ? "says there is more after an empty page" : null;
}

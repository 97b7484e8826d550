/**
 * What changed in QuickBooks since a position, Desktop and Online. Desktop stamps records by the clock of its machine, in the
 * time of that machine's zone; both may show a record some time after its stamp, and list records in no order. So a walk
 * lists ids and stamps first, from well before the greatest stamp that was read, leaves out what was told as it is, and reads
 * the rest page by page. The position moves with what a page told; a walk that was broken off lists again and goes on after
 * its last page.
 *
 * A record that changes meanwhile has another state in the next list, and is told again.
 */
import type { Change, Page, Source } from "../../src/core/contract.ts";
import { SourceUnavailable } from "../../src/core/errors.ts";
import type { Json } from "../../src/core/json.ts";

/** So many ms before a stamp, `2026-11-21T12:00:00`. */
export const stampBefore = (stamp: string, ms: number): string =>
  new Date(Date.parse(`${stamp}Z`) - ms).toISOString().slice(0, 19);

/** No zone's time is further ahead of UTC. */
export const AHEAD_MS = 14 * 3_600_000;

/** A record as a list has it. */
export interface Listed {
  readonly id: string;
  /** `2026-11-21T12:00:00`: Online in UTC, Desktop in the time of its machine. Empty: QuickBooks told none. */
  readonly at: string;
  /** Another one when the record has changed. */
  readonly state: string;
}

/** What a list has. */
export interface Listing<Row extends Listed = Listed> {
  /** In any order; a record may come twice, the last one counts. */
  readonly rows: readonly Row[];
  /** A stamp by QuickBooks' own clock: everything before it is told with this list. Left out: up to its greatest stamp. */
  readonly until?: string | undefined;
  /** What a person must know of the list. */
  readonly notices?: readonly string[];
}

export interface List<Row extends Listed = Listed> {
  /** What its position is stored under: it never changes. */
  readonly name: string;
  /**
   * `stamped`: what changed at or after a stamp. `whole`: what is in some state now (open invoices); what is in it no
   * longer has changed, too. Its first walk tells nothing: a `stamped` list that comes after it does.
   */
  readonly kind: "stamped" | "whole";
  /** QuickBooks forgets these records after so many days. Left out: never. */
  readonly keptDays?: number;
  /**
   * Stamps are of one server's clock, in UTC. Left out: of machines, which may be ahead and are put right one day, in a zone
   * that nobody tells.
   */
  readonly clock?: "server";
  /** @param from null: all @throws LedgerError */
  rows(from: string | null, signal: AbortSignal): Promise<Listing<Row>>;
  /** Of these ids, as they are now; `rows` has those that are in the list. @throws LedgerError */
  changes(
    ids: readonly string[],
    rows: ReadonlyMap<string, Row>,
    signal: AbortSignal,
  ): Promise<readonly Change[]>;
  /** What a person must know of one of these that is told. Left out: nothing. */
  notice?(row: Row): string | null;
}

interface Walks {
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly lists: readonly List<any>[];
  readonly now: () => Date;
  /** QuickBooks is here. Left out: it always is. @throws SourceUnavailable */
  readonly expect?: (signal: AbortSignal) => Promise<void> | undefined;
  /** What a fault of QuickBooks means to a reader. @throws the error itself when it is none */
  readonly unavailable: (error: unknown) => SourceUnavailable;
}

/** How far a list was read. */
interface Mark {
  /** The greatest stamp of walks that ended ({@link sinceOf}); null: there was none. */
  readonly since: string | null;
  /** Records that the next list shows again, as they were told: states by ids. */
  readonly told: Readonly<Record<string, string>>;
  /** The last record that the walk under way has told. */
  readonly walk: Place | null;
  /** With {@link List.keptDays}: the day by our clock on which it was last read, `YYYY-MM-DD`. */
  readonly day?: string;
}

type Place = Pick<Listed, "at" | "id">;

/** Records of a page, and of a request for their details. */
const WALK_PAGE = 50;
/** So long before the greatest stamp a list begins: a record may be shown some time after its stamp. */
const OVERLAP_MS = {
  server: 10 * 60_000,
  /** No zone's time is further behind, with two hours for the end of summer time and for work that took long. */
  machine: 28 * 3_600_000,
} as const;
const NEW: Mark = { since: null, told: {}, walk: null };

/** A source of records by lists. Its changes have no version: a record is read as it is now, whole. */
export const walkedSource = (walks: Walks): Source => ({
  async *read(from: Json | null, { signal }): AsyncGenerator<Page> {
    let position = (from ?? {}) as unknown as Readonly<Record<string, Mark>>;
    try {
      if (signal.aborted) return;
      await walks.expect?.(signal);
      for (const list of walks.lists)
        for await (const { mark, ...page } of walk(
          list,
          position[list.name],
          walks.now(),
          signal,
        )) {
          position = { ...position, [list.name]: mark };
          yield { ...page, position: position as unknown as Json };
        }
    } catch (error) {
      // Whoever stopped the reading does not need to know what that did to the call.
      if (signal.aborted) return;
      throw error instanceof SourceUnavailable ? error : walks.unavailable(error);
    }
  },
});

async function* walk<Row extends Listed>(
  list: List<Row>,
  before: Mark | undefined,
  now: Date,
  signal: AbortSignal,
) {
  const start = before ?? NEW;
  const isWhole = list.kind === "whole";
  const from = isWhole || start.since === null ? null : earlier(list, start.since);
  const listing = await list.rows(from, signal);
  const rows = new Map(listing.rows.map((row) => [row.id, row]));
  const after = (kept: ReadonlySet<string>): Mark =>
    markOf(list, start, { ...listing, rows: [...rows.values()] }, kept, now);
  const isTold = ({ id, state }: Listed): boolean =>
    start.told[id] === state || (isWhole && before === undefined);
  const changed: Place[] = [...rows.values()].filter((row) => !isTold(row));
  const gone = isWhole ? Object.keys(start.told).filter((id) => !rows.has(id)) : [];
  const left = [...changed, ...gone.map((id) => ({ id, at: "" }))]
    .filter((one) => start.walk === null || inOrder(start.walk, one) < 0)
    .toSorted(inOrder);
  // What was told before a break may have changed since then: the next walk tells it once more.
  const kept = new Set([...rows.values()].filter(isTold).map(({ id }) => id));
  let notices = [...noticesOf(list, start, now), ...(listing.notices ?? [])];
  for (let at = 0; at < left.length; at += WALK_PAGE) {
    if (signal.aborted) return;
    const page = left.slice(at, at + WALK_PAGE);
    const last = page.at(-1) as Place;
    const ids = page.map(({ id }) => id);
    const changes = await list.changes(ids, rows, signal);
    for (const id of ids) kept.add(id);
    // What was so before anything was told is nobody's work.
    const told = before === undefined ? [] : ids.flatMap((id) => rows.get(id) ?? []);
    notices.push(...told.flatMap((row) => list.notice?.(row) ?? []));
    const goesOn = at + WALK_PAGE < left.length;
    const mark = goesOn ? { ...start, walk: { at: last.at, id: last.id } } : after(kept);
    yield { changes, notices, mark };
    notices = [];
  }
  if (left.length > 0) return;
  const mark = after(kept);
  if (JSON.stringify(mark) !== JSON.stringify(before)) yield { changes: [], notices, mark };
}

/** After a walk. @param kept records that were told as the list shows them */
function markOf(
  list: List,
  { since: before }: Mark,
  { rows, until = "" }: Listing,
  kept: ReadonlySet<string>,
  now: Date,
): Mark {
  const all = rows.filter(({ id }) => kept.has(id));
  const stamps = [before ?? "", until, ...all.map(({ at }) => at)];
  const since = list.kind === "whole" ? null : sinceOf(list, stamps, now);
  const again =
    since === null ? all : all.filter(({ at }) => at === "" || at >= earlier(list, since));
  return {
    since,
    told: Object.fromEntries(
      again
        .map(({ id, state }) => [id, state] as const)
        .toSorted(([one], [other]) => (one < other ? -1 : 1)),
    ),
    walk: null,
    ...(list.keptDays === undefined ? {} : { day: dayOf(now) }),
  };
}

/**
 * The greatest of these stamps; null: there is none. Of a machine never after today anywhere: its clock may be ahead and is
 * put right one day, and what changes then is stamped before what it stamped until then.
 */
function sinceOf({ clock }: List, stamps: readonly string[], now: Date): string | null {
  const today = new Date(now.getTime() + AHEAD_MS).toISOString().slice(0, 19);
  const greatest = stamps.reduce((one, other) => (one > other ? one : other), "");
  if (greatest === "") return null;
  return greatest < today || clock === "server" ? greatest : today;
}

const earlier = ({ clock }: List, stamp: string): string =>
  stampBefore(stamp, OVERLAP_MS[clock ?? "machine"]);

/** By stamp and id. */
function inOrder(one: Place, other: Place): number {
  if (one.at !== other.at) return one.at < other.at ? -1 : 1;
  return one.id === other.id ? 0 : one.id < other.id ? -1 : 1;
}

const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

/** What a person must know: records that QuickBooks may have forgotten before they were read. */
function noticesOf({ name, keptDays }: List, { day }: Mark, now: Date): string[] {
  if (keptDays === undefined || day === undefined) return [];
  const days = Math.floor((now.getTime() - Date.parse(day)) / 86_400_000);
  if (days <= keptDays) return [];
  return [
    `QuickBooks was last asked for "${name}" on ${day}, ${days} days ago, and tells ${keptDays} days: what was deleted before is not told. Run \`fuelbridge reconcile\`: it finds what is on one side only.`,
  ];
}

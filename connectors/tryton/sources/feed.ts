/**
 * What changed in Tryton since a position, by the stamps that Tryton keeps of every row: `create_date`, and
 * `write_date` from the first change on (null before it). Rows are walked in the order of (stamp, id), so that those of
 * one transaction, which share a stamp to the microsecond, are neither lost nor repeated.
 *
 * A stamp is the time at which its transaction began: one that took long comes up behind what was read already. So a
 * walk ends at the greatest stamp that was there when it began, and the next one goes back from there by
 * {@link OVERLAP_SECONDS}. Tryton keeps no trace of what was deleted: nothing here tells of it.
 */
import type { Change, Page, Source } from "../../../src/core/contract.ts";
import type { Json } from "../../../src/core/json.ts";
import type { Books } from "../books.ts";
import { stamp } from "../values.ts";
import { TrytonFault, type Tryton } from "../wire.ts";
import { unavailable } from "./unavailable.ts";

/** Rows of one model whose change is a change of a record: the record's own, or those of its parts. */
export interface Part {
  /** `account.invoice.line` */
  readonly model: string;
  /** The field that has the record's id: `invoice`, or `id` for the record itself. */
  readonly record: string;
  /** Which rows. They must not leave it by being changed, or that change is not seen. */
  readonly domain: readonly unknown[];
  /** What its position is stored under, where two parts are of one model; its model when left out. */
  readonly name?: string;
  /** One row of a record says all that its other rows say: in one walk a record is read once. */
  readonly once?: boolean;
}

/** Where one walk has got to; one per part and kind of stamp. */
export interface Mark {
  /** The greatest stamp that earlier walks have passed; null before the first. */
  readonly since: string | null;
  /** When we first saw it as the greatest, by our clock, ISO 8601 UTC. */
  readonly seenAt: string | null;
  /** Everything up to `since` was read once more, long after it: nothing can come up behind it. */
  readonly settled: boolean;
  /** The walk that is under way: the last row that was read, and the stamp it goes up to. */
  readonly walk: { readonly until: string; readonly at: string; readonly id: number } | null;
}

export type FeedPosition = Readonly<Record<string, Mark>>;

/** Records as they are now, of which those that are gone or are not wanted are left out. @throws TrytonFault */
export type Details = (ids: readonly number[], signal: AbortSignal) => Promise<readonly Change[]>;

const PAGE_ROWS = 100;
const OVERLAP_SECONDS = 60;
/** A transaction that takes longer than this would be seen only when its records change again. */
const SETTLED_MS = 10 * 60_000;
const STAMPS = ["create_date", "write_date"] as const;
const NEW: Mark = { since: null, seenAt: null, settled: false, walk: null };

/**
 * A source of records that are made of these parts. Its changes have no version: a record is read as it is now, whole,
 * and parts of it change without a stamp of its own, so its content says whether it is new.
 */
export function feed(
  { tryton, surroundings }: Books,
  parts: readonly Part[],
  details: Details,
): Source {
  return {
    async *read(from: Json | null, { signal }): AsyncGenerator<Page> {
      let position = (from ?? {}) as unknown as FeedPosition;
      try {
        for (const part of parts)
          for (const field of STAMPS) {
            const name = `${part.name ?? part.model} ${field}`;
            const walking = { tryton, part, field, signal, now: () => surroundings.now() };
            const told = new Set<number>();
            for await (const { ids, mark } of walk(walking, position[name] ?? NEW)) {
              position = { ...position, [name]: mark };
              const untold = part.once === true ? ids.filter((id) => !told.has(id)) : ids;
              for (const id of untold) told.add(id);
              const changes = untold.length === 0 ? [] : await details(untold, signal);
              yield { changes, position: position as unknown as Json };
            }
          }
      } catch (error) {
        // Whoever told us to stop does not want to hear what that did to the call.
        if (signal.aborted && error instanceof TrytonFault) return;
        throw unavailable(error);
      }
    },
  };
}

interface Walking {
  readonly tryton: Tryton;
  readonly part: Part;
  readonly field: (typeof STAMPS)[number];
  readonly signal: AbortSignal;
  now(): Date;
}

async function* walk(
  walking: Walking,
  before: Mark,
): AsyncGenerator<{ ids: readonly number[]; mark: Mark }> {
  let mark = before.walk === null ? await begin(walking, before) : before;
  while (mark.walk !== null) {
    if (walking.signal.aborted) return;
    const { until, at, id } = mark.walk;
    const rows = await read(walking, between(walking.field, at, id, until));
    const last = rows.at(-1);
    const goesOn = rows.length === PAGE_ROWS && last !== undefined;
    mark = {
      ...mark,
      since: goesOn ? mark.since : until,
      walk: goesOn ? { until, at: last.stamp, id: last.id } : null,
    };
    yield { ids: [...new Set(rows.map(({ record }) => record))], mark };
  }
}

/** A new walk, when there is anything to walk over; the same mark when nothing is to be stored. */
async function begin(walking: Walking, mark: Mark): Promise<Mark> {
  const { since } = mark;
  if (walking.signal.aborted) return mark;
  const [newest] = await read(walking, [], "DESC");
  // Rows leave the walk by create_date when they are changed, so the greatest stamp may be smaller than it was.
  const until = [since, newest?.stamp ?? null]
    .filter((text) => text !== null)
    .toSorted()
    .at(-1);
  if (until === undefined) return mark;
  const now = walking.now();
  if (until !== since) {
    const start = since === null ? BEGINNING : earlier(since);
    const walk = { until, at: start, id: 0 };
    return { since, seenAt: now.toISOString(), settled: false, walk };
  }
  if (mark.settled || since === null) return mark;
  const age = now.getTime() - Date.parse(mark.seenAt ?? now.toISOString());
  const walk = { until, at: earlier(since), id: 0 };
  return { ...mark, settled: age >= SETTLED_MS, walk };
}

const BEGINNING = "1970-01-01T00:00:00.000000";

/** The rows after (at, id), up to a stamp. Comparisons with a stamp that is null are false on every database. */
const between = (field: string, at: string, id: number, until: string): unknown[] => [
  [field, "<=", stamp(until)],
  [
    "OR",
    [field, ">", stamp(at)],
    [
      [field, "=", stamp(at)],
      ["id", ">", id],
    ],
  ],
];

interface Row {
  readonly id: number;
  readonly stamp: string;
  readonly record: number;
}

async function read(
  { tryton, part, field, signal }: Walking,
  domain: readonly unknown[],
  direction: "ASC" | "DESC" = "ASC",
): Promise<Row[]> {
  const { model, record } = part;
  // Inactive rows have changed too: that is how they became inactive.
  const context = { active_test: false };
  const rows = await tryton.call<{ id: number; [field: string]: unknown }[]>(
    `model.${model}.search_read`,
    [
      [...part.domain, [field, "!=", null], ...unchanged(field), ...domain],
      0,
      direction === "DESC" ? 1 : PAGE_ROWS,
      [
        [field, direction],
        ["id", direction],
      ],
      [field, record],
    ],
    { context, signal },
  );
  return rows.map((row) => ({
    id: row.id,
    stamp: row[field] as string,
    record: row[record] as number,
  }));
}

/** A row that was changed comes by its write_date. */
const unchanged = (field: string): unknown[] =>
  field === "create_date" ? [["write_date", "=", null]] : [];

/** A stamp's microseconds are kept; only its seconds go through Date. */
function earlier(text: string): string {
  const seconds = new Date(`${text.slice(0, 19)}Z`).getTime() - OVERLAP_SECONDS * 1000;
  return `${new Date(seconds).toISOString().slice(0, 19)}${text.slice(19)}`;
}

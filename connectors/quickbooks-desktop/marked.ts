/**
 * Customers, or vendors, by the platform's id in their notes, which QuickBooks cannot be asked for (ADR 0072). In each
 * session all of them are read once, five hundred at a time; after that, those that have changed since.
 */
import { byId } from "./lists.ts";
import { pages } from "./pages.ts";
import { needed } from "./read.ts";
import { AHEAD_MS, stampBefore, stampOf } from "./stamps.ts";
import type { Wire } from "./wire.ts";
import type { Element } from "./xml.ts";

type Asked = Pick<Wire, "read"> & Partial<Pick<Wire, "session">>;

/** What is known of one list. */
interface Index {
  /** The session in which all of it was read: in the next one, the company file may be a restored one. */
  readonly session: number | undefined;
  /** By our clock, ms. */
  readonly readAt: number;
  /** The greatest stamp there was; empty: there was none. */
  newest: string;
  /** By ListIDs. */
  readonly marks: Map<string, string | null>;
}

const ROWS = 500;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Machines of one company file stamp by clocks of their own. */
const OVERLAP_MS = 10 * MINUTE_MS;
/** All is read again after so long: when summer time ends, stamps go back by an hour. */
const KEPT_MS = HOUR_MS;

/**
 * Finds records by their marks, as they are when they are found.
 * @param markIn the mark of a record that has its notes
 * @param fields that are read of what is found
 */
export function markedIn(
  wire: Asked,
  query: string,
  now: () => Date,
  { markIn, fields }: { markIn: (row: Element) => string | null; fields: readonly string[] },
): (marks: readonly string[], signal: AbortSignal) => Promise<Element[]> {
  let index: Index | null = null;
  /** @param from null: all of them. @throws LedgerError */
  const rowsSince = async (from: string | null, signal: AbortSignal): Promise<Element[]> => {
    const values = {
      ActiveStatus: "All",
      FromModifiedDate: from,
      IncludeRetElement: ["ListID", "TimeModified", "Notes"],
    };
    const found: Element[] = [];
    for await (const { rets } of pages(wire, [{ name: query, values }], null, signal, ROWS))
      found.push(...rets);
    return found;
  };
  const upToDate = async (signal: AbortSignal): Promise<Index> => {
    const nowMs = now().getTime();
    const { session } = wire;
    const known = index !== null && isGood(index, session, nowMs) ? index : null;
    const rows = await rowsSince(
      known === null ? null : stampBefore(known.newest, OVERLAP_MS),
      signal,
    );
    const next = known ?? { session, readAt: nowMs, newest: "", marks: new Map() };
    for (const row of rows) {
      next.marks.set(needed(row, "ListID"), markIn(row));
      const stamp = stampOf(row, "TimeModified");
      if (stamp > next.newest) next.newest = stamp;
    }
    index = next;
    return next;
  };
  return async (marks, signal) => {
    const known = await upToDate(signal);
    const ids = [...known.marks].filter(([, mark]) => mark !== null && marks.includes(mark));
    const rows = await byId(
      wire,
      query,
      ids.map(([id]) => id),
      signal,
      { IncludeRetElement: fields },
    );
    // One that was deleted or whose notes were changed meanwhile is not it any more.
    return rows.filter((row) => marks.includes(markIn(row) ?? ""));
  };
}

/** A record that was stamped by a clock which was ahead would hide what changes now. */
const isGood = (
  { session: of, readAt, newest }: Index,
  session: number | undefined,
  nowMs: number,
): boolean =>
  of === session &&
  newest !== "" &&
  Math.abs(nowMs - readAt) < KEPT_MS &&
  Date.parse(`${newest}Z`) <= nowMs + AHEAD_MS;

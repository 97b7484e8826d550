/** Lists of QuickBooks for {@link walkedSource}: ids, stamps and edit sequences, five hundred at a time. */
import type { Change, Page, Source } from "../../src/core/contract.ts";
import { SourceUnavailable } from "../../src/core/errors.ts";
import type { Scope } from "../../src/core/holdings.ts";
import type { Json } from "../../src/core/json.ts";
import { LedgerError } from "../../src/ledger/port.ts";
import type { Element, Reply, Request, Values } from "./qbxml.ts";
import type { Wire } from "./wire.ts";

/* Long lists, page by page. An iterator lives in one session: one that is lost (3391) begins its list anew. */

const PAGE = 100;
/** How often one list begins anew before that counts as an error. */
const STARTS_MAX = 3;

/**
 * @param from how many of the lists are read already; records may come twice, none is left out
 * @param most records of one answer
 * @throws LedgerError
 */
export async function* pages(
  wire: Pick<Wire, "read">,
  lists: readonly { readonly name: string; readonly values: Values }[],
  from: string | null,
  signal: AbortSignal,
  most = PAGE,
): AsyncGenerator<{
  readonly name: string;
  readonly rets: readonly Element[];
  readonly position: string;
}> {
  for (const [list, { name, values }] of lists.entries()) {
    if (list < Number(from ?? 0)) continue;
    let iterator: Request["iterator"] = "Start";
    let starts = 1;
    for (let goesOn = true; goesOn;) {
      try {
        const [reply] = await wire.read(
          [{ name, values: { ...values, MaxReturned: most }, iterator }],
          signal,
        );
        const rets = reply?.rets ?? [];
        const left = leftAfter(reply?.iterator ?? null, rets.length, iterator !== "Start", most);
        goesOn = left > 0;
        if (reply?.iterator) iterator = { id: reply.iterator.id };
        yield { name, rets, position: String(goesOn ? list : list + 1) };
      } catch (error) {
        const isLost = error instanceof LedgerError && error.code === LOST;
        if (!isLost || starts++ >= STARTS_MAX) throw error;
        iterator = "Start";
      }
    }
  }
}

/** The status of an iterator that is not known any more. */
const LOST = "3391";

/**
 * How many records are left after an answer of `count`. A list that ends before its end would be records that nobody reads.
 * @throws LedgerError
 */
function leftAfter(
  said: Reply["iterator"],
  count: number,
  isContinued: boolean,
  most: number,
): number {
  // More were announced, or are, and none came.
  if (count === 0 && (isContinued || (said?.left ?? 0) > 0))
    throw new LedgerError("answered", "QuickBooks ended a list before its end", { code: LOST });
  if (said !== null) return said.left;
  // One that tells no iterators tells all at once.
  if (!isContinued && count !== most) return 0;
  throw new LedgerError("torn", "QuickBooks does not say how many are left of a list");
}

export const WITH_LINES = { IncludeLineItems: true, IncludeLinkedTxns: true };

/** Lists in this scope, one after the other. Stamps of QuickBooks are local: a day more is read. */
export function branches({ dated, changedSince, open }: Scope): Values[] {
  const since =
    changedSince === null ? null : new Date(Date.parse(changedSince) - DAY_MS).toISOString();
  return [
    ...(dated === null
      ? []
      : [{ TxnDateRangeFilter: { FromTxnDate: dated.from, ToTxnDate: dated.to } }]),
    ...(since === null
      ? []
      : [{ ModifiedDateRangeFilter: { FromModifiedDate: since.slice(0, 19) } }]),
    ...(open ? [{ PaidStatus: "NotPaidOnly" }] : []),
  ];
}

const DAY_MS = 86_400_000;

/* Stamps of QuickBooks: `2026-11-21T12:00:00`, by the clock of its machine and in the time of that machine's zone. */

/**
 * Empty: it told none. Its zone is left out: QuickBooks tells a wrong one in summer
 * (https://github.com/jsgoupil/quickbooks-sync/pull/28).
 */
const stampOf = (ret: Element, name: string): string =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.exec(ret.text(name) ?? "")?.[0] ?? "";

/** So many ms before a stamp. */
const stampBefore = (stamp: string, ms: number): string =>
  new Date(Date.parse(`${stamp}Z`) - ms).toISOString().slice(0, 19);

/** No zone's time is further ahead of UTC. */
const AHEAD_MS = 14 * 3_600_000;

type Asked = Pick<Wire, "read">;

/** Rows of one answer: ids and stamps are short. */
const ROWS = 500;
/** How long QuickBooks tells what was deleted. */
const KEPT_DAYS = 90;

/** Records of a list (ListID), by their stamps; inactive ones, too, and price levels in one answer. */
export const listRows =
  (wire: Asked, query: string, { iterates = true } = {}): List["rows"] =>
  async (FromModifiedDate, signal) => {
    const values = {
      ActiveStatus: "All",
      FromModifiedDate,
      IncludeRetElement: ["ListID", "TimeModified", "EditSequence"],
    };
    const rets = await all(wire, { name: query, values }, iterates, signal);
    return rets.map((ret) => rowOf(ret, "ListID", ret.text("EditSequence")));
  };

/** Invoices by their stamps. */
export const invoiceRows =
  (wire: Asked): List["rows"] =>
  async (from, signal) => {
    const values = {
      ModifiedDateRangeFilter: from === null ? null : { FromModifiedDate: from },
      IncludeRetElement: ["TxnID", "TimeModified", "EditSequence"],
    };
    const rets = await all(wire, { name: "InvoiceQuery", values }, true, signal);
    return rets.map((ret) => rowOf(ret, "TxnID", ret.text("EditSequence")));
  };

/** Open invoices with what is open of each: whether a payment stamps its invoice anew is not known. */
export const openRows =
  (wire: Asked): List["rows"] =>
  async (_from, signal) => {
    const values = {
      PaidStatus: "NotPaidOnly",
      IncludeRetElement: ["TxnID", "TimeModified", "BalanceRemaining"],
    };
    const rets = await all(wire, { name: "InvoiceQuery", values }, true, signal);
    return rets.map((ret) => rowOf(ret, "TxnID", ret.text("BalanceRemaining")));
  };

/** What was deleted, as QuickBooks calls it. */
export interface DeletedRow extends Listed {
  /** `Customer`, `Invoice`. */
  readonly type: string;
  /** Its full name or its number; null: it had none. */
  readonly name: string | null;
  /** When it was made, by the clock of that machine; empty: QuickBooks does not say. */
  readonly madeAt: string;
}

/** Deleted records of these types. */
export function deleted(
  wire: Asked,
  name: string,
  of: { readonly query: "ListDeletedQuery" | "TxnDeletedQuery"; readonly types: readonly string[] },
  changes: (rows: readonly DeletedRow[]) => ReturnType<List["changes"]>,
): List<DeletedRow> {
  const [type, id, text] =
    of.query === "ListDeletedQuery"
      ? (["ListDelType", "ListID", "FullName"] as const)
      : (["TxnDelType", "TxnID", "RefNumber"] as const);
  return {
    name,
    kind: "stamped",
    keptDays: KEPT_DAYS,
    async rows(from, signal) {
      const values = {
        [type]: of.types,
        DeletedDateRangeFilter: from === null ? null : { FromDeletedDate: from },
      };
      const [reply] = await wire.read([{ name: of.query, values }], signal);
      return (reply?.rets ?? []).map((ret) => ({
        id: ret.needed(id),
        at: stampOf(ret, "TimeDeleted"),
        state: ret.text("TimeDeleted") ?? "",
        type: ret.needed(type),
        name: ret.text(text),
        madeAt: stampOf(ret, "TimeCreated"),
      }));
    },
    changes: (ids, rows) => changes(ids.flatMap((one) => rows.get(one) ?? [])),
  };
}

/** Records by their ids, as they are now: those that are gone are left out. @throws LedgerError */
export async function byId(
  wire: Asked,
  query: string,
  ids: readonly string[],
  signal: AbortSignal,
  more: Values = {},
): Promise<Element[]> {
  if (ids.length === 0) return [];
  const [reply] = await wire.read([{ name: query, values: { ListID: ids, ...more } }], signal);
  return (reply?.rets ?? []).filter((ret) => ids.includes(ret.needed("ListID")));
}

async function all(
  wire: Asked,
  request: Request,
  iterates: boolean,
  signal: AbortSignal,
): Promise<Element[]> {
  if (!iterates) return (await wire.read([request], signal)).flatMap(({ rets }) => [...rets]);
  const found: Element[] = [];
  for await (const { rets } of pages(wire, [request], null, signal, ROWS)) found.push(...rets);
  return found;
}

/** Without an edit sequence its stamp is its state. */
function rowOf(ret: Element, id: "ListID" | "TxnID", state: string | null): Listed {
  const at = stampOf(ret, "TimeModified");
  return { id: ret.needed(id), at, state: state ?? at };
}

/*
 * Customers, or vendors, by the platform's id in their notes, which QuickBooks cannot be asked for (ADR 0017). In each
 * session all of them are read once, five hundred at a time; after that, those that have changed since.
 */

type AskedInSession = Pick<Wire, "read"> & Partial<Pick<Wire, "session">>;

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
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** Machines of one company file stamp by clocks of their own. */
const MARKED_OVERLAP_MS = 10 * MINUTE_MS;
/** All is read again after so long: when summer time ends, stamps go back by an hour. */
const KEPT_MS = HOUR_MS;

/**
 * Finds records by their marks, as they are when they are found.
 * @param markIn the mark of a record that has its notes
 * @param fields that are read of what is found
 */
export function markedIn(
  wire: AskedInSession,
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
      known === null ? null : stampBefore(known.newest, MARKED_OVERLAP_MS),
      signal,
    );
    const next = known ?? { session, readAt: nowMs, newest: "", marks: new Map() };
    for (const row of rows) {
      next.marks.set(row.needed("ListID"), markIn(row));
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

/*
 * What changed in QuickBooks since a position. QuickBooks stamps records by the clock of its machine, in the time of that
 * machine's zone, to the second, and lists them in no order. So a walk lists ids and stamps first, from well before the
 * greatest stamp that was read ({@link OVERLAP_MS}), leaves out what was told as it is, and reads the rest page by page. The
 * position moves with what a page told; a walk that was broken off lists again and goes on after its last page.
 *
 * A record that changes meanwhile has another state in the next list, and is told again.
 */

/** A record as a list has it. */
interface Listed {
  readonly id: string;
  /** Its stamp as QuickBooks tells it, without the zone: `2026-11-21T12:00:00`. Empty: it told none. */
  readonly at: string;
  /** Another one when the record has changed. */
  readonly state: string;
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
  /** In any order; a record may come twice, the last one counts. @param from null: all @throws LedgerError */
  rows(from: string | null, signal: AbortSignal): Promise<readonly Row[]>;
  /** Of these ids, as they are now; `rows` has those that are in the list. @throws LedgerError */
  changes(
    ids: readonly string[],
    rows: ReadonlyMap<string, Row>,
    signal: AbortSignal,
  ): Promise<readonly Change[]>;
}

interface Walks {
  readonly lists: readonly List[];
  readonly now: () => Date;
  /** QuickBooks is here. @throws SourceUnavailable */
  readonly expect: (signal: AbortSignal) => Promise<void>;
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
/** No zone's time is further behind that, with two hours for the end of summer time and for work that took long. */
const OVERLAP_MS = 28 * HOUR_MS;
const NEW: Mark = { since: null, told: {}, walk: null };

/** A source of records by lists. Its changes have no version: a record is read as it is now, whole. */
export const walkedSource = (walks: Walks): Source => ({
  async *read(from: Json | null, { signal }): AsyncGenerator<Page> {
    let position = (from ?? {}) as unknown as Readonly<Record<string, Mark>>;
    try {
      if (signal.aborted) return;
      await walks.expect(signal);
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

interface Told {
  readonly changes: readonly Change[];
  readonly notices: readonly string[];
  readonly mark: Mark;
}

async function* walk<Row extends Listed>(
  list: List<Row>,
  before: Mark | undefined,
  now: Date,
  signal: AbortSignal,
): AsyncGenerator<Told> {
  const start = before ?? NEW;
  const isWhole = list.kind === "whole";
  const from = isWhole || start.since === null ? null : earlier(start.since);
  const rows = new Map((await list.rows(from, signal)).map((row) => [row.id, row]));
  const isTold = ({ id, state }: Listed): boolean =>
    start.told[id] === state || (isWhole && before === undefined);
  const changed: Place[] = [...rows.values()].filter((row) => !isTold(row));
  const gone = isWhole ? Object.keys(start.told).filter((id) => !rows.has(id)) : [];
  const left = [...changed, ...gone.map((id) => ({ id, at: "" }))]
    .filter((one) => start.walk === null || inOrder(start.walk, one) < 0)
    .toSorted(inOrder);
  // What was told before a break may have changed since then: the next walk tells it once more.
  const kept = new Set([...rows.values()].filter(isTold).map(({ id }) => id));
  let notices = noticesOf(list, start, now);
  for (let at = 0; at < left.length; at += WALK_PAGE) {
    if (signal.aborted) return;
    const page = left.slice(at, at + WALK_PAGE);
    const last = page.at(-1) as Place;
    const ids = page.map(({ id }) => id);
    const changes = await list.changes(ids, rows, signal);
    for (const id of ids) kept.add(id);
    const goesOn = at + WALK_PAGE < left.length;
    const mark = goesOn
      ? { ...start, walk: { at: last.at, id: last.id } }
      : markOf(list, start, rows, kept, now);
    yield { changes, notices, mark };
    notices = [];
  }
  if (left.length > 0) return;
  const mark = markOf(list, start, rows, kept, now);
  if (JSON.stringify(mark) !== JSON.stringify(before)) yield { changes: [], notices, mark };
}

/** After a walk. @param kept records that were told as the list shows them */
function markOf(
  { kind, keptDays }: List,
  { since: before }: Mark,
  rows: ReadonlyMap<string, Listed>,
  kept: ReadonlySet<string>,
  now: Date,
): Mark {
  const all = [...rows.values()].filter(({ id }) => kept.has(id));
  const since = kind === "whole" ? null : sinceOf([before ?? "", ...all.map(({ at }) => at)], now);
  const again = since === null ? all : all.filter(({ at }) => at === "" || at >= earlier(since));
  return {
    since,
    told: Object.fromEntries(
      again
        .map(({ id, state }) => [id, state] as const)
        .toSorted(([one], [other]) => (one < other ? -1 : 1)),
    ),
    walk: null,
    ...(keptDays === undefined ? {} : { day: dayOf(now) }),
  };
}

/**
 * The greatest of these stamps; null: there is none. Never after today anywhere: the clock of a machine that was ahead
 * is put right one day, and what changes then is stamped before what it stamped until then.
 */
function sinceOf(stamps: readonly string[], now: Date): string | null {
  const today = new Date(now.getTime() + AHEAD_MS).toISOString().slice(0, 19);
  const greatest = stamps.reduce((one, other) => (one > other ? one : other), "");
  if (greatest === "") return null;
  return greatest < today ? greatest : today;
}

const earlier = (stamp: string): string => stampBefore(stamp, OVERLAP_MS);

/** By stamp and id. */
function inOrder(one: Place, other: Place): number {
  if (one.at !== other.at) return one.at < other.at ? -1 : 1;
  return one.id === other.id ? 0 : one.id < other.id ? -1 : 1;
}

const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

/** What a person must know: records that QuickBooks may have forgotten before they were read. */
function noticesOf({ name, keptDays }: List, { day }: Mark, now: Date): string[] {
  if (keptDays === undefined || day === undefined) return [];
  const days = Math.floor((now.getTime() - Date.parse(day)) / DAY_MS);
  if (days <= keptDays) return [];
  return [
    `QuickBooks was last asked for "${name}" on ${day}, ${days} days ago, and tells ${keptDays} days: what was deleted before is not told. Run \`fuelbridge reconcile\`: it finds what is on one side only.`,
  ];
}

/** Pages of a shelf: ordinary lists (rule P1) and change-sync walks (rule P2; readings, Lists). */
import { createHmac, randomBytes } from "node:crypto";
import { parseExact, stringifyExact } from "../core/json.ts";
import { orderStatuses } from "../platform/contract/order.ts";
import { invalid } from "./answer.ts";
import { Part, type Sql } from "./database.ts";
import { type Fields, type Kind, kinds } from "./kinds.ts";
import { DAY_MICROS, dayOf, fold } from "./records.ts";
import { micros, type Readings } from "./settings.ts";

export interface Filters {
  readonly status?: string | undefined;
  readonly parent?: string | undefined;
  readonly product?: string | undefined;
  readonly search?: string | undefined;
}

export interface Sort {
  readonly by: string;
  readonly order: string;
}

/** The records that a list is about. */
interface Scope {
  readonly kind: Kind;
  readonly company: string;
  readonly shelf: number;
  readonly filters: Filters;
}

interface Listing extends Scope {
  readonly page: number;
  readonly pageSize: number;
  readonly sort?: Sort | undefined;
}

interface WalkStart extends Listing {
  readonly updatedSince: string | undefined;
  readonly cursor: string | undefined;
  /** Milliseconds: cursors age by the sandbox's clock. */
  readonly now: number;
}

/** Where a walk stands: its parameters, and the last record it gave. */
interface WalkState extends Scope {
  readonly since: number;
  readonly order: Readings["walkOrder"];
  readonly pageSize: number;
  readonly page: number;
  readonly total: number;
  readonly last: readonly [time: number, id: string] | null;
  /** The page before was empty (reading `emptyPages`). */
  readonly afterEmpty?: boolean;
}

type Values = Readonly<Record<string, unknown>>;

/** The orders that the tally counts along. */
const axes: Readonly<Record<string, string>> = { createdAt: "created", updatedAt: "updated" };

interface SightRow {
  readonly shown: string;
  readonly id: string;
  readonly created: number;
  readonly updated: number;
}

export class Lists extends Part {
  readonly cursors = new Cursors(this.sql);
  readonly #readings: () => Readings;

  constructor(sql: Sql, readings: () => Readings) {
    super(sql);
    this.#readings = readings;
  }

  /** The list envelope of a page (part 1, convention 3). */
  page(listing: Listing): string {
    const { kind, shelf, filters, page } = listing;
    const pageSize = this.#served(listing.pageSize);
    const { from, values } = selection(kind, shelf, filters);
    const total = this.#total(kind, shelf, filters);
    // Reading `emptyPages`: every second page has records, the one before it none.
    const { emptyPages } = this.#readings();
    const offset = (emptyPages ? Math.ceil(page / 2) - 1 : page - 1) * pageSize;
    const empty = emptyPages && page % 2 === 1;
    const { bound, edge, skip } = this.#place(listing, offset);
    const rows = this.#rows(
      `${from} ${bound} order by ${ordering(listing.sort)} limit :limit offset :skip`,
      { ...values, ...edge, limit: offset < total && !empty ? pageSize : 0, skip },
    );
    const meta = {
      total,
      page,
      pageSize,
      totalPages: Math.ceil(total / pageSize) * (emptyPages ? 2 : 1),
      hasMore: empty ? offset < total : offset + rows.length < total && rows.length > 0,
    };
    return envelope(this.#texts(kind, rows), meta);
  }

  /** Where a page begins. Where the tally can tell, whole days are passed over, and only the rest is stepped through. */
  #place({ shelf, filters, sort }: Listing, offset: number) {
    const axis = axes[sort?.by ?? "createdAt"];
    const filtered = Object.values(filters).some((value) => value !== undefined);
    const plain = { bound: "", edge: {}, skip: offset };
    if (offset === 0 || axis === undefined || filtered) return plain;
    const forward = sort?.order === "asc";
    const days = this.sql.all<{ day: number; count: number }>(
      `select day, sum(count) as count from tally where shelf = :shelf and axis = :axis
       group by day order by day ${forward ? "" : "desc"}`,
      { shelf, axis },
    );
    let skip = offset;
    for (const { day, count } of days) {
      if (skip < count) {
        const edge = (forward ? day : day + 1) * DAY_MICROS;
        return { bound: `and ${axis} ${forward ? ">=" : "<"} :edge`, edge: { edge }, skip };
      }
      skip -= count;
    }
    return plain;
  }

  /** All that matches, as one JSON array. */
  whole(kind: Kind, shelf: number, filters: Filters, sort: Sort): string {
    const { from, values } = selection(kind, shelf, filters);
    const rows = this.#rows(`${from} order by ${ordering(sort)} limit -1`, values);
    return `[${rows.map(({ shown }) => shown).join(",")}]`;
  }

  /** One page of a walk, begun by `updatedSince` or resumed by a cursor. */
  walk(start: WalkStart): string {
    const state = start.cursor === undefined ? this.#begin(start) : this.#resume(start);
    const { kind, shelf, since, order, pageSize, page, total, last } = state;
    const { from, values } = selection(kind, shelf, state.filters);
    const forward = order === "updatedAt";
    const [column, after, direction] = forward ? ["updated", ">", ""] : ["created", "<", "desc"];
    // One bound that an index can begin at: beside the place of the cursor, `since` is only looked at (or implied).
    const place = `(${column}, id) ${after} (:time, :last)`;
    const bounds =
      last === null
        ? `${forward ? "" : "+"}updated >= :since`
        : forward
          ? place
          : `${place} and +updated >= :since`;
    const [time, id] = last ?? [];
    const rows = this.#rows(
      `${from} and ${bounds} order by ${column} ${direction}, id ${direction} limit :limit`,
      { ...values, since, time, last: id, limit: pageSize + 1 },
    );
    const shown = rows.slice(0, pageSize);
    const end = rows.length > pageSize ? shown.at(-1) : undefined;
    const { cursorsNeverEnd, emptyPages } = this.#readings();
    const hasMore = end !== undefined || cursorsNeverEnd;
    const empty = emptyPages && hasMore && state.afterEmpty !== true;
    const reached =
      end === undefined ? null : ([end[forward ? "updated" : "created"], end.id] as const);
    const next = { ...state, page: page + 1, last: empty ? last : reached, afterEmpty: empty };
    const nextCursor = hasMore ? this.cursors.seal(next, start.now) : null;
    const totalPages = Math.ceil(total / pageSize);
    const meta = { total, page, pageSize, totalPages, hasMore, nextCursor };
    return envelope(this.#texts(kind, empty ? [] : shown), meta);
  }

  #begin({ kind, company, shelf, filters, pageSize, updatedSince }: WalkStart): WalkState {
    const { updatedSinceInclusive, walkOrder } = this.#readings();
    const bound = micros(updatedSince);
    if (bound === null) throw invalid("updatedSince is not a timestamp.");
    const since = updatedSinceInclusive ? bound : bound + 1;
    const total = this.#total(kind, shelf, filters, since);
    const place = { kind, company, shelf, filters, since, pageSize: this.#served(pageSize) };
    return { ...place, order: walkOrder, page: 1, total, last: null };
  }

  /** How many records a page has when so many are asked for (reading `pageSizeMost`). */
  #served(asked: number): number {
    return Math.min(asked, this.#readings().pageSizeMost ?? asked);
  }

  /** The cursor's own parameters count: the request need not repeat them. */
  #resume({ kind, company, cursor, now }: WalkStart): WalkState {
    const state = this.cursors.open(cursor ?? "", now, this.#readings().cursorLifeSeconds);
    if (state?.kind !== kind || state.company !== company)
      throw invalid("cursor is not one of this walk, or it is outdated: start the walk again.");
    return state;
  }

  /**
   * What stands on the shelf, changed since then if that is given. When no other filter is set than the status, the
   * tally answers for whole days, and only the day that `since` is in is counted.
   */
  #total(kind: Kind, shelf: number, filters: Filters, since?: number): number {
    const { status, ...others } = filters;
    const { from, values } = selection(kind, shelf, filters);
    const changed = since === undefined ? "" : "and updated >= :since";
    const sinceThen = since === undefined ? values : { ...values, since };
    if (Object.values(others).some((value) => value !== undefined))
      return this.#count(`select count(*) ${from} ${changed}`, sinceThen);
    const day = since === undefined ? -Infinity : dayOf(since);
    const whole = this.#count(
      `select coalesce(sum(count), 0) from tally where shelf = :shelf and axis = 'updated' and day > :day
       ${status === undefined ? "" : "and status = :status"}`,
      { ...values, day },
    );
    if (since === undefined) return whole;
    const end = (day + 1) * DAY_MICROS;
    return (
      whole +
      this.#count(`select count(*) ${from} ${changed} and updated < :end`, { ...sinceThen, end })
    );
  }

  #rows(keys: string, values: Values): SightRow[] {
    // The keys first, out of an index alone where that will do; then only the records of this page.
    return this.sql.all<SightRow>(
      `select r.shown, k.id, k.created, k.updated from (select seq, created, updated, id ${keys}) k
       cross join record r on r.seq = k.seq`,
      values,
    );
  }

  #count(text: string, values: Values): number {
    return this.sql.value<number>(text, values) ?? 0;
  }

  #texts(kind: Kind, rows: readonly SightRow[]): string[] {
    const carried = this.#readings().listsCarryLines;
    const left = (kinds[kind].lines ?? []).filter(
      (name) => carried !== "noTaxes" || name === "taxLines",
    );
    if (left.length === 0 || carried === true) return rows.map((row) => row.shown);
    return rows.map(({ shown }) => {
      const fields = Object.entries(parseExact(shown) as Fields);
      const kept = fields.filter(([name]) => !left.includes(name));
      const empty = carried === "empty" ? left.map((name) => [name, []] as const) : [];
      return stringifyExact(Object.fromEntries([...kept, ...empty]));
    });
  }
}

const envelope = (items: readonly string[], meta: object): string =>
  `{"success":true,"data":[${items.join(",")}],"meta":${JSON.stringify(meta)}}`;

/** Cursors carry their walk, and a seal by which an invented one is known (readings, Lists). */
class Cursors extends Part {
  #secret = this.sql.setting(SECRET) ?? this.#newSecret();

  /** No cursor outlives a reset. */
  reset(): void {
    this.#secret = this.#newSecret();
  }

  #newSecret(): string {
    const secret = randomBytes(16).toString("hex");
    this.sql.set(SECRET, secret);
    return secret;
  }

  seal(state: WalkState, now: number): string {
    const text = Buffer.from(JSON.stringify({ at: now, state })).toString("base64url");
    return `${text}.${this.#signature(text)}`;
  }

  /** Null for a cursor that was never given out, or is older than its life. */
  open(cursor: string, now: number, lifeSeconds: number): WalkState | null {
    const [text = "", signature] = cursor.split(".");
    if (signature !== this.#signature(text)) return null;
    const sealed: unknown = JSON.parse(Buffer.from(text, "base64url").toString());
    const { at, state } = sealed as { at: number; state: WalkState };
    return now - at > lifeSeconds * 1000 ? null : state;
  }

  #signature(text: string): string {
    return createHmac("sha256", this.#secret).update(text).digest("base64url").slice(0, 16);
  }
}

const SECRET = "cursor-secret";

/** `from ... where ...`: sights, to which more conditions may be added. */
function selection(kind: Kind, shelf: number, filters: Filters): { from: string; values: Values } {
  const { status, parent, product } = filters;
  const search = filters.search === undefined ? undefined : fold(filters.search);
  const words = search === undefined || !kinds[kind].hasWords ? undefined : wordsOf(search);
  const conditions = {
    shelf: ["shelf = :shelf", shelf],
    words: ["words match :words", words],
    status: ["status = :status", status],
    parent: ["parent = :parent", parent],
    product: ["instr(products, :product) > 0", product && `\n${fold(product)}\n`],
    search: ["instr(search, :search) > 0", search],
  } as const;
  const given = Object.entries(conditions).filter(([, [, value]]) => value !== undefined);
  const sights =
    words === undefined
      ? "sight"
      : "words cross join sight indexed by sight_seq on seq = words.rowid";
  return {
    from: `from ${sights} where ${given.map(([, [condition]]) => condition).join(" and ")}`,
    values: Object.fromEntries(given.map(([name, [, value]]) => [name, value])),
  };
}

/** Every three letters in a row: what contains the text contains all of them. Nothing for a shorter text. */
function wordsOf(search: string): string | undefined {
  const letters = Array.from(search);
  const words = letters.slice(2).map((_, at) => letters.slice(at, at + 3).join(""));
  if (words.length === 0) return undefined;
  return [...new Set(words)].map((word) => `"${word.replaceAll('"', '""')}"`).join(" AND ");
}

/** Status sorts by the life cycle; what is null or unknown comes last in both directions. */
function ordering(sort: Sort | undefined): string {
  const direction = sort?.order === "asc" ? "asc" : "desc";
  const orders: Readonly<Record<string, string>> = {
    updatedAt: `updated ${direction}, id ${direction}`,
    parent: `parent ${direction}, created, id`,
    requestedDate: `requested is null, requested ${direction}, id ${direction}`,
    status: `${LIFE} is null, ${LIFE} ${direction}, created desc, id desc`,
  };
  return orders[sort?.by ?? ""] ?? `created ${direction}, id ${direction}`;
}

const LIFE = `case status ${orderStatuses.map((status, at) => `when '${status}' then ${at}`).join(" ")} end`;

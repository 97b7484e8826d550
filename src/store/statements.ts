/**
 * What the rooms of the store make statements with: when they are prepared, how they are asked, how ids and numbers are kept,
 * and the one way to move a delivery.
 */
import type Database from "better-sqlite3";
import { crc32 } from "node:zlib";
import { type DeliveryState, mayMove } from "../core/record.ts";
import { StorageError } from "../core/errors.ts";
import { sha256 } from "../core/keys.ts";
import { comparedNumber, type Kind } from "../core/kinds.ts";

/**
 * The same database with statements that are prepared when they are first used, and planned once ({@link plannedOnce}): a
 * store has 200 of them, and most commands use a few. What is wrong with a statement is told by its first use.
 */
export function preparedLate(database: Database.Database): Database.Database {
  const prepare = (sql: string) => new LateStatement(() => database.prepare(plannedOnce(sql)));
  return Object.create(database, { prepare: { value: prepare } }) as Database.Database;
}

/**
 * SQLite plans a statement anew for every value that is bound to it (20 to 100 us), where it sees a partial index that the
 * value might allow, or how many rows are asked for. Of `+?` it sees no value.
 */
export const plannedOnce = (sql: string): string =>
  sql.replaceAll(/((?:[=<>]|\b(?:limit|offset|like))\s*)(\?|:[a-z]\w*)/gi, "$1+$2");

type Statement = Database.Statement;

/** What the store asks of a statement. */
class LateStatement implements Pick<Statement, "run" | "get" | "all" | "iterate"> {
  readonly #prepare: () => Statement;
  #prepared: Statement | null = null;

  constructor(prepare: () => Statement) {
    this.#prepare = prepare;
  }

  get #statement(): Statement {
    return (this.#prepared ??= this.#prepare());
  }

  run(...values: unknown[]): Database.RunResult {
    return this.#statement.run(...values);
  }

  get(...values: unknown[]): unknown {
    return this.#statement.get(...values);
  }

  all(...values: unknown[]): unknown[] {
    return this.#statement.all(...values);
  }

  iterate(...values: unknown[]): IterableIterator<unknown> {
    return this.#statement.iterate(...values);
  }

  pluck(): LateStatement {
    return new LateStatement(() => this.#prepare().pluck());
  }
}

type Values = readonly unknown[];

const get = (statement: Statement, values: Values): unknown => statement.get(...values) ?? null;
const all = (statement: Statement, values: Values): unknown[] => statement.all(...values);

/**
 * Statements as functions of the values that are bound to them: of an object by its names (`:name`), else in their order (`?`)
 * or, where one is asked for twice or in another order, by their places (`?1`, `?2`). Null: there is no row.
 */
export function asking(database: Database.Database) {
  const asked = <Bound extends Values, Result>(
    sql: string,
    ask: (statement: Statement, values: Values) => Result,
    isValue = false,
  ) => {
    const whole = database.prepare(sql.replaceAll(/\?\d+/g, "?"));
    const statement = isValue ? whole.pluck() : whole;
    const places = [...sql.matchAll(/\?(\d+)/g)].map(([, place]) => Number(place) - 1);
    return places.length === 0
      ? (...values: Bound): Result => ask(statement, values)
      : (...values: Bound): Result =>
          ask(
            statement,
            places.map((at) => values[at]),
          );
  };
  return {
    /** Returns how many rows it changed. */
    run: <Bound extends Values>(sql: string) =>
      asked<Bound, number>(sql, (statement, values) => statement.run(...values).changes),
    /** Returns the number of the row that it added. */
    insert: <Bound extends Values>(sql: string) =>
      asked<Bound, number>(sql, (statement, values) =>
        Number(statement.run(...values).lastInsertRowid),
      ),
    /** The first row. */
    row: <Bound extends Values, Row>(sql: string) => asked<Bound, Row | null>(sql, get as never),
    rows: <Bound extends Values, Row>(sql: string) => asked<Bound, Row[]>(sql, all as never),
    /** The first column of the first row. */
    value: <Bound extends Values, Value>(sql: string) =>
      asked<Bound, Value | null>(sql, get as never, true),
    /** The same of a statement that always has a row. */
    sure: <Bound extends Values, Value>(sql: string) =>
      asked<Bound, Value>(sql, get as never, true),
    /** The first column of every row. */
    values: <Bound extends Values, Value>(sql: string) =>
      asked<Bound, Value[]>(sql, all as never, true),
    /** Is there a row? */
    is: <Bound extends Values>(sql: string) =>
      asked<Bound, boolean>(sql, (statement, values) => statement.get(...values) !== undefined),
  };
}

/** Of an id as a source writes it: a UUID is kept as its 16 bytes (half the index), anything else as text. */
export function storedId(id: string): Buffer | string {
  return UUID.test(id) ? Buffer.from(id.replaceAll("-", ""), "hex") : id;
}

export function shownId(id: Buffer | string): string {
  if (typeof id === "string") return id;
  const hex = id.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Lower case only: an upper-case id is another text, and must come back as it was. */
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Both as functions of statements: `stored_id(?)`, `shown_id(record.id)`. */
function addIdFunctions(database: Database.Database): void {
  const options = { deterministic: true };
  database.function("stored_id", options, (id: unknown) => storedId(id as string));
  database.function("shown_id", options, (id: unknown) => shownId(id as Buffer | string));
}

/** Rows whose number is the first value, one as it is compared. Both parts have an index. */
export const IS_NUMBERED = "(number = ?1 and folded is null or folded = ?1)";

/** What is kept beside a number; null: it is compared as it is written. */
export function foldedOf(kind: Kind, number: string): string | null {
  const folded = comparedNumber(kind, number);
  return folded === number ? null : folded;
}

interface Move {
  /** The states that the delivery may be in; in any other nothing is changed. */
  readonly from: readonly DeliveryState[];
  readonly to: DeliveryState;
  /** Other columns, as SQL: `request = null, bisect_group = ?`. */
  readonly set?: string;
  /** Which deliveries, as SQL. */
  readonly where: string;
}

/** A list of three or more values after `in` is a table that SQLite makes anew for each row, so they are compared one by one (ADR 0001). */
export const isOneOf = (column: string, values: readonly string[]): string =>
  `(${values.map((value) => `${column} = '${value}'`).join(" or ")})`;

/**
 * Makes this move, and returns how many deliveries made it: the one place that writes the state of a delivery. The trigger `delivery_moves` refuses
 * what is not in the table. @throws Error when the table of moves does not have it: a programming error
 */
export function moving<Bound extends Values>(
  database: Database.Database,
  { from, to, set, where }: Move,
): (...values: Bound) => number {
  for (const state of from)
    if (!mayMove(state, to)) throw new Error(`a delivery does not move from ${state} to ${to}`);
  return asking(database).run(
    `update delivery set state = '${to}'${set === undefined ? "" : `, ${set}`}
     where ${where} and ${isOneOf("state", from)}`,
  );
}

/** The same record has no other delivery that is still to be decided. */
export const NOTHING_NEWER = `not exists (select 1 from delivery d where d.record = delivery.record
  and d.state in ('pending', 'quarantined') and d.delivery <> delivery.delivery)`;

/** The record of a source's id, as SQL of the first two values: the flow and the id. */
export const RECORD_OF = "(select record from record where flow = ?1 and id = stored_id(?2))";

// A checksum in each row that has text of documents (ADR 0001): SQLite's pages have none, and a bit that a disk has flipped
// in a text would be delivered. A sum is written with its row, looked at wherever the row is read for work, and over all
// rows in a backup, before a restore and every day.

/** What is summed of each table; the last one is what a guarded reading gives. */
const COLUMNS = {
  record: "flow id version revision content origin fault text".split(" "),
  earlier_version: "record replaced_ms text".split(" "),
  delivery: "flow record received_ms version origin amount party content note site revision".split(
    " ",
  ),
  request: "flow operation kind number revision ordering_key key target body_sha256 machine".split(
    " ",
  ),
  link: "kind platform_id born number content amount party linked_ms erp_id".split(" "),
} as const;

type Table = keyof typeof COLUMNS;
type Value = string | number | Buffer | null;
const TABLES = Object.keys(COLUMNS) as Table[];

/**
 * Of values in the order of the columns. Any single flipped bit gives another one. The last value is the longest (a record's
 * text): it is not copied for it.
 */
export function sumOf(values: readonly Value[]): number {
  let before = "";
  for (const value of values.slice(0, -1)) before += `${inText(value)}\u0001`;
  return crc32(inText(values.at(-1) ?? null), crc32(before));
}

function inText(value: Value): string {
  if (value === null) return "\u0000";
  return typeof value === "object" ? value.toString("hex") : String(value);
}

/** The functions that statements use: before any is prepared. */
export function addFunctions(database: Database.Database): void {
  addIdFunctions(database);
  database.function("sum_of", { varargs: true, deterministic: true }, (...values: unknown[]) =>
    sumOf(values as Value[]),
  );
  for (const table of TABLES)
    database.function(
      `whole_${table}`,
      { varargs: true, deterministic: true },
      (row: unknown, sum: unknown, ...values: unknown[]) => {
        const isUnsummed = sum === null && table === "delivery";
        if (!isUnsummed && sum !== sumOf(values as Value[]))
          throw damaged(table, row as Value, values as Value[]);
        return values.at(-1);
      },
    );
}

/** The sum as SQL, inside a statement of the table. `bound`: columns whose new values the statement is given, in their order. */
export const sumIn = (table: Table, bound: readonly string[] = []): string =>
  `sum_of(${COLUMNS[table].map((column) => (bound.includes(column) ? "?" : column)).join(", ")})`;

/** The last of the summed columns as SQL, of a row that is whole; `of`: what the table is called in the statement. */
export const wholeIn = (table: Table, of: string = table): string =>
  `whole_${table}(${rowOf(table, of)}, ${of}.sum, ${COLUMNS[table].map((column) => `${of}.${column}`).join(", ")})`;

const rowOf = (table: Table, of: string): string =>
  table === "link" ? `${of}.kind || ' ' || ${of}.number` : `${of}.${table}`;

/** Rows that stand in the file as nobody wrote them; the record is named, so that a person finds it. */
function damaged(table: Table, row: Value, values: readonly Value[]): StorageError {
  const valueOf = (column: string): string => {
    const value = values[COLUMNS[table].indexOf(column)] ?? "";
    return typeof value === "object" ? shownId(value) : String(value);
  };
  const name = {
    record: () => `record ${String(row)} (${valueOf("id")})`,
    earlier_version: () => `an earlier version of record ${valueOf("record")}`,
    delivery: () => `delivery ${String(row)} of record ${valueOf("record")}`,
    request: () => `request ${String(row)} (${valueOf("operation")} ${valueOf("number")})`,
    link: () => `the link of ${String(row)}`,
  }[table]();
  return damage(`${name} is damaged: its checksum does not fit`);
}

export const damage = (what: string): StorageError =>
  new StorageError(
    `The store holds what nobody wrote: ${what}.`,
    "Stop fuelbridge, look at the disk that the store is on, and put the newest whole backup back: fuelbridge restore FILE.",
  );

export interface BodyRow {
  readonly request: number;
  readonly body: string;
  readonly body_sha256: string;
  readonly body_gone_ms: number | null;
}

/** @throws StorageError when the frozen bytes are not the ones that were frozen */
export function expectBody({ request, body, body_sha256, body_gone_ms }: BodyRow): void {
  if (body_gone_ms === null && sha256(body) !== body_sha256)
    throw damage(`the frozen bytes of request ${request} are damaged`);
}

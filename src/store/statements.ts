/**
 * What the rooms of the store make statements with: when they are prepared, how they are asked, how ids and numbers are kept,
 * and the one way to move a delivery.
 */
import type Database from "better-sqlite3";
import { type DeliveryState, mayMove } from "../core/delivery-state.ts";
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
 * SQLite plans a statement anew for every value that is bound to it, where it sees a partial index that the value might allow
 * (30 to 50 us). Of `+?` it sees no value.
 */
export const plannedOnce = (sql: string): string =>
  sql.replaceAll(/([=<>]\s*)(\?|:[a-z]\w*)/gi, "$1+$2");

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

  raw(): LateStatement {
    return new LateStatement(() => this.#prepare().raw());
  }
}

type Values = readonly unknown[];

/** Statements as functions of the values that are bound to them: by position or, where it is one object, by its names. */
export const asking = (database: Database.Database) => ({
  /** Returns how many rows it changed. */
  run: <Bound extends Values>(sql: string) => {
    const statement = database.prepare(sql);
    return (...values: Bound): number => statement.run(...values).changes;
  },
  /** The first row; null: there is none. */
  row: <Bound extends Values, Row>(sql: string) => {
    const statement = database.prepare<unknown[], Row>(sql);
    return (...values: Bound): Row | null => statement.get(...values) ?? null;
  },
  rows: <Bound extends Values, Row>(sql: string) => {
    const statement = database.prepare<unknown[], Row>(sql);
    return (...values: Bound): Row[] => statement.all(...values);
  },
  /** The first column of the first row; null: there is no row. */
  value: <Bound extends Values, Value>(sql: string) => {
    const statement = database.prepare<unknown[], Value>(sql).pluck();
    return (...values: Bound): Value | null => statement.get(...values) ?? null;
  },
  /** The first column of every row. */
  values: <Bound extends Values, Value>(sql: string) => {
    const statement = database.prepare<unknown[], Value>(sql).pluck();
    return (...values: Bound): Value[] => statement.all(...values);
  },
  /** Is there a row? */
  is: <Bound extends Values>(sql: string) => {
    const statement = database.prepare(sql);
    return (...values: Bound): boolean => statement.get(...values) !== undefined;
  },
});

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
export function addIdFunctions(database: Database.Database): void {
  const options = { deterministic: true };
  database.function("stored_id", options, (id: unknown) => storedId(id as string));
  database.function("shown_id", options, (id: unknown) => shownId(id as Buffer | string));
}

/** Rows whose number is `:number`, which is one as it is compared. Both parts have an index. */
export const IS_NUMBERED = "(number = :number and folded is null or folded = :number)";

/** What is kept beside a number; null: it is compared as it is written. */
export function foldedOf(kind: Kind, number: string): string | null {
  const folded = comparedNumber(kind, number);
  return folded === number ? null : folded;
}

export interface Move {
  /** The states that the delivery may be in; in any other nothing is changed. */
  readonly from: readonly DeliveryState[];
  readonly to: DeliveryState;
  /** Other columns, as SQL: `request = null, bisect_group = ?`. */
  readonly set?: string;
  /** Which deliveries, as SQL. */
  readonly where: string;
}

/**
 * A statement that makes this move: the one place that writes the state of a delivery. The trigger `delivery_moves` refuses
 * what is not in the table. @throws Error when the table of moves does not have it: a programming error
 */
export function moving(
  database: Database.Database,
  { from, to, set, where }: Move,
): Database.Statement {
  for (const state of from)
    if (!mayMove(state, to)) throw new Error(`a delivery does not move from ${state} to ${to}`);
  // One by one: SQLite makes a table of a list after `in`, anew for each delivery.
  const isThere = from.map((state) => `state = '${state}'`).join(" or ");
  return database.prepare(
    `update delivery set state = '${to}'${set === undefined ? "" : `, ${set}`}
     where ${where} and (${isThere})`,
  );
}

/** The same record has no other delivery that is still to be decided. */
export const NOTHING_NEWER = `not exists (select 1 from delivery d where d.record = delivery.record
  and d.state in ('pending', 'quarantined') and d.delivery <> delivery.delivery)`;

/** The record of a source's id, as SQL of two values: the flow and the id. */
export const RECORD_OF = "(select record from record where flow = ? and id = stored_id(?))";

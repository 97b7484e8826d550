/**
 * The sandbox's state: one SQLite file, or memory. A commit survives a kill of the process;
 * a power cut is not among the promises, so `synchronous` is normal.
 */
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import Database from "better-sqlite3";
import { EnvironmentError } from "../core/errors.ts";

const IN_MEMORY = ":memory:";

/** Marks the file as ours, at this version of the schema. */
const APPLICATION_ID = 0x66_62_73_05;

/** The open database; every statement is prepared once, under its own text. */
export class Sql {
  readonly database: Database.Database;
  readonly #statements = new Map<string, Database.Statement>();

  /** @throws EnvironmentError when another process holds the file, or when it is no state of a sandbox. */
  constructor(path: string) {
    this.database = openDatabase(path);
  }

  run(text: string, ...values: readonly unknown[]): Database.RunResult {
    return this.#statement(text).run(...values);
  }

  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- only the caller knows what the text selects
  get<Row>(text: string, ...values: readonly unknown[]): Row | undefined {
    return this.#statement(text).get(...values) as Row | undefined;
  }

  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- only the caller knows what the text selects
  all<Row>(text: string, ...values: readonly unknown[]): Row[] {
    return this.#statement(text).all(...values) as Row[];
  }

  /** The first column of the first row; undefined without a row. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- only the caller knows what the text selects
  value<T>(text: string, ...values: readonly unknown[]): T | undefined {
    const row = this.get<object>(text, ...values);
    return row === undefined ? undefined : (Object.values(row)[0] as T);
  }

  /** A single value that outlives the process: scenario, clock, readings, secrets. */
  setting(name: string): string | null {
    return this.value<string>("select value from setting where name = ?", name) ?? null;
  }

  set(name: string, value: string): void {
    this.run("insert or replace into setting values (?, ?)", name, value);
  }

  /** Counts a setting up, from 1 on. */
  next(name: string): number {
    const next = Number(this.setting(name) ?? 0) + 1;
    this.set(name, String(next));
    return next;
  }

  #statement(text: string): Database.Statement {
    const statement = this.#statements.get(text) ?? this.database.prepare(text);
    this.#statements.set(text, statement);
    return statement;
  }
}

/** A part of the sandbox's state, kept in the database. */
export abstract class Part {
  readonly sql: Sql;

  constructor(sql: Sql) {
    this.sql = sql;
  }
}

function openDatabase(path: string): Database.Database {
  try {
    if (path !== IN_MEMORY) mkdirSync(dirname(path), { recursive: true });
    return opened(new Database(path, { timeout: 2_000 }));
  } catch (error) {
    if (!(error instanceof Database.SqliteError)) throw error;
    throw new EnvironmentError(
      `The sandbox cannot keep its state in ${path}: ${error.message}.`,
      "Choose a new file, or the file of a sandbox that is not running.",
      error,
    );
  }
}

function opened(database: Database.Database): Database.Database {
  database.pragma("locking_mode = exclusive");
  database.pragma("page_size = 8192");
  database.pragma("journal_mode = wal");
  database.pragma("synchronous = normal");
  database.pragma("cache_size = -16384");
  database.pragma("wal_autocheckpoint = 10000");
  database.pragma("journal_size_limit = 134217728");
  database.pragma("temp_store = memory");
  database.exec("begin immediate");
  const empty = database.prepare("select count(*) from sqlite_schema").pluck().get() === 0;
  if (empty) {
    database.exec(SCHEMA);
    database.pragma(`application_id = ${APPLICATION_ID}`);
  } else if (database.pragma("application_id", { simple: true }) !== APPLICATION_ID) {
    throw new EnvironmentError(
      "The file holds another program's database, or the state of another version.",
      "Choose a new file for the sandbox's state.",
    );
  }
  database.exec("commit");
  return database;
}

/**
 * `record` holds every record once. `sight` holds it once per company and role that can see it, with all that lists
 * filter and sort by: a list page never reads a record that is not on it. A `shelf` is what one company sees in one
 * role, and `tally` counts what stands on it by day and status, on the axis of `created` and on that of
 * `updated`; `stock` counts the records of a kind.
 * `words` finds the records of the large lists by any three letters. Times are microseconds.
 */
const SCHEMA = `
create table setting (name text primary key, value text not null) strict, without rowid;

create table key (name text primary key, value text not null unique, fields text not null, usage text not null) strict;

create table record (
  seq integer primary key, kind text not null, id text not null, owner text not null,
  parent text, natural text, shown text not null, hidden text
) strict;
create unique index record_id on record (kind, id);
create index record_parent on record (kind, parent) where parent is not null;
create index record_natural on record (kind, owner, natural) where natural is not null;

create table shelf (
  number integer primary key, kind text not null, company text not null, role text not null,
  unique (kind, company, role)
) strict;
create table sight (
  shelf integer not null, updated integer not null, id text not null, created integer not null,
  seq integer not null, status text, parent text, products text, requested integer, search text,
  primary key (shelf, updated, id)
) strict, without rowid;
create index sight_created on sight (shelf, created, id, seq);
create index sight_parent on sight (shelf, parent) where parent is not null;
create index sight_seq on sight (seq, shelf);
create virtual table words using fts5 (
  text, content='', contentless_delete=1, detail=none, tokenize='trigram case_sensitive 1'
);
create table tally (
  shelf integer not null, axis text not null, day integer not null, status text not null, count integer not null,
  primary key (shelf, axis, day, status)
) strict, without rowid;
create table stock (kind text primary key, count integer not null) strict, without rowid;

create table idempotency (
  company text not null, key text not null, method text not null, path text not null, hash text not null,
  state text not null, status integer, type text, body text, arrived real not null, until real,
  primary key (company, key)
) strict, without rowid;
create index idempotency_arrived on idempotency (arrived);

create table fault (id integer primary key autoincrement, times integer not null, fault text not null) strict;
create table late (
  id integer primary key, due real not null, key text not null, method text not null, path text not null,
  body blob, write text
) strict;
create table lagging (
  id integer primary key, at real not null, others integer not null, kind text not null, record text not null,
  before text
) strict;

create table request (
  seq integer primary key autoincrement, at text not null, key text, method text not null, path text not null,
  query text not null, idempotency_key text, status integer, replayed integer not null, fault text, body_hash text
) strict;
`;

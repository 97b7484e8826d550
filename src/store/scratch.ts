/**
 * A scratch on disk, for one reading of something large. Nothing in it has to survive: it is one transaction that is
 * never committed, and on POSIX the file has no name once it is open, so that a killed process leaves nothing behind.
 */
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { SourceUnavailable } from "../core/errors.ts";
import type { Kept, Scratch } from "../core/scratch.ts";
import { freeIn } from "./database.ts";
import { asking } from "./statements.ts";

/** Twice what the store must be left with (database.ts): what it needs grows while records are taken in. */
const FREE_BYTES_MIN = 512 * 1024 * 1024;
/** So much is left free whatever is put in: with 256 MB the store stops the process, and others write meanwhile. */
const LEFT_BYTES_MIN = 384 * 1024 * 1024;
/** After so many characters that were put in the disk is looked at again. */
const LOOK_AFTER = 4 * 1024 * 1024;
/** On disk a record takes about this many times its bytes in a file: JSON has names, and there is an index. */
const SPREAD = 4;
/** Records are large or small: so many are read in one step. */
const PAGE_STEP = 32;
const NAME = /^scratch-[\w.-]+$/;
let opened = 0;

/** The disk that a scratch is on. */
interface Disk {
  readonly folder: string;
  /** How it goes on when there is room again, as the end of a sentence. */
  readonly goesOn: string;
  /** Its free bytes. */
  readonly free: (folder: string) => number;
}

/**
 * @param folder The state folder: what is read must be nowhere else.
 * @param bytes What is going to be read.
 * @param more How it goes on after a disk that was full; and, of a test, how much is free.
 * @throws SourceUnavailable when the disk has no room for it, now or later; it never takes what the store needs
 */
export function openScratch(
  folder: string,
  bytes: number,
  more: Partial<Omit<Disk, "folder">> = {},
): Scratch {
  const disk = { folder, goesOn: "it is read at the next look", free: freeIn, ...more };
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // Only Windows keeps them: there, what another process has open cannot be removed.
  for (const name of readdirSync(folder)) if (NAME.test(name)) remove(join(folder, name));
  expectSpace(disk, FREE_BYTES_MIN + SPREAD * bytes, "what is read needs");
  const path = join(folder, `scratch-${process.pid}-${++opened}.sqlite`);
  const database = told(disk, () => databaseAt(path));
  return guarded(
    disk,
    told(disk, () => over(database)),
    () => {
      database.close();
      if (process.platform === "win32") remove(path);
    },
  );
}

function databaseAt(path: string): Database.Database {
  const database = new Database(path);
  for (const pragma of [
    "page_size = 16384",
    "journal_mode = memory",
    "synchronous = off",
    "locking_mode = exclusive",
  ])
    database.pragma(pragma);
  database.pragma("cache_size = -4000");
  database.exec(`
    begin;
    create table record (at integer primary key, key text not null unique, text text not null) strict;
    create table item (at integer primary key, list text not null, key text not null, text text not null) strict;
    create index item_key on item (list, key);
  `);
  // Only within a transaction: before one, SQLite wants to see the file's name.
  if (process.platform !== "win32") remove(path);
  return database;
}

function over(database: Database.Database): Omit<Scratch, "close"> {
  const { row, rows, run, sure, value, values } = asking(database);
  const put = run<[key: string, text: string]>(
    "insert into record (key, text) values (?, ?) on conflict do nothing",
  );
  const known = value<[key: string], string>("select text from record where key = ?");
  const after = rows<[after: number, limit: number], Kept>(
    "select key, text from record where at > ? order by at limit ?",
  );
  const items = values<[list: string, key: string], string>(
    "select text from item where list = ? and key = ? order by at",
  );
  const drop = run<[list: string, key: string]>("delete from item where list = ? and key = ?");
  const left = row<[list: string], { count: number; first: string | null }>(
    `select count(*) as count, (select text from item where list = ?1 order by at limit 1) as first
     from item where list = ?1`,
  );
  return {
    put: (key, text) => (put(key, text) === 1 ? null : known(key)),
    replace: run<[key: string, text: string]>("update record set text = ?2 where key = ?1"),
    page(from, limit, characters = Infinity) {
      const found: Kept[] = [];
      for (let length = 0; found.length < limit && length < characters;) {
        const step = after(from + found.length, Math.min(limit - found.length, PAGE_STEP));
        if (step.length === 0) break;
        for (const entry of step) {
          if (length >= characters) break;
          found.push(entry);
          length += entry.text.length;
        }
      }
      return found;
    },
    count: sure<[], number>("select coalesce(max(at), 0) from record"),
    add: run<[list: string, key: string, text: string]>(
      "insert into item (list, key, text) values (?, ?, ?)",
    ),
    take(list, key) {
      const texts = items(list, key);
      if (texts.length > 0) drop(list, key);
      return texts;
    },
    left: (list) => left(list) ?? { count: 0, first: null },
  };
}

function guarded(disk: Disk, scratch: Omit<Scratch, "close">, close: () => void): Scratch {
  const safe =
    <Args extends unknown[], Result>(work: (...args: Args) => Result) =>
    (...args: Args): Result =>
      told(disk, () => work(...args));
  let unseen = 0;
  const filling = <Args extends string[], Result>(work: (...args: Args) => Result) =>
    safe((...args: Args): Result => {
      for (const text of args) unseen += text.length;
      if (unseen >= LOOK_AFTER) {
        unseen = 0;
        expectSpace(disk, LEFT_BYTES_MIN, "the store is left");
      }
      return work(...args);
    });
  return {
    put: filling(scratch.put),
    replace: filling(scratch.replace),
    page: safe(scratch.page),
    count: safe(scratch.count),
    add: filling(scratch.add),
    take: safe(scratch.take),
    left: safe(scratch.left),
    close,
  };
}

/** A disk that fills up, or fails, under it is no fault of the store's: the file is read again when there is room. */
function told<Result>({ folder, goesOn }: Disk, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Database.SqliteError)) throw error;
    throw new SourceUnavailable(
      `The temporary file in ${folder} cannot be used: ${error.message} (${error.code}).`,
      {
        next: `Free space on that disk, and look at it: ${goesOn}. Nothing was read, and nothing is lost.`,
        cause: error,
      },
    );
  }
}

/** `what`: what so many bytes are for. */
function expectSpace({ folder, goesOn, free }: Disk, bytes: number, what: string): void {
  const left = free(folder);
  if (left >= bytes) return;
  throw new SourceUnavailable(
    `The disk of ${folder} has ${Math.floor(left / MB)} MB free; ${what} ${Math.ceil(bytes / MB)} MB.`,
    { next: `Free space on that disk; ${goesOn}.` },
  );
}

const MB = 1024 * 1024;

const remove = (path: string): void => {
  try {
    rmSync(path, { force: true });
  } catch {
    // In use by another process: its own.
  }
};

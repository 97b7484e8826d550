/**
 * A scratch on disk, for one reading of something large. Nothing in it has to survive: it is one transaction that is
 * never committed, and on POSIX the file has no name once it is open, so that a killed process leaves nothing behind.
 */
import { mkdirSync, readdirSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { SourceUnavailable } from "../core/errors.ts";
import type { Kept, Scratch } from "../core/scratch.ts";

/** What the store must be left with, and twice of that: what it needs grows while records are taken in. */
const FREE_BYTES_MIN = 512 * 1024 * 1024;
/** On disk a record takes about this many times its bytes in a file: JSON has names, and there is an index. */
const SPREAD = 4;
const NAME = /^scratch-[\w.-]+$/;
let opened = 0;

/**
 * @param folder The state folder: what is read must be nowhere else.
 * @param bytes What is going to be read.
 * @throws SourceUnavailable when the disk has no room for it, now or later
 */
export function openScratch(folder: string, bytes: number): Scratch {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // Only Windows keeps them: there, what another process has open cannot be removed.
  for (const name of readdirSync(folder)) if (NAME.test(name)) remove(join(folder, name));
  expectSpace(folder, bytes);
  const path = join(folder, `scratch-${process.pid}-${++opened}.sqlite`);
  const database = told(folder, () => databaseAt(path));
  return guarded(
    folder,
    told(folder, () => over(database)),
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
    create table item (at integer primary key, list text not null, key text not null, text text not null) strict;
    create index item_key on item (list, key);
  `);
  // Only within a transaction: before one, SQLite wants to see the file's name.
  if (process.platform !== "win32") remove(path);
  return database;
}

function over(database: Database.Database): Omit<Scratch, "close"> {
  const add = database.prepare("insert into item (list, key, text) values (?, ?, ?)");
  const items = database
    .prepare<[string, string], string>(
      "select text from item where list = ? and key = ? order by at",
    )
    .pluck();
  const drop = database.prepare("delete from item where list = ? and key = ?");
  const left = database.prepare<[string], { count: number; first: number | null }>(
    "select count(*) as count, min(at) as first from item where list = ?",
  );
  const item = database.prepare<[number], string>("select text from item where at = ?").pluck();
  return {
    ...recordsIn(database),
    add: (list, key, text) => void add.run(list, key, text),
    take(list, key) {
      const texts = items.all(list, key);
      if (texts.length > 0) drop.run(list, key);
      return texts;
    },
    left(list) {
      const { count, first } = left.get(list) ?? { count: 0, first: null };
      return { count, first: first === null ? null : (item.get(first) ?? null) };
    },
  };
}

function guarded(folder: string, scratch: Omit<Scratch, "close">, close: () => void): Scratch {
  const safe =
    <Args extends unknown[], Result>(work: (...args: Args) => Result) =>
    (...args: Args): Result =>
      told(folder, () => work(...args));
  return {
    put: safe(scratch.put),
    replace: safe(scratch.replace),
    page: safe(scratch.page),
    count: safe(scratch.count),
    add: safe(scratch.add),
    take: safe(scratch.take),
    left: safe(scratch.left),
    close,
  };
}

/** A disk that fills up, or fails, under it is no fault of the store's: the file is read again when there is room. */
function told<Result>(folder: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Database.SqliteError)) throw error;
    throw new SourceUnavailable(
      `The temporary file in ${folder} cannot be used: ${error.message} (${error.code}).`,
      {
        next: "Free space on that disk, and look at it; nothing was read, and nothing is lost.",
        cause: error,
      },
    );
  }
}

function expectSpace(folder: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  const wanted = FREE_BYTES_MIN + SPREAD * bytes;
  if (free >= wanted) return;
  throw new SourceUnavailable(
    `The disk of ${folder} has ${mb(free)} MB free; to read a file of ${mb(bytes)} MB, ${mb(wanted)} MB are needed.`,
    { next: "Free space on that disk; the file is read at the next look." },
  );
}

const mb = (bytes: number): number => Math.ceil(bytes / 1024 / 1024);

const remove = (path: string): void => {
  try {
    rmSync(path, { force: true });
  } catch {
    // In use by another process: its own.
  }
};

type Records = Pick<Scratch, "put" | "replace" | "page" | "count">;

/** A chunk is written when it has so many records, or so many characters. */
const CHUNK_RECORDS = 32;
const CHUNK_CHARACTERS = 65_536;

/**
 * The records of a scratch. They are written in chunks, so that SQLite is asked once for many. Whether a key came before, a
 * Bloom filter says ("certainly not" of nearly every new key); from the first key on that may have come before, an index of
 * all keys does. The filter has one size, and no more than a chunk is in memory. Makes its tables in an empty database.
 */
function recordsIn(database: Database.Database): Records {
  const chunks = chunksIn(database);
  const isNew = keyFilter();
  let index: KeyIndex | null = null;
  /** The index of all keys, from the first time on that it is asked. */
  const indexed = (): KeyIndex => {
    if (index !== null) return index;
    index = indexIn(database);
    let at = 0;
    for (const { key } of chunks.from(1)) index.add(key, ++at);
    return index;
  };
  return {
    put(key, text) {
      if (index !== null || !isNew(key)) {
        const known = indexed().add(key, chunks.count() + 1);
        if (known !== null) return chunks.at(known)?.text ?? null;
      }
      chunks.append({ key, text });
      return null;
    },
    replace(key, text) {
      const at = indexed().find(key);
      if (at !== null) chunks.replace(at, { key, text });
    },
    page(after, limit, characters = Infinity) {
      const found: Kept[] = [];
      let length = 0;
      for (const entry of chunks.from(after + 1)) {
        if (found.length === limit || length >= characters) break;
        found.push(entry);
        length += entry.text.length;
      }
      return found;
    },
    count: () => chunks.count(),
  };
}

interface KeyIndex {
  /** Where a key stands that is there already; null: it was not, and stands at `at` now. */
  add(key: string, at: number): number | null;
  find(key: string): number | null;
}

function indexIn(database: Database.Database): KeyIndex {
  database.exec(
    "create table place (key text primary key, at integer not null) strict, without rowid",
  );
  const insert = database.prepare(
    "insert into place (key, at) values (?, ?) on conflict do nothing",
  );
  const select = database.prepare<[string], number>("select at from place where key = ?").pluck();
  const find = (key: string): number | null => select.get(key) ?? null;
  return {
    add: (key, at) => (insert.run(key, at).changes === 1 ? null : find(key)),
    find,
  };
}

interface Chunks {
  append(entry: Kept): void;
  replace(at: number, entry: Kept): void;
  at(at: number): Kept | undefined;
  /** All from a place on; places count from 1. */
  from(at: number): Iterable<Kept>;
  count(): number;
}

interface Chunk {
  /** The place of its first record. */
  readonly first: number;
  /** Of each key and text, in UTF-16 units. */
  readonly lengths: string;
  readonly body: string;
}

function chunksIn(database: Database.Database): Chunks {
  database.exec(
    "create table chunk (first integer primary key, lengths text not null, body text not null) strict",
  );
  const insert = database.prepare("insert into chunk (first, lengths, body) values (?, ?, ?)");
  const update = database.prepare("update chunk set lengths = ?, body = ? where first = ?");
  const select = database.prepare<[number], Chunk>(
    "select first, lengths, body from chunk where first <= ? order by first desc limit 1",
  );
  /** Those that are not written yet, from the place `written + 1` on. */
  let waiting: Kept[] = [];
  let characters = 0;
  let written = 0;
  const holding = (at: number): { first: number; entries: Kept[] } => {
    const chunk = at > written ? undefined : select.get(at);
    return chunk === undefined
      ? { first: written + 1, entries: waiting }
      : { first: chunk.first, entries: unpacked(chunk) };
  };
  const chunks: Chunks = {
    append(entry) {
      waiting.push(entry);
      characters += entry.key.length + entry.text.length;
      if (waiting.length < CHUNK_RECORDS && characters < CHUNK_CHARACTERS) return;
      const { lengths, body } = packed(waiting);
      insert.run(written + 1, lengths, body);
      written += waiting.length;
      waiting = [];
      characters = 0;
    },
    replace(at, entry) {
      const { first, entries } = holding(at);
      entries[at - first] = entry;
      if (entries === waiting) return;
      const { lengths, body } = packed(entries);
      update.run(lengths, body, first);
    },
    at(at) {
      const { first, entries } = holding(at);
      return entries[at - first];
    },
    *from(begin) {
      for (let at = begin; at <= chunks.count();) {
        const { first, entries } = holding(at);
        yield* entries.slice(at - first);
        at = first + entries.length;
      }
    },
    count: () => written + waiting.length,
  };
  return chunks;
}

function packed(entries: readonly Kept[]): Pick<Chunk, "lengths" | "body"> {
  const texts = entries.flatMap(({ key, text }) => [key, text]);
  return { lengths: texts.map(({ length }) => length).join(" "), body: texts.join("") };
}

function unpacked({ lengths, body }: Chunk): Kept[] {
  const entries: Kept[] = [];
  const all = lengths.split(" ").map(Number);
  let at = 0;
  const next = (length = 0): string => body.slice(at, (at += length));
  for (let one = 0; one < all.length; one += 2)
    entries.push({ key: next(all[one]), text: next(all[one + 1]) });
  return entries;
}

/** 4 MB: a million keys come before one is likely to be taken for known that is not. */
const FILTER_BITS = 2 ** 25;
const BITS_PER_KEY = 8;

/** Asked with a key, whether it was certainly not asked before. */
function keyFilter(): (key: string) => boolean {
  const words = new Uint32Array(FILTER_BITS / 32);
  return (key) => {
    let one = 0x811c9dc5;
    let two = 0x01234567;
    for (let at = 0; at < key.length; at++) {
      const unit = key.charCodeAt(at);
      one = Math.imul(one ^ unit, 0x01000193);
      two = Math.imul(two ^ unit, 0x5bd1e995);
      two ^= two >>> 15;
    }
    let isNew = false;
    for (let time = 0; time < BITS_PER_KEY; time++) {
      const bit = (one + Math.imul(time, two | 1)) >>> 7;
      const mask = 1 << (bit & 31);
      const word = words[bit >>> 5] ?? 0;
      if ((word & mask) !== 0) continue;
      isNew = true;
      words[bit >>> 5] = word | mask;
    }
    return isNew;
  };
}

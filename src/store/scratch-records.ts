/**
 * The records of a scratch on disk. They are written in chunks, so that SQLite is asked once for many. Whether a key came
 * before, a Bloom filter says ("certainly not" of nearly every new key); from the first key on that may have come before,
 * an index of all keys does. The filter has one size, and no more than a chunk is in memory.
 */
import type Database from "better-sqlite3";
import type { Kept, Scratch } from "../core/scratch.ts";

type Records = Pick<Scratch, "put" | "replace" | "page" | "count">;

/** A chunk is written when it has so many records, or so many characters. */
const CHUNK_RECORDS = 32;
const CHUNK_CHARACTERS = 65_536;

/** Makes its tables in an empty database. */
export function recordsIn(database: Database.Database): Records {
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

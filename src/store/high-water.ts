/**
 * How far sending had got, in a file of its own beside the store: `state.high-water` beside the folder `state`. It is
 * made durable before the first byte of a request leaves, while many leave every tenth of a second, and is no part of a
 * backup. A store that is older than this mark was restored, and does not know what was sent since (reliability 2.10).
 * A store that has sent nothing has no mark, and needs none: what has sent is told by the audit, which keeps every send.
 */
import type Database from "better-sqlite3";
import { randomUUID } from "node:crypto";
import { dirname } from "node:path";
import { StorageError } from "../core/errors.ts";
import { closeSync, constants, fdatasyncSync, openSync, readFileSync, writeSync } from "node:fs";

interface Mark {
  /** Which store sent. */
  readonly store: string;
  /** The newest entry of its audit then. */
  readonly audit: number;
  /** ISO 8601 UTC. */
  readonly at: string;
}

/** No backup is taken and put back within this time. */
const EVERY_MS = 100;
/** One write within a disk's sector: it is there whole or not at all. */
const LENGTH = 256;

export function highWater(database: Database.Database, path: string) {
  const identity = database.prepare<[], string>("select store from identity").pluck();
  const head = database.prepare<[], number>("select coalesce(max(audit), 0) from audit").pluck();
  const everSent = database
    .prepare<[], number>("select exists (select 1 from audit where event = 'send')")
    .pluck();
  const known = identity.get();
  const store = known ?? randomUUID();
  if (known === undefined) database.prepare("insert into identity (store) values (?)").run(store);
  const lastAt = database
    .prepare<[], number>("select at_ms from audit order by audit desc limit 1")
    .pluck();
  const marked = readMark(path);
  const lost = (): boolean => known !== undefined && everSent.get() === 1;
  let why = compared(marked, store, head.get() as number, lost);
  let isFirst = marked === null;
  let leavingMs: number | null = null;
  let file: number | null = null;
  let writtenMs = -Infinity;

  function write(atMs: number, audit = head.get() as number): void {
    // Until the next one is written.
    const at = new Date(atMs + EVERY_MS).toISOString();
    const mark = { store, audit, at };
    try {
      file ??= openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
      writeSync(file, `${JSON.stringify(mark satisfies Mark).padEnd(LENGTH - 1)}\n`, 0);
      fdatasyncSync(file);
    } catch (error) {
      throw new StorageError(
        `How far sending had got cannot be written down in ${path}: ${(error as Error).message}.`,
        `Let this user write in ${dirname(path)}, check the disk, then start again: nothing was sent.`,
        error,
      );
    }
    isFirst = false;
    writtenMs = performance.now();
    leavingMs = null;
  }

  function flush(): void {
    if (leavingMs !== null) write(leavingMs);
  }

  // A store from before there were marks has sent without one: it gets its first when it is first opened.
  if (known === undefined && isFirst && everSent.get() === 1) write(lastAt.get() as number);

  return {
    /** Why this store does not know all that was sent; null when it does. */
    restored: (): string | null => why,
    /** Until when was sent from here before this start, ISO 8601 UTC. */
    until: (): string | null => (marked === null || marked === "unreadable" ? null : marked.at),
    /** Inside the transaction that says so: bytes are about to leave. */
    leaving(atMs: number): void {
      // A process that ends between its first commit and its first mark must not look like one whose mark was deleted.
      if (isFirst) {
        write(atMs, 0);
        writtenMs = -Infinity;
      }
      leavingMs = atMs;
    },
    /** After each transaction, before a byte leaves. */
    committed(): void {
      if (performance.now() - writtenMs >= EVERY_MS) flush();
    },
    /** What was put off. */
    flush,
    /** From here on this store is the one that sends. */
    acknowledge(atMs: number): void {
      write(atMs);
      why = null;
    },
    close(): void {
      flush();
      if (file !== null) closeSync(file);
    },
  };
}

function compared(
  mark: Mark | null | "unreadable",
  store: string,
  head: number,
  lost: () => boolean,
): string | null {
  if (mark === "unreadable") return "the record of how far sending had got cannot be read";
  if (mark === null) return lost() ? "the record of how far sending had got is missing" : null;
  if (mark.store !== store) return `another store sent from here until ${mark.at}`;
  return mark.audit > head
    ? `it is older than what was sent until ${mark.at}: it was restored from a backup`
    : null;
}

function readMark(path: string): Mark | null | "unreadable" {
  try {
    const { store, audit, at } = JSON.parse(readFileSync(path, "utf8")) as Partial<Mark>;
    return typeof store === "string" && typeof audit === "number" && typeof at === "string"
      ? { store, audit, at }
      : "unreadable";
  } catch (error) {
    return (error as { code?: unknown }).code === "ENOENT" ? null : "unreadable";
  }
}

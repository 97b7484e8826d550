/**
 * Whose store this is, and whether it knows all that was sent.
 *
 * It belongs to one company, one platform, one environment. They enter every key and every link, so with another one
 * everything would be written again; such a configuration is refused (ADR 0002).
 *
 * How far sending had got is in a file of its own: `no-backup/high-water` in the state folder. It is made durable before
 * the first byte of a request leaves, while many leave every tenth of a second. A backup leaves it out. A store that is
 * older than its mark was restored, and does not know what was sent since; so was one whose mark is a copy:
 * the mark names its own file (ADR 0002). A store that has sent nothing has no mark, and needs none: what has sent
 * is told by the requests, which keep when their bytes last left.
 */
import Database from "better-sqlite3";
import { randomUUID } from "node:crypto";
import {
  closeSync,
  constants,
  existsSync,
  fdatasyncSync,
  fstatSync,
  openSync,
  readFileSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { ConfigurationError, StorageError } from "../core/errors.ts";
import type { journal } from "./journal.ts";
import { handOver, makeFolder, markFile, storeFile } from "./database.ts";
import { thisUser } from "./user.ts";

/** What a configuration says of itself. */
export interface Owner {
  readonly company: string;
  /** The platform's address, as it was written. */
  readonly platform: string;
  readonly environment: string;
  /** Addresses at which the same platform was before. */
  readonly formerUrls: readonly string[];
}

export interface Bound {
  readonly company: string | null;
  /** As {@link addressOf} gives it. */
  readonly platform: string | null;
  readonly environment: string | null;
}

/** Reads what a store says of itself. */
export const BOUND = "select company, platform, environment from identity";

export function binding(
  database: Database.Database,
  folder: string,
  told: Pick<ReturnType<typeof journal>, "audit">,
) {
  const read = database.prepare<[], Bound>(BOUND);
  const bind = database.prepare<Bound>(
    "update identity set company = :company, platform = :platform, environment = :environment",
  );

  return {
    /** A store that nobody has yet is anybody's. Inside a transaction. @throws ConfigurationError for another owner */
    expect(owner: Owner): void {
      refuseOther(`the store in ${folder}`, read.get(), owner);
    },
    /**
     * The same, and from here on it is this owner's; `atMs` is now. Inside a transaction.
     * @throws ConfigurationError for another owner
     */
    claim(owner: Owner, atMs: number): void {
      const before = read.get();
      refuseOther(`the store in ${folder}`, before, owner);
      const { company, environment } = owner;
      const platform = addressOf(owner.platform);
      bind.run({ company, platform, environment });
      const from = before?.platform ?? null;
      if (from !== null && from !== platform)
        told.audit(atMs, { event: "platform moved", detail: `from ${from} to ${platform}` });
    },
  };
}

/**
 * For who looks and must change nothing. A store that another process holds, that cannot be read, or that is from
 * before ADR 0002 says nothing. @throws ConfigurationError for another owner
 */
export function expectOwner(folder: string, owner: Owner): void {
  if (!existsSync(storeFile(folder))) return;
  refuseOther(`the store in ${folder}`, looked(folder), owner);
}

function looked(folder: string): Bound | undefined {
  try {
    const database = new Database(storeFile(folder), { timeout: 0, fileMustExist: true });
    try {
      // No file is made beside it.
      database.pragma("locking_mode = exclusive");
      return database.prepare<[], Bound>(BOUND).get();
    } finally {
      database.close();
    }
  } catch (error) {
    if (error instanceof Database.SqliteError) return undefined;
    throw error;
  }
}

/** `what`: "the store in /var/lib/fuelbridge". @throws ConfigurationError for another owner's */
export function refuseOther(what: string, bound: Bound | undefined, owner: Owner): void {
  const { company = null, platform = null, environment = null } = bound ?? {};
  const address = addressOf(owner.platform);
  if (company !== null && company !== owner.company)
    throw new ConfigurationError(
      `${sentence(what)} belongs to the company "${company}", but company is "${owner.company}" in this configuration.`,
      `The company is part of every idempotency key: under another one everything would be written again. Set company back to "${company}"; for another company, set state to a folder of its own.`,
    );
  if (environment !== null && environment !== owner.environment)
    throw new ConfigurationError(
      `${sentence(what)} belongs to the ${environment} environment, but platform.environment is "${owner.environment}" in this configuration.`,
      `The two environments hold different documents. Set platform.environment back to ${environment}; for the other one, set state to a folder of its own.`,
    );
  const isKnown = [address, ...owner.formerUrls.map(addressOf)].includes(platform ?? address);
  if (!isKnown)
    throw new ConfigurationError(
      `${sentence(what)} belongs to the platform at ${platform}, but platform.url is ${address} in this configuration.`,
      `What it knows as delivered is not on another platform. Set platform.url back. If the same platform has moved, say so: platform.formerUrls: ["${platform}"]. For another platform, set state to a folder of its own.`,
    );
}

/** Equal for addresses that lead to the same place: case of the host, default port, slashes at the end. */
function addressOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname.replace(/\/+$/, "");
}

const sentence = (what: string): string => what.charAt(0).toUpperCase() + what.slice(1);

interface Mark {
  /** Which store sent. */
  readonly store: string;
  /** The newest entry of its audit then. */
  readonly audit: number;
  /** ISO 8601 UTC. */
  readonly at: string;
}

interface ReadMark extends Mark {
  /** It was written into another file than the one that it was read from. */
  readonly copied: boolean;
}

/** A file as its file system knows it. `born`: ns since 1970; null where that is not known. */
interface FileIdentity {
  readonly inode: string;
  readonly born: string | null;
}

/** No backup is taken and put back within this time. */
const EVERY_MS = 100;
/** One write within a disk's sector: it is there whole or not at all. */
const LENGTH = 256;

/** @throws StorageError when the mark cannot be read */
export function highWater(database: Database.Database, folder: string) {
  const identity = database.prepare<[], string>("select store from identity").pluck();
  const head = database.prepare<[], number>("select coalesce(max(audit), 0) from audit").pluck();
  const everSent = database
    .prepare<[], number>("select exists (select 1 from request where sent_ms is not null)")
    .pluck();
  const known = identity.get();
  const store = known ?? randomUUID();
  if (known === undefined) database.prepare("insert into identity (store) values (?)").run(store);
  const path = markFile(folder);
  let file: number | null = null;
  const marked = readMark(path);
  const lost = (): boolean => known !== undefined && everSent.get() === 1;
  let why = compared(marked, store, head.get() as number, lost);
  let isFirst = marked === null;
  let leavingMs: number | null = null;
  let writtenMs = -Infinity;

  function put(mark: Mark): void {
    if (file === null) makeFolder(dirname(path));
    try {
      file ??= opened(path);
      writeMark(file, mark);
    } catch (error) {
      throw new StorageError(
        `How far sending had got cannot be written down in ${path} by user ${thisUser()}: ${(error as Error).message}.`,
        `Let the user that runs fuelbridge own ${dirname(path)} and what is in it, check the disk, then start again: nothing was sent.`,
        error,
      );
    }
  }

  function write(atMs: number, audit = head.get() as number): void {
    // Until the next one is written.
    const at = new Date(atMs + EVERY_MS).toISOString();
    put({ store, audit, at });
    isFirst = false;
    writtenMs = performance.now();
    leavingMs = null;
  }

  function flush(): void {
    if (leavingMs !== null) write(leavingMs);
  }

  return {
    /** Why this store does not know all that was sent; null when it does. */
    restored: (): string | null => why,
    /** Has a request ever been sent from here? Reads the requests. */
    everSent: (): boolean => everSent.get() === 1,
    /** Until when was sent from here before this start, ISO 8601 UTC. A copy does not know. */
    until: (): string | null =>
      marked === null || marked === "unreadable" || marked.copied ? null : marked.at,
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

/**
 * A copy of the store is about to be put back: the mark says more than the copy can know. What the mark that is there
 * says of the time stays, where the same store made it here; else `atMs` is all that is known.
 * @throws StorageError when it cannot be written
 */
export function markRestored(
  folder: string,
  { store, audit }: Pick<Mark, "store" | "audit">,
  atMs: number,
): void {
  const path = markFile(folder);
  const before = readMark(path);
  const isOurs = before !== null && before !== "unreadable" && !before.copied;
  const same = isOurs && before.store === store ? before : null;
  const at = same?.at ?? new Date(atMs).toISOString();
  makeFolder(dirname(path));
  const file = opened(path);
  try {
    writeMark(file, { store, audit: Math.max(audit, same?.audit ?? 0), at });
  } finally {
    closeSync(file);
  }
}

/** The mark, and which file it is in. */
function writeMark(file: number, mark: Mark): void {
  const text = markText(mark, identityOf(file));
  writeSync(file, `${text.padEnd(LENGTH - 1)}\n`, 0);
  fdatasyncSync(file);
}

function compared(
  mark: ReadMark | null | "unreadable",
  store: string,
  head: number,
  lost: () => boolean,
): string | null {
  if (mark === "unreadable") return "the record of how far sending had got cannot be read";
  if (mark === null) return lost() ? "the record of how far sending had got is missing" : null;
  if (mark.store !== store) return `another store sent from here until ${mark.at}`;
  if (mark.audit > head)
    return `it is older than what was sent until ${mark.at}: it was restored from a backup`;
  return mark.copied
    ? `the record of how far sending had got is a copy, made after ${mark.at}: the state folder was restored from a backup, or moved from another disk`
    : null;
}

/** @throws StorageError when it is there and this user may not read it */
function readMark(path: string): ReadMark | "unreadable" | null {
  let text: string;
  let file: FileIdentity;
  try {
    const opened = openSync(path, constants.O_RDONLY);
    try {
      text = readFileSync(opened, "utf8");
      file = identityOf(opened);
    } finally {
      closeSync(opened);
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return null;
    if (code !== "EACCES" && code !== "EPERM") return "unreadable";
    throw new StorageError(
      `The record of how far sending had got, ${path}, cannot be read by user ${thisUser()}: ${message}.`,
      "Let the user that runs fuelbridge own it, then start again.",
      error,
    );
  }
  return parsed(text, file);
}

function parsed(text: string, file: FileIdentity): ReadMark | "unreadable" {
  try {
    const { store, audit, at, inode, born } = JSON.parse(text) as Partial<Mark & FileIdentity>;
    if (typeof store !== "string" || typeof audit !== "number" || typeof at !== "string")
      return "unreadable";
    const isOther = inode !== file.inode;
    const isYounger = typeof born === "string" && file.born !== null && born !== file.born;
    return { store, audit, at, copied: isOther || isYounger };
  } catch {
    return "unreadable";
  }
}

const markText = ({ store, audit, at }: Mark, file: FileIdentity): string =>
  JSON.stringify({ store, audit, at, ...file });

function opened(path: string): number {
  const isNew = !existsSync(path);
  const file = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
  if (isNew) handOver(path);
  return file;
}

/**
 * Neither changes when the owner or the rights of a file do. Inode numbers are used again, so that the birth time is
 * what tells a copy; where the system tells none, or tells another time for it, the inode alone counts.
 */
function identityOf(file: number): FileIdentity {
  const { ino, birthtimeNs } = fstatSync(file, { bigint: true });
  return {
    inode: String(ino),
    born: tellsBirth() && birthtimeNs > 0n ? String(birthtimeNs) : null,
  };
}

/** A system without `statx` gives the time of the last change of a file for that of its birth. */
function tellsBirth(): boolean {
  const { birthtimeNs, ctimeNs } = statSync(process.execPath, { bigint: true });
  return birthtimeNs !== ctimeNs;
}

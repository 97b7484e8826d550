/**
 * The SQLite file behind the store: one process, one connection, and a commit that has been acknowledged survives a
 * power cut (ADR 0001). Any storage error ends the process: what a disk said once is not asked again in place.
 */
import Database from "better-sqlite3";
import {
  accessSync,
  chmodSync,
  chownSync,
  closeSync,
  constants,
  existsSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { aboutMachine, ConfigurationError, StorageError, StoreInUse } from "../core/errors.ts";
import type { Fault } from "../core/record.ts";
import { capital } from "../core/text.ts";
import { together } from "../core/together.ts";
import { schemaSteps } from "./schema.ts";
import { addFunctions } from "./statements.ts";
import { thisUser } from "./user.ts";
import { hash, randomUUID } from "node:crypto";
import type { Sender } from "../core/notebook.ts";
import type { journal } from "./journal.ts";

const OLDEST_SQLITE = "3.51.3";
const FREE_BYTES_MIN = 256 * 1024 * 1024;
const PAGE_BYTES = 8_192;
/** At so many pages (36 MB) the log of commits is written into the file. A start after a kill reads all of it first. */
const WAL_PAGES = 4_000;
/** So many it is grown to at once. */
const GROWN_PAGES = 1_000;

/**
 * `steps`: of the schema, the first of which makes a new store.
 * @throws StoreInUse when another process holds the file. @throws StorageError when it cannot be trusted.
 */
export function openDatabase(
  path: string,
  steps: readonly string[] = schemaSteps,
): Database.Database {
  makeFolder(dirname(path));
  return guarded(path, () => {
    const existed = existsSync(path);
    if (!existed) makeFile(path);
    const database = new Database(path, { timeout: 2_000 });
    try {
      addFunctions(database);
      configure(database, path);
      migrate(database, path, steps, existed);
      onlyForOwner(path);
      return database;
    } catch (error) {
      database.close();
      throw error;
    }
  });
}

/** Works on a file that no other process has meanwhile, and closes it; no file is made beside it. */
export function alone<T>(
  path: string,
  options: Database.Options,
  work: (database: Database.Database) => T,
): T {
  const database = new Database(path, options);
  try {
    database.pragma("locking_mode = exclusive");
    return work(database);
  } finally {
    database.close();
  }
}

/** Runs `work`, turning what SQLite says about its storage into the errors that end the process. */
export function guarded<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw told(path, error);
  }
}

/** The error that ends the process, where it is the storage's; any other as it is. */
export function told(path: string, error: unknown): unknown {
  if (!(error instanceof Database.SqliteError)) return error;
  if (error.code.startsWith("SQLITE_BUSY"))
    return new StoreInUse(
      `The store ${path} is in use by another fuelbridge process.`,
      "Only one daemon may work on a store. Ask the running one (`fuelbridge status`), or stop it first.",
      error,
    );
  if (FATAL.test(error.code))
    return new StorageError(
      `The store ${path} cannot be written or read safely by user ${thisUser()}: ${error.message} (${error.code}).`,
      CHECK_DISK,
      error,
    );
  return error;
}

const CHECK_DISK =
  "Check free space, the owner and the rights of the files, and the disk, then start again: nothing that was confirmed is lost.";

const FATAL = /^SQLITE_(FULL|IOERR|CORRUPT|READONLY|NOTADB|CANTOPEN|PROTOCOL)/;

/**
 * Grows the log of commits, with zeros that SQLite takes for its end, to a quarter of the size at which it is written from its
 * start again: a commit that overwrites costs the disk half of one that makes the file longer. @throws StorageError
 */
export function growLog(path: string): void {
  const log = `${path}-wal`;
  onDisk(log, () => {
    const file = openSync(log, "r+");
    try {
      const { size } = fstatSync(file);
      const wanted = GROWN_PAGES * (PAGE_BYTES + 1_024);
      if (size < wanted) writeSync(file, Buffer.alloc(wanted - size), 0, wanted - size, size);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  });
}

/** @throws StorageError for what the file system refuses */
function onDisk<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new StorageError(
      `${path} cannot be written by user ${thisUser()}: ${(error as Error).message}.`,
      aboutMachine((error as { code?: unknown }).code) ?? CHECK_DISK,
      error,
    );
  }
}

/** @throws StorageError when the disk is so full that an outcome might not be recorded. */
export function assertSpace(path: string): void {
  const fault = onDisk(path, () => faultOfSpace(dirname(path)));
  if (fault !== null) throw new StorageError(`${capital(fault.message)}.`, fault.next);
}

/** Null: there is enough to send. Throws what the file system throws. */
function faultOfSpace(folder: string): Fault | null {
  const free = freeIn(folder);
  if (free >= FREE_BYTES_MIN) return null;
  return {
    code: "disk-full",
    message: `only ${Math.floor(free / 1024 / 1024)} MB are free where the store ${storeFile(folder)} is; 256 MB are needed to send safely`,
    next: "Free some space and start again; nothing was sent and nothing is lost.",
  };
}

/** Bytes that are free to us. Throws what the file system throws. */
export function freeIn(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/**
 * What is told before {@link assertSpace} ends the process, which nobody could be told any more: from twice the room on that it
 * asks for, until there is three times as much. `free`: bytes.
 */
export function spaceAhead(path: string, free = () => freeIn(dirname(path))) {
  let isLow = false;
  return (): (Fault<string> & { urgent: true })[] => {
    const now = free();
    isLow = now < (isLow ? 3 : 2) * FREE_BYTES_MIN;
    if (!isLow) return [];
    return [
      {
        code: "space",
        urgent: true,
        message: `only ${Math.floor(now / 1024 / 1024)} MB are free where the store ${path} is; below 256 MB the daemon sends nothing and ends`,
        next: "Free some space on that disk (`df`).",
      },
    ];
  };
}

/** An empty file, its owner's alone: what SQLite makes beside it has the same owner and rights. @throws StorageError */
function makeFile(path: string): void {
  onDisk(path, () => {
    closeSync(openSync(path, "a", 0o600));
    handOver(path);
  });
}

/** Of a file that belongs to another user who lets us write, that user decides. */
function onlyForOwner(path: string): void {
  const { uid } = statSync(path);
  if (uid === process.getuid?.()) chmodSync(path, 0o600);
}

function configure(database: Database.Database, path: string): void {
  // The order matters: the page size before anything is written, the exclusive lock before WAL, so that no
  // shared-memory file exists and no second process can open the store.
  database.pragma(`page_size = ${PAGE_BYTES}`);
  database.pragma("auto_vacuum = incremental");
  database.pragma("locking_mode = exclusive");
  database.pragma("journal_mode = wal");
  database.pragma("synchronous = full");
  database.pragma("foreign_keys = on");
  database.pragma("cache_size = -8000");
  database.pragma("temp_store = memory");
  database.pragma(`wal_autocheckpoint = ${WAL_PAGES}`);
  database.pragma("journal_size_limit = 67108864");
  database.pragma("trusted_schema = off");
  database.pragma("cell_size_check = on");
  database.exec("begin immediate; commit");
  // better-sqlite3 is compiled to lower `synchronous` in WAL mode at the first statement, so it is checked after one.
  database.pragma("synchronous = full");
  database.prepare("select count(*) from sqlite_schema").get();
  const version = database.prepare("select sqlite_version()").pluck().get() as string;
  if (database.pragma("synchronous", { simple: true }) !== 2 || olderThan(version, OLDEST_SQLITE))
    throw new StorageError(
      `The store ${path} cannot be opened durably (SQLite ${version}).`,
      `Reinstall fuelbridge's dependencies; SQLite ${OLDEST_SQLITE} or newer with synchronous=FULL is needed.`,
    );
}

/** Forward only, and never without a copy of what was there before. */
function migrate(
  database: Database.Database,
  path: string,
  steps: readonly string[],
  existed: boolean,
): void {
  const at = database.pragma("user_version", { simple: true }) as number;
  if (at > steps.length)
    throw new StorageError(
      `The store ${path} was written by a newer fuelbridge (schema ${at}, this one knows ${steps.length}).`,
      "Start the newer version, or restore the backup that it made before it changed the schema.",
    );
  const id = database.pragma("application_id", { simple: true }) as number;
  if (at > 0 && id !== madeBy(steps.slice(0, at)))
    throw new StorageError(
      `The store ${path} was made by a fuelbridge that was never released, whose schema is not this one's.`,
      "Go on with that build, or name a new state folder.",
    );
  if (at === steps.length) return;
  if (existed && at > 0) {
    const copy = `${path}.before-schema-${at + 1}`;
    // One is there only if the last attempt did not come to its end: it may be cut short.
    rmSync(copy, { force: true });
    database.prepare("vacuum into ?").run(copy);
  }
  database.transaction(() => {
    for (const sql of steps.slice(at)) database.exec(sql);
    database.pragma(`user_version = ${steps.length}`);
    database.pragma(`application_id = ${madeBy(steps)}`);
  })();
}

/** Names what these steps make, in the 31 bits that SQLite keeps with a file and its copies. Comments are no part of it. */
const madeBy = (steps: readonly string[]): number =>
  Number.parseInt(
    hash("sha256", steps.join("\n").replaceAll(/--.*|\s+/g, ""), "hex").slice(0, 8),
    16,
  ) >>> 1;

/** Both of as many parts, each below 1,000. To compare them as texts of a language takes 7 ms the first time. */
function olderThan(version: string, minimum: string): boolean {
  const [one, other] = [version, minimum].map((text) =>
    text.split(".").reduce((all, part) => all * 1_000 + Number(part), 0),
  );
  return (one ?? 0) < (other ?? 0);
}

/**
 * What is handed in during one turn of the event loop runs in one `commit`, in order. When one of them throws, none
 * has happened, and each runs in a commit of its own. Promises settle once everything is durable. A work may so run
 * twice, and must do nothing but change the store. A commit that fails by itself fails all of them: what a disk said
 * once is not asked again.
 */
export function grouped(commit: (work: () => void) => void): <T>(work: () => T) => Promise<T> {
  const run = together(Infinity, async (works: readonly (() => unknown)[]) => {
    const results: unknown[] = [];
    try {
      commit(() => {
        for (const work of works) results.push(work());
      });
      return results;
    } catch (error) {
      const isTheirs = results.length < works.length && !(error instanceof StorageError);
      if (!isTheirs || works.length === 1) throw error;
      return works.map(async (work) => {
        let result: unknown;
        commit(() => void (result = work()));
        return result;
      });
    }
  });
  return <T>(work: () => T) => run(work) as Promise<T>;
}

// The state folder and who may write in it: everything that a daemon writes lies there (ADR 0002).

/** The file of the store in the state folder. */
export const storeFile = (folder: string): string => join(folder, "fuelbridge.sqlite");

/** The folder in the state folder that a backup leaves out: what describes this machine's own files. */
const outsideBackups = (folder: string): string => join(folder, "no-backup");

/** How far sending had got ({@link highWater}). */
export const markFile = (folder: string): string => join(outsideBackups(folder), "high-water");

/**
 * Makes a folder for its owner only, and the folders above it. Made by root in somebody's folder, it is theirs: a
 * service whose administrator ran a command goes on.
 * @throws StorageError
 */
export function makeFolder(folder: string): void {
  try {
    if (existsSync(folder)) return;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    handOver(folder);
  } catch (error) {
    throw new StorageError(
      `The folder ${folder} cannot be created by user ${thisUser()}: ${(error as Error).message}.`,
      `Create it, owned by the user that runs fuelbridge, or let that user write in ${nearest(folder)}.`,
      error,
    );
  }
}

/** What root has made belongs to the owner of the folder that it is in. */
export function handOver(path: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(dirname(path));
  if (uid !== 0) chownSync(path, uid, gid);
}

/** Why the user of this process cannot keep a store in this folder; null when it can. It writes nothing. */
export function faultOfState(folder: string): Fault | null {
  const needed: [path: string, rights: number][] = existsSync(folder)
    ? [
        [folder, FOLDER],
        ...[storeFile(folder), `${storeFile(folder)}-wal`].map(inFile),
        ...(existsSync(outsideBackups(folder))
          ? [[outsideBackups(folder), FOLDER] as [string, number], inFile(markFile(folder))]
          : []),
      ]
    : [[nearest(folder), FOLDER]];
  for (const [path, rights] of needed) {
    try {
      if (existsSync(path) || path === folder) accessSync(path, rights);
    } catch (error) {
      const own = `Let the user that runs fuelbridge own ${path === nearest(folder) ? folder : path}, or run this command as that user.`;
      return {
        code: "state-not-writable",
        message: `user ${thisUser()} may not read and write ${path}: ${(error as Error).message}`,
        next: (error as NodeJS.ErrnoException).code === "EROFS" ? MOUNT : own,
      };
    }
  }
  return faultOfSpace(existsSync(folder) ? folder : nearest(folder));
}

const MOUNT =
  "That file system is mounted read only: mount it writable. Under systemd name the folder in ReadWritePaths=, in a container give it a volume of its own.";
const FOLDER = constants.R_OK | constants.W_OK | constants.X_OK;
const inFile = (path: string): [string, number] => [path, constants.R_OK | constants.W_OK];

/** The folder itself or what is there of the folders above it. */
function nearest(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : nearest(dirname(folder));
}

// Whose store this is, and whether it knows all that was sent.
//
// It belongs to one company, one platform, one environment. They enter every key and every link, so with another one
// everything would be written again; such a configuration is refused (ADR 0002).
//
// How far sending had got is in a file of its own: `no-backup/high-water` in the state folder. It is made durable before
// the first byte of a request leaves, while many leave every tenth of a second. A backup leaves it out. A store that is
// older than its mark was restored, and does not know what was sent since; so was one whose mark is a copy:
// the mark names its own file (ADR 0002). A store that has sent nothing has no mark, and needs none: what has sent
// is told by the requests, which keep when their bytes last left.

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
    const options = { timeout: 0, fileMustExist: true };
    return alone(storeFile(folder), options, (database) =>
      database.prepare<[], Bound>(BOUND).get(),
    );
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
      `${capital(what)} belongs to the company "${company}", but company is "${owner.company}" in this configuration.`,
      `The company is part of every idempotency key: under another one everything would be written again. Set company back to "${company}"; for another company, set state to a folder of its own.`,
    );
  if (environment !== null && environment !== owner.environment)
    throw new ConfigurationError(
      `${capital(what)} belongs to the ${environment} environment, but platform.environment is "${owner.environment}" in this configuration.`,
      `The two environments hold different documents. Set platform.environment back to ${environment}; for the other one, set state to a folder of its own.`,
    );
  const isKnown = [address, ...owner.formerUrls.map(addressOf)].includes(platform ?? address);
  if (!isKnown)
    throw new ConfigurationError(
      `${capital(what)} belongs to the platform at ${platform}, but platform.url is ${address} in this configuration.`,
      `What it knows as delivered is not on another platform. Set platform.url back. If the same platform has moved, say so: platform.formerUrls: ["${platform}"]. For another platform, set state to a folder of its own.`,
    );
}

/** Equal for addresses that lead to the same place: case of the host, default port, slashes at the end. */
function addressOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname.replace(/\/+$/, "");
}

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
  let saidUntil: string | null = null;
  const process = randomUUID();
  let isFirst = marked === null;
  let leavingMs: number | null = null;
  let writtenMs = -Infinity;

  function put(mark: Mark): void {
    if (file === null) makeFolder(dirname(path));
    try {
      file ??= openMark(path);
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
    sentUntil: (): string | null =>
      saidUntil ?? (marked === null || marked === "unreadable" || marked.copied ? null : marked.at),
    /** The mark once more, for where it is sent to: what sets back the mark with the store leaves that as it is. */
    sender: {
      store,
      says: (at) => JSON.stringify({ store, audit: head.get(), at: at.toISOString(), process }),
      whose(said) {
        const mark = parsed(said, {});
        if (mark === "unreadable" || mark.store !== store) return null;
        if (said.includes(process)) return "ours";
        const ahead = compared(mark, store, head.get() as number, lost);
        if (ahead === null) return "other";
        why ??= ahead;
        saidUntil = mark.at;
        return "ahead";
      },
    } satisfies Omit<Sender, "isRestored">,
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
  const file = openMark(path);
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
    return `it is older than what was sent until ${mark.at}: it was restored from a backup, or with its whole machine`;
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

function parsed(text: string, file: Partial<FileIdentity>): ReadMark | "unreadable" {
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

function openMark(path: string): number {
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

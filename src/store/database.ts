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
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  rmSync,
  statfsSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { StorageError, StoreInUse } from "../core/errors.ts";
import type { Fault } from "../core/record.ts";
import { schemaSteps } from "./schema.ts";
import { addFunctions } from "./statements.ts";
import { thisUser } from "./user.ts";

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
      CHECK_DISK,
      error,
    );
  }
}

/** @throws StorageError when the disk is so full that an outcome might not be recorded. */
export function assertSpace(path: string): void {
  const { bavail, bsize } = onDisk(path, () => statfsSync(dirname(path)));
  const free = bavail * bsize;
  if (free < FREE_BYTES_MIN)
    throw new StorageError(
      `Only ${Math.floor(free / 1024 / 1024)} MB are free where the store ${path} is; 256 MB are needed to send safely.`,
      "Free some space and start again; nothing was sent and nothing is lost.",
    );
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
  })();
}

function olderThan(version: string, minimum: string): boolean {
  return version.localeCompare(minimum, "en", { numeric: true }) < 0;
}

interface Waiting {
  run(): void;
  settle(): void;
  reject(error: unknown): void;
}

/**
 * What is handed in during one turn of the event loop runs in one `commit`, in order. When one of them throws, none
 * has happened, and each runs in a commit of its own. Promises settle once everything is durable. A work may so run
 * twice, and must do nothing but change the store. A commit that fails by itself fails all of them: what a disk said
 * once is not asked again.
 */
export function grouped(commit: (work: () => void) => void): <T>(work: () => T) => Promise<T> {
  let waiting: Waiting[] = [];

  function flush(): void {
    const works = waiting;
    waiting = [];
    let ran = 0;
    try {
      commit(() => {
        for (const work of works) {
          work.run();
          ran++;
        }
      });
    } catch (error) {
      const isTheirs = ran < works.length && !(error instanceof StorageError);
      if (isTheirs && works.length > 1) for (const work of works) alone(work);
      else for (const work of works) work.reject(error);
      return;
    }
    for (const work of works) work.settle();
  }

  function alone(work: Waiting): void {
    try {
      commit(() => work.run());
      work.settle();
    } catch (error) {
      work.reject(error);
    }
  }

  return <T>(work: () => T) =>
    new Promise<T>((resolve, reject) => {
      let result: T;
      if (waiting.length === 0) setImmediate(flush);
      waiting.push({
        run: () => {
          result = work();
        },
        settle: () => resolve(result),
        reject,
      });
    });
}

// The state folder and who may write in it: everything that a daemon writes lies there (ADR 0002).

/** The file of the store in the state folder. */
export const storeFile = (folder: string): string => join(folder, "fuelbridge.sqlite");

/** The folder in the state folder that a backup leaves out: what describes this machine's own files. */
const outsideBackups = (folder: string): string => join(folder, "no-backup");

/** How far sending had got (identity.ts). */
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
  return null;
}

const MOUNT =
  "That file system is mounted read only: mount it writable. Under systemd name the folder in ReadWritePaths=, in a container give it a volume of its own.";
const FOLDER = constants.R_OK | constants.W_OK | constants.X_OK;
const inFile = (path: string): [string, number] => [path, constants.R_OK | constants.W_OK];

/** The folder itself or what is there of the folders above it. */
function nearest(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : nearest(dirname(folder));
}

/**
 * A copy of the store that is made while it works, what proves such a copy, and a copy put in the store's place again
 * (ADR 0002). A copy is one file in SQLite's plain form, without a log beside it.
 */
import Database from "better-sqlite3";
import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { Spent } from "../core/budget.ts";
import { ConfigurationError, EnvironmentError, StorageError, StoreInUse } from "../core/errors.ts";
import {
  alone,
  BOUND,
  type Bound,
  handOver,
  makeFolder,
  markRestored,
  type Owner,
  refuseOther,
  storeFile,
} from "./database.ts";
import { appending, checkedChain, journal } from "./journal.ts";
import { schemaSteps } from "./schema.ts";
import { addFunctions, type BodyRow, damage, expectBody, wholeIn } from "./statements.ts";

/** What was copied. */
export type Copied = Awaited<ReturnType<typeof copyStore>>;

/** What a copy that was opened and examined holds. */
export type ExaminedCopy = ReturnType<typeof examined>;

const COUNTED = ["flow", "record", "delivery", "request", "link"] as const;

/** Copies so many pages in one turn of the event loop; between two turns the daemon works. */
const PAGES_AT_ONCE = 200;

/** The folder in the state folder that copies are made in. */
const copiesFolder = (folder: string): string => join(folder, "backups");

/**
 * Copies the open store into a new file in {@link copiesFolder}, a part in each turn of the event loop. What is written
 * meanwhile is in the copy, too. Whoever asked examines it ({@link examineCopy}).
 */
export async function copyStore(database: Database.Database, folder: string, atMs: number) {
  const file = join(copiesFolder(folder), `fuelbridge-${stamp(atMs)}.sqlite`);
  const head = database.prepare<[], number>("select coalesce(max(audit), 0) from audit").pluck();
  const auditBefore = head.get() as number;
  makeFolder(dirname(file));
  closeSync(openSync(file, "wx", 0o600));
  handOver(file);
  try {
    await database.backup(file, { progress: () => PAGES_AT_ONCE });
  } catch (error) {
    rmSync(file, { force: true });
    throw error;
  }
  // Its newest audit entry lies between the two.
  return { file, auditBefore, auditAfter: head.get() as number };
}

/**
 * Opens a copy, makes it one file without a log, and examines every page of it. `before`: words that come first in
 * messages, for example "The backup".
 * @throws StorageError when it is damaged, no store of fuelbridge, or one of a newer version
 */
export function examineCopy(file: string, before: string): ExaminedCopy {
  const fail = (why: string, cause?: unknown): StorageError =>
    new StorageError(
      `${before} ${file} cannot be used: ${why}.`,
      "Use another backup; look at `fuelbridge backup` and at the disk that this one is on.",
      cause,
    );
  try {
    return alone(file, { fileMustExist: true, timeout: 0 }, (database) => {
      addFunctions(database);
      database.pragma("journal_mode = delete");
      return examined(database, file, fail);
    });
  } catch (error) {
    if (error instanceof StorageError)
      throw error.message.startsWith(before) ? error : fail(error.message, error);
    if (!(error instanceof Database.SqliteError)) throw error;
    throw fail(`${error.message} (${error.code})`, error);
  }
}

function examined(database: Database.Database, file: string, fail: (why: string) => StorageError) {
  const schema = database.pragma("user_version", { simple: true }) as number;
  if (schema > schemaSteps.length)
    throw fail(`it was written by a newer fuelbridge (schema ${schema})`);
  const damage = database.pragma("integrity_check(3)") as { integrity_check: string }[];
  if (damage[0]?.integrity_check !== "ok")
    throw fail(`it is damaged: ${damage.map((row) => row.integrity_check).join("; ")}`);
  if ((database.pragma("foreign_key_check") as unknown[]).length > 0)
    throw fail("rows are missing in it that others refer to");
  // One of an earlier schema has no sums yet.
  if (schema === schemaSteps.length) for (const _ of examining(database));
  const one = (sql: string): unknown => database.prepare(sql).pluck().get();
  const bound = database.prepare<[], Bound>(BOUND).get();
  const untilMs = one("select at_ms from audit order by audit desc limit 1") as number | undefined;
  return {
    /** The store's own id. */
    store: one("select store from identity") as string,
    company: bound?.company ?? null,
    platform: bound?.platform ?? null,
    environment: bound?.environment ?? null,
    schema,
    /** Number and time (ISO 8601 UTC) of its newest audit entry; `until` null: it has none. */
    audit: one("select coalesce(max(audit), 0) from audit") as number,
    until: untilMs === undefined ? null : new Date(untilMs).toISOString(),
    counts: Object.fromEntries(
      COUNTED.map((table) => [table, one(`select count(*) from ${table}`)]),
    ) as Readonly<Record<(typeof COUNTED)[number], number>>,
    bytes: statSync(file).size,
  };
}

interface Restoring {
  /** The state folder. */
  readonly folder: string;
  /** The copy; it is only read. */
  readonly file: string;
  readonly owner: Owner;
  readonly by: string;
  readonly atMs: number;
}

/**
 * Puts a copy in the place of the store, which no process may hold. What was there is kept in a folder beside it. The
 * mark of how far sending had got is set first, so the next start stops with `restored` and looks before it sends, also
 * where nothing was sent since the copy, and on another machine.
 * @throws StorageError for a copy that cannot be used, ConfigurationError for another owner's, StoreInUse when a process
 * holds the store
 */
export function restoreStore(asked: Restoring) {
  const { folder, file, owner, by, atMs } = asked;
  if (!existsSync(file))
    throw new EnvironmentError(
      `There is no file ${file}.`,
      "Name a file that `fuelbridge backup` made.",
    );
  makeFolder(folder);
  const store = storeFile(folder);
  const coming = `${store}.restoring`;
  for (const end of ENDS) rmSync(coming + end, { force: true });
  copyFileSync(file, coming);
  // A store that was copied by other means may have its newest commits beside it.
  if (existsSync(`${file}-wal`)) copyFileSync(`${file}-wal`, `${coming}-wal`);
  try {
    const copy = examineCopy(coming, "The backup");
    const { company, platform, environment } = copy;
    refuseOther(`the backup ${file}`, { company, platform, environment }, owner);
    refuseHeld(store);
    const detail = `by ${by} from ${file}, which ends at ${copy.until}`;
    const audit = noteRestore(coming, { detail, by }, atMs);
    sync(coming);
    handOver(coming);
    markRestored(folder, { store: copy.store, audit: audit + AHEAD }, atMs);
    const aside = putAside(folder, atMs);
    renameSync(coming, store);
    sync(folder);
    // The folder that keeps what was there before; null: nothing was.
    return { copy, aside };
  } catch (error) {
    for (const end of ENDS) rmSync(coming + end, { force: true });
    if (error instanceof ConfigurationError) throw notOurs(file, error);
    throw error;
  }
}

/** The mark is ahead of the copy by so many audit entries, so that none that is written before the stop hides it. */
const AHEAD = 1_000;

const ENDS = ["", "-wal", "-shm", "-journal"];

const notOurs = (file: string, error: ConfigurationError): ConfigurationError =>
  new ConfigurationError(
    error.message,
    `Nothing was changed. ${file} is of another company, platform or environment: name a backup of this one, or its configuration with --config.`,
    error,
  );

/** A store that cannot be read is no obstacle: it may be why a copy is put back. @throws StoreInUse */
function refuseHeld(store: string): void {
  if (!existsSync(store)) return;
  try {
    alone(store, { timeout: 0, fileMustExist: true }, (database) =>
      database.exec("begin exclusive; commit"),
    );
  } catch (error) {
    if (error instanceof Database.SqliteError && error.code.startsWith("SQLITE_BUSY"))
      throw new StoreInUse(
        `The store ${store} is in use by another fuelbridge process, so nothing was changed.`,
        "Stop the daemon (`systemctl stop fuelbridge`), then restore.",
        error,
      );
    if (!(error instanceof Database.SqliteError)) throw error;
  }
}

/** Returns the number of the newest audit entry, which says so. */
const noteRestore = (
  file: string,
  { detail, by }: { readonly detail: string; readonly by: string },
  atMs: number,
): number =>
  alone(file, {}, (database) =>
    appending(database)(atMs, { event: "store restored", detail, person: { by, note: null } }),
  );

function putAside(folder: string, atMs: number): string | null {
  const store = storeFile(folder);
  const there = ENDS.filter((end) => existsSync(store + end));
  if (there.length === 0) return null;
  const aside = join(folder, `before-restore-${stamp(atMs)}`);
  mkdirSync(aside, { mode: 0o700 });
  handOver(aside);
  for (const end of there) renameSync(store + end, storeFile(aside) + end);
  sync(aside);
  return aside;
}

/** `20261122T190501123Z`: sorts by time, and is a name on every system. */
const stamp = (atMs: number): string => new Date(atMs).toISOString().replaceAll(/[-:.]/g, "");

/** Durable: a file's bytes, or a folder's names where the system can do that. */
export function sync(path: string): void {
  if (process.platform === "win32" && statSync(path).isDirectory()) return;
  const opened = openSync(path, "r");
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}

const STEP = 500;

/**
 * A delivery gets its sum when it is frozen or ends: until then all that it says is its record's, and to sum it at once would
 * be a tenth of what storing a record costs.
 */
const ODD = `(delivery.sum is null and (delivery.state in ('frozen', 'delivered', 'skipped', 'echo', 'resolved')
  or delivery.state in ('pending', 'quarantined') and not exists (select 1 from record r where r.record = delivery.record
    and r.flow = delivery.flow and r.revision is delivery.revision and r.version is delivery.version
    and r.origin is delivery.origin)))`;

/** Looks at every row and at the audit's chain, in steps. @throws StorageError that names the first one that is damaged */
export function* examining(database: Database.Database): Generator<void> {
  for (const table of ["record", "earlier_version", "delivery", "request"] as const) {
    const rows = database.prepare<[number, number], { row: number; isOdd?: 0 | 1 }>(
      `select ${table} as row, ${wholeIn(table)} as whole${table === "delivery" ? `, ${ODD} as isOdd` : ""}
       from ${table} where ${table} > ? order by ${table} limit ?`,
    );
    for (let page = rows.all(0, STEP); page.length > 0;) {
      const odd = page.find(({ isOdd }) => isOdd === 1);
      if (odd !== undefined)
        throw damage(`delivery ${odd.row} is damaged: its record says otherwise`);
      yield;
      page = rows.all(page.at(-1)?.row ?? 0, STEP);
    }
  }
  const bodies = database.prepare<[number, number], BodyRow>(
    `select request, body, body_sha256, body_gone_ms from request
     where request > ? order by request limit ?`,
  );
  for (let page = bodies.all(0, STEP); page.length > 0;) {
    for (const row of page) expectBody(row);
    yield;
    page = bodies.all(page.at(-1)?.request ?? 0, STEP);
  }
  const links = database.prepare<[string, string, number], { kind: string; id: string }>(
    `select kind, platform_id as id, ${wholeIn("link")} as whole from link
     where (kind, platform_id) > (?, ?) order by kind, platform_id limit ?`,
  );
  for (let page = links.all("", "", STEP); page.length > 0;) {
    yield;
    const last = page.at(-1);
    page = links.all(last?.kind ?? "", last?.id ?? "", STEP);
  }
  const { broken } = yield* checkedChain(database, null);
  if (broken !== null) throw damage(`entry ${broken.entry} of the audit is ${broken.how}`);
}

/**
 * The requests of a month (`2026-11`) as the store in this folder has counted them, looked at for a moment; null: another process
 * holds it, or it cannot be read.
 */
export function spentAway(folder: string, month: string): Spent | null {
  const file = storeFile(folder);
  if (!existsSync(file)) return {};
  try {
    const options = { timeout: 0, fileMustExist: true };
    return alone(file, options, (database) => journal(database).spent(month));
  } catch (error) {
    if (error instanceof Database.SqliteError) return null;
    throw error;
  }
}

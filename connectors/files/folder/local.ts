/** A drop in a folder of this machine, which may be a mounted share. */
import fs, { constants, type Stats } from "node:fs";
import { access, lstat, mkdir, opendir, rm, rmdir, stat, statfs } from "node:fs/promises";
import { userInfo } from "node:os";
import path, { basename, dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import {
  type Drop,
  type Entry,
  failure,
  isRightMissing,
  type OpenFile,
  type Right,
  type Rights,
  unless,
  type Wanted,
} from "./port.ts";
import { firstBytes } from "../../../src/formats/format.ts";

const { O_CREAT, O_RDONLY, O_RDWR, O_TRUNC } = constants;
/** Windows has no such flag: there, `look` is the guard. */
const O_NOFOLLOW = (constants.O_NOFOLLOW as number | undefined) ?? 0;

type Where = Parameters<OpenFile["read"]>;

/** What every document needs, by the numbers of open files: a FileHandle costs more than the file does. */
interface Calls {
  readonly open: (path: string, flags: number) => Promise<number>;
  readonly read: (file: number, ...where: Where) => Promise<{ bytesRead: number }>;
  readonly write: (file: number, ...where: Where) => Promise<{ bytesWritten: number }>;
  readonly close: (file: number) => Promise<void>;
  /** Of nothing there, nothing or ENOENT. */
  readonly lstat: (path: string) => Promise<Stats | undefined>;
  readonly rename: (from: string, to: string) => Promise<void>;
}

const inTurns: Calls = {
  open: promisify(fs.open),
  read: promisify(fs.read<Buffer>),
  write: promisify(fs.write<Buffer>),
  close: promisify(fs.close),
  lstat: promisify(fs.lstat),
  rename: promisify(fs.rename),
};

/** The same with calls that wait: by the event loop a document costs four times what the disk does for it. */
const waiting: Calls = {
  open: async (path, flags) => fs.openSync(path, flags),
  read: async (file, ...where) => ({ bytesRead: fs.readSync(file, ...where) }),
  write: async (file, ...where) => ({ bytesWritten: fs.writeSync(file, ...where) }),
  close: async (file) => fs.closeSync(file),
  lstat: async (path) => fs.lstatSync(path, { throwIfNoEntry: false }),
  rename: async (from, to) => fs.renameSync(from, to),
};

const fstat = promisify(fs.fstat);
/** Never waited for: files that are synced beside each other share what the disk does. */
const fsync = promisify(fs.fsync);

/** Of statfs(2): ext, XFS, Btrfs, overlayfs, tmpfs. A share is none of them: it may not answer for minutes. */
const OWN_DISKS: ReadonlySet<number> = new Set([
  0xef53, 0x58465342, 0x9123683e, 0x794c7630, 0x01021994,
]);
/** So long it is taken for granted, ms: somebody may mount a share there. */
const MOUNTED_MS = 1_000;
const FOLDERS_MAX = 100;
const looked = new Map<string, { readonly atMs: number; readonly calls: Promise<Calls> }>();

/** How what is in a folder is asked for. */
function callsIn(folder: string): Promise<Calls> {
  const known = looked.get(folder);
  if (known !== undefined && performance.now() - known.atMs < MOUNTED_MS) return known.calls;
  const calls = statfs(folder).then(
    ({ type }) => (OWN_DISKS.has(type) ? waiting : inTurns),
    () => inTurns,
  );
  if (looked.size >= FOLDERS_MAX) looked.clear();
  looked.set(folder, { atMs: performance.now(), calls });
  return calls;
}

/** The first bytes of an open file. */
const readFrom = ({ read }: Calls, file: number, length: number): Promise<Buffer> =>
  firstBytes({ read: (...where: Where) => read(file, ...where) }, length);

/** `base`: the connector's folder, absolute. */
export const localDrop = (base: string): Drop => ({
  where: base,
  isLocal: true,
  rights: localRights,
  path,
  at: (...parts) => resolve(base, ...parts),

  visit,

  look,

  async read(path, bytesMax = Infinity) {
    const entry = await look(path);
    if (entry === null || entry.kind !== "file" || entry.size > bytesMax)
      return entry && { entry, bytes: null };
    const calls = await callsIn(dirname(path));
    const file = await unless(calls.open(path, O_RDONLY | O_NOFOLLOW), "ENOENT", "ELOOP");
    if (file === null) return null;
    try {
      return { entry, bytes: await readFrom(calls, file, entry.size) };
    } finally {
      await calls.close(file);
    }
  },

  async open(path) {
    const { open, read, close } = inTurns;
    const file = await unless(open(path, O_RDONLY | O_NOFOLLOW), "ENOENT", "ELOOP");
    if (file === null) return null;
    let isOpen = true;
    return {
      entry: entryOf(basename(path), await fstat(file)),
      read: (buffer, offset, length, position) => read(file, buffer, offset, length, position),
      async close() {
        // Its number may be another file's by now.
        if (isOpen) {
          isOpen = false;
          await close(file);
        }
      },
    };
  },

  async write(path, bytes, over) {
    const calls = await callsIn(dirname(path));
    const creating = over === "any" ? O_CREAT : 0;
    const file = await calls.open(path, O_RDWR | O_TRUNC | O_NOFOLLOW | creating);
    try {
      for (let at = 0; at < bytes.length;)
        at += (await calls.write(file, bytes, at, bytes.length - at, at)).bytesWritten;
      await fsync(file);
      if (!(await readFrom(calls, file, bytes.length)).equals(bytes))
        throw failure("EIO", `${path} did not keep what was written`);
    } finally {
      await calls.close(file);
    }
  },

  async move(from, to) {
    const [calls, there] = await Promise.all([from, to].map((path) => callsIn(dirname(path))));
    await (calls === waiting ? there : calls)?.rename(from, to);
  },
  remove: (path) => rm(path, { force: true }),
  removeFolder: (path) => rmdir(path),
  makeFolder: async (path) => void (await mkdir(path, { recursive: true })),

  syncFolder: shared(syncFolder),

  async close() {},
});

/** Windows has no such call; NTFS journals names by itself. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const folder = await inTurns.open(path, O_RDONLY);
  try {
    await fsync(folder);
  } finally {
    await inTurns.close(folder);
  }
}

/** Calls that come while one of the same folder is under way share the next one, which begins after all of them. */
function shared(sync: (path: string) => Promise<void>): (path: string) => Promise<void> {
  const under = new Map<string, { now: Promise<void>; next: Promise<void> | null }>();
  const begin = (path: string): Promise<void> => {
    const now = sync(path).finally(() => {
      if (under.get(path)?.next === null) under.delete(path);
    });
    under.set(path, { now, next: null });
    return now;
  };
  return (path) => {
    const busy = under.get(path);
    if (busy === undefined) return begin(path);
    return (busy.next ??= busy.now.then(
      () => begin(path),
      () => begin(path),
    ));
  };
}

const AT_ONCE = 128;

async function visit(
  folder: string,
  see: (entry: Entry) => void,
  isWanted: (name: string) => boolean = () => true,
): Promise<void> {
  let names: string[] = [];
  const take = async (): Promise<void> => {
    const entries = await Promise.all(names.map((name) => look(join(folder, name))));
    for (const [at, found] of entries.entries()) {
      const entry = found ?? unnameable(names[at] as string);
      if (entry !== null) see(entry);
    }
    names = [];
  };
  for await (const { name } of await opendir(folder, { bufferSize: AT_ONCE })) {
    if (isWanted(name)) names.push(name);
    if (names.length === AT_ONCE) await take();
  }
  await take();
}

/** A name that is no UTF-8 reaches nothing as it is told; the file lies there all the same. Null: it has gone meanwhile. */
const unnameable = (name: string): Entry | null =>
  name.includes("\uFFFD") ? { name, kind: "other", size: 0, mtimeMs: 0 } : null;

async function look(path: string): Promise<Entry | null> {
  const { lstat } = await callsIn(dirname(path));
  const found = await unless(lstat(path), "ENOENT");
  return found ? entryOf(basename(path), found) : null;
}

function entryOf(name: string, stats: Stats): Entry {
  const kind = stats.isFile() ? "file" : stats.isDirectory() ? "folder" : "other";
  return { name, kind, size: stats.size, mtimeMs: stats.mtimeMs };
}

/* Which right a missing right is: what people must grant, on which file or folder, and to whom. */

/** Asked of this machine's file system, for the user that runs this process. */
export const localRights: Rights = {
  missing: missingRight,
  missingToMove,
  expectEntry: (folder) => access(folder, constants.X_OK),
  expectWritable,
  expectOwn,
  expectTogether,
};

/**
 * The first right that this process lacks, as a sentence that says what to do: x on the folders above a path, then
 * what is wanted of the path itself. Null: it has them all, as far as can be asked. Paths that are not there count as
 * usable.
 */
async function missingRight(wanted: readonly Wanted[]): Promise<string | null> {
  for (const { path, rights } of wanted) {
    for (const folder of foldersAbove(path))
      if ((await lacks(folder, "x")) !== null) return advice(folder, "x");
    for (const right of rights) {
      const code = await lacks(path, right);
      if (code !== null) return code === "EROFS" ? readOnly(path) : advice(path, right);
    }
  }
  return null;
}

/** The same for moving a file out of a folder, where the owner may matter too. */
async function missingToMove(
  folder: string,
  name: string,
  targets: readonly string[],
): Promise<string | null> {
  const writable = [folder, ...targets].map((path): Wanted => ({ path, rights: ["x", "w"] }));
  const missing = await missingRight(writable);
  if (missing !== null) return missing;
  const [inside, around] = await Promise.all([statOf(join(folder, name)), statOf(folder)]);
  const user = process.getuid?.();
  if (inside === null || around === null || user === undefined || user === 0) return null;
  if ((around.mode & STICKY) === 0 || inside.uid === user || around.uid === user) return null;
  return (
    `In the folder ${folder} only the owner of a file may move it (sticky bit), and ${name} belongs to user ` +
    `${inside.uid}. Remove the sticky bit (chmod -t), or make ${account()} the owner of the folder.`
  );
}

const STICKY = 0o1000;

async function expectWritable(folder: string): Promise<boolean> {
  let nearest = folder;
  let found = await unless(stat(nearest), "ENOENT");
  for (; found === null; found = await unless(stat(nearest), "ENOENT")) nearest = dirname(nearest);
  if (!found.isDirectory()) throw failure("ENOTDIR", `${nearest} is not a folder`);
  await access(nearest, constants.R_OK | constants.W_OK | constants.X_OK);
  return nearest === folder;
}

/** In a folder with the sticky bit only a file's owner may move it away. */
async function expectOwn(folder: string): Promise<void> {
  const { mode, uid } = await stat(folder);
  const me = process.getuid?.() ?? uid;
  if ((mode & STICKY) !== 0 && me !== 0 && me !== uid)
    throw failure("EPERM", `${folder} is sticky (mode t): files of others cannot be moved away`);
}

/** A file is moved by a rename, never copied. */
async function expectTogether(folder: string, other: string): Promise<void> {
  const [one, two] = [await stat(folder), await stat(other)];
  if (one.dev === two.dev) return;
  throw failure("EXDEV", `${folder} and ${other} are on different file systems`);
}

/** The code of the system's refusal; null: the right is there, or cannot be asked for. */
async function lacks(path: string, right: Right): Promise<string | null> {
  try {
    await access(path, MODES[right]);
    return null;
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    return isRightMissing(code) ? code : null;
  }
}

/** No right that people could grant. */
const readOnly = (path: string): string =>
  `The file system of ${path} is mounted read only: mount it writable. Under systemd name the folder in ReadWritePaths=, in a container give it a volume of its own.`;

const MODES = { r: constants.R_OK, w: constants.W_OK, x: constants.X_OK } as const;

async function advice(path: string, right: Right): Promise<string> {
  const found = await statOf(path);
  const what = found?.isDirectory() ? FOLDER[right] : FILE[right];
  const owner =
    found === null || process.platform === "win32"
      ? ""
      : ` It belongs to user ${found.uid} and group ${found.gid}, with mode ${octal(found.mode)}.`;
  return `Give ${account()} the right to ${what} ${path} (${right}).${owner}`;
}

const FOLDER = {
  r: "list the folder",
  w: "move files in the folder",
  x: "enter the folder",
} as const;
const FILE = { r: "read the file", w: "write the file", x: "run the file" } as const;

const octal = (mode: number): string => (mode & 0o7777).toString(8).padStart(4, "0");

/** Who runs fuelbridge; a container's user may have no name, and Windows has no numbers. */
function account(): string {
  const id = process.getuid?.();
  const names = [...nameOfUser(), ...(id === undefined ? [] : [`user ${id}`])];
  return `the account that runs fuelbridge (${names.join(", ")})`;
}

function nameOfUser(): string[] {
  try {
    return [userInfo().username];
  } catch {
    return [];
  }
}

const statOf = (path: string) => stat(path).catch(() => lstat(path).catch(() => null));

/** From the root down. */
function foldersAbove(path: string): string[] {
  const above = dirname(path);
  return above === path ? [] : [...foldersAbove(above), above];
}

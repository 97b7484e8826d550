/** A drop in a folder of this machine, which may be a mounted share. */
import { constants, type Stats } from "node:fs";
import { type FileHandle, lstat, mkdir, open, opendir, rename, rm, rmdir } from "node:fs/promises";
import path, { basename, join, resolve } from "node:path";
import type { Drop, Entry, OpenFile } from "./port.ts";
import { localRights } from "./rights.ts";

const { O_CREAT, O_RDONLY, O_TRUNC, O_WRONLY } = constants;
/** Windows has no such flag: there, `look` is the guard. */
const O_NOFOLLOW = (constants.O_NOFOLLOW as number | undefined) ?? 0;

/** `base`: the connector's folder, absolute. */
export const localDrop = (base: string): Drop => ({
  where: base,
  isLocal: true,
  rights: localRights,
  path,
  at: (...parts) => resolve(base, ...parts),

  async list(folder) {
    const entries: Entry[] = [];
    await visit(folder, (entry) => void entries.push(entry));
    return entries;
  },

  visit,

  look,

  async open(path) {
    const handle = await unless(open(path, O_RDONLY | O_NOFOLLOW), "ENOENT", "ELOOP");
    return handle === null ? null : opened(handle, basename(path));
  },

  async write(path, bytes, over) {
    const creating = over === "any" ? O_CREAT : 0;
    const file = await open(path, O_WRONLY | O_TRUNC | O_NOFOLLOW | creating);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
  },

  move: (from, to) => rename(from, to),
  remove: (path) => rm(path, { force: true }),
  removeFolder: (path) => rmdir(path),
  makeFolder: async (path) => void (await mkdir(path, { recursive: true })),

  /** Windows has no such call; NTFS journals names by itself. */
  async syncFolder(path) {
    if (process.platform === "win32") return;
    const folder = await open(path, "r");
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  },

  async close() {},
});

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
  const found = await unless(lstat(path), "ENOENT");
  return found === null ? null : entryOf(basename(path), found);
}

const opened = (handle: FileHandle, name: string): OpenFile => ({
  look: async () => entryOf(name, await handle.stat()),
  read: (buffer, offset, length, position) => handle.read(buffer, offset, length, position),
  close: () => handle.close(),
});

function entryOf(name: string, stats: Stats): Entry {
  const kind = stats.isFile() ? "file" : stats.isDirectory() ? "folder" : "other";
  return { name, kind, size: stats.size, mtimeMs: stats.mtimeMs };
}

/** Null when it fails with one of these codes. */
async function unless<Value>(work: Promise<Value>, ...codes: string[]): Promise<Value | null> {
  try {
    return await work;
  } catch (error) {
    if (codes.includes((error as NodeJS.ErrnoException).code ?? "")) return null;
    throw error;
  }
}

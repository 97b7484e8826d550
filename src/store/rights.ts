/** The state folder and who may write in it: everything that a daemon writes lies there (ADR 0002). */
import { accessSync, chownSync, constants, existsSync, mkdirSync, statSync } from "node:fs";
import { userInfo } from "node:os";
import { dirname, join } from "node:path";
import { StorageError } from "../core/errors.ts";
import type { Fault } from "../core/record.ts";

/** The file of the store in the state folder. */
export const storeFile = (folder: string): string => join(folder, "fuelbridge.sqlite");

/** The folder in the state folder that a backup leaves out: what describes this machine's own files. */
const outsideBackups = (folder: string): string => join(folder, "no-backup");

/** How far sending had got (identity.ts). */
export const markFile = (folder: string): string => join(outsideBackups(folder), "high-water");

/** The name of the user of this process; a container's user may have none. */
export function thisUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
}

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

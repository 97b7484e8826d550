/**
 * Puts the files of a new site on the disk. What the service must keep to itself (secrets, the store's folder) belongs
 * to its user; the rest it may read, and those who look after it may change.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { causeOf } from "../../config/problems.ts";
import { ConfigurationError, EnvironmentError } from "../../core/errors.ts";
import type { Made, Site } from "./site.ts";

export interface Owner {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

export interface Written {
  readonly path: string;
  readonly about: string;
  /** False: it was there, and was left as it was. */
  readonly written: boolean;
}

/** @throws ConfigurationError when there is no such user, or files cannot be given to it */
export function ownerOf(name: string | undefined): Owner | null {
  if (name === undefined) return null;
  const [uid, gid] = ["-u", "-g"].map((which) => {
    const { status, stdout } = spawnSync("id", [which, "--", name], { encoding: "utf8" });
    return status === 0 ? Number(stdout.trim()) : null;
  });
  if (uid === undefined || gid === undefined || uid === null || gid === null)
    throw new ConfigurationError(
      `--owner ${name}: this machine has no such user.`,
      "Create the service's user first, or leave --owner out: then the files belong to you.",
    );
  if (process.getuid?.() !== 0 && process.getuid?.() !== uid)
    throw new ConfigurationError(
      `--owner ${name}: only root can give files to another user.`,
      "Run it with sudo, or as that user and without --owner.",
    );
  return { name, uid, gid };
}

/** @throws EnvironmentError with the path, when something cannot be written */
export function writeSite(
  site: Site,
  { folder, state, owner }: { folder: string; state: string; owner: Owner | null },
): Written[] {
  try {
    createFolder(folder, 0o750, owner, "read");
    createFolder(join(folder, "crossref"), 0o750, owner, "read");
    createFolder(join(folder, "secrets"), 0o700, owner, "own");
    createFolder(state, 0o700, owner, "own");
    for (const path of site.folders) createFolder(path, 0o755, owner, "own");
    return site.files.map((made) => writeOne(made, resolve(folder, made.path), owner));
  } catch (error) {
    const { path = "A file" } = error as NodeJS.ErrnoException;
    throw new EnvironmentError(
      `${path} cannot be written (${causeOf(error)}).`,
      "Run it as a user who may write there (for a service with a user of its own: sudo, and --owner NAME). " +
        "What was written stays; run it again afterwards.",
      error,
    );
  }
}

type Right = "own" | "read";

/** Folders that are there stay as they are; those that are missing on the way are made alike, whatever the umask says. */
function createFolder(path: string, mode: number, owner: Owner | null, right: Right): void {
  const first = mkdirSync(path, { recursive: true });
  if (first === undefined) return;
  for (let at = path; ; at = dirname(at)) {
    chmodSync(at, mode);
    give(at, owner, right);
    if (at === first) return;
  }
}

function writeOne({ text, about, secret, kept }: Made, at: string, owner: Owner | null): Written {
  const there = existsSync(at);
  // The key may have been put there before, and named by its flag.
  if (there && (kept === true || (secret === true && readFileSync(at, "utf8") === text)))
    return { path: at, about, written: false };
  const mode = secret === true ? 0o600 : 0o640;
  writeFileSync(at, text, { mode });
  chmodSync(at, mode);
  give(at, owner, secret === true ? "own" : "read");
  return { path: at, about, written: true };
}

function give(path: string, owner: Owner | null, right: Right): void {
  if (owner === null) return;
  chownSync(path, right === "own" ? owner.uid : (process.getuid?.() ?? owner.uid), owner.gid);
}

/**
 * Where files are exchanged: a folder of this machine ({@link ./local.ts}) or of another one behind SFTP
 * ({@link ./sftp/drop.ts}). Everything else in this connector uses files through this interface only.
 *
 * Every method throws what failed: an Error with `code` as Node's file system has it (`ENOENT`, `EACCES`; trouble.ts
 * knows them), or SourceUnavailable where the place itself cannot be reached.
 */
import type { PlatformPath } from "node:path";
import { SourceUnavailable } from "../../../src/core/errors.ts";
import { type Answer, type Breaker, nothingDone, unknown } from "../../../src/core/outcome.ts";

export interface Drop {
  /** For people: `/srv/exchange`, `sftp://erp@files.example.com:22/exchange`. */
  readonly where: string;
  /** True: it costs nothing to use and is at hand when the endpoint opens. */
  readonly isLocal: boolean;
  readonly rights: Rights;
  /** How paths are put together there. */
  readonly path: Pick<
    PlatformPath,
    "basename" | "dirname" | "isAbsolute" | "join" | "relative" | "sep"
  >;
  /** A path from the connector's folder; where a part is absolute, it begins anew there. */
  at(...parts: readonly string[]): string;
  /**
   * What is in a folder, in no order and one by one, with no more than some hundred of them in memory; `isWanted`: only
   * those of these names are looked at.
   */
  visit(
    folder: string,
    see: (entry: Entry) => void,
    isWanted?: (name: string) => boolean,
  ): Promise<void>;
  /** What is under a name; a link is not followed. Null: nothing. */
  look(path: string): Promise<Entry | null>;
  /** A file to read from; null when nothing is there, or a link. */
  open(path: string): Promise<OpenFile | null>;
  /** Returns when the disk has the bytes, as far as it can be asked. A link is never written through. */
  write(path: string, bytes: Buffer, over: Over): Promise<void>;
  /** One rename on one file system: it takes place or it does not. The caller has seen that nothing is under `to`. */
  move(from: string, to: string): Promise<void>;
  /** Nothing there is no failure. */
  remove(path: string): Promise<void>;
  /** An empty one. */
  removeFolder(path: string): Promise<void>;
  /** With the folders above it; one that is there is no failure. */
  makeFolder(path: string): Promise<void>;
  /** Makes what was moved in a folder last. */
  syncFolder(path: string): Promise<void>;
  /** What was found out about the place when it was reached, for `doctor`. Left out: nothing. */
  describe?(): Promise<string>;
  close(): Promise<void>;
}

/** `any`: creates the file or empties the one that is there. `existing`: fails with ENOENT where none is. */
export type Over = "any" | "existing";

export interface Entry {
  readonly name: string;
  readonly kind: "file" | "folder" | "other";
  /** Bytes. */
  readonly size: number;
  /** ms UTC; SFTP tells whole seconds. */
  readonly mtimeMs: number;
}

export interface OpenFile {
  look(): Promise<Entry>;
  /** Reads into `buffer`; 0 bytes at the end. */
  read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ readonly bytesRead: number }>;
  /** Once more is no failure, and closes nothing. */
  close(): Promise<void>;
}

export type Right = "r" | "w" | "x";

export interface Wanted {
  readonly path: string;
  readonly rights: readonly Right[];
}

/** What our account may do, as far as it can be asked without doing it. SFTP can hardly be asked. */
export interface Rights {
  /** Advice for the first right that is missing; null: none is known to be. */
  missing(wanted: readonly Wanted[]): Promise<string | null>;
  /** The same for moving a file out of a folder. */
  missingToMove(folder: string, name: string, targets: readonly string[]): Promise<string | null>;
  /** @throws unless the folder is there and may be entered */
  expectEntry(folder: string): Promise<void>;
  /** True: it is there. False: it is not, and may be made. @throws when files may not be made in it */
  expectWritable(folder: string): Promise<boolean>;
  /** @throws where only its owner may move a file away, and that is not us */
  expectOwn(folder: string): Promise<void>;
  /** @throws where a file cannot be renamed from one to the other */
  expectTogether(one: string, other: string): Promise<void>;
}

/** An error as the file system would throw it. */
export const failure = (code: string, text: string, cause?: unknown): Error =>
  Object.assign(new Error(`${code}: ${text}`, { cause }), { code });

/** A folder that was looked at is not looked at again for so long, ms: here, and over a network. */
const LOOKED_AT_MS = 1_000;
const LOOKED_AT_REMOTE_MS = 10_000;
const LINKED = "ELINKED";

/**
 * The same drop, which refuses folders that are links as it refuses files that are: what a link leads to changes without
 * a word, and may be anybody's. The connector's own folder may be one, for a person named it, and so may what is above a
 * folder that lies elsewhere. What is refused is an Error with the code {@link LINKED}.
 */
export function withoutLinks(drop: Drop): Drop {
  const { path, rights } = drop;
  const base = drop.at();
  const looked = new Map<string, number>();
  const holdsMs = drop.isLocal ? LOOKED_AT_MS : LOOKED_AT_REMOTE_MS;

  /** The first part of it that is a link; null: there is none. */
  const linkIn = async (folder: string): Promise<string | null> => {
    for (const part of partsOf(drop, base, folder)) {
      const lookedAt = looked.get(part);
      if (lookedAt !== undefined && performance.now() - lookedAt < holdsMs) continue;
      // What cannot be looked at is told by whatever is done there.
      const found = await drop.look(part).catch(() => null);
      if (found === null) return null;
      if (found.kind === "other") return part;
      looked.set(part, performance.now());
    }
    return null;
  };
  const expectOwn = async (folder: string): Promise<void> => {
    const link = await linkIn(folder);
    if (link !== null) throw failure(LINKED, `${link} is a link, not a folder`);
  };
  const above = (file: string): Promise<void> => expectOwn(path.dirname(file));
  const missingLink = async (folders: readonly string[]): Promise<string | null> => {
    for (const folder of folders) {
      const link = await linkIn(folder);
      if (link !== null) return adviceOf(link);
    }
    return null;
  };

  return {
    where: drop.where,
    isLocal: drop.isLocal,
    path,
    rights: {
      missing: async (wanted) =>
        (await missingLink(wanted.map((one) => one.path))) ?? rights.missing(wanted),
      missingToMove: async (folder, name, targets) =>
        (await missingLink([folder, ...targets])) ?? rights.missingToMove(folder, name, targets),
      expectEntry: (folder) => expectOwn(folder).then(() => rights.expectEntry(folder)),
      expectWritable: (folder) => expectOwn(folder).then(() => rights.expectWritable(folder)),
      expectOwn: (folder) => expectOwn(folder).then(() => rights.expectOwn(folder)),
      expectTogether: async (one, other) => {
        await expectOwn(one);
        await expectOwn(other);
        await rights.expectTogether(one, other);
      },
    },
    at: (...parts) => drop.at(...parts),
    visit: (folder, ...how) => expectOwn(folder).then(() => drop.visit(folder, ...how)),
    look: (file) => drop.look(file),
    open: (file) => above(file).then(() => drop.open(file)),
    write: (file, ...how) => above(file).then(() => drop.write(file, ...how)),
    move: async (from, to) => {
      await above(from);
      await above(to);
      await drop.move(from, to);
    },
    remove: (file) => above(file).then(() => drop.remove(file)),
    removeFolder: (folder) => expectOwn(folder).then(() => drop.removeFolder(folder)),
    makeFolder: (folder) => expectOwn(folder).then(() => drop.makeFolder(folder)),
    syncFolder: (folder) => expectOwn(folder).then(() => drop.syncFolder(folder)),
    ...(drop.describe === undefined
      ? {}
      : { describe: () => drop.describe?.() ?? Promise.resolve("") }),
    close: () => drop.close(),
  };
}

/** What is done about a folder that is a link. */
const adviceOf = (link: string): string =>
  `${link} is a link: put a folder there, or name the folder that it leads to in the settings.`;

/** The folders from the connector's own down to this one, without that; of one that lies elsewhere, itself alone. */
function partsOf({ path }: Drop, base: string, folder: string): string[] {
  // A server tells the one from where it puts the user, and the other from its root.
  if (path.isAbsolute(folder) !== path.isAbsolute(base)) return [folder];
  const way = path.relative(base, folder);
  if (way === "") return [];
  if (way === ".." || way.startsWith(`..${path.sep}`) || path.isAbsolute(way)) return [folder];
  const parts = way.split(path.sep);
  return parts.map((_, at) => path.join(base, ...parts.slice(0, at + 1)));
}

/* What a failing file system says, and what that proves: the one place that knows error codes. */

interface Trouble {
  readonly code: string;
  readonly detail: string;
  readonly next: string;
}

/**
 * After these the operation may have taken place all the same: the disk or the file server did not say. `EFAILED`: an
 * SFTP server that gives no reason.
 */
const UNCERTAIN = new Set([
  "EIO",
  "ESTALE",
  "ETIMEDOUT",
  "ECONNRESET",
  "EHOSTDOWN",
  "EFAILED",
  "EPROTO",
]);

/** So long nothing is tried again where a disk did not say what it did. */
export const SPARED_MS = 60_000;

const ACCESS = "Give the account that runs fuelbridge the right to use it.";
const HELD =
  "Another program has the file open: it is tried again; close it there if that takes long.";
const SPACE = "Free space on that disk or raise the quota; files then go out by themselves.";
const BUSY_HERE = "This machine has too much open or too little memory: look what else runs on it.";
const NEXT: Readonly<Record<string, string>> = {
  EMFILE: BUSY_HERE,
  ENFILE: BUSY_HERE,
  ENOMEM: BUSY_HERE,
  EAGAIN: BUSY_HERE,
  EACCES: ACCESS,
  EPERM: ACCESS,
  EROFS: "Mount that file system writable.",
  EBUSY: HELD,
  ETXTBSY: HELD,
  ENOSPC: SPACE,
  EDQUOT: SPACE,
  EFBIG: SPACE,
  ENOENT: "Create the folder, or mount the share it is on, and restart.",
  ENOTDIR: "A file is in the way of a folder: move it aside.",
  EFAILED:
    "The server gives no reason: look at its log, at its free space and quota, and whether the name is taken.",
  ETIMEDOUT: "Look at the server and the network; raise sftp.timeoutMs if the server is that slow.",
  ECONNRESET: "Look at the server and the network; the connection is made anew by itself.",
  [LINKED]:
    "A link may lead anywhere, and elsewhere tomorrow: put a folder in its place, or name the folder that it leads to in the settings.",
  EXDEV: "Mount the share one level higher, so that the folder and its .staging folder are on it.",
};

/** @throws the error itself when it did not come from the drop: a programming error. */
export function troubleOf(error: unknown): Trouble {
  if (error instanceof SourceUnavailable)
    return { code: error.code, detail: error.message, next: error.next };
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string")
    throw error;
  const next = NEXT[error.code] ?? "Look at the disk and at the file server.";
  return { code: error.code, detail: error.message, next };
}

/** What is wrong with a folder or its disk: whatever is moved there next meets it as well. */
const OF_THE_FOLDER: ReadonlySet<string> = new Set(
  ["EACCES", "EPERM", "EROFS", "ENOSPC", "EDQUOT"].concat(["ENOENT", "ENOTDIR", "EXDEV", LINKED]),
);

/**
 * Of a failure of the move itself, or before it was asked for. What befalls every file stops the endpoint, so that it is
 * told with its cause and no document is charged with it. `missing`: the right that is, where one is and it is known.
 */
export function answerTo(error: unknown, wasAsked: boolean, missing: string | null = null): Answer {
  const { code, detail, next } = troubleOf(error);
  // The server was not reached: nothing was asked of it.
  if (error instanceof SourceUnavailable)
    return nothingDone(detail, {
      ...(error.stop === null ? {} : { stop: error.stop as Breaker, next: error.next }),
      ...(error.waitMs === null ? {} : { waitMs: error.waitMs }),
    });
  if (wasAsked && UNCERTAIN.has(code)) return unknown(detail, { holdMs: SPARED_MS });
  if (!(code in NEXT) && !UNCERTAIN.has(code)) return nothingDone(detail, { unlisted: true });
  if (!OF_THE_FOLDER.has(code)) return nothingDone(detail);
  return nothingDone(detail, { stop: "receiver", next: missing ?? next });
}

/** `missing`: the right that is, where one is and it is known. */
export function unavailable(
  error: unknown,
  what: string,
  missing: string | null = null,
): SourceUnavailable {
  if (error instanceof SourceUnavailable) return error;
  const { detail, next } = troubleOf(error);
  return new SourceUnavailable(`${what}: ${detail}`, { next: missing ?? next, cause: error });
}

/** A file cannot be read, or not be moved, for a right that is missing: others can, and people can grant it. */
export class Blocked extends Error {
  /** What a person should do. */
  readonly next: string;

  constructor(message: string, next: string, cause?: unknown) {
    super(message, { cause });
    this.name = "Blocked";
    this.next = next;
  }
}

/** Error codes that say so. */
export const isRightMissing = (code: string): boolean => MISSING.has(code);

const MISSING: ReadonlySet<string> = new Set(["EACCES", "EPERM", "EROFS"]);

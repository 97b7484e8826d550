/**
 * Where files are exchanged: a folder of this machine ({@link ./local.ts}) or of another one behind SFTP
 * ({@link ./sftp.ts}). Everything else in this connector uses files through this interface only.
 *
 * Every method throws what failed: an Error with `code` as Node's file system has it (`ENOENT`, `EACCES`;
 * `troubleOf` knows them), or SourceUnavailable where the place itself cannot be reached.
 */
import type { PlatformPath } from "node:path";
import { aboutMachine, SourceUnavailable } from "../../../src/core/errors.ts";
import { remembered } from "../../../src/core/remembered.ts";
import type { Bytes } from "../../../src/formats/format.ts";
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
  readonly at: (...parts: readonly string[]) => string;
  /**
   * What is in a folder, in no order and one by one, with no more than some hundred of them in memory; `isWanted`: only
   * those of these names are looked at.
   */
  readonly visit: (
    folder: string,
    see: (entry: Entry) => void,
    isWanted?: (name: string) => boolean,
  ) => Promise<void>;
  /** What is under a name; a link is not followed. Null: nothing. */
  readonly look: (path: string) => Promise<Entry | null>;
  /**
   * A whole file, as long as it was when it was looked at; null: nothing is there. `bytes`: null where it is no file, or
   * larger than `bytesMax`.
   */
  readonly read: (
    path: string,
    bytesMax?: number,
  ) => Promise<{ readonly entry: Entry; readonly bytes: Buffer | null } | null>;
  /** A file to read from; null when nothing is there, or a link. */
  readonly open: (path: string) => Promise<OpenFile | null>;
  /**
   * Returns when the disk has the bytes, as far as it can be asked; a local drop has read them back by then from the file that it
   * wrote, a remote one has not: there each look costs a wait. A link is never written through.
   */
  readonly write: (path: string, bytes: Buffer, over: Over) => Promise<void>;
  /** One rename on one file system: it takes place or it does not. The caller has seen that nothing is under `to`. */
  readonly move: (from: string, to: string) => Promise<void>;
  /** Nothing there is no failure. */
  readonly remove: (path: string) => Promise<void>;
  /** An empty one. */
  readonly removeFolder: (path: string) => Promise<void>;
  /** With the folders above it; one that is there is no failure. */
  readonly makeFolder: (path: string) => Promise<void>;
  /** Makes what was moved in a folder last. */
  readonly syncFolder: (path: string) => Promise<void>;
  /** What was found out about the place when it was reached, for `doctor`. Left out: nothing. */
  readonly describe?: () => Promise<string>;
  readonly close: () => Promise<void>;
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

export interface OpenFile extends Bytes {
  /** As it was when it was opened. */
  readonly entry: Entry;
  /** Once more is no failure, and closes nothing. */
  readonly close: () => Promise<void>;
}

export type Right = "r" | "w" | "x";

export interface Wanted {
  readonly path: string;
  readonly rights: readonly Right[];
}

/** What our account may do, as far as it can be asked without doing it. SFTP can hardly be asked. */
export interface Rights {
  /** Advice for the first right that is missing; null: none is known to be. */
  readonly missing: (wanted: readonly Wanted[]) => Promise<string | null>;
  /** The same for moving a file out of a folder. */
  readonly missingToMove: (
    folder: string,
    name: string,
    targets: readonly string[],
  ) => Promise<string | null>;
  /** @throws unless the folder is there and may be entered */
  readonly expectEntry: (folder: string) => Promise<void>;
  /** True: it is there. False: it is not, and may be made. @throws when files may not be made in it */
  readonly expectWritable: (folder: string) => Promise<boolean>;
  /** @throws where only its owner may move a file away, and that is not us */
  readonly expectOwn: (folder: string) => Promise<void>;
  /** @throws where a file cannot be renamed from one to the other */
  readonly expectTogether: (one: string, other: string) => Promise<void>;
}

/** An error as the file system would throw it. */
export const failure = (code: string, text: string, cause?: unknown): Error =>
  Object.assign(new Error(`${code}: ${text}`, { cause }), { code });

/** Null when it fails with one of these codes. */
export async function unless<Value>(
  work: Promise<Value>,
  ...codes: readonly string[]
): Promise<Value | null> {
  try {
    return await work;
  } catch (error) {
    if (codes.includes((error as NodeJS.ErrnoException | null)?.code ?? "")) return null;
    throw error;
  }
}

/** The code of an operation whose line was cut: nobody knows whether it was carried out. */
export const CUT = "ECONNRESET";

export const isCut = (error: unknown): boolean =>
  (error as { code?: unknown } | undefined)?.code === CUT;

const CUTS_MAX = 7;
/** Failures that nothing was done again for: they count as those of a line that is never whole. */
const givenUp = new WeakSet<Error>();

/**
 * What may be done twice is done once more at once where the line was cut under it, unless that happens again and again.
 * `again`: what is done then, where that is something else.
 */
export async function againAfterCut<Value>(
  work: () => Promise<Value>,
  again: () => Promise<Value> = work,
): Promise<Value> {
  for (let cuts = 0; ;)
    try {
      return await (cuts === 0 ? work() : again());
    } catch (error) {
      if (!(error instanceof Error) || !isCut(error) || givenUp.has(error)) throw error;
      if (++cuts > CUTS_MAX) {
        givenUp.add(error);
        throw error;
      }
    }
}

/** Waits for all of them, however they end. @throws what the first of them met, in their order */
export async function allOf<const Asked extends readonly Promise<unknown>[]>(
  asked: Asked,
): Promise<{ -readonly [At in keyof Asked]: Awaited<Asked[At]> }> {
  await Promise.allSettled(asked);
  for (const one of asked) await one;
  return Promise.all(asked);
}

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
  const looked = new Map<
    string,
    { readonly atMs: number; readonly found: Promise<Entry | null> }
  >();
  const holdsMs = drop.isLocal ? LOOKED_AT_MS : LOOKED_AT_REMOTE_MS;
  const partsIn = remembered((folder: string) => partsOf(drop, base, folder));

  /** What cannot be looked at is told by whatever is done there. */
  const entryAt = (part: string): Promise<Entry | null> => {
    const before = looked.get(part);
    if (before !== undefined && performance.now() - before.atMs < holdsMs) return before.found;
    const found = drop.look(part).catch(() => null);
    looked.set(part, { atMs: performance.now(), found });
    void found.then((entry) => entry?.kind !== "folder" && looked.delete(part));
    return found;
  };
  /** The first part of it that is a link; null: there is none. */
  const linkIn = async (folder: string): Promise<string | null> => {
    const parts = partsIn(folder);
    const found = await Promise.all(parts.map(entryAt));
    const end = found.findIndex((entry) => entry === null || entry.kind === "other");
    return found[end]?.kind === "other" ? (parts[end] as string) : null;
  };
  const expectOwn = async (folder: string): Promise<void> => {
    const link = await linkIn(folder);
    if (link !== null) throw failure(LINKED, `${link} is a link, not a folder`);
  };
  const missingLink = async (folders: readonly string[]): Promise<string | null> => {
    const link = (await Promise.all(folders.map(linkIn))).find((one) => one !== null);
    return link === undefined ? null : adviceOf(link);
  };
  /** The same call, once the folder that `of` tells of its path is known to be no link. */
  const guarded =
    <Rest extends unknown[], Value>(
      call: (path: string, ...rest: Rest) => Promise<Value>,
      of: (path: string) => string = (path) => path,
    ) =>
    async (file: string, ...rest: Rest): Promise<Value> => {
      await expectOwn(of(file));
      return call(file, ...rest);
    };

  return {
    ...drop,
    rights: {
      missing: async (wanted) =>
        (await missingLink(wanted.map((one) => one.path))) ?? rights.missing(wanted),
      missingToMove: async (folder, name, targets) =>
        (await missingLink([folder, ...targets])) ?? rights.missingToMove(folder, name, targets),
      expectEntry: guarded(rights.expectEntry),
      expectWritable: guarded(rights.expectWritable),
      expectOwn: guarded(rights.expectOwn),
      expectTogether: guarded(async (one, other) => {
        await expectOwn(other);
        await rights.expectTogether(one, other);
      }),
    },
    visit: guarded(drop.visit),
    read: guarded(drop.read, path.dirname),
    open: guarded(drop.open, path.dirname),
    write: guarded(drop.write, path.dirname),
    move: guarded(async (from, to) => {
      await expectOwn(path.dirname(to));
      await drop.move(from, to);
    }, path.dirname),
    remove: guarded(drop.remove, path.dirname),
    removeFolder: guarded(drop.removeFolder),
    makeFolder: guarded(drop.makeFolder),
    syncFolder: guarded(drop.syncFolder),
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

/** The code of a move that a server says has failed, where the file is known to lie where it lay. */
export const UNMOVED = "EUNMOVED";

/** So long nothing is tried again where a disk did not say what it did. */
export const SPARED_MS = 60_000;

const ACCESS = "Give the account that runs fuelbridge the right to use it.";
const HELD =
  "Another program has the file open: it is tried again; close it there if that takes long.";
const NEXT: Readonly<Record<string, string>> = {
  EACCES: ACCESS,
  EPERM: ACCESS,
  EBUSY: HELD,
  ETXTBSY: HELD,
  ENOENT: "Create the folder, or mount the share that it is on: it goes on by itself then.",
  ENOTDIR: "A file is in the way of a folder: move it aside.",
  ENOTSUP: "The file server cannot do that: have it set up so that it can, or use another one.",
  EFAILED:
    "The server gives no reason: look at its log, at its free space and quota, and whether the name is taken.",
  [UNMOVED]:
    "The server gives no reason: look at its log, and whether the user may rename there and both folders are on one file system.",
  ETIMEDOUT: "Look at the server and the network; raise sftp.timeoutMs if the server is that slow.",
  ECONNRESET: "Look at the server and the network; the connection is made anew by itself.",
  [LINKED]:
    "A link may lead anywhere, and elsewhere tomorrow: put a folder in its place, or name the folder that it leads to in the settings.",
  EXDEV: "Mount the share one level higher, so that the folder and its .staging folder are on it.",
};

const adviceOn = (code: string): string | undefined => NEXT[code] ?? aboutMachine(code);

/** @throws the error itself when it did not come from the drop: a programming error. */
export function troubleOf(error: unknown) {
  if (error instanceof SourceUnavailable)
    return { code: error.code, detail: error.message, next: error.next };
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string")
    throw error;
  const own = "next" in error && typeof error.next === "string" ? error.next : null;
  const next = own ?? adviceOn(error.code) ?? "Look at the disk and at the file server.";
  return { code: error.code, detail: error.message, next };
}

/** What is wrong with a folder or its disk: whatever is moved there next meets it as well. */
const OF_THE_FOLDER: ReadonlySet<string> = new Set(
  ["EACCES", "EPERM", "EROFS", "ENOSPC", "EDQUOT"].concat([
    "ENOENT",
    "ENOTDIR",
    "ENOTSUP",
    "EXDEV",
    LINKED,
    UNMOVED,
  ]),
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
  if (adviceOn(code) === undefined && !UNCERTAIN.has(code))
    return nothingDone(detail, { unlisted: true });
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

/** What fails in the work makes it {@link unavailable}. `missing`: asked for the right that is. @throws SourceUnavailable */
export async function orUnavailable<Value>(
  work: Promise<Value>,
  what: string,
  missing: () => Promise<string | null> = async () => null,
): Promise<Value> {
  try {
    return await work;
  } catch (error) {
    throw unavailable(error, what, await missing());
  }
}

/** A file cannot be read, or not be moved, for a right that is missing: others can, and people can grant it. */
export class Blocked extends Error {
  /** What a person should do. */
  readonly next: string;
  /** Its name. */
  readonly file: string;

  constructor(
    message: string,
    { file, next, cause }: Pick<Blocked, "file" | "next"> & { readonly cause: unknown },
  ) {
    super(message, { cause });
    this.name = "Blocked";
    this.file = file;
    this.next = next;
  }
}

/** Error codes that say so. */
export const isRightMissing = (code: string): boolean => MISSING.has(code);

const MISSING: ReadonlySet<string> = new Set(["EACCES", "EPERM", "EROFS"]);

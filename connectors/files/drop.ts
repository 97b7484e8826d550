/**
 * Where files are exchanged: a folder of this machine ({@link ./local.ts}) or of another one behind SFTP
 * ({@link ./sftp/drop.ts}). Everything else in this connector uses files through this interface only.
 *
 * Every method throws what failed: an Error with `code` as Node's file system has it (`ENOENT`, `EACCES`; trouble.ts
 * knows them), or SourceUnavailable where the place itself cannot be reached.
 */
import type { PlatformPath } from "node:path";
import type { Surroundings } from "../../src/core/contract.ts";
import type { Kept } from "./kept.ts";

export interface Drop {
  /** For people: `/srv/exchange`, `sftp://erp@files.example.com:22/exchange`. */
  readonly where: string;
  /** True: it costs nothing to use and is at hand when the endpoint opens. */
  readonly isLocal: boolean;
  readonly rights: Rights;
  /** How paths are put together there. */
  readonly path: Pick<PlatformPath, "basename" | "dirname" | "join">;
  /** A path from the connector's folder; where a part is absolute, it begins anew there. */
  at(...parts: readonly string[]): string;
  /** What is in a folder, in no order. */
  list(folder: string): Promise<Entry[]>;
  /**
   * The same one by one, with no more than some hundred of them in memory; `isWanted`: only those of these names are looked
   * at.
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

/** What text is read from: a file of a drop, or one that a person named. */
export type Bytes = Pick<OpenFile, "read">;

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

/** The surroundings of an endpoint of this connector, with the place that its files lie in. */
export interface Site extends Surroundings {
  readonly drop: Drop;
  /** Shared by what reads and what tells of it. Left out: nothing is remembered. */
  readonly kept?: Kept;
}

/** An error as the file system would throw it. */
export const failure = (code: string, text: string, cause?: unknown): Error =>
  Object.assign(new Error(`${code}: ${text}`, { cause }), { code });

/**
 * What a file is made of. Tables as profiles have them are one format (`sets.ts`, `write.ts`), others are folders beside
 * this file (`idoc/`). A format turns the bytes of a file into neutral records, and neutral documents into the text of a
 * file: it needs no mappings of its own. Folders, order, delivery and archives are the same for all of them.
 */
import type { Change, Frozen, Item, Outgoing, Sink } from "../../src/core/contract.ts";
import type { Encoding } from "./bytes.ts";

/** Reads files of one kind whole. */
export interface RecordReader {
  /** What its records are (`books.parties`): the mappings that read this take them. */
  readonly form: string;
  /** As `Layout.restates`: files say how things are, so the same file may rightly come again after another one. */
  readonly restates: boolean;
  /** Larger files are refused, for they are read whole. */
  readonly bytesMax: number;
  /**
   * The records of one file, each with its place in it (`origin`); one that cannot be read carries a fault, and the rest
   * goes on. `file`: its name, for people. @throws FileFault when nothing of the file can be trusted
   */
  read(bytes: Uint8Array, file: string): RecordsRead;
}

export interface RecordsRead {
  readonly changes: readonly Change[];
  /** What a person should be told of this file. */
  readonly notices: readonly string[];
}

/** Writes documents of one kind. Everything is pure: the same items give the same name and the same text. */
export interface DocumentWriter extends Pick<
  Sink,
  "operation" | "writes" | "itemsMax" | "concerns" | "inspect"
> {
  /** What its documents are (`books.orders`): the mappings that write this make them. */
  readonly form: string;
  readonly encoding: Encoding;
  /** The file's name: letters, digits, `.`, `_` and `-`. */
  nameOf(items: readonly Item[]): string;
  /** The text of the file. @throws Refused when a value has no place in it */
  textOf(items: readonly Item[]): string;
  /** What the receiver calls each document of a file: what links are kept by. Left out: the file's path. */
  idsOf?(request: Frozen & Pick<Outgoing, "items">): readonly string[];
}

/**
 * What a file is made of. Tables as profiles have them are one format (`sets.ts`, `write.ts`), others are folders beside
 * this file (`idoc/`). A format turns the bytes of a file into neutral records, and neutral documents into the text of a
 * file: it needs no mappings of its own. Folders, order, delivery and archives are the same for all of them.
 */
import type {
  Acknowledged,
  Arrival,
  Change,
  Frozen,
  Item,
  Obstacle,
  Outgoing,
  Page,
  Sink,
} from "../core/contract.ts";
import type { Encoding } from "./bytes.ts";
import type { Totals } from "./manifest.ts";

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

export interface RecordsRead
  extends Pick<Page, "acknowledgements" | "replies">, Pick<Arrival, "numbers"> {
  readonly changes: readonly Change[];
  /** How many there are of what a manifest counts: IDocs, transaction sets. */
  readonly documents: number;
  /** What a person should be told of this file. */
  readonly notices: readonly string[];
  /** Why it is not read now: it stays where it is, and nothing else counts. Left out: it is read. */
  readonly left?: Pick<Obstacle, "fault" | "awaited">;
}

/** Writes documents of one kind. Everything is pure: the same items give the same name and the same text. */
export interface DocumentWriter extends Pick<
  Sink,
  "operation" | "writes" | "itemsMax" | "concerns" | "inspect" | "sequence"
> {
  /** What its documents are (`books.orders`): the mappings that write this make them. */
  readonly form: string;
  readonly encoding: Encoding;
  /** As {@link Sink.acknowledged}; where they are read from is said by the sink's settings. */
  readonly acknowledged?: Omit<Acknowledged, "source">;
  /** The file's name: letters, digits, `.`, `_` and `-`. `number`: of {@link Sink.sequence}. */
  nameOf(items: readonly Item[], number?: number): string;
  /** The text of the file. `number`: as above. @throws Refused when a value has no place in it */
  textOf(items: readonly Item[], number?: number): string;
  /** What a manifest says of the text besides; left out: nothing. @throws FileFault for a text that is none of its own */
  totalsOf?(name: string, body: string): Promise<Totals>;
  /** What the receiver calls each document of a file: what links are kept by. Left out: the file's path. */
  idsOf?(request: Frozen & Pick<Outgoing, "items">): readonly string[];
}

/**
 * What a file is made of: its bytes, the text that they are, and the formats that it may have. Tables as profiles have them are
 * one format (`table/`), others are `idoc/` and `x12/`. A format turns the bytes of a file into neutral records, and neutral
 * documents into the text of a file: it knows no folders and needs no mappings of its own.
 */
import { createHash } from "node:crypto";
import { TextDecoder } from "node:util";
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
import { Decimal } from "../core/decimal.ts";
import { Refused } from "../core/errors.ts";
import type { Fault } from "../core/record.ts";
import { stringifyExact } from "../core/json.ts";
import { amountText } from "../core/text.ts";

/** Reads files of one kind whole. */
export interface RecordReader {
  /** What its records are (`books.parties`): the mappings that read this take them. */
  readonly form: string;
  /** As `Layout.restates`: files say how things are, so the same file may rightly come again after another one. */
  readonly restates: boolean;
  /** What its files are called: `X12`. */
  readonly reads: string;
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

/** Where a record stands in a file, and what can be said of one that is refused. */
export interface RecordPlace {
  /** What it is known by; null: that cannot be read. */
  readonly id: string | null;
  readonly origin: string;
  /** What was read of it, for people. */
  readonly raw: unknown;
}

/** What `read` makes of a part of a file; what it refuses is a change with the fault, and leaves the others alone. */
export function orRefused<T>(place: RecordPlace, read: () => T): T | Change {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return refusedIn(place, error.fault);
  }
}

/** A record as a change. */
export const changeIn = (
  place: RecordPlace,
  read: () => readonly [id: string, record: object],
): Change =>
  orRefused(place, () => {
    const [id, record] = read();
    return { id, version: null, text: stringifyExact(record), origin: place.origin };
  });

const ID_MAX = 200;

const refusedIn = ({ id, origin, raw }: RecordPlace, fault: Fault): Change => ({
  id: id === null || id.length > ID_MAX ? origin : id,
  version: null,
  text: stringifyExact({ raw, code: fault.code, message: fault.message }),
  origin,
  fault,
});

/** Writes documents of one kind. Everything is pure: the same items give the same name and the same text. */
export interface DocumentWriter extends Pick<
  Sink,
  "operation" | "writes" | "itemsMax" | "concerns" | "skips" | "inspect" | "sequence"
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

/**
 * One format of files, as a folder asks for it: what its records and documents are, told without opening anything, and what
 * reads bytes and writes texts. `Read`: how it reads, whole or piece by piece.
 */
export interface Format<Source, Document, Site, Read> {
  reads(source: Source): string;
  writes(sink: Document): string;
  /** @throws InvalidProfile */
  read(source: Source, site: Site): Read;
  /** @throws InvalidProfile */
  write(sink: Document, site: Site): DocumentWriter;
}

/** Amounts that whoever reads them adds up, and that come to something else than is said. */
export const doesNotAddUp = (message: string, field = "total"): Refused =>
  new Refused({
    code: "does-not-add-up",
    message,
    next: "Ask whoever issued it to correct it on the platform; the corrected version is delivered by itself.",
    field,
  });

/** Whoever reads amounts rounds each to cents, and adds them up. `off`: what is said of another sum. @throws Refused */
export function expectCents(
  amounts: readonly Decimal[],
  total: Decimal,
  off: (sum: Decimal) => string,
): void {
  const cents = amounts.find((amount) => !amount.round(2).equals(amount));
  if (cents !== undefined) throw doesNotAddUp(`the amount ${amountText(cents)} is not in cents`);
  const sum = Decimal.sum(amounts);
  if (!sum.equals(total)) throw doesNotAddUp(off(sum));
}

const NAME_MAX = 100;

/** `customer-invoices_INV-1…`: characters that are safe on every file system and in every shell. `rest`: what tells it from others. */
export const fileName = (document: string, number: string, rest: string): string =>
  `${document}_${number.replace(/[^A-Za-z0-9.-]+/g, "-")}`.slice(0, NAME_MAX - rest.length) + rest;

/**
 * What a receiver gets of a document: without the fields that its format does not have (`not`: their names, by blanks, in the
 * document and in its lists), and of instants (`…Date`) the day.
 */
export function sentOf(
  document: object,
  not: string,
  dayOf: (instant: string) => string,
): Record<string, unknown> {
  const left = new Set(not.split(/\s+/));
  const sent = Object.entries(document as Readonly<Record<string, unknown>>)
    .filter(([name]) => !left.has(name))
    .map(([name, value]) => {
      if (Array.isArray(value))
        return [name, value.map((one: object) => sentOf(one, not, dayOf))] as const;
      return [
        name,
        name.endsWith("Date") && typeof value === "string" ? dayOf(value) : value,
      ] as const;
    });
  return Object.fromEntries(sent);
}

/** What a manifest says of a table besides. */
export interface Totals {
  readonly rows: number;
  /** By the label of a column. */
  readonly sums: Readonly<Record<string, string>>;
}

/** The file cannot be read as the table it should be. Nothing of it is delivered. */
export class FileFault extends Error {
  readonly line: number;
  readonly column: string;

  constructor(message: string, line = 1, column = "") {
    super(message);
    this.name = "FileFault";
    this.line = line;
    this.column = column;
  }
}

/** A fault of a file by its name: what can be read of it is nothing. */
export class PartFault extends Error {
  readonly file: string;
  readonly fault: FileFault;

  constructor(file: string, fault: FileFault) {
    super(`${file} line ${fault.line}: the file ${fault.message}`);
    this.name = "PartFault";
    this.file = file;
    this.fault = fault;
  }
}

/** What is done with a file of this name. @throws PartFault for a FileFault */
export async function within<T>(file: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof FileFault ? new PartFault(file, error) : error;
  }
}

/** How a file of something else begins, in Latin-1 and without blanks before it, and what it is called then. */
const BEGINNINGS: readonly (readonly [begins: RegExp | readonly string[], name: string])[] = [
  [["%PDF-"], "a PDF document"],
  [["PK\u0003\u0004"], "a ZIP archive, or a workbook (.xlsx)"],
  [["\u001f\u008b", "7z\u00bc\u00af", "Rar!"], "a packed file (.gz, .7z, .rar)"],
  [
    ["\u00d0\u00cf\u0011\u00e0"],
    "an old Office file (.xls, .doc): a workbook is to be saved as .xlsx",
  ],
  [/^ISA[^A-Za-z0-9]/, "X12"],
  [["UNA", "UNB+"], "EDIFACT"],
  [["EDI_DC"], "a flat IDoc (SAP's port type File)"],
  [["<"], "XML or a web page"],
  [/^(?:\{\s*"|\[\s*[[{])/, "JSON"],
];
const BEGINNING_BYTES = 100;

/** What bytes are by their beginning, for people; null: text like any other. */
const calledBy = (beginning: Buffer): string | null => {
  const text = beginning.toString("latin1").replace("\u00ef\u00bb\u00bf", "").trimStart();
  const found = BEGINNINGS.find(([begins]) =>
    begins instanceof RegExp ? begins.test(text) : begins.some((one) => text.startsWith(one)),
  );
  return found?.[1] ?? null;
};

/**
 * Reads files as what `reads` calls them. A fault of one that looks like something else says so first: what does not fit
 * in a PDF document tells nobody that it is one. @throws PartFault and whatever `work` throws
 */
export async function readAs<T>(
  reads: string,
  files: Iterable<{ readonly name: string; readonly survey: Survey }>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof PartFault)) throw error;
    const called = [...files].find(({ name }) => name === error.file)?.survey.called ?? null;
    if (called === null || called.includes(reads)) throw error;
    const { message, line, column } = error.fault;
    const said = `looks like ${called}; ${reads} is read here, and it ${message}`;
    throw new PartFault(error.file, new FileFault(said, line, column));
  }
}

/** What bytes are read from: an open file. 0 bytes: it ends. */
export interface Bytes {
  read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ readonly bytesRead: number }>;
}

/*
 * The bytes of a file, piece by piece, and the text that they are. A file is read twice: first its hash and its encoding, which
 * depend on every byte; then its text, whose bytes must have the same hash.
 */

export type Encoding = "auto" | "utf-8" | "windows-1252" | "latin1";

/**
 * `hash`: SHA-256 of the bytes, hex; `encoding`: how they are to be read; `fallback`: `auto` found nothing but Windows-1252, which
 * fits every byte, so a person should confirm it; `called`: what they look like, null: text; `fault`: why they cannot be
 * read, null: they can.
 */
export type Survey = Awaited<ReturnType<typeof survey>>;

/** The file was written to between its two readings. Nothing of it was delivered. */
export class ChangedMeanwhile extends Error {}

/** What is asked for at first, and after: a server takes as long to answer for less, and most files are small. */
const READ_BYTES = { first: 64 * 1024, later: 512 * 1024 };
/** Small enough that what is made of a piece is garbage before it counts as old: memory stays low. */
const PIECE_BYTES = 16 * 1024;

/**
 * `auto`: what the byte order mark says, else UTF-8 if the bytes are nothing but valid UTF-8, else Windows-1252. A
 * character that is cut in half at the very end is part of a row that is cut too, and no reason to refuse all.
 */
export async function survey(file: Bytes, encoding: Encoding) {
  const hash = createHash("sha256");
  let charset: string | null = null;
  let isMarked = false;
  let isUnmarked = false;
  let decoder: TextDecoder | null = null;
  let isValid = true;
  let called: string | null = null;
  for await (const piece of piecesOf(file)) {
    hash.update(piece);
    if (charset === null) {
      called = calledBy(piece.subarray(0, BEGINNING_BYTES));
      const mark = MARKS.find(({ start }) => start.every((byte, at) => piece[at] === byte));
      isMarked = mark !== undefined;
      isUnmarked = piece.length > 1 && (piece[0] === 0) !== (piece[1] === 0);
      charset = SINGLE_BYTE.has(encoding) ? encoding : (mark?.name ?? "utf-8");
      decoder = charset === "latin1" ? null : decoderOf(charset);
    }
    isValid &&= decoder === null || decoded(decoder, piece) !== null;
  }
  const found = charset ?? "utf-8";
  const told = { hash: hash.digest("hex"), called };
  // Whatever it is read as, nobody would recognize it in what is said of its columns.
  const said = "is UTF-16 without a byte order mark: have it written with one, or as UTF-8";
  if (isUnmarked) return { ...told, encoding: found, fallback: false, fault: new FileFault(said) };
  if (isValid) return { ...told, encoding: found, fallback: false, fault: null };
  if (encoding === "auto" && !isMarked)
    return { ...told, encoding: "windows-1252", fallback: true, fault: null };
  const fault = new FileFault(`is not valid ${found.toUpperCase()}`);
  return { ...told, encoding: found, fallback: false, fault };
}

/**
 * The bytes of a text. One with a character that is foreign to the encoding ({@link foreignTo}) was frozen before the
 * encoding was set: it is UTF-8 then, for no character may be lost.
 */
export function bytesOf(text: string, encoding: Encoding): Buffer {
  if (!SINGLE_BYTE.has(encoding) || foreignTo(text, encoding) !== null) return Buffer.from(text);
  if (encoding === "latin1") return Buffer.from(text, "latin1");
  return Buffer.from(Array.from(text, (character) => codes().get(character) ?? 0));
}

/** The first character that an encoding does not have; null: it has all of them. */
export function foreignTo(text: string, encoding: Encoding): string | null {
  if (!SINGLE_BYTE.has(encoding)) return null;
  for (const character of text)
    if (encoding === "latin1" ? character > "\u00ff" : !codes().has(character)) return character;
  return null;
}

let known: ReadonlyMap<string, number> | null = null;

/** The characters of Windows-1252, as the decoder reads them. */
function codes(): ReadonlyMap<string, number> {
  const decoder = new TextDecoder("windows-1252");
  known ??= new Map(
    Array.from({ length: 256 }, (_, byte) => [decoder.decode(Buffer.of(byte)), byte]),
  );
  return known;
}

const MARKS = [
  { name: "utf-8", start: [0xef, 0xbb, 0xbf] },
  { name: "utf-16le", start: [0xff, 0xfe] },
  { name: "utf-16be", start: [0xfe, 0xff] },
] as const;

const SINGLE_BYTE: ReadonlySet<string> = new Set<Encoding>(["windows-1252", "latin1"]);

const decoderOf = (charset: string): TextDecoder => new TextDecoder(charset, { fatal: true });

/** A piece of what a decoder reads, left out: its end. Null: the bytes are not what it reads, or end within a character. */
function decoded(decoder: TextDecoder, piece?: Uint8Array): string | null {
  try {
    return decoder.decode(piece, { stream: piece !== undefined });
  } catch {
    return null;
  }
}

/** Bytes that are whole as the text that they are in a charset; null: they are none. */
export function textAs(charset: string, bytes: Uint8Array): string | null {
  const decoder = decoderOf(charset);
  const text = decoded(decoder, bytes);
  return decoded(decoder) === null ? null : text;
}

/**
 * The text of a file that was surveyed. `read` takes how many bytes were read so far.
 * @throws ChangedMeanwhile after the last piece, when the bytes are not those that were surveyed
 */
export async function* textOf(
  file: Bytes,
  { hash: expected, encoding }: Survey,
  read: (bytes: number) => void,
): AsyncGenerator<string> {
  const hash = createHash("sha256");
  const decoder = encoding === "latin1" ? null : decoderOf(encoding);
  let bytes = 0;
  for await (const piece of piecesOf(file)) {
    hash.update(piece);
    const text = decoder === null ? piece.toString("latin1") : decoded(decoder, piece);
    // It was valid when it was surveyed.
    if (text === null) throw new ChangedMeanwhile();
    yield text;
    bytes += piece.length;
    read(bytes);
  }
  if (hash.digest("hex") !== expected) throw new ChangedMeanwhile();
  // What ends within a character begins a row that is cut, and must not look like nothing.
  if (decoder !== null && decoded(decoder) === null) yield "\ufffd";
}

/** From its beginning. A piece holds until the next one is asked for. */
async function* piecesOf(file: Bytes): AsyncGenerator<Buffer> {
  let buffer = Buffer.allocUnsafe(READ_BYTES.first);
  for (let position = 0; ;) {
    let length = 0;
    // A file server may give less than it is asked for.
    for (let more = -1; more !== 0 && length < buffer.length; length += more)
      more = (await file.read(buffer, length, buffer.length - length, position + length)).bytesRead;
    if (length === 0) return;
    for (let at = 0; at < length; at += PIECE_BYTES)
      yield buffer.subarray(at, Math.min(at + PIECE_BYTES, length));
    if (length === READ_BYTES.first) buffer = Buffer.allocUnsafe(READ_BYTES.later);
    position += length;
  }
}

/** The bytes of a file from its beginning: as many as there are, up to a limit. */
export async function firstBytes(file: Bytes, limit: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for (let length = 0, more = -1; more !== 0 && length < limit; length += more) {
    const piece = Buffer.alloc(Math.min(READ_BYTES.later, limit - length));
    more = (await file.read(piece, 0, piece.length, length)).bytesRead;
    pieces.push(piece.subarray(0, more));
  }
  return Buffer.concat(pieces);
}

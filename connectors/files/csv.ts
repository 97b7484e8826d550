/**
 * Bytes into rows. A file that stops in the middle of a row is normal (a full disk, a broken line): its whole rows
 * are rows, and the rest is reported, never delivered.
 */
import { parse } from "csv-parse/sync";

export type Encoding = "auto" | "utf-8" | "windows-1252" | "latin1";
export type Delimiter = "," | ";" | "\t" | "|";

export interface Row {
  /** The line of the file it begins in, the header being line 1. */
  readonly line: number;
  readonly cells: readonly string[];
}

/** Where a file stops in the middle of a row. */
export interface Cut {
  readonly line: number;
  /** As the end of a sentence: `ends inside a quoted field`. */
  readonly reason: string;
  /** The cells of the partial row that are certainly whole. */
  readonly cells: readonly string[];
}

export interface Sheet {
  readonly header: readonly string[];
  readonly rows: readonly Row[];
  readonly cut: Cut | null;
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

const DELIMITERS: readonly Delimiter[] = [",", ";", "\t", "|"];
const ROW_MAX = 1_000_000;

/**
 * The text of a file. `auto`: what its byte order mark says, else UTF-8 if it is nothing but valid UTF-8, else
 * Windows-1252, which is `fallback`: it fits every byte, so a person should confirm it.
 * @throws FileFault when it is not in the configured encoding.
 */
export function decode(bytes: Buffer, encoding: Encoding): { text: string; fallback: boolean } {
  if (encoding === "latin1") return { text: bytes.toString("latin1"), fallback: false };
  if (encoding === "windows-1252") return { text: decodeAs(encoding, bytes), fallback: false };
  const mark = MARKS.find(({ start }) => start.every((byte, at) => bytes[at] === byte));
  const name = mark?.name ?? "utf-8";
  try {
    return { text: decodeAs(name, bytes), fallback: false };
  } catch {
    if (encoding === "auto" && mark === undefined)
      return { text: decodeAs("windows-1252", bytes), fallback: true };
    throw new FileFault(`is not valid ${name.toUpperCase()}`);
  }
}

const MARKS = [
  { name: "utf-8", start: [0xef, 0xbb, 0xbf] },
  { name: "utf-16le", start: [0xff, 0xfe] },
] as const;

/** `stream`: a character cut in half at the very end is part of a row that is cut too, not a reason to refuse all. */
function decodeAs(encoding: string, bytes: Buffer): string {
  return new TextDecoder(encoding, { fatal: true }).decode(bytes, { stream: true });
}

/** The candidate that stands most often in the header line outside quotes. */
export function sniffDelimiter(text: string): Delimiter {
  const header = (/^[^\r\n]*/.exec(text)?.[0] ?? "").replaceAll(/"[^"]*"/g, "");
  const counts = DELIMITERS.map((delimiter) => header.split(delimiter).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ",";
}

/** @throws FileFault when quotes are not as RFC 4180 has them, or there is no whole header. */
export function readSheet(text: string, delimiter: Delimiter): Sheet {
  const { end, lines, open } = scan(text);
  const rest = text.slice(end);
  const [header, ...records] = parseRows(text.slice(0, end), delimiter);
  if (header === undefined) throw new FileFault("has no whole header line");
  const rows = records.map((cells, at) => ({ line: lines[at + 1] ?? 0, cells }));
  const last = rows.at(-1);
  const atRest = lines[records.length + 1] ?? 0;
  if (rest.trim() !== "")
    return { header, rows, cut: { line: atRest, ...partial(rest, open, delimiter) } };
  if (last !== undefined && last.cells.length < header.length) {
    const reason = `has ${last.cells.length} of ${header.length} cells in its last row`;
    return { header, rows: rows.slice(0, -1), cut: { line: last.line, reason, cells: [] } };
  }
  return { header, rows, cut: null };
}

/**
 * Where the last whole row ends, in which line each row begins (the partial one last), and whether a quote is open at
 * the end. Quotes toggle: exact for RFC 4180, and the parser refuses everything else.
 */
function scan(text: string): { end: number; lines: number[]; open: boolean } {
  const lines: number[] = [];
  let open = false;
  let line = 1;
  let end = 0;
  let begin = 1;
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character === QUOTE) open = !open;
    if (character !== LINE_FEED) continue;
    line++;
    if (open) continue;
    const empty = at === end || (at === end + 1 && text.charCodeAt(end) === CARRIAGE_RETURN);
    if (!empty) lines.push(begin);
    end = at + 1;
    begin = line;
  }
  return { end, lines: [...lines, begin], open };
}

const QUOTE = 0x22;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

function parseRows(text: string, delimiter: Delimiter): string[][] {
  try {
    return parse(text, {
      delimiter,
      record_delimiter: ["\r\n", "\n"],
      relax_column_count: true,
      skip_empty_lines: true,
      max_record_size: ROW_MAX,
    });
  } catch (cause) {
    const line = (cause as { lines?: number }).lines ?? 1;
    throw new FileFault("has a quote where none may be, or a row without end", line);
  }
}

function partial(rest: string, open: boolean, delimiter: Delimiter): Omit<Cut, "line"> {
  const reason = open ? "ends inside a quoted field" : "ends without a line end";
  try {
    const [cells = []] = parseRows(open ? `${rest}"` : rest, delimiter);
    return { reason, cells: cells.slice(0, -1) };
  } catch {
    return { reason, cells: [] };
  }
}

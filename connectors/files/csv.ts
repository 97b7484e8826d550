/**
 * Bytes into rows. A file that stops in the middle of a row is normal (a full disk, a broken line): its whole rows
 * are rows, and the rest is reported, never delivered.
 */
import { parse } from "csv-parse/sync";

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

/** The candidate that stands most often in the header line outside quotes. */
function sniffDelimiter(text: string): Delimiter {
  const header = (/^[^\r\n]*/.exec(text)?.[0] ?? "").replaceAll(/"[^"]*"/g, "");
  const counts = DELIMITERS.map((delimiter) => header.split(delimiter).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ",";
}

/**
 * A table that is read once, from its header to its end, with no more of it in memory than a piece and a row. Its
 * members are as of the batches that were taken.
 */
export class Sheet {
  readonly header: readonly string[];
  readonly #batches: AsyncGenerator<readonly Row[], Cut | null>;
  /** The rows that came with the header. */
  #first: readonly Row[];
  #cut: Cut | null = null;
  #rows = 0;

  private constructor(
    header: readonly string[],
    first: readonly Row[],
    batches: AsyncGenerator<readonly Row[], Cut | null>,
  ) {
    this.header = header;
    this.#first = first;
    this.#batches = batches;
  }

  /** Reads as far as the first row. @throws FileFault as {@link Sheet.rows}, or when there is no whole header */
  static async open(pieces: AsyncIterable<string>, delimiter: Delimiter | "auto"): Promise<Sheet> {
    const batches = batchesOf(pieces, delimiter);
    for (;;) {
      const next = await batches.next();
      if (next.done) throw new FileFault("has no whole header line");
      const [header, ...first] = next.value;
      if (header !== undefined) return new Sheet(header.cells, first, batches);
    }
  }

  /** Where the table stops in the middle of a row, once all rows were read; null: it does not. */
  get cut(): Cut | null {
    return this.#cut;
  }

  /** How many whole rows were read. */
  get wholeRows(): number {
    return this.#rows;
  }

  /**
   * All rows, in batches. The last one is held back until it is known to be whole: with fewer cells than the header at
   * the very end, it is a cut. @throws FileFault when quotes are not as RFC 4180 has them
   */
  async *rows(): AsyncGenerator<readonly Row[]> {
    let held: readonly Row[] = [];
    let batch: readonly Row[] = this.#first;
    this.#first = [];
    for (;;) {
      const rows = [...held, ...batch];
      held = rows.slice(-1);
      if (rows.length > 1) yield this.#counted(rows.slice(0, -1));
      const next = await this.#batches.next();
      if (next.done) {
        this.#cut = next.value;
        break;
      }
      batch = next.value;
    }
    const [last] = held;
    if (last === undefined) return;
    if (this.#cut === null && last.cells.length < this.header.length) {
      const reason = `has ${last.cells.length} of ${this.header.length} cells in its last row`;
      this.#cut = { line: last.line, reason, cells: [] };
    } else yield this.#counted(held);
  }

  #counted(rows: readonly Row[]): readonly Row[] {
    this.#rows += rows.length;
    return rows;
  }
}

/** The rows of each piece that end in it, the header being the first row; then where the text stops within a row. */
async function* batchesOf(
  pieces: AsyncIterable<string>,
  wanted: Delimiter | "auto",
): AsyncGenerator<readonly Row[], Cut | null> {
  let delimiter: Delimiter | null = wanted === "auto" ? null : wanted;
  let rest = "";
  /** The line that `rest` begins in. */
  let line = 1;
  /** A row without an end that is longer than any row may be: its text is not kept. */
  let endless: { open: boolean } | null = null;
  for await (const piece of pieces) {
    const text = rest + piece;
    delimiter ??= sniffDelimiter(text);
    if (endless !== null) {
      endless = stillEndless(piece, endless.open, line);
      continue;
    }
    const { end, lines, open } = scan(text, line);
    if (end > 0) {
      const rows = parseRows(text.slice(0, end), delimiter, line);
      yield rows.map((cells, at) => ({ line: lines[at] ?? line, cells }));
      line = lines.at(-1) ?? line;
    }
    rest = text.slice(end);
    if (rest.length > ROW_MAX) endless = { open };
    if (endless !== null) rest = "";
  }
  if (endless !== null) return { line, reason: reasonOf(endless.open), cells: [] };
  if (rest.trim() === "") return null;
  return { line, ...partial(rest, scan(rest, line).open, delimiter ?? ",") };
}

/** @throws FileFault when the row ends after all: then it is no row */
function stillEndless(piece: string, wasOpen: boolean, line: number): { open: boolean } {
  let open = wasOpen;
  for (let at = 0; at < piece.length; at++) {
    const character = piece.charCodeAt(at);
    if (character === QUOTE) open = !open;
    else if (character === LINE_FEED && !open) throw new FileFault(NO_ROW, line);
  }
  return { open };
}

/**
 * Where the last whole row ends, in which line each row begins (the partial one last), and whether a quote is open at
 * the end. Quotes toggle: exact for RFC 4180, and the parser refuses everything else.
 */
function scan(text: string, from: number): { end: number; lines: number[]; open: boolean } {
  const lines: number[] = [];
  let open = false;
  let line = from;
  let end = 0;
  let begin = from;
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

const NO_ROW = "has a quote where none may be, or a row without end";

/** `from`: the line that the text begins in. */
function parseRows(text: string, delimiter: Delimiter, from: number): string[][] {
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
    throw new FileFault(NO_ROW, from + line - 1);
  }
}

function partial(rest: string, open: boolean, delimiter: Delimiter): Omit<Cut, "line"> {
  const reason = reasonOf(open);
  try {
    const [cells = []] = parseRows(open ? `${rest}"` : rest, delimiter, 1);
    return { reason, cells: cells.slice(0, -1) };
  } catch {
    return { reason, cells: [] };
  }
}

const reasonOf = (open: boolean): string =>
  open ? "ends inside a quoted field" : "ends without a line end";

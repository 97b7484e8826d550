/**
 * Bytes into rows. A file that stops in the middle of a row is normal (a full disk, a broken line): its whole rows
 * are rows, and the rest is reported, never delivered.
 */
import { type Delimiter, type Row, sniffed, tokenise, type Tokens } from "./tokens.ts";

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

const ROW_MAX = 1_000_000;

/** How the text of a table is cut into rows and cells. */
export interface TextForm {
  /** Null: a row is one cell, its whole line. */
  readonly delimiter: Delimiter | "auto" | null;
  /** Quotes are as RFC 4180 has them; false: they are characters like others. Left out: true. */
  readonly quotes?: boolean;
  /** The line of the file that the header stands in; what is above it is no part of the table. 0: there is none. */
  readonly header?: number;
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
  static async open(
    pieces: AsyncIterable<string>,
    form: Delimiter | "auto" | TextForm,
  ): Promise<Sheet> {
    const given = typeof form === "string" ? { delimiter: form } : form;
    return Sheet.of(batchesOf(pieces, given), given.header ?? 1);
  }

  /** Of rows in batches; `header`: the line that has the labels, 0: none has. @throws FileFault */
  static async of(
    batches: AsyncGenerator<readonly Row[], Cut | null>,
    header: number,
  ): Promise<Sheet> {
    if (header === 0) return new Sheet([], [], batches);
    for (;;) {
      const next = await batches.next();
      if (next.done) throw new FileFault("has no whole header line", header);
      const [first, ...rows] = next.value.filter(({ line }) => line >= header);
      if (first !== undefined) return new Sheet(first.cells, rows, batches);
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

/** The rows of each piece that end in it; then where the text stops within a row. */
async function* batchesOf(
  pieces: AsyncIterable<string>,
  { delimiter: wanted, quotes = true, header = 1 }: TextForm,
): AsyncGenerator<readonly Row[], Cut | null> {
  let tokens: Tokens | null =
    wanted === "auto" ? null : { delimiter: wanted, quotes, longest: ROW_MAX };
  let rest = "";
  /** The line that `rest` begins in. */
  let line = 1;
  /** A row without an end that is longer than any row may be: its text is not kept. */
  let endless: { open: boolean } | null = null;
  for await (const piece of pieces) {
    if (endless !== null) {
      endless = stillEndless(piece, endless.open, quotes, line);
      continue;
    }
    const text = rest + piece;
    tokens ??= { delimiter: sniffed(text, header), quotes, longest: ROW_MAX };
    const { rows, end, line: reached, open, fault } = tokenise(text, tokens, line);
    if (fault !== null) throw new FileFault(NO_ROW, fault);
    if (rows.length > 0) yield rows;
    line = reached;
    rest = text.slice(end);
    if (rest.length > ROW_MAX) {
      endless = { open };
      rest = "";
    }
  }
  if (endless !== null) return { line, reason: reasonOf(endless.open), cells: [] };
  if (rest.trim() === "") return null;
  return { line, ...partial(rest, tokens ?? { delimiter: ",", quotes, longest: ROW_MAX }) };
}

/** @throws FileFault when the row ends after all: then it is no row */
function stillEndless(
  piece: string,
  wasOpen: boolean,
  quotes: boolean,
  line: number,
): { open: boolean } {
  let open = wasOpen;
  let from = 0;
  for (;;) {
    const quote = quotes ? piece.indexOf('"', from) : -1;
    const feed = open ? -1 : piece.indexOf("\n", from);
    if (feed >= 0 && (quote < 0 || feed < quote)) throw new FileFault(NO_ROW, line);
    if (quote < 0) return { open };
    open = !open;
    from = quote + 1;
  }
}

const NO_ROW = "has a quote where none may be, or a row without end";

function partial(rest: string, tokens: Tokens): Omit<Cut, "line"> {
  const { open } = tokenise(rest, tokens, 1);
  const whole = tokenise(`${rest}${open ? '"' : ""}\n`, tokens, 1);
  const cells = whole.fault === null ? (whole.rows[0]?.cells ?? []) : [];
  return { reason: reasonOf(open), cells: cells.slice(0, -1) };
}

const reasonOf = (open: boolean): string =>
  open ? "ends inside a quoted field" : "ends without a line end";

/** Text into rows of cells, as RFC 4180 has them: strict, in one pass, and as fast as splitting where nothing is quoted. */
import { FileFault } from "../format.ts";
import type { ProfileFile } from "./settings.ts";

type Delimiter = "," | ";" | "\t" | "|" | "^" | "~";

export interface Row {
  /** The line of the file it begins in, the header being line 1. */
  readonly line: number;
  readonly cells: readonly string[];
}

interface Tokens {
  readonly delimiter: Delimiter | null;
  readonly quotes: boolean;
  /** Blanks may stand around quotes. */
  readonly trim: boolean;
  /** `="000417"` is `000417`. */
  readonly isOfTexts: boolean;
  /** No row is longer, in UTF-16 units. */
  readonly longest: number;
}

/**
 * The rows that end in a text; empty lines are none. `from`: the line that the text begins in. `end`: where the row begins that
 * does not end in it; `line`: the line of the file that this row begins in; `open`: the text ends inside of quotes; `fault`: the
 * line of a quote that stands where none may be, or of a row that is too long, null: there is none.
 */
function tokenise(text: string, tokens: Tokens, from: number) {
  const rows: Row[] = [];
  const { delimiter, quotes, longest } = tokens;
  let at = 0;
  let line = from;
  let quote = quotes ? text.indexOf('"') : -1;
  for (;;) {
    const feed = text.indexOf("\n", at);
    if (quote >= 0 && quote < at) quote = text.indexOf('"', at);
    if (quote < 0 || (feed >= 0 && feed < quote)) {
      if (feed < 0) return { rows, end: at, line, open: false, fault: null };
      if (feed - at > longest) return { rows, end: at, line, open: false, fault: line };
      const content = text.charCodeAt(feed - 1) === RETURN && feed > at ? feed - 1 : feed;
      if (content > at) {
        const whole = text.slice(at, content);
        rows.push({ line, cells: delimiter === null ? [whole] : whole.split(delimiter) });
      }
      at = feed + 1;
      line++;
      continue;
    }
    const row = quotedRow(text, at, tokens);
    if (row === "stray" || (row !== "open" && row !== "partial" && row.next - at > longest))
      return { rows, end: at, line, open: false, fault: line };
    if (row === "open" || row === "partial")
      return { rows, end: at, line, open: row === "open", fault: null };
    rows.push({ line, cells: row.cells });
    line += row.lines;
    at = row.next;
  }
}

const RETURN = 0x0d;

/** A row with quotes in it, where the next one begins, and how many lines further. `open`: the text ends inside of quotes; `partial`: outside; `stray`: it is no row. */
function quotedRow(text: string, begin: number, { delimiter, trim, isOfTexts }: Tokens) {
  const cells: string[] = [];
  let lines = 1;
  let at = begin;
  for (;;) {
    let end: number;
    const start = trim ? afterBlanks(text, at) : at;
    const opening = isOfTexts && text.startsWith('="', start) ? start + 1 : start;
    if (text[opening] === '"') {
      const closing = closingQuote(text, opening + 1);
      if (closing < 0) return "open";
      const inside = text.slice(opening + 1, closing);
      const cell = inside.includes('""') ? inside.replaceAll('""', '"') : inside;
      cells.push(isOfTexts ? (OF_TEXT.exec(cell)?.[1] ?? cell) : cell);
      for (let feed = inside.indexOf("\n"); feed >= 0; feed = inside.indexOf("\n", feed + 1))
        lines++;
      end = trim ? afterBlanks(text, closing + 1) : closing + 1;
      if (text[end] === "\r" && text[end + 1] === "\n") end++;
      if (end >= text.length || (text[end] === "\r" && end + 1 >= text.length)) return "partial";
      if (text[end] !== "\n" && text[end] !== delimiter) return "stray";
    } else {
      end = endOfPlain(text, at, delimiter);
      const plain = text.slice(at, end);
      if (end >= text.length) return "partial";
      if (plain.includes('"')) return "stray";
      cells.push(text[end] === "\n" && plain.endsWith("\r") ? plain.slice(0, -1) : plain);
    }
    if (text[end] === "\n") return { cells, next: end + 1, lines };
    at = end + 1;
  }
}

const OF_TEXT = /^="([^"]*)"$/;

function afterBlanks(text: string, from: number): number {
  let at = from;
  while (text[at] === " ") at++;
  return at;
}

/** The quote that closes: one that is not doubled. -1: there is none. */
function closingQuote(text: string, from: number): number {
  let at = text.indexOf('"', from);
  while (at >= 0 && text[at + 1] === '"') at = text.indexOf('"', at + 2);
  return at;
}

function endOfPlain(text: string, at: number, delimiter: Delimiter | null): number {
  const feed = text.indexOf("\n", at);
  const end = feed < 0 ? text.length : feed;
  if (delimiter === null) return end;
  const next = text.indexOf(delimiter, at);
  return next < 0 || next > end ? end : next;
}

const DELIMITERS: readonly Delimiter[] = [",", ";", "\t", "|"];

/** The candidate that stands most often in the header line outside quotes. `header`: its line, 0: the first is as good. */
function sniffed(text: string, header: number): Delimiter {
  const line = text.split("\n", Math.max(header, 1))[Math.max(header, 1) - 1] ?? "";
  const plain = line.replaceAll(/"[^"]*"/g, "");
  const counts = DELIMITERS.map((delimiter) => plain.split(delimiter).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ",";
}

/*
 * Bytes into rows. A file that stops in the middle of a row is normal (a full disk, a broken line): its whole rows
 * are rows, and the rest is reported, never delivered.
 */

/** Where a file stops in the middle of a row. */
interface Cut {
  readonly line: number;
  /** As the end of a sentence: `ends inside a quoted field`. */
  readonly reason: string;
  /** The cells of the partial row that are certainly whole. */
  readonly cells: readonly string[];
}

const ROW_MAX = 1_000_000;

/** How the text of a table is cut into rows and cells, as its profile says. */
export type TextForm = Pick<
  ProfileFile,
  | "file"
  | "delimiter"
  | "quotes"
  | "header"
  | "formulas"
  | "lineEnd"
  | "lastLineEnd"
  | "lastDelimiter"
  | "trim"
  | "endOfFile"
>;

/** The line that the header stands in; what is above it is no part of the table. 0: there is none. */
const headerOf = ({ file, header }: Pick<TextForm, "file" | "header">): number =>
  file === "fixed" || header === "tags" ? 0 : header;

/**
 * A table that is read once, from its header to its end, with no more of it in memory than a piece and a row. Its
 * members are as of the batches that were taken.
 */
export class Sheet {
  readonly header: readonly string[];
  /** How many rows of a workbook are hidden: they are none of its rows. */
  readonly hidden: number;
  readonly #batches: AsyncGenerator<readonly Row[], Cut | null>;
  /** The rows that came with the header. */
  #first: readonly Row[];
  #cut: Cut | null = null;
  #rows = 0;
  readonly #isEnded: boolean;

  private constructor(
    header: readonly string[],
    first: readonly Row[],
    batches: AsyncGenerator<readonly Row[], Cut | null>,
    { hidden, isEnded }: { hidden: number; isEnded: boolean },
  ) {
    this.header = isEnded && header.at(-1) === "" ? header.slice(0, -1) : header;
    this.hidden = hidden;
    this.#isEnded = isEnded;
    this.#first = first;
    this.#batches = batches;
  }

  /** Reads as far as the first row. @throws FileFault as {@link Sheet.rows}, or when there is no whole header */
  static async open(pieces: AsyncIterable<string>, form: TextForm): Promise<Sheet> {
    const isEnded = form.lastDelimiter === "allowed";
    return Sheet.of(batchesOf(pieces, form), headerOf(form), 0, isEnded);
  }

  /**
   * Of rows in batches; `header`: the line that has the labels, 0: none has; `isEnded`: a delimiter may end a row. @throws FileFault
   */
  static async of(
    batches: AsyncGenerator<readonly Row[], Cut | null>,
    header: number,
    hidden = 0,
    isEnded = false,
  ): Promise<Sheet> {
    if (header === 0) return new Sheet([], [], batches, { hidden, isEnded: false });
    for (let isEmpty = true; ; isEmpty = false) {
      const next = await batches.next();
      if (next.done) {
        isEmpty &&= next.value === null;
        throw new FileFault(isEmpty ? "is empty" : "has no whole header line", header);
      }
      const [first, ...rows] = next.value.filter(({ line }) => line >= header);
      if (first !== undefined) return new Sheet(first.cells, rows, batches, { hidden, isEnded });
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
   * the very end, it is a cut, unless `isShort` says that it has no more. @throws FileFault when quotes are not as RFC 4180 has
   * them
   */
  async *rows(
    isShort: (cells: readonly string[]) => boolean = () => false,
  ): AsyncGenerator<readonly Row[]> {
    let held: readonly Row[] = [];
    let batch: readonly Row[] = this.#first;
    this.#first = [];
    for (;;) {
      const rows = [...held, ...(this.#isEnded ? batch.map(this.#withoutEnd) : batch)];
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
    const isCut = last.cells.length < this.header.length && !isShort(last.cells);
    if (this.#cut === null && isCut) {
      const reason = `has ${last.cells.length} of ${this.header.length} cells in its last row`;
      this.#cut = { line: last.line, reason, cells: [] };
    } else yield this.#counted(held);
  }

  readonly #withoutEnd = (row: Row): Row => {
    const { length } = this.header;
    const isEnded = row.cells.length === length + 1 && row.cells[length] === "";
    return isEnded ? { ...row, cells: row.cells.slice(0, length) } : row;
  };

  #counted(rows: readonly Row[]): readonly Row[] {
    this.#rows += rows.length;
    return rows;
  }
}

/** The rows of each piece that end in it; then where the text stops within a row. */
async function* batchesOf(
  pieces: AsyncIterable<string>,
  form: TextForm,
): AsyncGenerator<readonly Row[], Cut | null> {
  const { file, trim, lastLineEnd, endOfFile } = form;
  // Of fixed width, a row is one cell, its whole line.
  const wanted = file === "fixed" ? null : form.delimiter;
  const quotes = file !== "fixed" && form.quotes !== "none";
  const isReturned = form.lineEnd === "cr";
  const marks = { quotes, trim, isOfTexts: form.formulas === "texts", longest: ROW_MAX };
  let tokens: Tokens | null = null;
  let rest = "";
  /** The line that `rest` begins in. */
  let line = 1;
  for await (const read of pieces) {
    let text = rest + (isReturned ? read.replaceAll("\r", "\n") : read);
    if (tokens === null) {
      if (text.length < DECLARED_MAX && !text.includes("\n")) {
        rest = text;
        continue;
      }
      const declared = wanted === null ? null : declaredIn(text, wanted);
      const delimiter =
        declared?.delimiter ?? (wanted === "auto" ? sniffed(text, headerOf(form)) : wanted);
      tokens = { ...marks, delimiter };
      text = text.slice(declared?.length ?? 0);
      line += declared === null ? 0 : 1;
    }
    const { rows, end, line: reached, fault } = tokenise(text, tokens, line);
    if (fault !== null) throw new FileFault(NO_ROW, fault);
    if (rows.length > 0) yield rows;
    line = reached;
    rest = text.slice(end);
    if (rest.length > ROW_MAX) throw new FileFault(NO_ROW, line);
  }
  const last = endOfFile === undefined ? rest : withoutEnd(rest, String.fromCharCode(endOfFile));
  if (last.trim() === "") return null;
  if (line === 1 && /\r[^\n]/.test(last)) throw new FileFault(RETURNED, 1);
  tokens ??= { ...marks, delimiter: wanted === "auto" ? "," : wanted };
  if (lastLineEnd === "optional") {
    const { rows, fault, open } = tokenise(`${last}\n`, tokens, line);
    if (!open && fault === null) {
      yield rows;
      return null;
    }
  }
  return { line, ...partial(last, tokens) };
}

/** A first line that tells Excel the delimiter: it is no row. */
const DECLARED = /^sep=([,;\t|^~])\r?\n/i;
const DECLARED_MAX = "sep=;\r\n".length;

/** @throws FileFault for another delimiter than the profile's */
function declaredIn(text: string, wanted: Delimiter | "auto") {
  const [line, delimiter] = DECLARED.exec(text) ?? [];
  if (line === undefined) return null;
  if (wanted !== "auto" && delimiter !== wanted)
    throw new FileFault(`says sep=${delimiter}, and the profile has the delimiter "${wanted}"`);
  return { delimiter: delimiter as Delimiter, length: line.length };
}

/** Without the marks of its end. */
function withoutEnd(text: string, mark: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === mark) end--;
  return text.slice(0, end);
}

const RETURNED = "ends its lines with a return alone: its profile needs lineEnd: cr";
const NO_ROW = "has a quote where none may be, or a row without end";

function partial(rest: string, tokens: Tokens): Omit<Cut, "line"> {
  const { open } = tokenise(rest, tokens, 1);
  const whole = tokenise(`${rest}${open ? '"' : ""}\n`, tokens, 1);
  const cells = whole.fault === null ? (whole.rows[0]?.cells ?? []) : [];
  const reason = open ? "ends inside a quoted field" : "ends without a line end";
  return { reason, cells: cells.slice(0, -1) };
}

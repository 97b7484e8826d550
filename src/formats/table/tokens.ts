/** Text into rows of cells, as RFC 4180 has them: strict, in one pass, and as fast as splitting where nothing is quoted. */
export type Delimiter = "," | ";" | "\t" | "|";

export interface Row {
  /** The line of the file it begins in, the header being line 1. */
  readonly line: number;
  readonly cells: readonly string[];
}

export interface Tokens {
  readonly delimiter: Delimiter | null;
  readonly quotes: boolean;
  /** No row is longer, in UTF-16 units. */
  readonly longest: number;
}

export interface Tokenised {
  /** Those that end in the text; empty lines are none. */
  readonly rows: readonly Row[];
  /** Where the row begins that does not end in it. */
  readonly end: number;
  /** The line of the file that this row begins in. */
  readonly line: number;
  /** The text ends inside of quotes. */
  readonly open: boolean;
  /** The line of a quote that stands where none may be, or of a row that is too long; null: there is none. */
  readonly fault: number | null;
}

/** `from`: the line that the text begins in. */
export function tokenise(text: string, tokens: Tokens, from: number): Tokenised {
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
    const row = quotedRow(text, at, delimiter);
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

interface QuotedRow {
  readonly cells: readonly string[];
  /** Where the next row begins, and how many lines further. */
  readonly next: number;
  readonly lines: number;
}

/** A row with quotes in it. `open`: the text ends inside of quotes; `partial`: outside; `stray`: it is no row. */
function quotedRow(
  text: string,
  begin: number,
  delimiter: Delimiter | null,
): QuotedRow | "open" | "partial" | "stray" {
  const cells: string[] = [];
  let lines = 1;
  let at = begin;
  for (;;) {
    let end: number;
    if (text[at] === '"') {
      const closing = closingQuote(text, at + 1);
      if (closing < 0) return "open";
      const inside = text.slice(at + 1, closing);
      cells.push(inside.includes('""') ? inside.replaceAll('""', '"') : inside);
      for (let feed = inside.indexOf("\n"); feed >= 0; feed = inside.indexOf("\n", feed + 1))
        lines++;
      end = closing + 1;
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
export function sniffed(text: string, header: number): Delimiter {
  const line = text.split("\n", Math.max(header, 1))[Math.max(header, 1) - 1] ?? "";
  const plain = line.replaceAll(/"[^"]*"/g, "");
  const counts = DELIMITERS.map((delimiter) => plain.split(delimiter).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ",";
}

/** Blocks on a terminal: lines, tables in columns, an empty line before each section. */
import { counted } from "../core/text.ts";
import type { Block, Blocks, Inline, Table } from "./blocks.ts";

export function asText(blocks: Blocks): string {
  const lines = linesOf(blocks, false);
  return lines.join("\n").replace(/^\n+/, "");
}

/** `isTitled`: in a section with a title, where tables have their captions. */
function linesOf(blocks: Blocks, isTitled: boolean): string[] {
  if (blocks === null || blocks === false) return [];
  if (Array.isArray(blocks)) return blocks.flatMap((one: Blocks) => linesOf(one, isTitled));
  return "is" in (blocks as object) ? blockLines(blocks as Block, isTitled) : [];
}

function blockLines(block: Block, isTitled: boolean): string[] {
  switch (block.is) {
    case "heading":
      return [...(block.level === 1 ? [] : [""]), inLine(block.text)];
    case "line":
      return inLine(block.text).split("\n");
    case "entry":
      return [
        inLine(block.head),
        ...block.details
          .map(inLine)
          .filter((detail) => detail !== "")
          .flatMap((detail) => detail.split("\n").map((line) => `  ${line}`)),
      ];
    case "list":
      return block.items.map((item) => `  ${inLine(item)}`);
    case "facts":
      return block.rows.map(([name, value]) => `${name}: ${inLine(value)}`);
    case "table":
      return tableLines(block, isTitled);
    case "section": {
      const lines = linesOf(block.blocks, block.title !== null);
      if (lines.length === 0) return [];
      return block.title === null ? ["", ...lines] : ["", block.title, ...lines];
    }
    case "card":
      return ["", ...linesOf(block.blocks, isTitled)];
    case "notice":
    case "live":
    case "beside":
      return linesOf(block.blocks, isTitled);
    case "only":
      return block.medium === "terminal" ? linesOf(block.blocks, isTitled) : [];
    case "folded":
      return [];
  }
}

function tableLines({ caption, columns, rows, empty }: Table, isTitled: boolean): string[] {
  if (rows.length === 0) return empty === null ? [] : [empty];
  const shown = columns.map(({ medium }) => medium !== "page");
  const text = table(
    columns.filter((_, at) => shown[at]).map(({ title }) => title.toUpperCase()),
    rows.map((row) => row.filter((_, at) => shown[at]).map((cell) => inLine(cell) || "-")),
  );
  return isTitled ? [`${caption}:`, text] : [text];
}

/** A text as a terminal shows it. */
export function inLine(text: Inline): string {
  if (text === null || text === false || text === undefined) return "";
  if (typeof text === "string" || typeof text === "number") return String(text);
  if (Array.isArray(text)) return text.map((one: Inline) => inLine(one)).join("");
  if (!("is" in (text as object))) return "";
  const word = text as Extract<Inline, { readonly is: string }>;
  if ("at" in word) return instant(word.at);
  if ("terminal" in word) return inLine(word.terminal);
  return word.is === "code" ? `\`${inLine(word.text)}\`` : inLine(word.text);
}

/** A line, or several; null or false: it does not apply. */
type Lines = string | false | null | readonly (string | false | null)[];

/** A text of those lines that apply. */
export const lined = (...lines: readonly Lines[]): string =>
  lines
    .flat()
    .filter((line) => typeof line === "string")
    .join("\n");

/* Plain text in columns that fit the terminal. Columns of numbers stand to the right. */

/**
 * Columns as wide as their widest cell where they fit into `width`; else long texts go on in the next line, and where
 * even that is too wide each row is a paragraph. A text of several lines keeps them. Nothing is ever left out.
 */
export function table(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  width = screenWidth(),
): string {
  const columns = fitted(
    header.map((title, at) => columnOf([title, ...cells(rows, at)])),
    width,
  );
  if (columns === null) return rows.map((row) => paragraph(header, row, width)).join("\n");
  return [header, ...rows].flatMap((row) => rowLines(row, columns)).join("\n");
}

/** Characters in a line of the terminal; what is read by a program has no end of line. */
function screenWidth(): number {
  const asked = Number(process.env["COLUMNS"]);
  const width = asked > 0 ? asked : (process.stdout.columns ?? Infinity);
  return Math.max(width, WIDTH_MIN);
}

const WIDTH_MIN = 20;

interface Column {
  readonly width: number;
  /** Its longest word; but what is longer than an id may be broken. */
  readonly least: number;
  readonly right: boolean;
}

const GAP = "  ";
const WORD_MAX = 40;

const cells = (rows: readonly (readonly string[])[], at: number): string[] =>
  rows.map((row) => row[at] ?? "");

function columnOf([title = "", ...below]: readonly string[]): Column {
  const texts = [title, ...below].flatMap((text) => text.split("\n"));
  const width = Math.max(...texts.map((text) => text.length));
  const right = below.length > 0 && below.every((cell) => /^-?[\d.,]+$/.test(cell));
  const words = texts.flatMap((text) => text.split(" "));
  const word = Math.min(Math.max(...words.map((one) => one.length)), WORD_MAX);
  return { width, right, least: right ? width : word };
}

/** The widest gives way first. Null: they cannot be so narrow. */
function fitted(columns: readonly Column[], width: number): Column[] | null {
  const fitting = [...columns];
  const total = () => fitting.reduce((sum, one) => sum + one.width + GAP.length, -GAP.length);
  while (total() > width) {
    const widest = fitting
      .filter((one) => one.width > one.least)
      .reduce<Column | null>((most, one) => (one.width > (most?.width ?? 0) ? one : most), null);
    if (widest === null) return null;
    fitting[fitting.indexOf(widest)] = { ...widest, width: widest.width - 1 };
  }
  return fitting;
}

function rowLines(row: readonly string[], columns: readonly Column[]): string[] {
  const wrapped = columns.map(({ width }, at) => wrap(row[at] ?? "", width));
  const height = Math.max(...wrapped.map((lines) => lines.length));
  return Array.from({ length: height }, (_, line) =>
    columns
      .map(({ width, right }, at) => {
        const text = wrapped[at]?.[line] ?? "";
        return right ? text.padStart(width) : text.padEnd(width);
      })
      .join(GAP)
      .trimEnd(),
  );
}

/** Its cells with their titles, the first one on a line of its own; a dash says nothing. */
function paragraph(header: readonly string[], row: readonly string[], width: number): string {
  const [first = "", ...others] = row
    .map((cell, at) => ({ cell, told: `${header[at]} ${cell}` }))
    .filter(({ cell }, at) => at === 0 || (cell !== "-" && cell !== ""))
    .map(({ told }) => told);
  const inside = width - GAP.length;
  const lines = others.reduce<string[]>((before, one) => {
    const both = `${before.at(-1)}${GAP}${one}`;
    return before.length > 0 && both.length <= inside && !one.includes("\n")
      ? [...before.slice(0, -1), both]
      : [...before, ...wrap(one, inside)];
  }, []);
  return [...wrap(first, width), ...lines.map((line) => GAP + line)].join("\n");
}

/** Its own lines; longer ones at spaces, and within a word only where it is longer than a whole line. */
const wrap = (text: string, width: number): string[] =>
  text.split("\n").flatMap((line) => wrapLine(line, width));

function wrapLine(text: string, width: number): string[] {
  const lines: string[] = [];
  let rest = text;
  while (rest.length > width) {
    const space = rest.lastIndexOf(" ", width);
    const end = space > 0 ? space : width;
    lines.push(rest.slice(0, end).trimEnd());
    rest = rest.slice(end).trimStart();
  }
  return [...lines, rest];
}

/** `2026-11-21 07:50:26 UTC`, or a dash. */
export const instant = (iso: string | null): string =>
  iso === null ? "-" : `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;

/** How long ago, in the largest unit of which one has passed: `3 days`; a dash where nobody knows. */
export function age(ms: number | null): string {
  if (ms === null) return "-";
  const [unit, unitMs] = AGES.find(([, least]) => ms >= least) ?? SECOND;
  return counted(Math.floor(ms / unitMs), unit);
}

/** A setting as people write it, in the largest unit that fits: `10m`. */
export function durationText(ms: number): string {
  const [unit, unitMs] = AGES.find(([, one]) => ms > 0 && ms % one === 0) ?? SECOND;
  return `${ms / unitMs}${unit.charAt(0)}`;
}

/** A time to two or three digits: `45 s`, `12 min`, `3 h`. */
export function roughly(ms: number): string {
  if (ms < 99_500) return `${Math.max(Math.round(ms / 1_000), 1)} s`;
  return ms < 5_970_000 ? `${Math.round(ms / 60_000)} min` : `${Math.round(ms / 3_600_000)} h`;
}

export const SECOND = ["second", 1_000] as const;
/** The largest first. */
export const AGES: readonly (readonly [unit: string, ms: number])[] = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
];

/**
 * Documents as CSV text (RFC 4180, UTF-8, CRLF, `.` decimals, ISO dates). The first column tells the rows apart: H is a
 * header, L a line, T a tax. A header's total stands once in a file, so a column adds up whoever opens it. Text is
 * quoted and numbers are not; an empty text and no value stay different.
 */
import { stringify } from "csv-stringify/sync";
import type { z } from "zod";
import { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import { sortableInstant } from "../../src/core/keys.ts";
import { day, type DocumentName, documents } from "./documents.ts";

export interface Writing {
  /** Puts an apostrophe before text that a spreadsheet would run as a formula. */
  readonly spreadsheetSafe: boolean;
  /** The calendar day of an instant, see `calendarOf`. */
  dayOf(instant: string): string;
}

type Fields = Readonly<Record<string, unknown>>;
type Shape = Readonly<Record<string, z.ZodType>>;

interface Layout {
  readonly header: Shape;
  readonly lines: Shape;
  readonly taxes: Shape;
  readonly columns: readonly string[];
}

/**
 * The text of one file.
 * @throws Refused when a text has a character that no CSV reader can be trusted with; nothing is changed silently.
 */
export function writeCsv(name: DocumentName, list: readonly unknown[], writing: Writing): string {
  const layout = layoutOf(name);
  const { columns } = layout;
  const rows = list.flatMap((unchecked) => {
    const document: Fields & { id: string; number: string } =
      documents[name].schema.parse(unchecked);

    const row = (record: string, shape: Shape, fields: Fields, at: string) =>
      columns.map((column) => {
        if (column === "record") return record;
        // Every row names its document: a reader that sorts the rows still knows whose they are.
        if (column === "id" || column === "number") return cell(document[column], column, writing);
        if (!(column in shape)) return null;
        const value = fields[column];
        if (column === "version") return utc(String(value));
        if (shape[column] === day) return typeof value === "string" ? writing.dayOf(value) : null;
        return cell(value, `${at}${column}`, writing);
      });
    const part = (record: string, shape: Shape, key: "lines" | "taxes") =>
      ((document[key] ?? []) as Fields[]).map((fields, index) =>
        row(record, shape, { line: Decimal.of(String(index + 1)), ...fields }, `${key}[${index}].`),
      );
    return [
      row("H", layout.header, document, ""),
      ...part("L", layout.lines, "lines"),
      ...part("T", layout.taxes, "taxes"),
    ];
  });
  return `${columns.map(snakeCase).join(",")}\r\n${stringify(rows, STRINGIFY)}`;
}

const STRINGIFY = {
  record_delimiter: "windows",
  quote_record_delimiter: true,
  quoted_string: true,
  // All digits the source wrote, but no exponent: not every importer reads one.
  cast: { object: (value: object) => (value as Decimal).fixed(0) },
} as const;

const LAYOUTS = new Map<DocumentName, Layout>();

/** The columns of a document's file, in their order. Lines and taxes share the columns that have the same name. */
export function layoutOf(name: DocumentName): Layout {
  const known = LAYOUTS.get(name);
  if (known !== undefined) return known;
  const { lines, taxes, ...header } = documents[name].schema.shape as Shape;
  const parts = { header, lines: elementShape(lines), taxes: elementShape(taxes) };
  const columns = new Set(["record", ...Object.values(parts).flatMap((part) => Object.keys(part))]);
  const layout = { ...parts, columns: [...columns] };
  LAYOUTS.set(name, layout);
  return layout;
}

function elementShape(list: z.ZodType | undefined): Shape {
  if (list === undefined) return {};
  const { shape } = (list as z.ZodArray<z.ZodObject>).element;
  return { line: list, ...(shape as Shape) };
}

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`);

/** UTC with six or nine fraction digits: texts of one form, of which the greatest is the latest. */
const utc = (instant: string): string => sortableInstant(instant)?.replace(/000Z$/, "Z") ?? instant;

function cell(value: unknown, field: string, writing: Writing): string | Decimal | null {
  if (value === null || value === undefined) return null;
  if (value instanceof Decimal) return value;
  const text = value as string;
  const bad = text.isWellFormed() ? UNPRINTABLE.exec(text)?.[0] : "\uFFFD";
  if (bad !== undefined) {
    const code = bad.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
    throw new Refused({
      code: "unprintable",
      message: `${field} has a character that cannot be in a file (U+${code})`,
      next: "Correct the text on the platform; the corrected version is delivered by itself.",
      field,
    });
  }
  return writing.spreadsheetSafe && FORMULA.test(text) ? `'${text}` : text;
}

/** What a spreadsheet takes for the start of a formula, in both widths (OWASP ASVS 1.2.10, CWE-1236). */
export const FORMULA = /^[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/;
/** Control characters but tab and line breaks. */
// oxlint-disable-next-line no-control-regex
const UNPRINTABLE = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]/;

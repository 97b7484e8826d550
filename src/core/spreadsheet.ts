/**
 * Text in files that people open in a spreadsheet. What would run as a formula there gets an apostrophe before it, and
 * what looks guarded already gets one more, so that every text reads back as it was. Numbers are not text.
 */

/** What a spreadsheet takes for the start of a formula, in both widths (OWASP ASVS 1.2.10, CWE-1236). */
const FORMULA = /^'*[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/;

/** The text as it may stand in a cell. */
export const guarded = (text: string): string => (FORMULA.test(text) ? `'${text}` : text);

/** The text that {@link guarded} was given. */
export const unguarded = (cell: string): string =>
  cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell;

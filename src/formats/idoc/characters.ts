/** Text as it may stand in XML 1.0 and in a field of SAP: decided once, for names, numbers and words. */

/**
 * What needs a closer look: markup, control characters (tab and line end too: a field is one line), half surrogates and
 * the two characters that are none.
 */
const SPECIAL = /[&<>\p{Cc}\p{Cs}\u2028\u2029\ufffe\uffff]/u;
/** Tab, line ends, and what people take for one. */
const BREAKS = /\r\n|[\t\n\v\f\r\u0085\u2028\u2029]/g;
const FORBIDDEN = /[\p{Cc}\u2028\u2029\ufffe\uffff]/u;

/** The first character that has no place in a field; null: all have. */
export function misplaced(value: string): string | null {
  if (!SPECIAL.test(value)) return null;
  const control = FORBIDDEN.exec(value);
  if (control !== null) return control[0];
  return value.isWellFormed() ? null : (/\p{Cs}/u.exec(value)?.[0] ?? "");
}

/**
 * The rule for `characters: clean`: a line break or a tab becomes a blank, a soft break in a line too; every other
 * control character is left out, and half a character becomes U+FFFD. Blanks at the end mean nothing to SAP.
 */
export const cleaned = (value: string): string =>
  SPECIAL.test(value)
    ? value
        .replaceAll(BREAKS, " ")
        .replaceAll(/[\p{Cc}\ufffe\uffff]/gu, "")
        .toWellFormed()
    : value;

/** `U+0007` */
export const codePoint = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;

/** For the text of an element. */
export const escaped = (value: string): string =>
  SPECIAL.test(value)
    ? value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
    : value;

/** One line of SAP's text: `*` begins a paragraph, a blank goes on after a blank, `=` goes on without one. */
export interface TextLine {
  readonly TDLINE: string;
  readonly TDFORMAT: string;
}

/**
 * A text as lines of at most `width` characters, from which {@link textOfLines} makes the same text. Blanks at the end
 * of a paragraph are left out; a line neither begins nor ends with one, for SAP drops them.
 */
export function linesOf(text: string, width: number): TextLine[] {
  const lines: TextLine[] = [];
  for (const paragraph of text.split(/\r\n|[\n\r]/)) {
    let rest = paragraph.trimEnd();
    let format = "*";
    while (rest.length > width) {
      const { end, next, continues } = cut(rest, width);
      lines.push({ TDLINE: rest.slice(0, end), TDFORMAT: format });
      rest = rest.slice(next);
      format = continues;
    }
    lines.push({ TDLINE: rest, TDFORMAT: format });
  }
  return lines;
}

export const textOfLines = (lines: readonly TextLine[]): string =>
  lines
    .map(({ TDLINE, TDFORMAT }, at) => {
      if (at === 0) return TDLINE;
      return `${TDFORMAT === "*" ? "\n" : TDFORMAT === "=" ? "" : " "}${TDLINE}`;
    })
    .join("");

const isBlank = (text: string, at: number): boolean => /\s/.test(text[at] ?? "");

/** At a single blank, else between two characters that are none. */
function cut(text: string, width: number): { end: number; next: number; continues: string } {
  for (let at = width; at > 0; at--)
    if (text[at] === " " && !isBlank(text, at - 1) && !isBlank(text, at + 1))
      return { end: at, next: at + 1, continues: "" };
  for (let at = width; at > 0; at--) {
    const isPair = /[\ud800-\udbff]/.test(text[at - 1] ?? "");
    if (!isBlank(text, at - 1) && !isBlank(text, at) && !isPair)
      return { end: at, next: at, continues: "=" };
  }
  return { end: width, next: width, continues: "=" };
}

/**
 * Text as QuickBooks Desktop can hold it: printable ASCII. A company file keeps text in the code page of its Windows, which
 * nobody tells us, so everything else is written out by one rule:
 * 1. Letters that Unicode does not decompose, and punctuation, by {@link WRITTEN_OUT} (`ß` is `ss`, `€` is `EUR`).
 * 2. Accents are left out: `é` is `e` (Unicode NFKD without combining marks).
 * 3. A control character, a line break too, is a space; several spaces are one; none begins or ends a text.
 * 4. What is left becomes `?`.
 */
const WRITTEN_OUT: Readonly<Record<string, string>> = {
  "‘": "'",
  "’": "'",
  "‚": "'",
  "“": '"',
  "”": '"',
  "„": '"',
  "«": '"',
  "»": '"',
  "–": "-",
  "—": "-",
  "‑": "-",
  "−": "-",
  "×": "x",
  "°": " deg",
  "·": "-",
  "•": "-",
  "€": "EUR",
  "£": "GBP",
  "¥": "JPY",
  "¢": "c",
  "©": "(c)",
  "®": "(R)",
  "¿": "?",
  "¡": "!",
  ß: "ss",
  Æ: "AE",
  æ: "ae",
  Œ: "OE",
  œ: "oe",
  Ø: "O",
  ø: "o",
  Ł: "L",
  ł: "l",
  Đ: "D",
  đ: "d",
  Ð: "D",
  ð: "d",
  Þ: "Th",
  þ: "th",
  ı: "i",
};

/** The text by the rule above. Pure; the same text always gives the same. */
export const ascii = (text: string): string =>
  oneLine(
    Array.from(text.normalize("NFC"), (letter) => WRITTEN_OUT[letter] ?? letter)
      .join("")
      .normalize("NFKD")
      .replace(/\p{M}/gu, "")
      .replace(/[^\x20-\x7e\p{Cc}]/gu, "?"),
  );

/** Without control characters (rule 3); other letters stay. QuickBooks Online takes these. */
export const oneLine = (text: string): string =>
  text
    .replace(/\p{Cc}/gu, " ")
    .replace(/ {2,}/g, " ")
    .trim();

/** At most `most` characters (code points), without a space at the end. */
export const cut = (text: string, most: number): string =>
  Array.from(text).slice(0, most).join("").trimEnd();

import type { FaultCode } from "../../src/core/faults.ts";
import { createHash } from "node:crypto";
import { Refused } from "../../src/core/errors.ts";
import { sameNumber } from "../../src/core/keys.ts";
import { markOf, platformIdIn } from "../../src/ledger/entries.ts";

/**
 * Text as QuickBooks Desktop can hold it: printable ASCII. A company file keeps text in the code page of its Windows, which
 * nobody tells us, so everything else is written out by one rule:
 * 1. Letters that Unicode does not decompose, and punctuation, by {@link WRITTEN_OUT} (`ß` is `ss`, `€` is `EUR`): what is written for each
 *    letter after it.
 * 2. Accents are left out: `é` is `e` (Unicode NFKD without combining marks).
 * 3. A control character, a line break too, is a space; several spaces are one; none begins or ends a text.
 * 4. What is left becomes `?`.
 */
const WRITTEN_OUT = new Map(
  `' ‘ ’ ‚ / " “ ” „ « » / - – — ‑ − · • / x × / EUR € / GBP £ / JPY ¥ / c ¢ / (c) © / (R) ® / ? ¿ / ! ¡
   ss ß / AE Æ / ae æ / OE Œ / oe œ / O Ø / o ø / L Ł / l ł / D Đ Ð / d đ ð / Th Þ / th þ / i ı`
    .split(/\n| \/ /)
    .flatMap((row) => {
      const [written = "", ...letters] = row.trim().split(" ");
      return letters.map((letter) => [letter, written] as const);
    }),
).set("°", " deg");

/** The text by the rule above. Pure; the same text always gives the same. */
export const ascii = (text: string): string =>
  oneLine(
    Array.from(text.normalize("NFC"), (letter) => WRITTEN_OUT.get(letter) ?? letter)
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

/** What a field for `most` characters holds whole, by how these books change text; null: nothing. What is cut is another text. */
export function whole(
  text: string | null,
  most: number,
  held: (text: string) => string,
): string | null {
  const all = held(text ?? "");
  return all === "" || all.length > most ? null : all;
}

/*
 * Names of customers, vendors and items. QuickBooks has one list of names for customers, vendors, employees and others
 * together, without regard to case: a company that is both is kept under two names.
 */

export type Side = "customer" | "vendor";

/** Characters of a name: Desktop by its schema, Online by what Intuit's samples use. */
export const NAME_MOST = { desktop: 41, online: 100 } as const;

const SUFFIXES: Readonly<Record<Side, string>> = { customer: " (C)", vendor: " (V)" };

/**
 * The name under which a party is created: its code of the cross-reference, letter by letter.
 * @throws Refused when QuickBooks would keep another one: it is too long, has a colon (a colon makes a job), or letters
 * that the company file cannot hold
 */
export function partyName(code: string, most: number, held: (text: string) => string): string {
  const fault = (code_: FaultCode, says: string): Refused =>
    new Refused({
      code: code_,
      message: `the name ${JSON.stringify(code)} ${says}`,
      next: "Correct the company's code in the cross-reference of customers or vendors: it is its name in QuickBooks.",
      field: "party",
    });
  if (Array.from(code).length > most)
    throw fault("name-too-long", `has more than ${most} characters`);
  if (code.includes(":")) throw fault("name-not-held", "has a colon, which QuickBooks reserves");
  if (held(code) !== code || code === "")
    throw fault("name-not-held", "has characters that QuickBooks would change");
  return code;
}

/** The name when the other list has the first one: `Acme Oil (V)`. Never longer than `most`. */
export const suffixed = (name: string, side: Side, most: number): string =>
  `${cut(name, most - SUFFIXES[side].length)}${SUFFIXES[side]}`;

/** QuickBooks compares names without regard to case. */
export const sameName = (one: string, other: string): boolean =>
  one.toLowerCase() === other.toLowerCase();

/* Numbers of documents: QuickBooks keeps fewer characters than the platform, and does not keep them unique. */

/** Characters of `DocNumber` and `PaymentRefNum` (Online). */
export const DOC_NUMBER_MOST = 21;

/**
 * The platform's number where QuickBooks holds it whole; else `F` and ten base32 characters of the id's SHA-256. The same
 * document always has the same one.
 */
export const documentNumber = (number: string, id: string, most: number): string =>
  number.length <= most && /^[\x21-\x7e]+$/.test(number) ? number : shortNumber(id);

/**
 * The platform's number of a record, as long as QuickBooks has the one that was made of it: a person may have typed another,
 * which is told instead.
 * @param own what QuickBooks has as its number; null: none
 * @param platforms what its memo says
 * @param made {@link documentNumber} of that
 */
export const numberHeld = (own: string | null, platforms: string, made: string): string =>
  own === null || sameNumber(own, made) || SHORT.test(own) ? platforms : own;

/** What {@link shortNumber} makes: of which number, only who made it knows. */
const SHORT = /^F[A-Z2-7]{10}$/;

export function shortNumber(id: string): string {
  const bytes = createHash("sha256").update(id).digest();
  let bits = 0n;
  for (const byte of bytes.subarray(0, 7)) bits = (bits << 8n) | BigInt(byte);
  bits >>= 6n;
  let text = "";
  for (let at = 0; at < 10; at++, bits >>= 5n) text = BASE32.charAt(Number(bits & 31n)) + text;
  return `F${text}`;
}

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/*
 * What a document says of where it came from, in a field that people read: Desktop's `Memo`, Online's `PrivateNote`.
 * `INV-2026-000118 platform:0b6f… PO 4711`: the platform's whole number, our mark, and text for people.
 */

/** Characters of the field: Desktop by its schema, Online by what we dare. */
export const MEMO_MOST = { desktop: 4095, online: 1000 } as const;

/** @param held how these books change text */
export const memoOf = (
  { number, mark, text }: MemoParts,
  most: number,
  held: (text: string) => string,
): string => cut(held(`${number} ${markOf(mark)} ${text ?? ""}`), most);

/** What a memo says. */
export interface MemoParts {
  readonly number: string;
  readonly mark: string;
  readonly text: string | null;
}

/** Of this product: under it our marks become GUIDs. */
const NAMESPACE = Buffer.from("8f0a2d3c4b5e4f60917283a4b5c6d7e8", "hex");

/** What QuickBooks Desktop keeps as `ExternalGUID` of a record of ours: a UUID of version 5 of our mark, in braces. */
export function guidOf(mark: string): string {
  const bytes = createHash("sha1").update(NAMESPACE).update(mark).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x50;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString("hex");
  return `{${[hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-")}}`;
}

/** What says of a record where it came from. */
export interface Memoed {
  /** QuickBooks' own number. */
  readonly number: string | null;
  /** Without what QuickBooks writes before that of a void document. */
  readonly memo: string | null;
  /** Desktop's; left out: there is none. */
  readonly guid?: string | null;
}

/**
 * The platform's id (null: it did not come from the platform, or somebody took it out of the memo), its number (where the memo
 * does not say it, QuickBooks' own), and what the memo says besides.
 * @param desired marks that are looked for: the GUID tells one whose memo somebody wrote anew
 */
export function markedBy(row: Memoed, desired: readonly string[] = []) {
  const { number, memo, guid = null } = row;
  const found = memoIn(memo);
  if (found !== null) return found;
  const mark = desired.find((one) => guid !== null && guidOf(one) === guid.toLowerCase()) ?? null;
  return { mark, number, text: memo };
}

/** The same of the memo alone. Null: the document did not come from the platform, or somebody took the mark out. */
export function memoIn(memo: string | null) {
  const mark = platformIdIn(memo);
  if (memo === null || mark === null) return null;
  const [number = "", text = ""] = memo.split(markOf(mark));
  return { mark, number: number.trim(), text: text.trim() === "" ? null : text.trim() };
}

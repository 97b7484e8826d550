/**
 * The bytes of an IDoc file as segments. Everything is text; leading zeros stay. Entities are off: no document type is
 * taken, and no entity but XML's own five. The file is checked whole before anything of it counts.
 */
import { createRequire } from "node:module";
import type * as FastXml from "fast-xml-parser";
import { Decimal } from "../../core/decimal.ts";
import { FileFault } from "../format.ts";
import { codePoint, escaped } from "./segment-writer.ts";
import { type FieldName, type SegmentName, segments } from "./segments.ts";

/** Larger files are refused: a file is held whole while it is read, some ten times its size. */
export const XML_BYTES_MAX = 8_000_000;
/** The root, IDOC, and segments: SAP's own types are 8 deep at most. */
const DEPTH_MAX = 16;
const ELEMENTS_MAX = 400_000;

/** A segment as it was read. Fields that the table does not have are not looked at. */
export interface Read {
  readonly name: string;
  /** Raw: entities are not resolved yet. */
  readonly fields: Readonly<Record<string, string>>;
  readonly below: readonly Read[];
}

/** One IDoc of a file. */
export interface Idoc {
  readonly control: Read;
  readonly records: readonly Read[];
  /** `IDoc 2 (DOCNUM 0000000000004711)`: where a person finds it. */
  readonly origin: string;
}

/** @throws FileFault when it is no IDoc file that can be trusted */
export function idocsIn(bytes: Uint8Array, file: string): Idoc[] {
  const text = textIn(bytes);
  expectHarmless(text);
  const checked = library().XMLValidator.validate(text);
  if (checked !== true) {
    const { msg, line } = checked.err;
    throw new FileFault(`is not whole XML: ${msg.replace(/\.$/, "")}`, line);
  }
  const roots = Object.entries(parsed(plainText(text))).filter(([name]) => !name.startsWith("?"));
  const [root] = roots;
  if (roots.length !== 1 || root === undefined) throw new FileFault("has no root element");
  // The root is the basic type or a site's extension of it: what an IDoc is, its control record says.
  const idocs = elementsOf(root[1], root[0]).flatMap(({ below }) =>
    below.filter(({ name }) => name === "IDOC"),
  );
  if (idocs.length === 0) throw new FileFault(`has no IDOC in its root ${root[0]}`);
  return idocs.map(({ below }, at) => {
    const [control, ...records] = below;
    if (control?.name !== "EDI_DC40")
      throw new FileFault(`has no control record (EDI_DC40) first in IDoc ${at + 1}`);
    const number = field(control, "EDI_DC40", "DOCNUM") ?? "";
    return { control, records, origin: `${file} IDoc ${at + 1} (DOCNUM ${number})` };
  });
}

/** A field of a segment; null: it is not there, or blank. @throws FileFault for an entity that there is not */
export function field<S extends SegmentName>(
  { fields }: Read,
  _segment: S,
  name: FieldName<S>,
): string | null {
  const raw = fields[name];
  if (raw === undefined) return null;
  const text = resolved(raw).trimEnd();
  return text === "" ? null : text;
}

/** The fields of a segment that are longer than SAP has them. */
export const overlong = (read: Read, segment: SegmentName): string[] =>
  Object.entries(segments[segment]).flatMap(([name, { length }]) => {
    const raw = read.fields[name];
    return raw !== undefined && resolved(raw).trimEnd().length > length
      ? [`${segment}-${name} is longer than ${length} characters`]
      : [];
  });

export const below = ({ below: segments }: Pick<Read, "below">, name: SegmentName): Read[] =>
  segments.filter((one) => one.name === name);

/** How a file says that its bytes are characters, and how they are read then. */
const ENCODINGS: Readonly<Record<string, string>> = {
  "utf-8": "utf-8",
  "us-ascii": "utf-8",
  "iso-8859-1": "iso-8859-1",
  "windows-1252": "windows-1252",
};

/** @throws FileFault unless the bytes are what the file says that they are; without a word they are UTF-8 */
function textIn(bytes: Uint8Array): string {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff))
    throw new FileFault("is UTF-16; have the port write UTF-8");
  const start = Buffer.from(bytes.subarray(0, 200)).toString("latin1");
  const said = /<\?xml[^>]*\bencoding\s*=\s*["']([^"']*)["']/i.exec(start)?.[1] ?? "UTF-8";
  const encoding = ENCODINGS[said.toLowerCase()];
  if (encoding === undefined)
    throw new FileFault(`says that it is ${said}; have the port write UTF-8`);
  let text: string;
  try {
    // The decoder of that name reads what Windows adds to ISO-8859-1.
    text =
      encoding === "iso-8859-1"
        ? Buffer.from(bytes).toString("latin1")
        : new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    throw new FileFault(`is not valid ${said.toUpperCase()}`);
  }
  if (text.trim() === "") throw new FileFault("is empty");
  return text;
}

/** Without comments, and with CDATA as the text that it is. */
const plainText = (text: string): string =>
  text.replaceAll(/<!--[^]*?-->|<!\[CDATA\[([^]*?)\]\]>/g, (_, raw: string | undefined) =>
    escaped(raw ?? ""),
  );

/** What XML 1.0 does not have; half characters are no UTF-8. */
const FORBIDDEN = /(?![\t\n\r\u007f-\u009f])\p{Cc}|[\ufffe\uffff]/u;

/** What no parser is asked about. @throws FileFault */
function expectHarmless(text: string): void {
  const odd = FORBIDDEN.exec(text);
  if (odd !== null)
    throw new FileFault(
      `has the character ${codePoint(odd[0])}, which XML has not`,
      lineOf(text, odd.index),
    );
  const declared = /<!(?:DOCTYPE|ENTITY|ELEMENT|ATTLIST|NOTATION)/i.exec(text);
  if (declared !== null)
    throw new FileFault(
      "declares a document type, which no IDoc has",
      lineOf(text, declared.index),
    );
  expectShallow(text);
}

/** What is markup and no element, and how it ends. */
const ASIDES = [
  ["<!--", "-->"],
  ["<![CDATA[", "]]>"],
  ["<?", "?>"],
] as const;

/** One pass over the tags. @throws FileFault for more elements, or deeper ones, than an IDoc has */
function expectShallow(text: string): void {
  let depth = 0;
  let elements = 0;
  for (let at = text.indexOf("<"); at !== -1; at = text.indexOf("<", at)) {
    const [start, close] = ASIDES.find(([one]) => text.startsWith(one, at)) ?? ["<", ">"];
    const end = text.indexOf(close, at + start.length);
    if (end === -1) throw new FileFault("ends inside a tag", lineOf(text, at));
    if (start === "<" && text[at + 1] === "/") depth--;
    else if (start === "<") {
      if (++elements > ELEMENTS_MAX)
        throw new FileFault(`has more than ${ELEMENTS_MAX} elements`, lineOf(text, at));
      if (text[end - 1] !== "/" && ++depth > DEPTH_MAX)
        throw new FileFault(`is more than ${DEPTH_MAX} elements deep`, lineOf(text, at));
    }
    at = end + close.length;
  }
}

const lineOf = (text: string, index: number): number => text.slice(0, index).split("\n").length;

const require = createRequire(import.meta.url);

/** Loaded with the first IDoc: most sites have none. */
const library = (): typeof FastXml => require("fast-xml-parser") as typeof FastXml;

const OPTIONS: FastXml.X2jOptions = {
  ignoreAttributes: true,
  parseTagValue: false,
  parseAttributeValue: false,
  processEntities: false,
  trimValues: false,
  ignoreDeclaration: true,
  ignorePiTags: true,
  maxNestedTags: DEPTH_MAX + 1,
  isArray: () => true,
};

/** @throws FileFault */
function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    return new (library().XMLParser)(OPTIONS).parse(text) as Readonly<Record<string, unknown>>;
  } catch (error) {
    throw new FileFault(`cannot be read: ${(error as Error).message}`);
  }
}

/**
 * What the parser makes of the elements of one name: a text, or an object of lists. Their order is theirs.
 * @throws FileFault for an entity that there is not
 */
function elementsOf(list: unknown, name: string): Read[] {
  return (list as readonly unknown[]).map((one) => {
    const fields: Record<string, string> = {};
    const segments: Read[] = [];
    if (typeof one === "object" && one !== null)
      for (const [child, members] of Object.entries(one)) {
        if (!Array.isArray(members)) continue;
        const [first] = members as readonly unknown[];
        if (typeof first === "string" && members.length === 1 && !isSegmentName(child)) {
          // Also where nobody reads it: a file with an entity that there is not is no XML.
          resolved(first);
          fields[child] = first;
        } else segments.push(...elementsOf(members, child));
      }
    return { name, fields, below: segments };
  });
}

/** An empty segment looks like an empty field. */
const isSegmentName = (name: string): boolean =>
  name === "IDOC" || name === "EDI_DC40" || Object.hasOwn(segments, name);

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
};

/** @throws FileFault */
function resolved(raw: string): string {
  if (!raw.includes("&")) return raw;
  return raw.replaceAll(/&([^;&\s]*;?)/g, (whole, reference: string) => {
    const name = reference.endsWith(";") ? reference.slice(0, -1) : "";
    const known = ENTITIES[name];
    if (known !== undefined) return known;
    const [, hex, decimal] = /^#(?:x([0-9a-f]{1,6})|(\d{1,7}))$/i.exec(name) ?? [];
    const point = hex === undefined ? Number(decimal ?? "NaN") : Number.parseInt(hex, 16);
    const character = point > 0 && point <= 0x10ffff ? String.fromCodePoint(point) : null;
    if (character === null || FORBIDDEN.test(character) || !character.isWellFormed())
      throw new FileFault(`has "${whole.slice(0, 40)}", which is no character of XML`);
    return character;
  });
}

/* SAP's texts for numbers, read. */

/** A point, no separators, the minus on either side. Null: it is no such number. */
export function numberIn(text: string): Decimal | null {
  const [, before, digits, after] = /^(-?)\s*(\d+(?:\.\d+)?)(-?)$/.exec(text.trim()) ?? [];
  if (digits === undefined || (before === "-" && after === "-")) return null;
  // SAP fills numbers with zeros on the left.
  const plain = digits.replace(/^0+(?=\d)/, "");
  const number = Decimal.of(plain);
  return before === "-" || after === "-" ? number.negated() : number;
}

/**
 * A number divided by another, with all its digits. Null: there are more than 12 decimals, or the divisor is 0. What is divided by here are
 * pricing units: 1, 100, 1,000.
 */
export function dividedBy(number: Decimal, divisor: Decimal): Decimal | null {
  if (divisor.sign <= 0) return null;
  const [over, under] = [whole(number, 24), whole(divisor, 12)];
  return over % under === 0n ? Decimal.of(`${over / under}e-12`).shortest() : null;
}

/** As a whole number of its `places`th decimals. */
const whole = (value: Decimal, places: number): bigint =>
  BigInt(
    value
      .times(Decimal.of(`1e${places}`))
      .round(0)
      .plain(),
  );

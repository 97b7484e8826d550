import { hash } from "node:crypto";
import { Decimal } from "../../core/decimal.ts";
import { Refused } from "../../core/errors.ts";
import type { IdocSink } from "./config.ts";
import { type FieldType, type SegmentName, segments } from "./segments.ts";

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
function misplaced(value: string): string | null {
  if (!SPECIAL.test(value)) return null;
  const control = FORBIDDEN.exec(value);
  if (control !== null) return control[0];
  return value.isWellFormed() ? null : (/\p{Cs}/u.exec(value)?.[0] ?? "");
}

/**
 * The rule for `characters: clean`: a line break or a tab becomes a blank, a soft break in a line too; every other
 * control character is left out, and half a character becomes U+FFFD. Blanks at the end mean nothing to SAP.
 */
const cleaned = (value: string): string =>
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
interface TextLine {
  readonly TDLINE: string;
  readonly TDFORMAT: string;
}

/**
 * A text as lines of at most `width` characters, from which the same text can be made. Blanks at the end
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

/* IDocs as XML text: every field checked against its length and kind, nothing cut and nothing replaced unsaid. */

/** Each header of a text with its lines, and the field of the language. Deliveries have theirs in another order. */
const TEXTS = {
  E1EDKT1: { line: "E1EDKT2", language: "TSSPRAS_ISO" },
  E1EDPT1: { line: "E1EDPT2", language: "TSSPRAS_ISO" },
  E1TXTH8: { line: "E1TXTP8", language: "LANGUA_ISO" },
  E1TXTH9: { line: "E1TXTP9", language: "LANGUA_ISO" },
} as const;
/** What a label ends with that names the line. */
const OF_LINE = "{line}";
const LINE_LENGTH = 70;
/** INVOIC02's and ORDERS01's number. */
const LINES_MAX = 999;

/** A code or a text; an exact number; a day (`YYYY-MM-DD`); null and "": the field is left out. */
type Value = string | Decimal | null | undefined;

/** What a message says of one document: values, and lists of what is repeated, whose own values come before. */
export interface RowValues {
  readonly [key: string]: Value | readonly RowValues[];
}

/** A row of a message. */
export interface Row {
  readonly name: SegmentName;
  /** The list that it is repeated for; null: it stands once. */
  readonly each: string | null;
  readonly fields: readonly {
    readonly field: string;
    readonly constant: string | null;
    readonly key: string;
    readonly isOptional: boolean;
  }[];
  /** Of a text: where its id and its words are. */
  readonly text: readonly [id: string, words: string] | null;
  /** What a person knows its values by; `{line}`: which line they are of. */
  readonly label: string;
  readonly below: readonly Row[];
}

/**
 * A message as a table, one segment a line, what is below it further in: `E1EDP02 QUALF=001 BELNR={order} ZEILE={item?} # order of
 * {line}`. In braces stands where the value is, with `?` where it may be missing; `E1EDP01*lines` is repeated, and `text ID WORDS`
 * is a text of any length. A line that begins with a field goes on with the one before. @throws TypeError for what the table of segments does not have
 */
export function rowsOf(table: string): readonly Row[] {
  const root: Row[] = [];
  const open = [{ indent: -1, rows: root }];
  const lines = table.replaceAll(/\n\s+(?=\w+=)/g, " ").split("\n");
  for (const line of lines.filter((one) => one.trim() !== "")) {
    const indent = line.search(/\S/);
    const [written = "", label = ""] = line.trim().split(/\s+# /);
    const [head = "", ...words] = written.split(/\s+/);
    const [name = "", each = null] = head.split("*");
    const below: Row[] = [];
    const [kind, id = "", told = ""] = words;
    const isText = kind === "text";
    const fields = isText ? [] : words.map((word) => fieldOf(name, word));
    while ((open.at(-1)?.indent ?? -1) >= indent) open.pop();
    const text = isText ? ([id, told] as const) : null;
    open.at(-1)?.rows.push({ name: name as SegmentName, each, fields, text, label, below });
    open.push({ indent, rows: below });
  }
  return root;
}

function fieldOf(name: string, word: string): Row["fields"][number] {
  const [, field = "", key = "", optional, constant = null] =
    /^(\w+)=(?:\{(\w+)(\?)?\}|(.+))$/.exec(word) ?? [];
  const types: Readonly<Record<string, unknown>> | undefined = segments[name as SegmentName];
  if (types?.[field] === undefined) throw new TypeError(`no field ${name}-${field} is known`);
  return { field, constant, key, isOptional: optional !== undefined };
}

export class SegmentWriter {
  readonly #isCleaned: boolean;

  constructor({ characters }: Pick<IdocSink, "characters">) {
    this.#isCleaned = characters === "clean";
  }

  /**
   * A segment with its fields in the order they are given, which is SAP's, and what is below it.
   * @throws Refused when a value has no place in its field: `label` says what it is on the platform
   */
  of(name: SegmentName, values: Readonly<Record<string, Value>>, label = "", below = ""): string {
    let fields = "";
    for (const field in values) fields += this.#field(name, field, values[field], label);
    return `<${name} SEGMENT="1">${fields}${below}</${name}>`;
  }

  #field(segment: SegmentName, field: string, value: Value, label: string): string {
    if (value === null || value === undefined || value === "") return "";
    const types: Readonly<Record<string, FieldType>> = segments[segment];
    const text = this.#text(types[field] as FieldType, value, { segment, field, label });
    return text === "" ? "" : `<${field}>${text}</${field}>`;
  }

  /** The segments of a message as its rows say, with these values. @throws Refused */
  rows(rows: readonly Row[], values: RowValues): string {
    let text = "";
    for (const row of rows)
      if (row.each === null) text += this.#row(row, values);
      else
        for (const own of values[row.each] as readonly RowValues[])
          text += this.#row(row, { ...values, ...own });
    return text;
  }

  /** Nothing where a value is missing that the row does not say may be: a qualifier or a label alone says nothing. */
  #row({ name, fields, text, label, below }: Row, values: RowValues): string {
    const called = label.endsWith(OF_LINE)
      ? label.slice(0, -OF_LINE.length) + (values["line"] as string)
      : label;
    if (text !== null) {
      const [id, words] = text.map((key) => values[key] as string | undefined);
      return this.#lines(name as keyof typeof TEXTS, id, words ?? "", called);
    }
    for (const { key, constant, isOptional } of fields)
      if (!isOptional && (constant ?? values[key] ?? "") === "") return "";
    let written = "";
    for (const { field, constant, key } of fields)
      written += this.#field(name, field, constant ?? (values[key] as Value), called);
    return `<${name} SEGMENT="1">${written}${this.rows(below, values)}</${name}>`;
  }

  /** A text of any length as the lines below a text header. @throws Refused when it has more lines than SAP takes */
  #lines(header: keyof typeof TEXTS, id: string | undefined, text: string, label: string): string {
    if (id === undefined || text.trim() === "") return "";
    const { line: name, language } = TEXTS[header];
    const lines = linesOf(text, LINE_LENGTH);
    if (lines.length > LINES_MAX)
      throw noRoom(
        `${label} has ${lines.length} lines of ${LINE_LENGTH} characters; ${name} takes ${LINES_MAX}`,
        label,
      );
    const below = lines.map(({ TDLINE, TDFORMAT }) =>
      this.of(name, language === "LANGUA_ISO" ? { TDFORMAT, TDLINE } : { TDLINE, TDFORMAT }, label),
    );
    return this.of(header, { TDID: id, [language]: "EN" }, "", below.join(""));
  }

  #text(type: FieldType, value: string | Decimal, place: Place): string {
    if (value instanceof Decimal) return numberOf(type, value, place);
    if (type.kind === "date" && value.length === 10) return value.replaceAll("-", "");
    let text = value;
    const odd = misplaced(text);
    if (odd !== null) {
      if (!this.#isCleaned || type.kind !== "text") throw unprintable(place, odd);
      text = cleaned(text);
    }
    if (type.kind === "text") text = text.trimEnd();
    else if (text !== text.trim())
      throw noRoomAt(place, text, "begins or ends with a blank, which SAP drops");
    if (text.length > type.length)
      throw noRoomAt(
        place,
        text,
        `is ${text.length} characters long; SAP has room for ${type.length}`,
      );
    return escaped(text);
  }
}

/** Where a value goes, and what a person knows it by. */
interface Place {
  readonly segment: string;
  readonly field: string;
  readonly label: string;
}

/** Decimal point, as many decimals as the field has, the minus behind. @throws Refused: nothing is rounded */
function numberOf({ decimals, length }: FieldType, value: Decimal, place: Place): string {
  const rounded = decimals === null ? value : value.round(decimals);
  if (!rounded.equals(value))
    throw noRoomAt(place, value.plain(), `has more than ${decimals} decimals`);
  const digits = decimals === null ? value.abs().plain() : rounded.abs().fixed(decimals);
  const text = value.sign < 0 ? `${digits}-` : digits;
  if (text.length > length)
    throw noRoomAt(place, text, `has ${text.length} characters; SAP has room for ${length}`);
  return text;
}

function noRoomAt({ segment, field, label }: Place, value: string, why: string): Refused {
  const at = `${segment}-${field}`;
  return noRoom(`${label === "" ? "" : `${label} `}"${value}" (${at}) ${why}`, label || at);
}

/** A value that SAP has no room for. */
export const noRoom = (message: string, field: string): Refused =>
  new Refused({
    code: "no-room",
    message,
    next: "Correct it on the platform, or in the cross-reference table that it comes from; or enter the document in SAP by hand, then resolve it here.",
    field,
  });

function unprintable({ segment, field, label }: Place, character: string): Refused {
  const at = `${segment}-${field}`;
  return new Refused({
    code: "unprintable",
    message: `${label === "" ? at : `${label} (${at})`} has the character ${codePoint(character)}, which has no place in an IDoc`,
    next: 'Correct the text on the platform; the corrected version is delivered by itself. For texts, "characters: clean" of the sink leaves such characters out.',
    field: label || at,
  });
}

/** A document of the platform on its way into an IDoc. */
interface Subject {
  /** The platform's id. */
  readonly id: string;
  readonly revision: string;
  /** `YYYY-MM-DD`: the IDoc's own date; it depends on no clock. */
  readonly day: string | null;
  readonly message: string;
  readonly basicType: string;
}

const DIGITS = 10n ** 16n;

/**
 * The IDoc's number at its sender: 16 digits that follow from message, id and revision, so that the same document is the
 * same IDoc however often it is written. Of a million documents two would have the same number with a probability of 1 in
 * 20,000; the second is refused before it is frozen (src/engine/acknowledged.ts). SAP quotes it in its answers.
 */
export function docnumOf({
  message,
  id,
  revision,
}: Pick<Subject, "message" | "id" | "revision">): string {
  const digest = hash("sha256", JSON.stringify([message, id, revision]), "hex");
  const number = BigInt(`0x${digest.slice(0, 32)}`) % DIGITS;
  // 0 would be none.
  return (number === 0n ? 1n : number).toString().padStart(16, "0");
}

/** Fields that begin with the document: the first 14 hex digits of its id, as people search for them in SAP. */
const shortId = (id: string): string => id.replaceAll("-", "").slice(0, 14).toUpperCase();

const CONTROL = rowsOf(`
EDI_DC40 TABNAM=EDI_DC40 MANDT={client?} DOCNUM={docnum} DIRECT=2 TEST={test?}
  IDOCTYP={basicType} CIMTYP={extension?} MESTYP={message} MESCOD={variant?} MESFCT={function?}
  SNDPOR={ourPort} SNDPRT={ourType} SNDPRN={us} RCVPOR={port} RCVPRT={type} RCVPRN={partner}
  CREDAT={day?} CRETIM={time?} REFMES={short} ARCKEY={id}
`);

/** The control record; everything in it follows from the settings and the document. */
export function controlRecord(writer: SegmentWriter, config: IdocSink, subject: Subject): string {
  const { sender, receiver, client, extension, variant, function: agreed } = config;
  return writer.rows(CONTROL, {
    client,
    extension,
    variant,
    function: agreed,
    ...receiver,
    ourPort: sender.port,
    ourType: sender.type,
    us: sender.partner,
    id: subject.id,
    message: subject.message,
    basicType: subject.basicType,
    docnum: docnumOf(subject),
    test: config.test ? "X" : null,
    day: subject.day,
    time: subject.day === null ? null : "000000",
    short: shortId(subject.id),
  });
}

/** One IDoc as a file. The root is the extension's name where there is one, as SAP writes it. */
export function idocXml({ extension }: IdocSink, { basicType }: Subject, records: string): string {
  const root = extension ?? basicType;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${root}><IDOC BEGIN="1">${records}</IDOC></${root}>\n`;
}

/** SAP's numbers of partners and documents: 10 digits with zeros before them, where they are digits. */
export const alpha10 = (code: string): string =>
  /^\d{1,9}$/.test(code) ? code.padStart(10, "0") : code;

/** `000010`, `000020`, ... for the items of a document, from 0. */
export const itemNumber = (at: number): string => String((at + 1) * 10).padStart(6, "0");

/** @throws Refused */
export function unitOf(units: Readonly<Record<string, string>>, unit: string): string {
  const known = units[unit];
  if (known !== undefined) return known;
  throw new Refused({
    code: "unknown-unit",
    message: `SAP's code of the unit "${unit}" is not known here`,
    next: `Add it under "units" of this sink (${unit}: SAP's ISO code), then retry.`,
    field: "unit",
  });
}

/**
 * The segments that are written and read here: each field that is, with its length and what stands in it, in SAP's order.
 * Writer, reader and tests use this table and no other. Source: SAP's own description of EDI_DC40 and of the segments of
 * INVOIC02, ORDERS05, DELVRY03 (classes made of SAP's own schema: E1EDL41's qualifier is QUALI), DEBMAS06, CREMAS05, COND_A01,
 * ALEAUD01 and SYSTAT01. Newer releases append fields; what is not in the table is not read.
 */
import { hash } from "node:crypto";
import { Decimal } from "../../core/decimal.ts";
import { Refused } from "../../core/errors.ts";
import { codePoint } from "../../core/text.ts";
import type { IdocSink } from "./config.ts";

/**
 * `code`: identifies something and is taken as it is. `text`: words for people. `number`: decimal point, minus at the end,
 * with a fixed number of decimals or as many as there are. `date`: `YYYYMMDD`. `time`: `HHMMSS`.
 */
type FieldKind = "code" | "text" | "number" | "date" | "time";

interface FieldType {
  /** Characters, as SAP counts them: UTF-16 units. */
  readonly length: number;
  readonly kind: FieldKind;
  /** Of a number; null: as many as there are. */
  readonly decimals: number | null;
}

/**
 * Each field as `NAME:LENGTH`, a code; `NAME:tLENGTH`, a text; `NAME:nLENGTH.DECIMALS`, a number, with as many decimals as there
 * are where none are said; `NAME:date` and `NAME:time`. The platform's money has two decimals, SAP keeps three of quantities.
 */
const SEGMENTS = {
  EDI_DC40: `
    TABNAM:10 MANDT:3 DOCNUM:16 DIRECT:1 TEST:1 IDOCTYP:30 CIMTYP:30 MESTYP:30 MESCOD:3 MESFCT:3
    SNDPOR:10 SNDPRT:2 SNDPRN:10 RCVPOR:10 RCVPRT:2 RCVPRN:10 CREDAT:date CRETIM:time REFMES:14
    ARCKEY:70`,

  // ORDERS05 and INVOIC02
  E1EDK01: "CURCY:3 BSART:4 BELNR:35",
  E1EDK14: "QUALF:3 ORGID:35",
  E1EDK03: "IDDAT:3 DATUM:date",
  E1EDKA1: "PARVW:3 PARTN:17 NAME1:t35",
  E1EDK02: "QUALF:3 BELNR:35 DATUM:date",
  E1EDK04: "MWSKZ:7 MWSBT:n18.2 KTEXT:t50",
  E1EDKT1: "TDID:4 TSSPRAS_ISO:2",
  E1EDKT2: "TDLINE:t70 TDFORMAT:2",
  E1EDP01: "POSEX:6 MENGE:n15.3 MENEE:3 VPREI:n15 PEINH:n9.0 WERKS:4",
  E1EDP02: "QUALF:3 BELNR:35 ZEILE:6",
  E1EDP03: "IDDAT:3 DATUM:date",
  E1EDP04: "MWSKZ:7 MWSBT:n18.2 KTEXT:t50",
  E1EDP05: "ALCKZ:3 KSCHL:4 KRATE:n15 UPRBS:n9.0 MEAUN:3 KOEIN:3",
  E1EDP19: "QUALF:3 IDTNR:35 KTEXT:t70",
  E1EDP20: "WMENG:n15.3 EDATU:date EZEIT:time",
  E1EDP26: "QUALF:3 BETRG:n18.2",
  E1EDPT1: "TDID:4 TSSPRAS_ISO:2",
  E1EDPT2: "TDLINE:t70 TDFORMAT:2",
  E1EDS01: "SUMID:3 SUMME:n18.2 WAERQ:3",

  // DELVRY03 and later
  E1EDL20: "VBELN:10 BOLNR:35 LIFEX:35",
  E1EDL18: "QUALF:3",
  E1EDL19: "QUALF:3",
  E1ADRM1: "PARTNER_Q:3 PARTNER_ID:17",
  E1EDT13: "QUALF:3 NTANF:date NTANZ:time ISDD:date ISDZ:time",
  E1TXTH8: "TDID:4 LANGUA_ISO:2",
  E1TXTP8: "TDFORMAT:2 TDLINE:t132",
  E1TXTH9: "TDID:4 LANGUA_ISO:2",
  E1TXTP9: "TDFORMAT:2 TDLINE:t132",
  E1EDL24: "POSNR:6 MATNR:18 KDMAT:22 LFIMG:n15.3 VRKME:3 VOLUM:n15.3 VOLEH:3 POSEX:6",
  E1EDL41: "QUALI:3 BSTNR:35 POSEX:6",

  // DEBMAS and CREMAS
  E1KNA1M: `
    MSGFN:3 KUNNR:10 AUFSD:2 KTOKD:4 LAND1:3 LOEVM:1 NAME1:t35 NAME2:t35 NAME3:t35 NAME4:t35
    ORT01:t35 PSTLZ:10 REGIO:3 STRAS:t35 TELF1:16`,
  E1LFA1M: `
    MSGFN:3 LIFNR:10 KTOKK:4 LAND1:3 LOEVM:1 NAME1:t35 NAME2:t35 NAME3:t35 NAME4:t35 ORT01:t35
    PSTLZ:10 REGIO:3 SPERR:1 SPERM:1 STRAS:t35 TELF1:16`,

  // COND_A
  E1KOMG: "KSCHL:4 KUNNR:10 VAKEY:50 VAKEY_LONG:100 MATNR:18 WERKS:4",
  E1KONH: "DATAB:date DATBI:date",
  E1KONP: "KSCHL:4 KRECH:1 KBETR:n16 KONWA:5 KPEIN:n5 KMEIN:3 LOEVM_KO:1",

  // ALEAUD01 and SYSTAT01
  E1STATE: `
    DOCNUM:16 STATUS:2 STACOD:8 STAMID:20 STAMNO:3 STATXT:t70 STAPA1:t20 STAPA2:t20 STAPA3:t20
    STAPA4:t20 STAPA1_LNG:t50 STAPA2_LNG:t50 STAPA3_LNG:t50 STAPA4_LNG:t50`,
  E1STATS: `
    DOCNUM:16 LOGDAT:date LOGTIM:time STATUS:2 STACOD:8 STAMID:20 STAMNO:3 STATXT:t70 STAPA1:t20
    STAPA2:t20 STAPA3:t20 STAPA4:t20 STAPA1_LNG:t50 STAPA2_LNG:t50 STAPA3_LNG:t50 STAPA4_LNG:t50`,
} as const;

export type SegmentName = keyof typeof SEGMENTS;
export type FieldName<S extends SegmentName> = NamesIn<(typeof SEGMENTS)[S]>;

/** The names before the colons of a text. */
type NamesIn<Text extends string, Found = never> = Text extends `${infer Word} ${infer Rest}`
  ? NamesIn<Rest, Found | NameOf<Word>>
  : Found | NameOf<Text>;
type NameOf<Word extends string> = Word extends `${infer Name}:${string}` ? Name : never;

const LENGTHS = { date: 8, time: 6 } as const;
const KINDS = { "": "code", t: "text", n: "number" } as const;

function fieldsIn(text: string): Record<string, FieldType> {
  const fields = text.matchAll(/(\w+):(?:(date|time)|([tn]?)(\d+)(?:\.(\d+))?)/g);
  return Object.fromEntries(
    Array.from(fields, ([, name, moment, kind = "", length, decimals]) => [
      name,
      moment === undefined
        ? {
            length: Number(length),
            kind: KINDS[kind as keyof typeof KINDS],
            decimals: decimals === undefined ? null : Number(decimals),
          }
        : { length: LENGTHS[moment as keyof typeof LENGTHS], kind: moment, decimals: null },
    ]),
  ) as Record<string, FieldType>;
}

/** {@link SEGMENTS}, taken apart. */
export const segments = Object.fromEntries(
  Object.entries(SEGMENTS).map(([name, text]) => [name, fieldsIn(text)]),
) as { readonly [S in SegmentName]: Readonly<Record<FieldName<S>, FieldType>> };

/**
 * What SAP keeps of a field where that is less than the segment has room for: a vendor's invoice number ends up in
 * XBLNR, which has 16 characters.
 */
export const kept = { invoiceNumber: 16 } as const;

/** How often a segment may stand below the document or the item; INVOIC02's and ORDERS01's numbers. */
export const most = {
  INVOIC: { E1EDK02: 20, E1EDK03: 20, E1EDK04: 25, E1EDP04: 25, E1EDP01: 99_999 },
  ORDERS: { E1EDK02: 10, E1EDK03: 10, E1EDP01: 99_999 },
} as const;

/* Text as it may stand in XML 1.0 and in a field of SAP: decided once, for names, numbers and words. */

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

/** For the text of an element. */
export const escaped = (value: string): string =>
  SPECIAL.test(value)
    ? value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
    : value;

/**
 * A text as lines of at most `width` characters, from which the same text can be made: `*` begins a paragraph, a blank goes on
 * after a blank, `=` goes on without one. Blanks at the end
 * of a paragraph are left out; a line neither begins nor ends with one, for SAP drops them.
 */
export function linesOf(text: string, width: number) {
  const lines: Readonly<Record<"TDLINE" | "TDFORMAT", string>>[] = [];
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

/** What a label ends with that names the line. */
const OF_LINE = "{line}";
/** The lines of a text. */
const TEXT = "text";
/** Of the lines of a text, and how many of them INVOIC02 and ORDERS01 take. */
const LINE_LENGTH = 70;
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
  /** What a person knows its values by; `{line}`: which line they are of. */
  readonly label: string;
  readonly below: readonly Row[];
}

/**
 * A message as a table, one segment a line, what is below it further in: `E1EDP02 QUALF=001 BELNR={order} ZEILE={item?} # order of
 * {line}`. In braces stands where the value is, with `?` where it may be missing; `E1EDP01*lines` is repeated. A line that begins
 * with a field goes on with the one before. @throws TypeError for what the table of segments does not have
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
    const fields = words.map((word) => fieldOf(name, word));
    while ((open.at(-1)?.indent ?? -1) >= indent) open.pop();
    open.at(-1)?.rows.push({ name: name as SegmentName, each, fields, label, below });
    open.push({ indent, rows: below });
  }
  return root;
}

/** What a person knows the values of a row by. */
const called = ({ label }: Row, { line }: RowValues): string =>
  label.endsWith(OF_LINE) ? label.slice(0, -OF_LINE.length) + (line as string) : label;

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

  #field(segment: SegmentName, field: string, value: Value, label: string): string {
    if (value === null || value === undefined || value === "") return "";
    const types: Readonly<Record<string, FieldType>> = segments[segment];
    const text = this.#text(types[field] as FieldType, value, { segment, field, label });
    return text === "" ? "" : `<${field}>${text}</${field}>`;
  }

  /**
   * The segments of a message as its rows say, with these values; their fields in the order of the rows, which is SAP's.
   * @throws Refused when a value has no place in its field: the row's label says what it is on the platform
   */
  rows(rows: readonly Row[], values: RowValues): string {
    let text = "";
    for (const row of rows) {
      const all = row.each === null ? [values] : (values[row.each] as readonly RowValues[]);
      if (row.each === TEXT && all.length > LINES_MAX) {
        const label = called(row, values);
        throw noRoom(
          `${label} has ${all.length} lines of ${LINE_LENGTH} characters; ${row.name} takes ${LINES_MAX}`,
          label,
        );
      }
      for (const own of all) text += this.#row(row, own === values ? own : { ...values, ...own });
    }
    return text;
  }

  /** Nothing where a value is missing that the row does not say may be: a qualifier or a label alone says nothing. */
  #row(row: Row, values: RowValues): string {
    const { name, fields, below } = row;
    const label = called(row, values);
    for (const { key, constant, isOptional } of fields)
      if (!isOptional && (constant ?? values[key] ?? "") === "") return "";
    let written = "";
    for (const { field, constant, key } of fields)
      written += this.#field(name, field, constant ?? (values[key] as Value), label);
    return `<${name} SEGMENT="1">${written}${this.rows(below, values)}</${name}>`;
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

/** A text of any length as a header with its id, and its lines below ({@link TEXT}); none where there is no id or no text. */
export const textLines = (id: string | undefined, text: string | null): readonly RowValues[] =>
  id === undefined || !text?.trim() ? [] : [{ id, [TEXT]: linesOf(text, LINE_LENGTH) }];

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
    next: "Correct it on the platform, or in the cross-reference table that it comes from; or enter the document in SAP by hand, then close it here.",
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
 * 20,000; the second is refused before it is frozen (src/engine/delivered.ts). SAP quotes it in its answers.
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
    ...receiver,
    ...subject,
    client,
    extension,
    variant,
    function: agreed,
    ourPort: sender.port,
    ourType: sender.type,
    us: sender.partner,
    docnum: docnumOf(subject),
    test: config.test ? "X" : null,
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

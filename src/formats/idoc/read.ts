/** Files that SAP sends, as the neutral records of books: customers, vendors and rack prices. */
import { createRequire } from "node:module";
import type * as FastXml from "fast-xml-parser";
import type {
  Acknowledgement,
  Change,
  Delivered,
  Reference,
  Surroundings,
} from "../../core/contract.ts";
import type { FaultCode } from "../../core/faults.ts";
import { Decimal } from "../../core/decimal.ts";
import { Refused } from "../../core/errors.ts";
import { codePoint } from "../../core/text.ts";
import { defined } from "../../core/defined.ts";
import type { Difference } from "../../core/holdings.ts";
import { dayOfDigits, HOUR_MS } from "../../core/time.ts";
import { changeIn, FileFault, orRefused, type RecordReader, textAs } from "../format.ts";
import type { AnswerSettings, CondSource, IdocSource, KeyPart, PartySource } from "./config.ts";
import { escaped, type FieldName, type SegmentName, segments } from "./segments.ts";
import type { PartyRecord, PriceRecord } from "../../ledger/documents.ts";

type Site = Pick<Surroundings, "currency" | "dayOf" | "now">;

/** A record, or why it is rightly left out. */
type Taken = Change | { readonly leftOut: string };

export const idocRecords = ({ message }: Pick<IdocSource, "message">): string =>
  message === "COND_A" ? "books.prices" : "books.parties";

export const idocReader = (config: IdocSource, site: Site): RecordReader => ({
  form: idocRecords(config),
  restates: true,
  reads: "XML",
  bytesMax: XML_BYTES_MAX,
  read(bytes, file) {
    const idocs = idocsIn(bytes, file);
    const taken = idocs.flatMap((idoc) => takenOf(config, site, idoc));
    const left = Map.groupBy(
      taken.flatMap((one) => ("leftOut" in one ? one.leftOut : [])),
      (why) => why,
    );
    return {
      changes: taken.filter((one): one is Change => !("leftOut" in one)),
      documents: idocs.length,
      notices: Array.from(left, ([why, { length }]) => `${file}: ${length} left out: ${why}.`),
    };
  },
});

function takenOf(config: IdocSource, site: Site, idoc: Idoc): readonly Taken[] | Taken {
  const { control, origin } = idoc;
  return orRefused({ id: null, origin, raw: control.fields }, () => {
    expectOurs(config, control);
    return config.message === "COND_A" ? pricesOf(config, site, idoc) : partiesOf(config, idoc);
  });
}

const NEXT = "Have it corrected in SAP, and sent again; or correct this source's settings.";

const refused = (code: FaultCode, message: string, field: string, next = NEXT): Refused =>
  new Refused({ code, message, next, field });

const badField = (at: string, message: string): Refused =>
  refused("bad-field", `${at} ${message}.`, at);

/** @throws Refused for an IDoc of another message or system, and for a test where none are taken */
function expectOurs(config: IdocSource, control: Read): void {
  const expected = [
    ["MESTYP", config.message],
    ["SNDPRN", config.sender],
    ["RCVPRN", config.receiver],
  ] as const;
  for (const [name, wanted] of expected) {
    const is = field(control, "EDI_DC40", name) ?? "";
    if (wanted !== undefined && is !== wanted)
      throw refused("not-for-us", `the IDoc's ${name} is "${is}"; taken is "${wanted}"`, name);
  }
  if (field(control, "EDI_DC40", "TEST") === "X" && !config.tests)
    throw refused(
      "test-idoc",
      "the IDoc is marked as a test (TEST=X)",
      "TEST",
      'Have it sent without the mark; or set "tests: true" where this is a test system.',
    );
}

/* Customers (DEBMAS) and vendors (CREMAS) as parties. Their code is SAP's number as it is written, with its zeros. */

/** Where each message has what the other calls otherwise. Blocked: no orders, no postings, no purchases. */
const PARTIES = {
  DEBMAS: { segment: "E1KNA1M", code: "KUNNR", group: "KTOKD", blocks: ["AUFSD"] },
  CREMAS: { segment: "E1LFA1M", code: "LIFNR", group: "KTOKK", blocks: ["SPERR", "SPERM"] },
} as const;

function partiesOf({ message, accountGroups }: PartySource, { records, origin }: Idoc): Taken[] {
  const { segment, ...names } = PARTIES[message];
  const found = below({ below: records }, segment);
  if (found.length === 0) throw badField(segment, `is missing: the IDoc has no ${segment}`);
  return found.map((read): Taken => {
    const code = field(read, segment, names.code);
    const group = field(read, segment, names.group);
    if (accountGroups !== undefined && !accountGroups.includes(group ?? ""))
      return { leftOut: `account group ${group ?? "none"}` };
    return changeIn({ id: code, origin, raw: read.fields }, () => {
      if (code === null) throw badField(`${segment}-${names.code}`, "is empty");
      const [long] = overlong(read, segment);
      if (long !== undefined) throw badField(segment, `cannot be right: ${long}`);
      const said = (name: Parameters<typeof field<typeof segment>>[2]) =>
        field(read, segment, name);
      const name = [said("NAME1"), said("NAME2"), said("NAME3"), said("NAME4")]
        .flatMap((line) => line?.trim() || [])
        .join(" ");
      if (name === "") throw badField(`${segment}-NAME1`, `is empty for ${code}`);
      const [region, country] = [said("REGIO"), said("LAND1")];
      const isBlocked = names.blocks.some((block) => field(read, segment, block) !== null);
      const record: PartyRecord = {
        code,
        name,
        isCustomer: message === "DEBMAS",
        isSupplier: message === "CREMAS",
        companyId: null,
        email: null,
        phone: said("TELF1"),
        street: said("STRAS"),
        city: said("ORT01"),
        state: region === null || country === null ? region : `${country}-${region}`,
        zip: said("PSTLZ"),
        country,
        // Deleted, marked for it, or blocked.
        active: said("MSGFN") !== "003" && said("LOEVM") === null && !isBlocked,
      };
      return [code, record];
    });
  });
}

/* Conditions (COND_A) as rack prices: the amount for one unit, of the validity that holds today. */

function pricesOf(config: CondSource, site: Site, { records, origin }: Idoc): Taken[] {
  const keys = below({ below: records }, "E1KOMG");
  if (keys.length === 0) throw badField("E1KOMG", "is missing: the IDoc has no key");
  const today = site.dayOf(site.now().toISOString());
  return keys.flatMap((key): Taken[] => {
    const type = field(key, "E1KOMG", "KSCHL") ?? "";
    if (!config.conditionTypes.includes(type))
      return [{ leftOut: `condition type ${type || "none"}` }];
    // A rack price is for whoever loads.
    if (field(key, "E1KOMG", "KUNNR") !== null) return [{ leftOut: "for one customer (KUNNR)" }];
    const list = keyPart(key, config.terminal);
    const product = keyPart(key, config.product);
    const id = list === null || product === null ? null : `${list}|${product}`;
    return below(key, "E1KONH").flatMap((validity) => {
      const amounts = below(validity, "E1KONP");
      const ended = amounts.flatMap((amount) => endedBy(validity, amount, today) ?? []);
      const [amount, ...supplements] = amounts.filter(
        (one) => endedBy(validity, one, today) === null,
      );
      const left = ended.map((leftOut): Taken => ({ leftOut }));
      if (amount === undefined) return left;
      const raw = [key, validity, amount, ...supplements].map(({ fields }) => fields);
      return [
        ...left,
        changeIn({ id, origin, raw }, () => {
          if (list === null) throw badField("E1KOMG", "has no terminal in its key");
          if (product === null) throw badField("E1KOMG", "has no product in its key");
          const [long] = [...overlong(key, "E1KOMG"), ...overlong(amount, "E1KONP")];
          if (long !== undefined)
            throw badField(long.split(" ", 1)[0] ?? "", "is longer than SAP has it");
          const [from] = [dayOf(validity, "DATAB"), dayOf(validity, "DATBI")];
          if (from !== null && from > today)
            throw refused(
              "not-valid-yet",
              `the price of ${product} at ${list} holds from ${from}, and the platform takes prices for now only`,
              "E1KONH-DATAB",
              "Have SAP send it on that day; or enter it on the platform then, and close it here.",
            );
          if (amount.below.some(({ name }) => name === "E1KONM" || name === "E1KONW"))
            throw badField("E1KONP", "has a scale; the platform has one price for any quantity");
          if (supplements.length > 0)
            throw badField("E1KONP", "has supplements; the platform has one price, without any");
          const record: PriceRecord = { list, product, ...rateOf(config, site.currency, amount) };
          return [`${list}|${product}`, record];
        }),
      ];
    });
  });
}

/** Why a condition holds no longer; null: it may. */
function endedBy(validity: Read, amount: Read, today: string): string | null {
  if (field(amount, "E1KONP", "LOEVM_KO") !== null) return "deleted in SAP (LOEVM_KO)";
  const to = dayOfDigits(field(validity, "E1KONH", "DATBI") ?? "");
  return to !== null && to < today ? "no longer valid (DATBI)" : null;
}

/** Null: none, which is blank or zeros. @throws Refused */
function dayOf(validity: Read, name: "DATAB" | "DATBI"): string | null {
  const text = field(validity, "E1KONH", name);
  if (text === null || /^0*$/.test(text)) return null;
  const day = dayOfDigits(text);
  if (day === null) throw badField(`E1KONH-${name}`, `is "${text}", which is no day (YYYYMMDD)`);
  return day;
}

/** @throws Refused */
function rateOf(
  { units }: CondSource,
  currency: string,
  amount: Read,
): Pick<PriceRecord, "price" | "unit"> {
  const kind = field(amount, "E1KONP", "KRECH");
  if (kind !== null && kind !== "C")
    throw badField("E1KONP-KRECH", `is "${kind}"; a price is an amount per quantity, "C"`);
  const said = field(amount, "E1KONP", "KONWA");
  if (said !== currency)
    throw badField("E1KONP-KONWA", `is "${said ?? ""}"; the company's currency is ${currency}`);
  const number = (name: "KBETR" | "KPEIN"): Decimal | null => {
    const text = field(amount, "E1KONP", name);
    const value = text === null ? null : numberIn(text);
    if (text !== null && value === null)
      throw badField(`E1KONP-${name}`, `is "${text}", which is no number`);
    return value;
  };
  const rate = number("KBETR");
  if (rate === null) throw badField("E1KONP-KBETR", "is empty");
  const per = number("KPEIN") ?? Decimal.one;
  const price = dividedBy(rate, per);
  if (price === null)
    throw badField("E1KONP-KPEIN", `is ${per.plain()}, by which ${rate.plain()} cannot be divided`);
  const code = field(amount, "E1KONP", "KMEIN") ?? "";
  const unit = units[code];
  if (unit === undefined)
    throw badField(
      "E1KONP-KMEIN",
      `is "${code}", a unit that "units" of this source does not have`,
    );
  return { price, unit };
}

function keyPart(key: Read, part: KeyPart): string | null {
  if (typeof part === "string") return field(key, "E1KOMG", part)?.trim() || null;
  const whole = field(key, "E1KOMG", "VAKEY_LONG") ?? field(key, "E1KOMG", "VAKEY") ?? "";
  return whole.slice(part.from - 1, part.from - 1 + part.length).trim() || null;
}

/*
 * The bytes of an IDoc file as segments. Everything is text; leading zeros stay. Entities are off: no document type is
 * taken, and no entity but XML's own five. The file is checked whole before anything of it counts.
 */

/** Larger files are refused: a file is held whole while it is read, some ten times its size. */
const XML_BYTES_MAX = 8_000_000;
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
interface Idoc {
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
  if (checked !== true) throw notWhole(checked.err.msg, checked.err.line);
  const roots = Object.entries(parsed(plainText(text))).filter(([name]) => !name.startsWith("?"));
  const [root] = roots;
  if (roots.length !== 1 || root === undefined) throw new FileFault("has no root element");
  // The root is the basic type or a site's extension of it: what an IDoc is, its control record says.
  if (root[0] === "IDOC")
    throw new FileFault("begins with IDOC; SAP's port writes the basic type around it (DEBMAS07)");
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
  // The decoder of that name reads what Windows adds to ISO-8859-1.
  const text =
    encoding === "iso-8859-1" ? Buffer.from(bytes).toString("latin1") : textAs(encoding, bytes);
  if (text === null) throw new FileFault(`is not valid ${said.toUpperCase()}`);
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
  if (!text.trimEnd().endsWith(">")) throw notWhole("it ends in the middle");
  const isTooMany = !text
    .matchAll(/<[^/!?]/g)
    .drop(ELEMENTS_MAX)
    .next().done;
  if (isTooMany) throw new FileFault(`has more than ${ELEMENTS_MAX} elements`);
}

const notWhole = (why: string, line?: number): FileFault =>
  new FileFault(`is not whole XML: ${why.slice(0, 200).replace(/\.$/, "")}`, line);

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
    throw notWhole((error as Error).message);
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
        if (members.length > 1 && isFieldOf(name, child))
          throw new FileFault(`has ${name}-${child} twice in one segment`);
        const [first] = members as readonly unknown[];
        if (typeof first === "string" && members.length === 1 && !isSegmentName(child)) {
          // Also where nobody reads it: a file with an entity that there is not is no XML.
          resolved(first);
          fields[child] = first;
        } else for (const segment of elementsOf(members, child)) segments.push(segment);
      }
    return { name, fields, below: segments };
  });
}

const isFieldOf = (segment: string, name: string): boolean =>
  Object.hasOwn(segments, segment) && Object.hasOwn(segments[segment as SegmentName], name);

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
 * A number divided by another, with all its digits. Null: there are more than 12 decimals, or the divisor is not above 0. What
 * is divided by here are pricing units: 1, 100, 1,000.
 */
export function dividedBy(number: Decimal, divisor: Decimal): Decimal | null {
  if (divisor.sign <= 0) return null;
  const quotient = number.over(divisor, 12);
  return quotient.times(divisor).equals(number) ? quotient.shortest() : null;
}

/*
 * What SAP answers to our IDocs (ALEAUD, STATUS): delivered and posted are two states. An answer is an acknowledgement of
 * a delivery (ADR 0019) and is stored as one; what SAP could not post is in SAP all the same, so the sink's inspection
 * tells a person of it. Of several answers to one IDoc the last one counts: somebody in SAP may have processed it again.
 */

/** What SAP will name an IDoc of ours by. */
export const referenceTo = (docnum: string): Reference => ({
  exchange: `idoc ${docnum}`,
  item: "",
});

/** Files of nothing but ALEAUD and STATUS. */
export const answersReader: RecordReader = {
  form: "idoc.answers",
  restates: false,
  reads: "XML",
  bytesMax: XML_BYTES_MAX,
  read(bytes, file) {
    const idocs = idocsIn(bytes, file);
    const acknowledgements = idocs.flatMap(answersOf);
    return { changes: [], documents: idocs.length, notices: [], acknowledgements };
  },
};

/** Each has 20 characters, and 50 since release 4.0. */
const PARAMETERS = [
  ["STAPA1_LNG", "STAPA1"],
  ["STAPA2_LNG", "STAPA2"],
  ["STAPA3_LNG", "STAPA3"],
  ["STAPA4_LNG", "STAPA4"],
] as const;

/**
 * Of one IDoc. ALEAUD has one E1STATE for each of our IDocs, below the E1ADHDR of their message; the IDoc's own time is all the
 * time there is. @throws FileFault
 */
function answersOf({ control, records, origin }: Idoc): Acknowledgement[] {
  const message = field(control, "EDI_DC40", "MESTYP");
  const isAleaud = message === "ALEAUD";
  if (!isAleaud && message !== "STATUS")
    throw new FileFault(`has the message ${message ?? "none"}; answers are ALEAUD or STATUS`);
  const segment = isAleaud ? "E1STATE" : "E1STATS";
  const above = isAleaud ? records.filter(({ name }) => name === "E1ADHDR") : [{ below: records }];
  const states = above.flatMap((one) => below(one, segment));
  if (states.length === 0) throw new FileFault(`has no ${segment} in ${origin}`);
  return states.map((state): Acknowledgement => {
    // Of SAP's clock: `YYYYMMDDHHMMSS`.
    const moment = isAleaud
      ? [field(control, "EDI_DC40", "CREDAT"), field(control, "EDI_DC40", "CRETIM")]
      : [field(state, "E1STATS", "LOGDAT"), field(state, "E1STATS", "LOGTIM")];
    const at = moment.join("");
    const docnum = field(state, segment, "DOCNUM");
    const status = field(state, segment, "STATUS") ?? "";
    // An answer to nothing, or that says nothing.
    if (docnum === null || !/^\d{2}$/.test(status))
      throw new FileFault(`has an answer without DOCNUM or STATUS in ${origin}`);
    const isDecided = !PENDING.has(status);
    const verdict = POSTED.has(status) ? "accepted" : isDecided ? "refused" : "awaited";
    const { words, reason } = saidIn(state, segment);
    return {
      ...referenceTo(docnum.padStart(16, "0")),
      verdict,
      detail: `status ${status}${momentOf(at)}: ${words}`,
      reason: `status ${status}: ${reason}`,
      at,
    };
  });
}

/** Posted, as the receiver says or as the sender is told of it: nothing is left to do. */
const POSTED = new Set(["53", "41"]);
/** On its way inside SAP: received, passed on, waiting. */
const PENDING = new Set(["50", "62", "64", "66", "69", "39"]);

/** Two refusals with one text are two: the time tells them apart. */
const momentOf = (at: string): string =>
  /^\d{14}$/.test(at)
    ? ` of ${at.slice(0, 4)}-${at.slice(4, 6)}-${at.slice(6, 8)} ${at.slice(8, 10)}:${at.slice(10, 12)}`
    : "";

/**
 * SAP's text with its parameters in place of `&`, `&1` and `$1`, and the message's class and number as its people know it. `reason`:
 * with none of the parameters.
 */
function saidIn(state: Read, segment: "E1STATE" | "E1STATS"): { words: string; reason: string } {
  const said = (name: FieldName<"E1STATE" | "E1STATS">) => field(state, segment, name);
  const parameters = PARAMETERS.map(([long, short]) => said(long) ?? said(short));
  const id = [said("STAMID"), said("STAMNO")].filter(Boolean).join(" ") || said("STACOD");
  const text = (said("STATXT") ?? "").replaceAll(/\s+/g, " ").trim();
  let next = 0;
  const filled = text.replaceAll(
    /[&$](\d)?/g,
    (_, place: string | undefined) =>
      parameters[place === undefined ? next++ : Number(place) - 1] ?? "",
  );
  const values = parameters.filter((one) => one !== null);
  // One or two characters may be part of any word.
  const long = values.filter(({ length }) => length > 2);
  const withId = (words: string): string =>
    [words, id === null ? "" : `(${id})`].filter(Boolean).join(" ") || "no text";
  return {
    words: withId(filled.replaceAll(/\s+/g, " ").trim() || values.join(" ")),
    reason: withId(long.reduce((all, value) => all.replaceAll(value, "&"), text)),
  };
}

/** How SAP has an IDoc that was delivered: in words, and why, where a person is needed; null: no one is. */
export function standingOf(
  { told, deliveredAt }: Pick<Delivered, "told" | "deliveredAt">,
  { withinHours }: AnswerSettings,
  now: Date,
): Pick<Difference, "held" | "reason"> | null {
  if (told?.verdict === "accepted") return null;
  if (told?.verdict === "refused")
    return { held: told.detail, ...defined({ reason: told.reason }) };
  if (withinHours === undefined || deliveredAt === undefined) return null;
  const hours = (now.getTime() - Date.parse(deliveredAt)) / HOUR_MS;
  if (hours < withinHours) return null;
  const late = `no answer within ${withinHours} hours`;
  if (told === undefined) return { held: late, reason: late };
  return { held: `${told.detail}, and nothing since for ${withinHours} hours` };
}

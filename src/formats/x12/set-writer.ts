import type { FaultCode } from "../../core/faults.ts";
import { Decimal } from "../../core/decimal.ts";
import { Refused } from "../../core/errors.ts";
import { usageOf, type X12Options } from "./config.ts";
import {
  dateOf,
  type Element,
  elementErrors,
  faultOf,
  mostOf,
  segments as known,
  withoutPoint,
} from "./grammar.ts";

/** To the cent, halves away from zero, as most partners do. */
export const roundHalfUp = (value: Decimal): Decimal => value.round(2, "away");

/** Does a product come to this amount, however halves are rounded? */
export const isOneOf = (product: Decimal, amount: Decimal): boolean =>
  product.round(2).equals(amount) && roundHalfUp(product).equals(amount);

/*
 * Segments and envelopes as text. Every element is checked by the table of elements; nothing is cut, and text is changed
 * only by the rule that the site has chosen.
 */

/** Text for people, in which characters may be replaced where the site says so ({@link X12Options.text}). */
export class Words {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Null, and nothing at the end: the element is left out. A day is `YYYY-MM-DD`. */
export type Value = string | Decimal | Words | null;

/** Basic and extended, as X12.5 has them. */
const CHARACTERS = {
  basic: /[A-Z0-9!"&'()*+,\-./:;?= ]/,
  extended: /[A-Za-z0-9!"&'()*+,\-./:;?=%~@[\]_{}\\|<>#$ ]/,
} as const;

/** What one segment cannot have as text: the delimiters of the file. */
const delimitersOf = ({ separators, version }: X12Options): string[] => [
  separators.element,
  separators.component,
  separators.segment,
  ...(version === "005010" ? [separators.repetition] : []),
];

/** A value with the field of the document that it is: a refusal names it. */
type Named = readonly [field: string, value: Value];
export const named = (field: string, value: Value): Named => [field, value];

/** A segment: its name and its elements; those that are left out at the end are not there. */
export type Row = readonly [id: string, ...elements: readonly (Value | Named)[]];

/** A set from ST to SE; `place`: in its group, from 0. @throws Refused */
export function setText(
  options: X12Options,
  id: string,
  place: number,
  rows: readonly Row[],
): string[] {
  const control = setControlOf(place);
  const segments = [["ST", id, control] as const, ...rows].map((row) => segment(options, row));
  return [...segments, segment(options, ["SE", String(segments.length + 1), control])];
}

/** The control number of a set by its place in the group, from 0. */
export const setControlOf = (place: number): string => String(place + 1).padStart(4, "0");

interface Envelope {
  readonly functionalId: string;
  /** ISA13 and GS06: 0 to 999999999. */
  readonly control: number;
  /** ISO 8601 UTC. */
  readonly at: string;
}

/** An interchange with one group. `sets`: each from ST to SE. */
export function interchange(
  options: X12Options,
  { functionalId, control, at }: Envelope,
  sets: readonly (readonly string[])[],
): string {
  const { us, partner, version, separators } = options;
  const [date = "", time = ""] = at.slice(0, 16).split("T");
  const day = date.replaceAll("-", "");
  const clock = time.replace(":", "");
  const number = String(control).padStart(9, "0");
  const isa = [
    "ISA",
    "00",
    " ".repeat(10),
    "00",
    " ".repeat(10),
    us.qualifier,
    us.id.padEnd(15),
    partner.qualifier,
    partner.id.padEnd(15),
    day.slice(2),
    clock,
    version === "005010" ? separators.repetition : "U",
    version.slice(0, 5) === "00501" ? "00501" : "00401",
    number,
    "0",
    usageOf(options),
    separators.component,
  ].join(separators.element);
  const gs: Row = [
    "GS",
    functionalId,
    us.group ?? us.id,
    partner.group ?? partner.id,
    date,
    clock,
    String(control),
    "X",
    version,
  ];
  const lines = [
    isa,
    segment(options, gs),
    ...sets.flat(),
    segment(options, ["GE", String(sets.length), String(control)]),
    segment(options, ["IEA", "1", number]),
  ];
  return lines.map((line) => `${line}${separators.segment}${LINE_ENDS[options.lineEnds]}`).join("");
}

const LINE_ENDS = { none: "", lf: "\n", crlf: "\r\n" } as const;

/** @throws Refused naming the field and the element that it does not fit */
function segment(options: X12Options, [id, ...elements]: Row): string {
  const table = known[id];
  if (table === undefined) throw new TypeError(`no segment ${id} is known`);
  const written = table.map((element, at) => {
    const place = `${id}${String(at + 1).padStart(2, "0")}`;
    const given = elements[at] ?? null;
    const [field, value] = Array.isArray(given) ? (given as Named) : [place, given as Value];
    return elementText(options, element, value, place, field);
  });
  while (written.at(-1) === "") written.pop();
  return [id, ...written].join(options.separators.element);
}

function elementText(
  options: X12Options,
  element: Element,
  value: Value,
  place: string,
  field: string,
): string {
  const refused = (code: FaultCode, message: string, next: string): Refused =>
    new Refused({ code, message: `${field} ${message}`, next, field });
  const text = textOf(value, element, (message) =>
    refused("does-not-fit-x12", `${message} (${place})`, NEXT),
  );
  if (text === "" && !element.mandatory) return "";
  if (text === "") throw refused("missing", `is empty; ${place} needs it`, NEXT);
  const fitting =
    value instanceof Words && options.text === "replace" ? replaced(options, text) : text;
  const foreign = foreignTo(options, fitting);
  if (foreign !== null)
    throw refused(
      "does-not-fit-x12",
      `has the character "${foreign}", which ${place} cannot have in this interchange`,
      value instanceof Words
        ? "Take it out where the document comes from; or set text: replace for this partner."
        : NEXT,
    );
  const most = mostOf(element, options.version);
  const fault = faultOf(fitting, element, most);
  if (fault === elementErrors.tooLong)
    throw refused(
      "too-long-for-x12",
      `is ${fitting.length} characters long; ${place} has room for ${most}: "${fitting.slice(0, 60)}"`,
      "Shorten it where the document comes from; or send this one to the partner by hand and close it here.",
    );
  if (fault !== null)
    throw refused(
      "does-not-fit-x12",
      `is "${fitting.slice(0, 60)}", which ${place} cannot have`,
      NEXT,
    );
  return fitting;
}

const NEXT =
  "Correct it where the document comes from; or send this one to the partner by hand and close it here.";

function textOf(value: Value, { type }: Element, refused: (message: string) => Refused): string {
  try {
    if (value === null) return "";
    if (value instanceof Words) return value.text.trim().replace(/ +/g, " ");
    if (value instanceof Decimal) return type === "N2" ? withoutPoint(value, 2) : value.plain();
    return type === "DT" ? dateOf(value) : value;
  } catch (error) {
    if (error instanceof RangeError) throw refused(error.message);
    throw error;
  }
}

/** The first character that does not belong; null: all do. */
function foreignTo(options: X12Options, text: string): string | null {
  const delimiters = delimitersOf(options);
  const allowed = CHARACTERS[options.characters];
  for (const character of text)
    if (delimiters.includes(character) || !allowed.test(character)) return character;
  return null;
}

/** Each letter or sign that has no accent to lose, with what it becomes. */
const LETTERS = new Map(
  "ß=ss Æ=AE æ=ae Ø=O ø=o Œ=OE œ=oe Ł=L ł=l Đ=D đ=d Þ=TH þ=th ‘=' ’=' “=\" ”=\" –=- —=- …=... €=EUR"
    .split(" ")
    .map((pair) => [pair.slice(0, 1), pair.slice(2)]),
);

/**
 * The written rule: accents fall away, ligatures and signs become what stands in {@link LETTERS}, with basic characters
 * letters become capitals, and whatever then does not belong becomes a blank; blanks in a row become one.
 */
function replaced(options: X12Options, text: string): string {
  const plain = Array.from(text, (character) => LETTERS.get(character) ?? character)
    .join("")
    .normalize("NFKD")
    .replace(/\p{M}/gu, "");
  const cased = options.characters === "basic" ? plain.toUpperCase() : plain;
  return Array.from(cased, (character) =>
    foreignTo(options, character) === null ? character : " ",
  )
    .join("")
    .replace(/ +/g, " ")
    .trim();
}

/** How long a piece of text for people is. */
const PIECE = 80;

/** Text in pieces, cut at blanks; a word that is longer than a piece fills it, which tells {@link joined}. */
export function pieces(text: string): Words[] {
  const cut: string[] = [];
  let rest = text.trim().replace(/ +/g, " ");
  while (rest.length > PIECE) {
    const blank = rest.lastIndexOf(" ", PIECE - 1);
    const at = blank > 0 ? blank : PIECE;
    cut.push(rest.slice(0, at));
    rest = rest.slice(at).trimStart();
  }
  return [...cut, ...(rest === "" ? [] : [rest])].map((piece) => new Words(piece));
}

/** What {@link pieces} made of a text; null: nothing. */
export function joined(parts: readonly string[]): string | null {
  let text = "";
  for (const [at, part] of parts.entries())
    text += `${at === 0 || parts[at - 1]?.length === PIECE ? "" : " "}${part}`;
  return text === "" ? null : text;
}

import { Decimal } from "../../core/decimal.ts";
import {
  type ElementFault,
  type Segment,
  type SegmentFault,
  setErrors,
  type TransactionSet,
} from "./syntax.ts";

/**
 * The segments of X12 that this connector reads and writes: of each element its number in the data element dictionary,
 * its type and its lengths, as in release 004010. Everything that is checked and written is checked by this one table.
 */

/**
 * `N0`, `N2`: digits, the last 0 or 2 of which are decimals. `R`: a number with its decimal point. `DT`: CCYYMMDD.
 * `TM`: HHMM, HHMMSS and finer. `ID`: a code. `AN`: text. `C`: a composite, of which the first component counts.
 */
export type ElementType = "N0" | "N2" | "R" | "DT" | "TM" | "ID" | "AN" | "C";

export interface Element {
  /** In the data element dictionary: what a 997 names in AK402. */
  readonly number: number;
  readonly type: ElementType;
  readonly min: number;
  /** Of `N0`, `N2` and `R` digits: sign and decimal point do not count. */
  readonly max: number;
  readonly mandatory: boolean;
}

/** The releases that are read and written. */
export const versions = ["004010", "005010"] as const;
export type Version = (typeof versions)[number];

const el = (number: number, type: ElementType, min: number, max: number): Element => ({
  number,
  type,
  min,
  max,
  mandatory: false,
});
const must = (element: Element): Element => ({ ...element, mandatory: true });

const date = el(373, "DT", 8, 8);
const time = el(337, "TM", 4, 8);
const text80 = el(352, "AN", 1, 80);
const entity = el(98, "ID", 2, 3);
const reference = el(127, "AN", 1, 30);
const refQualifier = el(128, "ID", 2, 3);
const idQualifier = el(66, "ID", 1, 2);
const money = el(782, "R", 1, 18);
const amountInCents = el(610, "N2", 1, 15);
const unit = el(355, "ID", 2, 2);
const unitPrice = el(212, "R", 1, 17);
const lineId = el(350, "AN", 1, 20);
const quantity = el(380, "R", 1, 15);
const compositeUnit = el(355, "C", 2, 2);
const groupControl = el(28, "N0", 1, 9);
const setControl = el(329, "AN", 4, 9);
const functionalId = el(479, "ID", 2, 2);
const setId = el(143, "ID", 3, 3);
const setCount = el(97, "N0", 1, 6);
const syntaxError = el(718, "ID", 1, 3);
const groupError = el(716, "ID", 1, 3);
const purpose = el(353, "ID", 2, 2);
const priceBasis = el(639, "ID", 2, 2);
const agreement = el(591, "ID", 3, 3);
const bank = [el(506, "ID", 2, 2), el(507, "AN", 3, 12), el(569, "ID", 1, 3), el(508, "AN", 1, 35)];
const catalogue = el(683, "ID", 2, 2);
const edition = [el(684, "AN", 1, 15), el(685, "AN", 1, 15), el(686, "AN", 1, 6)];
const productIds = Array.from({ length: 10 }, () => [el(235, "ID", 2, 2), el(234, "AN", 1, 48)]);

/** By the segment's name; the first element is 01. What is not here is not read, and passes. */
export const segments: Readonly<Record<string, readonly Element[]>> = {
  GS: [
    must(functionalId),
    must(el(142, "AN", 2, 15)),
    must(el(124, "AN", 2, 15)),
    must(date),
    must(time),
    must(groupControl),
    must(el(455, "ID", 1, 2)),
    must(el(480, "AN", 1, 12)),
  ],
  GE: [must(setCount), must(groupControl)],
  ST: [must(setId), must(setControl), el(1705, "AN", 1, 35)],
  SE: [must(el(96, "N0", 1, 10)), must(setControl)],
  IEA: [must(el(16, "N0", 1, 5)), must(el(12, "N0", 9, 9))],

  BIG: [
    must(date),
    must(el(76, "AN", 1, 22)),
    date,
    el(324, "AN", 1, 22),
    el(328, "AN", 1, 30),
    el(327, "AN", 1, 8),
    el(640, "ID", 2, 2),
    purpose,
    el(306, "ID", 1, 2),
    el(76, "AN", 1, 22),
  ],
  NTE: [el(363, "ID", 3, 3), must(text80)],
  CUR: [must(entity), must(el(100, "ID", 3, 3)), el(280, "R", 4, 10)],
  REF: [must(refQualifier), reference, text80],
  N1: [must(entity), el(93, "AN", 1, 60), idQualifier, el(67, "AN", 2, 80)],
  N3: [must(el(166, "AN", 1, 55)), el(166, "AN", 1, 55)],
  N4: [el(19, "AN", 2, 30), el(156, "ID", 2, 2), el(116, "ID", 3, 15), el(26, "ID", 2, 3)],
  ITD: [
    el(336, "ID", 2, 2),
    el(333, "ID", 1, 2),
    el(338, "R", 1, 6),
    el(370, "DT", 8, 8),
    el(351, "N0", 1, 3),
    el(446, "DT", 8, 8),
    el(386, "N0", 1, 3),
    el(362, "N2", 1, 10),
    el(388, "DT", 8, 8),
    el(389, "N2", 1, 10),
    el(342, "R", 1, 5),
    text80,
  ],
  DTM: [must(el(374, "ID", 3, 3)), date, time, el(623, "ID", 2, 2)],
  IT1: [lineId, el(358, "R", 1, 10), unit, unitPrice, priceBasis, ...productIds.flat()],
  PO1: [lineId, el(330, "R", 1, 15), unit, unitPrice, priceBasis, ...productIds.flat()],
  TXI: [
    must(el(963, "ID", 2, 2)),
    money,
    el(954, "R", 1, 10),
    el(955, "ID", 2, 2),
    el(956, "AN", 1, 10),
    el(441, "ID", 1, 1),
    el(662, "ID", 1, 1),
    el(828, "R", 1, 9),
    el(325, "AN", 1, 20),
    lineId,
  ],
  MEA: [el(737, "ID", 2, 2), el(738, "ID", 1, 3), el(739, "R", 1, 20), compositeUnit],
  PID: [
    must(el(349, "ID", 1, 1)),
    el(750, "ID", 2, 3),
    el(559, "ID", 2, 2),
    el(751, "AN", 1, 12),
    text80,
  ],
  SAC: [
    must(el(248, "ID", 1, 1)),
    el(1300, "ID", 4, 4),
    el(559, "ID", 2, 2),
    el(1301, "AN", 1, 10),
    amountInCents,
    el(378, "ID", 1, 1),
    el(332, "R", 1, 6),
    el(118, "R", 1, 9),
    unit,
    quantity,
    quantity,
    el(331, "ID", 2, 2),
    reference,
    el(770, "AN", 1, 20),
    text80,
  ],
  TDS: [must(amountInCents), amountInCents, amountInCents, amountInCents],
  CTT: [must(el(354, "N0", 1, 6)), el(347, "R", 1, 10)],

  BCT: [must(catalogue), ...edition, catalogue, ...edition, text80, purpose],
  G53: [must(el(875, "ID", 3, 3))],
  LIN: [lineId, ...productIds.flat().map((one, at) => (at < 2 ? must(one) : one))],
  CTP: [
    el(687, "ID", 2, 2),
    el(236, "ID", 3, 3),
    unitPrice,
    quantity,
    compositeUnit,
    el(648, "ID", 3, 3),
    el(649, "R", 1, 10),
    money,
    priceBasis,
    el(499, "AN", 1, 10),
    el(289, "N0", 1, 2),
  ],

  BPR: [
    must(el(305, "ID", 1, 2)),
    must(money),
    must(el(478, "ID", 1, 1)),
    must(agreement),
    el(812, "ID", 1, 10),
    ...bank,
    el(509, "AN", 10, 10),
    el(510, "AN", 9, 9),
    ...bank,
    date,
  ],
  TRN: [must(el(481, "ID", 1, 2)), must(reference), el(509, "AN", 10, 10), reference],
  ENT: [el(554, "N0", 1, 6), entity, idQualifier, el(67, "AN", 2, 80)],
  RMR: [refQualifier, reference, el(482, "ID", 2, 2), money, money, money],
  ADX: [must(money), must(el(426, "ID", 2, 2)), refQualifier, reference],

  BEG: [
    must(purpose),
    must(el(92, "ID", 2, 2)),
    must(el(324, "AN", 1, 22)),
    el(328, "AN", 1, 30),
    must(date),
    el(367, "AN", 1, 30),
  ],

  N9: [must(refQualifier), reference],
  MSG: [must(el(933, "AN", 1, 264))],
  MTX: [el(363, "ID", 3, 3), must(el(1551, "AN", 1, 4096))],

  AK1: [must(functionalId), must(groupControl)],
  AK2: [must(setId), must(setControl)],
  AK3: [
    must(el(721, "ID", 2, 3)),
    must(el(719, "N0", 1, 6)),
    el(447, "AN", 1, 6),
    el(720, "ID", 1, 3),
  ],
  AK4: [
    must(el(722, "C", 1, 2)),
    el(725, "N0", 1, 4),
    must(el(723, "ID", 1, 3)),
    el(724, "AN", 1, 99),
  ],
  AK5: [must(el(717, "ID", 1, 1)), ...Array.from({ length: 5 }, () => syntaxError)],
  AK9: [
    must(el(715, "ID", 1, 1)),
    must(setCount),
    must(el(123, "N0", 1, 6)),
    must(el(2, "N0", 1, 6)),
    ...Array.from({ length: 5 }, () => groupError),
  ],
};

/** Lengths that release 005010 has otherwise. */
const LONGER_IN_5010: ReadonlyMap<number, number> = new Map([
  [127, 50],
  [358, 15],
  [719, 10],
]);

/** How long an element may be in a release. */
export const mostOf = ({ number, max }: Element, version: Version): number =>
  version === "005010" ? (LONGER_IN_5010.get(number) ?? max) : max;

/* Values of elements as text and back. No number passes through a double. */

/** `123` of `N2` is 1.23; null: it is not digits with an optional sign. */
export function impliedDecimals(text: string, places: number): Decimal | null {
  const [, sign = "", digits] = /^(-?)(\d+)$/.exec(text) ?? [];
  if (digits === undefined) return null;
  const whole = digits.padStart(places + 1, "0");
  const at = whole.length - places;
  const integer = whole.slice(0, at).replace(/^0+(?=\d)/, "");
  return Decimal.of(`${sign}${integer}${places === 0 ? "" : `.${whole.slice(at)}`}`);
}

/** `N2` of 1.23 is `123`. @throws RangeError for a value with more decimals */
export function withoutPoint(value: Decimal, places: number): string {
  if (!value.round(places).equals(value))
    throw new RangeError(`is ${value.text}, which has more than ${places} decimals`);
  const digits = value.round(places).fixed(places).replace(".", "");
  return digits.replace(/^(-?)0+(?=\d)/, "$1");
}

/** An `R` with or without a point (`.5`, `12.`, `-3.10`); null: it is none. Exponents are refused. */
export function explicitDecimal(text: string): Decimal | null {
  const [, sign = "", integer = "", fraction = ""] = /^([+-]?)(\d*)(?:\.(\d*))?$/.exec(text) ?? [];
  if (integer === "" && fraction === "") return null;
  const whole = integer.replace(/^0+(?=\d)/, "") || "0";
  return Decimal.of(`${sign === "-" ? "-" : ""}${whole}${fraction === "" ? "" : `.${fraction}`}`);
}

/** `20261118` as `2026-11-18`; null: it is no day of the calendar. */
export function dayOf(text: string): string | null {
  const [, year, month, day] = /^(\d{4})(\d\d)(\d\d)$/.exec(text) ?? [];
  if (year === undefined || month === undefined || day === undefined) return null;
  const at = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  const shown = `${year}-${month}-${day}`;
  return at.toISOString().startsWith(shown) ? shown : null;
}

/** `2026-11-18` as `20261118`. @throws RangeError */
export function dateOf(day: string): string {
  const date = day.replaceAll("-", "");
  if (dayOf(date) !== day) throw new RangeError(`is "${day}", which is no day`);
  return date;
}

/** Of a composite of codes and numbers, whatever separates them. */
export const componentsOf = (value: string): string[] => value.split(/[^A-Za-z0-9.-]/);

/** HHMM, HHMMSS, and up to hundredths of a second. */
const isTime = (text: string): boolean =>
  /^(?:[01]\d|2[0-3])[0-5]\d(?:[0-5]\d(?:\d{1,2})?)?$/.test(text);

/** The codes of data element 723 that this connector tells: what is wrong with an element. */
export const elementErrors = {
  missing: "1",
  tooMany: "3",
  tooShort: "4",
  tooLong: "5",
  badCharacter: "6",
  badCode: "7",
  badDate: "8",
  badTime: "9",
} as const;

/** Why a value does not fit its element, as a code of data element 723; null: it fits. `most`: its greatest length. */
export function faultOf(value: string, { type, min }: Element, most: number): string | null {
  if (/[\p{Cc}\ufffd]/u.test(value)) return elementErrors.badCharacter;
  if (type === "DT") return dayOf(value) === null ? elementErrors.badDate : null;
  if (type === "TM") return isTime(value) ? null : elementErrors.badTime;
  const isNumber = type === "N0" || type === "N2" || type === "R";
  if (isNumber) {
    const number = type === "R" ? explicitDecimal(value) : impliedDecimals(value, 0);
    if (number === null) return elementErrors.badCharacter;
  }
  const text = type === "C" ? (componentsOf(value)[0] ?? "") : value;
  const length = isNumber ? value.replace(/[^\d]/g, "").length : text.length;
  if (length > most) return elementErrors.tooLong;
  return length < min ? elementErrors.tooShort : null;
}

/* Whether the segments of a set fit the table of elements: what a 997 says of it. */

/** Codes of data element 720. */
const segmentErrors = { missing: "3", hasElementErrors: "8" } as const;

export interface SetVerdict {
  readonly set: TransactionSet;
  readonly verdict: "accepted" | "with-errors" | "rejected";
  /** Codes of data element 718. */
  readonly errors: readonly string[];
  readonly faults: readonly SegmentFault[];
}

/** `needed`: segments that a set of this kind cannot be read without. Null: this kind is not read here. */
export function verdictOf(
  set: TransactionSet,
  version: Version,
  needed: readonly string[] | null,
): SetVerdict {
  if (needed === null && set.errors.length === 0)
    return { set, verdict: "rejected", errors: [setErrors.unsupported], faults: [] };
  const faults = [
    ...set.segments.flatMap((segment, at) => faultOfSegment(segment, at + 1, version) ?? []),
    ...(needed ?? []).flatMap((id) => missing(set, id)),
  ];
  const isRejected =
    set.errors.length > 0 ||
    faults.some(
      ({ code, elements }) =>
        code !== segmentErrors.hasElementErrors || !elements.every(isHarmless),
    );
  if (!isRejected)
    return { set, verdict: faults.length === 0 ? "accepted" : "with-errors", errors: [], faults };
  const errors = [...set.errors, ...(faults.length > 0 ? [setErrors.segments] : [])];
  return { set, verdict: "rejected", errors, faults };
}

function missing(set: TransactionSet, id: string): SegmentFault[] {
  if (set.segments.some((segment) => segment.id === id)) return [];
  const position = set.segments.length;
  return [{ segment: id, position, code: segmentErrors.missing, elements: [] }];
}

function faultOfSegment(
  { id, elements }: Segment,
  position: number,
  version: Version,
): SegmentFault | null {
  const table = segments[id];
  if (table === undefined) return null;
  const faults: ElementFault[] = table.flatMap((element, at): ElementFault[] => {
    const value = elements[at] ?? "";
    if (value === "" && !element.mandatory) return [];
    const code =
      value === "" ? elementErrors.missing : faultOf(value, element, mostOf(element, version));
    return code === null ? [] : [{ position: at + 1, number: element.number, code, value }];
  });
  const first = elements[table.length];
  if (first !== undefined && table.length < elements.length)
    faults.push({
      position: table.length + 1,
      number: 0,
      code: elementErrors.tooMany,
      value: first,
    });
  if (faults.length === 0) return null;
  return { segment: id, position, code: segmentErrors.hasElementErrors, elements: faults };
}

const ELEMENT_WORDS: Readonly<Record<string, string>> = {
  [elementErrors.missing]: "is missing",
  "2": "is missing beside another one",
  [elementErrors.tooMany]: "is one too many",
  [elementErrors.tooShort]: "is too short",
  [elementErrors.tooLong]: "is too long",
  [elementErrors.badCharacter]: "has a character that is not allowed",
  [elementErrors.badCode]: "has a code that is not known",
  [elementErrors.badDate]: "is no date",
  [elementErrors.badTime]: "is no time",
  "10": "must not stand beside another one",
};

const SEGMENT_WORDS: Readonly<Record<string, string>> = {
  "1": "is not known",
  "2": "was not expected",
  [segmentErrors.missing]: "is missing",
  "4": "stands in a loop that is repeated too often",
  "5": "is repeated too often",
  "6": "is not part of this set",
  "7": "is not in its place",
  [segmentErrors.hasElementErrors]: "has wrong elements",
};

const SET_WORDS: Readonly<Record<string, string>> = {
  [setErrors.unsupported]: "the set is not supported",
  [setErrors.noTrailer]: "its SE is missing",
  [setErrors.otherControl]: "its control numbers in ST and SE differ",
  [setErrors.otherCount]: "the number of its segments is not that of SE01",
  [setErrors.segments]: "segments are in error",
  [setErrors.noHeader]: "its ST is missing",
  [setErrors.badControl]: "its control number is missing, wrong or there twice",
};

const GROUP_WORDS: Readonly<Record<string, string>> = {
  "1": "the group is not supported",
  "2": "the version is not supported",
  "3": "its GE is missing",
  "4": "its control numbers in GS and GE differ",
  "5": "the number of its sets is not that of GE01",
  "6": "its control number is wrong",
};

const worded = (words: Readonly<Record<string, string>>, code: string): string =>
  `${words[code] ?? "code"} (${code})`;

/** `BIG02 is too long (5): "INV…"`, one for each fault; segments by their place in the set. */
export function faultsInWords(faults: readonly SegmentFault[]): string[] {
  return faults.flatMap(({ segment, position, code, elements }) =>
    elements.length === 0
      ? [`segment ${position}, ${segment} ${worded(SEGMENT_WORDS, code)}`]
      : elements.map(
          ({ position: element, code, value }) =>
            `segment ${position}, ${segment}${String(element).padStart(2, "0")} ` +
            `${worded(ELEMENT_WORDS, code)}${value === "" ? "" : `: "${shown(value)}"`}`,
        ),
  );
}

export const setErrorsInWords = (codes: readonly string[]): string[] =>
  codes.map((code) => worded(SET_WORDS, code));

export const groupErrorsInWords = (codes: readonly string[]): string[] =>
  codes.map((code) => worded(GROUP_WORDS, code));

/** What came from outside, safe to show. */
const shown = (value: string): string =>
  value.slice(0, 60).replace(/[^\x20-\x7e\u00a0-\u00ff]/g, "?");

/** Is a fault one of those that still let a set be read? Too short, or more elements than the segment has. */
const isHarmless = ({ code }: Pick<ElementFault, "code">): boolean =>
  code === elementErrors.tooShort || code === elementErrors.tooMany;

/**
 * The bytes of an X12 file as interchanges, groups and transaction sets. Delimiters are read from the data, for ISA is of
 * fixed width; all counts and control numbers are checked. What the file's order rests on (ISA, IEA, GS, GE) must be
 * right, or nothing of it is trusted; what is wrong in a set is a fault of that set.
 */
import { Decimal, withPoint } from "../../core/decimal.ts";
import { dayOfDigits } from "../../core/time.ts";
import { FileFault } from "../format.ts";

export interface Segment {
  readonly id: string;
  /** The first is element 01. Left-out ones at the end are not there. */
  readonly elements: readonly string[];
  /** Which segment of the file it is, from 1. */
  readonly at: number;
}

/** What is wrong with a segment of a set, in the words of AK3 and AK4. */
export interface SegmentFault {
  readonly segment: string;
  /** In its set, from 1 at ST. */
  readonly position: number;
  /** Data element 720. */
  readonly code: string;
  readonly elements: readonly ElementFault[];
}

interface ElementFault {
  /** From 1. */
  readonly position: number;
  /** In the data element dictionary. */
  readonly number: number;
  /** Data element 723. */
  readonly code: string;
  readonly value: string;
}

/** The codes of a data element, which are numbers from 1, by what each is called here. */
const numbered = <const Name extends string>(words: Readonly<Record<Name, string>>) =>
  Object.fromEntries(Object.keys(words).map((name, at) => [name, String(at + 1)])) as Record<
    Name,
    string
  >;

/** Data element 718. */
const SET_WORDS = {
  unsupported: "the set is not supported",
  noTrailer: "its SE is missing",
  otherControl: "its control numbers in ST and SE differ",
  otherCount: "the number of its segments is not that of SE01",
  segments: "segments are in error",
  noHeader: "its ST is missing",
  badControl: "its control number is missing, wrong or there twice",
} as const;
const setErrors = numbered(SET_WORDS);

/** Data element 716. */
const GROUP_WORDS = {
  unsupported: "the group is not supported",
  otherVersion: "the version is not supported",
  noTrailer: "its GE is missing",
  otherControl: "its control numbers in GS and GE differ",
  otherCount: "the number of its sets is not that of GE01",
  badControl: "its control number is wrong",
} as const;
export const groupErrors = numbered(GROUP_WORDS);

/** Data element 720. */
const SEGMENT_WORDS = {
  unknown: "is not known",
  unexpected: "was not expected",
  missing: "is missing",
  tooManyLoops: "stands in a loop that is repeated too often",
  tooMany: "is repeated too often",
  foreign: "is not part of this set",
  misplaced: "is not in its place",
  hasElementErrors: "has wrong elements",
} as const;
const segmentErrors = numbered(SEGMENT_WORDS);

/** Data element 723: what is wrong with an element. */
const ELEMENT_WORDS = {
  missing: "is missing",
  missingBeside: "is missing beside another one",
  tooMany: "is one too many",
  tooShort: "is too short",
  tooLong: "is too long",
  badCharacter: "has a character that is not allowed",
  badCode: "has a code that is not known",
  badDate: "is no date",
  badTime: "is no time",
  excluded: "must not stand beside another one",
} as const;
export const elementErrors = numbered(ELEMENT_WORDS);

const NUL = String.fromCharCode(0);
/** What DOS wrote at the end of a file is one, too. */
const BLANKS: ReadonlySet<string> = new Set(["\r", "\n", "\t", " ", String.fromCharCode(26)]);
const ISA_LENGTH = 106;
/** Where the element separator stands in an ISA. */
const ISA_SEPARATORS = [3, 6, 17, 20, 31, 34, 50, 53, 69, 76, 81, 83, 89, 99, 101, 103];

export type Interchange = ReturnType<Reader["interchange"]>;
export type Group = ReturnType<Reader["group"]>;
export type TransactionSet = ReturnType<Reader["set"]>;

/** Every interchange of a file. @throws FileFault */
export function interchangesOf(text: string): Interchange[] {
  const reader = new Reader(text);
  const interchanges: Interchange[] = [];
  do interchanges.push(reader.interchange());
  while (!reader.atEnd());
  return interchanges;
}

class Reader {
  readonly #text: string;
  #position = 0;
  #count = 0;
  #delimiters = { element: "*", terminator: "~" };

  constructor(text: string) {
    this.#text = text;
    this.#skipBlanks();
  }

  atEnd(): boolean {
    return this.#position >= this.#text.length;
  }

  interchange() {
    this.#delimiters = this.#delimitersHere();
    const isa = this.#next("ISA");
    const value = (position: number): string => (isa.elements[position - 1] ?? "").trim();
    const groups: Group[] = [];
    const acknowledged: Segment[] = [];
    for (;;) {
      const segment = this.#next("IEA");
      if (segment.id === "TA1") acknowledged.push(segment);
      else if (segment.id === "GS") groups.push(this.group(segment));
      else if (segment.id === "IEA") {
        this.#checkTrailer(segment, value(13), groups.length);
        break;
      } else
        throw this.#fault(`has ${segmentName(segment)} where a group (GS) or IEA belongs`, segment);
    }
    return {
      sender: { qualifier: value(5), id: value(6) },
      receiver: { qualifier: value(7), id: value(8) },
      control: value(13),
      usage: value(15),
      groups,
      /** TA1 segments: what the partner says of interchanges of ours. */
      acknowledged,
    };
  }

  #checkTrailer(iea: Segment, control: string, groups: number): void {
    const [count = "", number = ""] = iea.elements;
    if (!/^\d{9}$/.test(control) || Number(control) === 0)
      throw this.#fault(`has the interchange control number "${control}" (ISA13)`, iea);
    if (number !== control)
      throw this.#fault(`ends with control number ${number} (IEA02); ISA13 is ${control}`, iea);
    if (Number(count) !== groups || !/^\d+$/.test(count))
      throw this.#fault(`has ${groups} groups; IEA01 says ${count}`, iea);
  }

  group(gs: Segment) {
    const [functionalId = "", , , , , control = "", , version = ""] = gs.elements;
    const sets: TransactionSet[] = [];
    const seen = new Set<string>();
    for (;;) {
      const segment = this.#next("GE");
      if (segment.id === "GE") {
        const [included = "", number = ""] = segment.elements;
        /** What is wrong with it: codes of data element 716. `included`: GE01; `functionalId`: `IN`, `SC`, `RA`, `PO`, `FA`. */
        const errors: string[] = [
          ...(Number(number) === Number(control) ? [] : [groupErrors.otherControl]),
          ...(Number(included) === sets.length ? [] : [groupErrors.otherCount]),
        ];
        return { functionalId, control, version, sets, included, errors };
      }
      if (segment.id === "GS" || segment.id === "IEA" || segment.id === "ISA")
        throw this.#fault(`has no GE before ${segmentName(segment)}`, segment);
      sets.push(this.set(segment, seen));
    }
  }

  /**
   * Up to its SE, or to what shows that it has none. `id`: `810`; empty: it has no ST. `segments`: from ST to SE. `errors`: what is
   * wrong with its envelope, codes of data element 718. `at`: which segment of the file it begins with.
   */
  set(first: Segment, seen: Set<string>) {
    const segments = [first];
    for (let last = first; last.id !== "SE";) {
      const ahead = this.#peek();
      if (ahead === null || ["ST", "GE", "GS", "IEA", "ISA"].includes(ahead)) break;
      last = this.#next("SE");
      segments.push(last);
    }
    const [id = "", control = ""] = first.id === "ST" ? first.elements : [];
    const last = segments.at(-1) ?? first;
    const errors: string[] = [];
    if (first.id !== "ST") errors.push(setErrors.noHeader);
    else if (!/^[A-Za-z0-9]{4,9}$/.test(control) || seen.has(control))
      errors.push(setErrors.badControl);
    if (last.id !== "SE") errors.push(setErrors.noTrailer);
    else {
      const [count = "", number = ""] = last.elements;
      if (first.id === "ST" && number !== control) errors.push(setErrors.otherControl);
      if (Number(count) !== segments.length || !/^\d+$/.test(count))
        errors.push(setErrors.otherCount);
    }
    seen.add(control);
    return { id, control, segments, errors, at: first.at };
  }

  /** @throws FileFault where the file does not begin with an ISA of the right width */
  #delimitersHere(): { element: string; terminator: string } {
    const start = this.#position;
    const isa = this.#text.slice(start, start + ISA_LENGTH);
    if (!isa.startsWith("ISA"))
      throw new FileFault("is no X12 interchange: it does not begin with ISA", this.#line(start));
    if (isa.length < ISA_LENGTH)
      throw new FileFault("is cut off in its ISA segment", this.#line(start));
    const element = isa[3] ?? "";
    if (!ISA_SEPARATORS.every((at) => isa[at] === element))
      throw new FileFault(
        `has an ISA segment whose elements are not of their fixed widths (separator "${element}")`,
        this.#line(start),
      );
    const component = isa[104] ?? "";
    const terminator = isa[105] ?? "";
    const eleventh = isa[82] ?? "";
    const repetition = /[A-Za-z0-9 ]/.test(eleventh) ? null : eleventh;
    const all = [element, component, terminator, ...(repetition === null ? [] : [repetition])];
    if (
      new Set(all).size !== all.length ||
      all.some((one) => one === NUL || /[A-Za-z0-9 ]/.test(one))
    )
      throw new FileFault(
        "has delimiters that are letters, digits or blanks, or twice the same",
        this.#line(start),
      );
    return { element, terminator };
  }

  #peek(): string | null {
    if (this.atEnd()) return null;
    const end = this.#text.indexOf(this.#delimiters.terminator, this.#position);
    const text = this.#text.slice(this.#position, end === -1 ? undefined : end);
    return text.split(this.#delimiters.element, 1)[0] ?? "";
  }

  /** `awaited`: what should have come before the file ends. @throws FileFault at its end */
  #next(awaited: string): Segment {
    const { element, terminator } = this.#delimiters;
    const start = this.#position;
    if (this.atEnd())
      throw new FileFault(`is cut off: it ends before ${awaited}`, this.#line(start));
    const end = this.#text.indexOf(terminator, start);
    if (end === -1) throw new FileFault("is cut off in the middle of a segment", this.#line(start));
    const [id = "", ...elements] = this.#text.slice(start, end).split(element);
    this.#position = end + terminator.length;
    this.#skipBlanks();
    this.#count++;
    while (elements.at(-1) === "") elements.pop();
    return { id, elements, at: this.#count };
  }

  /** Line ends and blanks after a terminator are no part of the next segment. */
  #skipBlanks(): void {
    while (BLANKS.has(this.#text[this.#position] ?? "")) this.#position++;
  }

  #fault(message: string, { at }: Segment): FileFault {
    return new FileFault(`${message} (segment ${at})`, this.#line(this.#position - 1));
  }

  #line(position: number): number {
    return this.#text.slice(0, position).split("\n").length;
  }
}

/** A name that could be anything. */
const segmentName = ({ id }: Segment): string =>
  /^[A-Z0-9]{1,3}$/.test(id) ? id : "something that is no segment";

/* Segments and their elements, as readers of sets ask for them. */

/** `BIG02`: element 2; null: it is empty. */
export const at = (segment: Segment | undefined, place: number): string | null => {
  const value = segment?.elements[place - 1]?.trim() ?? "";
  return value === "" ? null : value;
};

/** The first segment of this name, where element 1 is one of these; of any, where none is named. */
export const first = (
  segments: readonly Segment[],
  id: string,
  ...qualifiers: readonly string[]
): Segment | undefined =>
  qualifiers.length === 0
    ? segments.find((segment) => segment.id === id)
    : qualifiers
        .map((qualifier) => segments.find((one) => one.id === id && at(one, 1) === qualifier))
        .find((one) => one !== undefined);

export const all = (segments: readonly Segment[], id: string): Segment[] =>
  segments.filter((segment) => segment.id === id);

/** Each loop begins with a segment of this name, and ends before the next one or a segment that ends all loops. */
export function loops(
  segments: readonly Segment[],
  id: string,
  endedBy: readonly string[],
): { readonly before: Segment[]; readonly loops: Segment[][]; readonly after: Segment[] } {
  const start = segments.findIndex((segment) => segment.id === id);
  if (start === -1) return { before: [...segments], loops: [], after: [] };
  const length = segments.slice(start).findIndex((segment) => endedBy.includes(segment.id));
  const end = length === -1 ? segments.length : start + length;
  const found: Segment[][] = [];
  for (const segment of segments.slice(start, end))
    if (segment.id === id) found.push([segment]);
    else found.at(-1)?.push(segment);
  return { before: segments.slice(0, start), loops: found, after: segments.slice(end) };
}

/*
 * The segments of X12 that this connector reads and writes: of each element its number in the data element dictionary,
 * its type and its lengths, as in release 004010. Everything that is checked and written is checked by this one table.
 */
/**
 * `N0`, `N2`: digits, the last 0 or 2 of which are decimals. `R`: a number with its decimal point. `DT`: CCYYMMDD.
 * `TM`: HHMM, HHMMSS and finer. `ID`: a code. `AN`: text. `C`: a composite, of which the first component counts.
 */
type ElementType = "N0" | "N2" | "R" | "DT" | "TM" | "ID" | "AN" | "C";

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

/** The data element dictionary: the number of an element, its type, and its lengths. `355C`: 355 in a composite. */
const DICTIONARY = `
  2:N0:1-6 12:N0:9-9 16:N0:1-5 19:AN:2-30 26:ID:2-3 28:N0:1-9 66:ID:1-2 67:AN:2-80 76:AN:1-22
  92:ID:2-2 93:AN:1-60 96:N0:1-10 97:N0:1-6 98:ID:2-3 100:ID:3-3 116:ID:3-15 118:R:1-9 123:N0:1-6
  124:AN:2-15 127:AN:1-30 128:ID:2-3 142:AN:2-15 143:ID:3-3 156:ID:2-2 166:AN:1-55 212:R:1-17
  234:AN:1-48 235:ID:2-2 236:ID:3-3 248:ID:1-1 280:R:4-10 289:N0:1-2 305:ID:1-2 306:ID:1-2
  324:AN:1-22 325:AN:1-20 327:AN:1-8 328:AN:1-30 329:AN:4-9 330:R:1-15 331:ID:2-2 332:R:1-6
  333:ID:1-2 336:ID:2-2 337:TM:4-8 338:R:1-6 342:R:1-5 347:R:1-10 349:ID:1-1 350:AN:1-20
  351:N0:1-3 352:AN:1-80 353:ID:2-2 354:N0:1-6 355:ID:2-2 355C:C:2-2 358:R:1-10 362:N2:1-10
  363:ID:3-3 367:AN:1-30 370:DT:8-8 373:DT:8-8 374:ID:3-3 378:ID:1-1 380:R:1-15 386:N0:1-3
  388:DT:8-8 389:N2:1-10 426:ID:2-2 441:ID:1-1 446:DT:8-8 447:AN:1-6 455:ID:1-2 478:ID:1-1
  479:ID:2-2 480:AN:1-12 481:ID:1-2 482:ID:2-2 499:AN:1-10 506:ID:2-2 507:AN:3-12 508:AN:1-35
  509:AN:10-10 510:AN:9-9 554:N0:1-6 559:ID:2-2 569:ID:1-3 591:ID:3-3 610:N2:1-15 623:ID:2-2
  639:ID:2-2 640:ID:2-2 648:ID:3-3 649:R:1-10 662:ID:1-1 683:ID:2-2 684:AN:1-15 685:AN:1-15
  686:AN:1-6 687:ID:2-2 715:ID:1-1 716:ID:1-3 717:ID:1-1 718:ID:1-3 719:N0:1-6 720:ID:1-3
  721:ID:2-3 722C:C:1-2 723:ID:1-3 724:AN:1-99 725:N0:1-4 737:ID:2-2 738:ID:1-3 739:R:1-20
  750:ID:2-3 751:AN:1-12 770:AN:1-20 782:R:1-18 812:ID:1-10 828:R:1-9 875:ID:3-3 933:AN:1-264
  954:R:1-10 955:ID:2-2 956:AN:1-10 963:ID:2-2 1300:ID:4-4 1301:AN:1-10 1551:AN:1-4096
  1705:AN:1-35 587:ID:2-2 668:ID:2-2 326:AN:1-45 822:AN:1-15 1271:AN:1-30 396:AN:2-30
  1005:ID:4-4 641:ID:3-3 628:AN:1-12 734:AN:1-12 735:ID:1-2 736:ID:1-1 382:R:1-10 646:R:1-15
  728:ID:1-2 133:ID:1-2 91:ID:1-2 387:AN:1-35 368:ID:2-2 731:ID:2-2 309:ID:1-2 310:AN:1-30
  732:ID:2-2 733:R:1-4 284:ID:2-2 669:ID:3-3 128C:C:2-3 706:ID:2-2 1715:ID:1-3 765:N0:1-2 107:ID:1-2
  1250:ID:2-3 1251:AN:1-35 740:R:1-20 741:R:1-20 935:ID:2-2 936:ID:2-2 752:ID:2-2 1373:ID:2-4
  1270:ID:1-3 1073:ID:1-1 819:ID:2-3 81:R:1-10 183:R:1-8 1048:ID:1-3 1019:ID:3-3
  1166:ID:2-2 1232:ID:2-2 786:ID:2-2 369:AN:1-45 934:ID:2-2 1470:N0:1-9
`;

/**
 * By the segment's name the numbers of its elements; the first is 01. `!`: it is mandatory. `10*(235 234)`: ten times. What is
 * not here is not read, and passes.
 */
const SEGMENTS = {
  GS: "!479 !142 !124 !373 !337 !28 !455 !480",
  GE: "!97 !28",
  ST: "!143 !329 1705",
  SE: "!96 !329",
  IEA: "!16 !12",
  BIG: "!373 !76 373 324 328 327 640 353 306 76 1005",
  NTE: "363 !352",
  CUR: "!98 !100 280 98 100 669 5*(374 373 337)",
  REF: "!128 127 352 128C",
  N1: "!98 93 66 67 706 98",
  N3: "!166 166",
  N4: "19 156 116 26 309 310 1715",
  ITD: "336 333 338 370 351 446 386 362 388 389 342 352 765 107 954",
  DTM: "!374 373 337 623 1250 1251",
  IT1: "350 358 355 212 639 10*(235 234)",
  PO1: "350 330 355 212 639 10*(235 234)",
  TXI: "!963 782 954 955 956 441 662 828 325 350",
  MEA: "737 738 739 355C 740 741 935 936 752 1373 1270 1271",
  PID: "!349 750 559 751 352 752 822 1073 819",
  SAC: "!248 1300 559 1301 610 378 332 118 355 380 380 331 127 770 352 819",
  TDS: "!610 610 610 610",
  BAK: "!353 !587 !324 !373 328 326 367 127 373 640",
  ACK: "!668 380 355 374 373 326 10*(235 234) 559 822 1271",
  BSN: "!353 !396 !373 !337 1005 640 641",
  HL: "!628 734 !735 736",
  PRF: "!324 328 327 373 350 367 92",
  SN1: "350 !382 !355 646 330 355 728 668",
  TD5: "133 66 67 91 387 368 309 310 731 732 733 284 284 284 26",
  CTT: "!354 347 81 355 183 355 352",
  BCT: "!683 684 685 686 683 684 685 686 352 353",
  G53: "!875",
  LIN: "350 !235 !234 14*(235 234)",
  CTP: "687 236 212 380 355C 648 649 782 639 499 289",
  BPR: "!305 !782 !478 !591 812 506 507 569 508 509 510 506 507 569 508 373 1048 506 507 569 508",
  TRN: "!481 !127 509 127",
  ENT: "554 98 66 67 98 66 67 128 127",
  RMR: "128 127 482 782 782 782 426 782",
  ADX: "!782 !426 128 127",
  BEG: "!353 !92 !324 328 !373 367 587 1019 1166 1232 786 640",
  N9: "!128 127 369 373 337 623 128C",
  MSG: "!933 934 1470",
  MTX: "363 1551 1551 934 1470 819",
  AK1: "!479 !28 480",
  AK2: "!143 !329 1705",
  AK3: "!721 !719 447 720",
  AK4: "!722C 725 !723 724",
  AK5: "!717 5*(718)",
  AK9: "!715 !97 !123 !2 5*(716)",
};

const elements: ReadonlyMap<string, Omit<Element, "mandatory">> = new Map(
  DICTIONARY.trim()
    .split(/\s+/)
    .map((entry) => {
      const [number = "", type, lengths = ""] = entry.split(":");
      const [min = 0, max = 0] = lengths.split("-").map(Number);
      return [number, { number: Number.parseInt(number, 10), type: type as ElementType, min, max }];
    }),
);

/** {@link SEGMENTS} with what the dictionary says of each element. */
export const segments: Readonly<Record<string, readonly Element[]>> = Object.fromEntries(
  Object.entries(SEGMENTS).map(([id, text]) => [
    id,
    text
      .replaceAll(/(\d+)\*\(([^)]*)\)/g, (_, times: string, some: string) =>
        `${some} `.repeat(Number(times)).trim(),
      )
      .split(" ")
      .map((word) => {
        const element = elements.get(word.replace("!", ""));
        if (element === undefined)
          throw new TypeError(`${id} has an element ${word} without a type`);
        return { ...element, mandatory: word.startsWith("!") };
      }),
  ]),
);

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
export const impliedDecimals = (text: string, places: number): Decimal | null =>
  /^-?\d+$/.test(text) ? Decimal.of(withPoint(text, places)) : null;

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

/** `2026-11-18` as `20261118`. @throws RangeError */
export function dateOf(day: string): string {
  const date = day.replaceAll("-", "");
  if (dayOfDigits(date) !== day) throw new RangeError(`is "${day}", which is no day`);
  return date;
}

/** Of a composite of codes and numbers, whatever separates them. */
export const componentsOf = (value: string): string[] => value.split(/[^A-Za-z0-9.-]/);

/** HHMM, HHMMSS, and up to hundredths of a second. */
const isTime = (text: string): boolean =>
  /^(?:[01]\d|2[0-3])[0-5]\d(?:[0-5]\d(?:\d{1,2})?)?$/.test(text);

/** Why a value does not fit its element, as a code of data element 723; null: it fits. `most`: its greatest length. */
export function faultOf(value: string, { type, min }: Element, most: number): string | null {
  if (/[\p{Cc}\ufffd]/u.test(value)) return elementErrors.badCharacter;
  if (type === "DT") return dayOfDigits(value) === null ? elementErrors.badDate : null;
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

export type SetVerdict = ReturnType<typeof verdictOf>;

/** `needed`: segments that a set of this kind cannot be read without. Null: this kind is not read here. */
export function verdictOf(set: TransactionSet, version: Version, needed: readonly string[] | null) {
  const isRead = needed !== null || set.errors.length > 0;
  const faults = isRead
    ? [
        ...set.segments.flatMap((segment, at) => faultOfSegment(segment, at + 1, version) ?? []),
        ...(needed ?? []).flatMap((id) => missing(set, id)),
      ]
    : [];
  const isWrong = faults.some(
    ({ code, elements }) => code !== segmentErrors.hasElementErrors || !elements.every(isHarmless),
  );
  /** Codes of data element 718. */
  const errors: string[] = isRead ? [...set.errors] : [setErrors.unsupported];
  if (errors.length === 0 && !isWrong) {
    const verdict = faults.length === 0 ? ("accepted" as const) : ("with-errors" as const);
    return { set, verdict, errors, faults };
  }
  if (faults.length > 0) errors.push(setErrors.segments);
  return { set, verdict: "rejected" as const, errors, faults };
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

const worded = (words: Readonly<Record<string, string>>, code: string): string =>
  `${Object.values(words)[Number(code) - 1] ?? "code"} (${code})`;

/** `BIG02 is too long (5): "INV…"`, one for each fault; segments by their place in the set. */
export const faultsInWords = (faults: readonly SegmentFault[]): string[] =>
  faults.flatMap((fault) =>
    reasonsIn(fault).map(({ reason, value }) => {
      const words = `segment ${fault.position}, ${reason}`;
      return value === "" ? words : `${words}: "${shown(value)}"`;
    }),
  );

/** `BIG02 is too long (5)`: what is wrong without the value that is, and that value. */
export const reasonsIn = ({
  segment,
  code,
  elements,
}: SegmentFault): { readonly reason: string; readonly value: string }[] =>
  elements.length === 0
    ? [{ reason: `${segment} ${worded(SEGMENT_WORDS, code)}`, value: "" }]
    : elements.map(({ position, code, value }) => ({
        reason: `${segment}${String(position).padStart(2, "0")} ${worded(ELEMENT_WORDS, code)}`,
        value,
      }));

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

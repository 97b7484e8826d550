/**
 * The bytes of an X12 file as interchanges, groups and transaction sets. Delimiters are read from the data, for ISA is of
 * fixed width; all counts and control numbers are checked. What the file's order rests on (ISA, IEA, GS, GE) must be
 * right, or nothing of it is trusted; what is wrong in a set is a fault of that set.
 */
import { FileFault } from "../format.ts";

interface Delimiters {
  readonly element: string;
  readonly component: string;
  readonly terminator: string;
  /** Release 005010 and later; null: there is none. */
  readonly repetition: string | null;
}

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

export interface ElementFault {
  /** From 1. */
  readonly position: number;
  /** In the data element dictionary. */
  readonly number: number;
  /** Data element 723. */
  readonly code: string;
  readonly value: string;
}

export interface TransactionSet {
  /** `810`; empty: it has no ST. */
  readonly id: string;
  readonly control: string;
  /** From ST to SE. */
  readonly segments: readonly Segment[];
  /** What is wrong with its envelope: codes of data element 718. */
  readonly errors: readonly string[];
  /** Which segment of the file it begins with. */
  readonly at: number;
}

export interface Group {
  /** `IN`, `SC`, `RA`, `PO`, `FA`. */
  readonly functionalId: string;
  readonly sender: string;
  readonly receiver: string;
  readonly control: string;
  readonly version: string;
  readonly sets: readonly TransactionSet[];
  /** GE01. */
  readonly included: string;
  /** What is wrong with it: codes of data element 716. */
  readonly errors: readonly string[];
}

interface Party {
  readonly qualifier: string;
  readonly id: string;
}

export interface Interchange {
  readonly sender: Party;
  readonly receiver: Party;
  readonly control: string;
  readonly usage: string;
  readonly groups: readonly Group[];
  /** TA1 segments: what the partner says of interchanges of ours. */
  readonly acknowledged: readonly Segment[];
}

/** Codes of data element 718. */
export const setErrors = {
  unsupported: "1",
  noTrailer: "2",
  otherControl: "3",
  otherCount: "4",
  segments: "5",
  noHeader: "6",
  badControl: "7",
} as const;

/** Codes of data element 716. */
export const groupErrors = { otherVersion: "2", otherControl: "4", otherCount: "5" } as const;

const NUL = String.fromCharCode(0);
/** What DOS wrote at the end of a file is one, too. */
const BLANKS: ReadonlySet<string> = new Set(["\r", "\n", "\t", " ", String.fromCharCode(26)]);
const ISA_LENGTH = 106;
/** Where the element separator stands in an ISA. */
const ISA_SEPARATORS = [3, 6, 17, 20, 31, 34, 50, 53, 69, 76, 81, 83, 89, 99, 101, 103];

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
  #delimiters: Delimiters = { element: "*", component: ">", terminator: "~", repetition: null };

  constructor(text: string) {
    this.#text = text;
    this.#skipBlanks();
  }

  atEnd(): boolean {
    return this.#position >= this.#text.length;
  }

  interchange(): Interchange {
    this.#delimiters = this.#delimitersHere();
    const isa = this.#next("ISA");
    const value = (position: number): string => (isa.elements[position - 1] ?? "").trim();
    const groups: Group[] = [];
    const acknowledged: Segment[] = [];
    for (;;) {
      const segment = this.#next("IEA");
      if (segment.id === "TA1") acknowledged.push(segment);
      else if (segment.id === "GS") groups.push(this.#group(segment));
      else if (segment.id === "IEA") {
        this.#checkTrailer(segment, value(13), groups.length);
        break;
      } else throw this.#fault(`has ${shown(segment)} where a group (GS) or IEA belongs`, segment);
    }
    return {
      sender: { qualifier: value(5), id: value(6) },
      receiver: { qualifier: value(7), id: value(8) },
      control: value(13),
      usage: value(15),
      groups,
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

  #group(gs: Segment): Group {
    const [functionalId = "", sender = "", receiver = "", , , control = "", , version = ""] =
      gs.elements;
    const sets: TransactionSet[] = [];
    const seen = new Set<string>();
    for (;;) {
      const segment = this.#next("GE");
      if (segment.id === "GE") {
        const [included = "", number = ""] = segment.elements;
        const errors = [
          ...(Number(number) === Number(control) ? [] : [groupErrors.otherControl]),
          ...(Number(included) === sets.length ? [] : [groupErrors.otherCount]),
        ];
        return { functionalId, sender, receiver, control, version, sets, included, errors };
      }
      if (segment.id === "GS" || segment.id === "IEA" || segment.id === "ISA")
        throw this.#fault(`has no GE before ${shown(segment)}`, segment);
      sets.push(this.#set(segment, seen));
    }
  }

  /** Up to its SE, or to what shows that it has none. */
  #set(first: Segment, seen: Set<string>): TransactionSet {
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
  #delimitersHere(): Delimiters {
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
    return { element, component, terminator, repetition };
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
const shown = ({ id }: Segment): string =>
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

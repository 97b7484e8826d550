/** Whether the segments of a set fit the table of elements: what a 997 says of it. */
import { mostOf, segments as known, type Version } from "./elements.ts";
import {
  type ElementFault,
  isHarmless,
  type Segment,
  type SegmentFault,
  setErrors,
  type TransactionSet,
} from "./syntax.ts";
import { elementErrors, faultOf } from "./values.ts";

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
  const table = known[id];
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

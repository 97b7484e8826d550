/**
 * Files of interchanges as records (`sets.ts` has what each set becomes). An interchange whose envelope is wrong, that is not for
 * us, or whose control number came before is refused whole; a set with a fault is quarantined, and the others go on. What is
 * said of each group is a 997, which goes back where the site wants that; a 997 itself is never answered.
 */
import type { Change, Reply, Surroundings } from "../../core/contract.ts";
import { Refused } from "../../core/errors.ts";
import type { Fault } from "../../core/record.ts";
import { FileFault, type RecordReader, type RecordsRead, refusedIn } from "../format.ts";
import { acknowledgementsIn, type GroupVerdict, replyTo } from "./acknowledgement.ts";
import { usageOf, type x12Layouts, type X12Options } from "./config.ts";
import {
  faultsInWords,
  groupErrorsInWords,
  setErrorsInWords,
  type SetVerdict,
  verdictOf,
  type Version,
  versions,
} from "./grammar.ts";
import { effectiveFrom, type Kind, KINDS, type Reading, recordPlace } from "./sets.ts";
import { type Group, groupErrors, type Interchange, interchangesOf } from "./syntax.ts";

/** Larger files are a mistake: an 810 of a thousand lines has some 100,000 bytes. */
const BYTES_MAX = 20_000_000;

/** What is left lying for now, or for another source. */
type Left = NonNullable<RecordsRead["left"]>;

type X12Layout = (typeof x12Layouts)[number];

interface Settings {
  readonly x12: X12Options;
  readonly layout: X12Layout | null;
}

/** `layout`: null, nothing but acknowledgements is read. */
export function x12Reader(
  { layout, x12: options }: Settings,
  { currency, now, dayOf }: Pick<Surroundings, "currency" | "now" | "dayOf">,
): RecordReader {
  const kind = layout === null ? null : KINDS[layout];
  return {
    form: layout ?? "x12.997",
    restates: false,
    bytesMax: BYTES_MAX,
    read(bytes, file) {
      const interchanges = interchangesOf(textOf(bytes));
      for (const interchange of interchanges) expectOurs(options, interchange);
      const numbers = interchanges.map(numberOf);
      const twice = numbers.find((number, at) => numbers.indexOf(number) !== at);
      if (twice !== undefined) throw new FileFault(`has two interchanges of one number (${twice})`);
      const groups = interchanges.flatMap((interchange) => interchange.groups);
      const documents = groups.flatMap(({ sets }) => sets).length;
      const left =
        foreign(kind, interchanges) ??
        (layout === "books.prices" ? tooEarly(interchanges, now(), dayOf) : null);
      if (left !== null) return { changes: [], documents, notices: [], left };
      const reading = { options, currency, file };
      const changes: Change[] = [];
      const replies: Reply[] = [];
      for (const interchange of interchanges)
        for (const group of interchange.groups.filter(
          ({ functionalId }) => functionalId !== "FA",
        )) {
          const verdict = judged(options, kind, group);
          changes.push(...changesOf(reading, kind, verdict));
          const content = replyTo(verdict, now().toISOString());
          replies.push({ id: replyId(interchange, group), content });
        }
      const acknowledgements = interchanges.flatMap((one) => acknowledgementsIn(options, one));
      return { changes, documents, notices: [], numbers, acknowledgements, replies };
    },
  };
}

/** X12 names no encoding: UTF-8 where it is nothing else, else Latin-1, which is never wrong about ASCII. */
function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return Buffer.from(bytes).toString("latin1");
  }
}

/** @throws FileFault */
function expectOurs(options: X12Options, { sender, receiver, usage, control }: Interchange): void {
  const { us, partner } = options;
  const expected = [
    ["sender", sender, partner],
    ["receiver", receiver, us],
  ] as const;
  for (const [who, there, wanted] of expected)
    if (there.qualifier !== wanted.qualifier || there.id !== wanted.id)
      throw new FileFault(
        `has the ${who} ${there.qualifier} ${there.id}; this source reads what has ${wanted.qualifier} ${wanted.id} (interchange ${control})`,
      );
  if (usage !== usageOf(options))
    throw new FileFault(
      `is marked ${usage} (ISA15); this source reads ${usageOf(options)}: T is test, P is production`,
    );
}

/** Groups of a kind that is another source's, if any takes them. @throws FileFault where they are beside our own */
function foreign(kind: Kind | null, interchanges: readonly Interchange[]): Left | null {
  const groups = interchanges.flatMap((interchange) => interchange.groups);
  const ids = [...new Set(groups.map(({ functionalId }) => functionalId))];
  const others = ids.filter((id) => id !== "FA" && id !== kind?.functionalId);
  if (others.length === 0) return null;
  if (others.length < ids.length && kind !== null && ids.includes(kind.functionalId))
    throw new FileFault(
      `has groups of ${others.join(", ")} beside those of ${kind.functionalId}: have the partner send each in a file of its own`,
    );
  const fault: Fault = {
    code: "other-sets",
    message: `It has groups of ${others.join(", ")}, and this source reads ${kind?.functionalId ?? "FA"}.`,
    next: "A source of the same folder that reads them takes it. Where there is none, set one up, or move the file away.",
  };
  return { fault, awaited: false };
}

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/**
 * Prices hold from a time of the company's day on, and all that is known of it is its calendar: it has come when what then
 * remains of the day takes us into the next one. On a day when clocks are set that is right from the hour on at which they are.
 */
function tooEarly(
  interchanges: readonly Interchange[],
  now: Date,
  dayOf: (instant: string) => string,
): Left | null {
  const sets = interchanges.flatMap(({ groups }) => groups.flatMap((group) => group.sets));
  const from = sets
    .flatMap((set) => effectiveFrom(set) ?? [])
    .toSorted()
    .at(-1);
  if (from === undefined) return null;
  const [day = "", hours, minutes] = from.split(/[T:]/);
  const rest = DAY_MS - (Number(hours) * 60 + Number(minutes)) * MINUTE_MS;
  if (dayOf(new Date(now.getTime() + rest).toISOString()) > day) return null;
  const fault: Fault = {
    code: "not-yet",
    message: `Its prices hold from ${from.replace("T", " ")} on.`,
    next: "It is read then: the platform takes prices that hold now.",
  };
  return { fault, awaited: true };
}

function judged({ version }: X12Options, kind: Kind | null, group: Group): GroupVerdict {
  const isKnown = versions.some((one) => group.version.startsWith(one));
  const errors = isKnown ? group.errors : [...group.errors, groupErrors.otherVersion];
  const read = (isKnown ? group.version.slice(0, 6) : version) as Version;
  const sets = group.sets.map((set) =>
    verdictOf(set, read, set.id === kind?.set ? kind.needed : null),
  );
  return { group: { ...group, errors }, sets };
}

function changesOf(reading: Reading, kind: Kind | null, { group, sets }: GroupVerdict): Change[] {
  return sets.flatMap((verdict) => {
    const { set } = verdict;
    const place = recordPlace(reading, set, null);
    const fault = faultOf(group.errors, verdict);
    if (fault !== null) return [refusedIn(place, fault)];
    try {
      return kind?.read(reading, set) ?? [];
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return [refusedIn(place, error.fault)];
    }
  });
}

function faultOf(
  groupCodes: readonly string[],
  { verdict, errors, faults }: SetVerdict,
): Fault | null {
  if (groupCodes.length === 0 && verdict !== "rejected") return null;
  const words = [
    ...groupErrorsInWords(groupCodes),
    ...setErrorsInWords(errors),
    ...faultsInWords(faults),
  ];
  return {
    code: "bad-set",
    message: `The set was rejected: ${words.slice(0, 10).join("; ")}.`,
    next: "Have the partner correct it and send it again under a new control number. A 997 has told them, where replies are set up.",
  };
}

/** Of its sender, by which it is known again whatever its bytes are. */
const numberOf = ({ sender, receiver, usage, control }: Interchange): string =>
  `x12 ${sender.qualifier}.${sender.id} to ${receiver.qualifier}.${receiver.id} ${usage} ${control}`;

/** The group of this interchange, whatever file it came in: what came twice has one reply. */
const replyId = (
  { sender, control }: Interchange,
  { functionalId, control: group }: Group,
): string => `997 for ${functionalId} ${group.slice(0, 20)} in ${control} of ${sender.id}`;

/**
 * Files of interchanges as records (`sets.ts` has what each set becomes). An interchange whose envelope is wrong, that is not for
 * us, or whose control number came before is refused whole; a set with a fault is quarantined, and the others go on. What is
 * said of each group is a 997, which goes back where the site wants that; a 997 itself is never answered.
 */
import type { Acknowledgement, Change, Reply, Surroundings } from "../../core/contract.ts";
import { Refused } from "../../core/errors.ts";
import type { Fault } from "../../core/record.ts";
import { calendarOf, DAY_MS, MINUTE_MS } from "../../core/time.ts";
import { FileFault, orRefused, type RecordReader, type RecordsRead, textAs } from "../format.ts";
import { usageOf, type x12Layouts, type X12Options } from "./config.ts";
import {
  all,
  at,
  faultsInWords,
  first,
  type Group,
  groupErrors,
  groupErrorsInWords,
  type Interchange,
  interchangesOf,
  loops,
  reasonsIn,
  type Segment,
  type SegmentFault,
  setErrorsInWords,
  type SetVerdict,
  type TransactionSet,
  verdictOf,
  type Version,
  versions,
} from "./grammar.ts";
import { type Row, setText } from "./set-writer.ts";
import { type Kind, KINDS, type Reading, recordPlace, type Told, toldIn, wordsOf } from "./sets.ts";

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
  const isToCome = (moment: Told): boolean => comesAfter(moment, now(), dayOf);
  return {
    form: layout ?? "x12.997",
    restates: false,
    reads: "X12",
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
        (layout === "books.prices" ? tooEarly(interchanges, isToCome) : null);
      if (left !== null) return { changes: [], documents, notices: [], left };
      const reading = { options, currency, file, isToCome };
      const judgedGroups = interchanges.flatMap((interchange) =>
        interchange.groups
          .filter(({ functionalId }) => functionalId !== "FA")
          .map((group) => ({ ...judged(options, kind, group), id: replyId(interchange, group) })),
      );
      const changes = judgedGroups.flatMap((verdict) => changesOf(reading, kind, verdict));
      const moment = now().toISOString();
      const replies = judgedGroups.map(({ id, ...verdict }): Reply => {
        return { id, content: replyTo(verdict, moment) };
      });
      const said = interchanges.flatMap((one) => saidIn(options, one));
      const notices = said.flatMap((one) => (typeof one === "string" ? `${file}: ${one}` : []));
      const acknowledgements = said.filter((one) => typeof one !== "string");
      return { changes, documents, notices, numbers, acknowledgements, replies };
    },
  };
}

/** X12 names no encoding: UTF-8 where it is nothing else, else Latin-1, which is never wrong about ASCII. */
const textOf = (bytes: Uint8Array): string =>
  textAs("utf-8", bytes) ?? Buffer.from(bytes).toString("latin1");

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
  const known = Object.values(KINDS).map(({ functionalId }) => functionalId);
  const isKnown = others.every((id) => known.includes(id));
  const fault: Fault = {
    code: "other-sets",
    message: `It has groups of ${others.join(", ")}, and this source reads ${kind?.functionalId ?? "FA"}.`,
    next: isKnown
      ? "A source of the same folder that reads them takes it. Where there is none, set one up, or move the file away."
      : `What is read of X12 is ${known.join(", ")} and FA. Have somebody enter what it says, ask the partner not to send it here, and move the file away.`,
  };
  return { fault, awaited: false };
}

/**
 * A moment is by the company's clocks unless the file says whose. All that is known of the company's is its calendar: the time
 * has come when what then remains of the day takes us into the next one. On a day when clocks are set that is right from the
 * hour on at which they are.
 */
function comesAfter(
  { day, hour, minute, zone }: Told,
  now: Date,
  dayOf: (instant: string) => string,
): boolean {
  const rest = DAY_MS - (Number(hour) * 60 + Number(minute)) * MINUTE_MS;
  const dayThere = zone === null ? dayOf : calendarOf(zone);
  return dayThere(new Date(now.getTime() + rest).toISOString()) <= day;
}

/** Prices hold from a time on, and a file is read as a whole: those that hold already wait with it, and somebody should know. */
function tooEarly(
  interchanges: readonly Interchange[],
  isToCome: (moment: Told) => boolean,
): Left | null {
  const sets = interchanges.flatMap(({ groups }) => groups.flatMap((group) => group.sets));
  const told = sets.flatMap(({ segments }) => toldIn(segments, "007"));
  const times = [...new Set(told.map(wordsOf))].toSorted();
  const from = told.filter(isToCome).map(wordsOf).toSorted().at(-1);
  if (from === undefined) return null;
  const several = `Its prices hold from ${times.join(", and from ")} on: all of them are read from ${from} on.`;
  const fault: Fault = {
    code: "not-yet",
    message: times.length === 1 ? `Its prices hold from ${from} on.` : several,
    next:
      times.length === 1
        ? "It is read then: the platform takes prices that hold now."
        : "Ask the partner to send the prices of each time in a file of their own, each with a number of its own.",
  };
  return { fault, awaited: told.every(isToCome) };
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
    return orRefused(recordPlace(reading, set, null), () => {
      const fault = faultOf(group.errors, verdict);
      if (fault !== null) throw new Refused(fault);
      return kind?.read(reading, set) ?? [];
    });
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

/*
 * The functional acknowledgement, transaction set 997: what a partner says of our sets, and what we say of theirs. It speaks
 * of syntax only; an invoice of an unknown customer is accepted here, and work for a person elsewhere.
 */

/** Numbers between the same two are counted together, in test and in production by themselves. */
export const sequenceOf = ({ us, partner, usage }: X12Options): string =>
  `x12 ${us.qualifier}.${us.id} to ${partner.qualifier}.${partner.id} ${usage}`;

/** What we call an interchange of ours: ISA13 and GS06 are one number. */
export const exchangeOf = (options: X12Options, number: number): string =>
  `${sequenceOf(options)} ${String(number).padStart(9, "0")}`;

/** What somebody says of our sets; or what a person should be told, for it cannot be known what it says of them. */
type Said = Acknowledgement | string;

/** What 997, 999 and TA1 of an interchange say of ours. */
const saidIn = (options: X12Options, { groups, acknowledged }: Interchange): Said[] => [
  ...acknowledged.flatMap((ta1) => ofInterchange(options, ta1)),
  ...groups
    .filter(({ functionalId }) => functionalId === "FA")
    .flatMap(({ control, errors, sets }) => [
      ...groupErrorsInWords(errors).map(
        (words) => `group ${control} of acknowledgements: ${words}.`,
      ),
      ...sets.flatMap((set) => ofSet(options, set)),
    ]),
];

/** Only a refusal says anything of documents: TA104 R. */
function ofInterchange(options: X12Options, { elements }: Segment): Acknowledgement[] {
  const [control = "", , , verdict, code = ""] = elements;
  if (verdict !== "R" || !/^\d{1,9}$/.test(control)) return [];
  const exchange = exchangeOf(options, Number(control));
  const detail = `TA1 R: the whole interchange was rejected (${code})`;
  return [{ exchange, item: null, verdict: "refused", detail, reason: detail }];
}

/** A 999 has names of its own for AK3, AK4 and AK5 of a 997. */
const named997 = ({ id, ...segment }: Segment): Segment => ({
  ...segment,
  id: id.replace(/^IK/, "AK"),
});

function ofSet(options: X12Options, { id, control, errors, ...set }: TransactionSet): Said[] {
  const segments = set.segments.map(named997);
  const ak1 = first(segments, "AK1");
  const group = at(ak1, 2) ?? "";
  const unread = [
    ...setErrorsInWords(errors),
    ...(id === "997" || id === "999" ? [] : ["it is no acknowledgement"]),
    ...(/^\d{1,9}$/.test(group) ? [] : ["it names no group of ours (AK102)"]),
  ];
  if (unread.length > 0) return [`the ${id} ${control} was not read: ${unread.join("; ")}.`];
  const sentAs = [at(ak1, 1) ?? "no code", at(ak1, 3) ?? ""].join(" ").trim();
  const about = { exchange: exchangeOf(options, Number(group)), sentAs };
  const named = loops(segments, "AK2", ["AK9"]).loops.flatMap((set) =>
    all(set, "AK5").map(({ elements: [code = "", ...errors] }) => ({
      ...about,
      item: at(set[0], 2) ?? "",
      ...verdictIn(code, setErrorsInWords(errors), faultsIn(set)),
    })),
  );
  // What it says of sets by themselves comes before: the group's word is for all others.
  return [...named, ...all(segments, "AK9").flatMap((ak9) => ofOthers(about, ak9, named))];
}

/** What a group's word says of the sets that are not `named`. */
function ofOthers(
  about: Pick<Acknowledgement, "exchange" | "sentAs">,
  { elements: [code = "", included, received, accepted, ...errors] }: Segment,
  named: readonly Acknowledgement[],
): Said[] {
  const said = verdictIn(code, groupErrorsInWords(errors));
  const whole = { ...about, item: null, ...said };
  const sent = Math.max(Number(included), Number(received));
  const off = sent - Number(accepted);
  const refused = named.filter(({ verdict }) => verdict === "refused").length;
  const isClear = off <= refused || named.length >= sent || (Number.isNaN(off) && code !== "P");
  if (said.verdict === "refused" || isClear) return [whole];
  const some = Number.isNaN(off) ? "some" : `${off} of ${sent}`;
  const detail = `${some} sets were not accepted, and ${refused} are named as rejected`;
  return [
    { ...whole, verdict: "awaited", detail: `${said.detail}; ${detail}` },
    `of ${about.exchange} ${detail}: ask the partner which.`,
  ];
}

const faultsIn = (set: readonly Segment[]): SegmentFault[] =>
  loops(set, "AK3", ["AK5"]).loops.map(([ak3, ...rest]) => ({
    segment: at(ak3, 1) ?? "",
    position: Number(at(ak3, 2)) || 0,
    code: at(ak3, 4) ?? "",
    elements: all(rest, "AK4").map((ak4) => ({
      position: Number.parseInt(at(ak4, 1) ?? "", 10) || 0,
      number: Number(at(ak4, 2)) || 0,
      code: at(ak4, 3) ?? "",
      value: at(ak4, 4) ?? "",
    })),
  }));

const WORDS: Readonly<Record<string, string>> = {
  A: "accepted",
  E: "accepted with errors",
  P: "partially accepted",
  R: "rejected",
  M: "rejected: the message authentication code failed",
  W: "rejected: the assurance failed its tests",
  X: "rejected: it could not be decrypted",
};

function verdictIn(
  code: string,
  words: readonly string[],
  faults: readonly SegmentFault[] = [],
): Required<Pick<Acknowledgement, "verdict" | "detail" | "reason">> {
  const verdict = code === "A" || code === "E" || code === "P" ? "accepted" : "refused";
  const known = `${code} ${WORDS[code] ?? "a code that is not known"}`;
  const reasons = faults.flatMap(reasonsIn).map(({ reason }) => reason);
  return {
    verdict,
    detail: [known, ...faultsInWords(faults), ...words].join("; "),
    reason: [known, ...new Set(reasons), ...words].join("; "),
  };
}

/** What we say of one group of theirs. */
interface GroupVerdict {
  readonly group: Pick<Group, "functionalId" | "control" | "included" | "errors">;
  /** A group that is in error is rejected with all of its sets. */
  readonly sets: readonly SetVerdict[];
}

/** As a reply keeps it until it is written: plain values. */
export type ReplyContent = ReturnType<typeof replyTo>;

const LETTERS = { accepted: "A", "with-errors": "E", rejected: "R" } as const;

/** `at`: ISO 8601 UTC; `summary`: AK9 without its name; `segments`: those from AK2 to AK5 of each set. */
function replyTo({ group, sets }: GroupVerdict, at: string) {
  const isRefused = group.errors.length > 0;
  const named = sets.filter(({ set }) => set.id !== "" && /^[A-Za-z0-9]{4,9}$/.test(set.control));
  const segments = named.flatMap(({ set, verdict, errors, faults }) => [
    ["AK2", set.id.slice(0, 3), set.control],
    ...faults.flatMap(faultSegments),
    ["AK5", isRefused ? "R" : LETTERS[verdict], ...errors.slice(0, 5)],
  ]);
  const accepted = isRefused ? 0 : sets.filter(({ verdict }) => verdict !== "rejected").length;
  const count = String(sets.length);
  const included = /^\d{1,6}$/.test(group.included) ? group.included : count;
  const summary = [
    summaryOf(accepted, sets),
    included,
    count,
    String(accepted),
    ...group.errors.slice(0, 5),
  ];
  const { functionalId, control } = group;
  return { at, functionalId, control, summary, segments };
}

function summaryOf(accepted: number, sets: readonly SetVerdict[]): string {
  if (accepted === 0) return "R";
  if (accepted < sets.length) return "P";
  return sets.some(({ verdict }) => verdict === "with-errors") ? "E" : "A";
}

/** Bad data is copied without what could break the file that copies it. */
function faultSegments({ segment, position, code, elements }: SegmentFault): string[][] {
  return [
    [
      "AK3",
      segment
        .replace(/[^A-Z0-9]/g, "")
        .padEnd(2, "0")
        .slice(0, 3),
      String(position),
      "",
      code,
    ],
    ...elements.map(({ position, number, code, value }) => [
      "AK4",
      String(position),
      number === 0 ? "" : String(number),
      code,
      value
        .replace(/[^A-Za-z0-9 .,-]/g, " ")
        .trim()
        .slice(0, 99)
        .trimEnd(),
    ]),
  ];
}

/** From ST to SE. */
export const acknowledgementSet = (options: X12Options, content: ReplyContent): string[] =>
  setText(options, "997", 0, [
    ["AK1", content.functionalId, content.control],
    ...content.segments.map(([id = "", ...values]): Row => [id, ...values]),
    ["AK9", ...content.summary],
  ]);

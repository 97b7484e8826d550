/**
 * The functional acknowledgement, transaction set 997: what a partner says of our sets, and what we say of theirs. It speaks
 * of syntax only; an invoice of an unknown customer is accepted here, and work for a person elsewhere.
 */
import type { Acknowledgement } from "../../core/contract.ts";
import type { Json } from "../../core/json.ts";
import type { X12Options } from "./config.ts";
import { faultsInWords, groupErrorsInWords, setErrorsInWords, type SetVerdict } from "./grammar.ts";
import { type Row, setText } from "./set-writer.ts";
import {
  all,
  at,
  first,
  type Group,
  type Interchange,
  loops,
  type Segment,
  type SegmentFault,
  type TransactionSet,
} from "./syntax.ts";

/** Numbers between the same two are counted together, in test and in production by themselves. */
export const sequenceOf = ({ us, partner, usage }: X12Options): string =>
  `x12 ${us.qualifier}.${us.id} to ${partner.qualifier}.${partner.id} ${usage}`;

/** What we call an interchange of ours: ISA13 and GS06 are one number. */
export const exchangeOf = (options: X12Options, number: number): string =>
  `${sequenceOf(options)} ${String(number).padStart(9, "0")}`;

/** What 997 and TA1 of an interchange say of ours. */
export function acknowledgementsIn(
  options: X12Options,
  { groups, acknowledged }: Interchange,
): Acknowledgement[] {
  const sets = groups
    .filter(({ functionalId }) => functionalId === "FA")
    .flatMap((group) => group.sets.filter(({ errors }) => errors.length === 0));
  return [
    ...acknowledged.flatMap((ta1) => ofInterchange(options, ta1)),
    ...sets.flatMap((set) => ofSet(options, set)),
  ];
}

/** Only a refusal says anything of documents: TA104 R. */
function ofInterchange(options: X12Options, { elements }: Segment): Acknowledgement[] {
  const [control = "", , , verdict, code = ""] = elements;
  if (verdict !== "R" || !/^\d{1,9}$/.test(control)) return [];
  const exchange = exchangeOf(options, Number(control));
  const detail = `TA1 R: the whole interchange was rejected (${code})`;
  return [{ exchange, item: null, verdict: "refused", detail }];
}

function ofSet(options: X12Options, { segments }: TransactionSet): Acknowledgement[] {
  const group = at(first(segments, "AK1"), 2) ?? "";
  if (!/^\d{1,9}$/.test(group)) return [];
  const exchange = exchangeOf(options, Number(group));
  return [
    ...loops(segments, "AK2", ["AK9"]).loops.flatMap((set) =>
      all(set, "AK5").map(({ elements: [code = "", ...errors] }) =>
        verdictOf(exchange, at(set[0], 2) ?? "", code, [
          ...faultsInWords(faultsIn(set)),
          ...setErrorsInWords(errors),
        ]),
      ),
    ),
    // What it says of sets by themselves comes before: the group's word is for all others.
    ...all(segments, "AK9").map(({ elements: [code = "", , , , ...errors] }) =>
      verdictOf(exchange, null, code, groupErrorsInWords(errors)),
    ),
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

/** A group that was partially accepted says nothing of its sets. */
function verdictOf(
  exchange: string,
  item: string | null,
  code: string,
  words: readonly string[],
): Acknowledgement {
  const verdict = code === "A" || code === "E" || code === "P" ? "accepted" : "refused";
  const known = WORDS[code] ?? "a code that is not known";
  return { exchange, item, verdict, detail: [`${code} ${known}`, ...words].join("; ") };
}

/** What we say of one group of theirs. */
export interface GroupVerdict {
  readonly group: Pick<Group, "functionalId" | "control" | "included" | "errors">;
  /** A group that is in error is rejected with all of its sets. */
  readonly sets: readonly SetVerdict[];
}

/** As a reply keeps it until it is written: plain values. */
export interface ReplyContent {
  /** ISO 8601 UTC. */
  readonly at: string;
  readonly functionalId: string;
  readonly control: string;
  /** AK9 without its name. */
  readonly summary: readonly string[];
  /** The segments from AK2 to AK5 of each set. */
  readonly segments: readonly (readonly string[])[];
}

const LETTERS = { accepted: "A", "with-errors": "E", rejected: "R" } as const;

export function replyTo({ group, sets }: GroupVerdict, at: string): Json {
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

/** Documents that were found, and what happened to one. */
import type { Found, FoundDocument, ShownCorrection, Trace, TraceStep } from "../office/answers.ts";
import {
  ago,
  at,
  type Blocks,
  each,
  exactly,
  type Inline,
  line,
  link,
  mark,
  onTerminal,
  paragraph,
  plural,
  say,
  section,
  small,
  table,
  to,
} from "./blocks.ts";

/** `text`: what was searched; empty: the newest are shown. */
export const foundView = ({ documents, next, unsearched }: Found, text: string): Blocks => [
  unsearched > 0 &&
    line(
      plural(unsearched, "newer document"),
      " cannot be found by party, amount and date yet. Their numbers can.",
    ),
  table(
    text === "" ? "The newest documents" : `Documents for ${text}`,
    documents,
    [
      ["Document", ({ id, summary }) => link(to`/documents/${id}`, summary)],
      ["Flow", ({ flow }) => flow],
      ["State", stateMark],
      ["Came", ({ receivedAt }) => [at(receivedAt), each([" ", small(ago(receivedAt))], "")]],
    ],
    text === ""
      ? "No document has come yet."
      : `Nothing is known for ${text}. A number may be cut short at its end; a party's name may be a part of it.`,
  ),
  next !== null &&
    onTerminal(paragraph(`Older ones: fuelbridge find ${JSON.stringify(text)} --before ${next}`)),
];

export function stateMark({ state, clears }: Pick<FoundDocument, "state" | "clears">): Inline {
  if (state === "quarantined") return clears ? mark("wait", "waits") : mark("bad", "needs you");
  const [tone, text] = STATES[state] ?? (["off", state] as const);
  return mark(tone, text);
}

const STATES: Readonly<Record<string, readonly [tone: "good" | "wait" | "off", text: string]>> = {
  delivered: ["good", "delivered"],
  pending: ["wait", "on its way"],
  frozen: ["wait", "on its way"],
  echo: ["off", "our own"],
  skipped: ["off", "not sent"],
  resolved: ["off", "settled by hand"],
  superseded: ["off", "replaced"],
};

/** Where all of it is one document, its ids are said once. */
export function traceView({ number, steps, groups }: Trace): Blocks {
  const ids = new Set(steps.map(({ platformId, erpId }) => `${platformId ?? ""} ${erpId ?? ""}`));
  const [{ platformId, erpId } = { platformId: null, erpId: null }] = steps;
  const isOne = ids.size === 1;
  return [
    isOne &&
      line(
        platformId === null
          ? "No number of the other side is known for it."
          : `platform ${platformId}, ERP ${erpId}`,
      ),
    section(null, storyTable(steps, !isOne)),
    steps.some(({ own }) => own !== null) &&
      paragraph(
        `It went with others: fuelbridge trace ${number} --json has what was said of them, too.`,
      ),
    groups.map((group) => paragraph(`It is in quarantine: fuelbridge quarantine show ${group}`)),
  ];
}

/** The oldest first. `ids`: those of each step; without them it is one document's. */
export const storyTable = (steps: readonly TraceStep[], ids = false): Blocks =>
  table("What happened, the oldest first", steps, [
    ["When", (step) => exactly(step.at)],
    ["Flow", ({ flow }) => flow],
    ["What", ({ event }) => event],
    [
      "Detail",
      ({ detail, own }) =>
        own === null ? detail : say`${own.detail} (with ${plural(own.others, "other")})`,
    ],
    ...(ids ? [["Platform", ({ platformId }: TraceStep) => platformId ?? "-"] as const] : []),
    ...(ids ? [["ERP", ({ erpId }: TraceStep) => erpId ?? "-"] as const] : []),
  ]);

/** Of documents by their numbers: what people corrected in each. */
export const correctionsTable = (
  rows: readonly (ShownCorrection & { readonly number?: string })[],
): Blocks =>
  table("Corrected here, until a newer version comes", rows, [
    ["Document", ({ number }) => number ?? null],
    ["Field", ({ field }) => field],
    ["Received", ({ was }) => was || "(empty)"],
    ["Corrected to", ({ value }) => value || "(empty)"],
    ["Who, when", (one) => say`${one.by}, ${at(one.at)}`],
    ["Reason", ({ reason }) => reason],
  ]);

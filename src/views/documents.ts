/** Documents that were found, and what happened to one. */
import type { Found, FoundDocument, ShownCorrection, Trace, TraceStep } from "../office/answers.ts";
import {
  at,
  type Blocks,
  dayOf,
  each,
  exactly,
  type Inline,
  line,
  link,
  list,
  mark,
  money,
  onTerminal,
  paragraph,
  plural,
  say,
  section,
  sentence,
  small,
  type Table,
  table,
  to,
  whole,
} from "./blocks.ts";

/** One line for each document; the same table is the CSV. */
export const documentsTable = (
  { documents }: Found,
  caption: string,
  empty: string | null,
): Table =>
  table(
    caption,
    documents,
    [
      ["Number", ({ id, number }) => link(to`/documents/${id}`, whole(number))],
      ["Flow", ({ flow }) => flow],
      ["Party", ({ partyName }) => partyName],
      ["Amount", ({ amount, currency }) => amount && currency && money(amount, currency)],
      ["Currency", ({ currency }) => currency, "terminal"],
      ["Day", ({ day }) => dayOf(day)],
      ["State", stateMark],
      ["Cause", ({ cause }) => cause, "terminal"],
      ["Platform id", ({ platformId }) => shortId(platformId)],
      ["ERP id", ({ erpId }) => shortId(erpId)],
      ["Came", ({ receivedAt }) => at(receivedAt)],
    ],
    empty,
  );

/** The page has room for the beginning of a UUID; the document's own page has all of it. */
const shortId = (id: string | null): Inline =>
  id && each(small(id.length > 16 ? `${id.slice(0, 8)}…` : id), id);

/** `what`: what was asked for, in words; empty: the newest are shown. */
export const foundView = (found: Found, what: string): Blocks => [
  found.unsearched > 0 &&
    line(
      plural(found.unsearched, "newer document"),
      " cannot be found by party, amount and date yet. Their numbers can.",
    ),
  found.newest !== null &&
    line(
      `Only the newest ${found.newest} that fit the words were looked through. `,
      "For older ones, leave the words out and choose the party, the month or the amounts.",
    ),
  documentsTable(
    found,
    what === "" ? "The newest documents" : `Documents: ${what}`,
    what === ""
      ? "No document has come yet."
      : found.next === null
        ? `Nothing is known for ${what}. A number may be cut short at its end; a party's name may be a part of it.`
        : "None of those that were looked through; older ones may be.",
  ),
  found.next !== null &&
    onTerminal(paragraph(`Older ones: the same command with --before ${found.next}`)),
];

/** Of one of the states that documents are chosen by. */
export const stateName = (state: string): string =>
  state === "quarantined" ? "needs you, or waits" : (STATES[state]?.[1] ?? state);

export function stateMark({ state, clears }: Pick<FoundDocument, "state" | "clears">): Inline {
  if (state === "quarantined") return clears ? mark("wait", "waits") : mark("bad", "needs you");
  const [tone, text] = STATES[state] ?? (["off", state] as const);
  return mark(tone, text);
}

const STATES: Readonly<Record<string, readonly [tone: "good" | "wait" | "off", text: string]>> = {
  delivered: ["good", "delivered"],
  pending: ["wait", "on its way"],
  frozen: ["wait", "on its way"],
  echo: ["off", "sent from here"],
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
const storyTable = (steps: readonly TraceStep[], ids = false): Blocks =>
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

/** In sentences, the oldest first: `Oct 3, 2026, 10:12:00 CDT: It was sent to the receiver (invoices).` */
export const storyView = (steps: readonly TraceStep[]): Blocks =>
  list(
    steps.map(({ at: when, flow, event, detail, own }) => {
      const told = own?.detail ?? detail;
      return say`${exactly(when)}: ${sentence(`${SENTENCES[event] ?? inSentence(event)}${told === "" ? "" : `: ${told}`}`)} ${small(flow)}`;
    }),
  );

const SENTENCES: Readonly<Record<string, string>> = {
  received: "It came",
  quarantined: "It was held for a person",
  send: "It was sent",
  done: "The receiver took it",
  finished: "It was finished at the receiver",
  rejected: "The receiver refused it",
  delivered: "It is delivered",
  linked: "Both sides know it as one",
  skipped: "It is not to be sent",
  echo: "It was sent from here, and came back",
  retried: "It was tried again",
  resolved: "It was closed by a person",
  superseded: "It was replaced",
  corrected: "A field was corrected",
  assigned: "Somebody sees to it",
  note: "Somebody noted",
  manual: "Nobody can tell by machine whether it arrived",
  unknown: "No answer came",
  pending: "It waits to be sent",
  frozen: "It is being sent",
  decision: "A person decided",
};

const inSentence = (event: string): string => event.charAt(0).toUpperCase() + event.slice(1);

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

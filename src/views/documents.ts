/** Documents that were found, and what happened to one. */
import type {
  Found,
  FoundDocument,
  ShownCorrection,
  Trace,
  TraceStep,
  QuarantineGroup,
  ShownGroup,
  ShownTable,
} from "../office/answers.ts";
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
  address,
  ago,
  type Block,
  card,
  entry,
  heading,
  next,
  notice,
  onPage,
  quiet,
  strong,
} from "./blocks.ts";
import type { Action } from "../core/faults.ts";
import { Decimal } from "../core/decimal.ts";
import { capital, inCents, partyBeside } from "../core/text.ts";
import { age } from "./text.ts";

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
        ? `Nothing is known for ${what}. A number may be cut short at its end; a party's name may be a part of it. What was sent from here and came back is shown with the state "all" alone.`
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
  resolved: ["off", "closed"],
  superseded: ["off", "replaced"],
};

/**
 * Where all of it is one document, its ids are said once. `technical`: with what stands in requests and answers, for
 * whoever runs fuelbridge.
 */
export function traceView({ number, steps, groups }: Trace, technical = false): Blocks {
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
    section(null, storyTable(steps, !isOne, technical)),
    !technical &&
      steps.some(({ event, detail }) => MACHINE.has(event) && detail !== "") &&
      paragraph(`Requests, answers and ids: fuelbridge trace ${number} --technical`),
    steps.some(({ own }) => own !== null) &&
      paragraph(
        `It went with others: fuelbridge trace ${number} --json has what was said of them, too.`,
      ),
    groups.map((group) => paragraph(`It is in quarantine: fuelbridge quarantine show ${group}`)),
  ];
}

/** What one program said to the other: requests with their keys, answers, ids of records. */
const MACHINE: ReadonlySet<string> = new Set(
  "received preflight ready send done finished delivered echo pending frozen unknown".split(" "),
);

const toldOf = ({ detail, own }: TraceStep): Inline =>
  own === null ? detail : say`${own.detail} (with ${plural(own.others, "other")})`;

/** The oldest first. `ids`: those of each step; without them it is one document's. */
export const storyTable = (steps: readonly TraceStep[], ids: boolean, technical: boolean): Block =>
  table("What happened, the oldest first", steps, [
    ["When", (step) => exactly(step.at)],
    ["Flow", ({ flow }) => flow],
    ["What", ({ event }) => event],
    ["Detail", (step) => (technical || !MACHINE.has(step.event) ? toldOf(step) : null)],
    ...(ids ? [["Platform", ({ platformId }: TraceStep) => platformId ?? "-"] as const] : []),
    ...(ids ? [["ERP", ({ erpId }: TraceStep) => erpId ?? "-"] as const] : []),
  ]);

/** In sentences, the oldest first: `Oct 3, 2026, 10:12:00 CDT: It was sent to the receiver (invoices).` */
export const storyView = (steps: readonly TraceStep[]): Blocks =>
  list(
    steps.map(({ at: when, flow, event, detail, own }) => {
      const told = MACHINE.has(event) ? "" : (own?.detail ?? detail);
      return say`${exactly(when)}: ${sentence(`${SENTENCES[event] ?? capital(event)}${told === "" ? "" : `: ${told}`}`)} ${small(flow)}`;
    }),
  );

const SENTENCES: Readonly<Record<string, string>> = {
  received: "It came",
  preflight: "The receiver was asked whether it has it",
  ready: "It may be sent",
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

/** The same in a picture and in a list of what people did, where there is room for a word or two. */
const WORDS: Readonly<Record<string, string>> = {
  received: "came",
  preflight: "asked",
  ready: "may go",
  quarantined: "held",
  send: "sent",
  done: "taken",
  linked: "known as one",
  skipped: "not sent",
  echo: "came back",
  superseded: "replaced",
  resolved: "closed",
  retried: "tried again",
  note: "noted",
  decision: "decided",
  "run now": "asked to look now",
  "stop over": "let what was stopped go on",
  "list accepted": "said that a list is right",
  "refusal settled": "saw to a file that was refused",
};
export const stepName = (event: string): string => WORDS[event] ?? event;

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

/* The quarantine: groups by cause, and the documents of one with what can be done about them. */

/** Groups that a person has to do something about, and those that clear by themselves. */
export function parted(
  groups: readonly QuarantineGroup[],
): [own: QuarantineGroup[], clearing: QuarantineGroup[]] {
  const clearing = groups.filter(({ helps }) => helps.includes("wait"));
  return [groups.filter((one) => !clearing.includes(one)), clearing];
}

export const documentsIn = (groups: readonly QuarantineGroup[]): number =>
  groups.reduce((total, { count }) => total + count, 0);

/** ` in 12 groups`, where they are not as many as their documents: a group is one thing to do. */
export const inGroups = (groups: readonly QuarantineGroup[]): Inline =>
  groups.length < documentsIn(groups) && [" in ", plural(groups.length, "group")];

/** `INV-118 · Prairie Fuel · $20,712.42 · Oct 3, 2026`; of several, how many and what they come to. */
function headOf({ count, many, awaits, title, first, sum }: QuarantineGroup): Inline {
  if (count > 1 || first === null)
    return [awaits === null ? many : title, sum !== null && [", ", moneyOf(sum)]];
  const { number, partyName } = first;
  const party = partyBeside(number ?? "", partyName);
  const facts = [whole(number ?? many), party, moneyOf(first), dayOf(first.day)];
  return facts.filter(Boolean).map((fact, at) => [at > 0 && " · ", fact]);
}

const moneyOf = (sum: { amount: string | null; currency: string | null } | null): Inline =>
  sum?.amount && sum.currency ? money(sum.amount, sum.currency) : null;

/** Where all of a group wait for one thing, its head says so. */
const causeOf = ({ count, awaits, cause }: QuarantineGroup): Inline => {
  if (awaits === null) return cause;
  return count === 1 ? `waits for ${awaits}` : null;
};

/** One line for each group. */
export const groupsTable = (groups: readonly QuarantineGroup[]): Block =>
  table(
    "Documents that need a person",
    groups,
    [
      ["Group", (group) => link(to`/needs-you/${group.id}`, each(headOf(group), group.id))],
      ["Flow", ({ flow }) => flow],
      ["Count", ({ count }) => count, "terminal"],
      ["Number", ({ count, first }) => (count === 1 && first?.number) || null, "terminal"],
      ["Party", ({ count, first }) => (count === 1 && first?.partyName) || null, "terminal"],
      ["Sum", ({ sum }) => moneyOf(sum), "terminal"],
      ["Age", ({ since, ageMs }) => each(ago(since), age(ageMs))],
      ["Cause", (group) => each(causeOf(group), group.cause)],
    ],
    "Nothing is in quarantine.",
  );

/** `button`: what helps most, on the card itself. */
export function groupsView(
  groups: readonly QuarantineGroup[],
  button: (group: QuarantineGroup) => Blocks = () => null,
): Blocks {
  const [own, clearing] = parted(groups);
  return [
    onTerminal(
      groupsTable(groups),
      groups.length > 0 &&
        paragraph("Each document of a group, and what to do: fuelbridge quarantine show GROUP"),
    ),
    onPage(
      own.length === 0
        ? notice(
            "good",
            line(
              strong("Nothing needs you."),
              " Every document is delivered, on its way, or closed.",
            ),
          )
        : line(plural(documentsIn(own), "document"), inGroups(own), ", the largest group first."),
      cardsOf(own, button),
      clearing.length > 0 && [
        heading("Clears by itself"),
        line(
          plural(documentsIn(clearing), "document waits", "documents wait"),
          " for something else. You do not have to do anything.",
        ),
      ],
      cardsOf(clearing, button),
    ),
  ];
}

/** Groups about which the same is to be done are one card, with a line for each: one row helps whatever waits for it. */
function cardsOf(
  groups: readonly QuarantineGroup[],
  button: (group: QuarantineGroup) => Blocks,
): Blocks {
  const alike = Map.groupBy(groups, ({ flow, accountant, lookup }) =>
    lookup === null ? `${flow} ${accountant}` : `${lookup.table} ${lookup.key}`,
  );
  const cards = [...alike.values()].toSorted((one, other) => documentsIn(other) - documentsIn(one));
  return cards.map((those) => {
    const [one, other] = those;
    if (one === undefined || other !== undefined) return foldedCard(those, button);
    return card(
      heading(link(to`/needs-you/${one.id}`, headOf(one))),
      line(causeOf(one) !== null && [strong(causeOf(one)), ". "], one.accountant),
      button(one),
      quiet(`${one.flow} · the oldest came `, ago(one.since)),
    );
  });
}

function foldedCard(
  those: readonly QuarantineGroup[],
  button: (group: QuarantineGroup) => Blocks,
): Blocks {
  const [one] = those as [QuarantineGroup];
  const { flow, accountant, sum, awaits, lookup } = one;
  const count = documentsIn(those);
  const sums = those.flatMap((one) => (one.sum?.currency === sum?.currency ? (one.sum ?? []) : []));
  const all = Decimal.sum(sums.map(({ amount }) => Decimal.of(amount)));
  return card(
    heading([
      lookup === null
        ? [`${flow}: `, plural(count, "document")]
        : [plural(count, "document waits", "documents wait"), ` for ${awaits}`],
      sum !== null && sums.length === those.length && [", ", money(inCents(all), sum.currency)],
    ]),
    lookup !== null && [line(accountant), button(one)],
    table(lookup === null ? `${flow}: ${accountant}` : "What waits for it", those, [
      [
        lookup === null ? "Document" : "Documents",
        (group) => link(to`/needs-you/${group.id}`, lookup === null ? headOf(group) : group.many),
      ],
      ["Sum", ({ sum }) => (lookup === null ? null : moneyOf(sum))],
      ["Cause", (group) => (lookup === null ? causeOf(group) : null)],
      ["Came", ({ since }) => ago(since)],
    ]),
  );
}

/** One group with its documents, for a terminal. */
export const groupView = (group: ShownGroup): Blocks => [
  entry(`${group.flow}: ${group.cause} (${group.code})`, next(group.next)),
  section(null, deliveriesTable(group, "Documents of this group")),
  section(null, knownView(group)),
  section(
    null,
    helpLines(group).map((help) => line(help)),
  ),
];

/** A column that says nothing in any row is left out. */
export const deliveriesTable = ({ cause, deliveries }: ShownGroup, caption: string): Blocks =>
  table(
    caption,
    deliveries,
    [
      ["Delivery", ({ delivery }) => delivery, "terminal"],
      [
        "Number",
        ({ document, name, number }) => link(to`/documents/${document}`, whole(name ?? number)),
      ],
      ["Party", ({ party, partyName }) => each(partyName, party)],
      ["Amount", moneyOf],
      ["Currency", ({ currency }) => currency, "terminal"],
      ["Day", ({ day }) => dayOf(day)],
      [
        "Waits for",
        ({ awaits }) => awaits && link(address("/documents", { text: awaits }), awaits),
      ],
      // Of many documents that differ alike: what differs in each.
      ["Field", ({ field }) => field, "terminal"],
      ["Since", (one) => each(ago(one.since), age(one.ageMs))],
      ["Assigned to", ({ assignee }) => assignee],
      ["From", ({ origin, version }) => each(origin, origin ?? version)],
      // Where the group's sentence leaves the values out.
      ["Cause", (one) => (one.awaits !== null || one.cause === cause ? null : one.cause)],
    ],
    "There are none here any more.",
  );

/** What people know and did about the documents; nothing where nobody did. */
export const knownView = ({ deliveries }: ShownGroup): Blocks => [
  correctionsTable(
    deliveries.flatMap(({ number, corrections }) => corrections.map((one) => ({ ...one, number }))),
  ),
  table(
    "Notes",
    deliveries.flatMap(({ number, notes }) => notes.map((note) => ({ ...note, number }))),
    [
      ["Document", ({ number }) => number],
      ["When", (note) => at(note.at)],
      ["Who", ({ who }) => who],
      ["Note", ({ text }) => text],
    ],
  ),
];

function helpLines({ id, helps, deliveries }: ShownGroup): string[] {
  const isCorrected = deliveries.some(({ corrections }) => corrections.length > 0);
  const isCorrectable = deliveries.some(({ correctable }) => correctable.length > 0);
  return [
    ...helps.map((action) => HELP[action](id)),
    ...(isCorrected && !helps.includes("retry")
      ? [`To map and deliver what was corrected: fuelbridge quarantine retry ${id}`]
      : []),
    ...(isCorrectable && helps.includes("correct")
      ? [`To correct a field here: fuelbridge quarantine edit DELIVERY FIELD=VALUE --note "why"`]
      : []),
    ...(deliveries.length > 1
      ? ["For one of them only, write its number under DELIVERY in place of the group."]
      : []),
  ];
}

const HELP: Readonly<Record<Action, (group: string) => string>> = {
  correct: () => "Once it is corrected where it comes from, it is taken by itself.",
  wait: () => "It clears by itself.",
  retry: (id) => `To map and deliver it again: fuelbridge quarantine retry ${id}`,
  link: () =>
    `If it is at the receiver: fuelbridge quarantine close DELIVERY --receiver-id ID --note "found there"`,
  "link-amount": () =>
    `To accept its amount at the receiver: fuelbridge quarantine close DELIVERY --receiver-id ID --amount AMOUNT --note "who accepted it"`,
  resolve: (id) =>
    `If it is settled by hand: fuelbridge quarantine close ${id} --note "how it was settled"`,
};

/* Rows that are missing in cross-reference tables. */

/** With what is known of each: a file of it is filled in, and its rows are copied into the tables. */
export const missingTable = (tables: readonly ShownTable[]): Table =>
  table(
    "Missing rows",
    tables.flatMap(({ name, missing }) => missing.map((row) => ({ table: name, ...row }))),
    [
      ["Table", ({ table }) => table, "terminal"],
      ["Row", ({ key, group }) => link(to`/needs-you/${group}`, each(`Add ${key}`, key))],
      ["Documents that wait", ({ count }) => count],
      // Empty, and not left out: a script that reads the CSV finds each column in its place.
      ["Sum", ({ sum }) => (sum === null ? "" : money(sum.amount, sum.currency))],
      ["Flow", ({ flow }) => flow],
      ["First document", ({ first }) => first?.number ?? ""],
      ["Its party", ({ first }) => first?.partyName ?? ""],
      ["Group", ({ group }) => group, "terminal"],
    ],
  );

/** The quarantine: groups by cause, and the documents of one with what can be done about them. */
import type { QuarantineGroup, ShownGroup } from "../office/answers.ts";
import type { Action } from "../office/remedies.ts";
import {
  ago,
  at,
  type Block,
  type Blocks,
  card,
  each,
  entry,
  heading,
  line,
  link,
  mark,
  next,
  notice,
  onPage,
  onTerminal,
  paragraph,
  plural,
  quiet,
  say,
  section,
  small,
  strong,
  table,
  to,
} from "./blocks.ts";
import { correctionsTable } from "./documents.ts";
import { age } from "./table.ts";

/** Groups that a person has to do something about, and those that clear by themselves. */
export function parted(
  groups: readonly QuarantineGroup[],
): [own: QuarantineGroup[], clearing: QuarantineGroup[]] {
  const clearing = groups.filter(({ helps }) => helps.includes("wait"));
  return [groups.filter((one) => !clearing.includes(one)), clearing];
}

export const documentsIn = (groups: readonly QuarantineGroup[]): number =>
  groups.reduce((total, { count }) => total + count, 0);

/** For a terminal, one line for each group. */
export const groupsTable = (groups: readonly QuarantineGroup[]): Block =>
  table(
    "Documents that need a person",
    groups,
    [
      ["Group", ({ id, title }) => link(to`/needs-you/${id}`, each(title, id))],
      ["Flow", ({ flow }) => flow],
      ["Count", ({ count }) => count],
      ["Age", ({ since, ageMs }) => each(ago(since), age(ageMs))],
      ["Cause", ({ cause }) => cause],
    ],
    "Nothing is in quarantine.",
  );

export function groupsView(groups: readonly QuarantineGroup[]): Blocks {
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
        : line(
            say`${plural(documentsIn(own), "document")} in ${plural(own.length, "group")}. `,
            "Each group has one cause and one next step.",
          ),
      own.map(groupCard),
      clearing.length > 0 && [
        heading("Clears by itself"),
        line(
          plural(documentsIn(clearing), "document waits", "documents wait"),
          " for something else. You do not have to do anything.",
        ),
      ],
      clearing.map(groupCard),
    ),
  ];
}

const groupCard = ({ id, title, accountant, flow, helps, since }: QuarantineGroup): Block =>
  card(
    heading(link(to`/needs-you/${id}`, title)),
    line(accountant),
    quiet(
      `${flow} · `,
      helps.includes("wait") ? mark("wait", "waits") : mark("bad", "needs you"),
      " · the oldest came ",
      ago(since),
    ),
  );

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
      ["Document", ({ document, summary }) => link(to`/documents/${document}`, summary), "page"],
      ["Delivery", ({ delivery }) => delivery, "terminal"],
      ["Number", ({ name, number }) => name ?? number, "terminal"],
      ["Party", ({ party }) => party, "terminal"],
      ["Amount", ({ amount, currency }) => amount && `${amount} ${currency}`, "terminal"],
      ["Waits for", ({ awaits }) => awaits && link(to`/documents?text=${awaits}`, awaits)],
      // Of many documents that differ alike: what differs in each.
      ["Field", ({ field }) => field, "terminal"],
      ["Since", (one) => each([at(one.since), " ", small(ago(one.since))], age(one.ageMs))],
      ["Assigned to", ({ assignee }) => assignee],
      ["From", ({ origin, version }) => origin ?? version],
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
    `If it is at the receiver: fuelbridge quarantine resolve DELIVERY --receiver-id ID --note "found there"`,
  "link-amount": () =>
    `To accept its amount at the receiver: fuelbridge quarantine resolve DELIVERY --receiver-id ID --amount AMOUNT --note "who accepted it"`,
  resolve: (id) =>
    `If it is settled by hand: fuelbridge quarantine resolve ${id} --note "how it was settled"`,
};

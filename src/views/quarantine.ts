/** The quarantine: groups by cause, and the documents of one with what can be done about them. */
import type { QuarantineGroup, ShownGroup } from "../office/answers.ts";
import type { Action } from "../office/remedies.ts";
import { Decimal } from "../core/decimal.ts";
import { inCents } from "../core/text.ts";
import {
  address,
  ago,
  at,
  type Block,
  type Blocks,
  card,
  dayOf,
  each,
  entry,
  heading,
  type Inline,
  line,
  link,
  money,
  next,
  notice,
  onPage,
  onTerminal,
  paragraph,
  plural,
  quiet,
  say,
  section,
  strong,
  table,
  to,
  whole,
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

/** `INV-118 · Prairie Fuel · $20,712.42 · Oct 3, 2026`; of several, how many and what they come to. */
function headOf({ count, many, awaits, title, first, sum }: QuarantineGroup): Inline {
  if (count > 1 || first === null)
    return [awaits === null ? many : title, sum !== null && [", ", moneyOf(sum)]];
  const facts = [whole(first.number ?? many), first.partyName, moneyOf(first), dayOf(first.day)];
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
        : line(say`${plural(documentsIn(own), "document")}, the most first.`),
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

/** Groups of one flow about which the same is to be done are one card, with a line for each. */
function cardsOf(
  groups: readonly QuarantineGroup[],
  button: (group: QuarantineGroup) => Blocks,
): Blocks {
  const alike = Map.groupBy(groups, ({ id, flow, accountant, lookup }) =>
    lookup === null ? `${flow} ${accountant}` : id,
  );
  return [...alike.values()].map((those) => {
    const [one, other] = those;
    if (one === undefined || other !== undefined) return foldedCard(those);
    return card(
      heading(link(to`/needs-you/${one.id}`, headOf(one))),
      line(causeOf(one) !== null && [strong(causeOf(one)), ". "], one.accountant),
      button(one),
      quiet(`${one.flow} · the oldest came `, ago(one.since)),
    );
  });
}

function foldedCard(those: readonly QuarantineGroup[]): Blocks {
  const [{ flow, accountant, sum }] = those as [QuarantineGroup];
  const sums = those.flatMap((one) => (one.sum?.currency === sum?.currency ? (one.sum ?? []) : []));
  const all = Decimal.sum(sums.map(({ amount }) => Decimal.of(amount)));
  return card(
    heading([
      `${flow}: `,
      plural(documentsIn(those), "document"),
      sum !== null && sums.length === those.length && [", ", money(inCents(all), sum.currency)],
    ]),
    line(accountant),
    table(`${flow}: what is wrong with each`, those, [
      ["Document", (group) => link(to`/needs-you/${group.id}`, headOf(group))],
      ["Cause", causeOf],
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

/** What papers were found to differ in: for a terminal, a page and a spreadsheet, and as a claim for one party. */
import { Decimal } from "../core/decimal.ts";
import { amountText, byText, counted, grouped } from "../core/text.ts";
import type { KeptFinding } from "../engine/match.ts";
import { type MatchReport, sizeOf } from "../match/report.ts";
import { type Finding, SIDES } from "../match/situation.ts";
import * as say from "./blocks.ts";
import { asCsv } from "./csv.ts";

/** The sentence that says how it stands. `currency`: left out where bare digits do. */
export function headOf(
  { invoices, sums, notBilled }: Pick<MatchReport, "invoices" | "sums" | "notBilled">,
  currency = "",
): string {
  const { all, match, differ, wait, alone, left } = invoices;
  const shown = (sum: string): string => amountText(Decimal.of(sum), currency);
  return [
    `Of ${all} invoices ${match} match; ${differ} differ: ${shown(sums.forUs)} for us, ${shown(sums.againstUs)} against us`,
    wait > 0 && `${wait} wait for a paper`,
    alone > 0 && `${alone} cannot be compared: no ticket, order or price of theirs is here`,
    left > 0 && `${left} bill no fuel or are drafts or void`,
    `${counted(notBilled.deliveries, "delivery", "deliveries")} not billed: about ${shown(notBilled.about)}.`,
  ]
    .filter(Boolean)
    .join("; ");
}

/** What a terminal shows of a run: its sums, and findings by rule and party. */
export const matchView = (report: MatchReport): say.Blocks => [
  say.line(`${report.from} to ${report.to}. ${headOf(report)}`),
  say.section("Parties", partiesTable(report.parties, "", {})),
  [...Map.groupBy(report.findings, ({ rule, partyName }) => `${rule}: ${partyName}`)].map(
    ([title, own]) => [say.heading(title), findingsTable("", own, "")],
  ),
  say.section("Not compared", say.list(report.notCompared)),
];

/** `given`: what the page's address names beside the party. Nothing is a dash there, so that the eye finds what is something. */
function partiesTable(
  parties: MatchReport["parties"],
  currency: string,
  given: Readonly<Record<string, string>>,
  caption = "By party, the largest sum first",
): say.Block {
  const sumText = (sum: string): say.Inline =>
    sum === "0.00" ? say.each(null, sum) : say.money(sum, currency);
  const linked = (path: string, { party, direction }: (typeof parties)[number], text: string) =>
    say.link(say.address(path, { ...given, party, direction }), text);
  return say.table(caption, parties, [
    ["Party", (one) => linked("/match", one, one.partyName)],
    ["Findings", (it) => say.say`${say.plural(it.findings, "finding")} in ${SIDES[it.direction]}`],
    ["For us", ({ forUs }) => sumText(forUs)],
    ["Against us", ({ againstUs }) => sumText(againstUs)],
    ["Claim", (one) => one.forUs !== "0.00" && linked("/match/claim", one, "Claim it"), "page"],
  ]);
}

/** So many are read at a glance; more are folded, and of one kind of finding so many are shown. The CSV has all. */
const AT_ONCE = 20;
const SHOWN_MAX = 50;

/** What a page shows of parties. */
export function partiesView(
  parties: MatchReport["parties"],
  currency: string,
  given: Readonly<Record<string, string>>,
): say.Blocks {
  const more = parties.slice(AT_ONCE);
  const further = partiesTable(more, currency, given, "Further parties");
  return [
    partiesTable(parties.slice(0, AT_ONCE), currency, given),
    more.length > 0 && say.foldedPart(say.say`${more.length} further parties`, further),
  ];
}

/** Both values, and the gallons between them. */
const valuesOf = ({ compared, billed, expected, gallons }: Finding): string =>
  `${compared}, ${billed ?? "none"} instead of ${expected ?? "none"}${gallons === null ? "" : `; off by ${gallons} gallons`}`;

const FAVOURS = { us: "for us", them: "against us" } as const;

/** Each paper leads to what is known of it. */
const papersOf = ({ papers }: Finding): say.Inline =>
  papers.map(({ kind, number }) => [
    `${kind} `,
    say.link(say.address("/documents", { text: number }), say.whole(number)),
    ", ",
  ]);

/** `settling`: what a page has beside each. */
const findingsTable = <One extends Finding & Partial<KeptFinding>>(
  caption: string,
  findings: readonly One[],
  currency: string,
  settling: (one: One) => say.Inline = () => null,
): say.Block =>
  say.table(caption, findings, [
    ["Papers", (one) => [papersOf(one), `${one.partyName}, `, say.dayOf(one.day)]],
    [
      "What",
      (one) => [
        say.mark(one.certainty === "certain" ? "bad" : "wait", one.certainty),
        ` ${nameOf(one.rule)}: ${valuesOf(one)}`,
        one.joined !== "" && say.small(` Put together by ${one.joined}.`),
      ],
    ],
    ["Amount", ({ amount }) => (amount === null ? "none" : say.money(amount, currency))],
    ["For", ({ favour }) => favour && FAVOURS[favour]],
    [
      "Cause and next step",
      (one) => [
        one.state !== undefined && one.state !== "open" && say.strong(`${one.state}. `),
        one.note && say.small(`${one.note}. `),
        say.say`${one.cause} ${say.next(one.next)}`,
        settling(one),
      ],
    ],
  ]);

/** What a page shows of findings: very many by what was found, in the order in which they come. */
export function findingsView<One extends Finding>(
  caption: string,
  findings: readonly One[],
  currency: string,
  settling: (one: One) => say.Inline,
): say.Blocks {
  const of = (own: readonly One[]): say.Blocks => [
    findingsTable(caption, own.slice(0, SHOWN_MAX), currency, settling),
    own.length > SHOWN_MAX &&
      say.quiet(say.plural(own.length - SHOWN_MAX, "more", "more"), " in the CSV, or by party."),
  ];
  if (findings.length <= AT_ONCE) return of(findings);
  return [...Map.groupBy(findings, ({ rule }) => rule)].map(([rule, own]) => {
    const sum = Decimal.sum(own.map(sizeOf)).fixed(2);
    const many = say.plural(own.length, "finding");
    return say.foldedPart(say.say`${nameOf(rule)}: ${many}, ${say.money(sum, currency)}`, of(own));
  });
}

const nameOf = (rule: string): string => rule.replaceAll("-", " ");

const numbersOf = ({ papers }: Finding, kind: Finding["papers"][number]["kind"]): string =>
  papers.flatMap((paper) => (paper.kind === kind ? [paper.number] : [])).join(", ");

/** Columns that are called as what they have. */
const named = (...names: readonly Exclude<keyof Finding, "papers">[]) =>
  names.map((name) => [name, (one: Finding) => one[name] ?? ""] as const);

const digits = (text: string | null): say.Inline => (text === null ? "" : say.money(text, ""));

/** One row for each finding, in their order. */
export const findingsCsv = (findings: readonly Finding[]): string =>
  asCsv(
    say.table("", findings, [
      ...named("rule", "certainty", "direction"),
      ["party", ({ partyName }) => partyName],
      ...named("day"),
      ["invoices", (one) => numbersOf(one, "invoice")],
      ["tickets", (one) => numbersOf(one, "ticket")],
      ["orders", (one) => numbersOf(one, "order")],
      ...named("compared", "billed", "expected"),
      ["gallons", ({ gallons }) => digits(gallons)],
      ["amount", ({ amount }) => digits(amount)],
      ...named("favour"),
      ["joined_by", ({ joined }) => joined],
      ...named("cause", "next"),
    ]),
  );

/** What is claimed from one party: what it owes us by these findings, and all of it. */
export function claimOf(findings: readonly Finding[], party: string, currency: string) {
  const own = findings
    .filter((one) => one.party === party && one.favour === "us")
    .toSorted((one, other) => byText(one.day, other.day) || byText(one.key, other.key));
  const total = Decimal.sum(own.map(sizeOf)).fixed(2);
  const table = say.table(
    "What is claimed",
    [...own, null],
    [
      ["Bill", (one) => say.whole(one === null ? "Total" : numbersOf(one, "invoice"))],
      ["Day", (one) => one && say.dayOf(one.day)],
      ["Ticket", (one) => (one === null ? "" : say.whole(numbersOf(one, "ticket")))],
      // Of a rate the gallons, too, so that whoever is claimed from can compute it.
      [
        "Differs",
        (one) =>
          one &&
          `${one.cause}${one.worth === null ? "" : ` It is so on ${grouped(one.worth)} gallons.`}`,
      ],
      ["Amount", (one) => say.money(one === null ? total : (one.amount ?? "0.00"), currency)],
    ],
  );
  return { partyName: own[0]?.partyName ?? "nobody", differences: own.length, total, table };
}

/** A reconciliation for people, on a terminal and in the console. It says what the report says and judges nothing itself. */
import { labelOf } from "../ledger/compare.ts";
import { Decimal } from "../core/decimal.ts";
import { isGoodsHolding, type Strength } from "../core/holdings.ts";
import { distinctly, counted, grouped, inCents } from "../core/text.ts";
import type { KnownDifference, KnownDifferences, ReconcileCost } from "../office/answers.ts";
import {
  agreeing,
  isOpen,
  isPaidInPart,
  manyOf,
  moneyKinds,
  type Side,
} from "../reconcile/case.ts";
import {
  type Aging,
  type Balance,
  type CaseRow,
  type Group,
  type Report,
  tells,
  type Total,
  type Unasked,
} from "../reconcile/report.ts";
import {
  at,
  type Block,
  type Blocks,
  dayOf,
  each,
  entry,
  type Inline,
  line,
  link,
  list,
  money,
  next,
  notice,
  onPage,
  onTerminal,
  plural,
  say,
  section,
  strong,
  table,
  to,
  valueIn,
  whole,
} from "./blocks.ts";
import { asText, durationText } from "./text.ts";

/** So many are shown; the CSV has all. */
const SHOWN = 200;

/** For a terminal, and for the pack of an auditor. */
export function reportText(report: Report): string {
  const { period, at: when, currency } = report;
  const of = period === null ? "everything" : `${period.from} to ${period.to}`;
  return asText([
    line(`Reconciliation of ${of}, both sides as of ${when}. Amounts in ${currency}.`),
    verdictView(report),
    detailView(report, true),
  ]);
}

type Compared = Pick<Report, "cases" | "unasked">;

type Names = Report["names"];

const isAccepted = ({ bucket }: CaseRow): boolean => bucket === "accepted";

/** What was not compared is no disagreement, and no agreement either. */
export function agreementOf({ cases, unasked }: Compared): string {
  const open = cases.filter(isOpen);
  if (open.length > 0)
    return open.every(isPaidInPart)
      ? `Both sides differ by ${counted(open.length, "invoice")} paid in part, and in nothing else`
      : "Both sides do not agree";
  if (cases.length === 0 && unasked.length > 0) return "Nothing could be compared";
  const accepted = cases.filter(isAccepted).length;
  const but = accepted === 0 ? "" : `, but for ${acceptedCount(accepted)}`;
  return unasked.length === 0
    ? `Both sides agree${but}`
    : `Both sides agree in what was compared${but}; ${partsOf(unasked)} not compared`;
}

const acceptedCount = (count: number): string =>
  `${count} ${count === 1 ? "difference" : "differences"} that a person accepted`;

const partsOf = (unasked: readonly Unasked[]): string => {
  const parts = unasked.map(
    ({ kind, what }) => `${manyOf(kind)}${what === undefined ? "" : ` of ${what}`}`,
  );
  return [...new Set(parts)].join(", ");
};

/** Do they agree, and what was not compared? */
export function verdictView({ cases, agrees, failures, unasked }: Report): Blocks {
  if (failures.length > 0)
    return notice(
      "bad",
      entry(strong("It cannot be trusted, and nothing was judged:"), ...failures),
    );
  const open = cases.filter(isOpen).length;
  const accepted = cases.filter(isAccepted).length;
  const beside = accepted === 0 ? "" : `, beside ${acceptedCount(accepted)}`;
  const said = agreementOf({ cases, unasked });
  return notice(
    agrees ? "good" : "bad",
    line(
      strong(
        open > 0
          ? say`${said.replace("do not agree", "DO NOT AGREE")}: ${open} of ${cases.length} cases${beside}.`
          : say`${said}: ${cases.length} cases.`,
      ),
    ),
    unasked.map((one) => line(strong("NOT COMPARED:"), " ", unaskedText(one))),
  );
}

/** Why a kind, or a part of it, was not compared, and what to do. */
function unaskedText({ endpoint, kind, what, why, next, records }: Unasked): string {
  const part = what === undefined ? "" : `, ${what}`;
  const count = records === undefined ? "" : ` (${records} on the platform)`;
  return `${endpoint}: ${manyOf(kind)}${part}${count}: ${why}${next === undefined ? "" : ` ${next}`}`;
}

/** Differences first, then counts and sums of both sides. `all`: also of parties that do not differ. */
export function detailView(report: Report, all: boolean): Blocks {
  const { cases, totals, outside, notices, today, currency } = report;
  return [
    section("Differences", differencesOf(report)),
    section("Accepted by a person", casesView(cases.filter(isAccepted), report)),
    section(
      "Counts and sums",
      totalsTable("Documents of the period, each in one place", totals, currency),
      totalsTable("Not of the period, but open or changed", outside, currency),
      bridgeTable(report),
    ),
    section(
      "Out of scope in the period: the sides differ by these, and agree",
      casesView(cases.filter(isLeftOut), report),
    ),
    monthsView(report, all),
    codesView(report),
    section(`Open balances on ${today}`, balancesView(report, all)),
    section("What this does not prove", list([...notices, ...limitsOf(report)])),
  ];
}

/** What is alike in a storm is told once, waiting only when overdue. */
function differencesOf(report: Report): Blocks {
  const { cases, groups } = report;
  const storms = groups.filter(({ isStorm }) => isStorm);
  const inStorm = new Set(storms.flatMap((storm) => storm.cases));
  const byId = new Map(cases.map((row) => [row.case, row]));
  const single = cases.filter(
    (row) => isOpen(row) && (row.bucket !== "waiting" || row.overdue) && !inStorm.has(row.case),
  );
  return [storms.map((storm) => stormView(storm, byId, report)), casesView(single, report)];
}

const EXAMPLES = 3;

function stormView(
  { kind, bucket, cases, fields }: Group,
  byId: ReadonlyMap<string, CaseRow>,
  { currency, names }: Report,
): Blocks {
  const rows = cases.slice(0, EXAMPLES).flatMap((id) => byId.get(id) ?? []);
  const [first] = rows;
  const labels = fields.map((field) => labelOf(kind, field)).join(", ");
  const numbers = rows.map(({ number }) => number).join(", ");
  return entry(
    [
      `MISMATCH: ${cases.length} ${manyOf(kind)} are "${bucket}" alike`,
      `${labels === "" ? "" : ` in ${labels}`}: ${numbers}, ...`,
    ],
    ...(first === undefined ? [] : reasonsOf(first, currency, names)),
  );
}

/** On a terminal all of them. */
const casesView = (rows: readonly CaseRow[], { currency, names }: Report): Blocks => [
  rows.slice(0, SHOWN).map((row) => caseView(row, currency, names, `${row.case} `)),
  onTerminal(rows.slice(SHOWN).map((row) => caseView(row, currency, names, `${row.case} `))),
  rows.length > SHOWN && onPage(line(say`and ${rows.length - SHOWN} more, in the CSV.`)),
];

/** With both values, cause and next step. `name`: what it is called in its list. */
function caseView(
  row: CaseRow,
  currency: string,
  names: Names,
  name: string,
  ...more: Inline[]
): Block {
  const { kind, number, party, day, bucket, overdue, within, suspects } = row;
  const known: Inline[] = [
    partyIn(names, party),
    dayOf(day),
    within ? null : "outside of the period",
  ].filter(Boolean);
  return entry(
    [
      name,
      link(to`/documents?text=${number}`, [`${kind} `, whole(number)]),
      known.length > 0 && [" (", known.map((one, at) => [at > 0 && ", ", one]), ")"],
      `: ${bucket}`,
      overdue && " for longer than a day",
      (isGoodsHolding(kind) || moneyKinds.has(kind)) &&
        say`, platform ${figureOn(row, "platform", currency)}, ERP ${figureOn(row, "books", currency)}`,
    ],
    ...reasonsOf(row, currency, names),
    ...suspects.map((suspect) => `perhaps the same: ${suspect}`),
    ...more,
  );
}

const reasonsOf = (
  { kind, differences, cause }: CaseRow,
  currency: string,
  names: Names,
): Inline[] => [
  ...differences.map(({ field, platform, books }) => {
    const [theirs, ours] = distinctly(platform, books).map((value) =>
      field === "party" ? partyIn(names, value) : valueIn(field, value, currency),
    );
    return say`${labelOf(kind, field)}: platform ${theirs}, ERP ${ours}`;
  }),
  ...(cause === null
    ? []
    : [[each(strong("Cause:"), "cause:"), ` ${cause.message}`], next(cause.next)]),
];

/** A side that has no such record has no amount either: zero is what an ended one counts. */
const figureOn = (row: CaseRow, side: Side, currency: string): Inline =>
  row.records[side].length === 0
    ? "not there"
    : row.records[side].every(({ isSilent }) => isSilent)
      ? say`no amount in ${currency}`
      : figureOf(row.kind, { amount: row.amount[side], gallons: row.gallons[side] }, currency);

/** Of goods their gallons; parties and prices have neither. */
function figureOf(
  kind: CaseRow["kind"],
  { amount, gallons }: { readonly amount: string; readonly gallons: string },
  currency: string,
): Inline {
  if (isGoodsHolding(kind))
    return { is: "figure", page: `${grouped(gallons)} gal`, terminal: `${gallons} gal` };
  return moneyKinds.has(kind) ? money(amount, currency) : "–";
}

const totalsTable = (caption: string, totals: readonly Total[], currency: string): Blocks =>
  table(caption, totals, [
    ["What", ({ kind }) => manyOf(kind)],
    ["Result", ({ bucket }) => bucket],
    ["Cases", ({ cases }) => cases, "terminal"],
    ["Platform", ({ platform }) => platform.records],
    ["Amount", ({ kind, platform }) => figureOf(kind, platform, currency)],
    ["ERP", ({ books }) => books.records],
    ["Amount", ({ kind, books }) => figureOf(kind, books, currency)],
  ]);

const bridgeTable = ({ bridges, currency }: Report): Blocks =>
  table(
    "From the platform's total to the ERP's",
    bridges.flatMap(({ kind, platform, steps, books }) => [
      { kind, step: "platform", amount: platform },
      ...steps.filter(isDifferent).map(({ bucket, difference }) => ({
        kind,
        step: `less ${bucket}`,
        amount: difference,
      })),
      { kind, step: "ERP", amount: books },
    ]),
    [
      ["What", ({ kind }) => manyOf(kind)],
      ["Step", ({ step }) => step],
      ["Amount", ({ amount }) => money(amount, currency)],
    ],
  );

/** It makes the totals differ though both sides agree: it is on one side only, and rightly. */
const isLeftOut = ({ kind, bucket, within, amount }: CaseRow): boolean =>
  within &&
  agreeing.has(bucket) &&
  moneyKinds.has(kind) &&
  !Decimal.of(amount.platform).equals(Decimal.of(amount.books));

const isDifferent = ({ difference }: { readonly difference: string }): boolean =>
  Decimal.of(difference).sign !== 0;

/** `000113 00 Ranch` */
const partyIn = (names: Names, code: string | null): string | null =>
  code === null ? null : [code, names[code]].filter(Boolean).join(" ");

/** Every account and tax, those whose sums differ first, and what is in none of them. */
function codesView({ cases, codes, currency }: Report): Blocks {
  const rows = [...codes.filter(isDifferent), ...codes.filter((one) => !isDifferent(one))];
  return (["account", "tax"] as const).map((what) =>
    section(
      `By ${what}`,
      table(
        `Sums in the period, by ${what}`,
        rows.filter((one) => one.what === what),
        [
          [what === "tax" ? "Tax" : "Account", ({ code }) => code],
          ["What", ({ kind }) => manyOf(kind)],
          ["Platform", ({ platform }) => money(platform, currency)],
          ["ERP", ({ books }) => money(books, currency)],
          ["Platform less ERP", ({ difference }) => money(difference, currency)],
        ],
      ),
      [...new Set(codes.flatMap((one) => (one.what === what ? one.kind : [])))].map((kind) => {
        const untold = cases.filter(
          (one) => one.within && one.kind === kind && hasAmount(one) && !tells(one, what),
        );
        const sum = (side: Side) =>
          money(inCents(Decimal.sum(untold.map((one) => Decimal.of(one.amount[side])))), currency);
        return (
          untold.length > 0 &&
          line(
            say`Not in these sums, for one side does not tell it: ${untold.length} ${manyOf(kind)}, `,
            say`platform ${sum("platform")}, ERP ${sum("books")} in all.`,
          )
        );
      }),
    ),
  );
}

const hasAmount = ({ amount }: CaseRow): boolean =>
  Object.values(amount).some((one) => Decimal.of(one).sign !== 0);

/** Parties whose sums differ; the others are counted, unless `all` are wanted. */
function monthsView({ months, names, currency }: Report, all: boolean): Blocks {
  if (months.length === 0) return null;
  const rows = all ? months : months.filter(isDifferent);
  return section(
    "By party and month",
    table(
      all ? "Sums in the period" : "Parties whose sums differ in the period",
      rows,
      [
        ["Party", ({ party }) => partyIn(names, party)],
        ["What", ({ kind }) => manyOf(kind)],
        ["Month", ({ month }) => month],
        ["Platform", ({ platform }) => money(platform, currency)],
        ["ERP", ({ books }) => money(books, currency)],
        ["Platform less ERP", ({ difference }) => money(difference, currency)],
      ],
      "Every party's sums are the same on both sides.",
    ),
    alike(months.length - rows.length, rows.length),
  );
}

const alike = (count: number, others: number): Blocks =>
  others > 0 &&
  count > 0 &&
  line(plural(count, "more row is", "more rows are"), " the same on both sides.");

export const agings = [
  ["current", "not due"],
  ["30", "1 to 30"],
  ["60", "31 to 60"],
  ["90", "61 to 90"],
  ["older", "older"],
  ["total", "total"],
] as const satisfies readonly (readonly [column: keyof Aging, title: string])[];
const OWED = { invoice: "by customers", bill: "to suppliers" } as const;

/** All of what is owed, by days past due, then by party: those where the sides differ, or `all`. */
function balancesView({ balances, names, currency }: Report, all: boolean): Blocks {
  if (balances.length === 0) return null;
  const shown = all ? balances : balances.filter(isDifferent);
  const kinds = (["invoice", "bill"] as const).flatMap((kind) => {
    const own = balances.filter((one) => one.kind === kind);
    return own.length === 0 ? [] : [agedRows(kind, null, own)];
  });
  return [
    agedTable("What is open, by days past due, of every date", kinds.flat(), currency),
    agedTable(
      all ? "What is open, by party" : "Parties whose open balance differs",
      shown.flatMap((one) => agedRows(one.kind, partyIn(names, one.party), [one])),
      currency,
      "Every party's open balance is the same on both sides.",
    ),
    alike(balances.length - shown.length, shown.length),
  ];
}

interface Aged {
  readonly party: string | null;
  readonly kind: Balance["kind"];
  readonly side: string;
  readonly open: (column: keyof Aging) => string;
}

/** What both sides have open of these, and the difference of a party's where there is one. */
function agedRows(kind: Balance["kind"], party: string | null, of: readonly Balance[]): Aged[] {
  const sum = (side: Side, column: keyof Aging): Decimal =>
    Decimal.sum(of.map((one) => Decimal.of(one[side][column])));
  const row = (side: string, open: (column: keyof Aging) => Decimal): Aged => ({
    party,
    kind,
    side,
    open: (column) => inCents(open(column)),
  });
  return [
    row("platform", (column) => sum("platform", column)),
    row("ERP", (column) => sum("books", column)),
    ...(party !== null && of.some(isDifferent)
      ? [row("platform less ERP", (column) => sum("platform", column).minus(sum("books", column)))]
      : []),
  ];
}

const agedTable = (
  caption: string,
  rows: readonly Aged[],
  currency: string,
  empty: string | null = null,
): Blocks =>
  table(
    caption,
    rows,
    [
      ["Party", ({ party }) => party],
      ["Owed", ({ kind }) => OWED[kind]],
      ["Side", ({ side }) => side],
      ...agings.map(
        ([column, title]) => [title, ({ open }: Aged) => money(open(column), currency)] as const,
      ),
    ],
    empty,
  );

/** What this reconciliation does not prove, one sentence each. */
function limitsOf({ ignore, strength }: Report): string[] {
  const ignored = Object.entries(ignore).flatMap(([kind, fields]) =>
    fields.length === 0 ? [] : [`${kind}: ${fields.join(", ")}`],
  );
  const weak = strength.filter((one) => one.strength !== "asked");
  return [
    `Not compared, by the configuration (ignore): ${ignored.join("; ") || "nothing"}.`,
    ...weak.map(
      ({ endpoint, kind, strength: how }) => `${endpoint}, ${manyOf(kind)}: ${STRENGTHS[how]}.`,
    ),
  ];
}

const STRENGTHS: Readonly<Record<Strength, string>> = {
  asked: "as they are now",
  exported: "as of the last file that was read, not as they are now",
  remembered: "what was written, not what the ERP did with it",
};

/** What a comparison takes, before it begins. */
export const costView = ({ from, to, requests, left, waits }: ReconcileCost): Blocks => [
  line(
    each("It", `Reconciling ${from} to ${to}`),
    say` takes about ${plural(requests, "request")} to the platform, and up to three for each difference; `,
    say`${left} are left for it this month.`,
  ),
  waits !== null &&
    line(
      `${waits.endpoints.join(", ")} calls us and is not here: it waits for the next session, `,
      `${durationText(waits.atMostMs)} at most.`,
      each(
        "",
        " fuelbridge status says since when; Ctrl-C ends only this command where a daemon runs.",
      ),
    ),
];

/** What the runs before found and is not settled. `mayStay`: the form by which a person accepts one of them. */
export function knownView(
  { lastAt, undelivered, differences, accepted }: KnownDifferences,
  currency: string,
  mayStay: (one: KnownDifference) => Inline = () => null,
): Blocks {
  const clearing = differences.filter(({ clears }) => clears);
  const open = differences.filter(({ clears }) => !clears);
  const count = open.length;
  const more = (all: readonly KnownDifference[]): Blocks =>
    all.length > SHOWN &&
    line(say`and ${all.length - SHOWN} more: the CSV of a comparison has all.`);
  return [
    notice(
      count > 0 ? "bad" : lastAt === null || undelivered > 0 ? "wait" : "good",
      line(
        lastAt === null
          ? "Both sides were never compared; the daemon compares them every night."
          : say`Both sides were last compared: ${at(lastAt)}.`,
        " ",
        strong(
          count === 0 ? "No difference is known." : say`${plural(count, "difference")} known.`,
        ),
        undelivered > 0 &&
          say` Besides, ${plural(undelivered, "document was", "documents were")} in quarantine or on the way.`,
        clearing.length > 0 &&
          say` ${plural(clearing.length, "invoice")} paid in part: nothing is to be done.`,
      ),
    ),
    open.slice(0, SHOWN).map((one) => section(null, knownEntry(one, currency, mayStay(one)))),
    more(open),
    section(
      "Paid in part: nothing is to be done",
      clearing.slice(0, SHOWN).map((one) => knownEntry(one, currency, null)),
      more(clearing),
    ),
    section(
      "Accepted by a person, until their values change",
      accepted.map((one) => knownEntry(one, currency, null)),
    ),
  ];
}

function knownEntry(one: KnownDifference, currency: string, form: Inline): Block {
  const how = one.confirmed ? "confirmed by a second run" : "seen once";
  const { row, partyName } = one;
  const names = row.party === null || partyName === null ? {} : { [row.party]: partyName };
  return caseView(
    row,
    currency,
    names,
    "",
    say`${each(strong("Since:"), "since:")} ${at(one.since)}, ${how}`,
    form,
  );
}

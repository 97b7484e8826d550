/** Orders, tickets, invoices and prices compared with each other: what differs, with whom, and the claim for one party. */
import { Decimal } from "../../core/decimal.ts";
import type { KeptFinding } from "../../engine/match.ts";
import { summed } from "../../match/report.ts";
import { asCsv, type Claim, claimCsv, claimOf, headOf } from "../../match/text.ts";
import {
  address,
  ago,
  type Blocks,
  folded,
  heading,
  type Html,
  type Inline,
  line,
  link,
  list,
  mark,
  money,
  next,
  plural,
  quiet,
  say,
  section,
  small,
  strong,
  table,
  title,
  whole,
} from "../../views/blocks.ts";
import { html, verbatim } from "../../views/html.ts";
import { counted } from "../../views/table.ts";
import { changing, hidden } from "../parts.ts";
import { type Answer, type Asked, personOf } from "../route.ts";

const SHOWN_MAX = 200;

/** Of the days, the direction and the party that the address names. */
function chosen(asked: Asked, findings: readonly KeptFinding[]): KeptFinding[] {
  const { query } = asked;
  const [from, to] = [query.get("from") || "", query.get("to") || "9999"];
  const [party, direction] = [query.get("party") || null, query.get("direction") || null];
  return findings.filter(
    (one) =>
      one.day >= from &&
      one.day <= to &&
      (party === null || one.party === party) &&
      (direction === null || one.direction === direction),
  );
}

const sizeOf = ({ amount }: KeptFinding): Decimal =>
  amount === null ? Decimal.zero : Decimal.of(amount);

export async function match(asked: Asked): Promise<Answer> {
  const { office, query } = asked;
  const { last, findings } = await office.findings();
  const all = chosen(asked, findings);
  const open = all
    .filter(({ state }) => state !== "accepted")
    .toSorted((one, other) => sizeOf(other).compare(sizeOf(one)));
  const accepted = all.filter(({ state }) => state === "accepted");
  const days = { from: query.get("from"), to: query.get("to") };
  const body = [
    title("Match"),
    line(
      "Orders, delivery tickets, invoices and prices that are stored, compared with each other. ",
      last === null
        ? "They were never compared; the daemon does it every night."
        : say`Last compared ${ago(last.at)}, ${last.report.from} to ${last.report.to}: ${headOf(last.report)}`,
    ),
    period(asked),
    last !== null && differing(asked, open, days),
    accepted.length > 0 &&
      folded(
        say`${plural(accepted.length, "finding")} accepted as they are`,
        findingsTable("Accepted", accepted, asked, open.length),
      ),
    section(
      "Not compared",
      (last?.report.notCompared ?? []).length > 0 && list(last?.report.notCompared ?? []),
    ),
    heading("Compare now"),
    line("Nobody is asked for it: everything is in the store."),
    changing(asked, {
      id: "match-now",
      action: "/match",
      button: "Compare now",
      role: "accountant",
      hint: "For example: month's end.",
      fields: daysOf(days, "now-"),
    }),
  ];
  return { title: "Match", body };
}

/** Parties and findings; before a first comparison nothing can be said of them. */
function differing(
  asked: Asked,
  open: readonly KeptFinding[],
  days: { readonly from: string | null; readonly to: string | null },
): Blocks {
  const { query, site } = asked;
  if (open.length === 0) return quiet("Nothing differs.");
  const chosenOnes = { ...days, party: query.get("party"), direction: query.get("direction") };
  return [
    table("By party, the largest sum first", summed(open).parties, [
      [
        "Party",
        ({ party, partyName, direction }) =>
          link(address("/match", { ...days, party, direction }), partyName),
      ],
      [
        "Findings",
        ({ direction, findings: count }) =>
          say`${plural(count, "finding")} in what ${direction === "sale" ? "we bill" : "we are billed"}`,
      ],
      ["For us", ({ forUs }) => money(forUs, site.currency)],
      ["Against us", ({ againstUs }) => money(againstUs, site.currency)],
      [
        "Claim",
        ({ forUs, party, direction }) =>
          forUs === "0.00"
            ? ""
            : link(address("/match/claim", { ...days, party, direction }), "Claim it"),
      ],
    ]),
    findingsTable(`What differs: ${counted(open.length, "finding")}`, open, asked, 0),
    line(
      open.length > SHOWN_MAX && `${open.length - SHOWN_MAX} more are in the CSV. `,
      link(address("/match/csv", chosenOnes), "All of it as CSV"),
    ),
  ];
}

const daysOf = ({ from, to }: { from: string | null; to: string | null }, prefix: string): Html =>
  html`<label for="${prefix}from"
      >From <input id="${prefix}from" name="from" type="date" value="${verbatim(from ?? "")}"
    /></label>
    <label for="${prefix}to"
      >To <input id="${prefix}to" name="to" type="date" value="${verbatim(to ?? "")}"
    /></label>`;

const period = ({ query }: Asked): Html =>
  html`<form method="get" action="/match">
    <div class="line">
      ${daysOf({ from: query.get("from"), to: query.get("to") }, "")}
      <label for="direction"
        >Which
        <select id="direction" name="direction">
          ${[
            ["", "All"],
            ["purchase", "What we are billed"],
            ["sale", "What we bill"],
          ].map(
            ([value = "", name = ""]) =>
              html`<option
                value="${value}"
                ${value === (query.get("direction") ?? "") ? verbatim("selected") : ""}
              >
                ${name}
              </option>`,
          )}
        </select>
      </label>
      <button type="submit">Show</button>
    </div>
  </form>`;

/** `before`: findings of the page above these. */
const findingsTable = (
  caption: string,
  findings: readonly KeptFinding[],
  asked: Asked,
  before: number,
): Blocks =>
  table(
    caption,
    [...findings.slice(0, SHOWN_MAX).entries()],
    [
      ["Papers", ([, one]) => papersOf(one)],
      [
        "What",
        ([, { certainty, rule, compared, billed, expected, gallons, joined }]) => [
          mark(certainty === "certain" ? "bad" : "wait", certainty),
          ` ${rule}. ${compared}: ${billed ?? "none"} billed, ${expected ?? "none"} expected`,
          gallons !== null && `; ${gallons} gallons`,
          joined !== "" && small(` Joined by ${joined}.`),
        ],
      ],
      [
        "Amount",
        ([, { amount }]) => (amount === null ? "not known" : money(amount, asked.site.currency)),
      ],
      ["For", ([, { favour }]) => favour && (favour === "us" ? "for us" : "against us")],
      [
        "Cause and next step",
        ([at, one]) => [
          one.state !== "open" && strong(`${one.state}. `),
          one.cause,
          " ",
          next(one.next),
          settling(asked, one, before + at),
        ],
      ],
    ],
  );

const papersOf = ({ papers, partyName, day }: KeptFinding): Inline => [
  papers.map(({ kind, number }) => [
    `${kind} `,
    link(address("/documents", { text: number }), whole(number)),
    ", ",
  ]),
  `${partyName}, `,
  whole(day),
];

const settling = (asked: Asked, { key, state }: KeptFinding, at: number): Html =>
  html`<details>
    <summary>Settle it</summary>
    ${SETTLE.filter(([other]) => other !== state).map(([, action, button, hint]) =>
      changing(asked, {
        id: `finding-${at}-${action}`,
        action: `/match/${action}`,
        button,
        role: "accountant",
        hint,
        fields: hidden({ key }),
      }),
    )}
  </details>`;

const SETTLE = [
  ["accepted", "accept", "Accept it as it is", "Why may it stay so?"],
  ["disputed", "dispute", "Dispute it", "With whom, and how?"],
  ["open", "reopen", "Open it again", "Why?"],
] as const;

/** Runs while the form waits: the store alone is read. */
export async function matchNow(asked: Asked): Promise<Answer> {
  const { office, form, session } = asked;
  const [from, to] = [form.get("from") || null, form.get("to") || null];
  const by = `${session.user}: ${personOf(asked).note}`;
  const report = await office.match({ from, to, party: null, direction: null, by });
  return { to: address("/match", { from, to }), told: headOf(report) };
}

export const settle =
  (state: KeptFinding["state"]) =>
  async (asked: Asked): Promise<Answer> => {
    await asked.office.settleFinding(asked.form.get("key") ?? "", state, personOf(asked));
    return { to: "/match", told: `The finding is ${state === "open" ? "open again" : state}.` };
  };

async function claimIn(asked: Asked): Promise<Claim> {
  const { findings } = await asked.office.findings();
  const open = chosen(asked, findings).filter(({ state }) => state !== "accepted");
  return claimOf(open, asked.query.get("party") ?? "");
}

export async function claim(asked: Asked): Promise<Answer> {
  const { partyName, rows, total } = await claimIn(asked);
  const { site, query } = asked;
  const body = [
    line(link("/match", "Match")),
    title(`Claim: ${partyName}`),
    line(
      say`${site.company} claims ${money(total, site.currency)} for ${plural(rows.length, "difference")} between bills and delivery papers.`,
    ),
    table(
      "What is claimed",
      [...rows, { bill: "Total", day: "", ticket: "", differs: "", amount: total }],
      [
        ["Bill", ({ bill }) => whole(bill)],
        ["Day", ({ day }) => whole(day)],
        ["Ticket", ({ ticket }) => whole(ticket)],
        ["What differs", ({ differs }) => differs],
        ["Amount", ({ amount }) => money(amount, site.currency)],
      ],
    ),
    line(
      link(address("/match/claim/csv", Object.fromEntries(query)), "The claim as CSV"),
      "; or print this page.",
    ),
  ];
  return { title: `Claim: ${partyName}`, body };
}

export async function claimFile(asked: Asked): Promise<Answer> {
  const made = await claimIn(asked);
  return { file: "claim.csv", type: "text/csv", text: claimCsv(made) };
}

export async function csv(asked: Asked): Promise<Answer> {
  const { findings } = await asked.office.findings();
  return { file: "match.csv", type: "text/csv", text: asCsv(chosen(asked, findings)) };
}

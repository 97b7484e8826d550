/** Orders, tickets, invoices and prices compared with each other: what differs, with whom, and the claim for one party. */
import type { KeptFinding } from "../../engine/match.ts";
import { sizeOf, summed } from "../../match/report.ts";
import { asCsv, type Claim, claimCsv, claimOf, headOf, valuesOf, whom } from "../../match/text.ts";
import * as say from "../../views/blocks.ts";
import type { Blocks, Html } from "../../views/blocks.ts";
import { html } from "../../views/html.ts";
import { counted } from "../../views/table.ts";
import { changing, choice, field, hidden } from "../parts.ts";
import { type Answer, type Asked, personOf } from "../route.ts";

const SHOWN_MAX = 200;
const WHICH = { "": "All", purchase: "What we are billed", sale: "What we bill" };
const SETTLE = [
  ["accepted", "accept", "Accept it as it is", "Why may it stay so?"],
  ["disputed", "dispute", "Dispute it", "With whom, and how?"],
  ["open", "reopen", "Open it again", "Why?"],
] as const;

/** The days, the direction and the party that the address names. */
const chosenBy = ({ query }: Asked) => ({
  from: query.get("from") ?? "",
  to: query.get("to") ?? "",
  direction: query.get("direction") ?? "",
  party: query.get("party") ?? "",
});

/** The findings that the address asks for, the largest amount first. */
async function chosen(asked: Asked) {
  const { last, findings } = await asked.office.findings();
  const { from, to, direction, party } = chosenBy(asked);
  const all = findings.filter(
    (one) =>
      one.day >= from &&
      (to === "" || one.day <= to) &&
      ["", one.party].includes(party) &&
      ["", one.direction].includes(direction),
  );
  return { last, all: all.toSorted((one, other) => sizeOf(other).compare(sizeOf(one))) };
}

const isOpen = ({ state }: KeptFinding): boolean => state !== "accepted";

export async function match(asked: Asked): Promise<Answer> {
  const { last, all } = await chosen(asked);
  const [open, accepted] = [all.filter(isOpen), all.filter((one) => !isOpen(one))];
  const lacking = last?.report.notCompared ?? [];
  const body = [
    say.title("Match"),
    say.line(
      "Orders, delivery tickets, invoices and prices that are stored, compared with each other. ",
      last === null
        ? "They were never compared; the daemon does it every night."
        : say.say`Last compared ${say.ago(last.at)}, ${last.report.from} to ${last.report.to}: ${headOf(last.report)}`,
    ),
    period(asked),
    last !== null && differing(asked, open),
    accepted.length > 0 &&
      say.folded(
        say.say`${say.plural(accepted.length, "finding")} accepted as they are`,
        findingsTable("Accepted", accepted, asked, open.length),
      ),
    say.section("Not compared", lacking.length > 0 && say.list(lacking)),
    say.heading("Compare now"),
    say.line("Nobody is asked for it: everything is in the store."),
    changing(asked, {
      id: "match-now",
      action: "/match",
      button: "Compare now",
      role: "accountant",
      hint: "For example: month's end.",
      fields: daysOf(asked, "now-"),
    }),
  ];
  return { title: "Match", body };
}

/** Parties and findings; before a first comparison nothing can be said of them. */
function differing(asked: Asked, open: readonly KeptFinding[]): Blocks {
  if (open.length === 0) return say.quiet("Nothing differs.");
  const { currency } = asked.site;
  const parties = summed(open).parties.map((one) => {
    const own = { ...chosenBy(asked), party: one.party, direction: one.direction };
    return { ...one, own };
  });
  return [
    say.table("By party, the largest sum first", parties, [
      ["Party", ({ own, partyName }) => say.link(say.address("/match", own), partyName)],
      [
        "Findings",
        ({ findings, direction }) =>
          say.say`${say.plural(findings, "finding")} in ${WHICH[direction].toLowerCase()}`,
      ],
      ["For us", ({ forUs }) => say.money(forUs, currency)],
      ["Against us", ({ againstUs }) => say.money(againstUs, currency)],
      [
        "Claim",
        ({ forUs, own }) =>
          forUs === "0.00" ? "" : say.link(say.address("/match/claim", own), "Claim it"),
      ],
    ]),
    findingsTable(`What differs: ${counted(open.length, "finding")}`, open, asked, 0),
    say.line(
      open.length > SHOWN_MAX && `${open.length - SHOWN_MAX} more are in the CSV. `,
      say.link(say.address("/match/csv", chosenBy(asked)), "All of it as CSV"),
    ),
  ];
}

const daysOf = (asked: Asked, prefix: string): Html => {
  const { from, to } = chosenBy(asked);
  return html`${field(`${prefix}from`, "From", { type: "date", value: from })}
  ${field(`${prefix}to`, "To", { type: "date", value: to })}`;
};

const period = (asked: Asked): Html =>
  html`<form method="get" action="/match">
    <div class="line">
      ${daysOf(asked, "")}
      ${choice("direction", "Which", Object.entries(WHICH), chosenBy(asked).direction)}
      <button type="submit">Show</button>
    </div>
  </form>`;

/** `before`: findings of the page above these. */
const findingsTable = (
  caption: string,
  findings: readonly KeptFinding[],
  { role, session, site }: Asked,
  before: number,
): Blocks =>
  say.table(
    caption,
    [...findings.slice(0, SHOWN_MAX).entries()],
    [
      [
        "Papers",
        ([, { papers, partyName, day }]) => [
          papers.map(({ kind, number }) => {
            const documents = say.address("/documents", { text: number });
            return [`${kind} `, say.link(documents, say.whole(number)), ", "];
          }),
          `${partyName}, `,
          say.whole(day),
        ],
      ],
      [
        "What",
        ([, one]) => [
          say.mark(one.certainty === "certain" ? "bad" : "wait", one.certainty),
          ` ${one.rule}. ${valuesOf(one)}`,
          one.joined !== "" && say.small(` Joined by ${one.joined}.`),
        ],
      ],
      ["Amount", ([, { amount }]) => (amount === null ? "none" : say.money(amount, site.currency))],
      ["For", ([, one]) => whom(one) || null],
      [
        "Cause and next step",
        ([at, { key, state, note, cause, next }]) => [
          state !== "open" && say.strong(`${state}. `),
          note !== null && say.small(`${note}. `),
          cause,
          " ",
          say.next(next),
          html`<details>
            <summary>Settle it</summary>
            ${SETTLE.filter(([to]) => to !== state).map(([, action, button, hint]) =>
              changing(
                { role, session },
                {
                  id: `finding-${before + at}-${action}`,
                  action: `/match/${action}`,
                  button,
                  role: "accountant",
                  hint,
                  fields: hidden({ key }),
                },
              ),
            )}
          </details>`,
        ],
      ],
    ],
  );

/** Runs while the form waits: the store alone is read. */
export async function matchNow(asked: Asked): Promise<Answer> {
  const { office, form, session } = asked;
  const [from, to] = [form.get("from") || null, form.get("to") || null];
  const by = `${session.user}: ${personOf(asked).note}`;
  const report = await office.match({ from, to, party: null, direction: null, by });
  return { to: say.address("/match", { from, to }), told: headOf(report) };
}

export const settle =
  (state: KeptFinding["state"]) =>
  async (asked: Asked): Promise<Answer> => {
    await asked.office.settleFinding(asked.form.get("key") ?? "", state, personOf(asked));
    return { to: "/match", told: `The finding is ${state === "open" ? "open again" : state}.` };
  };

const claimIn = async (asked: Asked): Promise<Claim> =>
  claimOf((await chosen(asked)).all.filter(isOpen), chosenBy(asked).party);

export async function claim(asked: Asked): Promise<Answer> {
  const { partyName, rows, total } = await claimIn(asked);
  const { currency, company } = asked.site;
  const sum = say.money(total, currency);
  const body = [
    say.line(say.link("/match", "Match")),
    say.title(`Claim: ${partyName}`),
    say.line(
      say.say`${company} claims ${sum} for ${say.plural(rows.length, "difference")} between bills and delivery papers.`,
    ),
    say.table(
      "What is claimed",
      [...rows, { bill: "Total", day: "", ticket: "", differs: "", amount: total }],
      [
        ["Bill", ({ bill }) => say.whole(bill)],
        ["Day", ({ day }) => say.whole(day)],
        ["Ticket", ({ ticket }) => say.whole(ticket)],
        ["What differs", ({ differs }) => differs],
        ["Amount", ({ amount }) => say.money(amount, currency)],
      ],
    ),
    say.line(
      say.link(say.address("/match/claim/csv", chosenBy(asked)), "The claim as CSV"),
      "; or print this page.",
    ),
  ];
  return { title: `Claim: ${partyName}`, body };
}

export async function claimFile(asked: Asked): Promise<Answer> {
  return { file: "claim.csv", type: "text/csv", text: claimCsv(await claimIn(asked)) };
}

export async function csv(asked: Asked): Promise<Answer> {
  return { file: "match.csv", type: "text/csv", text: asCsv((await chosen(asked)).all) };
}

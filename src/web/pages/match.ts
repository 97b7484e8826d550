/** Orders, tickets, invoices and prices compared with each other: what differs, with whom, and the claim for one party. */
import { counted } from "../../core/text.ts";
import type { KeptFinding } from "../../engine/match.ts";
import { sizeOf, summed } from "../../match/report.ts";
import { SIDES } from "../../match/situation.ts";
import * as say from "../../views/blocks.ts";
import type { Html } from "../../views/blocks.ts";
import { asCsv } from "../../views/csv.ts";
import { html } from "../../views/html.ts";
import * as view from "../../views/match.ts";
import { changing, choice, hidden, periodFields } from "../parts.ts";
import { type Answer, type Asked, csvFile, personOf } from "../route.ts";

const SETTLE = [
  ["accepted", "accept", "Accept it as it is", "Why may it stay so?"],
  ["disputed", "dispute", "Dispute it", "With whom, and how?"],
  ["open", "reopen", "Open it again", "Why?"],
] as const;

/** What the address asks for, and the findings of it, the largest amount first. */
async function chosen({ office, query }: Asked) {
  const of = (name: string): string => query.get(name) ?? "";
  const given = { from: of("from"), to: of("to"), direction: of("direction"), party: of("party") };
  const { from, to, direction, party } = given;
  const known = await office.findings();
  const all = known.findings
    .filter((one) => one.day >= from && (to === "" || one.day <= to))
    .filter((one) => ["", one.party].includes(party) && ["", one.direction].includes(direction))
    .toSorted((one, other) => sizeOf(other).compare(sizeOf(one)));
  const [accepted, open] = [all.filter(isAccepted), all.filter((one) => !isAccepted(one))];
  return { ...known, given, all, open, accepted };
}

const isAccepted = ({ state }: KeptFinding): boolean => state === "accepted";

export async function match(asked: Asked): Promise<Answer> {
  const { given, last, trouble, open, accepted } = await chosen(asked);
  const { currency } = asked.site;
  const lacking = last?.report.notCompared ?? [];
  const found = (caption: string, findings: readonly KeptFinding[]) =>
    view.findingsView(caption, findings, currency, (one) => settling(one, asked));
  const body = [
    say.title("Match"),
    say.line(
      "Orders, delivery tickets, invoices and prices that are stored, compared with each other. ",
      last === null
        ? "They were never compared; the daemon does it every night."
        : say.say`Last compared ${say.ago(last.at)}, ${say.dayOf(last.report.from)} to ${say.dayOf(last.report.to)}: ${view.headOf(last.report, currency)}`,
    ),
    trouble !== null &&
      say.entry(
        say.say`They could not be compared ${say.at(trouble.at)}: ${trouble.message}`,
        trouble.next,
      ),
    html`<form method="get" action="/match">
      <div class="line">
        ${periodFields("", given)}
        ${choice("direction", "Which", [["", "all"], ...Object.entries(SIDES)], given.direction)}
        <button type="submit">Show</button>
      </div>
    </form>`,
    last !== null && open.length === 0 && say.quiet("Nothing differs."),
    open.length > 0 && [
      view.partiesView(summed(open).parties, currency, given),
      say.heading(`What differs: ${counted(open.length, "finding")}`),
      found("What differs", open),
      say.line(say.link(say.address("/match/csv", given), "All of it as CSV")),
    ],
    accepted.length > 0 &&
      say.foldedPart(
        say.say`${say.plural(accepted.length, "finding")} accepted as they are`,
        found("Accepted", accepted),
      ),
    say.section("Not compared", lacking.length > 0 && say.list(lacking)),
    say.heading("Compare now"),
    say.line("It costs no requests: everything is here already."),
    changing(asked, {
      id: "match-now",
      action: "/match",
      button: "Compare now",
      role: "accountant",
      hint: "For example: month's end.",
      fields: html`<div class="line">${periodFields("now-", given)}</div>`,
    }),
  ];
  return { title: "Match", body };
}

const settling = ({ key, digest, state }: KeptFinding, asked: Asked): Html =>
  html`<details>
    <summary>Settle it</summary>
    ${SETTLE.filter(([to]) => to !== state).map(([, action, button, hint]) =>
      changing(asked, {
        id: `${action}-${say.segment(key)}`,
        action: `/match/${action}`,
        button,
        role: "accountant",
        hint,
        fields: hidden({ key, digest }),
      }),
    )}
  </details>`;

/** Runs while the form waits: the store alone is read. */
export async function matchNow(asked: Asked): Promise<Answer> {
  const { office, form, session } = asked;
  const [from, to] = [form.get("from") || null, form.get("to") || null];
  const by = `${session.user}: ${personOf(asked).note}`;
  const report = await office.match({ from, to, party: null, direction: null, by });
  return {
    to: say.address("/match", { from, to }),
    told: view.headOf(report, asked.site.currency),
  };
}

export const settle =
  (state: KeptFinding["state"]) =>
  async (asked: Asked): Promise<Answer> => {
    const seen = { key: asked.form.get("key") ?? "", digest: asked.form.get("digest") ?? "" };
    await asked.office.settleFinding(seen, state, personOf(asked));
    return { to: "/match", told: `The finding is ${state === "open" ? "open again" : state}.` };
  };

async function claimed(asked: Asked) {
  const { open, given } = await chosen(asked);
  return { given, ...view.claimOf(open, given.party, asked.site.currency) };
}

export async function claim(asked: Asked): Promise<Answer> {
  const { given, partyName, differences, total, table } = await claimed(asked);
  const { currency, company } = asked.site;
  const many = say.plural(differences, "difference");
  const body = [
    say.line(say.link("/match", "Match")),
    say.title(`Claim: ${partyName}`),
    say.line(
      say.say`${company} claims ${say.money(total, currency)} for ${many} between bills and delivery papers.`,
    ),
    table,
    say.buttons(
      say.link(say.address("/match/claim/csv", given), "The claim as CSV"),
      "or print this page.",
    ),
  ];
  return { title: `Claim: ${partyName}`, body };
}

export const claimFile = async (asked: Asked): Promise<Answer> =>
  csvFile("claim", asCsv((await claimed(asked)).table));

export const csv = async (asked: Asked): Promise<Answer> =>
  csvFile("match", view.findingsCsv((await chosen(asked)).all));

/** Orders, tickets, invoices and prices compared with each other: what differs, with whom, and the claim for one party. */
import { Decimal } from "../../core/decimal.ts";
import type { KeptFinding } from "../../engine/match.ts";
import { summed } from "../../match/report.ts";
import { asCsv, type Claim, claimCsv, claimOf, headOf } from "../../match/text.ts";
import { address, type Html, html, verbatim } from "../html.ts";
import { changing, ago, link, mark, money, plural, right, table, whole } from "../parts.ts";
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
  const body = html`<h1>Match</h1>
    <p>
      Orders, delivery tickets, invoices and prices that are stored, compared with each other.
      ${last === null ? "They were never compared; the daemon does it every night." : html`Last compared ${ago(last.at, asked)}, ${last.report.from} to ${last.report.to}: ${headOf(last.report)}`}
    </p>
    ${period(asked)} ${last === null ? "" : differing(asked, open, days)}
    ${
      accepted.length === 0
        ? ""
        : html`<details>
            <summary>${plural(accepted.length, "finding")} accepted as they are</summary>
            ${table(
              "Accepted",
              ["Papers", "What", right("Amount"), "Cause and next step"],
              accepted.slice(0, SHOWN_MAX).map((one, at) => row(one, asked, open.length + at)),
            )}
          </details>`
    }
    ${
      (last?.report.notCompared ?? []).length === 0
        ? ""
        : html`<h2>Not compared</h2>
            <ul>
              ${last?.report.notCompared.map((one) => html`<li>${one}</li>`)}
            </ul>`
    }
    <h2>Compare now</h2>
    <p>Nobody is asked for it: everything is in the store.</p>
    ${changing(asked, {
      id: "match-now",
      action: "/match",
      button: "Compare now",
      role: "accountant",
      hint: "For example: month's end.",
      fields: html`${daysOf(days, "now-")}`,
    })}`;
  return { title: "Match", body };
}

/** Parties and findings; before a first comparison nothing can be said of them. */
function differing(
  asked: Asked,
  open: readonly KeptFinding[],
  days: { readonly from: string | null; readonly to: string | null },
): Html {
  const { query, site } = asked;
  if (open.length === 0) return html`<p class="quiet">Nothing differs.</p>`;
  return html`${table(
      "By party, the largest sum first",
      ["Party", "Findings", right("For us"), right("Against us"), "Claim"],
      summed(open).parties.map(
        ({ party, partyName, direction, findings: count, forUs, againstUs }) => [
          link(address("/match", { ...days, party, direction }), partyName),
          html`${plural(count, "finding")} in what
          ${direction === "sale" ? "we bill" : "we are billed"}`,
          money(forUs, site.currency),
          money(againstUs, site.currency),
          forUs === "0.00"
            ? ""
            : link(address("/match/claim", { ...days, party, direction }), "Claim it"),
        ],
      ),
    )}
    ${table(
      `What differs: ${plural(open.length, "finding")}`,
      ["Papers", "What", right("Amount"), "Cause and next step"],
      open.slice(0, SHOWN_MAX).map((one, at) => row(one, asked, at)),
    )}
    <p>
      ${open.length > SHOWN_MAX ? `${open.length - SHOWN_MAX} more are in the CSV.` : ""}
      ${link(address("/match/csv", { ...days, party: query.get("party"), direction: query.get("direction") }), "All of it as CSV")}
    </p>`;
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

const STATES = { open: null, disputed: "disputed", accepted: "accepted" } as const;

function row(one: KeptFinding, asked: Asked, at: number): (Html | string)[] {
  const state = STATES[one.state];
  return [
    html`${one.papers.map(
      ({ kind, number }) =>
        html`${kind} ${link(`/documents?text=${encodeURIComponent(number)}`, whole(number))}<br />`,
    )}
    ${one.partyName}, ${whole(one.day)}`,
    html`${mark(one.certainty === "certain" ? "bad" : "wait", one.certainty)} ${one.rule}<br />
      ${one.compared}: ${one.billed ?? "none"} billed, ${one.expected ?? "none"}
      expected${one.gallons === null ? "" : `; ${one.gallons} gallons`}${one.joined === "" ? "" : html`<br />joined by ${one.joined}`}`,
    html`${one.amount === null ? "not known" : money(one.amount, asked.site.currency)}<br />
      ${one.favour === null ? "" : one.favour === "us" ? "for us" : "against us"}`,
    html`${state === null ? "" : html`<strong>${state}.</strong> `}${one.cause}<br /><strong
        >Next:</strong
      >
      ${one.next}
      <details>
        <summary>Settle it</summary>
        ${SETTLE.filter(([state]) => state !== one.state).map(([, action, button, hint]) =>
          changing(asked, {
            id: `finding-${at}-${action}`,
            action: `/match/${action}`,
            button,
            role: "accountant",
            hint,
            fields: html`<input type="hidden" name="key" value="${verbatim(one.key)}" />`,
          }),
        )}
      </details>`,
  ];
}

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
  const same = Object.fromEntries(query);
  const body = html`<p>${link("/match", "Match")}</p>
    <h1>Claim: ${partyName}</h1>
    <p>
      ${site.company} claims ${money(total, site.currency)} for ${plural(rows.length, "difference")}
      between bills and delivery papers.
    </p>
    ${table(
      "What is claimed",
      ["Bill", "Day", "Ticket", "What differs", right("Amount")],
      [
        ...rows.map(({ bill, day, ticket, differs, amount }) => [
          whole(bill),
          whole(day),
          whole(ticket),
          differs,
          money(amount, site.currency),
        ]),
        ["Total", "", "", "", money(total, site.currency)],
      ],
    )}
    <p>${link(address("/match/claim/csv", same), "The claim as CSV")}; or print this page.</p>`;
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

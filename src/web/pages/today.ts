/** Is anything wrong? In one glance, and in words when nothing is. */
import { type Concern, concernsOf, type Page } from "../../office/concerns.ts";
import type { FlowStatus, QuarantineGroup, Status } from "../../office/answers.ts";
import { type Lately, LATELY_MAX } from "../../store/queries.ts";
import { address, type Html, html, segment } from "../html.ts";
import {
  ago,
  at,
  dayName,
  flowAnchor,
  link,
  mark,
  money,
  monthName,
  number,
  plural,
  right,
  sentence,
  table,
  untilDue,
} from "../parts.ts";
import type { Answer, Asked } from "../route.ts";

export async function today(asked: Asked): Promise<Answer> {
  const [status, lately] = await Promise.all([asked.office.status(), asked.office.lately()]);
  const wrong = wrongs(status, asked);
  const things = plural(wrong.length + unshown(status), "thing");
  const title = wrong.length === 0 ? "Today: nothing is wrong" : `Today: ${things} to look at`;
  // It asks for itself again; without a script the page is as it was loaded.
  const body = html`<div
    id="today"
    hx-get="/"
    hx-trigger="every 20s"
    hx-select="#today"
    hx-target="#today"
    hx-swap="outerHTML"
  >
    <h1>Today</h1>
    ${verdict(status, wrong, asked)} ${flows(status, asked)} ${hour(lately)}
    <div class="both">${month(status)} ${agreement(status, asked)}</div>
    <p class="quiet">
      As of ${at(new Date(asked.nowMs).toISOString(), asked)}, ${asked.site.timeZone}. Version
      ${status.version}.
    </p>
  </div>`;
  return { title, body };
}

function verdict(status: Status, wrong: readonly Html[], asked: Asked): Html {
  const held = status.flows.filter(isHeld);
  if (wrong.length > 0)
    return html`<section class="banner bad" aria-labelledby="verdict">
      <h2 id="verdict">${plural(wrong.length + unshown(status), "thing")} to look at</h2>
      <ul>
        ${wrong.map((one) => html`<li>${one}</li>`)}
      </ul>
      ${held.map((flow) => html`<p>${heldInWords(flow)}</p>`)}
    </section>`;
  const title =
    held.length === 0
      ? "Nothing is wrong"
      : `Nothing is wrong, but ${plural(held.length, "flow")} ${held.length === 1 ? "stands" : "stand"} still`;
  const pending = sum(status.flows, ({ pending }) => pending);
  const waits = sum(status.flows, ({ waits }) => waits?.count ?? 0);
  return html`<section
    class="banner ${held.length === 0 ? "good" : "wait"}"
    aria-labelledby="verdict"
  >
    <h2 id="verdict">${title}</h2>
    <p>
      ${flowsInWords(status.flows, asked)}
      ${pending > 0 ? `${plural(pending, "document")} on the way.` : "Everything that came is delivered or closed."}
      ${waits > 0 ? `${plural(waits, "invoice waits for its payments", "invoices wait for their payments")}, as it should be.` : ""}
      ${held.length > 0 ? "" : "You do not have to do anything."}
    </p>
    ${held.map((flow) => html`<p>${heldInWords(flow)}</p>`)}
  </section>`;
}

function flowsInWords(flows: readonly FlowStatus[], asked: Asked): string {
  if (flows.length === 0) return "No flow is configured yet.";
  const [last] = flows
    .flatMap(({ lastRunAt }) => lastRunAt ?? [])
    .toSorted((one, other) => other.localeCompare(one));
  const which = flows.some(isHeld) ? "Every other flow" : "Every flow";
  return last === undefined
    ? "No flow has looked yet."
    : `${which} works; the last look was ${ago(last, asked)}.`;
}

/** It does nothing, and nobody has to mend it: somebody paused it, or the month's requests are kept for writes. */
const isHeld = ({ state }: FlowStatus): boolean => state === "paused" || state === "paused: budget";

const heldInWords = ({ name, state, pending }: FlowStatus): Html =>
  state === "paused"
    ? html`<strong>${name}</strong> is paused: it reads and sends nothing until somebody lets it go
        on. ${pending === 0 ? "" : `${plural(pending, "document waits", "documents wait")} in it.`}
        ${toFlow(name)}`
    : html`<strong>${name}</strong> waits: what is left of the month's requests is kept for writes.
        ${link("/budget", "Budget")}`;

/** Where a flow stands on the page Flows. */
const toFlow = (name: string, text = "Flows"): Html => link(`/flows#${flowAnchor(name)}`, text);

/** What a person should look at, the most dangerous first; each says where. */
function wrongs(status: Status, asked: Asked): Html[] {
  const concerns = concernsOf(status);
  const people = concerns.filter(isForPerson);
  const groups = new Map(status.quarantine.map((group) => [group.id, group]));
  return [
    ...(status.daemon === null ? [html`The daemon does not run: nothing is read or sent.`] : []),
    ...concerns
      .filter((one) => !isForPerson(one))
      .map(
        ({ title, since, detail, next, page }) =>
          html`<strong>${title}</strong>${since === null ? "" : html` since ${at(since, asked)}`}:
            ${sentence(detail)} ${next} ${page === null ? "" : toPage(page)}`,
      ),
    ...people
      .slice(0, SHOWN)
      .map(({ page, since }) =>
        page?.name === "needs-you"
          ? html`${link(`/needs-you/${segment(page.group)}`, groups.get(page.group)?.title ?? "")},
            ${ago(since, asked)}`
          : html``,
      ),
    ...(people.length > SHOWN
      ? [
          link(
            "/needs-you",
            `and ${plural(people.length - SHOWN, "more group")} of documents that need you`,
          ),
        ]
      : []),
  ];
}

const isForPerson = ({ page }: Concern): boolean => page?.name === "needs-you";

function toPage(page: Page): Html {
  if (page.name === "flows")
    return page.flow === null ? link("/flows", "Flows") : toFlow(page.flow);
  if (page.name === "match") return link("/match", "Match");
  return page.name === "budget"
    ? link("/budget", "Budget")
    : link(`/${page.name}`, "Reconciliation");
}

const SHOWN = 6;

const needsSomebody = ({ helps }: QuarantineGroup): boolean => !helps.includes("wait");

/** Things that the last line of the list stands for, beside itself. */
const unshown = ({ quarantine }: Status): number =>
  Math.max(quarantine.filter(needsSomebody).length - SHOWN - 1, 0);

/** Documents in quarantine that clear by themselves. */
export const waitingOf = ({ quarantine }: Pick<Status, "quarantine">, name: string): number =>
  sum(
    quarantine.filter((group) => group.flow === name && !needsSomebody(group)),
    ({ count }) => count,
  );

const flows = (status: Status, asked: Asked): Html => html`
  <h2>Flows</h2>
  ${table(
    "What moves between the two sides",
    [
      "Flow",
      "Direction",
      "State",
      "Last look",
      right("On the way"),
      right("Wait"),
      right("Need you"),
      right("Delivered"),
      "Next look",
    ],
    status.flows.map((flow) => [
      toFlow(flow.name, flow.name),
      direction(flow),
      stateOf(flow, needing(status, flow)),
      html`<span title="${flow.lastRunAt ?? ""}">${ago(flow.lastRunAt, asked)}</span>`,
      number(flow.pending),
      inQuarantine(flow, waitingOf(status, flow.name)),
      inQuarantine(flow, needing(status, flow)),
      number(flow.delivered),
      status.daemon === null || flow.state === "paused" ? "–" : untilDue(flow.nextDueAt, asked),
    ]),
    "No flow is configured: nothing is kept in step.",
  )}
`;

/** Documents of a flow that somebody has to decide. */
const needing = (status: Pick<Status, "quarantine">, flow: FlowStatus): number =>
  Math.max(flow.quarantined - waitingOf(status, flow.name), 0);

/** A number of documents, and the way to them. */
export const inQuarantine = ({ name }: FlowStatus, count: number): Html | string =>
  count <= 0 ? "0" : link(address("/needs-you", { flow: name }), number(count));

const direction = ({ from }: FlowStatus): string =>
  from.startsWith("platform.") ? "platform to ERP" : "ERP to platform";

/** `needs`: documents of it that need somebody. A flow with such is not in order, however well it reads. */
export function stateOf({ state, lastError, silence, late }: FlowStatus, needs: number): Html {
  const isStill = late.some(({ code, expected }) => !expected && code !== "waits");
  if (isStill && (state === "idle" || state === "running")) return mark("bad", "stands still");
  if (silence !== null && (state === "idle" || state === "running")) return mark("bad", "silent");
  switch (state) {
    case "stopped":
      return mark("bad", lastError?.code === "unavailable" ? "cannot read" : "stopped");
    case "paused":
      return mark("off", "paused");
    case "paused: budget":
      return mark("wait", "waits for budget");
    case "running":
      return needs > 0 ? mark("wait", "works") : mark("good", "works");
    case "idle":
      return needs > 0 ? mark("bad", "needs you") : mark("good", "in order");
  }
}

function hour(lately: readonly Lately[]): Html {
  const flows = [...new Set(lately.map(({ flow }) => flow))];
  const of = (name: string, ...states: string[]): number =>
    lately
      .filter(({ flow, state }) => flow === name && states.includes(state))
      .reduce((total, { count }) => total + count, 0);
  const came = sum(lately, ({ count }) => count);
  return html`<h2>The last hour</h2>
    ${came < LATELY_MAX ? "" : html`<p>At least ${number(LATELY_MAX)} documents came. Only the newest ${number(LATELY_MAX)} are counted here.</p>`}
    ${table(
      "What came in the last hour, and where it is now",
      [
        "Flow",
        right("Came"),
        right("Delivered"),
        right("On the way"),
        right("Wait or need you"),
        right("Closed"),
      ],
      flows.map((name) => [
        name,
        number(
          lately.filter(({ flow }) => flow === name).reduce((total, { count }) => total + count, 0),
        ),
        number(of(name, "delivered")),
        number(of(name, "pending", "frozen")),
        number(of(name, "quarantined")),
        number(of(name, "skipped", "echo", "resolved", "superseded")),
      ]),
      "Nothing came in the last hour.",
    )}`;
}

function month({ requests: { month, used, perMonth, forecast } }: Status): Html {
  const share = perMonth === 0 ? 0 : Math.round((used / perMonth) * 100);
  return html`<section class="card">
    <h2>Requests in ${monthName(month)}</h2>
    <p>
      ${number(used)} of ${number(perMonth)} used, ${share}%.
      ${forecast.runsOut === null ? "They last for the month." : `They last until ${dayName(forecast.runsOut.at)}.`}
    </p>
    <progress
      value="${used}"
      max="${perMonth}"
      aria-label="Requests used in ${monthName(month)}"
    ></progress>
    <p>${link("/budget", "What they went to")}</p>
  </section>`;
}

function agreement({ reconciliation, flows }: Status, asked: Asked): Html {
  const { lastAt, trouble, nextDueAt, differences, waits, notCompared } = reconciliation;
  const agreed = flows.flatMap(({ name, agreed: of }) =>
    of === null
      ? []
      : `${name} ${number(of.documents)}${of.amount === null ? "" : ` (${money(of.amount, asked.site.currency)})`}`,
  );
  const found = differences.confirmed + differences.seen;
  return html`<section class="card">
    <h2>Do both sides agree?</h2>
    <p>
      ${
        lastAt === null
          ? "They were never compared."
          : html`Compared ${ago(lastAt, asked)}:
            ${found === 0 ? `no difference${notCompared.length === 0 ? "" : " in what could be compared"}` : plural(found, "difference")}${
              differences.clears === 0
                ? ""
                : `, and ${plural(differences.clears, "invoice that is paid in part", "invoices that are paid in part")}`
            }${
              differences.accepted === 0
                ? ""
                : `, and ${plural(differences.accepted, "difference")} that a person accepted`
            }.`
      }
      ${nextDueAt === null ? "" : html` Next: ${at(nextDueAt, asked)}.`}
    </p>
    ${waits === null ? "" : html`<p>A comparison waits for ${waits.endpoint} since ${at(waits.since, asked)}: ${waits.message} ${waits.next}</p>`}
    ${trouble === null ? "" : html`<p>The last comparison ended without an answer: ${trouble}</p>`}
    ${
      agreed.length === 0
        ? ""
        : html`<p>Documents that both sides hold alike: ${agreed.join("; ")}.</p>`
    }
    <p>${link("/reconciliation", "Compare a period")}</p>
  </section>`;
}

const sum = <Row>(rows: readonly Row[], of: (row: Row) => number): number =>
  rows.reduce((total, row) => total + of(row), 0);

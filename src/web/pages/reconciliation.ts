/** Do both sides agree over a period, as each says now? Differences first, then counts and sums; for paper, too. */
import { Decimal } from "../../core/decimal.ts";
import { calendarOf, lastDayOf } from "../../core/time.ts";
import { asCsv, SUMS } from "../../reconcile/evidence.ts";
import type { Report } from "../../reconcile/report.ts";
import { OfficeError } from "../../core/errors.ts";
import { sha256Hex } from "../../core/keys.ts";
import type { KnownDifference } from "../../office/answers.ts";
import { type Reconciling, usualBegin } from "../../office/asked.ts";
import {
  ago,
  at,
  type Blocks,
  buttons,
  code,
  exactly,
  heading,
  type Html,
  line,
  link,
  notice,
  quiet,
  section,
  segment,
  strong,
  table,
  title,
} from "../../views/blocks.ts";
import { href, html } from "../../views/html.ts";
import { monthEndView, agreedTable } from "../../views/status.ts";
import {
  agings,
  agreementOf,
  costView,
  detailView,
  knownView,
  verdictView,
} from "../../views/reconciliation.ts";
import { type Answer, type Asked, csvFile, type Job, personOf, toldOf } from "../route.ts";
import { zipped } from "../../core/zip.ts";
import { bars, swatch } from "../charts.ts";
import { acts } from "../../views/acts.ts";
import { changing, choice, field, formOf, hidden, periodFields } from "../parts.ts";

export async function reconciliation(asked: Asked): Promise<Answer> {
  const { office, query, jobs, site } = asked;
  const [status, known] = await Promise.all([office.status(), office.differences()]);
  const usual = usualPeriod(asked);
  const period = { from: query.get("from") ?? usual.from, to: query.get("to") ?? usual.to };
  const flows = status.flows.map(({ name }) => name);
  const body = [
    title("Reconciliation"),
    knownView(known, site.currency, (one) => mayStay(one, asked)),
    agreedTable(status, site.currency),
    line(link("/month-end", "Month's end: the points on one page")),
    heading("Compare a period"),
    line(
      "Both sides are asked for what they hold now. That costs requests to the platform: the next page says how many ",
      "before it begins.",
    ),
    periodForm(period, flows),
    table("Comparisons since the daemon started", jobs.list(), [
      ["Period", (job) => link(`/reconciliation/${segment(job.id)}`, periodOf(job.asked))],
      ["Asked by", (job) => job.asked.by],
      ["Began", ({ startedMs }) => at(new Date(startedMs).toISOString())],
      ["Result", resultOf],
    ]),
  ];
  return { title: "Reconciliation", body };
}

/** Of the month that the address names, else the last one that is over. */
export async function monthEnd({ office, query }: Asked): Promise<Answer> {
  const told = await office.monthEnd(monthIn(query.get("month")) ?? null);
  const { month } = told;
  return {
    title: `Month's end: ${month}`,
    body: [
      monthEndView(told),
      html`<form method="get" action="/month-end">
        <div class="line">
          ${field("month", "Month", { type: "month", value: month, placeholder: "2026-10" })}
          <button type="submit">Show</button>
        </div>
      </form>`,
      signatures,
    ],
  };
}

const monthIn = (text: string | null): string | null =>
  text !== null && /^\d{4}-(0[1-9]|1[0-2])$/.test(text) ? text : null;

const signatures = html`<div class="sign">
  <p>Reconciled by, date</p>
  <p>Reviewed by, date</p>
</div>`;

const periodForm = (
  period: { readonly from: string; readonly to: string },
  flows: readonly string[],
): Html =>
  html`<form method="get" action="/reconciliation/cost">
    <div class="line">
      ${periodFields("", period, true)}
      ${choice("flow", "What", [["", "Everything"], ...flows.map((name) => [name, name] as const)])}
      <button type="submit">What will it cost?</button>
    </div>
  </form>`;

/** Of this month so far; in its first days of the one before, which is closed then. */
function usualPeriod({ site, nowMs }: Asked): { from: string; to: string } {
  const today = calendarOf(site.timeZone)(new Date(nowMs).toISOString());
  const from = usualBegin(today);
  const last = lastDayOf(from.slice(0, 7));
  return { from, to: last < today ? last : today };
}

/** The form by which a person accepts a difference as it is. */
const mayStay = ({ flow, number }: KnownDifference, asked: Asked): Html | null =>
  flow === null
    ? null
    : html`<details>
        <summary>It may stay so</summary>
        ${formOf(asked, acts.accept, flow, {
          id: `accept-${segment(`${flow} ${number}`)}`,
          button: `Accept ${number}`,
          fields: hidden({ number }),
        })}
      </details>`;

const periodOf = ({ from, to, flow }: Reconciling): string =>
  `${from ?? ""} to ${to ?? ""}${flow === null ? "" : `, ${flow}`}`;

function resultOf({ state }: Job): string {
  if (state.is === "running") return "is being made";
  if (state.is === "failed") return "ended without an answer";
  return agreementOf(state.report).toLowerCase();
}

const askedOf = (asked: Asked, given: URLSearchParams): Reconciling => ({
  from: given.get("from") || null,
  to: given.get("to") || null,
  flow: given.get("flow") || null,
  by: asked.session.user,
});

export async function cost(asked: Asked): Promise<Answer> {
  const wanted = askedOf(asked, asked.query);
  const cost = await asked.office.reconcileCost(wanted);
  const { from, to } = cost;
  const body = [
    line(link("/reconciliation", "Reconciliation")),
    title(`Compare ${from} to ${to}`),
    costView(cost),
    changing(asked, {
      id: "compare",
      action: "/reconciliation",
      button: "Compare now",
      role: "accountant",
      hint: "For example: month's end.",
      fields: hidden({ from, to, flow: wanted.flow ?? "" }),
    }),
  ];
  return { title: `Compare ${from} to ${to}`, body };
}

export async function compare(asked: Asked): Promise<Answer> {
  const { office, jobs, form, nowMs } = asked;
  const wanted = { ...askedOf(asked, form), by: `${asked.session.user}: ${personOf(asked).note}` };
  const { from, to, requests } = await office.reconcileCost(wanted);
  const period = { ...wanted, from, to };
  const job = jobs.start(
    { asked: period, startedMs: nowMs, requests },
    office.reconcile(period).then(async (report) => ({ report, audit: await office.auditHead() })),
    toldOf,
  );
  return { to: `/reconciliation/${job.id}`, told: null };
}

/** @throws OfficeError when it is not kept any more */
function jobOf({ jobs, params }: Asked): Job {
  const job = jobs.find(params["job"] ?? "");
  if (job !== null) return job;
  throw new OfficeError("This comparison is not kept any more.", "Compare the period again.");
}

export async function comparison(asked: Asked): Promise<Answer> {
  const job = jobOf(asked);
  const heading = `Reconciliation ${periodOf(job.asked)}`;
  const { state } = job;
  if (state.is === "running") return { title: heading, body: running(job) };
  if (state.is === "failed")
    return {
      title: heading,
      body: [title(heading), notice("bad", line(strong(state.message)), line(state.next))],
    };
  return { title: heading, body: reported(state.report, job, asked) };
}

function reported(report: Report, job: Job, { site }: Asked): Blocks {
  const isAsked = report.strength.every(({ strength }) => strength === "asked");
  return [
    title(`Reconciliation of ${site.company}, ${periodOf(job.asked)}`),
    quiet(
      isAsked ? "Both sides as each says" : "The platform as it says, the ERP as described below,",
      " at ",
      exactly(report.at),
      `. Amounts in ${report.currency}. Asked by ${job.asked.by}.`,
    ),
    verdictView(report),
    buttons(
      link(`/reconciliation/${job.id}/csv`, "Every document as CSV"),
      " ",
      link(`/reconciliation/${job.id}/evidence`, "Evidence for an auditor (zip)"),
    ),
    quiet(
      "To print, or to keep as PDF, use the browser's own print. The number in the zip's name is its seal: note it ",
      "elsewhere. Unpacked, ",
      code("fuelbridge evidence verify FOLDER --seal SEAL"),
      " checks every file.",
    ),
    openPicture(report),
    detailView(report, false),
    signatures,
  ];
}

/** What is open on both sides beside each other, by days past due; its table stands under the open balances. */
function openPicture({ balances, today, currency }: Report): Blocks {
  if (balances.length === 0) return null;
  const total = (side: "platform" | "books", column: (typeof agings)[number][0]): Decimal =>
    Decimal.sum(balances.map((one) => Decimal.of(one[side][column])));
  const columns = agings.slice(0, -1).map(([column, label]) => {
    const [there, here] = [total("platform", column), total("books", column)];
    const values = [there, here].map((amount) => Number(amount.plain()));
    return { label, values, isMarked: !there.equals(here) };
  });
  return section(
    `What is open on ${today}, by days past due`,
    bars({
      unit: currency,
      told: "Open amounts of both sides beside each other; the table of open balances has them.",
      series: ["audit", "write"],
      columns,
      isStacked: false,
    }),
    quiet(swatch("audit"), " platform, ", swatch("write"), " ERP; ≠ marks where they differ."),
  );
}

const running = (job: Job): Blocks => [
  html`<div
    id="job"
    hx-get="${href(`/reconciliation/${job.id}`)}"
    hx-trigger="every 1s"
    hx-select="#main > *"
    hx-target="#main"
    hx-swap="innerHTML"
  ></div>`,
  title("Both sides are being compared"),
  {
    is: "line",
    kind: "status",
    text: [
      "It began ",
      ago(new Date(job.startedMs).toISOString()),
      "; about ",
      job.requests,
      " requests, at most 600 a minute.",
    ],
  },
  html`<progress aria-label="Comparing"></progress>`,
  line(link(`/reconciliation/${job.id}`, "Look again")),
];

/** @throws OfficeError while it is being made */
function doneJobOf(asked: Asked) {
  const { state, asked: of } = jobOf(asked);
  if (state.is === "done") return { ...state, ...of };
  throw new OfficeError("It is not ready yet.", "Look again in a moment.");
}

export async function csv(asked: Asked): Promise<Answer> {
  const { report, from, to } = doneJobOf(asked);
  return csvFile(`reconciliation-${from}-${to}`, asCsv(report));
}

/** The seal is in the name: the same comparison is the same pack. */
export async function evidence(asked: Asked): Promise<Answer> {
  const { from, to, by, ...compared } = doneJobOf(asked);
  const files = await asked.pack(compared, by);
  return {
    file: `evidence-${from}-${to}-${sha256Hex(files[SUMS] ?? "")}.zip`,
    type: "application/zip",
    bytes: zipped(Object.entries(files)),
  };
}

/** Do both sides agree over a period, as each says now? Differences first, then counts and sums; for paper, too. */
import { durationText } from "../../views/table.ts";
import { FuelbridgeError, SourceUnavailable } from "../../core/errors.ts";
import { calendarOf } from "../../core/time.ts";
import { asCsv, digestOf, SUMS } from "../../reconcile/evidence.ts";
import { agreementOf } from "../../reconcile/text.ts";
import { type KnownDifference, OfficeError } from "../../office/answers.ts";
import type { Reconciling } from "../../office/asked.ts";
import { href, type Html, html, segment, verbatim } from "../html.ts";
import { type Answer, type Asked, type Job, personOf } from "../route.ts";
import { ago, at, changing, link, number, plural, table, whole } from "../parts.ts";
import { zipped } from "../../core/zip.ts";
import { fieldsOf, periodOf, reported } from "./comparison.ts";

export async function reconciliation(asked: Asked): Promise<Answer> {
  const { office, query, jobs } = asked;
  const [status, known] = await Promise.all([office.status(), office.differences()]);
  const usual = usualPeriod(asked);
  const period = { from: query.get("from") ?? usual.from, to: query.get("to") ?? usual.to };
  const body = html`<h1>Reconciliation</h1>
    ${
      known.differences.length === 0
        ? html`<div class="banner ${known.lastAt === null ? "wait" : "good"}">
            <p>
              <strong
                >${known.lastAt === null ? "Both sides were never compared." : "No difference is known."}</strong
              >
              ${known.lastAt === null ? "Compare a period below; the daemon does it every night." : `Both sides were last compared ${ago(known.lastAt, asked)}.`}
            </p>
          </div>`
        : html`<div class="banner bad">
              <p>
                <strong>${plural(known.differences.length, "difference")} known</strong>, last
                compared ${ago(known.lastAt, asked)}.
              </p>
            </div>
            ${table(
              "Differences that are not settled",
              ["Document", "Result", "Cause and next step", "Since"],
              known.differences
                .slice(0, DIFFERENCES_MAX)
                .map((one, index) => knownRow(one, asked, index)),
            )}
            ${known.differences.length > DIFFERENCES_MAX ? html`<p>and ${number(known.differences.length - DIFFERENCES_MAX)} more: compare a period below, its CSV has all.</p>` : ""}`
    }
    <h2>Compare a period</h2>
    <p>
      Both sides are asked for what they hold now. That costs requests to the platform: the next
      page says how many before it begins.
    </p>
    <form method="get" action="/reconciliation/cost">
      <div class="line">
        <label for="from"
          >From <input id="from" name="from" type="date" required value="${verbatim(period.from)}"
        /></label>
        <label for="to"
          >To <input id="to" name="to" type="date" required value="${verbatim(period.to)}"
        /></label>
        <label for="flow"
          >What
          <select id="flow" name="flow">
            <option value="">Everything</option>
            ${status.flows.map(({ name }) => html`<option value="${verbatim(name)}">${name}</option>`)}
          </select>
        </label>
      </div>
      <p class="buttons"><button type="submit">What will it cost?</button></p>
    </form>
    ${
      jobs.list().length === 0
        ? ""
        : table(
            "Comparisons since the daemon started",
            ["Period", "Asked by", "Began", "Result"],
            jobs
              .list()
              .map((job) => [
                link(`/reconciliation/${segment(job.id)}`, periodOf(job.asked)),
                job.asked.by,
                at(new Date(job.startedMs).toISOString(), asked),
                resultOf(job),
              ]),
          )
    }`;
  return { title: "Reconciliation", body };
}

/** Of this month so far; in its first days of the one before, which is closed then. */
function usualPeriod({ site, nowMs }: Asked): { from: string; to: string } {
  const today = calendarOf(site.timeZone)(new Date(nowMs).toISOString());
  if (Number(today.slice(8)) > CLOSING_DAYS) return { from: firstOf(today), to: today };
  const to = new Date(Date.parse(firstOf(today)) - 1).toISOString().slice(0, 10);
  return { from: firstOf(to), to };
}

const firstOf = (day: string): string => `${day.slice(0, 8)}01`;
const CLOSING_DAYS = 10;

const DIFFERENCES_MAX = 200;

const knownRow = (
  { kind, flow, number, bucket, cause, next, since, row }: KnownDifference,
  asked: Asked,
  index: number,
) => [
  link(`/documents?text=${encodeURIComponent(number)}`, html`${kind} ${whole(number)}`),
  html`${bucket}${row === null ? "" : fieldsOf(row, asked.site.currency)}`,
  html`${cause}<br /><strong>Next:</strong> ${next}${
      flow === null
        ? ""
        : html`<details>
            <summary>It may stay so</summary>
            ${changing(asked, {
              id: `accept-${index}`,
              action: `/flows/${segment(flow)}/accept`,
              button: `Accept ${number}`,
              role: "operator",
              hint: "How is that known?",
              fields: html`<input type="hidden" name="what" value="${verbatim(number)}" />`,
            })}
          </details>`
    }`,
  at(since, asked),
];

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
  const { from, to, requests, left, waits } = await asked.office.reconcileCost(wanted);
  const hidden = { from, to, flow: wanted.flow ?? "" };
  const body = html`<p>${link("/reconciliation", "Reconciliation")}</p>
    <h1>Compare ${from} to ${to}</h1>
    <p>
      It takes about ${plural(requests, "request")} to the platform, and up to three for each
      difference. ${number(left)} are left for it this month.
    </p>
    ${waits === null ? "" : html`<p>${waits.endpoints.join(", ")} calls us and is not here now: the comparison waits for the next session, ${durationText(waits.atMostMs)} at most.</p>`}
    ${changing(asked, {
      id: "compare",
      action: "/reconciliation",
      button: "Compare now",
      role: "accountant",
      hint: "For example: month's end.",
      fields: html`${Object.entries(hidden).map(([name, value]) => html`<input type="hidden" name="${name}" value="${verbatim(value)}" />`)}`,
    })}`;
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

function toldOf(error: unknown): { message: string; next: string } {
  const isTold =
    error instanceof OfficeError ||
    error instanceof SourceUnavailable ||
    error instanceof FuelbridgeError;
  if (isTold) return { message: error.message, next: error.next };
  return {
    message: error instanceof Error ? error.message : String(error),
    next: "The daemon's log says more.",
  };
}

/** @throws OfficeError when it is not kept any more */
function jobOf({ jobs, params }: Asked): Job {
  const job = jobs.find(params["job"] ?? "");
  if (job !== null) return job;
  throw new OfficeError("This comparison is not kept any more.", "Compare the period again.");
}

export async function comparison(asked: Asked): Promise<Answer> {
  const job = jobOf(asked);
  const title = `Reconciliation ${periodOf(job.asked)}`;
  const { state } = job;
  if (state.is === "running") return { title, body: running(job, asked) };
  if (state.is === "failed")
    return {
      title,
      body: html`<h1>${title}</h1>
        <div class="banner bad" role="alert">
          <p><strong>${state.message}</strong></p>
          <p>${state.next}</p>
        </div>`,
    };
  return { title, body: reported(state.report, job, asked) };
}

const running = (job: Job, asked: Asked): Html =>
  html`<div
    id="job"
    hx-get="${href(`/reconciliation/${job.id}`)}"
    hx-trigger="every 1s"
    hx-select="#main > *"
    hx-target="#main"
    hx-swap="innerHTML"
  >
    <h1>Both sides are being compared</h1>
    <p role="status">
      It began ${ago(new Date(job.startedMs).toISOString(), asked)}; about
      ${plural(job.requests, "request")}, at most 600 a minute.
    </p>
    <progress aria-label="Comparing"></progress>
    <p>${link(`/reconciliation/${job.id}`, "Look again")}</p>
  </div>`;

export async function csv(asked: Asked): Promise<Answer> {
  const { state, asked: of } = jobOf(asked);
  if (state.is !== "done") throw new OfficeError("It is not ready yet.", "Look again in a moment.");
  return {
    file: `reconciliation-${of.from}-${of.to}.csv`,
    type: "text/csv",
    text: asCsv(state.report),
  };
}

/** The seal is in the name: the same comparison is the same pack. */
export async function evidence(asked: Asked): Promise<Answer> {
  const { state, asked: of } = jobOf(asked);
  if (state.is !== "done") throw new OfficeError("It is not ready yet.", "Look again in a moment.");
  const files = await asked.pack(state, of.by);
  return {
    file: `evidence-${of.from}-${of.to}-${digestOf(files[SUMS] ?? "")}.zip`,
    type: "application/zip",
    bytes: zipped(Object.entries(files)),
  };
}

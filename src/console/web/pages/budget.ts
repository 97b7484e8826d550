/** The month's requests: what they went to, and how long they last. */
import { monthAt } from "../../../core/budget.ts";
import type { MonthStatus } from "../../../report/office.ts";
import { type Html, html } from "../html.ts";
import { number, plural, right, table } from "../parts.ts";
import type { Answer, Asked } from "../route.ts";

export async function budget(asked: Asked): Promise<Answer> {
  const month = await asked.office.budget();
  const { used, perMonth, forecast, purposes, lists, minute } = month;
  const body = html`<h1>Budget of ${month.month}</h1>
    <div class="banner ${forecast.runsOut === null ? "good" : "wait"}">
      <p>
        <strong>${number(used)} of ${number(perMonth)} requests are used.</strong>
        ${
          forecast.runsOut === null
            ? `They last for the month: about ${number(forecast.expected)} will be used at its end.`
            : `At this pace they last until ${forecast.runsOut.at.slice(0, 10)}.`
        }
        ${forecast.stretch > 1 ? `The platform is polled ${forecast.stretch.toFixed(1)} times as far apart as configured, to save requests for writes.` : ""}
      </p>
    </div>
    ${chart(month, asked.nowMs)}
    ${table(
      "What the requests went to",
      ["Purpose", right("Used"), right("Kept for it"), right("Left for it")],
      purposes.map((one) => [
        PURPOSES[one.purpose] ?? one.purpose,
        number(one.used),
        number(one.reserve),
        number(one.left),
      ]),
    )}
    <h2>What flows cost</h2>
    ${table(
      "Flows that read all of a list each time",
      ["Flow", right("Requests for each look"), "How often"],
      lists.map(({ flow, pages, slowing }) => [
        flow,
        number(pages),
        slowing <= 1 ? "as configured" : `${slowing.toFixed(1)} times as far apart as configured`,
      ]),
      "No flow reads a whole list each time: each look of a flow that reads from the platform costs one request, and one for each page of what is new. Reading the ERP costs none.",
    )}
    ${
      minute === null
        ? ""
        : html`<p class="quiet">
            In this minute ${plural(minute.used, "request")} of ${number(minute.limit)}.
          </p>`
    }`;
  return { title: "Budget", body };
}

const PURPOSES: Readonly<Record<string, string>> = {
  poll: "Looking for what is new",
  detail: "Reading details",
  write: "Writing",
  "read-back": "Looking whether a write arrived",
  check: "Checks by people",
  audit: "Comparing both sides",
  backfill: "Reading past periods again",
  lost: "Not known: a process was killed",
};

const WIDE = 640;
const HIGH = 220;
const LEFT = 60;
const BOTTOM = 190;

/** What is left over the days of the month, and where that leads. */
function chart({ month, used, perMonth, forecast }: MonthStatus, nowMs: number): Html {
  const { startMs, endMs } = boundsOf(month);
  const x = (ms: number): number =>
    LEFT + ((ms - startMs) / (endMs - startMs)) * (WIDE - LEFT - 20);
  const y = (left: number): number =>
    BOTTOM - (Math.max(left, 0) / Math.max(perMonth, 1)) * (BOTTOM - 20);
  const [now, end] = [x(Math.min(nowMs, endMs)), x(endMs)];
  const then = Math.max(perMonth - forecast.expected, 0);
  const days = Math.round((endMs - startMs) / DAY_MS);
  const told = `${number(perMonth - used)} requests are left now, and about ${number(then)} at the end of the month.`;
  return html`<svg class="chart" viewBox="0 0 ${WIDE} ${HIGH}" role="img" aria-label="${told}">
      <line class="grid" x1="${LEFT}" y1="${BOTTOM}" x2="${end}" y2="${BOTTOM}" />
      <line class="grid" x1="${LEFT}" y1="20" x2="${LEFT}" y2="${BOTTOM}" />
      <text x="4" y="25">${number(perMonth)}</text>
      <text x="40" y="${BOTTOM}">0</text>
      ${[1, 8, 15, 22, days].map((day) => html`<text x="${Math.round(x(startMs + (day - 1) * DAY_MS))}" y="${BOTTOM + 18}">${day}</text>`)}
      <line
        class="used"
        stroke-width="3"
        x1="${LEFT}"
        y1="${y(perMonth)}"
        x2="${now}"
        y2="${y(perMonth - used)}"
      />
      <line
        class="then"
        stroke-width="2"
        x1="${now}"
        y1="${y(perMonth - used)}"
        x2="${end}"
        y2="${y(then)}"
      />
    </svg>
    <p class="quiet">
      Requests left, by day of the month (UTC): the full line until now, the broken one as expected.
      ${told}
    </p>`;
}

const DAY_MS = 86_400_000;

function boundsOf(month: string): { startMs: number; endMs: number } {
  const startMs = Date.parse(`${month}-01T00:00:00Z`);
  return { startMs, endMs: monthAt(startMs).endMs };
}

/** The month's requests: what they went to, how long they last, and what is left day by day, as a picture and as a table. */
import { dayAt, monthAt } from "../../core/budget.ts";
import type { MonthStatus } from "../../office/answers.ts";
import { type Html, html } from "../html.ts";
import { dayName, monthName, number, plural, right, table } from "../parts.ts";
import type { Answer, Asked } from "../route.ts";

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
const TOP = 20;
const BOTTOM = 190;

type Month = Pick<MonthStatus, "month" | "used" | "perMonth" | "forecast" | "purposes" | "days">;
type PurposeName = Month["purposes"][number]["purpose"];

/** One day of the month. Requests. */
interface DayRow {
  /** `2026-11-23`, UTC. */
  readonly day: string;
  /** When it ends, or now, ms UTC. */
  readonly endMs: number;
  /** Counted on this day, by purpose in the order of {@link MonthStatus.purposes}. */
  readonly counted: readonly number[];
  /** Used from the month's start to this day's end, those without a day spread evenly until now. */
  readonly upTo: readonly number[];
}

/** The picture and its table. `nowMs`: ms UTC. */
function burnDown(month: Month, nowMs: number): Html {
  const { used, perMonth, forecast } = month;
  const { startMs, endMs } = monthAt(Date.parse(`${month.month}-01T00:00:00Z`));
  const now = Math.min(Math.max(nowMs, startMs + 1), endMs);
  const purposes = month.purposes.filter((one) => one.used > 0);
  const dayless = purposes.map(({ purpose, used: all }) =>
    Math.max(all - sum(month.days.map(({ spent }) => spent[purpose] ?? 0)), 0),
  );
  const names = purposes.map(({ purpose }) => purpose);
  const rows = rowsOf(month.days, names, dayless, { startMs, now });
  const atEnd = Math.max(perMonth - forecast.expected, 0);
  const told = `${number(perMonth - used)} requests are left now, and about ${number(atEnd)} at the end of the month.`;
  return html`${picture({ startMs, endMs, now, names, rows, month, told })}
    <p class="quiet">
      Requests left, by day of the month (UTC). The full line is what was left, the broken one what
      is expected. The bands above the full line are what was used, by purpose, in the order and the
      colours of the table below. ${told}
      ${sum(dayless) === 0 ? "" : `${number(sum(dayless))} of the used requests have no day here: an earlier version sent them, other sites with the same API key did, or a process was killed. The picture spreads them evenly until now.`}
    </p>
    <details>
      <summary>Requests of each day</summary>
      ${byDay(rows, names, dayless, { perMonth, atEnd, month: month.month })}
    </details>`;
}

/** A small square in the colour of a purpose. The table of purposes is the picture's legend. */
const swatch = (purpose: string): Html =>
  html`<svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
    <rect class="${purpose}" width="10" height="10" />
  </svg>`;

function rowsOf(
  days: Month["days"],
  names: readonly PurposeName[],
  dayless: readonly number[],
  { startMs, now }: { readonly startMs: number; readonly now: number },
): DayRow[] {
  const known = new Map(days.map(({ day, spent }) => [day, spent]));
  const rows: DayRow[] = [];
  let counts = names.map(() => 0);
  for (let fromMs = startMs; fromMs < now; fromMs += DAY_MS) {
    const day = dayAt(fromMs);
    const endMs = Math.min(fromMs + DAY_MS, now);
    const counted = names.map((name) => known.get(day)?.[name] ?? 0);
    counts = counts.map((count, at) => count + (counted[at] ?? 0));
    const part = (endMs - startMs) / (now - startMs);
    const upTo = counts.map((count, at) => count + (dayless[at] ?? 0) * part);
    rows.push({ day, endMs, counted, upTo });
  }
  return rows;
}

interface Picture {
  readonly startMs: number;
  readonly endMs: number;
  readonly now: number;
  readonly names: readonly PurposeName[];
  readonly rows: readonly DayRow[];
  readonly month: Month;
  readonly told: string;
}

function picture({ startMs, endMs, now, names, rows, month, told }: Picture): Html {
  const { perMonth, used, forecast } = month;
  const x = (ms: number): number =>
    rounded(LEFT + ((ms - startMs) / (endMs - startMs)) * (WIDE - LEFT - 20));
  const y = (left: number): number =>
    rounded(BOTTOM - (Math.max(left, 0) / Math.max(perMonth, 1)) * (BOTTOM - TOP));
  const end = x(endMs);
  /** What is left below the first `bands` bands, from the month's start until now. */
  const edge = (bands: number): string[] => [
    `${x(startMs)},${y(perMonth)}`,
    ...rows.map((row) => `${x(row.endMs)},${y(perMonth - sum(row.upTo.slice(0, bands)))}`),
  ];
  const { runsOut, expected } = forecast;
  const empty = runsOut?.stops === "everything" ? x(Date.parse(runsOut.at)) : null;
  const then = [
    `${x(now)},${y(perMonth - used)}`,
    ...(empty === null ? [] : [`${empty},${y(0)}`]),
    `${end},${y(perMonth - expected)}`,
  ];
  const lastDay = Math.round((endMs - startMs) / DAY_MS);
  return html`<svg class="chart" viewBox="0 0 ${WIDE} ${HIGH}" role="img" aria-label="${told}">
    <line class="grid" x1="${LEFT}" y1="${BOTTOM}" x2="${end}" y2="${BOTTOM}" />
    <line class="grid" x1="${LEFT}" y1="${TOP}" x2="${LEFT}" y2="${BOTTOM}" />
    <text x="4" y="25">${number(perMonth)}</text>
    <text x="40" y="${BOTTOM}">0</text>
    ${[1, 8, 15, 22, lastDay].map((day) => html`<text x="${Math.round(x(startMs + (day - 1) * DAY_MS))}" y="${BOTTOM + 18}">${day}</text>`)}
    ${names.map((name, at) => html`<polygon class="${name}" points="${[...edge(at), ...edge(at + 1).toReversed()].join(" ")}" />`)}
    <polyline class="used" stroke-width="3" points="${edge(names.length).join(" ")}" />
    <polyline class="then" stroke-width="2" points="${then.join(" ")}" />
  </svg>`;
}

function byDay(
  rows: readonly DayRow[],
  names: readonly PurposeName[],
  dayless: readonly number[],
  { perMonth, atEnd, month }: { perMonth: number; atEnd: number; month: string },
): Html {
  const cells = (counts: readonly number[]): string[] => [...counts, sum(counts)].map(number);
  const nothing = [...names.map(() => ""), ""];
  return table(
    `Requests of each day of ${month} (UTC)`,
    ["Day", ...names.map((name) => right(PURPOSES[name] ?? name)), right("All"), right("Left")],
    [
      ...rows.map(({ day, counted, upTo }) => [
        day,
        ...cells(counted),
        number(Math.max(perMonth - sum(upTo), 0)),
      ]),
      ...(sum(dayless) === 0 ? [] : [["No day known", ...cells(dayless), ""]]),
      ["Expected at the end of the month", ...nothing, number(atEnd)],
    ],
  );
}

const sum = (all: readonly number[]): number => all.reduce((total, one) => total + one, 0);
const rounded = (length: number): number => Math.round(length * 10) / 10;

const DAY_MS = 86_400_000;

export async function budget(asked: Asked): Promise<Answer> {
  const month = await asked.office.budget();
  const { used, perMonth, forecast, purposes, polls, minute } = month;
  const body = html`<h1>Budget of ${monthName(month.month)}</h1>
    <div class="banner ${used >= perMonth ? "bad" : forecast.runsOut === null ? "good" : "wait"}">
      <p>
        <strong>${number(used)} of ${number(perMonth)} requests are used.</strong>
        ${
          forecast.runsOut === null
            ? `They last for the month: about ${number(forecast.expected)} will be used at its end.`
            : used >= perMonth
              ? "Nothing is read from the platform or written to it until the month is over (UTC)."
              : `At this pace they last until ${dayName(forecast.runsOut.at)} (UTC).`
        }
        ${forecast.stretch > 1 && used < perMonth ? `The platform is polled ${forecast.stretch.toFixed(1)} times as far apart as configured, to save requests for writes.` : ""}
      </p>
    </div>
    ${burnDown(month, asked.nowMs)}
    ${table(
      "What the requests went to",
      ["Purpose", right("Used"), right("Kept for it"), right("Left for it")],
      purposes.map((one) => [
        html`${swatch(one.purpose)} ${PURPOSES[one.purpose] ?? one.purpose}`,
        number(one.used),
        number(one.reserve),
        number(one.left),
      ]),
    )}
    <h2>What flows cost</h2>
    ${table(
      "Flows that read from the platform",
      ["Flow", right("Each look"), right("A month, at least"), "How often"],
      polls.map(({ flow, perLook, times, perMonth: monthly }) => [
        flow,
        number(perLook),
        number(monthly),
        oftenText(times),
      ]),
      "No flow reads from the platform.",
    )}
    <p class="quiet">
      Requests. Each page of 100 records that are new costs one more. A flow that writes to the
      platform costs about two for each document: one looks for it, one sends it. Reading and
      writing the ERP costs none.
    </p>
    ${
      minute === null
        ? ""
        : html`<p class="quiet">
            In this minute ${plural(minute.used, "request")} of ${number(minute.limit)}.
          </p>`
    }`;
  return { title: "Budget", body };
}

const oftenText = (times: number): string =>
  times <= 1 ? "as configured" : `${times.toFixed(1)} times as far apart as configured`;

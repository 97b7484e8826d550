/** The month's requests: what they went to, how long they last, and what is left day by day, as a picture and as a table. */
import { monthAt } from "../../core/budget.ts";
import { sumOf } from "../../core/groups.ts";
import { dayAt } from "../../core/time.ts";
import type { MonthStatus } from "../../office/answers.ts";
import {
  type Blocks,
  folded,
  type Html,
  type Inline,
  monthName,
  quiet,
  say,
  table,
  title,
} from "../../views/blocks.ts";
import { budgetView, PURPOSES } from "../../views/budget.ts";
import { html } from "../../views/html.ts";
import { rounded, swatch } from "../charts.ts";
import type { Answer, Asked } from "../route.ts";

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
function burnDown(month: Month, nowMs: number): Blocks {
  const { used, perMonth, forecast } = month;
  const { startMs, endMs } = monthAt(Date.parse(`${month.month}-01T00:00:00Z`));
  const now = Math.min(Math.max(nowMs, startMs + 1), endMs);
  const purposes = month.purposes.filter((one) => one.used > 0);
  const dayless = purposes.map(({ purpose, used: all }) =>
    Math.max(all - sumOf(month.days.map(({ spent }) => spent[purpose] ?? 0)), 0),
  );
  const names = purposes.map(({ purpose }) => purpose);
  const rows = rowsOf(month.days, names, dayless, { startMs, now });
  const atEnd = Math.max(perMonth - forecast.expected, 0);
  const told = `${grouped(perMonth - used)} requests are left now, and about ${grouped(atEnd)} at the end of the month.`;
  const lost = sumOf(dayless);
  return [
    picture({ startMs, endMs, now, names, rows, month, told }),
    quiet(
      "Requests left, by day of the month (UTC). The full line is what was left, the broken one what is expected. The ",
      "bands above the full line are what was used, by purpose, in the order and the colours of the table above. ",
      told,
      lost > 0 &&
        say` ${lost} of the used requests have no day here: other sites with the same API key sent them, or a process was killed. The picture spreads them evenly until now.`,
    ),
    folded(
      "Requests of each day",
      byDay(rows, names, dayless, { perMonth, atEnd, month: month.month }),
    ),
  ];
}

const grouped = (count: number): string => Math.round(count).toLocaleString("en-US");

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
    ...rows.map((row) => `${x(row.endMs)},${y(perMonth - sumOf(row.upTo.slice(0, bands)))}`),
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
    <text x="4" y="25">${grouped(perMonth)}</text>
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
): Blocks {
  interface Line {
    readonly day: string;
    readonly counted: readonly number[] | null;
    readonly left: number | null;
  }
  const lines: Line[] = [
    ...rows.map(({ day, counted, upTo }) => {
      return { day, counted, left: Math.max(perMonth - sumOf(upTo), 0) };
    }),
    ...(sumOf(dayless) === 0 ? [] : [{ day: "No day known", counted: dayless, left: null }]),
    { day: "Expected at the end of the month", counted: null, left: atEnd },
  ];
  return table(`Requests of each day of ${month} (UTC)`, lines, [
    ["Day", ({ day }) => day],
    ...names.map(
      (name, at) =>
        [PURPOSES[name] ?? name, ({ counted }: Line): Inline => counted?.[at] ?? ""] as const,
    ),
    ["All", ({ counted }) => (counted === null ? "" : sumOf(counted))],
    ["Left", ({ left }) => left ?? ""],
  ]);
}

const DAY_MS = 86_400_000;

export async function budget({ office, nowMs }: Asked): Promise<Answer> {
  const month = await office.budget();
  return {
    title: "Budget",
    body: [
      title(`Budget of ${monthName(month.month)}`),
      budgetView(month, swatch),
      burnDown(month, nowMs),
    ],
  };
}

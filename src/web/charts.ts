/** Pictures of the console, drawn on the server: readable in the dark and on paper, each with its table beside it. */
import { sumOf } from "../core/groups.ts";
import type { Html } from "../views/blocks.ts";
import { html } from "../views/html.ts";

const WIDE = 640;
const HIGH = 200;
const LEFT = 60;
const TOP = 16;
const BOTTOM = 170;

interface Bars {
  /** What it shows, for whoever cannot see it. */
  readonly told: string;
  /** Classes of the series, which colour them ({@link swatch}). */
  readonly series: readonly string[];
  /** A label may be empty. `isMarked`: told apart from the others. */
  readonly columns: readonly {
    readonly label: string;
    readonly values: readonly number[];
    readonly isMarked?: boolean;
  }[];
  /** Above each other; else beside each other. */
  readonly isStacked: boolean;
}

export function bars({ told, series, columns, isStacked }: Bars): Html {
  const heights = columns.map(({ values }) => (isStacked ? sumOf(values) : Math.max(...values, 0)));
  const most = Math.max(...heights, 1);
  const wide = (WIDE - LEFT - 10) / Math.max(columns.length, 1);
  const bar = isStacked ? wide * 0.8 : (wide * 0.7) / Math.max(series.length, 1);
  const high = (value: number): number => rounded((Math.max(value, 0) / most) * (BOTTOM - TOP));
  const rect = (name: string, x: number, y: number, value: number): Html | string =>
    value <= 0
      ? ""
      : html`<rect
          class="${name}"
          x="${x}"
          y="${y}"
          width="${rounded(bar)}"
          height="${high(value)}"
        />`;
  return html`<svg class="chart" viewBox="0 0 ${WIDE} ${HIGH}" role="img" aria-label="${told}">
    <line class="grid" x1="${LEFT}" y1="${BOTTOM}" x2="${WIDE}" y2="${BOTTOM}" />
    <text x="4" y="${TOP + 8}">${short(most)}</text>
    <text x="40" y="${BOTTOM}">0</text>
    ${columns.map(({ label, values, isMarked }, at) => {
      const x = rounded(LEFT + at * wide + wide * 0.1);
      return html`${series.map((name, place) =>
        isStacked
          ? rect(
              name,
              x,
              rounded(BOTTOM - high(sumOf(values.slice(0, place + 1)))),
              values[place] ?? 0,
            )
          : rect(
              name,
              rounded(x + place * bar),
              rounded(BOTTOM - high(values[place] ?? 0)),
              values[place] ?? 0,
            ),
      )}
      ${label === "" ? "" : html`<text x="${x}" y="${BOTTOM + 18}">${isMarked === true ? "≠ " : ""}${label}</text>`}`;
    })}
  </svg>`;
}

/** A small square in the colour of a series: the table beside the picture is its legend. */
export const swatch = (series: string): Html =>
  html`<svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
    <rect class="${series}" width="10" height="10" />
  </svg>`;

/** Of series that have no colour of their own. */
export const colour = (place: number): string => COLOURS[place % COLOURS.length] ?? "";
const COLOURS = "audit write detail check poll read-back backfill lost".split(" ");

/** `12k` */
const short = (count: number): string =>
  count < 10_000
    ? String(Math.round(count))
    : count < 1_000_000
      ? `${Math.round(count / 1_000)}k`
      : `${rounded(count / 1_000_000)}M`;

export const rounded = (length: number): number => Math.round(length * 10) / 10;

const STEPS_MAX = 7;

/** The way of a document as a line with times; of many steps the first and the last ones. */
export function way(
  told: string,
  steps: readonly { readonly at: string; readonly event: string }[],
  timeZone: string,
): Html {
  const shown =
    steps.length <= STEPS_MAX ? steps : [...steps.slice(0, 2), ...steps.slice(2 - STEPS_MAX)];
  const clock = new Intl.DateTimeFormat("en-US", {
    timeZone,
    month: "short",
    day: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  });
  const place = (at: number): number =>
    rounded(50 + (at * (WIDE - 100)) / Math.max(shown.length - 1, 1));
  return html`<svg class="chart" viewBox="0 0 ${WIDE} 70" role="img" aria-label="${told}">
    <line class="grid" x1="50" y1="30" x2="${place(shown.length - 1)}" y2="30" />
    ${shown.map(
      ({ at, event }, step) =>
        html`<circle class="audit" cx="${place(step)}" cy="30" r="5" />
          <text text-anchor="middle" x="${place(step)}" y="16">${event}</text>
          <text text-anchor="middle" x="${place(step)}" y="52"
            >${clock.format(new Date(at)).split(", ").at(-1)}</text
          >
          <text text-anchor="middle" x="${place(step)}" y="66"
            >${clock.format(new Date(at)).split(", ")[0]}</text
          >`,
    )}
  </svg>`;
}

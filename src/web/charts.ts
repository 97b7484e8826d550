/**
 * Pictures of the console, drawn on the server: readable in the dark, on a phone and on paper, each with its table beside it.
 * The text on a phone is twice as large in the drawing as on a desk: labels that would touch there are left out.
 */
import { sumOf } from "../core/groups.ts";
import type { Html } from "../views/blocks.ts";
import { html } from "../views/html.ts";

const WIDE = 640;
const HIGH = 240;
/** Where what is drawn stands. */
export const PLOT = { left: 24, right: WIDE, top: 56, bottom: 200 } as const;
/** How wide a sign is at most, on a desk and on a phone (style in assets.ts: 12 px and 24 px). */
const SIGN_DESK = 7;
const SIGN_PHONE = 14;

interface Axes {
  /** What it shows, for whoever cannot see it. */
  readonly told: string;
  /** What the top stands for, and of what. */
  readonly most: number;
  readonly unit: string;
  /** Under it, from the left to the right. `x`: where it is in the middle. */
  readonly labels: readonly Label[];
}

interface Label {
  readonly x: number;
  readonly text: string;
}

/** A picture with its axes. */
export const drawn = ({ told, most, unit, labels }: Axes, inside: Html): Html =>
  html`<svg class="chart" viewBox="0 0 ${WIDE} ${HIGH}" role="img" aria-label="${told}">
    <text x="0" y="24">${short(most)} ${unit}</text>
    <line class="grid" x1="${PLOT.left}" y1="${PLOT.top}" x2="${PLOT.right}" y2="${PLOT.top}" />
    <text x="0" y="${PLOT.bottom - 4}">0</text>
    <line
      class="grid"
      x1="${PLOT.left}"
      y1="${PLOT.bottom}"
      x2="${PLOT.right}"
      y2="${PLOT.bottom}"
    />
    ${inside} ${labelled(labels)}
  </svg>`;

function labelled(labels: readonly Label[]): readonly Html[] {
  const longest = Math.max(...labels.map(({ text }) => text.length), 1);
  const apart = ((labels.at(-1)?.x ?? 0) - (labels[0]?.x ?? 0)) / Math.max(labels.length - 1, 1);
  /** Each how-manieth has room. */
  const every = (sign: number): number => Math.ceil(((longest + 1) * sign) / Math.max(apart, 1));
  const onDesk = every(SIGN_DESK);
  const onPhone = onDesk * Math.ceil(every(SIGN_PHONE) / onDesk);
  return labels.flatMap(({ x, text }, at) => {
    if (at % onDesk !== 0) return [];
    const half = (text.length * SIGN_PHONE) / 2;
    const [anchor, place] =
      x < half ? ["start", 0] : x > WIDE - half ? ["end", WIDE] : ["middle", rounded(x)];
    const size = at % onPhone === 0 ? "" : "desk";
    return html`<text class="${size}" text-anchor="${anchor}" x="${place}" y="${HIGH - 12}"
      >${text}</text
    >`;
  });
}

interface Bars extends Pick<Axes, "told" | "unit"> {
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

export function bars({ told, unit, series, columns, isStacked }: Bars): Html {
  const heights = columns.map(({ values }) => (isStacked ? sumOf(values) : Math.max(...values, 0)));
  const most = Math.max(...heights, 1);
  const wide = (PLOT.right - PLOT.left) / Math.max(columns.length, 1);
  const bar = isStacked ? wide * 0.8 : (wide * 0.7) / Math.max(series.length, 1);
  const high = (value: number): number =>
    rounded((Math.max(value, 0) / most) * (PLOT.bottom - PLOT.top));
  const middle = (at: number): number => PLOT.left + (at + 0.5) * wide;
  const labels = columns.flatMap(({ label: text }, at) =>
    text === "" ? [] : [{ x: middle(at), text }],
  );
  return drawn(
    { told, unit, most, labels },
    html`${columns.map(({ values, isMarked }, at) => {
      const top = PLOT.bottom - high(heights[at] ?? 0) - 4;
      const mark = html`<text text-anchor="middle" x="${rounded(middle(at))}" y="${rounded(top)}"
        >≠</text
      >`;
      const rects = series.map((name, place) => {
        const value = values[place] ?? 0;
        const below = isStacked ? sumOf(values.slice(0, place)) : 0;
        const x = PLOT.left + (at + 0.1) * wide + (isStacked ? 0 : place * bar);
        return value <= 0
          ? ""
          : html`<rect
              class="${name}"
              x="${rounded(x)}"
              y="${rounded(PLOT.bottom - high(below + value))}"
              width="${rounded(bar)}"
              height="${high(value)}"
            />`;
      });
      return html`${rects} ${isMarked === true ? mark : ""}`;
    })}`,
  );
}

/** A small square in the colour of a series: the table beside the picture is its legend. */
export const swatch = (series: string): Html =>
  html`<svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
    <rect class="${series}" width="10" height="10" />
  </svg>`;

/** Of series that have no colour of their own; those beyond the last colour have it paler. */
export const colour = (place: number): string =>
  `${COLOURS[place % COLOURS.length]}${place < COLOURS.length ? "" : " again"}`;
const COLOURS = "audit write detail check poll read-back backfill lost".split(" ");

/** `1,766`, `12k` */
const short = (count: number): string =>
  count < 10_000
    ? Math.round(count).toLocaleString("en-US")
    : count < 1_000_000
      ? `${Math.round(count / 1_000)}k`
      : `${rounded(count / 1_000_000)}M`;

export const rounded = (length: number): number => Math.round(length * 10) / 10;

const STEPS_MAX = 7;

/** The way of a document as a line with times, which goes down on a phone; of many steps the first and the last ones. */
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
  return html`<ol class="way" aria-label="${told}">
    ${shown.map(
      ({ at, event }) =>
        html`<li>
          <span>${event}</span> <time datetime="${at}">${clock.format(new Date(at))}</time>
        </li>`,
    )}
  </ol>`;
}

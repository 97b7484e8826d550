/**
 * How often each feed of the platform is looked at, so that a month's requests buy the freshest documents (`every: auto`).
 * A change waits for half an interval on average. With `n` changes an hour and looks of cost `c` the sum of all waits is
 * least where every interval is in proportion to √(c / n): four times the changes, twice the looks. The rates are learned
 * by the hour of the week; the factor is the one that uses up what is left of the month.
 */
import {
  type Budget,
  forecast,
  type Forecast,
  monthAt,
  type Need,
  type Outlook,
} from "./budget.ts";
import { sumOf } from "./groups.ts";
import { clocksOf, dayAt, HOUR_MS } from "./time.ts";

export const HOURS_OF_A_WEEK = 168;

/** What was seen of a feed in each hour of the week, 0 to 167; older weeks count less. */
export interface Rates {
  /** Changes that came. */
  readonly changes: readonly number[];
  /** Hours that were watched. */
  readonly hours: readonly number[];
}

const zeros = (): number[] => Array.from({ length: HOURS_OF_A_WEEK }, () => 0);

export const nothingSeen: Rates = { changes: zeros(), hours: zeros() };

/** The hour of the week (0 to 167) that an instant, ms UTC, lies in where the site is. */
export type HourOf = (atMs: number) => number;

/** What a week counts a week later. */
const KEPT_A_WEEK = 0.85;
/** Of a longer time nobody knows when in it the changes came. */
const WATCHED_MS_MAX = 6 * HOUR_MS;
/** What a backfill or a burst brings at once tells little about the next hour. */
const CHANGES_MAX = 20;

/** With one more look, which found so many changes since the one before. */
export function learned(
  rates: Rates,
  { fromMs, toMs, changes }: { fromMs: number; toMs: number; changes: number },
  hourOf: HourOf,
): Rates {
  const watchedMs = toMs - fromMs;
  if (watchedMs <= 0 || watchedMs > WATCHED_MS_MAX) return rates;
  const next = { changes: [...rates.changes], hours: [...rates.hours] };
  const counted = Math.min(changes, CHANGES_MAX);
  for (const { hour, part } of partsOf(fromMs, toMs, hourOf)) {
    const kept = KEPT_A_WEEK ** part;
    next.hours[hour] = (next.hours[hour] ?? 0) * kept + part;
    next.changes[hour] = (next.changes[hour] ?? 0) * kept + (counted * part * HOUR_MS) / watchedMs;
  }
  return next;
}

/** Each hour from one instant to another, ms UTC: which of the week it is, and what part of it lies between them. */
function* partsOf(
  fromMs: number,
  toMs: number,
  hourOf: HourOf,
): Generator<{ readonly hour: number; readonly part: number }> {
  for (let atMs = fromMs; atMs < toMs;) {
    const endMs = Math.min((Math.floor(atMs / HOUR_MS) + 1) * HOUR_MS, toMs);
    yield { hour: hourOf(atMs), part: (endMs - atMs) / HOUR_MS };
    atMs = endMs;
  }
}

/** An hour is judged by the hours and days beside it, too, as if these had been watched for so long. */
const BESIDE_HOURS = 2;
const BESIDE = [-24, -1, 1, 24];
/** The whole week counts as so much watching of each hour. */
const WEEK_HOURS = 0.5;
/** No hour is taken for quieter than this share of the week's average. */
const FLOOR = 0.03;

/** Changes an hour in each hour of the week, as far as they are known; all alike where nothing is. */
export function expected({ changes, hours }: Rates): number[] {
  const average = (sumOf(changes) + 1) / (sumOf(hours) + 1);
  return changes.map((own, hour) => {
    const beside = BESIDE.map((by) => (hour + by + HOURS_OF_A_WEEK) % HOURS_OF_A_WEEK);
    const watched = sumOf(beside.map((at) => hours[at] ?? 0));
    const near = (sumOf(beside.map((at) => changes[at] ?? 0)) + average) / (watched + 1);
    const rate =
      (own + near * BESIDE_HOURS + average * WEEK_HOURS) /
      ((hours[hour] ?? 0) + BESIDE_HOURS + WEEK_HOURS);
    return Math.max(rate, average * FLOOR);
  });
}

/** A flow that looks at the platform, as its schedule has it. */
export interface Looks {
  readonly name: string;
  /** In a month of 31 days, at least. */
  readonly runs: number;
  /** Requests of each look, where it reads all of a list each time; null: a look costs one request and what is new. */
  readonly pages: number | null;
  /** Looks are so far apart, as configured, or no further (`auto`), ms. Null: at times of the calendar, which people chose. */
  readonly everyMs: number | null;
  /** It uses what is left of the month (`every: auto`), and its looks are no closer. Null: they are as far apart as configured. */
  readonly auto: { readonly leastMs: number; readonly rates: Rates } | null;
}

/** Percent of the month that a list which is read whole each time may take. */
const WHOLE_SHARE = 10;

export const wholeShare = ({ perMonth }: Pick<Budget, "perMonth">): number =>
  Math.max((perMonth * WHOLE_SHARE) / 100, 1);

export const costOf = ({ runs, pages }: Looks): number => runs * (pages ?? 1);

/** How much seldomer than configured a list is read that would take more than its share, at least 1. */
export const slowing = (one: Looks, budget: Pick<Budget, "perMonth">): number =>
  one.pages === null || one.everyMs === null || one.auto !== null
    ? 1
    : Math.max(costOf(one) / wholeShare(budget), 1);

/** What the schedules cost in a month of 31 days, lists at most their share. */
export function needOf(looks: readonly Looks[], budget: Pick<Budget, "perMonth">): Required<Need> {
  const costs = (those: readonly Looks[]): number =>
    sumOf(those.map((one) => costOf(one) / slowing(one, budget)));
  return {
    interval: costs(looks.filter(({ everyMs }) => everyMs !== null)),
    calendar: costs(looks.filter(({ everyMs }) => everyMs === null)),
    auto: costs(looks.filter(({ auto }) => auto !== null)),
  };
}

interface Month extends Omit<Outlook, "need"> {
  readonly looks: readonly Looks[];
  /** Requests of a month of 31 nights for feeds that are read anew. Left out: none. */
  readonly deep?: number;
  readonly hourOf: HourOf;
  /** Null: none are named. */
  readonly office: OfficeHours | null;
}

/**
 * How the month ends, and how far apart the looks of every flow at an interval are for it: as configured, or stretched until
 * the month suffices, or (`every: auto`) as close as what is left allows.
 */
export function planMonth({ looks, deep = 0, hourOf, office, ...outlook }: Month): {
  readonly forecast: Forecast;
  readonly paces: () => Paces;
  /** How much seldomer than configured a flow's list is read, at least 1. */
  readonly slowing: (one: Looks) => number;
} {
  const { budget, atMs, share = 1 } = outlook;
  const own = { perMonth: budget.perMonth * share };
  const need = needOf(looks, own);
  const ahead = forecast({ ...outlook, need: { ...need, calendar: need.calendar + deep } });
  const paces = (): Paces => {
    const feeds = looks.flatMap(({ name, pages, everyMs, auto }) =>
      everyMs === null || auto === null
        ? []
        : [{ name, perLook: pages ?? 1, mostMs: everyMs, ...auto }],
    );
    const plain = looks.flatMap((one) => {
      if (one.everyMs === null || one.auto !== null) return [];
      const ms = Math.round(one.everyMs * ahead.stretch * slowing(one, own));
      return [[one.name, zeros().fill(ms)] as const];
    });
    if (feeds.length === 0) return new Map(plain);
    const hours = hoursBetween(atMs, monthAt(atMs).endMs, hourOf);
    const left = { hours, weights: weightsOf(office) };
    return new Map([...pacesOf(feeds, ahead.forAuto ?? 0, left), ...plain]);
  };
  return { forecast: ahead, paces, slowing: (one) => slowing(one, own) };
}

/** A feed whose pace is found. */
export interface Feed {
  readonly name: string;
  readonly rates: Rates;
  /** Requests of each look. */
  readonly perLook: number;
  /** Looks are no closer and no further apart, ms. */
  readonly leastMs: number;
  readonly mostMs: number;
}

/** What is left of a month: of each hour of the week how many hours, and how much a wait in it weighs. */
interface Left {
  readonly hours: readonly number[];
  readonly weights: readonly number[];
}

/** ms between two looks of each feed, by the hour of the week. */
type Paces = ReadonlyMap<string, readonly number[]>;

const HALVINGS = 40;

/**
 * The intervals that use up so many requests in what is left. Where not even the longest ones are affordable, all are
 * longer in the same proportion: the month comes first.
 */
export function pacesOf(feeds: readonly Feed[], requests: number, left: Left): Paces {
  const roots = feeds.map(({ rates, perLook }) =>
    expected(rates).map((rate, hour) => Math.sqrt(perLook / (rate * (left.weights[hour] ?? 1)))),
  );
  const intervals = (factor: number): number[][] =>
    feeds.map(({ leastMs, mostMs }, at) =>
      (roots[at] ?? []).map((root) => Math.min(Math.max(root * factor, leastMs), mostMs)),
    );
  const cost = (paces: readonly (readonly number[])[]): number =>
    feeds.reduce(
      (all, { perLook }, at) =>
        all +
        (paces[at] ?? []).reduce(
          (sum, ms, hour) => sum + (perLook * (left.hours[hour] ?? 0) * HOUR_MS) / ms,
          0,
        ),
      0,
    );
  let [low, high] = [1, 1e12];
  for (let at = 0; at < HALVINGS; at++) {
    const middle = Math.sqrt(low * high);
    if (cost(intervals(middle)) > requests) low = middle;
    else high = middle;
  }
  const found = intervals(high);
  const over = Math.max(cost(found) / Math.max(requests, 1), 1);
  return new Map(
    feeds.map(({ name }, at) => [name, (found[at] ?? []).map((ms) => Math.round(ms * over))]),
  );
}

/**
 * Where more than the usual may follow, the next look comes in so much of the interval: after a look that found a change,
 * and after a write of our own, which shows there in any case. The rest of the month has the fewer looks for it.
 */
const SOONER = { nothing: 1, change: 0.6, write: 0.25 } as const;
export type After = keyof typeof SOONER;

/** When a feed is looked at next, ms from now. */
export function nextLookIn(
  paces: Paces,
  { name, leastMs }: Pick<Feed, "name" | "leastMs">,
  { atMs, hourOf, after }: { atMs: number; hourOf: HourOf; after: After },
): number {
  const byHour = paces.get(name) ?? [];
  const here = byHour[hourOf(atMs)] ?? leastMs;
  const ms = after === "nothing" ? here : Math.max(here * SOONER[after], leastMs);
  // A shorter interval that begins meanwhile is not slept through: what is left of the wait shrinks with it.
  let [waited, part] = [0, 0];
  for (let at = atMs; part < 1 && waited < ms;) {
    const toHourMs = HOUR_MS - (at % HOUR_MS);
    const length = Math.min(byHour[hourOf(at)] ?? ms, ms);
    const inHour = Math.min(toHourMs, (1 - part) * length);
    part += inHour / length;
    waited += inHour;
    at += inHour;
  }
  return Math.max(Math.round(Math.min(waited, ms)), leastMs);
}

/** The hour of the week in a time zone (IANA), 0: the first of Monday. A holiday (`YYYY-MM-DD` there) counts as a Sunday. */
export function hourOfWeekIn(timeZone: string, holidays: readonly string[] = []): HourOf {
  const clocks = clocksOf(timeZone);
  const free = new Set(holidays);
  return (atMs) => {
    const shown = new Date(clocks(atMs));
    const weekday = free.has(dayAt(shown.getTime())) ? 6 : (shown.getUTCDay() + 6) % 7;
    return weekday * 24 + shown.getUTCHours();
  };
}

/** When a site works: its days (0: Monday), from one minute of the day to another. */
export interface OfficeHours {
  readonly days: readonly number[];
  readonly from: number;
  readonly to: number;
}

/** Of each hour of the week whether the site works in it. Null: no office hours are named, and it never does. */
export const workedIn = (office: OfficeHours | null): boolean[] =>
  zeros().map((_, hour) => {
    const minute = (hour % 24) * 60;
    return (
      office?.days.includes(Math.floor(hour / 24)) === true &&
      minute + 60 > office.from &&
      minute < office.to
    );
  });

/** A wait in office hours weighs so much more: somebody waits for the document. */
const OFFICE_WEIGHT = 4;

/** By the hour of the week. */
export const weightsOf = (office: OfficeHours | null): number[] =>
  workedIn(office).map((isIn) => (isIn ? OFFICE_WEIGHT : 1));

/** How many of each hour of the week there are from one instant to another, ms UTC. */
export function hoursBetween(fromMs: number, toMs: number, hourOf: HourOf): number[] {
  const hours = zeros();
  for (const { hour, part } of partsOf(fromMs, toMs, hourOf))
    hours[hour] = (hours[hour] ?? 0) + part;
  return hours;
}

/** How long changes of the platform waited, or will wait, ms; of twenty, nineteen wait no longer than `p95Ms`. */
export interface Staleness {
  readonly meanMs: number;
  readonly p95Ms: number;
}

/** So many changes (or so much weight of them) wait between one time and another, ms, each time as likely. */
export interface Waits {
  readonly fromMs: number;
  readonly toMs: number;
  readonly weight: number;
}

/** Null: nothing waits. */
export function stalenessOf(waits: readonly Waits[]): Staleness | null {
  const all = sumOf(waits.map(({ weight }) => weight));
  if (all <= 0) return null;
  const meanMs =
    sumOf(waits.map(({ fromMs, toMs, weight }) => ((fromMs + toMs) / 2) * weight)) / all;
  let [low, high] = [0, Math.max(...waits.map(({ toMs }) => toMs))];
  for (let at = 0; at < HALVINGS; at++) {
    const middle = (low + high) / 2;
    const within = waits.map(({ fromMs, toMs, weight }) =>
      middle >= toMs ? weight : (weight * Math.max(middle - fromMs, 0)) / (toMs - fromMs),
    );
    if (sumOf(within) < all * 0.95) low = middle;
    else high = middle;
  }
  return { meanMs: Math.round(meanMs), p95Ms: Math.round(high) };
}

/** How long changes will wait for the next look. Of each hour of the week: how far apart looks are in it, ms, and what falls into it. */
export const staleAt = (pace: readonly number[], changes: readonly number[]): Staleness | null =>
  stalenessOf(pace.map((toMs, hour) => ({ fromMs: 0, toMs, weight: changes[hour] ?? 0 })));

/** What was measured is counted by its length: four lengths to each doubling, from a fifth of a second on. */
const LENGTHS_A_DOUBLING = 4;

/** The length, a small whole number, that a wait is counted under. A clock that runs ahead makes no wait negative. */
export const lengthOf = (waitedMs: number): number =>
  Math.max(Math.ceil(Math.log2(Math.max(waitedMs, 0) / 1_000 + 1) * LENGTHS_A_DOUBLING), 1);

/** The waits that are counted under a length. */
export const waitsOfLength = (length: number, count: number): Waits => ({
  fromMs: msOf(length - 1),
  toMs: msOf(length),
  weight: count,
});

const msOf = (length: number): number => (2 ** (length / LENGTHS_A_DOUBLING) - 1) * 1_000;

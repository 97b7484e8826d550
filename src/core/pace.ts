/**
 * How often each feed of the platform is looked at, so that a month's requests buy the freshest documents (`every: auto`).
 * A change waits for half an interval on average. With `n` changes an hour and looks of cost `c` the sum of all waits is
 * least where every interval is in proportion to √(c / n): four times the changes, twice the looks. The rates are learned
 * by the hour of the week; the factor is the one that uses up what is left of the month.
 */

export const HOURS_OF_A_WEEK = 168;
const HOUR_MS = 3_600_000;

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

const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0);

/** Changes an hour in each hour of the week, as far as they are known; all alike where nothing is. */
export function expected({ changes, hours }: Rates): number[] {
  const average = (sum(changes) + 1) / (sum(hours) + 1);
  return changes.map((own, hour) => {
    const beside = BESIDE.map((by) => (hour + by + HOURS_OF_A_WEEK) % HOURS_OF_A_WEEK);
    const watched = sum(beside.map((at) => hours[at] ?? 0));
    const near = (sum(beside.map((at) => changes[at] ?? 0)) + average) / (watched + 1);
    const rate =
      (own + near * BESIDE_HOURS + average * WEEK_HOURS) /
      ((hours[hour] ?? 0) + BESIDE_HOURS + WEEK_HOURS);
    return Math.max(rate, average * FLOOR);
  });
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
export interface Left {
  readonly hours: readonly number[];
  readonly weights: readonly number[];
}

/** ms between two looks of each feed, by the hour of the week. */
export type Paces = ReadonlyMap<string, readonly number[]>;

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

/** After a look that found a change more may follow: the next look comes so much sooner. */
const AFTER_A_CHANGE = 0.6;

/** When a feed is looked at next, ms from now. */
export function nextLookIn(
  paces: Paces,
  { name, leastMs }: Pick<Feed, "name" | "leastMs">,
  { atMs, hourOf, changed }: { atMs: number; hourOf: HourOf; changed: boolean },
): number {
  const byHour = paces.get(name) ?? [];
  const here = byHour[hourOf(atMs)] ?? leastMs;
  const ms = changed ? Math.max(here * AFTER_A_CHANGE, leastMs) : here;
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
  const clock = { timeZone, dateStyle: "short", timeStyle: "medium" } as const;
  // Swedish writes a day and a time as ISO 8601 does.
  let format: Intl.DateTimeFormat | null = null;
  const free = new Set(holidays);
  const known = new Map<number, number>();
  return (atMs) => {
    // Zones that are half an hour off change within an hour of UTC.
    const half = Math.floor(atMs / (HOUR_MS / 2));
    const found = known.get(half);
    if (found !== undefined) return found;
    // Made at the first look of a flow: to make one takes longer than many commands have.
    format ??= new Intl.DateTimeFormat("sv", clock);
    const [day = "", time = ""] = format.format(half * (HOUR_MS / 2)).split(" ");
    const weekday = free.has(day) ? 6 : (new Date(`${day}T00:00:00Z`).getUTCDay() + 6) % 7;
    const hour = weekday * 24 + Number(time.slice(0, 2));
    if (known.size >= HALF_HOURS_KEPT) known.clear();
    known.set(half, hour);
    return hour;
  };
}

const HALF_HOURS_KEPT = 5_000;

/** When a site works: its days (0: Monday), from one minute of the day to another. */
export interface OfficeHours {
  readonly days: readonly number[];
  readonly from: number;
  readonly to: number;
}

/** A wait in office hours weighs so much more: somebody waits for the document. */
const OFFICE_WEIGHT = 4;

/** By the hour of the week. Null: no office hours are named, and every wait weighs the same. */
export const weightsOf = (office: OfficeHours | null): number[] =>
  zeros().map((_, hour) => {
    const minute = (hour % 24) * 60;
    const isIn =
      office?.days.includes(Math.floor(hour / 24)) === true &&
      minute + 60 > office.from &&
      minute < office.to;
    return isIn ? OFFICE_WEIGHT : 1;
  });

/** How many of each hour of the week there are from one instant to another, ms UTC. */
export function hoursBetween(fromMs: number, toMs: number, hourOf: HourOf): number[] {
  const hours = zeros();
  for (const { hour, part } of partsOf(fromMs, toMs, hourOf))
    hours[hour] = (hours[hour] ?? 0) + part;
  return hours;
}

import { remembered } from "./remembered.ts";

export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

/**
 * What the clocks of a time zone (IANA) show at an instant, ms UTC: as if it were UTC, ms, to the second.
 * @throws RangeError for what is no instant
 */
export function clocksOf(timeZone: string): (atMs: number) => number {
  // Swedish writes a day and a time as ISO 8601 does.
  const style = { timeZone, dateStyle: "short", timeStyle: "medium" } as const;
  // To make one takes longer than many commands have.
  let format: Intl.DateTimeFormat | null = null;
  const shown = (atMs: number): number => {
    format ??= new Intl.DateTimeFormat("sv", style);
    return Date.parse(`${format.format(atMs).replace(" ", "T")}Z`);
  };
  /**
   * By how much the clocks are ahead of UTC on a day (UTC), ms; null: that changes on it. `Intl` is asked twice a day: to ask it
   * each time takes as long as to map a small document.
   */
  const offsetOn = remembered((day: number): number | null => {
    const [first, last] = [day * DAY_MS, (day + 1) * DAY_MS - 1_000].map(
      (atMs) => shown(atMs) - atMs,
    ) as [number, number];
    return first === last ? first : null;
  }, DAYS_MAX);

  return (atMs) => {
    const offsetMs = atMs >= 0 ? offsetOn(Math.floor(atMs / DAY_MS)) : null;
    return offsetMs === null ? shown(atMs) : Math.floor(atMs / 1_000) * 1_000 + offsetMs;
  };
}

/**
 * Which calendar day (`YYYY-MM-DD`) an instant (ISO 8601 with a zone) is in `timeZone` (IANA): an invoice made late on the
 * 31st in Chicago is the old month's, although it was the 1st in Greenwich. A midnight is an instant like any other; a
 * date without a time stays what it says. @throws RangeError for a text that is no instant
 */
export function calendarOf(timeZone: string): (instant: string) => string {
  const clocks = clocksOf(timeZone);
  const dayOf = remembered((at: number) => dayAt(at * DAY_MS), DAYS_MAX);
  return (instant) =>
    DATE_ONLY.test(instant)
      ? instant.slice(0, 10)
      : dayOf(Math.floor(clocks(Date.parse(instant)) / DAY_MS));
}

const DAYS_MAX = 10_000;

const DATE_ONLY = /^\d{4}-\d\d-\d\d$/;
/** Where it may be midnight elsewhere: zones are whole quarters of an hour apart. */
const QUARTER = /:(?:00|15|30|45):00(?:\.0+)?[+-]\d\d:?\d\d$/;
const MIDNIGHT = /^\d{4}-\d\d-\d\d[Tt ]00:00:00(?:\.0+)?(?:[Zz]|[+-]\d\d:?\d\d)$/;

/**
 * Of a field that names a day and is written as an instant (due, requested, delivered): a midnight, in whatever zone, is
 * the day itself, without a time (`2026-12-01`); any other instant stays as it is. A midnight of UTC is one in the clocks of
 * another zone too (`2026-11-30T18:00:00-06:00`), for a server that writes one instant in two zones names one day. Never of
 * what tells when something happened (made, changed, paid): that is an instant, at midnight too.
 */
export function namedDay(instant: string): string {
  if (MIDNIGHT.test(instant)) return instant.slice(0, 10);
  const atMs = QUARTER.test(instant) ? Date.parse(instant) : Number.NaN;
  return atMs % DAY_MS === 0 ? dayAt(atMs) : instant;
}

/**
 * `HHMM` of an instant where `dayOf` has its calendar: the minutes since that day began. Null on a day on which clocks are set,
 * for then they do not tell the time.
 */
export function timeOfDay(instant: string, dayOf: (instant: string) => string): string | null {
  const day = dayOf(instant);
  const isSameDay = (minutes: number): boolean =>
    dayOf(new Date(Date.parse(instant) + minutes * MINUTE_MS).toISOString()) === day;
  /** How many whole minutes of the day lie on that side. */
  const minutesOf = (sign: 1 | -1): number => {
    let [within, beyond] = [0, 1501];
    while (beyond - within > 1) {
      const middle = Math.floor((within + beyond) / 2);
      if (isSameDay(sign * middle)) within = middle;
      else beyond = middle;
    }
    return within;
  };
  const [before, after] = [minutesOf(-1), minutesOf(1)];
  if (before + after !== 24 * 60 - 1) return null;
  return [Math.floor(before / 60), before % 60]
    .map((part) => String(part).padStart(2, "0"))
    .join("");
}

/** When a day begins where `dayOf` has its calendar, ms UTC, to the hour: zones that are half an hour off begin in that hour. */
export function beginOf(day: string, dayOf: (instant: string) => string): number {
  let atMs = Date.parse(day) - 14 * 60 * MINUTE_MS;
  while (dayOf(new Date(atMs).toISOString()) < day) atMs += 60 * MINUTE_MS;
  return atMs;
}

/** The calendar day, UTC, in which this instant lies: `2026-11-23`. */
export const dayAt = (atMs: number): string => new Date(atMs).toISOString().slice(0, 10);

/** The day (`YYYY-MM-DD`) so many days before another; after it, where they are below 0. */
export const dayBefore = (day: string, days = 1): string => dayAt(Date.parse(day) - days * DAY_MS);

/** Full working days between two days, Monday to Friday; of more than 100 days the first 100. */
export function workingDays(from: string, to: string): number {
  let count = 0;
  const end = Date.parse(to);
  for (let at = Date.parse(from) + DAY_MS; at <= end && count < 100; at += DAY_MS)
    if (new Date(at).getUTCDay() % 6 !== 0) count++;
  return count;
}

/** The last day of a month (`YYYY-MM`). */
export function lastDayOf(month: string): string {
  const [year = 0, number = 1] = month.split("-").map(Number);
  return dayAt(Date.UTC(year, number, 0));
}

/** As Americans shorten them. */
export const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

/** What is wrong with a day that people wrote, as the end of a sentence that begins with it; null: nothing. */
export function faultOfDay(text: string): string | null {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? [];
  if (year === undefined) return "is not a day of the form YYYY-MM-DD";
  if (Number(month) < 1 || Number(month) > 12) return "has no such month";
  const days = Number(lastDayOf(`${year}-${month}`).slice(8));
  if (Number(day) >= 1 && Number(day) <= days) return null;
  return `is no day of the calendar: that month has ${days} days`;
}

/** `20261118` as `2026-11-18`; null: it is no day of the calendar. */
export function dayOfDigits(text: string): string | null {
  const day = text.replace(/^(\d{4})(\d\d)(\d\d)$/, "$1-$2-$3");
  return faultOfDay(day) === null && day !== text ? day : null;
}

/* Which names of time zones a configuration may have: those of cities, whose rules for summer time are known. The
   runtime takes more, and reads `CST` as Chicago, `EST` as Panama, `BST` as Dhaka and `Etc/GMT+6` as six hours west. */

/** By the abbreviations that people write for them. */
const CITIES: Readonly<Record<string, readonly string[]>> = {
  E: ["America/New_York", "America/Detroit", "America/Toronto"],
  C: ["America/Chicago", "America/Winnipeg"],
  M: ["America/Denver", "America/Phoenix", "America/Edmonton"],
  P: ["America/Los_Angeles", "America/Vancouver"],
  AK: ["America/Anchorage"],
  H: ["Pacific/Honolulu"],
  A: ["America/Halifax", "America/Puerto_Rico"],
  N: ["America/St_Johns"],
  GM: ["Europe/London"],
  B: ["Europe/London"],
  WE: ["Europe/Lisbon"],
  CE: ["Europe/Berlin", "Europe/Paris"],
  ME: ["Europe/Berlin"],
  EE: ["Europe/Helsinki", "Europe/Athens"],
  I: ["Asia/Kolkata", "Europe/Dublin"],
};

const REGION =
  /^(?:Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Brazil|Canada|Chile|Europe|Indian|Mexico|Pacific|US)\//i;
const ABBREVIATION = /^(AK|GM|WE|CE|ME|EE|[A-Z])[SD]?T(?:\d+[A-Z]+)?$/;
const OFFSET = /^(?:Etc\/)?(?:GMT|UTC)?[+-]?(\d{1,2})(?::?\d\d)?$/i;

/** What is wrong with the name of a time zone, as the end of a sentence that begins with it; null: nothing. */
export function faultOfTimeZone(name: string): string | null {
  if (/^(?:Etc\/)?UTC$/i.test(name)) return null;
  if (REGION.test(name)) return isKnown(name) ? null : "is not a time zone";
  const hours = OFFSET.exec(name)?.[1];
  if (hours !== undefined)
    return `is a difference from UTC, without summer time: ${such(citiesAt(Number(hours)))}`;
  const [, letters = ""] = ABBREVIATION.exec(name.toUpperCase()) ?? [];
  const cities = CITIES[letters];
  if (cities !== undefined || isKnown(name))
    return `is an abbreviation, which does not say when summer time begins: ${such(cities ?? [])}`;
  return "is not a time zone";
}

const such = (cities: readonly string[]): string =>
  `write the zone of a city, such as ${(cities.length === 0 ? ["America/Chicago"] : cities).join(", ")}`;

/** So many hours from UTC in winter, to the west or to the east: which one is meant cannot be told from `GMT+6`. */
const citiesAt = (hours: number): string[] =>
  [...new Set(Object.values(CITIES).flat())].filter(
    (city) => Math.abs(winterOffset(city)) === hours,
  );

function winterOffset(timeZone: string): number {
  const january = new Date(Date.UTC(2026, 0, 15, 12));
  const format = new Intl.DateTimeFormat("en", { timeZone, timeZoneName: "longOffset" });
  const part = format.formatToParts(january).find(({ type }) => type === "timeZoneName");
  const [, sign = "+", hours = "0"] = /GMT([+-])(\d\d)/.exec(part?.value ?? "") ?? [];
  return Number(`${sign}${hours}`);
}

function isKnown(timeZone: string): boolean {
  // Most have one of these names. The first format of a process takes ten times as long as the list, and a start needs none.
  if (Intl.supportedValuesOf("timeZone").includes(timeZone)) return true;
  try {
    // In the language of {@link calendarOf}: the first format of each one takes ten times as long.
    return Boolean(new Intl.DateTimeFormat("sv", { timeZone }).resolvedOptions().timeZone);
  } catch {
    return false;
  }
}

/** One instant by both clocks. Durations count by the monotonic clock, and only within one boot. */
export interface Moment {
  /** Identifies one start of the process. */
  readonly boot: string;
  readonly monoMs: number;
  readonly wallMs: number;
  /** The clock that goes on while the process is started again, where the system has one. */
  readonly machine?: MachineTime;
}

/** Time since one start of the machine, which nobody can set. It stands still while the machine sleeps. */
interface MachineTime {
  readonly boot: string;
  readonly upMs: number;
}

export function later({ boot, monoMs, wallMs, machine }: Moment, ms: number): Moment {
  return {
    boot,
    monoMs: monoMs + ms,
    wallMs: wallMs + ms,
    ...(machine && { machine: { boot: machine.boot, upMs: machine.upMs + ms } }),
  };
}

/** How long it is from now until a moment of an earlier process, ms; null: no clock tells it that nobody can set. */
export function untilAcross({ machine }: Moment, now: Moment): number | null {
  return machine !== undefined && machine.boot === now.machine?.boot
    ? machine.upMs - now.machine.upMs
    : null;
}

/** A moment of another boot says nothing about now: what depends on it was set anew by `restart`. */
export function reached(moment: Moment, now: Moment): boolean {
  return moment.boot === now.boot ? now.monoMs >= moment.monoMs : true;
}

export function sameMoment(one: Moment | null, other: Moment | null): boolean {
  return one !== null && one.boot === other?.boot && one.monoMs === other.monoMs;
}

/**
 * By how much the wall clock was set between two moments of one boot, ms, forward if positive; 0 when it went with the
 * monotonic clock. Less than a second is a clock that is being slewed. A machine that slept shows as a step forward.
 */
export function jumpBetween(before: Moment, now: Moment): number {
  const byMs = now.wallMs - before.wallMs - (now.monoMs - before.monoMs);
  return before.boot === now.boot && Math.abs(byMs) >= JUMP_MS ? Math.round(byMs) : 0;
}

/**
 * Are `forMs` not over yet since the wall clock showed `sinceMs`? Where it was set back past that, nobody can tell, and
 * they are over: nothing lasts until a wrong clock gets there.
 */
export const isWithin = (sinceMs: number, forMs: number, nowMs: number): boolean =>
  nowMs >= sinceMs && nowMs - sinceMs < forMs;

export const JUMP_MS = 1_000;

/** The clocks of this process; tests hand in their own. */
export interface Clock {
  now(): Moment;
  /** Resolves after `ms`, or at once when the signal aborts. */
  pause(ms: number, signal?: AbortSignal): Promise<void>;
  /** 0 <= x < 1 */
  chance(): number;
}

/** ISO 8601 UTC of an instant. */
export const iso = (ms: number): string => new Date(ms).toISOString();

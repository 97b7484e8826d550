/**
 * When a flow is due. The due time is kept in the store, so a flow that became due while nothing ran runs once, at
 * once; the cron library only tells which minutes match. The wall clock may be set at any time: within one process an
 * interval goes by the monotonic clock too, and a stored time that no schedule could have set is not believed.
 */
import { createTask } from "node-cron";
import { LONGEST_MONTH_MS, monthAt } from "../core/budget.ts";
import { later, type Moment } from "../core/moment.ts";
import type { Schedule } from "./engine.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** The 29th of February comes round in eight years at most. */
const FURTHEST_MS = 8 * 366 * 24 * HOUR;

/**
 * The first due time after `afterMs` (ms UTC). A time of the calendar that a change of clocks skips is due at the next
 * minute that exists, and one that comes twice only the first time, unless the expression names every hour. An interval
 * is `stretch` times as long, but no longer than into the next month; a time of the calendar stays as it is.
 */
export function nextDue(schedule: Schedule, afterMs: number, stretch = 1): number {
  if ("everyMs" in schedule) {
    const { everyMs } = schedule;
    const stretchedMs = Math.round(everyMs * Math.max(stretch, 1));
    return Math.min(afterMs + stretchedMs, Math.max(afterMs + everyMs, monthAt(afterMs).endMs));
  }
  const { cron, timeZone } = schedule;
  const matches = matcher(cron, timeZone);
  const onItsDays = matcher(`* * ${daysOf(cron)}`, timeZone);
  const first = (Math.floor(afterMs / MINUTE) + 1) * MINUTE;
  for (let hour = first - (first % HOUR); hour < first + FURTHEST_MS; hour += HOUR) {
    // A day may begin within it: there are zones that are half an hour off.
    if (!onItsDays(hour) && !onItsDays(hour + HOUR - MINUTE)) continue;
    const change = changeNear(hour, timeZone);
    const isDue =
      change === null ? matches : (at: number) => isDueNear(change, schedule, at, matches);
    for (let at = Math.max(hour, first); at < hour + HOUR; at += MINUTE) if (isDue(at)) return at;
  }
  return first + FURTHEST_MS;
}

/** A change of a zone's clocks: the first instant after it, and by how much they were set, ms. */
interface ClockChange {
  readonly atMs: number;
  /** Positive: so much of the calendar was skipped. Negative: so much of it came twice. */
  readonly byMs: number;
}

/** The clocks are set by more than this nowhere (it is an hour, or half of one). */
const LARGEST_CHANGE_MS = 3 * HOUR;

/** The last change that still matters within the hour that begins here; null: there is none. */
function changeNear(hour: number, timeZone: string): ClockChange | null {
  const [from, to] = [hour - LARGEST_CHANGE_MS, hour + HOUR - MINUTE];
  const byMs = offsetAt(to, timeZone) - offsetAt(from, timeZone);
  if (byMs === 0) return null;
  // The first minute with the new offset, by halves.
  let [before, after] = [from, to];
  while (after - before > MINUTE) {
    const middle = before + Math.floor((after - before) / (2 * MINUTE)) * MINUTE;
    if (offsetAt(middle, timeZone) - offsetAt(from, timeZone) === 0) before = middle;
    else after = middle;
  }
  return { atMs: after, byMs };
}

function isDueNear(
  { atMs, byMs }: ClockChange,
  { cron, timeZone }: { readonly cron: string; readonly timeZone: string },
  at: number,
  matches: (atMs: number) => boolean,
): boolean {
  // An expression that names every hour goes by hours that pass, not by what the clock shows.
  if (cron.split(" ")[1]?.startsWith("*") === true) return matches(at);
  if (byMs < 0) return matches(at) && (at < atMs || at >= atMs - byMs);
  if (matches(at) || at !== atMs) return matches(at);
  // The minutes that the calendar does not have, as if the clocks had not been set.
  const first = atMs + offsetAt(atMs - MINUTE, timeZone);
  const skipped = Array.from({ length: byMs / MINUTE }, (_, minute) => minute * MINUTE);
  return skipped.some((ms) => matcher(cron, "UTC")(first + ms));
}

/**
 * The due time that is stored (ms UTC), by both clocks of this process. One that lies further off than the schedule
 * ever waits was stored by a clock that was ahead, or by another schedule: then it is due now.
 */
export function dueFrom(schedule: Schedule, storedMs: number, now: Moment, stretch = 1): Moment {
  const longestMs = nextDue(schedule, now.wallMs, stretch) + MINUTE;
  return later(now, storedMs <= longestMs ? storedMs - now.wallMs : 0);
}

/** How long until then, ms; 0 or less: it is due. An interval is over when either clock says so. */
export function untilDue(schedule: Schedule, due: Moment, now: Moment): number {
  const byWallMs = due.wallMs - now.wallMs;
  return "cron" in schedule ? byWallMs : Math.min(byWallMs, due.monoMs - now.monoMs);
}

/** The due time after the wall clock was set: what is left of an interval stays, a time of the calendar is found anew. */
export function dueAfterJump(schedule: Schedule, due: Moment, now: Moment): Moment {
  if ("cron" in schedule) return dueFrom(schedule, due.wallMs, now);
  return later(now, Math.max(untilDue(schedule, due, now), 0));
}

/** How often a schedule comes round in 31 days that begin with this instant's month, UTC. */
export function runsPerMonth(schedule: Schedule, atMs: number): number {
  if ("everyMs" in schedule) return Math.ceil(LONGEST_MONTH_MS / schedule.everyMs);
  const { cron, timeZone } = schedule;
  const [minutes, hours] = cron.split(" ");
  const onSomeDay = matcher(`${minutes} ${hours} * * *`, timeZone);
  const onItsDays = matcher(`* * ${daysOf(cron)}`, timeZone);
  const { startMs } = monthAt(atMs);
  const aDay = count(1_440, (minute) => onSomeDay(A_PLAIN_DAY + minute * MINUTE));
  return aDay * count(31, (day) => onItsDays(startMs + (day * 24 + 12) * HOUR));
}

/** One for each expression of the configuration: to read one takes longer than to match a day of minutes. */
const matchers = new Map<string, (atMs: number) => boolean>();

/** Whether an instant, ms UTC, is one of the expression's minutes. */
function matcher(cron: string, timeZone: string): (atMs: number) => boolean {
  const name = `${cron} ${timeZone}`;
  const known = matchers.get(name);
  if (known !== undefined) return known;
  const task = createTask(cron, () => {}, { timezone: timeZone });
  const matches = (atMs: number): boolean => task.match(new Date(atMs));
  matchers.set(name, matches);
  return matches;
}

/** What the zone's clocks show at an instant, as if it were UTC, ms; its difference from UTC. To the minute. */
function offsetAt(atMs: number, timeZone: string): number {
  const format = formats.get(timeZone) ?? formatOf(timeZone);
  formats.set(timeZone, format);
  const parts = Object.fromEntries(
    format.formatToParts(new Date(atMs)).map(({ type, value }) => [type, Number(value)]),
  );
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute) - Math.floor(atMs / MINUTE) * MINUTE;
}

const formats = new Map<string, Intl.DateTimeFormat>();

const formatOf = (timeZone: string): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat("en", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
  });

/** Day of the month, month, day of the week. */
const daysOf = (cron: string): string => cron.split(" ").slice(2).join(" ");

/** No clock on earth changes to or from summer time within the 48 hours around it. */
const A_PLAIN_DAY = Date.UTC(2026, 0, 15);

const count = (length: number, isMet: (at: number) => boolean): number =>
  Array.from({ length }, (_, at) => at).filter(isMet).length;

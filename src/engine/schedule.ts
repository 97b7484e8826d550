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
 * The first due time after `afterMs` (ms UTC). A local time that the change to summer time skips does not occur. An
 * interval is `stretch` times as long, but no longer than into the next month; a time of the calendar stays as it is.
 */
export function nextDue(schedule: Schedule, afterMs: number, stretch = 1): number {
  if ("everyMs" in schedule) {
    const { everyMs } = schedule;
    const stretchedMs = Math.round(everyMs * Math.max(stretch, 1));
    return Math.min(afterMs + stretchedMs, Math.max(afterMs + everyMs, monthAt(afterMs).endMs));
  }
  const matches = matcher(schedule.cron, schedule.timeZone);
  const onItsDays = matcher(`* * ${daysOf(schedule.cron)}`, schedule.timeZone);
  const first = (Math.floor(afterMs / MINUTE) + 1) * MINUTE;
  for (let hour = first - (first % HOUR); hour < first + FURTHEST_MS; hour += HOUR) {
    // A day may begin within it: there are zones that are half an hour off.
    if (!onItsDays(hour) && !onItsDays(hour + HOUR - MINUTE)) continue;
    for (let at = Math.max(hour, first); at < hour + HOUR; at += MINUTE) if (matches(at)) return at;
  }
  return first + FURTHEST_MS;
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

/** Day of the month, month, day of the week. */
const daysOf = (cron: string): string => cron.split(" ").slice(2).join(" ");

/** No clock on earth changes to or from summer time within the 48 hours around it. */
const A_PLAIN_DAY = Date.UTC(2026, 0, 15);

const count = (length: number, isMet: (at: number) => boolean): number =>
  Array.from({ length }, (_, at) => at).filter(isMet).length;

/**
 * When a flow is due. The due time is kept in the store, so a flow that became due while nothing ran runs once, at
 * once; the cron library only tells which minutes match.
 */
import { createTask } from "node-cron";
import { LONGEST_MONTH_MS, monthAt } from "../core/budget.ts";
import type { Schedule } from "./engine.ts";

const MINUTE = 60_000;
/** Minute by minute up to here, by the clock we are given; further off, the library's own look ahead will do. */
const LOOK_AHEAD_MINUTES = 26 * 60;

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
  const task = createTask(schedule.cron, () => {}, { timezone: schedule.timeZone });
  const first = (Math.floor(afterMs / MINUTE) + 1) * MINUTE;
  for (let minute = 0; minute < LOOK_AHEAD_MINUTES; minute++) {
    const at = first + minute * MINUTE;
    if (task.match(new Date(at))) return at;
  }
  return task.getNextRun()?.getTime() ?? first + LOOK_AHEAD_MINUTES * MINUTE;
}

/** How often a schedule comes round in 31 days that begin with this instant's month, UTC. */
export function runsPerMonth(schedule: Schedule, atMs: number): number {
  if ("everyMs" in schedule) return Math.ceil(LONGEST_MONTH_MS / schedule.everyMs);
  const { cron, timeZone } = schedule;
  const [minutes, hours, ...days] = cron.split(" ");
  const onSomeDay = createTask(`${minutes} ${hours} * * *`, () => {}, { timezone: timeZone });
  const atAnyTime = createTask(`* * ${days.join(" ")}`, () => {}, { timezone: timeZone });
  const { startMs } = monthAt(atMs);
  const aDay = count(1_440, (minute) => onSomeDay.match(new Date(A_PLAIN_DAY + minute * MINUTE)));
  return (
    aDay * count(31, (day) => atAnyTime.match(new Date(startMs + (day * 24 + 12) * 60 * MINUTE)))
  );
}

/** No clock on earth changes to or from summer time within the 48 hours around it. */
const A_PLAIN_DAY = Date.UTC(2026, 0, 15);

const count = (length: number, isMet: (at: number) => boolean): number =>
  Array.from({ length }, (_, at) => at).filter(isMet).length;

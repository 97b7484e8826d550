/**
 * When a flow is due. The due time is kept in the store, so a flow that became due while nothing ran runs once, at
 * once; the cron library only tells which minutes match.
 */
import { createTask } from "node-cron";
import type { Schedule } from "./engine.ts";

const MINUTE = 60_000;
/** Minute by minute up to here, by the clock we are given; further off, the library's own look ahead will do. */
const LOOK_AHEAD_MINUTES = 26 * 60;

/** The first due time after `afterMs` (ms UTC). A local time that the change to summer time skips does not occur. */
export function nextDue(schedule: Schedule, afterMs: number): number {
  if ("everyMs" in schedule) return afterMs + schedule.everyMs;
  const task = createTask(schedule.cron, () => {}, { timezone: schedule.timeZone });
  const first = (Math.floor(afterMs / MINUTE) + 1) * MINUTE;
  for (let minute = 0; minute < LOOK_AHEAD_MINUTES; minute++) {
    const at = first + minute * MINUTE;
    if (task.match(new Date(at))) return at;
  }
  return task.getNextRun()?.getTime() ?? first + LOOK_AHEAD_MINUTES * MINUTE;
}

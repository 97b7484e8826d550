/** What a flow's row of the store says of it: its state, its last error, its schedule. */
import { PAUSED, WAITS_FOR_BUDGET } from "../core/budget.ts";
import { placeOf, toldOf } from "../core/silence.ts";
import type { Flow, Schedule } from "../engine/engine.ts";
import type { FlowRow } from "../store/flows.ts";
import type { Store } from "../store/store.ts";
import type { FlowStatus } from "./office.ts";

export function stateAfter(row: FlowRow | null): FlowStatus["state"] {
  const error = lastErrorOf(row);
  if (error === null) return "idle";
  return error.code === WAITS_FOR_BUDGET ? PAUSED : "stopped";
}

export function lastErrorOf(row: FlowRow | null): FlowStatus["lastError"] {
  if (row === null || row.last_error === null) return null;
  const { last_error_code: code, last_error: message, last_error_next: next } = row;
  return { code: code ?? "unavailable", message, next: next ?? "" };
}

export function scheduleText(schedule: Schedule): string {
  if ("cron" in schedule) return `${schedule.cron} (${schedule.timeZone})`;
  const seconds = schedule.everyMs / 1_000;
  return seconds % 60 === 0 ? `every ${seconds / 60}m` : `every ${seconds}s`;
}

/** Null: it is not silent, or paused. */
export function silenceOf(store: Store, { flow, source, paused }: Flow): FlowStatus["silence"] {
  const silence = paused ? null : store.rhythms.silence(flow);
  if (silence === null) return null;
  const { sinceMs, longestMs, limitMs } = silence;
  return {
    since: new Date(sinceMs).toISOString(),
    longestMs,
    limitMs,
    ...toldOf(silence, placeOf(source)),
  };
}

/** What the month's requests went to, how long they last, and how much slower the platform is polled for it. */
import {
  type Budget,
  forecast,
  leftFor,
  monthAt,
  type Need,
  purposes,
  reserveOf,
  type Spent,
  stretchOf,
  usedOf,
} from "../core/budget.ts";
import type { Engine, Flow } from "../engine/engine.ts";
import { runsPerMonth } from "../engine/schedule.ts";
import type { MonthStatus } from "./office.ts";

export interface MonthParts {
  /** Requests of a month (`2026-11`), of all that share the key. */
  readonly spent: (month: string) => Spent;
  readonly clock: Engine["clock"];
  readonly flows: readonly Flow[];
  readonly budget: Budget;
  /** The last minute; null when nothing is sent from this process. */
  readonly minute: () => MonthStatus["minute"];
}

export interface MonthReport {
  status(): MonthStatus;
  /** The factor of core/budget.ts for intervals of polls, now. */
  stretch(): number;
}

export function monthReport({
  spent: spentIn,
  clock,
  flows,
  budget,
  minute,
}: MonthParts): MonthReport {
  let need: Need | null = null;
  const stretch = (): number => {
    const now = clock.now().wallMs;
    need ??= needOf(flows, now);
    return stretchOf(need, leftFor(budget, spentIn(monthAt(now).name), "poll"), now);
  };
  return {
    stretch,
    status() {
      const now = clock.now().wallMs;
      const month = monthAt(now).name;
      const spent = spentIn(month);
      const used = usedOf(spent);
      return {
        month,
        used,
        perMonth: budget.perMonth,
        purposes: [...purposes, "lost" as const].map((purpose) => ({
          purpose,
          used: spent[purpose] ?? 0,
          reserve: purpose === "lost" ? 0 : reserveOf(budget, purpose),
          left: purpose === "lost" ? 0 : leftFor(budget, spent, purpose),
        })),
        forecast: forecast(budget.perMonth, used, now),
        stretch: stretch(),
        minute: minute(),
      };
    },
  };
}

/** What the schedules of flows that read from the platform cost in a month of 31 days: a request for each look. */
export function needOf(
  flows: readonly Pick<Flow, "side" | "schedule" | "paused">[],
  atMs: number,
): Need {
  let interval = 0;
  let calendar = 0;
  for (const { side, schedule, paused } of flows) {
    if (paused || side !== "platform") continue;
    const runs = runsPerMonth(schedule, atMs);
    if ("cron" in schedule) calendar += runs;
    else interval += runs;
  }
  return { interval, calendar };
}

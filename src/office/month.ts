/** What the month's requests went to, how long they last, and how much slower the platform is polled for it. */
import {
  type Backlog,
  type Budget,
  type DaySpent,
  forecast,
  type Forecast,
  leftFor,
  monthAt,
  type Need,
  purposes,
  reserveOf,
  type Spent,
  usedOf,
} from "../core/budget.ts";
import {
  type HourOf,
  hoursBetween,
  learned,
  nextLookIn,
  type OfficeHours,
  type Paces,
  pacesOf,
  type Rates,
  weightsOf,
} from "../core/pace.ts";
import type { Engine, Flow, Pace, Schedule } from "../engine/engine.ts";
import { runsPerMonth } from "../engine/schedule.ts";

interface MonthParts {
  /** Requests of a month (`2026-11`), of all that share the key. */
  readonly spent: (month: string) => Spent;
  /** The same by day, of this store. */
  readonly spentByDay: (month: string) => readonly DaySpent[];
  readonly clock: Engine["clock"];
  readonly flows: readonly Flow[];
  readonly budget: Budget;
  /** How many pages the last complete reading of a flow came to; null: there was none. */
  readonly pages: (flow: string) => number | null;
  /** For flows with `every: auto`: what was seen of each, kept in the store, and the hours of the site. Left out: there are none. */
  readonly auto?: {
    readonly rates: { of(flow: string): Rates; keep(flow: number, rates: Rates): void };
    readonly hourOf: HourOf;
    /** Null: none are named. */
    readonly office: OfficeHours | null;
  };
  /** The last minute; null when nothing is sent from this process. */
  readonly minute: () => Minute | null;
  /** How many documents of a flow wait to be sent. Left out: none. */
  readonly waiting?: (flow: Flow) => number;
  /** Requests of a month of 31 nights for feeds that are read anew. Left out: none. */
  readonly deep?: () => number;
}

/** `opensInMs`: how long nothing is sent because the minute is used up. */
interface Minute {
  readonly used: number;
  readonly limit: number;
  readonly opensInMs: number;
}

export type MonthReport = ReturnType<typeof monthReport>;

/** A flow that reads from the platform. */
export interface Polled {
  readonly name: string;
  /** How often its schedule comes round in a month of 31 days. */
  readonly runs: number;
  /** At times of the calendar, which people chose: it is never slowed. */
  readonly isCalendar: boolean;
  /** It uses what is left of the month (`every: auto`); `runs`: at least. */
  readonly isAuto: boolean;
  /** Requests of each run, where it reads all of a list each time; null: a run costs one request and what is new. */
  readonly pages: number | null;
}

export function monthReport(parts: MonthParts) {
  const { spent: spentIn, clock, flows, budget } = parts;
  let runs: readonly Polled[] | null = null;
  const polled = (atMs: number): Polled[] => {
    runs ??= polledOf(flows, atMs);
    const whole = new Set(flows.filter(({ source }) => source.whole).map(({ name }) => name));
    return runs.map((one) => ({
      ...one,
      pages: whole.has(one.name) ? Math.max(parts.pages(one.name) ?? 1, 1) : null,
    }));
  };
  const outlook = (): Forecast => {
    const atMs = clock.now().wallMs;
    const spent = spentIn(monthAt(atMs).name);
    const need = needOf(polled(atMs), budget);
    const calendar = need.calendar + (parts.deep?.() ?? 0);
    const backlog = backlogOf(flows, parts.waiting ?? (() => 0), spent);
    return forecast({ budget, need: { ...need, calendar }, spent, atMs, backlog });
  };
  /** Found anew each hour, and when the flow that is asked for has none. */
  let found: { hour: number; paces: Paces } = { hour: -1, paces: new Map() };
  function pacesAt(atMs: number, name: string, auto: NonNullable<MonthParts["auto"]>): Paces {
    const hour = Math.floor(atMs / HOUR_MS);
    if (found.hour === hour && found.paces.has(name)) return found.paces;
    const looked = new Map(polled(atMs).map((one) => [one.name, one.pages ?? 1]));
    const feeds = flows.flatMap(({ name, schedule }) => {
      const perLook = looked.get(name);
      if (perLook === undefined || !("auto" in schedule)) return [];
      return [{ name, rates: auto.rates.of(name), perLook, ...boundsOf(schedule) }];
    });
    const hours = hoursBetween(atMs, monthAt(atMs).endMs, auto.hourOf);
    const left = { hours, weights: weightsOf(auto.office) };
    found = { hour, paces: pacesOf(feeds, outlook().forAuto ?? 0, left) };
    return found.paces;
  }
  const pace: Pace = {
    intervalMs({ name, schedule }, changed) {
      if ("cron" in schedule) return undefined;
      const atMs = clock.now().wallMs;
      const { auto } = parts;
      if (auto === undefined || schedule.auto === undefined) {
        const one = polled(atMs).find((flow) => flow.name === name);
        const times = outlook().stretch * (one === undefined ? 1 : slowing(one, budget));
        return Math.round(schedule.everyMs * times);
      }
      const { hourOf } = auto;
      const paces = pacesAt(atMs, name, auto);
      return nextLookIn(paces, { name, ...schedule.auto }, { atMs, hourOf, changed });
    },
    looked({ flow, name, schedule }, look) {
      const { auto } = parts;
      if (auto !== undefined && "auto" in schedule)
        auto.rates.keep(flow, learned(auto.rates.of(name), look, auto.hourOf));
    },
  };
  return {
    ...pace,
    /** Requests of the calendar month (UTC), as this store has counted them: all that were sent, billed or not. */
    status() {
      const now = clock.now().wallMs;
      const month = monthAt(now).name;
      const spent = spentIn(month);
      const { stretch } = outlook();
      return {
        month,
        used: usedOf(spent),
        perMonth: budget.perMonth,
        purposes: [...purposes, "lost" as const].map((purpose) => ({
          purpose,
          used: spent[purpose] ?? 0,
          /** What nobody else may use. */
          reserve: purpose === "lost" ? 0 : reserveOf(budget, purpose),
          left: purpose === "lost" ? 0 : leftFor(budget, spent, purpose),
        })),
        forecast: outlook(),
        /** The oldest first; what it has no day for is in `purposes` alone. */
        days: parts.spentByDay(month),
        /** Flows that read all of a list each time: what that costs, and how much seldomer than configured they are read. */
        lists: polled(now).flatMap((one) => {
          const { name: flow, pages } = one;
          return pages === null ? [] : [{ flow, pages, slowing: slowing(one, budget) }];
        }),
        /** What each flow that reads from the platform costs there, at least, in a month of 31 days. */
        polls: polled(now).map((one) => {
          const times = one.isCalendar ? 1 : slowing(one, budget) * stretch;
          const perMonth = Math.round(costOf(one) / times);
          return { flow: one.name, perLook: one.pages ?? 1, times, perMonth };
        }),
        /** Null when no daemon runs. */
        minute: parts.minute(),
      };
    },
  };
}

const HOUR_MS = 3_600_000;

const boundsOf = ({ everyMs, auto }: Extract<Schedule, { everyMs: number }>) => ({
  leastMs: auto?.leastMs ?? everyMs,
  mostMs: everyMs,
});

/** Fewer writes than this do not tell how often one is looked for. */
const TELLING_WRITES = 20;

/** What waits to be sent to the platform. A paused flow sends nothing. */
function backlogOf(flows: readonly Flow[], waiting: (flow: Flow) => number, spent: Spent): Backlog {
  const { write: written = 0, "read-back": found = 0 } = spent;
  const usual = written < TELLING_WRITES ? 0 : found / written;
  let [documents, writes, readBacks] = [0, 0, 0];
  for (const flow of flows) {
    if (flow.side === "platform" || flow.paused) continue;
    const { itemsMax, policy } = flow.sink;
    const count = waiting(flow);
    const requests = Math.ceil(count / itemsMax);
    documents += count;
    writes += requests;
    readBacks += Math.ceil(requests * Math.max(policy.preflight ? 1 : 0, usual));
  }
  return { documents, writes, readBacks };
}

/** Flows that read from the platform; `pages` is not known here. */
export function polledOf(
  flows: readonly Pick<Flow, "name" | "side" | "schedule" | "paused">[],
  atMs: number,
): Polled[] {
  return flows
    .filter(({ side, paused }) => side === "platform" && !paused)
    .map(({ name, schedule }) => ({
      name,
      runs: runsPerMonth(schedule, atMs),
      isCalendar: "cron" in schedule,
      isAuto: "auto" in schedule,
      pages: null,
    }));
}

/** Percent of the month that a list which is read whole each time may take. */
const WHOLE_SHARE = 10;

export const wholeShare = ({ perMonth }: Pick<Budget, "perMonth">): number =>
  Math.max((perMonth * WHOLE_SHARE) / 100, 1);

/** How much seldomer than configured a list is read that would take more than its share, at least 1. */
export function slowing(
  { runs, pages, isCalendar, isAuto }: Polled,
  budget: Pick<Budget, "perMonth">,
) {
  return pages === null || isCalendar || isAuto
    ? 1
    : Math.max((runs * pages) / wholeShare(budget), 1);
}

export const costOf = ({ runs, pages }: Polled): number => runs * (pages ?? 1);

/** What the schedules cost in a month of 31 days, lists at most their share. */
export function needOf(polled: readonly Polled[], budget: Pick<Budget, "perMonth">): Need {
  const sum = (those: readonly Polled[]): number =>
    those.reduce((total, one) => total + costOf(one) / slowing(one, budget), 0);
  return {
    interval: sum(polled.filter(({ isCalendar }) => !isCalendar)),
    calendar: sum(polled.filter(({ isCalendar }) => isCalendar)),
    auto: sum(polled.filter(({ isAuto }) => isAuto)),
  };
}

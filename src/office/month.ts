/** What the month's requests went to and bought, how long they last, and how much slower the platform is polled for it. */
import {
  type Backlog,
  type Budget,
  hasteAt,
  isForWrites,
  leftFor,
  monthAt,
  purposes,
  reserveOf,
  type Spent,
  usedOf,
} from "../core/budget.ts";
import { sumOf } from "../core/groups.ts";
import {
  costOf,
  type HourOf,
  hourOfWeekIn,
  learned,
  type Looks,
  nextLookIn,
  type OfficeHours,
  planMonth,
  type Rates,
  type Staleness,
  stalenessOf,
  waitsOfLength,
  workedIn,
} from "../core/pace.ts";
import { dayAt } from "../core/time.ts";
import type { Engine, Flow, Pace } from "../engine/engine.ts";
import { runsPerMonth } from "../engine/schedule.ts";
import type { Counted } from "../store/journal.ts";
import type { Store } from "../store/store.ts";

interface MonthParts {
  /** Requests of a month (`2026-11`), of all that share the key. */
  readonly spent: (month: string) => Spent;
  /** Keeps what was seen of each flow, and what its requests went to and bought. */
  readonly store: Pick<Store, "flows" | "journal">;
  readonly clock: Engine["clock"];
  readonly flows: readonly Flow[];
  readonly budget: Budget;
  /** The hours of the site; `office` null: none are named. Left out: those of UTC. */
  readonly hours?: { readonly hourOf: HourOf; readonly office: OfficeHours | null };
  /** Of what all that share the key may use, what this site may, 0 to 1. Left out: all of it. */
  readonly share?: () => number;
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

const UTC = { hourOf: hourOfWeekIn("UTC"), office: null };

export function monthReport(parts: MonthParts) {
  const { spent: spentIn, store, clock, budget, hours = UTC } = parts;
  const worked = workedIn(hours.office);
  function plan(atMs: number) {
    const spent = spentIn(monthAt(atMs).name);
    // What attaches files, replies, or asks a hub, reads nothing from the platform by itself.
    const flows = parts.flows.filter(
      ({ attachesTo, repliesTo, source }) => (attachesTo ?? repliesTo ?? source.via) === undefined,
    );
    const lists = new Set(flows.flatMap(({ name, source }) => (source.whole ? [name] : [])));
    const looks = looksOf(flows, atMs, {
      rates: store.flows.rates.of,
      pages: (name) => (lists.has(name) ? Math.max(store.flows.find(name)?.pages ?? 1, 1) : null),
    });
    const backlog = backlogOf(flows, parts.waiting ?? (() => 0), spent);
    const deep = parts.deep?.() ?? 0;
    const share = parts.share?.() ?? 1;
    return { looks, ...planMonth({ budget, spent, atMs, looks, backlog, deep, share, ...hours }) };
  }
  const pace: Pace = {
    intervalMs({ name, schedule }, after) {
      if ("cron" in schedule) return undefined;
      const atMs = clock.now().wallMs;
      const { everyMs, auto = { leastMs: everyMs } } = schedule;
      // A plain interval is as a person set it.
      const look = {
        atMs,
        hourOf: hours.hourOf,
        after: "auto" in schedule ? after : "nothing",
      } as const;
      return nextLookIn(plan(atMs).paces(), { name, ...auto }, look);
    },
    looked({ flow, name, schedule }, look) {
      if (!("auto" in schedule)) return;
      store.flows.rates.keep(flow, learned(store.flows.rates.of(name), look, hours.hourOf));
    },
    isWorked: (atMs) => worked[hours.hourOf(atMs)] === true,
  };
  return {
    ...pace,
    /** Requests of the calendar month (UTC), as this store has counted them: all that were sent, billed or not. */
    status() {
      const now = clock.now().wallMs;
      const month = monthAt(now).name;
      const spent = spentIn(month);
      const { looks, forecast, slowing } = plan(now);
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
        forecast,
        /** The oldest first; what it has no day for is in `purposes` alone. */
        days: store.journal.spentByDay(month),
        /** Flows that read all of a list each time: what that costs, and how much seldomer than configured they are read. */
        lists: looks.flatMap((one) => {
          const { name: flow, pages } = one;
          return pages === null ? [] : [{ flow, pages, slowing: slowing(one) }];
        }),
        /**
         * What each flow that reads from the platform costs there, at least, in a month of 31 days. `rates`: what was seen of
         * one with `every: auto`, else null.
         */
        polls: looks.map((one) => {
          const times = one.everyMs === null ? 1 : slowing(one) * forecast.stretch;
          const perMonth = Math.round(costOf(one) / times);
          const rates = one.auto?.rates ?? null;
          return { flow: one.name, perLook: one.pages ?? 1, times, perMonth, rates };
        }),
        /** What each flow's requests bought, and how fresh that left it. */
        bought: boughtIn(store, parts.flows, month),
        /** Looks are so far ahead of the month that they go slowly, or soon will. Null: they are not. */
        slowed: slowedIn(parts, spent, now),
        /** Null when no daemon runs. */
        minute: parts.minute(),
      };
    },
  };
}

/** It is told before it comes to that. */
const NEARLY = 0.9;

/** `by`: what the most of today's looks were for (UTC); null: nobody knows. */
function slowedIn({ store, budget, share, flows }: MonthParts, spent: Spent, nowMs: number) {
  const haste = store.journal.haste();
  const known = { budget, spent, haste, share: share?.() ?? 1 };
  const { requests, most } = hasteAt(known, nowMs);
  if (requests < most * NEARLY) return null;
  const [by = null] = [...store.journal.spentByFlow(dayAt(nowMs))]
    .flatMap(([flow, used]) =>
      purposes.flatMap((purpose) => {
        const name = flows.find((one) => one.flow === flow)?.name ?? null;
        return isForWrites(purpose) ? [] : [{ flow: name, purpose, requests: used[purpose] ?? 0 }];
      }),
    )
    .sort((one, other) => other.requests - one.requests);
  return { requests: Math.round(requests), most: Math.floor(most), by };
}

/**
 * What the requests of each flow bought that has asked or brought anything in the month, and how long its changes of documents
 * had waited, from the platform's own time of each on. Null: nothing has come since the first reading.
 */
function boughtIn({ journal }: MonthParts["store"], flows: readonly Flow[], month: string) {
  const spent = journal.spentByFlow(month);
  const waits = Map.groupBy(journal.waits(month), ({ flow }) => flow);
  return flows.flatMap(({ flow, name }) => {
    const requests = spent.get(flow) ?? {};
    const own = Map.groupBy(waits.get(flow) ?? [], ({ step }) => step);
    const { stored = [], delivered = [] } = Object.fromEntries(own);
    if (usedOf(requests) + stored.length + delivered.length === 0) return [];
    return [
      {
        flow: name,
        requests,
        stored: changesIn(stored),
        delivered: changesIn(delivered),
        untilStored: measured(stored),
        untilDelivered: measured(delivered),
      },
    ];
  });
}

const changesIn = (counted: readonly Counted[]): number => sumOf(counted.map(({ count }) => count));

/** `office`: of changes in office hours; null: there were none, or no hours are named. */
function measured(counted: readonly Counted[]) {
  const known = counted.filter(({ length }) => length > 0);
  const all = staleIn(known);
  const office = staleIn(known.filter(({ worked }) => worked === 1));
  return all === null ? null : { ...all, changes: changesIn(known), office };
}

const staleIn = (counted: readonly Counted[]): Staleness | null =>
  stalenessOf(counted.map(({ length, count }) => waitsOfLength(length, count)));

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

/** Flows that read from the platform. `pages`: of a list that is read whole, else null. */
export function looksOf(
  flows: readonly Pick<Flow, "name" | "side" | "schedule" | "paused">[],
  atMs: number,
  seen: { rates(flow: string): Rates; pages(flow: string): number | null },
): Looks[] {
  return flows
    .filter(({ side, paused }) => side === "platform" && !paused)
    .map(({ name, schedule }) => ({
      name,
      runs: runsPerMonth(schedule, atMs),
      pages: seen.pages(name),
      everyMs: "cron" in schedule ? null : schedule.everyMs,
      auto:
        "cron" in schedule || schedule.auto === undefined
          ? null
          : { ...schedule.auto, rates: seen.rates(name) },
    }));
}

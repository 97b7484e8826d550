/**
 * `npm run sim:pace -- --months 12 --seed S`: a distributor's year as the platform sees it, and who looks at it when. The
 * pace of `every: auto` learns as it goes; beside it stand equal intervals of the same cost, and an oracle that knows
 * every hour's rate beforehand. Prints how long changes wait (minutes); exits with 1 where a promise is not kept.
 */
import { parseArgs } from "node:util";
import { monthAt } from "../../src/core/budget.ts";
import {
  type Feed,
  type HourOf,
  hourOfWeekIn,
  hoursBetween,
  learned,
  nextLookIn,
  nothingSeen,
  pacesOf,
  weightsOf,
} from "../../src/core/pace.ts";
import { Random } from "../../src/sandbox/scenes/random.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const ZONE = "America/Chicago";
/** As the site names them. */
const HOLIDAYS = `2026-01-01 2026-05-25 2026-07-03 2026-09-07 2026-11-26 2026-12-25`.split(" ");
const OFFICE = { days: [0, 1, 2, 3, 4], from: 7 * 60, to: 18 * 60 };

/**
 * Changes on a plain working day, and what share of them comes at night or on a weekend; `batch`: how many come together;
 * `own`: what part of them the site writes itself.
 */
const FEEDS = [
  { name: "orders", aDay: 60, off: 0.15, batch: 1, own: 0 },
  { name: "tickets", aDay: 80, off: 0.3, batch: 1, own: 0.2 },
  { name: "invoices", aDay: 60, off: 0.05, batch: 6, own: 0.5 },
  { name: "bills", aDay: 15, off: 0.1, batch: 3, own: 0 },
  { name: "payments", aDay: 30, off: 0.05, batch: 2, own: 0 },
  { name: "payments made", aDay: 8, off: 0.05, batch: 2, own: 0 },
] as const;

const BUDGET = 50_000;
/** Polls may have so much of it. */
const SHARE = 0.6;
const LEAST = 15_000;
const MOST = HOUR;

type Name = (typeof FEEDS)[number]["name"];

interface Waits {
  /** Minutes from a change to the look that finds it, of those that fall into office hours. */
  readonly office: readonly number[];
  readonly all: readonly number[];
  /** Of those that the site wrote itself. */
  readonly own: readonly number[];
  /** Requests of each month. */
  readonly requests: readonly number[];
}

/** The rate of a feed, changes an hour: nights, weekends, holidays, the end of a month, slow Fridays. */
function rateAt({ aDay, off }: (typeof FEEDS)[number], atMs: number): number {
  const hour = plainHourOf(atMs);
  const [day, ofDay] = [Math.floor(hour / 24), hour % 24];
  const isWork = isOffice(atMs);
  const isMonthEnd = monthAt(atMs + 2 * DAY).name !== monthAt(atMs).name;
  const shape = isWork ? 0.6 + 0.8 * Math.sin(((ofDay - 6) / 13) * Math.PI) : 1;
  const inWork = (aDay * (1 - off)) / 11;
  const outside = (aDay * off) / 13;
  return (
    (isWork ? inWork : day === 6 ? outside / 3 : outside) *
    shape *
    (isMonthEnd ? 2.5 : 1) *
    (day === 4 ? 0.8 : 1)
  );
}

/** Its clocks are set by whole hours: each hour is asked for once. */
const perHour = (hourOf: HourOf): HourOf => {
  const known = new Map<number, number>();
  return (atMs) => {
    const hour = Math.floor(atMs / HOUR);
    const found = known.get(hour) ?? hourOf(atMs);
    known.set(hour, found);
    return found;
  };
};

const plainHourOf = perHour(hourOfWeekIn(ZONE));
const workHourOf = perHour(hourOfWeekIn(ZONE, HOLIDAYS));

/** When each feed changes, ms UTC in order. What people do together comes within ten minutes. */
function changesOf(feed: (typeof FEEDS)[number], from: number, to: number, random: Random) {
  const found: number[] = [];
  for (let atMs = from; atMs < to;) {
    const rate = rateAt(feed, atMs) / feed.batch;
    const gap = (-Math.log(1 - random.next()) / rate) * HOUR;
    // The rate holds for this hour only.
    const endMs = (Math.floor(atMs / HOUR) + 1) * HOUR;
    if (atMs + gap >= endMs) {
      atMs = endMs;
      continue;
    }
    atMs += gap;
    const count = feed.batch === 1 ? 1 : random.int(1, feed.batch * 2 - 1);
    for (let at = 0; at < count; at++) found.push(atMs + random.next() * 10 * MINUTE);
  }
  return found.sort((one, other) => one - other);
}

const isOffice = (atMs: number): boolean => {
  const hour = workHourOf(atMs);
  const ofDay = hour % 24;
  return hour < 5 * 24 && ofDay >= OFFICE.from / 60 && ofDay < OFFICE.to / 60;
};

/** Did the site write the feed's change of this number itself? */
const isOwn = ({ own }: (typeof FEEDS)[number], change: number): boolean =>
  (change * 0.618) % 1 < own;

/** Looks at the changes of one feed, and keeps how long each had waited. */
class Watcher {
  readonly #feed: (typeof FEEDS)[number];
  readonly #changes: readonly number[];
  #at = 0;
  readonly office: number[] = [];
  readonly all: number[] = [];
  readonly own: number[] = [];

  constructor(feed: (typeof FEEDS)[number], changes: readonly number[]) {
    this.#feed = feed;
    this.#changes = changes;
  }

  /** How many changes it found that others made, and that the site wrote. */
  look(atMs: number): { others: number; own: number } {
    const [before, ownBefore] = [this.#at, this.own.length];
    for (; (this.#changes[this.#at] ?? Infinity) <= atMs; this.#at++) {
      const change = this.#changes[this.#at] as number;
      const waited = (atMs - change) / MINUTE;
      this.all.push(waited);
      if (isOffice(change)) this.office.push(waited);
      if (isOwn(this.#feed, this.#at)) this.own.push(waited);
    }
    const own = this.own.length - ownBefore;
    return { others: this.#at - before - own, own };
  }
}

export function simulate(months: number, seed: number) {
  const from = Date.UTC(2026, 0, 1);
  const to = Date.UTC(2026, months, 1);
  const random = new Random(seed);
  const changes = new Map<Name, number[]>(
    FEEDS.map((feed) => [feed.name, changesOf(feed, from, to, random)]),
  );
  const spentAuto = autoPace(changes, from, to, true);
  return {
    auto: spentAuto,
    /** Without looks that come sooner after own writes. */
    plain: autoPace(changes, from, to, false),
    fixed: fixedPace(changes, from, to, spentAuto.requests),
    oracle: oraclePace(changes, from, to, spentAuto.requests),
  };
}

function watching(changes: ReadonlyMap<Name, readonly number[]>) {
  const watchers = FEEDS.map((feed) => new Watcher(feed, changes.get(feed.name) ?? []));
  const gathered = (requests: readonly number[]): Waits => ({
    office: watchers.flatMap(({ office }) => office),
    all: watchers.flatMap(({ all }) => all),
    own: watchers.flatMap(({ own }) => own),
    requests,
  });
  return { watchers, gathered };
}

function autoPace(
  changes: ReadonlyMap<Name, readonly number[]>,
  from: number,
  to: number,
  soonerAfterWrites: boolean,
): Waits {
  const writes = FEEDS.flatMap((feed, nth) =>
    (changes.get(feed.name) ?? [])
      .filter((_, change) => soonerAfterWrites && isOwn(feed, change))
      .map((atMs) => ({ atMs, nth })),
  ).sort((one, other) => other.atMs - one.atMs);
  const { watchers, gathered } = watching(changes);
  const weights = weightsOf(OFFICE);
  const feeds: Feed[] = FEEDS.map(({ name }) => ({
    name,
    rates: nothingSeen,
    perLook: 1,
    leastMs: LEAST,
    mostMs: MOST,
  }));
  const due = feeds.map((_, at) => from + at * 1_000);
  const last = [...due];
  const requests: number[] = [];
  let [month, spent, knownHour] = ["", 0, -1];
  let paces = pacesOf([], 1, { hours: [], weights });
  for (;;) {
    const at = due.indexOf(Math.min(...due));
    const nowMs = due[at] as number;
    const write = writes.at(-1);
    if (write !== undefined && write.atMs < nowMs) {
      const { nth, atMs } = write;
      const within = (after: "write" | "change"): number =>
        nextLookIn(paces, feeds[nth] as Feed, { atMs, hourOf: workHourOf, after });
      const soonMs = Math.max(atMs + within("write"), (last[nth] as number) + within("change"));
      due[nth] = Math.min(due[nth] as number, soonMs);
      writes.pop();
      continue;
    }
    if (nowMs >= to) break;
    const { name, endMs } = monthAt(nowMs);
    if (name !== month) {
      if (month !== "") requests.push(spent);
      [month, spent] = [name, 0];
    }
    if (spent >= BUDGET * SHARE) {
      due.fill(endMs);
      continue;
    }
    spent++;
    const { others, own } = (watchers[at] as Watcher).look(nowMs);
    const changed = soonerAfterWrites ? others : others + own;
    const feed = feeds[at] as Feed;
    const seen = { fromMs: last[at] as number, toMs: nowMs, changes: changed };
    feeds[at] = { ...feed, rates: learned(feed.rates, seen, workHourOf) };
    last[at] = nowMs;
    const hour = Math.floor(nowMs / HOUR);
    if (hour !== knownHour) {
      const hours = hoursBetween(nowMs, endMs, workHourOf);
      paces = pacesOf(feeds, BUDGET * SHARE - spent, { hours, weights });
      knownHour = hour;
    }
    const after = changed > 0 ? "change" : "nothing";
    const wait = { atMs: nowMs, hourOf: workHourOf, after } as const;
    due[at] = nowMs + nextLookIn(paces, feed, wait);
  }
  return gathered([...requests, spent]);
}

/** All feeds alike, day and night: so many looks a month. */
function fixedPace(
  changes: ReadonlyMap<Name, readonly number[]>,
  from: number,
  to: number,
  perMonth: readonly number[],
): Waits {
  const { watchers, gathered } = watching(changes);
  let at = 0;
  for (let startMs = from; startMs < to; startMs = monthAt(startMs).endMs, at++) {
    const { endMs } = monthAt(startMs);
    const looks = Math.floor((perMonth[at] as number) / FEEDS.length);
    for (const [nth, watcher] of watchers.entries())
      for (let look = 0; look < looks; look++)
        watcher.look(startMs + ((look + nth / FEEDS.length) * (endMs - startMs)) / looks);
  }
  for (const watcher of watchers) watcher.look(to);
  return gathered(perMonth);
}

/** Knows every hour's rate of every feed, the end of the month too, and spends the same. */
function oraclePace(
  changes: ReadonlyMap<Name, readonly number[]>,
  from: number,
  to: number,
  perMonth: readonly number[],
): Waits {
  const { watchers, gathered } = watching(changes);
  const weights = weightsOf(OFFICE);
  let month = 0;
  for (let startMs = from; startMs < to; startMs = monthAt(startMs).endMs, month++) {
    const { endMs } = monthAt(startMs);
    const hours = Array.from({ length: (endMs - startMs) / HOUR }, (_, at) => startMs + at * HOUR);
    const roots = FEEDS.map((feed) =>
      hours.map((atMs) =>
        Math.sqrt(1 / (rateAt(feed, atMs) * (weights[workHourOf(atMs)] as number))),
      ),
    );
    const limit = (ms: number): number => Math.min(Math.max(ms, LEAST), MOST);
    let [low, high] = [1, 1e12];
    for (let step = 0; step < 60; step++) {
      const factor = Math.sqrt(low * high);
      const cost = roots.flat().reduce((sum, root) => sum + HOUR / limit(root * factor), 0);
      if (cost > (perMonth[month] as number)) low = factor;
      else high = factor;
    }
    for (const [nth, watcher] of watchers.entries()) {
      let part = 0;
      for (const [at, hour] of hours.entries()) {
        const ms = limit((roots[nth]?.[at] ?? 0) * high);
        let within = (1 - part) * ms;
        for (; within < HOUR; within += ms) watcher.look(hour + within);
        part = 1 - (within - HOUR) / ms;
      }
    }
  }
  for (const watcher of watchers) watcher.look(to);
  return gathered(perMonth);
}

export const mean = (values: readonly number[]): number =>
  values.reduce((sum, one) => sum + one, 0) / Math.max(values.length, 1);

export const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length * share)] ?? 0;

if (import.meta.main) {
  const { values } = parseArgs({
    options: { months: { type: "string", default: "12" }, seed: { type: "string", default: "1" } },
  });
  const waits = simulate(Number(values.months), Number(values.seed));
  const { auto, fixed, oracle } = waits;
  for (const [name, { office, all, own, requests }] of Object.entries(waits))
    process.stdout.write(
      `${name}: office hours mean ${mean(office).toFixed(2)}, 95th ${percentile(office, 0.95).toFixed(2)}; ` +
        `all hours mean ${mean(all).toFixed(2)}, 95th ${percentile(all, 0.95).toFixed(2)} min; own writes mean ${mean(own).toFixed(2)} min; ` +
        `requests a month at most ${Math.max(...requests)}\n`,
    );
  const [toFixed, toOracle] = [fixed, oracle].map(
    (other) => mean(auto.office) / mean(other.office),
  );
  process.stdout.write(
    `office hours: ${toFixed?.toFixed(3)} of equal intervals, ${toOracle?.toFixed(3)} of the oracle\n`,
  );
  const isKept =
    (toFixed ?? 1) <= 0.6 &&
    (toOracle ?? 2) <= 1.15 &&
    percentile(auto.office, 0.95) < 5 &&
    Math.max(...auto.requests) <= BUDGET * SHARE;
  process.exitCode = isKept ? 0 : 1;
}

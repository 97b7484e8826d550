/**
 * A flow may bring nothing although its source can be read: an export failed, a feed is empty, and nothing says so. When a
 * silence is worth telling: after what an operator set, else when it is longer than it ever was, at this hour of the week
 * or at all.
 */
import { HOURS_OF_A_WEEK } from "./pace.ts";
import { HOUR_MS, DAY_MS } from "./time.ts";

/** What is known of the arrivals of a flow. All in ms, instants since 1970 UTC. */
interface Rhythm {
  readonly arrivals: number;
  /** The first arrival; while there was none, the first look. */
  readonly firstMs: number;
  /** The last arrival; while there was none, the first look. */
  readonly lastMs: number;
  /** The longest time between two arrivals. */
  readonly longestMs: number;
  /** The longest that a silence had lasted at this hour of the week; null: none is known. */
  readonly atThisHourMs: number | null;
}

/** A silence that is told. */
export interface Silence extends Pick<Rhythm, "arrivals" | "longestMs"> {
  readonly sinceMs: number;
  /** It is told after so long. */
  readonly limitMs: number;
  /** An operator set it; false: it was learned. */
  readonly isSet: boolean;
}

/** The same as people are told of it. */
export interface Quiet {
  /** When something came last; ISO 8601 UTC. */
  readonly since: string;
  /** The longest time between two arrivals before, ms. */
  readonly longestMs: number;
  /** It is told after so many ms. */
  readonly limitMs: number;
  readonly message: string;
  readonly next: string;
}

/** Fewer arrivals, or all of them within fewer days, do not show nights and weekends yet. */
const LEARNED_ARRIVALS = 10;
const LEARNED_DAYS = 14;
/** Each hour of the week must have come round often enough. */
const HOURS_LEARNED_DAYS = 28;
const HOURS_LEARNED_ARRIVALS = 100;
const AT_AN_HOUR_MS_MIN = 4 * HOUR_MS;

/**
 * After how many ms a silence is told: `setMs`, else a quarter more than the longest so far and at least a day. A flow that
 * is known for four weeks and brought something often is told sooner: after twice what it was ever silent for at this hour
 * of the week, and at least four hours. Null: nothing is set, and too little is known.
 */
export function limitOf(rhythm: Rhythm, setMs: number | null): number | null {
  if (setMs !== null) return setMs;
  const { arrivals, firstMs, lastMs, longestMs, atThisHourMs } = rhythm;
  const days = (lastMs - firstMs) / DAY_MS;
  if (arrivals < LEARNED_ARRIVALS || days < LEARNED_DAYS) return null;
  const ever = Math.max(Math.ceil(longestMs * 1.25), DAY_MS);
  const areHoursKnown = arrivals >= HOURS_LEARNED_ARRIVALS && days >= HOURS_LEARNED_DAYS;
  if (atThisHourMs === null || !areHoursKnown) return ever;
  return Math.min(ever, Math.max(atThisHourMs * 2, AT_AN_HOUR_MS_MIN));
}

const hourOfWeek = (ms: number): number => Math.floor(ms / HOUR_MS) % HOURS_OF_A_WEEK;

/**
 * The hours of the week, UTC, 0 to 167, whose silences are compared with one at `ms`: its own, and one before and after,
 * because summer time moves it by one.
 */
export const hoursAround = (ms: number): readonly number[] =>
  [-1, 0, 1].map((by) => hourOfWeek(ms + by * HOUR_MS));

/** How long a silence from `fromMs` to `toMs` had lasted at the end of each hour of the week that it touched. */
export function lastedByHour(
  fromMs: number,
  toMs: number,
): readonly (readonly [hour: number, ms: number])[] {
  const last = Math.floor(toMs / HOUR_MS);
  const first = Math.max(Math.floor(fromMs / HOUR_MS), last - HOURS_OF_A_WEEK + 1);
  return Array.from({ length: last - first + 1 }, (_, at) => {
    const endMs = Math.min((first + at + 1) * HOUR_MS, toMs);
    return [(first + at) % HOURS_OF_A_WEEK, endMs - fromMs] as const;
  });
}

/** What is silent: a folder that things come into by themselves, or a list that is read. */
type Place = "folder" | "list";

export const placeOf = ({ silenceMs }: { readonly silenceMs?: number | null }): Place =>
  silenceMs === undefined ? "list" : "folder";

/** The silence in words, and what a person should do. */
export function toldOf(
  silence: Silence,
  place: Place,
): { readonly message: string; readonly next: string } {
  const { arrivals, sinceMs, longestMs, limitMs, isSet } = silence;
  const since = new Date(sinceMs).toISOString();
  const before =
    arrivals < 2
      ? arrivals === 0
        ? "Nothing ever came"
        : "Only one arrival is known"
      : `The longest time between two of the ${arrivals} arrivals before was ${spanText(longestMs)}`;
  const why = isSet
    ? `; the limit that is set is ${spanText(limitMs)}`
    : limitMs < longestMs
      ? `, but at this hour of the week it is usually less than ${spanText(limitMs)}`
      : "";
  return {
    message: `Nothing came since ${since}. ${before}${why}.`,
    next: NEXT[place],
  };
}

const NEXT: Readonly<Record<Place, string>> = {
  folder:
    "Look whether the program that exports still runs, and whether it writes into this folder under these names. If it is meant to be quiet, set or raise `silence` of this source.",
  list: "Look on the side that it reads whether anything was entered or changed since. If it is meant to be quiet, set or raise `silence` of this flow.",
};

/** Hours up to three days, then days. */
function spanText(ms: number): string {
  const hours = Math.round(ms / HOUR_MS);
  if (hours < 1) return "less than an hour";
  if (hours <= 72) return `${hours} ${hours === 1 ? "hour" : "hours"}`;
  return `${Math.round(ms / DAY_MS)} days`;
}

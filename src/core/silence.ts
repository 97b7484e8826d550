/**
 * A place that things arrive in by themselves (a folder that an ERP exports into) may fall silent: the export failed, and
 * nothing says so. When a silence is worth telling: after what an operator set, else when it is longer than it ever was.
 */

/** What is known of the arrivals of a flow. All in ms, instants since 1970 UTC. */
export interface Rhythm {
  readonly arrivals: number;
  /** The first arrival; while there was none, the first look. */
  readonly firstMs: number;
  /** The last arrival; while there was none, the first look. */
  readonly lastMs: number;
  /** The longest time between two arrivals. */
  readonly longestMs: number;
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

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Fewer arrivals, or all of them within fewer days, do not show nights and weekends yet. */
const LEARNED_ARRIVALS = 10;
const LEARNED_DAYS = 14;

/**
 * After how many ms a silence is told: `setMs`, else a quarter more than the longest so far and at least a day. Null:
 * nothing is set, and too little is known.
 */
export function limitOf(rhythm: Rhythm, setMs: number | null): number | null {
  if (setMs !== null) return setMs;
  const { arrivals, firstMs, lastMs, longestMs } = rhythm;
  if (arrivals < LEARNED_ARRIVALS || lastMs - firstMs < LEARNED_DAYS * DAY_MS) return null;
  return Math.max(Math.ceil(longestMs * 1.25), DAY_MS);
}

/** The silence in words, and what a person should do. */
export function toldOf(silence: Silence): { readonly message: string; readonly next: string } {
  const { arrivals, sinceMs, longestMs, limitMs, isSet } = silence;
  const since = new Date(sinceMs).toISOString();
  const before =
    arrivals < 2
      ? arrivals === 0
        ? "Nothing ever came"
        : "Only one arrival is known"
      : `The longest time between two of the ${arrivals} arrivals before was ${spanText(longestMs)}`;
  const why = isSet ? `; the limit that is set is ${spanText(limitMs)}` : "";
  return {
    message: `Nothing came since ${since}. ${before}${why}.`,
    next: "Look whether the program that exports still runs, and whether it writes into this folder under these names. If it is meant to be quiet, set or raise `silence` of this source.",
  };
}

/** Hours up to three days, then days. */
function spanText(ms: number): string {
  const hours = Math.round(ms / HOUR_MS);
  if (hours < 1) return "less than an hour";
  if (hours <= 72) return `${hours} ${hours === 1 ? "hour" : "hours"}`;
  return `${Math.round(ms / DAY_MS)} days`;
}

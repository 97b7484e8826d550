/**
 * One line on a terminal that says how far long work is, from two seconds on. It has no colours, and it is taken away
 * before anything else is written there. On a pipe, or a terminal that cannot draw, nothing is shown.
 */
import type { Progress } from "../engine/engine.ts";

/** How much of some work is done. */
export interface Stand {
  /** In a few words: `customers: reading`. A change of it begins the rate and the time left anew. */
  readonly what: string;
  /** How many of `unit` are done; null: not counted. */
  readonly count: number | null;
  /** In the plural: `rows`. */
  readonly unit: string;
  /** Of the whole, 0 to 1; null: nobody knows. */
  readonly share: number | null;
}

export interface ProgressLine {
  /** Cheap to call often: `stand` is asked at most twice a second. After a quiet time new work begins. */
  readonly show: (stand: () => Stand) => void;
  /** Takes the line away, until the next one is shown. */
  readonly clear: () => void;
}

export type Screen = Pick<NodeJS.WriteStream, "isTTY" | "columns" | "write">;

const FIRST_MS = 2_000;
const REDRAW_MS = 500;
/** No work is shown that nobody has told anything of for so long. */
const QUIET_MS = 10_000;

/** `nowMs`: of a clock that never goes back. */
export function openProgress(
  screen: Screen,
  nowMs = (): number => performance.now(),
): ProgressLine {
  if (!screen.isTTY || process.env["TERM"] === "dumb") return { show() {}, clear() {} };
  let startedMs = -Infinity;
  let askedMs = -Infinity;
  let quiet: NodeJS.Timeout | undefined;
  let isShown = false;
  let begin = { what: "", atMs: 0, count: 0, share: 0 };
  const clear = (): void => {
    clearTimeout(quiet);
    if (isShown) screen.write("\r\u001B[K");
    isShown = false;
  };
  return {
    show(stand) {
      const now = nowMs();
      if (now - askedMs < REDRAW_MS) return;
      if (now - askedMs > QUIET_MS) startedMs = now;
      askedMs = now;
      const { what, count, unit, share } = stand();
      if (what !== begin.what) begin = { what, atMs: now, count: count ?? 0, share: share ?? 0 };
      if (now - startedMs < FIRST_MS) return;
      const seconds = (now - begin.atMs) / 1_000;
      const line = [
        what,
        ...(count === null ? [] : [`${count.toLocaleString("en-US")} ${unit}`]),
        ...(share === null ? [] : [`${Math.floor(share * 100)} %`]),
        ...rateOf(count === null ? null : count - begin.count, seconds),
        ...timeLeft(share, begin.share, seconds),
      ].join(", ");
      // The last column stays free: some terminals go on in the next line when it is written to.
      clear();
      screen.write(line.slice(0, Math.max((screen.columns ?? 80) - 1, 1)));
      isShown = true;
      quiet = setTimeout(clear, QUIET_MS).unref();
    },
    clear,
  };
}

/** What is known after a second only. */
function rateOf(count: number | null, seconds: number): string[] {
  if (count === null || count <= 0 || seconds < 1) return [];
  return [`${Math.round(count / seconds).toLocaleString("en-US")}/s`];
}

function timeLeft(share: number | null, begun: number, seconds: number): string[] {
  if (share === null || share <= begun || share >= 1 || seconds < 1) return [];
  return [`${roughly((seconds * (1 - share)) / (share - begun))} left`];
}

function roughly(seconds: number): string {
  if (seconds < 100) return `${Math.ceil(seconds)} s`;
  return seconds < 6_000 ? `${Math.ceil(seconds / 60)} min` : `${Math.ceil(seconds / 3_600)} h`;
}

/** Progress of flows on a line. `documents`: how many of a flow are delivered or settled, and how many wait. */
export function flowProgress(
  line: ProgressLine,
  documents: (flow: string) => { readonly done: number; readonly left: number },
): (progress: Progress) => void {
  return ({ flow, step, count, share }) =>
    line.show(() => {
      if (step !== "delivering") return { what: `${flow}: ${step}`, count, unit: "rows", share };
      const { done, left } = documents(flow);
      const whole = done + left;
      return {
        what: `${flow}: delivering`,
        count: done,
        unit: "documents",
        share: whole === 0 ? null : done / whole,
      };
    });
}

/** Shows on a terminal how far long work of an office is, whoever does it. `stand`: null when there is nothing to tell. */
export async function watching<Result>(
  stand: () => Promise<Stand | null>,
  work: () => Promise<Result>,
): Promise<Result> {
  if (!process.stderr.isTTY) return work();
  const line = openProgress(process.stderr);
  let isOver = false;
  const show = async (): Promise<void> => {
    const now = await stand();
    if (!isOver && now !== null) line.show(() => now);
  };
  // What cannot be told just now is told a moment later; the work itself says what is wrong.
  const timer = setInterval(() => void show().catch(() => {}), 500);
  try {
    return await work();
  } finally {
    isOver = true;
    clearInterval(timer);
    line.clear();
  }
}

/**
 * What the platform can answer, and what each answer proves: its 25 names, and the outcome that the request machine knows
 * (core/outcome.ts). Which status and code has which name is in outcomes.ts. How long the platform holds a key is in
 * specification part 4: 60 seconds after a failure (W5), a day after a timeout.
 */
import type { Fault } from "../core/record.ts";
import type { Answer, Breaker } from "../core/outcome.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
/** When the platform tells us to slow down and does not say for how long. */
const SLOW_DOWN_MS = 5_000;

export const answerRules = {
  done: { outcome: "done" },
  /** An earlier send of the same key did it. */
  replayed: { outcome: "done", repeated: true },
  deleted: { outcome: "done" },
  /** A success that cannot be read. */
  unreadable: { outcome: "unknown", probe: true },
  invalid: { outcome: "refused" },
  "key-missing": { outcome: "nothing", stop: "protocol" },
  unauthorised: { outcome: "nothing", stop: "credentials" },
  forbidden: { outcome: "nothing", stop: "scope" },
  "not-found": { outcome: "refused" },
  /** What was to be deleted is not there. */
  "already-gone": { outcome: "done" },
  /** The key was used for other bytes. */
  "key-conflict": { outcome: "unknown", person: "now", stop: "split-brain" },
  /** An earlier send of the same key is being carried out. */
  "in-flight": { outcome: "unknown", probe: true, running: true },
  /** An earlier send of the same key failed, and the platform holds the key; `waitMs` says for how long. */
  "outcome-unknown": { outcome: "unknown", holdMs: MINUTE },
  /** A conflict of a kind that we do not know. */
  conflict: { outcome: "unknown", person: "unless-found" },
  retired: { outcome: "nothing", stop: "version" },
  undecided: { outcome: "unknown", probe: true },
  unsupported: { outcome: "refused", stop: "configuration" },
  "slow-down": { outcome: "nothing", waitMs: SLOW_DOWN_MS },
  "month-spent": { outcome: "nothing", stop: "quota" },
  failed: { outcome: "unknown", holdMs: MINUTE },
  "timed-out": { outcome: "unknown", holdMs: DAY },
  /** A redirect that may follow a write. */
  "moved-maybe-done": { outcome: "unknown", stop: "configuration" },
  moved: { outcome: "nothing", stop: "configuration" },
  /** No byte left this machine. */
  "not-sent": { outcome: "nothing" },
  /** The connection ended before an answer came. */
  torn: { outcome: "unknown", probe: true, unanswered: true },
} as const satisfies Record<string, Omit<Answer, "detail">>;

export type AnswerName = keyof typeof answerRules;

/** What the platform answered to a write. Only `name` decides; the rest goes with it. */
export interface PlatformAnswer {
  readonly name: AnswerName;
  /** `409 IDEMPOTENCY_IN_FLIGHT: <its message>` */
  readonly detail: string;
  /** With `done`, `replayed` and `deleted`. */
  readonly ids?: readonly (string | null)[];
  readonly unfinished?: Fault;
  /** With `invalid`, `not-found` and `unsupported`. */
  readonly fault?: Fault;
  readonly waitMs?: number;
  readonly requestId?: string;
}

/** What to do about a stop, where it is the platform that answered. */
export const platformAdvice: Readonly<Partial<Record<Breaker, string>>> = {
  credentials: "Check platform.apiKey in the configuration; it is tried again every 5 minutes.",
  scope:
    "Ask the platform's administrator for the missing scope or IP entry; tried again every 15 minutes.",
  version:
    "The platform has this version of its API switched off; if it is more than an announced test, update fuelbridge.",
  quota:
    "The month's requests are used up; work goes on by itself when the platform allows it. Once the cap was raised: `fuelbridge release quota`.",
  configuration:
    "Check platform.url in the configuration: the answer does not come from the platform's API.",
};

/** The same in the words of the request machine. */
export function outcomeOf({ name, ...told }: PlatformAnswer): Answer {
  const rule: Omit<Answer, "detail"> = answerRules[name];
  const next = rule.stop === undefined ? undefined : platformAdvice[rule.stop];
  const answer: Answer = { ...rule, ...(next === undefined ? {} : { next }), ...told };
  const { waitMs } = told;
  return name !== "outcome-unknown" || waitMs === undefined
    ? answer
    : { ...answer, holdMs: waitMs };
}

/** Of a write: did it take place? */
export const executed = (name: AnswerName): "yes" | "no" | "unknown" =>
  EXECUTED[answerRules[name].outcome];

const EXECUTED = { done: "yes", refused: "no", nothing: "no", unknown: "unknown" } as const;

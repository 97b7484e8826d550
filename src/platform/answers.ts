/**
 * What the platform can answer, and what each answer proves: its 26 names, and the outcome that the request machine knows
 * (core/outcome.ts). How long the platform holds a key is in
 * specification part 4: 60 seconds after a failure (W5), a day after a timeout.
 */
import { PAUSED, WAITS_FOR_BUDGET, WAITS_FOR_TURN } from "../core/budget.ts";
import { defined } from "../core/defined.ts";
import { SourceUnavailable } from "../core/errors.ts";
import { parsedJson } from "../core/json.ts";
import type { Answer, Breaker } from "../core/outcome.ts";
import type { Fault } from "../core/record.ts";
import type { Exchange, PlatformRequest } from "./client.ts";
import type { OperationId } from "./contract/operations.ts";

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
  /** The same, and every site that has the document uses this key for it. */
  taken: { outcome: "nothing", taken: true },
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
const platformAdvice: Readonly<Partial<Record<Breaker, string>>> = {
  credentials: "Check platform.apiKey in the configuration.",
  scope: "Ask the platform's administrator for the missing scope or IP entry.",
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

/* What an exchange with the platform means. The only file that interprets HTTP statuses and error codes. */

/** The parts of an error envelope that decide anything (specification part 7). */
interface Failure {
  readonly code: string;
  readonly message: string;
  readonly kind: string;
  readonly details: unknown;
  readonly waitMs: number | undefined;
}

type HttpAnswer = Extract<Exchange, { kind: "answer" }>;

/** Of a write. `read` takes the receiver's ids out of the answer's data; null when they are not there. */
export function answerOf(
  exchange: Exchange,
  read: (data: unknown) => readonly (string | null)[] | null,
  now: Date,
  method: PlatformRequest["method"] = "POST",
): PlatformAnswer {
  if (exchange.kind === "held") {
    const { detail, waitMs } = exchange;
    return { name: heldName(exchange), detail, waitMs };
  }
  if (exchange.kind !== "answer") return { name: exchange.kind, detail: exchange.detail };
  const { status, headers } = exchange;
  const extra = defined({ requestId: headers["x-request-id"] });
  if (status >= 200 && status < 300) return { ...successOf(exchange, read, method), ...extra };
  const failure = failureOf(exchange, now);
  // What is not there needs no deleting.
  const isGone = isAbsent(exchange) && method === "DELETE";
  const name = isGone ? "already-gone" : nameOf(status, failure);
  return {
    name,
    detail: `${status} ${failure.code || "(no code)"}${failure.message ? `: ${failure.message}` : ""}`,
    ...defined({ waitMs: failure.waitMs }),
    ...(isGone ? { ids: read(undefined) ?? [] } : {}),
    ...(name === "invalid" || name === "not-found" || name === "unsupported"
      ? { fault: faultOf(status, failure) }
      : {}),
    ...extra,
  };
}

/**
 * What waits for its turn among others, or passes within the platform's window, is no matter of the month: a stop would hold
 * up reads as well, and for as long.
 */
const heldName = ({ turn, waitMs }: Extract<Exchange, { kind: "held" }>): AnswerName =>
  turn === true || waitMs <= MINUTE_MS ? "slow-down" : "month-spent";

/** Only the statuses that part 4 names say that it is done: a 202 may name a job, and a 204 names no record. */
function successOf(
  { status, headers, text }: HttpAnswer,
  read: (data: unknown) => readonly (string | null)[] | null,
  method: PlatformRequest["method"],
): PlatformAnswer {
  const detail = `${status}`;
  if (status === 204 && method === "DELETE")
    return { name: "deleted", detail, ids: read(undefined) ?? [] };
  const body = parsedJson(text) as { success?: unknown; data?: unknown } | null;
  const isDone = (status === 200 || status === 201) && body?.success === true;
  const ids = isDone ? read(body.data) : null;
  if (ids === null)
    return { name: "unreadable", detail: `${status}, but the answer cannot be read` };
  const replayed = headers["idempotency-replayed"] === "true";
  return replayed
    ? { name: "replayed", detail: `${status}, replayed`, ids }
    : { name: "done", detail, ids };
}

/** 409 has many meanings: the code decides, never the status alone. */
function nameOf(status: number, { code, kind }: Failure): AnswerName {
  if (status === 400) return code === "IDEMPOTENCY_KEY_REQUIRED" ? "key-missing" : "invalid";
  if (status === 409) return CONFLICTS[code] ?? "conflict";
  if (status === 429) return isMonthly(code, kind) ? "month-spent" : "slow-down";
  const other = status >= 500 ? "failed" : status >= 400 ? "unsupported" : "moved-maybe-done";
  return STATUSES[status] ?? other;
}

/** Those whose code says no more. */
const STATUSES: Readonly<Record<number, AnswerName>> = {
  307: "moved",
  308: "moved",
  401: "unauthorised",
  403: "forbidden",
  404: "not-found",
  408: "undecided",
  410: "retired",
  425: "undecided",
  504: "timed-out",
};

const isMonthly = (code: string, kind: string): boolean =>
  code === "MONTHLY_CAP_EXCEEDED" || kind === "quota";

const MINUTE_MS = 61_000;

const CONFLICTS: Readonly<Record<string, AnswerName>> = {
  IDEMPOTENCY_KEY_CONFLICT: "key-conflict",
  IDEMPOTENCY_IN_FLIGHT: "in-flight",
  IDEMPOTENCY_OUTCOME_UNKNOWN: "outcome-unknown",
};

function faultOf(status: number, { code, message, details }: Failure): Fault {
  const field = fieldOf(details);
  return {
    code: `platform-${code.toLowerCase().replaceAll("_", "-") || status}`,
    message: `the platform refused it: ${message || status}${details === undefined ? "" : ` (${JSON.stringify(details).slice(0, 500)})`}`,
    next: "Correct the document in the ERP, or the mapping, then retry.",
    ...(field === null ? {} : { field }),
  };
}

/** The contents of `details` are not specified; a field name is taken where one is plainly there. */
function fieldOf(details: unknown): string | null {
  const text = JSON.stringify(details ?? null);
  const match = /"(?:field|path)":\s*(?:"([^"]{1,100})"|\[([^\]]{1,100})\])/.exec(text);
  return match?.[1] ?? match?.[2]?.replaceAll('"', "").replaceAll(",", ".") ?? null;
}

/** A page or record that was read. @throws SourceUnavailable for everything else */
export function bodyOf(exchange: Exchange, what: string, now: Date): HttpAnswer {
  if (exchange.kind === "held")
    throw new SourceUnavailable(`${PAUSED}: ${what} was not read: ${exchange.detail}`, {
      code: exchange.turn ? WAITS_FOR_TURN : WAITS_FOR_BUDGET,
      next: "It goes on by itself; see `fuelbridge budget status`.",
      waitMs: exchange.waitMs,
    });
  if (exchange.kind !== "answer")
    throw new SourceUnavailable(`${what} could not be read: ${exchange.detail}`, {
      next: "Check the network and the platform's address; it is tried again by itself.",
    });
  if (exchange.status === 200) return exchange;
  const failure = failureOf(exchange, now);
  const name = nameOf(exchange.status, failure);
  const stop = STOPS[name];
  throw new SourceUnavailable(
    `${what} could not be read: ${[exchange.status, failure.code, failure.message].filter(Boolean).join(" ")}`,
    {
      next: (stop && platformAdvice[stop]) ?? "It is tried again by itself.",
      ...defined({ waitMs: failure.waitMs, stop }),
    },
  );
}

const STOPS: Partial<Record<AnswerName, Breaker>> = {
  unauthorised: "credentials",
  forbidden: "scope",
  retired: "version",
  "month-spent": "quota",
  moved: "configuration",
  "moved-maybe-done": "configuration",
};

/** The platform has no such record, or shows us none (rule V1). A 404 without a code is of something in between, and says nothing. */
export const isAbsent = (exchange: Exchange): boolean =>
  exchange.kind === "answer" && exchange.status === 404 && codeIn(exchange.text) !== "";

const codeIn = (text: string): string =>
  textOf(objectOf(objectOf(parsedJson(text))["error"])["code"]);

/** Worth another try within the same run: nothing was wrong with the question. */
export function isPassing(exchange: Exchange): boolean {
  if (exchange.kind === "answer") return exchange.status >= 500 || exchange.status === 429;
  return exchange.kind !== "held";
}

export function waitOf(exchange: Exchange, now: Date): number | undefined {
  return exchange.kind === "answer" ? failureOf(exchange, now).waitMs : undefined;
}

export function isQuota(exchange: Exchange, now: Date): boolean {
  return (
    exchange.kind === "answer" &&
    exchange.status === 429 &&
    nameOf(429, failureOf(exchange, now)) === "month-spent"
  );
}

function failureOf({ status, text, headers }: HttpAnswer, ourNow: Date): Failure {
  // Times it names are by its own clock.
  const theirs = new Date(headers["date"] ?? Number.NaN);
  const now = Number.isNaN(theirs.getTime()) ? ourNow : theirs;
  const body = objectOf(parsedJson(text));
  const error = objectOf(body["error"]);
  const { message, details } = error;
  const [code, kind] = [textOf(error["code"]), textOf(error["kind"] ?? body["kind"])];
  // Where `resetAt` stands is not specified (part 7), so it is looked for in all three.
  const waits = [body, error, objectOf(details)].flatMap(({ retryAfterSec, resetAt }) => [
    seconds(retryAfterSec),
    untilReset(resetAt, now),
  ]);
  const after = headers["retry-after"];
  waits.push(seconds(after) ?? untilReset(after, now));
  // The head speaks of the minute, whatever the refusal is about.
  if (status === 429 && !isMonthly(code, kind)) waits.push(seconds(headers["ratelimit-reset"]));
  const known = waits.filter((wait) => wait !== undefined);
  // A reset that is over by our clock: theirs differs, and nobody asks every second.
  if (known.length > 0 && isMonthly(code, kind)) known.push(MONTH_WAIT_MIN_MS);
  const words = textOf(message) || (code === "" ? wordsIn(text) : "");
  // Without its query, which may carry a session.
  const to = headers["location"]?.split(/[?#]/, 1)[0];
  const told = [words, to === undefined ? "" : `sends on to ${to}`];
  return {
    code,
    message: told.filter(Boolean).join(", ").slice(0, 500),
    kind,
    details,
    waitMs: known.length === 0 ? undefined : Math.min(Math.max(...known), WAIT_MAX_MS),
  };
}

/** Of an answer that is no error envelope: what it says, without the tags of a page. */
const wordsIn = (text: string): string =>
  text
    .slice(0, 4_000)
    .replaceAll(/<(style|script|title)\b.*?<\/\1\s*>|<[^>]*>/gis, " ")
    .replaceAll(/[\s\p{C}]+/gu, " ")
    .trim()
    .slice(0, WORDS_MAX);
const WORDS_MAX = 200;

const MONTH_WAIT_MIN_MS = 60_000;
/** Longer waits than this are not believed. */
const WAIT_MAX_MS = 32 * 86_400_000;

/** Whole seconds, as a number or as digits. */
function seconds(value: unknown): number | undefined {
  const number = typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value;
  return typeof number === "number" && number >= 0 ? number * 1_000 : undefined;
}

/** A date-time, or seconds or milliseconds since 1970: its type is not specified. */
function untilReset(value: unknown, now: Date): number | undefined {
  const at = typeof value === "string" && DATE.test(value) ? Date.parse(value) : value;
  if (typeof at !== "number" || Number.isNaN(at)) return undefined;
  return Math.max((at < 1e11 ? at * 1_000 : at) - now.getTime(), 0);
}

/** `Date.parse` takes nearly everything for a date. */
const DATE = /^\d{4}-\d{2}-\d{2}T| GMT$/;

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

/* What a call of the typed client can fail with. Errors of the endpoint's flows are those of core. */

interface Parts {
  readonly kind: AnswerName;
  readonly message: string;
  readonly status?: number;
  readonly code?: string;
  readonly details?: unknown;
  readonly waitMs?: number | undefined;
  readonly requestId?: string | undefined;
  readonly cause?: unknown;
}

/** One request that did not succeed. Nothing was tried again: `kind` and `executed` say whether that may be done. */
export class PlatformError extends Error {
  readonly operation: OperationId;
  /**
   * What happened, in the words of answers.ts. `not-sent` and `torn` had no answer, `unreadable` had one that is
   * not in the contract; `slow-down` passes within a minute, `month-spent` with the month.
   */
  readonly kind: AnswerName;
  /** Of HTTP; null without an answer, and for a request that was refused on this side (`invalid`). */
  readonly status: number | null;
  /** Of the error envelope (specification part 7), or one that it has gained since; empty where there is none. */
  readonly code: string;
  /** Of the error envelope; its contents are not specified. On this side: `{issues: [{path, message}]}`. */
  readonly details: unknown;
  /** How long the platform said to wait, milliseconds; null when it did not. */
  readonly waitMs: number | null;
  /** The platform's own id of the exchange, for its support. */
  readonly requestId: string | null;

  constructor(operation: OperationId, parts: Parts) {
    super(`${operation}: ${parts.message}`, { cause: parts.cause });
    this.name = "PlatformError";
    this.operation = operation;
    this.kind = parts.kind;
    this.status = parts.status ?? null;
    this.code = parts.code ?? "";
    this.details = parts.details ?? null;
    this.waitMs = parts.waitMs ?? null;
    this.requestId = parts.requestId ?? null;
  }

  /** Of a write: did it take place? After `unknown` only the same body under the same key is safe. */
  get executed(): "yes" | "no" | "unknown" {
    return executed(this.kind);
  }
}

/** The error of an exchange that is no success of its operation. */
export function errorOf(operation: OperationId, exchange: Exchange, now: Date): PlatformError {
  if (exchange.kind === "held") {
    const { detail: message, waitMs } = exchange;
    return new PlatformError(operation, { kind: heldName(exchange), message, waitMs });
  }
  if (exchange.kind !== "answer")
    return new PlatformError(operation, { kind: exchange.kind, message: exchange.detail });
  const { status, headers } = exchange;
  const failure = failureOf(exchange, now);
  const { code, message, details, waitMs } = failure;
  return new PlatformError(operation, {
    kind: nameOf(status, failure),
    status,
    code,
    details,
    waitMs,
    message: [status, code, message].filter(Boolean).join(" "),
    requestId: headers["x-request-id"],
  });
}

/** The error of an answer that is not what the contract says. */
export const unreadable = (
  operation: OperationId,
  message: string,
  parts: Pick<Parts, "status" | "requestId" | "cause"> = {},
): PlatformError => new PlatformError(operation, { kind: "unreadable", message, ...parts });

/** The error of a request that the platform would refuse: it has not been sent. */
export const invalid = (
  operation: OperationId,
  issues: readonly { readonly path: string; readonly message: string }[],
): PlatformError =>
  new PlatformError(operation, {
    kind: "invalid",
    code: "VALIDATION_ERROR",
    message: issues.map(({ path, message }) => `${path}: ${message}`).join("; "),
    details: { issues },
  });

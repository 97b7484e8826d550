/** What an exchange with the platform means. The only file that interprets HTTP statuses and error codes. */
import { PAUSED, WAITS_FOR_BUDGET } from "../core/budget.ts";
import { SourceUnavailable } from "../core/errors.ts";
import type { Breaker } from "../core/outcome.ts";
import { type AnswerName, platformAdvice, type PlatformAnswer } from "./answers.ts";
import type { Exchange, PlatformRequest } from "./client.ts";

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
    // What passes within the platform's window is no matter of the month.
    return { name: waitMs > MINUTE_MS ? "month-spent" : "slow-down", detail, waitMs };
  }
  if (exchange.kind !== "answer") return { name: exchange.kind, detail: exchange.detail };
  const { status, headers } = exchange;
  const requestId = headers["x-request-id"];
  const extra = requestId === undefined ? {} : { requestId };
  if (status >= 200 && status < 300) return { ...successOf(exchange, read), ...extra };
  const failure = failureOf(exchange, now);
  // What is not there needs no deleting.
  const isGone = status === 404 && method === "DELETE";
  const name = isGone ? "already-gone" : nameOf(status, failure);
  return {
    name,
    detail: `${status} ${failure.code || "(no code)"}${failure.message ? `: ${failure.message}` : ""}`,
    ...(failure.waitMs === undefined ? {} : { waitMs: failure.waitMs }),
    ...(name === "invalid" || name === "not-found" || name === "unsupported"
      ? { fault: faultOf(status, failure) }
      : {}),
    ...extra,
  };
}

function successOf(
  { status, headers, text }: HttpAnswer,
  read: (data: unknown) => readonly (string | null)[] | null,
): PlatformAnswer {
  const detail = `${status}`;
  if (status === 204) return { name: "deleted", detail, ids: [] };
  const body = parsed(text) as { success?: unknown; data?: unknown } | null;
  const ids = body?.success === true ? read(body.data) : null;
  if (ids === null)
    return { name: "unreadable", detail: `${status}, but the answer cannot be read` };
  const replayed = headers["idempotency-replayed"] === "true";
  return replayed
    ? { name: "replayed", detail: `${status}, replayed`, ids }
    : { name: "done", detail, ids };
}

/** 409 has many meanings: the code decides, never the status alone. */
function nameOf(status: number, { code, kind }: Failure): AnswerName {
  switch (status) {
    case 400:
      return code === "IDEMPOTENCY_KEY_REQUIRED" ? "key-missing" : "invalid";
    case 401:
      return "unauthorised";
    case 403:
      return "forbidden";
    case 404:
      return "not-found";
    case 408:
    case 425:
      return "undecided";
    case 409:
      return CONFLICTS[code] ?? "conflict";
    case 410:
      return "retired";
    case 429:
      return isMonthly(code, kind) ? "month-spent" : "slow-down";
    case 504:
      return "timed-out";
    case 307:
    case 308:
      return "moved";
    default:
  }
  if (status >= 500) return "failed";
  if (status >= 400) return "unsupported";
  return "moved-maybe-done";
}

const isMonthly = (code: string, kind: string): boolean =>
  code === "MONTHLY_CAP_EXCEEDED" || kind === "quota";

const MINUTE_MS = 61_000;

const CONFLICTS: Readonly<Record<string, AnswerName>> = {
  IDEMPOTENCY_KEY_CONFLICT: "key-conflict",
  IDEMPOTENCY_IN_FLIGHT: "in-flight",
  IDEMPOTENCY_OUTCOME_UNKNOWN: "outcome-unknown",
};

function faultOf(status: number, { code, message, details }: Failure) {
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

/** A refusal in its parts, for callers that decide themselves. `status` is no success. */
export function refusalOf(answer: HttpAnswer, now: Date): Failure & { readonly name: AnswerName } {
  const failure = failureOf(answer, now);
  return { ...failure, name: nameOf(answer.status, failure) };
}

/** A page or record that was read. @throws SourceUnavailable for everything else */
export function bodyOf(exchange: Exchange, what: string, now: Date): HttpAnswer {
  if (exchange.kind === "held")
    throw new SourceUnavailable(`${PAUSED}: ${what} was not read: ${exchange.detail}`, {
      code: WAITS_FOR_BUDGET,
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
    `${what} could not be read: ${exchange.status} ${failure.code} ${failure.message}`.trim(),
    {
      next: (stop && platformAdvice[stop]) ?? "It is tried again by itself.",
      ...(failure.waitMs === undefined ? {} : { waitMs: failure.waitMs }),
      ...(stop === undefined ? {} : { stop }),
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
  const body = objectOf(parsed(text));
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
  return {
    code,
    message: textOf(message).slice(0, 500),
    kind,
    details,
    waitMs: known.length === 0 ? undefined : Math.min(Math.max(...known), WAIT_MAX_MS),
  };
}

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

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

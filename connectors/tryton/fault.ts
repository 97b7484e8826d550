/** What a call of Tryton can fail with, by what it proves. */

export type FaultKind =
  /** UserError: a rule of the books said no. Nothing happened. */
  | "refused"
  /** UserWarning: it wants a yes, which is given by `warning`'s name. Nothing happened. */
  | "warning"
  /** ConcurrencyException: the record has changed since it was read. Nothing happened. */
  | "concurrency"
  /** Locked by somebody else (SQLite), or not serialisable (PostgreSQL). Nothing happened: the same call may be repeated. */
  | "busy"
  /** Wrong user or password, or the session ended twice. Nothing happened. */
  | "unauthorised"
  /** Too many failed logins: `waitMs` says how long no login should be tried. Nothing happened. */
  | "throttled"
  /** Tryton exposes no such method. Nothing happened. */
  | "forbidden"
  /** No such path: the database is gone, or the server became another release since the login. Nothing happened. */
  | "absent"
  /** No byte of the call left this machine, or there was no session to make it in. Nothing happened. */
  | "not-sent"
  /** It may have been carried out. */
  | "torn"
  /** Any other exception: rolled back, unless it came up while the answer was being written. */
  | "server";

export class TrytonFault extends Error {
  readonly kind: FaultKind;
  /** With `warning`: the name by which it is accepted. */
  readonly warning?: string;
  /** With `throttled`. */
  readonly waitMs?: number;

  constructor(
    kind: FaultKind,
    message: string,
    more: { readonly warning?: string; readonly waitMs?: number; readonly cause?: unknown } = {},
  ) {
    super(message, { cause: more.cause });
    this.name = "TrytonFault";
    this.kind = kind;
    if (more.warning !== undefined) this.warning = more.warning;
    if (more.waitMs !== undefined) this.waitMs = more.waitMs;
  }
}

/** Of an HTTP status that is not a success. */
export function faultOfStatus(method: string, status: number): TrytonFault {
  const what = `${method}: HTTP ${status}`;
  if (status === 401) return new TrytonFault("unauthorised", what);
  if (status === 403) return new TrytonFault("forbidden", what);
  if (status === 404 || status === 405) return new TrytonFault("absent", what);
  if (status === 429) return new TrytonFault("throttled", what, { waitMs: THROTTLED_MS });
  return new TrytonFault(status >= 500 ? "torn" : "server", what);
}

/** Of the `error` member of an answer: `[name, [message, description, …]]`, or `[text, ""]` for what has no name. */
export function faultOfError(method: string, error: unknown): TrytonFault {
  const [name, parts] = Array.isArray(error) ? (error as unknown[]) : [error];
  const words = (Array.isArray(parts) ? parts : [parts]) as unknown[];
  switch (name) {
    case "UserError":
      return new TrytonFault(
        RACED.test(String(words[0])) ? "concurrency" : "refused",
        sentence(method, words.slice(0, 2)),
      );
    case "UserWarning":
      return new TrytonFault("warning", sentence(method, words.slice(1, 3)), {
        warning: String(words[0]),
      });
    case "ConcurrencyException":
      return new TrytonFault("concurrency", sentence(method, words.slice(0, 1)));
    default:
      return new TrytonFault(
        unnamed(String(name)),
        sentence(method, [name === "LoginException" ? "the login asks for more" : name]),
      );
  }
}

/** A throttled login counts as another failed one: trying within Tryton's own window (300 s) would keep it closed. */
const THROTTLED_MS = 330_000;

function unnamed(text: string): FaultKind {
  if (BUSY.test(text)) return "busy";
  return UNCONNECTED.test(text) ? "not-sent" : "server";
}

const BUSY = /database is locked|could not serialize|could not obtain lock|deadlock detected/;
/** PostgreSQL took no connection, so there was no transaction; one that it closed may have been committed. */
const UNCONNECTED = /^(?:connection to server at|could not connect to server)/;
/** Two that post the first of a period and a journal at once: PostgreSQL lets one make what both need. */
const RACED = /only one journal per period/;
/** Of a domain that failed Tryton sends the whole, 25 kB and more. */
const SENTENCE_MAX = 400;

function sentence(method: string, words: readonly unknown[]): string {
  const text = words
    .filter((word) => typeof word === "string" && word.trim() !== "")
    .join(" ")
    .replaceAll(/\s+/g, " ");
  return `${method}: ${text.length > SENTENCE_MAX ? `${text.slice(0, SENTENCE_MAX)}…` : text}`;
}

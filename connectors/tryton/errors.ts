/** What a call of Tryton can fail with, by what it proves, and what that means. */
import { LedgerError } from "../../src/ledger/port.ts";
import { errorTable, unavailable as unavailableIn } from "../../src/ledger/errors.ts";
import { DATE_ORDER } from "./release.ts";
import { type SourceUnavailable } from "../../src/core/errors.ts";

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

export class TrytonError extends LedgerError {
  readonly kind: FaultKind;
  /** With `warning`: the name by which it is accepted. */
  readonly warning?: string;

  /** `waitMs`: with `throttled`, and with `busy` where it is known. */
  constructor(
    kind: FaultKind,
    message: string,
    more: { readonly warning?: string; readonly waitMs?: number; readonly cause?: unknown } = {},
  ) {
    const phase = kind === "not-sent" || kind === "torn" ? kind : "answered";
    super(phase, message, { code: kind, waitMs: more.waitMs, cause: more.cause });
    this.name = "TrytonError";
    this.kind = kind;
    if (more.warning !== undefined) this.warning = more.warning;
  }
}

/** Somebody else is at it: nothing of ours has happened, and it goes on after `waitMs`. */
export const busy = (message: string, waitMs: number): TrytonError =>
  new TrytonError("busy", message, { waitMs });

const NO_RIGHT = "Give the synchronisation's user the groups that the connector's README names.";
const WRITTEN = "Somebody else is writing; it goes on by itself.";

/** Tryton's sentences that people act on differently, in its English. */
const TEXTS = {
  closed:
    /create a period for the date|closed (?:journal-)?period|period of move .* is closed|reopen the (?:period|fiscal year) "/,
  // A right that the user lacks: every document would fail, so the endpoint stops instead.
  barred:
    /not allowed to (?:access|execute wizard) "|Calling button .* is not allowed|allowed to create records of/,
  dateOrder: DATE_ORDER,
};

/** By kind, and by those sentences. */
const errors = errorTable(
  {
    // A reader that may not read one model goes on with the others.
    "#refused@read data no-right": NO_RIGHT,
    "#refused~barred configuration:scope no-right": NO_RIGHT,
    "#refused~closed data closed-period":
      "An accountant opens the period in Tryton, or books the document by hand: it is never booked on another date. Then retry.",
    "#refused~dateOrder data date-order":
      "Tryton numbers in the order of dates and a later one has its number: let the platform number (numbering: platform), or book this one by hand, then retry.",
    "#refused data refused-by-tryton":
      "Correct in Tryton what it says, or the document where it comes from, then retry.",
    "#warning data needs-accountant":
      "Tryton asks for a person's yes: an accountant enters the document there by hand or removes the cause, then it is retried.",
    // Another writer had the lock, or the record.
    "#concurrency raced busy": WRITTEN,
    "#busy busy busy": WRITTEN,
    "#absent not-sent absent":
      "Correct url and database in the configuration, or start that database in Tryton.",
    "#throttled busy:credentials throttled":
      "Somebody tried wrong passwords; Tryton lets this user in again after a while.",
    "#unauthorised configuration:credentials unauthorised":
      "Correct user and password in the configuration, or the user in Tryton.",
    "#forbidden configuration:scope forbidden": NO_RIGHT,
  },
  TEXTS,
);

/** For the parts of src/ledger that tell people about these books and sort their errors. */
export const TRYTON = { name: "Tryton", errors } as const;

/** What a call that failed means for whoever wanted to read. @throws the error itself when it is none of Tryton's */
export const unavailable = (error: unknown): SourceUnavailable => unavailableIn(error, TRYTON);

/** The user has no company of this name, or several. Nothing happened. */
export class NoSuchCompany extends TrytonError {
  constructor(message: string) {
    super("not-sent", message);
  }
}

/** Of an HTTP status that is not a success. */
export function faultOfStatus(method: string, status: number): TrytonError {
  const what = `${method}: HTTP ${status}`;
  if (status === 401) return new TrytonError("unauthorised", what);
  if (status === 403) return new TrytonError("forbidden", what);
  if (status === 404 || status === 405) return new TrytonError("absent", what);
  if (status === 429) return new TrytonError("throttled", what, { waitMs: THROTTLED_MS });
  return new TrytonError(status >= 500 ? "torn" : "server", what);
}

/** Of the `error` member of an answer: `[name, [message, description, …]]`, or `[text, ""]` for what has no name. */
export function faultOfError(method: string, error: unknown): TrytonError {
  const [name, parts] = Array.isArray(error) ? (error as unknown[]) : [error];
  const words = (Array.isArray(parts) ? parts : [parts]) as unknown[];
  switch (name) {
    case "UserError":
      return new TrytonError(
        RACED.test(String(words[0])) ? "concurrency" : "refused",
        sentence(method, words.slice(0, 2)),
      );
    case "UserWarning":
      return new TrytonError("warning", sentence(method, words.slice(1, 3)), {
        warning: String(words[0]),
      });
    case "ConcurrencyException":
      return new TrytonError("concurrency", sentence(method, words.slice(0, 1)));
    default:
      return new TrytonError(
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

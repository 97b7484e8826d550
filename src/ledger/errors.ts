/**
 * What a fault of an ERP means. One table per ERP, the first row that matches counts; a write that no row knows is
 * unknown, and an unknown write is looked for before anything goes again.
 */
import { Refused, SourceUnavailable } from "../core/errors.ts";
import { isFaultCode } from "../core/faults.ts";
import type { Fault } from "../core/record.ts";
import {
  type Answer,
  type Finding,
  nothingDone,
  notRead,
  refused,
  unanswered,
  unknown,
} from "../core/outcome.ts";
import { type Books, type ErrorRow, type ErrorSort, LedgerError, type Verb } from "./port.ts";

/** What people read of an error after which the same bytes go again. */
export const TRIED_AGAIN = "It is tried again by itself.";

/**
 * `WHEN SORT CODE`. WHEN, of which all must match: `409` the status, `#stale|taken` the code, `~closed` the message by one of
 * the table's texts, `@read` the verb. SORT: an {@link ErrorSort}, and after a colon what stops (`configuration:scope`), or
 * how long to wait, ms (`busy:5000`).
 */
type ErrorKey = `${string} ${ErrorSort | `${ErrorSort}:${string}`} ${string}`;

/**
 * Rows in short: what an error means, and the next step of a person.
 * @param texts expressions for messages, where an ERP has no code for what it says
 * @throws TypeError for a key in another form
 */
export const errorTable = (
  rows: Readonly<Record<ErrorKey, string>>,
  texts: Readonly<Record<string, RegExp>> = {},
): ErrorRow[] =>
  Object.entries(rows).map(([key, next]): ErrorRow => {
    const [when = "", sort = "", code = ""] = key.split(" ");
    const parts = /^(\d*)(?:#([^~@]+))?(?:~(\w+))?(?:@(\w+))?$/.exec(when);
    const [, status, its, name, verb] = parts ?? [];
    const text = name === undefined ? undefined : texts[name];
    // One that matched less than it says would take errors for what they are not.
    if (parts === null || (name !== undefined && text === undefined) || !isFaultCode(code))
      throw new TypeError(`the row "${key}" of a table of errors cannot be read`);
    const [sortName, more = ""] = sort.split(":");
    const isWait = /^\d+$/.test(more);
    return {
      when: {
        ...(status ? { status: Number(status) } : {}),
        ...(its === undefined ? {} : { code: new RegExp(`^(?:${its})$`) }),
        ...(text === undefined ? {} : { text }),
        ...(verb === undefined ? {} : { verb: verb as Verb }),
      },
      sort: sortName as ErrorSort,
      code,
      next,
      ...(isWait ? { waitMs: Number(more) } : {}),
      ...(more === "" || isWait ? {} : { stop: more as NonNullable<ErrorRow["stop"]> }),
    };
  });

/** A fault with its row. */
export interface Sorted {
  readonly sort: ErrorSort;
  readonly row: ErrorRow | null;
  readonly error: LedgerError;
}

/** @throws the error itself when it is none of an ERP's */
export function sorted(error: unknown, verb: Verb, errors: readonly ErrorRow[]): Sorted {
  if (!(error instanceof LedgerError)) throw error;
  if (error.phase === "not-sent") return { sort: "not-sent", row: null, error };
  const row = error.phase === "torn" ? undefined : errors.find((one) => fits(one, error, verb));
  const isRead = verb === "locate" || verb === "read";
  // A read that failed proves nothing of the document and has done nothing.
  if (isRead && (row === undefined || row.sort === "data"))
    return { sort: "not-sent", row: row ?? null, error };
  return { sort: row?.sort ?? "unknown", row: row ?? null, error };
}

function fits({ when }: ErrorRow, { status, code, message }: LedgerError, verb: Verb): boolean {
  return (
    (when.status === undefined || when.status === status) &&
    (when.code === undefined || (code !== null && when.code.test(code))) &&
    (when.text === undefined || when.text.test(message)) &&
    (when.verb === undefined || when.verb === verb)
  );
}

const BUSY_MS = 5_000;
/** After several races in one send: a few such waits and it is a person's (core/request.ts). */
const RACED_MS = 45_000;
const SERVER_FAILED = 500;

/** An answer to this document that no row knows; a server that failed has said nothing of the document. */
const isRefusal = (row: ErrorRow | null, { status }: LedgerError): boolean =>
  row === null && (status === null || status < SERVER_FAILED);

/**
 * The answer of a send that ended with this fault.
 * @param wrote an earlier step of the same send took effect: then nothing may be told as if nothing had happened
 */
export function answerOf({ sort, row, error }: Sorted, wrote: boolean): Answer {
  const detail = error.message;
  if (sort === "unknown" && error.phase === "torn") return unanswered(detail);
  if (sort === "unknown") return uncertain(detail, isRefusal(row, error) ? { unlisted: true } : {});
  // Somebody was faster, again and again: a send has looked and planned anew after each, so it may never end.
  const endless = sort === "raced" ? ({ unlisted: true } as const) : {};
  if (wrote) return uncertain(`not all of it is done: ${detail}`, endless);
  switch (sort) {
    case "data":
      return refused(faultOf(row, detail));
    case "configuration":
      return nothingDone(detail, {
        stop: row?.stop ?? "credentials",
        ...(row === null ? {} : { next: row.next }),
      });
    case "raced":
      return nothingDone(detail, { waitMs: RACED_MS, ...endless });
    case "busy":
      return nothingDone(detail, { waitMs: waitMsOf(row, error) ?? BUSY_MS });
    case "not-sent":
      return nothingDone(detail);
  }
}

/** It was not all done, or did not say so: a read tells, and nothing goes again for a minute. */
export const uncertain = (detail: string, more: Pick<Answer, "each" | "unlisted"> = {}): Answer =>
  unknown(detail, { holdMs: 60_000, ...more });

/** In words for people: what the ERP said, and what its row says is to be done. */
export const faultOf = (row: ErrorRow | null, message: string): Fault => ({
  code: row?.code ?? "refused",
  message,
  next: row?.next ?? "Correct the document where it comes from, then retry.",
});

/** What a failed call means to whoever wanted to read. @throws the error itself when it is none of an ERP's */
export function unavailable(
  error: unknown,
  { name, errors, service }: Pick<Books, "name" | "errors" | "service">,
): SourceUnavailable {
  if (error instanceof Refused)
    return new SourceUnavailable(`${name} cannot be read: ${error.fault.message}`, {
      next: error.fault.next,
      cause: error,
    });
  const { row, error: cause } = sorted(error, "read", errors);
  const waitMs = waitMsOf(row, cause);
  const ofOurs =
    cause.phase === "not-sent"
      ? `Start ${name}, or correct its address`
      : `Read the log of ${name}, and look at the network`;
  const remedy =
    service === undefined
      ? ofOurs
      : `Look whether this machine reaches the internet, and what ${service} tells of disturbances`;
  return new SourceUnavailable(`${name} cannot be read: ${cause.message}`, {
    next: row?.next ?? `${remedy}; reading goes on by itself.`,
    cause,
    ...(row?.stop === undefined ? {} : { stop: row.stop }),
    ...(waitMs === null ? {} : { waitMs }),
  });
}

/** @throws SourceUnavailable, and what is none of an ERP's */
export async function reading<T>(
  books: Parameters<typeof unavailable>[1],
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw unavailable(error, books);
  }
}

/** What the ERP said counts before what its row says. */
const waitMsOf = (row: ErrorRow | null, error: LedgerError): number | null =>
  error.waitMs ?? row?.waitMs ?? null;

/* What an ERP did with a request, as an answer or a finding: nothing that it does is an exception to the engine. */

/** Runs a send. What cannot be known is said so. @throws what is neither Refused nor a fault of the ERP */
export async function answering(
  errors: readonly ErrorRow[],
  send: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await send();
  } catch (error) {
    if (error instanceof Refused) return refused(error.fault);
    return answerOf(sorted(error, "create", errors), false);
  }
}

/** Runs a read-back: one that could not be made proves nothing. @throws as {@link answering} */
export async function finding(
  errors: readonly ErrorRow[],
  look: () => Promise<Finding>,
): Promise<Finding> {
  try {
    return await look();
  } catch (error) {
    if (error instanceof Refused) return { found: "unreadable", detail: error.fault.message };
    const { row, error: cause } = sorted(error, "locate", errors);
    const { stop = null, next = "" } = row ?? {};
    return notRead(cause.message, { waitMs: waitMsOf(row, cause), stop, next });
  }
}

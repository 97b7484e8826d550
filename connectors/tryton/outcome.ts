/** What Tryton did with a document, as an answer or a finding of ours: nothing is an exception to the engine. */
import type { Fault } from "../../src/core/fault.ts";
import { Refused } from "../../src/core/errors.ts";
import type { Answer, Finding } from "../../src/core/outcome.ts";
import { TrytonFault } from "./fault.ts";
import { DATE_ORDER } from "./release.ts";

/** Runs a send. What cannot be known is said so: `torn`, `failed`. */
export async function answering(send: () => Promise<Answer>): Promise<Answer> {
  try {
    return await send();
  } catch (error) {
    if (error instanceof Refused)
      return { name: "invalid", detail: error.fault.message, fault: error.fault };
    if (error instanceof Waiting)
      return { name: "slow-down", detail: error.message, waitMs: error.waitMs };
    if (error instanceof TrytonFault) return answerOf(error);
    throw error;
  }
}

/** Runs a read-back: one that could not be made proves nothing. */
export async function finding(look: () => Promise<Finding>): Promise<Finding> {
  try {
    return await look();
  } catch (error) {
    if (!(error instanceof TrytonFault) && !(error instanceof Refused)) throw error;
    const waitMs = error instanceof TrytonFault ? error.waitMs : undefined;
    return {
      found: "unreadable",
      detail: error.message,
      ...(waitMs === undefined ? {} : { waitMs }),
    };
  }
}

/** Somebody else is at it: nothing of ours has happened, and it goes on later. */
export class Waiting extends Error {
  readonly waitMs: number;

  constructor(message: string, waitMs: number) {
    super(message);
    this.name = "Waiting";
    this.waitMs = waitMs;
  }
}

/** Did this call prove that it did nothing, for good? Then what was made for it can be taken back. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof Refused ||
  (error instanceof TrytonFault && (error.kind === "refused" || error.kind === "warning"));

/** Another writer had the lock, or the record: five seconds later it mostly has not. */
const BUSY_MS = 5_000;

function answerOf(fault: TrytonFault): Answer {
  const detail = fault.message;
  switch (fault.kind) {
    case "refused":
      return RIGHTS.test(detail)
        ? { name: "forbidden", detail }
        : { name: "invalid", detail, fault: refusalOf(detail) };
    case "warning":
      return { name: "invalid", detail, fault: { ...WARNED, message: detail } };
    case "concurrency":
    case "busy":
      return { name: "slow-down", detail, waitMs: BUSY_MS };
    case "throttled":
      return { name: "slow-down", detail, waitMs: fault.waitMs ?? BUSY_MS };
    case "absent":
      return { name: "not-sent", detail };
    case "unauthorised":
    case "forbidden":
    case "not-sent":
    case "torn":
      return { name: fault.kind, detail };
    case "server":
      return { name: "failed", detail };
  }
}

/** A right that the user lacks: every document would fail, so the endpoint stops instead. */
const RIGHTS =
  /not allowed to (?:access|execute wizard) "|Calling button .* is not allowed|allowed to create records of/;

/** Tryton's sentences that people act on differently, in its English. */
function refusalOf(sentence: string): Fault {
  const known = SENTENCES.find(({ words }) => words.test(sentence));
  const { code, next } = known ?? REFUSED;
  return { code, message: sentence, next };
}

const REFUSED = {
  code: "refused-by-tryton",
  next: "Correct in Tryton what it says, or the document where it comes from, then retry.",
};
const WARNED = {
  code: "needs-accountant",
  next: "Tryton asks for a person's yes: an accountant enters the document there by hand or removes the cause, then it is retried.",
};
const SENTENCES: readonly {
  readonly words: RegExp;
  readonly code: string;
  readonly next: string;
}[] = [
  {
    words: /create a period for the date|closed (?:journal-)?period|period of move .* is closed/,
    code: "closed-period",
    next: "An accountant opens the period in Tryton, or books the document by hand: it is never booked on another date. Then retry.",
  },
  {
    words: DATE_ORDER,
    code: "date-order",
    next: "Tryton numbers in the order of dates and a later one has its number: let the platform number (numbering: platform), or book this one by hand, then retry.",
  },
];

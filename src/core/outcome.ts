/**
 * What a receiver can answer, and what each answer proves. The 25 answers that arrive are named here; a crash and a
 * commit that fails (reliability 2.7, rows 26 and 27) are events of the request machine. Endpoints turn their
 * protocol into an {@link Answer}; only the request machine (request.ts) decides what follows from it.
 */
import type { Fault } from "./fault.ts";

export interface Answer {
  readonly name: AnswerName;
  /** For the log and for people: `409 IDEMPOTENCY_IN_FLIGHT`, `ECONNRESET after the request was written`. */
  readonly detail: string;
  /** With `done` and `replayed`: the receiver's id of each item, in their order; null where it gives none. */
  readonly ids?: readonly (string | null)[];
  /** With `ids`, of each item: see {@link Waits}. */
  readonly waits?: Waits;
  /** What `detail` says of each item, in their order, for the story of one document. Left out: nothing of each. */
  readonly each?: readonly string[];
  /** With a refusal: why, in words for people. */
  readonly fault?: Fault;
  /** With `done` and `replayed`: it is there, and a person has to do the rest there. */
  readonly unfinished?: Fault;
  /** We were told to wait this long. */
  readonly waitMs?: number;
  /** The receiver's own id of the exchange, for its support. */
  readonly requestId?: string;
}

/**
 * Until when each item, in their order, waits for what settles it (ISO 8601 UTC); null: all of it is done. It is done
 * as far as it can be: the engine sends it again at that time (an invoice that waits for its payments).
 */
export type Waits = readonly (string | null)[];

/** What happens to the request; `keep` leaves it as it is, still unresolved. */
export type Verdict = "done" | "rejected" | "ready" | "probe" | "unknown" | "manual" | "keep";

export interface AnswerRule {
  /** The row of reliability 2.7. */
  readonly row: number;
  /** Did the write take place? */
  readonly executed: "yes" | "no" | "unknown";
  /** When no earlier send of this key is unresolved. */
  readonly only: Verdict;
  /** When an earlier one is. */
  readonly also: Verdict;
  /** Stops a lane, an operation or the whole endpoint until it is cleared; never harms the request. */
  readonly breaker?: Breaker;
}

export type Breaker =
  "credentials" | "scope" | "version" | "quota" | "configuration" | "split-brain" | "protocol";

export const answerRules = {
  done: { row: 1, executed: "yes", only: "done", also: "done" },
  replayed: { row: 2, executed: "yes", only: "done", also: "done" },
  deleted: { row: 3, executed: "yes", only: "done", also: "done" },
  unreadable: { row: 4, executed: "unknown", only: "probe", also: "probe" },
  invalid: { row: 5, executed: "no", only: "rejected", also: "unknown" },
  "key-missing": { row: 6, executed: "no", only: "ready", also: "keep", breaker: "protocol" },
  unauthorised: { row: 7, executed: "no", only: "ready", also: "keep", breaker: "credentials" },
  forbidden: { row: 8, executed: "no", only: "ready", also: "keep", breaker: "scope" },
  "not-found": { row: 9, executed: "no", only: "rejected", also: "unknown" },
  "already-gone": { row: 10, executed: "yes", only: "done", also: "done" },
  "key-conflict": {
    row: 11,
    executed: "unknown",
    only: "manual",
    also: "manual",
    breaker: "split-brain",
  },
  "in-flight": { row: 12, executed: "unknown", only: "probe", also: "probe" },
  "outcome-unknown": { row: 13, executed: "unknown", only: "unknown", also: "unknown" },
  conflict: { row: 14, executed: "unknown", only: "unknown", also: "unknown" },
  retired: { row: 15, executed: "no", only: "ready", also: "keep", breaker: "version" },
  undecided: { row: 16, executed: "unknown", only: "probe", also: "probe" },
  unsupported: {
    row: 17,
    executed: "no",
    only: "rejected",
    also: "unknown",
    breaker: "configuration",
  },
  "slow-down": { row: 18, executed: "no", only: "ready", also: "keep" },
  "month-spent": { row: 19, executed: "no", only: "ready", also: "keep", breaker: "quota" },
  failed: { row: 20, executed: "unknown", only: "unknown", also: "unknown" },
  "timed-out": { row: 21, executed: "unknown", only: "unknown", also: "unknown" },
  "moved-maybe-done": {
    row: 22,
    executed: "unknown",
    only: "unknown",
    also: "unknown",
    breaker: "configuration",
  },
  moved: { row: 23, executed: "no", only: "ready", also: "keep", breaker: "configuration" },
  "not-sent": { row: 24, executed: "no", only: "ready", also: "keep" },
  torn: { row: 25, executed: "unknown", only: "probe", also: "probe" },
} as const satisfies Record<string, AnswerRule>;

export type AnswerName = keyof typeof answerRules;

/** What a read-back found. */
export type Finding =
  /** Exactly this content, once. */
  | {
      readonly found: "exact";
      readonly ids: readonly (string | null)[];
      readonly waits?: Waits;
      readonly each?: readonly string[];
      readonly detail: string;
      /** It is there, and a person has to do the rest there. */
      readonly unfinished?: Fault;
    }
  /** The same number with other content. `fault`: in words for people, where nothing was sent yet. */
  | { readonly found: "different"; readonly detail: string; readonly fault?: Fault }
  /** More than one exact match: somebody wrote twice. */
  | { readonly found: "several"; readonly detail: string }
  | { readonly found: "none"; readonly detail: string; readonly each?: readonly string[] }
  /** It could not be read just now; that proves nothing. */
  | { readonly found: "unreadable"; readonly detail: string; readonly waitMs?: number };

/** How a sink's operation is treated when its outcome is unknown (reliability 2.6, 2.8). */
export interface Policy {
  /** How long after the last send, or after a restart, a read proves anything: longest run + late commit + read lag. */
  readonly settleMs: number;
  /** Reads that must all find nothing before anything is sent again. */
  readonly reads: number;
  readonly readGapMs: number;
  /** Look before the first send: for documents that must never double, and receivers without idempotency. */
  readonly preflight: boolean;
  /** After a timeout that holds the key for a day and reads that found nothing. */
  readonly afterTimeout: "again" | "person";
  /** When reads prove nothing either way (weak natural keys). */
  readonly afterNone: "again" | "person";
  /** How often it goes again, each time after reads that found nothing, before a person decides. Null: any number. */
  readonly resendsMax: number | null;
  /**
   * `same`: once proven not to have happened, the same bytes go again. `anew`: their place is taken by a new request
   * with the values of then (prices: an old batch must not overwrite newer ones), once no send is without an answer.
   */
  readonly resend: "same" | "anew";
  /** How long a key may be used after its first send; the platform forgets it after 24 h. Null: for ever. */
  readonly keyLifeMs: number | null;
  /** How long after the earliest unresolved send the same bytes may go again without a read. 0: never. */
  readonly probeMs: number;
}

/** Of a receiver that knows no idempotency key: nothing goes again unread, and one look settles what is unknown. */
export const keyless: Policy = {
  settleMs: 0,
  reads: 1,
  readGapMs: 0,
  preflight: false,
  afterTimeout: "again",
  afterNone: "again",
  resendsMax: null,
  resend: "same",
  keyLifeMs: null,
  probeMs: 0,
};

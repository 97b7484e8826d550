/**
 * What came of a send, and what a read-back found. An endpoint turns its protocol into an {@link Answer}: one of four
 * outcomes, with what comes with it. Only the request machine (request.ts) decides what follows.
 */
import type { Fault } from "./record.ts";

/**
 * `done`: it took place. `refused`: it did not, and never will with these bytes. `nothing`: it did not, and the same
 * bytes may go again. `unknown`: nobody can say.
 */
export const outcomes = ["done", "refused", "nothing", "unknown"] as const;

export interface Answer {
  readonly outcome: (typeof outcomes)[number];
  /** For the log and for people: `moved to orders/7.csv`, `ECONNRESET after the request was written`. */
  readonly detail: string;
  /** Stops a lane, an operation or the whole endpoint until it is cleared; never harms the request. */
  readonly stop?: Breaker;
  /**
   * We were told to wait this long, in ms: before anything goes again, or before the stop is tried again. With `nothing`,
   * a wait or a stop counts as no attempt; without either it is a failure, and the next try comes after a back-off.
   */
  readonly waitMs?: number;
  /** With a stop: what a person should do, in words. Left out: what is usual for that stop. */
  readonly next?: string;
  /** The receiver's own id of the exchange, for its support. */
  readonly requestId?: string;
  /** With `done`: the receiver's id of each item, in their order; null where it gives none. */
  readonly ids?: readonly (string | null)[];
  /** With `ids`, of each item: see {@link Waits}. */
  readonly waits?: Waits;
  /** What `detail` says of each item, in their order, for the story of one document. Left out: nothing of each. */
  readonly each?: readonly string[];
  /** With `done`: it is there, and a person has to do the rest there. */
  readonly unfinished?: Fault;
  /** With `done`: the receiver says that an earlier send of these bytes did it. */
  readonly repeated?: true;
  /** With `refused`: why, in words for people. Left out: `detail` says it. */
  readonly fault?: Fault;
  /** With `unknown`: the same bytes may go again without a read, within {@link Policy.probeMs}. Left out: a read is first. */
  readonly probe?: true;
  /** With `probe`: the receiver is carrying it out at this moment. */
  readonly running?: true;
  /** With `unknown`: no answer came at all; the network may hold the request yet, and deliver it later. */
  readonly unanswered?: true;
  /** With `unknown`: for so long, in ms, the receiver answers these bytes with a refusal to say. Left out: 0. */
  readonly holdMs?: number;
  /**
   * With `unknown` or `nothing`: the receiver refused it in words that nobody here knows. After a few tries a person has
   * it, with these words. Left out: what it said is known, or was no refusal.
   */
  readonly unlisted?: true;
  /**
   * With `nothing`: another site that shares the key has used it for the same document ({@link Outgoing.ofEverySite}). It is
   * looked for before anything goes again.
   */
  readonly taken?: true;
  /** With `unknown`: a person must decide, at once or when reads find nothing. Left out: the policy says. */
  readonly person?: "now" | "unless-found";
}

/**
 * Until when each item, in their order, waits for what settles it (ISO 8601 UTC); null: all of it is done. It is done
 * as far as it can be: the engine sends it again at that time (an invoice that waits for its payments).
 */
export type Waits = readonly (string | null)[];

export type Breaker =
  | "credentials"
  | "scope"
  | "version"
  | "quota"
  | "configuration"
  | "split-brain"
  | "protocol"
  /** It can take nothing now, whatever it is given: a folder without rights, a full disk. */
  | "receiver";

type Told = Pick<Answer, "stop" | "waitMs" | "next" | "requestId" | "unlisted">;

/** It took place. `ids`: the receiver's id of each item. */
export const done = (
  detail: string,
  ids: readonly (string | null)[],
  more: Pick<Answer, "waits" | "unfinished" | "repeated" | "each"> = {},
): Answer => ({ outcome: "done", detail, ids, ...more });

/** It did not take place, and never will as it is. */
export const refused = (fault: Fault): Answer => ({
  outcome: "refused",
  detail: fault.message,
  fault,
});

/** What a person is told of a refusal that no table of errors knows: the receiver's own words. */
export const unlistedFault = (words: string): Fault => ({
  code: "refused-unlisted",
  message: `the receiver refused it several times, and trying again does not settle it: ${words}`,
  next: "Read what the receiver says. Correct there what it names, or the document where it comes from, then retry. Report the answer, so that it is known.",
});

/** It did not take place, and may go again: after `waitMs`, once the stop is cleared, or else after a back-off. */
export const nothingDone = (detail: string, more: Told = {}): Answer => ({
  outcome: "nothing",
  detail,
  ...more,
});

/** Nobody can say whether it took place. */
export const unknown = (
  detail: string,
  more: Told & Pick<Answer, "probe" | "running" | "unanswered" | "holdMs" | "person" | "each"> = {},
): Answer => ({ outcome: "unknown", detail, ...more });

/** Nobody can say whether it took place, for no answer came. */
export const unanswered = (detail: string): Answer =>
  unknown(detail, { probe: true, unanswered: true });

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
  /** It could not be read just now; that proves nothing. `stop`: of all that goes there, with `next` for who ends it. */
  | {
      readonly found: "unreadable";
      readonly detail: string;
      readonly waitMs?: number;
      readonly stop?: string;
      readonly next?: string;
    };

/** A read-back that could not be made proves nothing. Null: nobody said how long to wait; nothing else is stopped. */
export const notRead = (
  detail: string,
  { waitMs, stop, next }: { waitMs: number | null; stop: string | null; next: string },
): Finding => ({
  found: "unreadable",
  detail,
  ...(waitMs === null ? {} : { waitMs }),
  ...(stop === null ? {} : { stop, next }),
});

/** How a sink's operation is treated when its outcome is unknown. */
export interface Policy {
  /** How long after the last send, or after a restart, a read proves anything: longest run + late commit + read lag. */
  readonly settleMs: number;
  /** Reads that must all find nothing before anything is sent again. */
  readonly reads: number;
  readonly readGapMs: number;
  /** Look before the first send: for documents that must never double, and receivers without idempotency. */
  readonly preflight: boolean;
  /** When the receiver holds the key for longer than anybody waits (it ran out of time), and reads found nothing. */
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
  /**
   * How long a key may be used after its first send: an hour less than its receiver is sure to remember it, for a clock
   * that was set back meanwhile. Null: for ever.
   */
  readonly keyLifeMs: number | null;
  /**
   * How long after the earliest unresolved send the same bytes may go again without a read: less than the receiver holds
   * a key after a failure that we may not have seen. 0: never.
   */
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

/** What is known about a request, and the moves its state may make. Stored as JSON: a name here is never changed. */
import type { Fault } from "./record.ts";
import type { Moment } from "./time.ts";

export const requestStates = [
  /** Frozen, and no send of this generation is unresolved. */
  "ready",
  /** A look before the first send has begun. */
  "preflight",
  /** Stored before the first byte leaves; the outcome is not recorded. */
  "sending",
  /** It may have arrived: nothing is sent before a read-back. */
  "unknown",
  "done",
  "rejected",
  "cancelled",
  /** A person must decide; the evidence is in the attempts. */
  "manual",
] as const;
export type State = (typeof requestStates)[number];

/** Moves that the machine can make; the store refuses all others by a trigger. */
export const legalMoves: Readonly<Record<State, readonly State[]>> = {
  ready: ["preflight", "sending", "cancelled", "manual"],
  preflight: ["ready", "done", "manual", "cancelled"],
  sending: ["ready", "unknown", "done", "rejected", "manual", "cancelled"],
  unknown: ["ready", "done", "rejected", "manual", "cancelled"],
  manual: ["done", "cancelled"],
  done: [],
  rejected: [],
  cancelled: [],
};

export const isFinal = (state: State): boolean => legalMoves[state].length === 0;

export interface RequestState {
  readonly state: State;
  /** A new generation is a new key for the same intent; only after proof that the old one did nothing. */
  readonly generation: number;
  /** Sends of this generation that may have been executed. */
  readonly sends: number;
  readonly firstSentWallMs: number | null;
  /** The earliest send of this generation without a definite answer. */
  readonly unresolved: Moment | null;
  readonly lastSend: Moment | null;
  /** Nothing is done before this moment. */
  readonly notBefore: Moment | null;
  /** Until then the receiver holds the key and says nothing about it (wall clock, ms). */
  readonly holdUntilWallMs: number | null;
  /** The receiver holds the key for longer than anybody waits: it is given up. */
  readonly timedOut: boolean;
  readonly negativeReads: number;
  readonly preflighted: boolean;
  /** What settled it. */
  readonly evidence: "direct" | "replay" | "read" | "person" | null;
  /** Consecutive failures that were nobody's fault; sets the back-off. */
  readonly failures: number;
  /** A refusal arrived while an earlier send was unresolved: rejected once a read finds nothing. */
  readonly refusal: boolean;
  /** The receiver said something that nobody can weigh: a person decides when reads find nothing. */
  readonly conflict: boolean;
  /** A send of this generation got no answer at all: the network may hold it yet. */
  readonly unanswered: boolean;
  /** How often reads have proven that it did not happen. */
  readonly proofs: number;
  /** How often it was refused in words that nobody knows (`Answer.unlisted`), and when first (wall clock, ms). */
  readonly unlisted: number;
  readonly unlistedSinceMs: number | null;
  /** What the receiver said of the last refusal, for the person who has it once it is rejected. */
  readonly said: Fault | null;
}

/** Stores leave out what is as in here (src/store/requests.ts): a value never changes. */
export const freshRequest: RequestState = {
  state: "ready",
  generation: 0,
  sends: 0,
  firstSentWallMs: null,
  unresolved: null,
  lastSend: null,
  notBefore: null,
  holdUntilWallMs: null,
  timedOut: false,
  negativeReads: 0,
  preflighted: false,
  evidence: null,
  failures: 0,
  refusal: false,
  conflict: false,
  unanswered: false,
  proofs: 0,
  unlisted: 0,
  unlistedSinceMs: null,
  said: null,
};

/**
 * The request state machine: what may be done with a request next, and what follows from what happened. Pure: time and
 * chance come in with the event, nothing goes out but the next state and what to raise.
 */
import { defined } from "./defined.ts";
import { type Answer, type Breaker, type Finding, type Policy, unlistedFault } from "./outcome.ts";
import type { Fault } from "./record.ts";
import { later, type Moment, reached, sameMoment, untilAcross } from "./time.ts";

type Action =
  | { readonly do: "send" }
  /** Look whether it is there; `preflight` before the first send. */
  | { readonly do: "read"; readonly preflight: boolean }
  /** The key is too old to be used again and proven unused: a new generation. */
  | { readonly do: "renew" }
  | { readonly do: "wait"; readonly until: Moment }
  | { readonly do: "nothing" };

export type Event =
  | { readonly type: "preflight"; readonly at: Moment }
  | { readonly type: "send"; readonly at: Moment }
  | {
      readonly type: "answer";
      readonly at: Moment;
      readonly answer: Answer;
      readonly chance: number;
      /** The request carries several documents. */
      readonly shared?: boolean;
    }
  | {
      readonly type: "finding";
      readonly at: Moment;
      readonly finding: Finding;
      /** The request carries several documents. */
      readonly shared?: boolean;
    }
  /** The process that held it is gone. */
  | { readonly type: "restart"; readonly at: Moment }
  | { readonly type: "renew"; readonly at: Moment }
  /** A person, or newer content, decided. */
  | {
      readonly type: "decision";
      readonly at: Moment;
      readonly decision: "done" | "cancel";
    };

type AnswerEvent = Extract<Event, { type: "answer" }>;

interface Step {
  readonly next: RequestState;
  readonly raise: readonly Raise[];
}

export type Raise =
  | {
      readonly breaker: Breaker;
      readonly detail: string;
      readonly waitMs?: number;
      readonly next?: string;
    }
  | { readonly alarm: "split-brain" | "doubled"; readonly detail: string }
  /**
   * A first send was answered as a repetition. A network that delivers a request twice and shows the second answer does
   * that, and so does somebody else who sends our bytes under our key: one stops nothing, several do (engine/breakers.ts).
   */
  | { readonly warning: "replayed" | "in-flight"; readonly detail: string };

const GENERATIONS_MAX = 3;
/** When we are to wait and nobody says how long. */
const WAIT_UNTOLD_MS = 5_000;
const PROBE_PAUSES_MS = [1_000, 3_000, 9_000, 20_000] as const;

/** What may be done with this request now. */
export function nextAction(request: RequestState, policy: Policy, now: Moment): Action {
  if (request.state === "manual") return { do: "nothing" };
  if (request.notBefore !== null && !reached(request.notBefore, now))
    return { do: "wait", until: request.notBefore };
  switch (request.state) {
    case "preflight":
      return { do: "read", preflight: true };
    case "unknown":
      return { do: "read", preflight: false };
    case "sending":
      return mayProbe(request, policy, now)
        ? { do: "send" }
        : readOnceSettled(request, policy, now);
    case "ready":
      if (keyTooOld(request, policy, now)) return { do: "renew" };
      return (policy.preflight || request.taken) && !request.preflighted
        ? { do: "read", preflight: true }
        : { do: "send" };
    case "done":
    case "rejected":
    case "cancelled":
      return { do: "nothing" };
  }
}

function readOnceSettled(request: RequestState, policy: Policy, now: Moment): Action {
  const until = later(request.lastSend ?? now, policy.settleMs);
  return reached(until, now) ? { do: "read", preflight: false } : { do: "wait", until };
}

/** @throws Error when the event is impossible in this state: a programming error, never a receiver's doing. */
export function advance(request: RequestState, event: Event, policy: Policy): Step {
  switch (event.type) {
    case "preflight":
      expect(request, event.type, ["ready", "preflight"]);
      return quiet({ ...request, state: "preflight" });
    case "send":
      return quiet(sent(request, event.at));
    case "answer":
      expect(request, event.type, ["sending"]);
      return answered(toldBy(request, event), event, policy);
    case "finding":
      return found(request, event, policy);
    case "restart":
      return quiet(restarted(request, policy, event.at));
    case "renew":
      expect(request, event.type, ["ready"]);
      return quiet(policy.resend === "anew" ? superseded(request) : renewed(request));
    case "decision":
      return quiet(decided(request, event.decision));
  }
}

function sent(request: RequestState, at: Moment): RequestState {
  expect(request, "send", ["ready", "sending"]);
  return {
    ...request,
    state: "sending",
    sends: request.sends + 1,
    firstSentWallMs: request.firstSentWallMs ?? at.wallMs,
    unresolved: request.unresolved ?? at,
    lastSend: at,
    notBefore: null,
    negativeReads: 0,
  };
}

/** With what is to be known of it if it is given up. */
function toldBy(request: RequestState, { answer, at }: AnswerEvent): RequestState {
  const { detail, unlisted } = answer;
  if (unlisted === undefined) return request;
  return {
    ...request,
    unlisted: request.unlisted + 1,
    unlistedSinceMs: request.unlistedSinceMs ?? at.wallMs,
    said: unlistedFault(detail),
  };
}

function answered(
  request: RequestState,
  { answer, at, chance, shared = false }: AnswerEvent,
  policy: Policy,
): Step {
  // The send that was just answered is itself unresolved; "only" means that no earlier one is.
  const only = sameMoment(request.unresolved, request.lastSend);
  const raise = raisedBy(request, answer);
  switch (answer.outcome) {
    case "done":
      return { next: settle(request, "done", answer.repeated ? "replay" : "direct"), raise };
    case "refused":
      return {
        next: only
          ? settle(request, "rejected", "direct")
          : toBeRead({ ...request, refusal: true, said: answer.fault ?? null }, 0, policy, at),
        raise,
      };
    case "nothing":
      if (only && answer.unlisted && isGivenUp(request, shared || policy.resend === "anew", at))
        return { next: settle(request, "rejected", "direct"), raise };
      return { next: takenBack(request, answer, { only, at, chance }), raise };
    case "unknown":
      return { next: uncertain(request, answer, policy, at), raise };
  }
}

function raisedBy(request: RequestState, answer: Answer): Raise[] {
  const { detail, stop, waitMs, next } = answer;
  const raise: Raise[] = [];
  if (stop !== undefined)
    raise.push({
      breaker: stop,
      detail,
      ...defined({ waitMs, next }),
    });
  if (request.sends !== 1) return raise;
  if (answer.repeated) raise.push({ warning: "replayed", detail });
  if (answer.running) raise.push({ warning: "in-flight", detail });
  return raise;
}

/** This send is taken back: it did nothing. `only`: no earlier one is unresolved. */
function takenBack(
  request: RequestState,
  { stop, waitMs, taken: isTaken }: Answer,
  { only, at, chance }: { only: boolean; at: Moment; chance: number },
): RequestState {
  // Where a breaker waits, for a month perhaps, the request need not: a person may release it.
  const wait = stop === undefined ? (waitMs ?? WAIT_UNTOLD_MS) : WAIT_UNTOLD_MS;
  const told = later(at, Math.max(wait, 0) + Math.round(chance * 1_000));
  const sends = request.sends - 1;
  const taken = isTaken ?? request.taken;
  // The earlier one is still to be settled.
  if (!only) return { ...request, sends, notBefore: told, taken };
  // Being told to wait is not an attempt, and the key is as good as unused.
  const waited = stop !== undefined || waitMs !== undefined;
  const failures = waited ? request.failures : request.failures + 1;
  return {
    ...request,
    state: "ready",
    sends,
    unresolved: null,
    firstSentWallMs: sends === 0 ? null : request.firstSentWallMs,
    failures,
    preflighted: request.preflighted && isTaken === undefined,
    taken,
    notBefore: waited ? told : later(at, backOffMs(failures, chance)),
  };
}

function uncertain(before: RequestState, answer: Answer, policy: Policy, at: Moment): RequestState {
  const request = answer.unanswered ? { ...before, unanswered: true } : before;
  // Also of each of its documents: see `apart`.
  if (answer.person === "now") return { ...request, conflict: true, state: "manual" };
  if (answer.probe) return probing(request, answer, at);
  const conflict = request.conflict || answer.person === "unless-found";
  return toBeRead({ ...request, conflict }, answer.holdMs ?? 0, policy, at);
}

/** It may have taken place: nothing goes again before a read-back. */
function toBeRead(request: RequestState, holdMs: number, policy: Policy, at: Moment): RequestState {
  return {
    ...request,
    state: "unknown",
    negativeReads: 0,
    timedOut: request.timedOut || holdMs > HOLD_WAITED_FOR_MS,
    holdUntilWallMs: Math.max(request.holdUntilWallMs ?? 0, at.wallMs + holdMs),
    notBefore: later(request.lastSend ?? at, policy.settleMs),
  };
}

function probing(request: RequestState, { running, waitMs }: Answer, at: Moment): RequestState {
  const pauseMs = running
    ? Math.min(Math.max(waitMs ?? 1_000, 1_000), 60_000)
    : (PROBE_PAUSES_MS[request.sends - 1] ?? 20_000);
  return {
    ...request,
    // It runs now: whatever the receiver holds the key for begins after this send.
    unresolved: running ? request.lastSend : request.unresolved,
    notBefore: later(at, pauseMs),
  };
}

function found(
  request: RequestState,
  { finding, at, shared = false }: Extract<Event, { type: "finding" }>,
  policy: Policy,
): Step {
  expect(request, "finding", ["preflight", "sending", "unknown", "manual"]);
  // A person's request is settled by proof that it is there, and by nothing less.
  if (request.state === "manual" && finding.found !== "exact") return quiet(request);
  const raise: Raise[] =
    finding.found === "several" ? [{ alarm: "doubled", detail: finding.detail }] : [];
  if (finding.found !== "unreadable" && mayComeLate(request, policy, at))
    return quiet(onceMore(request, at));
  switch (finding.found) {
    case "exact":
      return { next: settle(request, "done", "read"), raise };
    case "different":
      if (policy.resend === "same" || request.conflict)
        return quiet({ ...request, state: "manual" });
      // The newest value wins: another one there is only older.
      return quiet(request.state === "preflight" ? looked(request) : superseded(request));
    case "several":
      return { next: { ...request, state: "manual" }, raise };
    case "unreadable":
      return quiet({
        ...request,
        state: request.state === "preflight" ? "preflight" : "unknown",
        failures: request.failures + 1,
        notBefore: later(
          at,
          // As with a send: what a breaker waits for, a person may release.
          finding.stop === undefined
            ? (finding.waitMs ?? backOffMs(request.failures + 1, 0.5))
            : WAIT_UNTOLD_MS,
        ),
      });
    case "none":
      return quiet(
        request.state === "preflight" ? looked(request) : nothingThere(request, policy, at, shared),
      );
  }
}

/**
 * Of values that replace each other a read proves what stands there, not that nothing comes after it. The network may
 * hold a send that got no answer; a key that the receiver holds for long makes it harmless (ADR 0003).
 */
function mayComeLate(request: RequestState, policy: Policy, at: Moment): boolean {
  const { state, unanswered, timedOut, refusal, conflict } = request;
  const isSettled = timedOut || refusal || conflict || keyTooOld(request, policy, at);
  return policy.resend === "anew" && state !== "preflight" && unanswered && !isSettled;
}

/** Under the same key, until it is answered: whatever the network holds of it is a replay from then on. */
function onceMore(request: RequestState, at: Moment): RequestState {
  return {
    ...request,
    state: "ready",
    unresolved: null,
    failures: 0,
    notBefore: held(request, at),
  };
}

/** Looked for before the first send, and not there. */
function looked(request: RequestState): RequestState {
  return { ...request, state: "ready", preflighted: true, notBefore: null };
}

/** A read found nothing. Once enough did, the write is proven not to have happened. */
function nothingThere(
  request: RequestState,
  policy: Policy,
  at: Moment,
  shared: boolean,
): RequestState {
  const negativeReads = request.negativeReads + 1;
  if (negativeReads < policy.reads)
    return {
      ...request,
      failures: 0,
      state: "unknown",
      negativeReads,
      notBefore: later(at, policy.readGapMs),
    };
  const proofs = request.proofs + 1;
  const proven = {
    ...request,
    negativeReads,
    proofs,
    failures: 0,
    unresolved: null,
    notBefore: null,
  };
  if (request.conflict) return { ...proven, state: "manual" };
  if (request.refusal || isGivenUp(request, shared || policy.resend === "anew", at))
    return { ...proven, state: "rejected", evidence: "read" };
  if (policy.resend === "anew") return superseded(proven);
  const after = request.timedOut ? policy.afterTimeout : policy.afterNone;
  if (after === "person" || proofs > (policy.resendsMax ?? Infinity))
    return { ...proven, state: "manual" };
  // The held key is of no use for as long as it is held; the proof allows a new one.
  if (request.timedOut || request.sends >= SENDS_MAX) return renewed({ ...proven, state: "ready" });
  return { ...proven, state: "ready", notBefore: held(request, at) };
}

/** These bytes are out of date by now; what they carried goes into a new request with the values of then. */
function superseded(request: RequestState): RequestState {
  return { ...request, state: "cancelled", evidence: "read", unresolved: null, notBefore: null };
}

function renewed(request: RequestState): RequestState {
  if (request.generation + 1 >= GENERATIONS_MAX) return { ...request, state: "manual" };
  return {
    ...freshRequest,
    generation: request.generation + 1,
    preflighted: request.preflighted,
    failures: request.failures,
    proofs: request.proofs,
    unlisted: request.unlisted,
    unlistedSinceMs: request.unlistedSinceMs,
    said: request.said,
  };
}

/**
 * Nothing is probed after a restart. What is left of the settling, and what looks have found, goes on by the machine's clock,
 * or restarts would begin both anew for ever; they begin anew where that clock does not tell, and for what was being sent when
 * the process ended. The wall clock is not asked: set forward, it would end the settling before the receiver has.
 */
function restarted(request: RequestState, policy: Policy, at: Moment): RequestState {
  switch (request.state) {
    case "sending":
    case "unknown": {
      const { state, notBefore } = request;
      const leftMs = state === "unknown" && notBefore !== null ? untilAcross(notBefore, at) : null;
      return {
        ...request,
        state: "unknown",
        negativeReads: leftMs === null ? 0 : request.negativeReads,
        unanswered: request.unanswered || state === "sending",
        notBefore: later(at, Math.max(leftMs ?? policy.settleMs, 0)),
      };
    }
    case "preflight":
    case "ready":
      // What a look found may be long ago by now, and the store may be a restored one.
      return { ...request, preflighted: false, notBefore: null };
    case "manual":
    case "done":
    case "rejected":
    case "cancelled":
      return request;
  }
}

function decided(request: RequestState, decision: "done" | "cancel"): RequestState {
  if (decision === "done") {
    expect(request, "done", ["unknown", "manual"]);
    return settle(request, "done", "person");
  }
  expect(request, "cancel", ["ready", "preflight", "unknown", "manual"]);
  return { ...request, state: "cancelled", evidence: "person", notBefore: null };
}

/**
 * A request of one of the documents of a request that is a person's, which is given up for that: nothing of it goes
 * before it was looked for by itself, and where reads that find nothing left the whole to a person they leave it there, too.
 */
export function apart(whole: RequestState, generation: number): RequestState {
  const fresh = { ...freshRequest, generation };
  const { firstSentWallMs, lastSend, timedOut, conflict, unanswered, proofs, preflighted } = whole;
  if (firstSentWallMs === null) return fresh;
  return {
    ...fresh,
    state: "unknown",
    firstSentWallMs,
    lastSend,
    timedOut,
    conflict,
    unanswered,
    proofs,
    preflighted,
  };
}

function settle(
  request: RequestState,
  state: "done" | "rejected",
  evidence: NonNullable<RequestState["evidence"]>,
): RequestState {
  return { ...request, state, evidence, unresolved: null, notBefore: null };
}

function quiet(next: RequestState): Step {
  return { next, raise: [] };
}

function expect(request: RequestState, what: string, states: readonly State[]): void {
  if (!states.includes(request.state))
    throw new Error(`"${what}" cannot happen to a request that is ${request.state}`);
}

// What is known about a request, and the moves its state may make. Stored as JSON: a name here is never changed.

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
  /** Another site has used this key for the same document, in other words. */
  readonly taken: boolean;
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
  taken: false,
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

// How long the request machine (request.ts) waits, and for how long the same bytes may go again unread. Pure.

const SENDS_MAX = 12;
/** A key that is held for longer is given up: once nothing is proven to have happened, a new one takes its place. */
const HOLD_WAITED_FOR_MS = 120_000;
/** By so much policies leave a key unused before its receiver forgets it ({@link Policy.keyLifeMs}). */
const CLOCK_MARGIN_MS = 3_600_000;
const BACK_OFF_MAX_MS = 5 * 60_000;

/** While the key is held it would only answer conflicts. */
function held({ holdUntilWallMs }: RequestState, at: Moment): Moment {
  const holdMs = Math.max((holdUntilWallMs ?? 0) - at.wallMs, 0);
  return later(at, Math.min(holdMs, HOLD_WAITED_FOR_MS));
}

/** A refusal that nobody knows is a person's after so many tries, which take so long at least; or after so long. */
const UNLISTED_MAX = 3;
const UNLISTED_MIN_MS = 2 * 60_000;
const UNLISTED_LONG_MS = 15 * 60_000;

/**
 * Was it refused often enough in words that nobody knows? `once`: the first time counts, for it goes again otherwise: in
 * smaller requests, or with other values.
 */
function isGivenUp(
  { unlisted, unlistedSinceMs }: RequestState,
  once: boolean,
  at: Moment,
): boolean {
  if (unlisted === 0) return false;
  // By either side: the clock may have been set since.
  const ms = Math.abs(at.wallMs - (unlistedSinceMs ?? at.wallMs));
  if (once || (unlisted > 1 && ms >= UNLISTED_LONG_MS)) return true;
  return unlisted >= UNLISTED_MAX && ms >= UNLISTED_MIN_MS;
}

/** The same bytes may go again without a read only this soon after the earliest unresolved send, in the same boot. */
function mayProbe(request: RequestState, policy: Policy, now: Moment): boolean {
  const since = request.unresolved;
  return (
    since !== null &&
    since.boot === now.boot &&
    now.monoMs - since.monoMs < policy.probeMs &&
    // The monotonic clock stands still while a machine sleeps; a wall clock that jumped only costs a read.
    Math.abs(now.wallMs - since.wallMs) < policy.probeMs &&
    request.sends < SENDS_MAX &&
    !keyTooOld(request, policy, now)
  );
}

/** Is the key older than the receiver is sure to remember it? */
function keyTooOld(request: RequestState, policy: Policy, now: Moment): boolean {
  if (policy.keyLifeMs === null || request.firstSentWallMs === null) return false;
  const ageMs = now.wallMs - request.firstSentWallMs;
  // A key that was first used in the future was used by a clock that was ahead: nobody knows how old it is.
  return ageMs >= policy.keyLifeMs || ageMs < -CLOCK_MARGIN_MS;
}

/** Doubling from a second to five minutes, with the jitter that keeps many from coming back at once. */
function backOffMs(failures: number, chance: number): number {
  const ceiling = Math.min(1_000 * 2 ** Math.min(failures, 12), BACK_OFF_MAX_MS);
  return Math.round(ceiling / 2 + (chance * ceiling) / 2);
}

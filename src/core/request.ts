/**
 * The request state machine (reliability 2.4-2.7): what may be done with a request next, and what follows from what
 * happened. Pure: time and chance come in with the event, nothing goes out but the next state and what to raise.
 */
import { later, type Moment, reached, sameMoment } from "./moment.ts";
import {
  type Answer,
  type AnswerRule,
  answerRules,
  type Breaker,
  type Finding,
  type Policy,
} from "./outcome.ts";
import { freshRequest, type RequestState, type State } from "./request-state.ts";

export type Action =
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
    }
  | { readonly type: "finding"; readonly at: Moment; readonly finding: Finding }
  /** The process that held it is gone. */
  | { readonly type: "restart"; readonly at: Moment }
  | { readonly type: "renew"; readonly at: Moment }
  /** A person, or newer content, decided. */
  | {
      readonly type: "decision";
      readonly at: Moment;
      readonly decision: "done" | "cancel";
    };

export interface Step {
  readonly next: RequestState;
  readonly raise: readonly Raise[];
}

export type Raise =
  | { readonly breaker: Breaker; readonly detail: string; readonly waitMs?: number }
  | { readonly alarm: "split-brain" | "doubled"; readonly detail: string }
  /**
   * A first send was answered as a repetition. A network that delivers a request twice and shows the second answer does
   * that, and so does somebody else who sends our bytes under our key: one stops nothing, several do (engine/replays.ts).
   */
  | { readonly warning: "replayed" | "in-flight"; readonly detail: string };

const SENDS_MAX = 12;
const GENERATIONS_MAX = 3;
const HOLD_AFTER_FAILURE_MS = 60_000;
const HOLD_AFTER_TIMEOUT_MS = 24 * 3_600_000;
/** Longer holds than this can only come from a 504. */
const HOLD_OF_A_TIMEOUT_MS = 120_000;
/** What a key's life of 23 hours leaves of the platform's 24. */
const CLOCK_MARGIN_MS = 3_600_000;
/** When we are to wait and nobody says how long. */
const WAIT_UNTOLD_MS = 5_000;
const PROBE_PAUSES_MS = [1_000, 3_000, 9_000, 20_000] as const;
const BACK_OFF_MAX_MS = 5 * 60_000;

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
      return policy.preflight && !request.preflighted
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
      return answered(request, event.answer, policy, event.at, event.chance);
    case "finding":
      return found(request, event.finding, policy, event.at);
    case "restart":
      return quiet(restarted(request, policy, event.at));
    case "renew":
      expect(request, event.type, ["ready"]);
      return quiet(renewed(request));
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

function answered(
  request: RequestState,
  answer: Answer,
  policy: Policy,
  at: Moment,
  chance: number,
): Step {
  const rule: AnswerRule = answerRules[answer.name];
  // The send that was just answered is itself unresolved; "only" means that no earlier one is.
  const only = sameMoment(request.unresolved, request.lastSend);
  const raise: Raise[] = [];
  if (rule.breaker)
    raise.push({
      breaker: rule.breaker,
      detail: answer.detail,
      ...(answer.waitMs === undefined ? {} : { waitMs: answer.waitMs }),
    });
  if ((answer.name === "replayed" || answer.name === "in-flight") && request.sends === 1)
    raise.push({ warning: answer.name, detail: answer.detail });

  const verdict = only ? rule.only : rule.also;
  // Where a breaker waits, for a month perhaps, the request need not: a person may release it.
  const wait = rule.breaker === undefined ? (answer.waitMs ?? WAIT_UNTOLD_MS) : WAIT_UNTOLD_MS;
  const told = later(at, Math.max(wait, 0) + Math.round(chance * 1_000));
  switch (verdict) {
    case "done":
      return {
        next: settle(request, "done", answer.name === "replayed" ? "replay" : "direct"),
        raise,
      };
    case "rejected":
      return { next: settle(request, "rejected", "direct"), raise };
    case "manual":
      return { next: { ...request, state: "manual" }, raise };
    case "ready": {
      // Being told to wait is not an attempt: the send is taken back, and the key is as good as unused.
      const waited = rule.breaker !== undefined || answer.name === "slow-down";
      const failures = waited ? request.failures : request.failures + 1;
      return {
        next: {
          ...request,
          state: "ready",
          sends: request.sends - 1,
          unresolved: null,
          firstSentWallMs: request.sends === 1 ? null : request.firstSentWallMs,
          failures,
          notBefore: waited ? told : later(at, backOffMs(failures, chance)),
        },
        raise,
      };
    }
    case "keep":
      // This send did nothing, so it does not count; the earlier one is still to be settled.
      return { next: { ...request, sends: request.sends - 1, notBefore: told }, raise };
    case "probe":
      return { next: probing(request, answer, at), raise };
    case "unknown":
      return { next: unknown(request, answer, policy, at), raise };
  }
}

function probing(request: RequestState, answer: Answer, at: Moment): RequestState {
  const pauseMs =
    answer.name === "in-flight"
      ? Math.min(Math.max(answer.waitMs ?? 1_000, 1_000), 60_000)
      : (PROBE_PAUSES_MS[request.sends - 1] ?? 20_000);
  return {
    ...request,
    // Proof that the original ran at that moment: a hold that follows ends at least 60 s after it.
    unresolved: answer.name === "in-flight" ? request.lastSend : request.unresolved,
    notBefore: later(at, pauseMs),
  };
}

function unknown(request: RequestState, answer: Answer, policy: Policy, at: Moment): RequestState {
  const holdMs = holdOf(answer);
  return {
    ...request,
    state: "unknown",
    negativeReads: 0,
    timedOut: request.timedOut || holdMs > HOLD_OF_A_TIMEOUT_MS,
    holdUntilWallMs: Math.max(request.holdUntilWallMs ?? 0, at.wallMs + holdMs),
    refusal: request.refusal || answerRules[answer.name].executed === "no",
    conflict: request.conflict || answer.name === "conflict",
    notBefore: later(request.lastSend ?? at, policy.settleMs),
  };
}

function holdOf(answer: Answer): number {
  if (answer.name === "timed-out") return HOLD_AFTER_TIMEOUT_MS;
  if (answer.name === "outcome-unknown") return answer.waitMs ?? HOLD_AFTER_FAILURE_MS;
  return answer.name === "failed" ? HOLD_AFTER_FAILURE_MS : 0;
}

function found(request: RequestState, finding: Finding, policy: Policy, at: Moment): Step {
  expect(request, "finding", ["preflight", "sending", "unknown", "manual"]);
  // A person's request is settled by proof that it is there, and by nothing less.
  if (request.state === "manual" && finding.found !== "exact") return quiet(request);
  const raise: Raise[] =
    finding.found === "several" ? [{ alarm: "doubled", detail: finding.detail }] : [];
  switch (finding.found) {
    case "exact":
      return { next: settle(request, "done", "read"), raise };
    case "different":
      if (policy.resend === "same") return quiet({ ...request, state: "manual" });
      // The newest value wins: another one there is only older.
      return quiet(request.state === "preflight" ? looked(request) : superseded(request));
    case "several":
      return { next: { ...request, state: "manual" }, raise };
    case "unreadable":
      return quiet({
        ...request,
        state: request.state === "preflight" ? "preflight" : "unknown",
        failures: request.failures + 1,
        notBefore: later(at, finding.waitMs ?? backOffMs(request.failures + 1, 0.5)),
      });
    case "none":
      return quiet(
        request.state === "preflight" ? looked(request) : nothingThere(request, policy, at),
      );
  }
}

/** Looked for before the first send, and not there. */
function looked(request: RequestState): RequestState {
  return { ...request, state: "ready", preflighted: true, notBefore: null };
}

/** A read found nothing. Once enough did, the write is proven not to have happened. */
function nothingThere(request: RequestState, policy: Policy, at: Moment): RequestState {
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
  if (request.refusal) return { ...proven, state: "rejected", evidence: "read" };
  if (policy.resend === "anew") return superseded(proven);
  const after = request.timedOut ? policy.afterTimeout : policy.afterNone;
  if (after === "person" || proofs > (policy.resendsMax ?? Infinity))
    return { ...proven, state: "manual" };
  // The held key would only answer conflicts for the rest of the day; the proof allows a new one.
  if (request.timedOut || request.sends >= SENDS_MAX) return renewed({ ...proven, state: "ready" });
  const holdMs = Math.max((request.holdUntilWallMs ?? 0) - at.wallMs, 0);
  return { ...proven, state: "ready", notBefore: later(at, Math.min(holdMs, 120_000)) };
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
  };
}

/** After a restart no clock of ours tells how old a send is: settling starts anew, and nothing is probed. */
function restarted(request: RequestState, policy: Policy, at: Moment): RequestState {
  switch (request.state) {
    case "sending":
    case "unknown":
      return {
        ...request,
        state: "unknown",
        negativeReads: 0,
        notBefore: later(at, policy.settleMs),
      };
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

function settle(
  request: RequestState,
  state: "done" | "rejected",
  evidence: NonNullable<RequestState["evidence"]>,
): RequestState {
  return { ...request, state, evidence, unresolved: null, notBefore: null };
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

function quiet(next: RequestState): Step {
  return { next, raise: [] };
}

function expect(request: RequestState, what: string, states: readonly State[]): void {
  if (!states.includes(request.state))
    throw new Error(`"${what}" cannot happen to a request that is ${request.state}`);
}

/** What follows from every answer of the platform: each state x answer x first or later send x preflight or not. */
import { describe, expect, test } from "vitest";
import { later, type Moment } from "../core/time.ts";
import type { Policy } from "../core/outcome.ts";
import {
  advance,
  type Event,
  freshRequest,
  nextAction,
  type RequestState,
  requestStates,
  type State,
} from "../core/request.ts";
import { type AnswerName, answerRules, outcomeOf } from "./answers.ts";

const start: Moment = { boot: "b1", monoMs: 1_000, wallMs: 1_000_000 };
const policyWith = (preflight: boolean): Policy => ({
  settleMs: 900_000,
  reads: 2,
  readGapMs: 60_000,
  preflight,
  afterTimeout: "person",
  afterNone: "again",
  resendsMax: null,
  resend: "same",
  keyLifeMs: 82_800_000,
  probeMs: 45_000,
});

interface Cell {
  readonly state: State;
  /** What is done next, 10 s after the answer: the answer that waits says so. */
  readonly action: "send" | "read" | "wait" | "renew" | "nothing";
  /** Sends that may have been executed. */
  readonly sends: number;
  readonly raise?: string;
}
const cell = (state: State, action: Cell["action"], sends: number, raise?: string): Cell => ({
  state,
  action,
  sends,
  ...(raise === undefined ? {} : { raise }),
});

/** What an answer leads to: after the only send, and while an earlier one is unresolved (then `sends` is 2). */
const table: Readonly<Record<AnswerName, readonly [Cell, Cell]>> = {
  done: [cell("done", "nothing", 1), cell("done", "nothing", 2)],
  replayed: [cell("done", "nothing", 1, "warning replayed"), cell("done", "nothing", 2)],
  deleted: [cell("done", "nothing", 1), cell("done", "nothing", 2)],
  unreadable: [cell("sending", "send", 1), cell("sending", "send", 2)],
  invalid: [cell("rejected", "nothing", 1), cell("unknown", "wait", 2)],
  "key-missing": [cell("ready", "send", 0, "protocol"), cell("sending", "send", 1, "protocol")],
  unauthorised: [
    cell("ready", "send", 0, "credentials"),
    cell("sending", "send", 1, "credentials"),
  ],
  forbidden: [cell("ready", "send", 0, "scope"), cell("sending", "send", 1, "scope")],
  "not-found": [cell("rejected", "nothing", 1), cell("unknown", "wait", 2)],
  "already-gone": [cell("done", "nothing", 1), cell("done", "nothing", 2)],
  "key-conflict": [
    cell("manual", "nothing", 1, "split-brain"),
    cell("manual", "nothing", 2, "split-brain"),
  ],
  taken: [cell("ready", "read", 0), cell("sending", "send", 1)],
  "in-flight": [cell("sending", "send", 1, "warning in-flight"), cell("sending", "send", 2)],
  "outcome-unknown": [cell("unknown", "wait", 1), cell("unknown", "wait", 2)],
  conflict: [cell("unknown", "wait", 1), cell("unknown", "wait", 2)],
  retired: [cell("ready", "send", 0, "version"), cell("sending", "send", 1, "version")],
  undecided: [cell("sending", "send", 1), cell("sending", "send", 2)],
  unsupported: [
    cell("rejected", "nothing", 1, "configuration"),
    cell("unknown", "wait", 2, "configuration"),
  ],
  "slow-down": [cell("ready", "send", 0), cell("sending", "send", 1)],
  "month-spent": [cell("ready", "send", 0, "quota"), cell("sending", "send", 1, "quota")],
  failed: [cell("unknown", "wait", 1), cell("unknown", "wait", 2)],
  "timed-out": [cell("unknown", "wait", 1), cell("unknown", "wait", 2)],
  "moved-maybe-done": [
    cell("unknown", "wait", 1, "configuration"),
    cell("unknown", "wait", 2, "configuration"),
  ],
  moved: [cell("ready", "send", 0, "configuration"), cell("sending", "send", 1, "configuration")],
  "not-sent": [cell("ready", "send", 0), cell("sending", "send", 1)],
  torn: [cell("sending", "send", 1), cell("sending", "send", 2)],
};

/** After a crash, and after a commit that failed: the next start finds the state that was stored last. */
const restarted: Readonly<Record<State, State>> = {
  ready: "ready",
  preflight: "preflight",
  sending: "unknown",
  unknown: "unknown",
  manual: "manual",
  done: "done",
  rejected: "rejected",
  cancelled: "cancelled",
};

/** A request in `state` whose last send is its first, or came 2 s after one that was torn off. */
function requestIn(state: State, send: "first" | "later", preflight: boolean): RequestState {
  const policy = policyWith(preflight);
  const ready: RequestState = { ...freshRequest, preflighted: preflight };
  let request = advance(ready, { type: "send", at: start }, policy).next;
  if (send === "later") {
    const torn: Event = {
      type: "answer",
      at: later(start, 500),
      chance: 0.5,
      answer: outcomeOf({ name: "torn", detail: "" }),
    };
    request = advance(request, torn, policy).next;
    request = advance(request, { type: "send", at: later(start, 2_000) }, policy).next;
  }
  return { ...request, state };
}

const names = Object.keys(answerRules) as AnswerName[];

describe.each([false, true])("preflight %s", (preflight) => {
  const policy = policyWith(preflight);
  describe.each(["first", "later"] as const)("%s send", (send) => {
    const at = later(start, 2_500);
    describe.each(requestStates)("%s", (state) => {
      test.each(names)("%s", (name) => {
        const request = requestIn(state, send, preflight);
        const answered = (): ReturnType<typeof advance> =>
          advance(
            request,
            {
              type: "answer",
              at,
              chance: 0.5,
              answer: outcomeOf({ name, detail: "", waitMs: 1_000 }),
            },
            policy,
          );
        if (state !== "sending") {
          expect(answered).toThrow(`"answer" cannot happen to a request that is ${state}`);
          return;
        }
        const { next, raise } = answered();
        const wanted = table[name][send === "first" ? 0 : 1];
        const raised = raise.map((one) =>
          "alarm" in one ? one.alarm : "warning" in one ? `warning ${one.warning}` : one.breaker,
        );
        expect({
          state: next.state,
          action: nextAction(next, policy, later(at, 10_000)).do,
          sends: next.sends,
          raised,
        }).toEqual({
          state: wanted.state,
          action: wanted.action,
          sends: wanted.sends,
          raised: wanted.raise === undefined ? [] : [wanted.raise],
        });
        // A send is unresolved until something settles it, and what never ran leaves nothing unresolved.
        const settled = ["done", "rejected", "ready"].includes(next.state);
        expect(next.unresolved === null).toBe(settled);
        if (send === "later" && next.state === "sending" && name !== "in-flight")
          expect(next.unresolved).toEqual(start);
      });

      test.each(["a crash", "a commit that failed"])("%s", () => {
        const boot = { boot: "b2", monoMs: 7, wallMs: start.wallMs + 60_000 };
        const request = requestIn(state, send, preflight);
        const { next, raise } = advance(request, { type: "restart", at: boot }, policy);
        expect(next.state).toBe(restarted[state]);
        expect(raise).toEqual([]);
        const action = nextAction(next, policy, boot).do;
        // Nothing is sent again before it was looked for, and nothing is looked for before it settled.
        expect(action).toBe(
          { ready: preflight ? "read" : "send", preflight: "read", unknown: "wait" }[
            next.state as string
          ] ?? "nothing",
        );
      });
    });
  });
});

test("a conflict that we do not know ends with a person when reads find nothing, and with the truth when they do", () => {
  const policy = policyWith(true);
  const conflicted = advance(
    requestIn("sending", "first", true),
    {
      type: "answer",
      at: start,
      chance: 0,
      answer: outcomeOf({ name: "conflict", detail: "409 TAKEN" }),
    },
    policy,
  ).next;
  const read = (request: RequestState, found: "none" | "exact"): RequestState =>
    advance(
      request,
      {
        type: "finding",
        at: later(start, 1_000_000),
        finding: found === "none" ? { found, detail: "" } : { found, ids: ["1"], detail: "" },
      },
      policy,
    ).next;
  expect(read(read(conflicted, "none"), "none").state).toBe("manual");
  expect(read(read(conflicted, "none"), "exact").state).toBe("done");
});

test("what may be sent again only once waits for a person the second time", () => {
  const policy = { ...policyWith(false), resendsMax: 1 };
  const lost = (request: RequestState): RequestState => {
    let next = advance(request, { type: "send", at: start }, policy).next;
    const failed = outcomeOf({ name: "failed", detail: "500" });
    next = advance(next, { type: "answer", at: start, chance: 0, answer: failed }, policy).next;
    for (let read = 0; read < policy.reads; read++)
      next = advance(
        next,
        { type: "finding", at: start, finding: { found: "none", detail: "" } },
        policy,
      ).next;
    return next;
  };
  const once = lost(freshRequest);
  expect(once.state).toBe("ready");
  expect(lost(once).state).toBe("manual");
});

import { describe, expect, test } from "vitest";
import { later, type Moment } from "./moment.ts";
import { type AnswerName, answerRules, type Finding, type Policy } from "./outcome.ts";
import { advance, type Event, nextAction } from "./request.ts";
import { freshRequest, legalMoves, type RequestState, requestStates } from "./request-state.ts";

const MINUTE = 60_000;
const policy: Policy = {
  settleMs: 15 * MINUTE,
  reads: 2,
  readGapMs: MINUTE,
  preflight: false,
  afterTimeout: "person",
  afterNone: "again",
  resendsMax: null,
  resend: "same",
  keyLifeMs: 23 * 60 * MINUTE,
  probeMs: 45_000,
};
const start: Moment = { boot: "b1", monoMs: 1_000, wallMs: 1_000_000 };
const answerNames = Object.keys(answerRules) as AnswerName[];

const step = (request: RequestState, event: Event, by = policy) => advance(request, event, by);
const answer = (name: AnswerName, at: Moment, waitMs?: number): Event => ({
  type: "answer",
  at,
  chance: 0.5,
  answer: { name, detail: name, ...(waitMs === undefined ? {} : { waitMs }) },
});
const finding = (found: Finding["found"], at: Moment): Event => ({
  type: "finding",
  at,
  finding: (found === "exact"
    ? { found, ids: ["x"], detail: "" }
    : { found, detail: "" }) as Finding,
});
/** Sent once, not answered. */
const sending = step(freshRequest, { type: "send", at: start }).next;
/** A first send torn off, sent again within the window. */
const again = (): RequestState => {
  const torn = step(sending, answer("torn", later(start, 100))).next;
  return step(torn, { type: "send", at: later(start, 2_000) }).next;
};

describe("what each answer leads to", () => {
  const only: Record<AnswerName, string> = {
    done: "done",
    replayed: "done",
    deleted: "done",
    unreadable: "sending",
    invalid: "rejected",
    "key-missing": "ready",
    unauthorised: "ready",
    forbidden: "ready",
    "not-found": "rejected",
    "already-gone": "done",
    "key-conflict": "manual",
    "in-flight": "sending",
    "outcome-unknown": "unknown",
    conflict: "unknown",
    retired: "ready",
    undecided: "sending",
    unsupported: "rejected",
    "slow-down": "ready",
    "month-spent": "ready",
    failed: "unknown",
    "timed-out": "unknown",
    "moved-maybe-done": "unknown",
    moved: "ready",
    "not-sent": "ready",
    torn: "sending",
  };
  const also: Partial<Record<AnswerName, string>> = {
    invalid: "unknown",
    "key-missing": "sending",
    unauthorised: "sending",
    forbidden: "sending",
    "not-found": "unknown",
    retired: "sending",
    unsupported: "unknown",
    "slow-down": "sending",
    "month-spent": "sending",
    moved: "sending",
    "not-sent": "sending",
  };
  test("all 25 answers that can arrive have a row of their own", () => {
    expect(answerNames.map((name) => answerRules[name].row)).toEqual(
      Array.from({ length: 25 }, (_, index) => index + 1),
    );
  });
  test.each(answerNames)("%s after the only send", (name) => {
    const { next } = step(sending, answer(name, later(start, 500)));
    expect(next.state).toBe(only[name]);
    expect(next.unresolved === null).toBe(["done", "rejected", "ready"].includes(next.state));
  });
  test.each(answerNames)("%s while an earlier send is unresolved", (name) => {
    const { next } = step(again(), answer(name, later(start, 2_500)));
    expect(next.state).toBe(also[name] ?? only[name]);
    if (next.state === "sending" && name !== "in-flight") expect(next.unresolved).toEqual(start);
  });
  test("a breaker costs no attempt and harms no request", () => {
    for (const name of ["unauthorised", "forbidden", "retired", "month-spent", "moved"] as const) {
      const { next, raise } = step(sending, answer(name, later(start, 10)));
      expect(next).toMatchObject({ state: "ready", sends: 0, failures: 0 });
      expect(raise).toHaveLength(1);
    }
  });
  test.each(["replayed", "in-flight"] as const)(
    "%s in answer to a first send is a warning and no alarm",
    (name) => {
      const { raise } = step(sending, answer(name, start));
      expect(raise).toEqual([{ warning: name, detail: name }]);
      expect(step(again(), answer(name, later(start, 3_000))).raise).toEqual([]);
    },
  );
});

describe("when the same bytes may go again", () => {
  const torn = step(sending, answer("torn", later(start, 100))).next;

  test("within 45 s of the earliest unresolved send, in the same boot", () => {
    expect(nextAction(torn, policy, later(start, 2_000))).toEqual({ do: "send" });
    expect(nextAction(again(), policy, later(start, 46_000)).do).toBe("wait");
  });
  test("never after a restart: settling counts from the start", () => {
    const boot = { boot: "b2", monoMs: 5, wallMs: 2_000_000 };
    const { next } = step(torn, { type: "restart", at: boot });
    expect(next.state).toBe("unknown");
    expect(nextAction(next, policy, later(boot, 14 * MINUTE)).do).toBe("wait");
    expect(nextAction(next, policy, later(boot, 15 * MINUTE))).toEqual({
      do: "read",
      preflight: false,
    });
  });
  test("the wall clock is not asked: a jump opens no window", () => {
    const jumped = { ...later(start, 50_000), wallMs: start.wallMs - 30 * 60 * MINUTE };
    expect(nextAction(again(), policy, jumped).do).toBe("wait");
  });
  test("only after as many reads as the policy asks for found nothing", () => {
    const failed = step(sending, answer("failed", later(start, 200))).next;
    const first = step(failed, finding("none", later(start, 16 * MINUTE))).next;
    expect(first).toMatchObject({ state: "unknown", negativeReads: 1 });
    const second = step(first, finding("none", later(start, 17 * MINUTE))).next;
    expect(second).toMatchObject({ state: "ready", generation: 0, unresolved: null });
    expect(nextAction(second, policy, later(start, 17 * MINUTE))).toEqual({ do: "send" });
  });
  test("a read that could not be made proves nothing", () => {
    const failed = step(sending, answer("failed", later(start, 200))).next;
    const { next } = step(failed, finding("unreadable", later(start, 16 * MINUTE)));
    expect(next).toMatchObject({ state: "unknown", negativeReads: 0 });
  });
});

test("after a timeout, money waits for a person and the rest goes on under a new key", () => {
  const timedOut = step(sending, answer("timed-out", later(start, 200))).next;
  const read = (by: Policy) => {
    const first = step(timedOut, finding("none", later(start, 16 * MINUTE)), by).next;
    return step(first, finding("none", later(start, 17 * MINUTE)), by).next;
  };
  expect(read(policy).state).toBe("manual");
  expect(read({ ...policy, afterTimeout: "again" })).toMatchObject({
    state: "ready",
    generation: 1,
    sends: 0,
  });
});

test("a price batch of unknown outcome never goes again: newer values take its place", () => {
  const by = { ...policy, resend: "anew", reads: 1 } as const;
  const failed = step(sending, answer("failed", later(start, 200)), by).next;
  for (const found of ["none", "different"] as const)
    expect(step(failed, finding(found, later(start, 6 * MINUTE)), by).next.state).toBe("cancelled");
});

test("a refusal while an earlier send was unresolved counts once a read finds nothing", () => {
  const refused = step(again(), answer("invalid", later(start, 3_000))).next;
  expect(refused.state).toBe("unknown");
  const first = step(refused, finding("none", later(start, 16 * MINUTE))).next;
  expect(step(first, finding("none", later(start, 17 * MINUTE))).next.state).toBe("rejected");
  expect(step(first, finding("exact", later(start, 17 * MINUTE))).next.state).toBe("done");
});

test("money is looked for before it is sent, and adopted when it is there", () => {
  const by = { ...policy, preflight: true };
  expect(nextAction(freshRequest, by, start)).toEqual({ do: "read", preflight: true });
  const looking = step(freshRequest, { type: "preflight", at: start }, by).next;
  expect(step(looking, finding("exact", start), by).next).toMatchObject({
    state: "done",
    evidence: "read",
  });
  expect(step(looking, finding("different", start), by).next.state).toBe("manual");
  const absent = step(looking, finding("none", start), by).next;
  expect(nextAction(absent, by, start)).toEqual({ do: "send" });
});

test("two exact matches raise an alarm and wait for a person", () => {
  const failed = step(sending, answer("failed", later(start, 200))).next;
  const { next, raise } = step(failed, finding("several", later(start, 16 * MINUTE)));
  expect(next.state).toBe("manual");
  expect(raise).toEqual([{ alarm: "doubled", detail: "" }]);
});

test("a key older than its life is replaced, and after three generations a person decides", () => {
  const old: RequestState = { ...freshRequest, sends: 1, firstSentWallMs: start.wallMs };
  const at = later(start, 23 * 60 * MINUTE);
  expect(nextAction(old, policy, at)).toEqual({ do: "renew" });
  expect(step(old, { type: "renew", at }).next).toMatchObject({
    generation: 1,
    firstSentWallMs: null,
  });
  expect(step({ ...old, generation: 2 }, { type: "renew", at }).next.state).toBe("manual");
});

test("no event makes an illegal move, whatever the state", () => {
  const events: Event[] = [
    { type: "preflight", at: start },
    { type: "send", at: start },
    { type: "restart", at: start },
    { type: "renew", at: start },
    ...(["done", "cancel"] as const).map(
      (decision) => ({ type: "decision", at: start, decision }) as const,
    ),
    ...answerNames.map((name) => answer(name, start)),
    ...(["exact", "different", "several", "none", "unreadable"] as const).map((found) =>
      finding(found, start),
    ),
  ];
  let refused = 0;
  for (const state of requestStates)
    for (const event of events) {
      const request = { ...again(), state };
      try {
        const { next } = step(request, event);
        if (next.state !== state)
          expect(legalMoves[state], `${state} ${event.type}`).toContain(next.state);
      } catch (error) {
        expect((error as Error).message).toMatch(/cannot happen to a request that is/);
        refused++;
      }
    }
  expect(refused).toBeGreaterThan(100);
});

test("told to wait without a time, it still waits", () => {
  for (const name of ["slow-down", "retired"] as const) {
    const { next } = step(sending, answer(name, later(start, 10)));
    expect(nextAction(next, policy, later(start, 4_000)).do).toBe("wait");
  }
});

test("a send that did nothing counts for nothing while an earlier one is unresolved", () => {
  let request = again();
  for (let tries = 1; tries <= 5; tries++) {
    const at = later(start, 2_000 + tries * 6_500);
    request = step(request, answer("not-sent", at)).next;
    expect(request).toMatchObject({ state: "sending", sends: 1, unresolved: start });
    expect(nextAction(request, policy, later(at, 1_000)).do).toBe("wait");
    request = step(request, { type: "send", at: later(at, 6_001) }).next;
  }
});

test("a key that was first used by a clock that was ahead is as good as too old", () => {
  const ahead = { ...start, wallMs: start.wallMs + 26 * 60 * MINUTE };
  const request = { ...freshRequest, sends: 1, firstSentWallMs: ahead.wallMs, preflighted: true };
  expect(nextAction(request, policy, start).do).toBe("renew");
  const slewed = { ...request, firstSentWallMs: start.wallMs + MINUTE };
  expect(nextAction(slewed, policy, start).do).toBe("send");
});

/** What the request machine makes of the platform's answers, by their names. */
import { describe, expect, test } from "vitest";
import { later, type Moment } from "../core/time.ts";
import { advance, type Event, freshRequest, type RequestState } from "../core/request.ts";
import { type AnswerName, answerRules, executed, outcomeOf } from "./answers.ts";
import { money } from "./sinks/write.ts";

const policy = { ...money, preflight: false };
const start: Moment = { boot: "b1", monoMs: 1_000, wallMs: 1_000_000 };
const answerNames = Object.keys(answerRules) as AnswerName[];

const step = (request: RequestState, event: Event) => advance(request, event, policy);
const answer = (name: AnswerName, at: Moment): Event => ({
  type: "answer",
  at,
  chance: 0.5,
  answer: outcomeOf({ name, detail: name }),
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
    taken: "ready",
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
    taken: "sending",
    retired: "sending",
    unsupported: "unknown",
    "slow-down": "sending",
    "month-spent": "sending",
    moved: "sending",
    "not-sent": "sending",
  };
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

test("told to slow down without a time, it still waits; and what held the key says for how long", () => {
  expect(outcomeOf({ name: "slow-down", detail: "429" })).toEqual({
    outcome: "nothing",
    detail: "429",
    waitMs: 5_000,
  });
  const held = { name: "outcome-unknown", detail: "409" } as const;
  expect(outcomeOf(held)).toMatchObject({ outcome: "unknown", holdMs: 60_000 });
  expect(outcomeOf({ ...held, waitMs: 41_000 })).toMatchObject({ holdMs: 41_000 });
});

test("of each answer it is known whether the write took place", () => {
  const by = Object.groupBy(answerNames, executed);
  expect(by.yes).toEqual(["done", "replayed", "deleted", "already-gone"]);
  expect(by.unknown).toEqual([
    "unreadable",
    "key-conflict",
    "in-flight",
    "outcome-unknown",
    "conflict",
    "undecided",
    "failed",
    "timed-out",
    "moved-maybe-done",
    "torn",
  ]);
  expect(by.no).toHaveLength(26 - 4 - 10);
});

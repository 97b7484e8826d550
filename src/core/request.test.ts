import { describe, expect, test } from "vitest";
import { later, type Moment } from "./time.ts";
import {
  type Answer,
  done,
  type Finding,
  nothingDone,
  type Policy,
  refused,
  unanswered,
  unknown,
} from "./outcome.ts";
import {
  advance,
  type Event,
  freshRequest,
  legalMoves,
  nextAction,
  type RequestState,
  requestStates,
} from "./request.ts";

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
const start: Moment = {
  boot: "b1",
  monoMs: 1_000,
  wallMs: 1_000_000,
  machine: { boot: "m1", upMs: 1_000_000 },
};
const failed = unknown("failed", { holdMs: MINUTE });
const timedOut = unknown("timed out", { holdMs: 24 * 60 * MINUTE });
const invalid = refused({ code: "invalid", message: "a price is missing", next: "Correct it." });
/** Every outcome with everything that may come with it. */
const answers: readonly Answer[] = [
  done("", ["1"]),
  done("", ["1"], { repeated: true }),
  invalid,
  { ...invalid, stop: "configuration" },
  nothingDone(""),
  nothingDone("", { waitMs: 1_000 }),
  nothingDone("", { stop: "scope" }),
  unanswered(""),
  unknown("", { probe: true }),
  unknown("", { probe: true, running: true }),
  unknown(""),
  unknown("", { stop: "configuration" }),
  failed,
  timedOut,
  unknown("", { person: "unless-found" }),
  unknown("", { person: "now", stop: "split-brain" }),
];

const step = (request: RequestState, event: Event, by = policy) => advance(request, event, by);
const answer = (told: Answer, at: Moment): Event => ({
  type: "answer",
  at,
  chance: 0.5,
  answer: told,
});
const finding = (found: Finding["found"], at: Moment): Event => ({
  type: "finding",
  at,
  finding: (found === "exact"
    ? { found, ids: ["x"], detail: "" }
    : { found, detail: "" }) as Finding,
});
/** The first moment of a process that begins so many minutes after `start`. */
const onMachine = (boot: string, sinceMin: number, machine: string): Moment => ({
  boot,
  monoMs: 5,
  wallMs: 0,
  machine: { boot: machine, upMs: 1_000_000 + sinceMin * MINUTE },
});
/** Sent once, not answered. */
const sending = step(freshRequest, { type: "send", at: start }).next;
/** A first send torn off, sent again within the window. */
const again = (): RequestState => {
  const torn = step(sending, answer(unanswered("reset"), later(start, 100))).next;
  return step(torn, { type: "send", at: later(start, 2_000) }).next;
};

describe("when the same bytes may go again", () => {
  const torn = step(sending, answer(unanswered("reset"), later(start, 100))).next;

  test("within 45 s of the earliest unresolved send, in the same boot", () => {
    expect(nextAction(torn, policy, later(start, 2_000))).toEqual({ do: "send" });
    expect(nextAction(again(), policy, later(start, 46_000)).do).toBe("wait");
  });
  const lost = step(sending, answer(failed, later(start, 100))).next;

  test.each([
    ["four minutes later: settling goes on by the machine's clock", 4, "m1", 11],
    ["when settling is over", 20, "m1", 0],
    ["of the machine: settling begins anew", 4, "m2", 15],
    ["of a machine whose clock went back: settling is as long as it was", -5, "m1", 20],
  ])("never after a restart %s", (_, agoMin, machine, leftMin) => {
    const boot = onMachine("b2", agoMin, machine);
    const { next } = step(lost, { type: "restart", at: boot });
    expect(next.state).toBe("unknown");
    if (leftMin > 0)
      expect(nextAction(next, policy, later(boot, leftMin * MINUTE - 1)).do).toBe("wait");
    expect(nextAction(next, policy, later(boot, leftMin * MINUTE)).do).toBe("read");
  });
  test.each([5, 0.5])("restarts every %d minutes do not keep it from being settled", (every) => {
    let request = lost;
    for (let at = every; at <= 30 && request.state !== "ready"; at += every) {
      const boot = onMachine(`b${at}`, at, "m1");
      request = step(request, { type: "restart", at: boot }).next;
      const end = later(boot, (every - 0.1) * MINUTE);
      if (nextAction(request, policy, end).do === "read")
        request = step(request, finding("none", end)).next;
    }
    expect(request).toMatchObject({ state: "ready", proofs: 1 });
  });
  test("a wall clock that is set forward while nothing runs ends no settling", () => {
    const boot = { boot: "b2", monoMs: 5, wallMs: start.wallMs + 30 * 60 * MINUTE };
    const { next } = step(lost, { type: "restart", at: boot });
    expect(nextAction(next, policy, later(boot, 15 * MINUTE - 1)).do).toBe("wait");
  });
  test("what was being sent when the process ended settles from the restart, whatever the clocks say", () => {
    const boot = { boot: "b2", monoMs: 5, wallMs: 0 };
    const { next } = step(torn, { type: "restart", at: boot });
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
    const first = step(lost, finding("none", later(start, 16 * MINUTE))).next;
    expect(first).toMatchObject({ state: "unknown", negativeReads: 1 });
    const second = step(first, finding("none", later(start, 17 * MINUTE))).next;
    expect(second).toMatchObject({ state: "ready", generation: 0, unresolved: null });
    expect(nextAction(second, policy, later(start, 17 * MINUTE))).toEqual({ do: "send" });
  });
  test("a read that could not be made proves nothing", () => {
    const lost = step(sending, answer(failed, later(start, 200))).next;
    const { next } = step(lost, finding("unreadable", later(start, 16 * MINUTE)));
    expect(next).toMatchObject({ state: "unknown", negativeReads: 0 });
  });
});

test("after a timeout, money waits for a person and the rest goes on under a new key", () => {
  const lost = step(sending, answer(timedOut, later(start, 200))).next;
  const read = (by: Policy) => {
    const first = step(lost, finding("none", later(start, 16 * MINUTE)), by).next;
    return step(first, finding("none", later(start, 17 * MINUTE)), by).next;
  };
  expect(read(policy).state).toBe("manual");
  expect(read({ ...policy, afterTimeout: "again" })).toMatchObject({
    state: "ready",
    generation: 1,
    sends: 0,
  });
});

describe("a price batch of unknown outcome", () => {
  const by = { ...policy, resend: "anew", reads: 1 } as const;
  const after = (told: Answer) => step(sending, answer(told, later(start, 200)), by).next;
  const torn = after(unanswered("reset"));

  test("that was answered never goes again: newer values take its place", () => {
    for (const found of ["none", "different"] as const)
      for (const told of [failed, timedOut])
        expect(step(after(told), finding(found, later(start, 6 * MINUTE)), by).next.state).toBe(
          "cancelled",
        );
  });

  test("that got no answer goes once more under its key, whatever a read finds", () => {
    for (const found of ["none", "different", "exact"] as const) {
      const at = later(start, 6 * MINUTE);
      const { next } = step(torn, finding(found, at), by);
      expect(next).toMatchObject({ state: "ready", generation: 0, unresolved: null });
      expect(nextAction(next, by, at)).toEqual({ do: "send" });
    }
  });

  test("the same after a kill while it was being sent, and however often it was sent", () => {
    const boot = { boot: "b2", monoMs: 5, wallMs: 2_000_000 };
    const restarted = step({ ...sending, sends: 40 }, { type: "restart", at: boot }, by).next;
    const { next } = step(restarted, finding("none", later(boot, 6 * MINUTE)), by);
    expect(next).toMatchObject({ state: "ready", generation: 0 });
  });

  test("waits for the hold of a failure, and not for that of a timeout, which outlasts the network", () => {
    const second = (told: Answer) => {
      const sent = step(torn, { type: "send", at: later(start, 2_000) }, by).next;
      return step(sent, answer(told, later(start, 3_000)), by).next;
    };
    const at = later(start, 10_000);
    const { next } = step(second(failed), finding("none", at), by);
    expect(nextAction(next, by, at)).toEqual({ do: "wait", until: later(start, 63_000) });
    expect(step(second(timedOut), finding("none", at), by).next.state).toBe("cancelled");
  });

  test("whose key grows too old is replaced by the values of then", () => {
    const at = later(start, 23 * 60 * MINUTE);
    expect(step(torn, finding("none", at), by).next.state).toBe("cancelled");
    const ready = step(torn, finding("none", later(start, 6 * MINUTE)), by).next;
    expect(nextAction(ready, by, at)).toEqual({ do: "renew" });
    expect(step(ready, { type: "renew", at }, by).next.state).toBe("cancelled");
  });
});

test("a refusal while an earlier send was unresolved counts once a read finds nothing", () => {
  const refused = step(again(), answer(invalid, later(start, 3_000))).next;
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
  const lost = step(sending, answer(failed, later(start, 200))).next;
  const { next, raise } = step(lost, finding("several", later(start, 16 * MINUTE)));
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
    ...answers.map((told) => answer(told, start)),
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
  for (const stop of ["quota", "version"] as const) {
    const { next } = step(sending, answer(nothingDone("", { stop }), later(start, 10)));
    expect(nextAction(next, policy, later(start, 4_000)).do).toBe("wait");
  }
});

test("a send that did nothing counts for nothing while an earlier one is unresolved", () => {
  let request = again();
  for (let tries = 1; tries <= 5; tries++) {
    const at = later(start, 2_000 + tries * 6_500);
    request = step(request, answer(nothingDone("no route"), at)).next;
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

import { describe, expect, test } from "vitest";
import { never, outgoing, usePlatform } from "../../test/platform/support.ts";
import { SourceUnavailable } from "../core/errors.ts";
import { advance, freshRequest } from "../core/request.ts";
import { type AnswerName, answerOf, answerRules, bodyOf, executed, outcomeOf } from "./answers.ts";
import type { Exchange } from "./client.ts";
import { money } from "./sinks/write.ts";

const now = new Date("2026-11-21T12:00:00Z");
const created = JSON.stringify({ success: true, data: { id: "inv-1" } });

const answer = (status: number, text = "", headers: Record<string, string> = {}): Exchange => ({
  kind: "answer",
  status,
  headers,
  text,
});
const failed = (code: string, more: object = {}): string =>
  JSON.stringify({ success: false, error: { code, message: "Said so.", ...more } });
const idOf = (data: unknown): readonly string[] | null => {
  const id = (data as { id?: unknown } | undefined)?.id;
  return typeof id === "string" ? [id] : null;
};
const read = (exchange: Exchange) => answerOf(exchange, idOf, now);

describe("what an answer to a write means", () => {
  test.each([
    [201, "", created, {}, "done"],
    [200, "", created, {}, "done"],
    [201, "", created, { "idempotency-replayed": "true" }, "replayed"],
    // What the specification gives a write is 200, 201 and, to a deletion, 204: all else says nothing of a record.
    [202, "", created, {}, "unreadable"],
    [203, "", created, {}, "unreadable"],
    [204, "", "", {}, "unreadable"],
    [400, "VALIDATION_ERROR", null, {}, "invalid"],
    [400, "SOMETHING_NEW", null, {}, "invalid"],
    [400, "", "<html>Bad Request</html>", {}, "invalid"],
    [400, "IDEMPOTENCY_KEY_REQUIRED", null, {}, "key-missing"],
    [401, "INVALID_API_KEY", null, {}, "unauthorised"],
    [403, "INSUFFICIENT_SCOPE", null, {}, "forbidden"],
    [404, "NOT_FOUND", null, {}, "not-found"],
    [409, "IDEMPOTENCY_KEY_CONFLICT", null, {}, "key-conflict"],
    [409, "IDEMPOTENCY_IN_FLIGHT", null, {}, "in-flight"],
    [409, "IDEMPOTENCY_OUTCOME_UNKNOWN", null, {}, "outcome-unknown"],
    [409, "SOMETHING_NEW", null, {}, "conflict"],
    [409, "", "", {}, "conflict"],
    [410, "GONE", null, {}, "retired"],
    [408, "", "", {}, "undecided"],
    [425, "", "", {}, "undecided"],
    [405, "", "", {}, "unsupported"],
    [406, "", "", {}, "unsupported"],
    [411, "", "", {}, "unsupported"],
    [413, "PAYLOAD_TOO_LARGE", null, {}, "unsupported"],
    [414, "", "", {}, "unsupported"],
    [415, "UNSUPPORTED_MEDIA_TYPE", null, {}, "unsupported"],
    [418, "", "", {}, "unsupported"],
    [422, "", "", {}, "unsupported"],
    [431, "", "", {}, "unsupported"],
    [429, "RATE_LIMIT_EXCEEDED", null, {}, "slow-down"],
    [429, "", "", {}, "slow-down"],
    [429, "MONTHLY_CAP_EXCEEDED", null, {}, "month-spent"],
    [500, "INTERNAL_ERROR", null, {}, "failed"],
    [502, "", "<html>Bad Gateway</html>", {}, "failed"],
    [503, "", "", {}, "failed"],
    [599, "", "", {}, "failed"],
    [504, "REQUEST_TIMEOUT", null, {}, "timed-out"],
    [504, "", "<html>Gateway Time-out</html>", {}, "timed-out"],
    [301, "", "", {}, "moved-maybe-done"],
    [302, "", "", {}, "moved-maybe-done"],
    [303, "", "", {}, "moved-maybe-done"],
    [304, "", "", {}, "moved-maybe-done"],
    [307, "", "", {}, "moved"],
    [308, "", "", {}, "moved"],
  ] as const)("%i %s", (status, code, text, headers, name) => {
    const found = read(answer(status, text ?? failed(code), headers));
    expect(found.name).toBe(name);
    expect(found.detail).toContain(String(status));
    expect(found.detail).toContain(code);
  });

  test("what is not there needs no deleting", () => {
    expect(answerOf(answer(204), idOf, now, "DELETE")).toEqual({
      name: "deleted",
      detail: "204",
      ids: [],
    });
    const gone = answerOf(answer(404, failed("NOT_FOUND")), idOf, now, "DELETE");
    expect(gone).toEqual({ name: "already-gone", detail: "404 NOT_FOUND: Said so.", ids: [] });
    expect(answerRules[gone.name]).toEqual({ outcome: "done" });
    expect(answerOf(answer(404), idOf, now, "PUT").name).toBe("not-found");
    // A page of something in between does not say that it is gone.
    for (const text of ["", "<h1>Not Found</h1>", '{"type":"about:blank","status":404}'])
      expect(answerOf(answer(404, text), idOf, now, "DELETE").name).toBe("not-found");
    expect(answerOf(answer(403), idOf, now, "DELETE").name).toBe("forbidden");
  });

  test.each([
    ["text", "Duplicate of INV-1\n", "Duplicate of INV-1"],
    [
      "a page",
      "<html><style>p { x }</style><title>422</title><p>No&nbsp;total</p>",
      "No&nbsp;total",
    ],
    ["a list of errors", '[{"field":"total","error":"bad"}]', '[{"field":"total","error":"bad"}]'],
    ["a problem of RFC 9457", '{"title":"Locked","status":423}', '{"title":"Locked","status":423}'],
    ["an error that is a text", '{"error":"locked"}', '{"error":"locked"}'],
    ["nothing", "", "422"],
    ["a long page", "x".repeat(5_000), "x".repeat(200)],
  ])("a refusal that is no error envelope is told in its own words: %s", (_, text, words) => {
    const { detail, fault } = read(answer(422, text));
    expect(fault?.message).toBe(`the platform refused it: ${words}`);
    expect(detail).toBe(text === "" ? "422 (no code)" : `422 (no code): ${words}`);
  });

  test("an exchange that failed says how", () => {
    for (const kind of ["not-sent", "torn"] as const)
      expect(read({ kind, detail: "ECONNRESET: gone" })).toEqual({
        name: kind,
        detail: "ECONNRESET: gone",
      });
  });

  test.each([
    ["cut off", created.slice(0, -9)],
    ["HTML", "<html><body>It works</body></html>"],
    ["empty", ""],
    ["not a success", '{"success":false,"data":{"id":"inv-1"}}'],
    ["success in other words", '{"success":"true","data":{"id":"inv-1"}}'],
    ["without data", '{"success":true}'],
    ["with data null", '{"success":true,"data":null}'],
    ["without an id", '{"success":true,"data":{}}'],
    ["with an id that is no text", '{"success":true,"data":{"id":7}}'],
    ["a bare value", "7"],
    ["null", "null"],
  ])("a success that is %s was executed, as far as anybody knows", (_, text) => {
    expect(read(answer(201, text)).name).toBe("unreadable");
    expect(read(answer(200, text, { "idempotency-replayed": "true" })).name).toBe("unreadable");
  });

  test.each(["null", "[]", '"text"', '{"error":null}', '{"error":"text"}', '{"error":{"code":7}}'])(
    "an error that is %s is known by its status",
    (text) => {
      expect(read(answer(409, text)).name).toBe("conflict");
      expect(read(answer(500, text))).toEqual({
        name: "failed",
        detail: `500 (no code): ${text}`,
      });
    },
  );

  test("the kind of a 429 decides where its code does not", () => {
    expect(read(answer(429, failed("LIMIT", { kind: "quota" }))).name).toBe("month-spent");
    expect(read(answer(429, failed("LIMIT", { kind: "burst" }))).name).toBe("slow-down");
  });

  test("what the budget does not allow was not executed, and stops until it does", () => {
    const held: Exchange = { kind: "held", detail: "all used", waitMs: 3_600_000 };
    expect(read(held)).toEqual({ name: "month-spent", detail: "all used", waitMs: 3_600_000 });
    // A minute that is used up is no matter of the month.
    expect(read({ ...held, waitMs: 42_000 })).toMatchObject({ name: "slow-down", waitMs: 42_000 });
    // Nor is a site's share of the month, which grows: it waits, and stops nothing.
    const share: Exchange = { ...held, waitMs: 900_000, turn: true };
    expect(outcomeOf(read(share))).toEqual({
      outcome: "nothing",
      detail: "all used",
      waitMs: 900_000,
    });
    expect(outcomeOf(read(held))).toEqual({
      outcome: "nothing",
      stop: "quota",
      detail: "all used",
      waitMs: 3_600_000,
      next: expect.stringContaining("fuelbridge release quota"),
    });
  });

  test("the receiver's ids and its own id of the exchange are kept", () => {
    expect(read(answer(201, created, { "x-request-id": "req-7" }))).toEqual({
      name: "done",
      detail: "201",
      ids: ["inv-1"],
      requestId: "req-7",
    });
    expect(read(answer(503, "", { "x-request-id": "req-8" }))).toMatchObject({
      requestId: "req-8",
    });
  });
});

describe("how long we are told to wait", () => {
  const wait = (status: number, error: object, headers: Record<string, string> = {}) =>
    read(answer(status, JSON.stringify({ success: false, error }), headers)).waitMs;

  test.each([
    ["Retry-After", {}, { "retry-after": "7" }, 7_000],
    ["Retry-After of 0", {}, { "retry-after": "0" }, 0],
    ["Retry-After as a date", {}, { "retry-after": "Sat, 21 Nov 2026 12:00:30 GMT" }, 30_000],
    ["Retry-After in words", {}, { "retry-after": "soon" }, undefined],
    ["a negative Retry-After", {}, { "retry-after": "-5" }, undefined],
    ["retryAfterSec", { retryAfterSec: 9 }, {}, 9_000],
    ["retryAfterSec in the details", { details: { retryAfterSec: 9 } }, {}, 9_000],
    ["resetAt", { resetAt: "2026-11-21T12:00:20Z" }, {}, 20_000],
    ["resetAt in the details", { details: { resetAt: "2026-11-21T13:00:20+01:00" } }, {}, 20_000],
    ["resetAt in seconds", { resetAt: now.getTime() / 1000 + 20 }, {}, 20_000],
    ["resetAt in milliseconds", { resetAt: now.getTime() + 20_000 }, {}, 20_000],
    ["resetAt that is over", { resetAt: "2026-11-21T11:59:00Z" }, {}, 0],
    ["resetAt that is none", { resetAt: "next month" }, {}, undefined],
    ["nothing", {}, {}, undefined],
    ["null", { retryAfterSec: null, resetAt: null, details: null }, {}, undefined],
    ["the longest of all", { retryAfterSec: 3 }, { "retry-after": "2" }, 3_000],
    ["a year, which is not believed", { retryAfterSec: 31_536_000 }, {}, 32 * 86_400_000],
  ])("%s", (_, error, headers, waitMs) => {
    expect(wait(503, error, headers)).toBe(waitMs);
  });

  test("resetAt beside the error counts too", () => {
    const text = JSON.stringify({ success: false, error: {}, resetAt: "2026-12-01T00:00:00Z" });
    expect(read(answer(429, text)).waitMs).toBe(Date.parse("2026-12-01") - now.getTime());
  });

  test("RateLimit-Reset counts for a 429 only: every answer carries it", () => {
    const headers = { "ratelimit-reset": "41" };
    expect(wait(429, {}, headers)).toBe(41_000);
    expect(wait(503, {}, headers)).toBeUndefined();
  });
});

describe("how long the month is closed", () => {
  const monthly = (more: object, headers: Record<string, string> = {}) =>
    read(answer(429, failed("MONTHLY_CAP_EXCEEDED", more), headers)).waitMs;

  test("RateLimit-Reset speaks of the minute: without a resetAt nobody has told", () => {
    expect(monthly({}, { "ratelimit-reset": "41", "ratelimit-remaining": "500" })).toBeUndefined();
  });

  test("until resetAt, and where that is over by our clock, a minute", () => {
    const until = Date.parse("2026-12-01") - now.getTime();
    expect(monthly({ resetAt: "2026-12-01T00:00:00Z" }, { "ratelimit-reset": "41" })).toBe(until);
    expect(monthly({ details: { resetAt: "2026-12-01T00:00:00Z" } })).toBe(until);
    expect(monthly({ resetAt: "2026-11-21T11:59:00Z" })).toBe(60_000);
  });
});

describe("why a document was refused", () => {
  test("code, words and details are for people, and the field where it is named", () => {
    const details = {
      issues: [{ path: "lineItems.0.amount", message: "must be rate times gallons" }],
    };
    expect(read(answer(400, failed("VALIDATION_ERROR", { details }))).fault).toEqual({
      code: "platform-validation-error",
      message: `the platform refused it: Said so. (${JSON.stringify(details)})`,
      next: "Correct the document in the ERP, or the mapping, then retry.",
      field: "lineItems.0.amount",
    });
  });

  test.each([
    [{ field: "total" }, "total"],
    [{ issues: [{ path: ["lineItems", 0, "rate"] }] }, "lineItems.0.rate"],
    [["total must be positive"], undefined],
    ["total", undefined],
  ])("details %j name the field %s", (details, field) => {
    expect(read(answer(400, failed("VALIDATION_ERROR", { details }))).fault?.field).toBe(field);
  });

  test("a refusal without an envelope is named by its status", () => {
    expect(read(answer(422, "<html>")).fault).toMatchObject({
      code: "platform-422",
      message: "the platform refused it: 422",
    });
  });

  test("a redirect is told with where it leads, without the query that may carry a session", () => {
    const moved = answer(308, "", { location: "https://new.test/v1?session=s3cret" });
    expect(read(moved).detail).toBe("308 (no code): sends on to https://new.test/v1");
  });

  test("nothing but a refusal of the document is its fault", () => {
    for (const status of [401, 403, 408, 409, 410, 429, 500, 504, 302, 307])
      expect(read(answer(status, failed("X"))), String(status)).not.toHaveProperty("fault");
  });
});

describe("what stops reading", () => {
  const stopOf = (exchange: Exchange) => {
    try {
      bodyOf(exchange, "/invoices", now);
    } catch (error) {
      return error instanceof SourceUnavailable ? error.stop : error;
    }
    return "nothing";
  };
  test.each([
    [401, "INVALID_API_KEY", "credentials"],
    [403, "INSUFFICIENT_SCOPE", "scope"],
    [410, "GONE", "version"],
    [429, "MONTHLY_CAP_EXCEEDED", "quota"],
    [302, "", "configuration"],
    [308, "", "configuration"],
    [204, "", "configuration"],
    [429, "RATE_LIMIT_EXCEEDED", null],
    [400, "VALIDATION_ERROR", null],
    [404, "NOT_FOUND", null],
    [408, "", null],
    [500, "INTERNAL_ERROR", null],
    [504, "REQUEST_TIMEOUT", null],
  ])("%i %s: %s", (status, code, stop) => {
    expect(stopOf(answer(status, failed(code)))).toBe(stop);
  });
  test("a network that fails stops nothing", () => {
    expect(stopOf({ kind: "torn", detail: "x" })).toBeNull();
    expect(stopOf({ kind: "not-sent", detail: "x" })).toBeNull();
    expect(stopOf(answer(200))).toBe("nothing");
  });
  test("what the budget does not allow stops nothing: it is a pause with a name", () => {
    const held: Exchange = { kind: "held", detail: "all used", waitMs: 42_000 };
    expect(() => bodyOf(held, "/orders", now)).toThrow(
      expect.objectContaining({
        stop: null,
        waitMs: 42_000,
        message: "paused: budget: /orders was not read: all used",
      }),
    );
    const codeOf = (exchange: Exchange): unknown => {
      try {
        return bodyOf(exchange, "/orders", now);
      } catch (error) {
        return (error as SourceUnavailable).code;
      }
    };
    expect([codeOf(held), codeOf({ ...held, turn: true })]).toEqual(["budget", "turn"]);
  });

  test("it says how long to wait", () => {
    expect(() => bodyOf(answer(503, "", { "retry-after": "30" }), "/orders", now)).toThrow(
      expect.objectContaining({ waitMs: 30_000 }),
    );
  });
});

test("a breaker costs no attempt and harms no request", () => {
  const policy = { ...money, preflight: false };
  const at = { boot: "b1", monoMs: 1_000, wallMs: 1_000_000 };
  const sending = advance(freshRequest, { type: "send", at }, policy).next;
  for (const name of ["unauthorised", "forbidden", "retired", "month-spent", "moved"] as const) {
    const answer = outcomeOf({ name, detail: name });
    const { next, raise } = advance(sending, { type: "answer", at, chance: 0.5, answer }, policy);
    expect(next).toMatchObject({ state: "ready", sends: 0, failures: 0 });
    expect(raise).toHaveLength(1);
  }
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
  const by = Object.groupBy(Object.keys(answerRules) as AnswerName[], executed);
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

describe("the sandbox's own answers", () => {
  const platform = usePlatform();
  const { control } = platform;
  const price = (text = "2.5"): string => `{"terminalId":"T","product":"ULSD","price":${text}}`;
  const send = (document = price(), key = "supplier") => {
    const sink = platform.sink("rackPrices", {}, key);
    return sink.send(outgoing(sink, [document]), never);
  };
  const onPrices = { method: "POST", path: "/pricing/bulk/rack" };

  test("the minute that is used up and the month that is used up are told apart", async () => {
    await control.limits({ key: "supplier", perMinute: 0 });
    const burst = await send();
    expect(burst).toMatchObject({ outcome: "nothing", waitMs: expect.any(Number) as number });
    expect(burst).not.toHaveProperty("stop");
    expect(burst.waitMs).toBeLessThanOrEqual(61_000);
    await control.limits({ key: "supplier", perMinute: 600, monthlyCap: 0 });
    const quota = await send();
    expect(quota).toMatchObject({ outcome: "nothing", stop: "quota" });
    const next = new Date(await control.now());
    const reset = Date.UTC(next.getUTCFullYear(), next.getUTCMonth() + 1, 1) - next.getTime();
    expect(quota.waitMs).toBeGreaterThan(reset - 60_000);
  });

  test("a key without the scope, a wrong address, a wrong key", async () => {
    const forbidden = { outcome: "nothing", stop: "scope" };
    expect(await send(price(), "supplier-read-only")).toMatchObject(forbidden);
    expect(await send(price(), "supplier-blocked-ip")).toMatchObject(forbidden);
    const client = platform.client({ apiKey: "svc_live_of-nobody" });
    const path = "/pricing/bulk/rack";
    const request = { method: "POST", path, purpose: "write", body: "{}" } as const;
    expect(read(await client.exchange(request)).name).toBe("unauthorised");
  });

  test("the same key again: replayed; with another body: a conflict", async () => {
    const first = await send();
    expect(first).toMatchObject({ outcome: "done" });
    expect(first).not.toHaveProperty("repeated");
    expect(await send()).toMatchObject({ outcome: "done", repeated: true });
    expect(await send(price("2.6"))).toMatchObject({
      outcome: "unknown",
      person: "now",
      stop: "split-brain",
    });
  });

  test.each([
    [500, 60_000],
    [504, 24 * 3_600_000],
  ])("after a %i the key is held, and says for how long", async (status, holdMs) => {
    await control.fault({ ...onPrices, kind: "status", status });
    expect(await send()).toMatchObject({ outcome: "unknown", holdMs });
    const again = await send();
    expect(again.outcome).toBe("unknown");
    expect(again.holdMs).toBeGreaterThan(holdMs - 60_000);
    expect(again.holdMs).toBeLessThanOrEqual(holdMs);
  });

  test("while the first is running: in flight", async () => {
    await control.fault({ ...onPrices, kind: "delay", ms: 300 });
    const both = await Promise.all([send(), send()]);
    expect(both.map(({ outcome }) => outcome).toSorted()).toEqual(["done", "unknown"]);
    expect(both.find(({ running }) => running)?.waitMs).toBe(1_000);
  });

  test("a fault's Retry-After", async () => {
    await control.fault({ ...onPrices, kind: "status", status: 503, retryAfter: 17 });
    expect(await send()).toMatchObject({ outcome: "unknown", waitMs: 17_000 });
  });
});

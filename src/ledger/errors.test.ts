import { expect, test } from "vitest";
import { LedgerError, type Verb } from "./port.ts";
import { answerOf, errorTable, sorted, unavailable } from "./errors.ts";

const rows = errorTable({
  "401 configuration:credentials unauthorised": "Run `fuelbridge quickbooks authorise`.",
});
const answered = (status: number, verb: Verb = "create") =>
  sorted(new LedgerError("answered", `HTTP ${status}`, { status }), verb, rows);

test("a stop is told with the advice of the books' own table, met by writing or by reading", () => {
  const next = "Run `fuelbridge quickbooks authorise`.";
  expect(answerOf(answered(401), false)).toMatchObject({ stop: "credentials", next });
  const error = new LedgerError("answered", "HTTP 401", { status: 401 });
  expect(unavailable(error, { name: "Books", errors: rows })).toMatchObject({
    stop: "credentials",
    next,
  });
});

test("who may start the books is told to; where somebody else runs them, people look where that one tells of disturbances", () => {
  const cut = new LedgerError("not-sent", "ECONNREFUSED");
  const books = { name: "Books", errors: rows };
  expect(unavailable(cut, books).next).toMatch(/^Start Books, or correct its address;/);
  const next = /^Look whether this machine reaches the internet, and what status\.example tells/;
  expect(unavailable(cut, { ...books, service: "status.example" }).next).toMatch(next);
});

test("a write that is refused in words that no row knows is told as such; a failing server, a cut and a look are not", () => {
  expect(answerOf(answered(400), false)).toMatchObject({ outcome: "unknown", unlisted: true });
  const coded = sorted(
    new LedgerError("answered", "status 3171", { code: "3171" }),
    "create",
    rows,
  );
  expect(answerOf(coded, false)).toMatchObject({ outcome: "unknown", unlisted: true });
  expect(answerOf(answered(503), false)).not.toHaveProperty("unlisted");
  const torn = sorted(new LedgerError("torn", "cut off"), "create", rows);
  expect(answerOf(torn, false)).toMatchObject({ outcome: "unknown", unanswered: true });
  expect(answerOf(torn, false)).not.toHaveProperty("unlisted");
  expect(answerOf(answered(400, "locate"), false)).toEqual({
    outcome: "nothing",
    detail: "HTTP 400",
  });
});

test("a race that a send lost again and again counts as a try of an unknown refusal; a busy server does not", () => {
  const table = errorTable({ "#6140 raced number-taken": "Look.", "#610 busy in-use": "Wait." });
  const ended = (code: string, wrote: boolean) =>
    answerOf(sorted(new LedgerError("answered", code, { code }), "create", table), wrote);
  expect(ended("6140", false)).toMatchObject({ outcome: "nothing", unlisted: true });
  expect(ended("6140", true)).toMatchObject({ outcome: "unknown", unlisted: true });
  expect(ended("610", false)).not.toHaveProperty("unlisted");
});

test("a row in short says all that a row does, and one that cannot be read is refused", () => {
  const closed = /closed/;
  expect(
    errorTable({ "409#stale|taken~closed@create busy:5000 busy": "Wait." }, { closed }),
  ).toEqual([
    {
      when: { status: 409, code: /^(?:stale|taken)$/, text: closed, verb: "create" },
      sort: "busy",
      waitMs: 5000,
      code: "busy",
      next: "Wait.",
    },
  ]);
  expect(errorTable({ "#x configuration:scope forbidden": "" })[0]).toMatchObject({
    stop: "scope",
  });
  expect(() => errorTable({ "#x~opened data no": "" }, { closed })).toThrow("cannot be read");
  expect(() => errorTable({ "/x data no": "" })).toThrow("cannot be read");
});

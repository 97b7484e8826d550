import { expect, test } from "vitest";
import { BookError, type Verb } from "./adapter.ts";
import { answerOf, type ErrorRow, sorted, unavailable } from "./errors.ts";

const rows: readonly ErrorRow[] = [
  {
    when: { status: 401 },
    sort: "configuration",
    stop: "credentials",
    code: "unauthorised",
    next: "Run `fuelbridge quickbooks authorise`.",
  },
];
const answered = (status: number, verb: Verb = "create") =>
  sorted(new BookError("answered", `HTTP ${status}`, { status }), verb, rows);

test("a stop is told with the advice of the books' own table, met by writing or by reading", () => {
  const next = "Run `fuelbridge quickbooks authorise`.";
  expect(answerOf(answered(401), false)).toMatchObject({ stop: "credentials", next });
  const error = new BookError("answered", "HTTP 401", { status: 401 });
  expect(unavailable(error, { name: "Books", errors: rows })).toMatchObject({
    stop: "credentials",
    next,
  });
});

import { expect, test } from "vitest";
import { answering, unavailable } from "../../src/ledger/errors.ts";
import { LedgerError } from "../../src/ledger/port.ts";
import { releaseOf, TRYTON } from "./wire.ts";

const RIGHT = 'You are not allowed to access "Invoice"';
/** Of 8.0. */
const REOPEN =
  'model.account.invoice.post: To continue, you must reopen the period "2026-11" of company "Prairie Fuel" for the date "11/21/2026".';

/** What no account is named in. */
const ENDED =
  'model.account.invoice.post: The value for field "Account" in "Account Move Line" is not valid according to its domain.';

test.for<[kind: string, says: string, answer: object, reading: object]>([
  ["refused", "no", { outcome: "refused", fault: { code: "refused-by-tryton" } }, { stop: null }],
  ["refused", "closed period", { fault: { code: "closed-period" } }, { stop: null }],
  ["refused", REOPEN, { fault: { code: "closed-period" } }, { stop: null }],
  [
    "refused",
    ENDED,
    { fault: { next: expect.stringContaining("fuelbridge doctor names it") as string } },
    { stop: null },
  ],
  ["refused", RIGHT, { outcome: "nothing", stop: "scope" }, { stop: null }],
  ["warning", "sure?", { fault: { code: "needs-accountant" } }, { stop: null }],
  ["concurrency", "changed", { outcome: "nothing", waitMs: 45_000 }, { waitMs: null }],
  ["busy", "locked", { outcome: "nothing", waitMs: 5_000 }, { waitMs: null, stop: null }],
  ["unauthorised", "401", { outcome: "nothing", stop: "credentials" }, { stop: "credentials" }],
  [
    "throttled",
    "429",
    { outcome: "nothing", waitMs: 7_000 },
    { stop: "credentials", waitMs: 7_000 },
  ],
  ["forbidden", "403", { outcome: "nothing", stop: "scope" }, { stop: "scope" }],
  ["not-sent", "nobody", { outcome: "nothing" }, { stop: null }],
  ["absent", "404", { outcome: "nothing" }, { stop: null }],
  ["torn", "cut off", { outcome: "unknown", unanswered: true }, { stop: null }],
  [
    "server",
    "an exception that nobody knows",
    { outcome: "unknown", holdMs: 60_000 },
    { stop: null },
  ],
])("%s (%s): what it means to a writer and to a reader", async ([kind, says, answer, reading]) => {
  const waitMs = kind === "throttled" ? 7_000 : undefined;
  const fault =
    kind === "torn" || kind === "not-sent"
      ? new LedgerError(kind, says)
      : new LedgerError("answered", says, { code: kind, waitMs });
  expect(await answering(TRYTON.errors, () => Promise.reject(fault))).toMatchObject(answer);
  expect(unavailable(fault, TRYTON)).toMatchObject({ name: "SourceUnavailable", ...reading });
});

test("7.0 accepts warnings, assigns goods and pays as 8.0 does, and is reached and names its models as 6.0 does", () => {
  const [old, one, now] = ["6.0.29", "7.0.59", "8.0"].map(releaseOf) as [Release, Release, Release];
  for (const name of [
    "moveUnit",
    "places",
    "payForm",
    "warningOf",
    "accepting",
    "ownModels",
  ] as const)
    expect(one[name]).toBe(now[name]);
  for (const name of ["pathOf", "ignores", "addressName", "modelName", "ofModel"] as const)
    expect(one[name]).toBe(old[name]);
  expect(one.buttons).toEqual({ assign: "assign_force", end: "done" });
});
type Release = ReturnType<typeof releaseOf>;

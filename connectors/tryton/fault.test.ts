import { expect, test } from "vitest";
import { answering } from "../../src/books/answering.ts";
import { type FaultKind, TRYTON, TrytonFault, unavailable } from "./fault.ts";

const RIGHT = 'You are not allowed to access "Invoice"';

test.for<[kind: FaultKind, says: string, answer: object, reading: object]>([
  ["refused", "no", { name: "invalid", fault: { code: "refused-by-tryton" } }, { stop: null }],
  ["refused", "closed period", { fault: { code: "closed-period" } }, { stop: null }],
  ["refused", RIGHT, { name: "forbidden" }, { stop: null }],
  ["warning", "sure?", { fault: { code: "needs-accountant" } }, { stop: null }],
  ["concurrency", "changed", { name: "slow-down", waitMs: 5_000 }, { waitMs: null }],
  ["busy", "locked", { name: "slow-down", waitMs: 5_000 }, { waitMs: null, stop: null }],
  ["unauthorised", "401", { name: "unauthorised" }, { stop: "credentials" }],
  [
    "throttled",
    "429",
    { name: "slow-down", waitMs: 7_000 },
    { stop: "credentials", waitMs: 7_000 },
  ],
  ["forbidden", "403", { name: "forbidden" }, { stop: "scope" }],
  ["not-sent", "nobody", { name: "not-sent" }, { stop: null }],
  ["torn", "cut off", { name: "torn" }, { stop: null }],
  ["server", "an exception that nobody knows", { name: "failed" }, { stop: null }],
])("%s (%s): what it means to a writer and to a reader", async ([kind, says, answer, reading]) => {
  const fault = new TrytonFault(kind, says, kind === "throttled" ? { waitMs: 7_000 } : {});
  expect(await answering(TRYTON.faults, () => Promise.reject(fault))).toMatchObject(answer);
  expect(unavailable(fault)).toMatchObject({ name: "SourceUnavailable", ...reading });
});

import { expect, test } from "vitest";
import {
  foldedNumber,
  idempotencyKey,
  revisionOf,
  sameNumber,
  sortableInstant,
  spellingsOf,
  usualInstant,
  writingsOf,
} from "./keys.ts";

const identity = {
  company: "bluebonnet",
  environment: "live",
  operation: "invoice.create",
  number: "INV-1",
  revision: "r1",
  generation: 0,
} as const;

test("a key has the form that W1 asks for and comes from business identity alone", () => {
  expect(idempotencyKey(identity)).toMatch(/^[A-Za-z0-9_-]{16,200}$/);
  expect(idempotencyKey({ ...identity })).toBe(idempotencyKey(identity));
});

test("any part of the identity makes another key", () => {
  const others = [
    { ...identity, company: "other" },
    { ...identity, environment: "test" as const },
    { ...identity, operation: "customer.create" },
    { ...identity, number: "INV-2" },
    { ...identity, revision: "r2" },
    { ...identity, generation: 1 },
  ];
  expect(new Set([identity, ...others].map(idempotencyKey)).size).toBe(7);
});

test("without versions, prices A, B, A are three revisions", () => {
  const a = revisionOf(null, null, "A");
  const b = revisionOf(null, a, "B");
  expect(new Set([a, b, revisionOf(null, b, "A")]).size).toBe(3);
});

test("timestamps sort by age to the nanosecond, whatever their zone", () => {
  expect(sortableInstant("2026-11-21T08:00:00+01:00")).toBe("2026-11-21T07:00:00.000000000Z");
  expect(sortableInstant("2026-11-21 07:00:00.1z")).toBe("2026-11-21T07:00:00.100000000Z");
  expect(sortableInstant("2026-11-21T07:00:00.123456Z")).toBe("2026-11-21T07:00:00.123456000Z");
});

test.each([
  ["2026-11-21t07:00:00.120z", "2026-11-21T07:00:00.120Z", "2026-11-21T07:00:00.120000000Z"],
  ["2026-11-21T07:00Z", "2026-11-21T07:00:00Z", "2026-11-21T07:00:00.000000000Z"],
  ["2026-11-21T07:00:00,5Z", "2026-11-21T07:00:00.5Z", "2026-11-21T07:00:00.500000000Z"],
  ["2026-11-21T08:00:00+0100", "2026-11-21T08:00:00+01:00", "2026-11-21T07:00:00.000000000Z"],
  ["2026-11-21 01:00:00-06", "2026-11-21T01:00:00-06:00", "2026-11-21T07:00:00.000000000Z"],
])("%s is an instant, which most write as %s", (text, usual, sorted) => {
  expect(usualInstant(text)).toBe(usual);
  expect(sortableInstant(text)).toBe(sorted);
  expect(sortableInstant(usual)).toBe(sorted);
});

test("a date that does not exist, or has no zone, is no instant", () => {
  for (const text of [
    "2026-02-30T10:00:00Z",
    "2026-11-21T24:00:00Z",
    "2026-11-21T10:00:00",
    "2026-11-21T10:00:00Z00",
    "2026-11-21",
    "yesterday",
    "",
  ])
    expect(sortableInstant(text), text).toBeNull();
});

test.each([
  ["DUP-1", "dup-1 ", true],
  [" INV  2026 1", "inv 2026\u00a01", true],
  ["Re\u0301f-1", "R\u00c9F-1", true],
  ["INV-1", "INV1", false],
  ["INV-01", "INV-1", false],
  ["INV 1", "INV1", false],
])("%j and %j are one number: %s", (one, other, same) => {
  expect(sameNumber(one, other)).toBe(same);
  expect(foldedNumber(one) === foldedNumber(other)).toBe(same);
});

test("a number is asked for as it is written, and as others may have written it", () => {
  expect(spellingsOf("Dup-1 ")).toEqual(["Dup-1 ", "Dup-1", "DUP-1", "dup-1"]);
  expect(spellingsOf("1001")).toEqual(["1001"]);
});

test("a number is asked for as people write it: with other signs, with none, and in both cases", () => {
  for (const number of ["FL-59190010", "FL59190010", "fl 59190010", "FL/59190010"])
    for (const written of ["FL-59190010", "FL59190010", "FL 59190010", "fl59190010", number])
      expect(writingsOf(number)).toContain(written);
  expect(writingsOf("B12-2026")).toContain("B122026");
  expect(writingsOf("B12-2026")).not.toContain("B-12-2026");
  expect(writingsOf("0004711")).toEqual(["0004711"]);
  expect(writingsOf("--")).toEqual(["--"]);
  expect(writingsOf("INV-2026-00118 a").length).toBeLessThanOrEqual(20);
});

import { assert, bigInt, property } from "fast-check";
import { expect, test } from "vitest";
import { Decimal } from "./decimal.ts";

const d = (text: string): Decimal => Decimal.of(text);

test("digits come out as they went in", () => {
  for (const text of ["0", "-0.00", "1.10", "8000.0", "12345678901234567890.123456789", "1e3"])
    expect(JSON.stringify({ amount: d(text) })).toBe(`{"amount":${text}}`);
});

test("what is no JSON number is refused with the value", () => {
  for (const text of ["", "1,5", "01", ".5", "5.", "NaN", "0x1F", " 1", "1e99999", "--1"])
    expect(() => d(text), text).toThrow(`"${text}" is not a decimal number`);
});

test("sums are exact where doubles are not", () => {
  expect(d("0.1").plus(d("0.2")).text).toBe("0.3");
  expect(Decimal.sum([d("18286.70"), d("-0.05"), d("1e2")]).text).toBe("18386.65");
  expect(d("1.005").times(d("100")).equals(d("100.5"))).toBe(true);
});

test.each([
  ["234.1250000", 2, "234.12"],
  ["19299.9750000", 2, "19299.98"],
  ["-234.125", 2, "-234.12"],
  ["-0.135", 2, "-0.14"],
  ["2.5", 0, "2"],
  ["3.5", 0, "4"],
  ["7", 2, "7.00"],
  ["0.004", 2, "0.00"],
])("%s rounds half-even to %i places: %s", (text, places, rounded) => {
  expect(d(text).round(places).text).toBe(rounded);
});

test("plain drops zeros that say nothing, fixed pads and never cuts", () => {
  expect(d("8000.0").plain()).toBe("8000");
  expect(d("2.503190").plain()).toBe("2.50319");
  expect(d("12e-1").plain()).toBe("1.2");
  expect(d("1.5").fixed(2)).toBe("1.50");
  expect(d("1.2345").fixed(2)).toBe("1.2345");
});

test("arithmetic agrees with scaled integers for any values", () => {
  const cents = bigInt({ min: -(10n ** 15n), max: 10n ** 15n });
  const asCents = (units: bigint): Decimal =>
    d(
      `${units < 0n ? "-" : ""}${(units < 0n ? -units : units) / 100n}.${String((units < 0n ? -units : units) % 100n).padStart(2, "0")}`,
    );
  assert(
    property(cents, cents, (one, other) => {
      expect(
        asCents(one)
          .plus(asCents(other))
          .equals(asCents(one + other)),
      ).toBe(true);
      expect(
        asCents(one)
          .minus(asCents(other))
          .equals(asCents(one - other)),
      ).toBe(true);
      expect(asCents(one).compare(asCents(other))).toBe(one < other ? -1 : one > other ? 1 : 0);
    }),
  );
});

test.each([
  ["1.125", "1.13"],
  ["-1.125", "-1.13"],
  ["1.1249", "1.12"],
  ["1.115", "1.12"],
])("rounds halves away from zero where it is asked to: %s", (text, rounded) => {
  expect(Decimal.of(text).round(2, "away").fixed(2)).toBe(rounded);
});

test.each([
  ["100.64999999999999", "100.65"],
  ["356539.13000000006", "356539.13"],
  ["-18956.579999999998", "-18956.58"],
  ["418311.9399999985", "418311.94"],
  ["28141.510000000002", "28141.51"],
  ["5.551115123125783e-17", "0"],
  ["7512.400000000001", "7512.4"],
])("%s is what doubles make of %s", (text, meant) => {
  expect(Decimal.of(text).withoutNoise().text).toBe(meant);
});

test.each([
  "0.3333333333333333",
  "2.503189333333333",
  "100.650000000000000",
  "20116.6800",
  "1e2",
  "1.0050001",
  "2.34567804123456",
  "12345678901.234567",
  "1234567890.123450",
  "123456789012345678",
  "0.123456000000000000001",
])("%s has the digits that were meant", (text) => {
  expect(Decimal.of(text).withoutNoise().text).toBe(text);
});

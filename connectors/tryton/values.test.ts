import { expect, test } from "vitest";
import { Decimal } from "../../src/core/decimal.ts";
import { day, decode, encode, exact, float, stamp } from "./rows.ts";

const there = (value: unknown): unknown => decode(encode(value));

test.each(["2.413755", "0.10", "-0.00", "12345678901234567890.123456", "0E-8", "1e3"])(
  "the decimal %s keeps its digits there and back",
  (text) => {
    expect(encode(Decimal.of(text))).toBe(`{"__class__":"Decimal","decimal":"${text}"}`);
    expect((there(Decimal.of(text)) as Decimal).text).toBe(text);
  },
);

test.each(["2026-11-21", "2024-02-29", "0999-01-01"])("the day %s is the same day", (text) => {
  expect(there(day(text))).toBe(text);
});

test.each([
  "2026-11-21T09:10:11.425559",
  "2026-11-21T00:00:00.000000",
  "2026-01-02T03:04:05.000006",
])("the stamp %s keeps its microseconds", (text) => {
  expect(there(stamp(text))).toBe(text);
});

test("stamps without microseconds, or with fewer digits, are the same instant", () => {
  expect(there(stamp("2026-11-21T09:10:11Z"))).toBe("2026-11-21T09:10:11.000000");
  expect(there(stamp("2026-11-21T09:10:11.5"))).toBe("2026-11-21T09:10:11.500000");
});

test("stamps sort as text by age", () => {
  const microsecond = 9;
  const before = there(stamp(`2026-11-21T09:10:11.${microsecond.toString().padStart(6, "0")}`));
  expect((before as string) < "2026-11-21T09:10:11.000010").toBe(true);
});

test.each(["21.11.2026", "2026-1-1", "2026-11-21T09:10"])("%s is no day", (text) => {
  expect(() => day(text)).toThrow(RangeError);
});

test.each(["2026-11-21", "2026-11-21T09:10:11.4255591", "2026-11-21T09:10:11+01:00"])(
  "%s is no stamp",
  (text) => {
    expect(() => stamp(text)).toThrow(RangeError);
  },
);

test("a quantity leaves as a plain number, with the digits it has", () => {
  expect(encode({ quantity: float(Decimal.of("7500.50")) })).toBe('{"quantity":7500.50}');
});

test("a fraction that is no Decimal does not leave", () => {
  expect(() => encode([{ unit_price: 2.413755 }])).toThrow('"2.413755" is not exact');
  expect(encode([{ id: 7 }])).toBe('[{"id":7}]');
});

test("ids and counts are integers, floats are decimals; a computed zero is both", () => {
  const read = decode('{"id":7,"quantity":7500.0,"none":0}') as Record<string, unknown>;
  expect(read["id"]).toBe(7);
  expect(exact(read["quantity"]).text).toBe("7500.0");
  expect(exact(read["none"]).equals(Decimal.zero)).toBe(true);
});

test("values are found at any depth", () => {
  const price = '{"__class__":"Decimal","decimal":"1.10"}';
  expect(decode(`{"lines.":[{"unit_price":${price}}]}`)).toEqual({
    "lines.": [{ unit_price: Decimal.of("1.10") }],
  });
});

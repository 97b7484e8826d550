import * as fc from "fast-check";
import { expect, test } from "vitest";
import { Decimal } from "./decimal.ts";
import { stringifyExact } from "./json.ts";
import { Packed } from "./packed.ts";

const value = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constant(null),
    fc.string({ unit: "binary" }),
    fc.constantFrom("ULSD", "=", "w0", "n", "a2", "line\nend", ""),
    fc.constantFrom("2.50", "2.5", "-0", "1e2").map((digits) => Decimal.of(digits)),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom("a", "b", "c d"), tie("value"), { noNullPrototype: true }),
  ),
})).value;

test("what is packed comes back as it was, digit for digit, whatever came before it", () => {
  fc.assert(
    fc.property(fc.array(fc.record({ lines: fc.array(value), number: value })), (values) => {
      const packed = new Packed<object>();
      const places = values.map((one) => packed.push(one));
      expect(places).toEqual(values.map((_, at) => at));
      for (const place of places.toReversed())
        expect(stringifyExact(packed.at(place))).toBe(stringifyExact(values[place]));
    }),
  );
});

test("large values come back as well; a place without a value is an error", () => {
  const packed = new Packed<{ text: string }>();
  const texts = ["first", "x".repeat(3_000_000), "é".repeat(700_000), "last"];
  for (const text of texts) packed.push({ text });
  expect(texts.map((_, at) => packed.at(at).text)).toEqual(texts);
  expect(() => packed.at(texts.length)).toThrow(RangeError);
});

import { array, assert, jsonValue, property } from "fast-check";
import { expect, test } from "vitest";
import { Decimal } from "./decimal.ts";
import { parseExact, sliceArray, sliceObject, stringifyExact } from "./json.ts";

test("numbers survive a round trip with their digits", () => {
  const text = '{"a":1.10,"b":[8000.0,-0.00,12345678901234567890.5],"c":{"d":1E5},"e":"1.10"}';
  expect(stringifyExact(parseExact(text))).toBe(text);
  expect((parseExact(text) as { a: Decimal }).a).toBeInstanceOf(Decimal);
});

test("a page is cut into the texts of its records", () => {
  const page =
    '{"success":true,"data":[ {"a":[1,{"b":"],}\\""}]} ,\n2, "x,y" ],"meta":{"hasMore":false}}';
  const { elements, rest } = sliceArray(page, "data") ?? { elements: [], rest: "" };
  expect(elements).toEqual(['{"a":[1,{"b":"],}\\""}]}', "2", '"x,y"']);
  expect(JSON.parse(rest)).toEqual({ success: true, data: [], meta: { hasMore: false } });
});

test("only the top-level member is taken", () => {
  expect(sliceArray('{"x":{"data":[1]},"data":[2]}', "data")?.elements).toEqual(["2"]);
  expect(sliceArray('{"data":"no array","x":[1]}', "data")).toBeNull();
  expect(sliceArray('{"note":"\\"data\\":[1]"}', "data")).toBeNull();
  expect(sliceArray('{"data":[1,2', "data")).toBeNull();
  expect(sliceObject('{"success":true,"data":{"a":"}","b":{"c":1.10}}}', "data")).toBe(
    '{"a":"}","b":{"c":1.10}}',
  );
});

test("slicing agrees with JSON.parse for any records", () => {
  assert(
    property(array(jsonValue()), jsonValue(), (data, other) => {
      const text = JSON.stringify({ other, data, tail: other });
      const elements = sliceArray(text, "data")?.elements ?? [];
      expect(elements.map((one) => JSON.parse(one) as unknown)).toEqual(
        JSON.parse(JSON.stringify(data)),
      );
    }),
  );
});

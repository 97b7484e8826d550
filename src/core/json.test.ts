import { isDeepStrictEqual } from "node:util";
import {
  array,
  assert,
  constantFrom,
  jsonValue,
  letrec,
  oneof,
  property,
  string,
  tuple,
} from "fast-check";
import { expect, test } from "vitest";
import { Decimal } from "./decimal.ts";
import {
  canonical,
  canonicalOf,
  parseExact,
  sliceArray,
  sliceObject,
  stringifyExact,
} from "./json.ts";

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

/** What `JSON.parse` makes of it; undefined: nothing. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

test("members that are read while a page is cut are those of JSON.parse, and what has them is valid JSON", () => {
  const wanted = ["id", "lines"];
  const name = constantFrom("id", "lines", "total", "n", "__proto__");
  const digits = constantFrom(
    "0",
    "-1.50",
    "01",
    "1.",
    "-",
    "1e5",
    "+1",
    "12.5.1",
    ".5",
    "tru",
    "nul",
  );
  const scalar = oneof(
    digits,
    constantFrom('"a"', '"\\""', '"\n"', "true", "null", "[ ]", "{}", "[1,]", '"]},"'),
  );
  const member = tuple(
    name,
    oneof(
      scalar,
      tuple(name, scalar).map(([key, one]) => `{"${key}":${one}}`),
    ),
  );
  const record = array(member, { maxLength: 4 }).map(
    (members) => `{${members.map(([key, one]) => `"${key}" : ${one}`).join(", ")}}`,
  );
  let read = 0;
  assert(
    property(array(record, { maxLength: 4 }), constantFrom("", " ", "x", "}"), (records, after) => {
      const page = `{"data":[${records.map((one) => one + after).join(",")}],"meta":{}}`;
      const { elements = [], members = [] } = sliceArray(page, "data", wanted) ?? {};
      for (const [at, element] of elements.entries()) {
        const told = members[at];
        if (told === null || told === undefined) continue;
        read++;
        const object = parsed(element) as Record<string, unknown>;
        for (const key of wanted)
          expect(told[key] === undefined ? undefined : parsed(told[key])).toEqual(
            Object.getOwnPropertyDescriptor(object, key)?.value,
          );
      }
    }),
    { numRuns: 1_000 },
  );
  expect(read).toBeGreaterThan(100);
});

const space = constantFrom("", "", " ", "\n", "\t\r\n ");
const name = oneof(
  constantFrom("a", "b", "1", "10", "2", "__proto__", "constructor", "toJSON", "a\\\\", ""),
  string({ unit: "grapheme", maxLength: 30 }),
).map((value) => JSON.stringify(value));
const escaped = constantFrom('"\\u0041\\ud83d\\ude00"', '"\\ud800"', '"\\/\\"\\\\"', '"1.10"');
const digits = constantFrom("0", "-0", "-0.00", "1.10", "1E5", "2e-3", "12345678901234567890.5");
const scalar = oneof(digits, name, escaped, constantFrom("true", "false", "null"));
/** JSON as senders may write it: any white space, names that are there twice, numbers in any notation. */
const written = letrec<{ value: string }>((tie) => {
  const spaced = tuple(space, tie("value"), space).map((parts) => parts.join(""));
  const member = tuple(space, name, space, spaced).map(([before, key, after, value]) =>
    [before, key, after, ":", value].join(""),
  );
  const list = tuple(space, array(spaced)).map(([empty, all]) => `[${all.join(",") || empty}]`);
  const object = tuple(space, array(member)).map(([empty, all]) => `{${all.join(",") || empty}}`);
  return { value: oneof({ depthSize: "small" }, scalar, list, object) };
}).value;

/** What `JSON.parse` itself reads, told the source of each number. */
const byReviver = (text: string): unknown =>
  (JSON.parse as (text: string, reviver: Reviver) => unknown)(text, (_name, value, { source }) =>
    typeof value === "number" ? Decimal.of(source ?? "") : value,
  );
type Reviver = (name: string, value: unknown, context: { source?: string }) => unknown;

test("whatever is JSON reads as JSON.parse reads it", () => {
  assert(
    property(written, (text) => {
      const read = parseExact(text);
      const expected = byReviver(text);
      expect(isDeepStrictEqual(read, expected)).toBe(true);
      expect(stringifyExact(read)).toBe(stringifyExact(expected));
    }),
    { numRuns: 500 },
  );
});

test("what is no JSON is refused as JSON.parse refuses it", () => {
  for (const text of ["", "{", '{"a":1,}', "[1,]", "01", "1.", "tru", '"\n"', "{a:1}", "1 2"])
    expect(() => parseExact(text)).toThrow(SyntaxError);
  expect(() => parseExact("1e12345")).toThrow(RangeError);
});

test("a value has one canonical text, with or without a text in between", () => {
  const record = {
    b: Decimal.of("1.10"),
    a: [new Date(0), undefined, Number.NaN, 1e21],
    c: undefined,
  };
  expect(canonicalOf(record)).toBe(
    '{"a":["1970-01-01T00:00:00.000Z",null,null,1000000000000000000000],"b":1.1}',
  );
  const upper = (text: string): string => text.toUpperCase();
  assert(
    property(written, (text) => {
      const value = parseExact(text);
      expect(canonicalOf(value, upper)).toBe(canonical(stringifyExact(value), upper));
    }),
  );
  assert(
    property(array(jsonValue()), (value) => {
      expect(canonicalOf(value)).toBe(canonical(JSON.stringify(value)));
    }),
  );
});

import { expect, test } from "vitest";
import { readDocument } from "./document.ts";

const read = (text: string) =>
  readDocument(text, { env: { STRUCTURE: "a: 1\nb: 2" }, folder: "/" });

test("a value remembers where it was written, and a missing one where it should be", () => {
  const document = read("a:\n  b: text\n  c: [1, 2]\n");
  expect(document.value).toEqual({ a: { b: "text", c: [1, 2] } });
  expect(document.place(["a", "b"])).toEqual({ line: 2, column: 6 });
  expect(document.place(["a", "b"], "key")).toEqual({ line: 2, column: 3 });
  expect(document.place(["a", "c", 1])).toEqual({ line: 3, column: 10 });
  expect(document.place(["a", "missing"])).toEqual({ line: 1, column: 1 });
  expect(document.place(["nowhere", "at", "all"])).toEqual({ line: 1, column: 1 });
});

test("what is substituted stays text: it never becomes structure, numbers or keys", () => {
  expect(read("a: ${STRUCTURE}").value).toEqual({ a: "a: 1\nb: 2" });
  expect(read("${STRUCTURE}: 1").value).toEqual({ "${STRUCTURE}": 1 });
});

test("YAML 1.2: no yes and no, no sexagesimal numbers, no dates", () => {
  expect(read("a: yes\nb: 12:30\nc: 2026-11-21\nd: 0o17").value).toEqual({
    a: "yes",
    b: "12:30",
    c: "2026-11-21",
    d: 15,
  });
});

const REFUSED: [name: string, text: string, message: string, line: number][] = [
  ["a key twice", "a: 1\na: 2", "is not YAML here", 2],
  ["a merge key", "x: &x { a: 1 }\ny:\n  <<: *x", "cannot be the name of a setting", 3],
  ["a tag", "a: !!js/function x", "is not YAML here", 1],
  ["an unknown alias", "a: 1\nb: *nowhere", "*nowhere refers to nothing", 2],
  ["two documents", "a: 1\n---\nb: 2", "is not YAML here", 2],
  ["tabs as indentation", "a:\n\tb: 1", "is not YAML here", 2],
  ["an open quote", 'a: "b', "is not YAML here", 1],
  ["a reference in braces without quotes", "a: { b: ${STRUCTURE} }", "is not YAML here", 1],
  ["__proto__", "a:\n  __proto__: { b: 1 }", "cannot be the name of a setting", 2],
  ["constructor", "constructor: 1", "cannot be the name of a setting", 1],
  ["an alias of itself", "a: &a [*a]", "is nested too deeply or repeats itself too often", 1],
  ["a tower of aliases", tower(), "is nested too deeply or repeats itself too often", 1],
  ["a deep nest", `a: ${"[".repeat(60)}${"]".repeat(60)}`, "is nested too deeply", 1],
  ["a very long file", `a: ${"x".repeat(1_048_577)}`, "is longer than 1 MB", 1],
];

test.each(REFUSED)("%s is refused with its line", (_, text, message, line) => {
  const { problems } = read(text);
  expect(problems[0]?.message).toContain(message);
  if (!message.includes("too often")) expect(problems[0]?.line).toBe(line);
  expect(Object.keys(Object.prototype)).toEqual([]);
});

test("a reference in braces without quotes is told how to be written", () => {
  expect(read("a: { b: ${STRUCTURE} }").problems[0]?.remedy).toContain('{ port: "${PORT}" }');
});

test("a few aliases are fine", () => {
  expect(read("a: &a text\nb: *a").value).toEqual({ a: "text", b: "text" });
});

/** Billion laughs: each level names the one before ten times. */
function tower(): string {
  const levels = Array.from({ length: 9 }, (_, at) => {
    const items = Array.from({ length: 10 }, () => (at === 0 ? "ha" : `*l${at - 1}`));
    return `l${at}: &l${at} [${items.join(", ")}]`;
  });
  return levels.join("\n");
}

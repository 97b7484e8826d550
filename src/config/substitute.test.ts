import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { substitute } from "./document.ts";

function setup() {
  const folder = mkdtempSync(join(tmpdir(), "fuelbridge-substitute-"));
  const env = { NAME: "value", EMPTY: "", YAML: "a: [1, 2]", DOLLAR: "$& ${NAME}" };
  return { folder, put: (source: string) => substitute(source, { env, folder }) };
}

const TEXTS: [source: string, text: string][] = [
  ["nothing to do: $5, {x}", "nothing to do: $5, {x}"],
  ["${NAME}", "value"],
  ["a ${NAME} and ${NAME}.", "a value and value."],
  ["${EMPTY}", ""],
  ["${EMPTY:-fallback}", "fallback"],
  ["${MISSING:-fallback}", "fallback"],
  ["${MISSING:-}", ""],
  ["${MISSING:-http://127.0.0.1:8085/v1}", "http://127.0.0.1:8085/v1"],
  ["${NAME:-fallback}", "value"],
  ["$${NAME}", "${NAME}"],
  ["$$${NAME}", "$${NAME}"],
  ["$${NAME} ${NAME}", "${NAME} value"],
  ["${YAML}", "a: [1, 2]"],
  ["${DOLLAR}", "$& ${NAME}"],
  ["two\n${NAME}\nlines", "two\nvalue\nlines"],
];

test.each(TEXTS)("%j becomes %j", (source, text) => {
  expect(setup().put(source)).toMatchObject({ text, complaints: [] });
});

const MISTAKES: [source: string, message: string][] = [
  ["${MISSING}", "the environment variable MISSING is not set"],
  ["${}", '"${}" refers to nothing'],
  ["${1ST}", '"${1ST}" refers to nothing'],
  ["${NAME-x}", '"${NAME-x}" refers to nothing'],
  ["${A:-${NAME}}", '"${A:-${NAME}" refers to nothing'],
  ["${file:}", '"${file:}" refers to nothing'],
  ["${NAME", "has a ${ that is never closed"],
  ["${file:nowhere}", "nowhere cannot be read (ENOENT)"],
];

test.each(MISTAKES)("%j is refused: %s", (source, message) => {
  const { complaints } = setup().put(source);
  expect(complaints).toEqual([
    { message: expect.stringContaining(message), remedy: expect.any(String) },
  ]);
});

test("every mistake of a text is told", () => {
  expect(setup().put("${MISSING} ${OTHER}").complaints).toHaveLength(2);
});

test("a file's text comes in without its last line end and without a byte order mark", () => {
  const { folder, put } = setup();
  writeFileSync(join(folder, "unix"), "one\ntwo\n");
  writeFileSync(join(folder, "windows"), "\uFEFFone\r\n");
  writeFileSync(join(folder, "more"), "one\n\n");
  expect(put("${file:unix}").text).toBe("one\ntwo");
  expect(put("${file:windows}").text).toBe("one");
  expect(put("${file:more}").text).toBe("one\n");
  expect(put(`\${file:${join(folder, "unix")}}`).text).toBe("one\ntwo");
});

test("a file that is long or no text is refused", () => {
  const { folder, put } = setup();
  writeFileSync(join(folder, "long"), "x".repeat(65_537));
  writeFileSync(join(folder, "bytes"), Buffer.from([0xff, 0xfe, 0xff]));
  expect(put("${file:long}").complaints[0]?.message).toContain("it is longer than 64 KB");
  expect(put("${file:bytes}").complaints[0]?.message).toContain("cannot be read");
});

test("what is written here is told from what came from elsewhere", () => {
  const { put } = setup();
  expect(put("${NAME}")).toMatchObject({ literal: "" });
  expect(put("${NAME} ${NAME}")).toMatchObject({ literal: " " });
  expect(put("${MISSING:-key}")).toMatchObject({ literal: "key", references: [] });
  expect(put("key")).toMatchObject({ literal: "key", references: [] });
});

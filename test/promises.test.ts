/** Every line of docs/promises.md names a test that exists. Its words are the test's own, with `…` for what a test fills in. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");
const [tested = "", untested = ""] = readFileSync(join(root, "docs/promises.md"), "utf8").split(
  "\n## Without a test\n",
);
const promises = tested.split("\n").filter((line) => line.startsWith("- "));

/** Does the file have a string with these words, in this order? */
function hasTest(text: string, words: string): boolean {
  const pieces = words.split("…").filter((piece) => piece !== "");
  return text.split("\n").some((_, at, lines) => {
    // A template may be broken over several lines.
    const from = lines.slice(at, at + 4).join("\n");
    let place = 0;
    return pieces.every((piece) => {
      const found = from.indexOf(piece, place);
      place = found + piece.length;
      return found !== -1;
    });
  });
}

test("every promise names a test, and every test that it names exists", () => {
  const wrong = promises.flatMap((line) => {
    const proofs = [...line.matchAll(/`([^`]+\.ts)` "([^"]+)"/g)];
    if (proofs.length === 0) return [`names no test: ${line}`];
    return proofs.flatMap(([, path = "", words = ""]) => {
      if (!existsSync(join(root, path))) return [`${path} is not there: ${line}`];
      return hasTest(readFileSync(join(root, path), "utf8"), words)
        ? []
        : [`${path} has no test "${words}"`];
    });
  });
  expect(wrong).toEqual([]);
  expect(promises.length).toBeGreaterThan(100);
});

test("what has no test says why", () => {
  const lines = untested.split("\n").filter((line) => line.startsWith("- "));
  for (const line of lines) expect(line).toContain(": ");
});

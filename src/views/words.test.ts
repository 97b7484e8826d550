import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** What nobody who keeps books would say. */
const WORDS =
  /read back|void on both|with a person\b|\bborn (?:in|on)\b|come as far on both|payload|idempoten|enqueue|\brung\b|\bobstacle|upsert|sync(?:ed|hroni)|\brecord id\b|\bpolls (?:are|pause)|live position|goes again unread|waits for budget|process was killed|joined by nothing|, once expected|committed late|names another partner/i;

/** Sentences: literals with a space, without comments and names of members. */
const sentencesIn = (text: string): string[] =>
  [
    ...text
      .replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "")
      .replaceAll(/"[^"\n]*":/g, "")
      .matchAll(/"([^"\n]* [^"\n]*)"|`([^`]* [^`]*)`/g),
  ].map(([, quoted, template]) => quoted ?? template ?? "");

test("no sentence of a page, a command's answer or a mail has a word that people who keep books do not use", () => {
  const files = globSync("src/{views,web,office,alerts,match}/**/*.ts").filter(
    (file) => !/\.(test|fixture)\.ts$|assets\.ts$/.test(file),
  );
  expect(files.length).toBeGreaterThan(30);
  const found = files.flatMap((file) =>
    sentencesIn(readFileSync(file, "utf8"))
      .filter((sentence) => WORDS.test(sentence) && !/^\s*select/.test(sentence))
      .map((sentence) => `${file}: ${sentence}`),
  );
  expect(found).toEqual([]);
});

import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** What nobody who keeps books would say. */
const WORDS =
  /read back|void on both|with a person\b|\bborn (?:in|on)\b|come as far on both|payload|idempoten|enqueue|\brung\b|\bobstacle|upsert|sync(?:ed|hroni)|\brecord id\b|\bpolls (?:are|pause)|live position|goes again unread|waits for budget|process was killed|joined by nothing|, once expected|committed late|names another partner/i;

/** The console has the button "Close", and asks for an id in a field of its own: one word for one thing. */
const OTHER_WORDS =
  /\bresolv(?:e|es|ed|ing) (?:it|this|them|here)\b|\b(?:or|is|are|by) resolv|with --receiver-id/i;

/** Sentences: literals with a space, without comments and names of members. */
const sentencesIn = (text: string): string[] =>
  [
    ...text
      .replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "")
      .replaceAll(/"[^"\n]*":/g, "")
      .matchAll(/"([^"\n]* [^"\n]*)"|`([^`]* [^`]*)`/g),
  ].map(([, quoted, template]) => quoted ?? template ?? "");

const unsaid = (pattern: string, words: RegExp, least: number): void => {
  const files = globSync(pattern).filter(
    (file) => !/\.(test|fixture|suite)\.ts$|assets\.ts$/.test(file),
  );
  expect(files.length).toBeGreaterThan(least);
  const found = files.flatMap((file) =>
    sentencesIn(readFileSync(file, "utf8"))
      .filter((sentence) => words.test(sentence) && !/^\s*select/.test(sentence))
      .map((sentence) => `${file}: ${sentence}`),
  );
  expect(found).toEqual([]);
};

test("no sentence of a page, a command's answer or a mail has a word that people who keep books do not use", () => {
  unsaid("src/{views,web,office,alerts,match}/**/*.ts", WORDS, 30);
});

test("no next step has another word than the console's button for what is closed by hand", () => {
  unsaid("{src,connectors,mappings}/**/*.ts", OTHER_WORDS, 300);
});

/** What is compared, kept or written into a document, and what no person reads. */
const DIGITS =
  /^(?:src\/ledger\/(?:driver|entries)|src\/reconcile\/evidence|connectors\/(?:sql-staging\/documents|tryton\/invoice-rows))\.ts$/;

test("every amount in a sentence is written as people who keep books write it: amountText, or money", () => {
  const bare = globSync("{src,connectors,mappings}/**/*.ts")
    .filter((file) => !/\.(test|fixture|suite)\.ts$/.test(file) && !DIGITS.test(file))
    .flatMap((file) =>
      sentencesIn(readFileSync(file, "utf8"))
        .filter((sentence) => /\$\{[^}]*\.fixed\((?:2|CENTS)\)[^}]*\}/.test(sentence))
        .map((sentence) => `${file}: ${sentence}`),
    );
  expect(bare).toEqual([]);
});

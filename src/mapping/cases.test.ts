import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../../test/support/folder.ts";
import { readCases } from "./cases.ts";

const base = { record: {}, number: "1", figures: { amount: "1.50", gallons: null } };

test.each([
  ["a figure that is no decimal", { change: { "/figures/amount": "1,50" } }, "figures.amount: "],
  ["a part that is missing", { without: ["/figures"] }, "figures: "],
  ["a part that there is none of", { change: { "/nr": 1 } }, 'Unrecognized key: "nr"'],
  ["a place that is no pointer", { change: { "record/id": "1" } }, "record/id is no JSON Pointer"],
])("a case with %s is named, with the file and what is wrong", (_, change, message) => {
  const file = join(tempFolder(), "cases.json");
  writeFileSync(
    file,
    JSON.stringify({ mapping: "site/a", base, cases: { whole: {}, other: change } }),
  );
  expect(() => readCases(file)).toThrow(`${file} cannot be read: case other: ${message}`);
});

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { table } from "./text.ts";

const HEADER = ["FLOW", "COUNT", "CAUSE"];
const ROWS = [
  ["invoices", "5", "waits for customer 000113"],
  ["rack-prices", "12", "-"],
];

describe("a table", () => {
  test("is as wide as it must be, numbers to the right, where the terminal is wide enough", () => {
    expect(table(HEADER, ROWS, 46)).toBe(
      [
        "FLOW         COUNT  CAUSE",
        "invoices         5  waits for customer 000113",
        "rack-prices     12  -",
      ].join("\n"),
    );
  });

  test("carries long texts on in the next line, below themselves", () => {
    expect(table(HEADER, ROWS, 36)).toBe(
      [
        "FLOW         COUNT  CAUSE",
        "invoices         5  waits for",
        "                    customer 000113",
        "rack-prices     12  -",
      ].join("\n"),
    );
  });

  test("is a paragraph per row where columns do not fit", () => {
    expect(table(HEADER, ROWS, 26)).toBe(
      [
        "FLOW invoices",
        "  COUNT 5",
        "  CAUSE waits for customer",
        "  000113",
        "FLOW rack-prices",
        "  COUNT 12",
      ].join("\n"),
    );
  });

  test("keeps the lines of a text, one below the other", () => {
    const rows = [["invoices", "1", "payer: erp A-1, platform A-2\ndate: none"]];
    expect(table(HEADER, rows, 80)).toBe(
      [
        "FLOW      COUNT  CAUSE",
        "invoices      1  payer: erp A-1, platform A-2",
        "                 date: none",
      ].join("\n"),
    );
  });

  test("without rows is its header", () => {
    expect(table(HEADER, [], 80)).toBe("FLOW  COUNT  CAUSE");
  });

  test("an id is never broken: it can be copied from any terminal that has room for it", () => {
    const id = "8cab7c40-bd9b-46e7-9d40-5bd3578ef714";
    for (let width = id.length + 10; width < 120; width++)
      expect(table(["WHAT", "ID"], [["a long text of many words", id]], width)).toContain(id);
  });

  const cell = fc.array(fc.stringMatching(/^[a-z0-9]{1,60}$/), { maxLength: 12 });
  test("at any width nothing is left out, and no line is wider", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(cell, cell), { minLength: 1 }),
        fc.integer({ min: 20, max: 150 }),
        (pairs, width) => {
          const rows = pairs.map((pair) => pair.map((words) => words.join(" ")));
          const text = table(["ONE", "TWO"], rows, width);
          for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(width);
          const letters = (all: string): string =>
            all
              .replaceAll(/ONE|TWO|\s/g, "")
              .split("")
              .toSorted()
              .join("");
          expect(letters(text)).toBe(letters(rows.flat().join("")));
        },
      ),
    );
  });
});

import * as fc from "fast-check";
import { expect, test } from "vitest";
import { Decimal } from "./decimal.ts";
import { amountText, beginningOf, distinctly, folded } from "./text.ts";

test.each([
  ["Acme Oil", "Acme Gas", "Acme Oil", "Acme Gas"],
  ["Acme", "ACME", "Acme", "ACME"],
  ["none", "Acme", "none", "Acme"],
  ["Acme Oil", "Acme\u00A0Oil", '"Acme<space>Oil"', '"Acme<no-break space>Oil"'],
  ["Acme", "Acme ", '"Acme"', '"Acme<space>"'],
  ["Acme  Oil", "Acme Oil", '"Acme <space>Oil"', '"Acme Oil"'],
  ["Caf\u00E9", "Cafe\u0301", '"Caf\u00E9<U+00E9>"', '"Cafe<U+0301>"'],
  ["Acme", "Ac\u200Bme", '"Acme"', '"Ac<zero-width space>me"'],
  ["1 Main St\nReno", "1 Main St Reno", '"1 Main St<line break>Reno"', '"1 Main St<space>Reno"'],
  ["Acme", "\u0410cme", '"Acme"', '"\u0410<U+0410>cme"'],
  ["Jim's", "Jim\u2019s", `"Jim's"`, '"Jim\u2019<U+2019>s"'],
  ["A-1", "A\u20131", '"A-1"', '"A\u2013<U+2013>1"'],
  ["Acme", "\uFF21cme", '"Acme"', '"\uFF21<U+FF21>cme"'],
])("%j beside %j is told apart", (one, other, ours, theirs) => {
  expect(distinctly(one, other)).toEqual([ours, theirs]);
  expect(distinctly(other, one)).toEqual([theirs, ours]);
});

const SIGNS = "a|e|é| |\u00A0|\u0301|\u200B|\t|\n|-|\u2013|'|\u2019|\u0410|A|\uFB01|f|i".split("|");
const signs = fc.constantFrom(...SIGNS);

test("no pair is ever shown as the same text, and a pair that is told apart stays as it is", () => {
  fc.assert(
    fc.property(fc.string({ unit: signs }), fc.string({ unit: signs }), (one, other) => {
      const [ours, theirs] = distinctly(one, other);
      expect(ours).not.toBe(theirs);
      if (one !== other) expect(distinctly(ours, theirs)).toEqual([ours, theirs]);
    }),
  );
});

test("a name is the same firm's in any case, with any blanks and however its accents are composed", () => {
  expect(folded(" CAFE\u0301\u00A0 Fuel ")).toBe(folded("Caf\u00E9 fuel"));
  expect(folded("Acme Oil")).not.toBe(folded("AcmeOil"));
});

test.each([
  ["-87058.19", "USD", "-$87,058.19"],
  ["1117.6", "CAD", "1,117.60 CAD"],
  ["15601.6300", "USD", "$15,601.63"],
  ["2.413755", "USD", "$2.413755"],
  ["-1000000", "", "-1,000,000.00"],
])("%s of %j is written as people who keep books write it", (digits, currency, written) => {
  expect(amountText(Decimal.of(digits), currency)).toBe(written);
});

test.each([
  ["Acme Oil", 100, "Acme Oil"],
  ["Acme Oil", 5, "Acme"],
  ["Acme⛽🛢", 6, "Acme⛽"],
  ["Acme⛽🛢", 7, "Acme⛽🛢"],
])("the beginning of a text has no half sign: %s, %i", (text, most, beginning) => {
  expect(beginningOf(text, most)).toBe(beginning);
});

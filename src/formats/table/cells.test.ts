import { expect, test } from "vitest";
import { Decimal } from "../../core/decimal.ts";
import { type CellForm, type CellType, isDateForm, readCell, writeCell } from "./cells.ts";

const en: CellForm = { numbers: {}, dates: ["MM/dd/yyyy", "yyyy-MM-dd"] };
const de: CellForm = { numbers: { decimal: "," }, dates: ["dd.MM.yyyy", "yyyy-MM-dd"] };
const printed: CellForm = {
  numbers: { trailingMinus: true, currency: "$", leadingZeros: true },
  dates: [],
};

test.each<[CellType, CellForm, string, unknown]>([
  ["decimal", en, "2.503190", Decimal.of("2.503190")],
  ["decimal", en, "-0.0125", Decimal.of("-0.0125")],
  // As reports print a minus.
  ["decimal", en, "- 2.31", Decimal.of("-2.31")],
  ["decimal", en, "\u22122.31", Decimal.of("-2.31")],
  ["decimal", printed, "100.", Decimal.of("100")],
  ["decimal", printed, "2.31\u2212", Decimal.of("-2.31")],
  ["decimal", printed, "\u2212 $2.31", Decimal.of("-2.31")],
  ["decimal", de, "61697,92", Decimal.of("61697.92")],
  ["date", en, "11/21/2026", "2026-11-21"],
  ["date", en, "2026-11-21", "2026-11-21"],
  ["date", de, "21.11.2026", "2026-11-21"],
  ["text", en, "000417", "000417"],
  ["text", en, "10E205", "10E205"],
  ["text", en, " two  spaces ", " two  spaces "],
  ["text", en, "Suite\r\n182", "Suite\n182"],
  ["flag", en, "1", true],
  ["flag", en, "0", false],
  ["decimal", en, "", null],
])("a %s of %o reads %j", (type, locale, cell, value) => {
  expect(readCell(type, cell, locale)).toEqual(value);
});

test.each<[CellType, CellForm, string, string]>([
  ["decimal", en, "1,234", '"1,234" is not a plain number with a decimal point'],
  ["decimal", de, "1.234", '"1.234" is not a plain number with a decimal comma'],
  ["decimal", en, "100.", "is not a plain number"],
  ["decimal", printed, ".", "is not a plain number"],
  ["decimal", en, "--2.31", "is not a plain number"],
  ["decimal", en, "-\u22122.31", "is not a plain number"],
  ["decimal", en, "١٢", "is not a plain number"],
  ["decimal", en, "1".repeat(41), "is not a plain number"],
  ["date", en, "02/30/2026", '"02/30/2026" is not a day of the calendar'],
  ["date", en, "21.11.2026", "is not a date (mm/dd/yyyy or yyyy-mm-dd)"],
  ["date", de, "11/21/2026", "is not a date (dd.mm.yyyy or yyyy-mm-dd)"],
  ["date", en, "46347", "is not a date"],
  ["date", en, "0001-01-01", "is not a day of the calendar"],
  ["flag", en, "yes", '"yes" is neither 1 nor 0'],
  ["text", en, "a\u0000b", "holds the control character U+0000"],
  ["text", en, "a\u0081b", "holds the control character U+0081"],
  ["text", en, "a\ufffdb", "holds the control character U+FFFD"],
  ["text", en, "x".repeat(4001), "is longer than the 4000 characters that are read"],
])("a %s of %o refuses %j", (type, locale, cell, reason) => {
  expect(() => readCell(type, cell, locale)).toThrow(reason);
});

test.each([
  ["MM/dd/yyyy", "12/31/2028"],
  ["cyyDDD", "128366"],
  ["MMMM d, yyyy", "December 31, 2028"],
])("a day in %s is written as it is read", (form, cell) => {
  const days = { numbers: {}, dates: [form] };
  expect(writeCell("date", "2028-12-31", days)).toBe(cell);
  expect(readCell("date", cell, days)).toBe("2028-12-31");
});

test("a form has each part of a day once, and none in what is not read", () => {
  for (const form of ["M/d/yyyy[ h:mm a]", "yyyyDDD", "dd. MMMM yyyy[ 'um' HH Uhr]"])
    expect(isDateForm(form), form).toBe(true);
  for (const form of ["M/d/yyyy[ H:mm AM]", "M/yyyy", "yyyyMMDDD", "d/yyyyDDD", "yyyy-MM-dd[ dd]"])
    expect(isDateForm(form), form).toBe(false);
});

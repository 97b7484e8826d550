/** Files that say in their last row what they come to, and numbers whose last digit has the sign. */
import { expect, test } from "vitest";
import { readCell, writeCell } from "../src/formats/table/cells.ts";
import { Decimal } from "../src/core/decimal.ts";
import { type InvalidProfile, parseProfile } from "../src/formats/table/profile.ts";
import { expectFate, type Fate, lines } from "./files/inbound.ts";

/** A header row for the terminal, a row for each price, a trailer: `T`, lines, prices, and the sum of the prices. */
const FIXED = `
layout: books.prices
file: fixed
tag: { at: 1, length: 1 }
record: { tag: D }
heading: { tag: H, columns: { list: { at: 2, length: 12 } } }
trailer:
  tag: T
  lines: { at: 2, length: 4, numbers: { leadingZeros: true } }
  rows: { at: 6, length: 4, numbers: { leadingZeros: true } }
  of: [D]
  sums: { price: { at: 10, length: 8, decimals: 4 } }
columns:
  product: { at: 2, length: 6 }
  price: { at: 8, length: 8, decimals: 4 }
  unit: { constant: gal }`;
const PRICES = ["HT-73-OK-2700", "DULSD2 00023456", "DE10   00021000"];
const READ = { read: [{ price: "2.3456" }, { price: "2.1000" }] };

const CSV = `
layout: books.prices
columns: { list: Terminal, product: Product, price: Price, unit: { constant: gal } }
trailer: { tag: TRAILER, in: Terminal, rows: Product, sums: { Price: Price } }`;
const ROWS = ["Terminal,Product,Price", "T-1,ULSD,2.31", "T-2,ULSD,2.32"];

const totals: readonly (readonly [name: string, profile: string, file: string, fate: Fate])[] = [
  ["H, D and T rows that agree", FIXED, lines(...PRICES, "T0004000200044456"), READ],
  [
    "a row too few: both figures of all that differs",
    FIXED,
    lines(...PRICES.slice(0, 2), "T0004000200044456"),
    {
      file: "file line 3: the file has 3 lines, and its trailer says 4; has 1 rows, and its trailer says 2; has the sum 2.3456 in price, and its trailer says 4.4456",
    },
  ],
  [
    "another sum, with the same rows",
    FIXED,
    lines(...PRICES, "T0004000200044457"),
    { file: "has the sum 4.4456 in price, and its trailer says 4.4457" },
  ],
  [
    "a price that cannot be read has no sum: nothing of the file counts",
    FIXED,
    lines(...PRICES, "DE85   0002x000", "T0005000300044456"),
    { file: "cannot be summed in price: line 4" },
  ],
  [
    "no trailer: the file was cut between two rows",
    FIXED,
    lines(...PRICES),
    { file: 'the file has no trailer ("T"), so it is not known to be whole' },
  ],
  [
    "cut within a row: its rows are not read, for the trailer is missing",
    FIXED,
    `${lines(...PRICES)}DE85   000`,
    { file: 'ends without a line end; it has no trailer ("T"), so it is not known to be whole' },
  ],
  [
    "a row below the trailer",
    FIXED,
    lines(...PRICES, "T0004000200044456", "DE85   00019000"),
    { file: "line 5: the file has a row below its trailer, which is in line 4" },
  ],
  [
    "a trailer that is no number",
    FIXED,
    lines(...PRICES, "T0004000x00044456"),
    { file: 'has a trailer that cannot be read: rows "000x" is not a plain number' },
  ],
  ["a trailer without figures", FIXED, lines(...PRICES, "T"), { file: "it says nothing" }],
  [
    "a CSV with a trailer of fewer cells than its header",
    CSV.replace(", sums: { Price: Price }", ""),
    lines(...ROWS, "TRAILER,2"),
    { read: [{ price: "2.31" }, { price: "2.32" }] },
  ],
  [
    "a CSV whose trailer has a sum below its column",
    CSV,
    lines(...ROWS, "TRAILER,2,4.63"),
    { read: [{ price: "2.31" }, { price: "2.32" }] },
  ],
  [
    "a CSV that lost a row",
    CSV,
    lines(...ROWS.slice(0, 2), "TRAILER,2,4.63"),
    {
      file: "has 1 rows, and its trailer says 2; has the sum 2.31 in Price, and its trailer says 4.63",
    },
  ],
  [
    "rows that are left out are none of those that are counted",
    `${CSV}\nleaveOut: { Product: [Total] }`,
    lines(...ROWS, "T-2,Total,2.32", "TRAILER,2,4.63"),
    { read: [{ price: "2.31" }, { price: "2.32" }] },
  ],
];
test.each(totals)("%s", (_name, profile, file, fate) => expectFate(profile, file, fate));

test("a trailer names columns of numbers, and what a row is", () => {
  const problemsOf = (text: string): string[] => {
    try {
      parseProfile(text, "my.yaml");
      return [];
    } catch (error) {
      return (error as InvalidProfile).problems.map(
        ({ setting, message }) => `${setting}: ${message}`,
      );
    }
  };
  expect(problemsOf(CSV.replace("sums: { Price", "sums: { Product"))).toEqual([
    "trailer.sums.Product: is no column of numbers",
  ]);
  expect(problemsOf(CSV.replace("in: Terminal, ", ""))).toEqual(["tag: is missing"]);
  expect(
    problemsOf("layout: files.terminals\ncolumns: { name: A }\ntrailer: { tag: T, in: A }"),
  ).toEqual([": T is made of several columns or rows, which are read and not written"]);
});

const zoned = { numbers: { overpunch: true }, dates: [] };

// paymentsystemsblog.com, 24 February 2010, "Signed Overpunch": 100000{ is 100.0000, 100999I 100.9999, 100495N -100.4955.
test.each([
  ["100000{", 4, "100.0000"],
  ["100999I", 4, "100.9999"],
  ["100495N", 4, "-100.4955"],
  ["0000}", 2, "0.00"],
  ["00012E", 2, "1.25"],
  ["00012v", 2, "-1.26"],
  ["000125", 2, "1.25"],
  ["R", 0, "-9"],
  ["-12N", 2, null],
  ["12S", 2, null],
  ["1{2", 2, null],
  ["{{", 2, null],
])("overpunched %j with %i decimals is %s", (cell, implied, read) => {
  const form = { ...zoned, implied };
  if (read === null)
    expect(() => readCell("decimal", cell, form)).toThrow("is not a number of nothing but digits");
  else expect(readCell("decimal", cell, form)).toEqual(Decimal.of(read));
});

test("a number is overpunched where decimals are given, and nowhere else", () => {
  expect(() => readCell("decimal", "12E", zoned)).toThrow("is not a plain number");
  expect(readCell("decimal", "12.5", zoned)).toEqual(Decimal.of("12.5"));
});

test("what is written overpunched is read as it was", () => {
  for (const text of ["0.00", "1.25", "-1.25", "-0.07", "12345.60", "-9.90"]) {
    const form = { ...zoned, implied: 2 };
    const cell = writeCell("decimal", Decimal.of(text), form) ?? "";
    expect(cell).toMatch(/^\d*[A-R{}]$/);
    expect(readCell("decimal", cell, form)).toEqual(Decimal.of(text));
  }
});

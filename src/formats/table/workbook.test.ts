/** Price sheets as Excel workbooks: every digit as it was entered, or refused; and archives that are made to do harm. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { expect, test } from "vitest";
import { readCell, TRUE } from "./cells.ts";
import { openProfile } from "./profile.ts";
import { tryProfile } from "./records.ts";
import { exact, rowsOfWorkbook } from "./workbook.ts";
import { dropFolder } from "../../../test/files/source.ts";
import { type Cell, workbook, zipped } from "../../../test/files/workbook.ts";
import { tempFolder } from "../../../test/support/folder.ts";

const SHEET = join(import.meta.dirname, "../../../test/data/profiles/rack-sheet.csv");
const isNumber = (cell: string): boolean => /^\d+\.\d+$/.test(cell);

/** As spreadsheet programs save it. */
const doubleText = (cell: string): string => Number(cell).toPrecision(17).replace(/0+$/, "");

/** The sample's cells, its numbers as doubles of 17 digits. */
const rackSheet = (): Cell[][] =>
  parse(readFileSync(SHEET), { skip_empty_lines: false }).map((cells) =>
    cells.map((cell): Cell => {
      if (cell === "") return null;
      return isNumber(cell) ? { number: doubleText(cell) } : cell;
    }),
  );

function saved(bytes: Buffer, name = "rack.xlsx"): string {
  const path = join(tempFolder(), name);
  writeFileSync(path, bytes);
  return path;
}

const tried = (profile: string, path: string) =>
  tryProfile(openProfile(profile, ""), new Map([["heads", path]]), 100);

test("a rack sheet as a workbook gives the records, digits and refusals of the same sheet as CSV", async () => {
  const book = await tried("terminals/rack-workbook", saved(workbook(rackSheet())));
  const { records, refusals } = await tried("terminals/rack-sheet", SHEET);
  expect(book.records.map(({ values }) => values)).toEqual(
    records.map(({ values: { price, ...values } }) => ({
      ...values,
      // A workbook does not keep the zeros that a number is shown with.
      price: expect.objectContaining({ text: String(price).replace(/0+$/, "") }),
    })),
  );
  expect(book.refusals.map(({ line, column }) => [line, column])).toEqual(
    refusals.map(({ line, column }) => [line, column]),
  );
  expect(book.leftOut).toBe(1);
});

test.each([
  ["2.3456", "2.3456"],
  ["2.3456000000000001", "2.3456"],
  ["2.50", "2.50"],
  ["0.10000000000000001", "0.1"],
  ["1.0000000000000001E-5", "0.00001"],
  ["-1.25E+2", "-125"],
  ["123456789012345", "123456789012345"],
  ["1.2345678901234567E+20", null],
  ["2.3000000000000003", null],
  ["0.30000000000000004", null],
  ["1e999", null],
  ["NaN", null],
])("the number %s of a workbook is %s: what a person entered, or refused", (text, told) => {
  const read = () => readCell("text", exact(text), { numbers: {}, dates: [] });
  if (told === null) expect(read).toThrow(`"${text}" is calculated in the workbook`);
  else expect(read()).toBe(told);
});

test("days, times, truth, errors and texts of cells", async () => {
  const row: Cell[] = [
    { day: "46347" },
    { day: "46347.75" },
    { day: "46347.333333333336" },
    { raw: '<c r="D1" t="b"><v>1</v></c>' },
    { raw: '<c r="E1" t="e"><v>#DIV/0!</v></c>' },
    "000417 <&",
    { raw: '<c r="G1" s="1"><f>A1+1</f><v/></c>' },
  ];
  const days = ["2026-11-21", "2026-11-21 18:00:00", "2026-11-21 08:00:00"];
  expect((await rowsOfWorkbook(workbook([row]), "Prices")).rows).toEqual([
    {
      line: 1,
      cells: [
        ...days,
        TRUE,
        "#DIV/0!",
        "000417 <&",
        expect.stringContaining("is a formula without a result"),
      ],
    },
  ]);
  const mac = workbook([[{ day: "44885" }]], { properties: '<workbookPr date1904="1"/>' });
  expect((await rowsOfWorkbook(mac, 1)).rows).toEqual([{ line: 1, cells: ["2026-11-21"] }]);
});

/** As XlsxWriter, Apache POI and Microsoft's Open XML SDK save them. */
test("formulas of programs that calculate nothing, of texts without characters, and elements with a prefix", async () => {
  const formula = (v: string, type = "") => `<c r="A1"${type}><f>B9</f>${v}</c>`;
  const cells: Cell[] = [
    { raw: formula("<v>0</v>") },
    { raw: formula("<v></v>", ' t="str"').replace("A1", "B1") },
    { raw: '<c r="C1" t="e"><v>#N/A</v></c>' },
    { number: "2.5" },
  ];
  const none = expect.stringContaining("is a formula without a result");
  const read = async (bytes: Buffer) => await rowsOfWorkbook(bytes, 1);
  const told = ["0", "", "#N/A", "2.5"];
  expect((await read(workbook([cells]))).rows).toEqual([{ line: 1, cells: told }]);
  const loaded = { properties: '<calcPr calcId="124519" fullCalcOnLoad="1"/>' };
  expect((await read(workbook([cells], loaded))).rows[0]?.cells).toEqual([
    none,
    none,
    "#N/A",
    "2.5",
  ]);
  const prefixed = workbook([cells, ["hidden"]], { hidden: [2], prefix: "x:" });
  expect(await read(prefixed)).toEqual({ rows: [{ line: 1, cells: told }], hidden: 1 });
});

test("cells that do not say where they stand, texts in pieces, days in a format of their own", async () => {
  const texts =
    "<sst><si><t>plain</t></si><si><r><t>in </t></r><r><t>pieces</t></r><rPh><t>x</t></rPh></si></sst>";
  const cells = ['t="s"><v>1</v>', 't="s"><v>0</v>', 's="2"><v>46347</v>', 's="3"><v>2.5</v>'];
  const days = ['t="d"><v>2026-11-21</v>', 't="d"><v>2026-11-21T08:00:00</v>'];
  const raw = [...cells, ...days].map((cell) => ({ raw: `<c ${cell}</c>` }));
  const book = workbook([[], raw, [{ raw: '<c r="C3" t="s"><v>9</v></c>' }]], {
    more: [{ name: "xl/sharedStrings.xml", data: Buffer.from(texts) }],
  });
  expect((await rowsOfWorkbook(book, 1)).rows).toEqual([
    {
      line: 2,
      cells: ["in pieces", "plain", "2026-11-21", "2.5", "2026-11-21", "2026-11-21 08:00:00"],
    },
    { line: 3, cells: ["", "", expect.stringContaining("lacks"), "", "", ""] },
  ]);
});

test("a calculated price quarantines its record with what to do; the others go through, and the workbook is archived", async () => {
  const folder = await dropFolder();
  const rows = rackSheet();
  (rows[4] as Cell[])[2] = { number: "2.3000000000000003" };
  await folder.put("rack.xlsx", workbook(rows));
  const source = { layout: "books.prices", profile: "terminals/rack-workbook", pick: "*.xlsx" };
  const { changes } = await folder.read(source);
  const bad = changes.filter(({ fault }) => fault !== undefined);
  expect(bad.map(({ id, fault }) => [id, fault?.message])).toEqual([
    [
      "T-75-TX-2650|ULSD No 2",
      'ULSD No 2 "2.3000000000000003" is calculated in the workbook and has more digits than a spreadsheet shows; round it there (ROUND), or enter the number.',
    ],
    ["T-76-TX-2801|ULSD No 2", expect.stringContaining("$2.40")],
  ]);
  expect(changes.length).toBe(7);
  expect(await folder.names("archive")).toHaveLength(1);
  await folder.remove();
});

const zeros = (bytes: number): Buffer => Buffer.alloc(bytes);
const whole = workbook([["Terminal"], ["T-1"]]);
const flipped = (): Buffer => {
  const bytes = Buffer.from(whole);
  const at = bytes.indexOf("xl/worksheets/sheet1.xml") + 40;
  bytes.writeUInt8(bytes.readUInt8(at) ^ 4, at);
  return bytes;
};

test.each<[string, Buffer, RegExp]>([
  ["a text", Buffer.from("Terminal,Price\r\n"), /damaged/],
  ["half of a workbook", whole.subarray(0, whole.length / 2), /damaged/],
  ["a workbook in which a bit is wrong", flipped(), /damaged/],
  ["5 MB of an archive", zeros(5_000_001), /a workbook is read up to 5000000/],
  [
    "a part that unpacks to 40 MB",
    workbook([], { more: [{ name: "xl/a.xml", data: zeros(40_000_000) }] }),
    /more than 32 MB/,
  ],
  [
    "parts that unpack to 40 MB together",
    workbook([], {
      more: [1, 2, 3, 4].map((at) => ({ name: `xl/${at}.xml`, data: zeros(10_000_000) })),
    }),
    /more than 32 MB/,
  ],
  [
    "a part that is larger than it says",
    workbook([], { more: [{ name: "xl/a.xml", data: zeros(40_000_000), size: 10 }] }),
    /damaged/,
  ],
  [
    "2,000 parts",
    zipped(Array.from({ length: 2_000 }, (_, at) => ({ name: `${at}.xml`, data: zeros(0) }))),
    /2000 parts/,
  ],
  [
    "a cell in the last row and column",
    workbook([["A"], [{ raw: '<c r="XFD1048576"><v>1</v></c>' }]]),
    /16384 columns/,
  ],
  [
    "a cell that stands before the last one",
    workbook([[{ raw: '<c r="B1"><v>1</v></c><c r="A1"><v>1</v></c>' }]]),
    /in no order/,
  ],
  [
    "a DOCTYPE",
    workbook([[{ raw: "<!DOCTYPE a><c><v>1</v></c>" }]]),
    /no spreadsheet program|cannot be read/,
  ],
  [
    "an encrypted part",
    workbook([], { more: [{ name: "xl/a.xml", data: zeros(1), flags: 1 }] }),
    /encrypted/,
  ],
  ["an archive of something else", zipped([{ name: "a.txt", data: zeros(3) }]), /no workbook/],
])("%s is refused as a workbook, in words", async (_name, bytes, reason) => {
  await expect(rowsOfWorkbook(bytes, 1)).rejects.toThrow(reason);
});

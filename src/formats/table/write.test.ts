import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Decimal } from "../../core/decimal.ts";
import { Refused } from "../../core/errors.ts";
import { documentLayouts } from "./layouts.ts";
import { HEADS, openProfile } from "./profile.ts";
import { columnsOf } from "./columns.ts";
import { config, d, invoice, item, line, openIn, rowsOf } from "../../../test/files/sink.ts";

/** The header of the shipped profile of a document. */
const headerOf = (name: string): string[] => [
  ...new Set(columnsOf(openProfile(`files/${name}`, ""), HEADS).map(({ label }) => label ?? "")),
];

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sink-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const open = (more?: Record<string, unknown>) => openIn(folder, more);

describe("names", () => {
  test("follow from number, id and revision alone", () => {
    const one = open().freeze([item(invoice())]);
    expect(one.target).toBe(open().freeze([item(invoice())]).target);
    expect(one.target).toMatch(
      /^import\/invoices\/customer-invoices_INV-1001_[0-9a-f]{8}_[0-9a-f]{8}\.csv$/,
    );
    expect(open().freeze([item(invoice(), "rev-b")]).target).not.toBe(one.target);
    expect(open().freeze([item(invoice({ id: "another" }))]).target).not.toBe(one.target);
  });

  test.each([
    "../../etc/passwd",
    "CON",
    "a".repeat(300),
    "\u202Efdp.exe",
    "INV 7/2026 é",
    "",
    "..\\x",
  ])("are safe for the number %j", (number) => {
    const { target } = open().freeze([{ ...item(invoice()), number }]);
    const name = target.slice("import/invoices/".length);
    expect(name).toMatch(/^customer-invoices_[A-Za-z0-9._-]*_[0-9a-f]{8}_[0-9a-f]{8}\.csv$/);
    expect(name.length).toBeLessThanOrEqual(100);
  });
});

describe("content", () => {
  test.each([
    ["2026-11-01T01:30:00-05:00", "2026-11-01T01:10:00-06:00"],
    ["2026-11-01T06:30:00Z", "2026-11-01T06:30:00.5Z"],
    ["2026-11-01T06:30:00.1234Z", "2026-11-01T06:30:00.123456+00:00"],
  ])("of the versions %s and %s the later one is the greater text", (earlier, later) => {
    const [first, second] = [earlier, later].map(
      (version) => rowsOf(open().freeze([item(invoice({ version }))]).body)[0]?.["version"] ?? "",
    );
    expect([first, second].toSorted((one = "", other = "") => (one < other ? -1 : 1))).toEqual([
      first,
      second,
    ]);
    expect(first).not.toBe(second);
  });

  test("reads back as the document, by any CSV reader", () => {
    const { body } = open({ timeZone: "America/Chicago" }).freeze([item(invoice())]);
    const [header, first, second, tax] = rowsOf(body);
    expect(header).toMatchObject({
      record: "H",
      id: invoice().id,
      number: "INV-1001",
      version: "2026-03-01T10:00:00.123456Z",
      customer: "00042",
      total: "20219.20",
      subtotal: "18286.70",
      tax_total: "1932.5",
      notes: 'Gate "B", dock 3\nask for Ann',
      line: "",
      amount: "",
    });
    expect(first).toMatchObject({
      record: "L",
      number: "INV-1001",
      line: "1",
      item: "ULSD2",
      gallons: "8000",
      rate: "2.3457",
      amount: "18765.60",
      bol_number: "0004711",
      total: "",
    });
    expect(second).toMatchObject({ record: "L", line: "2", item: "", amount: "-478.90" });
    expect(tax).toMatchObject({ record: "T", line: "1", tax_code: "FED-EX", rate: "0.2415625" });
    expect(body.replaceAll(/"[^"]*"/g, "").split("\r\n")).toHaveLength(6);
    expect(body).not.toMatch(/(?<!\r)\n(?!ask)/);
  });

  test("has a header's total once, so that a column adds up", () => {
    const rows = rowsOf(open().freeze([item(invoice())]).body);
    const sum = (column: string) =>
      Decimal.sum(rows.flatMap((row) => (row[column] ? [d(row[column])] : [])));
    expect(sum("total").text).toBe("20219.20");
    expect(sum("amount").equals(sum("total"))).toBe(true);
  });

  test("a day is a day of the company's calendar; a date without a time stays what it says", () => {
    const [header] = rowsOf(open().freeze([item(invoice())]).body);
    expect(header).toMatchObject({
      invoice_date: "2026-02-28",
      due_date: "2026-03-31",
      paid_date: "",
    });
    const [utc] = rowsOf(open({ timeZone: "UTC" }).freeze([item(invoice())]).body);
    expect(utc).toMatchObject({ invoice_date: "2026-03-01" });
  });

  test.each(["=1+1", "+1", "-12.50", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1"])(
    "text %j cannot run in a spreadsheet, and is left alone where that is switched off",
    (notes) => {
      const safe = open().freeze([item(invoice({ notes }))]).body;
      expect(rowsOf(safe)[0]?.["notes"]).toBe(`'${notes}`);
      const plain = open({ spreadsheetSafe: false }).freeze([item(invoice({ notes }))]).body;
      expect(rowsOf(plain)[0]?.["notes"]).toBe(notes);
    },
  );

  test("numbers are never touched, and never written with an exponent", () => {
    const credit = invoice({ subtotal: d("-12.50"), taxTotal: d("1e3"), total: d("1.5E-7") });
    const { body } = open().freeze([item(credit)]);
    expect(body).toContain(",-12.50,1000,0.00000015,");
  });

  test.each(["bell\u0007", "nul\u0000", "esc\u001B[31m", "half \uD83D"])(
    "%j is refused with its field, not changed",
    (description) => {
      const bad = invoice({ lines: [{ ...line(null, null, null, "1"), description }] });
      expect(() => open().freeze([item(bad)])).toThrow(Refused);
      expect(() => open().freeze([item(bad)])).toThrow(/^lines\[0\]\.description has .*U\+/);
    },
  );

  test("any text survives the way through a file", () => {
    const printable = fc
      .string({ unit: "binary" })
      .filter((text) => !/[\p{Cc}\p{Cs}]/u.test(text.replaceAll(/[\t\r\n]/g, "")));
    const unsafe = open({ spreadsheetSafe: false });
    fc.assert(
      fc.property(printable, (notes) => {
        const [header, first] = rowsOf(unsafe.freeze([item(invoice({ notes }))]).body);
        expect(header?.["notes"]).toBe(notes);
        expect(first?.["record"]).toBe("L");
      }),
    );
  });

  test("no value and an empty text stay different", () => {
    const { body } = open().freeze([item(invoice())]);
    expect(body).toMatch(/,,"",,18286\.70,/);
  });

  test("README.md names every column", async () => {
    const readme = await readFile(
      join(import.meta.dirname, "../../../connectors/files/README.md"),
      "utf8",
    );
    for (const name of [
      "orders",
      "delivery-tickets",
      "customer-invoices",
      "supplier-invoices",
    ] as const)
      for (const column of headerOf(name)) expect(readme).toContain(column);
  });

  test("the shipped profile of a document has every field of its schema", () => {
    expect(headerOf("orders").slice(0, 5)).toEqual(["record", "id", "number", "version", "status"]);
    for (const [name, { head, lists }] of documentLayouts) {
      const profile = openProfile(`files/${name}`, "");
      expect(profile.head.map((column) => column.name)).toEqual(Object.keys(head));
      expect(profile.lists.map((list) => list.name)).toEqual(Object.keys(lists));
      for (const { name: list, columns } of profile.lists)
        expect(columns.map((column) => column.name)).toEqual(Object.keys(lists[list] ?? {}));
    }
  });
});

test.each([
  { document: "receipts" },
  { folder: "" },
  { itemsMax: 5 },
  { per: "batch", itemsMax: 0 },
  { timeZone: "America/Nowhere" },
  { spreadsheetsafe: true },
])("the configuration refuses %j", (wrong) => {
  expect(() => config(wrong)).toThrow();
});

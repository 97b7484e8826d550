/** The shipped profiles on files as ERPs write them, and what a profile says of its own mistakes. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { afterAll, describe, expect, test } from "vitest";
import { FilesConfig } from "../../../connectors/files/config.ts";
import { offersOf } from "../../../connectors/files/index.ts";
import { Decimal } from "../../core/decimal.ts";
import { contentOf } from "../../core/keys.ts";
import { Refused } from "../../core/errors.ts";
import { bytesOf } from "../format.ts";
import { layouts } from "./layouts.ts";
import {
  guardedAs,
  type InvalidProfile,
  openProfile,
  parseProfile,
  shippedProfiles,
} from "./profile.ts";
import { profileSchema } from "./settings.ts";
import { tryProfile } from "./records.ts";
import { documentsWriter, tableWriter } from "./write.ts";
import { d, invoice, line } from "../../../test/files/sink.ts";

const DATA = join(import.meta.dirname, "../../../test/data");
const folder = mkdtempSync(join(tmpdir(), "profiles-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const tried = (profile: string, file: string) =>
  tryProfile(openProfile(profile, ""), new Map([["heads", join(DATA, file)]]), 100);
const totalsOf = (totals: readonly { field: string; sum: Decimal }[]) =>
  Object.fromEntries(totals.map(({ field, sum }) => [field, sum.fixed(0)]));

/** What a profile's text is refused for: place, setting and message of each mistake. */
function mistakesIn(text: string): string[] {
  try {
    parseProfile(text, "my.yaml");
    return [];
  } catch (error) {
    const { problems } = error as InvalidProfile;
    return problems.map(({ line, setting, message }) => `${line} ${setting}: ${message}`);
  }
}

describe("shipped profiles", () => {
  test("every layout of files has one of its name, and every one can be opened", () => {
    const names = shippedProfiles();
    for (const name of names) expect(openProfile(name, "").layout.name).toBeTypeOf("string");
    for (const { name } of layouts)
      expect(names.includes(name) || name.startsWith("books.")).toBe(true);
  });

  test("editors have the schema", () => {
    const stored: unknown = JSON.parse(
      readFileSync(join(import.meta.dirname, "../../../config/profile.schema.json"), "utf8"),
    );
    expect(stored, "write it anew: fuelbridge profile schema > config/profile.schema.json").toEqual(
      JSON.parse(JSON.stringify(profileSchema())),
    );
  });

  test.each([
    [
      "canonical/parties",
      "profiles/parties.csv",
      ["000417", "10E205", "000512"],
      ['5 role "broker"'],
      {},
    ],
    [
      "canonical/rack-prices",
      "profiles/rack_prices.csv",
      ["T-73-OK-2700|ULSD2", "T-73-OK-2700|E10REG", "T-75-TX-2650|ULSD2"],
      ['5 effective_at "2026-11-24T18:00:00-06:00"', '6 price "2,3554"'],
      { price: "102.9845" },
    ],
    [
      "canonical/paid-invoices",
      "profiles/paid_invoices.csv",
      ["INV-1001", "INV-1002", "INV-1003"],
      [],
      { untaxed: "19246.70", tax: "1932.50", total: "21179.20", amountToPay: "450.00" },
    ],
    [
      "canonical/invoices",
      "profiles/invoices.csv",
      ["INV-1001", "INV-1002"],
      ['7 invoice_total ""', '8 direction "payer"'],
      {
        untaxed: "20904.71",
        tax: "1951.51",
        total: "22856.22",
        amountToPay: "22856.22",
        "lines.quantity": "8998",
        "lines.unitPrice": "4.4645",
        "lines.amount": "20904.71",
        "taxes.base": "18760.91",
        "taxes.amount": "1951.51",
      },
    ],
    [
      "titan/bol-deliveries",
      "profiles/bol-deliveries.csv",
      ["4471182", "4471183"],
      ['5 Unit Descriptor "Liters"', '6 BOL Number ""'],
      { "lines.grossGallons": "15080.25", "lines.netGallons": "14991.50" },
    ],
    [
      "titan/site-deliveries",
      "profiles/site-deliveries.csv",
      ["4471190", "4471191"],
      [],
      { "lines.grossGallons": "7030.25", "lines.netGallons": "2995.00" },
    ],
    [
      "terminals/rack-sheet",
      "profiles/rack-sheet.csv",
      [
        "T-75-TX-2650|ULSD No 2",
        "T-75-TX-2650|E10 87",
        "T-73-OK-2700|ULSD No 2",
        "T-73-OK-2700|Premium 93",
        "T-76-TX-2801|E10 87",
        "T-76-TX-2801|Premium 93",
      ],
      ['7 ULSD No 2 "$2.40"'],
      { price: "14.300225" },
    ],
  ])("%s reads its sample: records, refused cells and sums", async (name, file, ids, bad, sums) => {
    const { records, refusals, totals } = await tried(name, file);
    expect(records.map(({ id }) => id)).toEqual(ids);
    expect(refusals.map(({ line, column, value }) => `${line} ${column} "${value}"`)).toEqual(
      bad.map((one) => (one.endsWith('"') ? one : `${one} ""`)),
    );
    expect(totalsOf(totals)).toEqual(sums);
  });

  test("a rack sheet has a price where a product's column meets a terminal's row, and none where it says N/A", async () => {
    const { records, leftOut } = await tried("terminals/rack-sheet", "profiles/rack-sheet.csv");
    const [{ values } = { values: {} }] = records;
    expect(values).toMatchObject({
      list: "T-75-TX-2650",
      product: "ULSD No 2",
      price: d("2.413755"),
      unit: "gal",
    });
    expect(leftOut).toBe(1);
  });

  test("an IIF journal balances to nothing, entry by entry, and has a header for each kind of row", () => {
    const profile = openProfile("quickbooks/iif-sales", "");
    const text = writeDocuments("customer-invoices", [iifInvoice()], profile);
    const rows = text.split("\r\n").map((row) => row.split("\t"));
    expect(rows.map(([tag]) => tag)).toEqual([
      "!TRNS",
      "!SPL",
      "!ENDTRNS",
      "TRNS",
      "SPL",
      "SPL",
      "SPL",
      "ENDTRNS",
      "",
    ]);
    const amountAt = (tag: string) =>
      rows.find(([first]) => first === `!${tag}`)?.indexOf("AMOUNT") ?? -1;
    const amounts = rows
      .filter(([tag]) => tag === "TRNS" || tag === "SPL")
      .map((row) => Decimal.of(row[amountAt(row[0] ?? "")] ?? ""));
    expect(Decimal.sum(amounts).sign).toBe(0);
    expect(rows[3]).toEqual([
      "TRNS",
      "GENERAL JOURNAL",
      "03/01/2026",
      "Accounts Receivable",
      "00042",
      "20219.20",
      "INV-1001",
      "0b6f7a52-4c1e-4d8a-9f5e-1c2d3e4f5a6b",
    ]);
  });

  test.each([
    ["a total that lines and taxes do not come to", { total: d("20219.21") }, /differ by 0.01/],
    ["a line that is left out of the total", { lines: [] }, /differ by 18,286.70/],
    [
      "an amount that is not in cents, though all add up",
      { total: d("20219.205"), lines: [line(null, null, null, "18286.705")] },
      /20,219.205 is not in cents/,
    ],
  ])("a journal entry that does not balance to the cent is refused: %s", (_name, more, told) => {
    const profile = openProfile("quickbooks/iif-sales", "");
    const document = { ...iifInvoice(), ...more };
    expect(() => writeDocuments("customer-invoices", [document], profile)).toThrow(told);
  });

  test.each([
    ["a tab", { number: "A\tB" }],
    ["a line break", { number: "A\nB" }],
    ["a number that is too long", { number: "INV2026000118ACME" }],
    ["a character that is not in the encoding", { customer: "株式会社" }],
  ])("what IIF has no room for is refused with its field, not changed: %s", (_name, more) => {
    const profile = openProfile("quickbooks/iif-sales", "");
    const document = { ...iifInvoice(), ...more };
    expect(() => writeDocuments("customer-invoices", [document], profile)).toThrow(Refused);
  });

  test.each([
    ["quickbooks/iif-sales", true, "create"],
    ["apprise/ar-invoices", false, "create"],
    ["files/customer-invoices", false, "upsert"],
  ])(
    "%s without a version is never written again: who reads it would book it twice",
    (profile, isSame, writes) => {
      const settings = { document: "customer-invoices", profile, per: "document" } as const;
      const site = { folder: "", dayOf: (instant: string) => instant.slice(0, 10) };
      const writer = tableWriter({ ...settings, spreadsheetSafe: false }, site);
      expect(writer.writes).toBe(writes);
      const told = (more: object) => contentOf(writer.concerns?.({ ...iifInvoice(), ...more }));
      // Another hour of the same day and other digits of the same amounts are no news.
      const written = {
        total: d("20219.2"),
        dueDate: "2026-03-31T17:00:00.25Z",
        lines: [line("ULSD2", "8000.0", "2.34570", "18765.6"), line(null, null, null, "-478.900")],
      };
      expect(told(written)).toBe(told({}));
      if (writes === "upsert") return;
      const later = { version: "2026-04-01T00:00:00Z", status: "PAID" };
      expect(told(later)).toEqual(told({}));
      // What the file does not have is nothing new to its reader; a void always is.
      expect(told({ dueDate: "2026-09-09" })).toEqual(isSame ? told({}) : expect.anything());
      for (const news of [{ number: "A-1" }, { status: "VOID" }])
        expect(told(news)).not.toEqual(told({}));
    },
  );

  test.each([
    ["quickbooks/iif-sales", "\t=1\t"],
    ["apprise/ar-invoices", "IN=1 "],
    ["canonical/customer-invoices", ",'=1,"],
  ])("an apostrophe before a formula is for spreadsheets alone: %s", (profile, text) => {
    const site = { folder: "", dayOf: (instant: string) => instant.slice(0, 10) };
    const writer = tableWriter({ document: "customer-invoices", profile, per: "document" }, site);
    const document = { ...iifInvoice(), number: "=1", poNumber: null };
    const item = { id: "a", number: "=1", revision: "1", counterpart: null, document };
    expect(writer.textOf([item])).toContain(text);
  });

  test("a text that was frozen before its encoding was set loses no character", () => {
    expect(bytesOf("Peña €", "windows-1252").toString("hex")).toBe("5065f1612080");
    expect(bytesOf("株 €", "windows-1252").toString("utf8")).toBe("株 €");
    expect(bytesOf("€", "latin1").toString("utf8")).toBe("€");
  });

  test("H, I and M records stand at their places, amounts in cents", () => {
    const profile = openProfile("apprise/ar-invoices", "");
    const document = { ...iifInvoice(), poNumber: "PO-1", taxTotal: d("1932.50") };
    const [head = "", first = ""] = writeDocuments("customer-invoices", [document], profile).split(
      "\r\n",
    );
    expect(head.slice(0, 60)).toBe("H00042       ININV-1001    PO-1                0000002021920");
    expect(head.slice(60, 68)).toBe("20260301");
    expect([first[0], first.slice(47, 60)]).toEqual(["I", "0000001876560"]);
    const tooFine = { ...document, total: d("20219.205") };
    expect(() => writeDocuments("customer-invoices", [tooFine], profile)).toThrow(
      /total .*more than the 2 decimals/,
    );
  });

  test("the canonical CSV of invoices has one row per line, charge and tax, in the order of its columns", () => {
    const profile = openProfile("canonical/customer-invoices", "");
    const text = writeDocuments("customer-invoices", [invoice()], profile);
    const rows: Record<string, string>[] = parse(text, { columns: true });
    expect(rows.map((row) => [row["line_kind"], row["amount"]])).toEqual([
      ["product", "18765.60"],
      ["charge", "-478.90"],
      ["tax", "1932.5"],
    ]);
    expect(Object.keys(rows[0] ?? {}).slice(0, 4)).toEqual([
      "direction",
      "api_id",
      "invoice_number",
      "invoice_date",
    ]);
    expect(rows.map((row) => row["invoice_total"])).toEqual(["20219.20", "20219.20", "20219.20"]);
  });
});

const iifInvoice = () => ({
  ...invoice(),
  lines: [line("ULSD2", "8000", "2.3457", "18765.60"), line(null, null, null, "-478.90")],
});
const writeDocuments = (
  document: "customer-invoices",
  list: readonly object[],
  profile: ReturnType<typeof openProfile>,
): string =>
  documentsWriter({
    document,
    profile: guardedAs(profile, false),
    dayOf: (instant) => instant.slice(0, 10),
  })(list);

const PRICE = "layout: books.prices\ncolumns: { list: A, product: B, unit: C, price: ";
/** What would read or write one thing as another. */
const MISTAKES: readonly [string, string][] = [
  [
    `${PRICE} P }\nnumbers: { thousands: "." }`,
    "3 numbers: thousands and decimal are the same sign",
  ],
  [`${PRICE} P }\nnumbers: { currency: "1" }`, "3 numbers.currency: is a sign or a few letters"],
  [
    `${PRICE} { label: P, values: { GAL: "1", gal: "2" }, anyCase: true } }`,
    "2 columns.price.values: has one word twice",
  ],
  [`${PRICE} { label: P, plus: [Q] } }`, "2 columns.price: has two places"],
  [`${PRICE} P }\nheading: { tag: H, columns: {} }`, "3 heading: has no tag beside it"],
  [
    "layout: files.terminals\ncolumns: { name: { join: [A, B] } }",
    "1 : name is made of several columns or rows, which are read and not written",
  ],
  [
    "layout: files.terminals\ncolumns: { name: A }\nbalance: AMT",
    '3 balance: no column has the label "AMT"',
  ],
];

describe("mistakes in a profile", () => {
  test.each([
    ["layout: plain/nothing", '1 layout: "plain/nothing" is no layout'],
    ["layout: plain/terminals\ncolumnz: {}", "2 columnz: is no setting of a profile"],
    [
      "layout: plain/terminals\ncolumns:\n  code: Code\n  name: Name\n  colour: Colour",
      "5 columns.colour: plain/terminals has no such field",
    ],
    [
      "layout: plain/terminals\ncolumns:\n  code: Code",
      "3 columns: the field name of plain/terminals is missing",
    ],
    [
      "layout: plain/terminals\nheader: 0\ncolumns:\n  code: { column: 1 }\n  name: Name",
      "5 columns.name: has no place",
    ],
    [
      "layout: plain/terminals\ndates: [mm-dd-yyyy]\ncolumns: { code: Code, name: Name }",
      "2 dates.0: is made of yyyy, yy or cyy",
    ],
    [
      "layout: books.prices\ncolumns: { list: A, product: B, price: { constant: '1,5' }, unit: C }",
      '2 columns.price.constant: "1',
    ],
    ...MISTAKES,
    ["layout: [", "1 : is no YAML"],
  ])("%j: file, line and setting are named", (text, expected) => {
    expect(
      mistakesIn(text).some((told) => told.startsWith(expected)),
      mistakesIn(text).join(),
    ).toBe(true);
  });

  test("check names the profile, its line and what would fit, at the setting that names it", () => {
    writeFileSync(join(folder, "bad.yaml"), "layout: plain/terminals\ncolumns:\n  code: Code\n");
    writeFileSync(
      join(folder, "good.yaml"),
      "layout: plain/terminals\ncolumns: { code: Code, name: Name }\n",
    );
    const source = { pick: "t.csv" };
    const config = FilesConfig.parse({
      folder: ".",
      sources: {
        bad: { ...source, layout: "plain/terminals", profile: "bad.yaml" },
        other: { ...source, layout: "plain/order-notes", profile: "good.yaml" },
        fine: { ...source, layout: "plain/terminals", profile: "good.yaml" },
      },
      sinks: { sheet: { document: "orders", folder: "out", profile: "missing.yaml" } },
    });
    const told = (offersOf(config, folder).complaints ?? []).map(
      ({ setting, message }) => `${setting.join(".")}: ${message}`,
    );
    expect(told).toEqual([
      "sources.bad.profile: bad.yaml:3:3 columns: the field name of plain/terminals is missing",
      "sources.other.profile: good.yaml is a profile of plain/terminals, not of plain/order-notes",
      expect.stringMatching(/^sinks\.sheet\.profile: missing\.yaml:1:1 it cannot be read/),
    ]);
  });
});

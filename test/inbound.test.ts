/**
 * Files as old ERPs and partners write them, each with its fate: read with these values, or refused with this sentence at
 * this place. A profile alone says how a file is read; what it does not say is refused, for a wrong value is worse.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { everything } from "../mappings/references.fixture.ts";
import { groupKey } from "../src/core/record.ts";
import { memoryScratch } from "../src/core/scratch.ts";
import { HEADS, parseProfile } from "../src/formats/table/profile.ts";
import { openText } from "../src/formats/table/read.ts";
import { changesOf, readRecords, tryProfile } from "../src/formats/table/records.ts";
import { expectFate, type Fate, lines, recordsOf } from "./files/inbound.ts";
import { type Cell, workbook } from "./files/workbook.ts";
import { tempFolder } from "./support/folder.ts";
import { judged, mappingNamed } from "./support/judged.ts";

/* Exports of whole ERPs, each after public documentation of its fields. */

const INVOICE = `
layout: books.invoices
columns:
  type: { constant: out }
  state: { constant: posted }
  currency: { constant: USD }
  paidByPlatform: { constant: "0" }`;

const erps: readonly (readonly [name: string, profile: string, file: string, fate: Fate])[] = [
  // The columns of a fuel invoice as Karmak Fusion names them (unity.karmak.io/Parts-Fuel); PDI's facility codes as in
  // help.mytitan.net, "PDI BOL Fuel Deliveries File Format". Amounts of the invoice stand on its first line only.
  [
    "PDI invoices: head amounts on the first line, freight and tax beside each line, $ and thousands",
    `${INVOICE}
  id: Invoice Number
  number: { label: Invoice Number }
  partyCode: { join: [Division, Customer Number], with: "-" }
  invoiceDate: Invoice Date
  dueDate: Due Date
  untaxed: Invoice Sub Total
  tax: Tax Total
  total: Invoice Total
dates: [MM/dd/yyyy, M/d/yyyy]
numbers: { thousands: ",", currency: $, parentheses: true, trim: true }
record: { same: [number], first: [untaxed, tax, total] }
leaveOut: { Invoice Number: [Grand Total] }
lists:
  lines:
    - when: quantity
      columns:
        product: Product
        description: Product
        quantity: Gallons
        unit: { label: UOM, values: { gal: gal }, anyCase: true }
        unitPrice: Price
        amount: Extension
    - { when: amount, columns: { description: { constant: Freight }, amount: Freight } }
  taxes: { when: amount, columns: { description: { constant: Excise tax }, amount: Tax } }`,
    lines(
      "Division,Customer Number,Invoice Number,Invoice Date,Due Date,Product,Gallons,UOM,Price,Extension,Freight,Tax,Invoice Sub Total,Tax Total,Invoice Total",
      '01,000417,INV-118,11/02/2026,12/2/2026,ULSD2,"8,000",GAL,$2.3456,"$18,764.80",$240.00,"$1,944.00","$20,084.80","$1,944.00","$22,028.80"',
      "01,000417,INV-118,11/02/2026,12/2/2026,E10,500,gal,$2.10,$1050.00,0.00,$0.00,,,0.00",
      "01,000417,INV-118,11/02/2026,12/2/2026,DEF,10,Gal,$3.00,$30.00,,, , ,$0.00",
      "01,000512,INV-119,11/02/2026,12/2/2026,E10,500,ltr,2.10,1050.00,,,1050.00,0,1050.00",
      '02,000600,INV-120,11/03/2026,12/3/2026,E10,500,GAL,2.10,1050.00,,,"1,05.00",0,1050.00',
      ",,Grand Total,,,,,,,,,,,,",
    ),
    {
      read: [
        {
          id: "INV-118",
          partyCode: "01-000417",
          invoiceDate: "2026-11-02",
          dueDate: "2026-12-02",
          untaxed: "20084.80",
          tax: "1944.00",
          total: "22028.80",
          lines: [
            {
              product: "ULSD2",
              quantity: "8000",
              unit: "gal",
              unitPrice: "2.3456",
              amount: "18764.80",
            },
            { description: "Freight", amount: "240.00" },
            { product: "E10", quantity: "500", amount: "1050.00" },
            { product: "DEF", quantity: "10", amount: "30.00" },
          ],
          taxes: [{ description: "Excise tax", amount: "1944.00" }],
        },
      ],
      refused: [
        '5 UOM: UOM "ltr" is none of the values that the profile knows (gal)',
        '6 Invoice Sub Total: Invoice Sub Total "1,05.00" is not a plain number with a decimal point',
      ],
    },
  ],
  // Fields of AR_InvoiceHeader and AR_InvoiceDetail (help-sage100.na.sage.com, File Layouts, Accounts Receivable): a customer is
  // a division and a number, and the sum without tax is no field. XD is a deleted invoice.
  [
    "Sage 100 AR: a joined key, and the sum without tax computed",
    `${INVOICE}
  id: InvoiceNo
  number: { label: InvoiceNo }
  partyCode: { join: [ARDivisionNo, CustomerNo], with: "-" }
  invoiceDate: InvoiceDate
  dueDate: InvoiceDueDate
  untaxed: { plus: [InvoiceTotal], minus: [SalesTaxAmt] }
  tax: SalesTaxAmt
  total: InvoiceTotal
dates: [yyyyMMdd]
record: { same: [number] }
leaveOut: { InvoiceType: [XD] }
lastLineEnd: optional
lists:
  lines:
    columns:
      product: ItemCode
      description: ItemCodeDesc
      quantity: QuantityShipped
      unit: { label: UnitOfMeasure, values: { GAL: gal, EACH: u } }
      unitPrice: UnitPrice
      amount: ExtensionAmt`,
    lines(
      "InvoiceNo,InvoiceType,ARDivisionNo,CustomerNo,InvoiceDate,InvoiceDueDate,InvoiceTotal,SalesTaxAmt,ItemCode,ItemCodeDesc,UnitOfMeasure,QuantityShipped,UnitPrice,ExtensionAmt",
      "0100051,IN,01,ABF,20261102,20261202,1149.55,74.55,E10,Regular,GAL,500.00,2.100000,1050.00",
      "0100051,IN,01,ABF,20261102,20261202,1149.55,74.55,/DELIVERY,Delivery,EACH,1.00,25.000000,25.00",
      "0100052,XD,01,ABF,20261102,20261202,0.00,0.00,E10,Regular,GAL,500.00,2.100000,1050.00",
      "0100053,IN,,ABF,20261102,20261202,108.00,8.00,E10,Regular,GAL,50.00,2.000000,100.00",
      "0100054,IN,02,AMERICA,20261103,20261203,108.00,,E10,Regular,GAL,50.00,2.000000,100.00",
    ) + "0100055,IN,02,AMERICA,20261103,20261203,100.00,0.00,E10,Regular,GAL,50.00,2.000000,100.00",
    {
      read: [
        {
          partyCode: "01-ABF",
          invoiceDate: "2026-11-02",
          untaxed: "1075.00",
          total: "1149.55",
          lines: [
            { product: "E10", amount: "1050.00" },
            { product: "/DELIVERY", amount: "25.00" },
          ],
        },
        { partyCode: "02-AMERICA", untaxed: "100.00", total: "100.00" },
      ],
      refused: [
        "5 ARDivisionNo, CustomerNo: ARDivisionNo, CustomerNo cannot be made, since ARDivisionNo is empty",
        "6 InvoiceTotal - SalesTaxAmt: InvoiceTotal - SalesTaxAmt cannot be made, since SalesTaxAmt is empty",
        "6 SalesTaxAmt: SalesTaxAmt is empty",
      ],
    },
  ],
  // Fixed positions without decimal points, as AS/400 files have them (documentation.richer.ca, "Parts interface file layouts":
  // N 8.0, the last two digits are decimals); dates CYYMMDD and the sign behind the number as IBM i edits them.
  [
    "fixed-width prices with H, D and T rows: what stands in H holds for the rows below",
    `
layout: books.prices
file: fixed
tag: { at: 1, length: 1 }
record: { tag: D }
heading: { tag: H, columns: { list: { at: 2, length: 9 } } }
leaveOut: { tag: [T] }
numbers: { trailingMinus: true }
endOfFile: 0x1A
columns:
  product: { at: 2, length: 8 }
  price: { at: 10, length: 8, decimals: 6 }
  unit: { at: 18, length: 3, values: { gal: gal }, anyCase: true }`,
    `${lines(
      "HT75TX2650 1261105",
      "DULSD2   02345600GAL",
      "DE10     02100000gal",
      "HT73OK2700 1261105",
      "DULSD2   0241375-GAL",
      "DE10     0210",
      "DE85     0123456}GAL",
      "T00000005",
    )}\u001A`,
    {
      read: [
        { list: "T75TX2650", product: "ULSD2", price: "2.345600", unit: "gal" },
        { list: "T75TX2650", product: "E10", price: "2.100000", unit: "gal" },
        { list: "T73OK2700", product: "ULSD2", price: "-0.241375", unit: "gal" },
      ],
      refused: [
        '6 price: price "0210" is cut: the line ends within it',
        '7 price: price "0123456}" is not a number of nothing but digits',
      ],
    },
  ],
  // help-sage50.na.sage.com, "Sales Journal Fields": SALES.CSV, one row for each distribution; Date is ##/##/## (month/day/yr),
  // Quote is True or False, amounts of income are credits, below nothing.
  [
    "Sage 50 sales journal: a row for each distribution, taxes among them, signs turned",
    `${INVOICE}
  id: "Invoice/CM #"
  number: { label: "Invoice/CM #" }
  partyCode: Customer ID
  invoiceDate: Date
  dueDate: Date Due
  total: Accounts Receivable Amount
  tax: { plus: [Accounts Receivable Amount], minus: [Net] }
  untaxed: Net
dates: [M/d/yy]
tag: Tax Type
record: { same: [number] }
leaveOut: { Quote: ["TRUE"] }
lists:
  lines:
    tag: { "1": "", "2": "" }
    columns:
      product: Item ID
      description: Description
      quantity: Quantity
      unitPrice: Unit Price
      amount: { label: Amount, negated: true }
  taxes: { tag: "0", columns: { description: Description, amount: { label: Amount, negated: true } } }`,
    lines(
      "Customer ID,Invoice/CM #,Date,Date Due,Quote,Accounts Receivable Amount,Net,Tax Type,Item ID,Description,Quantity,Unit Price,Amount",
      "ALDRED,10301,3/4/26,4/3/26,FALSE,1124.55,1050.00,1,E10,Regular,500.00,2.10,-1050.00",
      "ALDRED,10301,3/4/26,4/3/26,FALSE,1124.55,1050.00,0,,GA Sales Tax,,,-74.55",
      "ALDRED,Q-17,3/4/26,4/3/26,TRUE,0.00,0.00,1,E10,Regular,500.00,2.10,-1050.00",
      "ALDRED,10302,3/4/98,4/3/26,FALSE,1.00,1.00,1,E10,Regular,1.00,1.00,-1.00",
    ),
    {
      read: [
        {
          id: "10301",
          invoiceDate: "2026-03-04",
          total: "1124.55",
          tax: "74.55",
          lines: [{ product: "E10", quantity: "500.00", unitPrice: "2.10", amount: "1050.00" }],
          taxes: [{ description: "GA Sales Tax", amount: "74.55" }],
        },
      ],
      refused: ['5 Date: Date "3/4/98" is not a day of the calendar'],
    },
  ],
  // r2help.unibiz.com, "File Structure (2)": flat files for Integration Manager of Dynamics GP (Great Plains); tabs, a record
  // type before each row, several of which are lines.
  [
    "Great Plains: tabs, no header, several record tags to one list, and rows without a tag",
    `${INVOICE}
  id: { column: 2 }
  number: { column: 2 }
  partyCode: { column: 3 }
  invoiceDate: { column: 4 }
  untaxed: { column: 5 }
  tax: { column: 6 }
  total: { column: 7 }
file: csv
delimiter: "\\t"
header: 0
quotes: none
dates: [dd-MMM-yyyy]
tag: { column: 1 }
record: { tag: SOP }
lists:
  lines:
    - { tag: { LINE: "", KIT: "" }, columns: { product: { column: 2 }, quantity: { column: 3 }, amount: { column: 4 } } }
    - { tag: "", columns: { description: { column: 2 }, amount: { column: 4 } } }
  taxes: { tag: TAX, columns: { description: { column: 2 }, amount: { column: 4 } } }`,
    lines(
      "SOP\tSTDINV2261\tAARONFIT0001\t12-apr-2026\t119.95\t8.40\t128.35",
      "LINE\tULSD2\t40\t90.00",
      "KIT\tDEF\t10\t19.95",
      "\tDelivery\t\t10.00",
      "TAX\tUSASTCITY\t\t8.40",
      "SOP\tSTDINV2262\tAARONFIT0001\t12-Apr-2026\t0.00\t0.00\t0.00",
      "COMM\tcall first\t\t\t\t\t",
    ),
    {
      read: [
        {
          number: "STDINV2261",
          invoiceDate: "2026-04-12",
          lines: [
            { product: "ULSD2", quantity: "40", amount: "90.00" },
            { product: "DEF", quantity: "10", amount: "19.95" },
            { description: "Delivery", amount: "10.00" },
          ],
          taxes: [{ description: "USASTCITY", amount: "8.40" }],
        },
      ],
      refused: ['7 : The row is marked "COMM", which the profile does not know'],
    },
  ],
  // eidynamics.com, "Sage 100 Contractor 3-2 Receivable Invoices": ARINV, then H or D in the second column, no header.
  [
    "Sage 100 Contractor: H and D rows without a header, the tag in the second column",
    `${INVOICE}
  id: { column: 3 }
  number: { column: 3 }
  partyCode: { column: 4 }
  invoiceDate: { column: 6 }
  untaxed: { column: 7 }
  tax: { column: 8 }
  total: { plus: [{ column: 7 }, { column: 8, optional: true }] }
header: 0
dates: [M/d/yyyy]
tag: { column: 2 }
record: { tag: H }
lists: { lines: { tag: D, columns: { description: { column: 3 }, amount: { column: 4 } } } }`,
    lines(
      "ARINV,H,5001,210,October fuel,10/31/2026,1050.00,74.55",
      "ARINV,D,Regular gasoline,1050.00,,,,",
    ),
    {
      read: [
        {
          number: "5001",
          total: "1124.55",
          lines: [{ description: "Regular gasoline", amount: "1050.00" }],
        },
      ],
    },
  ],
  // IBM i, "Notes on the delimited import file (CPYTOIMPF)": character fields keep their blanks, null is nothing between two
  // delimiters; numbers below one have no zero before the point. CYYMMDD is a day in seven digits.
  [
    "CPYTOIMPF of an AS/400: padded texts, .2345, days as CYYMMDD",
    `
layout: plain/freight-rates
header: 0
trim: true
numbers: { leadingZeros: true, trailingMinus: true }
dates: [cyyMMdd]
columns:
  code: { column: 1 }
  connectionId: { column: 2 }
  product: { column: 3 }
  ratePerMile: { column: 4 }
  fuelSurchargePercent: { column: 5 }
  effective: { column: 6 }`,
    lines(
      '"TX-OK     ","C-17      ","ULSD2   ",.2345,0012.50,1261105',
      '"TX-AR     ","C-18      ","        ",.2500,12.50-,1261131',
    ),
    {
      read: [
        {
          code: "TX-OK",
          connectionId: "C-17",
          product: "ULSD2",
          ratePerMile: "0.2345",
          fuelSurchargePercent: "12.50",
          effective: "2026-11-05",
        },
      ],
      refused: ['2 effective: effective "1261131" is not a day of the calendar'],
    },
  ],
];

const references = {
  ...everything("us"),
  counterpart: () => "2cf3f8b1-0000-4000-8000-000000000001",
};

test.each(erps)("%s", async (_name, profile, file, fate) => {
  const read = await recordsOf(profile, file, fate);
  if (!profile.includes("books.invoices")) return;
  // What is read is taken: lines and taxes come to the total, and the platform gets it to the cent.
  for (const record of read) {
    const told = judged(mappingNamed("books/invoices"), record, references);
    expect(told, JSON.stringify(told.fault)).toMatchObject({
      number: record["number"],
      amount: record["total"],
    });
  }
});

/* One form after the other, in a list of prices. */

const PRICES = `
layout: books.prices
columns: { list: Terminal, product: Product, price: Price, unit: { constant: gal } }
`;
const PLAIN = "2 Price: Price # is not a plain number with a decimal point";

test.each<[numbers: string, cell: string, read: string | null]>([
  ["", "2.31", "2.31"],
  ["", "1,234.50", null],
  ["", "1.234,50", null],
  ["", "$2.31", null],
  ["", "(2.31)", null],
  ["", " 2.31", null],
  ["", "002.31", null],
  ["", ".31", null],
  ["", "2.31-", null],
  ["", "2.31E+00", null],
  ["", "2.31%", null],
  ["", "2.31 USD", null],
  ['thousands: ","', "1,234.50", "1234.50"],
  ['thousands: ","', "1,234", "1234"],
  ['thousands: ","', "1,23", null],
  ['thousands: ","', "12,34,567", null],
  ['thousands: ".", decimal: ","', "1.234,50", "1234.50"],
  ['thousands: ".", decimal: ","', "2.31", null],
  ['thousands: " "', "1 234 567.5", "1234567.5"],
  ["parentheses: true", "(2.31)", "-2.31"],
  ["parentheses: true", "(2.31", null],
  ["parentheses: true", "(-2.31)", null],
  ["parentheses: true, currency: $", "($2.31)", "-2.31"],
  ["currency: $", "$2.31", "2.31"],
  ["currency: $", "-$2.31", "-2.31"],
  ["currency: $", "$-2.31", "-2.31"],
  ["currency: $", "-$-2.31", null],
  ["currency: $", "€2.31", null],
  ["currency: USD", "2.31 USD", "2.31"],
  ["trim: true", "  2.31 ", "2.31"],
  ["leadingZeros: true", "0002.31", "2.31"],
  ["leadingZeros: true", ".31", "0.31"],
  ["trailingMinus: true", "2.31-", "-2.31"],
  ["trailingMinus: true", "-2.31-", null],
  ["trailingMinus: CR", "2.31 CR", "-2.31"],
  ["trailingMinus: CR", "2.31 DR", null],
  ["trailingMinus: CR, plus: DR", "2.31 DR", "2.31"],
  ["trailingMinus: CR, plus: DR", "2.31 CR", "-2.31"],
  ["trailingMinus: CR, plus: DR", "2.31 CR DR", null],
  ["", "+2.31", null],
  ["plus: true", "+2.31", "2.31"],
  ["plus: true, leadingZeros: true", "+002.31", "2.31"],
  ["plus: true, trailingMinus: true", "2.31+", "2.31"],
  ["plus: true, trailingMinus: true", "2.31-", "-2.31"],
  ["plus: true, trailingMinus: true", "+2.31-", null],
  ["plus: true", "-+2.31", null],
  // As Excel shows accounts.
  ["parentheses: true, currency: $, trim: true", " $(2.31)", "-2.31"],
  ["parentheses: true, currency: $", "$2.31)", null],
  ['zero: "-", currency: $, trim: true', " $-   ", "0"],
  ['zero: "-"', "-", "0"],
  ['zero: "-"', "--", null],
  ["", "-", null],
  // The blanks of French programs, the apostrophe of Swiss ones.
  ['thousands: " ", decimal: ","', "1\u00a0234\u202f567,5", "1234567.5"],
  ['thousands: "\'"', "1\u2019234.50", "1234.50"],
])("numbers: { %s } reads %j as %s", (numbers, cell, read) =>
  expectFate(
    `${PRICES}numbers: { ${numbers} }`,
    lines("Terminal,Product,Price", `T-1,ULSD,"${cell}"`),
    read === null
      ? {
          refused: [
            (numbers.includes('decimal: ","') ? PLAIN.replace("point", "comma") : PLAIN).replace(
              "#",
              `"${cell}"`,
            ),
          ],
        }
      : { read: [{ price: read }] },
  ),
);

const ONE = { list: "T-1", product: "ULSD", price: "2.31", unit: "gal" };

test.each<[name: string, more: string, file: string, fate: Fate]>([
  [
    "without a line end its last row is cut, and said so",
    "",
    "Terminal,Product,Price\r\nT-1,ULSD,2.31\r\nT-2,ULSD,2.3",
    { read: [ONE], notices: ["file line 3 ends without a line end: the rest was not read."] },
  ],
  [
    "a last row without a line end is read where the profile says so",
    "lastLineEnd: optional",
    "Terminal,Product,Price\r\nT-1,ULSD,2.31",
    { read: [ONE] },
  ],
  [
    "a last row with too few cells is cut all the same",
    "lastLineEnd: optional",
    "Terminal,Product,Price\r\nT-1,ULSD,2.31\r\nT-2,ULSD",
    {
      read: [ONE],
      notices: ["file line 3 has 2 of 3 cells in its last row: the rest was not read."],
    },
  ],
  [
    "a last row that ends inside of quotes is cut all the same",
    "lastLineEnd: optional",
    'Terminal,Product,Price\r\nT-1,ULSD,2.31\r\nT-2,"ULSD',
    { read: [ONE], notices: ["file line 3 ends inside a quoted field: the rest was not read."] },
  ],
  [
    "a return alone ends a line where the profile says so, as of old Macs",
    "lineEnd: cr",
    'Terminal,Product,Price\rT-1,"ULSD",2.31\r',
    { read: [ONE] },
  ],
  [
    "the same where the profile does not say so",
    "",
    "Terminal,Product,Price\rT-1,ULSD,2.31\r",
    { file: "ends its lines with a return alone: its profile needs lineEnd: cr" },
  ],
  [
    "the mark of DOS at the end",
    "endOfFile: 0x1A",
    `${lines("Terminal,Product,Price", "T-1,ULSD,2.31")}\u001A`,
    { read: [ONE] },
  ],
  [
    "the same mark where the profile does not say so",
    "",
    `${lines("Terminal,Product,Price", "T-1,ULSD,2.31")}\u001A`,
    { read: [ONE], notices: ["file line 3 ends without a line end: the rest was not read."] },
  ],
  [
    "the mark in the middle of the file is no end",
    "endOfFile: 0x1A",
    lines("Terminal,Product,Price", "T-1,UL\u001ASD,2.31"),
    {
      refused: [
        "2 Product: Product holds the control character U+001A; the file is damaged or in another encoding",
      ],
    },
  ],
  [
    "sep=; as Excel writes it",
    "",
    lines("sep=;", "Terminal;Product;Price", "T-1;ULSD;2.31"),
    { read: [ONE] },
  ],
  [
    "sep= of another delimiter than the profile's",
    'delimiter: ","',
    lines("sep=;", "Terminal;Product;Price", "T-1;ULSD;2.31"),
    { file: 'says sep=;, and the profile has the delimiter ","' },
  ],
  [
    "a delimiter that few others use",
    "delimiter: ^",
    lines("Terminal^Product^Price", "T-1^ULSD^2.31"),
    { read: [ONE] },
  ],
  [
    "blanks around quotes, as BASIC programs write them",
    "trim: true",
    lines('"Terminal", "Product", "Price"', '"T-1" , "ULSD" ,2.31', '"T-2", "B, 5" ,2.32 '),
    { read: [ONE, { list: "T-2", product: "B, 5", price: "2.32" }] },
  ],
  [
    "codes that are formulas, as programs keep their zeros for Excel",
    "formulas: texts",
    lines("Terminal,Product,Price", '="001",ULSD,2.31', '"=""002""","=1",="2.32"'),
    {
      read: [
        { list: "001", price: "2.31" },
        { list: "002", product: "=1", price: "2.32" },
      ],
    },
  ],
  [
    "the same where the profile does not say so",
    "",
    lines('"Terminal", "Product", "Price"', '"T-1", "ULSD", 2.31'),
    { file: "line 1: the file has a quote where none may be" },
  ],
  [
    "a delimiter at the end of each row",
    "lastDelimiter: allowed",
    lines("Terminal,Product,Price", "T-1,ULSD,2.31,", "T-2,ULSD,2.3,1"),
    {
      read: [ONE],
      refused: ["3 : The row has 4 cells, the header 3"],
    },
  ],
  [
    "a delimiter at the end of the header alone",
    "lastDelimiter: allowed",
    lines("Terminal,Product,Price,", "T-1,ULSD,2.31"),
    { read: [ONE] },
  ],
  [
    "zeros that fill the counts of a trailer up",
    "trailer: { tag: T, in: Terminal, rows: Product }",
    lines("Terminal,Product,Price", "T-1,ULSD,2.31", "T,0001,"),
    { read: [ONE] },
  ],
  [
    "what means that there is nothing in one column alone",
    "empty: [N/A]\nleaveOut: { Product: [x] }",
    lines("Terminal,Product,Price", "T-1,ULSD,2.31", "T-1,N/A,2.31"),
    { read: [ONE], refused: ["3 Product: Product is empty"] },
  ],
  [
    "a header that is one column short",
    "",
    lines("Terminal,Product", "T-1,ULSD"),
    { file: 'lacks the columns "Price"' },
  ],
  [
    "a row with a comma too many",
    "",
    lines("Terminal,Product,Price", "T-1,ULSD,2,31"),
    { refused: ["2 : The row has 4 cells, the header 3"] },
  ],
  [
    "a price that comes twice",
    "",
    lines("Terminal,Product,Price", "T-1,ULSD,2.31", "T-1,ULSD,2.32"),
    {
      refused: ["0 : T-1|ULSD stands twice with different content (file line 2 and file line 3)."],
    },
  ],
])("%s", (_name, more, file, fate) => expectFate(`${PRICES}${more}`, file, fate));

test.each<[dates: string, cell: string, read: string | null, why?: string]>([
  ["MM/dd/yyyy", "03/04/2026", "2026-03-04"],
  ["dd/MM/yyyy", "03/04/2026", "2026-04-03"],
  ["MM/dd/yyyy, dd/MM/yyyy", "03/04/2026", null, "is two days, by mm/dd/yyyy or dd/mm/yyyy"],
  ["MM/dd/yyyy, dd/MM/yyyy", "25/12/2026", "2026-12-25"],
  ["MM/dd/yyyy, dd/MM/yyyy", "04/04/2026", "2026-04-04"],
  ["MM/dd/yy", "03/04/98", null, "is not a day of the calendar"],
  ["MM/dd/yy", "02/29/26", null, "is not a day of the calendar"],
  ["cyyMMdd", "1260304", "2026-03-04"],
  ["dd-MMM-yy", "04-MAR-26", "2026-03-04"],
  ["dd-MMM-yy", "04-MRZ-26", null, "is not a day of the calendar"],
  ["yyyy-MM-dd", "46085", null, "is not a date (yyyy-mm-dd)"],
  ["yyyy-MM-dd[ HH:mm]", "2026-03-04 18:30", "2026-03-04"],
  ["M/d/yyyy[ h:mm:ss a]", "3/4/2026 12:00:00 AM", "2026-03-04"],
  ["M/d/yyyy[ h:mm:ss a]", "3/4/2026 3:15:22 pm", "2026-03-04"],
  ["M/d/yyyy[ h:mm:ss a]", "3/4/2026", "2026-03-04"],
  ["yyyy-MM-dd[THH:mm:ss.SSS]", "2026-03-04T18:30:00.1234567", "2026-03-04"],
  ["MMMM d, yyyy", "March 4, 2026", "2026-03-04"],
  ["MMMM d, yyyy", "Marchy 4, 2026", null, "is not a day of the calendar"],
  // JD Edwards.
  ["cyyDDD", "126063", "2026-03-04"],
  ["yyyyDDD", "2026366", null, "is not a day of the calendar"],
  ["yyyyDDD", "2026000", null, "is not a day of the calendar"],
])("dates: [%s] reads %j as %s", (dates, cell, read, why) =>
  expectFate(
    `
layout: plain/freight-rates
dates: [${dates
      .split(/, (?!yyyy)/)
      .map((one) => JSON.stringify(one))
      .join(", ")}]
columns: { code: Code, connectionId: Connection, effective: Effective }`,
    lines("Code,Connection,Effective", `TX,C-1,"${cell}"`),
    read === null
      ? { refused: [`2 Effective: Effective "${cell}" ${why}`] }
      : { read: [{ effective: read }] },
  ),
);

test("a day that an AS/400 has as 0 is none, and an amount of 0 is one", () =>
  expectFate(
    `
layout: plain/freight-rates
dates: [yyyyMMdd]
columns:
  code: Code
  connectionId: Connection
  effective: { label: Effective, empty: ["0"] }
  flatFee: Fee`,
    lines("Code,Connection,Effective,Fee", "TX,C-1,0,0", "OK,C-1,20260304,1.5"),
    { read: [{ flatFee: "0" }, { effective: "2026-03-04" }] },
  ));

test("500 rows with a price that cannot be read are one group, each with its own value", async () => {
  const rows = Array.from({ length: 500 }, (_, at) => `T-${at},ULSD,$2.${at}`);
  const text = lines("Terminal,Product,Price", ...rows, "T-500,ULSD,", "T-501,,2.31");
  const scratch = memoryScratch();
  const profile = parseProfile(PRICES, "my.yaml");
  const { sheet } = await openText(profile, text);
  await readRecords(profile, new Map([[HEADS, { file: "it.csv", sheet }]]), {}, scratch);
  const faults = changesOf(scratch, 0, 600).flatMap(({ fault }) => fault ?? []);
  expect(new Set(faults.map(({ message }) => message)).size).toBe(502);
  expect(faults.map(groupKey)).toEqual([
    ...Array<string>(500).fill("Price\nPrice is not a plain number with a decimal point"),
    "Price\nPrice is empty",
    "Product\nProduct is empty",
  ]);
});

test("what a workbook has in place of a value is shown as people see it, not as it is kept", async () => {
  const path = join(tempFolder(), "file.xlsx");
  writeFileSync(path, workbook([head, priced({ raw: '<c r="C2" t="b"><v>1</v></c>' })]));
  const { refusals } = await tryProfile(parseProfile(BOOK, "my.yaml"), new Map([[HEADS, path]]), 9);
  expect(refusals).toMatchObject([{ column: "Price", value: "" }]);
});

/* Workbooks. */

const BOOK = `${PRICES}file: xlsx\n`;
const head: Cell[] = ["Terminal", "Product", "Price"];
const priced = (price: Cell): Cell[] => ["T-1", "ULSD", price];

test.each<[name: string, file: () => Buffer, fate: Fate]>([
  ["a workbook", () => workbook([head, priced({ number: "2.31" })]), { read: [ONE] }],
  [
    "true in a column of prices is no 1",
    () => workbook([head, priced({ raw: '<c r="C2" t="b"><v>1</v></c>' })]),
    {
      refused: ["2 Price: Price is TRUE in the workbook, which is no text, number or day"],
    },
  ],
  [
    "a row that a filter has hidden",
    () =>
      workbook([head, priced({ number: "2.31" }), ["T-2", "ULSD", { number: "9.99" }]], {
        hidden: [3],
      }),
    { read: [ONE], notices: ["file: 1 hidden rows were not read."] },
  ],
  [
    "a web page that is named like one",
    () => Buffer.from("\ufeff<html><table><tr><td>Terminal</td></tr></table></html>"),
    { file: "looks like XML or a web page; a workbook (.xlsx) is read here" },
  ],
  [
    "an old workbook",
    () => Buffer.concat([Buffer.from("d0cf11e0a1b11ae1", "hex"), Buffer.alloc(2_000)]),
    { file: "looks like an old Office file (.xls, .doc): a workbook is to be saved as .xlsx" },
  ],
])("%s", (_name, file, fate) => expectFate(BOOK, file(), fate));

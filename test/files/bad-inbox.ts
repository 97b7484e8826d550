/** Inboxes of prices in four formats, with files as they should not be among good ones: what of each must arrive. */
import { createWriteStream, readdirSync } from "node:fs";
import { mkdir, symlink, utimes, writeFile } from "node:fs/promises";
import { once } from "node:events";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import { expect } from "vitest";
import { agreed, envelope } from "./x12.ts";

/**
 * `good`: its three rows arrive. `row`: two arrive, the one between is quarantined. `set`: what it has of rows is
 * quarantined. `cut`: two arrive, and it is refused with a report. `refused`: none, with a report. `left`: it lies where it
 * lay, and is told. `end`: all three arrive, and what was cut after them is reported.
 * `torn`: what it has of rows is quarantined, and it is refused with a report. `more`: its three rows arrive, and what it
 * has besides is quarantined.
 */
export type Fate = "good" | "more" | "row" | "set" | "cut" | "end" | "torn" | "refused" | "left";

export interface PutFile {
  readonly format: string;
  readonly kind: string;
  readonly name: string;
  readonly fate: Fate;
  /** `TERMINAL|PRODUCT` of its rows. */
  readonly rows: readonly [string, string, string];
}

interface Price {
  readonly terminal: string;
  readonly product: string;
  readonly price: string;
}

type Content = string | Buffer;
/** `number`: of the file; each is there once. */
type Make = (rows: readonly Price[], number: number) => Content;
type Kinds = Readonly<Record<string, readonly [Fate, Make]>>;

interface Format {
  readonly source: Readonly<Record<string, unknown>>;
  readonly good: Make;
  readonly bad: Kinds;
  /** What stands before a line of 100 MB. */
  readonly endless: string;
}

const utf16 = (text: string, { isBig = false, mark = "\ufeff" } = {}): Buffer => {
  const bytes = Buffer.from(`${mark}${text}`, "utf16le");
  return isBig ? bytes.swap16() : bytes;
};
/** The same rows, the one between changed. */
const between = (rows: readonly Price[], change: Partial<Price>): Price[] =>
  rows.map((row, at) => (at === 1 ? { ...row, ...change } : row));
const edited =
  (write: Make, edit: (text: string) => Content): Make =>
  (rows, number) =>
    edit(String(write(rows, number)));
const withRow =
  (write: Make, change: Partial<Price>): Make =>
  (rows, number) =>
    write(between(rows, change), number);

const HEADER = "terminal_id,product,price,unit,effective_at,supplier,brand,source";
const csvLine = ({ terminal, product, price }: Price): string =>
  `${terminal},${product},${price},gal,,"Gulf Coast, LLC",Unbranded,desk`;
const csv: Make = (rows) => [HEADER, ...rows.map(csvLine), ""].join("\r\n");
/** Widths: terminal 16, product 12, price 40, supplier 20. */
const fixedLine = ({ terminal, product, price }: Price): string =>
  `${terminal.padEnd(16)}${product.padEnd(12)}${price.padStart(40)}${"Gulf Coast".padEnd(20)}`;
const fixed: Make = (rows) => `${rows.map(fixedLine).join("\r\n")}\r\n`;

export const FIXED_PROFILE = `
layout: books.prices
file: fixed
columns:
  list: { at: 1, length: 16 }
  product: { at: 17, length: 12 }
  price: { at: 29, length: 40 }
  unit: { constant: gal }
`;

/** What tables of both kinds have in common. */
const tableKinds = (write: Make): Kinds => ({
  "nothing at all": ["refused", (_, number) => "\n".repeat(number)],
  "old Macintosh line ends": ["refused", edited(write, (text) => text.replaceAll("\r\n", "\r"))],
  "UTF-16 without a mark": ["refused", edited(write, (text) => utf16(text, { mark: "" }))],
  "UTF-16, low byte first": ["good", edited(write, (text) => utf16(text))],
  "UTF-16, high byte first": ["good", edited(write, (text) => utf16(text, { isBig: true }))],
  "mixed line ends": ["good", edited(write, (text) => text.replace("\r\n", "\n"))],
  "bytes of Windows-1252": [
    "good",
    edited(write, (text) => Buffer.from(text.replaceAll("Gulf Coast", "Peña Coast"), "latin1")),
  ],
  "characters of four bytes": [
    "good",
    edited(write, (text) => text.replaceAll("Gulf Coast", "😀𝔘lf Coast")),
  ],
  "text like a formula": [
    "good",
    edited(write, (text) => text.replaceAll("Gulf Coast", "=HYPERLINK")),
  ],
  "a mark of UTF-8 before other bytes": [
    "refused",
    edited(write, (text) =>
      Buffer.from(`\u00ef\u00bb\u00bf${text.replace("Gulf", "Pe\u00f1a")}`, "latin1"),
    ),
  ],
  "an end within a character": [
    "end",
    edited(write, (text) => Buffer.concat([Buffer.from(text), Buffer.of(0xf0, 0x9f)])),
  ],
  "a text without end": ["row", withRow(write, { product: "x".repeat(4_001) })],
  "a NUL byte in a cell": ["row", withRow(write, { product: "UL\u0000SD" })],
  "a formula for a number": ["row", withRow(write, { price: "=1+1" })],
  "an exponent": ["row", withRow(write, { price: "2.4E+01" })],
});

const csvKinds: Kinds = {
  ...tableKinds(csv),
  "a workbook under the name of a CSV": [
    "refused",
    (_, number) => Buffer.from(`PK\u0003\u0004\u0014\u0000\n\u0000${number}\n`),
  ],
  "a header alone, cut": ["refused", (_, number) => `${HEADER}${" ".repeat(number)}`],
  "a key twice": [
    "row",
    (rows, number) =>
      String(csv(rows, number)).replace(
        /\r\n[^\r]*ULSD2[^\r]*/,
        (row) => row + row.replace("gal", "ltr"),
      ),
  ],
  "NUL in the header": ["refused", edited(csv, (text) => text.replace("product", "pro\u0000duct"))],
  "a column twice": ["refused", edited(csv, (text) => text.replace("unit", "price"))],
  "a column that is missing": ["refused", edited(csv, (text) => text.replace("price,", ""))],
  "a stray quote": ["refused", edited(csv, (text) => text.replace(/desk(?=\r\n$)/, 'de"sk"'))],
  "an end within a row": ["cut", edited(csv, (text) => text.slice(0, -30))],
  "an end within quotes": ["cut", edited(csv, (text) => text.slice(0, text.lastIndexOf("LLC")))],
  "too few cells": [
    "row",
    (rows, number) => String(csv(rows, number)).replace(/(?<=\r\n.*\r\n.*),gal.*(?=\r\n)/, ""),
  ],
  "a cell too many": [
    "row",
    (rows, number) => {
      const lines = String(csv(rows, number)).split("\r\n");
      return lines.map((line, at) => (at === 2 ? `${line},x` : line)).join("\r\n");
    },
  ],
  "thousands separators": ["row", withRow(csv, { price: '"1,002.5"' })],
};

const fixedKinds: Kinds = {
  ...tableKinds(fixed),
  "UTF-16 without a mark": ["refused", edited(fixed, (text) => utf16(text, { mark: "" }))],
  "an end within a row": ["cut", edited(fixed, (text) => text.slice(0, -60))],
  "a price that is missing": ["row", withRow(fixed, { price: "" })],
};

const SAP = { SNDPRN: "S4PCLNT100", RCVPRN: "FUELBRIDGE" };
const idoc: Make = (rows, number) =>
  [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<COND_A02><IDOC BEGIN="1">',
    `<EDI_DC40 SEGMENT="1"><TABNAM>EDI_DC40</TABNAM><DOCNUM>${String(number).padStart(16, "0")}</DOCNUM><IDOCTYP>COND_A02</IDOCTYP><MESTYP>COND_A</MESTYP><SNDPRN>${SAP.SNDPRN}</SNDPRN><RCVPRN>${SAP.RCVPRN}</RCVPRN></EDI_DC40>`,
    ...rows.map(
      ({ terminal, product, price }) =>
        `<E1KOMG SEGMENT="1"><KVEWE>A</KVEWE><KSCHL>ZRCK</KSCHL><VAKEY>${terminal.padEnd(10)}${product}</VAKEY><MATNR>${product}</MATNR>` +
        `<E1KONH SEGMENT="1"><KNUMH>1</KNUMH><DATAB>20200101</DATAB><DATBI>99991231</DATBI>` +
        `<E1KONP SEGMENT="1"><KSCHL>ZRCK</KSCHL><KRECH>C</KRECH><KBETR>${price}</KBETR><KONWA>USD</KONWA><KPEIN>1</KPEIN><KMEIN>GLL</KMEIN></E1KONP></E1KONH></E1KOMG>`,
    ),
    "</IDOC></COND_A02>\n",
  ].join("\n");
const NUMERAL = /(?<=<KNUMH>)1(?=<)/;
const bomb = `<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "${"&a;".repeat(10)}"><!ENTITY c "${"&b;".repeat(10)}">]>`;
const declared = (what: string): Make =>
  edited(idoc, (text) => text.replace("?>", `?>\n${what}`).replace(NUMERAL, "&c;"));
const inIdoc = (what: string): Make => edited(idoc, (text) => text.replace(NUMERAL, what));

const idocKinds: Kinds = {
  "nothing at all": ["refused", (_, number) => "\n".repeat(number)],
  "an end within a tag": ["refused", edited(idoc, (text) => text.slice(0, text.length / 2))],
  "an end before the root's": [
    "refused",
    edited(idoc, (text) => text.slice(0, text.lastIndexOf("</"))),
  ],
  "bytes of Windows-1252": ["refused", edited(inIdoc("ñ"), (text) => Buffer.from(text, "latin1"))],
  "UTF-16, low byte first": ["refused", edited(idoc, (text) => utf16(text))],
  "UTF-16, high byte first": ["refused", edited(idoc, (text) => utf16(text, { isBig: true }))],
  "UTF-16 without a mark": ["refused", edited(idoc, (text) => utf16(text, { mark: "" }))],
  "an encoding that nobody reads, by its own words": [
    "refused",
    edited(idoc, (text) => text.replace("UTF-8", "EBCDIC-US")),
  ],
  "a NUL byte": ["refused", inIdoc("\u0000")],
  "a NUL as a reference": ["refused", inIdoc("&#0;")],
  "a document type": ["refused", declared('<!DOCTYPE a SYSTEM "file:///etc/passwd">')],
  "an XML bomb": ["refused", declared(bomb)],
  "an entity that nobody declared": ["refused", inIdoc("&secret;")],
  "an entity that nobody declared, in a field that is not read": [
    "refused",
    edited(idoc, (text) => text.replace("<KNUMH>", "<NOTOURS>&secret;</NOTOURS><KNUMH>")),
  ],
  "a line of 9 MB": ["refused", inIdoc("x".repeat(9_000_000))],
  "another message": [
    "set",
    edited(idoc, (text) => text.replace("<MESTYP>COND_A", "<MESTYP>DEBMAS")),
  ],
  "elements 30 deep": ["refused", inIdoc(`${"<A>".repeat(30)}x${"</A>".repeat(30)}`)],
  "no control record": [
    "refused",
    edited(idoc, (text) => text.replace(/<EDI_DC40[^]*<\/EDI_DC40>/, "")),
  ],
  "another receiver": ["set", edited(idoc, (text) => text.replace(SAP.RCVPRN, "SOMEBODY"))],
  "mixed line ends": ["good", edited(idoc, (text) => text.replace("\n", "\r\n"))],
  "characters of four bytes": ["good", inIdoc("😀𝔘")],
  "text like a formula": ["good", inIdoc("=1+1")],
  "a formula for a number": ["row", withRow(idoc, { price: "=1+1" })],
};

const x12: Make = (rows, number) =>
  envelope({ functionalId: "SC", control: String(number), sets: [catalogue(rows)] });
const catalogue = (rows: readonly Price[]): string[] => [
  "832",
  "BCT*PC*RACK20261118",
  "N1*SU*RACK SUPPLIER CO*92*RS1",
  `N1*SF*TERMINAL*92*${rows[0]?.terminal}`,
  ...rows.flatMap(({ product, price }, at) => [
    `LIN*${at + 1}*VP*${product}`,
    "PID*F****ULSD NO 2",
    `CTP**UCP*${price}*1*GA`,
  ]),
  `CTT*${rows.length}`,
];

const x12Kinds: Kinds = {
  "nothing at all": ["refused", (_, number) => "\n".repeat(number)],
  "an end within ISA": ["refused", edited(x12, (text) => text.slice(0, 60) + text.slice(90, 99))],
  "an end within a segment": ["refused", edited(x12, (text) => text.slice(0, text.length / 2))],
  "an end before IEA": ["refused", edited(x12, (text) => text.replace(/IEA.*/, ""))],
  "UTF-16, low byte first": ["refused", edited(x12, (text) => utf16(text))],
  "UTF-16, high byte first": ["refused", edited(x12, (text) => utf16(text, { isBig: true }))],
  "a NUL byte": ["set", edited(x12, (text) => text.replace("NO 2", "N\u0000 2"))],
  "a line of 21 MB": [
    "refused",
    edited(x12, (text) => text.replace("NO 2", "x".repeat(21_000_000))),
  ],
  "one number for two sets": [
    "more",
    (rows, number) =>
      envelope({
        functionalId: "SC",
        control: String(number),
        sets: [catalogue(rows), catalogue(rows)],
      }).replaceAll("*0002", "*0001"),
  ],
  "NUL as the separator": ["refused", edited(x12, (text) => text.replaceAll("*", "\u0000"))],
  "a document type": ["refused", edited(x12, (text) => `<!DOCTYPE a>${text}`)],
  "one number in two interchanges": [
    "refused",
    (rows, number) => String(x12(rows, number)) + String(x12(rows.slice(1), number)),
  ],
  "a number that came before, with other content": ["refused", (rows) => x12(rows, FIRST)],
  "another number in IEA": [
    "refused",
    edited(x12, (text) => text.replace(/IEA\*1\*.{9}/, "IEA*1*999999999")),
  ],
  "a wrong count of groups": ["refused", edited(x12, (text) => text.replace("IEA*1*", "IEA*2*"))],
  "another sender": ["refused", edited(x12, (text) => text.replaceAll("ACMEOIL  ", "OTHEROIL "))],
  "a wrong count of sets": ["set", edited(x12, (text) => text.replace("GE*1*", "GE*3*"))],
  "another number in GE": ["set", edited(x12, (text) => text.replace(/GE\*1\*\d+/, "GE*1*7"))],
  "a wrong count of segments": ["set", edited(x12, (text) => text.replace(/SE\*\d+/, "SE*12"))],
  "another number in SE": [
    "set",
    edited(x12, (text) => text.replace(/(SE\*\d+)\*0001/, "$1*0009")),
  ],
  "mixed line ends": ["good", edited(x12, (text) => text.replace("~", "~\r\n"))],
  "characters of four bytes": ["good", edited(x12, (text) => text.replace("NO 2", "😀𝔘"))],
  "text like a formula": ["good", edited(x12, (text) => text.replace("ULSD NO 2", "=1+1"))],
  "bytes of Windows-1252": [
    "good",
    edited(x12, (text) => Buffer.from(text.replace("NO 2", "Peña"), "latin1")),
  ],
};
/** The number of the first interchange, which is good. */
const FIRST = 3;

export const formats: Readonly<Record<string, Format>> = {
  csv: {
    source: { layout: "books.prices", profile: "canonical/rack-prices" },
    good: csv,
    bad: csvKinds,
    endless: `${HEADER}\r\n"`,
  },
  fixed: {
    source: { layout: "books.prices", profile: "./fixed.yaml" },
    good: fixed,
    bad: fixedKinds,
    endless: "T-1",
  },
  idoc: {
    source: {
      format: "idoc",
      message: "COND_A",
      conditionTypes: ["ZRCK"],
      terminal: { from: 1, length: 10 },
      receiver: SAP.RCVPRN,
    },
    good: idoc,
    bad: idocKinds,
    endless: '<?xml version="1.0" encoding="UTF-8"?><COND_A02>',
  },
  x12: {
    source: { format: "x12", layout: "books.prices", x12: agreed },
    good: x12,
    bad: x12Kinds,
    endless: "ISA*00*",
  },
};

/** A file that is right. */
export const rightOf = (name: string): string =>
  String(
    formats[name]?.good(
      rowsOf(1, () => 0.5),
      1,
    ),
  );

export const sourcesIn = (): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(formats).map(([name, { source }]) => [
      name,
      { ...source, folder: name, pick: "*.dat" },
    ]),
  );

/** Not what anyone should trust with a path. */
const NAMES = ["..\\..\\x", "C:\\x", "x;rm -rf", "x\ny", "x$(y)", "x\u202Etad"];
/** Of so many files one is good. */
const GOOD_OF = 6;

/**
 * Puts `count` bad files into the folders of the formats, and good ones among them. Of one `seed` they are the same.
 * `endlessMb`: how long a line is that has no end.
 */
export async function putInboxes(
  folder: string,
  count: number,
  { seed, endlessMb }: { readonly seed: number; readonly endlessMb: number },
): Promise<PutFile[]> {
  for (const format of Object.keys(formats))
    for (const sub of ["archive", "failed"])
      await mkdir(join(folder, format, sub), { recursive: true });
  await writeFile(join(folder, "fixed.yaml"), FIXED_PROFILE);
  const random = generator(seed);
  const put: PutFile[] = [];
  let bad = 0;
  const turns = Object.entries(formats).map(([format, of]) => ({ format, of, turn: 0 }));
  for (let number = 1; bad < count; number++) {
    const one = turns[number % turns.length];
    if (one === undefined) break;
    const { format, of } = one;
    const isGood = one.turn % GOOD_OF === 0;
    const file = { format, number, of, rows: rowsOf(number, random), endlessMb };
    const at = one.turn - Math.ceil(one.turn / GOOD_OF);
    put.push(await putFile(folder, file, isGood ? null : at));
    if (!isGood) bad++;
    one.turn++;
  }
  return put;
}

interface Putting {
  readonly format: string;
  readonly number: number;
  readonly of: Format;
  readonly rows: readonly [Price, Price, Price];
  readonly endlessMb: number;
}

/** `at`: which of the bad ones of its format; null: a good one. */
async function putFile(
  folder: string,
  { format, number, of, rows, endlessMb }: Putting,
  at: number | null,
): Promise<PutFile> {
  const kinds = Object.entries(of.bad);
  const kind =
    at === null ? (["good", ["good", of.good]] as const) : kinds[at % (kinds.length + 2)];
  const isNamed = kind === undefined && at !== null && at % (kinds.length + 2) === kinds.length;
  const odd = isNamed ? (NAMES[number % NAMES.length] ?? "") : "f";
  const name = `${odd}${number}.dat`;
  const path = join(folder, format, name);
  const told = { format, name, rows: rows.map(idOf) as [string, string, string] };
  const seconds = 1_790_000_000 + number;
  if (kind !== undefined) {
    const [named, [fate, make]] = kind;
    await writeFile(path, make(rows, number));
    await utimes(path, seconds, seconds);
    return { ...told, kind: named, fate };
  }
  if (isNamed) {
    await writeFile(path, of.good(rows, number));
    return { ...told, kind: "an odd name", fate: "left" };
  }
  if (at === kinds.length + 1) {
    await writeEndless(path, of.endless, endlessMb);
    await utimes(path, seconds, seconds);
    return { ...told, kind: `a line of ${endlessMb} MB`, fate: "refused" };
  }
  await symlink("/etc/passwd", path);
  return { ...told, kind: "a link", fate: "left" };
}

async function writeEndless(path: string, begin: string, most: number): Promise<void> {
  const file = createWriteStream(path);
  file.write(begin);
  const piece = "y".repeat(1_000_000);
  for (let mb = 0; mb < most; mb++) if (!file.write(piece)) await once(file, "drain");
  file.end();
  await finished(file);
}

const idOf = ({ terminal, product }: Price): string => `${terminal}|${product}`;

function rowsOf(number: number, random: () => number): readonly [Price, Price, Price] {
  const row = (product: string): Price => ({
    terminal: `T-${String(number).padStart(6, "0")}`,
    product,
    price: `${1 + Math.floor(random() * 5)}.${String(Math.floor(random() * 10_000)).padStart(4, "0")}`,
  });
  return [row("ULSD1"), row("ULSD2"), row("ULSD3")];
}

/** Numbers from 0 on, below 1 (mulberry32). */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** What must become of a file: where it lies, how many of its rows arrived, and whether some are quarantined. */
const FATES = {
  good: ["archived", 3, false],
  more: ["archived", 3, true],
  row: ["archived", 2, true],
  set: ["archived", 0, true],
  cut: ["rejected", 2, false],
  end: ["rejected", 3, false],
  torn: ["rejected", 0, true],
  refused: ["rejected", 0, false],
  left: ["left", 0, false],
} as const;

export const isRejected = ({ fate }: PutFile): boolean => FATES[fate][0] === "rejected";

/** A row that was read; `state`: `delivered` and `quarantined` are what may become of it. */
export interface ToldRow {
  readonly flow: string;
  readonly id: string;
  readonly origin: string;
  readonly state: string;
}

/** Each file met its fate, and nothing came of it besides. */
export function expectFates(
  folder: string,
  put: readonly PutFile[],
  rows: readonly ToldRow[],
): void {
  const byFile = Map.groupBy(rows, ({ flow, origin }) => `${flow} ${origin.split(".dat")[0]}.dat`);
  const found = put.map((file) => {
    const { format, kind, name } = file;
    const own = byFile.get(`${format} ${name}`) ?? [];
    const among = (state: string) =>
      new Set(own.flatMap((row) => (row.state === state ? [row.id] : [])));
    const isDelivered = among("delivered");
    const delivered = file.rows.filter((row) => isDelivered.has(row)).length;
    const quarantined = among("quarantined").size;
    const others = own.filter(({ state }) => !["delivered", "quarantined"].includes(state));
    return [
      [format, kind, name],
      [placeOf(folder, file), delivered, quarantined > 0],
      [others, isDelivered.size - delivered],
    ];
  });
  expect(found).toEqual(
    put.map(({ format, kind, name, fate }) => [[format, kind, name], FATES[fate], [[], 0]]),
  );
}

/** Where a file lies now. */
function placeOf(folder: string, { format, name }: PutFile): string {
  const inbox = join(folder, format);
  const original = (one: string): string => one.replace(/\.[0-9a-f]{8}(?=\.(?:errors|dat))/, "");
  const namesIn = (sub: string): string[] => readdirSync(join(inbox, sub)).map(original);
  if (readdirSync(inbox).includes(name)) return "left";
  const failed = namesIn("failed");
  if (!failed.includes(name)) return namesIn("archive").includes(name) ? "archived" : "lost";
  return failed.includes(name.replace(/dat$/, "errors.csv")) ? "rejected" : "without a report";
}

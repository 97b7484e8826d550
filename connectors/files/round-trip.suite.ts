/** Random records, written with a profile and read back from the bytes of files. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { expect } from "vitest";
import { Decimal } from "../../src/core/decimal.ts";
import { parseExact } from "../../src/core/json.ts";
import { memoryScratch } from "../../src/core/scratch.ts";
import { bytesOf, foreignTo, survey } from "./bytes.ts";
import type { Field, Fields } from "./layouts/table.ts";
import { type Column, guardedAs, partsOf, type Profile } from "./profile.ts";
import { openProfile, shippedProfiles } from "./profile-open.ts";
import { changesOf, type Part, readRecords } from "./records.ts";
import { openSheet } from "./sheets.ts";
import { writeRecords } from "./write.ts";

type Values = Readonly<Record<string, unknown>>;

/** How a file is carried: its bytes, and how they are written. */
export interface Carrier {
  readonly name: string;
  readonly encoding: Profile["encoding"];
  readonly bytes: (text: string) => Buffer;
  readonly decimal: "." | ",";
  readonly delimiter: Exclude<Profile["delimiter"], "auto">;
}

const marked = (mark: readonly number[], encoding: "utf8" | "utf16le") => (text: string) =>
  Buffer.concat([Buffer.from(mark), Buffer.from(text, encoding)]);

export const carriers: readonly Carrier[] = [
  { name: "UTF-8", encoding: "utf-8", bytes: (text: string) => Buffer.from(text) },
  { name: "UTF-8 with a mark", encoding: "auto", bytes: marked([0xef, 0xbb, 0xbf], "utf8") },
  { name: "UTF-16", encoding: "auto", bytes: marked([0xff, 0xfe], "utf16le") },
  {
    name: "Windows-1252",
    encoding: "windows-1252",
    bytes: (text: string) => bytesOf(text, "windows-1252"),
  },
  { name: "Latin-1", encoding: "latin1", bytes: (text: string) => bytesOf(text, "latin1") },
].flatMap((one): Carrier[] => [
  { ...(one as Carrier), decimal: ".", delimiter: "," },
  { ...(one as Carrier), decimal: ",", delimiter: ";" },
]);

/** Profiles whose files say all that was written: each place is of one field, each tag of one list, each cell of a row. */
export const bothWays: readonly Profile[] = shippedProfiles()
  .map((name) => openProfile(name, ""))
  .filter(({ across, head, lists }) => {
    const labels = head.flatMap(({ labels }) => Object.values(labels ?? {}).slice(0, 1));
    const tags = lists.flatMap(({ tags }) => [...(tags?.keys() ?? [])]);
    return (
      across === undefined &&
      new Set(labels).size === labels.length &&
      new Set(tags).size === tags.length
    );
  });

/**
 * `count` records of a profile in each of several files: what is read is what was written, to the cent and the character.
 */
export async function expectRoundTrip(
  profile: Profile,
  carrier: Carrier,
  runs: number,
  count: number,
) {
  const folder = mkdtempSync(join(tmpdir(), "round-trip-"));
  try {
    await fc.assert(
      fc.asyncProperty(recordsFor(profile, carrier, count), async (records) => {
        const own = guardedAs(
          carried(profile, carrier),
          profile.file === "csv" && profile.quotes !== "none",
        );
        const read = await readBack(own, carrier, records, folder);
        expect(read).toEqual(records.map((record) => expected(own, record)));
      }),
      { numRuns: runs },
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const carried = (profile: Profile, { encoding, decimal, delimiter }: Carrier): Profile => ({
  ...profile,
  encoding,
  delimiter: profile.quotes === "none" ? profile.delimiter : delimiter,
  languages: Object.fromEntries(
    Object.entries(profile.languages)
      .slice(0, 1)
      .map(([language, { dates }]) => [language, { decimal, dates }]),
  ),
});

async function readBack(
  profile: Profile,
  { bytes }: Carrier,
  records: readonly Values[],
  folder: string,
): Promise<Values[]> {
  const parts = new Map<string, Part>();
  const handles = [];
  try {
    for (const part of partsOf(profile)) {
      const path = join(folder, part);
      writeFileSync(path, bytes(writeRecords(profile, records, part)));
      const handle = await open(path);
      handles.push(handle);
      const file = { name: part, handle, survey: await survey(handle, profile.encoding) };
      parts.set(part, { file: part, sheet: await openSheet(profile, file, "auto", () => {}) });
    }
    const scratch = memoryScratch();
    const { cut } = await readRecords(profile, parts, {}, scratch);
    expect(cut).toBeNull();
    return changesOf(scratch, 0, scratch.count()).map(({ text, fault }) => {
      expect(fault).toBeUndefined();
      return plain(parseExact(text));
    });
  } finally {
    for (const handle of handles) await handle.close();
  }
}

/** What a record says where the profile has a column; nothing elsewhere. */
function expected({ layout, head, lists }: Profile, record: Values): Values {
  const of = (fields: Fields, columns: readonly Column[], values: Values): Values =>
    Object.fromEntries(
      Object.entries(fields).map(([name, { blank, type }]) => {
        const column = columns.find((one) => one.name === name);
        const none = blank === true ? "" : null;
        if (column === undefined) return [name, none];
        if (column.constant !== null)
          return [name, type === "flag" ? column.constant === "1" : column.constant];
        return [name, values[name] ?? none];
      }),
    );
  return plain({
    ...of(layout.head, head, record),
    ...Object.fromEntries(
      Object.entries(layout.lists).map(([name, fields]) => {
        const list = lists.find((one) => one.name === name);
        if (list === undefined) return [name, layout.optional.includes(name) ? null : []];
        return [name, (record[name] as Values[]).map((row) => of(fields, list.columns, row))];
      }),
    ),
  });
}

/** Decimals as their digits: equal ones may have been written with more zeros where places are implied. */
const plain = (value: unknown): Values =>
  JSON.parse(
    JSON.stringify(value, (_, one: unknown) => (one instanceof Decimal ? `#${one.plain()}` : one)),
    (_, one: unknown) => one,
  ) as Values;

/** What spreadsheets run, what cuts cells and rows, and characters of one to four bytes. */
const CHARACTERS = Array.from("aZ09 =+-@'\"\t\n,;|#éñ€ß\u00a0日本😀𝔘＝");

function recordsFor(
  profile: Profile,
  { encoding }: Carrier,
  count: number,
): fc.Arbitrary<Values[]> {
  const isFixed = profile.file === "fixed";
  const usable = CHARACTERS.filter(
    (one) => foreignTo(one, encoding) === null && !(isFixed && /[\t\n]/.test(one)),
  );
  const word = (most: number) =>
    fc
      .string({ unit: fc.constantFrom(...usable), minLength: 1, maxLength: Math.min(most, 12) })
      .map((text) => (isFixed ? text.trim() || "x" : text));
  const value = (field: Field, column: Column | undefined): fc.Arbitrary<unknown> => {
    const one = filledValue(field, column, word);
    return field.filled || field.blank === true
      ? one
      : fc.oneof({ weight: 3, arbitrary: one }, { weight: 1, arbitrary: fc.constant(null) });
  };
  const row = (fields: Fields, columns: readonly Column[]) =>
    fc.record(
      Object.fromEntries(
        Object.entries(fields).map(([name, field]) => [
          name,
          value(
            field,
            columns.find((column) => column.name === name),
          ),
        ]),
      ),
    );
  const { layout, head, lists, record } = profile;
  const inherited = typeof record === "object" && "inherits" in record ? record.inherits : [];
  const whole = fc.record({
    ...Object.fromEntries(
      Object.entries(layout.lists).map(([name, fields]) => {
        const columns = lists.find((list) => list.name === name)?.columns ?? [];
        const rows = row(fields, columns).filter((one) =>
          columns.some((column) => !["", null, undefined].includes(one[column.name] as string)),
        );
        return [name, fc.array(rows, { maxLength: 3 })];
      }),
    ),
    // A list of prices without a line says nothing.
    "": row(layout.head, head).filter((one) =>
      Object.keys(layout.head).some((name) => !inherited.includes(name) && one[name] !== null),
    ),
  });
  return fc
    .array(whole, { minLength: count, maxLength: count })
    .map((records) =>
      records.map(({ "": fields, ...rest }, at) =>
        numbered(profile, { ...(fields as Values), ...rest }, at),
      ),
    );
}

function filledValue(
  { type }: Field,
  column: Column | undefined,
  word: (most: number) => fc.Arbitrary<string>,
): fc.Arbitrary<unknown> {
  const values = column?.form.values;
  if (values !== undefined) return fc.constantFrom(...values.values());
  const day = fc
    .integer({ min: 0, max: 36_000 })
    .map((days) => new Date(Date.UTC(2000, 0, 1) + days * 86_400_000).toISOString().slice(0, 10));
  switch (type) {
    case "decimal":
      return fc
        .tuple(units(column), fc.integer({ min: 0, max: 6 }))
        .map(([units, scale]) => decimalOf(units, Math.min(scale, column?.form.implied ?? 6)));
    case "flag":
      return fc.boolean();
    case "date":
    case "day":
      return day;
    case "stamp":
      return day.map((one) => `${one}T05:27:37Z`);
    case "instant":
      return day.map((one) => `${one}T05:27:37.123456Z`);
    case "text":
      return word(column?.most ?? 40);
  }
}

/** Fixed width has room for few digits. */
function units(column: Column | undefined): fc.Arbitrary<bigint> {
  const most = column?.form.implied === undefined ? 10n ** 9n : 10n ** 5n;
  return fc.bigInt({ min: -most, max: most });
}

function decimalOf(units: bigint, scale: number): Decimal {
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, "0");
  const point = digits.length - scale;
  const text = scale === 0 ? digits : `${digits.slice(0, point)}.${digits.slice(point)}`;
  return Decimal.of(units < 0n ? `-${text}` : text);
}

/** What records are known by is different in each, and the rows of a further file name theirs. */
function numbered({ layout, lists }: Profile, record: Values, at: number): Values {
  const keys = ["id", "number", "code", "ticket", "list"].filter((name) => name in layout.head);
  const values: Record<string, unknown> = { ...record };
  for (const key of keys) values[key] = `${key[0]}${at}`;
  for (const { name, part, by, on } of lists)
    if (part !== null)
      values[name] = (record[name] as Values[]).map((row) => ({ ...row, [by]: values[on] }));
  return values;
}

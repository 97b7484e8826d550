/** Random records, written with a profile and read back from the bytes of files. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import * as fc from "fast-check";
import { expect } from "vitest";
import { Decimal } from "../../src/core/decimal.ts";
import { parseExact } from "../../src/core/json.ts";
import { memoryScratch } from "../../src/core/scratch.ts";
import { bytesOf, survey } from "../../src/formats/format.ts";
import type { Fields } from "../../src/formats/table/layouts.ts";
import {
  type Column,
  guardedAs,
  openProfile,
  partsOf,
  type Profile,
  shippedProfiles,
} from "../../src/formats/table/profile.ts";
import { changesOf, readExport, type SurveyedFile } from "../../src/formats/table/records.ts";
import { tableText } from "../../src/formats/table/write.ts";
import { recordsFor } from "./random-records.ts";

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
    name: "UTF-16, high byte first",
    encoding: "auto",
    bytes: (text: string) => marked([0xff, 0xfe], "utf16le")(text).swap16(),
  },
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

/** Profiles whose files say all that was written: each place is of one field, each tag of one list, each cell of a row, and no list has no place. */
export const bothWays: readonly Profile[] = shippedProfiles()
  .map((name) => openProfile(name, ""))
  .filter(({ across, file, head, layout, lists }) => {
    const labels = head.flatMap(({ label }) => label ?? []);
    const tags = lists.flatMap(({ tags }) => [...(tags?.keys() ?? [])]);
    return (
      across === undefined &&
      file !== "xlsx" &&
      Object.keys(layout.lists).every((name) => lists.some((list) => list.name === name)) &&
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
      fc.asyncProperty(recordsFor(profile, carrier.encoding, count), async (records) => {
        const own = guardedAs(
          carried(profile, carrier),
          profile.file === "csv" && profile.quotes !== "none",
        );
        const read = await readBack(own, carrier, records, folder);
        const wanted = records.map((record) => plain(expected(own, record)));
        const told = read.map(plain);
        // Vitest's own comparison takes as long as all the rest; it says what differs.
        if (!isDeepStrictEqual(told, wanted)) expect(told).toEqual(wanted);
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
  lineEnd: encoding === "latin1" ? "cr" : encoding === "utf-8" ? "lf" : profile.lineEnd,
  delimiter: profile.quotes === "none" ? profile.delimiter : delimiter,
  form: { ...profile.form, numbers: { decimal } },
});

async function readBack(
  profile: Profile,
  { bytes }: Carrier,
  records: readonly Values[],
  folder: string,
): Promise<unknown[]> {
  const parts = new Map<string, SurveyedFile>();
  const handles = [];
  try {
    for (const part of partsOf(profile)) {
      const path = join(folder, part);
      writeFileSync(path, bytes(writeRecords(profile, records, part)));
      const handle = await open(path);
      handles.push(handle);
      parts.set(part, { name: part, handle, survey: await survey(handle, profile.encoding) });
    }
    const scratch = memoryScratch();
    const { cut } = await readExport(profile, parts, {}, scratch);
    expect(cut).toBeNull();
    return changesOf(scratch, 0, scratch.count()).map(({ text, fault }) => {
      expect(fault).toBeUndefined();
      return parseExact(text);
    });
  } finally {
    for (const handle of handles) await handle.close();
  }
}

/** The text of one part of an export: rows of a list that have a file of their own are the heads of it. */
function writeRecords(profile: Profile, records: readonly Values[], part: string): string {
  const list = profile.lists.find((one) => one.part === part);
  if (list === undefined) return textOf(profile, records);
  const own: Profile = { ...profile, head: list.columns, lists: [], tag: null, record: "row" };
  return textOf(
    own,
    records.flatMap((record) => (record[list.name] ?? []) as Values[]),
  );
}

/** The text of a file. @throws Refused */
export function textOf(profile: Profile, records: readonly Values[]): string {
  const { header, rows } = tableText(profile, (day) => day);
  return header + records.map(rows).join("");
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
  return {
    ...of(layout.head, head, record),
    ...Object.fromEntries(
      Object.entries(layout.lists).map(([name, fields]) => {
        const list = lists.find((one) => one.name === name);
        if (list === undefined) return [name, layout.optional.includes(name) ? null : []];
        return [name, (record[name] as Values[]).map((row) => of(fields, list.columns, row))];
      }),
    ),
  };
}

/** Decimals as their digits: equal ones may have been written with more zeros where places are implied. */
const plain = (value: unknown): unknown => {
  if (value instanceof Decimal) return `#${value.plain()}`;
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one)]));
};

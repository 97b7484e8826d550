/** A file as an ERP or a partner writes it, and its fate: what a profile alone makes of it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { Decimal } from "../../src/core/decimal.ts";
import { PartFault } from "../../src/formats/format.ts";
import { parseProfile } from "../../src/formats/table/profile.ts";
import { tryProfile } from "../../src/formats/table/records.ts";
import { tempFolder } from "../support/folder.ts";

type Values = Readonly<Record<string, unknown>>;

/** `refused`: `line column: sentence`. `file`: why nothing of it is read. */
export interface Fate {
  readonly read?: readonly Values[];
  readonly refused?: readonly string[];
  readonly notices?: readonly string[];
  readonly file?: string;
}

/** Numbers as they are written; what there is not is left out. */
function plain(value: unknown): unknown {
  if (value instanceof Decimal) return value.text;
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, one]) => (one === null ? [] : [[name, plain(one)]])),
  );
}

export const expectFate = async (...given: Parameters<typeof recordsOf>): Promise<void> =>
  void (await recordsOf(...given));

/** The file as the profile reads it, which must be its fate; gives the records. */
export async function recordsOf(
  profile: string,
  file: string | Buffer,
  { read = [], refused = [], notices = [], file: whole }: Fate,
): Promise<readonly Values[]> {
  const path = join(tempFolder(), "file");
  writeFileSync(path, file);
  const trial = tryProfile(parseProfile(profile, "my.yaml"), new Map([["heads", path]]), 99);
  if (whole !== undefined) {
    const error = await trial.catch((error: unknown) => error);
    expect(error).toBeInstanceOf(PartFault);
    expect((error as PartFault).message).toContain(whole);
    return [];
  }
  const found = await trial;
  const told = found.refusals.map(({ line, column, message }) => `${line} ${column}: ${message}`);
  expect({ read: found.records.map(({ values }) => plain(values)), told }).toMatchObject({
    read,
    told: refused,
  });
  expect(found.notices).toEqual(notices);
  return found.records.map(({ values }) => values);
}

export const lines = (...rows: readonly string[]): string =>
  rows.map((row) => `${row}\r\n`).join("");

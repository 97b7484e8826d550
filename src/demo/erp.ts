/** The demo's ERP, as far as it can be told to do something: it exports a list again, whole, with what has changed. */
import { readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { stringify } from "csv-stringify/sync";

/** A row of an export by its columns; rows that go on with a record have its own columns empty. */
export type Row = Record<string, string>;

/** Moves a whole file into place, as an ERP should. `folder`: of the demo. */
export function drop(folder: string, name: string, text: string): void {
  const path = join(folder, "erp", "export", name);
  writeFileSync(`${path}.tmp`, text);
  renameSync(`${path}.tmp`, path);
}

/** The newest export of a list that was read. `list`: its file's name without the ending. */
export function exported(folder: string, list: string): Row[] {
  const archive = join(folder, "erp", "export", "archive");
  const ageOf = (name: string): number => statSync(join(archive, name)).mtimeMs;
  const [newest] = readdirSync(archive)
    .filter((name) => name.replace(ARCHIVED, "") === list)
    .toSorted((one, other) => ageOf(other) - ageOf(one));
  if (newest === undefined) throw new Error(`${archive} has no export of ${list}`);
  return parse(readFileSync(join(archive, newest), "utf8"), { columns: true, bom: true });
}

export const exportAgain = (folder: string, list: string, rows: readonly Row[]): void =>
  drop(folder, `${list}.csv`, stringify([...rows], { header: true }));

/** `.1f0c2a9b.csv`, or numbered: `.1f0c2a9b.2.csv` */
const ARCHIVED = /\.[0-9a-f]{8}(?:\.\d+)?\.csv$/;

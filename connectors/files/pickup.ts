/**
 * The folder: which files are there, whole and at rest; their bytes; and where they go afterwards. Only regular files
 * with harmless names are touched, a link is never followed, and no file is ever overwritten.
 */
import { constants } from "node:fs";
import {
  access,
  type FileHandle,
  lstat,
  mkdir,
  open,
  readdir,
  rename,
  writeFile,
} from "node:fs/promises";
import { join, parse } from "node:path";
import { Blocked, isRightMissing, missingRight, missingToMove } from "./rights.ts";
import { SourceUnavailable } from "../../src/core/errors.ts";
import { guarded } from "../../src/core/spreadsheet.ts";
import { troubleOf, unavailable } from "./trouble.ts";

/** A file name, or one with a single `*` for any text. */
export type Pattern = string;

export interface Found {
  readonly name: string;
  readonly size: number;
  readonly mtimeMs: number;
  readonly regular: boolean;
}

/** The files of one export: one per part, alike in the text that stands for the `*` of their patterns. */
export interface FileSet {
  readonly parts: ReadonlyMap<string, Found>;
  /** Patterns of which no file is there yet. */
  readonly missing: readonly string[];
}

/** Names that people and programs give to exports; nothing that could leave the folder or hide. */
const NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._()+-]{0,119}$/u;
const UNFINISHED = /\.(?:tmp|part)$/i;

export const isHarmless = (name: string): boolean => NAME.test(name) && name === name.trim();

/** What the pattern's `*` stands for in a name; null when the name does not fit. */
function match(pattern: Pattern, name: string): string | null {
  if (UNFINISHED.test(name)) return null;
  const [prefix = "", suffix] = pattern.split("*");
  if (suffix === undefined) return name === pattern ? "" : null;
  const fits = name.length >= prefix.length + suffix.length;
  if (!fits || !name.startsWith(prefix) || !name.endsWith(suffix)) return null;
  return name.slice(prefix.length, name.length - suffix.length);
}

/** @throws SourceUnavailable when the folder cannot be listed, or what is in it not be looked at */
export async function list(folder: string): Promise<Found[]> {
  const cannot = async (cause: unknown): Promise<never> => {
    const missing = await missingRight([{ path: folder, rights: ["r", "x"] }]);
    throw unavailable(cause, `the folder ${folder} cannot be listed`, missing);
  };
  const names = await readdir(folder).catch(cannot);
  const found = names.map(async (name): Promise<Found[]> => {
    const stat = await lstat(join(folder, name)).catch((cause: unknown) =>
      codeOf(cause) === "ENOENT" ? null : cannot(cause),
    );
    if (stat === null || stat.isDirectory()) return [];
    return [{ name, size: stat.size, mtimeMs: stat.mtimeMs, regular: stat.isFile() }];
  });
  return (await Promise.all(found)).flat();
}

/** The files grouped into sets, the oldest set first, so that what was exported later is read later. */
export function findSets(
  patterns: ReadonlyMap<string, Pattern>,
  files: readonly Found[],
): FileSet[] {
  const sets = new Map<string, Map<string, Found>>();
  for (const [part, pattern] of patterns)
    for (const file of files) {
      const star = match(pattern, file.name);
      if (star !== null) sets.set(star, (sets.get(star) ?? new Map()).set(part, file));
    }
  return [...sets.values()]
    .map((parts) => ({
      parts,
      missing: [...patterns].flatMap(([part, pattern]) => (parts.has(part) ? [] : [pattern])),
    }))
    .sort((a, b) => age(a) - age(b) || (firstName(a) < firstName(b) ? -1 : 1));
}

const age = ({ parts }: FileSet): number =>
  Math.max(...[...parts.values()].map(({ mtimeMs }) => mtimeMs));

const firstName = ({ parts }: FileSet): string => [...parts.values()][0]?.name ?? "";

/** The file is as it was listed before: nobody is writing it. */
export function isAtRest(file: Found, before: readonly Found[]): boolean {
  return before.some(
    ({ name, size, mtimeMs }) =>
      name === file.name && size === file.size && mtimeMs === file.mtimeMs,
  );
}

/**
 * A file to read from; null when it is gone or no longer what was listed.
 * @throws Blocked when a right is missing, SourceUnavailable when it cannot be read for another reason
 */
export async function openFound(folder: string, file: Found): Promise<FileHandle | null> {
  const path = join(folder, file.name);
  const handle = await open(path, constants.O_RDONLY | noFollow).catch(async (cause: unknown) => {
    if (codeOf(cause) === "ENOENT" || codeOf(cause) === "ELOOP") return null;
    throw await refusal(cause, `the file ${path} cannot be read`, () =>
      missingRight([{ path, rights: ["r"] }]),
    );
  });
  if (handle === null) return null;
  const stat = await handle.stat();
  if (stat.isFile() && stat.size === file.size && stat.mtimeMs === file.mtimeMs) return handle;
  await handle.close();
  return null;
}

async function refusal(
  cause: unknown,
  what: string,
  missing: () => Promise<string | null>,
): Promise<Error> {
  const { code, detail, next } = troubleOf(cause);
  if (!isRightMissing(code)) return unavailable(cause, what);
  return new Blocked(`${what} (${detail})`, (await missing()) ?? next, cause);
}

/** Windows has no such flag: there, `lstat` in the listing is the guard. */
const noFollow = (constants.O_NOFOLLOW as number | undefined) ?? 0;

/**
 * Renames a file into `target` as `<stem>.<hash>.<ext>`, numbered when that name is taken, and returns the name. What
 * has come in its place since it was listed stays where it is: it was not read.
 * @throws Blocked, SourceUnavailable when it cannot be renamed; then it stays and is recognised next time.
 */
export async function moveAway(
  folder: string,
  file: Found,
  target: string,
  hash: string,
): Promise<string> {
  const { name } = file;
  const { name: stem, ext } = parse(name);
  try {
    const now = await lstat(join(folder, name));
    if (now.size !== file.size || now.mtimeMs !== file.mtimeMs) return name;
    await mkdir(target, { recursive: true });
    for (let copy = 1; ; copy++) {
      const to = `${stem}.${hash.slice(0, 8)}${copy === 1 ? "" : `.${copy}`}${ext}`;
      if (await exists(join(target, to))) continue;
      await rename(join(folder, name), join(target, to));
      return to;
    }
  } catch (cause) {
    if (codeOf(cause) === "ENOENT") return name;
    throw await refusal(cause, `the file ${name} was read and cannot be moved to ${target}`, () =>
      missingToMove(folder, name, [target]),
    );
  }
}

/** Puts the reasons beside a refused file, as a table that people can open. */
export async function writeErrors(
  target: string,
  movedAs: string,
  errors: readonly { file: string; line: number; column: string; reason: string }[],
): Promise<void> {
  const rows = errors.map(({ file, line, column, reason }) =>
    [file, String(line), column, reason].map(quoted).join(","),
  );
  const text = ["file,line,column,reason", ...rows, ""].join("\r\n");
  const path = join(target, `${parse(movedAs).name}.errors.csv`);
  await writeFile(path, text).catch((cause: unknown) => {
    throw unavailable(cause, `the file ${path} cannot be written`);
  });
}

/** Quoted, and with an apostrophe before it where a spreadsheet would take it for a formula. */
const quoted = (value: string): string => `"${guarded(value).replaceAll('"', '""')}"`;

/** @throws SourceUnavailable unless files can be read from and renamed in the folder. */
export async function checkFolder(folder: string): Promise<void> {
  await list(folder);
  const missing = await missingRight([{ path: folder, rights: ["w"] }]);
  if (missing === null) return;
  throw new SourceUnavailable(`no file can be moved out of the folder ${folder}`, {
    next: missing,
  });
}

/** @throws SourceUnavailable unless the folder is there and can be entered. */
export async function checkRoot(folder: string): Promise<void> {
  await access(folder, constants.X_OK).catch((cause: unknown) => {
    throw unavailable(cause, `the folder ${folder} cannot be used`);
  });
}

const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );

const codeOf = (cause: unknown): string => (cause as { code?: string }).code ?? String(cause);

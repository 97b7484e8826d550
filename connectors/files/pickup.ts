/**
 * The folder: which files are there, whole and at rest; their bytes; and where they go afterwards. Only regular files
 * with harmless names are touched, a link is never followed, and no file is ever overwritten.
 */
import { parse } from "node:path";
import { SourceUnavailable } from "../../src/core/errors.ts";
import { guarded } from "../../src/core/spreadsheet.ts";
import type { Drop, Entry, OpenFile } from "./folder/port.ts";
import { Blocked, isRightMissing } from "./folder/rights.ts";
import { troubleOf, unavailable } from "./folder/trouble.ts";

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
  /** Of each part, where the source wants them. */
  readonly manifests?: ReadonlyMap<string, Found>;
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

export const isNamed = (pattern: Pattern, name: string): boolean => match(pattern, name) !== null;

/** @throws SourceUnavailable when the folder cannot be listed, or what is in it not be looked at */
export async function list(drop: Drop, folder: string): Promise<Found[]> {
  const files: Found[] = [];
  await listEach(drop, folder, (file) => void files.push(file));
  return files;
}

/** The same one by one; `isWanted`: of these names only. @throws SourceUnavailable */
export async function listEach(
  drop: Drop,
  folder: string,
  see: (file: Found) => void,
  isWanted?: (name: string) => boolean,
): Promise<void> {
  const seen = ({ kind, ...entry }: Entry): void => {
    if (kind !== "folder") see({ ...entry, regular: kind === "file" });
  };
  await drop.visit(folder, seen, isWanted).catch(async (cause: unknown) => {
    const missing = await drop.rights.missing([{ path: folder, rights: ["r", "x"] }]);
    throw unavailable(cause, `the folder ${folder} cannot be listed`, missing);
  });
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
    .sort((a, b) => ageOf(a) - ageOf(b) || (firstName(a) < firstName(b) ? -1 : 1));
}

/** When the newest of its files was written, ms UTC by the clock of the place. */
export const ageOf = ({ parts }: FileSet): number =>
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
 * @throws Blocked when a right is missing, SourceUnavailable when it cannot be read for another reason; what it returns
 * throws the latter, too
 */
export async function openFound(drop: Drop, folder: string, file: Found): Promise<OpenFile | null> {
  const path = drop.path.join(folder, file.name);
  try {
    const opened = await drop.open(path);
    if (opened === null) return null;
    const { kind, size, mtimeMs } = await opened.look();
    if (kind === "file" && size === file.size && mtimeMs === file.mtimeMs)
      return readable(opened, path);
    await opened.close();
    return null;
  } catch (cause) {
    throw await refusal(cause, `the file ${path} cannot be read`, () =>
      drop.rights.missing([{ path, rights: ["r"] }]),
    );
  }
}

const readable = (file: OpenFile, path: string): OpenFile => ({
  look: () => file.look(),
  read: (...args) =>
    file.read(...args).catch((cause: unknown) => {
      throw unavailable(cause, `the file ${path} cannot be read to its end`);
    }),
  close: () => file.close(),
});

async function refusal(
  cause: unknown,
  what: string,
  missing: () => Promise<string | null>,
): Promise<Error> {
  const { code, detail, next } = troubleOf(cause);
  if (!isRightMissing(code)) return unavailable(cause, what);
  return new Blocked(`${what} (${detail})`, (await missing()) ?? next, cause);
}

/**
 * Renames a file into `target` as `as`, numbered before its ending when that name is taken, and returns the name. What has come in its place since it was listed stays where it is: it was not read.
 * @throws Blocked, SourceUnavailable when it cannot be renamed; then it stays and is recognised next time.
 */
export async function moveAway(
  drop: Drop,
  folder: string,
  file: Pick<Found, "name" | "size" | "mtimeMs">,
  target: string,
  as: string,
): Promise<string> {
  const { name } = file;
  const { name: stem, ext } = parse(as);
  const { join } = drop.path;
  try {
    const now = await drop.look(join(folder, name));
    if (now === null || now.size !== file.size || now.mtimeMs !== file.mtimeMs) return name;
    await drop.makeFolder(target);
    for (let copy = 1; ; copy++) {
      const to = copy === 1 ? as : `${stem}.${copy}${ext}`;
      if ((await drop.look(join(target, to))) !== null) continue;
      await drop.move(join(folder, name), join(target, to));
      return to;
    }
  } catch (cause) {
    if (codeOf(cause) === "ENOENT") return name;
    throw await refusal(cause, `the file ${name} was read and cannot be moved to ${target}`, () =>
      drop.rights.missingToMove(folder, name, [target]),
    );
  }
}

/** What a file is called once it was moved: `<stem>.<hash>.<ext>`. */
export function archivedName(name: string, hash: string): string {
  const { name: stem, ext } = parse(name);
  return `${stem}.${hash.slice(0, 8)}${ext}`;
}

/** `.1f0c2a9b.csv`, or numbered: `.1f0c2a9b.2.csv` */
export const ARCHIVED = /(\.[0-9a-f]{8}(?:\.\d+)?)(\.[^.]*)$/;

/** Puts the reasons beside a refused file, as a table that people can open. */
export async function writeErrors(
  drop: Drop,
  target: string,
  movedAs: string,
  errors: readonly { file: string; line: number; column: string; reason: string }[],
): Promise<void> {
  const rows = errors.map(({ file, line, column, reason }) =>
    [file, String(line), column, reason].map(quoted).join(","),
  );
  const text = ["file,line,column,reason", ...rows, ""].join("\r\n");
  const path = drop.path.join(target, `${parse(movedAs).name}.errors.csv`);
  await drop.write(path, Buffer.from(text), "any").catch((cause: unknown) => {
    throw unavailable(cause, `the file ${path} cannot be written`);
  });
}

/** Quoted, and with an apostrophe before it where a spreadsheet would take it for a formula. */
const quoted = (value: string): string => `"${guarded(value).replaceAll('"', '""')}"`;

/** @throws SourceUnavailable unless files can be read from and renamed in the folder. */
export async function checkFolder(drop: Drop, folder: string): Promise<void> {
  await list(drop, folder);
  const missing = await drop.rights.missing([{ path: folder, rights: ["w"] }]);
  if (missing === null) return;
  throw new SourceUnavailable(`no file can be moved out of the folder ${folder}`, {
    next: missing,
  });
}

/** @throws SourceUnavailable unless the folder is there and can be entered. */
export async function checkRoot(drop: Drop): Promise<void> {
  await drop.rights.expectEntry(drop.at()).catch((cause: unknown) => {
    throw unavailable(cause, `the folder ${drop.where} cannot be used`);
  });
}

const codeOf = (cause: unknown): string => (cause as { code?: string }).code ?? String(cause);

/**
 * A folder that files arrive in: which of them are there, whole and at rest, in the order in which they may be read; their
 * bytes; and where they go afterwards. Only regular files with harmless names are touched, a link is never followed, and no
 * file is ever overwritten.
 */
import { parse } from "node:path";
import { z } from "zod";
import type { FilesConfig, SourceConfig } from "./config.ts";
import {
  Blocked,
  type Drop,
  type Entry,
  isRightMissing,
  type OpenFile,
  troubleOf,
  unavailable,
} from "./folder/port.ts";
import type { Obstacle, Surroundings } from "../../src/core/contract.ts";
import { SourceUnavailable } from "../../src/core/errors.ts";
import type { Fault } from "../../src/core/record.ts";
import { guarded } from "../../src/core/text.ts";
import { HEADS } from "../../src/formats/table/profile.ts";

/** The surroundings of an endpoint of this connector, with the place that its files lie in. */
export interface Site extends Surroundings {
  readonly drop: Drop;
  /** Shared by what reads and what tells of it. Left out: nothing is remembered. */
  readonly kept?: Kept;
}

/** A file name, or one with a single `*` for any text. */
type Pattern = string;

/** The folders of a source, which files it takes of them, and how long it keeps them. */
export interface Place {
  readonly drop: Drop;
  readonly folder: string;
  readonly archive: string;
  readonly failed: string;
  /** Days that a file stays in the archive, one folder a day; null: for ever, and all in one folder. */
  readonly keepDays: number | null;
  /** What the file that says that a file is whole ends in, after the file's name; null: there is none. */
  readonly marker: string | null;
  /** The same of a file's manifest. */
  readonly manifest: string | null;
  /** By the part of an export. */
  readonly patterns: ReadonlyMap<string, Pattern>;
}

/** The settings that a {@link Place} is made of. */
export type PlaceConfig = Pick<
  SourceConfig,
  "folder" | "archive" | "failed" | "keepDays" | "marker" | "manifest" | "pick"
>;

export function placeOf(config: PlaceConfig, { drop }: Pick<Site, "drop">): Place {
  const { folder, archive, failed, keepDays = null, marker = null, manifest = null, pick } = config;
  return {
    drop,
    folder: drop.at(folder),
    archive: drop.at(folder, archive),
    failed: drop.at(folder, failed),
    keepDays,
    marker,
    manifest,
    patterns: new Map(Object.entries(typeof pick === "string" ? { [HEADS]: pick } : pick)),
  };
}

/** Whatever is in a folder and is none itself. */
export type Found = Entry;

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

const isHarmless = (name: string): boolean => NAME.test(name) && name === name.trim();

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
  const seen = (entry: Entry): void => void (entry.kind !== "folder" && see(entry));
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
function isAtRest(file: Found, before: readonly Found[]): boolean {
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
async function moveAway(
  drop: Drop,
  folder: string,
  file: Pick<Found, "name" | "size" | "mtimeMs">,
  target: string,
  as: string,
): Promise<string> {
  const { name } = file;
  const { join } = drop.path;
  try {
    const now = await drop.look(join(folder, name));
    if (now === null || now.size !== file.size || now.mtimeMs !== file.mtimeMs) return name;
    await drop.makeFolder(target);
    for (let copy = 1; ; copy++) {
      const to = numberedCopy(as, copy);
      if ((await drop.look(join(target, to))) !== null) continue;
      await drop.move(join(folder, name), join(target, to));
      return to;
    }
  } catch (cause) {
    if (troubleOf(cause).code === "ENOENT") return name;
    throw await refusal(cause, `the file ${name} was read and cannot be moved to ${target}`, () =>
      drop.rights.missingToMove(folder, name, [target]),
    );
  }
}

/** What a file is called once it was moved: `<stem>.<hash>.<ext>`. */
function archivedName(name: string, hash: string): string {
  const { name: stem, ext } = parse(name);
  return `${stem}.${hash.slice(0, 8)}${ext}`;
}

/** `.1f0c2a9b.csv`, or numbered: `.1f0c2a9b.2.csv` */
export const ARCHIVED = /(\.[0-9a-f]{8}(?:\.\d+)?)(\.[^.]*)$/;

/** Puts the reasons beside a refused file, as a table that people can open. */
async function writeErrors(
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

/*
 * What lies in the folder, in the order in which it may be read. A file that is too large, or that a right is missing for,
 * may be read later, when somebody has seen to it. Files that came after it wait until then: read before it, what they say
 * would be overwritten by what is older. Files that have to be renamed or replaced first hold back nothing.
 */

interface Queue {
  /** Complete and at rest, the oldest first, up to what holds back the rest. */
  readonly ready: readonly FileSet[];
  readonly obstacles: readonly Obstacle[];
  /** That a set cannot be read, and holds back what came after it. */
  holding(set: FileSet, fault: Fault): Obstacle;
}

/** How many names are told of what waits behind a file. */
const NAMED = 20;

/** @throws SourceUnavailable when the folder cannot be listed */
export async function lookAt(
  place: Place,
  { settleMs, maxBytes }: FilesConfig,
  site: Pick<Site, "pause">,
  signal: AbortSignal,
): Promise<Queue> {
  const before = await list(place.drop, place.folder);
  if (findSets(place.patterns, before).length === 0)
    return { ...queueOf([]), obstacles: otherCase(place.patterns, before) };
  await site.pause(settleMs, signal);
  if (signal.aborted) return queueOf([]);
  const there = await list(place.drop, place.folder);
  const { marker, manifest } = place;
  const beside = [marker, manifest].filter((one) => one !== null);
  const byName = new Map(there.map((file) => [file.name, file]));
  const sets = findSets(
    place.patterns,
    there.filter(({ name }) => !beside.some((ending) => name.endsWith(ending))),
  ).map((set) => (manifest === null ? set : withManifests(set, manifest, byName)));
  const queue = queueOf(sets);
  const ready: FileSet[] = [];
  const obstacles: Obstacle[] = [];
  const unmovable = await cannotMove(place);
  if (unmovable !== null && sets[0] !== undefined)
    return { ...queue, obstacles: [queue.holding(sets[0], unmovable)] };
  obstacles.push(...otherCase(place.patterns, there));
  for (const set of sets) {
    const found = [...set.parts.values()];
    const large = found.find(({ size }) => size > maxBytes);
    const refused = found.flatMap((file) => unreadable(file) ?? []);
    if (refused.length > 0) obstacles.push(...refused);
    else if (large !== undefined) {
      obstacles.push(queue.holding(set, tooLarge(large, maxBytes)));
      break;
    } else if (set.missing.length > 0) obstacles.push(incomplete(set));
    else if (marker !== null && !found.every(({ name }) => byName.has(name + marker)))
      obstacles.push(lacks(set, "unmarked", "marker", marker));
    else if (manifest !== null && !isTold(set))
      obstacles.push(lacks(set, "no-manifest", "manifest", manifest, OLDER));
    else if (![...found, ...(set.manifests?.values() ?? [])].every((one) => isAtRest(one, before)))
      obstacles.push(changing(set));
    else ready.push(set);
  }
  return { ...queue, ready, obstacles };
}

const withManifests = (
  set: FileSet,
  ending: string,
  there: ReadonlyMap<string, Found>,
): FileSet => ({
  ...set,
  manifests: new Map(
    [...set.parts].flatMap(([part, { name }]) => {
      const found = there.get(name + ending);
      return found?.kind === "file" ? [[part, found] as const] : [];
    }),
  ),
});

/** Each file has its manifest, which is not that of a file which was there before it. */
const isTold = ({ parts, manifests }: FileSet): boolean =>
  [...parts].every(([part, { mtimeMs }]) => (manifests?.get(part)?.mtimeMs ?? -1) >= mtimeMs);

const queueOf = (sets: readonly FileSet[]): Queue => ({
  ready: [],
  obstacles: [],
  holding(set, fault) {
    const after = sets.slice(sets.findIndex((one) => namesOf(one) === namesOf(set)) + 1);
    const names = after.slice(0, NAMED).map((one) => shown(namesOf(one)));
    const behind = { count: after.length, names };
    return { ...obstacle(namesOf(set), fault, false), behind };
  },
});

/** That a file or set cannot be read now. `awaited`: it clears by itself. */
const obstacle = (name: string, fault: Fault, awaited: boolean): Obstacle => ({
  what: shown(name),
  fault,
  awaited,
  behind: { count: 0, names: [] },
});

/** What a set waits for, as a sentence; `next`: what is to be done for it. */
const waits = (set: FileSet, code: string, message: string, next: string): Obstacle =>
  obstacle(namesOf(set), { code, message, next }, true);

export const changing = (set: FileSet): Obstacle =>
  waits(
    set,
    "changing",
    "It is being written: it has changed within the last moments.",
    "It is read at the next look, once it no longer changes.",
  );

const incomplete = (set: FileSet): Obstacle =>
  waits(
    set,
    "incomplete",
    `It waits for ${set.missing.join(" and ")}.`,
    "Export that list too, under a name that is alike in the same part.",
  );

const OLDER = ", which is missing or older than the file";

/** `setting`: marker or manifest. */
const lacks = (set: FileSet, code: string, setting: string, ending: string, how = ""): Obstacle =>
  waits(
    set,
    code,
    `It waits for its ${setting}, ${shown(namesOf(set))}${ending}${how}.`,
    `Let the program that writes it put the ${setting} beside it last, or take "${setting}" out of the source's settings.`,
  );

/** Programs and shares that make no difference between them write `CUSTOMERS.CSV`. A name is taken as it is, or told. */
function otherCase(patterns: Place["patterns"], files: readonly Found[]): Obstacle[] {
  return files.flatMap(({ name }) => {
    const all = [...patterns.values()];
    const pattern = all.find((one) => isNamed(one.toLowerCase(), name.toLowerCase()));
    if (pattern === undefined || all.some((one) => isNamed(one, name))) return [];
    const fault: Fault = {
      code: "other-case",
      message: `It differs from ${pattern} in upper and lower case.`,
      next: `Rename it, or set "pick" as the program writes the names.`,
    };
    return [obstacle(name, fault, false)];
  });
}

const tooLarge = ({ name, size }: Found, maxBytes: number): Fault => ({
  code: "too-large",
  message: `${shown(name)} has ${size} bytes; maxBytes is ${maxBytes}.`,
  next: "Move it away if it is no export; else raise maxBytes of this endpoint.",
});

const ODD_NAME: Fault = {
  code: "odd-name",
  message: "Its name has characters that are not taken.",
  next: 'Rename it to letters, digits and " ._()+-".',
};
const NOT_A_FILE: Fault = {
  code: "not-a-file",
  message: "It is a link or a device.",
  next: "Put the file itself into the folder.",
};

/** A file that nobody can read as it is: as another file it comes anew. */
function unreadable({ name, kind }: Found): Obstacle | null {
  if (!isHarmless(name)) return obstacle(name, ODD_NAME, false);
  return kind === "file" ? null : obstacle(name, NOT_A_FILE, false);
}

/** What is read must be moved away after, or it holds back the next. */
async function cannotMove({ drop, folder, archive, failed }: Place): Promise<Fault | null> {
  const next = await drop.rights.missing(
    [folder, archive, failed].map((path) => ({ path, rights: ["x", "w"] })),
  );
  return next === null
    ? null
    : { code: "no-right", message: `Files cannot be moved from ${folder} to ${archive}.`, next };
}

/** A name that no one should trust is shown without what could hide in it. */
const shown = (name: string): string =>
  name.slice(0, 360).replaceAll(/[^\p{L}\p{N}\p{P}\p{S} ]/gu, "?");

export const namesOf = ({ parts }: FileSet): string =>
  [...parts.values()].map(({ name }) => name).join(" + ");

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

/*
 * The last move of a set of files that was read, with their manifests and markers. It is several renames: what is to be moved is written down beside the
 * files before the first one and deleted after the last, so that a crash in between leaves no part behind, which would
 * wait for the others for ever or be read with parts of a later export.
 */

const Refused = z.strictObject({
  file: z.string(),
  line: z.number(),
  column: z.string().optional(),
  reason: z.string(),
});

const File = z.object({ name: z.string(), size: z.number(), mtimeMs: z.number() });

type FileMoved = z.infer<typeof File>;

const Move = z.strictObject({
  /** Of the set: all its files get it, so that they are still a set when they are put back. */
  hash: z.string(),
  target: z.string(),
  /** `manifest`: of this file, with its name; it goes where its file goes. */
  files: z.array(File.extend({ manifest: File.optional() })),
  /** Why the set was not read; the reason goes beside its file. */
  error: Refused.nullable(),
});
type Move = z.infer<typeof Move>;

/** No pattern fits a name that ends in `.tmp`. */
const NOTE = /^\.fuelbridge-[0-9a-f]{8}\.tmp$/;
const noteOf = ({ hash }: Move): string => `.fuelbridge-${hash.slice(0, 8)}.tmp`;

/**
 * Returns what each file is called now, by its name.
 * @throws Blocked, SourceUnavailable when a file cannot be moved; {@link finishMoves} goes on with it
 */
export async function moveSet(place: Place, move: Move): Promise<ReadonlyMap<string, string>> {
  const { drop, folder } = place;
  const [first] = move.files;
  if (move.files.length === 1 && first?.manifest === undefined) return moveFiles(place, move);
  const note = drop.path.join(folder, noteOf(move));
  await drop.write(note, Buffer.from(JSON.stringify(move)), "any").catch((cause: unknown) => {
    throw unavailable(cause, `the file ${note} cannot be written`);
  });
  const moved = await moveFiles(place, move);
  await remove(drop, note);
  return moved;
}

/**
 * Ends the moves that a crash has interrupted. Call it before the folder is read. True: there were any. What a store does not
 * know that was put back since goes back, to be read again.
 * @param isKnown by the hash of a set
 * @throws Blocked, SourceUnavailable when a file cannot be moved
 */
export async function finishMoves(
  place: Place,
  listed: readonly Found[],
  isKnown: (hash: string) => boolean,
): Promise<boolean> {
  const { drop, folder } = place;
  let isAny = false;
  for (const { name } of listed) {
    if (!NOTE.test(name)) continue;
    isAny = true;
    const note = drop.path.join(folder, name);
    const move = moveIn(await textOf(drop, note));
    // Cut off while it was written: no file was moved yet.
    if (move !== null && move.error === null && !isKnown(move.hash)) await moveBack(place, move);
    else if (move !== null) await moveFiles(place, move);
    await remove(drop, note);
  }
  return isAny;
}

function numberedCopy(name: string, copy: number): string {
  const { name: stem, ext } = parse(name);
  return copy === 1 ? name : `${stem}.${copy}${ext}`;
}

/** A file that has come in the place of one stays there: nothing is written over. */
async function moveBack({ drop, folder }: Place, { hash, target, files }: Move): Promise<void> {
  const { join } = drop.path;
  const back = async ({ name, size, mtimeMs }: FileMoved, from: string): Promise<void> => {
    if ((await drop.look(join(folder, name))) !== null) return;
    for (let copy = 1; ; copy++) {
      const path = join(target, numberedCopy(from, copy));
      const there = await drop.look(path);
      if (there === null) return;
      if (there.size === size && there.mtimeMs === mtimeMs)
        return drop.move(path, join(folder, name));
    }
  };
  try {
    for (const { manifest, ...file } of files) {
      const archived = archivedName(file.name, hash);
      await back(file, archived);
      if (manifest !== undefined)
        await back(manifest, `${archived}${manifest.name.slice(file.name.length)}`);
    }
  } catch (cause) {
    throw unavailable(cause, `what was moved to ${target} cannot be put back into ${folder}`);
  }
}

async function moveFiles(
  { drop, folder, marker }: Place,
  move: Move,
): Promise<ReadonlyMap<string, string>> {
  const { hash, target, error } = move;
  const moved = new Map<string, string>();
  for (const { manifest, ...file } of move.files) {
    const archived = archivedName(file.name, hash);
    const movedAs = await moveAway(drop, folder, file, target, archived);
    // It was moved before a crash.
    const named = movedAs === file.name ? archived : movedAs;
    moved.set(file.name, named);
    // After its file: what is left without one makes no other file readable, for that must be at rest, too.
    if (marker !== null) await remove(drop, drop.path.join(folder, `${file.name}${marker}`));
    if (manifest !== undefined)
      await moveAway(
        drop,
        folder,
        manifest,
        target,
        `${named}${manifest.name.slice(file.name.length)}`,
      );
    if (error?.file !== file.name) continue;
    await writeErrors(drop, target, named, [{ ...error, column: error.column ?? "" }]);
  }
  return moved;
}

async function textOf(drop: Drop, path: string): Promise<string> {
  const file = await drop.open(path).catch((cause: unknown) => {
    throw unavailable(cause, `the file ${path} cannot be read`);
  });
  if (file === null) return "";
  try {
    const { size } = await file.look();
    const bytes = Buffer.alloc(Math.min(size, NOTE_BYTES_MAX));
    const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
    return bytes.toString("utf8", 0, bytesRead);
  } finally {
    await file.close();
  }
}

const NOTE_BYTES_MAX = 65_536;

function moveIn(text: string): Move | null {
  try {
    return Move.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

async function remove(drop: Drop, path: string): Promise<void> {
  await drop.remove(path).catch((cause: unknown) => {
    throw unavailable(cause, `the file ${path} is of no more use and cannot be deleted`);
  });
}

/*
 * Files that were read, in one folder a day where they are deleted after a time: so that neither reading nor deleting
 * lists what is older.
 */

const DAY = /^\d{4}-\d\d-\d\d$/;
const DAY_MS = 86_400_000;
/** Files that one reading deletes at most: there may be a year of them. */
const REMOVED_MAX = 500;

/** Where a file goes that was read now. */
export function dayFolder({ drop, archive, keepDays }: Place, site: Site): string {
  if (keepDays === null) return archive;
  return drop.path.join(archive, site.dayOf(site.now().toISOString()));
}

/** Where files that were read may be, the newest first; none before the first one was read. */
export async function archiveFolders({ drop, archive }: Place): Promise<string[]> {
  const days = await daysIn(drop, archive).catch(() => null);
  if (days === null) return [];
  return [...days.toReversed().map((day) => drop.path.join(archive, day)), archive];
}

/**
 * Deletes what is older than `keepDays`. What cannot be deleted stays, with a line in the log. Returns the day that this is
 * done for; null: something is left. `doneFor`: what it returned before; a day is looked at once, for the archive is listed.
 */
export async function removeOld(
  { drop, archive, keepDays }: Place,
  site: Site,
  doneFor: string | null,
): Promise<string | null> {
  if (keepDays === null) return null;
  const oldest = site.dayOf(new Date(site.now().getTime() - keepDays * DAY_MS).toISOString());
  if (doneFor === oldest) return doneFor;
  let left = REMOVED_MAX;
  try {
    if ((await drop.look(archive)) === null) return null;
    for (const day of await daysIn(drop, archive)) {
      if (day >= oldest) return oldest;
      const folder = drop.path.join(archive, day);
      for (const { name } of await list(drop, folder)) {
        if (left-- === 0) return null;
        await drop.remove(drop.path.join(folder, name));
      }
      await drop.removeFolder(folder);
    }
    return oldest;
  } catch (error) {
    const { detail, next } = troubleOf(error);
    site.note("old files not deleted", { folder: archive, detail, next });
    return null;
  }
}

/** Days as text, the oldest first. */
async function daysIn(drop: Drop, archive: string): Promise<string[]> {
  const days: string[] = [];
  const see = ({ kind, name }: Entry): void => void (kind === "folder" && days.push(name));
  await drop.visit(archive, see, (name) => DAY.test(name));
  return days.toSorted();
}

/*
 * Where the newest files of each source are in its archive, as far as this process has seen: an archive may hold millions,
 * and listing it takes as long as it is large. After a start it is listed once.
 */

/** A whole set, and the folder that it lies in. */
export interface KeptSet {
  readonly folder: string;
  readonly set: FileSet;
}

export class Kept {
  readonly #newest = new Map<string, KeptSet>();

  newest(place: Place): KeptSet | null {
    return this.#newest.get(keyOf(place)) ?? null;
  }

  /** A whole set that lies in a folder of the archive, each part under the name that it has there. */
  keep(place: Place, folder: string, parts: ReadonlyMap<string, Found>): void {
    const key = keyOf(place);
    const set: FileSet = { parts, missing: [] };
    const known = this.#newest.get(key);
    if (known === undefined || ageOf(known.set) <= ageOf(set))
      this.#newest.set(key, { folder, set });
  }

  /** It is not there any more, or is no export. */
  forget(place: Place): void {
    this.#newest.delete(keyOf(place));
  }
}

const keyOf = ({ archive, patterns }: Place): string => JSON.stringify([archive, ...patterns]);

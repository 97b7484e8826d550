/**
 * A folder that files arrive in: which of them are there, whole and at rest, in the order in which they may be read; their
 * bytes; and where they go afterwards. Only regular files with harmless names are touched, a link is never followed, and no
 * file is ever overwritten.
 */
import { parse } from "node:path";
import { z } from "zod";
import type { FilesConfig, SourceConfig } from "./config.ts";
import {
  againAfterCut,
  allOf,
  Blocked,
  type Drop,
  type Entry,
  isRightMissing,
  orUnavailable,
  type OpenFile,
  troubleOf,
  unavailable,
} from "./folder/port.ts";
import type { Obstacle, Reading, Surroundings } from "../../src/core/contract.ts";
import { SourceUnavailable } from "../../src/core/errors.ts";
import { parsedJson } from "../../src/core/json.ts";
import { sha256Hex } from "../../src/core/keys.ts";
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

/** The settings that a {@link Place} is made of. */
export type PlaceConfig = Pick<
  SourceConfig,
  "folder" | "archive" | "failed" | "keepDays" | "marker" | "manifest" | "pick"
>;

/** The folders of a source, which files it takes of them, and how long it keeps them. */
export type Place = ReturnType<typeof placeOf>;

export function placeOf(
  config: PlaceConfig & { readonly layout?: string; readonly message?: string },
  { drop }: Pick<Site, "drop">,
) {
  const { folder, archive, failed, keepDays = null, marker = null, manifest = null, pick } = config;
  return {
    drop,
    folder: drop.at(folder),
    /** What is read there: sources of one folder may pick the same names, and leave what is not theirs. */
    reads: config.layout ?? config.message ?? "",
    archive: drop.at(folder, archive),
    failed: drop.at(folder, failed),
    /** Days that a file stays in the archive, one folder a day; null: for ever, and all in one folder. */
    keepDays,
    /** What the file that says that a file is whole ends in, after the file's name; null: there is none. */
    marker,
    /** The same of a file's manifest. */
    manifest,
    /** By the part of an export. */
    patterns: new Map<string, Pattern>(
      Object.entries(typeof pick === "string" ? { [HEADS]: pick } : pick),
    ),
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
export const list = (drop: Drop, folder: string): Promise<Found[]> =>
  listing(
    drop,
    folder,
    againAfterCut(async () => {
      const files: Found[] = [];
      await visitFiles(drop, folder, (file) => void files.push(file));
      return files;
    }),
  );

/** The same one by one; `isWanted`: of these names only. @throws SourceUnavailable */
export const listEach = (
  drop: Drop,
  folder: string,
  see: (file: Found) => void,
  isWanted?: (name: string) => boolean,
): Promise<void> => listing(drop, folder, visitFiles(drop, folder, see, isWanted));

const visitFiles = (drop: Drop, folder: string, ...[see, isWanted]: Visiting): Promise<void> =>
  drop.visit(folder, (entry) => void (entry.kind !== "folder" && see(entry)), isWanted);

type Visiting = [see: (file: Found) => void, isWanted?: (name: string) => boolean];

/** What a failing look into a folder means: nobody knows what is in it. @throws SourceUnavailable */
export const listing = <Value>(drop: Drop, folder: string, work: Promise<Value>): Promise<Value> =>
  orUnavailable(work, `the folder ${folder} cannot be listed`, () =>
    drop.rights.missing([{ path: folder, rights: ["r", "x"] }]),
  );

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

/** The file is as it was seen before: nobody is writing it. */
const isSame = (
  one: Pick<Found, "size" | "mtimeMs">,
  other: Pick<Found, "size" | "mtimeMs"> | null | undefined,
): boolean => one.size === other?.size && one.mtimeMs === other.mtimeMs;

/** Files up to this size are taken into memory at once, however often they are read then. */
const SMALL_BYTES = 500_000;

/**
 * A file to read from; null when it is gone or no longer what was listed.
 * @throws Blocked when a right is missing, SourceUnavailable when it cannot be read for another reason; what it returns
 * throws the latter, too
 */
export async function openFound(drop: Drop, folder: string, file: Found): Promise<Readable | null> {
  const path = drop.path.join(folder, file.name);
  try {
    if (file.size <= SMALL_BYTES) {
      const bytes = (await drop.read(path, file.size))?.bytes;
      // Nobody wrote to it while it was read.
      return bytes?.length === file.size && isSame(file, await drop.look(path))
        ? inMemory(bytes)
        : null;
    }
    const opened = await drop.open(path);
    if (opened === null) return null;
    const { entry } = opened;
    if (entry.kind === "file" && isSame(file, entry)) return readable(opened, path);
    await opened.close();
    return null;
  } catch (cause) {
    throw await refusal(cause, `the file ${path} cannot be read`, file.name, () =>
      drop.rights.missing([{ path, rights: ["r"] }]),
    );
  }
}

const inMemory = (bytes: Buffer): Readable => ({
  read: async (buffer, offset, length, position) => ({
    bytesRead: bytes.copy(buffer, offset, position, position + length),
  }),
  close: async () => {},
});

export type Readable = Pick<OpenFile, "read" | "close">;

const readable = (file: OpenFile, path: string): Readable => ({
  read: (...args) =>
    orUnavailable(file.read(...args), `the file ${path} cannot be read to its end`),
  close: () => file.close(),
});

async function refusal(
  cause: unknown,
  what: string,
  file: string,
  missing: () => Promise<string | null>,
): Promise<Error> {
  const { code, detail, next } = troubleOf(cause);
  if (!isRightMissing(code)) return unavailable(cause, what);
  return new Blocked(`${what} (${detail})`, { file, next: (await missing()) ?? next, cause });
}

/**
 * Renames a file into `target` as `as`, numbered before its ending when that name is taken, and returns the name. What has
 * come in its place since it was listed stays where it is: it was not read.
 * @throws Blocked, SourceUnavailable when it cannot be renamed; then it stays and is recognised next time.
 */
async function moveAway(
  place: Place,
  file: Pick<Found, "name" | "size" | "mtimeMs">,
  target: string,
  as: string,
): Promise<string> {
  const { drop, folder } = place;
  const from = drop.path.join(folder, file.name);
  const look = (copy: number) =>
    allOf([drop.look(from), drop.look(drop.path.join(target, numberedCopy(as, copy)))]);
  try {
    let [now, there] = await look(1);
    let copy = 1;
    for (; there !== null && isSame(file, now); [now, there] = await look(copy)) copy++;
    if (!isSame(file, now)) return file.name;
    const move = () => drop.move(from, drop.path.join(target, numberedCopy(as, copy)));
    await againAfterCut(move, async () => {
      // It may have been moved before the line was cut.
      [now, there] = await look(copy);
      if (there === null && isSame(file, now)) await move();
    });
    return numberedCopy(as, copy);
  } catch (cause) {
    if (troubleOf(cause).code === "ENOENT") return file.name;
    throw await notMoved(cause, place, file.name, target);
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
  const written = drop.write(path, Buffer.from(text), "any");
  await orUnavailable(written, `the file ${path} cannot be written`);
}

/** Quoted, and with an apostrophe before it where a spreadsheet would take it for a formula. */
const quoted = (value: string): string => `"${guarded(value).replaceAll('"', '""')}"`;

/*
 * What lies in the folder, in the order in which it may be read. A file that is too large, or that a right is missing for,
 * may be read later, when somebody has seen to it. Files that came after it wait until then: read before it, what they say
 * would be overwritten by what is older. Files that have to be renamed or replaced first hold back nothing.
 */

export type Queue = ReturnType<typeof queueOf>;

/** How many names are told of what waits behind a file. */
const NAMED = 20;

/** What a source saw in its folder, and when: for the next look, which sees what has changed since. */
export interface Seen {
  files: readonly Found[];
  /** ms, of `performance.now()` */
  atMs: number;
}

/** New files up to which each is looked at again; of more the folder is listed again. */
const LOOKED_AT_MAX = 200;

/**
 * One listing, unless many files are new in it. `seen`: by the look before, and by this one from now on.
 * @throws SourceUnavailable when the folder cannot be listed
 */
export async function lookAt(
  place: Place,
  { settleMs, maxBytes }: FilesConfig,
  site: Site,
  { signal, known }: Pick<Reading, "signal" | "known">,
  seen: Seen,
): Promise<Queue> {
  const { drop, folder, patterns, marker, manifest } = place;
  let there = await list(drop, folder);
  let sets = setsIn(place, there);
  try {
    // Somebody who only looks moves nothing.
    if (
      site.looking !== true &&
      (await finishMoves(place, there, (hash) => known(hash) !== null))
    ) {
      // Which of the files in the archive is the newest now, the archive tells.
      site.kept?.forget(place);
      there = await list(drop, folder);
      sets = setsIn(place, there);
    }
  } catch (error) {
    const unread = queueOf(folder, sets);
    return { ...unread, obstacles: [unread.blocked(error)] };
  }
  const before = performance.now() - seen.atMs >= settleMs ? seen.files : [];
  Object.assign(seen, { files: there, atMs: performance.now() });
  const queue = queueOf(folder, sets, otherCase(patterns, there));
  const [first] = sets;
  if (first === undefined) return queue;
  const readable = sets.flatMap(filesOf).filter((file) => unreadable(file) === null);
  const atRest = await filesAtRest(place, readable, before, () => site.pause(settleMs, signal));
  if (signal.aborted) return queueOf(folder, []);
  const unmovable = await cannotMove(place);
  if (unmovable !== null) return { ...queue, obstacles: [queue.holding(first, unmovable)] };
  const ready: FileSet[] = [];
  const { obstacles } = queue;
  const names = new Set(there.map(({ name }) => name));
  for (const set of sets) {
    const found = [...set.parts.values()];
    const large = found.find(({ size }) => size > maxBytes);
    const refused = found.flatMap((file) => unreadable(file) ?? []);
    if (refused.length > 0) obstacles.push(...refused);
    else if (large !== undefined) {
      obstacles.push(queue.holding(set, tooLarge(large, maxBytes)));
      break;
    } else if (set.missing.length > 0) obstacles.push(incomplete(set));
    else if (marker !== null && !found.every(({ name }) => names.has(name + marker)))
      obstacles.push(lacks(set, "unmarked", "marker", marker));
    else if (manifest !== null && !isTold(set))
      obstacles.push(lacks(set, "no-manifest", "manifest", manifest, OLDER));
    else if (!filesOf(set).every((one) => atRest.has(one))) obstacles.push(changing(set));
    else ready.push(set);
  }
  return { ...queue, ready };
}

const filesOf = ({ parts, manifests }: FileSet): Found[] => [
  ...parts.values(),
  ...(manifests?.values() ?? []),
];

/** Those that are as they were `before`, or are the same after a pause. */
async function filesAtRest(
  { drop, folder }: Place,
  files: readonly Found[],
  before: readonly Found[],
  pause: () => Promise<void>,
): Promise<ReadonlySet<Found>> {
  const old = new Map(before.map((file) => [file.name, file]));
  const atRest = new Set(files.filter((file) => isSame(file, old.get(file.name))));
  const fresh = files.filter((file) => !atRest.has(file));
  if (fresh.length === 0) return atRest;
  await pause();
  const isMany = fresh.length > LOOKED_AT_MAX;
  const again = isMany
    ? new Map((await list(drop, folder)).map((file) => [file.name, file]))
    : await lookedAt(drop, folder, fresh);
  for (const file of fresh) if (isSame(file, again.get(file.name))) atRest.add(file);
  return atRest;
}

/** @throws SourceUnavailable */
async function lookedAt(drop: Drop, folder: string, files: readonly Found[]) {
  const looks = files.map(
    async ({ name }) => [name, await drop.look(drop.path.join(folder, name))] as const,
  );
  const what = `what is in the folder ${folder} cannot be looked at`;
  return new Map(await orUnavailable(Promise.all(looks), what));
}

/** Each with its manifests, where the source wants them. */
function setsIn({ patterns, marker, manifest }: Place, there: readonly Found[]): FileSet[] {
  const beside = [marker, manifest].filter((one) => one !== null);
  const sets = findSets(
    patterns,
    there.filter(({ name }) => !beside.some((ending) => name.endsWith(ending))),
  );
  if (manifest === null) return sets;
  const files = new Map(there.map((file) => [file.name, file]));
  return sets.map((set) => ({
    ...set,
    manifests: new Map(
      [...set.parts].flatMap(([part, { name }]) => {
        const found = files.get(name + manifest);
        return found?.kind === "file" ? [[part, found] as const] : [];
      }),
    ),
  }));
}

/** Each file has its manifest, which is not that of a file which was there before it. */
const isTold = ({ parts, manifests }: FileSet): boolean =>
  [...parts].every(([part, { mtimeMs }]) => (manifests?.get(part)?.mtimeMs ?? -1) >= mtimeMs);

const queueOf = (folder: string, sets: readonly FileSet[], obstacles: Obstacle[] = []) => {
  const holding = (set: FileSet, fault: Fault): Obstacle => {
    const after = sets.slice(sets.indexOf(set) + 1);
    const names = after.slice(0, NAMED).map((one) => shown(namesOf(one)));
    return { ...obstacle(namesOf(set), fault, false), behind: { count: after.length, names } };
  };
  /** Complete and at rest, the oldest first, up to what holds back the rest. */
  const ready: readonly FileSet[] = [];
  return {
    ready,
    obstacles,
    /** That a set cannot be read, and holds back what came after it. */
    holding,
    /** What a missing right holds back. @throws the error itself where none is missing */
    blocked(error: unknown): Obstacle {
      if (!(error instanceof Blocked)) throw error;
      const { message, next, file } = error;
      const fault: Fault = { code: "no-right", message: `${message}.`, next };
      const set = sets.find((one) => filesOf(one).some(({ name }) => name === file));
      return set === undefined ? obstacle(folder, fault, false) : holding(set, fault);
    },
  };
};

/** That a file or set cannot be read now. `awaited`: it clears by itself. */
const obstacle = (name: string, fault: Fault<string>, awaited: boolean): Obstacle => ({
  what: shown(name),
  fault,
  awaited,
  behind: { count: 0, names: [] },
});

/** What a set waits for, as a sentence; `next`: what is to be done for it. */
const waits = (set: FileSet, code: string, message: string, next: string): Obstacle =>
  obstacle(namesOf(set), { code, message, next }, true);

export const changing = (set: FileSet): Obstacle => {
  const message = "It is being written: it has changed within the last moments.";
  const next = "It is looked at again within seconds, and read once it no longer changes.";
  return { ...waits(set, "changing", message, next), againMs: 2_000 };
};

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
  const entered = drop.rights.expectEntry(drop.at());
  await orUnavailable(entered, `the folder ${drop.where} cannot be used`);
}

/*
 * The last move of files that were read, with their manifests and markers. Several sets are moved at once, and a set is several
 * renames: what is to be moved is written down beside the files before the first one and deleted after the last. So a crash
 * in between, or a right that is missing, leaves no part behind, which would wait for the others for ever or be read with
 * parts of a later export; and no file that was read, which would be read again after what came later.
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
export type Move = z.infer<typeof Move>;

/** How the notes of a source begin: others of its folder move files at the same time, and know what they have read themselves. */
const notesOf = ({ patterns, reads }: Place): string =>
  `.fuelbridge-${sha256Hex(JSON.stringify([reads, ...patterns])).slice(0, 8)}-`;
/** No pattern fits a name that ends in `.tmp`. */
const noteOf = (place: Place, { hash }: Move): string => `${notesOf(place)}${hash.slice(0, 8)}.tmp`;

/**
 * Returns what each file is called now, by its name, for each move.
 * @throws Blocked, SourceUnavailable when a file cannot be moved; {@link finishMoves} goes on with it
 */
export async function moveSets(
  place: Place,
  moves: readonly Move[],
): Promise<readonly ReadonlyMap<string, string>[]> {
  const { drop, folder } = place;
  const [first] = moves;
  if (first === undefined) return [];
  const isOneStep = moves.length === 1 && first.files.length === 1 && !first.files[0]?.manifest;
  if (isOneStep) return moveAll(place, moves, null);
  const note = drop.path.join(folder, noteOf(place, first));
  const written = drop
    .write(note, Buffer.from(JSON.stringify(moves)), "any")
    .catch(async (cause: unknown) => {
      throw await notMoved(cause, place, first.files[0]?.name ?? "", first.target);
    });
  return moveAll(place, moves, note, written);
}

/** `note`: is deleted after; `written`: before the first move. */
async function moveAll(
  place: Place,
  moves: readonly Move[],
  note: string | null,
  written: Promise<void> = Promise.resolve(),
): Promise<readonly ReadonlyMap<string, string>[]> {
  const { drop } = place;
  const targets = new Map(moves.map((move) => [move.target, move]));
  const made = [...targets].map(([target, { files }]) =>
    drop.makeFolder(target).catch(async (cause: unknown) => {
      throw await notMoved(cause, place, files[0]?.name ?? "", target);
    }),
  );
  await allOf([written, ...made]);
  const moved = await allOf(moves.map((move) => moveFiles(place, move)));
  if (note !== null) await remove(drop, note);
  return moved;
}

const notMoved = (
  cause: unknown,
  { drop, folder }: Place,
  name: string,
  target: string,
): Promise<Error> =>
  refusal(cause, `the file ${name} was read and cannot be moved to ${target}`, name, () =>
    drop.rights.missingToMove(folder, name, [target]),
  );

/**
 * Ends the moves that a crash has interrupted. Call it before the folder is read. True: there were any. What a store does not
 * know that was put back since goes back, to be read again.
 * @param isKnown by the hash of a set
 * @throws Blocked, SourceUnavailable when a file cannot be moved
 */
async function finishMoves(
  place: Place,
  listed: readonly Found[],
  isKnown: (hash: string) => boolean,
): Promise<boolean> {
  const { drop, folder } = place;
  const begins = notesOf(place);
  const notes = listed.filter(({ name }) => name.startsWith(begins) && name.endsWith(".tmp"));
  for (const { name } of notes) {
    const note = drop.path.join(folder, name);
    const read = drop.read(note, NOTE_BYTES_MAX);
    const text = await orUnavailable(read, `the file ${note} cannot be read`);
    // Cut off while it was written: no file was moved yet.
    const moves = movesIn(text?.bytes ?? null);
    const isRead = ({ hash, error }: Move): boolean => error !== null || isKnown(hash);
    await allOf(moves.filter((one) => !isRead(one)).map((one) => moveBack(place, one)));
    await moveAll(place, moves.filter(isRead), note);
  }
  return notes.length > 0;
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

async function moveFiles(place: Place, move: Move): Promise<ReadonlyMap<string, string>> {
  const { drop, folder, marker } = place;
  const { hash, target, error } = move;
  const moved = new Map<string, string>();
  for (const { manifest, ...file } of move.files) {
    const archived = archivedName(file.name, hash);
    const movedAs = await moveAway(place, file, target, archived);
    // It was moved before a crash.
    const named = movedAs === file.name ? archived : movedAs;
    moved.set(file.name, named);
    // After its file: what is left without one makes no other file readable, for that must be at rest, too.
    if (marker !== null) await remove(drop, drop.path.join(folder, `${file.name}${marker}`));
    if (manifest !== undefined)
      await moveAway(place, manifest, target, `${named}${manifest.name.slice(file.name.length)}`);
    if (error?.file !== file.name) continue;
    await writeErrors(drop, target, named, [{ ...error, column: error.column ?? "" }]);
  }
  return moved;
}

const NOTE_BYTES_MAX = 4_000_000;

const movesIn = (bytes: Buffer | null): readonly Move[] =>
  z.array(Move).safeParse(parsedJson(String(bytes))).data ?? [];

const remove = (drop: Drop, path: string): Promise<void> =>
  orUnavailable(drop.remove(path), `the file ${path} is of no more use and cannot be deleted`);

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

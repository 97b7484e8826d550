/**
 * What lies in a folder, in the order in which it may be read. A file that is too large, or that a right is missing
 * for, may be read later, when somebody has seen to it. Files that came after it wait until then: read before it, what
 * they say would be overwritten by what is older. Files that have to be renamed or replaced first hold back nothing.
 */
import type { FilesConfig } from "./config.ts";
import type { Drop } from "./folder/port.ts";
import {
  type FileSet,
  findSets,
  type Found,
  isAtRest,
  isHarmless,
  isNamed,
  list,
} from "./pickup.ts";
import type { Obstacle, Surroundings } from "../../src/core/contract.ts";
import type { Fault } from "../../src/core/fault.ts";

export interface Queue {
  /** Complete and at rest, the oldest first, up to what holds back the rest. */
  readonly ready: readonly FileSet[];
  readonly obstacles: readonly Obstacle[];
  /** That a set cannot be read, and holds back what came after it. */
  holding(set: FileSet, fault: Fault): Obstacle;
}

/** The folders of a source, and what it takes of them. */
export interface Place {
  readonly drop: Drop;
  readonly folder: string;
  readonly archive: string;
  readonly failed: string;
  readonly marker: string | null;
  /** What a file's manifest ends in after the file's name; null: it has none. */
  readonly manifest: string | null;
  readonly patterns: ReadonlyMap<string, string>;
}

/** How many names are told of what waits behind a file. */
const NAMED = 20;

/** @throws SourceUnavailable when the folder cannot be listed */
export async function lookAt(
  place: Place,
  { settleMs, maxBytes }: FilesConfig,
  surroundings: Pick<Surroundings, "pause">,
  signal: AbortSignal,
): Promise<Queue> {
  const before = await list(place.drop, place.folder);
  if (findSets(place.patterns, before).length === 0)
    return { ...queueOf([]), obstacles: otherCase(place.patterns, before) };
  await surroundings.pause(settleMs, signal);
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
      return found?.regular === true ? [[part, found] as const] : [];
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
function unreadable({ name, regular }: Found): Obstacle | null {
  if (!isHarmless(name)) return obstacle(name, ODD_NAME, false);
  return regular ? null : obstacle(name, NOT_A_FILE, false);
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

/**
 * Reads the exports that an ERP drops into a folder. A file, or a set of files that belong together, is read to its end
 * before its first page; its last page makes it known, and only when that is stored it is moved to the archive. So a
 * crash anywhere reads it again: what is stored of it is unchanged then, and what is known is not read.
 */
import type { Page, Reading, Refusal, Sink, Source, Whole } from "../../src/core/contract.ts";
import type { Fault } from "../../src/core/fault.ts";
import type { Json } from "../../src/core/json.ts";
import type { FilesConfig, SourceConfig } from "./config.ts";
import type { Drop, Site } from "./folder/port.ts";
import { FileFault, PartFault } from "../../src/formats/table/csv.ts";
import type { RecordsRead } from "../../src/formats/format.ts";
import { checkBytes, type Manifest, manifestsOf } from "../../src/formats/manifest.ts";
import { HEADS } from "../../src/formats/table/profile.ts";
import { lookAt, namesOf, type Queue, refuse } from "./queue.ts";
import { finishMoves, type Move, moveSet } from "./moves.ts";
import { ageOf, ARCHIVED, type FileSet, type Found, list } from "./pickup.ts";
import { changesOf } from "../../src/formats/table/records.ts";
import { dayFolder, removeOld } from "./retention.ts";
import { Blocked } from "./folder/rights.ts";
import { readerOf } from "./formats.ts";
import type { Reader } from "./reader.ts";
import { type Opened, openSet, type ReadResult } from "./sets.ts";

interface Place {
  readonly drop: Drop;
  readonly folder: string;
  readonly archive: string;
  /** Days; null: for ever. */
  readonly keepDays: number | null;
  /** What a file's marker ends in after the file's name; null: it has none. */
  readonly marker: string | null;
  /** What a file's manifest ends in after the file's name; null: it has none. */
  readonly manifest: string | null;
  readonly failed: string;
  readonly patterns: ReadonlyMap<string, string>;
  /** Nothing is moved: somebody only looks. */
  readonly looking: boolean;
}

/** Changes in a page, which is a transaction: as many as the store takes in some tens of milliseconds, be they long. */
const PAGE = { changes: 1_000, characters: 500_000 };
/** What lies in the folder says where reading goes on. */
const position = null;

/** `replies`: where the answers go to what is read; null: nobody wants any. */
export const openSource = (
  config: SourceConfig,
  files: FilesConfig,
  surroundings: Site,
  replies: Sink | null = null,
): Source => openSourceWith(readerOf(config, surroundings), config, files, surroundings, replies);

/** The same for files that are read by a reader of the caller's. */
export function openSourceWith(
  reader: Reader,
  config: Placed,
  files: FilesConfig,
  surroundings: Site,
  replies: Sink | null = null,
): Source {
  const place = placeOf(config, surroundings);
  const read: ReadSet = { reader, place, surroundings, replies };
  const { silence = null } = config;
  let removedFor: string | null = null;
  return {
    ...(replies === null ? {} : { replies }),
    silenceMs: silence === "off" ? Infinity : silence,
    async *read(_position: Json | null, reading: Reading): AsyncGenerator<Page> {
      if (isMovedInSteps(place) && !place.looking && !(await areMovesFinished(read, reading)))
        return;
      const queue = await lookAt(place, files, surroundings, reading.signal);
      for (const obstacle of queue.obstacles) reading.hindered?.(obstacle);
      for (const set of queue.ready) {
        if (reading.signal.aborted) return;
        const isOut = yield* deliver(read, set, queue, reading);
        if (!isOut) return;
      }
      if (!place.looking) removedFor = await removeOld(place, surroundings, removedFor);
    },
  };
}

export function placeOf(config: Placed, surroundings: Site): Place {
  const { drop } = surroundings;
  const folder = drop.at(config.folder);
  return {
    drop,
    folder,
    archive: drop.at(config.folder, config.archive),
    keepDays: config.keepDays ?? null,
    looking: surroundings.looking === true,
    marker: config.marker ?? null,
    manifest: config.manifest ?? null,
    failed: drop.at(config.folder, config.failed),
    patterns: new Map(
      Object.entries(typeof config.pick === "string" ? { [HEADS]: config.pick } : config.pick),
    ),
  };
}

const isMovedInSteps = ({ patterns, manifest }: Place): boolean =>
  patterns.size > 1 || manifest !== null;

/** False: a right is missing. */
async function areMovesFinished(
  { place, surroundings: { kept } }: ReadSet,
  reading: Reading,
): Promise<boolean> {
  try {
    // Which of them is the newest now, the archive tells.
    if (await finishMoves(place, await list(place.drop, place.folder))) kept?.forget(place);
    return true;
  } catch (error) {
    if (!(error instanceof Blocked)) throw error;
    const fault = { code: "no-right", message: `${error.message}.`, next: error.next };
    const behind = { count: 0, names: [] };
    reading.hindered?.({ what: place.folder, fault, awaited: false, behind });
    return false;
  }
}

/** Where the files of a source are, and where they go. */
type Placed = Pick<
  SourceConfig,
  "folder" | "archive" | "failed" | "keepDays" | "marker" | "manifest" | "pick"
> &
  Partial<Pick<SourceConfig, "silence">>;

interface ReadSet {
  readonly replies: Sink | null;
  readonly reader: Reader;
  readonly place: Place;
  readonly surroundings: Site;
}

/**
 * The pages of a set, and its files' last move once those are durable. False: it holds back what came later, because a
 * right is missing, or reading was told to stop.
 */
async function* deliver(
  read: ReadSet,
  set: FileSet,
  queue: Queue,
  reading: Reading,
): AsyncGenerator<Page, boolean> {
  try {
    const { place, reader } = read;
    const opened = await openSet(place.drop, place.folder, set, reader.encoding);
    if (opened === null) {
      reading.hindered?.(refuse.changing(set));
      return true;
    }
    try {
      return yield* pagesOf(read, opened, reading);
    } finally {
      await opened.close();
    }
  } catch (error) {
    if (!(error instanceof Blocked)) throw error;
    const fault = { code: "no-right", message: `${error.message}.`, next: error.next };
    reading.hindered?.(queue.holding(set, fault));
    return false;
  }
}

async function* pagesOf(
  read: ReadSet,
  opened: Opened,
  reading: Reading,
): AsyncGenerator<Page, boolean> {
  const { place, reader } = read;
  const archived = dayFolder(place, read.surroundings);
  const name = namesOf(opened.set);
  const cameAt = new Date(ageOf(opened.set)).toISOString();
  const known = reading.known(opened.hash);
  if (known !== null && (known.latest || !reader.restates)) {
    await archive(read, opened, archived);
    const notice = `${name} came before, as ${known.name} at ${known.at}; it is not read again.`;
    const again = { ...wholeOf(opened), again: true } as const;
    yield { changes: [], position, cameAt, notices: [notice], whole: again };
    return true;
  }
  try {
    const manifests = await manifestsOf(place.drop, place.folder, opened.set);
    if (manifests === null) {
      reading.hindered?.(refuse.changing(opened.set));
      return true;
    }
    expectBytes(opened, manifests);
    const result = await reader.read({ ...opened, manifests }, reading);
    if (result === null) {
      if (!reading.signal.aborted) reading.hindered?.(refuse.changing(opened.set));
      return !reading.signal.aborted;
    }
    const { scratch, extract, notices } = result;
    const whole: Partial<RecordsRead> = result.whole ?? {};
    try {
      if (whole.left !== undefined) {
        reading.hindered?.({ what: name, ...whole.left, behind: { count: 0, names: [] } });
        return true;
      }
      expectNew(name, whole.numbers ?? [], reading);
      const { cut } = extract;
      const said = [...notices, ...extract.notices];
      const total = scratch.count();
      const end = {
        cameAt,
        arrival: { id: opened.hash, name, numbers: whole.numbers ?? [] },
        notices: said,
        ...(cut === null
          ? { whole: wholeOf(opened) }
          : { refused: [refusalOf(opened, cutFault(cut, place))] }),
        acknowledgements: whole.acknowledgements ?? [],
        replies: read.replies === null ? [] : (whole.replies ?? []),
      };
      let isLast = false;
      for (let done = 0; !isLast;) {
        if (reading.signal.aborted) return false;
        const changes = changesOf(scratch, done, PAGE.changes, PAGE.characters);
        done += changes.length;
        isLast = done >= total;
        const list = { name, total, isLast, isComplete: cut === null && extract.nameless === 0 };
        const listed = reader.isList ? { list } : {};
        const share = isLast ? 1 : done / total;
        yield { changes, position, share, ...listed, ...(isLast ? end : {}) };
      }
      await archive(read, opened, cut === null ? archived : place.failed, cut);
      return true;
    } finally {
      scratch.close();
    }
  } catch (error) {
    if (!(error instanceof PartFault)) throw error;
    // No arrival: after a change of the configuration, the same file may be read.
    const refused = [refusalOf(opened, wholeFault(error, place))];
    yield { changes: [], position, cameAt, refused };
    const { line, column, message } = error.fault;
    const reason = `the file ${message}`;
    await archive(read, opened, place.failed, { file: error.file, line, column, reason });
    return true;
  }
}

/**
 * What holds for files of every format, before any is read. Counts need the file read: a reader compares them. Rows and sums
 * are of tables: no other format has columns that whoever writes the file could sum. @throws PartFault
 */
function expectBytes({ parts }: Opened, manifests: ReadonlyMap<string, Manifest>): void {
  for (const [part, { name, size, survey }] of parts) {
    const manifest = manifests.get(part);
    if (manifest !== undefined) checkBytes(manifest, { name, size, hash: survey.hash });
  }
}

/** @throws PartFault when another file of the same number came before: nobody can tell which of the two counts */
function expectNew(name: string, numbers: readonly string[], reading: Reading): void {
  for (const number of numbers) {
    const known = reading.known(number);
    if (known === null) continue;
    const message = `has the number of ${known.name}, which came at ${known.at}, and other content (${number})`;
    throw new PartFault(name, new FileFault(message));
  }
}

type Cut = NonNullable<ReadResult["extract"]["cut"]>;

const cutFault = ({ file, line, reason, wholeRows }: Cut, { failed }: Place): Fault => ({
  code: "cut",
  message: `${file} line ${line} ${reason}: ${wholeRows} rows before it are whole and were read, the rest was not.`,
  next: `Export it again under the same name. What came lies in ${failed}.`,
});

const wholeFault = ({ message }: PartFault, { failed }: Place): Fault => ({
  code: "refused",
  message: `${message}. Nothing of it was read.`,
  next: `Correct it where it comes from and send it again under the same name. What came lies in ${failed}, with the reason beside it.`,
});

const refusalOf = ({ set, hash }: Opened, fault: Fault): Refusal => ({
  what: plainNamesOf(set),
  id: hash,
  fault,
});

const wholeOf = ({ set, hash }: Opened): Whole => ({ names: [plainNamesOf(set)], id: hash });

/** The names that it came under first: a file that a person corrects in `failed` and puts back has a hash in its name. */
const plainNamesOf = ({ parts }: FileSet): string =>
  [...parts.values()].map(({ name }) => name.replace(ARCHIVED, "$2")).join(" + ");

/** Moves every file of a set; with an error, its reason goes beside the file. */
async function archive(
  { place, surroundings: { kept } }: Pick<ReadSet, "place" | "surroundings">,
  opened: Opened,
  target: string,
  error?: { file: string; line: number; column?: string; reason: string } | null,
): Promise<void> {
  await opened.close();
  if (place.looking) return;
  const { parts, manifests } = opened.set;
  const files = [...parts].map(([part, file]) => {
    const manifest = manifests?.get(part);
    return { ...moving(file), ...(manifest === undefined ? {} : { manifest: moving(manifest) }) };
  });
  const { hash } = opened;
  const moved = await moveSet(place, { hash, target, files, error: error ?? null });
  if (target === place.failed) return;
  const there = [...parts].map(
    ([part, file]) => [part, { ...file, name: moved.get(file.name) ?? file.name }] as const,
  );
  kept?.keep(place, target, new Map(there));
}

const moving = ({ name, size, mtimeMs }: Found): Move["files"][number] => ({ name, size, mtimeMs });

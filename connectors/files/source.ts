/**
 * Reads the exports that an ERP drops into a folder. A file, or a set of files that belong together, is read to its end
 * before its first page; its last page makes it known, and only when that is stored it is moved to the archive. So a
 * crash anywhere reads it again: what is stored of it is unchanged then, and what is known is not read.
 */
import { createHash, hash } from "node:crypto";
import type { FilesConfig, SinkConfig, SourceConfig, TableSource } from "./config.ts";
import { Blocked, type Drop, type OpenFile } from "./folder/port.ts";
import {
  ageOf,
  ARCHIVED,
  dayFolder,
  type FileSet,
  finishMoves,
  type Found,
  list,
  type Move,
  moveSet,
  openFound,
  removeOld,
  type Site,
} from "./pickup.ts";
import { changing, lookAt, namesOf, type Place, type Queue } from "./queue.ts";
import type {
  Page,
  Reading,
  Refusal,
  Sink,
  Source,
  Surroundings,
  Whole,
} from "../../src/core/contract.ts";
import type { Fault } from "../../src/core/fault.ts";
import type { Json } from "../../src/core/json.ts";
import { memoryScratch, type Scratch } from "../../src/core/scratch.ts";
import {
  ChangedMeanwhile,
  type DocumentWriter,
  type Encoding,
  FileFault,
  firstBytes,
  PartFault,
  type RecordReader,
  type RecordsRead,
  survey,
  type Survey,
} from "../../src/formats/format.ts";
import { idocReader, idocRecords } from "../../src/formats/idoc/read.ts";
import { idocForm, idocWriter } from "../../src/formats/idoc/write.ts";
import {
  checkBytes,
  checkDocuments,
  type Manifest,
  MANIFEST_BYTES_MAX,
  manifestIn,
} from "../../src/formats/manifest.ts";
import { openProfile } from "../../src/formats/table/profile-load.ts";
import { HEADS, type Profile } from "../../src/formats/table/profile.ts";
import {
  changesOf,
  encodingOf,
  type Extract,
  keepChange,
  readExport,
} from "../../src/formats/table/records.ts";
import { tableWriter } from "../../src/formats/table/write.ts";
import { x12Reader } from "../../src/formats/x12/read.ts";
import { x12Writer } from "../../src/formats/x12/write.ts";

/* Reading one set of files: its bytes are taken once, and nothing of it counts before all of it was read. */

/** Files whose bytes cannot become those of other files under the same name. */
export interface Opened {
  readonly set: FileSet;
  /** Of the one file, or of the parts' hashes in the order of the parts. */
  readonly hash: string;
  readonly parts: ReadonlyMap<string, OpenedFile>;
  /** What each part must come to; left out: there are no manifests. */
  readonly manifests?: ReadonlyMap<string, Manifest>;
  close(): Promise<void>;
}

interface OpenedFile {
  readonly name: string;
  readonly size: number;
  readonly handle: OpenFile;
  readonly survey: Survey;
}

export interface SetReading {
  readonly profile: Profile;
  readonly config: TableSource;
  readonly surroundings: Pick<Surroundings, "scratch">;
}

export interface ReadResult {
  readonly extract: Extract;
  /** Has the changes; to be closed. */
  readonly scratch: Scratch;
  /** Of a file that was read whole: what else it says. */
  readonly whole?: RecordsRead;
}

/** Up to this, memory will do. */
const SMALL_BYTES = 1_000_000;

/**
 * Null: one of its files is gone, or no longer what was listed.
 * @throws Blocked when one may not be read, SourceUnavailable when one cannot be
 */
export async function openSet(
  drop: Drop,
  folder: string,
  set: FileSet,
  encoding: Encoding,
): Promise<Opened | null> {
  const parts = new Map<string, OpenedFile>();
  const close = async (): Promise<void> => {
    for (const { handle } of parts.values()) await handle.close();
  };
  try {
    for (const [part, file] of set.parts) {
      const handle = await openFound(drop, folder, file);
      if (handle === null) {
        await close();
        return null;
      }
      const { name, size } = file;
      const opened = { name, size, handle };
      parts.set(part, { ...opened, survey: await surveyOrClose(handle, encoding) });
    }
  } catch (error) {
    await close();
    throw error;
  }
  const hashes = [...parts.values()].map(({ survey }) => survey.hash);
  const [first = ""] = hashes;
  const hash = hashes.length === 1 ? first : sha256(hashes.join("\n"));
  return { set, hash, parts, close };
}

async function surveyOrClose(handle: OpenFile, encoding: Encoding): Promise<Survey> {
  try {
    return await survey(handle, encoding);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/**
 * Null: a file was written to meanwhile, or reading was told to stop. Nothing is to be delivered then.
 * @throws PartFault when a file is not what the profile says, SourceUnavailable when there is no room
 */
export async function readSet(
  { profile, config, surroundings }: SetReading,
  { parts: files, manifests }: Opened,
  { signal, advanced }: Pick<Reading, "signal" | "advanced">,
): Promise<ReadResult | null> {
  const bytes = [...files.values()].reduce((sum, { size }) => sum + size, 0);
  const scratch =
    bytes <= SMALL_BYTES ? memoryScratch() : (surroundings.scratch?.(bytes) ?? memoryScratch());
  const progress = (count: number, records: number): void => {
    if (signal.aborted) throw new ChangedMeanwhile();
    advanced?.({ records, share: Math.min(count / bytes, 1) });
  };
  const { delimiter, labels, decimal } = config;
  const options = { delimiter, labels, decimal, manifests, advanced: progress };
  try {
    return { extract: await readExport(profile, files, options, scratch), scratch };
  } catch (error) {
    scratch.close();
    if (error instanceof ChangedMeanwhile) return null;
    throw error;
  }
}

/* How the files of a source become changes: as tables, record by record, or whole by another format. */

export interface Reader {
  /** What they are opened as. */
  readonly encoding: Encoding;
  /** As {@link RecordReader.restates}. */
  readonly restates: boolean;
  /** Each file is a whole list: what is missing in it is gone. */
  readonly isList: boolean;
  /** As {@link readSet}. */
  read(opened: Opened, reading: Pick<Reading, "signal" | "advanced">): Promise<ReadResult | null>;
}

export const tableReader = (
  config: TableSource,
  profile: Profile,
  surroundings: Pick<Surroundings, "scratch">,
): Reader => ({
  encoding: encodingOf(config.encoding, profile),
  restates: profile.layout.restates,
  isList: profile.layout.restates && config.holds === "all",
  read: (opened, reading) => readSet({ profile, config, surroundings }, opened, reading),
});

/** The profile of a source: a site's own, or the shipped one of its layout. @throws InvalidProfile */
export const profileOf = ({ layout, profile }: TableSource, folder: string): Profile =>
  openProfile(profile ?? layout, folder);

export const wholeReader = (records: RecordReader): Reader => ({
  // Which characters the bytes are, the format finds out itself.
  encoding: "latin1",
  restates: records.restates,
  // A message has what its sender had to tell.
  isList: false,
  async read({ parts, manifests }) {
    const [file] = parts.values();
    const [manifest] = manifests?.values() ?? [];
    if (file === undefined) throw new TypeError("a set without a file");
    const { name, size, handle, survey } = file;
    if (size > records.bytesMax)
      throw new PartFault(
        name,
        new FileFault(`has ${size} bytes; ${records.bytesMax} are possible`),
      );
    const bytes = await firstBytes(handle, size);
    if (hash("sha256", bytes, "hex") !== survey.hash) return null;
    const whole = recordsIn(records, bytes, name);
    const { changes, documents, notices, left } = whole;
    if (manifest !== undefined && left === undefined) checkDocuments(manifest, name, documents);
    const scratch = memoryScratch();
    for (const change of changes) keepChange(scratch, change);
    return { extract: { notices, cut: null, leftOut: 0, nameless: 0 }, scratch, whole };
  },
});

/** @throws PartFault */
function recordsIn(records: RecordReader, bytes: Buffer, name: string) {
  try {
    return records.read(bytes, name);
  } catch (error) {
    throw error instanceof FileFault ? new PartFault(name, error) : error;
  }
}

/* The formats that files come and go in: a further one is a line in each function here, and in `config.ts`. */

/** @throws InvalidProfile */
export function writerOf(config: SinkConfig, site: Site): DocumentWriter {
  if (config.format === "idoc") return idocWriter(config, site);
  return config.format === "x12" ? x12Writer(config, site) : tableWriter(config, site);
}

/** @throws InvalidProfile */
function readerOf(config: SourceConfig, site: Site): Reader {
  return config.format === "table"
    ? tableReader(config, profileOf(config, site.folder), site)
    : wholeReader(recordsOf(config, site));
}

const recordsOf = (config: Exclude<SourceConfig, TableSource>, site: Site): RecordReader =>
  config.format === "idoc" ? idocReader(config, site) : x12Reader(config, site);

/** What the records of a source are, told without reading any. */
export const sourceForm = (source: SourceConfig): string =>
  source.format === "idoc" ? idocRecords(source) : source.layout;

/** What the documents of a sink are. */
export const sinkForm = (sink: SinkConfig): string =>
  sink.format === "idoc" ? idocForm(sink) : `files.${sink.document}`;

interface Reads extends Place {
  /** Days; null: for ever. */
  readonly keepDays: number | null;
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

export function placeOf(config: Placed, surroundings: Site): Reads {
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

const isMovedInSteps = ({ patterns, manifest }: Reads): boolean =>
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
  readonly place: Reads;
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
      reading.hindered?.(changing(set));
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
      reading.hindered?.(changing(opened.set));
      return true;
    }
    expectBytes(opened, manifests);
    const result = await reader.read({ ...opened, manifests }, reading);
    if (result === null) {
      if (!reading.signal.aborted) reading.hindered?.(changing(opened.set));
      return !reading.signal.aborted;
    }
    const { scratch, extract } = result;
    const whole: Partial<RecordsRead> = result.whole ?? {};
    try {
      if (whole.left !== undefined) {
        reading.hindered?.({ what: name, ...whole.left, behind: { count: 0, names: [] } });
        return true;
      }
      expectNew(name, whole.numbers ?? [], reading);
      const { cut } = extract;
      const total = scratch.count();
      const end = {
        cameAt,
        arrival: { id: opened.hash, name, numbers: whole.numbers ?? [] },
        notices: extract.notices,
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
 * The manifests of a set by its parts; null: one is gone, or no longer what was listed.
 * @throws PartFault for what is no manifest, Blocked and SourceUnavailable as openFound
 */
async function manifestsOf(
  drop: Drop,
  folder: string,
  { parts, manifests = new Map() }: FileSet,
): Promise<ReadonlyMap<string, Manifest> | null> {
  const read = new Map<string, Manifest>();
  for (const [part, found] of manifests) {
    const opened = await openFound(drop, folder, found);
    if (opened === null) return null;
    try {
      const bytes = await firstBytes(opened, MANIFEST_BYTES_MAX + 1);
      const file = parts.get(part)?.name ?? "";
      read.set(part, manifestIn(bytes, found.name, [file, file.replace(ARCHIVED, "$2")]));
    } finally {
      await opened.close();
    }
  }
  return read;
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

const cutFault = ({ file, line, reason, wholeRows }: Cut, { failed }: Reads): Fault => ({
  code: "cut",
  message: `${file} line ${line} ${reason}: ${wholeRows} rows before it are whole and were read, the rest was not.`,
  next: `Export it again under the same name. What came lies in ${failed}.`,
});

const wholeFault = ({ message }: PartFault, { failed }: Reads): Fault => ({
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

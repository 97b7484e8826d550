/**
 * Reads the exports that an ERP drops into a folder. A file, or a set of files that belong together, is read to its end
 * before its first page; its last page makes it known, and only when that is stored it is moved to the archive. So a
 * crash anywhere reads it again: what is stored of it is unchanged then, and what is known is not read.
 */
import { hash } from "node:crypto";
import type { FilesConfig, SinkConfig, SourceConfig, TableSource } from "./config.ts";
import { againAfterCut, allOf, type Drop, type Entry, troubleOf } from "./folder/port.ts";
import {
  ageOf,
  ARCHIVED,
  changing,
  type FileSet,
  type Found,
  list,
  listing,
  lookAt,
  type Move,
  moveSets,
  namesOf,
  openFound,
  type Place,
  type PlaceConfig,
  placeOf,
  type Queue,
  type Readable,
  type Seen,
  type Site,
} from "./pickup.ts";
import type { Page, Reading, Refusal, Sink, Source, Whole } from "../../src/core/contract.ts";
import type { Json } from "../../src/core/json.ts";
import type { Fault } from "../../src/core/record.ts";
import { memoryScratch, type Scratch } from "../../src/core/scratch.ts";
import {
  ChangedMeanwhile,
  type Encoding,
  FileFault,
  firstBytes,
  type Format,
  PartFault,
  readAs,
  type RecordReader,
  type RecordsRead,
  survey,
  within,
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
import { openProfile, type Profile } from "../../src/formats/table/profile.ts";
import {
  changesOf,
  encodingOf,
  type Extract,
  keepChange,
  readExport,
  type SurveyedFile,
} from "../../src/formats/table/records.ts";
import { tableWriter } from "../../src/formats/table/write.ts";
import { x12Reader } from "../../src/formats/x12/read.ts";
import { x12Writer } from "../../src/formats/x12/write.ts";
import { DAY_MS } from "../../src/core/time.ts";

/* One set of files: its bytes are taken once, and nothing of it counts before all of it was read. */

/** Files whose bytes cannot become those of other files under the same name. */
type OpenedSet = NonNullable<Awaited<ReturnType<typeof openSet>>>;

/**
 * Null: one of its files is gone, or no longer what was listed.
 * @throws Blocked when one may not be read, SourceUnavailable when one cannot be
 */
export async function openSet(drop: Drop, folder: string, set: FileSet, encoding: Encoding) {
  const handles = new Map<Found, Readable>();
  const close = async (): Promise<void> => {
    for (const handle of handles.values()) await handle.close();
  };
  try {
    const files = [...set.parts.values(), ...(set.manifests?.values() ?? [])];
    await allOf(
      files.map(async (file) => {
        const handle = await openFound(drop, folder, file);
        if (handle !== null) handles.set(file, handle);
      }),
    );
    if (handles.size < files.length) {
      await close();
      return null;
    }
    const parts = new Map<string, SurveyedFile & { readonly size: number }>();
    for (const [part, file] of set.parts) {
      const handle = handles.get(file) as Readable;
      const { name, size } = file;
      parts.set(part, { name, size, handle, survey: await survey(handle, encoding) });
    }
    /** The bytes of each part's manifest, where it has one. */
    const manifests = new Map<string, Buffer>();
    for (const [part, file] of set.manifests ?? [])
      manifests.set(part, await firstBytes(handles.get(file) as Readable, MANIFEST_BYTES_MAX + 1));
    const hashes = [...parts.values()].map((file) => file.survey.hash);
    const [only = ""] = hashes;
    /** Of the one file, or of the parts' hashes in the order of the parts. */
    const both = hashes.length === 1 ? only : hash("sha256", hashes.join("\n"), "hex");
    return { set, hash: both, parts, manifests, close };
  } catch (error) {
    await close();
    throw error;
  }
}

type Manifests = ReadonlyMap<string, Manifest>;
type Progress = Pick<Reading, "signal" | "advanced">;

/** What a set says, once all of it was read. `scratch` has the changes; to be closed. */
interface SetRead
  extends Omit<RecordsRead, "changes" | "documents">, Pick<Extract, "cut" | "nameless"> {
  readonly scratch: Scratch;
}

/** How the files of a source become changes: as tables, record by record, or whole by another format. */
interface Reader {
  /** What they are opened as. */
  readonly encoding: Encoding;
  /**
   * What bytes that came before say, when others came since: how things are now; the same, if they were written after they
   * came first, for exports are whole lists; or nothing, for a message is sent once.
   */
  readonly again: "counts" | "counts if written since" | "counts for nothing";
  /** Each file is a whole list: what is missing in it is gone. */
  readonly isList: boolean;
  /** By what it reads so and not otherwise, as a digest; null: the same bytes are always read the same. */
  readonly form: string | null;
  /**
   * Null: a file was written to meanwhile, or reading was told to stop. Nothing is to be delivered then.
   * @throws PartFault when a file is not what the profile says, SourceUnavailable when there is no room
   */
  read(opened: OpenedSet, progress: Progress, manifests?: Manifests): Promise<SetRead | null>;
}

/** Up to this, memory will do. */
const SMALL_BYTES = 1_000_000;

/** `profile`: left out, the site's own or the shipped one of the layout. @throws InvalidProfile */
export function tableReader(
  config: TableSource,
  site: Pick<Site, "folder" | "scratch">,
  profile: Profile = openProfile(config.profile ?? config.layout, site.folder),
): Reader {
  const { restates } = profile.layout;
  return {
    encoding: encodingOf(config.encoding, profile),
    again: restates ? "counts" : "counts if written since",
    isList: restates && config.holds === "all",
    form: hash("sha256", JSON.stringify([profile.digest, config.encoding])),
    async read({ parts }, { signal, advanced }, manifests) {
      const bytes = [...parts.values()].reduce((sum, { size }) => sum + size, 0);
      const large = bytes <= SMALL_BYTES ? undefined : site.scratch?.(bytes);
      const scratch = large ?? memoryScratch();
      const progress = (count: number, records: number): void => {
        if (signal.aborted) throw new ChangedMeanwhile();
        advanced?.({ records, share: Math.min(count / bytes, 1) });
      };
      const options = { manifests, advanced: progress };
      try {
        return { ...(await readExport(profile, parts, options, scratch)), scratch };
      } catch (error) {
        scratch.close();
        if (error instanceof ChangedMeanwhile) return null;
        throw error;
      }
    },
  };
}

export const wholeReader = (records: RecordReader): Reader => ({
  // Which characters the bytes are, the format finds out itself.
  encoding: "latin1",
  again: records.restates ? "counts" : "counts for nothing",
  // A message has what its sender had to tell.
  isList: false,
  form: null,
  async read({ parts }, _progress, manifests) {
    const [file] = parts.values();
    const [manifest] = manifests?.values() ?? [];
    if (file === undefined) throw new TypeError("a set without a file");
    const { name, size, handle } = file;
    if (size > records.bytesMax)
      throw new PartFault(
        name,
        new FileFault(
          `has ${size} bytes, and ${records.reads} is read up to ${records.bytesMax}: have it sent in several files`,
        ),
      );
    const bytes = await firstBytes(handle, size);
    if (hash("sha256", bytes, "hex") !== file.survey.hash) return null;
    const read = () => within(name, () => records.read(bytes, name));
    const { changes, documents, ...whole } = await readAs(records.reads, [file], read);
    if (manifest !== undefined && whole.left === undefined)
      checkDocuments(manifest, name, documents);
    const scratch = memoryScratch();
    for (const change of changes) keepChange(scratch, change);
    return { ...whole, cut: null, nameless: 0, scratch };
  },
});

/* The formats that files come and go in: a further one is a member here, and its settings in `config.ts`. */

type Of<Any, Name> = Any & { readonly format: Name };
const FORMATS: {
  readonly [Name in SinkConfig["format"]]: Format<
    Of<SourceConfig, Name>,
    Of<SinkConfig, Name>,
    Site,
    Reader
  >;
} = {
  table: {
    reads: ({ layout }) => layout,
    writes: ({ document }) => `files.${document}`,
    read: (source, site) => tableReader(source, site),
    write: tableWriter,
  },
  idoc: {
    reads: idocRecords,
    writes: idocForm,
    read: (source, site) => wholeReader(idocReader(source, site)),
    write: idocWriter,
  },
  x12: {
    reads: ({ layout }) => layout,
    writes: ({ document }) => `files.${document}`,
    read: (source, site) => wholeReader(x12Reader(source, site)),
    write: x12Writer,
  },
};

/** Settings of one format go with that format. */
export const formatOf = ({ format }: Pick<SinkConfig, "format">) =>
  FORMATS[format] as Format<SourceConfig, SinkConfig, Site, Reader>;

/** Changes in a page, which is a transaction: as many as the store takes in some tens of milliseconds, be they long. */
const PAGE = { changes: 1_000, characters: 500_000 };
/** What lies in the folder says where reading goes on. */
const position = null;

/** Sets that are opened, and moved away, at once; fewer where they are large. */
const AT_ONCE = { sets: 64, bytes: 8_000_000 };

/** `replies`: where the answers go to what is read; null: nobody wants any. */
export function openSource(
  reader: Reader,
  config: PlaceConfig & Partial<Pick<SourceConfig, "silence">>,
  files: FilesConfig,
  site: Site,
  replies: Sink | null = null,
): Source {
  const arriving: Arriving = { reader, place: placeOf(config, site), site, replies };
  const { place } = arriving;
  const { silence = null } = config;
  const seen: Seen = { files: [], atMs: -Infinity };
  let removedFor: string | null = null;
  return {
    ...(replies === null ? {} : { replies }),
    silenceMs: silence === "off" ? Infinity : silence,
    async *read(_position: Json | null, reading: Reading): AsyncGenerator<Page> {
      const queue = await lookAt(place, files, site, reading, seen);
      for (const obstacle of queue.obstacles) reading.hindered?.(obstacle);
      for (const sets of wavesOf(queue.ready))
        if (reading.signal.aborted || !(yield* deliver(arriving, queue, sets, reading))) return;
      if (!leaves(site)) removedFor = await removeOld(place, site, removedFor);
    },
  };
}

/** What reads the files of one source. */
interface Arriving {
  readonly reader: Reader;
  readonly place: Place;
  readonly site: Site;
  readonly replies: Sink | null;
}

function* wavesOf(sets: readonly FileSet[]): Generator<FileSet[]> {
  let wave: FileSet[] = [];
  let bytes = 0;
  for (const set of sets) {
    const size = [...set.parts.values()].reduce((sum, file) => sum + file.size, 0);
    if (wave.length === AT_ONCE.sets || (wave.length > 0 && bytes + size > AT_ONCE.bytes)) {
      yield wave;
      [wave, bytes] = [[], 0];
    }
    wave.push(set);
    bytes += size;
  }
  if (wave.length > 0) yield wave;
}

/**
 * The pages of some sets, in order. They are opened at once, and moved away at once when those pages are durable: over a line
 * to a server each step takes as long for one as for all. False: nothing more is to be read.
 */
async function* deliver(
  arriving: Arriving,
  queue: Queue,
  sets: readonly FileSet[],
  reading: Reading,
): AsyncGenerator<Page, boolean> {
  const { place, reader } = arriving;
  const opening = sets.map((set) => openSet(place.drop, place.folder, set, reader.encoding));
  const opened = (await Promise.allSettled(opening)).map((one) =>
    one.status === "fulfilled" ? one.value : null,
  );
  const unmoved = unmovedOf(opened, reading);
  const read: [OpenedSet, Move][] = [];
  let isStopped = false;
  try {
    for (const [at, set] of sets.entries()) {
      const one = await (opening[at] as Promise<OpenedSet | null>).catch((error: unknown) => {
        // What came later is held back, because a right is missing.
        const blocked = queue.blocked(error);
        reading.hindered?.(blocked);
        isStopped = true;
        return null;
      });
      isStopped ||= reading.signal.aborted;
      if (isStopped) break;
      const move =
        one === null ? "changing" : yield* partsOf(arriving, one, unmoved.has(one), reading);
      if (move === "stays") continue;
      if (one !== null && typeof move === "object") read.push([one, move]);
      else if (!reading.signal.aborted) reading.hindered?.(changing(set));
    }
  } finally {
    for (const one of opened) await one?.close();
    isStopped = !(await archive(arriving, queue, read, reading)) || isStopped;
  }
  return !isStopped && !reading.signal.aborted;
}

/**
 * Sets whose pages are durable and that were not moved away after: nothing came since but what lies behind them here, and was
 * not moved either. To read them all again would change nothing.
 */
function unmovedOf(
  opened: readonly (OpenedSet | null)[],
  { known }: Pick<Reading, "known">,
): ReadonlySet<OpenedSet> {
  const unmoved = new Set<OpenedSet>();
  let behind = 0;
  for (const one of opened.toReversed()) {
    const isUnmoved = one !== null && known(one.hash)?.since === behind;
    if (isUnmoved) unmoved.add(one);
    behind = isUnmoved ? behind + 1 : 0;
  }
  return unmoved;
}

/** What becomes of a set: its move once its pages are durable; it is read another time; or it has changed since it was opened. */
type Fate = Move | "stays" | "changing";

async function* partsOf(
  arriving: Arriving,
  opened: OpenedSet,
  isUnmoved: boolean,
  reading: Reading,
): AsyncGenerator<Page, Fate> {
  const { place } = arriving;
  try {
    return yield* pagesOf(arriving, opened, isUnmoved, reading);
  } catch (error) {
    if (!(error instanceof PartFault)) throw error;
    // No arrival: after a change of the configuration, the same file may be read.
    const refused = [refusalOf(opened, wholeFault(error, place))];
    yield { changes: [], position, cameAt: cameAtOf(opened.set), refused };
    const { line, column, message } = error.fault;
    const reason = `the file ${message}`;
    return moveOf(opened, place.failed, { file: error.file, line, column, reason });
  }
}

/**
 * What says of bytes that records in them were refused, as they were read: once the profile or the settings were corrected,
 * the same file may be read.
 */
const refusedIn = (opened: OpenedSet, form = "any"): string =>
  `refused in ${opened.hash}, read as ${form}`;

/** @throws PartFault when nothing of the set can be read */
async function* pagesOf(
  arriving: Arriving,
  opened: OpenedSet,
  isUnmoved: boolean,
  reading: Reading,
): AsyncGenerator<Page, Fate> {
  const { place, reader, site, replies } = arriving;
  const { set } = opened;
  const archived = dayFolder(place, site);
  const name = namesOf(set);
  const cameAt = cameAtOf(set);
  const known = reading.known(opened.hash);
  const { form } = reader;
  const isReadOtherwise =
    form !== null &&
    reading.known(refusedIn(opened)) !== null &&
    reading.known(refusedIn(opened, form)) === null;
  const counts =
    reader.again === "counts" ||
    (reader.again === "counts if written since" && ageOf(set) > Date.parse(known?.at ?? ""));
  if (isUnmoved && leaves(site)) return "stays";
  if (known !== null && !isReadOtherwise && (isUnmoved || known.since === 0 || !counts)) {
    const notice = `${name} came before, as ${known.name} at ${known.at}; it is not read again.`;
    const again = { ...wholeOf(opened), again: true } as const;
    yield { changes: [], position, cameAt, notices: [notice], whole: again };
    return moveOf(opened, archived);
  }
  const result = await reader.read(opened, reading, manifestsOf(opened));
  if (result === null) return "changing";
  const { scratch, cut, left, numbers = [], acknowledgements = [], nameless } = result;
  try {
    if (left !== undefined) {
      reading.hindered?.({ what: name, ...left, behind: { count: 0, names: [] } });
      return "stays";
    }
    expectNew(name, numbers, reading);
    const total = scratch.count();
    const end = {
      cameAt,
      notices: result.notices,
      ...(cut === null
        ? { whole: wholeOf(opened) }
        : { refused: [refusalOf(opened, cutFault(cut, place))] }),
      acknowledgements,
      replies: replies === null ? [] : (result.replies ?? []),
    };
    let isLast = false;
    let isRefused = isReadOtherwise;
    for (let done = 0; !isLast;) {
      if (reading.signal.aborted) return "stays";
      const changes = changesOf(scratch, done, PAGE.changes, PAGE.characters);
      done += changes.length;
      isLast = done >= total;
      const list = { name, total, isLast, isComplete: cut === null && nameless === 0 };
      const listed = reader.isList ? { list } : {};
      const share = isLast ? 1 : done / total;
      isRefused ||= changes.some(({ fault }) => fault !== undefined);
      const refused =
        isRefused && form !== null ? [refusedIn(opened), refusedIn(opened, form)] : [];
      const arrival = { id: opened.hash, name, numbers: [...numbers, ...refused] };
      yield { changes, position, share, ...listed, ...(isLast ? { ...end, arrival } : {}) };
    }
    return moveOf(opened, cut === null ? archived : place.failed, cut);
  } finally {
    scratch.close();
  }
}

/**
 * The manifests of a set by its parts, each of which agrees with the bytes of its file; counts need the file read, and a
 * reader compares them. @throws PartFault for what is no manifest or differs
 */
function manifestsOf({ set, parts, manifests }: OpenedSet): Manifests {
  const read = new Map<string, Manifest>();
  for (const [part, bytes] of manifests) {
    const file = parts.get(part)?.name ?? "";
    const name = set.manifests?.get(part)?.name ?? "";
    read.set(part, manifestIn(bytes, name, [file, file.replace(ARCHIVED, "$2")]));
  }
  for (const [part, { name, size, survey: told }] of parts) {
    const manifest = read.get(part);
    if (manifest !== undefined) checkBytes(manifest, { name, size, hash: told.hash });
  }
  return read;
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

type Cut = NonNullable<SetRead["cut"]>;

const cutFault = ({ file, line, reason, wholeRows }: Cut, { failed }: Place): Fault => ({
  code: "cut",
  message: `${file} line ${line} ${reason}: ${wholeRows} rows before it are whole and were read, the rest was not.`,
  next: `Export it again under the same name. What came lies in ${failed}.`,
});

const wholeFault = ({ message }: PartFault, { failed }: Place): Fault => ({
  code: "refused",
  message: `${message}${message.endsWith("?") ? "" : "."} Nothing of it was read.`,
  next: `Correct it where it comes from and send it again under the same name. What came lies in ${failed}, with the reason beside it.`,
});

const refusalOf = ({ set, hash }: OpenedSet, fault: Fault): Refusal => ({
  what: plainNamesOf(set),
  id: hash,
  fault,
});

const wholeOf = ({ set, hash }: OpenedSet): Whole => ({ names: [plainNamesOf(set)], id: hash });

/** The names that it came under first: a file that a person corrects in `failed` and puts back has a hash in its name. */
const plainNamesOf = ({ parts }: FileSet): string =>
  [...parts.values()].map(({ name }) => name.replace(ARCHIVED, "$2")).join(" + ");

const cameAtOf = (set: FileSet): string => new Date(ageOf(set)).toISOString();

/** Of every file of a set; with an error, its reason goes beside the file. */
const moveOf = (
  { set: { parts, manifests }, hash }: OpenedSet,
  target: string,
  error: Move["error"] = null,
): Move => ({
  hash,
  target,
  files: [...parts].map(([part, file]) => ({ ...file, manifest: manifests?.get(part) })),
  error,
});

/** What was read stays where it lies. */
const leaves = ({ looking = false, sender }: Site): boolean =>
  looking || sender?.isRestored() === true;

/** Moves what was read. False: a right is missing, and what came later is held back. */
async function archive(
  { place, site }: Arriving,
  queue: Queue,
  read: readonly (readonly [OpenedSet, Move])[],
  reading: Reading,
): Promise<boolean> {
  if (leaves(site)) return true;
  try {
    const moved = await moveSets(
      place,
      read.map(([, move]) => move),
    );
    for (const [at, [{ set }, { target }]] of read.entries()) {
      if (target === place.failed) continue;
      const there = [...set.parts].map(
        ([part, file]) =>
          [part, { ...file, name: moved[at]?.get(file.name) ?? file.name }] as const,
      );
      site.kept?.keep(place, target, new Map(there));
    }
    return true;
  } catch (error) {
    const blocked = queue.blocked(error);
    reading.hindered?.(blocked);
    return false;
  }
}

/*
 * Files that were read, in one folder a day where they are deleted after a time: so that neither reading nor deleting
 * lists what is older.
 */

const DAY = /^\d{4}-\d\d-\d\d$/;
/** Files that one reading deletes at most: there may be a year of them. */
const REMOVED_MAX = 500;

/** Where a file goes that was read now. */
function dayFolder({ drop, archive, keepDays }: Place, site: Site): string {
  if (keepDays === null) return archive;
  return drop.path.join(archive, site.dayOf(site.now().toISOString()));
}

/**
 * Where files that were read may be, the newest first; none before the first one was read.
 * @throws SourceUnavailable when the archive cannot be listed: it is not empty for that
 */
export async function archiveFolders({ drop, archive }: Place): Promise<string[]> {
  const days = await listing(
    drop,
    archive,
    againAfterCut(() => daysIn(drop, archive)),
  );
  if (days === null) return [];
  return [...days.toReversed().map((day) => drop.path.join(archive, day)), archive];
}

/**
 * Deletes what is older than `keepDays`. What cannot be deleted stays, with a line in the log. Returns the day that this is
 * done for; null: something is left. `doneFor`: what it returned before; a day is looked at once, for the archive is listed.
 */
async function removeOld(
  { drop, archive, keepDays }: Place,
  site: Site,
  doneFor: string | null,
): Promise<string | null> {
  if (keepDays === null) return null;
  const oldest = site.dayOf(new Date(site.now().getTime() - keepDays * DAY_MS).toISOString());
  if (doneFor === oldest) return doneFor;
  let left = REMOVED_MAX;
  try {
    const days = await daysIn(drop, archive);
    if (days === null) return null;
    for (const day of days) {
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

/** Days as text, the oldest first; null: there is no archive yet. */
async function daysIn(drop: Drop, archive: string): Promise<string[] | null> {
  if ((await drop.look(archive)) === null) return null;
  const days: string[] = [];
  const see = ({ kind, name }: Entry): void => void (kind === "folder" && days.push(name));
  await drop.visit(archive, see, (name) => DAY.test(name));
  return days.toSorted();
}

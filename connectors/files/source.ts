/**
 * Reads the exports that an ERP drops into a folder. A file, or a set of files that belong together, is read to its end
 * before its first page; its last page makes it known, and only when that is stored it is moved to the archive. So a
 * crash anywhere reads it again: what is stored of it is unchanged then, and what is known is not read.
 */
import type { Page, Reading, Source } from "../../src/core/contract.ts";
import type { Json } from "../../src/core/json.ts";
import type { FilesConfig, SourceConfig } from "./config.ts";
import type { Drop, Site } from "./drop.ts";
import { HEADS, type Profile } from "./profile.ts";
import { openProfile } from "./profile-open.ts";
import { manifestsOf } from "./manifest.ts";
import { lookAt, namesOf, type Queue, refuse } from "./queue.ts";
import { ageOf, type FileSet, type Found, moveAway, writeErrors } from "./pickup.ts";
import { changesOf } from "./records.ts";
import { PartFault } from "./csv.ts";

import { dayFolder, removeOld } from "./retention.ts";
import { Blocked } from "./rights.ts";
import { type Opened, openSet, readSet, type SetReading } from "./sets.ts";
import { encodingOf } from "./sheets.ts";
import { unavailable } from "./trouble.ts";

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
}

/** Changes in a page, which is a transaction: as many as the store takes in some tens of milliseconds. */
const PAGE = 1_000;
/** What lies in the folder says where reading goes on. */
const position = null;

export function openSource(
  config: SourceConfig,
  files: FilesConfig,
  surroundings: Site,
  profile: Profile = profileOf(config, surroundings.folder),
): Source {
  const place = placeOf(config, surroundings);
  const read: ReadSet = { config, profile, place, surroundings };
  const { silence = null } = config;
  let removedFor: string | null = null;
  return {
    ...(silence === "off" ? {} : { silenceMs: silence }),
    async *read(_position: Json | null, reading: Reading): AsyncGenerator<Page> {
      const queue = await lookAt(place, files, surroundings, reading.signal);
      for (const obstacle of queue.obstacles) reading.hindered?.(obstacle);
      for (const set of queue.ready) {
        if (reading.signal.aborted) return;
        const isOut = yield* deliver(read, set, queue, reading);
        if (!isOut) return;
      }
      removedFor = await removeOld(place, surroundings, removedFor);
    },
  };
}

/** The profile of a source: a site's own, or the shipped one of its layout. @throws InvalidProfile */
export const profileOf = ({ layout, profile }: SourceConfig, folder: string): Profile =>
  openProfile(profile ?? layout, folder);

export function placeOf(config: SourceConfig, surroundings: Site): Place {
  const { drop } = surroundings;
  const folder = drop.at(config.folder);
  return {
    drop,
    folder,
    archive: drop.at(config.folder, config.archive),
    keepDays: config.keepDays ?? null,
    marker: config.marker ?? null,
    manifest: config.manifest ?? null,
    failed: drop.at(config.folder, config.failed),
    patterns: new Map(
      Object.entries(typeof config.pick === "string" ? { [HEADS]: config.pick } : config.pick),
    ),
  };
}

interface ReadSet extends SetReading {
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
    const { config, place, profile } = read;
    const opened = await openSet(
      place.drop,
      place.folder,
      set,
      encodingOf(config.encoding, profile),
    );
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
  const { place, profile } = read;
  const archived = dayFolder(place, read.surroundings);
  const name = namesOf(opened.set);
  const cameAt = new Date(ageOf(opened.set)).toISOString();
  const known = reading.known(opened.hash);
  if (known !== null && (known.latest || !profile.layout.restates)) {
    await archive(read, opened, archived);
    const notice = `${name} came before, as ${known.name} at ${known.at}; it is not read again.`;
    yield { changes: [], position, cameAt, notices: [notice] };
    return true;
  }
  try {
    const manifests = await manifestsOf(place.drop, place.folder, opened.set);
    if (manifests === null) {
      reading.hindered?.(refuse.changing(opened.set));
      return true;
    }
    const result = await readSet(read, { ...opened, manifests }, reading);
    if (result === null) {
      if (!reading.signal.aborted) reading.hindered?.(refuse.changing(opened.set));
      return !reading.signal.aborted;
    }
    const { scratch, extract, notices } = result;
    try {
      const { cut } = extract;
      const said = [...notices, ...extract.notices, ...(cut === null ? [] : [cutNotice(cut)])];
      const total = scratch.count();
      for (let done = 0; done + PAGE < total; done += PAGE) {
        if (reading.signal.aborted) return false;
        yield { changes: changesOf(scratch, done, PAGE), position, share: (done + PAGE) / total };
      }
      if (reading.signal.aborted) return false;
      const last = Math.max(Math.ceil(total / PAGE) - 1, 0) * PAGE;
      const arrival = { id: opened.hash, name };
      const rest = changesOf(scratch, last, PAGE);
      yield { changes: rest, position, share: 1, arrival, cameAt, notices: said };
      await archive(read, opened, cut === null ? archived : place.failed, cut);
      return true;
    } finally {
      scratch.close();
    }
  } catch (error) {
    if (!(error instanceof PartFault)) throw error;
    // No arrival: after a change of the configuration, the same file may be read.
    const notice = `${error.message}. It is in ${place.failed}.`;
    yield { changes: [], position, cameAt, notices: [notice] };
    const { line, column, message } = error.fault;
    const reason = `the file ${message}`;
    await archive(read, opened, place.failed, { file: error.file, line, column, reason });
    return true;
  }
}

const cutNotice = ({
  file,
  line,
  reason,
  wholeRows,
}: {
  readonly file: string;
  readonly line: number;
  readonly reason: string;
  readonly wholeRows: number;
}): string =>
  `${file} line ${line} ${reason}: ${wholeRows} rows before it are whole, the rest was not read. Export it again.`;

/**
 * Moves every file of a set; with an error, its reason goes beside the file. All get the hash of the set, so that they
 * are still a set when they are put back.
 */
async function archive(
  { place, surroundings: { kept } }: Pick<ReadSet, "place" | "surroundings">,
  opened: Opened,
  target: string,
  error?: { file: string; line: number; column?: string; reason: string } | null,
): Promise<void> {
  const { drop, folder, marker } = place;
  const moved = new Map<string, Found>();
  await opened.close();
  for (const [part, file] of opened.set.parts) {
    const movedAs = await moveAway(drop, folder, file, target, opened.hash);
    moved.set(part, { ...file, name: movedAs });
    // After its file: what is left without one makes no other file readable, for that must be at rest, too.
    const marked = marker === null ? null : drop.path.join(folder, `${file.name}${marker}`);
    if (marked !== null)
      await drop.remove(marked).catch((cause: unknown) => cannotRemove(marked, cause));
    const manifest = opened.set.manifests?.get(part);
    if (manifest !== undefined) {
      const as = `${movedAs}${manifest.name.slice(file.name.length)}`;
      await moveAway(drop, folder, manifest, target, opened.hash, as);
    }
    if (error?.file === file.name)
      await writeErrors(drop, target, movedAs, [{ column: "", ...error }]);
  }
  if (target !== place.failed) kept?.keep(place, target, moved);
}

const cannotRemove = (path: string, cause: unknown): never => {
  throw unavailable(cause, `the file ${path} was read and cannot be deleted`);
};

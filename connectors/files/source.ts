/**
 * Reads the exports that an ERP drops into a folder. A file, or a set of files that belong together, is one page; it
 * is moved to the archive only after that page is stored, so a crash anywhere reads it again and finds it known.
 */
import { createHash } from "node:crypto";
import { resolve } from "node:path";
import type { Page, Reading, Source, Surroundings } from "../../src/core/contract.ts";
import type { Json } from "../../src/core/json.ts";
import type { FilesConfig, SourceConfig } from "./config.ts";
import { decode, FileFault, readSheet, sniffDelimiter } from "./csv.ts";
import { layouts } from "./layouts/index.ts";
import type { Layout } from "./layouts/table.ts";
import {
  findSets,
  isAtRest,
  isHarmless,
  list,
  moveAway,
  take,
  writeErrors,
  type FileSet,
  type Found,
} from "./pickup.ts";
import { HEADS, PartFault, readRecords, type Extract, type Part } from "./records.ts";

/** What stands in the way of files that lie in the folder, told once and not at every reading. */
interface Position {
  readonly waiting: readonly string[];
}

interface Place {
  readonly folder: string;
  readonly archive: string;
  readonly failed: string;
  readonly patterns: ReadonlyMap<string, string>;
}

/** A set whose bytes are in hand. */
interface Taken {
  readonly bytes: ReadonlyMap<string, { readonly file: string; readonly content: Buffer }>;
  /** Of the one file, or of the parts' hashes in the order of the parts. */
  readonly hash: string;
  readonly name: string;
}

export function openSource(
  config: SourceConfig,
  files: FilesConfig,
  surroundings: Surroundings,
): Source {
  const layout = layoutOf(config);
  const place = placeOf(config, files, surroundings);
  return {
    async *read(position: Json | null, reading: Reading): AsyncGenerator<Page> {
      const { ready, waiting } = await look(place, files, surroundings, reading.signal);
      const told = (position as Position | null)?.waiting ?? [];
      const news = waiting.filter((notice) => !told.includes(notice));
      if (news.length > 0 || waiting.length < told.length)
        yield { changes: [], position: { waiting }, notices: news };
      for (const set of ready) {
        if (reading.signal.aborted) return;
        const taken = await takeSet(place.folder, set);
        if (taken !== null) yield* deliver(layout, config, place, taken, waiting, reading);
      }
    },
  };
}

export function layoutOf({ layout: wanted }: SourceConfig): Layout {
  const layout = layouts.find(({ name }) => name === wanted);
  if (layout === undefined) throw new TypeError(`no layout ${wanted}`);
  return layout;
}

export function placeOf(
  config: SourceConfig,
  files: FilesConfig,
  surroundings: Surroundings,
): Place {
  const folder = sourceFolder(config, files, surroundings);
  return {
    folder,
    archive: resolve(folder, config.archive),
    failed: resolve(folder, config.failed),
    patterns: new Map(
      Object.entries(typeof config.pick === "string" ? { [HEADS]: config.pick } : config.pick),
    ),
  };
}

export const sourceFolder = (
  config: SourceConfig,
  files: FilesConfig,
  surroundings: Surroundings,
): string => resolve(surroundings.folder, files.folder, config.folder);

/** The sets that are complete and at rest, and a sentence for each thing that keeps a file from being read. */
async function look(
  place: Place,
  { settleMs, maxBytes }: FilesConfig,
  surroundings: Surroundings,
  signal: AbortSignal,
): Promise<{ ready: FileSet[]; waiting: string[] }> {
  const before = await list(place.folder);
  if (findSets(place.patterns, before).length === 0) return { ready: [], waiting: [] };
  await surroundings.pause(settleMs, signal);
  if (signal.aborted) return { ready: [], waiting: [] };
  const now = await list(place.folder);
  const ready: FileSet[] = [];
  const waiting: string[] = [];
  for (const set of findSets(place.patterns, now)) {
    const found = [...set.parts.values()];
    const refusals = found.flatMap((file) => refusal(file, maxBytes) ?? []);
    if (refusals.length > 0) waiting.push(...refusals);
    else if (set.missing.length > 0)
      waiting.push(`${namesOf(found)} waits for ${set.missing.join(" and ")}.`);
    else if (found.every((file) => isAtRest(file, before))) ready.push(set);
  }
  return { ready, waiting };
}

function refusal({ name, size, regular }: Found, maxBytes: number): string | null {
  // A name that no one should trust is shown without what could hide in it.
  const shown = `"${name.slice(0, 120).replaceAll(/[^\p{L}\p{N}\p{P}\p{S} ]/gu, "?")}"`;
  if (!isHarmless(name)) return `${shown} is not read: rename it to letters, digits and " ._()+-".`;
  if (!regular) return `${shown} is not read: it is a link or a device. Put the file itself here.`;
  if (size > maxBytes)
    return `${shown} is not read: it has ${size} bytes, maxBytes is ${maxBytes}.`;
  return null;
}

const namesOf = (found: readonly { readonly name: string }[]): string =>
  found.map(({ name }) => name).join(" + ");

/** Null: one of its files is gone, or no longer what was listed. */
export async function takeSet(folder: string, set: FileSet): Promise<Taken | null> {
  const bytes = new Map<string, { file: string; content: Buffer }>();
  for (const [part, file] of set.parts) {
    const content = await take(folder, file);
    if (content === null) return null;
    bytes.set(part, { file: file.name, content });
  }
  const hashes = [...bytes.values()].map(({ content }) => sha256(content));
  const hash = hashes.length === 1 ? (hashes[0] ?? "") : sha256(Buffer.from(hashes.join("\n")));
  return { bytes, hash, name: namesOf([...set.parts.values()]) };
}

const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

/** One page of a set, and its files' last move once that page is durable. */
async function* deliver(
  layout: Layout,
  config: SourceConfig,
  place: Place,
  taken: Taken,
  waiting: readonly string[],
  reading: Reading,
): AsyncGenerator<Page> {
  const position = { waiting };
  const batch = { id: taken.hash, name: taken.name };
  const known = reading.known(taken.hash);
  if (known !== null && (known.latest || !layout.restates)) {
    const notice = `${taken.name} came before, as ${known.name} at ${known.at}; it is not read again.`;
    yield { changes: [], position, notices: [notice] };
    return archive(place, taken, place.archive);
  }
  try {
    const { extract, notices } = extractFrom(layout, config, taken);
    const { cut } = extract;
    const said = [...notices, ...extract.notices, ...(cut === null ? [] : [cutNotice(cut)])];
    yield { changes: extract.changes, position, batch, notices: said };
    await archive(place, taken, cut === null ? place.archive : place.failed, cut);
  } catch (error) {
    if (!(error instanceof PartFault)) throw error;
    // No batch: after a change of the configuration, the same file may be read.
    yield { changes: [], position, notices: [`${error.message}. It is in ${place.failed}.`] };
    const { line, column, message } = error.fault;
    const reason = `the file ${message}`;
    await archive(place, taken, place.failed, { file: error.file, line, column, reason });
  }
}

/** @throws PartFault when a file is not what the layout says. */
export function extractFrom(
  layout: Layout,
  config: SourceConfig,
  taken: Pick<Taken, "bytes">,
): { extract: Extract; notices: string[] } {
  const parts = new Map<string, Part>();
  const notices: string[] = [];
  for (const [part, { file, content }] of taken.bytes) {
    try {
      const { text, fallback } = decode(content, config.encoding);
      if (fallback)
        notices.push(
          `${file} is not UTF-8; it was read as Windows-1252. Set "encoding" to be sure.`,
        );
      const delimiter = config.delimiter === "auto" ? sniffDelimiter(text) : config.delimiter;
      parts.set(part, { file, sheet: readSheet(text, delimiter) });
    } catch (error) {
      throw error instanceof FileFault ? new PartFault(file, error) : error;
    }
  }
  return { extract: readRecords(layout, parts, config), notices };
}

const cutNotice = ({ file, line, reason, wholeRows }: NonNullable<Extract["cut"]>): string =>
  `${file} line ${line} ${reason}: ${wholeRows} rows before it are whole, the rest was not read. Export it again.`;

/**
 * Moves every file of a set; with an error, its reason goes beside the file. All get the hash of the set, so that they
 * are still a set when they are put back.
 */
async function archive(
  { folder }: Place,
  { bytes }: Taken,
  target: string,
  error?: { file: string; line: number; column?: string; reason: string } | null,
): Promise<void> {
  const set = sha256(Buffer.concat([...bytes.values()].map(({ content }) => content)));
  for (const { file } of bytes.values()) {
    const movedAs = await moveAway(folder, file, target, set);
    if (error?.file === file) await writeErrors(target, movedAs, [{ column: "", ...error }]);
  }
}

/** Reading one set of files: its bytes are taken once, and nothing of it counts before all of it was read. */
import { createHash } from "node:crypto";
import type { Reading, Surroundings } from "../../src/core/contract.ts";
import { memoryScratch, type Scratch } from "../../src/core/scratch.ts";
import { ChangedMeanwhile, type Encoding, survey, type Survey } from "../../src/formats/bytes.ts";
import type { TableSource } from "./config.ts";
import type { Drop, OpenFile } from "./folder/port.ts";
import type { RecordsRead } from "../../src/formats/format.ts";
import type { Manifest } from "../../src/formats/manifest.ts";
import type { Profile } from "../../src/formats/table/profile.ts";
import { type FileSet, openFound } from "./pickup.ts";
import { type Extract, type Part, readRecords } from "../../src/formats/table/records.ts";
import { openSheet } from "../../src/formats/table/sheets.ts";

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
  readonly notices: readonly string[];
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
  { parts: files, manifests = new Map() }: Opened,
  { signal, advanced }: Pick<Reading, "signal" | "advanced">,
): Promise<ReadResult | null> {
  const bytes = [...files.values()].reduce((sum, { size }) => sum + size, 0);
  const scratch =
    bytes <= SMALL_BYTES ? memoryScratch() : (surroundings.scratch?.(bytes) ?? memoryScratch());
  const parts = new Map<string, Part>();
  const read = new Map<string, number>();
  const progress = (name: string, count: number): void => {
    if (signal.aborted) throw new ChangedMeanwhile();
    read.set(name, count);
    const share = sum(read.values()) / bytes;
    const records = sum([...parts.values()].map(({ sheet }) => sheet.wholeRows));
    advanced?.({ records, share: Math.min(share, 1) });
  };
  try {
    for (const [part, file] of files) {
      const { name } = file;
      const read = (count: number): void => progress(name, count);
      parts.set(part, {
        file: name,
        sheet: await openSheet(profile, file, config.delimiter, read),
        manifest: manifests.get(part),
      });
    }
    const notices = [...files.values()].flatMap(({ name, survey }) =>
      survey.fallback
        ? [`${name} is not UTF-8; it was read as Windows-1252. Set "encoding" to be sure.`]
        : [],
    );
    return { extract: await readRecords(profile, parts, config, scratch), notices, scratch };
  } catch (error) {
    scratch.close();
    if (error instanceof ChangedMeanwhile) return null;
    throw error;
  }
}

const sum = (numbers: Iterable<number>): number => [...numbers].reduce((one, two) => one + two, 0);

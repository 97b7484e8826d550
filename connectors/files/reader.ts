/** How the files of a source become changes: as tables, record by record, or whole by another format. */
import { hash } from "node:crypto";
import type { Reading, Surroundings } from "../../src/core/contract.ts";
import { memoryScratch } from "../../src/core/scratch.ts";
import type { Encoding } from "../../src/formats/bytes.ts";
import type { TableSource } from "./config.ts";
import { FileFault, PartFault } from "../../src/formats/table/csv.ts";
import type { Bytes } from "./folder/port.ts";
import type { RecordReader } from "../../src/formats/format.ts";
import type { Profile } from "../../src/formats/table/profile.ts";
import { openProfile } from "../../src/formats/table/profile-open.ts";
import { checkDocuments } from "../../src/formats/manifest.ts";
import { keepChange } from "../../src/formats/table/records.ts";
import { type Opened, type ReadResult, readSet } from "./sets.ts";
import { encodingOf } from "../../src/formats/table/sheets.ts";

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
    const bytes = await bytesIn(handle, size);
    if (hash("sha256", bytes, "hex") !== survey.hash) return null;
    const whole = recordsIn(records, bytes, name);
    const { changes, documents, notices, left } = whole;
    if (manifest !== undefined && left === undefined) checkDocuments(manifest, name, documents);
    const scratch = memoryScratch();
    for (const change of changes) keepChange(scratch, change);
    return {
      extract: { notices: [], cut: null, leftOut: 0, nameless: 0 },
      notices,
      scratch,
      whole,
    };
  },
});

async function bytesIn(handle: Bytes, size: number): Promise<Buffer> {
  const buffer = Buffer.alloc(size);
  let length = 0;
  for (let more = -1; more !== 0 && length < size; length += more)
    more = (await handle.read(buffer, length, size - length, length)).bytesRead;
  return buffer.subarray(0, length);
}

/** @throws PartFault */
function recordsIn(records: RecordReader, bytes: Buffer, name: string) {
  try {
    return records.read(bytes, name);
  } catch (error) {
    throw error instanceof FileFault ? new PartFault(name, error) : error;
  }
}

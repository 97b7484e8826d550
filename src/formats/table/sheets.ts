/** A file that was surveyed, opened as the table that a profile says it is. */
import { hash } from "node:crypto";
import { ChangedMeanwhile, type Encoding, type Survey, textOf } from "../bytes.ts";
import { FileFault, Sheet, PartFault } from "./csv.ts";
import type { Bytes } from "../../../connectors/files/folder/port.ts";
import { type Profile, textFormOf } from "./profile.ts";
import type { ProfileFile } from "./profile-schema.ts";

import type { Row } from "./tokens.ts";
import { rowsOfWorkbook, WORKBOOK_BYTES_MAX } from "./workbook.ts";

export interface SurveyedFile {
  readonly name: string;
  readonly handle: Bytes;
  readonly survey: Survey;
}

/**
 * `delimiter`: in place of the profile's, unless `auto`. `read` takes how many bytes were read so far.
 * @throws PartFault when it is no such table, ChangedMeanwhile while it is read
 */
export async function openSheet(
  profile: Profile,
  { name, handle, survey }: SurveyedFile,
  delimiter: ProfileFile["delimiter"],
  read: (bytes: number) => void,
): Promise<Sheet> {
  try {
    if (survey.fault !== null) throw survey.fault;
    if (profile.file === "xlsx") return await openWorkbook(profile, handle, survey, read);
    return await Sheet.open(textOf(handle, survey, read), textFormOf(profile, delimiter));
  } catch (error) {
    throw error instanceof FileFault ? new PartFault(name, error) : error;
  }
}

/** A workbook is no text: its bytes are taken as they are. */
export const encodingOf = (encoding: Encoding, profile: Profile): Encoding => {
  if (profile.file === "xlsx") return "latin1";
  return encoding === "auto" ? profile.encoding : encoding;
};

/** Read whole, for its parts stand in any order. */
async function openWorkbook(
  { sheet, header }: Profile,
  handle: Bytes,
  survey: Survey,
  read: (bytes: number) => void,
): Promise<Sheet> {
  const bytes = await firstBytes(handle, WORKBOOK_BYTES_MAX + 1);
  if (bytes.length <= WORKBOOK_BYTES_MAX && hash("sha256", bytes, "hex") !== survey.hash)
    throw new ChangedMeanwhile();
  const rows = await rowsOfWorkbook(bytes, sheet);
  read(bytes.length);
  return Sheet.of(batchOf(rows), header === "tags" ? 0 : header);
}

// oxlint-disable-next-line require-await -- a sheet takes its batches as they come
async function* batchOf(rows: readonly Row[]): AsyncGenerator<readonly Row[], null> {
  yield rows;
  return null;
}

/** As many as there are, up to a limit. */
export async function firstBytes(file: Bytes, limit: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let length = 0;
  for (;;) {
    const piece = Buffer.alloc(Math.min(65_536, limit - length));
    const { bytesRead } = await file.read(piece, 0, piece.length, length);
    if (bytesRead === 0) return Buffer.concat(pieces);
    pieces.push(piece.subarray(0, bytesRead));
    length += bytesRead;
  }
}

/** A file that was surveyed, opened as the table that a profile says it is. */
import { type Survey, textOf } from "./bytes.ts";
import { FileFault, Sheet } from "./csv.ts";
import type { Bytes } from "./drop.ts";
import { type Profile, textFormOf } from "./profile.ts";
import type { ProfileFile } from "./profile-schema.ts";
import { PartFault } from "./records.ts";

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
    return await Sheet.open(textOf(handle, survey, read), textFormOf(profile, delimiter));
  } catch (error) {
    throw error instanceof FileFault ? new PartFault(name, error) : error;
  }
}

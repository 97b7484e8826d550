/** `fuelbridge profile guess`: a proposal on standard output, so that `> my.yaml` keeps it. */
import type { Answer } from "../answer.ts";
import { ConfigurationError } from "../../core/errors.ts";
import { layouts } from "../../formats/table/layouts.ts";
import { guessProfile } from "../../formats/table/try.ts";

/** @throws ConfigurationError */
export async function guessFile(path: string, layout: string | null): Promise<Answer> {
  const names = layouts.map(({ name }) => name);
  if (layout !== null && !names.includes(layout))
    throw new ConfigurationError(
      `There is no layout ${layout}.`,
      `Right would be one of ${names.join(", ")}.`,
    );
  try {
    const data = await guessProfile(path, path, layout);
    return { data, text: data.yaml };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new ConfigurationError(
      `No profile can be proposed from ${path}: ${error.message}.`,
      "Give a text file with rows, or write the profile by hand: docs/profiles.md.",
      error,
    );
  }
}

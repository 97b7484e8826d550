/** Profiles of files: the shipped ones, and how a file is read with one. Nothing is stored or delivered. */
import type { Command } from "commander";
import { ConfigurationError } from "../core/errors.ts";
import { addBareCommand } from "./command.ts";

export function profile(program: Command): void {
  const parent = program
    .command("profile")
    .description("where things stand in the files of an ERP (docs/profiles.md)");
  addBareCommand(
    parent,
    "try <file> [parts...]",
    "how a file is read: records, refused rows, control totals; nothing is delivered",
    async ({ args: [file = "", ...parts], options }) => {
      const { tryFiles } = await import("./profile/files.ts");
      return tryFiles(filesOf(file, parts), options["profile"] ?? "", rowsOf(options["rows"]));
    },
  )
    .requiredOption(
      "--profile <profile>",
      "a file that ends in .yaml, or the name of a shipped one",
    )
    .option("--rows <count>", "how many records are shown (default: 20)");
  addBareCommand(parent, "list", "the shipped profiles", async () => {
    const { listProfiles } = await import("./profile/files.ts");
    return listProfiles();
  });
  addBareCommand(parent, "schema", "the JSON Schema of profiles, for editors", async () => {
    const { profileSchema } = await import("../formats/table/profile.ts");
    const data = profileSchema();
    return { data, text: JSON.stringify(data, null, 2) };
  });
}

/** `lines=invoice-lines.csv`: a further file of the same export. @throws ConfigurationError */
function filesOf(file: string, parts: readonly string[]): Map<string, string> {
  return new Map([
    ["heads", file],
    ...parts.map((given): [string, string] => {
      const [, part, path] = /^([^=]+)=(.+)$/.exec(given) ?? [];
      if (part !== undefined && path !== undefined) return [part, path];
      throw new ConfigurationError(
        `It is not clear which part of the export ${given} is.`,
        "Name the part before it: lines=invoice-lines.csv.",
      );
    }),
  ]);
}

const ROWS = 20;
const ROWS_MAX = 10_000;

/** @throws ConfigurationError */
function rowsOf(text: string | undefined): number {
  const count = text === undefined ? ROWS : Number(text);
  if (Number.isInteger(count) && count >= 0 && count <= ROWS_MAX) return count;
  throw new ConfigurationError(
    `--rows ${text} is no number of records.`,
    `Give a whole number from 0 to ${ROWS_MAX}, for example --rows 100.`,
  );
}

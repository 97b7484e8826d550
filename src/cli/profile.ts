/** Profiles of files: the shipped ones, and how a file is read with one. Nothing is stored or delivered. */
import { counted } from "../core/text.ts";
import type { Command } from "commander";
import { Decimal } from "../core/decimal.ts";
import { ConfigurationError, exitCodes } from "../core/errors.ts";
import type { Trial, Values } from "../formats/table/records.ts";
import { lined, table } from "../views/text.ts";
import type { Answer } from "./answer.ts";
import { addBareCommand, recordsGiven } from "./command.ts";

export function profile(program: Command): void {
  const parent = program
    .command("profile")
    .description("where things stand in the files of an ERP (docs/profiles.md)");
  addBareCommand(
    parent,
    "try <file> [parts...]",
    "how a file is read: records, refused rows, control totals; nothing is delivered",
    async ({ args: [file = "", ...parts], options }) => {
      const { profile = "", rows = ROWS } = options;
      const shown = recordsGiven("rows", rows, { least: 0, such: 100 });
      return tryFiles(filesOf(file, parts), profile, shown);
    },
  )
    .requiredOption(
      "--profile <profile>",
      "a file that ends in .yaml, or the name of a shipped one",
    )
    .option("--rows <count>", "how many records are shown (default: 20)");
  addBareCommand(parent, "list", "the shipped profiles", listProfiles);
  addBareCommand(parent, "schema", "the JSON Schema of profiles, for editors", async () => {
    const { profileSchema } = await import("../formats/table/settings.ts");
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

const ROWS = "20";

async function listProfiles(): Promise<Answer> {
  const { openProfile, shippedProfiles } = await import("../formats/table/profile.ts");
  const data = shippedProfiles().map((name) => {
    const { layout, file, about = "" } = openProfile(name, "");
    return { name, layout: layout.name, file, about };
  });
  const rows = data.map(({ name, layout, file, about }) => [name, layout, file, about]);
  return { data, text: table(["PROFILE", "LAYOUT", "FILE", "WHAT"], rows) };
}

/** `files`: by the part of the export. @throws ConfigurationError, InvalidProfile */
async function tryFiles(
  files: ReadonlyMap<string, string>,
  name: string,
  rows: number,
): Promise<Answer> {
  const [{ openProfile }, { tryProfile }, { PartFault }] = await Promise.all([
    import("../formats/table/profile.ts"),
    import("../formats/table/records.ts"),
    import("../formats/format.ts"),
  ]);
  const profile = openProfile(name, process.cwd());
  try {
    const trial = await tryProfile(profile, files, rows);
    const isGood = trial.refused === 0 && trial.whole;
    const exitCode = isGood ? exitCodes.ok : exitCodes.runtime;
    const data = { profile: name, layout: profile.layout.name, ...trial };
    return { data, text: trialText(trial, rows), exitCode };
  } catch (error) {
    if (!(error instanceof PartFault)) throw error;
    throw new ConfigurationError(
      `${error.message}. Nothing of it would be delivered.`,
      `Correct the profile ${name} if the file is as it should be; else export the file again.`,
      error,
    );
  }
}

function trialText(trial: Trial, rows: number): string {
  const { read, refused, records, refusals, totals, leftOut, notices } = trial;
  const refusedRows = refusals.map(({ line, column, value, id, file, message }) => {
    const at = line === 0 ? file : String(line);
    return [at, column || "-", value || "-", id, message];
  });
  const sums = totals.map(({ field, count, sum }) => [field, String(count), sum.fixed(0)]);
  return lined(
    records.length > 0 && [recordsTable(records), ""],
    read > records.length && rows > 0 && [`... and ${read - records.length} more`, ""],
    refusals.length > 0 && [
      "Refused:",
      table(["LINE", "COLUMN", "VALUE", "RECORD", "WHY"], refusedRows),
      "",
    ],
    totals.length > 0 && [table(["CONTROL TOTAL", "VALUES", "SUM"], sums), ""],
    notices,
    `${counted(read, "record")} read, ${refused} refused${leftOut > 0 ? `, ${counted(leftOut, "row")} left out` : ""}.`,
  );
}

/** A column per field that any of them has; of a list: how many there are. */
function recordsTable(records: Trial["records"]): string {
  const fields = [...new Set(records.flatMap(({ values }) => Object.keys(values)))].filter(
    (field) => records.some(({ values }) => shown(values, field) !== ""),
  );
  return table(
    ["RECORD", ...fields],
    records.map(({ id, values }) => [id, ...fields.map((field) => shown(values, field) || "-")]),
  );
}

function shown(values: Values, field: string): string {
  const value = values[field];
  if (value === null || value === undefined) return "";
  if (Array.isArray(value)) return value.length === 0 ? "" : counted(value.length, "row");
  if (typeof value === "string") return value;
  return value instanceof Decimal ? value.text : JSON.stringify(value);
}

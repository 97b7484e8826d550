/** `fuelbridge profile`: the shipped ones, and a file read with one. */
import { Decimal } from "../../core/decimal.ts";
import { ConfigurationError, exitCodes } from "../../core/errors.ts";
import { PartFault } from "../../formats/format.ts";
import { openProfile, shippedProfiles } from "../../formats/table/profile.ts";
import { type Trial, tryProfile, type Values } from "../../formats/table/try.ts";
import { counted, table } from "../../views/table.ts";
import type { Answer } from "../answer.ts";

export function listProfiles(): Answer {
  const data = shippedProfiles().map((name) => {
    const { layout, file, about = "" } = openProfile(name, "");
    return { name, layout: layout.name, file, about };
  });
  const rows = data.map(({ name, layout, file, about }) => [name, layout, file, about]);
  return { data, text: table(["PROFILE", "LAYOUT", "FILE", "WHAT"], rows) };
}

/** `files`: by the part of the export. @throws ConfigurationError, InvalidProfile */
export async function tryFiles(
  files: ReadonlyMap<string, string>,
  name: string,
  rows: number,
): Promise<Answer> {
  const profile = openProfile(name, process.cwd());
  try {
    const trial = await tryProfile(profile, files, rows);
    const exitCode = trial.refused > 0 ? exitCodes.runtime : exitCodes.ok;
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
  return [
    ...(records.length === 0 ? [] : [recordsTable(records), ""]),
    ...(read > records.length && rows > 0 ? [`... and ${read - records.length} more`, ""] : []),
    ...(refusals.length === 0
      ? []
      : [
          "Refused:",
          table(
            ["LINE", "COLUMN", "VALUE", "RECORD", "WHY"],
            refusals.map(({ line, column, value, id, file, message }) => [
              line === 0 ? file : String(line),
              column || "-",
              value || "-",
              id,
              message,
            ]),
          ),
          "",
        ]),
    ...(totals.length === 0
      ? []
      : [
          table(
            ["CONTROL TOTAL", "VALUES", "SUM"],
            totals.map(({ field, count, sum }) => [field, String(count), sum.fixed(0)]),
          ),
          "",
        ]),
    ...notices,
    `${counted(read, "record")} read, ${refused} refused${leftOut > 0 ? `, ${counted(leftOut, "row")} left out` : ""}.`,
  ].join("\n");
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

/** `fuelbridge map --cases`: the cases of the site's own mappings, from `cases/*.json` in their folder. */
import { globSync } from "node:fs";
import { join, relative } from "node:path";
import { ConfigurationError, exitCodes } from "../../core/errors.ts";
import type { Config } from "../../config/config.ts";
import { readCases, runCase } from "../../mapping/cases.ts";
import type { Answer } from "../answer.ts";
import { counted } from "../../views/table.ts";

interface Ran {
  /** Relative to the folder of the mappings. */
  readonly file: string;
  readonly mapping: string;
  readonly name: string;
  /** What is otherwise than the case says; empty: it holds. */
  readonly wrong: readonly string[];
}

/** @throws ConfigurationError when there are none, or a file of them is wrong */
export function runCases({ file, mappings, mappingsFolder: folder }: Config): Answer {
  const files = folder === null ? [] : globSync("cases/**/*.json", { cwd: folder }).toSorted();
  if (folder === null || files.length === 0)
    throw new ConfigurationError(
      folder === null
        ? `${file} names no folder of mappings.`
        : `${folder} has no file cases/*.json.`,
      "docs/site-mappings.md says how cases are written.",
    );
  const ran = files.flatMap((name): Ran[] => {
    const path = join(folder, name);
    const { mapping: named, cases } = readCases(path);
    const mapping = mappings.find((one) => one.name === named);
    if (mapping === undefined)
      throw new ConfigurationError(
        `${path} has cases of the mapping ${named}, which does not exist.`,
        `Mappings: ${mappings.map((one) => one.name).join(", ")}.`,
      );
    return cases.map((one) => ({
      file: relative(folder, path),
      mapping: named,
      name: one.name,
      wrong: runCase(mapping, one),
    }));
  });
  const failed = ran.filter(({ wrong }) => wrong.length > 0);
  return {
    data: { cases: ran.length, failed },
    text: inWords(ran, failed),
    exitCode: failed.length === 0 ? exitCodes.ok : exitCodes.runtime,
  };
}

function inWords(ran: readonly Ran[], failed: readonly Ran[]): string {
  const all = counted(ran.length, "case");
  if (failed.length === 0) return `${all}: all hold.`;
  return [
    ...failed.flatMap(({ file, name, wrong }) => [
      `${file}, case ${name}:`,
      ...wrong.map((line) => `  ${line}`),
    ]),
    "",
    `${all}: ${failed.length} ${failed.length === 1 ? "does" : "do"} not hold.`,
  ].join("\n");
}

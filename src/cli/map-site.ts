/** The site's own mappings: their cases (`map --cases`), and what an editor needs of them (`map --types`). */
import { existsSync, globSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import type { Config } from "../config/config.ts";
import { causeOf } from "../config/problems.ts";
import { ConfigurationError, EnvironmentError, exitCodes } from "../core/errors.ts";
import { readCases, runCase } from "../mapping/cases.ts";
import { counted } from "../views/table.ts";
import type { Answer } from "./answer.ts";

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
    text: casesText(ran, failed),
    exitCode: failed.length === 0 ? exitCodes.ok : exitCodes.runtime,
  };
}

function casesText(ran: readonly Ran[], failed: readonly Ran[]): string {
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

/** The sources in a checkout; where fuelbridge is installed, the declarations beside what was compiled. */
const ENTRIES = ["index.ts", "index.d.ts"].map((name) =>
  join(import.meta.dirname, "..", "mapping", name),
);

const TYPES = join(import.meta.dirname, "..", "..", "node_modules", "@types");

/** @throws ConfigurationError, EnvironmentError when the file cannot be written */
export function writeTypes({ file, mappingsFolder: folder }: Config): Answer {
  if (folder === null)
    throw new ConfigurationError(
      `${file} names no folder of mappings.`,
      "Write mappings: ./site into it, and create that folder.",
    );
  const entry = ENTRIES.find((path) => existsSync(path));
  if (entry === undefined)
    throw new EnvironmentError(
      "The types of fuelbridge/mapping are not installed beside the program.",
      "Take the package for Debian or a checkout: both have them.",
    );
  const path = join(folder, "tsconfig.json");
  try {
    writeFileSync(path, `${JSON.stringify(settingsFor(entry), null, 2)}\n`);
  } catch (error) {
    throw new EnvironmentError(
      `${path} cannot be written (${causeOf(error)}).`,
      "Give the command as a user that may write to the folder.",
      error,
    );
  }
  const text = `${path} is written: an editor that knows TypeScript completes and checks the modules in ${folder} now.`;
  return { data: { file: path, types: entry }, text };
}

/** As the modules are run: types are erased, and what a path names is there. */
const settingsFor = (entry: string) => ({
  compilerOptions: {
    target: "ES2024",
    lib: ["ES2024", "ESNext.Iterator"],
    module: "preserve",
    moduleResolution: "bundler",
    // The sources name types of Node; of declarations an editor needs none that it does not show.
    ...(entry.endsWith(".d.ts") ? { types: [] } : { types: ["node"], typeRoots: [TYPES] }),
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    allowJs: true,
    checkJs: true,
    erasableSyntaxOnly: true,
    verbatimModuleSyntax: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
    paths: { "fuelbridge/mapping": [entry] },
  },
  include: ["**/*.ts", "**/*.mts", "**/*.js", "**/*.mjs"],
});

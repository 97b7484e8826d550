/** `fuelbridge map --types`: an editor finds the types of `fuelbridge/mapping` from the site's folder. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ConfigurationError, EnvironmentError } from "../../core/errors.ts";
import type { Config } from "../../config/config.ts";
import { causeOf } from "../../config/problems.ts";
import type { Answer } from "../answer.ts";

/** The sources in a checkout; where fuelbridge is installed, the declarations beside what was compiled. */
const ENTRIES = ["index.ts", "index.d.ts"].map((name) =>
  join(import.meta.dirname, "..", "..", "mapping", name),
);

const TYPES = join(import.meta.dirname, "..", "..", "..", "node_modules", "@types");

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

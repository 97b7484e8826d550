/**
 * Loads a site's own mappings as they are written: Node strips the types, `fuelbridge/mapping` is this program, and a
 * module imports that and files of its own folder only. A mistake is told with its file and line.
 */
import { readdirSync, readFileSync, realpathSync } from "node:fs";
import { registerHooks } from "node:module";
import { join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Figures, Mapping } from "../core/contract.ts";
import { Decimal } from "../core/decimal.ts";
import { defined } from "../core/defined.ts";
import { aboutMachine, EnvironmentError, FuelbridgeError, Refused } from "../core/errors.ts";
import { definedAt, expectDocument, MappingMistake, returnedWrong } from "./define.ts";

/** What is wrong with a site's module, and where: as a problem of a configuration that is about no setting. */
interface ModuleProblem extends Complaint, Place {
  readonly column: number;
  readonly setting: "";
}

interface Complaint {
  readonly message: string;
  readonly remedy: string;
}

/** A site's mappings cannot be loaded (exit code 3), with every problem of every module. */
class SiteMappingsError extends EnvironmentError {
  readonly problems: readonly ModuleProblem[];

  constructor(folder: string, problems: readonly ModuleProblem[]) {
    const lines = problems.map(
      ({ file, line, message, remedy }) => `${file}:${line} ${message}.\n    ${remedy}`,
    );
    super(
      `The mappings of the folder ${folder} cannot be loaded:\n${lines.join("\n")}`,
      "Correct this, then look again with `fuelbridge check`.",
    );
    this.problems = problems;
  }
}

const MODULE = /(?<!\.d|\.test)\.(?:ts|mts|js|mjs)$/;
const PUBLIC = "fuelbridge/mapping";
const PUBLIC_URL = new URL(
  import.meta.filename.endsWith(".ts") ? "./index.ts" : "./index.js",
  import.meta.url,
).href;

/**
 * Every mapping that a module of the folder exports. Modules in folders below it are helpers.
 * @throws SiteMappingsError with all that is wrong
 */
export async function loadSiteMappings(folder: string): Promise<readonly Mapping[]> {
  const root = rootOf(folder);
  hookInto(root);
  const problems: ModuleProblem[] = [];
  const found: { readonly mapping: Mapping; readonly file: string }[] = [];
  for (const name of readdirSync(root).toSorted()) {
    const file = join(root, name);
    if (!MODULE.test(name)) continue;
    try {
      const exported = (await import(pathToFileURL(file).href)) as Readonly<
        Record<string, unknown>
      >;
      const mappings = Object.values(exported).filter((one) => definedAt(one) !== null);
      if (mappings.length === 0) problems.push(problemAt(file, 1, NO_MAPPING));
      for (const mapping of mappings as Mapping[]) found.push({ mapping, file });
    } catch (error) {
      problems.push(problemOf(error, file, root));
    }
  }
  problems.push(
    ...namedTwice(
      found.map(({ mapping }) => mapping),
      root,
    ),
  );
  if (problems.length > 0) throw new SiteMappingsError(folder, eachOnce(problems));
  return found.map(({ mapping, file }) => guarded(mapping, file, root));
}

/** A helper that is wrong fails with every module that imports it. */
const eachOnce = (problems: readonly ModuleProblem[]): ModuleProblem[] => [
  ...new Map(problems.map((one) => [JSON.stringify(one), one])).values(),
];

const NO_MAPPING = {
  message: "the module exports no mapping",
  remedy:
    "Export what defineMapping or extend of fuelbridge/mapping returns. Put a module that only helps others into a folder below.",
};

/** @throws SiteMappingsError when there is no such folder */
function rootOf(folder: string): string {
  try {
    const root = realpathSync(folder);
    readdirSync(root);
    return root;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new EnvironmentError(
      `The folder of the site's mappings ${folder} cannot be read (${code ?? String(error)}).`,
      aboutMachine(code) ??
        "Create it, let the service's user read it, or correct `mappings` in the configuration.",
      error,
    );
  }
}

function namedTwice(mappings: readonly Mapping[], root: string): ModuleProblem[] {
  const alike = Map.groupBy(new Set(mappings), ({ name }) => name).values();
  return [...alike].flatMap(([first, ...others]) =>
    others.map((other) => {
      const [before, place] = [first, other].map((one) => placeIn(definedAt(one) ?? "", root));
      return problemAt(place?.file ?? root, place?.line ?? 1, {
        message: `the mapping ${other.name} is defined in ${before?.file}:${before?.line} already`,
        remedy: "Give each mapping a name of its own.",
      });
    }),
  );
}

const roots = new Set<string>();

/** Resolution in a site's folder: for all modules below it, and for no other. */
function hookInto(root: string): void {
  if (roots.size === 0)
    registerHooks({
      resolve(specifier, context, next) {
        const parent = siteFile(context.parentURL);
        if (parent === null) return next(specifier, context);
        if (specifier === PUBLIC) return { url: PUBLIC_URL, shortCircuit: true };
        if (!/^\.{1,2}\//.test(specifier)) throw new WrongImport(parent, specifier, null);
        let resolved;
        try {
          resolved = next(specifier, context);
        } catch (cause) {
          throw new WrongImport(parent, specifier, { cause });
        }
        if (siteFile(resolved.url) === null) throw new WrongImport(parent, specifier, null);
        return resolved;
      },
      load(url, context, next) {
        const file = siteFile(url);
        const isModule = file !== null && MODULE.test(file);
        return next(url, isModule ? { ...context, format: "module-typescript" } : context);
      },
    });
  roots.add(root);
}

/** The path of a module below a site's folder; null: it is none. */
function siteFile(url: string | undefined): string | null {
  if (url === undefined || !url.startsWith("file:")) return null;
  const path = fileURLToPath(url);
  return [...roots].some((root) => !/^\.\.(?:[\\/]|$)/.test(relative(root, path))) ? path : null;
}

/** An import that is not allowed, or leads nowhere; at its line. */
class WrongImport extends MappingMistake {
  readonly place: Place;

  constructor(file: string, specifier: string, missing: { readonly cause: unknown } | null) {
    const imports = `imports ${JSON.stringify(specifier)}`;
    if (missing === null)
      super(
        imports,
        `Import ${PUBLIC} and files of this folder only: a mapping computes, and neither reads files nor asks anybody.`,
      );
    else
      super(
        `${imports}, and there is no such file`,
        "Correct the path; it is relative to this file and ends in the file's extension: ./lib/names.ts.",
      );
    this.cause = missing?.cause;
    this.place = { file, line: lineWith(file, specifier) };
  }
}

function lineWith(file: string, text: string): number {
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.findIndex((line) => line.includes(text)) + 1 || 1;
}

interface Place {
  readonly file: string;
  readonly line: number;
}

function problemOf(error: unknown, file: string, root: string): ModuleProblem {
  const { stack = "", message, name } = errorOf(error);
  const place =
    error instanceof WrongImport ? error.place : (placeIn(stack, root) ?? { file, line: 1 });
  if (error instanceof MappingMistake || error instanceof FuelbridgeError)
    return problemAt(place.file, place.line, { message, remedy: error.next });
  return problemAt(place.file, place.line, {
    message: `${name}: ${message}`,
    remedy:
      error instanceof ReferenceError
        ? "Correct the module at this line. Where two modules import each other, move what both need into a third one."
        : "Correct the module at this line. Of TypeScript it may use what is erased: types, imported by `import type`, and no enum or namespace.",
  });
}

const problemAt = (file: string, line: number, complaint: Complaint): ModuleProblem => ({
  file,
  line,
  column: 1,
  setting: "",
  ...complaint,
});

/** The first line of a stack that lies in the site's folder. */
function placeIn(stack: string, root: string): Place | null {
  for (const [, url = "", line] of stack.matchAll(
    /(file:\/\/[^\s)]+?):(\d+)(?::\d+)?(?=[\s)]|$)/g,
  )) {
    const path = fileURLToPath(url);
    if (!relative(root, path).startsWith("..")) return { file: path, line: Number(line) };
  }
  return null;
}

/** A mistake that shows only with a record: that record is quarantined, and the line is named. */
function guarded(
  mapping: Mapping,
  file: string,
  root: string,
  definedThere = definedAt(mapping),
): Mapping {
  const inside =
    <Args extends unknown[], Result>(work: (...args: Args) => Result) =>
    (...args: Args): Result => {
      try {
        return work(...args);
      } catch (thrown) {
        if (thrown instanceof Refused || thrown instanceof FuelbridgeError) throw thrown;
        const error = errorOf(thrown);
        const place = placeIn(error.stack ?? "", root) ??
          placeIn(definedThere ?? "", root) ?? { file, line: 1 };
        const isOurs = error instanceof MappingMistake;
        throw new Refused({
          code: "mapping-failed",
          message: `the mapping ${mapping.name} failed at ${place.file}:${place.line}: ${isOurs ? "" : `${error.name}: `}${error.message}`,
          next: `${isOurs ? error.next : "Correct the mapping there."} Look at the record with \`fuelbridge map\`, start fuelbridge again, then retry.`,
        });
      }
    };
  const using = mapping.using?.bind(mapping);
  return {
    ...mapping,
    number: inside((record) => expectText(mapping.number(record))),
    map: inside((record, references) => {
      const made = mapping.map(record, references);
      expectDocument("map", made);
      return made;
    }),
    figures: inside((document) => expectFigures(mapping.figures(document))),
    ...defined({
      bookedOn: mapping.bookedOn && inside(mapping.bookedOn.bind(mapping)),
      likeness: mapping.likeness && inside(mapping.likeness.bind(mapping)),
      about: mapping.about && inside(mapping.about.bind(mapping)),
      using:
        using &&
        ((options: unknown): Mapping => {
          try {
            return guarded(using(options), file, root, definedThere);
          } catch (error) {
            throw new SiteMappingsError(root, [problemOf(error, file, root)]);
          }
        }),
    }),
  };
}

/** What was thrown may be anything. */
const errorOf = (thrown: unknown): Error =>
  thrown instanceof Error
    ? thrown
    : new Error(`it threw ${JSON.stringify(thrown) ?? "undefined"}, which is no Error`);

function expectText(number: unknown): string {
  return typeof number === "string" ? number : returnedWrong("number", number, "a text");
}

const isFigure = (value: unknown): boolean => value === null || value instanceof Decimal;

function expectFigures(figures: Figures | undefined): Figures {
  const { amount, gallons }: Partial<Figures> = figures ?? {};
  return figures !== undefined && isFigure(amount) && isFigure(gallons)
    ? figures
    : returnedWrong("figures", figures, "{ amount, gallons }, each a Decimal or null");
}

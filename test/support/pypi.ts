/** Packages of PyPI that tests hold us against, each list of them in a virtual environment under node_modules/.cache. */
import { execFileSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";

const SYSTEM_PYTHON = "/usr/bin/python3";
const cache = new URL("../../node_modules/.cache/", import.meta.url).pathname;

export interface PythonEnvironment {
  /** Of scripts. */
  readonly bin: string;
  /** Its interpreter, which finds the packages. */
  readonly python: string;
  /** The requirements that are not installed there: none when it can be used. */
  readonly missing: () => string[];
  readonly isThere: () => boolean;
  /** @throws Error when it cannot be had */
  readonly install: () => void;
}

/** `requirements`: packages and versions, as pip takes them (`name==1.2.3`); `folder`: below the cache. */
export function pythonEnvironment(
  requirements: readonly string[],
  folder: string,
): PythonEnvironment {
  const environment = join(cache, folder);
  const bin = join(environment, "bin");
  const missing = (): string[] => {
    if (!existsSync(join(bin, "python"))) return [...requirements];
    const installed = globSync("lib/python3*/site-packages/*.dist-info", { cwd: environment });
    const names = new Set(installed.map((path) => normal(basename(path, ".dist-info"))));
    return requirements.filter((one) => !names.has(normal(one.replace("==", "-"))));
  };
  return {
    bin,
    python: join(bin, "python"),
    missing,
    isThere: () => missing().length === 0,
    install: () => installInto(environment, requirements, () => missing().length === 0),
  };
}

export const pythonProgram = (requirement: string, folder: string): PythonEnvironment =>
  pythonEnvironment([requirement], folder);

/** As PyPI compares names, and pip writes them on the disk. */
const normal = (name: string): string => name.toLowerCase().replaceAll(/[-_.]+/g, "_");

/**
 * In a folder that gets its name when it is complete: two runs that start at once do not meet. Scripts of the packages
 * name the interpreter of the folder that they were installed in: its modules are what is started.
 */
function installInto(
  environment: string,
  requirements: readonly string[],
  isComplete: () => boolean,
): void {
  const making = `${environment}.${process.pid}`;
  mkdirSync(dirname(environment), { recursive: true });
  const run = (args: readonly string[]): void =>
    void execFileSync(SYSTEM_PYTHON, args, { stdio: ["ignore", "ignore", "inherit"] });
  try {
    run(["-m", "venv", "--without-pip", making]);
    const target = ["--python", join(making, "bin", "python")];
    const quiet = ["--quiet", "--disable-pip-version-check", "--root-user-action=ignore"];
    run(["-m", "pip", ...target, "install", ...quiet, "--no-deps", ...requirements]);
    if (isComplete()) return;
    rmSync(environment, { recursive: true, force: true });
    renameSync(making, environment);
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
}

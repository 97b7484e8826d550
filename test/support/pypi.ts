/** Programs of PyPI that tests hold our files against, each in a virtual environment under node_modules/.cache. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";

const SYSTEM_PYTHON = "/usr/bin/python3";
const cache = new URL("../../node_modules/.cache/", import.meta.url).pathname;

export interface PythonProgram {
  /** Its interpreter, which finds the package. */
  readonly python: string;
  readonly isThere: () => boolean;
  /** @throws Error when it cannot be had */
  readonly install: () => void;
}

/** `requirement`: package and version, as pip takes them; `folder`: below the cache. */
export function pythonProgram(requirement: string, folder: string): PythonProgram {
  const environment = join(cache, folder);
  const python = join(environment, "bin", "python");
  return {
    python,
    isThere: () => existsSync(python),
    install: () => installInto(environment, requirement),
  };
}

/**
 * In a folder that gets its name when it is complete: two runs that start at once do not meet. Scripts of the package
 * would name the interpreter of the folder that they were installed in: its modules are what is started.
 */
function installInto(environment: string, requirement: string): void {
  const making = `${environment}.${process.pid}`;
  mkdirSync(dirname(environment), { recursive: true });
  const run = (args: readonly string[]): void =>
    void execFileSync(SYSTEM_PYTHON, args, { stdio: ["ignore", "ignore", "inherit"] });
  try {
    run(["-m", "venv", "--without-pip", making]);
    const target = ["--python", join(making, "bin", "python")];
    const quiet = ["--quiet", "--disable-pip-version-check", "--root-user-action=ignore"];
    run(["-m", "pip", ...target, "install", ...quiet, "--no-deps", requirement]);
    if (!existsSync(environment)) renameSync(making, environment);
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
}

/**
 * The releases of Tryton that the tests run against, and where their programs are: 6.0 from Debian's packages, the
 * newest long-term release from PyPI, in a virtual environment under node_modules/.cache.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { isLongRun } from "./runs.ts";

export const series = ["6.0", "8.0"] as const;
export type Series = (typeof series)[number];

export interface Programs {
  readonly python: string;
  /** Scripts of that Python. */
  readonly server: string;
  readonly admin: string;
}

/** The release that this project of vitest.config.ts runs against. */
export const testedSeries: Series =
  series.find((one) => one === process.env["FUELBRIDGE_TRYTON_RELEASE"]) ?? "6.0";

/** In the ordinary run the kit and the story prove the second release with the most telling half of their tests. */
export const isHalf: boolean = testedSeries !== "6.0" && !isLongRun;

const PYTHON = "/usr/bin/python3";
const REQUIREMENTS = new URL("tryton-8.0.txt", import.meta.url).pathname;

export const programsOf = (release: Series): Programs => {
  if (release === "6.0")
    return { python: PYTHON, server: "/usr/bin/trytond", admin: "/usr/bin/trytond-admin" };
  const bin = join(environment(), "bin");
  return {
    python: join(bin, "python"),
    server: join(bin, "trytond"),
    admin: join(bin, "trytond-admin"),
  };
};

export const isInstalled = (release: Series): boolean => existsSync(programsOf(release).server);

/** What the books of a release depend on: the versions of its packages. */
export const versionsOf = (release: Series): string | Buffer =>
  release === "6.0"
    ? execFileSync("/usr/bin/dpkg-query", ["-W", "tryton-server", "tryton-modules-*"])
    : readFileSync(REQUIREMENTS);

/** One for each list of versions and each Python. */
function environment(): string {
  const hash = createHash("sha256").update(readFileSync(REQUIREMENTS));
  const python = existsSync(PYTHON) ? realpathSync(PYTHON) : PYTHON;
  const cache = new URL("../../node_modules/.cache/fuelbridge-tryton", import.meta.url).pathname;
  return join(cache, hash.update(python).digest("hex").slice(0, 16));
}

/**
 * Installs 8.0 with pip, in a folder that gets its name when it is complete: two runs that start at once do not meet.
 * @throws Error when the packages cannot be had
 */
export function installFromPyPI(): void {
  const ready = environment();
  const making = `${ready}.${process.pid}`;
  mkdirSync(dirname(ready), { recursive: true });
  try {
    run(["-m", "venv", "--without-pip", making]);
    const target = ["--python", join(making, "bin", "python")];
    const quiet = ["--quiet", "--disable-pip-version-check", "--root-user-action=ignore"];
    run(["-m", "pip", ...target, "install", ...quiet, "--no-deps", "--requirement", REQUIREMENTS]);
    if (!existsSync(ready)) renameSync(making, ready);
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
}

const run = (args: readonly string[]): void =>
  void execFileSync(PYTHON, args, { stdio: ["ignore", "ignore", "inherit"] });

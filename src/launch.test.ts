/** The launcher installs what is missing, and nothing that npm has installed already. */
import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createInterface } from "node:readline";
import { delimiter, dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { tempFolder } from "../test/support/folder.ts";

const { platform, arch } = process;
const glibc = (process.report.getReport() as { header: { glibcVersionRuntime?: string } }).header
  .glibcVersionRuntime;
const [ours, theirs] = glibc === undefined ? ["musl", "glibc"] : ["glibc", "musl"];

type Packages = Record<string, Record<string, unknown>>;

/** One of each kind that a lockfile has. */
const LOCKED: Packages = {
  "": { name: "site" },
  "node_modules/needed": { version: "1.0.0", integrity: "sha512-a" },
  "node_modules/tool": { version: "1.0.0", integrity: "sha512-b", dev: true },
  "node_modules/binary-here": {
    version: "1.0.0",
    optional: true,
    os: [platform],
    cpu: [arch],
    ...(platform === "linux" ? { libc: [ours] } : {}),
  },
  "node_modules/node-here": { version: "1.0.0", optional: true, os: platform, cpu: arch },
  "node_modules/binary-of-another-libc": {
    version: "1.0.0",
    optional: true,
    os: ["linux"],
    cpu: [arch],
    libc: [theirs],
  },
  "node_modules/binary-elsewhere": {
    version: "1.0.0",
    optional: true,
    os: ["aix"],
    cpu: ["ppc64"],
  },
  "node_modules/addon-to-compile": { version: "1.0.0", optional: true },
};
const HERE = ["needed", "tool", "binary-here", "node-here"];

const some = (names: readonly string[]): Packages =>
  Object.fromEntries(
    names.map((name) => [`node_modules/${name}`, LOCKED[`node_modules/${name}`] ?? {}]),
  );

/** A checkout with the launcher, the lockfile, and what npm says that it has installed (null: never). */
function checkout(installed: Packages | null, locked = LOCKED) {
  const root = tempFolder();
  const put = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  put("src/main.ts", 'process.stdout.write("ran");');
  put("package.json", '{ "type": "module" }');
  copyFileSync(join(import.meta.dirname, "launch.mjs"), join(root, "src/launch.mjs"));
  put("package-lock.json", JSON.stringify({ packages: locked }));
  if (installed !== null)
    put("node_modules/.package-lock.json", JSON.stringify({ packages: installed }));
  put("bin/npm", `#!/bin/sh\nmkdir -p node_modules\necho "$1 $2" >> "${join(root, "asked")}"\n`);
  chmodSync(join(root, "bin/npm"), 0o755);
  const run = (...args: string[]) => {
    const { stdout } = spawnSync(process.execPath, [join(root, "src/launch.mjs"), ...args], {
      encoding: "utf8",
      env: { ...process.env, PATH: `${join(root, "bin")}${delimiter}${process.env["PATH"]}` },
    });
    const asked = join(root, "asked");
    const lines = existsSync(asked) ? readFileSync(asked, "utf8").trimEnd().split("\n") : [];
    return {
      ran: stdout === "ran",
      installs: lines.length,
      whole: lines.filter((line) => line !== "ci --omit=dev").length,
    };
  };
  return Object.assign(run, { root, put });
}

test.each<[string, Packages | null, number]>([
  ["npm ci", some(HERE), 0],
  ["npm ci and a package of somebody's own", { ...some(HERE), ...some(["own"]) }, 0],
  ["npm ci --omit=dev", some(["needed", "binary-here", "node-here"]), 0],
  ["nothing", null, 1],
  ["npm ci --omit=optional", some(["needed", "tool"]), 1],
  ["npm ci on another platform", some(["needed", "tool", "binary-elsewhere"]), 1],
  ["npm ci for another libc", some(["needed", "tool", "node-here", "binary-of-another-libc"]), 1],
  [
    "npm ci by an older lockfile",
    { ...some(HERE), "node_modules/needed": { version: "0.9.0", integrity: "sha512-a" } },
    1,
  ],
  [
    "npm ci by a lockfile with other contents of the same version",
    { ...some(HERE), "node_modules/needed": { version: "1.0.0", integrity: "sha512-z" } },
    1,
  ],
])("a command after %s", (_, installed, installs) => {
  const run = checkout(installed);
  expect(run("status")).toMatchObject({ ran: true, installs });
});

test("a developer's command needs what is for developers", () => {
  const production = checkout(some(["needed", "binary-here", "node-here"]));
  expect(production("--node", "src/main.ts")).toMatchObject({ installs: 1 });
  const all = checkout(some(HERE));
  expect(all("--node", "src/main.ts")).toMatchObject({ installs: 0 });
});

test("what npm leaves out of an install of the launcher's own is not installed again and again", () => {
  const run = checkout(null);
  expect(run("status")).toEqual({ ran: true, installs: 1, whole: 0 });
  expect(run("status")).toEqual({ ran: true, installs: 1, whole: 0 });
});

test("a command on a bare clone installs no tool of developers; the first tool does, once", () => {
  const run = checkout(null);
  expect(run("demo")).toEqual({ ran: true, installs: 1, whole: 0 });
  expect(run("--node", "src/main.ts")).toMatchObject({ installs: 2, whole: 1 });
  expect(run("--node", "src/main.ts")).toMatchObject({ installs: 2, whole: 1 });
  expect(run("demo")).toEqual({ ran: true, installs: 2, whole: 1 });
});

test("a launcher that is killed leaves no daemon behind: it is asked to end, as by a signal", async () => {
  const { root, put } = checkout(some(HERE));
  const processes = join(import.meta.dirname, "app/process.ts");
  put(
    "src/main.ts",
    `import { untilSignal } from ${JSON.stringify(processes)};
    const { exitCode } = await untilSignal(async (signal) => {
      const pause = setInterval(() => {}, 1_000);
      console.log(process.pid);
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      clearInterval(pause);
    });
    console.log("ended", exitCode);`,
  );
  mkdirSync(join(root, `node_modules/node-${platform}-${arch}/bin`), { recursive: true });
  symlinkSync(process.execPath, join(root, `node_modules/node-${platform}-${arch}/bin/node`));
  // An older Node, which starts another one.
  const old = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "22.1.0" } })`;
  const launcher = spawn(process.execPath, [
    "--import",
    `data:text/javascript,${encodeURIComponent(old)}`,
    join(root, "src/launch.mjs"),
    "run",
  ]);
  const told: string[] = [];
  onTestFinished(() => {
    const pid = Number(told[0]);
    if (existsSync(`/proc/${pid}`) && told.length === 1) process.kill(pid, "SIGKILL");
  });
  for await (const line of createInterface(launcher.stdout)) {
    told.push(line);
    if (told.length === 1) launcher.kill("SIGKILL");
  }
  expect(Number(told[0])).not.toBe(launcher.pid);
  expect(told[1]).toBe("ended 143");
});

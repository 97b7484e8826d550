/**
 * `npm run package:deb [-- --revision N] [--out FOLDER]`: the Debian package for this machine's architecture. It holds
 * the compiled program, the production dependencies as they are installed here, and the Node of npm. Two runs over the
 * same commit write the same bytes: times are SOURCE_DATE_EPOCH (by default that of the commit), owners root, names sorted.
 *
 * `--program FOLDER` writes the program and its dependencies alone, as the Dockerfile needs them.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { version } from "../src/app/process.ts";

const root = join(import.meta.dirname, "..");
const HOME = "usr/lib/fuelbridge";
const DOCS = "usr/share/doc/fuelbridge";
const ARCHITECTURES: Partial<Record<NodeJS.Architecture, string>> = {
  x64: "amd64",
  arm64: "arm64",
};
/** Paths of the package that are run; all other files are 0644. */
const EXECUTABLE = /^(?:usr\/bin\/|usr\/lib\/fuelbridge\/bin\/|DEBIAN\/(?:postinst|prerm|postrm)$)/;
const { values: given } = parseArgs({
  options: {
    revision: { type: "string", default: "1" },
    out: { type: "string", default: "dist" },
    program: { type: "string" },
  },
});
const tree = mkdtempSync(join(tmpdir(), "fuelbridge-deb-"));
try {
  program();
  if (given.program === undefined) debianPackage();
  else cpSync(join(tree, HOME), resolve(root, given.program), { recursive: true });
} finally {
  rmSync(tree, { recursive: true, force: true });
}

function debianPackage(): void {
  put(`node_modules/node-linux-${process.arch}/bin/node`, `${HOME}/bin/node`);
  put("packaging/debian/fuelbridge.sh", "usr/bin/fuelbridge");
  completions();
  documents();
  put("packaging/systemd/fuelbridge.service", "usr/lib/systemd/system/fuelbridge.service");
  control();
  process.stdout.write(`${pack()}\n`);
}

/** Compiled code, what `npm ci --omit=dev` installs on this platform but for the Node of npm, and what `init` starts from. */
function program(): void {
  const out = join(tree, HOME, "dist");
  const compile = (project: string, ...options: string[]): void =>
    run(process.execPath, [
      join(root, "node_modules/typescript/bin/tsc"),
      "-p",
      join(root, project),
      "--outDir",
      out,
      ...options,
    ]);
  // Source maps would name the folder that it was built in.
  compile("tsconfig.build.json", "--sourceMap", "false");
  compile("tsconfig.types.json");
  for (const path of productionModules()) put(path, join(HOME, path));
  // Of better-sqlite3 only what runs here.
  const sqlite = join(tree, HOME, "node_modules/better-sqlite3");
  const addon = `prebuilds/linux-${process.arch}.node`;
  const others = globSync(["deps", "src", "prebuilds/*.node"], { cwd: sqlite });
  for (const name of others) if (name !== addon) rmSync(join(sqlite, name), { recursive: true });
  // What `fuelbridge init` starts from.
  put("config", `${HOME}/config`);
  write(`${HOME}/package.json`, JSON.stringify({ name: "fuelbridge", version, type: "module" }));
}

/**
 * Folders of the packages that `npm ci --omit=dev` installs on this platform, by npm's own record of what it installed
 * here: with the binaries that are optional dependencies, and without those for other platforms. The optional
 * dependencies of fuelbridge itself are left out: they are the Node of npm, for who has none.
 */
function productionModules(): string[] {
  const { packages } = parsed(join(root, "node_modules/.package-lock.json")) as {
    packages: Readonly<Record<string, { readonly dev?: boolean }>>;
  };
  const { optionalDependencies } = parsed(join(root, "package.json")) as {
    optionalDependencies: Readonly<Record<string, string>>;
  };
  const nodes = new Set(Object.keys(optionalDependencies).map((name) => `node_modules/${name}`));
  return Object.entries(packages)
    .filter(([path, { dev }]) => dev !== true && !nodes.has(path))
    .map(([path]) => path);
}

function parsed(path: string): unknown {
  return JSON.parse(readFileSync(path, "utf8"));
}

function completions(): void {
  const main = join(tree, HOME, "dist/src/main.js");
  for (const [shell, path] of [
    ["bash", "usr/share/bash-completion/completions/fuelbridge"],
    ["zsh", "usr/share/zsh/vendor-completions/_fuelbridge"],
    ["fish", "usr/share/fish/vendor_completions.d/fuelbridge.fish"],
  ] as const)
    write(path, execFileSync(process.execPath, [main, "completion", shell]));
}

function documents(): void {
  for (const name of ["README.md", "ARCHITECTURE.md", "docs"]) put(name, join(DOCS, name));
  put("packaging/systemd/exchange.conf", `${DOCS}/examples/exchange.conf`);
  put("packaging/monitoring", `${DOCS}/monitoring`);
  put("LICENSE", `${DOCS}/copyright`);
  put(`node_modules/node-linux-${process.arch}/LICENSE`, `${DOCS}/copyright.node`);
  write(`${DOCS}/changelog.gz`, gzipSync(readFileSync(join(root, "CHANGELOG.md")), { level: 9 }));
}

function control(): void {
  const files = globSync("**/*", { cwd: tree, withFileTypes: true }).filter((at) => at.isFile());
  const paths = files.map((at) => join(at.parentPath, at.name)).toSorted();
  const sums = paths.map((path) => {
    const sum = createHash("md5").update(readFileSync(path)).digest("hex");
    return `${sum}  ${path.slice(tree.length + 1)}\n`;
  });
  const kibibytes = paths.reduce((sum, path) => sum + Math.ceil(statSync(path).size / 1024), 0);
  const filled = readFileSync(join(root, "packaging/debian/control"), "utf8")
    .replace("@VERSION@", `${version}-${given.revision}`)
    .replace("@ARCHITECTURE@", architecture())
    .replace("@SIZE@", String(kibibytes));
  write("DEBIAN/control", filled);
  write("DEBIAN/md5sums", sums.join(""));
  for (const script of ["postinst", "prerm", "postrm"])
    put(`packaging/debian/${script}`, `DEBIAN/${script}`);
}

/** @returns the path of the package */
function pack(): string {
  for (const at of globSync("**/*", { cwd: tree, withFileTypes: true })) {
    const path = join(at.parentPath, at.name);
    const isRun = at.isDirectory() || EXECUTABLE.test(path.slice(tree.length + 1));
    chmodSync(path, isRun ? 0o755 : 0o644);
  }
  chmodSync(tree, 0o755);
  const name = `fuelbridge_${version}-${given.revision}_${architecture()}.deb`;
  const out = resolve(root, given.out, name);
  mkdirSync(dirname(out), { recursive: true });
  // Every dpkg can read gzip, and it takes a fifth of the time of xz.
  run("dpkg-deb", ["--root-owner-group", "-Zgzip", "-z4", "--build", tree, out], {
    SOURCE_DATE_EPOCH: process.env["SOURCE_DATE_EPOCH"] ?? committedAt(),
  });
  return out;
}

function architecture(): string {
  const name = ARCHITECTURES[process.arch];
  if (process.platform === "linux" && name !== undefined) return name;
  throw new Error(`There is no Debian package for ${process.platform} on ${process.arch}.`);
}

/** Seconds since 1970. */
function committedAt(): string {
  const git = ["log", "-1", "--format=%ct"];
  return execFileSync("git", git, { cwd: root, encoding: "utf8" }).trim();
}

/** Copies a file or a folder of the checkout into the package. */
function put(from: string, to: string): void {
  cpSync(join(root, from), join(tree, to), { recursive: true, dereference: true, filter: isUsed });
}

/**
 * Not what compilers and debuggers read of the dependencies, but for the types that a site's mappings are written with;
 * nor the configuration and the secrets of the checkout's own site.
 */
function isUsed(path: string): boolean {
  if (path === join(root, "config/fuelbridge.yaml") || path === join(root, "config/secrets"))
    return false;
  return !/\.(?:d\.[cm]?ts|map)$/.test(path) || /node_modules\/zod\/.*\.d\.ts$/.test(path);
}

function write(path: string, content: string | Buffer): void {
  mkdirSync(dirname(join(tree, path)), { recursive: true });
  writeFileSync(join(tree, path), content);
}

function run(command: string, args: string[], env: Readonly<Record<string, string>> = {}): void {
  execFileSync(command, args, {
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, ...env },
  });
}

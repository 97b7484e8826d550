#!/usr/bin/env node
// The launcher: plain JavaScript that any Node from 18 on can read. It promises that everything behind it runs
// on Node 24 or newer with the dependencies of the lockfile, or it says what is missing and what to do (exit 3).
//
//   launch.mjs <command> ...          fuelbridge <command>
//   launch.mjs --tool NAME ...        a development tool out of node_modules/.bin (vitest, ...)
//   launch.mjs --script NAME          a script of package.json
//   launch.mjs --node FILE ...        a TypeScript file
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createHash } from "node:crypto";
import module from "node:module";
import { constants } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const OLDEST_MAJOR = 24;
const EXIT_ENVIRONMENT = 3;
/** After the lockfile's hash in the stamp: what only developers need was left out. */
const PRODUCTION = " production";
const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const CLAIM = join(root, ".installing");
/** fuelbridge sees by the channel that we are gone, and ends (src/app/process.ts): a kill is a signal that nobody passes on. */
const HELD = {
  stdio: ["inherit", "inherit", "inherit", "ipc"],
  shell: false,
  env: { FUELBRIDGE_LAUNCHER: String(process.pid) },
};
const inCheckout = existsSync(join(root, "package-lock.json")) && !root.includes("node_modules");
const home = inCheckout || existsSync(join(root, "src", "main.ts")) ? root : join(root, "..");

if (inCheckout) install();
const node = newestNode();
const [first, ...rest] = process.argv.slice(2);
const bin = join(home, "node_modules", ".bin");

if (first === "--tool") start(join(bin, rest[0]), rest.slice(1));
else if (first === "--script") start("npm", ["run", "--silent", ...rest]);
else if (first === "--node") start(node, rest);
else await main();

/** `npm ci`, where npm has not installed yet what the lockfile says; what only developers need, when a tool of theirs starts. */
function install() {
  const stamp = join(root, "node_modules", ".fuelbridge-lock");
  const lock = readFileSync(join(root, "package-lock.json"), "utf8");
  const tool = process.argv[2];
  const withDev = tool === "--tool" || tool === "--script" || tool === "--node";
  const wanted = createHash("sha256")
    .update(lock)
    .update(process.platform + process.arch)
    .digest("hex");
  // After an install of ours nothing is compared: npm may have its reasons to leave out something that is optional. What is
  // complete is compared once: it takes a quarter of what a short command computes.
  const done = () => {
    const stamped = existsSync(stamp) ? readFileSync(stamp, "utf8") : "";
    if (stamped === wanted || (!withDev && stamped === wanted + PRODUCTION)) return true;
    const { packages } = JSON.parse(lock);
    const isWhole = isInstalled(packages, true);
    if (isWhole) remember(stamp, wanted);
    return isWhole || (!withDev && isInstalled(packages, false));
  };
  if (done() || !claimed(done)) return;
  process.stderr.write("fuelbridge: installing the dependencies of package-lock.json (once) ...\n");
  const quiet = ["--no-audit", "--no-fund", "--loglevel=error"];
  const npm = spawnSync("npm", ["ci", ...(withDev ? [] : ["--omit=dev"]), ...quiet], {
    cwd: root,
    stdio: ["ignore", 2, 2],
    shell: process.platform === "win32",
  });
  if (npm.status === 0) writeFileSync(stamp, wanted + (withDev ? "" : PRODUCTION));
  else rmSync(stamp, { force: true });
  rmSync(CLAIM, { force: true });
  if (npm.status !== 0) {
    fail(
      `"npm ci" failed in ${root} (${npm.error ? npm.error.message : "see above"}).`,
      "Check that the npm registry can be reached, then start again.",
    );
  }
}

/** Where we may not write, it is compared each time. */
function remember(stamp, wanted) {
  try {
    writeFileSync(stamp, wanted);
  } catch {
    // The next start compares again.
  }
}

/**
 * Whether npm has installed these packages of the lockfile, by what it has written down of its last install: all that are
 * not optional, and the optional ones that are binaries for this platform. `withDev`: what only developers need, too.
 */
function isInstalled(packages, withDev) {
  let installed;
  try {
    const hidden = join(root, "node_modules", ".package-lock.json");
    installed = JSON.parse(readFileSync(hidden, "utf8")).packages;
  } catch {
    return false;
  }
  return Object.keys(packages).every((path) => {
    const entry = packages[path];
    const isForUs = entry.os !== undefined && entry.cpu !== undefined && fits(entry);
    const isOptional = (entry.optional || entry.devOptional) && !isForUs;
    if (path === "" || isOptional || (entry.dev && !withDev)) return true;
    const there = installed[path];
    return (
      there !== undefined && there.version === entry.version && there.integrity === entry.integrity
    );
  });
}

/** Whether npm would install it on this platform. */
function fits({ os, cpu, libc }) {
  return (
    isOne(process.platform, os) && isOne(process.arch, cpu) && (!libc || isOne(libcHere(), libc))
  );
}

/** `names`: one, a list, or undefined for any. */
function isOne(value, names) {
  return names === undefined || [].concat(names).includes(value);
}

/** As npm calls it. */
function libcHere() {
  if (process.platform !== "linux") return null;
  const { header, sharedObjects } = process.report.getReport();
  if (header.glibcVersionRuntime) return "glibc";
  return sharedObjects.some((path) => path.includes("musl")) ? "musl" : null;
}

/** One install at a time: true when it is ours to do, false when another launcher has done it meanwhile. */
function claimed(done) {
  for (;;) {
    try {
      writeFileSync(CLAIM, String(process.pid), { flag: "wx" });
      if (!done()) return true;
      rmSync(CLAIM, { force: true });
      return false;
    } catch (error) {
      if (error.code !== "EEXIST")
        return fail(
          `The dependencies cannot be installed in ${root}: ${error.message}.`,
          "Run `node src/launch.mjs --version` there once as a user who may write to that folder.",
        );
    }
    if (!holderIsAlive()) rmSync(CLAIM, { force: true });
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
    if (done()) return false;
  }
}

/** False only when the claim names a process that is gone; one that is just being written names none yet. */
function holderIsAlive() {
  try {
    const pid = readFileSync(CLAIM, "utf8");
    return pid === "" || process.kill(Number(pid), 0);
  } catch (error) {
    return error.code !== "ESRCH";
  }
}

/** This Node when it is new enough, else the one that npm installed beside the dependencies. */
function newestNode() {
  if (Number(process.versions.node.split(".")[0]) >= OLDEST_MAJOR) return process.execPath;
  const os = process.platform === "win32" ? "win" : process.platform;
  const binary = process.platform === "win32" ? "node.exe" : "node";
  for (const modules of [join(home, "node_modules"), join(home, "..")]) {
    const candidate = join(modules, `node-${os}-${process.arch}`, "bin", binary);
    if (existsSync(candidate)) return candidate;
  }
  return fail(
    `Node ${OLDEST_MAJOR} or newer is needed; this is ${process.version}, and npm has no Node for ${os}-${process.arch}.`,
    `Install Node ${OLDEST_MAJOR} LTS and start again.`,
  );
}

/** Runs fuelbridge in this process when this Node will do; else in a child that gets every signal we get. */
async function main() {
  // Node strips no types below node_modules, so an installed package runs what was built.
  const source = join(home, "src", "main.ts");
  const isSource = existsSync(source) && !home.includes("node_modules");
  const entry = isSource ? source : join(home, "dist", "src", "main.js");
  // Compiled code is kept beside the modules, where we may write.
  const cache = join(home, "node_modules", ".cache", "fuelbridge");
  if (node !== process.execPath) {
    process.env.NODE_COMPILE_CACHE = process.env.NODE_COMPILE_CACHE || cache;
    // What one thread gives back the others use: else glibc keeps a heap for each.
    process.env.MALLOC_ARENA_MAX = process.env.MALLOC_ARENA_MAX || "2";
    return start(node, ["--max-semi-space-size=4", entry, ...process.argv.slice(2)], HELD);
  }
  module.enableCompileCache?.(process.env.NODE_COMPILE_CACHE ?? cache);
  process.argv[1] = entry;
  await import(pathToFileURL(entry).href);
}

function start(command, args, held = {}) {
  const path = [join(node, ".."), bin, process.env.PATH].join(delimiter);
  const child = spawn(command, args, {
    stdio: "inherit",
    shell: process.platform === "win32",
    ...held,
    env: { ...process.env, PATH: path, ...held.env },
  });
  // A terminal sends Ctrl-C to the child as well; a supervisor signals only us, so SIGTERM is passed on.
  process.on("SIGINT", () => {});
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("error", (error) =>
    fail(`${command}: ${error.message}`, "Run `npm ci` and start again."),
  );
  child.on("exit", (code, signal) => {
    process.exitCode = signal ? 128 + constants.signals[signal] : code;
  });
}

function fail(what, next) {
  process.stderr.write(`fuelbridge: ${what}\n  ${next}\n`);
  process.exit(EXIT_ENVIRONMENT);
}

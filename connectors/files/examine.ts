/**
 * What this user may do in the folders of the exchange, tried where the folders are ours alone and asked for where the
 * ERP looks too: nothing is ever put into those to try it.
 */
import { constants } from "node:fs";
import { access, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Surroundings } from "../../src/core/contract.ts";
import type { Examination, Needs } from "../../src/core/examination.ts";
import type { Fault } from "../../src/core/fault.ts";
import type { FilesConfig, SourceConfig } from "./config.ts";
import { stagingOf } from "./sink.ts";
import { sourceFolder } from "./source.ts";
import { troubleOf } from "./trouble.ts";

/** One line for each folder of the sources and sinks that flows use. */
export async function examineFiles(
  config: FilesConfig,
  root: string,
  surroundings: Surroundings,
  { parts }: Pick<Needs, "parts">,
): Promise<Examination[]> {
  const sources = Object.entries(config.sources).filter(([name]) => parts.has(name));
  const sinks = Object.entries(config.sinks).filter(([name]) => parts.has(name));
  const examinations: Examination[] = [];
  for (const [name, source] of sources) {
    const folder = sourceFolder(source, config, surroundings);
    examinations.push(await looked(`source ${name}: ${folder}`, () => sourceNote(source, folder)));
  }
  for (const [name, sink] of sinks) {
    const folder = resolve(root, sink.folder);
    examinations.push(await looked(`sink ${name}: ${folder}`, () => sinkNote(folder)));
  }
  return examinations;
}

/** Files are listed and read there, and moved into `archive` and `failed`, which are made when the first one comes. */
async function sourceNote(source: SourceConfig, folder: string): Promise<string | null> {
  await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  await expectOwn(folder);
  const made: string[] = [];
  for (const setting of ["archive", "failed"] as const) {
    const target = resolve(folder, source[setting]);
    const isThere = await writable(target);
    if (!isThere) made.push(setting);
    else {
      await tried(target);
      await expectOneFileSystem(folder, target);
    }
  }
  return made.length === 0 ? null : `${made.join(" and ")} will be made with the first file`;
}

/** Files are written in the staging folder and moved from there. */
async function sinkNote(folder: string): Promise<string | null> {
  const staging = stagingOf(folder);
  const there = [await writable(folder), await writable(staging)];
  if (there[1]) await tried(staging);
  if (there.every(Boolean)) await expectOneFileSystem(folder, staging);
  return there.every(Boolean) ? null : "it will be made at the start";
}

/** Is it there, and may files be made in it? Where it is missing, it may be made. @throws what the file system says */
async function writable(folder: string): Promise<boolean> {
  let nearest = folder;
  while ((await kindOf(nearest)) === null) nearest = dirname(nearest);
  if ((await kindOf(nearest)) === "other") throw failure("ENOTDIR", `${nearest} is not a folder`);
  await access(nearest, constants.R_OK | constants.W_OK | constants.X_OK);
  return nearest === folder;
}

async function kindOf(path: string): Promise<"folder" | "other" | null> {
  try {
    return (await stat(path)).isDirectory() ? "folder" : "other";
  } catch (error) {
    if (troubleOf(error).code === "ENOENT") return null;
    throw error;
  }
}

/** Writes a file, renames it, deletes it. Its name is none that is looked for. */
async function tried(folder: string): Promise<void> {
  const one = join(folder, `.fuelbridge-${process.pid}-tried`);
  const other = `${one}-renamed`;
  try {
    await writeFile(one, "tried by fuelbridge doctor\n");
    await rename(one, other);
  } finally {
    for (const path of [one, other]) await rm(path, { force: true });
  }
}

const STICKY = 0o1000;

/** In a folder with this bit only a file's owner may move it away. */
async function expectOwn(folder: string): Promise<void> {
  const { mode, uid } = await stat(folder);
  const me = process.getuid?.() ?? uid;
  if ((mode & STICKY) !== 0 && me !== 0 && me !== uid)
    throw failure("EPERM", `${folder} is sticky (mode t): files of others cannot be moved away`);
}

/** A file is moved by a rename, never copied. */
async function expectOneFileSystem(folder: string, other: string): Promise<void> {
  const [one, two] = [await stat(folder), await stat(other)];
  if (one.dev === two.dev) return;
  throw failure("EXDEV", `${folder} and ${other} are on different file systems`);
}

const failure = (code: string, text: string): Error =>
  Object.assign(new Error(`${code}: ${text}`), { code });

async function looked(what: string, look: () => Promise<string | null>): Promise<Examination> {
  try {
    const note = await look();
    return { what, fault: null, ...(note === null ? {} : { note }) };
  } catch (error) {
    const { code, detail, next } = troubleOf(error);
    const fault: Fault = { code: code.toLowerCase(), message: detail, next };
    return { what, fault };
  }
}

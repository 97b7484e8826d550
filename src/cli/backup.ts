import { copyFileSync, createReadStream, existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { counted } from "../core/text.ts";
import { createHash } from "node:crypto";
import { basename, dirname, join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Command } from "commander";
import { type Config, ownerOf } from "../config/config.ts";
import { ConfigurationError, EnvironmentError, StorageError, StoreInUse } from "../core/errors.ts";
import {
  type Copied,
  examineCopy,
  type ExaminedCopy,
  restoreStore,
  sync,
} from "../store/backup.ts";
import { holderOf } from "../office/remote.ts";
import type { Answer } from "./answer.ts";
import { askOf } from "../app/ask.ts";
import { addCommand, thisPerson } from "./command.ts";
import { loadConfiguration } from "../app/configuration.ts";
import { instant, lined } from "../views/text.ts";

export function backupCommands(program: Command): void {
  addCommand(
    program,
    "backup",
    "copy the store while it works, and examine the copy",
    (given) => backUp(given.file, given.options["to"], given.options["keep"]),
    ({ options }) => (options["to"] === undefined ? "each" : "one"),
  )
    .option("--to <file>", "a new file, or a folder (default: backups in the state folder)")
    .option("--keep <number>", "remove this company's oldest in that folder beyond so many");
  addCommand(
    program,
    "restore <file>",
    "put a backup in the place of the store; the daemon must be stopped",
    async ({ args: [file = ""], file: configuration, options }) => {
      const config = await loadConfiguration(configuration);
      const { state } = config;
      const holder = await holderOf(state);
      if (holder !== null)
        throw new StoreInUse(
          `The store in ${state} is in use by process ${holder}, so nothing was changed.`,
          "Stop the daemon (`systemctl stop fuelbridge`), then restore.",
        );
      const { copy, aside } = restoreStore({
        folder: state,
        file: resolve(file),
        owner: ownerOf(config),
        by: options["by"] ?? thisPerson(),
        atMs: Date.now(),
      });
      const { counts, until } = copy;
      return {
        data: { state, from: resolve(file), aside, ...copy },
        text: lined(
          `The store in ${state} is the backup now: ${counted(counts.delivery, "delivery", "deliveries")}${until === null ? "" : `, until ${instant(until)}`}.`,
          aside && `What was there is kept in ${aside}.`,
          "",
          "1. Put files that the ERP exported since then back into the export folder.",
          "2. Start the daemon. It reads and looks for everything, and sends nothing.",
          "3. fuelbridge now all, then wait until fuelbridge status shows nothing new.",
          "4. Look at fuelbridge quarantine list, then: fuelbridge release restored",
        ),
      };
    },
  ).option("--by <name>", "who restores it (default: this user)");
}

/**
 * The store's process copies; this one examines the copy, so that the daemon goes on meanwhile.
 * @throws StorageError when the copy does not hold what the store held, EnvironmentError when `to` cannot be written
 */
async function backUp(file: string, to?: string, keep?: string): Promise<Answer> {
  const kept = keepOf(keep);
  const target = to === undefined ? null : resolve(to);
  if (to !== undefined) refuseTarget(to);
  const isNamed = target !== null && !isFolder(target);
  if (isNamed && kept !== null)
    throw new ConfigurationError(
      `--keep ${kept} is of a folder, and --to names the file ${target}.`,
      "Name a folder with --to, or leave --keep out.",
    );
  const config = await loadConfiguration(file);
  const copied = await askOf(config, (office) => office.backup(), "backup");
  const copy = proved(config, copied);
  const sha256 = await digestOf(copied.file);
  // A share may have the backups of several companies: each has its label, and removes its own.
  const begins = target === null ? "fuelbridge-" : `fuelbridge-${config.company}-`;
  const name = basename(copied.file).replace("fuelbridge-", begins);
  const place = target === null || isNamed ? target : join(target, name);
  const made = place === null ? copied.file : await moved(copied.file, place, sha256);
  const removed = kept === null ? [] : prune(dirname(made), begins, kept);
  const { counts, until, bytes } = copy;
  return {
    data: { file: made, sha256, ...copy, removed },
    text: [
      `The store is copied to ${made}`,
      `  ${bytes} bytes, SHA-256 ${sha256}`,
      `  ${counted(counts.record, "record")}, ${counted(counts.delivery, "delivery", "deliveries")}, ${counted(counts.request, "request")}, ${counted(counts.link, "link")}${until === null ? "" : `, until ${instant(until)}`}`,
      "  Every page of the copy was examined: it is whole.",
      ...removed.map((old) => `  removed: ${old}`),
      "Keep it on another machine. To put it back: fuelbridge restore FILE",
    ].join("\n"),
  };
}

/** Removed again when it is not what it must be. */
function proved(config: Config, { file, auditBefore, auditAfter }: Copied): ExaminedCopy {
  try {
    const copy = examineCopy(file, "The copy");
    if (copy.company !== config.company || copy.audit < auditBefore || copy.audit > auditAfter)
      throw new StorageError(
        `The copy ${file} does not hold what the store held (audit ${copy.audit}, expected ${auditBefore} to ${auditAfter}).`,
        "Make the backup again; look at the disk when it happens twice.",
      );
    sync(file);
    return copy;
  } catch (error) {
    rmSync(file, { force: true });
    throw error;
  }
}

/** @throws EnvironmentError when something is there already, or the folder is not */
function refuseTarget(to: string): void {
  const target = resolve(to);
  // What ends in a slash is a folder, be it there or not: a share that is not mounted is no file.
  const folder = isFolder(target) || /[/\\]$/.test(to) ? target : dirname(target);
  if (!isFolder(folder))
    throw new EnvironmentError(
      `There is no folder ${folder}.`,
      "Make it, or mount what it is on, or name another one with --to.",
    );
  if (existsSync(target) && !isFolder(target))
    throw new EnvironmentError(
      `${target} is there already, and a backup overwrites nothing.`,
      "Name another file with --to, or a folder.",
    );
}

async function moved(from: string, to: string, sha256: string): Promise<string> {
  try {
    copyFileSync(from, to);
    sync(to);
    if ((await digestOf(to)) === sha256) return to;
    rmSync(to);
  } catch (error) {
    throw new EnvironmentError(
      `The backup cannot be written to ${to} (${(error as Error).message}).`,
      "Check its folder, its rights and free space, then make the backup again.",
      error,
    );
  } finally {
    rmSync(from, { force: true });
  }
  throw new EnvironmentError(
    `What was written to ${to} could not be read back as it was written.`,
    "Check the disk or network that it is on, and make the backup elsewhere.",
  );
}

const isFolder = (path: string): boolean => existsSync(path) && statSync(path).isDirectory();

async function digestOf(file: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
}

/** @throws ConfigurationError for what is no number */
function keepOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw new ConfigurationError(`--keep ${text} is not a number from 1 to 9999.`, "Give one.");
}

/** Names sort by time. Files of another name are somebody else's. */
function prune(folder: string, begins: string, keep: number): string[] {
  const copies = readdirSync(folder).filter(
    (name) => name.startsWith(begins) && STAMPED.test(name.slice(begins.length)),
  );
  const old = copies
    .toSorted()
    .slice(0, -keep)
    .map((name) => join(folder, name));
  for (const file of old) rmSync(file);
  return old;
}

const STAMPED = /^\d{8}T\d{9}Z\.sqlite$/;

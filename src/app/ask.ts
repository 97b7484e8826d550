/** For commands that need what is stored: the running daemon is asked; without one, the store is opened. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Config } from "../config/config.ts";
import { StoreInUse } from "../core/errors.ts";
import type { Office } from "../office/questions.ts";
import { addressFile, answeredOffice, heldBy, remoteOffice } from "../office/remote.ts";
import { loadConfiguration, scrubbed } from "./configuration.ts";

/** How often a store that is held is tried; each takes two seconds. */
const TRIES = 3;

/**
 * `long`: the words after `fuelbridge` of a command that takes long; others can look while it holds the store.
 * @throws StoreInUse when a process holds the store that answers nobody
 */
export async function ask<Result>(
  file: string,
  question: (office: Office) => Promise<Result>,
  long?: string,
): Promise<Result> {
  const state = stateNamedIn(file);
  // The daemon has read the configuration: whoever only asks it need not do so again, unless it was changed since.
  const remote = state === null ? null : await remoteOffice(state);
  if (state !== null && remote !== null) {
    const held = await heldBy(state);
    if (held !== null && held.company !== namedIn(file, "company"))
      await (await import("./examine.ts")).expectState(await loadConfiguration(file));
    await reportBroken(file, state);
    return question(remote);
  }
  return askOf(await loadConfiguration(file), question, long);
}

/**
 * Says on standard error what is wrong with a configuration that was changed after the daemon began: the daemon goes on, and
 * cannot be started again.
 */
async function reportBroken(file: string, state: string): Promise<void> {
  const began = statSync(addressFile(state), { throwIfNoEntry: false });
  if (began === undefined || statSync(file).ctimeMs <= began.mtimeMs) return;
  try {
    await loadConfiguration(file);
  } catch (error) {
    const problem = scrubbed(error instanceof Error ? error.message : String(error));
    process.stderr.write(
      `fuelbridge: The daemon works with the configuration that it read when it began. It could not be started with ${file} as ` +
        `it is now:\n${problem}\n  Correct it before the daemon is started again: fuelbridge check.\n`,
    );
  }
}

/**
 * The state folder that a configuration names in one plain line, as nearly all do. Null: only reading all of it tells, or
 * tells what is wrong.
 */
export function stateNamedIn(file: string): string | null {
  const named = namedIn(file, "state");
  return named === null ? null : resolve(dirname(file), named);
}

function namedIn(file: string, name: "state" | "company"): string | null {
  try {
    const [, quoted, plain] = PLAINLY[name].exec(readFileSync(file, "utf8")) ?? [];
    return quoted ?? plain ?? null;
  } catch {
    return null;
  }
}

/** In quotes without escapes, or plain: nothing is put in for it, and no further line goes on with it. */
const PLAINLY = {
  state: /^state: +(?:"([^"\\$\n]+)"|([\w./][\w./-]*))[ \t]*(?:#.*)?\r?$(?!\r?\n[ \t]+[^\s#])/m,
  company: /^company: +(?:"([a-z\d-]+)"|([a-z\d-]+))[ \t]*(?:#.*)?\r?$/m,
};

/** The same, of a configuration that was read. @throws StoreInUse when a process holds the store that answers nobody */
export async function askOf<Result>(
  config: Config,
  question: (office: Office) => Promise<Result>,
  long?: string,
): Promise<Result> {
  const { office, close } = await officeOf(config);
  try {
    if (long === undefined || close === null) return await question(office);
    return await answering(config, office, long, () => question(office));
  } finally {
    await close?.();
  }
}

/** While `work` goes on, other commands can ask this process what is stored. */
export async function answering<Result>(
  config: Config,
  office: Office,
  command: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const [{ ownerOf }, { serveAdmin }, { readingOffice }, { boundGarbage }] = await Promise.all([
    import("../config/config.ts"),
    import("../office/server.ts"),
    import("../office/questions.ts"),
    import("./process.ts"),
  ]);
  boundGarbage();
  const { state, secrets } = config;
  const admin = await serveAdmin({
    owner: ownerOf(config),
    office: readingOffice(office, command),
    port: 0,
    state,
    secrets,
  });
  try {
    return await work();
  } finally {
    await admin.close();
  }
}

/** `close`: null for the office of another process. */
async function officeOf(
  config: Config,
): Promise<{ office: Office; close: (() => Promise<void>) | null }> {
  for (let tries = 1; ; tries++) {
    const isSilent = existsSync(addressFile(config.state));
    const remote = await remoteOffice(config.state);
    if (remote !== null) return { office: remote, close: null };
    try {
      const { openOffice } = await import("./compose.ts");
      return await openOffice(config);
    } catch (error) {
      // A process that has just opened the store answers soon, as does one that was busy; one that ends lets go of it.
      if (!(error instanceof StoreInUse) || tries === TRIES) throw error;
      if (isSilent && error.holder === null) throw error;
      const answered = error.holder === null ? null : answeredOffice(config.state);
      if (answered !== null) return { office: answered, close: null };
    }
  }
}

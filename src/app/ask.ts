/** For commands that need what is stored: the running daemon is asked; without one, the store is opened. */
import { existsSync } from "node:fs";
import { serveAdmin } from "../office/server.ts";
import { readingOffice } from "../office/questions.ts";
import { answeredOffice, remoteOffice } from "../office/remote.ts";
import { addressFile } from "../office/remote.ts";
import type { Config } from "../config/config.ts";
import { StoreInUse } from "../core/errors.ts";
import type { Office } from "../office/questions.ts";
import { loadConfiguration } from "./configuration.ts";

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
  return askOf(await loadConfiguration(file), question, long);
}

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
  { state, secrets }: Config,
  office: Office,
  command: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const admin = await serveAdmin({
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

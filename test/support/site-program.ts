/** fuelbridge as a process: what it says, waiting for it to say something, and its end. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { root } from "../../src/demo/world.ts";

export interface Said {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

export interface Running {
  readonly pid: number;
  /** Resolves once `text` stands in its output. @throws Error when it ends without */
  said(text: string): Promise<void>;
  kill(signal: NodeJS.Signals): void;
  readonly ended: Promise<Said>;
}

const children = new Set<Running>();

/** None outlives the test process. */
process.once("exit", () => {
  for (const child of children) child.kill("SIGKILL");
});

/** `node src/main.ts ARGS`: the launcher would only look for a Node, and this is one. */
export const fuelbridge = (args: readonly string[], env: Environment = {}): Running =>
  start(root, ["src/main.ts", ...args], env);

/** `node ARGS` here. */
export const program = (args: readonly string[]): Running => start(root, args, {});

/**
 * `node src/launch.mjs ARGS` in a copy of the checkout. The launcher spares memory by collecting garbage more often; with
 * more memory at first, a test of minutes computes less.
 */
export const launch = (home: string, args: readonly string[]): Running =>
  start(home, ["src/launch.mjs", ...args], {}, ["--min-semi-space-size=16"]);

type Environment = Readonly<Record<string, string>>;

function start(
  home: string,
  [file = "", ...args]: readonly string[],
  env: Environment,
  flags: readonly string[] = [],
): Running {
  const { FUELBRIDGE_CONFIG: _, COLUMNS: __, ...clean } = process.env;
  // As the launcher has it. One that is portable knows files by their path from its own folder, which is the same in each copy.
  const compiled = { NODE_COMPILE_CACHE: join(home, "node_modules", ".cache", "fuelbridge") };
  const child = spawn(process.execPath, [...flags, join(home, file), ...args], {
    cwd: home,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...clean, ...compiled, NO_COLOR: "1", ...env },
  });
  let out = "";
  let err = "";
  const listeners = new Set<() => void>();
  const heard = (): void => {
    for (const listener of listeners) listener();
  };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
    heard();
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    err += text;
    heard();
  });
  const ended = new Promise<Said>((resolve) => {
    child.on("close", (code, signal) => {
      children.delete(running);
      resolve({ code, signal, out, err });
      heard();
    });
  });
  const running: Running = {
    pid: child.pid ?? 0,
    kill: (signal) => void child.kill(signal),
    ended,
    said: (text) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = (out + err).includes(text);
          const over = child.exitCode !== null || child.signalCode !== null;
          if (!found && !over) return;
          listeners.delete(look);
          if (found) resolve();
          else reject(new Error(`it ended without saying ${text}: ${out}${err}`));
        };
        listeners.add(look);
        look();
      }),
  };
  children.add(running);
  return running;
}

/** A look costs computing that what is waited for needs: the pauses grow from 5 ms to this. */
const PAUSE_MS_MAX = 50;

/** Looks again and again until it is so. @throws Error after the deadline */
export async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  deadlineMs = 180_000,
): Promise<void> {
  const end = performance.now() + deadlineMs;
  for (let pauseMs = 5; !(await isSo()); pauseMs = Math.min(pauseMs * 1.3, PAUSE_MS_MAX)) {
    if (performance.now() > end) throw new Error(`in vain: waited ${deadlineMs} ms for ${what}`);
    await pause(pauseMs);
  }
}

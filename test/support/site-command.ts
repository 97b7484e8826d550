/**
 * A command of fuelbridge within this process: the same code, words and exit code as the program's, without the half
 * second of computing that a start takes. What a process alone can show is not seen here: signals, and two at a time.
 * src/cli/cli.test.ts and test/story.test.ts start the program itself.
 */
import fs from "node:fs";
import { vi } from "vitest";
import { runProgram } from "../../src/cli/program.ts";
import type { Said } from "./site-program.ts";

let last: Promise<unknown> = Promise.resolve();

/**
 * For a command that ends by itself. Standard output and the exit code are the process's, so commands wait for each other.
 * @param env what it finds in the environment besides this process's own
 */
export function commandHere(
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Said> {
  const said = last.then(() => run(words, env));
  last = said.catch(() => {});
  return said;
}

async function run(words: readonly string[], env: Readonly<Record<string, string>>): Promise<Said> {
  const before = { ...process.env };
  const { exitCode } = process;
  const said = { out: "", err: "" };
  const hear = (stream: NodeJS.WriteStream, name: keyof typeof said) =>
    vi.spyOn(stream, "write").mockImplementation((text) => {
      said[name] += String(text);
      return true;
    });
  const { writeSync } = fs;
  // The log leaves by the descriptor.
  const log = vi.spyOn(fs, "writeSync").mockImplementation((...args: Written) => {
    const [fd, text] = args;
    if (fd !== process.stdout.fd && fd !== process.stderr.fd) return writeSync(...args);
    said[fd === process.stdout.fd ? "out" : "err"] += text;
    return Buffer.byteLength(text);
  });
  const heard = [hear(process.stdout, "out"), hear(process.stderr, "err"), log];
  Object.assign(process.env, { NO_COLOR: "1" }, env);
  if (!("FUELBRIDGE_CONFIG" in env)) delete process.env["FUELBRIDGE_CONFIG"];
  process.exitCode = undefined;
  try {
    await runProgram(words);
    const { exitCode: code } = process;
    return { code: typeof code === "number" ? code : 0, signal: null, ...said };
  } finally {
    for (const one of heard) one.mockRestore();
    process.exitCode = exitCode;
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
    Object.assign(process.env, before);
  }
}

type Written = [fd: number, text: string];

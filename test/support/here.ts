/** A command of the program, carried out in this process: what it writes and its exit code. */
import { vi } from "vitest";
import { complain } from "../../src/cli/answer.ts";
import { commandName } from "../../src/cli/command.ts";
import { commandOf, makeProgram } from "../../src/cli/program.ts";

export interface SaidHere {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Not for commands that run until a signal. One at a time: the streams are the process's own. */
export async function commandHere(...args: string[]): Promise<SaidHere> {
  const said = { out: "", err: "" };
  const out = vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    said.out += String(text);
    return true;
  });
  const err = vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    said.err += String(text);
    return true;
  });
  const before = process.exitCode;
  process.exitCode = 0;
  const program = makeProgram();
  try {
    await program.parseAsync(args, { from: "user" });
  } catch (error) {
    complain(commandName(commandOf(program, args)), args.includes("--json"), error);
  } finally {
    out.mockRestore();
    err.mockRestore();
  }
  const code = process.exitCode;
  process.exitCode = before;
  return { code, ...said };
}

/** What it answers with `--json`. @throws Error with all that it said when it is refused */
export async function askCommand<Data>(...args: string[]): Promise<Data> {
  const said = await commandHere(...args, "--json");
  const envelope = JSON.parse(said.out) as { ok: boolean; data: Data };
  if (!envelope.ok) throw new Error(said.out);
  return envelope.data;
}

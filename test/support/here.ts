/** Commands by their words, and what they answer with `--json`; site-command.ts carries them out in this process. */
import { commandHere as carryOut } from "./site-command.ts";
import type { Said } from "./site-program.ts";

/** Not for commands that run until a signal. */
export const commandHere = (...words: string[]): Promise<Said> => carryOut(words);

/** What it answers with `--json`. @throws Error with all that it said when it is refused */
export async function askCommand<Data>(...words: string[]): Promise<Data> {
  const { out } = await commandHere(...words, "--json");
  const envelope = JSON.parse(out) as { ok: boolean; data: Data };
  if (!envelope.ok) throw new Error(out);
  return envelope.data;
}

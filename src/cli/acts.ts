import type { Command } from "commander";
import { ask } from "../app/ask.ts";
import { type Act, acts } from "../views/acts.ts";
import { addCommand, personIn } from "./command.ts";

/** `now`, `release`, `pause`, `resume`, `accept` and `settle`. */
export function actCommands(program: Command): void {
  for (const act of Object.values<Act>(acts)) {
    const command = addCommand(program, act.usage, act.about, async ({ args, options, file }) => {
      const [name = "", what = ""] = args;
      const { data, told } = await ask(file, (office) =>
        act.work(office, [name, what], personIn(options)),
      );
      return { data, text: told };
    });
    const { says, optional } = act.reason;
    if (optional === true) command.option("--note <text>", says);
    else command.requiredOption("--note <text>", says);
    command.option("--by <name>", "who decided it (default: this user)");
  }
}

import { Argument, type Command } from "commander";
import { addCommand } from "./command.ts";

const SHELLS = ["bash", "zsh", "fish", "powershell"] as const;

/** Prints the script that completes the commands and options of `program`, for one shell. */
export function completion(program: Command): void {
  addCommand(
    program,
    "completion",
    "a script that completes commands and options",
    async ({ args }) => {
      const [{ placesOf }, { scripts }] = await Promise.all([
        import("./completion/words.ts"),
        import("./completion/scripts.ts"),
      ]);
      const shell = args[0] as (typeof SHELLS)[number];
      const script = scripts[shell](placesOf(program));
      return { data: { shell, script }, text: script };
    },
  ).addArgument(new Argument("<shell>", "the shell that reads it").choices(SHELLS));
}

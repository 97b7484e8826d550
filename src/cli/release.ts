import type { Command } from "commander";
import { ask } from "../app/ask.ts";
import { addCommand, configured, explained, thisPerson } from "./command.ts";

export function release(program: Command): void {
  const command = configured(
    addCommand(
      program,
      "release <stop>",
      "clear a stop whose cause is gone (status shows stops)",
      async ({ args, options, file }) => {
        const [stop = ""] = args;
        const data = await ask(file, (office) =>
          office.release(stop, options["by"] ?? thisPerson(), options["note"]),
        );
        return { data, text: `Released: ${data.released}. Work goes on.` };
      },
    ),
  );
  explained(command);
}

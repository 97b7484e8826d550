import type { Command } from "commander";
import { ask } from "./ask.ts";
import { addCommand, configured, thisPerson } from "./command.ts";

/** `settle`: a person has seen to what a source refused; until then it stands in the status. */
export function settle(program: Command): void {
  configured(
    addCommand(
      program,
      "settle <flow> <file>",
      "say that a file which was refused, or cut short, is seen to",
      async ({ args, options, file }) => {
        const [flow = "", what = ""] = args;
        const person = { by: options["by"] ?? thisPerson(), note: options["note"] ?? "" };
        const data = await ask(file, (office) => office.settleUnread(flow, what, person));
        return { data, text: `${data.what} of ${data.flow} is settled.` };
      },
    )
      .requiredOption("--note <text>", "what was done about it; it is kept in the audit")
      .option("--by <name>", "who decided it (default: this user)"),
  );
}

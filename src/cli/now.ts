import type { Command } from "commander";
import { ask } from "../app/ask.ts";
import { addCommand, configured, explained, personIn } from "./command.ts";

export function now(program: Command): void {
  const command = configured(
    addCommand(
      program,
      "now <flow>",
      "have the running daemon look at a flow at once; all for every flow",
      async ({ args, options, file }) => {
        const [flow = ""] = args;
        const data = await ask(file, (office) => office.runNow(flow, personIn(options)));
        return { data, text: `Looking now: ${data.flows.join(", ")}.` };
      },
    ),
  );
  explained(command);
}

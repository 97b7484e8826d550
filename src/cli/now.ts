import type { Command } from "commander";
import { ask } from "./ask.ts";
import { addCommand, configured } from "./command.ts";

export function now(program: Command): void {
  configured(
    addCommand(
      program,
      "now <flow>",
      "have the running daemon look at a flow at once; all for every flow",
      async ({ args, file }) => {
        const [flow = ""] = args;
        const data = await ask(file, (office) => office.runNow(flow));
        return { data, text: `Looking now: ${data.flows.join(", ")}.` };
      },
    ),
  );
}

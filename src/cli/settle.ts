import type { Command } from "commander";
import { ask } from "../app/ask.ts";
import { addCommand, configured, thisPerson } from "./command.ts";
import { counted } from "../views/table.ts";

/** `accept`: a list that was held is right. `settle`: a person has seen to what a source refused. */
export function settle(program: Command): void {
  decided(
    addCommand(
      program,
      "accept <flow>",
      "say that a list which was held is right: it has lost or grown too much to be believed",
      async ({ args, options, file }) => {
        const [flow = ""] = args;
        const data = await ask(file, (office) => office.acceptList(flow, personIn(options)));
        const what =
          data.told === null
            ? "it is taken at the next look"
            : `${counted(data.told, "document")} that it lacks: fuelbridge quarantine list`;
        return { data, text: `The list of ${data.flow} is accepted; ${what}.` };
      },
    ),
    "how that is known; it is kept in the audit",
  );
  decided(
    addCommand(
      program,
      "settle <flow> <file>",
      "say that a file which was refused, or cut short, is seen to",
      async ({ args, options, file }) => {
        const [flow = "", what = ""] = args;
        const data = await ask(file, (office) =>
          office.settleUnread(flow, what, personIn(options)),
        );
        return { data, text: `${data.what} of ${data.flow} is settled.` };
      },
    ),
    "what was done about it; it is kept in the audit",
  );
}

const decided = (command: Command, note: string): Command =>
  configured(
    command
      .requiredOption("--note <text>", note)
      .option("--by <name>", "who decided it (default: this user)"),
  );

const personIn = (options: Readonly<Record<string, string | undefined>>) => ({
  by: options["by"] ?? thisPerson(),
  note: options["note"] ?? "",
});

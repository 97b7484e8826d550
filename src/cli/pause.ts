import type { Command } from "commander";
import type { Office } from "../office/questions.ts";
import { ask } from "../app/ask.ts";
import { addCommand, configured, thisPerson } from "./command.ts";

type Change = (
  office: Office,
  flow: string,
  person: { by: string; note: string },
) => Promise<{ flow: string }>;

/** `pause` and `resume`: by a person, kept over a restart. */
export function pause(program: Command): void {
  change(
    program,
    "pause <flow>",
    "have a flow read and send nothing until it is resumed",
    (office, flow, person) => office.pause(flow, person),
    "is paused; to let it go on: fuelbridge resume",
  );
  change(
    program,
    "resume <flow>",
    "let a paused flow go on",
    (office, flow, person) => office.goOn(flow, person),
    "goes on",
  );
}

function change(
  program: Command,
  usage: string,
  description: string,
  work: Change,
  told: string,
): void {
  configured(
    addCommand(program, usage, description, async ({ args, options, file }) => {
      const [flow = ""] = args;
      const person = { by: options["by"] ?? thisPerson(), note: options["note"] ?? "" };
      const data = await ask(file, (office) => work(office, flow, person));
      return { data, text: `${data.flow} ${told}.` };
    })
      .requiredOption("--note <text>", "why; it is kept in the audit")
      .option("--by <name>", "who decided it (default: this user)"),
  );
}

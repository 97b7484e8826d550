import type { Command } from "commander";
import type { Trace } from "../report/office.ts";
import { ask } from "./ask.ts";
import { addCommand, configured } from "./command.ts";
import { instant, table } from "./table.ts";

export function trace(program: Command): void {
  configured(
    addCommand(
      program,
      "trace <number>",
      "the story of an invoice, ticket, order or party, by any of its numbers",
      async ({ file, args: [number = ""] }) => {
        const data = await ask(file, (office) => office.trace(number));
        return { data, text: inWords(data) };
      },
    ),
  );
}

function inWords({ number, steps }: Trace): string {
  if (steps.length === 0)
    return `Nothing is known about ${number}. Is it the number as it stands on the document?`;
  return table(
    ["WHEN", "FLOW", "WHAT", "DETAIL", "PLATFORM", "ERP"],
    steps.map((step) => [
      instant(step.at),
      step.flow,
      step.event,
      step.detail,
      step.platformId ?? "-",
      step.erpId ?? "-",
    ]),
  );
}

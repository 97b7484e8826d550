import type { Command } from "commander";
import type { Trace, TraceStep } from "../report/office.ts";
import { ask } from "./ask.ts";
import { addCommand, configured } from "./command.ts";
import { counted, instant, table } from "./table.ts";

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
  const story = table(
    ["WHEN", "FLOW", "WHAT", "DETAIL", "PLATFORM", "ERP"],
    steps.map((step) => [
      instant(step.at),
      step.flow,
      step.event,
      detailOf(step),
      step.platformId ?? "-",
      step.erpId ?? "-",
    ]),
  );
  if (steps.every(({ own }) => own === null)) return story;
  return `${story}\n\nIt went with others: fuelbridge trace ${number} --json has what was said of them, too.`;
}

const detailOf = ({ detail, own }: TraceStep): string =>
  own === null ? detail : `${own.detail} (with ${counted(own.others, "other")})`;

import type { Command } from "commander";
import type { Trace, TraceStep } from "../office/answers.ts";
import { ask } from "../app/ask.ts";
import { addCommand, configured } from "./command.ts";
import { counted, instant, table } from "../views/table.ts";

export function trace(program: Command): void {
  configured(
    addCommand(
      program,
      "trace <number>",
      "the story of an invoice, ticket, order or party, by any of its numbers",
      async ({ file, args: [number = ""] }) => {
        const data = await ask(file, (office) => office.trace(number));
        return { data, text: storyInWords(data) };
      },
    ),
  );
}

/** Where all of it is one document, its ids are said once. */
export function storyInWords({ number, steps, groups }: Trace): string {
  const ids = new Set(steps.map(({ platformId, erpId }) => `${platformId ?? ""} ${erpId ?? ""}`));
  const [{ platformId, erpId } = NOBODY] = steps;
  const columns = ids.size === 1 ? [] : ["PLATFORM", "ERP"];
  return [
    ...(ids.size === 1
      ? [platformId === null ? UNLINKED : `platform ${platformId}, ERP ${erpId}`, ""]
      : []),
    table(
      ["WHEN", "FLOW", "WHAT", "DETAIL", ...columns],
      steps.map((step) => [
        instant(step.at),
        step.flow,
        step.event,
        detailOf(step),
        ...(ids.size === 1 ? [] : [step.platformId ?? "-", step.erpId ?? "-"]),
      ]),
    ),
    ...(steps.some(({ own }) => own !== null)
      ? [
          "",
          `It went with others: fuelbridge trace ${number} --json has what was said of them, too.`,
        ]
      : []),
    ...groups.flatMap((group) => ["", `It is in quarantine: fuelbridge quarantine show ${group}`]),
  ].join("\n");
}

const NOBODY = { platformId: null, erpId: null };
const UNLINKED = "No number of the other side is known for it.";

const detailOf = ({ detail, own }: TraceStep): string =>
  own === null ? detail : `${own.detail} (with ${counted(own.others, "other")})`;

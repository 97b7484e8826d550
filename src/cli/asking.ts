/** `status`, `trace` and `find`: a question, and its answer as text. */
import type { Command } from "commander";
import { ask } from "../app/ask.ts";
import type { Found, Trace, TraceStep } from "../office/answers.ts";
import { statusText } from "../views/status.ts";
import { counted, instant, table } from "../views/table.ts";
import { addCommand } from "./command.ts";

export function askingCommands(program: Command): void {
  addCommand(program, "status", "is anything wrong? what waits?", async ({ file }) => {
    const data = await ask(file, (office) => office.status());
    return { data, text: statusText(data) };
  });
  addCommand(
    program,
    "trace <number>",
    "the story of an invoice, ticket, order or party, by any of its numbers",
    async ({ file, args: [number = ""] }) => {
      const data = await ask(file, (office) => office.trace(number));
      return { data, text: storyInWords(data) };
    },
  );
  addCommand(
    program,
    "find <text>",
    "documents by number or its beginning, id, party, amount or day",
    async ({ args: [text = ""], options, file }) => {
      const asked = { text, before: options["before"] ?? null };
      const data = await ask(file, (office) => office.documents(asked));
      return { data, text: foundText(data, text) };
    },
  ).option("--before <id>", "the next page: what the page before names at its end");
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

function foundText({ documents, next, unsearched }: Found, text: string): string {
  const rows = documents.map(({ flow, receivedAt, summary }) => [
    instant(receivedAt),
    flow,
    summary,
  ]);
  return [
    rows.length === 0 ? `Nothing is known for ${text}.` : table(["CAME", "FLOW", "DOCUMENT"], rows),
    ...(next === null
      ? []
      : ["", `Older ones: fuelbridge find ${JSON.stringify(text)} --before ${next}`]),
    ...(unsearched === 0
      ? []
      : ["", `${unsearched} newer documents cannot be found by party, amount and day yet.`]),
  ].join("\n");
}

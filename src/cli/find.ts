import type { Command } from "commander";
import type { Found } from "../office/answers.ts";
import { ask } from "../app/ask.ts";
import { addCommand, configured } from "./command.ts";
import { instant, table } from "../views/table.ts";

export function find(program: Command): void {
  configured(
    addCommand(
      program,
      "find <text>",
      "documents by number or its beginning, id, party, amount or day",
      async ({ args, options, file }) => {
        const [text = ""] = args;
        const asked = { text, before: options["before"] ?? null };
        const data = await ask(file, (office) => office.documents(asked));
        return { data, text: inWords(data, text) };
      },
    ).option("--before <id>", "the next page: what the page before names at its end"),
  );
}

function inWords({ documents, next, unsearched }: Found, text: string): string {
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

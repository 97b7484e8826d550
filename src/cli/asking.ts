/** Questions of the office, as commands: the answer is told in the blocks that the console shows, too. */
import type { Command } from "commander";
import { ask } from "../app/ask.ts";
import type { Blocks } from "../views/blocks.ts";
import { foundView, traceView } from "../views/documents.ts";
import { statusText } from "../views/status.ts";
import { asText } from "../views/text.ts";
import type { Office } from "../office/questions.ts";
import { addCommand, type Given } from "./command.ts";

export function askingCommands(program: Command): void {
  addCommand(program, "status", "is anything wrong? what waits?", async ({ file }) => {
    const data = await ask(file, (office) => office.status());
    return { data, text: statusText(data) };
  });
  question(
    program,
    "trace <number>",
    "the story of an invoice, ticket, order or party, by any of its numbers",
    (office, { args: [number = ""] }) => office.trace(number),
    traceView,
  );
  question(
    program,
    "find <text>",
    "documents by number or its beginning, id, party, amount or day",
    (office, { args: [text = ""], options }) =>
      office.documents({ text, before: options["before"] ?? null }),
    (found, { args: [text = ""] }) => foundView(found, text),
  ).option("--before <id>", "the next page: what the page before names at its end");
}

/** A command that asks, and shows the answer. */
export function question<Data>(
  parent: Command,
  usage: string,
  about: string,
  asked: (office: Office, given: Given) => Promise<Data>,
  view: (data: Data, given: Given) => Blocks,
): Command {
  return addCommand(parent, usage, about, async (given) => {
    const data = await ask(given.file, (office) => asked(office, given));
    return { data, text: asText(view(data, given)) };
  });
}

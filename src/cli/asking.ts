/** Questions of the office, as commands: the answer is told in the blocks that the console shows, too. */
import { type Command, Option } from "commander";
import { ask } from "../app/ask.ts";
import { ConfigurationError } from "../core/errors.ts";
import { documentStates, Searching } from "../office/asked.ts";
import type { Blocks } from "../views/blocks.ts";
import { documentsTable, foundView, traceView } from "../views/documents.ts";
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
  addCommand(
    program,
    "find [text]",
    "documents by number or its beginning, id, party, amount, day or month",
    async ({ file, args: [text = null], options }) => {
      const { before = null, csv, month, ...filters } = options;
      const asked = { text, before, ...monthIn(month), ...filters, limit: csv ? 500 : 50 };
      const found = await ask(file, (office) => office.documents(Searching.parse(asked)));
      const what = [text, month, ...Object.values(filters)].filter(Boolean).join(", ");
      return {
        data: found,
        text: csv
          ? (await import("../views/csv.ts")).asCsv(documentsTable(found, "", null))
          : asText(foundView(found, what)),
      };
    },
  )
    .option("--flow <name>", "of one flow")
    .addOption(
      new Option("--state <state>", "where they stand").choices([...documentStates, "all"]),
    )
    .option("--party <text>", "a part of the party's code or name")
    .option("--month <month>", "of this month, by their own day: 2026-10")
    .option("--least <amount>", "of this amount or more")
    .option("--most <amount>", "of this amount or less")
    .addOption(
      new Option("--order <order>", "the newest, the last or the largest first").choices([
        "came",
        "day",
        "amount",
      ]),
    )
    .option("--csv", "as a file for spreadsheets, 500 of them")
    .option("--before <place>", "the next page: what the page before names at its end");
}

/** @throws ConfigurationError */
function monthIn(month: string | undefined) {
  if (month === undefined) return {};
  if (/^\d{4}-\d\d$/.test(month)) return { from: `${month}-01`, to: `${month}-31` };
  throw new ConfigurationError(`"${month}" is no month.`, "Write it as 2026-10.");
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

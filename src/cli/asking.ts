/** Questions of the office, as commands: the answer is told in the blocks that the console shows, too. */
import { type Command, Option } from "commander";
import { ask } from "../app/ask.ts";
import { ConfigurationError, exitCodes } from "../core/errors.ts";
import { documentStates, orders } from "../core/record.ts";
import type { Searching } from "../office/asked.ts";
import type { Blocks, Table } from "../views/blocks.ts";
import { monthEndView, driftView, statusText } from "../views/status.ts";
import { documentsTable, foundView, traceView, missingTable } from "../views/documents.ts";
import { asText, inLine } from "../views/text.ts";
import type { Office } from "../office/questions.ts";
import type { Answer } from "./answer.ts";
import { addCommand, type Given, oneIfCsv } from "./command.ts";

export function askingCommands(program: Command): void {
  addCommand(
    program,
    "status",
    "is anything wrong? what waits?",
    async ({ file }) => {
      const data = await ask(file, (office) => office.status());
      return { data, text: statusText(data) };
    },
    "each",
  );
  question(
    program,
    "trace <number>",
    "the story of an invoice, ticket, order or party, by any of its numbers",
    (office, { args: [number = ""] }) => office.trace(number),
    (story, { options }) => traceView(story, options["technical"] !== undefined),
  ).option("--technical", "with requests, answers and ids, for whoever runs fuelbridge");
  question(
    program,
    "drift",
    "what the platform's records have that its contract does not know",
    (office) => office.drift(),
    driftView,
  );
  question(
    program,
    "month-end [month]",
    "may the month be closed? every point with its number; by default the last month",
    (office, { args: [month] }) => {
      expectMonth(month);
      return office.monthEnd(month ?? null);
    },
    monthEndView,
  );
  addCommand(
    program,
    "find [text]",
    "documents by number or its beginning, id, party, amount, day or month",
    async ({ file, args: [text = null], options }) => {
      const { before = null, csv, ...filters } = options;
      expectMonth(filters["month"]);
      const asked = { text, before, ...filters } as Searching;
      if (csv) return documentsFile(file, asked);
      const found = await ask(file, (office) => office.documents(asked));
      const what = [text, ...Object.values(filters)].filter(Boolean).join(", ");
      return { data: found, text: asText(foundView(found, what)) };
    },
    oneIfCsv,
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
      new Option(
        "--order <order>",
        "the newest, last or largest first; numbers and parties from A to Z",
      ).choices(orders),
    )
    .option("--csv", "all of them as a file for spreadsheets")
    .option("--before <place>", "the next page: what the page before names at its end");
}

/** `find --csv`. Whoever adds up a file that is not all of them must know it. */
async function documentsFile(file: string, asked: Searching): Promise<Answer> {
  const [{ wholeOf }, { asCsv }] = await Promise.all([
    import("../office/documents.ts"),
    import("../views/csv.ts"),
  ]);
  const { isAll, ...found } = await ask(file, (office) => wholeOf(office.documents, asked));
  const answer = { data: found, text: asCsv(documentsTable(found, "", null)) };
  if (isAll) return answer;
  process.stderr.write(
    `fuelbridge: These are not all documents that fit: the newest ${found.documents.length}` +
      `${found.unsearched > 0 ? `, and ${found.unsearched} newer ones cannot be chosen yet` : ""}.\n` +
      "  Choose a party, a month or amounts, or give the command again in a minute.\n",
  );
  return { ...answer, exitCode: exitCodes.runtime };
}

/** `crossref missing`: every row that documents wait for, as a file for spreadsheets. */
export function crossref(program: Command): void {
  const parent = program.command("crossref").description("the cross-reference tables");
  addCommand(parent, "missing", "rows that documents wait for, as CSV", async ({ file }) => {
    const missing = missingTable(await ask(file, (office) => office.tables()));
    const { asCsv } = await import("../views/csv.ts");
    return { data: { missing: rowsOf(missing) }, text: asCsv(missing) };
  });
}

/** By the titles of the columns. */
const rowsOf = ({ columns, rows }: Table) =>
  rows.map((row) =>
    Object.fromEntries(columns.map(({ title }, at) => [title.toLowerCase(), inLine(row[at])])),
  );

/** @throws ConfigurationError for what is no month */
function expectMonth(month: string | undefined): void {
  if (month !== undefined && !/^\d{4}-\d\d$/.test(month))
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
  return addCommand(
    parent,
    usage,
    about,
    async (given) => {
      const data = await ask(given.file, (office) => asked(office, given));
      return { data, text: asText(view(data, given)) };
    },
    "each",
  );
}

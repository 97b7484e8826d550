import { type Command, InvalidArgumentError } from "commander";
import { exitCodes } from "../core/errors.ts";
import type { Direction } from "../match/papers.ts";
import { ask } from "../app/ask.ts";
import { findingsCsv, matchView } from "../views/match.ts";
import { asText } from "../views/text.ts";
import { addCommand, thisPerson } from "./command.ts";

/** Orders, tickets, invoices and prices that are stored, compared; nobody is asked. Exit 0 only when nothing is found. */
export function match(program: Command): void {
  addCommand(
    program,
    "match",
    "are orders, delivery tickets, invoices and prices in step? every gallon, from the store alone",
    async ({ file, options, json }) => {
      const { from = null, to = null, party = null } = options;
      const direction = (options["direction"] ?? null) as Direction | null;
      const report = await ask(
        file,
        (office) => office.match({ from, to, party, direction, by: thisPerson() }),
        "match",
      );
      return {
        data: json ? report : null,
        text:
          options["csv"] === undefined ? asText(matchView(report)) : findingsCsv(report.findings),
        exitCode: report.findings.length === 0 ? exitCodes.ok : exitCodes.runtime,
      };
    },
  )
    .option("--from <day>", "the first day (default: as many back as match.days says)")
    .option("--to <day>", "the last day (default: today)")
    .option("--party <text>", "one party: its id, or a part of its name or code")
    .option(
      "--direction <direction>",
      "sale (what we bill) or purchase (what we are billed)",
      either,
    )
    .option("--csv", "answer with one row for each finding");
}

function either(text: string): string {
  if (text === "sale" || text === "purchase") return text;
  throw new InvalidArgumentError("sale or purchase");
}

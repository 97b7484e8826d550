import { writeFileSync } from "node:fs";
import { basename } from "node:path";
import type { Command } from "commander";
import { EnvironmentError, exitCodes } from "../core/errors.ts";
import { asCsv } from "../reconcile/csv.ts";
import { agreementJournal, periodJournal } from "../reconcile/journal.ts";
import type { Report } from "../reconcile/report.ts";
import { asText } from "../reconcile/text.ts";
import type { ReconcileCost } from "../report/office.ts";
import { ask } from "./ask.ts";
import { addCommand, configured, type Given, thisUser } from "./command.ts";
import { counted, table } from "./table.ts";

/**
 * Asks both sides as they are now. Standard output has the answer alone; what it costs is said on standard error before
 * the first request. Exit 0 only when every case is equal, void on both or out of scope.
 */
export function reconcile(program: Command): void {
  configured(
    addCommand(
      program,
      "reconcile",
      "do both sides agree, as they are now? document by document, to the cent",
      async ({ file, options, json }) => {
        const { from = null, to = null, flow = null, journal } = options;
        const asked = { from, to, flow, by: thisUser() };
        const report = await ask(file, async (office) => {
          process.stderr.write(inWords(await office.reconcileCost(asked)));
          return office.reconcile(asked);
        });
        const written = journal === undefined ? [] : writeJournals(report, journal);
        return {
          data: json ? report : null,
          text: [textOf(report, options), ...written].join("\n"),
          exitCode: report.agrees ? exitCodes.ok : exitCodes.runtime,
        };
      },
    )
      .option("--from <day>", "the first day (default: the first of this month)")
      .option("--to <day>", "the last day (default: today)")
      .option("--flow <name>", "the kind of records of one flow alone")
      .option("--csv", "answer with one row for each case")
      .option("--journal <file>", "write the period as a journal that hledger checks"),
  );
}

const textOf = (report: Report, options: Given["options"]): string =>
  options["csv"] === undefined ? asText(report, table) : asCsv(report);

const inWords = ({ from, to, requests, left }: ReconcileCost): string =>
  `Reconciling ${from} to ${to} takes about ${counted(requests, "request")} to the platform, and one for each ` +
  `difference; ${left} are left for it this month.\n`;

/** The agreement journal includes the other: both stand in one folder. @throws EnvironmentError */
function writeJournals(report: Report, file: string): string[] {
  const agreement = `${file.replace(/\.journal$/, "")}-agreement.journal`;
  const files = [
    [file, periodJournal(report)],
    [agreement, agreementJournal(report, basename(file))],
  ] as const;
  try {
    for (const [path, text] of files) writeFileSync(path, text);
  } catch (error) {
    throw new EnvironmentError(
      `The journal ${file} cannot be written (${(error as Error).message}).`,
      "Name a file in a folder that can be written to.",
      error,
    );
  }
  return [
    "",
    `hledger -f ${file} check -s ordereddates: the sums, by another program`,
    `hledger -f ${agreement} check: passes only when both sides agree`,
  ];
}

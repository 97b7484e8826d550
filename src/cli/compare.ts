import { writeFileSync } from "node:fs";
import { basename } from "node:path";
import { type Command, Option } from "commander";
import { EnvironmentError, exitCodes, ConfigurationError } from "../core/errors.ts";
import { agreementJournal, asCsv, periodJournal } from "../reconcile/evidence.ts";
import type { Report } from "../reconcile/report.ts";
import type { KnownDifferences } from "../office/answers.ts";
import type { Office } from "../office/questions.ts";
import { ask } from "../app/ask.ts";
import { addCommand, type Given, oneIfCsv, thisPerson } from "./command.ts";
import type { Answer } from "./answer.ts";
import { watching, type Stand } from "../app/progress.ts";
import { costView, knownView, reportText } from "../views/reconciliation.ts";
import { asText, inLine } from "../views/text.ts";
import type { Direction } from "../match/papers.ts";
import { findingsCsv, matchView } from "../views/match.ts";
import { BACKFILL_SHARE } from "../office/asked.ts";
import { backfillCostText, backfilledView, backfillsView } from "../views/acts.ts";

/**
 * Asks both sides as they are now. Standard output has the answer alone; what it costs is said on standard error before
 * the first request. Exit 0 only when every case is equal, void, out of scope or accepted by a person.
 */
export function reconcile(program: Command): void {
  addCommand(
    program,
    "reconcile",
    "do both sides agree, as they are now? document by document, to the cent",
    async ({ file, options, json }) => {
      const { from = null, to = null, flow = null, journal } = options;
      if (options["last"] !== undefined)
        return known(await ask(file, (office) => office.differences()));
      const asked = { from, to, flow, by: thisPerson() };
      const reconciled = async (office: Office): Promise<Report> => {
        const cost = await office.reconcileCost(asked);
        process.stderr.write(`${asText(costView(cost))}\n`);
        return watched(office, cost.requests, () => office.reconcile(asked));
      };
      const report = await ask(file, reconciled, "reconcile");
      const written = journal === undefined ? [] : writeJournals(report, journal);
      return {
        data: json ? report : null,
        text: [textOf(report, options), ...written].join("\n"),
        exitCode: report.agrees ? exitCodes.ok : exitCodes.runtime,
      };
    },
    (given) => (given.options["journal"] === undefined ? oneIfCsv(given) : "one"),
  )
    .option(
      "--from <day>",
      "the first day (default: the first of this month; up to the 10th, of the month before)",
    )
    .option("--to <day>", "the last day (default: today)")
    .option("--flow <name>", "the kind of records of one flow alone")
    .option("--last", "what earlier runs found and is not settled; asks neither side")
    .option("--csv", "answer with one row for each case")
    .option("--journal <file>", "write the period as a journal that hledger checks");
}

/** Exit 0 only when nothing is known to differ but what a person has accepted. */
const known = (found: KnownDifferences): Answer => ({
  data: found,
  text: asText(knownView(found, "")),
  exitCode: found.differences.length === 0 ? exitCodes.ok : exitCodes.runtime,
});

/** Of the requests, whoever makes them: a running daemon, or this process. */
async function watched(office: Office, requests: number, work: () => Promise<Report>) {
  const used = async (): Promise<number> =>
    (await office.budget()).purposes.find(({ purpose }) => purpose === "audit")?.used ?? 0;
  const before = process.stderr.isTTY ? await used() : 0;
  return watching(async () => {
    const count = (await used()) - before;
    const share = Math.min(count / Math.max(requests, 1), 0.99);
    return { what: "reconciling", count, unit: "requests", share };
  }, work);
}

const textOf = (report: Report, options: Given["options"]): string =>
  options["csv"] === undefined ? reportText(report) : asCsv(report);

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
      const exitCode = report.findings.length === 0 ? exitCodes.ok : exitCodes.runtime;
      if (json) return { data: report, text: "", exitCode };
      const isCsv = options["csv"] !== undefined;
      const text = isCsv ? findingsCsv(report.findings) : asText(matchView(report));
      return { data: null, text, exitCode };
    },
    oneIfCsv,
  )
    .option("--from <day>", "the first day (default: as many back as match.days says)")
    .option("--to <day>", "the last day (default: today)")
    .option("--party <text>", "one party: its id, or a part of its name or code")
    .addOption(
      new Option(
        "--direction <direction>",
        "sale (what we bill) or purchase (what we are billed)",
      ).choices(["sale", "purchase"]),
    )
    .option("--csv", "answer with one row for each finding");
}

/**
 * Reads a past period anew. What it costs is said on standard error before the first page. Exit 0 only when it is done;
 * given again, the same command goes on where it was.
 */
export function backfill(program: Command): void {
  addCommand(
    program,
    "backfill [flow]",
    "read a past period anew, beside the live position; without a flow: what was read so",
    async (given) => {
      const [flow] = given.args;
      if (flow === undefined) {
        const backfills = await ask(given.file, (office) => office.backfills());
        return { data: { backfills }, text: asText(backfillsView(backfills)) };
      }
      const asked = askedBy(flow, given.options);
      const done = await ask(
        given.file,
        async (office) => {
          const cost = await office.backfillCost(asked);
          process.stderr.write(`${inLine(backfillCostText(asked, cost))}\n`);
          return watching(
            () => standOf(office),
            () => office.backfill(asked),
          );
        },
        "backfill",
      );
      return {
        data: done,
        text: asText(backfilledView(done)),
        exitCode: done.state === "done" ? exitCodes.ok : exitCodes.runtime,
      };
    },
  )
    .option("--from <day>", "the first day, for example 2026-10-01")
    .option("--to <day>", "the last day")
    .option("--note <text>", "why; it is kept in the audit")
    .option("--by <name>", "who asked for it (default: this user)")
    .option(
      "--share <percent>",
      `how much of the month's requests backfills may use (default: ${BACKFILL_SHARE})`,
    );
}

/** @throws ConfigurationError when something is not given */
function askedBy(flow: string, options: Given["options"]) {
  const { from, to, note, by = thisPerson(), share = String(BACKFILL_SHARE) } = options;
  if (from === undefined || to === undefined || note === undefined)
    throw new ConfigurationError(
      "The period, and why it is read anew, are not given.",
      `fuelbridge backfill ${flow} --from 2026-10-01 --to 2026-10-31 --note "why"`,
    );
  return { flow, from, to, note, by, share: Number(share) };
}

/** Whoever reads: a running daemon, or this process. */
async function standOf(office: Office): Promise<Stand | null> {
  const now = (await office.backfills()).find(({ state }) => state === "reading");
  if (now === undefined) return null;
  const { flow, records: count, done: share } = now;
  return { what: `${flow}: backfill`, count, unit: "records", share };
}

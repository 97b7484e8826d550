import type { Command } from "commander";
import { ConfigurationError, exitCodes } from "../core/errors.ts";
import { BACKFILL_SHARE } from "../office/asked.ts";
import type { BackfillCost, BackfillState } from "../office/answers.ts";
import type { Office } from "../office/questions.ts";
import type { Answer } from "./answer.ts";
import { ask } from "../app/ask.ts";
import { addCommand, type Given, thisPerson } from "./command.ts";
import { type Stand, watching } from "../app/progress.ts";
import { counted, instant, table } from "../views/table.ts";

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
      if (flow === undefined) return listed(await ask(given.file, (office) => office.backfills()));
      const asked = askedBy(flow, given.options);
      const done = await ask(
        given.file,
        async (office) => {
          process.stderr.write(inWords(asked, await office.backfillCost(asked)));
          return watching(
            () => standOf(office),
            () => office.backfill(asked),
          );
        },
        "backfill",
      );
      return told(done);
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

function inWords(
  { flow, from, to, share }: ReturnType<typeof askedBy>,
  { records, requests, left, goesOn }: BackfillCost,
): string {
  const takes =
    requests === null
      ? "The platform does not say how many records it has to go through"
      : `It takes about ${counted(requests, "request")} to the platform for ${counted(records ?? 0, "record")} that changed since, ` +
        "and one more for each record that the list shows in part";
  return (
    `${goesOn ? "Going on with" : "Reading"} ${flow} from ${from} to ${to}. ${takes}; ` +
    `${left} are left for it this month (--share ${share}).\n`
  );
}

/** Whoever reads: a running daemon, or this process. */
async function standOf(office: Office): Promise<Stand | null> {
  const now = (await office.backfills()).find(({ state }) => state === "reading");
  if (now === undefined) return null;
  const { flow, records: count, done: share } = now;
  return { what: `${flow}: backfill`, count, unit: "records", share };
}

function told(done: BackfillState): Answer {
  const { flow, from, to, records, received, requests, trouble } = done;
  const brought =
    `${counted(records, "record")} of the period, ${received} of them new or changed, ` +
    `in ${counted(requests, "request")}`;
  const text =
    done.state === "done"
      ? [
          `${flow} was read from ${from} to ${to}: ${brought}.`,
          "The live position is where it was. What is new is delivered by the daemon, or by `fuelbridge once`.",
        ]
      : [
          `${flow} from ${from} to ${to} is paused. So far: ${brought}.`,
          ...(trouble === null ? [] : [trouble.message, `  next: ${trouble.next}`]),
        ];
  return {
    data: done,
    text: text.join("\n"),
    exitCode: done.state === "done" ? exitCodes.ok : exitCodes.runtime,
  };
}

function listed(backfills: readonly BackfillState[]): Answer {
  const rows = backfills.map((one) => [
    instant(one.beganAt),
    one.flow,
    `${one.from} to ${one.to}`,
    one.trouble === null ? one.state : `${one.state}: ${one.trouble.message}`,
    one.done === null ? "-" : `${Math.floor(one.done * 100)} %`,
    String(one.records),
    String(one.received),
    String(one.requests),
  ]);
  const header = ["BEGAN", "FLOW", "PERIOD", "STATE", "DONE", "RECORDS", "NEW", "REQUESTS"];
  return {
    data: { backfills },
    text: rows.length === 0 ? "No past period was read anew." : table(header, rows),
  };
}

import type { Command } from "commander";
import { ConfigurationError, exitCodes } from "../core/errors.ts";
import { BACKFILL_SHARE } from "../office/asked.ts";
import type { Office } from "../office/questions.ts";
import { ask } from "../app/ask.ts";
import { addCommand, type Given, thisPerson } from "./command.ts";
import { type Stand, watching } from "../app/progress.ts";
import { backfillCostText, backfilledView, backfillsView } from "../views/backfills.ts";
import { asText, inLine } from "../views/text.ts";

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

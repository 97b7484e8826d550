/** What records become, without sending anything. The mapping is the one that the files say now, not the daemon's. */
import type { Command } from "commander";
import { ConfigurationError } from "../core/errors.ts";
import { addCommand } from "./command.ts";
import { loadConfiguration } from "../app/configuration.ts";

export function map(program: Command): void {
  addCommand(
    program,
    "map [flow] [record]",
    "what a record becomes, field by field; nothing is sent",
    async ({ file, args: [flow, record], options }) => {
      const config = await loadConfiguration(file);
      const { last, cases, types } = options;
      const one = [record, last, cases, types].filter((given) => given !== undefined);
      if (one.length !== 1 || (flow === undefined) !== (record === undefined && last === undefined))
        throw new ConfigurationError("It is not clear what to map.", USAGE);
      if (types !== undefined) return (await import("./map/site.ts")).writeTypes(config);
      if (cases !== undefined) return (await import("./map/site.ts")).runCases(config);
      const { openMapping } = await import("./map/records.ts");
      const opened = openMapping(config, flow ?? "");
      if (last === undefined)
        return (await import("./map/records.ts")).mapRecord(file, opened, record ?? "");
      return (await import("./map/records.ts")).mapLast(file, opened, countOf(last));
    },
  )
    .option(
      "--last <count>",
      "map the last stored records, and show what differs from what was sent",
    )
    .option("--cases", "run the cases of the site's own mappings")
    .option("--types", "write what an editor needs into the folder of the site's mappings");
}

const USAGE =
  "Give a flow and a file or number (fuelbridge map invoices INV-1001), a flow and --last 1000, --cases, or --types.";
const LAST_MAX = 10_000;

/** @throws ConfigurationError */
function countOf(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= LAST_MAX) return count;
  throw new ConfigurationError(
    `--last ${text} is no number of records.`,
    `Give a whole number from 1 to ${LAST_MAX}, for example --last 1000.`,
  );
}

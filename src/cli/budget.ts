import type { Command } from "commander";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ConfigurationError } from "../core/errors.ts";
import { askOf } from "../app/ask.ts";
import { type Answer, ofEach } from "./answer.ts";
import { question } from "./asking.ts";
import { addCommand, type Given, wholeUpTo } from "./command.ts";
import { loadCompanies, loadSharers } from "../app/configuration.ts";
import { budgetView } from "../views/status.ts";

const count = wholeUpTo(9_999_999, "Documents are a number.");
/** The file of the store in its folder. */
const STORE = "fuelbridge.sqlite";

export function budget(program: Command): void {
  const parent = program
    .command("budget")
    .description("the requests that the platform allows in a month");
  question(
    parent,
    "status",
    "what went to what, and how long it lasts",
    (office) => office.budget(),
    (month) => budgetView(month),
  );
  addCommand(parent, "plan", "what the configured schedules cost (offline)", planned, "all")
    .option("--writes <number>", "documents a day that go to the platform (default: 0)", count)
    .option(
      "--attachments <number>",
      "documents a day whose PDF a flow attaches (default: 0)",
      count,
    )
    .option(
      "--documents <number>",
      "invoices and bills a month that reconciliation reads (default: those that are written)",
      count,
    );
}

async function planned({ file, options }: Given, command: string): Promise<Answer> {
  const configs = await loadCompanies(file);
  const all = await loadSharers(configs);
  const { needsOf, planBeside, planInWords } = await import("./budget-plan.ts");
  const { writes, attachments, documents } = options;
  const expected = {
    writesPerDay: Number(writes ?? 0),
    attachmentsPerDay: Number(attachments ?? 0),
    documents: documents === undefined ? null : Number(documents),
    lists: [],
  };
  const needs = needsOf(all, expected, Date.now());
  return ofEach(command, configs, async (config) => {
    // Only what was read before tells how long lists are, and when changes come.
    const seen = existsSync(join(config.state, STORE))
      ? await askOf(config, (office) => office.budget())
      : { lists: [], polls: [] };
    const assumed = {
      ...expected,
      lists: seen.lists,
      rates: new Map(seen.polls.map(({ flow, rates }) => [flow, rates])),
    };
    const data = planBeside(config, needs, assumed, Date.now());
    if (data.fault !== null) throw new ConfigurationError(data.fault.message, data.fault.next);
    return { data, text: planInWords(data) };
  });
}

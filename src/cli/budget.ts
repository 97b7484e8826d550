import { type Command, InvalidArgumentError } from "commander";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Forecast } from "../core/budget.ts";
import { ConfigurationError } from "../core/errors.ts";
import type { MonthStatus } from "../office/answers.ts";
import { ask } from "../app/ask.ts";
import { addCommand, configured } from "./command.ts";
import { loadConfiguration } from "../app/configuration.ts";
import { load } from "./load.ts";
import { counted, instant, table } from "../views/table.ts";

/** The file of the store in its folder. */
const STORE = "fuelbridge.sqlite";

export function budget(program: Command): void {
  const parent = program
    .command("budget")
    .description("the requests that the platform allows in a month");
  configured(
    addCommand(parent, "status", "what went to what, and how long it lasts", async ({ file }) => {
      const data = await ask(file, (office) => office.budget());
      return { data, text: inWords(data) };
    }),
  );
  configured(
    addCommand(parent, "plan", "what the configured schedules cost (offline)", async (given) => {
      const config = await loadConfiguration(given.file);
      const { planOf, planInWords } = await load.plan();
      const { writes, attachments, documents } = given.options;
      // Only what was read before tells how long lists are.
      const lists = existsSync(join(config.state, STORE))
        ? (await ask(given.file, (office) => office.budget())).lists
        : [];
      const assumed = {
        writesPerDay: Number(writes ?? 0),
        attachmentsPerDay: Number(attachments ?? 0),
        documents: documents === undefined ? null : Number(documents),
        lists,
      };
      const data = planOf(config, assumed, Date.now());
      if (data.fault !== null) throw new ConfigurationError(data.fault.message, data.fault.next);
      return { data, text: planInWords(data) };
    })
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
      ),
  );
}

function count(text: string): string {
  if (!/^\d{1,7}$/.test(text)) throw new InvalidArgumentError("Documents are a number.");
  return text;
}

function inWords(month: MonthStatus): string {
  const { minute, forecast, lists } = month;
  return [
    `${month.used} of ${counted(month.perMonth, "request")} are used in ${month.month} (UTC).`,
    `If it goes on like this, the month comes to ${counted(forecast.expected, "request")}.`,
    stretchText(forecast),
    ...lists.filter(({ slowing }) => slowing > 1).map(listText),
    minute === null
      ? "The daemon does not run."
      : `${minute.used} of ${minute.limit} requests of the minute are used${minute.opensInMs > 0 ? `; the next one goes in ${Math.ceil(minute.opensInMs / 1_000)} s` : ""}.`,
    "",
    table(
      ["FOR", "USED", "RESERVED", "LEFT"],
      month.purposes
        .filter(({ purpose, used }) => purpose !== "lost" || used > 0)
        .map(({ purpose, used, reserve, left }) => [
          purpose,
          String(used),
          String(reserve),
          String(left),
        ]),
    ),
  ].join("\n");
}

/** How far apart polls are, and whether the month suffices: the one sentence about both. */
export function stretchText(forecast: Pick<Forecast, "stretch" | "runsOut" | "backlog">): string {
  const { backlog } = forecast;
  if (backlog === undefined) return paceText(forecast);
  const { documents, writes, readBacks } = backlog;
  return (
    `${paceText(forecast)} ${counted(documents, "document")} ${documents === 1 ? "waits" : "wait"} to be sent: about ` +
    `${counted(writes, "request")} to write ${documents === 1 ? "it" : "them"}, ${readBacks} to look for ${documents === 1 ? "it" : "them"}.`
  );
}

function paceText({ stretch, runsOut }: Pick<Forecast, "stretch" | "runsOut">): string {
  const apart = stretch > 1 ? `${factor(stretch)} times as far apart as configured` : AS_CONFIGURED;
  if (runsOut === null)
    return stretch > 1
      ? `Polls are ${apart}, so that the month suffices.`
      : `Polls are ${apart}, and the month suffices.`;
  const at = instant(runsOut.at);
  const rest =
    runsOut.stops === "polls"
      ? `polls pause from ${at} until it turns, and the rest is kept for writes`
      : `nothing is sent from ${at} until it turns`;
  return `Polls are ${apart}, and the month does not suffice: ${rest}. See fuelbridge budget plan.`;
}

const AS_CONFIGURED = "as far apart as configured";

/** A list that takes no date is read whole each time, and takes its share of the month. */
export const listText = ({ flow, pages, slowing }: MonthStatus["lists"][number]): string =>
  `"${flow}" reads ${counted(pages, "page")} each time: it is read ${factor(slowing)} times as seldom as configured.`;

const factor = (stretch: number): string => stretch.toFixed(1);

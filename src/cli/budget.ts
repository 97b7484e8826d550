import { type Command, InvalidArgumentError } from "commander";
import type { MonthStatus } from "../report/office.ts";
import { ask } from "./ask.ts";
import { addCommand, configured } from "./command.ts";
import { loadConfiguration } from "./configuration.ts";
import { load } from "./load.ts";
import { counted, instant, table } from "./table.ts";

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
      const data = planOf(config, Number(given.options["writes"] ?? 0), Date.now());
      return { data, text: planInWords(data) };
    }).option("--writes <number>", "documents a day that go to the platform (default: 0)", count),
  );
}

function count(text: string): string {
  if (!/^\d{1,7}$/.test(text)) throw new InvalidArgumentError("Documents a day are a number.");
  return text;
}

function inWords(month: MonthStatus): string {
  const { minute, stretch } = month;
  return [
    `${month.used} of ${counted(month.perMonth, "request")} are used in ${month.month} (UTC).`,
    forecastText(month),
    stretch > 1 ? stretched(stretch) : "Polls are as far apart as configured.",
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

function forecastText({ forecast }: MonthStatus): string {
  if (forecast === null) return "The month is too young for a forecast.";
  const { expected, runsOutAt } = forecast;
  const total = `At this pace the month comes to ${counted(expected, "request")}`;
  return runsOutAt === null ? `${total}.` : `${total}: used up at ${instant(runsOutAt)}.`;
}

export const stretched = (stretch: number): string =>
  `Polls are ${factor(stretch)} times as far apart as configured, so that the month suffices.`;

export const factor = (stretch: number): string => stretch.toFixed(1);

/** The month's requests, for a terminal. */
import type { Forecast } from "../core/budget.ts";
import type { MonthStatus } from "../office/answers.ts";
import { counted, instant, table } from "./table.ts";

export function budgetText(month: MonthStatus): string {
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

/** The month's requests: what they went to, and how long they last. */
import type { Forecast } from "../core/budget.ts";
import type { Staleness } from "../core/pace.ts";
import type { MonthStatus } from "../office/answers.ts";
import { slowedText } from "../office/concerns.ts";
import {
  type Blocks,
  each,
  type Inline,
  line,
  notice,
  plural,
  say,
  section,
  strong,
  table,
} from "./blocks.ts";
import { counted, instant, roughly } from "./table.ts";

export const PURPOSES: Readonly<Record<string, string>> = {
  poll: "Looking for what is new",
  detail: "Reading details",
  write: "Writing",
  "read-back": "Looking whether a write arrived",
  check: "Checks by people",
  audit: "Comparing both sides",
  backfill: "Reading past periods again",
  lost: "Not known: a process was killed",
};

/** `swatch`: the colour of a purpose in the picture of the page. */
export function budgetView(
  month: MonthStatus,
  swatch: (purpose: string) => Inline = () => null,
): Blocks {
  const { used, perMonth, minute, forecast, lists, purposes, polls, bought, slowed } = month;
  return [
    notice(
      used >= perMonth ? "bad" : forecast.runsOut === null && slowed === null ? "good" : "wait",
      line(
        strong(say`${used} of ${plural(perMonth, "request")} are used in ${month.month} (UTC).`),
      ),
      line(
        used >= perMonth
          ? "Nothing is read from the platform or written to it until the month is over (UTC)."
          : say`If it goes on like this, the month comes to ${plural(forecast.expected, "request")}.`,
      ),
      line(stretchText(forecast)),
      slowed !== null && line(slowedText(slowed)),
      lists.filter(({ slowing }) => slowing > 1).map((one) => line(listText(one))),
      line(
        minute === null
          ? "The daemon does not run."
          : say`${minute.used} of ${minute.limit} requests of the minute are used`,
        minute !== null && minute.opensInMs > 0
          ? `; the next one goes in ${Math.ceil(minute.opensInMs / 1_000)} s.`
          : minute !== null && ".",
      ),
    ),
    section(
      null,
      table(
        "What the requests went to",
        purposes.filter(({ purpose, used }) => purpose !== "lost" || used > 0),
        [
          ["For", ({ purpose }) => each([swatch(purpose), " ", PURPOSES[purpose]], purpose)],
          ["Used", (one) => one.used],
          ["Reserved", ({ reserve }) => reserve],
          ["Left", ({ left }) => left],
        ],
      ),
    ),
    section(
      "What flows cost",
      table(
        "Flows that read from the platform",
        polls,
        [
          ["Flow", ({ flow }) => flow],
          ["Each look", ({ perLook }) => perLook],
          ["A month, at least", (one) => one.perMonth],
          [
            "How often",
            ({ times, rates }) =>
              rates !== null
                ? "every: auto, as the month allows"
                : times <= 1
                  ? "as configured"
                  : apart(times),
          ],
        ],
        "No flow reads from the platform.",
      ),
      line(
        "Requests. Each page of 100 records that are new costs one more. A flow that writes to the platform costs about ",
        "two for each document: one looks for it, one sends it. Reading and writing the ERP costs none.",
      ),
    ),
    section("How fresh", freshTable(bought)),
    section(
      "What requests bought",
      table(
        "Requests of this month by the flow that asked",
        bought.flatMap(({ requests, ...one }) =>
          Object.entries(requests).map(([purpose, used]) => ({ ...one, purpose, used })),
        ),
        [
          ["Flow", ({ flow }) => flow],
          ["For", ({ purpose }) => PURPOSES[purpose]],
          ["Requests", ({ used }) => used],
          ["Changes stored", ({ stored }) => stored],
          ["Requests for each", ({ used, stored }) => ratio(used, stored)],
          ["Delivered", ({ delivered }) => delivered],
          ["Requests for each of them", ({ used, delivered }) => ratio(used, delivered)],
        ],
        "No flow has asked the platform for anything this month.",
      ),
    ),
  ];
}

const ratio = (requests: number, things: number): Inline =>
  things === 0 ? "–" : (requests / things).toFixed(requests < things * 10 ? 2 : 0);

/** How long changes had waited since the platform had them, this month. */
export const freshTable = (bought: MonthStatus["bought"]): Blocks =>
  table(
    "How long changes of this month waited: from the time that the platform gives until stored here, and until delivered",
    bought.flatMap(({ flow, untilStored, untilDelivered }) =>
      untilStored === null ? [] : [{ flow, untilStored, untilDelivered }],
    ),
    [
      ["Flow", ({ flow }) => flow],
      ["Changes", ({ untilStored }) => untilStored.changes],
      ["Stored after", ({ untilStored }) => staleText(untilStored)],
      ["Stored, in office hours", ({ untilStored: { office } }) => office && staleText(office)],
      ["Delivered after", ({ untilDelivered }) => untilDelivered && staleText(untilDelivered)],
      [
        "Delivered, in office hours",
        ({ untilDelivered }) => untilDelivered?.office && staleText(untilDelivered.office),
      ],
    ],
  );

/** How long changes wait, in one cell. */
export const staleText = ({ meanMs, p95Ms }: Staleness): string =>
  `mean ${roughly(meanMs)}, 95 % within ${roughly(p95Ms)}`;

const apart = (times: number): string => `${factor(times)} times as far apart as configured`;

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
  const distance = stretch > 1 ? apart(stretch) : AS_CONFIGURED;
  if (runsOut === null)
    return stretch > 1
      ? `Polls are ${distance}, so that the month suffices.`
      : `Polls are ${distance}, and the month suffices.`;
  const at = instant(runsOut.at);
  const rest =
    runsOut.stops === "polls"
      ? `polls pause from ${at} until it turns, and the rest is kept for writes`
      : `nothing is sent from ${at} until it turns`;
  return `Polls are ${distance}, and the month does not suffice: ${rest}. See fuelbridge budget plan.`;
}

const AS_CONFIGURED = "as far apart as configured";

/** A list that takes no date is read whole each time, and takes its share of the month. */
export const listText = ({ flow, pages, slowing }: MonthStatus["lists"][number]): string =>
  `"${flow}" reads ${counted(pages, "page")} each time: it is read ${factor(slowing)} times as seldom as configured.`;

const factor = (stretch: number): string => stretch.toFixed(1);

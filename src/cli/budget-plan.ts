/** Prices a configuration before it runs: what its schedules, and so many writes a day, cost the month at least. */
import { leftFor, LONGEST_MONTH_MS, stretchOf } from "../core/budget.ts";
import { ConfigurationError } from "../core/errors.ts";
import type { Config, FlowConfig } from "../config/config.ts";
import { durationText } from "../config/duration.ts";
import { PLATFORM } from "../config/flows.ts";
import { needOf } from "../report/month.ts";
import { factor } from "./budget.ts";
import { when } from "./check.ts";
import { counted, table } from "./table.ts";

export interface Plan {
  readonly perMonth: number;
  /** Of those, what polls may use. */
  readonly forPolls: number;
  /** Requests in a month of 31 days, at least: a look that finds nothing new is one. */
  readonly flows: readonly {
    readonly name: string;
    readonly when: string;
    readonly requests: number;
  }[];
  readonly polls: number;
  readonly writes: number;
  readonly total: number;
  /** How many times as far apart as configured polls will be, from the month's first day on. */
  readonly stretch: number;
}

const DAYS = 31;
/** A document is looked for before it is sent, and goes by itself. */
const REQUESTS_PER_WRITE = 2;

/**
 * `writesPerDay`: documents that go to the platform.
 * @throws ConfigurationError when a month's requests do not suffice, with the interval that would fit
 */
export function planOf(config: Config, writesPerDay: number, nowMs: number): Plan {
  const { perMonth } = config.platform.budget;
  const read = config.flows.map((flow) => asRead(flow, config.timeZone));
  const flows = read.map((flow) => {
    const { interval, calendar } = needOf([flow], nowMs);
    return { name: flow.name, when: when(flow), requests: interval + calendar };
  });
  const need = needOf(read, nowMs);
  const polls = need.interval + need.calendar;
  const writes = writesPerDay * DAYS * REQUESTS_PER_WRITE;
  const forPolls = Math.max(
    Math.min(leftFor(config.platform.budget, {}, "poll"), perMonth - writes),
    0,
  );
  const total = polls + writes;
  if (total > perMonth) {
    const clocked = read.filter(
      ({ paused, side, schedule }) => !paused && side === "platform" && "everyMs" in schedule,
    );
    throw new ConfigurationError(
      `${config.file}: polls take ${polls} requests a month and writes ${writes}, and the platform allows ${perMonth}.`,
      remedy(clocked.length, forPolls - need.calendar),
    );
  }
  const stretch = stretchOf(need, forPolls, A_LONG_MONTH);
  return { perMonth, forPolls, flows, polls, writes, total, stretch };
}

/** The first instant of a month with 31 days. */
const A_LONG_MONTH = Date.UTC(2026, 0, 1);

const asRead = (flow: FlowConfig, timeZone: string) => ({
  ...flow,
  side: flow.from.endpoint === PLATFORM ? ("platform" as const) : ("erp" as const),
  schedule: "cron" in flow.schedule ? { ...flow.schedule, timeZone } : flow.schedule,
});

/** What the same flows can afford, if each polls as often as the others. */
function remedy(flows: number, requests: number): string {
  if (flows === 0 || requests < flows)
    return "Write less often, or read fewer things at fewer times of the day.";
  const seconds = Math.ceil((flows * LONGEST_MONTH_MS) / requests / 1_000);
  const rounded = seconds > 60 ? Math.ceil(seconds / 60) * 60 : seconds;
  return `every: ${durationText(rounded * 1_000)} would fit, for ${flows === 1 ? "the one flow" : `each of the ${flows} flows`} that poll${flows === 1 ? "s" : ""} the platform at an interval.`;
}

export function planInWords(plan: Plan): string {
  const { perMonth, forPolls, flows, polls, writes, total, stretch } = plan;
  return [
    table(
      ["FLOW", "WHEN", "REQUESTS"],
      [
        ...flows.map(({ name, when, requests }) => [name, when, String(requests)]),
        ["writes", "", String(writes)],
        ["total", "", String(total)],
      ],
    ),
    "",
    `Of ${counted(perMonth, "request")} a month polls may use ${forPolls}, and need ${polls} at least.`,
    ...(stretch > 1
      ? [`They will be ${factor(stretch)} times as far apart as configured.`]
      : ["What they bring costs more: a request for every hundred changes."]),
    ...(writes > 0
      ? []
      : [
          "Writes are not in it: --writes NUMBER adds those documents a day that go to the platform.",
        ]),
  ].join("\n");
}

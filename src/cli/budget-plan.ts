/** Prices a configuration before it runs: what its schedules, so many writes a day and reconciliation cost the month. */
import {
  auditNeed,
  type AuditPace,
  auditPace,
  type Budget,
  forecast,
  leftFor,
  LONGEST_MONTH_MS,
} from "../core/budget.ts";
import type { Config, FlowConfig } from "../config/config.ts";
import { PLATFORM } from "../config/flows.ts";
import { listOf } from "../platform/parts.ts";
import { costOf, needOf, type Polled, polledOf, slowing, wholeShare } from "../office/month.ts";
import type { MonthStatus } from "../office/answers.ts";
import { listText, stretchText } from "../views/budget.ts";
import { when } from "./check.ts";
import { counted, durationText, table } from "../views/table.ts";

export interface Plan {
  readonly perMonth: number;
  /** Of those, what polls may use. */
  readonly forPolls: number;
  /** Requests in a month of 31 days, at least: a run that finds nothing new is one, a list read whole its pages. */
  readonly flows: readonly {
    readonly name: string;
    readonly when: string;
    readonly requests: number;
  }[];
  readonly polls: number;
  readonly writes: number;
  /** For PDFs that flows attach. */
  readonly attachments: number;
  /** Does a flow attach any? */
  readonly attaching: boolean;
  readonly audit: AuditPace;
  readonly total: number;
  /** How many times as far apart as configured polls will be, from the month's first day on. */
  readonly stretch: number;
  /** What flows with `every: auto` share, requests, and how many flows that are; null: there are none. */
  readonly auto: { readonly requests: number; readonly flows: number } | null;
  readonly lists: MonthStatus["lists"];
  /** Why the month does not suffice, and what would fit; null: it does. */
  readonly fault: { readonly message: string; readonly next: string } | null;
}

interface Assumed {
  /** Documents a day that go to the platform. */
  readonly writesPerDay: number;
  /** PDFs a day that flows attach; they count only where a flow does. Left out: none. */
  readonly attachmentsPerDay?: number;
  /** Invoices and bills a month on both sides; null: those that are written. */
  readonly documents: number | null;
  /** What lists that are read whole came to when they were last read. */
  readonly lists: readonly Pick<MonthStatus["lists"][number], "flow" | "pages">[];
}

const DAYS = 31;
/** A document is looked for before it is sent, and goes by itself. */
const REQUESTS_PER_WRITE = 2;
/** Parties and prices take a request for 500. */
const PARTIES = 500;
const NIGHTLY_DAYS = 35;

export function planOf(config: Config, assumed: Assumed, nowMs: number): Plan {
  const { budget } = config.platform;
  const { perMonth } = budget;
  const polled = polledOf(
    config.flows.map((flow) => asRead(flow, config.timeZone)),
    nowMs,
  ).map((one) => ({
    ...one,
    pages: assumed.lists.find(({ flow }) => flow === one.name)?.pages ?? null,
  }));
  const costs = new Map(polled.map((one) => [one.name, costOf(one)]));
  const flows = config.flows.map((flow) => ({
    name: flow.name,
    when: when(flow),
    requests: costs.get(flow.name) ?? 0,
  }));
  const polls = [...costs.values()].reduce((sum, one) => sum + one, 0);
  const writes = assumed.writesPerDay * DAYS * REQUESTS_PER_WRITE;
  const attaching = config.flows.some(({ attach, paused }) => attach !== undefined && !paused);
  const attachments = attaching ? (assumed.attachmentsPerDay ?? 0) * DAYS : 0;
  const audit = auditOf(config, assumed);
  const others = attachments + audit.perMonth;
  const total = polls + writes + others;
  const forPolls = Math.max(Math.min(leftFor(budget, {}, "poll"), perMonth - writes) - others, 0);
  const need = needOf(polled, budget);
  const planned = { writes, others };
  const ahead = forecast({ budget, need, spent: {}, atMs: A_LONG_MONTH, planned });
  const fits = total <= perMonth && ahead.runsOut === null;
  const files = attaching ? `, PDFs ${attachments}` : "";
  const message = `${config.file}: polls take ${polls} requests a month, writes ${writes}${files} and reconciliation ${audit.perMonth}, and the platform allows ${perMonth}.`;
  return {
    perMonth,
    forPolls,
    flows,
    polls,
    writes,
    attachments,
    attaching,
    audit,
    total,
    stretch: ahead.stretch,
    auto:
      ahead.forAuto === undefined
        ? null
        : {
            requests: Math.floor(ahead.forAuto),
            flows: polled.filter(({ isAuto }) => isAuto).length,
          },
    lists: polled.flatMap((one) =>
      one.pages === null
        ? []
        : [{ flow: one.name, pages: one.pages, slowing: slowing(one, budget) }],
    ),
    fault: fits ? null : { message, next: remedy(polled, forPolls, budget) },
  };
}

/** The first instant of a month with 31 days. */
const A_LONG_MONTH = Date.UTC(2026, 0, 1);

function auditOf(
  { platform, flows }: Config,
  { documents, writesPerDay, lists }: Assumed,
): AuditPace {
  const documentsPerMonth = documents ?? writesPerDay * DAYS;
  const ofPayments = flows.filter(({ from }) => listOf(from.name) === "listPayments");
  const known = lists.filter(({ flow }) => ofPayments.some(({ name }) => name === flow));
  const payments =
    known.length === 0
      ? documentsPerMonth * 12
      : known.reduce((sum, { pages }) => sum + pages * 100, 0);
  const held = { documentsPerMonth, payments, parties: PARTIES, prices: PARTIES };
  return auditPace(platform.budget, auditNeed({ ...held, days: NIGHTLY_DAYS }));
}

const asRead = (flow: FlowConfig, timeZone: string) => ({
  ...flow,
  side: flow.from.endpoint === PLATFORM ? ("platform" as const) : ("erp" as const),
  schedule: "cron" in flow.schedule ? { ...flow.schedule, timeZone } : flow.schedule,
});

/** What the flows can afford: each list that is read whole its share, and the others equal intervals. */
function remedy(polled: readonly Polled[], forPolls: number, budget: Budget): string {
  const clocked = polled.filter(({ isCalendar }) => !isCalendar);
  const heavy = clocked.filter((one) => slowing(one, budget) > 1);
  const others = clocked.filter((one) => !heavy.includes(one));
  const rest = forPolls - needOf(polled, budget).calendar - needOf(heavy, budget).interval;
  const lists = heavy.map(
    ({ name, pages }) =>
      `every: ${intervalFor(pages ?? 1, wholeShare(budget))} would fit for "${name}", which reads ${pages} pages each time.`,
  );
  const asked = others.reduce((sum, one) => sum + costOf(one), 0);
  const once = others.reduce((sum, { pages }) => sum + (pages ?? 1), 0);
  if (rest < once || (others.length === 0 && heavy.length === 0))
    return [...lists, "Write less often, or read fewer things at fewer times of the day."].join(
      " ",
    );
  if (asked <= rest) return lists.join(" ");
  const also = heavy.length === 0 ? "" : "other ";
  const whose =
    others.length === 1
      ? `the one ${also}flow that polls`
      : `each of the ${others.length} ${also}flows that poll`;
  return [
    ...lists,
    `every: ${intervalFor(once, rest)} would fit, for ${whose} the platform at an interval.`,
  ].join(" ");
}

/** The interval at which so many requests each time take so many a month. */
function intervalFor(requests: number, perMonth: number): string {
  const seconds = Math.ceil((requests * LONGEST_MONTH_MS) / perMonth / 1_000);
  const unit = seconds > 7_200 ? 3_600 : seconds > 60 ? 60 : 1;
  return durationText(Math.ceil(seconds / unit) * unit * 1_000);
}

export function planInWords(plan: Plan): string {
  const { perMonth, forPolls, flows, polls, writes, attachments, attaching } = plan;
  const { audit, total, stretch, lists, auto } = plan;
  return [
    table(
      ["FLOW", "WHEN", "REQUESTS"],
      [
        ...flows.map(({ name, when, requests }) => [name, when, String(requests)]),
        ["writes", "", String(writes)],
        ...(attaching ? [["attachments", "one for each PDF", String(attachments)]] : []),
        ["reconciliation", paceText(audit), String(audit.perMonth)],
        ["total", "", String(total)],
      ],
    ),
    "",
    `Of ${counted(perMonth, "request")} a month polls may use ${forPolls}, and need ${polls} at least.`,
    ...(stretch > 1
      ? [stretchText({ stretch, runsOut: null })]
      : ["What they bring costs more: a request for every hundred changes."]),
    ...(auto === null ? [] : [autoText(auto)]),
    ...lists.filter(({ slowing }) => slowing > 1).map(listText),
    ...(audit.wantsShare === null
      ? []
      : [
          `Reconciliation does not fit into its share of the month; platform.budget.share.audit: ${audit.wantsShare} would do.`,
        ]),
    ...(writes > 0
      ? []
      : [
          "Writes are not in it: --writes NUMBER adds those documents a day that go to the platform.",
        ]),
    ...(attaching && attachments === 0
      ? [
          "PDFs are not in it: --attachments NUMBER adds those documents a day whose PDF is attached.",
        ]
      : []),
  ].join("\n");
}

const autoText = ({ requests, flows }: NonNullable<Plan["auto"]>): string =>
  `Flows with every: auto look when it is worth most, and share what is left: about ${counted(requests, "request")} a month, ` +
  `one for each of ${flows} every ${durationText(Math.ceil((LONGEST_MONTH_MS * flows) / Math.max(requests, 1) / 60_000) * 60_000)} on average.`;

function paceText({ everyNights, everyMonths }: AuditPace): string {
  const nights = everyNights === 1 ? "every night" : `every ${everyNights} nights`;
  return `${nights}, all of it every ${everyMonths === 1 ? "month" : `${everyMonths} months`}`;
}

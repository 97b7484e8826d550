/** Prices a configuration before it runs: what its schedules, so many writes a day and reconciliation cost the month. */
import { counted } from "../core/text.ts";
import {
  auditNeed,
  type AuditPace,
  auditPace,
  type Budget,
  leftFor,
  LONGEST_MONTH_MS,
} from "../core/budget.ts";
import { sumOf } from "../core/groups.ts";
import {
  costOf,
  expected,
  type HourOf,
  hourOfWeekIn,
  hoursBetween,
  type Looks,
  needOf,
  nothingSeen,
  planMonth,
  type Rates,
  slowing,
  staleAt,
  type Staleness,
  stalenessOf,
  type Waits,
  wholeShare,
  workedIn,
} from "../core/pace.ts";
import { type Config, type FlowConfig, shareOf, sitesAtKey } from "../config/config.ts";
import { PLATFORM } from "../config/flows.ts";
import type { Schedule } from "../engine/engine.ts";
import { nextDue } from "../engine/schedule.ts";
import { listOf } from "../platform/parts.ts";
import { looksOf } from "../office/month.ts";
import type { MonthStatus } from "../office/answers.ts";
import { listText, staleText, stretchText } from "../views/status.ts";
import { when } from "./doctor.ts";
import { durationText, lined, table } from "../views/text.ts";
import { HOUR_MS } from "../core/time.ts";

interface Assumed {
  /** Documents a day that go to the platform. */
  readonly writesPerDay: number;
  /** PDFs a day that flows attach; they count only where a flow does. Left out: none. */
  readonly attachmentsPerDay?: number;
  /** Invoices and bills a month on both sides; null: those that are written. */
  readonly documents: number | null;
  /** What lists that are read whole came to when they were last read. */
  readonly lists: readonly Pick<MonthStatus["lists"][number], "flow" | "pages">[];
  /** What other companies under the key need, requests; left out: nothing. */
  readonly beside?: number;
  /** When changes came by each flow, as far as that was seen. Left out: it was not. */
  readonly rates?: ReadonlyMap<string, Rates | null>;
}

const DAYS = 31;
/** A document is looked for before it is sent, and goes by itself. */
const REQUESTS_PER_WRITE = 2;
/** Parties and prices take a request for 500. */
const PARTIES = 500;
const NIGHTLY_DAYS = 35;

export type Plan = ReturnType<typeof planOf>;

export function planOf(config: Config, assumed: Assumed, nowMs: number) {
  const { budget } = config.platform;
  const { perMonth } = budget;
  const sites = sitesAtKey(config);
  const share = shareOf(config);
  const ratesOf = (flow: string): Rates => assumed.rates?.get(flow) ?? nothingSeen;
  const looks = looksOf(
    // What a hub reads costs its sites nothing.
    config.platform.hub === null ? config.flows.map((flow) => asRead(flow, config.timeZone)) : [],
    nowMs,
    {
      rates: ratesOf,
      pages: (name) => assumed.lists.find(({ flow }) => flow === name)?.pages ?? null,
    },
  );
  const polls = sumOf(looks.map(costOf));
  const writes = assumed.writesPerDay * DAYS * REQUESTS_PER_WRITE;
  const attaching = config.flows.some(({ attach, paused }) => attach !== undefined && !paused);
  const attachments = attaching ? (assumed.attachmentsPerDay ?? 0) * DAYS : 0;
  const audit = auditOf(config, assumed);
  const others = attachments + audit.perMonth;
  const total = (polls + writes + others) * sites + (assumed.beside ?? 0);
  const left = Math.min(leftFor(budget, {}, "poll"), perMonth - writes / share);
  const forPolls = Math.max(Math.floor(left * share - others), 0);
  const hourOf = hourOfWeekIn(config.timeZone, config.officeHours?.holidays);
  const month = planMonth({
    budget,
    looks,
    spent: {},
    atMs: A_LONG_MONTH,
    planned: { writes: writes / share, others: others / share },
    share,
    hourOf,
    office: config.officeHours,
  });
  const { forecast: ahead } = month;
  const paces = month.paces();
  const hours = hoursBetween(A_LONG_MONTH, A_LONG_MONTH + LONGEST_MONTH_MS, hourOf);
  const worked = workedIn(config.officeHours);
  const flows = config.flows.map((flow) => {
    const one = looks.find(({ name }) => name === flow.name);
    const pace = paces.get(flow.name);
    const changes = expected(ratesOf(flow.name)).map((rate, hour) => rate * (hours[hour] ?? 0));
    const inOffice = changes.map((count, hour) => (worked[hour] === true ? count : 0));
    const { schedule } = asRead(flow, config.timeZone);
    const stale = (those: readonly number[]): Staleness | null => {
      if (one === undefined) return null;
      return pace === undefined ? staleUntil(schedule, those, hourOf) : staleAt(pace, those);
    };
    const isAuto = pace !== undefined && "auto" in schedule;
    const perLook = one?.pages ?? 1;
    const times = isAuto ? sumOf(pace.map((ms, hour) => ((hours[hour] ?? 0) * HOUR_MS) / ms)) : 0;
    const requests = isAuto ? Math.round(times * perLook) : one === undefined ? 0 : costOf(one);
    const { name } = flow;
    return { name, when: when(flow), requests, office: stale(inOffice), all: stale(changes) };
  });
  const fits = total <= perMonth && ahead.runsOut === null;
  const files = attaching ? `, PDFs ${attachments}` : "";
  const companies = config.sharers.length;
  const whose = sites === 1 ? "" : ` at each of the ${sites} sites`;
  const beside =
    companies === 1 ? "" : ` of this company, ${total} of all ${companies} under its key`;
  const message = `${config.file}: polls take ${polls} requests a month, writes ${writes}${files} and reconciliation ${audit.perMonth}${whose}${beside}, and the platform allows ${perMonth}.`;
  return {
    perMonth,
    /** Of those, what polls may use. */
    forPolls,
    /**
     * Requests in a month of 31 days: a run that finds nothing new is one, a list read whole its pages; of flows with
     * `every: auto` what they will share. How long changes will wait for a look, in office hours and at all; null: nobody
     * looks, or no hours are named.
     */
    flows,
    /** Sites that share the month over Redis, and companies of this process; the figures are one's, but for `total`. */
    sites,
    companies,
    /** At least. */
    polls,
    writes,
    /** For PDFs that flows attach. */
    attachments,
    /** Does a flow attach any? */
    attaching,
    audit,
    /** Of all sites, at least. */
    total,
    /** How many times as far apart as configured polls will be, from the month's first day on. */
    stretch: ahead.stretch,
    /** What flows with `every: auto` share, requests, and how many flows that are; null: there are none. */
    auto:
      ahead.forAuto === undefined
        ? null
        : {
            requests: Math.floor(ahead.forAuto),
            flows: looks.filter(({ auto }) => auto !== null).length,
          },
    lists: looks.flatMap((one) =>
      one.pages === null ? [] : [{ flow: one.name, pages: one.pages, slowing: month.slowing(one) }],
    ),
    /** Why the month does not suffice, and what would fit; null: it does. */
    fault: fits ? null : { message, next: remedy(looks, forPolls, { perMonth: perMonth * share }) },
  };
}

/** What reading alone costs. */
export const NOTHING_WRITTEN = { writesPerDay: 0, documents: null, lists: [] } as const;

/** What each of these companies needs of a month at least, by its label. */
export const needsOf = (
  configs: readonly Config[],
  assumed: Assumed,
  nowMs: number,
): ReadonlyMap<string, number> =>
  new Map(configs.map((one) => [one.company, planOf(one, { ...assumed, lists: [] }, nowMs).total]));

/** The same, with what the others under its key need (`needs`: {@link needsOf}). */
export function planBeside(
  config: Config,
  needs: ReadonlyMap<string, number>,
  assumed: Assumed,
  nowMs: number,
): Plan {
  const others = config.sharers.filter(({ company }) => company !== config.company);
  const beside = sumOf(others.map(({ company }) => needs.get(company) ?? 0));
  return planOf(config, { ...assumed, beside }, nowMs);
}

const STEP_MS = HOUR_MS / 4;

/** How long changes wait for the next time of the calendar. `changes`: how many fall into each hour of the week. */
function staleUntil(
  schedule: Schedule,
  changes: readonly number[],
  hourOf: HourOf,
): Staleness | null {
  const waits: Waits[] = [];
  let due = 0;
  for (let at = A_LONG_MONTH; at < A_LONG_MONTH + LONGEST_MONTH_MS; at += STEP_MS) {
    if (due <= at) due = nextDue(schedule, at);
    const toMs = due - at;
    waits.push({ fromMs: Math.max(toMs - STEP_MS, 0), toMs, weight: changes[hourOf(at)] ?? 0 });
  }
  return stalenessOf(waits);
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
function remedy(
  looks: readonly Looks[],
  forPolls: number,
  budget: Pick<Budget, "perMonth">,
): string {
  const clocked = looks.filter(({ everyMs }) => everyMs !== null);
  const heavy = clocked.filter((one) => slowing(one, budget) > 1);
  const others = clocked.filter((one) => !heavy.includes(one));
  const rest = forPolls - needOf(looks, budget).calendar - needOf(heavy, budget).interval;
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
  const { audit, total, stretch, lists, auto, sites, companies } = plan;
  const looked = sumOf(flows.map(({ requests }) => requests));
  const row = (name: string, when: string, requests: number, ...stale: (Staleness | null)[]) => {
    const share = `${((requests * 100) / perMonth).toFixed(1)} %`;
    return [name, when, String(requests), share, ...stale.map((one) => one && staleText(one))];
  };
  const withOffice = flows.some(({ office }) => office !== null);
  const cells = [
    ["FLOW", "WHEN", "REQUESTS", "OF THE MONTH", "CHANGES WAIT", "IN OFFICE HOURS"],
    ...flows.map(({ name, when, requests, all, office }) => row(name, when, requests, all, office)),
    row("writes", "", writes),
    ...(attaching ? [row("attachments", "one for each PDF", attachments)] : []),
    row("reconciliation", paceText(audit), audit.perMonth),
    row("total", "", looked + writes + attachments + audit.perMonth),
  ];
  const [header = [], ...rows] = cells.map((texts) =>
    Array.from({ length: withOffice ? 6 : 5 }, (_, at) => texts[at] ?? ""),
  );
  return lined(
    table(header, rows),
    "",
    (sites > 1 || companies > 1) &&
      `These are the figures of one ${companies > 1 ? "company" : "site"}; the ${companies > 1 ? `${companies} companies` : `${sites} sites`} that share the API key need ${total} at least, and each has its part.`,
    `Of ${counted(perMonth, "request")} a month polls may use ${forPolls}, and need ${polls} at least.`,
    stretch > 1
      ? stretchText({ stretch, runsOut: null })
      : "What they bring costs more: a request for every hundred changes.",
    auto && autoText(auto),
    lists.filter(({ slowing }) => slowing > 1).map(listText),
    audit.wantsShare !== null &&
      `Reconciliation does not fit into its share of the month; platform.budget.share.audit: ${audit.wantsShare} would do.`,
    writes === 0 &&
      "Writes are not in it: --writes NUMBER adds those documents a day that go to the platform.",
    attaching &&
      attachments === 0 &&
      "PDFs are not in it: --attachments NUMBER adds those documents a day whose PDF is attached.",
  );
}

const autoText = ({ requests, flows }: NonNullable<Plan["auto"]>): string =>
  `Flows with every: auto look when it is worth most, and share what is left: about ${counted(requests, "request")} a month, ` +
  `${flows === 1 ? "one" : `one for each of ${flows}`} every ${durationText(Math.ceil((LONGEST_MONTH_MS * flows) / Math.max(requests, 1) / 60_000) * 60_000)} on average.`;

function paceText({ everyNights, everyMonths }: AuditPace): string {
  const nights = everyNights === 1 ? "every night" : `every ${everyNights} nights`;
  return `${nights}, all of it every ${everyMonths === 1 ? "month" : `${everyMonths} months`}`;
}

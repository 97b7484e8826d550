/** Is anything wrong? In one glance, and in words when nothing is. */
import { counted } from "../../core/text.ts";
import { sumOf } from "../../core/groups.ts";
import { type Lately, LATELY_MAX } from "../../store/queries.ts";
import {
  at,
  beside,
  type Blocks,
  card,
  heading,
  type Inline,
  line,
  link,
  live,
  monthName,
  plural,
  quiet,
  say,
  title,
  ago,
  type Block,
  facts,
  folded,
  type Html,
  next,
  notice,
  section,
  sentence,
  small,
  strong,
  table,
  untilDue,
} from "../../views/blocks.ts";
import { html } from "../../views/html.ts";
import {
  agreementView,
  flowsView,
  monthView,
  sizeText,
  thingsIn,
  verdictView,
  closedIn,
  flowAnchor,
  needing,
  stateMark,
  toDocuments,
  waitingIn,
  budgetView,
  PURPOSES,
  retryText,
} from "../../views/status.ts";
import { LATELY_HOURS } from "../../office/people.ts";
import { bars, colour, drawn, PLOT, rounded, swatch } from "../charts.ts";
import type { Answer, Asked } from "../route.ts";
import { BACKFILL_SHARE } from "../../office/asked.ts";
import type {
  BackfillState,
  FlowStatus,
  Look,
  Status,
  Stop,
  Unread,
  MonthStatus,
} from "../../office/answers.ts";
import { fateOf, isHeldList } from "../../core/contract.ts";
import { acts, backfillsView } from "../../views/acts.ts";
import { field, formOf, hidden, periodFields } from "../parts.ts";
import { monthAt } from "../../core/budget.ts";
import { DAY_MS, dayAt, HOUR_MS, MONTHS } from "../../core/time.ts";

export async function today(asked: Asked): Promise<Answer> {
  const { office, site, nowMs } = asked;
  const [status, lately] = await Promise.all([office.status(), office.lately()]);
  const things = thingsIn(status);
  const { month, used, perMonth } = status.requests;
  const { picture, cameBy } = lastDays(
    lately,
    status.flows.map(({ name }) => name),
    asked,
  );
  const body = live("today", "/", 20, [
    title("Today"),
    verdictView(status),
    flowsView(status, cameBy),
    picture,
    beside(
      card(
        heading(`Requests in ${monthName(month)}`),
        monthView(status),
        html`<progress
          value="${used}"
          max="${perMonth}"
          aria-label="Requests used in ${monthName(month)}"
        ></progress>`,
        line(link("/budget", "What they went to")),
      ),
      card(
        heading("Do both sides agree?"),
        agreementView(status),
        line(link("/reconciliation", "Compare a period"), " · ", link("/month-end", "Month's end")),
      ),
    ),
    quiet(
      say`As of ${at(new Date(nowMs).toISOString())}, ${site.timeZone}. Version ${status.version}. `,
      sizeText(status),
    ),
  ]);
  return {
    title:
      things === 0 ? "Today: nothing is wrong" : `Today: ${counted(things, "thing")} to look at`,
    body,
  };
}

/** By the hour as a picture, and by flow; only the newest of very many are counted. */
function lastDays(lately: readonly Lately[], names: readonly string[], { nowMs, site }: Asked) {
  const came = new Set(lately.map(({ flow }) => flow));
  const flows = names.filter((name) => came.has(name));
  const count = (isOne: (row: Lately) => boolean): number =>
    sumOf(lately.filter(isOne).map((row) => row.count));
  const now = Math.floor(nowMs / HOUR_MS);
  const hourIn = new Intl.DateTimeFormat("en-US", {
    timeZone: site.timeZone,
    weekday: "short",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  });
  const columns = Array.from({ length: LATELY_HOURS }, (_, at) => {
    const hour = now - LATELY_HOURS + 1 + at;
    return {
      label: at % 12 === 0 ? hourIn.format(new Date(hour * HOUR_MS)) : "",
      values: flows.map((name) => count((row) => row.flow === name && row.hour === hour)),
    };
  });
  const all = count(() => true);
  const gone = count(({ flow }) => !names.includes(flow));
  const picture: Blocks = [
    heading("The last two days"),
    all >= LATELY_MAX &&
      line(
        say`At least ${LATELY_MAX} documents came. Only the newest ${LATELY_MAX} are counted here.`,
      ),
    flows.length === 0
      ? quiet("Nothing came in the last two days.")
      : bars({
          unit: "documents an hour",
          told: `${all - gone} documents came in the last two days, by the hour; the table of flows has them by flow.`,
          series: flows.map((_, at) => colour(at)),
          columns,
          isStacked: true,
        }),
    gone > 0 && quiet(plural(gone, "document"), " came by flows that are not configured any more."),
  ];
  const cameBy = (name: string): Inline =>
    flows.includes(name)
      ? say`${swatch(colour(flows.indexOf(name)))} ${count((row) => row.flow === name)}`
      : 0;
  return { picture, cameBy };
}

/* Flows: when they look, how they stand, and what an operator may do about them. */

export async function flows(asked: Asked): Promise<Answer> {
  const [status, backfills, looks] = await Promise.all([
    asked.office.status(),
    asked.office.backfills(),
    asked.office.runs(),
  ]);
  const { flows, stops } = status;
  const ofFlow = Map.groupBy(looks, ({ flow }) => flow);
  const body = [
    title("Flows"),
    stops.map((stop) => stopped(stop, asked)),
    flows.length === 0 && line("No flow is configured."),
    flows.map((flow) => cardOf(flow, status, ofFlow.get(flow.name) ?? [], asked)),
    backfills.length > 0 && readAnew(backfills, asked),
  ];
  return { title: "Flows", body };
}

const stopped = (
  { breaker, scope, since, message, next: step, retryAt }: Stop,
  asked: Asked,
): Block =>
  notice(
    "bad",
    heading(say`${scope} is stopped since ${at(since)}: ${breaker}`),
    line(sentence(message)),
    line(next(step), retryText(retryAt)),
    formOf(asked, acts.release, breaker),
  );

function cardOf(flow: FlowStatus, status: Status, looks: readonly Look[], asked: Asked): Block {
  const { name, lastRunAt, nextDueAt, waits, agreed, lastError, silence } = flow;
  const waiting = waitingIn(status, flow);
  const isPaused = flow.state === "paused";
  const form = (act: typeof acts.now | typeof acts.pause | typeof acts.resume): Html =>
    formOf(asked, act, name, { button: `${act.form.button}: ${name}` });
  return {
    is: "card",
    id: flowAnchor(name),
    blocks: [
      heading(say`${name} ${stateMark(flow, needing(status, flow))}`),
      facts([
        ["From", flow.from],
        ["To", flow.to],
        ["Schedule", flow.schedule],
        ["Last look", say`${at(lastRunAt)} ${small(ago(lastRunAt))}`],
        [
          "Next look",
          isPaused
            ? "none while it is paused"
            : say`${at(nextDueAt)} ${small(untilDue(nextDueAt))}`,
        ],
        ["Came", flow.received],
        ["Delivered", flow.delivered],
        ["On the way", flow.pending],
        ["Wait", waiting > 0 && toDocuments(flow, waiting)],
        ["Need you", toDocuments(flow, needing(status, flow))],
        ["Closed", closedIn(flow)],
        ["Wait for payments", waits !== null && plural(waits.count, "document")],
        ["Last agreed", agreed !== null && at(agreed.at)],
      ]),
      [lastError, silence].map(
        (one) => one !== null && line(strong(sentence(one.message)), " ", one.next),
      ),
      flow.late.map(({ count, since, message, next: step }) =>
        line(
          strong(say`${plural(count, "document")} since ${at(since)}: ${sentence(message)}`),
          ` ${step}`,
        ),
      ),
      flow.unread.map((one, index) => unread(name, one, index, asked)),
      folded("Last looks", lastLooks(name, looks)),
      folded("Change", isPaused ? form(acts.resume) : [form(acts.now), form(acts.pause)]),
      flow.from.startsWith("platform.") && !isPaused && past(asked, name),
    ],
  };
}

const unread = (
  name: string,
  { what, code, message, next: step, lasts }: Unread,
  index: number,
  asked: Asked,
): Blocks => [
  line(strong(`${what} ${fateOf({ code, lasts })}.`), ` ${sentence(message)} ${step}`),
  lasts &&
    formOf(asked, acts.settle, name, {
      id: `settle-${name}-${index}`,
      button: `It is seen to: ${what}`,
      fields: hidden({ file: what }),
    }),
  isHeldList(code) &&
    formOf(asked, acts.accept, name, {
      id: `accept-${name}-${index}`,
      button: `The list is right: ${name}`,
    }),
];

const lastLooks = (name: string, looks: readonly Look[]): Blocks =>
  table(
    `The last looks of ${name}, the newest first`,
    looks,
    [
      ["Ended", (look) => say`${at(look.at)} ${small(ago(look.at))}`],
      [
        "Took",
        ({ tookMs }) => (tookMs < 1_000 ? "less than 1 s" : say`${Math.round(tookMs / 1_000)} s`),
      ],
      ["New", ({ received }) => received],
      ["Result", ({ trouble }) => trouble ?? "read to its end"],
    ],
    "It has not looked yet.",
  );

/** Given again for the same days, it goes on where it was. */
const past = (asked: Asked, name: string): Block =>
  folded(
    "Read a past period again",
    line(
      "What the platform changed since the first day is gone through, and documents of the period that never came are ",
      "taken in. New documents are read as before. It stops when the share of the month's requests is used.",
    ),
    formOf(asked, acts.backfill, name, {
      button: `Read the period: ${name}`,
      fields: html`<div class="line">
        ${periodFields(`backfill-${name}-`, {}, true)} ${shareField(name, BACKFILL_SHARE)}
      </div>`,
    }),
  );

const shareField = (id: string, share: number): Html =>
  field(`backfill-${id}-share`, "Percent of the month's requests", {
    type: "number",
    min: 1,
    max: 50,
    required: true,
    value: share,
  });

/** It asks for itself again while one is under way; without a script the page is as it was loaded. */
function readAnew(backfills: readonly BackfillState[], asked: Asked): Blocks {
  const paused = backfills.filter(({ state }) => state === "paused");
  const blocks = section(
    "Past periods that were read again",
    backfillsView(backfills),
    paused.map(({ flow, from, to, share, trouble }, index) => [
      line(strong(`${flow}, ${from} to ${to}`), ` is paused. ${trouble?.next ?? ""}`),
      formOf(asked, acts.backfill, flow, {
        id: `backfill-paused-${index}`,
        button: "Go on with it",
        fields: html`${hidden({ from, to })} ${shareField(`paused-${index}`, share)}`,
      }),
    ]),
  );
  const isReading = backfills.some(({ state }) => state === "reading");
  return isReading ? live("backfills", "/flows", 2, blocks) : blocks;
}

/* The month's requests: what they went to, how long they last, and what is left day by day, as a picture and as a table. */

type Month = Pick<MonthStatus, "month" | "used" | "perMonth" | "forecast" | "purposes" | "days">;
type PurposeName = Month["purposes"][number]["purpose"];

/** One day of the month. Requests. */
interface DayRow {
  /** `2026-11-23`, UTC. */
  readonly day: string;
  /** When it ends, or now, ms UTC. */
  readonly endMs: number;
  /** Counted on this day, by purpose in the order of {@link MonthStatus.purposes}. */
  readonly counted: readonly number[];
  /** Used from the month's start to this day's end, those without a day spread evenly until now. */
  readonly upTo: readonly number[];
}

/** The picture and its table. `nowMs`: ms UTC. */
function burnDown(month: Month, nowMs: number): Blocks {
  const { used, perMonth, forecast } = month;
  const { startMs, endMs } = monthAt(Date.parse(`${month.month}-01T00:00:00Z`));
  const now = Math.min(Math.max(nowMs, startMs + 1), endMs);
  const purposes = month.purposes.filter((one) => one.used > 0);
  const dayless = purposes.map(({ purpose, used: all }) =>
    Math.max(all - sumOf(month.days.map(({ spent }) => spent[purpose] ?? 0)), 0),
  );
  const names = purposes.map(({ purpose }) => purpose);
  const rows = rowsOf(month.days, names, dayless, { startMs, now });
  const atEnd = Math.max(perMonth - forecast.expected, 0);
  const told = `${grouped(perMonth - used)} requests are left now, and about ${grouped(atEnd)} at the end of the month.`;
  const lost = sumOf(dayless);
  return [
    picture({ startMs, endMs, now, names, rows, month, told }),
    quiet(
      "Requests left, by day of the month (UTC). The full line is what was left, the broken one what is expected. The ",
      "bands above the full line are what was used, by purpose, in the order and the colours of the table above. ",
      told,
      lost > 0 &&
        say` ${lost} of the used requests have no day here: other sites with the same API key sent them, or fuelbridge was ended by force. The picture spreads them evenly until now.`,
    ),
    folded(
      "Requests of each day",
      byDay(rows, names, dayless, { perMonth, atEnd, month: month.month }),
    ),
  ];
}

const grouped = (count: number): string => Math.round(count).toLocaleString("en-US");

function rowsOf(
  days: Month["days"],
  names: readonly PurposeName[],
  dayless: readonly number[],
  { startMs, now }: { readonly startMs: number; readonly now: number },
): DayRow[] {
  const known = new Map(days.map(({ day, spent }) => [day, spent]));
  const rows: DayRow[] = [];
  let counts = names.map(() => 0);
  for (let fromMs = startMs; fromMs < now; fromMs += DAY_MS) {
    const day = dayAt(fromMs);
    const endMs = Math.min(fromMs + DAY_MS, now);
    const counted = names.map((name) => known.get(day)?.[name] ?? 0);
    counts = counts.map((count, at) => count + (counted[at] ?? 0));
    const part = (endMs - startMs) / (now - startMs);
    const upTo = counts.map((count, at) => count + (dayless[at] ?? 0) * part);
    rows.push({ day, endMs, counted, upTo });
  }
  return rows;
}

interface Picture {
  readonly startMs: number;
  readonly endMs: number;
  readonly now: number;
  readonly names: readonly PurposeName[];
  readonly rows: readonly DayRow[];
  readonly month: Month;
  readonly told: string;
}

function picture({ startMs, endMs, now, names, rows, month, told }: Picture): Html {
  const { perMonth, used, forecast } = month;
  const x = (ms: number): number =>
    rounded(PLOT.left + ((ms - startMs) / (endMs - startMs)) * (PLOT.right - PLOT.left));
  const y = (left: number): number =>
    rounded(PLOT.bottom - (Math.max(left, 0) / Math.max(perMonth, 1)) * (PLOT.bottom - PLOT.top));
  const end = x(endMs);
  /** What is left below the first `bands` bands, from the month's start until now. */
  const edge = (bands: number): string[] => [
    `${x(startMs)},${y(perMonth)}`,
    ...rows.map((row) => `${x(row.endMs)},${y(perMonth - sumOf(row.upTo.slice(0, bands)))}`),
  ];
  const { runsOut, expected } = forecast;
  const empty = runsOut?.stops === "everything" ? x(Date.parse(runsOut.at)) : null;
  const then = [
    `${x(now)},${y(perMonth - used)}`,
    ...(empty === null ? [] : [`${empty},${y(0)}`]),
    `${end},${y(perMonth - expected)}`,
  ];
  const lastDay = Math.round((endMs - startMs) / DAY_MS);
  const labels = [1, 8, 15, 22, lastDay].map((day) => {
    const ms = startMs + (day - 1) * DAY_MS;
    return { x: x(ms), text: `${MONTHS[new Date(ms).getUTCMonth()]} ${day}` };
  });
  return drawn(
    { told, most: perMonth, unit: "requests left", labels },
    html`${names.map((name, at) => html`<polygon class="${name}" points="${[...edge(at), ...edge(at + 1).toReversed()].join(" ")}" />`)}
      <polyline class="used" stroke-width="3" points="${edge(names.length).join(" ")}" />
      <polyline class="then" stroke-width="2" points="${then.join(" ")}" />`,
  );
}

function byDay(
  rows: readonly DayRow[],
  names: readonly PurposeName[],
  dayless: readonly number[],
  { perMonth, atEnd, month }: { perMonth: number; atEnd: number; month: string },
): Blocks {
  interface Line {
    readonly day: string;
    readonly counted: readonly number[] | null;
    readonly left: number | null;
  }
  const lines: Line[] = [
    ...rows.map(({ day, counted, upTo }) => {
      return { day, counted, left: Math.max(perMonth - sumOf(upTo), 0) };
    }),
    ...(sumOf(dayless) === 0 ? [] : [{ day: "No day known", counted: dayless, left: null }]),
    { day: "Expected at the end of the month", counted: null, left: atEnd },
  ];
  return table(`Requests of each day of ${month} (UTC)`, lines, [
    ["Day", ({ day }) => day],
    ...names.map(
      (name, at) =>
        [PURPOSES[name] ?? name, ({ counted }: Line): Inline => counted?.[at] ?? ""] as const,
    ),
    ["All", ({ counted }) => (counted === null ? "" : sumOf(counted))],
    ["Left", ({ left }) => left ?? ""],
  ]);
}

export async function budget({ office, nowMs }: Asked): Promise<Answer> {
  const month = await office.budget();
  return {
    title: "Budget",
    body: [
      title(`Budget of ${monthName(month.month)}`),
      budgetView(month, swatch),
      burnDown(month, nowMs),
    ],
  };
}

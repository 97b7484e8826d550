/** Is anything wrong? In one glance, and in words when nothing is. */
import { type Lately, LATELY_MAX } from "../../store/queries.ts";
import {
  at,
  beside,
  type Blocks,
  card,
  heading,
  line,
  link,
  live,
  monthName,
  quiet,
  say,
  table,
  title,
} from "../../views/blocks.ts";
import { html } from "../../views/html.ts";
import {
  agreementView,
  flowsView,
  monthView,
  sizeText,
  thingsIn,
  verdictView,
} from "../../views/status.ts";
import { counted } from "../../views/table.ts";
import { LATELY_HOURS } from "../../office/people.ts";
import { bars, colour, sum, swatch } from "../charts.ts";
import type { Answer, Asked } from "../route.ts";

export async function today(asked: Asked): Promise<Answer> {
  const { office, site, nowMs } = asked;
  const [status, lately] = await Promise.all([office.status(), office.lately()]);
  const things = thingsIn(status);
  const { month, used, perMonth } = status.requests;
  const body = live("today", "/", 20, [
    title("Today"),
    verdictView(status),
    flowsView(status),
    lastDays(lately, asked),
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
        agreementView(status, site.currency),
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

/** By the hour as a picture; by what became of them as its table. */
function lastDays(lately: readonly Lately[], { nowMs, site }: Asked): Blocks {
  const flows = [...new Set(lately.map(({ flow }) => flow))];
  const count = (isOne: (row: Lately) => boolean): number =>
    sum(lately.filter(isOne).map((row) => row.count));
  const of =
    (...states: string[]) =>
    (name: string): number =>
      count((row) => row.flow === name && (states.length === 0 || states.includes(row.state)));
  const now = Math.floor(nowMs / HOUR_MS);
  const hourIn = new Intl.DateTimeFormat("en-US", {
    timeZone: site.timeZone,
    weekday: "short",
    hour: "2-digit",
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
  return [
    heading("The last two days"),
    all >= LATELY_MAX &&
      line(
        say`At least ${LATELY_MAX} documents came. Only the newest ${LATELY_MAX} are counted here.`,
      ),
    flows.length > 0 &&
      bars({
        told: `${all} documents came in the last two days, by the hour; the table below has them by flow.`,
        series: flows.map((_, at) => colour(at)),
        columns,
        isStacked: true,
      }),
    table(
      "Documents that came in the last two days, and where they are now",
      flows,
      [
        ["Flow", (name) => [swatch(colour(flows.indexOf(name))), " ", name]],
        ["Came", of()],
        ["Delivered", of("delivered")],
        ["On the way", of("pending", "frozen")],
        ["Wait or need you", of("quarantined")],
        ["Closed", of("skipped", "echo", "resolved", "superseded")],
      ],
      "Nothing came in the last two days.",
    ),
  ];
}

const HOUR_MS = 3_600_000;

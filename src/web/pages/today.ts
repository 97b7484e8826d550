/** Is anything wrong? In one glance, and in words when nothing is. */
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
import { bars, colour, swatch } from "../charts.ts";
import type { Answer, Asked } from "../route.ts";

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

const HOUR_MS = 3_600_000;

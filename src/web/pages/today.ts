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
import { agreementView, flowsView, monthView, thingsIn, verdictView } from "../../views/status.ts";
import { counted } from "../../views/table.ts";
import type { Answer, Asked } from "../route.ts";

export async function today({ office, site, nowMs }: Asked): Promise<Answer> {
  const [status, lately] = await Promise.all([office.status(), office.lately()]);
  const things = thingsIn(status);
  const { month, used, perMonth } = status.requests;
  const body = live("today", "/", 20, [
    title("Today"),
    verdictView(status),
    flowsView(status),
    hour(lately),
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
        line(link("/reconciliation", "Compare a period")),
      ),
    ),
    quiet(
      say`As of ${at(new Date(nowMs).toISOString())}, ${site.timeZone}. Version ${status.version}.`,
    ),
  ]);
  return {
    title:
      things === 0 ? "Today: nothing is wrong" : `Today: ${counted(things, "thing")} to look at`,
    body,
  };
}

function hour(lately: readonly Lately[]): Blocks {
  const flows = [...new Set(lately.map(({ flow }) => flow))];
  const of =
    (...states: string[]) =>
    (name: string): number =>
      lately
        .filter(
          ({ flow, state }) => flow === name && (states.length === 0 || states.includes(state)),
        )
        .reduce((total, { count }) => total + count, 0);
  const came = lately.reduce((total, { count }) => total + count, 0);
  return [
    heading("The last hour"),
    came >= LATELY_MAX &&
      line(
        say`At least ${LATELY_MAX} documents came. Only the newest ${LATELY_MAX} are counted here.`,
      ),
    table(
      "What came in the last hour, and where it is now",
      flows,
      [
        ["Flow", (name) => name],
        ["Came", of()],
        ["Delivered", of("delivered")],
        ["On the way", of("pending", "frozen")],
        ["Wait or need you", of("quarantined")],
        ["Closed", of("skipped", "echo", "resolved", "superseded")],
      ],
      "Nothing came in the last hour.",
    ),
  ];
}

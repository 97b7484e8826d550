/** The end of a month on one page: what is read, delivered, compared, matched and left to people. For paper, too. */
import { lastDayOf } from "../core/time.ts";
import type { Status } from "../office/answers.ts";
import {
  address,
  at,
  type Blocks,
  type Inline,
  line,
  link,
  mark,
  monthName,
  notice,
  plural,
  say,
  strong,
  table,
  title,
} from "./blocks.ts";
import { documentsIn, parted } from "./quarantine.ts";

interface Check {
  readonly what: string;
  readonly isDone: boolean;
  readonly number: Inline;
  readonly where: Inline;
}

/** `month`: `2026-10`. As both sides stand now. */
export function monthEndView(status: Status, month: string): Blocks {
  const checks = checksOf(status, month);
  const open = checks.filter(({ isDone }) => !isDone).length;
  return [
    title(`Month's end: ${monthName(month)}`),
    notice(
      open === 0 ? "good" : "bad",
      line(
        strong(
          open === 0
            ? say`${monthName(month)} may be closed.`
            : say`${plural(open, "point is", "points are")} open.`,
        ),
      ),
    ),
    table(`What closes ${monthName(month)} of ${status.company}`, checks, [
      ["Point", ({ what }) => what],
      ["Done", ({ isDone }) => (isDone ? mark("good", "yes") : mark("bad", "open"))],
      ["Number", ({ number }) => number],
      ["Where", ({ where }) => where, "page"],
    ]),
  ];
}

function checksOf(status: Status, month: string): Check[] {
  const { flows, quarantine, reconciliation, matching, daemon } = status;
  const unread = flows.filter(
    ({ lastError, unread, lastSuccessAt }) =>
      lastError !== null || lastSuccessAt === null || unread.some(({ awaited }) => !awaited),
  );
  const pending = flows.reduce((sum, flow) => sum + flow.pending, 0);
  const left = documentsIn(parted(quarantine)[0]);
  const { lastAt } = reconciliation;
  const isCompared = lastAt !== null && lastAt.slice(0, 7) > month;
  const differences = reconciliation.differences.confirmed + reconciliation.differences.seen;
  const documents = address("/documents", { month, state: "pending" });
  return [
    {
      what: "Everything is read",
      isDone: daemon !== null && unread.length === 0,
      number: unread.length === 0 ? "every flow" : unread.map(({ name }) => name).join(", "),
      where: link("/flows", "Flows"),
    },
    {
      what: "Everything is delivered",
      isDone: pending === 0,
      number: say`${plural(pending, "document")} on the way`,
      where: link(documents, "Documents"),
    },
    {
      what: "Nothing waits for a decision",
      isDone: left === 0,
      number: say`${plural(left, "document")} in quarantine`,
      where: link("/needs-you", "Needs you"),
    },
    {
      what: "Both sides were compared after the month",
      isDone: isCompared,
      number: lastAt === null ? "never" : at(lastAt),
      where: link(address("/reconciliation/cost", daysOf(month)), "Compare the month"),
    },
    {
      what: "Both sides agree",
      isDone: lastAt !== null && differences === 0,
      number: plural(differences, "difference"),
      where: link("/reconciliation", "Reconciliation"),
    },
    {
      what: "Orders, tickets, invoices and prices match",
      isDone: matching.lastAt !== null && matching.open === 0,
      number: matching.lastAt === null ? "never compared" : plural(matching.open, "open finding"),
      where: link(address("/match", daysOf(month)), "Match"),
    },
  ];
}

const daysOf = (month: string) => ({ from: `${month}-01`, to: lastDayOf(month) });

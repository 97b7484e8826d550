/** Past periods that are read anew: what one takes, and what was read so. */
import type { BackfillCost, BackfillState } from "../office/answers.ts";
import type { Backfilling } from "../office/asked.ts";
import {
  ago,
  at,
  type Blocks,
  each,
  entry,
  type Inline,
  next,
  plural,
  say,
  table,
} from "./blocks.ts";

/** What one takes, as it begins. */
export function backfillCostText(
  { flow, from, to, share }: Omit<Backfilling, "by" | "note">,
  { records, requests, left, goesOn }: BackfillCost,
): Inline {
  const takes =
    requests === null
      ? "The platform does not say how many records it has to go through"
      : say`It takes about ${plural(requests, "request")} to the platform for ${plural(records ?? 0, "record")} that changed since, and one more for each record that the list shows in part`;
  return [
    `${goesOn ? "Going on with" : "Reading"} ${flow} from ${from} to ${to}. `,
    say`${takes}; ${left} are left for it this month (${share} %).`,
  ];
}

/** What one has come to. */
export function backfilledView(done: BackfillState): Blocks {
  const { flow, from, to, records, received, requests, trouble } = done;
  const brought = say`${plural(records, "record")} of the period, ${received} of them new or changed, in ${plural(requests, "request")}`;
  return done.state === "done"
    ? entry(
        say`${flow} was read from ${from} to ${to}: ${brought}.`,
        "The live position is where it was. What is new is delivered by the daemon, or by `fuelbridge once`.",
      )
    : entry(
        say`${flow} from ${from} to ${to} is paused. So far: ${brought}.`,
        trouble?.message,
        trouble !== null && next(trouble.next),
      );
}

export const backfillsView = (backfills: readonly BackfillState[]): Blocks =>
  table(
    "Past periods that were read again, the newest first",
    backfills,
    [
      ["Period", ({ from, to }) => `${from} to ${to}`],
      ["Flow", ({ flow }) => flow],
      [
        "State",
        ({ state, trouble }) => (trouble === null ? state : `${state}: ${trouble.message}`),
      ],
      ["Done", ({ done }) => (done === null ? "–" : `${Math.floor(done * 100)} %`)],
      ["Records", ({ records }) => records],
      ["New", ({ received }) => received],
      ["Requests", ({ requests }) => requests],
      ["Asked by", ({ by, beganAt }) => say`${by}, ${each(ago(beganAt), at(beganAt))}`],
    ],
    "No past period was read anew.",
  );

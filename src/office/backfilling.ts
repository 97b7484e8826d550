/** Backfills, as people ask for them. */
import { faultOfDay } from "../core/calendar.ts";
import type { Backfills, Filling } from "../engine/backfill.ts";
import type { Flow } from "../engine/engine.ts";
import type { BackfillRow } from "../store/backfills.ts";
import type { Backfilling, BackfillState, Keeping } from "./keeping.ts";
import { OfficeError } from "./office.ts";

export function backfilling(
  flows: readonly Flow[],
  backfills: Backfills | undefined,
): Pick<Keeping, "backfillCost" | "backfill" | "backfillBegin" | "backfills"> {
  const able = (): Backfills => {
    if (backfills !== undefined) return backfills;
    throw new OfficeError("Nothing can be read anew here.", "Use the fuelbridge command.");
  };
  return {
    backfillCost: async (asked) => able().cost(fillingOf(flows, asked)),
    async backfill(asked) {
      const filling = fillingOf(flows, asked);
      const { records } = await able().cost(filling);
      return stateOf(await able().run(filling, records));
    },
    async backfillBegin(asked) {
      const filling = fillingOf(flows, asked);
      const cost = await able().cost(filling);
      able().begin(filling, cost.records);
      return cost;
    },
    backfills: async () => (backfills?.list() ?? []).map(stateOf),
  };
}

/** @throws OfficeError for a flow that is not there, days that are none, and a share that is none */
function fillingOf(flows: readonly Flow[], asked: Backfilling): Filling {
  const { from, to, share, by, note } = asked;
  const flow = flows.find(({ name }) => name === asked.flow);
  if (flow === undefined)
    throw new OfficeError(
      `There is no flow "${asked.flow}".`,
      `Flows: ${flows.map(({ name }) => name).join(", ")}.`,
    );
  const wrong = [from, to].find((day) => faultOfDay(day) !== null);
  if (wrong !== undefined || from > to)
    throw new OfficeError(
      wrong === undefined ? `${from} to ${to} is no period.` : `"${wrong}" ${faultOfDay(wrong)}.`,
      "Give two days, the first one first: --from 2026-10-01 --to 2026-10-31.",
    );
  if (!Number.isInteger(share) || share < 1 || share > SHARE_MAX)
    throw new OfficeError(
      `${share} is no share of the month's requests.`,
      `Give whole percent from 1 to ${SHARE_MAX}: --share 5.`,
    );
  return { flow, from, to, share, person: { by, note } };
}

/** The rest is for polls, and for writes and what looks for them. */
const SHARE_MAX = 50;

function stateOf(row: BackfillRow): BackfillState {
  const { flow, fromDay, toDay, state, share, askedBy, records, received, requests } = row;
  const { expected, gone, code, message, next } = row;
  return {
    flow,
    from: fromDay,
    to: toDay,
    state,
    share,
    by: askedBy,
    beganAt: new Date(row.beganMs).toISOString(),
    changedAt: new Date(row.changedMs).toISOString(),
    done:
      state === "done"
        ? 1
        : expected === null
          ? null
          : Math.min(gone / Math.max(expected, 1), 0.99),
    records,
    received,
    requests,
    trouble: code === null ? null : { code, message: message ?? "", next: next ?? "" },
  };
}

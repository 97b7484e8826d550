/** Periods that people ask about: what a reconciliation compares, and what a backfill reads anew. */
import { faultOfDay } from "../core/time.ts";
import type { Backfills, Filling } from "../engine/backfill.ts";
import type { Flow } from "../engine/engine.ts";
import type { BackfillRow } from "../store/flows.ts";
import type { Backfilling, Reconciling } from "./asked.ts";
import { OfficeError } from "../core/errors.ts";
import type { OfficeParts } from "./status.ts";

/** @throws OfficeError when no flow is called so */
export function flowNamed(flows: readonly Flow[], name: string): Flow {
  const flow = flows.find((one) => one.name === name);
  if (flow !== undefined) return flow;
  throw new OfficeError(
    `There is no flow "${name}".`,
    `Flows: ${flows.map((one) => one.name).join(", ")}.`,
  );
}

/** @throws OfficeError for days that are none, or the wrong way round */
function expectPeriod({ from, to }: { readonly from: string; readonly to: string }): void {
  const wrong = [from, to].find((day) => faultOfDay(day) !== null);
  if (wrong !== undefined || from > to)
    throw new OfficeError(
      wrong === undefined ? `${from} to ${to} is no period.` : `"${wrong}" ${faultOfDay(wrong)}.`,
      "Give two days, the first one first: --from 2026-10-01 --to 2026-10-31.",
    );
}

/** Of days of which either may be left open. @throws OfficeError as {@link expectPeriod} */
export function expectDays<
  Days extends { readonly from: string | null; readonly to: string | null },
>(days: Days): Days {
  const { from, to } = days;
  const some = from ?? to;
  if (some !== null) expectPeriod({ from: from ?? some, to: to ?? some });
  return days;
}

/** @throws OfficeError where this process cannot do it */
export function needed<Part>(part: Part | undefined, what: string): Part {
  if (part !== undefined) return part;
  throw new OfficeError(what, "Use the fuelbridge command.");
}

/** @throws OfficeError for days that are none, and for a flow that is not there */
export function comparing({ auditor, flows }: OfficeParts, asked: Reconciling) {
  const able = needed(auditor, "Nothing can be reconciled here.");
  const today = able.today();
  const period = { from: asked.from ?? `${today.slice(0, 8)}01`, to: asked.to ?? today };
  expectPeriod(period);
  if (asked.flow !== null) flowNamed(flows, asked.flow);
  return { auditor: able, question: { period, flow: asked.flow, askedBy: asked.by } };
}

export function reconcileCost(parts: OfficeParts, asked: Reconciling) {
  const { auditor, question } = comparing(parts, asked);
  const audit = parts.month.status().purposes.find(({ purpose }) => purpose === "audit");
  const { absent: endpoints, atMostMs } = auditor.awaited(question.flow);
  return {
    ...question.period,
    /** To the platform, about: single reads of what differs come on top. */
    requests: auditor.cost(question),
    /** What the month still allows for this purpose. */
    left: audit?.left ?? 0,
    /** Endpoints that call us and are not there: the run waits for their next session, so long at most, ms. */
    waits: endpoints.length === 0 ? null : { endpoints, atMostMs },
  };
}

/** The rest is for polls, and for writes and what looks for them. Percent. */
const SHARE_MAX = 50;

/** @throws OfficeError for a flow that is not there, days that are none, and a share that is none */
export function filling(
  { flows, backfills }: OfficeParts,
  { flow, from, to, share, by, note }: Backfilling,
): { readonly backfills: Backfills; readonly asked: Filling } {
  const able = needed(backfills, "Nothing can be read anew here.");
  const named = flowNamed(flows, flow);
  expectPeriod({ from, to });
  if (!Number.isInteger(share) || share < 1 || share > SHARE_MAX)
    throw new OfficeError(
      `${share} is no share of the month's requests.`,
      `Give whole percent from 1 to ${SHARE_MAX}: --share 5.`,
    );
  return { backfills: able, asked: { flow: named, from, to, share, person: { by, note } } };
}

/** `reading` also when the process that read has ended: the daemon goes on with it. */
export function backfillState(row: BackfillRow) {
  const { flow, fromDay, toDay, state, share, askedBy, records, received, requests } = row;
  const { expected, gone, code, message, next } = row;
  const gonePart = expected === null ? null : Math.min(gone / Math.max(expected, 1), 0.99);
  return {
    flow,
    from: fromDay,
    to: toDay,
    state,
    share,
    by: askedBy,
    beganAt: new Date(row.beganMs).toISOString(),
    changedAt: new Date(row.changedMs).toISOString(),
    /** Of what it goes through, 0 to 1; null: nobody knows. */
    done: state === "done" ? 1 : gonePart,
    records,
    received,
    requests,
    /** Why it is paused; null: it is not. */
    trouble: code === null ? null : { code, message: message ?? "", next: next ?? "" },
  };
}

/** Of what is wrong now, what people are told unasked: a side that cannot be reached for a moment is not. */
import { PAUSED } from "../core/budget.ts";
import type { FlowStatus, Status } from "../office/answers.ts";
import { concernsOf, pathOf } from "../office/concerns.ts";
import type { Condition } from "../store/journal.ts";

/** Where the console is, without a slash at its end: messages link to it; null: there is none. */
type ConsoleUrl = string | null;

interface Limits {
  /** How long a side cannot be reached before that counts, ms. */
  readonly unreachableMs: number;
}

/** `nowMs`: the wall clock, ms UTC. */
export function conditionsOf(
  status: Status,
  { unreachableMs }: Limits,
  nowMs: number,
  console: ConsoleUrl = null,
): Condition[] {
  const isLong = (since: string | null): boolean =>
    since !== null && nowMs - Date.parse(since) >= unreachableMs;
  // The queue or its workers.
  const brief = status.stops.filter(
    ({ breaker, since }) => breaker === "receiver" && !isLong(since),
  );
  const untold = new Set([
    ...brief.map(({ breaker, scope }) => `stop ${breaker} ${scope}`),
    ...status.flows.filter((flow) => !isOwn(flow)).map(flowKey),
  ]);
  return [
    ...unreachable(status.flows, isLong),
    ...concernsOf(status)
      .filter(({ key }) => !untold.has(key))
      .map(({ key, urgent, title, since, detail, next, page }) => ({
        key,
        urgent,
        title,
        detail: key.startsWith("late ") ? `Since ${since}: ${detail}` : detail,
        next: page === null || console === null ? next : `${next}\n${console}${pathOf(page)}`,
      })),
  ];
}

const flowKey = ({ name, lastError }: FlowStatus): string => `flow ${name} ${lastError?.code}`;

/** What stops one flow alone; a stop is told as such, and a side that cannot be read for all its flows. */
const isOwn = ({ lastError, state }: FlowStatus): boolean =>
  state !== PAUSED && (lastError?.code === "failed" || lastError?.code === "configuration");

/** A side that does not answer is one condition, however many flows read it. */
function unreachable(
  flows: readonly FlowStatus[],
  isLong: (since: string | null) => boolean,
): Condition[] {
  const failing = flows.filter(
    ({ lastError, failingSince }) => lastError?.code === "unavailable" && isLong(failingSince),
  );
  return [...Map.groupBy(failing, ({ from }) => from.split(".", 1)[0] ?? from)].map(
    ([side, those]) => ({
      key: `unreachable ${side}`,
      urgent: true,
      title: `${side} cannot be read`,
      detail: `${those.map(({ name }) => name).join(", ")}: ${those[0]?.lastError?.message ?? ""}`,
      next: those[0]?.lastError?.next ?? "",
    }),
  );
}

/** `quiet`: minutes of the day in `timeZone` (IANA), over midnight where `from` is later than `to`; null: none. */
export function quietHours(
  quiet: { readonly from: number; readonly to: number } | null,
  timeZone: string,
): (wallMs: number) => boolean {
  if (quiet === null) return () => false;
  const { from, to } = quiet;
  const format = new Intl.DateTimeFormat("en", {
    timeZone,
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  });
  return (wallMs) => {
    const parts = format.formatToParts(new Date(wallMs));
    const part = (type: string): number =>
      Number(parts.find((candidate) => candidate.type === type)?.value);
    const minute = part("hour") * 60 + part("minute");
    return from <= to ? minute >= from && minute < to : minute >= from || minute < to;
  };
}

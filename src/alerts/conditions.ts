/** What is wrong now, out of what `status` says: one condition for each thing that a person would act on. */
import { PAUSED, WAITS_FOR_BUDGET } from "../core/budget.ts";
import { fateOf } from "../core/obstacle.ts";
import type { Caller, FlowStatus, Status, Stop } from "../office/answers.ts";
import type { Condition } from "../store/journal.ts";

export interface Limits {
  /** How long a side cannot be reached before that counts, ms. */
  readonly unreachableMs: number;
}

/** `nowMs`: the wall clock, ms UTC. */
export function conditionsOf(
  status: Status,
  { unreachableMs }: Limits,
  nowMs: number,
): Condition[] {
  const isLong = (since: string | null): boolean =>
    since !== null && nowMs - Date.parse(since) >= unreachableMs;
  return [
    ...status.stops.filter((stop) => !isReach(stop) || isLong(stop.since)).map(ofStop),
    ...status.warnings.map(ofWarning),
    ...unreachable(status.flows, isLong),
    ...status.flows.flatMap(ofFlow),
    ...status.callers.flatMap(ofCaller),
    ...ofQuarantine(status),
    ...ofBoth(status),
    ...ofNight(status),
    ...ofBudget(status),
  ];
}

/** The queue or its workers; it is told when it lasts. */
const isReach = ({ breaker }: Stop): boolean => breaker === "receiver";

const ofStop = ({ breaker, scope, message, next }: Stop): Condition => ({
  key: `stop ${breaker} ${scope}`,
  urgent: true,
  title: `Stopped: ${breaker}, ${scope}`,
  detail: message,
  next,
});

/** Its day may move; the condition is the same one. */
const ofWarning = ({ endpoint, code, message, next }: Status["warnings"][number]): Condition => ({
  key: `warning ${endpoint} ${code}`,
  urgent: false,
  title: `${endpoint} will stop unless a person acts`,
  detail: message,
  next,
});
/** One that calls us, and has not for too long. */
const ofCaller = ({ endpoint, silence, waiting }: Caller): Condition[] =>
  silence === null
    ? []
    : [
        {
          key: `silent ${endpoint}`,
          urgent: true,
          title: `${endpoint} does not call`,
          detail: `${silence.message} ${waiting} ${waiting === 1 ? "document waits" : "documents wait"} for it.`,
          next: silence.next,
        },
      ];

/** A side that does not answer is one condition, however many flows read it. */
function unreachable(
  flows: readonly FlowStatus[],
  isLong: (since: string | null) => boolean,
): Condition[] {
  const failing = flows.filter(
    ({ lastError, failingSince }) => lastError?.code === UNAVAILABLE && isLong(failingSince),
  );
  return [...Map.groupBy(failing, ({ from }) => sideOf(from))].map(([side, those]) => {
    const [{ lastError }] = those as [FlowStatus];
    return {
      key: `unreachable ${side}`,
      urgent: true,
      title: `${side} cannot be read`,
      detail: `${those.map(({ name }) => name).join(", ")}: ${lastError?.message ?? ""}`,
      next: lastError?.next ?? "",
    };
  });
}

const UNAVAILABLE = "unavailable";
const sideOf = (end: string): string => end.split(".", 1)[0] ?? end;

/** What stops one flow alone; a stop is told as such. */
function ofFlow({ name, lastError, unread, state, silence, late }: FlowStatus): Condition[] {
  const isOwn =
    lastError !== null &&
    state !== PAUSED &&
    (lastError.code === "failed" || lastError.code === "configuration");
  const stopped = isOwn
    ? [
        {
          key: `flow ${name} ${lastError.code}`,
          urgent: true,
          title: `Flow ${name} is stopped`,
          detail: lastError.message,
          next: lastError.next,
        },
      ]
    : [];
  const files = unread
    .filter(({ awaited }) => !awaited)
    .map(({ what, code, message, next, lasts }) => ({
      key: `unread ${name} ${code} ${what}`,
      urgent: false,
      title: `${name}: ${what} ${fateOf({ code, lasts })}`,
      detail: message,
      next,
    }));
  const silent =
    silence === null
      ? []
      : [
          {
            key: `silent flow ${name}`,
            urgent: false,
            title: `Flow ${name} brings nothing`,
            detail: silence.message,
            next: silence.next,
          },
        ];
  const standing = late
    .filter(({ expected }) => !expected)
    .map(({ code, count, since, message, next }) => ({
      key: `late ${name} ${code}`,
      urgent: false,
      title: `${name}: ${count} ${count === 1 ? "document stands" : "documents stand"} still`,
      detail: `Since ${since}: ${message}`,
      next,
    }));
  return [...stopped, ...files, ...silent, ...standing];
}

/** Each cause by itself: one that is new beside an old one is told. What clears by itself is not. */
const ofQuarantine = ({ quarantine }: Status): Condition[] =>
  quarantine
    .filter(({ helps }) => !helps.includes("wait"))
    .map(({ id, flow, count, cause, next }) => ({
      key: `person ${flow} ${id}`,
      urgent: false,
      title: `${flow}: ${count} ${count === 1 ? "document needs" : "documents need"} a person`,
      detail: cause,
      next: `${next} (fuelbridge quarantine show ${id})`,
    }));

/** A night that could not compare is told, and so is what may have been committed late and is not known. */
function ofNight({ reconciliation }: Status): Condition[] {
  const { notCompared, notWalked } = reconciliation;
  return [
    ...notCompared.map(({ endpoint, kind = "", what = "", why, next }) => ({
      key: `not compared ${endpoint} ${kind} ${what}`.trim(),
      urgent: false,
      title: `Not compared: ${[kind, what, endpoint].filter((part) => part !== "").join(", ")}`,
      detail: why,
      next,
    })),
    ...notWalked.map(({ flow, since, message, next }) => ({
      key: `not walked ${flow}`,
      urgent: false,
      title: `${flow}: what was committed late is not known`,
      detail: `${since === null ? "Its feed was never read anew" : `Its feed was last read anew at ${since}`}: ${message}`,
      next,
    })),
  ];
}

function ofBoth({ reconciliation }: Status): Condition[] {
  const { confirmed, first } = reconciliation.differences;
  if (confirmed === 0) return [];
  const named = first.map(({ kind, number, cause }) => `${kind} ${number}: ${cause}`).join("\n");
  return [
    {
      key: "differences",
      urgent: true,
      title: `Both sides differ in ${confirmed} ${confirmed === 1 ? "record" : "records"}`,
      detail: named,
      next: "fuelbridge reconcile --last names each with both values.",
    },
  ];
}

function ofBudget({ requests, flows }: Status): Condition[] {
  const { used, perMonth, forecast, month } = requests;
  if (used >= perMonth || flows.some(({ lastError }) => lastError?.code === WAITS_FOR_BUDGET))
    return [
      {
        key: `budget spent ${month}`,
        urgent: true,
        title: `The requests of ${month} are used up`,
        detail: `${used} of ${perMonth} requests to the platform are used.`,
        next: "Work goes on by itself when the month allows it. fuelbridge budget status says what used them.",
      },
    ];
  if (forecast.runsOut === null) return [];
  return [
    {
      key: `budget forecast ${month}`,
      urgent: false,
      title: `The requests of ${month} will not last`,
      detail: `${used} of ${perMonth} are used; as it goes they end at ${forecast.runsOut.at} (${forecast.runsOut.stops} stop then).`,
      next: "fuelbridge budget plan proposes intervals that fit.",
    },
  ];
}

/** How things stand, for a terminal. */
import type { ReasonCode } from "../engine/schedule.ts";
import type { Caller, FlowStatus, QuarantineGroup, Status } from "../office/answers.ts";
import { type Concern, concernsOf } from "../office/concerns.ts";
import { stretchText } from "./budget.ts";
import { age, counted, durationText, instant, table } from "./table.ts";

/** For a person who asks each morning: is anything wrong, what waits, and what is to be done? */
export function statusText(status: Status): string {
  const { daemon, requests } = status;
  return [
    `${status.company} (${status.environment}): ${headline(status)}`,
    daemon === null
      ? "The daemon does not run, so nothing is read or sent. Start it with fuelbridge run."
      : `${daemon.command === undefined ? "The daemon runs" : `"fuelbridge ${daemon.command}" works`} since ${instant(daemon.startedAt)} (process ${daemon.pid}).`,
    step(status),
    ...clock(status),
    ...month(requests),
    size(status),
    "",
    flows(status),
    ...concernsOf(status).filter(isSaidHere).flatMap(concernText),
    ...errors(status),
    ...expected(status.flows),
    ...status.callers.flatMap(called),
    ...waits(status.flows),
    ...agreement(status),
    ...quarantine(status),
  ].join("\n");
}

function size({ store: { bytes, freeBytes } }: Status): string {
  const free = freeBytes < MB ? "" : `, of which ${inMegabytes(freeBytes)} are free`;
  return `The store has ${inMegabytes(bytes)}${free}.`;
}

const MB = 1024 * 1024;
const inMegabytes = (bytes: number): string => `${(bytes / MB).toFixed(1)} MB`;

/** What has a heading or a table of its own below: failures that befell many flows, differences, the quarantine, the month. */
const isSaidHere = ({ key }: Concern): boolean =>
  !/^(?:flow|differences|person|budget)\b/.test(key);

const concernText = ({ word, what, since, detail, next, also }: Concern): string[] => [
  "",
  `${word} ${what}${since === null ? "" : ` since ${instant(since)}`}: ${detail}`,
  `  ${next}`,
  ...also.map((line) => `  ${line}`),
];

/** What has not gone on for too long, and nobody is alarmed by; what is told as a stop or a pause is not told twice. */
const expected = (flows: readonly Pick<FlowStatus, "name" | "late">[]): string[] =>
  flows.flatMap(({ name, late }) =>
    late
      .filter((one) => one.expected && one.code !== "stopped" && one.code !== "paused")
      .flatMap(({ code, count, since, message, next }) => [
        "",
        `WAITING ${name}: ${counted(count, "document")} since ${instant(since)} (${code}): ${message}`,
        `  ${next}`,
      ]),
  );

/** What a person has to do first; what clears by itself is counted. */
function quarantine({ quarantine: groups }: Status): string[] {
  const [clearing, own] = [true, false].map((clears) =>
    groups.filter(({ helps }) => helps.includes("wait") === clears),
  ) as [QuarantineGroup[], QuarantineGroup[]];
  const rest = own.slice(GROUPS_SHOWN);
  return [
    ...(own.length === 0
      ? []
      : [
          "",
          `${counted(countOf(own), "document")} in quarantine need${countOf(own) === 1 ? "s" : ""} a person:`,
          table(
            ["GROUP", "FLOW", "COUNT", "AGE", "CAUSE"],
            own
              .slice(0, GROUPS_SHOWN)
              .map(({ id, flow, count, ageMs, cause }) => [
                id,
                flow,
                `${count}`,
                age(ageMs),
                cause,
              ]),
          ),
          ...(rest.length === 0 ? [] : [`and ${counted(rest.length, "more group")}`]),
          "Each with its documents and what to do: fuelbridge quarantine show GROUP",
        ]),
    ...(clearing.length === 0
      ? []
      : [
          "",
          `${counted(countOf(clearing), "document")} in quarantine wait${countOf(clearing) === 1 ? "s" : ""} for something else, and clear by themselves: fuelbridge quarantine list`,
        ]),
  ];
}

const GROUPS_SHOWN = 5;

const countOf = (groups: readonly QuarantineGroup[]): number =>
  groups.reduce((sum, { count }) => sum + count, 0);

function headline({ healthy, daemon }: Status): string {
  if (!healthy) return "needs attention";
  return daemon === null ? "nothing is wrong, but nothing runs" : "all is well";
}

/** What each of the reasons means is told below, under its own heading. */
function step({ outOfStep }: Status): string {
  if (outOfStep.length === 0) return "In step, as of the last look of each flow.";
  const groups = Map.groupBy(outOfStep, ({ code }) => code);
  const said = [...groups].map(([code, alike]) => {
    const flows = alike.flatMap(({ flow, count }) =>
      flow === null ? [] : [count === null ? flow : `${flow} (${count})`],
    );
    const shown = flows.slice(0, NAMED).join(", ");
    const others = flows.length - NAMED;
    if (flows.length === 0) return WORDS[code];
    return `${WORDS[code]}: ${shown}${others > 0 ? ` and ${counted(others, "other flow")}` : ""}`;
  });
  return `Not in step. ${said.join("; ")}.`;
}

const WORDS: Readonly<Record<ReasonCode, string>> = {
  stopped: "stopped",
  "never-read": "never read",
  unread: "not read",
  pending: "not delivered yet",
  paused: "paused",
  waits: "waiting for payments",
};

function clock({ clockJump }: Status): string[] {
  if (clockJump === null) return [];
  const { at, byMs } = clockJump;
  const by = durationText(Math.max(Math.round(Math.abs(byMs) / 1_000), 1) * 1_000);
  return [
    `The clock of this machine was set ${byMs < 0 ? "back" : "forward"} by ${by} (seen at ${instant(at)}): due times were set by it anew. If that was not you, check its time service.`,
  ];
}

function month({ month, used, perMonth, forecast }: Status["requests"]): string[] {
  const all = `${used} of ${counted(perMonth, "request")} to the platform are used in ${month}.`;
  if (used >= perMonth)
    return [all, "Nothing is sent before the month turns, or platform.budget.perMonth is raised."];
  const isUsual = forecast.stretch <= 1 && forecast.runsOut === null;
  return isUsual ? [all] : [all, stretchText(forecast)];
}

function flows({ flows, daemon }: Status): string {
  const isLooking = daemon !== null && daemon.command === undefined;
  const rows = flows.map((flow) => [
    flow.name,
    flow.state,
    instant(isLooking && !LOOKLESS.has(flow.state) ? flow.nextDueAt : null),
    String(flow.received),
    String(flow.delivered),
    String(flow.pending),
    String(flow.quarantined),
    String(closed(flow)),
  ]);
  if (rows.length === 0) return "No flow is configured: nothing is kept in step.";
  const header = ["FLOW", "STATE", "NEXT LOOK", "RECEIVED", "DELIVERED", "PENDING", "QUARANTINED"];
  const all = table([...header, "CLOSED"], rows);
  return flows.some((flow) => closed(flow) > 0) ? `${all}\n\n${CLOSED}` : all;
}

/** What both sides agree on, since when and in money; and what they do not. */
function agreement({ flows, reconciliation }: Status): string[] {
  const { lastAt, trouble, nextDueAt, everyNights, wantsShare, differences, waits } =
    reconciliation;
  const agreed = flows.flatMap(({ name, agreed }) =>
    agreed === null
      ? []
      : [[name, instant(agreed.at), String(agreed.documents), agreed.amount ?? "-"]],
  );
  const next = nextDueAt === null ? "" : ` The next time is ${instant(nextDueAt)}.`;
  return [
    "",
    lastAt === null
      ? `Both sides were never compared: fuelbridge reconcile.${next}`
      : `Both sides were last compared ${instant(lastAt)}.${next}`,
    ...(trouble === null ? [] : [`The last comparison ended without an answer: ${trouble}`]),
    ...(waits === null
      ? []
      : [
          `A comparison waits for "${waits.endpoint}" since ${instant(waits.since)}, until ${instant(waits.until)} at most: ${waits.message}`,
          `  ${waits.next}`,
        ]),
    ...(everyNights === 1
      ? []
      : [`It is done every ${everyNights} nights, to keep within its share of the month.`]),
    ...(wantsShare === null
      ? []
      : [`platform.budget.share.audit: ${wantsShare} would do for a comparison a week.`]),
    ...(differences.confirmed + differences.seen === 0
      ? []
      : [
          `${counted(differences.confirmed, "difference")} confirmed, and ${differences.seen} seen once:`,
          ...differences.first.map(
            ({ kind, number, bucket, cause }) => `  ${kind} ${number}: ${bucket}: ${cause}`,
          ),
          "Each with both values and what to do: fuelbridge reconcile --last",
        ]),
    ...(differences.clears === 0
      ? []
      : [`${counted(differences.clears, "invoice")} paid in part: nothing is to be done.`]),
    ...(differences.accepted === 0
      ? []
      : [
          `${counted(differences.accepted, "difference")} accepted by a person: nothing is to be done.`,
        ]),
    ...(agreed.length === 0
      ? []
      : ["", table(["FLOW", "LAST AGREED", "DOCUMENTS", "AMOUNT"], agreed)]),
  ];
}

/** One is looking now, and nobody will look at the other. */
const LOOKLESS: ReadonlySet<string> = new Set<FlowStatus["state"]>(["running", "paused"]);

/** One that calls us: when it was here, and what waits for it. */
function called({ endpoint, lastAt, isHere, waiting }: Caller): string[] {
  const was = isHere
    ? "is here"
    : lastAt === null
      ? "has never called"
      : `was last here ${instant(lastAt)}`;
  const waits = `${counted(waiting, "document")} wait${waiting === 1 ? "s" : ""}`;
  const next = waiting === 0 ? "" : isHere ? `; ${waits}` : `; ${waits} for its next call`;
  return ["", `${endpoint} ${was}${next}.`];
}

/** Nobody need do anything about them. */
const waits = (flows: readonly Pick<FlowStatus, "name" | "waits">[]): string[] =>
  flows.flatMap(({ name, waits }) =>
    waits === null
      ? []
      : [
          "",
          `${name}: ${counted(waits.count, "document")} wait${waits.count === 1 ? "s" : ""} for payments, until ${instant(waits.until)} at the latest.`,
        ],
  );

/** Nothing is left to do about them. */
const closed = ({ skipped, echoes, resolved, superseded }: FlowStatus): number =>
  skipped + echoes + resolved + superseded;

const CLOSED =
  "CLOSED: rightly not delivered (drafts, our own documents read back), replaced by newer versions, or settled by hand.";

/** What befell many flows alike is said once. */
function errors({ flows }: Status): string[] {
  const failed = flows.flatMap(({ name, lastError }) =>
    lastError === null ? [] : [{ name, text: `${lastError.message}\n  ${lastError.next}` }],
  );
  return [...Map.groupBy(failed, ({ text }) => text)].flatMap(([text, alike]) => {
    const names = alike.slice(0, NAMED).map(({ name }) => name);
    const others = alike.length - names.length;
    const rest = others === 0 ? "" : ` and ${counted(others, "other flow")}`;
    return ["", `${names.join(", ")}${rest}: ${text}`];
  });
}

const NAMED = 4;

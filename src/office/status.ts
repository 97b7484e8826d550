/** How things stand: flows, stops, callers, what is late, the month, and whether both sides agree. */
import type { Tables } from "../config/crossref.ts";
import { type Governor, PAUSED, waitsForRequests } from "../core/budget.ts";
import type { Endpoint } from "../core/contract.ts";
import type { FaultCode } from "../core/faults.ts";
import { DAY_MS, dayBefore, iso, lastDayOf } from "../core/time.ts";
import { placeOf, type Quiet, toldOf } from "../core/silence.ts";
import type { Backfills } from "../engine/backfill.ts";
import { unreadBy } from "../engine/breakers.ts";
import type { Daemon } from "../engine/daemon.ts";
import { endpointOf, type Engine, type Flow, type Schedule } from "../engine/engine.ts";
import { type Asking, type LateCode, lateOf, outOfStep, patienceOf } from "../engine/schedule.ts";
import { keptFindings, lastMatch, type Matcher, matchTrouble } from "../engine/match.ts";
import { AGAIN, type Auditor, DAEMON, type Nightly, telling } from "../engine/reconcile/nightly.ts";
import type { FlowRow } from "../store/flows.ts";
import type { Store } from "../store/store.ts";
import type { MonthReport } from "./month.ts";
import { type Group, groupsOf, partyOf } from "./quarantine.ts";
import { holdingKindOf } from "../core/kinds.ts";
import { type Bucket, isPaidInPart } from "../reconcile/case.ts";
import type { MatchReport } from "../match/report.ts";
import type { CaseRow, Unasked } from "../reconcile/report.ts";
import { type DifferenceRow, ENDED, type Found, type SweepRow } from "../store/reconciliation.ts";
import type { Person } from "./asked.ts";
import { OfficeError } from "../core/errors.ts";

/** What a person should see to before something stops, or is done as nobody means it. `code`: stable, kebab-case. */
export interface Warning {
  readonly endpoint: string;
  readonly code: string;
  /** Left out: that the endpoint will stop. */
  readonly title?: string;
  readonly message: string;
  readonly next: string;
  /** It is told at night, too. Left out: not. */
  readonly urgent?: boolean;
}

/** A breaker: something that pauses work and harms nothing. */
export interface Stop {
  readonly breaker: string;
  readonly scope: string;
  readonly since: string;
  readonly message: string;
  readonly next: string;
  /** When it is tried again by itself, ISO 8601 UTC; null: nobody knows, or a person has to release it. */
  readonly retryAt: string | null;
}

export interface OfficeParts {
  readonly engine: Engine;
  readonly flows: readonly Flow[];
  /** By their names. */
  readonly endpoints: ReadonlyMap<string, Pick<Endpoint, "presence" | "readAgain">>;
  /** Null when no daemon runs in this process. */
  readonly daemon: Daemon | null;
  readonly version: string;
  readonly startedAt: Date;
  readonly month: MonthReport;
  /** What keeps requests from being carried to the platform, though none has met it yet. */
  readonly trouble: () => Pick<Stop, "since" | "message" | "next"> | null;
  /** What will stop unless a person acts. */
  readonly warnings: () => readonly Warning[];
  readonly auditor: Auditor;
  /** Compares papers that are stored. */
  readonly matcher: Matcher;
  /** What the daemon reconciles by itself; null: nothing. */
  readonly nightly: Nightly | null;
  /** Admits what commands send by themselves. */
  readonly governor: Governor;
  /** Reads past periods anew. */
  readonly backfills: Backfills;
  /** The cross-reference tables. */
  readonly tables: Tables;
}

/** The process that works on the store. `command`: left out where it is `fuelbridge run`. */
interface RunningDaemon {
  readonly pid: number;
  /** ISO 8601 UTC */
  readonly startedAt: string;
  readonly command?: string;
}

export type Status = ReturnType<typeof status>;

export function status(parts: OfficeParts) {
  const { engine, flows, daemon, version, startedAt } = parts;
  const { company, environment } = engine;
  const { month, used, perMonth, forecast, bought, slowed } = parts.month.status();
  const agreed = agreements(engine);
  const all = flows.map((flow) => ({
    ...flowStatus(engine, flow, daemon),
    /** When both sides last agreed, and their amount in the company's currency; null: never, as far as anybody has looked. */
    agreed: agreed.get(flow.name) ?? null,
  }));
  const callers = callersOf(parts.endpoints, all);
  const reconciliation = reconciliationStatus(engine, parts.nightly, parts.auditor);
  const stops = stopsBeside(callers, stopsOf(parts));
  const quarantine = groupsOf(engine);
  const late = lateIn(engine, quarantine, {
    stops,
    away: awaited(callers),
    worksSinceMs: daemon === null ? null : startedAt.getTime(),
  });
  const states = flowsBeside(callers, all).map((flow) => ({ ...flow, late: late(flow.name) }));
  return {
    version,
    company,
    environment,
    /** Null when no daemon runs. */
    daemon: (daemon === null
      ? null
      : { pid: process.pid, startedAt: startedAt.toISOString() }) as RunningDaemon | null,
    /** Nothing below needs a person or stands still, the sides have no confirmed difference, and the month has requests left. */
    healthy:
      stops.length === 0 &&
      callers.every(({ silence }) => silence === null) &&
      reconciliation.differences.confirmed === 0 &&
      reconciliation.notCompared.length === 0 &&
      reconciliation.notWalked.length === 0 &&
      used < perMonth &&
      states.every(
        ({ lastError, quarantined, unread, silence, late }) =>
          (lastError === null || waitsForRequests(lastError.code)) &&
          quarantined === 0 &&
          silence === null &&
          late.every(({ expected }) => expected) &&
          unread.every(({ awaited }) => awaited),
      ),
    /** Why both sides are not in step, as far as the store knows; empty: they are. */
    outOfStep: outOfStep(engine, flows, stops),
    flows: states,
    stops,
    /** What a person should do before something stops; nothing of it makes this unhealthy yet. */
    warnings: parts.warnings(),
    /** What the platform's records have that the contract does not know; it stops nothing. */
    drift: driftsOf(parts),
    /** Endpoints that call us, and what waits for their next call. */
    callers,
    /** All groups, the largest first; the flows' `quarantined` are their deliveries. */
    quarantine: quarantine.map(({ shown }) => shown),
    reconciliation,
    /** Papers compared with each other, by the last run (`match`). */
    matching: matchingStatus(parts),
    /** The last time that the daemon found this machine's clock set, and by how much (ms, negative: back). */
    clockJump: daemon?.clockJump ?? null,
    store: engine.store.retention.size(),
    /** Requests to the platform in this calendar month (UTC). */
    requests: { month, used, perMonth, forecast, bought, slowed },
  };
}

/** The newest first; `mappings`: those here that take such records. */
export const driftsOf = ({ engine, flows }: Pick<OfficeParts, "engine" | "flows">) =>
  engine.store.drifts.all().map(({ firstMs, lastMs, ...drift }) => {
    const of = flows.find(({ name }) => name === drift.flow);
    const alike = flows.filter(({ from }) => from === of?.from);
    return {
      ...drift,
      first: iso(firstMs),
      last: iso(lastMs),
      from: of?.from ?? drift.flow,
      mappings: [...new Set(alike.map(({ mapping }) => mapping.name))],
      isNews: engine.clock.now().wallMs - firstMs < DRIFT_NEWS_MS,
    };
  });

/** For so long a person is told of it unasked. */
const DRIFT_NEWS_MS = 3 * 24 * 3_600_000;

/** Findings that nobody has settled, and of them those above the amount that the site wants to be told of. */
function matchingStatus({ engine, matcher }: OfficeParts) {
  const open = keptFindings(engine).filter(({ state }) => state === "open");
  const above = matcher.alertAbove;
  return {
    /** ISO 8601 UTC; null: never. */
    lastAt: lastMatch(engine)?.at ?? null,
    /** Why the last run ended without an answer, and what to do; null: it did not. */
    trouble: matchTrouble(engine),
    /** Findings that nobody has accepted or disputed. */
    open: open.length,
    /** Of them, those above the amount that the site sets (`match.alertAbove`). */
    large:
      above === null
        ? []
        : open
            .filter(({ amount }) => amount !== null && Number(amount) > above)
            .map(({ key, partyName, amount, cause, next, since, papers }) => ({
              key,
              since,
              what: papers.map(({ kind, number }) => `${kind} ${number}`).join(", "),
              party: partyName,
              amount: amount ?? "",
              cause,
              next,
            })),
  };
}

/** The store tells of what a request has met; the queue, of what the next one would. */
function stopsOf({ engine, trouble }: OfficeParts): Stop[] {
  const now = trouble();
  const queue =
    now === null ? [] : [{ breaker: "receiver", scope: "platform", retryAt: null, ...now }];
  const stops = engine.store.journal
    .breakers()
    .filter(({ breaker, scope }) =>
      queue.every((one) => one.breaker !== breaker || one.scope !== scope),
    );
  return [
    ...stops.map(({ sinceMs, retryMs, ...stop }) => ({
      ...stop,
      since: iso(sinceMs),
      retryAt: isoOrNull(retryMs),
    })),
    ...queue,
  ];
}

/** received = pending + delivered + skipped + echoes + quarantined + resolved + superseded, always. */
export type FlowStatus = Status["flows"][number];

/** `paused: budget`: it goes on when the month allows it. */
type FlowState = "idle" | "running" | "paused" | typeof PAUSED | "stopped";

function flowStatus(engine: Engine, flow: Flow, daemon: Daemon | null) {
  const { store, clock } = engine;
  const row = store.flows.find(flow.name);
  const counts = store.deliveries.counts(flow.flow);
  const count = (state: string): number => counts.get(state) ?? 0;
  const waits = store.waits.ofFlow(flow.flow);
  const stop = unreadBy(engine, flow);
  // 0: it was asked to look at once.
  const dueMs = row?.next_due_ms === 0 ? clock.now().wallMs : (row?.next_due_ms ?? null);
  const state: FlowState = flow.paused
    ? "paused"
    : daemon?.isRunning(flow.name)
      ? "running"
      : stateAfter(row);
  return {
    name: flow.name,
    from: flow.from,
    to: flow.to,
    state,
    schedule: scheduleText(flow.schedule),
    lastRunAt: isoOrNull(row?.last_run_ms),
    /** When its source was last read; null: never. ISO 8601 UTC, as the next. */
    lastSuccessAt: isoOrNull(row?.success_ms),
    /** Since when its source cannot be read; null: it can. */
    failingSince: isoOrNull(row?.failing_ms),
    /** Not before its stop ends; null: nobody knows when. */
    nextDueAt: isoOrNull(
      stop === null ? dueMs : stop.untilMs && Math.max(stop.untilMs, dueMs ?? 0),
    ),
    lastError: lastErrorOf(row),
    received: [...counts.values()].reduce((sum, one) => sum + one, 0),
    pending: count("pending") + count("frozen"),
    delivered: count("delivered"),
    /** Rightly not delivered: drafts, cancelled documents, content that did not change what was sent. */
    skipped: count("skipped"),
    /** Of these, how many records are other sites' with the same API key, by site. */
    elsewhere: store.deliveries.elsewhere(flow.flow),
    /** Our own documents, read back. */
    echoes: count("echo"),
    quarantined: count("quarantined"),
    resolved: count("resolved"),
    /** Replaced by a newer version before it went out. */
    superseded: count("superseded"),
    /** Documents that may have arrived, and when they are looked for (ISO 8601 UTC); null: at once. */
    doubtful: store.underWay
      .doubtful(flow.flow)
      .map(({ number, untilMs }) => ({ number, until: isoOrNull(untilMs) })),
    /** Delivered, and waiting for what settles them (an invoice for its payments), the last of them until `until`. */
    waits: waits === null ? null : { count: waits.count, until: iso(waits.untilMs) },
    /**
     * What its source cannot read though it lies there, or has refused (`lasts`: until a person settles it or it comes
     * whole), the oldest first. `awaited`: whoever writes it is not done yet; `behind`: newer ones that are not read before
     * it, all counted, the first 20 named.
     */
    unread: store.obstacles
      .of(flow.flow)
      .map(({ what, fault, awaited, behind, sinceMs, lasts }) => {
        const { code, message, next } = fault;
        return { what, since: iso(sinceMs), code, message, next, awaited, lasts, behind };
      }),
    /** Nothing came into its source for longer than ever before, or than is set; null: no such silence is known. */
    silence: silenceOf(store, flow),
  };
}

function stateAfter(row: FlowRow | null): FlowState {
  const error = lastErrorOf(row);
  if (error === null) return "idle";
  return waitsForRequests(error.code) ? PAUSED : "stopped";
}

/**
 * Why the last run did not read its source, with what to do; null when it did. `code`: a stop's name, `budget`, `turn`,
 * `configuration`, `failed` (a fault in fuelbridge or a mapping), else `unavailable`.
 */
function lastErrorOf(row: FlowRow | null) {
  if (row === null || row.last_error === null) return null;
  const { last_error_code: code, last_error: message, last_error_next: next } = row;
  return { code: code ?? "unavailable", message, next: next ?? "" };
}

function scheduleText(schedule: Schedule): string {
  if ("cron" in schedule) return `${schedule.cron} (${schedule.timeZone})`;
  if ("auto" in schedule) return "auto";
  const seconds = schedule.everyMs / 1_000;
  return seconds % 60 === 0 ? `every ${seconds / 60}m` : `every ${seconds}s`;
}

/** Null: it is not silent, or paused. */
function silenceOf(store: Store, { flow, source, paused }: Flow): Quiet | null {
  const silence = paused ? null : store.rhythms.silence(flow);
  if (silence === null) return null;
  const { sinceMs, longestMs, limitMs } = silence;
  return {
    since: new Date(sinceMs).toISOString(),
    longestMs,
    limitMs,
    ...toldOf(silence, placeOf(source)),
  };
}

/** @param flows of all endpoints */
function callersOf(
  endpoints: ReadonlyMap<string, Pick<Endpoint, "presence">>,
  flows: readonly { readonly to: string; readonly pending: number }[],
) {
  return [...endpoints].flatMap(([endpoint, { presence }]) => {
    if (presence === undefined) return [];
    const waiting = flows
      .filter(({ to }) => endpointOf(to) === endpoint)
      .reduce((sum, { pending }) => sum + pending, 0);
    return [{ endpoint, waiting, ...presence() }];
  });
}

type Caller = ReturnType<typeof callersOf>[number];

/** Between two of its calls: not here, as usual, and not silent for too long. */
const awaited = (callers: readonly Caller[]): ReadonlySet<string> =>
  new Set(
    callers.flatMap(({ endpoint, isAwaited, silence }) =>
      isAwaited && silence === null ? [endpoint] : [],
    ),
  );

/** That nobody is there between two calls stops nothing that would go otherwise. */
function stopsBeside(callers: readonly Caller[], stops: readonly Stop[]): Stop[] {
  const usual = awaited(callers);
  return stops.filter(({ breaker, scope }) => breaker !== "receiver" || !usual.has(scope));
}

/** The same for what is read from them. */
function flowsBeside<Row extends ReturnType<typeof flowStatus>>(
  callers: readonly Caller[],
  flows: readonly Row[],
): Row[] {
  const usual = awaited(callers);
  return flows.map((flow) =>
    flow.lastError?.code === "unavailable" && usual.has(endpointOf(flow.from))
      ? { ...flow, lastError: null, failingSince: null, state: "idle" }
      : flow,
  );
}

/** Waits that no flow ends: for a payer nobody waits in vain, and a draft is looked at once a day. */
const OWN_PATIENCE: Readonly<Partial<Record<FaultCode, number>>> = {
  "partly-paid": Infinity,
  "draft-at-receiver": DAY_MS,
};

/**
 * Of the flow of this name: on its way for longer than the flow's interval and its receiver's settling, or waiting for another
 * for as long. `since`: of the oldest. `expected`: it is told as a stop or a pause, or its turn comes while others go out, and
 * nobody is alarmed by it. `quarantine`: all groups.
 */
function lateIn(engine: Engine, quarantine: readonly Group[], asking: Asking) {
  const { flows } = engine;
  const clearing = quarantine.filter(({ shown }) => shown.helps.includes("wait"));
  return (name: string) => {
    const flow = flows.find((one) => one.name === name);
    if (flow === undefined) return [];
    return [
      ...lateOf(engine, flow, asking).map(({ sinceMs, ...late }) => ({
        ...late,
        since: new Date(sinceMs).toISOString(),
      })),
      ...clearing
        .filter((group) => group.shown.flow === name)
        .flatMap((group) => waits(engine, flow, group)),
    ];
  };
}

/** It clears by itself, and has not for longer than what it waits for takes to be read and delivered. */
function waits(engine: Engine, flow: Flow, { shown, causes }: Group) {
  const { code, count, since, cause, next } = shown;
  const { flows, clock } = engine;
  // Whatever it waits for comes by one of them.
  const patienceMs =
    OWN_PATIENCE[code as FaultCode] ??
    patienceOf(engine, flow) +
      Math.max(...flows.filter(({ paused }) => !paused).map((one) => patienceOf(engine, one)), 0);
  if (Math.abs(clock.now().wallMs - Date.parse(since)) <= patienceMs) return [];
  const expected =
    causes.length > 0 && causes.slice(0, ASKED_MAX).every((one) => isSeenTo(engine, one));
  return [{ code: "waits" as LateCode, count, since, message: cause, next, expected }];
}

/** So many awaited documents are looked for. */
const ASKED_MAX = 50;

/** What is awaited is on its way or a person's: it is told itself. */
const isSeenTo = (
  { flows, store }: Engine,
  { awaitsKind, awaitsId }: Group["causes"][number],
): boolean =>
  awaitsId !== null &&
  flows.some((flow) => {
    if (flow.mapping.kind !== awaitsKind || flow.paused) return false;
    const record = store.openRecords.newest(flow.flow, awaitsId);
    return record !== null && record.skipped === null && record.closed === null;
  });

const isoOrNull = (ms: number | null | undefined): string | null =>
  ms === null || ms === undefined ? null : iso(ms);

/* Do both sides agree, and since when? What the store knows of reconciliations, for `status`. */

/**
 * `nightly`: null when no daemon runs, or it does not reconcile by itself. `auditor`: left out where nobody can be
 * waited for.
 */
export function reconciliationStatus(
  engine: Engine,
  nightly: Nightly | null,
  auditor?: Pick<Auditor, "waiting">,
) {
  const { sweeps } = engine.store;
  const { differences: all, accepted } = knownDifferences(engine);
  const known = all.filter((one) => !isPaidInPart(one.row));
  const last = sweeps.lastEnded();
  const done = sweeps.lastDone();
  const pace = nightly?.pace();
  return {
    /** When the daemon last compared both sides whole, ISO 8601 UTC; null: never. */
    lastAt: isoOrNull(done?.endedMs ?? null),
    /** Why the last run ended without an answer; null: it did not. */
    trouble: last?.state === "failed" ? last.detail : null,
    /** Whom a run waits for, since when and until when at most (ISO 8601 UTC); null: nobody. */
    waits: auditor?.waiting ?? null,
    /** What the daemon's last run could not compare, and what to do. What a connector can never tell is not named. */
    notCompared: notComparedIn(engine),
    /** Feeds that could not be read anew for what was committed late; it is tried again within the hour. */
    notWalked: engine.flows.flatMap(({ flow, name, paused }) => {
      const walk = paused ? null : sweeps.deepWalk(flow);
      if (walk === null || walk.failedMs === null) return [];
      const { message, next, walkedMs } = walk;
      return [{ flow: name, since: isoOrNull(walkedMs), message: message ?? "", next: next ?? "" }];
    }),
    /** Null: the daemon does not do it by itself. */
    nextDueAt: isoOrNull(nightly?.dueMs() ?? null),
    /** Nights between two runs, so that they fit into their share of the month; 1: every night. */
    everyNights: pace?.everyNights ?? 1,
    /** The share of the month that would do, percent; null: it suffices. */
    wantsShare: pace?.wantsShare ?? null,
    /** Those that a second run has confirmed, and those `seen` by one; `first` of both. Beside them: `clears`, by themselves. */
    differences: {
      confirmed: known.filter(({ confirmed }) => confirmed).length,
      seen: known.filter(({ confirmed }) => !confirmed).length,
      clears: all.length - known.length,
      accepted: accepted.length,
      first: known
        .slice(0, FIRST_MAX)
        .map(({ kind, number, bucket, cause }) => ({ kind, number, bucket, cause })),
    },
  };
}

/** `kind` left out: all that there is. */
interface NotCompared extends Pick<Unasked, "endpoint" | "why" | "what"> {
  readonly kind?: string;
  readonly next: string;
}

/**
 * Whether a month (`2026-10`; null: the last one that is over by the company's calendar) may be closed: how all stands now, and when each comparison that had the whole month was made
 * after it, ISO 8601 UTC; null: never.
 */
export function monthEnd(parts: OfficeParts, asked: string | null) {
  const { store, dayOf, clock } = parts.engine;
  const firstOfMonth = `${dayOf(iso(clock.now().wallMs)).slice(0, 7)}-01`;
  const month = asked ?? dayBefore(firstOfMonth).slice(0, 7);
  const days = { from: `${month}-01`, to: lastDayOf(month) };
  /** Begun after the month. */
  const after = (run: SweepRow | null): SweepRow | null =>
    run !== null && dayOf(iso(run.startedMs)) > days.to ? run : null;
  const compared = after(store.sweeps.lastOf(days));
  const matched = after(store.sweeps.lastMatchedOf(days));
  const now = status(parts);
  const { paused = [], read = [] } = Object.groupBy(now.flows, ({ state }) =>
    state === "paused" ? "paused" : "read",
  );
  const isRead = ({ lastError, lastSuccessAt, unread }: FlowStatus): boolean =>
    lastError === null &&
    lastSuccessAt !== null &&
    dayOf(lastSuccessAt) > days.to &&
    unread.every(({ awaited }) => awaited);
  return {
    month,
    /** Flows whose sources were not read, or not whole, since the month ended. */
    unread: read.filter((flow) => !isRead(flow)).map(({ name }) => name),
    /** Flows that the configuration pauses: nobody reads their sources. */
    paused: paused.map(({ name }) => name),
    comparedAt: isoOrNull(compared?.endedMs),
    /** What that comparison could not compare, and what to do. */
    notCompared: compared === null ? [] : unaskedIn(compared),
    matchedAt: isoOrNull(matched?.endedMs),
    /** Invoices to which nothing was there with which they could be matched. */
    alone: (JSON.parse(matched?.counts ?? "{}") as Partial<MatchReport>).invoices?.alone ?? 0,
    status: now,
  };
}

/** By the daemon's own last run; one that a restart ended is made anew. */
function notComparedIn({ store: { sweeps } }: Engine): NotCompared[] {
  const runs = [DAEMON, AGAIN].flatMap((by) => sweeps.lastBy(by) ?? []);
  const [last] = runs.toSorted((one, other) => other.sweep - one.sweep);
  if (last === undefined || last.state === "reading") return [];
  if (last.state === "failed")
    return last.counts === null && last.detail !== ENDED
      ? [{ endpoint: "both sides", why: last.detail ?? "", next: TRIED_AGAIN }]
      : [];
  return unaskedIn(last);
}

const unaskedIn = ({ unasked }: SweepRow): NotCompared[] =>
  (JSON.parse(unasked ?? "[]") as Unasked[]).flatMap(({ next, paused, ...one }) =>
    next === undefined || paused === true ? [] : [{ ...one, next }],
  );

const TRIED_AGAIN = "It is tried again every hour; see what its message says.";

const FIRST_MAX = 5;

/** What is not settled, from the store. */
export function knownDifferences(engine: Engine) {
  const { sweeps } = engine.store;
  const all = [...sweeps.inState("open"), ...sweeps.inState("seen")];
  // What waits is settled by itself, and what is with a person is in the quarantine.
  const rows = all.filter(({ bucket }) => telling.has(bucket as Bucket));
  return {
    lastAt: isoOrNull(sweeps.lastDone()?.endedMs ?? null),
    /** How many the last run found besides: told elsewhere, and no agreement all the same. */
    undelivered: all.length - rows.length,
    /** Confirmed ones first, then as they were first seen. */
    differences: rows.map((row) => knownIn(engine, row)),
    /** What a person has accepted as it is, until its values change. */
    accepted: sweeps.inState("accepted").map((row) => knownIn(engine, row)),
  };
}

function knownIn(
  engine: Engine,
  { kind, number, bucket, cause, next, state, firstMs, lastMs, row: text }: DifferenceRow,
) {
  const { flows } = engine;
  const row = JSON.parse(text ?? "null") as CaseRow;
  return {
    kind,
    /** The flow by which a person may accept it; null: it is not theirs to accept, or no flow carries it. */
    flow: flows.find((flow) => mayAccept(flow, { kind, bucket }))?.name ?? null,
    number,
    bucket,
    cause,
    next,
    /** A second run, the settling time later, found it just so. */
    confirmed: state === "open",
    /** It is settled by itself: nothing is to be done. */
    clears: isPaidInPart(row),
    since: new Date(firstMs).toISOString(),
    last: new Date(lastMs).toISOString(),
    /** With both values of every field. */
    row,
    /** What its party is called; null: nobody knows. */
    partyName: partyOf(engine, { party: row?.party ?? null }).name,
  };
}

/** What is there twice stays with those who can take one away. */
const mayAccept = ({ mapping }: Flow, { kind, bucket }: Pick<Found, "kind" | "bucket">): boolean =>
  holdingKindOf(mapping.kind) === kind && telling.has(bucket as Bucket) && bucket !== "twice";

/**
 * A person accepts what differs, as it is: it is told again when its values change. Inside a transaction.
 * @throws OfficeError where no difference of that number is known, or several are
 */
export function differenceAccepted(
  { store, clock }: Engine,
  flow: Flow,
  number: string,
  person: Person,
): void {
  const known = [...store.sweeps.inState("open"), ...store.sweeps.inState("seen")].filter(
    (row) => mayAccept(flow, row) && row.number === number,
  );
  const [one, another] = known;
  if (one === undefined || another !== undefined)
    throw new OfficeError(
      one === undefined
        ? `No difference of ${flow.name} is known as ${number} that a person may accept.`
        : `${known.length} differences of ${flow.name} are known as ${number}.`,
      "`fuelbridge reconcile --last` names what differs; what is in the quarantine is closed there.",
    );
  store.sweeps.setState(one.difference, "accepted");
  const detail = `${one.kind} ${number}: ${one.cause}`;
  const entry = { flow: flow.flow, event: "difference accepted", detail, person };
  store.journal.audit(clock.now().wallMs, entry);
}

/** By flow. */
const agreements = ({ store: { sweeps } }: Engine) =>
  new Map(
    sweeps
      .agreements()
      .map(({ flow, atMs, documents, amount }) => [
        flow,
        { at: new Date(atMs).toISOString(), documents, amount },
      ]),
  );

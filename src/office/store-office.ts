/** The office over a store that this process holds: answers and decisions for the CLI, the admin API and the console. */
import { setImmediate } from "node:timers/promises";
import { faultOfDay } from "../core/calendar.ts";
import { type Governor, usualBudget, WAITS_FOR_BUDGET } from "../core/budget.ts";
import type { Endpoint } from "../core/contract.ts";
import type { Daemon } from "../engine/daemon.ts";
import type { Engine, Flow } from "../engine/engine.ts";
import { outOfStep } from "../engine/in-step.ts";
import type { Auditor } from "../engine/reconcile/auditor.ts";
import type { Nightly } from "../engine/reconcile/nightly.ts";
import { released, unread } from "../engine/recovery.ts";
import type { Report } from "../reconcile/report.ts";
import {
  type FlowStatus,
  type Office,
  OfficeError,
  type QuarantineGroup,
  type Reconciling,
  type Status,
  type Stop,
  type Trace,
  type Warning,
} from "./office.ts";
import type { Store } from "../store/store.ts";
import { agreements, knownDifferences, reconciliationStatus } from "./agreement.ts";
import { helped, resolve, retry, select } from "./decisions.ts";
import { edit } from "./edits.ts";
import { lifeOf } from "./life.ts";
import {
  addRow,
  deedsOf,
  hold,
  latelyOf,
  listAccepted,
  looksOf,
  ranNow,
  settleUnread,
  shownTables,
  wasDone,
} from "./people.ts";
import { catchUp, catchUpWithFew, documentsOf } from "./searching.ts";
import { backfilling } from "./backfilling.ts";
import { lastErrorOf, scheduleText, silenceOf, stateAfter } from "./flow-words.ts";
import { lateIn } from "./late.ts";
import { awaited, callersOf, flowsBeside, stopsBeside } from "./callers.ts";
import type { Backfills } from "../engine/backfill.ts";
import type { Tables } from "../config/crossref.ts";
import type { Desk, Person } from "./desk.ts";
import { deliveriesOf, type Group, groupsOf, shownOf } from "./groups.ts";
import { assign, auditPage, remark } from "./handling.ts";
import { type MonthReport, monthReport } from "./month.ts";
import { counterpartsOf, samplesOf } from "./samples.ts";
import { toBook } from "./to-book.ts";
import { trace } from "./trace.ts";

export interface OfficeParts {
  readonly engine: Engine;
  readonly flows: readonly Flow[];
  /** By their names; left out: none of them calls us. */
  readonly endpoints?: ReadonlyMap<string, Pick<Endpoint, "presence" | "readAgain">>;
  /** Null when no daemon runs in this process. */
  readonly daemon: Daemon | null;
  readonly version: string;
  readonly startedAt: Date;
  /** By default that of this store and the usual limits. */
  readonly month?: MonthReport;
  /** What keeps requests from being carried to the platform, though none has met it yet. */
  readonly trouble?: () => Pick<Stop, "since" | "message" | "next"> | null;
  /** What will stop unless a person acts; left out: nothing is known ahead. */
  readonly warnings?: () => readonly Warning[];
  /** Left out: nothing can be reconciled here. */
  readonly auditor?: Auditor;
  /** What the daemon reconciles by itself; left out: nothing. */
  readonly nightly?: Nightly | null;
  /** Admits what commands send by themselves; left out: nothing. */
  readonly governor?: Governor;
  /** Left out: no past period can be read anew here. */
  readonly backfills?: Backfills;
  /** Left out: there are no cross-reference tables to be shown. */
  readonly tables?: Tables;
}

export function storeOffice(parts: OfficeParts): Office {
  const { engine, flows, daemon } = parts;
  const { store, clock } = engine;
  const month =
    parts.month ??
    monthReport({
      spent: (month) => store.journal.spent(month),
      spentByDay: (month) => store.journal.spentByDay(month),
      clock,
      flows,
      budget: usualBudget,
      pages: (flow) => store.flows.find(flow)?.pages ?? null,
      minute: () => null,
    });

  return {
    status: async () => status({ ...parts, month }),
    // Without a daemon nothing is sent from here, and a minute says nothing.
    budget: async () => ({ ...month.status(), ...(daemon === null ? { minute: null } : {}) }),

    async admit() {
      if (parts.governor !== undefined) return parts.governor.admit("check");
      throw new OfficeError("Nothing can be counted here.", "Use the fuelbridge command.");
    },

    toBook: async () => toBook(engine, flows),
    notebook: async (endpoint) => store.notebooks.of(endpoint),

    async reconcileCost(asked) {
      const { auditor, question } = asking(parts, asked);
      const audit = month.status().purposes.find(({ purpose }) => purpose === "audit");
      const { absent: endpoints, atMostMs } = auditor.awaited(question.flow);
      return {
        ...question.period,
        requests: auditor.cost(question),
        left: audit?.left ?? 0,
        waits: endpoints.length === 0 ? null : { endpoints, atMostMs },
      };
    },
    reconcile: async (asked) => reconciled(parts, asked),
    differences: async () => knownDifferences(engine),
    trace: async (number) => told(store, number),
    samples: async (asked) => samplesOf(store, asked),
    counterparts: async (asked) => counterpartsOf(store, asked),
    quarantine: async () => quarantineOf(engine),

    async quarantineShow(id, limit, skip = 0) {
      const found = groupOf(engine, id);
      const flow = flows.find(({ name }) => name === found.shown.flow);
      const rows = deliveriesOf(store, found).slice(skip, limit && skip + limit);
      return { ...found.shown, deliveries: shownOf(engine, flow, rows) };
    },

    async retry(selector, anyway = false, person) {
      const chosen = select(engine, flows, selector);
      const able = helped(engine, chosen, selector, anyway);
      store.transaction(() => {
        for (const one of able) retry(engine, one, person);
      });
      daemon?.nudge();
      return { retried: able.length, left: chosen.length - able.length };
    },

    async resolve(selector, decision) {
      const chosen = select(engine, flows, selector);
      store.transaction(() => resolve(engine, chosen, decision));
      daemon?.nudge();
      return { resolved: chosen.length };
    },

    async runNow(name, person) {
      if (daemon === null)
        throw new OfficeError(
          "No daemon runs.",
          "Start it with `fuelbridge run`, or use `fuelbridge once`.",
        );
      const named = flows.filter((flow) => name === "all" || flow.name === name);
      if (named.length === 0) throw noFlow(name, flows);
      const chosen = named.filter(({ paused }) => !paused);
      if (chosen.length === 0) throw pausedFlow(name);
      store.transaction(() => {
        if (person !== undefined) for (const flow of chosen) ranNow(engine, flow, person);
      });
      for (const flow of chosen) daemon.wake(flow.name);
      return { flows: chosen.map((flow) => flow.name) };
    },

    backup: () => store.copy(clock.now().wallMs),

    release: async (breaker, by, note) => clearedStop(parts, breaker, { by, note }),
    ...desk(parts),
    ...backfilling(flows, parts.backfills),
    auditHead: async () => store.journal.head(),
    checkAudit: (noted) => store.journal.check(noted, setImmediate),
  };
}

/** @throws OfficeError when there is no such stop, or it must stand */
function clearedStop(
  { engine, daemon, endpoints = new Map() }: OfficeParts,
  breaker: string,
  { by, note }: { readonly by: string; readonly note: string | undefined },
): { released: string } {
  const { store, clock } = engine;
  const missing = breaker === "restored" ? unread(engine) : [];
  if (missing.length > 0)
    throw new OfficeError(
      `Not everything was read since the store was restored: ${missing.join(", ")}.`,
      "Let the daemon run each flow (`fuelbridge now all`), look at `fuelbridge status`, then release it.",
    );
  const dropped = store.transaction(() => {
    if (!store.journal.release(breaker, by, clock.now().wallMs, note)) return false;
    released(engine, breaker);
    return true;
  });
  if (!dropped)
    throw new OfficeError(
      `There is no stop "${breaker}".`,
      "`fuelbridge status` shows what is stopped.",
    );
  for (const endpoint of endpoints.values()) endpoint.readAgain?.();
  daemon?.nudge();
  return { released: breaker };
}

/** How long a command that searches takes in what is not searched yet. */
const CATCH_UP_MS = 20;

function desk({ engine, flows, daemon, tables }: OfficeParts): Desk {
  const { store, clock } = engine;
  const named = (name: string): Flow => {
    const flow = flows.find((one) => one.name === name);
    if (flow === undefined) throw noFlow(name, flows);
    return flow;
  };
  const held = (name: string, sinceMs: number | null, person: Person): { flow: string } => {
    const flow = named(name);
    store.transaction(() => hold(engine, flow, sinceMs, person));
    daemon?.nudge();
    return { flow: name };
  };
  const known = (): Tables => {
    if (tables !== undefined) return tables;
    throw new OfficeError(
      "There are no cross-reference tables here.",
      "Use the fuelbridge command.",
    );
  };
  return {
    async documents(asked) {
      // Beside a daemon it is done all the time (src/app/web.ts).
      if (daemon === null) catchUp(engine, flows, CATCH_UP_MS);
      else catchUpWithFew(engine, flows);
      return documentsOf(engine, flows, asked);
    },
    document: async (id) => lifeOf(engine, flows, id),
    lately: async () => latelyOf(engine),
    runs: async () => looksOf(engine),
    assign: async (selector, given) => ({ assigned: assign(engine, flows, selector, given) }),
    edit: async (selector, editing, person) => edit(engine, flows, selector, editing, person),
    remark: async (selector, given) => ({ noted: remark(engine, flows, selector, given) }),
    audit: async (asked) => auditPage(engine, asked),
    deeds: async (before) => deedsOf(engine, before),
    pause: async (name, person) => held(name, clock.now().wallMs, person),
    goOn: async (name, person) => held(name, null, person),
    acceptList: async (name, person) => {
      const told = store.transaction(() => listAccepted(engine, named(name), person));
      daemon?.wake(name);
      return { flow: name, told };
    },
    settleUnread: async (name, what, person) => {
      const flow = named(name);
      store.transaction(() => settleUnread(engine, flow, what, person));
      return { flow: name, what };
    },
    tables: async () => shownTables(engine, known()),
    addRow: async (adding, person) => addRow(engine, known(), adding, person),
    async wasDone(deed, person) {
      store.transaction(() => wasDone(engine, deed, person));
      return null;
    },
  };
}

/** @throws OfficeError when nothing is known */
function told(store: Store, number: string): Trace {
  const story = trace(store, number.trim());
  if (story.steps.length > 0) return { number, ...story };
  throw new OfficeError(
    `Nothing is known about ${number}.`,
    "Check the number; ids and invoice, ticket, order and party numbers can be asked for.",
  );
}

/** @throws OfficeError for days that are none, and for a flow that is not there */
function asking({ auditor, flows }: OfficeParts, { from, to, flow, by }: Reconciling) {
  if (auditor === undefined)
    throw new OfficeError("Nothing can be reconciled here.", "Use the fuelbridge command.");
  const today = auditor.today();
  const period = { from: from ?? `${today.slice(0, 8)}01`, to: to ?? today };
  if (faultOfDay(period.from) !== null || faultOfDay(period.to) !== null || period.from > period.to)
    throw new OfficeError(
      `${period.from} to ${period.to} is no period.`,
      "Give two days, the first one first: --from 2026-10-01 --to 2026-10-31.",
    );
  if (flow !== null && !flows.some(({ name }) => name === flow)) throw noFlow(flow, flows);
  return { auditor, question: { period, flow, askedBy: by } };
}

function reconciled(parts: OfficeParts, asked: Reconciling): Promise<Report> {
  const { auditor, question } = asking(parts, asked);
  return auditor.reconcile(question);
}

const pausedFlow = (name: string): OfficeError =>
  new OfficeError(
    name === "all" ? "Every flow is paused." : `${name} is paused: it does not look.`,
    "Let it go on first: `fuelbridge resume`, or the page Flows of the console.",
  );

const noFlow = (name: string, flows: readonly Flow[]): OfficeError =>
  new OfficeError(
    `There is no flow "${name}".`,
    `Flows: ${flows.map((flow) => flow.name).join(", ")}.`,
  );

function status(parts: OfficeParts & { month: MonthReport }): Status {
  const { engine, flows, daemon, version, startedAt } = parts;
  const { company, environment } = engine;
  const { month, used, perMonth, forecast } = parts.month.status();
  const agreed = agreements(engine);
  const all = flows.map((flow) => ({
    ...flowStatus(engine, flow, daemon),
    agreed: agreed.get(flow.name) ?? null,
    late: [],
  }));
  const callers = callersOf(parts.endpoints ?? new Map(), all);
  const reconciliation = reconciliationStatus(engine, parts.nightly ?? null, parts.auditor);
  const stops = stopsBeside(callers, stopsOf(parts));
  const quarantine = groupsOf(engine);
  const late = lateIn(engine, quarantine, {
    stops,
    away: awaited(callers),
    works: daemon !== null,
  });
  const states = flowsBeside(callers, all).map((flow) => ({ ...flow, late: late(flow.name) }));
  return {
    version,
    company,
    environment,
    daemon: daemon === null ? null : { pid: process.pid, startedAt: startedAt.toISOString() },
    healthy:
      stops.length === 0 &&
      callers.every(({ silence }) => silence === null) &&
      reconciliation.differences.confirmed === 0 &&
      reconciliation.notCompared.length === 0 &&
      reconciliation.notWalked.length === 0 &&
      used < perMonth &&
      states.every(
        ({ lastError, quarantined, unread, silence, late }) =>
          (lastError === null || lastError.code === WAITS_FOR_BUDGET) &&
          quarantined === 0 &&
          silence === null &&
          late.every(({ expected }) => expected) &&
          unread.every(({ awaited }) => awaited),
      ),
    outOfStep: outOfStep(engine, flows, stops),
    flows: states,
    stops,
    warnings: parts.warnings?.() ?? [],
    callers,
    quarantine: quarantine.map(({ shown }) => shown),
    reconciliation,
    clockJump: daemon?.clockJump ?? null,
    store: engine.store.retention.size(),
    requests: { month, used, perMonth, forecast },
  };
}

/** The store tells of what a request has met; the queue, of what the next one would. */
function stopsOf({ engine, trouble }: OfficeParts): Stop[] {
  const now = trouble?.() ?? null;
  const queue = now === null ? [] : [{ breaker: "receiver", scope: "platform", ...now }];
  const stops = engine.store.journal
    .breakers()
    .filter(({ breaker, scope }) =>
      queue.every((one) => one.breaker !== breaker || one.scope !== scope),
    );
  return [
    ...stops.map(({ sinceMs, breaker, scope, message, next }) => ({
      breaker,
      scope,
      since: iso(sinceMs),
      message,
      next,
    })),
    ...queue,
  ];
}

function flowStatus(
  { store, clock }: Engine,
  flow: Flow,
  daemon: Daemon | null,
): Omit<FlowStatus, "agreed" | "late"> {
  const row = store.flows.find(flow.name);
  const counts = store.deliveries.counts(flow.flow);
  const count = (state: string): number => counts.get(state) ?? 0;
  const waits = store.waits.ofFlow(flow.flow);
  return {
    name: flow.name,
    from: flow.from,
    to: flow.to,
    state: flow.paused ? "paused" : daemon?.isRunning(flow.name) ? "running" : stateAfter(row),
    schedule: scheduleText(flow.schedule),
    lastRunAt: isoOrNull(row?.last_run_ms),
    lastSuccessAt: isoOrNull(row?.success_ms),
    failingSince: isoOrNull(row?.failing_ms),
    // 0: it was asked to look at once.
    nextDueAt: row?.next_due_ms === 0 ? iso(clock.now().wallMs) : isoOrNull(row?.next_due_ms),
    lastError: lastErrorOf(row),
    received: [...counts.values()].reduce((sum, one) => sum + one, 0),
    pending: count("pending") + count("frozen"),
    delivered: count("delivered"),
    skipped: count("skipped"),
    echoes: count("echo"),
    quarantined: count("quarantined"),
    resolved: count("resolved"),
    superseded: count("superseded"),
    waits: waits === null ? null : { count: waits.count, until: iso(waits.untilMs) },
    unread: store.obstacles
      .of(flow.flow)
      .map(({ what, fault, awaited, behind, sinceMs, lasts }) => {
        const { code, message, next } = fault;
        return { what, since: iso(sinceMs), code, message, next, awaited, lasts, behind };
      }),
    silence: silenceOf(store, flow),
  };
}

const quarantineOf = (engine: Engine): QuarantineGroup[] =>
  groupsOf(engine).map(({ shown }) => shown);

function groupOf(engine: Engine, id: string): Group {
  const group = groupsOf(engine).find(({ shown }) => shown.id === id);
  if (group !== undefined) return group;
  throw new OfficeError(
    `There is no quarantine group "${id}".`,
    "`fuelbridge quarantine list` shows the groups.",
  );
}

const iso = (ms: number): string => new Date(ms).toISOString();
const isoOrNull = (ms: number | null | undefined): string | null =>
  ms === null || ms === undefined ? null : iso(ms);

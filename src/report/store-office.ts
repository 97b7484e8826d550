/** The office over a store that this process holds: answers and decisions for the CLI, the admin API and the console. */
import { hash } from "node:crypto";
import { linkAll, moved } from "../engine/deliver.ts";
import type { Daemon } from "../engine/daemon.ts";
import type { Engine, Flow, Schedule } from "../engine/engine.ts";
import type { CauseRow, QuarantinedRow } from "../store/questions.ts";
import {
  type Decision,
  type FlowStatus,
  type Office,
  OfficeError,
  type QuarantineGroup,
  type Status,
} from "./office.ts";
import { trace } from "./trace.ts";

export interface OfficeParts {
  readonly engine: Engine;
  readonly flows: readonly Flow[];
  /** Null when no daemon runs in this process. */
  readonly daemon: Daemon | null;
  readonly version: string;
  readonly startedAt: Date;
}

export function storeOffice(parts: OfficeParts): Office {
  const { engine, flows, daemon } = parts;
  const { store, clock } = engine;

  return {
    status: async () => status(parts),

    trace: async (number) => {
      const steps = trace(store, number.trim());
      if (steps.length === 0)
        throw new OfficeError(
          `Nothing is known about ${number}.`,
          "Check the number; ids and invoice, ticket, order and party numbers can be asked for.",
        );
      return { number, steps };
    },

    quarantine: async () => store.questions.quarantine().map(groupOf),

    async quarantineShow(id) {
      const cause = causeOf(engine, id);
      const rows = store.questions.quarantined(cause.flow, cause.code, cause.cause);
      return { ...groupOf(cause), deliveries: rows.map(shown) };
    },

    async retry(selector) {
      const chosen = select(engine, flows, selector);
      store.transaction(() => {
        for (const one of chosen) retry(engine, one);
      });
      daemon?.nudge();
      return { retried: chosen.length };
    },

    async resolve(selector, decision) {
      const chosen = select(engine, flows, selector);
      const at = clock.now();
      store.transaction(() => {
        for (const { flow, row } of chosen) {
          const request = row.request === null ? null : store.requests.get(row.request);
          if (request?.machine.state === "manual") {
            moved(
              engine,
              flow,
              request,
              { type: "decision", at, decision: "cancel" },
              by(decision),
            );
            if (decision.receiverId !== undefined)
              linkAll(
                engine,
                flow,
                store.requests.carried(request.request),
                [decision.receiverId],
                at.wallMs,
              );
          }
          if (decision.receiverId === undefined)
            store.deliveries.end(row.delivery, "resolved", by(decision));
          store.journal.audit(at.wallMs, {
            flow: flow.flow,
            delivery: row.delivery,
            event: "resolved",
            detail: by(decision),
          });
        }
      });
      return { resolved: chosen.length };
    },

    async runNow(name) {
      if (daemon === null)
        throw new OfficeError(
          "No daemon runs.",
          "Start it with `fuelbridge run`, or use `fuelbridge once`.",
        );
      const chosen = flows.filter((flow) => name === "all" || flow.name === name);
      if (chosen.length === 0)
        throw new OfficeError(
          `There is no flow "${name}".`,
          `Flows: ${flows.map((flow) => flow.name).join(", ")}.`,
        );
      for (const flow of chosen) daemon.wake(flow.name);
      return { flows: chosen.map((flow) => flow.name) };
    },

    async release(breaker, by) {
      const released = store.transaction(() => {
        const detail = `${breaker}: by ${by}`;
        store.journal.audit(clock.now().wallMs, { event: "released", detail });
        return store.journal.drop(breaker);
      });
      if (!released)
        throw new OfficeError(
          `There is no stop "${breaker}".`,
          "`fuelbridge status` shows what is stopped.",
        );
      daemon?.nudge();
      return { released: breaker };
    },
  };
}

function status({ engine, flows, daemon, version, startedAt }: OfficeParts): Status {
  const { store, clock, company, environment } = engine;
  const month = new Date(clock.now().wallMs).toISOString().slice(0, 7);
  const states = flows.map((flow) => flowStatus(engine, flow, daemon));
  const stops = store.journal.breakers().map(({ sinceMs, breaker, scope, message, next }) => ({
    breaker,
    scope,
    since: iso(sinceMs),
    message,
    next,
  }));
  return {
    version,
    company,
    environment,
    daemon: daemon === null ? null : { pid: process.pid, startedAt: startedAt.toISOString() },
    healthy:
      stops.length === 0 &&
      states.every(({ lastError, quarantined }) => lastError === null && quarantined === 0),
    flows: states,
    stops,
    requests: { month, used: store.journal.requestsUsed(month) },
  };
}

function flowStatus({ store }: Engine, flow: Flow, daemon: Daemon | null): FlowStatus {
  const row = store.flows.find(flow.name);
  const counts = store.deliveries.counts(flow.flow);
  const count = (state: string): number => counts.get(state) ?? 0;
  const error = row?.last_error ?? null;
  return {
    name: flow.name,
    from: flow.from,
    to: flow.to,
    state: flow.paused
      ? "paused"
      : daemon?.isRunning(flow.name)
        ? "running"
        : error !== null
          ? "stopped"
          : "idle",
    schedule: scheduleText(flow.schedule),
    lastRunAt: isoOrNull(row?.last_run_ms),
    nextDueAt: isoOrNull(row?.next_due_ms),
    lastError: error === null ? null : { message: error, next: row?.last_error_next ?? "" },
    received: [...counts.values()].reduce((sum, one) => sum + one, 0),
    pending: count("pending") + count("frozen"),
    delivered: count("delivered"),
    skipped: count("skipped"),
    echoes: count("echo"),
    quarantined: count("quarantined"),
    resolved: count("resolved"),
    superseded: count("superseded"),
  };
}

function scheduleText(schedule: Schedule): string {
  if ("cron" in schedule) return `${schedule.cron} (${schedule.timeZone})`;
  const seconds = schedule.everyMs / 1_000;
  return seconds % 60 === 0 ? `every ${seconds / 60}m` : `every ${seconds}s`;
}

interface Chosen {
  readonly flow: Flow;
  readonly row: QuarantinedRow;
}

/** @throws OfficeError when the selector names nothing */
function select({ store }: Engine, flows: readonly Flow[], selector: string): Chosen[] {
  const chosen: Chosen[] = [];
  for (const cause of store.questions.quarantine()) {
    const flow = flows.find(({ name }) => name === cause.flow);
    if (flow === undefined) continue;
    const whole = selector === "all" || groupId(cause) === selector;
    for (const row of store.questions.quarantined(cause.flow, cause.code, cause.cause))
      if (whole || String(row.delivery) === selector) chosen.push({ flow, row });
  }
  if (chosen.length === 0 && selector !== "all")
    throw new OfficeError(
      `Nothing in the quarantine is called "${selector}".`,
      "`fuelbridge quarantine list` shows the groups, `show GROUP` their deliveries; or say all.",
    );
  return chosen;
}

/** A request that waits for a person goes again under a new key; everything else is mapped anew. */
function retry(engine: Engine, { flow, row }: Chosen): void {
  const { store, clock } = engine;
  const at = clock.now();
  store.journal.audit(at.wallMs, {
    flow: flow.flow,
    delivery: row.delivery,
    event: "retried",
    detail: "by a person",
  });
  const request = row.request === null ? null : store.requests.get(row.request);
  if (request?.machine.state === "manual")
    moved(
      engine,
      flow,
      request,
      { type: "decision", at, decision: "cancel" },
      "retried by a person",
    );
  store.deliveries.reopen(row.delivery);
}

function causeOf({ store }: Engine, id: string): CauseRow {
  const cause = store.questions.quarantine().find((one) => groupId(one) === id);
  if (cause !== undefined) return cause;
  throw new OfficeError(
    `There is no quarantine group "${id}".`,
    "`fuelbridge quarantine list` shows the groups.",
  );
}

function groupOf(row: CauseRow): QuarantineGroup {
  const { flow, code, cause, next, count, sinceMs } = row;
  return { id: groupId(row), flow, code, cause, next, count, since: iso(sinceMs) };
}

/** Short, stable, and never only digits (those name a delivery). */
function groupId({ flow, code, cause }: CauseRow): string {
  return `q${hash("sha256", JSON.stringify([flow, code, cause])).slice(0, 7)}`;
}

function shown(row: QuarantinedRow) {
  const { delivery, number, recordId, version, origin, field, sinceMs } = row;
  return {
    delivery: String(delivery),
    number: number ?? recordId,
    recordId,
    version,
    origin,
    field,
    since: iso(sinceMs),
  };
}

const by = ({ by, note }: Decision): string => `${by}: ${note}`;
const iso = (ms: number): string => new Date(ms).toISOString();
const isoOrNull = (ms: number | null | undefined): string | null =>
  ms === null || ms === undefined ? null : iso(ms);

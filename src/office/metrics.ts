/**
 * What Prometheus reads, made anew from the office's answers for each scrape: nothing is counted twice, and a restart
 * resets nothing. Labels are flows, directions, states, purposes and codes of causes; no document is ever one.
 */
import { statfsSync, statSync } from "node:fs";
import { Counter, Gauge, Registry } from "prom-client";
import { lateCodes } from "../engine/schedule.ts";
import type { FlowStatus, Status } from "./answers.ts";
import type { Office } from "./questions.ts";
import { storeFile } from "../store/database.ts";

export interface Exposition {
  readonly type: string;
  readonly text: string;
}

/** Codes of causes are few; what comes beyond so many in one flow is counted as `other`. */
const CAUSES_MAX = 40;

/** `state`: the state folder. */
export async function exposed(office: Office, state: string): Promise<Exposition> {
  const status = await office.status();
  const { purposes } = await office.budget();
  const registry = new Registry();
  const add = adder(registry);
  ofProcess(add, status, state);
  for (const flow of status.flows) ofFlow(add, flow);
  ofQuarantine(add, status);
  for (const [cause, those] of Map.groupBy(status.stops, ({ breaker }) => breaker))
    add("fuelbridge_stops", STOPS, those.length, { cause });
  for (const { purpose, used } of purposes)
    add("fuelbridge_platform_requests_month", USED, used, { purpose });
  ofMonth(add, status);
  ofReconciliation(add, status);
  return { type: registry.contentType, text: await registry.metrics() };
}

type Add = (
  name: string,
  help: string,
  value: number | null,
  labels?: Readonly<Record<string, string>>,
) => void;

const STOPS = "What pauses work, by its cause. `fuelbridge status` says what to do.";
const USED = "Requests sent to the platform in this calendar month (UTC).";

/** A value that is not known has no sample; the metric is there all the same once one is. */
function adder(registry: Registry): Add {
  return (name, help, value, labels = {}) => {
    if (value === null) return;
    const known = registry.getSingleMetric(name) as Gauge | Counter | undefined;
    const options = { name, help, labelNames: Object.keys(labels), registers: [registry] };
    const metric = known ?? (name.endsWith("_total") ? new Counter(options) : new Gauge(options));
    metric.inc(labels, value);
  };
}

function ofProcess(add: Add, status: Status, state: string): void {
  const { version, daemon, healthy } = status;
  add("fuelbridge_build_info", "Always 1; the version is a label.", 1, { version });
  add("fuelbridge_healthy", "1: nothing needs a person and no flow is stopped.", healthy ? 1 : 0);
  add("fuelbridge_start_time_seconds", "When the daemon started.", seconds(daemon?.startedAt));
  const { size } = statSync(storeFile(state), { throwIfNoEntry: false }) ?? { size: 0 };
  const { bavail, bsize } = statfsSync(state);
  add("fuelbridge_store_bytes", "Size of the store's file.", size);
  add("fuelbridge_store_free_bytes", "Free space on the store's disk.", bavail * bsize);
}

const STATES = ["idle", "running", "paused", "paused: budget", "stopped"] as const;

function ofFlow(add: Add, flow: FlowStatus): void {
  const at = placeOf(flow);
  for (const state of STATES)
    add(
      "fuelbridge_flow_state",
      "1 for the state that the flow is in.",
      one(flow.state === state),
      {
        ...at,
        state: state.replace(": ", "_"),
      },
    );
  add(
    "fuelbridge_flow_last_success_timestamp_seconds",
    "When the flow's source was last read.",
    seconds(flow.lastSuccessAt),
    at,
  );
  add(
    "fuelbridge_flow_failing_since_timestamp_seconds",
    "Since when the flow's source cannot be read; absent while it can.",
    seconds(flow.failingSince),
    at,
  );
  add(
    "fuelbridge_documents_received_total",
    "Changes of documents that the flow has received.",
    flow.received,
    at,
  );
  for (const state of [
    "pending",
    "delivered",
    "skipped",
    "echoes",
    "resolved",
    "superseded",
  ] as const)
    add("fuelbridge_documents", "Changes of documents by what became of them.", flow[state], {
      ...at,
      state,
    });
  const unread = flow.unread.filter(({ awaited }) => !awaited).length;
  for (const code of lateCodes) {
    const alike = flow.late.filter(
      (one) => one.code === code && !(code === "waits" && one.expected),
    );
    add(
      "fuelbridge_late_documents",
      "Documents that have not gone on for longer than they may, by the reason.",
      alike.reduce((sum, { count }) => sum + count, 0),
      { ...at, cause: code },
    );
  }
  add(
    "fuelbridge_late_oldest_timestamp_seconds",
    "Since when the oldest document that is late stands still; absent while none does.",
    seconds(flow.late.map(({ since }) => since).toSorted()[0]),
    at,
  );
  add("fuelbridge_unread_files", "Files that the flow's source cannot read.", unread, at);
}

/** Every flow has a sample, also one that has nothing in quarantine. */
function ofQuarantine(add: Add, { flows, quarantine }: Status): void {
  for (const flow of flows) {
    const at = placeOf(flow);
    const groups = quarantine.filter((group) => group.flow === flow.name);
    const codes = [...new Set(groups.map(({ code }) => code))].toSorted().slice(0, CAUSES_MAX);
    const causes = new Map<string, number>(groups.length === 0 ? [["none", 0]] : []);
    for (const { code, count } of groups) {
      const cause = codes.includes(code) ? code : "other";
      causes.set(cause, (causes.get(cause) ?? 0) + count);
    }
    for (const [cause, count] of causes)
      add("fuelbridge_quarantined", "Documents that need a person, by cause.", count, {
        ...at,
        cause,
      });
    const oldest = groups.map(({ since }) => since).toSorted()[0];
    add(
      "fuelbridge_quarantine_oldest_timestamp_seconds",
      "Since when the oldest document of the flow needs a person; absent while none does.",
      seconds(oldest),
      at,
    );
  }
}

function ofMonth(add: Add, { requests }: Status): void {
  const { perMonth, forecast } = requests;
  add("fuelbridge_platform_requests_month_limit", "What the month allows.", perMonth);
  add(
    "fuelbridge_platform_requests_month_forecast",
    "Requests that this month will come to, as it goes.",
    forecast.expected,
  );
  add(
    "fuelbridge_platform_poll_stretch_ratio",
    "How many times as far apart as configured the platform is polled.",
    forecast.stretch,
  );
  add(
    "fuelbridge_platform_requests_run_out_timestamp_seconds",
    "When the month's requests will be used up; absent while they last.",
    seconds(forecast.runsOut?.at),
  );
}

function ofReconciliation(add: Add, { reconciliation }: Status): void {
  const { lastAt, differences, trouble } = reconciliation;
  add(
    "fuelbridge_reconciliation_last_timestamp_seconds",
    "When both sides were last compared whole.",
    seconds(lastAt),
  );
  add(
    "fuelbridge_reconciliation_failed",
    "1: the last comparison got no answer.",
    one(trouble !== null),
  );
  for (const state of ["confirmed", "seen"] as const)
    add("fuelbridge_differences", "Records in which both sides differ.", differences[state], {
      state,
    });
}

const placeOf = ({ name, from }: FlowStatus) => ({
  flow: name,
  direction: from.startsWith("platform.") ? "to_erp" : "to_platform",
});

const one = (is: boolean): number => (is ? 1 : 0);

/** Unix time in seconds; null: unknown. */
const seconds = (at: string | null | undefined): number | null =>
  at === null || at === undefined ? null : Date.parse(at) / 1_000;

/**
 * What Prometheus reads, made anew from the office's answers for each scrape: nothing is counted twice, and a restart
 * resets nothing. Labels are flows, directions, states, purposes and codes of causes; no document is ever one.
 */
import { statSync } from "node:fs";
import { Counter, Gauge, Registry } from "prom-client";
import { sumOf } from "../core/groups.ts";
import { lateCodes } from "../engine/schedule.ts";
import type { FlowStatus, Status } from "./answers.ts";
import type { Office } from "./questions.ts";
import { freeIn, storeFile } from "../store/database.ts";

/** Codes of causes are few; what comes beyond so many in one flow is counted as `other`. */
const CAUSES_MAX = 40;

/** What each metric says, by its name. */
const HELP = {
  build_info: "Always 1; the version is a label.",
  healthy: "1: nothing needs a person and no flow is stopped.",
  start_time_seconds: "When the daemon started.",
  store_bytes: "Size of the store's file.",
  store_free_bytes: "Free space on the store's disk.",
  flow_state: "1 for the state that the flow is in.",
  flow_last_success_timestamp_seconds: "When the flow's source was last read.",
  flow_failing_since_timestamp_seconds:
    "Since when the flow's source cannot be read; absent while it can.",
  documents_received_total: "Changes of documents that the flow has received.",
  documents: "Changes of documents by what became of them.",
  late_documents: "Documents that have not gone on for longer than they may, by the reason.",
  late_oldest_timestamp_seconds:
    "Since when the oldest document that is late stands still; absent while none does.",
  unread_files: "Files that the flow's source cannot read.",
  quarantined: "Documents that need a person, by cause.",
  quarantine_oldest_timestamp_seconds:
    "Since when the oldest document of the flow needs a person; absent while none does.",
  stops: "What pauses work, by its cause. `fuelbridge status` says what to do.",
  platform_requests_month: "Requests sent to the platform in this calendar month (UTC).",
  platform_requests_month_limit: "What the month allows.",
  platform_requests_month_forecast: "Requests that this month will come to, as it goes.",
  platform_poll_stretch_ratio: "How many times as far apart as configured the platform is polled.",
  platform_requests_run_out_timestamp_seconds:
    "When the month's requests will be used up; absent while they last.",
  reconciliation_last_timestamp_seconds: "When both sides were last compared whole.",
  reconciliation_failed: "1: the last comparison got no answer.",
  differences: "Records in which both sides differ.",
} as const;

/** `state`: the state folder. */
export async function exposed(office: Office, state: string) {
  const status = await office.status();
  const { purposes } = await office.budget();
  const registry = new Registry();
  const add = adder(registry);
  ofProcess(add, status, state);
  for (const flow of status.flows) ofFlow(add, flow);
  ofQuarantine(add, status);
  for (const [cause, those] of Map.groupBy(status.stops, ({ breaker }) => breaker))
    add({ stops: those.length }, { cause });
  for (const { purpose, used } of purposes) add({ platform_requests_month: used }, { purpose });
  const { perMonth, forecast } = status.requests;
  add({
    platform_requests_month_limit: perMonth,
    platform_requests_month_forecast: forecast.expected,
    platform_poll_stretch_ratio: forecast.stretch,
    platform_requests_run_out_timestamp_seconds: seconds(forecast.runsOut?.at),
  });
  const { lastAt, differences, trouble } = status.reconciliation;
  add({
    reconciliation_last_timestamp_seconds: seconds(lastAt),
    reconciliation_failed: one(trouble !== null),
  });
  for (const is of ["confirmed", "seen"] as const)
    add({ differences: differences[is] }, { state: is });
  return { type: registry.contentType, text: await registry.metrics() };
}

type Labels = Readonly<Record<string, string>>;

/** Values by the metric's name; null: not known, and there is no sample of it. */
type Add = (
  samples: Readonly<Partial<Record<keyof typeof HELP, number | null>>>,
  labels?: Labels,
) => void;

function adder(registry: Registry): Add {
  return (samples, labels = {}) => {
    for (const [short, value] of Object.entries(samples)) {
      if (value === null) continue;
      const name = `fuelbridge_${short}`;
      const help = HELP[short as keyof typeof HELP];
      const known = registry.getSingleMetric(name) as Gauge | Counter | undefined;
      const options = { name, help, labelNames: Object.keys(labels), registers: [registry] };
      const metric = known ?? (name.endsWith("_total") ? new Counter(options) : new Gauge(options));
      metric.inc(labels, value);
    }
  };
}

function ofProcess(add: Add, { version, daemon, healthy }: Status, state: string): void {
  const { size } = statSync(storeFile(state), { throwIfNoEntry: false }) ?? { size: 0 };
  add({ build_info: 1 }, { version });
  add({
    healthy: one(healthy),
    start_time_seconds: seconds(daemon?.startedAt),
    store_bytes: size,
    store_free_bytes: freeIn(state),
  });
}

const STATES = ["idle", "running", "paused", "paused: budget", "stopped"] as const;
const FATES = ["pending", "delivered", "skipped", "echoes", "resolved", "superseded"] as const;

function ofFlow(add: Add, flow: FlowStatus): void {
  const place = placeOf(flow);
  for (const state of STATES)
    add({ flow_state: one(flow.state === state) }, { ...place, state: state.replace(": ", "_") });
  add(
    {
      flow_last_success_timestamp_seconds: seconds(flow.lastSuccessAt),
      flow_failing_since_timestamp_seconds: seconds(flow.failingSince),
      documents_received_total: flow.received,
    },
    place,
  );
  for (const state of FATES) add({ documents: flow[state] }, { ...place, state });
  for (const cause of lateCodes) {
    const alike = flow.late.filter(
      ({ code, expected }) => code === cause && !(code === "waits" && expected),
    );
    add({ late_documents: sumOf(alike.map(({ count }) => count)) }, { ...place, cause });
  }
  add(
    {
      late_oldest_timestamp_seconds: seconds(flow.late.map(({ since }) => since).toSorted()[0]),
      unread_files: flow.unread.filter(({ awaited }) => !awaited).length,
    },
    place,
  );
}

/** Every flow has a sample, also one that has nothing in quarantine. */
function ofQuarantine(add: Add, { flows, quarantine }: Status): void {
  for (const flow of flows) {
    const place = placeOf(flow);
    const groups = quarantine.filter((group) => group.flow === flow.name);
    const codes = [...new Set(groups.map(({ code }) => code))].toSorted().slice(0, CAUSES_MAX);
    const causes = new Map<string, number>(groups.length === 0 ? [["none", 0]] : []);
    for (const { code, count } of groups) {
      const cause = codes.includes(code) ? code : "other";
      causes.set(cause, (causes.get(cause) ?? 0) + count);
    }
    for (const [cause, count] of causes) add({ quarantined: count }, { ...place, cause });
    const oldest = groups.map(({ since }) => since).toSorted()[0];
    add({ quarantine_oldest_timestamp_seconds: seconds(oldest) }, place);
  }
}

const placeOf = ({ name, from }: FlowStatus) => ({
  flow: name,
  direction: from.startsWith("platform.") ? "to_erp" : "to_platform",
});

const one = (is: boolean): number => (is ? 1 : 0);

/** Unix time in seconds; null: unknown. */
const seconds = (at: string | null | undefined): number | null =>
  at === null || at === undefined ? null : Date.parse(at) / 1_000;

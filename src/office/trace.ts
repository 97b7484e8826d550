/** A document's story from the record to the other side's number, out of what the store kept. */
import { groupId, keyOf } from "./groups.ts";
import type { AuditRow, DeliveryRow } from "../store/questions.ts";
import type { Store } from "../store/store.ts";
import type { TraceStep } from "./office.ts";

export interface Story {
  /** Oldest first; empty when nothing is known under this number or id. */
  readonly steps: readonly TraceStep[];
  /** Ids of the quarantine groups that a version of it is in now. */
  readonly groups: readonly string[];
}

type Told = Pick<TraceStep, "event" | "detail"> & {
  readonly atMs: number;
  /** As {@link AuditRow.parts}. */
  readonly parts?: string | null;
  /** Null: that of the delivery. */
  readonly flow?: string | null;
};

export function trace(store: Store, text: string): Story {
  const links = store.links.search(text);
  const texts = new Set([text, ...links.flatMap(({ platformId, erpId }) => [platformId, erpId])]);
  const rows = new Map<number, DeliveryRow>();
  for (const one of texts)
    for (const row of store.questions.deliveries(one)) {
      rows.set(row.delivery, row);
      // Versions that were replaced before they were mapped have no number: only the record tells that they are of it.
      texts.add(row.recordId);
    }
  const ordered = [...rows.values()].toSorted((one, other) => one.delivery - other.delivery);
  const told = new Set<number>();
  const steps: TraceStep[] = [];
  for (const [at, row] of ordered.entries()) {
    const newer = ordered.slice(at + 1).find((one) => isSameRecord(one, row)) ?? null;
    const ids = idsOf(links, row.recordId);
    for (const { atMs, flow, event, detail, parts } of versionSteps(store, row, newer, told)) {
      const own = ownOf(parts ?? null, row.delivery);
      steps.push({ at: iso(atMs), flow: flow ?? row.flow, event, detail, own, ...ids });
    }
  }
  for (const link of links)
    steps.push({
      at: iso(link.linkedMs),
      flow: link.kind,
      event: "linked",
      detail: `${link.number}, born ${link.born === "erp" ? "in the ERP" : "on the platform"}${link.amount === null ? "" : `, amount ${link.amount}`}`,
      own: null,
      platformId: link.platformId,
      erpId: link.erpId,
    });
  return {
    steps: steps.sort((one, other) => one.at.localeCompare(other.at)),
    groups: [...new Set(ordered.flatMap(groupOf))],
  };
}

const isSameRecord = (one: DeliveryRow, other: DeliveryRow): boolean =>
  one.flow === other.flow && one.recordId === other.recordId;

/** What an answer to a request that carried several documents says of this one. */
function ownOf(parts: string | null, delivery: number): TraceStep["own"] {
  if (parts === null) return null;
  const { [delivery]: detail, ...others } = JSON.parse(parts) as Record<string, string>;
  return detail === undefined ? null : { detail, others: Object.keys(others).length };
}

function groupOf({ flow, state, code, cause, field, awaitsKind }: DeliveryRow): string[] {
  if (state !== "quarantined" || code === null) return [];
  return [groupId({ flow, code, key: keyOf({ code, cause: cause ?? "", field, awaitsKind }) })];
}

/** From the arrival of one version to what became of it. `told`: audit rows that another version has told already. */
function versionSteps(
  store: Store,
  row: DeliveryRow,
  newer: DeliveryRow | null,
  told: Set<number>,
): Told[] {
  const all = [
    ...store.questions.audit(row.delivery, row.request),
    ...(row.number === null ? [] : store.questions.givenUp(row.number)),
  ]
    .filter(({ audit }) => !told.has(audit))
    .toSorted((one, other) => one.audit - other.audit);
  const audit = [...new Map(all.map((one) => [one.audit, one])).values()];
  for (const one of audit) told.add(one.audit);
  const version = row.version === null ? "" : `, version ${row.version}`;
  return [
    { atMs: row.receivedMs, event: "received", detail: `${row.origin ?? row.recordId}${version}` },
    ...audit.flatMap((one) => oneLine(one, audit)),
    ...outcome(row, newer, audit),
    ...(row.goneMs === null ? [] : [{ atMs: row.goneMs, ...GONE }]),
  ];
}

const GONE = {
  event: "bytes removed",
  detail:
    "a newer version had replaced what was sent, and it was kept for long enough; its hash and all answers are kept",
};

/** A decision is written down where it was taken and where it took effect: it is told once. */
function oneLine(one: AuditRow, audit: readonly AuditRow[]): Told[] {
  const { atMs, flow, event, detail, parts } = one;
  const isWith = (events: readonly string[]): boolean =>
    audit.some((other) => other.atMs === atMs && events.includes(other.event));
  if (event === "decision" && isWith(["retried", "resolved"])) return [];
  if (REASONS.has(event) && isWith(["quarantined"])) return [];
  if (event === "quarantined" && isWith(["differs"])) return [];
  // It has every value, where the quarantine has one cause for many documents.
  return [{ atMs, flow, event: event === "differs" ? "quarantined" : event, detail, parts }];
}

/** Each comes with a quarantine, whose cause says the same. */
const REASONS: ReadonlySet<string> = new Set([
  "gone",
  "refused-later",
  "not-acknowledged",
  "turned",
  "unfinished",
]);

/** What became of it, unless the audit has told that. */
function outcome(row: DeliveryRow, newer: DeliveryRow | null, audit: readonly AuditRow[]): Told[] {
  const lastOf = (...events: string[]): number | undefined =>
    audit.findLast(({ event }) => events.includes(event))?.atMs;
  const last = audit.at(-1)?.atMs ?? row.receivedMs;
  const { state: event } = row;
  switch (event) {
    case "quarantined":
      // Stores of older versions have not written it down.
      return lastOf("quarantined", "differs") === undefined
        ? [{ atMs: row.sinceMs ?? last, event, detail: row.cause ?? "" }]
        : [];
    case "resolved":
      return lastOf("resolved") === undefined
        ? [{ atMs: last, event, detail: row.note ?? "" }]
        : [];
    case "superseded":
      return [
        { atMs: newer?.receivedMs ?? last, event, detail: "a newer version takes its place" },
      ];
    case "delivered":
      return [{ atMs: lastOf("done", "finished") ?? last, event, detail: row.note ?? "" }];
    default:
      return [{ atMs: last, event, detail: row.note ?? "" }];
  }
}

function idsOf(
  links: readonly { platformId: string; erpId: string }[],
  recordId: string,
): Pick<TraceStep, "platformId" | "erpId"> {
  const link = links.find(({ platformId, erpId }) => platformId === recordId || erpId === recordId);
  return { platformId: link?.platformId ?? null, erpId: link?.erpId ?? null };
}

const iso = (ms: number): string => new Date(ms).toISOString();

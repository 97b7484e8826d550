/**
 * Documents: found by what people know of them, the story of one, and its whole life. Numbers and ids are found in the store
 * as it is; party, amount and day by a table that is made from the records in small steps, so that pulling does not wait for it.
 */
import { parse as parseCsv } from "csv-parse/sync";
import { Decimal } from "../core/decimal.ts";
import type { DayToBook } from "../core/contract.ts";
import { type Json, parseExact, stringifyExact } from "../core/json.ts";
import type { Engine, Flow } from "../engine/engine.ts";
import type { FieldDifference } from "../reconcile/case.ts";
import type { CaseRow } from "../reconcile/rows.ts";
import type { AuditRow, DeliveryRow, FoundRow, Sample } from "../store/queries.ts";
import { otherId } from "../store/deliveries.ts";
import type { Store } from "../store/store.ts";
import { inCents } from "../core/text.ts";
import { aboutOf, partiesOf, partyOf, partyText, standing, summaryOf } from "./about.ts";
import type { Counterparts, Sampling, Searching } from "./asked.ts";
import { OfficeError } from "../core/errors.ts";
import { correctionsOf, groupId } from "./quarantine.ts";
import { remedyOf } from "./remedies.ts";

const PAGE = 25;
/** Deliveries that are taken into the table in one transaction. */
const STEP = 100;

/** Takes into the table what came since, where that is little: whoever searches finds what has just come. */
export function catchUpWithFew(engine: Engine, flows: readonly Flow[]): void {
  if (engine.store.found.unsearchedCount() <= STEP) catchUp(engine, flows, 0);
}

/**
 * The same for about so long, however much it is.
 * @param forMs of the thread that also pulls and sends
 */
export function catchUp(engine: Engine, flows: readonly Flow[], forMs: number): void {
  const { store, dayOf } = engine;
  const byName = new Map(flows.map((flow) => [flow.name, flow]));
  const endMs = performance.now() + forMs;
  const called = partiesOf(engine);
  do {
    const rows = store.found.unsearched(STEP);
    const last = rows.at(-1);
    if (last === undefined) return;
    const facts = rows.map(({ record, flow: name, text, receivedMs }) => {
      const about = aboutOf(byName.get(name), text);
      const { amount = null } = about;
      return {
        record,
        party: partyText(called(about)),
        amount: amount === null ? null : inCents(amount),
        day: dayOf(new Date(receivedMs).toISOString()),
      };
    });
    store.transaction(() => store.found.search(facts, last.delivery));
  } while (performance.now() < endMs);
}

export function documentsOf(engine: Engine, flows: readonly Flow[], { text, before }: Searching) {
  const { found } = engine.store;
  const end =
    before !== null && /^\d{1,15}$/.test(before) ? Number(before) : Number.MAX_SAFE_INTEGER;
  const records =
    text === null || text.trim() === ""
      ? found.newest(end, PAGE + 1)
      : matching(engine, text.trim(), end);
  const rows = records.slice(0, PAGE).flatMap((record) => found.row(record) ?? []);
  return {
    documents: rows.map((row) => documentOf(engine, flows, row)),
    /** For the next page; null: this is the last one. */
    next: records.length > PAGE ? String(records[PAGE - 1]) : null,
    /** Documents that cannot be found by party, amount and day yet, about. */
    unsearched: found.unsearchedCount(),
  };
}

/** The newest ones of each way to read the text. */
function matching({ store: { found, links } }: Engine, text: string, end: number): number[] {
  const limit = PAGE + 1;
  const amount = amountIn(text);
  const day = dayIn(text);
  const upper = text.toUpperCase();
  // By an id of either side, or by a number that a link has.
  const ids = new Set([
    text,
    ...links.search(text).flatMap(({ platformId, erpId }) => [platformId, erpId]),
  ]);
  const all = [
    ...found.byNumber(text, end, limit),
    ...(upper === text ? [] : found.byNumber(upper, end, limit)),
    ...[...ids].flatMap((id) => found.byId(id, end)),
    ...(amount === null ? [] : found.byAmount(amount, end, limit)),
    ...(day === null ? [] : found.byDay(day, end, limit)),
    ...(text.length < 2 ? [] : found.byParty(text, end, limit)),
  ];
  return [...new Set(all)].toSorted((one, other) => other - one).slice(0, limit);
}

/** `$20,712.42`, `20712.42` */
function amountIn(text: string): string | null {
  const digits = text.replace(/^(-?)\s*[$€£]\s*/, "$1").replaceAll(/,(?=\d{3}(?!\d))/g, "");
  return Decimal.is(digits) ? inCents(Decimal.of(digits)) : null;
}

/** `2026-11-22`, `11/22/2026` */
function dayIn(text: string): string | null {
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) return text;
  const [, month = "", day = "", year] = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/.exec(text) ?? [];
  return year === undefined ? null : `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;
}

function documentOf(engine: Engine, flows: readonly Flow[], row: FoundRow) {
  const flow = flows.find(({ name }) => name === row.flow);
  const about = aboutOf(flow, row.text);
  const number = row.number ?? about.number ?? row.recordId;
  return {
    id: String(row.record),
    flow: row.flow,
    kind: (flow?.mapping.kind ?? "document") as string,
    /** `INV-118 · Prairie Fuel · $20,712.42 · waits for customer 000113` */
    summary: summaryOf(engine.currency, {
      number,
      about,
      party: partyOf(engine, about),
      stands: standing(row.state, row),
    }),
    number,
    state: row.state,
    /** In quarantine, and nobody has to do anything. */
    clears: row.code !== null && remedyOf(row.code).helps.includes("wait"),
    receivedAt: new Date(row.receivedMs).toISOString(),
  };
}

/** One line of a document's story, oldest first. */
export interface TraceStep {
  /** ISO 8601 UTC. */
  readonly at: string;
  readonly flow: string;
  readonly event: string;
  /** The whole of it, also of an answer that lists every document of a batch. */
  readonly detail: string;
  /** What an answer about several documents says of this one, and of how many others; null: it is no such answer. */
  readonly own: { readonly detail: string; readonly others: number } | null;
  readonly platformId: string | null;
  readonly erpId: string | null;
}

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

function groupOf({ flow, state, code, key }: DeliveryRow): string[] {
  if (state !== "quarantined" || code === null || key === null) return [];
  return [groupId({ flow, code, key })];
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

const VERSIONS_MAX = 50;
const REQUESTS_MAX = 10;
const FIELDS_MAX = 500;

/** @throws OfficeError when there is no such document */
export function lifeOf(engine: Engine, flows: readonly Flow[], id: string) {
  const { store } = engine;
  const row = /^\d{1,15}$/.test(id) ? store.found.row(Number(id)) : null;
  if (row === null)
    throw new OfficeError(`There is no document ${id}.`, "Search for its number, party or amount.");
  const flow = flows.find(({ name }) => name === row.flow);
  const told = trace(store, row.recordId);
  const linked = told.steps.find(({ platformId }) => platformId !== null);
  const document = documentOf(engine, flows, row);
  return {
    ...document,
    recordId: row.recordId,
    from: flow?.from ?? "",
    to: flow?.to ?? "",
    mapping: flow?.mapping.name ?? "",
    platformId: linked?.platformId ?? null,
    erpId: linked?.erpId ?? null,
    /** The newest first. */
    versions: store.found.versions(row.record, VERSIONS_MAX).map((one) => ({
      version: one.version,
      origin: one.origin,
      receivedAt: iso(one.receivedMs),
      stands: standing(one.state, one),
    })),
    story: told.steps,
    groups: told.groups,
    /** Its newest version, field by field, as it was received. */
    record: fieldsOf(row.text),
    corrections: correctionsOf(store, row.record),
    /** The newest first. */
    requests: store.found.sent(row.record, REQUESTS_MAX).map((one) => ({
      operation: one.operation,
      key: one.key,
      target: one.target,
      body: one.body,
      sha256: one.sha256,
      state: one.state,
      frozenAt: iso(one.createdMs),
      sentAt: one.sentMs === null ? null : iso(one.sentMs),
      /** When its bytes went, for they had been kept for long enough; null: they are here. */
      removedAt: one.goneMs === null ? null : iso(one.goneMs),
    })),
    /** What the last reconciliation found to differ. */
    differences: differencesOf(engine, document.number),
  };
}

function differencesOf({ store: { sweeps } }: Engine, number: string): FieldDifference[] {
  const rows = [...sweeps.inState("open"), ...sweeps.inState("seen")];
  return rows.flatMap((one) =>
    one.number !== number || one.row === null ? [] : (JSON.parse(one.row) as CaseRow).differences,
  );
}

export interface Field {
  /** `lines.1.quantity` */
  readonly path: string;
  readonly value: string;
}

/** Every value of a JSON text, or of a CSV text with a header, with its path; anything else is one field. */
export function fieldsOf(text: string): Field[] {
  return (isJson(text) ? fieldsOfJson(text) : fieldsOfCsv(text)) ?? [{ path: "", value: text }];
}

const isJson = (text: string): boolean => /^\s*[[{"]/.test(text) && !/^"[^"\n]*",/.test(text);

/** Null: it has no header with rows of its length. The first row's values stand under the header's names alone. */
function fieldsOfCsv(text: string): Field[] | null {
  let rows: string[][];
  try {
    rows = parseCsv(text, { skip_empty_lines: true });
  } catch {
    return null;
  }
  const [header = [], ...records] = rows;
  if (header.length < 2 || records.length === 0) return null;
  return records
    .flatMap((row, at) =>
      row.flatMap((value, column) => {
        const name = header[column] ?? "";
        return value === "" ? [] : { path: at === 0 ? name : join(String(at + 1), name), value };
      }),
    )
    .slice(0, FIELDS_MAX);
}

/** Null: it is no JSON. */
function fieldsOfJson(text: string): Field[] | null {
  const fields: Field[] = [];
  const walk = (value: Json, path: string): void => {
    if (fields.length >= FIELDS_MAX) return;
    if (Array.isArray(value))
      for (const [at, one] of value.entries()) walk(one, join(path, `${at + 1}`));
    else if (isGroup(value))
      for (const [name, one] of Object.entries(value)) walk(one, join(path, name));
    else if (value !== null && value !== "") fields.push({ path, value: textOf(value) });
  };
  try {
    walk(parseExact(text), "");
  } catch {
    return null;
  }
  return fields;
}

/** Numbers with their digits. */
const textOf = (value: Json): string => (typeof value === "string" ? value : stringifyExact(value));

const isGroup = (value: Json): value is Readonly<Record<string, Json>> =>
  typeof value === "object" && value !== null && !(value instanceof Decimal);

const join = (path: string, name: string): string => (path === "" ? name : `${path}.${name}`);

/** Empty where the flow has never run. */
export function samplesOf(store: Store, { flow, text, last }: Sampling): readonly Sample[] {
  const row = store.flows.find(flow);
  if (row === null || row === undefined) return [];
  return text === null ? store.samples.latest(row.flow, last) : store.samples.named(row.flow, text);
}

/** In the order they were asked; null: there is none yet. */
export const counterpartsOf = (store: Store, { side, asked }: Counterparts): (string | null)[] =>
  asked.map(({ kind, id }) => {
    const link = store.links.find(kind, side, id);
    return link === null ? null : otherId(link, side);
  });

/** Of flows that book; what cannot be read has no day. */
export function toBook({ store, dayOf }: Engine, flows: readonly Flow[]): DayToBook[] {
  return flows.flatMap((flow) => {
    const { name, mapping } = flow;
    const counts = new Map<string, number>();
    if (mapping.bookedOn === undefined) return [];
    for (const text of store.openRecords.waiting(flow.flow)) {
      const record = mapping.input.safeParse(parseExact(text));
      const day = record.success ? mapping.bookedOn(record.data, { dayOf }) : null;
      if (day !== null) counts.set(day, (counts.get(day) ?? 0) + 1);
    }
    return [...counts].map(([day, count]) => ({ day, flow: name, count }));
  });
}

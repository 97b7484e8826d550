/** What people do besides deciding about deliveries, what they did, and the tables that they keep. */
import type { Tables } from "../config/crossref.ts";
import { columnsRead, type References } from "../core/contract.ts";
import { ConfigurationError, OfficeError } from "../core/errors.ts";
import { parseExact } from "../core/json.ts";
import { type Engine, type Flow, referencesOf } from "../engine/engine.ts";
import { acceptList } from "../engine/pull.ts";
import type { AuditRow } from "../store/quarantine.ts";
import {
  type AddingRow,
  type AuditAsked,
  type Person,
  type Backfilling,
  type Reconciling,
  usualBegin,
} from "./asked.ts";
import { type Group, groupsOf } from "./quarantine.ts";
import { DAY_MS, faultOfDay, HOUR_MS } from "../core/time.ts";
import type { Backfills, Filling } from "../engine/backfill.ts";
import type { BackfillRow } from "../store/flows.ts";
import type { OfficeParts } from "./status.ts";

const PAGE = 50;
/** Two days. */
export const LATELY_HOURS = 48;
const ROWS_MAX = 500;

export function deedsOf({ store }: Engine, before: string | null) {
  const end =
    before !== null && /^\d{1,15}$/.test(before) ? Number(before) : Number.MAX_SAFE_INTEGER;
  const rows = store.handling.decided(end, PAGE + 1);
  return {
    deeds: rows.slice(0, PAGE).map(({ audit, atMs, who, event, detail, reason, flow, ...of }) => ({
      id: String(audit),
      at: new Date(atMs).toISOString(),
      by: who ?? "",
      event,
      detail,
      reason,
      flow,
      /** What it was about, and where that is shown. */
      document:
        of.record === null ? null : { id: String(of.record), number: of.number ?? "document" },
    })),
    next: rows.length > PAGE ? String(rows[PAGE - 1]?.audit) : null,
  };
}

export function latelyOf({ store, clock }: Engine) {
  return store.found.lately(clock.now().wallMs - LATELY_HOURS * HOUR_MS);
}

export const looksOf = ({ store }: Engine) =>
  store.flows.runs().map(({ flow, endedMs, tookMs, received, error }) => ({
    flow,
    at: new Date(endedMs).toISOString(),
    tookMs,
    received,
    /** Why the source was not read to its end; null: it was. */
    trouble: error,
  }));

/** A flow is paused, or goes on. @throws OfficeError for what cannot be done or is so already */
export function hold(
  { engine: { store, clock }, flows, daemon }: OfficeParts,
  name: string,
  isHeld: boolean,
  person: Person,
): { flow: string } {
  const flow = flowNamed(flows, name);
  const wasHeld = store.flows.isHeld(flow.flow);
  if (!isHeld && !wasHeld && flow.paused)
    throw new OfficeError(
      `The flow "${name}" is paused in the configuration.`,
      "Take paused: true from it there, and start fuelbridge again.",
    );
  if (wasHeld === isHeld)
    throw new OfficeError(
      `The flow "${name}" ${isHeld ? "is paused already" : "is not paused"}.`,
      "Look at the flows as they are now.",
    );
  const atMs = clock.now().wallMs;
  const event = isHeld ? "flow paused" : "flow goes on";
  store.transaction(() => {
    store.flows.hold(flow.flow, isHeld ? atMs : null);
    store.journal.audit(atMs, { flow: flow.flow, event, detail: name, person });
  });
  daemon?.nudge();
  return { flow: name };
}

/** Inside a transaction. @throws OfficeError when nothing of that name was refused */
export function settleUnread(
  { store, clock }: Engine,
  { flow, name }: Flow,
  what: string,
  person: Person,
): void {
  if (!store.obstacles.settle(flow, what))
    throw new OfficeError(
      `Nothing that came to ${name} as "${what}" stands as refused.`,
      "`fuelbridge status` names what was refused. What only lies there unread is gone when it is read or moved away.",
    );
  const entry = { flow, event: "refusal settled", detail: what, person };
  store.journal.audit(clock.now().wallMs, entry);
}

/** Inside a transaction. Returns what the question `accept` tells. @throws OfficeError when none is held */
export function listAccepted(engine: Engine, flow: Flow, person: Person): number | null {
  const at = engine.clock.now().wallMs;
  const accepted = acceptList(engine, flow, at);
  if (accepted === null)
    throw new OfficeError(
      `No list of ${flow.name} is held.`,
      "`fuelbridge status` names a list that has lost or grown too much.",
    );
  const detail = accepted === "next" ? "all of it" : `it lacks ${accepted}`;
  engine.store.journal.audit(at, { flow: flow.flow, event: "list accepted", detail, person });
  return accepted === "next" ? null : accepted;
}

export function shownTables(engine: Engine, tables: Tables) {
  const missing = missingRows(engine);
  const there = tables.check();
  const awaited = new Set(missing.map(({ table }) => table));
  for (const { name } of there) awaited.delete(name);
  // Documents wait for rows of it, and there is no file.
  const absent = [...awaited].map((name) => ({
    name,
    file: `${name}.csv is not there yet: it is made with its first row`,
    columns: columnsOf(engine, name),
    faults: [],
  }));
  return [...there, ...absent].map(({ name, file, columns, faults }) => {
    const all = faults.length > 0 ? [] : tables.rows(name);
    return {
      name,
      file,
      /** The key first. */
      columns,
      rows: all.slice(0, ROWS_MAX).map(({ row }) => columns.map((column) => row[column] ?? "")),
      /** Rows that are there beyond those shown. */
      more: Math.max(all.length - ROWS_MAX, 0),
      /** Rows that no document has asked for since uses are counted; null: that cannot be told. */
      unused: unusedOf(engine, name, all),
      /** Why it cannot be used now. */
      faults: faults.map(({ line, message }) => `line ${line}: ${message}`),
      /** Rows that documents wait for. */
      missing: missing.flatMap(({ table, ...row }) => (table === name ? row : [])),
    };
  });
}

/** What the flows read of a table, the key first. */
const columnsOf = ({ flows }: Engine, table: string): string[] =>
  columnsRead(flows.map(({ mapping }) => mapping)).get(table) ?? [];

/** A flow that was paused all the time has asked for nothing: the page says since when is counted, not that none ever will. */
function unusedOf({ store, flows }: Engine, table: string, rows: ReturnType<Tables["rows"]>) {
  const isRead = flows.some(({ mapping }) => mapping.tables?.[table] !== undefined);
  const sinceMs = store.rowUses.sinceMs();
  if (!isRead || sinceMs === null || rows.length === 0) return null;
  const used = store.rowUses.keys(table);
  const keys = rows.flatMap(({ row }) => {
    const [key] = Object.values(row);
    return key === undefined || used.has(key) ? [] : [key];
  });
  return {
    since: new Date(sinceMs).toISOString(),
    keys: keys.slice(0, ROWS_MAX),
    more: Math.max(keys.length - ROWS_MAX, 0),
  };
}

/** Also those that the same documents will lack next: `count` is then of those that were looked at. */
function missingRows(engine: Engine) {
  const named = groupsOf(engine).flatMap(({ shown, causes }) => {
    const { id: group, flow, count, lookup, first, sum } = shown;
    return lookup === null ? [] : [{ ...lookup, flow, count, sum, first, group, causes }];
  });
  const known = new Set(named.map(nameOf));
  const lacked = named.flatMap(({ flow, first, group, causes }) =>
    lackedBy(engine, flow, causes).map((row) => ({ ...row, sum: null, first, group })),
  );
  const next = [...Map.groupBy(lacked, nameOf)].flatMap(([name, [row, ...others]]) =>
    row === undefined || known.has(name) ? [] : [{ ...row, count: others.length + 1 }],
  );
  return [...named.map(({ causes: _causes, ...row }) => row), ...next];
}

const nameOf = (row: { flow: string; table: string; key: string }): string =>
  JSON.stringify([row.flow, row.table, row.key]);

/** So many documents of a group are mapped once more: those of one newcomer lack the same rows. */
const LACKING_MAX = 20;
/** Stands for each cell of a row that is missing, so that the mapping goes on to the next one. */
const UNSAID = "\0";

/** What the mapping looks up for the oldest documents of a group and does not find, each once for a document. */
function lackedBy(engine: Engine, name: string, [cause]: Group["causes"]) {
  const flow = engine.flows.find((one) => one.name === name);
  if (flow === undefined || cause === undefined) return [];
  const known = referencesOf(engine, flow);
  const deliveries = engine.store.questions.quarantined(cause).slice(0, LACKING_MAX);
  return deliveries.flatMap(({ delivery }) => {
    const lacked = new Map<string, { flow: string; table: string; key: string }>();
    const row: References["row"] = (table, key) => {
      if (engine.tables.row(table, key) !== null) return known.row(table, key);
      // What a missing row would say is no key of another one.
      if (!key.includes(UNSAID)) lacked.set(`${table}\n${key}`, { flow: name, table, key });
      return new Proxy({}, { get: () => UNSAID });
    };
    try {
      const record = flow.mapping.input.parse(parseExact(engine.store.deliveries.text(delivery)));
      flow.mapping.map(record, { ...known, row });
    } catch {
      // It goes no further: what it lacks after that is told once this is there.
    }
    return [...lacked.values()];
  });
}

/** Writes the row, then what was done. @throws OfficeError, ConfigurationError */
export function addRow(
  engine: Engine,
  tables: Tables,
  { table, cells }: AddingRow,
  person: Person,
): { table: string; key: string } {
  try {
    const key = tables.add(table, cells, columnsOf(engine, table));
    const told = Object.entries(cells).map(([column, cell]) => `${column}: ${cell}`);
    const entry = { event: "row added", detail: `${table}: ${told.join(", ")}`, person };
    engine.store.transaction(() => engine.store.journal.audit(engine.clock.now().wallMs, entry));
    return { table, key };
  } catch (error) {
    if (error instanceof ConfigurationError) throw new OfficeError(error.message, error.next);
    throw error;
  }
}

/** Entries in one answer. */
const AUDIT_PAGE = 2_000;

/** Days are the company's. The next page begins after `next`; null: there is none. */
export function auditPage({ store, dayOf }: Engine, { from, to, after, people }: AuditAsked) {
  // A day of the company's lies within two days of UTC.
  const fromMs = from === null ? 0 : Date.parse(`${from}T00:00:00Z`) - DAY_MS;
  const toMs = to === null ? Number.MAX_SAFE_INTEGER : Date.parse(`${to}T00:00:00Z`) + 2 * DAY_MS;
  const rows = store.handling.audit({ fromMs, toMs, after, limit: AUDIT_PAGE, people });
  const entries = rows.flatMap((row) => {
    const at = new Date(row.atMs).toISOString();
    const day = dayOf(at);
    const isWithin = (from === null || day >= from) && (to === null || day <= to);
    return isWithin ? [entryOf(row, at)] : [];
  });
  return { entries, next: rows.length < AUDIT_PAGE ? null : (rows.at(-1)?.audit ?? null) };
}

const entryOf = ({ audit: entry, atMs: _atMs, record: _record, ...row }: AuditRow, at: string) => ({
  entry,
  at,
  ...row,
});

/* Periods that people ask about: what a reconciliation compares, and what a backfill reads anew. */

/** @throws OfficeError when no flow is called so */
export function flowNamed(flows: readonly Flow[], name: string): Flow {
  const flow = flows.find((one) => one.name === name);
  if (flow !== undefined) return flow;
  throw new OfficeError(
    `There is no flow "${name}".`,
    `Flows: ${flows.map((one) => one.name).join(", ")}.`,
  );
}

/** @throws OfficeError for days that are none, or the wrong way round */
function expectPeriod({ from, to }: { readonly from: string; readonly to: string }): void {
  const wrong = [from, to].find((day) => faultOfDay(day) !== null);
  if (wrong !== undefined || from > to)
    throw new OfficeError(
      wrong === undefined ? `${from} to ${to} is no period.` : `"${wrong}" ${faultOfDay(wrong)}.`,
      "Give two days, the first one first: --from 2026-10-01 --to 2026-10-31.",
    );
}

/** Of days of which either may be left open. @throws OfficeError as {@link expectPeriod} */
export function expectDays<
  Days extends { readonly from: string | null; readonly to: string | null },
>(days: Days): Days {
  const { from, to } = days;
  const some = from ?? to;
  if (some !== null) expectPeriod({ from: from ?? some, to: to ?? some });
  return days;
}

/** @throws OfficeError for days that are none, and for a flow that is not there */
export function comparing({ auditor, flows }: OfficeParts, asked: Reconciling) {
  const to = expectDays(asked).to ?? auditor.today();
  const period = { from: asked.from ?? usualBegin(to), to };
  expectPeriod(period);
  if (asked.flow !== null) flowNamed(flows, asked.flow);
  return { auditor, question: { period, flow: asked.flow, askedBy: asked.by } };
}

export function reconcileCost(parts: OfficeParts, asked: Reconciling) {
  const { auditor, question } = comparing(parts, asked);
  const audit = parts.month.status().purposes.find(({ purpose }) => purpose === "audit");
  const { absent: endpoints, atMostMs } = auditor.awaited(question.flow);
  return {
    ...question.period,
    /** To the platform, about: single reads of what differs come on top. */
    requests: auditor.cost(question),
    /** What the month still allows for this purpose. */
    left: audit?.left ?? 0,
    /** Endpoints that call us and are not there: the run waits for their next session, so long at most, ms. */
    waits: endpoints.length === 0 ? null : { endpoints, atMostMs },
  };
}

/** The rest is for polls, and for writes and what looks for them. Percent. */
const SHARE_MAX = 50;

/** @throws OfficeError for a flow that is not there, days that are none, and a share that is none */
export function filling(
  { flows, backfills }: OfficeParts,
  { flow, from, to, share, by, note }: Backfilling,
): { readonly backfills: Backfills; readonly asked: Filling } {
  const named = flowNamed(flows, flow);
  expectPeriod({ from, to });
  if (!Number.isInteger(share) || share < 1 || share > SHARE_MAX)
    throw new OfficeError(
      `${share} is no share of the month's requests.`,
      `Give whole percent from 1 to ${SHARE_MAX}: --share 5.`,
    );
  return { backfills, asked: { flow: named, from, to, share, person: { by, note } } };
}

/** `reading` also when the process that read has ended: the daemon goes on with it. */
export function backfillState(row: BackfillRow) {
  const { flow, fromDay, toDay, state, share, askedBy, records, received, requests } = row;
  const { expected, gone, code, message, next } = row;
  const gonePart = expected === null ? null : Math.min(gone / Math.max(expected, 1), 0.99);
  return {
    flow,
    from: fromDay,
    to: toDay,
    state,
    share,
    by: askedBy,
    beganAt: new Date(row.beganMs).toISOString(),
    changedAt: new Date(row.changedMs).toISOString(),
    /** Of what it goes through, 0 to 1; null: nobody knows. */
    done: state === "done" ? 1 : gonePart,
    records,
    received,
    requests,
    /** Why it is paused; null: it is not. */
    trouble: code === null ? null : { code, message: message ?? "", next: next ?? "" },
  };
}

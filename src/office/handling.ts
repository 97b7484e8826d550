/** Who sees to what is in quarantine, what people wrote about it, and who did what. */
import type { Engine, Flow } from "../engine/engine.ts";
import type { AuditRow } from "../store/handling.ts";
import { select } from "./decisions.ts";
import type { Assignment, AuditAsked, AuditEntry, AuditPage, Person } from "./desk.ts";

/** Returns how many deliveries it is about. @throws OfficeError when the selector names nothing */
export function assign(
  engine: Engine,
  flows: readonly Flow[],
  selector: string,
  { to, by, note }: Assignment,
): number {
  const { store, clock } = engine;
  const chosen = select(engine, flows, selector);
  const atMs = clock.now().wallMs;
  store.transaction(() => {
    for (const { flow, row } of chosen) {
      store.handling.assign(row.delivery, to, atMs);
      const detail = `${to === null ? "to nobody" : `to ${to}`}: ${note}`;
      const entry = { flow: flow.flow, delivery: row.delivery, event: "assigned", detail };
      store.journal.audit(atMs, { ...entry, person: { by, note } });
    }
  });
  return chosen.length;
}

/** The same for a note. @throws OfficeError when the selector names nothing */
export function remark(
  engine: Engine,
  flows: readonly Flow[],
  selector: string,
  { by, note }: Person,
): number {
  const { store, clock } = engine;
  const chosen = select(engine, flows, selector);
  const atMs = clock.now().wallMs;
  store.transaction(() => {
    for (const { flow, row } of chosen) {
      store.handling.write(row.delivery, { atMs, who: by, text: note });
      const entry = { flow: flow.flow, delivery: row.delivery, event: "note", detail: note };
      store.journal.audit(atMs, { ...entry, person: { by, note } });
    }
  });
  return chosen.length;
}

/** Entries in one answer. */
const PAGE = 2_000;

/** Days are the company's. The next page begins after `next`; null: there is none. */
export function auditPage(
  { store, dayOf }: Engine,
  { from, to, after, people }: AuditAsked,
): AuditPage {
  // A day of the company's lies within two days of UTC.
  const fromMs = from === null ? 0 : Date.parse(`${from}T00:00:00Z`) - DAY_MS;
  const toMs = to === null ? Number.MAX_SAFE_INTEGER : Date.parse(`${to}T00:00:00Z`) + 2 * DAY_MS;
  const rows = store.handling.audit({ fromMs, toMs, after, limit: PAGE, people });
  const entries = rows.flatMap((row): AuditEntry[] => {
    const at = new Date(row.atMs).toISOString();
    const day = dayOf(at);
    const isWithin = (from === null || day >= from) && (to === null || day <= to);
    return isWithin ? [entryOf(row, at)] : [];
  });
  return { entries, next: rows.length < PAGE ? null : (rows.at(-1)?.audit ?? null) };
}

const DAY_MS = 24 * 3_600_000;

const entryOf = (
  { audit, who, event, flow, number, ...row }: AuditRow,
  at: string,
): AuditEntry => ({
  entry: audit,
  at,
  who,
  event,
  flow,
  number,
  delivery: row.delivery,
  request: row.request,
  detail: row.detail,
  reason: row.reason,
});

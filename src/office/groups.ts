/** The quarantine as people see it: deliveries whose next step is the same are one group. */
import { hash } from "node:crypto";
import { endpointOf, type Engine, type Flow } from "../engine/engine.ts";
import type { CauseRow, QuarantinedRow } from "../store/questions.ts";
import type { Store } from "../store/store.ts";
import type { Quarantined, QuarantineGroup } from "./office.ts";
import { correctableIn } from "./correctable.ts";
import type { ShownCorrection } from "./desk.ts";
import { aboutRecord, inCents, partiesOf, partyText, readText, summaryOf } from "./about.ts";
import { remedyOf } from "./remedies.ts";
import { voicesOf } from "./voices.ts";

export interface Group {
  readonly shown: QuarantineGroup;
  readonly causes: readonly CauseRow[];
}

/** The largest first. */
export function groupsOf(engine: Engine): Group[] {
  const { store, clock } = engine;
  const nowMs = clock.now().wallMs;
  const byId = Map.groupBy(store.questions.quarantine(isTogether), (row) =>
    groupId({ ...row, key: keyOf(row) }),
  );
  return [...byId]
    .map(([id, causes]) => groupOf(engine, id, causes, nowMs))
    .toSorted((one, other) => other.shown.count - one.shown.count);
}

/** What tells groups of one flow and code apart: what is waited for, the field, or the cause itself. */
export function keyOf({
  code,
  cause,
  field,
  awaitsKind,
}: Pick<CauseRow, "code" | "cause" | "field" | "awaitsKind">): string {
  if (awaitsKind !== null) return awaitsKind;
  return isTogether({ code, awaitsKind }) ? (field ?? "") : cause;
}

const isTogether = ({ code, awaitsKind }: Pick<CauseRow, "code" | "awaitsKind">): boolean =>
  awaitsKind === null && remedyOf(code).together !== undefined;

/** Short, stable, and never only digits (those name a delivery). */
export function groupId({ flow, code, key }: { flow: string; code: string; key: string }): string {
  return `q${hash("sha256", JSON.stringify([flow, code, key])).slice(0, 7)}`;
}

export function deliveriesOf(store: Store, { causes }: Group): QuarantinedRow[] {
  return causes
    .flatMap((cause) => store.questions.quarantined(cause))
    .toSorted((one, other) => one.delivery - other.delivery);
}

/** Those of a group, with what a person knows them by. `flow`: undefined when the configuration has it no more. */
export function shownOf(
  engine: Engine,
  flow: Flow | undefined,
  rows: readonly QuarantinedRow[],
): Quarantined[] {
  const called = partiesOf(engine);
  return rows.map((row) => shown(engine, flow, row, called));
}

function shown(
  engine: Engine,
  flow: Flow | undefined,
  row: QuarantinedRow,
  called: ReturnType<typeof partiesOf>,
): Quarantined {
  const { delivery, number, recordId, version, origin, cause, field, awaitsId, sinceMs } = row;
  const read = readText(engine.store.waits.text(delivery));
  const about = aboutRecord(flow, read);
  const party = called(about);
  const { amount = null } = about;
  return {
    delivery: String(delivery),
    document: String(row.record),
    summary: summaryOf(engine.currency, {
      number: number ?? recordId,
      about,
      party,
      stands: cause,
    }),
    number: number ?? recordId,
    recordId,
    version,
    origin,
    field,
    since: new Date(sinceMs).toISOString(),
    ageMs: ageMs(engine.clock.now().wallMs, sinceMs),
    name: about.name || null,
    party: partyText(party),
    amount: amount === null ? null : inCents(amount),
    currency: amount === null ? null : (about.currency ?? engine.currency),
    cause,
    corrections: correctionsOf(engine.store, row.record),
    correctable:
      read !== undefined && isUnsent(engine.store, row)
        ? correctableIn(read, [recordId, number, version]).map((leaf) => ({
            field: leaf.field,
            value: typeof leaf.value === "string" ? leaf.value : "",
          }))
        : [],
    assignee: engine.store.handling.assignee(delivery),
    notes: engine.store.handling
      .notes(delivery)
      .map(({ atMs, who, text }) => ({ at: new Date(atMs).toISOString(), who, text })),
    awaits: awaitsId === null ? null : nameOf(engine.store, awaitsId),
  };
}

/** Nothing of it arrived: it was never sent, or what was sent was refused. */
const isUnsent = ({ requests }: Store, { request }: QuarantinedRow): boolean => {
  const state = request === null ? undefined : requests.get(request)?.machine.state;
  return state === undefined || state === "rejected" || state === "cancelled";
};

export const correctionsOf = (store: Store, record: number): ShownCorrection[] =>
  store.corrections.standing(record).map(({ field, was, value, who, reason, atMs }) => ({
    field,
    was,
    value,
    by: who,
    reason,
    at: new Date(atMs).toISOString(),
  }));

function groupOf(
  { store, flows }: Engine,
  id: string,
  causes: readonly CauseRow[],
  nowMs: number,
): Group {
  const [first] = causes as readonly [CauseRow];
  const { flow, code, field, awaitsKind, lookupTable: table, lookupKey: key } = first;
  const { helps, together } = remedyOf(code);
  const sinceMs = causes.reduce((oldest, one) => Math.min(oldest, one.sinceMs), first.sinceMs);
  const isSeveral = causes.length > 1 || first.several === true;
  const said =
    awaitsKind !== null
      ? waiting(store, causes, awaitsKind)
      : { cause: isSeveral ? (together?.(field ?? "") ?? first.cause) : first.cause };
  const count = causes.reduce((sum, { count }) => sum + count, 0);
  const lookup = table === null || key === null ? null : { table, key };
  const of = flows.find(({ name }) => name === flow);
  const counts = of === undefined ? null : store.deliveries.counts(of.flow);
  const { title, accountant, operator } = voicesOf({
    code,
    kind: of?.mapping.kind ?? null,
    flow,
    from: of === undefined ? "erp" : endpointOf(of.from),
    to: of === undefined ? "platform" : endpointOf(of.to),
    count,
    cause: said.cause,
    awaited: "awaited" in said ? said.awaited : null,
    helps,
    lookup,
    isAll: counts !== null && !counts.has("delivered") && counts.get("quarantined") === count,
  });
  const shown: QuarantineGroup = {
    id,
    flow,
    code,
    cause: said.cause,
    next: "next" in said ? said.next : first.next,
    count,
    since: new Date(sinceMs).toISOString(),
    ageMs: ageMs(nowMs, sinceMs),
    helps,
    title,
    accountant,
    operator,
    lookup,
  };
  return { shown, causes };
}

/** So many are named. */
const NAMED_MAX = 3;

/** Waits that nothing ends by itself (engine/awaited.ts), by their code. */
const NOT_COMING: Readonly<Record<string, string>> = {
  "waits-for-closed": "which were closed by hand",
  "waits-for-skipped": "which are skipped",
  "waits-without-flow": "which no flow delivers now",
  "waits-for-unread": "which their flow has not read",
};

/** What is waited for by its number, where people have one for it. */
function waiting(
  store: Store,
  causes: readonly CauseRow[],
  kind: string,
): Pick<QuarantineGroup, "cause" | "next"> & { readonly awaited: string | null } {
  const [first] = causes as readonly [CauseRow];
  const ids = causes.flatMap(({ awaitsId }) => awaitsId ?? []);
  const names = ids.length > NAMED_MAX ? [] : ids.map((id) => nameOf(store, id));
  const [only] = names;
  const why = NOT_COMING[first.code];
  if (why !== undefined) {
    const told = names.length === 0 ? "" : `: ${names.join(", ")}`;
    const cause = `waits for ${ids.length} ${kind}s, ${why}${told}`;
    return { cause: ids.length === 1 ? first.cause : cause, next: first.next, awaited: null };
  }
  if (names.length === 1)
    return {
      awaited: `${kind} ${only}`,
      cause: `waits for ${kind} ${only}`,
      next: `It goes out by itself once ${kind} ${only} is delivered. To see what holds that up: fuelbridge trace ${only}`,
    };
  const isNamed = names.length > 0 && names.every((name, at) => name !== ids[at] || !isId(name));
  const awaited = isNamed
    ? `${ids.length} ${kind}s: ${names.join(", ")}`
    : `${ids.length} ${kind}s that are not delivered yet`;
  return {
    awaited,
    cause: `waits for ${awaited}`,
    next: `Each goes out by itself once its ${kind} is delivered. To see what holds one up: fuelbridge trace and its number under WAITS FOR.`,
  };
}

/** A number where the store knows one for it: what a platform's record names is an id. */
const nameOf = (store: Store, id: string): string =>
  isId(id) ? (store.questions.numberOf(id) ?? id) : id;

const isId = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);

const ageMs = (nowMs: number, sinceMs: number): number => Math.max(nowMs - sinceMs, 0);

/** The quarantine as people see it: deliveries whose next step is the same are one group. */
import { hash } from "node:crypto";
import type { Decimal } from "../core/decimal.ts";
import { parseExact } from "../core/json.ts";
import type { About } from "../core/contract.ts";
import type { Engine, Flow } from "../engine/engine.ts";
import type { CauseRow, QuarantinedRow } from "../store/questions.ts";
import type { Store } from "../store/store.ts";
import type { Quarantined, QuarantineGroup } from "./office.ts";
import { remedyOf } from "./remedies.ts";

export interface Group {
  readonly shown: QuarantineGroup;
  readonly causes: readonly CauseRow[];
}

/** The largest first. */
export function groupsOf({ store, clock }: Engine): Group[] {
  const nowMs = clock.now().wallMs;
  const byId = Map.groupBy(store.questions.quarantine(), (row) =>
    groupId({ ...row, key: keyOf(row) }),
  );
  return [...byId]
    .map(([id, causes]) => groupOf(store, id, causes, nowMs))
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
  return remedyOf(code).together === undefined ? cause : (field ?? "");
}

/** Short, stable, and never only digits (those name a delivery). */
export function groupId({ flow, code, key }: { flow: string; code: string; key: string }): string {
  return `q${hash("sha256", JSON.stringify([flow, code, key])).slice(0, 7)}`;
}

export function deliveriesOf(store: Store, { causes }: Group): QuarantinedRow[] {
  return causes
    .flatMap(({ flow, code, cause }) => store.questions.quarantined(flow, code, cause))
    .toSorted((one, other) => one.delivery - other.delivery);
}

/** One of a group, with what a person knows it by. `flow`: undefined when the configuration has it no more. */
export function shown(engine: Engine, flow: Flow | undefined, row: QuarantinedRow): Quarantined {
  const { delivery, number, recordId, version, origin, cause, field, awaitsId, sinceMs } = row;
  const about = aboutOf(engine, flow, row);
  const { amount = null } = about;
  return {
    delivery: String(delivery),
    number: number ?? recordId,
    recordId,
    version,
    origin,
    field,
    since: new Date(sinceMs).toISOString(),
    ageMs: ageMs(engine.clock.now().wallMs, sinceMs),
    name: about.name || null,
    party: partyOf(engine, about),
    amount: amount === null ? null : inCents(amount),
    currency: amount === null ? null : (about.currency ?? engine.currency),
    cause,
    assignee: engine.store.handling.assignee(delivery),
    notes: engine.store.handling
      .notes(delivery)
      .map(({ atMs, who, text }) => ({ at: new Date(atMs).toISOString(), who, text })),
    awaits: awaitsId === null ? null : nameOf(engine.store, awaitsId),
  };
}

function groupOf(store: Store, id: string, causes: readonly CauseRow[], nowMs: number): Group {
  const [first] = causes as readonly [CauseRow];
  const { flow, code, field, awaitsKind } = first;
  const { helps, together } = remedyOf(code);
  const sinceMs = Math.min(...causes.map((one) => one.sinceMs));
  const said =
    awaitsKind !== null
      ? waiting(store, causes, awaitsKind)
      : { cause: causes.length > 1 ? (together?.(field ?? "") ?? first.cause) : first.cause };
  const shown: QuarantineGroup = {
    id,
    flow,
    code,
    cause: said.cause,
    next: "next" in said ? said.next : first.next,
    count: causes.reduce((sum, { count }) => sum + count, 0),
    since: new Date(sinceMs).toISOString(),
    ageMs: ageMs(nowMs, sinceMs),
    helps,
  };
  return { shown, causes };
}

/** So many are named. */
const NAMED_MAX = 3;

/** Waits that nothing ends by itself (engine/awaited.ts), by their code. */
const NOT_COMING: Readonly<Record<string, string>> = {
  "waits-for-skipped": "which are skipped",
  "waits-without-flow": "which no flow delivers now",
  "waits-for-unread": "which their flow has not read",
};

/** What is waited for by its number, where people have one for it. */
function waiting(
  store: Store,
  causes: readonly CauseRow[],
  kind: string,
): Pick<QuarantineGroup, "cause" | "next"> {
  const [first] = causes as readonly [CauseRow];
  const ids = causes.flatMap(({ awaitsId }) => awaitsId ?? []);
  const names = ids.length > NAMED_MAX ? [] : ids.map((id) => nameOf(store, id));
  const [only] = names;
  const why = NOT_COMING[first.code];
  if (why !== undefined) {
    const told = names.length === 0 ? "" : `: ${names.join(", ")}`;
    const cause = `waits for ${ids.length} ${kind}s, ${why}${told}`;
    return { cause: ids.length === 1 ? first.cause : cause, next: first.next };
  }
  if (names.length === 1)
    return {
      cause: `waits for ${kind} ${only}`,
      next: `It goes out by itself once ${kind} ${only} is delivered. To see what holds that up: fuelbridge trace ${only}`,
    };
  const isNamed = names.length > 0 && names.every((name, at) => name !== ids[at] || !isId(name));
  return {
    cause: isNamed
      ? `waits for ${ids.length} ${kind}s: ${names.join(", ")}`
      : `waits for ${ids.length} ${kind}s that are not delivered yet`,
    next: `Each goes out by itself once its ${kind} is delivered. To see what holds one up: fuelbridge trace and its number under WAITS FOR.`,
  };
}

/** A number where the store knows one for it: what a platform's record names is an id. */
const nameOf = (store: Store, id: string): string =>
  isId(id) ? (store.questions.numberOf(id) ?? id) : id;

const isId = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);

/** A record that its source could not read, or that does not fit, says nothing. */
function aboutOf({ store }: Engine, flow: Flow | undefined, { delivery }: QuarantinedRow): About {
  const text = store.waits.text(delivery);
  if (flow?.mapping.about === undefined || text === null) return {};
  try {
    const record = flow.mapping.input.safeParse(parseExact(text));
    return record.success ? flow.mapping.about(record.data) : {};
  } catch {
    return {};
  }
}

/** `000113 Lake Marina`: by the ERP's code where the platform's id is linked, or in a table of parties. */
function partyOf({ store, tables }: Engine, { party = null, partyName = null }: About) {
  if (party === null) return partyName;
  const link = store.links.search(party).find(({ kind }) => PARTIES.has(kind));
  const row = tables.row("customers", party) ?? tables.row("vendors", party);
  const code = link?.erpId ?? row?.["account"] ?? party;
  const name = partyName ?? row?.["name"] ?? null;
  return name === null || name === "" ? code : `${code} ${name}`;
}

const PARTIES: ReadonlySet<string> = new Set(["customer", "supplier"]);

/** With two decimals, unless it has more. */
const inCents = (amount: Decimal): string =>
  amount.round(2).equals(amount) ? amount.fixed(2) : amount.plain();

const ageMs = (nowMs: number, sinceMs: number): number => Math.max(nowMs - sinceMs, 0);

/** What the store knows of a case's records: on their way, with a person, or of no flow's concern. Never a value. */
import { identityOf } from "../../core/holdings.ts";
import { isHeldList } from "../../core/contract.ts";
import type { WalkPosition } from "../../core/watermark.ts";
import {
  type Case,
  leading,
  otherSide,
  type Side,
  type StoredState,
} from "../../reconcile/case.ts";
import type { DifferenceRow } from "../../store/reconciliation.ts";
import type { Engine, Flow } from "../engine.ts";
import { LEFT_THE_LIST } from "../pull.ts";
import type { KindPlan } from "./plan.ts";
import { keyOf } from "./read.ts";
import { beganOf, carriesRole, sideOf, sourceIdOf } from "./told.ts";

export interface Known {
  readonly engine: Engine;
  readonly plans: readonly KindPlan[];
  /** {@link keyOf} records that went on changing while they were read. */
  readonly moved: ReadonlySet<string>;
}

export function storedStateOf({ engine, plans, moved }: Known, one: Case): StoredState {
  const plan = plans.find(({ kind }) => kind === one.kind);
  if (plan === undefined) return { skip: "no flow carries it" };
  const isMoving = (["platform", "books"] as const).some((side) =>
    one[side].some((record) => moved.has(keyOf(side, record.kind, identityOf(record)))),
  );
  if (isMoving)
    return {
      waits: { for: "both sides to stand still: it changed while it was read", since: null },
    };
  const held = heldListOf(engine, plan, one);
  if (held !== null) return { waits: { for: `a list that is believed: ${held}`, since: null } };
  const earlier = engine.store.sweeps.find(one.kind, one.key);
  const began = beganOf(engine, plan, one);
  const stored = ofDelivery(engine, plan, one, began, earlier);
  if (stored !== null) return stored;
  if (earlier?.state === "accepted") return { accepted: earlier.digest };
  return isNobodys(plan, one, began)
    ? { skip: `no flow takes a ${one.kind} from the platform` }
    : {};
}

/**
 * A whole list of the side that lacks the record has lost too much to be believed, or has grown too much to be taken (ADR 0014):
 * that the record is missing there says nothing. Null: no list is held.
 */
function heldListOf({ store }: Engine, { flows }: KindPlan, one: Case): string | null {
  const lacking = (["platform", "books"] as const).find((side) => one[side].length === 0);
  if (lacking === undefined) return null;
  const held = flows
    .filter((flow) => sideOf(flow) === lacking)
    .flatMap(({ flow }) => store.obstacles.of(flow))
    .find(({ fault }) => isHeldList(fault.code));
  return held?.fault.message ?? null;
}

/** The platform's alone, and no flow reads such records from there. The books' own are judged by their parties. */
const isNobodys = ({ flows }: KindPlan, one: Case, began: Side): boolean =>
  began === "books" && one.books.length === 0 && !flows.some((flow) => sideOf(flow) === "platform");

/** Of the record on the side where it began, though it be there no more. Null: it says nothing. */
function ofDelivery(
  engine: Engine,
  { flows }: KindPlan,
  one: Case,
  began: Side,
  earlier: DifferenceRow | null,
): StoredState | null {
  const record = leading(one[began]);
  if (record === undefined) return ofLost(engine, flows, one, began);
  const from = flows.filter((flow) => sideOf(flow) === began && carriesRole(flow, record));
  const [first] = from;
  if (first === undefined) return null;
  const known = from.flatMap((flow) => {
    const row = engine.store.sweeps.newest(flow.flow, sourceIdOf(record));
    return row === null ? [] : [{ flow, row }];
  });
  const [newest] = known;
  if (newest === undefined) return notRead(engine, first, one, record.version, earlier);
  const { flow, row } = newest;
  if (row.version !== null && record.version !== null && row.version < record.version)
    return notRead(engine, flow, one, record.version, earlier);
  if (row.state === "pending" || row.state === "frozen")
    return { waits: { for: `its delivery by "${flow.name}"`, since: iso(row.receivedMs) } };
  const wait = engine.store.waits.ofDocument(flow.flow, sourceIdOf(record));
  if (row.state === "delivered" && wait !== null)
    return { settling: { for: `its payments, until ${iso(wait.untilMs)}` } };
  return row.state === "quarantined" ? { person: { why: row.cause ?? "" } } : null;
}

/** Of a record that its own side has no more: whoever was told that it left the list decides. */
function ofLost(
  { store }: Engine,
  flows: KindPlan["flows"],
  { lost }: Case,
  began: Side,
): StoredState | null {
  if (lost === null) return null;
  for (const flow of flows.filter((one) => sideOf(one) === began)) {
    const row = store.sweeps.newest(flow.flow, lost);
    if (row?.code === LEFT_THE_LIST) return { person: { why: row.cause ?? "" } };
  }
  return null;
}

/**
 * The flow has not read this version. What changed after its last walk is in the next one; what lies before it was
 * committed late, and no walk brings it. A source without versions is given until its next run.
 */
function notRead(
  { store, clock }: Engine,
  flow: Flow,
  one: Case,
  version: string | null,
  earlier: DifferenceRow | null,
): StoredState | null {
  const waits = (since: string): StoredState => ({
    waits: { for: `the next run of "${flow.name}"`, since },
  });
  const position = store.flows.position(flow.name) as unknown as WalkPosition | null;
  if (version !== null && sideOf(flow) === "platform")
    return position?.watermark && version <= position.watermark ? null : waits(version);
  const firstMs = earlier?.firstMs ?? clock.now().wallMs;
  const ranMs = store.flows.find(flow.name)?.last_run_ms ?? null;
  if (ranMs !== null && ranMs > firstMs) return null;
  return leading(one[otherSide(sideOf(flow))]) === undefined ? waits(iso(firstMs)) : null;
}

const iso = (ms: number): string => new Date(ms).toISOString();

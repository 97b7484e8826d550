/**
 * What the other side should hold of a record: mapped by its flow as a delivery would be, then put into the receiver's
 * words by the receiver. The links that a mapping asks for are those of the match, as the sides are now.
 */
import {
  type Change,
  isHeldList,
  type Item,
  type References,
  referencesBy,
  type Skip,
} from "../../core/contract.ts";
import {
  type Facts,
  type Holding,
  type HoldingKind,
  identityOf,
  roles,
} from "../../core/holdings.ts";
import { parseExact } from "../../core/json.ts";
import { holdingKindOf } from "../../core/kinds.ts";
import { corrected, type Fault, leavesIn } from "../../core/record.ts";
import type { WalkPosition } from "../../core/watermark.ts";
import { endpointOf, type Engine, type Flow, PLATFORM } from "../engine.ts";
import { faultOf, parsed } from "../lifecycle.ts";
import { LEFT_THE_LIST } from "../pull.ts";
import {
  type Case,
  leading,
  otherSide,
  type Side,
  type StoredState,
  type Told,
} from "../../reconcile/case.ts";
import type { Alias } from "../../reconcile/groups.ts";
import { otherId } from "../../store/deliveries.ts";
import type { DifferenceRow } from "../../store/reconciliation.ts";
import { type Endpoints, type KindPlan } from "./plan.ts";
import { keyOf } from "./read.ts";

export const storeSide = (side: Side): Flow["side"] => (side === "books" ? "erp" : "platform");
export const sideOf = ({ side }: Flow): Side => (side === "erp" ? "books" : "platform");

/** The id that a flow's source knows a record by. */
const sourceIdOf = ({ id, change }: Holding): string => change?.id ?? id;

/** A party of a list of customers is no supplier's flow's. Records without a role are any flow's of their kind. */
export const carriesRole = ({ mapping }: Flow, { role }: Pick<Holding, "role">): boolean =>
  role === undefined || mapping.kind === role;

/**
 * Where a case began: where the store says that it did; else where a record is that carries the other's mark was
 * written, not born; else the side that a flow reads it from.
 */
export function beganOf({ store }: Engine, { flows }: KindPlan, one: Case): Side {
  const linked = flows.flatMap((flow) =>
    (["platform", "books"] as const).flatMap((side) =>
      one[side]
        .filter((record) => carriesRole(flow, record))
        .flatMap(({ id }) => store.links.find(flow.mapping.kind, storeSide(side), id) ?? []),
    ),
  );
  const [link] = linked;
  if (link !== undefined) return link.born === "erp" ? "books" : "platform";
  const from = (side: Side): boolean => flows.some((flow) => sideOf(flow) === side);
  if (!from("platform")) return "books";
  if (!from("books")) return "platform";
  if (one.platform.length === 0) return one.books.some(({ mark }) => mark) ? "platform" : "books";
  if (one.books.length === 0) return one.platform.some(({ mark }) => mark) ? "books" : "platform";
  return one.books.some(({ change, mark }) => change !== null && mark === null)
    ? "books"
    : "platform";
}

/**
 * What the platform calls a price of the books, by the mapping: both sides name them otherwise (a list's code, a
 * terminal's number). @throws SourceUnavailable
 */
export async function pricesOf(
  engine: Engine,
  endpoints: Endpoints,
  plans: readonly KindPlan[],
  books: readonly Holding[],
  signal: AbortSignal,
): Promise<Alias> {
  const flows = plans
    .filter(({ kind }) => kind === "price")
    .flatMap((plan) => plan.flows.filter((flow) => sideOf(flow) === "books"));
  const mapped = books.flatMap(({ kind, change }) => {
    if (kind !== "price" || change === null) return [];
    const one = mapFirst(engine, flows, change, new Map(), null);
    return one && "item" in one ? [one.item] : [];
  });
  const expected = await endpoints.get(PLATFORM)?.holdings?.expect("price", mapped, signal);
  const names = new Map<string, string>();
  for (const [at, { id }] of mapped.entries()) {
    const one = expected?.[at];
    if (one !== undefined && "facts" in one && one.facts.number !== undefined)
      names.set(id, one.facts.number);
  }
  return (side, { kind, change }) =>
    side === "books" && kind === "price" ? (names.get(change?.id ?? "") ?? null) : null;
}

/**
 * Parties as the platform was last told of them, by its ids: its lists show neither names nor addresses. One whose newest
 * version a person has settled by hand is left out: nobody knows what the platform says of it now. @throws SourceUnavailable
 */
export async function deliveredParties(
  { store }: Engine,
  endpoints: Endpoints,
  plans: readonly KindPlan[],
  platform: readonly Holding[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Facts>> {
  const flows = plans
    .filter(({ kind }) => kind === "party")
    .flatMap((plan) => plan.flows.filter((flow) => sideOf(flow) === "books"));
  const items = new Map<string, Item>();
  for (const { id, kind } of platform)
    for (const { flow, mapping } of kind === "party" ? flows : []) {
      const link = store.links.find(mapping.kind, "platform", id);
      if (link === null || link.born !== "erp") continue;
      const { erpId, number } = link;
      const isSettled = store.sweeps.newest(flow, erpId)?.state === "resolved";
      const request = isSettled ? null : store.losses.lastRequest(flow, erpId, null);
      const body = request === null ? null : store.requests.get(request)?.body || null;
      if (body === null) continue;
      items.set(id, {
        number,
        id: erpId,
        revision: "",
        document: parseExact(body),
        counterpart: id,
      });
    }
  const told = new Map<string, Facts>();
  const holdings = endpoints.get(PLATFORM)?.holdings;
  if (items.size === 0 || holdings === undefined) return told;
  const expected = await holdings.expect("party", [...items.values()], signal);
  for (const [at, id] of [...items.keys()].entries()) {
    const one = expected[at];
    if (one !== undefined && "facts" in one) told.set(id, one.facts);
  }
  return told;
}

type Mapped =
  | { readonly item: Item; readonly flow: Flow; readonly corrected: string | null }
  | { readonly skip: string }
  | { readonly fault: Fault };

/** One per case; a case that no flow carries from the side where it began has none. @throws SourceUnavailable */
export async function tell(
  engine: Engine,
  endpoints: Endpoints,
  plans: readonly KindPlan[],
  cases: readonly Case[],
  signal: AbortSignal,
): Promise<Map<Case, Told>> {
  const partners = partnersOf(cases);
  const told = new Map<Case, Told>();
  const items: ({ one: Case; began: Side; kind: HoldingKind } & Extract<Mapped, { item: Item }>)[] =
    [];
  for (const one of cases) {
    const plan = plans.find(({ kind }) => kind === one.kind);
    if (plan === undefined) continue;
    const began = beganOf(engine, plan, one);
    const record = leading(one[began]);
    if (record?.change === undefined || record.change === null) continue;
    const flows = plan.flows.filter((flow) => sideOf(flow) === began && carriesRole(flow, record));
    const partner = leading(one[otherSide(began)]);
    const mapped = mapFirst(engine, flows, record.change, partners, partner?.id ?? null);
    if (mapped === null) continue;
    if ("item" in mapped) items.push({ one, began, kind: one.kind, ...mapped });
    else told.set(one, { began, ...mapped });
  }
  for (const same of Map.groupBy(items, ({ flow, kind }) => `${flow.to} ${kind}`).values()) {
    const [first] = same;
    const holdings = first && endpoints.get(endpointOf(first.flow.to))?.holdings;
    if (first === undefined || holdings === undefined) continue;
    const expected = await holdings.expect(
      first.kind,
      same.map(({ item }) => item),
      signal,
    );
    for (const [at, { one, began, corrected: by }] of same.entries()) {
      const facts = expected[at];
      if (facts !== undefined) told.set(one, { began, corrected: by, ...facts });
    }
  }
  return told;
}

/** A party may be a customer's or a supplier's: the first mapping that takes the record, else what the first says. */
function mapFirst(
  engine: Engine,
  flows: readonly Flow[],
  change: Change,
  partners: Partners,
  counterpart: string | null,
): Mapped | null {
  let first: Mapped | null = null;
  for (const flow of flows) {
    const mapped = mapOne(engine, flow, change, partners, counterpart);
    if ("item" in mapped) return mapped;
    if (first === null || ("fault" in first && "skip" in mapped)) first = mapped;
  }
  return first;
}

function mapOne(
  engine: Engine,
  flow: Flow,
  change: Change,
  partners: Partners,
  counterpart: string | null,
): Mapped {
  if (change.fault !== undefined) return { fault: change.fault };
  const { mapping } = flow;
  try {
    const { text, by } = correctedChange(engine, flow, change);
    const record = parsed(mapping.input, parseExact(text), "does-not-fit");
    const out = mapping.map(record, referencesOf(engine, flow, partners)) as Skip | object;
    if ("skip" in out && typeof out.skip === "string") return { skip: out.skip };
    const document = parsed(mapping.output, out, "mapping-output");
    const number = mapping.number(record);
    const item = { number, id: change.id, revision: "", document, counterpart };
    return { item, flow, corrected: by };
  } catch (error) {
    return { fault: faultOf(error) };
  }
}

/** As a delivery would be mapped: with what people corrected, where the source still says what was corrected. */
function correctedChange({ store }: Engine, { flow }: Flow, { id, text }: Change) {
  const standing = store.corrections.ofSource(flow, id);
  const told = standing.length === 0 ? [] : leavesIn(parseExact(text));
  const alive = standing.filter(({ field, was }) =>
    told.some((leaf) => leaf.field === field && leaf.value === was),
  );
  const by = alive.map(
    ({ field, was, value, who }) => `${field} from "${was ?? ""}" to "${value}" (${who})`,
  );
  return { text: corrected(text, alive), by: by.length === 0 ? null : by.join(", ") };
}

/** By side, kind (of a party its role) and id, what the other side calls the same record; null: it is not there. */
type Partners = ReadonlyMap<string, string | null>;

function partnersOf(cases: readonly Case[]): Partners {
  const partners = new Map<string, string | null>();
  for (const one of cases)
    for (const side of ["platform", "books"] as const)
      for (const record of one[side])
        for (const kind of one.kind === "party" ? roles : [one.kind]) {
          const isOfKind = ({ role }: Holding): boolean => role === undefined || role === kind;
          if (!isOfKind(record)) continue;
          const other = leading(one[otherSide(side)].filter(isOfKind));
          for (const id of [record.id, sourceIdOf(record)])
            partners.set(`${side} ${kind} ${id}`, other?.id ?? null);
        }
  return partners;
}

/** A record that was not read at all is as the store remembers it. */
function referencesOf(engine: Engine, flow: Flow, partners: Partners): References {
  return referencesBy(engine, (kind, id) => {
    const held = holdingKindOf(kind);
    const known = partners.get(`${sideOf(flow)} ${held === "party" ? kind : held} ${id}`);
    if (known !== undefined) return known;
    const link = engine.store.links.find(kind, flow.side, id);
    return link === null ? null : otherId(link, flow.side);
  });
}

// What the store knows of a case's records: on their way, with a person, or of no flow's concern. Never a value.

interface Known {
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

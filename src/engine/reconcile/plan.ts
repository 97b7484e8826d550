/** What a reconciliation asks, and whom: kinds of records by the flows that are configured. */
import {
  type Change,
  type Endpoint,
  isHeldList,
  type Item,
  type Page,
  type References,
  referencesBy,
  type Skip,
} from "../../core/contract.ts";
import {
  type Facts,
  type GoodsHoldingKind,
  type Holding,
  type HoldingKind,
  holdingKinds,
  type Holdings,
  identityOf,
  isGoodsHolding,
  type Period,
  roles,
} from "../../core/holdings.ts";
import { holdingKindOf } from "../../core/kinds.ts";
import { helpsWith } from "../../core/faults.ts";
import { DAY_MS, dayBefore, iso } from "../../core/time.ts";
import {
  audit,
  countWaits,
  endpointOf,
  type Engine,
  type Flow,
  PLATFORM,
  tellSetBack,
} from "../engine.ts";
import { FuelbridgeError, SourceUnavailable, WaitsFor } from "../../core/errors.ts";
import { type Json, parseExact } from "../../core/json.ts";
import { LATE_MS, type WalkPosition } from "../../core/watermark.ts";
import { corrected, type Fault, leavesIn } from "../../core/record.ts";
import { awaitedFault } from "../awaited.ts";
import { faultOf, parsed } from "../lifecycle.ts";
import { LEFT_THE_LIST } from "../pull.ts";
import {
  type Case,
  leading,
  otherSide,
  RESTS_ON,
  type Side,
  type StoredState,
  type Told,
} from "../../reconcile/case.ts";
import type { Alias } from "../../reconcile/nodes.ts";
import { otherId } from "../../store/deliveries.ts";
import type { DifferenceRow } from "../../store/reconciliation.ts";

/** A side's endpoint that can be asked for a kind. */
export interface Asked {
  readonly endpoint: string;
  readonly holdings: Holdings;
}

export interface KindPlan {
  readonly kind: HoldingKind;
  /** The flows that carry it, in either direction. */
  readonly flows: readonly Flow[];
  readonly platform: Asked | null;
  /** Usually one. */
  readonly books: readonly Asked[];
  /** Endpoints that cannot be asked for it. */
  readonly unasked: readonly string[];
}

export type Endpoints = ReadonlyMap<
  string,
  Pick<Endpoint, "holdings" | "presence"> & Partial<Pick<Endpoint, "check">>
>;

/** Kinds that have a flow, in the order of {@link holdingKinds}. `only`: of this flow's kind, and what that rests on. */
export function planOf(engine: Engine, endpoints: Endpoints, only: string | null): KindPlan[] {
  const asked = engine.flows.filter(({ name }) => only === null || name === only);
  const wanted = new Set(asked.map((flow) => comparedAs(flow, endpoints)));
  for (const kind of wanted) wanted.add((kind && RESTS_ON[kind]) ?? null);
  const carried = new Set(engine.flows.map((flow) => comparedAs(flow, endpoints)));
  return holdingKinds
    .filter((kind) => wanted.has(kind) && carried.has(kind))
    .map((kind) => kindPlan(engine, endpoints, kind));
}

const comparedAs = (flow: Flow, endpoints: Endpoints): HoldingKind | null =>
  isUntold(flow, endpoints) ? null : holdingKindOf(flow.mapping.kind);

/** Goods that start in the books and that these cannot list: by nature, every night. */
export function isUntold(flow: Flow, endpoints: Endpoints): boolean {
  const kind = goodsOfBooks(flow);
  return (
    kind !== null && endpoints.get(endpointOf(flow.from))?.holdings?.strength[kind] === undefined
  );
}

/** What a flow brings from the books to the platform where that is goods; null: another flow. */
export function goodsOfBooks({ mapping, side }: Flow): GoodsHoldingKind | null {
  const kind = holdingKindOf(mapping.kind);
  return kind !== null && isGoodsHolding(kind) && side === "erp" ? kind : null;
}

function kindPlan({ flows: all }: Engine, endpoints: Endpoints, kind: HoldingKind): KindPlan {
  const flows = all.filter((flow) => comparedAs(flow, endpoints) === kind);
  const names = [...new Set(flows.flatMap(({ from, to }) => [endpointOf(from), endpointOf(to)]))];
  const able = names.flatMap((endpoint): Asked[] => {
    const holdings = endpoints.get(endpoint)?.holdings;
    return holdings?.strength[kind] === undefined ? [] : [{ endpoint, holdings }];
  });
  return {
    kind,
    flows,
    platform: able.find(({ endpoint }) => endpoint === PLATFORM) ?? null,
    books: able.filter(({ endpoint }) => endpoint !== PLATFORM),
    unasked: names.filter((name) => able.every(({ endpoint }) => endpoint !== name)),
  };
}

/** Both sides can be asked whole for it. */
export const isAskable = ({ platform, books, unasked }: KindPlan): boolean =>
  platform !== null && books.length > 0 && unasked.length === 0;

/** @param id what {@link identityOf} tells */
export const keyOf = (side: Side, kind: HoldingKind, id: string): string => `${side} ${kind} ${id}`;

// What a reconciliation will ask of the platform, told before the first request: pages of its lists, by what is stored.

/** Records on a page (specification part 4, P1). */
const pageOf = (kind: HoldingKind): number => (isWhole(kind) ? 500 : 100);
/** Kinds whose lists are read whole, twice. */
const isWhole = (kind: HoldingKind): boolean => kind === "party" || kind === "price";
/** Kinds of which a list can be asked for what has changed. */
const BOUNDED: ReadonlySet<HoldingKind> = new Set(["invoice", "bill", "order", "ticket"]);
/** Of orders and tickets: the walk that closes. */
const GOODS_EXTRAS = 1;
/** Seven counts, a walk for each of three open statuses, and one that closes. */
const DOCUMENT_EXTRAS = 11;

/**
 * Requests, as far as they can be foretold: records by the store's count, payments whole, parties and prices twice.
 * What differs comes on top: it is read once more, with its payments, and looked for by its number where it is on one
 * side only; each for 200 of a kind at most, then by one more walk of the whole list. `from`: the period's first day; null: everything.
 */
export function costOf({ store }: Engine, plans: readonly KindPlan[], from: string | null): number {
  const since = from === null ? "" : dayBefore(from);
  return plans.filter(isAskable).reduce((sum, { kind, flows }) => {
    const hasVersions = BOUNDED.has(kind);
    const records = flows.reduce(
      (count, { flow }) => count + store.sweeps.recordsSince(flow, hasVersions ? since : ""),
      0,
    );
    const pages = Math.max(Math.ceil(records / pageOf(kind)), 1);
    if (hasVersions) return sum + pages + (isGoodsHolding(kind) ? GOODS_EXTRAS : DOCUMENT_EXTRAS);
    return sum + (isWhole(kind) ? 2 * pages : pages);
  }, 0);
}

/**
 * Requests of a month of 31 nights for feeds that no comparison reads: each night the records of so many days, once the
 * month those of a quarter.
 */
export function deepCostOf(engine: Engine, endpoints: Endpoints, lateMs: number): number {
  const compared = new Set(
    planOf(engine, endpoints, null)
      .filter(isAskable)
      .flatMap(({ flows }) => flows),
  );
  const { store, clock } = engine;
  const now = clock.now().wallMs;
  const pages = (flow: number, ms: number): number => {
    const since = new Date(now - ms).toISOString();
    return Math.max(Math.ceil(store.sweeps.recordsSince(flow, since) / pageOf("invoice")), 1);
  };
  return platformWalks(engine)
    .filter(({ flow }) => !compared.has(flow))
    .reduce(
      (sum, { flow: { flow } }) =>
        sum + 31 * pages(flow, lateMs + DAY_MS) + pages(flow, QUARTER_MS),
      0,
    );
}

// Records that were committed late: their time of change lies before a flow's watermark, so no walk asks for them any
// more. Every feed of the platform is read anew from its last deep walk that succeeded on, and a margin before that; a
// quarter of it once a month. What the store lacks is taken in with the position unchanged, and delivered as usual.

/** How late a record may be committed, ms, and still be found. Left out: {@link LATE_MS}. */
interface Lateness {
  readonly lateMs?: number;
}

/** What is walked once a calendar month. */
const QUARTER_MS = 92 * DAY_MS;

/** A flow that walks the platform by time of change, and has ended a walk. */
interface PlatformWalk {
  readonly flow: Flow;
  /** Server time, sortable text: everything changed up to here was told by a walk. */
  readonly watermark: string;
}

export function platformWalks({ store, flows }: Engine): PlatformWalk[] {
  return flows.flatMap((flow) => {
    if (flow.paused || endpointOf(flow.from) !== PLATFORM) return [];
    const position = store.flows.position(flow.name) as Partial<WalkPosition> | null;
    const watermark = position?.watermark ?? null;
    return watermark === null ? [] : [{ flow, watermark }];
  });
}

/** From when on a feed is read anew, by the platform's clock. */
interface Reach {
  /** ISO 8601 UTC */
  readonly since: string;
  /** It is the month's whole quarter. */
  readonly isQuarter: 0 | 1;
}

/** The last walk that succeeded may lie any number of nights back: all since, and the margin, is asked for. */
function reachOf(
  { store, clock }: Engine,
  { flow, watermark }: PlatformWalk,
  lateMs: number = LATE_MS,
): Reach {
  const last = store.sweeps.deepWalk(flow.flow);
  const isQuarter = monthOf(last?.quarterMs ?? 0) !== monthOf(clock.now().wallMs);
  const quarter = before(watermark, QUARTER_MS);
  const late = last?.watermark ? before(last.watermark, lateMs) : quarter;
  return { since: isQuarter && quarter < late ? quarter : late, isQuarter: isQuarter ? 1 : 0 };
}

/** Of what a reconciliation that began at `beganMs` read. How many deliveries were made of it. */
export function takeLate(engine: Engine, told: readonly Holding[], beganMs: number): number {
  const asked = { atMs: beganMs, answeredAt: null };
  return platformWalks(engine).reduce((sum, { flow, watermark }) => {
    const kind = holdingKindOf(flow.mapping.kind);
    const changes = told.flatMap(({ kind: one, change }) =>
      one === kind && change !== null ? [change] : [],
    );
    return sum + take(engine, flow, watermark, { changes, asked });
  }, 0);
}

/**
 * A reconciliation has read these kinds of the platform, and {@link takeLate} has taken them: where that reached far
 * enough, it was the deep walk of their feeds. `walks`: as they were before. Inside a transaction.
 */
export function markWalked(
  engine: Engine,
  { lateMs }: Lateness,
  read: {
    readonly walks: readonly PlatformWalk[];
    readonly kinds: ReadonlySet<HoldingKind>;
    readonly period: Period | null;
  },
): void {
  const { store, clock } = engine;
  const { walks, kinds, period } = read;
  // A day of the company may begin after that of UTC; changes of the period's first day are asked for from the day before.
  const since = period === null ? "" : `${period.from}T00:00:00.000Z`;
  for (const walk of walks) {
    const kind = holdingKindOf(walk.flow.mapping.kind);
    const reach = reachOf(engine, walk, lateMs);
    const last = store.sweeps.deepWalk(walk.flow.flow)?.watermark ?? null;
    if (kind === null || !kinds.has(kind)) continue;
    // Without the month's quarter: that is walked by itself.
    const needed = last === null ? reach.since : before(last, lateMs ?? LATE_MS);
    if (since > needed || (reach.isQuarter && since > reach.since)) continue;
    store.sweeps.walkedDeeply(walk.flow.flow, walk.watermark, reach.isQuarter, clock.now().wallMs);
  }
}

/**
 * Each of these feeds as far back as it needs. What goes wrong with one is kept, and holds up no other. How many
 * deliveries were made.
 */
export async function walkAllDeeply(
  engine: Engine,
  flows: readonly Flow[],
  { lateMs }: Lateness,
  signal: AbortSignal,
): Promise<number> {
  const { store, clock, note } = engine;
  let received = 0;
  for (const walk of platformWalks(engine).filter(({ flow }) => flows.includes(flow))) {
    const { flow, watermark } = walk;
    const { since, isQuarter } = reachOf(engine, walk, lateMs);
    try {
      received += await walkDeeply(engine, walk, since, signal);
      // One that was told to stop has not been everywhere.
      if (signal.aborted) return received;
      const at = clock.now().wallMs;
      store.transaction(() => store.sweeps.walkedDeeply(flow.flow, watermark, isQuarter, at));
    } catch (error) {
      if (signal.aborted) return received;
      const told = store.told(error);
      if (told instanceof FuelbridgeError) throw told;
      note("deep walk failed", { flow: flow.name, since, error: told });
      const { message } = told as Error;
      const next =
        told instanceof SourceUnavailable
          ? told.next
          : "This is a fault in fuelbridge: see the log.";
      const at = clock.now().wallMs;
      store.transaction(() => store.sweeps.deepWalkFailed(flow.flow, message, next, at));
    }
  }
  return received;
}

/** The flow's own feed, from an instant on. How many deliveries were made of it. @throws SourceUnavailable */
async function walkDeeply(
  engine: Engine,
  { flow, watermark }: PlatformWalk,
  since: string,
  signal: AbortSignal,
): Promise<number> {
  const { store } = engine;
  const from: WalkPosition = { watermark: since, walk: null };
  const reading = {
    signal,
    known: () => null,
    stored: (id: string, version: string) => store.intake.stored(flow.flow, id, version),
  };
  let received = 0;
  // What receivers tell besides would be read and forgotten here: only the feed itself is read.
  const feed = flow.source.again ?? flow.source;
  for await (const page of feed.read(from as unknown as Json, reading))
    received += take(engine, flow, watermark, page);
  return received;
}

/** What lies after the watermark is in the flow's next walk. */
function take(
  engine: Engine,
  flow: Flow,
  watermark: string,
  page: Pick<Page, "changes" | "asked">,
): number {
  const { store, clock, note } = engine;
  const late = page.changes.filter(
    ({ id, version }) =>
      version !== null && version <= watermark && !store.intake.stored(flow.flow, id, version),
  );
  if (late.length === 0) return 0;
  const received = store.transaction(() => {
    const at = clock.now().wallMs;
    const taken = store.intake.beside(flow.flow, { ...page, changes: late }, at);
    const { received, news } = taken;
    const versions = news.map(({ version }) => version);
    countWaits(engine, flow, "stored", versions, at);
    tellSetBack(engine, flow, news);
    if (received > 0)
      audit(engine, flow, "notice", `${received} records had been committed late: ${named(late)}`);
    return received;
  });
  if (received > 0) note("committed late", { flow: flow.name, records: received });
  return received;
}

const NAMED = 20;
const named = (changes: readonly Change[]): string =>
  changes
    .slice(0, NAMED)
    .map(({ id }) => id)
    .join(", ") + (changes.length > NAMED ? ", ..." : "");

/** Sortable text; the digits below a millisecond are of no matter so far back. */
const before = (watermark: string, ms: number): string =>
  new Date(Date.parse(watermark) - ms).toISOString();

/** Calendar months, UTC, counted on. */
export const monthOf = (ms: number): number => {
  const at = new Date(ms);
  return at.getUTCFullYear() * 12 + at.getUTCMonth();
};

// What the other side should hold of a record: mapped by its flow as a delivery would be, then put into the receiver's
// words by the receiver. The links that a mapping asks for are those of the match, as the sides are now.

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
      const body = store.requests.bytes(request);
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
    const references = { ...referencesOf(engine, flow, partners), isThere: counterpart !== null };
    const out = mapping.map(record, references) as Skip | object;
    if ("skip" in out && typeof out.skip === "string") return { skip: out.skip };
    const document = parsed(mapping.output, out, "mapping-output");
    const number = mapping.number(record);
    const item = { number, id: change.id, revision: "", document, counterpart };
    return { item, flow, corrected: by };
  } catch (error) {
    const isAwaiting = error instanceof WaitsFor;
    return { fault: isAwaiting ? awaitedFault(engine, flow, error) : faultOf(error) };
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
  if (stored !== null && stored.closed === undefined) return stored;
  if (earlier?.state === "accepted") return { ...stored, accepted: earlier.digest };
  if (stored !== null) return stored;
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
  if (row.version !== null && record.version !== null && row.version < record.version) {
    const unread = notRead(engine, flow, one, record.version, earlier);
    // Nothing is under way that brings it: whoever has the version before has it.
    if (unread !== null || row.state !== "quarantined") return unread;
  }
  if (row.state === "pending" || row.state === "frozen")
    return { waits: { for: `its delivery by "${flow.name}"`, since: iso(row.receivedMs) } };
  const wait = engine.store.waits.ofDocument(flow.flow, sourceIdOf(record));
  if (row.state === "delivered" && wait !== null)
    return { settling: { for: `its payments, until ${iso(wait.untilMs)}` } };
  if (row.state === "resolved") return { closed: true };
  if (row.state !== "quarantined") return null;
  const clears = helpsWith(row.code ?? "").includes("wait");
  return { person: { why: row.cause ?? "", clears } };
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

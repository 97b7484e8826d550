/**
 * Both sides as they are now: platform, books, platform again. Versions never return, so what the platform shows before
 * and after the books were read was so while they were read. What moved meanwhile is read again, twice at most.
 */
import type { Change, Endpoint } from "../../core/contract.ts";
import { FuelbridgeError, SourceUnavailable } from "../../core/errors.ts";
import {
  type GoodsHoldingKind,
  type Holding,
  type HoldingKind,
  holdingKinds,
  type Holdings,
  identityOf,
  isGoodsHolding,
  type Lacking,
  type Period,
  roles,
  type Scope,
} from "../../core/holdings.ts";
import type { Json } from "../../core/json.ts";
import { holdingKindOf } from "../../core/kinds.ts";
import { dayBefore } from "../../core/time.ts";
import { LATE_MS, type WalkPosition } from "../../core/watermark.ts";
import { compare } from "../../ledger/compare.ts";
import type { Side } from "../../reconcile/case.ts";
import type { ListCount } from "../../reconcile/judge.ts";
import { audit, endpointOf, type Engine, type Flow, PLATFORM } from "../engine.ts";

/*
 * Records that were committed late: their time of change lies before a flow's watermark, so no walk asks for them any
 * more. Every feed of the platform is read anew from its last deep walk that succeeded on, and a margin before that; a
 * quarter of it once a month. What the store lacks is taken in with the position unchanged, and delivered as usual.
 */

/** How late a record may be committed, ms, and still be found. Left out: {@link LATE_MS}. */
interface Lateness {
  readonly lateMs?: number;
}

const DAY_MS = 86_400_000;
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

/** Of what a reconciliation read. How many deliveries were made of it. */
export function takeLate(engine: Engine, told: readonly Holding[]): number {
  return platformWalks(engine).reduce((sum, { flow, watermark }) => {
    const kind = holdingKindOf(flow.mapping.kind);
    const changes = told.flatMap(({ kind: one, change }) =>
      one === kind && change !== null ? [change] : [],
    );
    return sum + take(engine, flow, watermark, changes);
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
    received += take(engine, flow, watermark, page.changes);
  return received;
}

/** What lies after the watermark is in the flow's next walk. */
function take(engine: Engine, flow: Flow, watermark: string, told: readonly Change[]): number {
  const { store, clock, note } = engine;
  const late = told.filter(
    ({ id, version }) =>
      version !== null && version <= watermark && !store.intake.stored(flow.flow, id, version),
  );
  if (late.length === 0) return 0;
  const received = store.transaction(() => {
    const { received } = store.intake.beside(flow.flow, late, clock.now().wallMs);
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

/* What a reconciliation asks, and whom: kinds of records by the flows that are configured. */

/** A side's endpoint that can be asked for a kind. */
interface Asked {
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

/** Kinds that have a flow, in the order of {@link holdingKinds}. `only`: of this flow's kind alone. */
export function planOf(engine: Engine, endpoints: Endpoints, only: string | null): KindPlan[] {
  const asked = engine.flows.filter(({ name }) => only === null || name === only);
  const kinds = new Set(asked.map((flow) => comparedAs(flow, endpoints)));
  return holdingKinds
    .filter((kind) => kinds.has(kind))
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

/** Records of both sides by side, kind and id, each once, as last read. */
class Rows {
  readonly #rows = new Map<string, { readonly side: Side; readonly holding: Holding }>();

  /** False when it is known already, just so. */
  put(side: Side, holding: Holding): boolean {
    const key = keyOf(side, holding.kind, identityOf(holding));
    const known = this.#rows.get(key)?.holding;
    // A list may show an older version after a newer one.
    if (known?.version && holding.version && holding.version < known.version) return false;
    this.#rows.set(key, { side, holding });
    return known === undefined || !isSame(known, holding);
  }

  /** What the side calls so, but for these; how many there were. */
  dropBut(side: Side, kind: HoldingKind, id: string, found: ReadonlySet<string>): number {
    const gone = identitiesOf(kind, id).filter(
      (one) => !found.has(one) && this.#rows.delete(keyOf(side, kind, one)),
    );
    return gone.length;
  }

  dropKind(kind: HoldingKind): void {
    for (const [key, { holding }] of this.#rows) if (holding.kind === kind) this.#rows.delete(key);
  }

  /** @param id or the identity */
  has(side: Side, kind: HoldingKind, id: string): boolean {
    return identitiesOf(kind, id).some((one) => this.#rows.has(keyOf(side, kind, one)));
  }

  of(side: Side): Holding[] {
    return [...this.#rows.values()].flatMap((row) => (row.side === side ? [row.holding] : []));
  }
}

/** @param id what {@link identityOf} tells */
export const keyOf = (side: Side, kind: HoldingKind, id: string): string => `${side} ${kind} ${id}`;

const identitiesOf = (kind: HoldingKind, id: string): string[] =>
  kind === "party" ? [id, ...roles.map((role) => identityOf({ id, role }))] : [id];

const isSame = (one: Holding, other: Holding): boolean =>
  one.version === other.version && compare(one.kind, one.facts, other.facts).length === 0;

export interface Reading {
  readonly rows: Rows;
  /** {@link keyOf} records that changed while they were read, and went on changing. */
  readonly moved: ReadonlySet<string>;
  readonly lists: readonly ListCount[];
  /** Kinds that a side could not tell, each with its first reason; the others were read. */
  readonly unread: ReadonlyMap<HoldingKind, Unread>;
  /** Parts of lists that could not be read, though the rest could. */
  readonly lacking: readonly (Lacking & {
    readonly endpoint: string;
    readonly kind: HoldingKind;
  })[];
}

interface Unread {
  /** The endpoint that could not tell; null: another kind, without which this one cannot be matched. */
  readonly endpoint: string | null;
  readonly error: SourceUnavailable;
}

interface Wanted {
  readonly plans: readonly KindPlan[];
  /** Null: everything that the sides hold. */
  readonly period: Period | null;
  readonly now: () => Date;
  /** Told as a list goes on. */
  readonly progress?: (side: Side, kind: HoldingKind, records: number) => void;
}

const EPOCH = "1970-01-01T00:00:00.000Z";
/** A closing walk reaches back this far: a bound may be exclusive, and what is written may show a little later. */
const OVERLAP_MS = 300_000;
const ROUNDS = 3;
/** These lists take no bound: what moved in them shows when differences are confirmed one by one. */
const UNBOUNDED: ReadonlySet<HoldingKind> = new Set(["payment", "bill-payment"]);

/** What is matched by records of another kind cannot be compared without them. */
const RESTS_ON: Readonly<Partial<Record<HoldingKind, HoldingKind>>> = {
  payment: "invoice",
  "bill-payment": "bill",
};

/** A kind that a side cannot tell is left out, and the others are read. @throws SourceUnavailable when it was stopped */
export async function readBoth(wanted: Wanted, signal: AbortSignal): Promise<Reading> {
  const { plans, period } = wanted;
  const rows = new Rows();
  const lists: ListCount[] = [];
  const unread = new Map<HoldingKind, Unread>();
  const lacking = new Map<string, Reading["lacking"][number]>();
  const leave = (kind: HoldingKind, endpoint: string, error: SourceUnavailable): void => {
    unread.set(kind, { endpoint, error });
    rows.dropKind(kind);
    for (const { kind: other } of plans) {
      if (RESTS_ON[other] !== kind || unread.has(other)) continue;
      unread.set(other, { endpoint: null, error });
      rows.dropKind(other);
    }
  };
  const read = async (side: Side, kinds: readonly KindPlan[], scope: Scope, count: boolean) => {
    const began = wanted.now().toISOString();
    const changed = new Set<string>();
    let from: string | null = null;
    for (const plan of kinds) {
      for (const one of askedOn(side, plan)) {
        if (unread.has(plan.kind)) break;
        const list = { side, kind: plan.kind, scope, rows, changed };
        try {
          let read = await readList(list, one, wanted, signal);
          // Records may slide past while a list is read; what is missing twice is said.
          if (count && isShort(read)) read = await readList(list, one, wanted, signal);
          if (count) lists.push(read);
          for (const part of read.lacking)
            lacking.set(`${plan.kind} ${one.endpoint} ${part.what}`, {
              ...part,
              kind: plan.kind,
              endpoint: one.endpoint,
            });
          if (from === null || (read.serverTime !== null && read.serverTime < from))
            from = read.serverTime;
        } catch (error) {
          if (!(error instanceof SourceUnavailable) || signal.aborted) throw error;
          leave(plan.kind, one.endpoint, error);
        }
      }
    }
    return { changed, since: earlier(from ?? began) };
  };

  let platform = await read("platform", plans, wholeOf(period), true);
  let books = await read("books", plans, wholeOf(period), true);
  const bounded = plans.filter(({ kind }) => !UNBOUNDED.has(kind));
  for (let round = 1; ; round++) {
    platform = await read("platform", bounded, changedSince(platform.since), false);
    if (platform.changed.size === 0 || round === ROUNDS)
      return { rows, moved: platform.changed, lists, unread, lacking: [...lacking.values()] };
    books = await read("books", plans, changedSince(books.since), false);
  }
}

const wholeOf = (period: Period | null): Scope =>
  period === null ? changedSince(EPOCH) : { dated: period, changedSince: null, open: true };

const changedSince = (since: string): Scope => ({ dated: null, changedSince: since, open: false });

const earlier = (instant: string): string =>
  new Date(Date.parse(instant) - OVERLAP_MS).toISOString();

const askedOn = (side: Side, { platform, books }: KindPlan): readonly Asked[] =>
  side === "books" ? books : platform === null ? [] : [platform];

interface Into {
  readonly side: Side;
  readonly kind: HoldingKind;
  readonly scope: Scope;
  readonly rows: Rows;
  readonly changed: Set<string>;
}

interface Read extends ListCount {
  /** At its first page. */
  readonly serverTime: string | null;
  readonly lacking: readonly Lacking[];
}

const isShort = ({ total, distinct }: Read): boolean => total !== null && total !== distinct;

async function readList(
  { side, kind, scope, rows, changed }: Into,
  { endpoint, holdings }: Asked,
  { progress }: Wanted,
  signal: AbortSignal,
): Promise<Read> {
  const ids = new Set<string>();
  let total: number | null = null;
  let serverTime: string | null = null;
  const lacking: Lacking[] = [];
  for await (const page of holdings.list(kind, scope, null, signal)) {
    lacking.push(...(page.lacking ?? []));
    total = page.total ?? total;
    serverTime ??= page.serverTime;
    for (const holding of page.holdings) {
      ids.add(identityOf(holding));
      if (rows.put(side, holding)) changed.add(keyOf(side, kind, identityOf(holding)));
    }
    progress?.(side, kind, ids.size);
  }
  return { side, kind, what: `of "${endpoint}"`, total, distinct: ids.size, serverTime, lacking };
}

/**
 * Single records as they are now: what is not there any more is taken out. More than {@link SINGLE_MAX} at once are read
 * as a list again. @throws SourceUnavailable
 */
export async function readAgain(
  rows: Rows,
  side: Side,
  plan: KindPlan,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<boolean> {
  const { kind } = plan;
  const asked = askedOn(side, plan);
  if (asked.length === 0 || ids.length === 0) return false;
  const found = new Set<string>();
  let changed = false;
  const take = (holding: Holding): void => {
    found.add(identityOf(holding));
    if (rows.put(side, holding)) changed = true;
  };
  for (const { holdings } of asked) {
    if (side === "books" || ids.length <= SINGLE_MAX)
      for (const holding of await holdings.get(kind, ids, signal)) take(holding);
    else {
      for await (const page of holdings.list(kind, changedSince(EPOCH), null, signal))
        for (const holding of page.holdings) if (ids.includes(holding.id)) take(holding);
    }
  }
  for (const id of ids) if (rows.dropBut(side, kind, id, found) > 0) changed = true;
  return changed;
}

/** Records of any day by their numbers. True when any is not as it was read. @throws SourceUnavailable */
export async function readNamed(
  rows: Rows,
  side: Side,
  plan: KindPlan,
  numbers: readonly string[],
  signal: AbortSignal,
): Promise<boolean> {
  let changed = false;
  if (numbers.length === 0) return changed;
  for (const { holdings } of askedOn(side, plan))
    for (const holding of (await holdings.named?.(plan.kind, numbers, signal)) ?? [])
      if (rows.put(side, holding)) changed = true;
  return changed;
}

/** Single reads of the platform in one run, of a kind. */
const SINGLE_MAX = 200;

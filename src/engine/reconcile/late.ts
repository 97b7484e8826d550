/**
 * Records that were committed late: their time of change lies before a flow's watermark, so no walk asks for them any
 * more. Every feed of the platform is read anew from its last deep walk that succeeded on, and a margin before that; a
 * quarter of it once a month. What the store lacks is taken in with the position unchanged, and delivered as usual.
 */
import { FuelbridgeError, SourceUnavailable } from "../../core/errors.ts";
import { holdingKindOf } from "../../core/kinds.ts";
import type { Change } from "../../core/contract.ts";
import type { Holding, HoldingKind, Period } from "../../core/holdings.ts";
import type { Json } from "../../core/json.ts";
import { LATE_MS, type WalkPosition } from "../../core/watermark.ts";
import { audit, countWaits, endpointOf, type Engine, type Flow, PLATFORM } from "../engine.ts";

/** How late a record may be committed, ms, and still be found. Left out: {@link LATE_MS}. */
interface Lateness {
  readonly lateMs?: number;
}

const DAY_MS = 86_400_000;
/** What is walked once a calendar month. */
export const QUARTER_MS = 92 * DAY_MS;

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
    const at = clock.now().wallMs;
    const { received, versions } = store.intake.beside(flow.flow, late, at);
    countWaits(engine, flow, "stored", versions, at);
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

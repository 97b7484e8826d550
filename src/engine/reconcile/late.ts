/**
 * Records that were committed late: their time of change lies before a flow's watermark, so no walk asks for them any
 * more. What a deeper reading brings and the store lacks is taken in with the position unchanged, and delivered as usual.
 */
import { holdingKindOf } from "../../core/kinds.ts";
import type { Change } from "../../core/contract.ts";
import type { Holding } from "../../core/holdings.ts";
import type { Json } from "../../core/json.ts";
import type { WalkPosition } from "../../core/watermark.ts";
import { type Engine, type Flow, endpointOf } from "../engine.ts";
import { PLATFORM } from "./plan.ts";

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
 * The flow's own source from before its watermark on, whatever the overlap of its usual walks. How many deliveries were
 * made of it. @throws SourceUnavailable
 */
export async function walkDeeply(
  engine: Engine,
  flow: Flow,
  reachMs: number,
  signal: AbortSignal,
): Promise<number> {
  const [walk] = platformWalks(engine).filter((one) => one.flow === flow);
  if (walk === undefined) return 0;
  const { store } = engine;
  const from: WalkPosition = { watermark: earlier(walk.watermark, reachMs), walk: null };
  const reading = {
    signal,
    known: () => null,
    stored: (id: string, version: string) => store.intake.stored(flow.flow, id, version),
  };
  let received = 0;
  // What receivers tell besides would be read and forgotten here: only the feed itself is read.
  const feed = flow.source.again ?? flow.source;
  for await (const page of feed.read(from as unknown as Json, reading))
    received += take(engine, flow, walk.watermark, page.changes);
  return received;
}

/** Flows that walk the platform by time of change, and have ended a walk. */
function platformWalks({ store, flows }: Engine): { flow: Flow; watermark: string }[] {
  return flows.flatMap((flow) => {
    if (flow.paused || endpointOf(flow.from) !== PLATFORM) return [];
    const position = store.flows.position(flow.name) as Partial<WalkPosition> | null;
    const watermark = position?.watermark ?? null;
    return watermark === null ? [] : [{ flow, watermark }];
  });
}

/** What lies after the watermark is in the flow's next walk. */
function take(
  { store, clock, note }: Engine,
  flow: Flow,
  watermark: string,
  told: readonly Change[],
): number {
  const late = told.filter(
    ({ id, version }) =>
      version !== null && version <= watermark && !store.intake.stored(flow.flow, id, version),
  );
  if (late.length === 0) return 0;
  const at = clock.now().wallMs;
  const received = store.transaction(() => {
    const taken = store.intake.beside(flow.flow, late, at);
    if (taken.received > 0) {
      const detail = `${taken.received} records had been committed late: ${named(late)}`;
      store.journal.audit(at, { flow: flow.flow, event: "notice", detail });
    }
    return taken.received;
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
const earlier = (watermark: string, ms: number): string =>
  new Date(Date.parse(watermark) - ms).toISOString();

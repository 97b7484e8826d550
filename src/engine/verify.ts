/**
 * How do documents that were delivered stand at their receiver now? Books that are restored from a backup lose the
 * newest ones, and nothing would ever deliver them again; people cancel, credit and edit what we booked. What is missing
 * and what differs becomes work for a person (ADR 0013, ADR 0018).
 */
import type { Delivered, Inspection } from "../core/contract.ts";
import { SourceUnavailable } from "../core/errors.ts";
import { later, type Moment, reached } from "../core/moment.ts";
import { type Link, otherId, ownId } from "../store/links.ts";
import { blocked, clearBreakers, trip } from "./breakers.ts";
import { close, settleDifferences } from "./differs.ts";
import { endpointOf, type Engine, type Flow } from "./engine.ts";
import { gone } from "./faults.ts";

const EMPTIED = "emptied";
const EVERY_MS = 3_600_000;
/** Links that are inspected in one call, and in one verification of each part: newest, disagreements, and the round. */
const LOT = 500;

export const verifyDue = (last: Moment | null, now: Moment): boolean =>
  last === null || reached(later(last, EVERY_MS), now);

/** So many that are gone all at once say more about the receiver, or our rights there, than about them. */
const MANY = 20;
const RELEASE_HOLDS_MS = 24 * 3_600_000;

/**
 * The newest lots until all of one are there; what disagreed before; and one lot more, so that every link is inspected
 * in turn. How many are gone; null when it could not be told just now.
 */
export async function verify(
  engine: Engine,
  flow: Flow,
  signal: AbortSignal,
): Promise<number | null> {
  if (flow.sink.inspect === undefined) return 0;
  try {
    const newest = await verifyNewest(engine, flow, signal);
    if (newest === null || signal.aborted) return newest?.gone ?? null;
    return newest.gone + (await verifyOlder(engine, flow, newest.seen, signal));
  } catch (error) {
    if (!(error instanceof SourceUnavailable)) throw error;
    return null;
  }
}

/** `seen`: platform ids. Null when the receiver shows nothing of many. */
async function verifyNewest(
  engine: Engine,
  flow: Flow,
  signal: AbortSignal,
): Promise<{ gone: number; seen: Set<string> } | null> {
  const { store } = engine;
  const seen = new Set<string>();
  let count = 0;
  let offset = 0;
  while (!signal.aborted) {
    const links = store.links.newest(flow.mapping.kind, flow.side, LOT, offset);
    if (links.length === 0) break;
    const inspected = await inspect(engine, flow, links, signal);
    const absent = inspected.filter(isGone).length;
    const isEmpty = offset === 0 && links.length >= MANY && absent === links.length;
    if (isEmpty && !releasedLately(engine)) {
      stop(engine, flow, links.length);
      return null;
    }
    if (absent < links.length) clearBreakers(engine, [endpointOf(flow.to)]);
    const dropped = store.transaction(() => settle(engine, flow, inspected));
    for (const { platformId } of links) seen.add(platformId);
    count += dropped;
    offset += links.length - dropped;
    if (absent === 0) break;
  }
  return { gone: count, seen };
}

/** One lot of what disagrees, and one of the round over all links: after the last one it begins anew. */
async function verifyOlder(
  engine: Engine,
  flow: Flow,
  seen: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<number> {
  const { store } = engine;
  const { disagreements, links } = store;
  const { kind } = flow.mapping;
  const told = disagreements
    .ofFlow(flow.flow, "inspection", LOT)
    .flatMap((id) => links.find(kind, flow.side, id) ?? []);
  const from = disagreements.inspectedUpTo(flow.flow);
  const next = links.after(kind, flow.side, from, LOT);
  const upTo = next.length < LOT ? "" : (next.at(-1)?.platformId ?? "");
  const rest = new Map([...told, ...next].map((link) => [link.platformId, link]));
  for (const id of seen) rest.delete(id);
  const inspected = rest.size === 0 ? [] : await inspect(engine, flow, [...rest.values()], signal);
  if (inspected.length === 0 && upTo === from) return 0;
  return store.transaction(() => {
    disagreements.inspectTo(flow.flow, upTo);
    return settle(engine, flow, inspected);
  });
}

/** A link as it was asked about, and what was said. */
interface Inspected {
  readonly link: Link;
  /** The one that brought it there; null: it was linked by a person. */
  readonly request: number | null;
  readonly inspection: Inspection;
}

const isGone = ({ inspection }: Inspected): boolean => inspection.is === "gone";

/** @throws SourceUnavailable */
async function inspect(
  engine: Engine,
  flow: Flow,
  links: readonly Link[],
  signal: AbortSignal,
): Promise<Inspected[]> {
  const asked = links.map(deliveredIn(engine, flow));
  const delivered = asked.map(({ delivered }) => delivered);
  const inspections = (await flow.sink.inspect?.(delivered, signal)) ?? [];
  return inspections.flatMap((inspection, at) => {
    const one = asked[at];
    return one === undefined ? [] : [{ link: one.link, request: one.request, inspection }];
  });
}

/** What follows from a lot. Inside a transaction. How many are gone. */
function settle(engine: Engine, flow: Flow, inspected: readonly Inspected[]): number {
  // While we asked another version may have arrived: what was said is not about that.
  const current = inspected.filter(({ link, request }) => {
    const id = ownId(link, flow.side);
    const now = engine.store.links.find(flow.mapping.kind, flow.side, id);
    return now?.erpId === link.erpId && requestOf(engine, flow, now) === request;
  });
  const compared = current.flatMap(({ link, inspection }) =>
    inspection.is === "there" ? [{ link, differences: inspection.differences }] : [],
  );
  const opened = settleDifferences(engine, flow, compared, "inspection");
  if (opened > 0) engine.note("differs", { flow: flow.name, documents: opened });
  return current.filter((one) => isGone(one) && lost(engine, flow, one.link)).length;
}

/** Nothing of ours is there: nothing goes there either until a person has looked, or something of ours is there again. */
function stop(engine: Engine, flow: Flow, asked: number): void {
  const scope = endpointOf(flow.to);
  if (blocked(engine, [scope]) !== null) return;
  const detail = `"${scope}" has none of the last ${asked} documents that "${flow.name}" delivered`;
  engine.store.transaction(() => trip(engine, { breaker: EMPTIED, scope, detail }));
}

/** A person has said that its books are rightly without them. */
function releasedLately({ store, clock }: Engine): boolean {
  const atMs = store.journal.releasedAt(EMPTIED);
  // By either side of now: the clock may have been set since.
  return atMs !== null && Math.abs(clock.now().wallMs - atMs) < RELEASE_HOLDS_MS;
}

/** One body for all documents that a request carried. */
function deliveredIn(
  engine: Engine,
  flow: Flow,
): (link: Link) => { link: Link; request: number | null; delivered: Delivered } {
  const bodies = new Map<number, string | null>();
  return (link) => {
    const request = requestOf(engine, flow, link);
    if (request !== null && !bodies.has(request))
      bodies.set(request, engine.store.requests.get(request)?.body ?? null);
    const body = request === null ? null : (bodies.get(request) ?? null);
    const id = ownId(link, flow.side);
    return { link, request, delivered: { id, counterpart: otherId(link, flow.side), body } };
  };
}

/** The one that it was last brought there by. Without content it was linked by a person. */
const requestOf = ({ store }: Engine, { flow, side }: Flow, link: Link): number | null =>
  link.content === null ? null : store.losses.lastRequest(flow, ownId(link, side), link.number);

/**
 * The receiver knows another document by the id of this one: this one is gone there, for a receiver that can be asked
 * gives an id to one document at a time. Inside a transaction.
 */
export function reassigned(engine: Engine, flow: Flow, before: Link): void {
  if (flow.sink.inspect !== undefined && before.born === flow.side) lost(engine, flow, before);
}

/**
 * The link is dropped, so that a retry delivers it anew. Inside a transaction. False when another version of the record
 * is on its way: that one finds out by itself.
 */
function lost(engine: Engine, flow: Flow, link: Link): boolean {
  const { store, clock } = engine;
  const at = clock.now().wallMs;
  const endpoint = endpointOf(flow.to);
  const { number } = link;
  const recordId = ownId(link, flow.side);
  for (const finder of ["inspection", "reconciliation"] as const) close(engine, flow, link, finder);
  const delivery = store.losses.lastDelivered(flow.flow, recordId, number);
  if (delivery === null) return false;
  store.links.drop(flow.mapping.kind, flow.side, recordId);
  store.losses.lose(delivery, number, gone(endpoint), at);
  store.journal.audit(at, { flow: flow.flow, delivery, event: "gone", detail: number });
  return true;
}

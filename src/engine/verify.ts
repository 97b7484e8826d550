/**
 * Are the documents that were delivered still there? Books that are restored from a backup lose the newest ones, and
 * nothing would ever deliver them again: what is missing becomes work for a person.
 */
import type { Delivered } from "../core/contract.ts";
import { SourceUnavailable } from "../core/errors.ts";
import { later, type Moment, reached } from "../core/moment.ts";
import { type Link, otherId, ownId } from "../store/links.ts";
import { blocked, clearBreakers, trip } from "./breakers.ts";
import { endpointOf, type Engine, type Flow } from "./engine.ts";
import { gone } from "./faults.ts";

const EMPTIED = "emptied";
const EVERY_MS = 3_600_000;
/** Newest first. While all of a lot are there, nothing older is asked for. */
const LOT = 500;

export const verifyDue = (last: Moment | null, now: Moment): boolean =>
  last === null || reached(later(last, EVERY_MS), now);

/** So many that are gone all at once say more about the receiver, or our rights there, than about them. */
const MANY = 20;
const RELEASE_HOLDS_MS = 24 * 3_600_000;

/** How many are gone; null when it could not be told just now. */
export async function verify(
  engine: Engine,
  flow: Flow,
  signal: AbortSignal,
): Promise<number | null> {
  const { store } = engine;
  const { sink, mapping, side } = flow;
  if (sink.inspect === undefined) return 0;
  let count = 0;
  let offset = 0;
  try {
    while (!signal.aborted) {
      const links = store.links.newest(mapping.kind, side, LOT, offset);
      if (links.length === 0) break;
      const delivered = links.map(deliveredIn(engine, flow));
      const inspections = await sink.inspect(delivered, signal);
      const absent = new Set(links.filter((_, at) => inspections[at]?.is === "gone"));
      const isEmpty = offset === 0 && links.length >= MANY && absent.size === links.length;
      if (isEmpty && !releasedLately(engine)) {
        stop(engine, flow, links.length);
        return null;
      }
      if (absent.size < links.length) clearBreakers(engine, [endpointOf(flow.to)]);
      const dropped = store.transaction(
        () => links.filter((link) => absent.has(link) && lost(engine, flow, link)).length,
      );
      count += dropped;
      offset += links.length - dropped;
      if (absent.size === 0) break;
    }
    return count;
  } catch (error) {
    if (!(error instanceof SourceUnavailable)) throw error;
    return null;
  }
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
function deliveredIn({ store }: Engine, { flow, side }: Flow): (link: Link) => Delivered {
  const bodies = new Map<number, string | null>();
  return (link) => {
    const id = ownId(link, side);
    // Without content it was linked by a person.
    const request = link.content === null ? null : store.losses.lastRequest(flow, id, link.number);
    if (request !== null && !bodies.has(request))
      bodies.set(request, store.requests.get(request)?.body ?? null);
    const body = request === null ? null : (bodies.get(request) ?? null);
    const wait = store.waits.ofDocument(flow, id);
    const waitsUntil = wait === null ? {} : { waitsUntil: new Date(wait.untilMs).toISOString() };
    return { id, counterpart: otherId(link, side), body, ...waitsUntil };
  };
}

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
  const delivery = store.losses.lastDelivered(flow.flow, recordId, number);
  if (delivery === null) return false;
  store.links.drop(flow.mapping.kind, flow.side, recordId);
  store.losses.lose(delivery, number, gone(endpoint), at);
  store.journal.audit(at, { flow: flow.flow, delivery, event: "gone", detail: number });
  return true;
}

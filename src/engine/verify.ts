/**
 * How do documents that were delivered stand at their receiver now? Books that are restored from a backup lose the
 * newest ones, and nothing would ever deliver them again; people cancel, credit and edit what we booked. What is missing
 * and what differs becomes work for a person (ADR 0002, ADR 0009).
 */
import type { Delivered, Inspection } from "../core/contract.ts";
import { defined } from "../core/defined.ts";
import { SourceUnavailable } from "../core/errors.ts";
import { later, type Moment, reached } from "../core/time.ts";
import { type Link, otherId, otherSide, ownId } from "../store/deliveries.ts";
import { blocked, clearBreakers, trip } from "./breakers.ts";
import { arrivedByHand, foundAgain, lost, settleDifferences } from "./delivered.ts";
import { endpointOf, type Engine, type Flow } from "./engine.ts";
import { receiversOf, redirect } from "./left.ts";

const EMPTIED = "emptied";
const EVERY_MS = 3_600_000;
/** So long what came by counts as touched: once more than one verification apart. */
const TOUCHED_MS = 2 * EVERY_MS;
/** Links that are inspected in one call, and in one verification of each part: newest, disagreements, and the round. */
const AT_ONCE = 500;

export const verifyDue = (last: Moment | null, now: Moment): boolean =>
  last === null || reached(later(last, EVERY_MS), now);

/** So many that are gone all at once say more about the receiver, or our rights there, than about them. */
const MANY = 20;
const RELEASE_HOLDS_MS = 24 * 3_600_000;

/**
 * The newest links, {@link AT_ONCE} by {@link AT_ONCE}, until all of them are there; what disagreed before; what
 * came by as changed there; and the next of a round over all links, so that every link is inspected in turn. How many are gone; null when it could not be told just now.
 */
export async function verify(
  engine: Engine,
  flow: Flow,
  signal: AbortSignal,
): Promise<number | null> {
  if (flow.sink.inspect === undefined) return 0;
  try {
    await redirect(engine, flow);
    const newest = await verifyNewest(engine, flow, signal);
    if (newest === null || signal.aborted) return newest?.gone ?? null;
    const gone = newest.gone + (await verifyOlder(engine, flow, newest.seen, signal));
    await verifyLost(engine, flow, signal);
    return gone;
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
    const newest = store.links.newest(flow.mapping.kind, flow.side, AT_ONCE, offset);
    if (newest.length === 0) break;
    const links = newest.filter(isHere(engine, flow));
    const asked = links.map((link) => askedOf(engine, flow, link));
    const inspected = await inspect(engine, flow, asked, signal);
    const absent = inspected.filter(isGone).length;
    // Files that somebody cleared away say nothing of the books.
    const isTold = flow.attachesTo === undefined;
    const isEmpty = isTold && offset === 0 && links.length >= MANY && absent === links.length;
    if (isEmpty && !releasedLately(engine)) {
      stop(engine, flow, links.length);
      return null;
    }
    if (absent < links.length) clearBreakers(engine, [endpointOf(flow.to)]);
    const dropped = store.transaction(() => settle(engine, flow, inspected));
    for (const { platformId } of links) seen.add(platformId);
    count += dropped;
    offset += newest.length - dropped;
    if (absent === 0) break;
  }
  return { gone: count, seen };
}

/** What another receiver has, since the flow leads elsewhere now, is not asked of this one: it never had it (left.ts). */
const isHere =
  (engine: Engine, flow: Flow) =>
  (link: Link): boolean =>
    receiversOf(engine, flow, link) === null;

/** The next of what disagrees, and of the round over all links: after the last one it begins anew. */
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
    .ofFlow(flow.flow, "inspection", AT_ONCE)
    .flatMap((id) => links.find(kind, flow.side, id) ?? []);
  const touched = touchedLately(engine, flow);
  const from = disagreements.inspectedUpTo(flow.flow);
  const next = links.after(kind, flow.side, from, AT_ONCE);
  const upTo = next.length < AT_ONCE ? "" : (next.at(-1)?.platformId ?? "");
  const all = [...told, ...touched, ...next].filter(isHere(engine, flow));
  const rest = new Map(all.map((link) => [link.platformId, link]));
  for (const id of seen) rest.delete(id);
  const asked = [...rest.values()].map((link) => askedOf(engine, flow, link));
  const inspected = asked.length === 0 ? [] : await inspect(engine, flow, asked, signal);
  if (inspected.length === 0 && upTo === from) return 0;
  return store.transaction(() => {
    disagreements.inspectTo(flow.flow, upTo);
    return settle(engine, flow, inspected);
  });
}

/** What a person has as gone may be there again, with the books that were put back: then it is as if it had never been gone. */
async function verifyLost(engine: Engine, flow: Flow, signal: AbortSignal): Promise<void> {
  const { store } = engine;
  const all = store.losses.lost(flow.flow, AT_ONCE);
  if (all.length === 0 || signal.aborted) return;
  const asked = all.map(({ request, recordId, counterpart, ...told }): Asked => {
    const [platformId, erpId] =
      flow.side === "platform" ? [recordId, counterpart] : [counterpart, recordId];
    const { number, content, amount, party } = told;
    const link = { kind: flow.mapping.kind, born: flow.side, platformId, erpId, number, content };
    return { link: { ...link, amount, party }, request, refused: null };
  });
  const inspected = await inspect(engine, flow, asked, signal);
  const there = new Map(
    inspected.flatMap(({ inspection, link }, at) =>
      inspection.is === "there" ? [[all[at]?.delivery, { link, ...inspection }] as const] : [],
    ),
  );
  store.transaction(() => {
    // Meanwhile somebody may have decided.
    for (const { delivery, code } of store.losses.lost(flow.flow, AT_ONCE)) {
      const found = there.get(delivery);
      if (found !== undefined && foundAgain(engine, flow, found.link, { delivery, code }))
        settleDifferences(engine, flow, [found], "inspection");
    }
  });
}

/**
 * Documents of ours that came by from the receiver: somebody changed, voided or deleted them there, or they are new. The
 * round over all links would find them too, days later where there are many.
 */
function touchedLately({ store, flows, clock }: Engine, flow: Flow): Link[] {
  const { kind } = flow.mapping;
  const since = clock.now().wallMs - TOUCHED_MS;
  const other = otherSide(flow.side);
  const back = flows.filter((one) => one.side === other && one.mapping.kind === kind);
  return back
    .flatMap((one) => store.disagreements.echoes(one.flow, since, AT_ONCE))
    .flatMap((id) => store.links.find(kind, other, id) ?? []);
}

/** A link as it is asked about. */
interface Asked {
  readonly link: Link;
  /** The one whose bytes it is compared with; null: it was linked by a person. */
  readonly request: number | null;
  /** A version that the receiver refused because it differs: a person may have brought it there by hand. */
  readonly refused: number | null;
}

interface Inspected extends Asked {
  readonly inspection: Inspection;
}

const isGone = ({ inspection }: Inspected): boolean => inspection.is === "gone";

/** @throws SourceUnavailable */
async function inspect(
  engine: Engine,
  flow: Flow,
  asked: readonly Asked[],
  signal: AbortSignal,
): Promise<Inspected[]> {
  const delivered = asked.map(deliveredIn(engine, flow));
  const inspections = (await flow.sink.inspect?.(delivered, signal)) ?? [];
  return inspections.flatMap((inspection, at) => {
    const one = asked[at];
    return one === undefined ? [] : [{ ...one, inspection }];
  });
}

/** What follows from the links that were inspected together. Inside a transaction. How many are gone. */
function settle(engine: Engine, flow: Flow, inspected: readonly Inspected[]): number {
  // While we asked another version may have arrived: what was said is not about that.
  const current = inspected.filter(({ link, request }) => {
    const id = ownId(link, flow.side);
    const now = engine.store.links.find(flow.mapping.kind, flow.side, id);
    return now?.erpId === link.erpId && askedOf(engine, flow, now).request === request;
  });
  const compared = current.flatMap(({ link, refused, inspection }) =>
    inspection.is === "there" ? [{ link, refused, differences: inspection.differences }] : [],
  );
  for (const { link, refused, differences } of compared)
    if (refused !== null && differences.length === 0) arrivedByHand(engine, flow, link, refused);
  const rest = compared.filter(({ refused }) => refused === null);
  const opened = settleDifferences(engine, flow, rest, "inspection");
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

/** The one that it was last brought there by, or the one that was refused since. */
function askedOf({ store }: Engine, { flow, side }: Flow, link: Link): Asked {
  const id = ownId(link, side);
  const refused = store.disagreements.refused(flow, id);
  if (refused !== null) return { link, request: refused.request, refused: refused.delivery };
  // What a person linked went in none.
  const { content } = link;
  const request = content === null ? null : store.losses.lastRequest(flow, id, content);
  return { link, request, refused: null };
}

/** One body for all documents that a request carried. */
function deliveredIn({ store }: Engine, { flow, side, sink }: Flow): (asked: Asked) => Delivered {
  const bodies = new Map<number, string | null>();
  return ({ link, request }) => {
    if (request !== null && !bodies.has(request))
      bodies.set(request, store.requests.bytes(request));
    const body = request === null ? null : (bodies.get(request) ?? null);
    const id = ownId(link, side);
    const isTold = request !== null && sink.acknowledged?.inspected === true;
    const told = isTold ? store.acknowledgements.last(request, link.number) : null;
    const more = defined({
      deliveredAt: instantOf(link.linkedMs),
      told: told ?? undefined,
      waitsUntil: instantOf(store.waits.ofDocument(flow, id)?.untilMs),
    });
    return { id, counterpart: otherId(link, side), body, ...more };
  };
}

const instantOf = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : new Date(ms).toISOString();

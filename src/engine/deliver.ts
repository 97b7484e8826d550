/**
 * Requests → sink: the one place that asks the request machine what to do and writes down what followed. What a
 * receiver answered and everything that depends on it is one transaction: a kill leaves all of it or none.
 */
import type { Linked, Memory, Outgoing, Sink } from "../core/contract.ts";
import { SourceUnavailable } from "../core/errors.ts";
import { idempotencyKey, sameNumber } from "../core/keys.ts";
import { comparedNumber } from "../core/kinds.ts";
import type { Fault } from "../core/record.ts";
import { iso, later, type Moment } from "../core/time.ts";
import type { Answer, Finding } from "../core/outcome.ts";
import {
  advance,
  type Event,
  isFinal,
  nextAction,
  type Raise,
  type RequestState,
} from "../core/request.ts";
import { EVERY_SITE } from "../core/sites.ts";
import {
  type BisectGroups,
  type Carried,
  type Link,
  otherSide,
  ownId,
} from "../store/deliveries.ts";
import type { Entry } from "../store/journal.ts";
import type { StoredRequest } from "../store/requests.ts";
import type { Store } from "../store/store.ts";
import {
  arrived,
  awaitAcknowledgements,
  leaveUnfinished,
  refusedBecause,
  taken,
  undecided,
} from "./delivered.ts";
import { blocked, clearBreakers, lookFirst, takeReplay, trip } from "./breakers.ts";
import { ANEW, type FirstSend, isForgotten, mayBeThere, twinsAtReceiver } from "./copies.ts";
import { delivering, endpointOf, type Engine, type Flow, inRecovery, RESTORED } from "./engine.ts";
import { moves } from "./schedule.ts";

/** Requests of one flow that may be under way at once, each under an ordering key of its own. */
const AT_ONCE = 4;

export interface Delivered {
  /** Steps that changed something. */
  readonly steps: number;
  /** Requests that the receiver has taken, or was found to have. */
  readonly done: number;
  /** Requests that are still to be settled by machine. */
  readonly open: number;
  /** When there is something to do again; null: nothing is waiting for time to pass. */
  readonly wakeAt: Moment | null;
}

/**
 * Works on every open request of the flow until each is settled or has to wait. However it ends, nothing of it is under
 * way any more. @throws what the first of its workers met
 */
export async function deliver(engine: Engine, flow: Flow, signal: AbortSignal): Promise<Delivered> {
  const compared = new Set<number>();
  let [steps, done] = [0, 0];
  for (;;) {
    const firsts: FirstSend[] = [];
    const ran = await deliverOnce(engine, flow, signal, { compared, firsts });
    steps += ran.steps;
    done += ran.done;
    // Only now all that is there under its own number is known as ours.
    const isCompared = firsts.length > 0 && (await compareFirst(engine, flow, firsts, signal));
    if (!isCompared) return { ...ran, steps, done };
    for (const { request } of firsts) compared.add(request.request);
  }
}

interface Comparing {
  /** Requests that look like nothing that the receiver has. */
  readonly compared: ReadonlySet<number>;
  /** Those that are to be compared before their first byte leaves. */
  readonly firsts: FirstSend[];
}

/** What looks like a document that the receiver has becomes a person's. False: the receiver could not be asked. */
async function compareFirst(
  engine: Engine,
  flow: Flow,
  firsts: readonly FirstSend[],
  signal: AbortSignal,
): Promise<boolean> {
  let twins: Awaited<ReturnType<typeof twinsAtReceiver>> = new Map();
  const isAsked = await ready(
    engine,
    flow,
    async () => {
      twins = await twinsAtReceiver(engine, flow, firsts, signal);
    },
    signal,
  );
  if (!isAsked || signal.aborted) return false;
  const { store, clock } = engine;
  for (const { request, carried } of firsts) {
    const fault = twins.get(request.request);
    if (fault === undefined) continue;
    store.transaction(() => {
      const at = clock.now();
      if (fault === ANEW) {
        const event = { type: "decision", at, decision: "cancel" } as const;
        const after = moved(engine, flow, request, event, "its record is mapped otherwise now");
        return void apply(engine, flow, after, carried, { found: "none", detail: ANEW });
      }
      const finding = { found: "different", detail: fault.message, fault } as const;
      const looking = moved(
        engine,
        flow,
        request,
        { type: "preflight", at },
        "before the first send",
      );
      const event: Event = { type: "finding", at, finding, shared: carried.length > 1 };
      const after = moved(engine, flow, looking, event, `different: ${fault.message}`);
      apply(engine, flow, after, carried, finding);
    });
  }
  return true;
}

async function deliverOnce(
  engine: Engine,
  flow: Flow,
  signal: AbortSignal,
  comparing: Comparing,
): Promise<Delivered> {
  const turns = engine.store.underWay.turns(flow.flow);
  const queue = [...Map.groupBy(turns, ({ orderingKey }) => orderingKey).values()];
  const atOnce = flow.sink.atOnce ?? AT_ONCE;
  // Twice as many as may send: while some are under way, the outcomes of others share a commit with the next to go.
  const workers = Math.min(2 * atOnce, queue.length);
  const failed = new AbortController();
  const crew: Crew = {
    signal: AbortSignal.any([signal, failed.signal]),
    places: limited(atOnce),
    comparing,
  };
  let [steps, done] = [0, 0];
  let wakeAt: Moment | null = null;
  const worker = async (): Promise<void> => {
    for (let line = queue.shift(); line !== undefined; line = queue.shift()) {
      for (const turn of line) {
        // Somebody may pause it while thousands go out.
        if (flow.paused) break;
        // Read only now: it may have been settled by a poll, or by a person, while it waited for its turn.
        const request = engine.store.requests.get(turn.request) as StoredRequest;
        const worked = await work(engine, flow, request, crew);
        steps += worked.steps;
        if (worked.done) done++;
        if (worked.wakeAt !== null && (wakeAt === null || worked.wakeAt.wallMs < wakeAt.wallMs))
          wakeAt = worked.wakeAt;
        // Under one ordering key nothing overtakes.
        if (!worked.settled) break;
      }
    }
  };
  const working = Array.from({ length: workers }, worker);
  for (const one of working) one.catch((error: unknown) => failed.abort(error));
  await Promise.allSettled(working);
  if (failed.signal.aborted) throw failed.signal.reason;
  return { steps, done, open: engine.store.requests.openCount(flow.flow), wakeAt };
}

async function work(
  engine: Engine,
  flow: Flow,
  first: StoredRequest,
  crew: Crew,
): Promise<{ steps: number; settled: boolean; done?: boolean; wakeAt: Moment | null }> {
  const scopes = [endpointOf(flow.to), flow.sink.operation];
  let request = first;
  for (let steps = 0; ; steps++) {
    if (isFinal(request.machine.state)) {
      moves(engine, flow);
      // What a poll has settled meanwhile shows in the feed already.
      const done = steps > 0 && request.machine.state === "done";
      return { steps, settled: true, done, wakeAt: null };
    }
    const now = engine.clock.now();
    const recovering = inRecovery(engine);
    const { policy } = flow.sink;
    const looks = recovering || isForgotten(engine, flow, request);
    const action = nextAction(request.machine, looks ? lookFirst(policy) : policy, now);
    if (action.do === "nothing" || crew.signal.aborted)
      return { steps, settled: false, wakeAt: null };
    if (action.do === "wait") return { steps, settled: false, wakeAt: action.until };
    if (action.do === "send" && recovering) return { steps, settled: false, wakeAt: null };
    const stop = blocked(engine, scopes);
    if (stop !== null) return { steps, settled: false, wakeAt: retryMoment(stop.untilMs, now) };
    if (action.do === "renew") request = renew(engine, flow, request);
    else if (!(await ready(engine, flow, () => flow.sink.expect?.(never)))) continue;
    else if (action.do === "send") {
      const carried = engine.store.requests.carried(request.request);
      const first = { request, carried };
      if (!crew.comparing.compared.has(request.request) && mayBeThere(engine, flow, first)) {
        crew.comparing.firsts.push(first);
        return { steps, settled: false, wakeAt: null };
      }
      const before = () => flow.sink.prepare?.(outgoing(engine, request, carried), never);
      if (!(await ready(engine, flow, before))) continue;
      request = await send(engine, flow, request, { ...crew, carried, scopes });
    } else request = await read(engine, flow, request, action.preflight);
    engine.progress?.(delivering(flow.name));
  }
}

/** What comes before a request counts as sent or looked for. When it fails, nothing has left, and the endpoint waits. */
export async function ready(
  engine: Engine,
  flow: Flow,
  before: () => Promise<void> | undefined,
  signal = never,
): Promise<boolean> {
  try {
    await before();
    return true;
  } catch (error) {
    if (!(error instanceof SourceUnavailable)) throw error;
    // Who ends us says nothing about the receiver.
    if (signal.aborted) return false;
    const { message, next, waitMs, stop } = error;
    if (stop === RESTORED) {
      watchForRestore(engine);
      return false;
    }
    const scope = endpointOf(flow.to);
    engine.store.transaction(() =>
      trip(engine, { breaker: stop ?? "receiver", scope, detail: message, waitMs, next }),
    );
    return false;
  }
}

/** What the workers of one flow share. */
interface Crew {
  readonly signal: AbortSignal;
  readonly places: ReturnType<typeof limited>;
  readonly comparing: Comparing;
}

interface Sending extends Crew {
  readonly carried: readonly Carried[];
  readonly scopes: readonly string[];
}

async function send(
  engine: Engine,
  flow: Flow,
  request: StoredRequest,
  { carried, scopes, places, signal }: Sending,
): Promise<StoredRequest> {
  const { store, clock } = engine;
  await places.take();
  // It may have waited so long that the same bytes must not go again unread.
  const isTime = nextAction(request.machine, flow.sink.policy, clock.now()).do === "send";
  if (!isTime || signal.aborted || blocked(engine, scopes) !== null) {
    places.leave();
    return request;
  }
  const { sending, answer } = await sent(engine, flow, request, carried).finally(() =>
    places.leave(),
  );
  const shared = carried.length > 1;
  const event: Event = { type: "answer", at: clock.now(), answer, chance: clock.chance(), shared };
  const each = answer.outcome === "refused" ? carried.map(() => REFUSED_WITH_OTHERS) : answer.each;
  const next = await store.together(() => {
    const after = moved(engine, flow, sending, event, told(answer), partsOf(carried, each));
    return apply(engine, flow, after, carried, answer);
  });
  if (next.machine.state === "done") clearBreakers(engine, scopes);
  return next;
}

/** From "sending" is durable to the answer. */
async function sent(
  engine: Engine,
  flow: Flow,
  request: StoredRequest,
  carried: readonly Carried[],
): Promise<{ sending: StoredRequest; answer: Answer }> {
  const detail = `${request.target} (${request.key})`;
  const sending = await engine.store.together(() =>
    moved(engine, flow, request, { type: "send", at: engine.clock.now() }, detail),
  );
  const memory = memoryOf(engine, flow, carried);
  return {
    sending,
    answer: await flow.sink.send(outgoing(engine, sending, carried), never, memory),
  };
}

async function read(
  engine: Engine,
  flow: Flow,
  request: StoredRequest,
  preflight: boolean,
): Promise<StoredRequest> {
  const { store, clock } = engine;
  const carried = store.requests.carried(request.request);
  const begin = { type: "preflight", at: clock.now() } as const;
  const looking = preflight
    ? await store.together(() => moved(engine, flow, request, begin, "before the first send"))
    : request;
  const memory = memoryOf(engine, flow, carried);
  const finding = await flow.sink.find(outgoing(engine, looking, carried), never, memory);
  const shared = carried.length > 1;
  const event: Event = { type: "finding", at: clock.now(), finding, shared };
  return store.together(() => {
    // It may have come by in a poll meanwhile.
    const current = store.requests.get(looking.request);
    if (current !== null && isFinal(current.machine.state)) return current;
    const each = "each" in finding ? finding.each?.map((one) => `${finding.found}: ${one}`) : [];
    const detail = `${finding.found}: ${finding.detail}`;
    if (finding.found === "unreadable" && finding.stop !== undefined)
      trip(engine, { ...finding, breaker: finding.stop, scope: endpointOf(flow.to) });
    const after = moved(engine, flow, looking, event, detail, partsOf(carried, each));
    return apply(engine, flow, after, carried, finding);
  });
}

/**
 * A read-back for nothing: is this record, which came by in a poll, what a request of unknown outcome wrote? Then it is
 * settled. Inside a transaction.
 */
export function recognised(engine: Engine, request: StoredRequest, record: unknown): boolean {
  const flow = engine.flows.find((one) => one.flow === request.flow);
  const unsettled = request.machine.state === "unknown" || request.machine.state === "manual";
  if (!unsettled || flow?.sink.recognise === undefined) return false;
  const carried = engine.store.requests.carried(request.request);
  const ids = flow.sink.recognise(outgoing(engine, request, carried), record);
  if (ids === null) return false;
  arrivedAfterAll(engine, flow, request, ids, "it came by in a poll");
  return true;
}

/**
 * A request of unknown outcome, also one that waits for a person, is settled: what it wrote is there under these ids.
 * Inside a transaction.
 */
export function arrivedAfterAll(
  engine: Engine,
  flow: Flow,
  request: StoredRequest,
  ids: readonly (string | null)[],
  detail: string,
): void {
  const finding = { found: "exact", ids, detail } as const;
  const event: Event = { type: "finding", at: engine.clock.now(), finding };
  const after = moved(engine, flow, request, event, `exact: ${detail}`);
  apply(engine, flow, after, engine.store.requests.carried(request.request), finding);
  // A newer version that waited for the same decision is judged again.
  for (const delivery of engine.store.underWay.newer(request.request))
    engine.store.deliveries.reopen(delivery);
}

/** A new key for the same bytes. Call it only when the machine says so: the old key is proven unused. */
function renew(engine: Engine, flow: Flow, request: StoredRequest): StoredRequest {
  const { store, clock } = engine;
  return store.transaction(() => {
    const event = { type: "renew", at: clock.now() } as const;
    const after = moved(engine, flow, request, event, "the key is too old");
    const carried = store.requests.carried(request.request);
    const finding = { found: "none", detail: "all its keys have grown too old" } as const;
    return apply(engine, flow, after, carried, finding);
  });
}

/** The machine's step, stored and audited. Inside a transaction. */
export function moved(
  engine: Engine,
  flow: Flow,
  request: StoredRequest,
  event: Event,
  detail: string,
  parts?: Entry["parts"],
): StoredRequest {
  const { next, raise } = advance(request.machine, event, flow.sink.policy);
  const { generation } = next;
  const key =
    generation === request.machine.generation
      ? request.key
      : keyOf(engine, { ...request, generation }, hasSharedKey(engine, request));
  const at = event.at.wallMs;
  const after = engine.store.requests.move(request, next, key, at);
  engine.store.journal.audit(at, {
    flow: flow.flow,
    request: request.request,
    event: event.type === "answer" || event.type === "finding" ? next.state : event.type,
    detail,
    parts,
  });
  for (const one of raise) raised(engine, flow, request, one);
  return after;
}

function raised(engine: Engine, flow: Flow, request: StoredRequest, raise: Raise): void {
  const endpoint = endpointOf(flow.to);
  if ("alarm" in raise)
    trip(engine, { breaker: raise.alarm, scope: endpoint, detail: raise.detail });
  else if ("warning" in raise) {
    // What other sites send under this key is no second writer.
    if (!hasSharedKey(engine, request)) takeReplay(engine, flow, request.request, raise);
  } else
    trip(engine, {
      breaker: raise.breaker,
      scope: raise.breaker === "scope" ? flow.sink.operation : endpoint,
      detail: raise.detail,
      waitMs: raise.waitMs ?? null,
      ...(raise.next === undefined ? {} : { next: raise.next }),
    });
}

/** At start, and when a receiver says that more was sent than the store knows. */
export function watchForRestore(engine: Engine): void {
  const why = engine.store.restored();
  if (why === null || inRecovery(engine)) return;
  engine.store.transaction(() => {
    trip(engine, {
      breaker: RESTORED,
      scope: "everything that is sent",
      detail: `this store does not know all that was sent: ${why}. It reads and looks, and sends nothing`,
    });
    for (const flow of engine.flows)
      if (flow.side === "platform") thaw(engine, flow, "the store was restored");
  });
}

/** What was frozen and never sent is judged again: once it is known what is ours, or by the flow that has its place. */
export function thaw(engine: Engine, flow: Flow, why: string): void {
  const { store } = engine;
  for (const request of store.requests.open(flow.flow)) {
    const { state, firstSentWallMs } = request.machine;
    if (firstSentWallMs !== null || (state !== "ready" && state !== "preflight")) continue;
    for (const delivery of cancelled(engine, flow, request, why)) store.deliveries.reopen(delivery);
  }
}

/** Ends a request for good; the deliveries that it carried. Inside a transaction. */
export function cancelled(
  engine: Engine,
  flow: Flow,
  request: StoredRequest,
  why: string,
): number[] {
  const carried = engine.store.requests.carried(request.request);
  const event = { type: "decision", at: engine.clock.now(), decision: "cancel" } as const;
  moved(engine, flow, request, event, why);
  return carried.map(({ delivery }) => delivery);
}

/** What a request's new state means for the deliveries it carries. Inside the same transaction. Returns it as it is then. */
function apply(
  engine: Engine,
  flow: Flow,
  request: StoredRequest,
  carried: readonly Carried[],
  cause: Answer | Finding,
): StoredRequest {
  const { deliveries } = engine.store;
  const at = engine.clock.now().wallMs;
  switch (request.machine.state) {
    case "done":
      arrived(engine, flow, carried, cause, at);
      awaitAcknowledgements(engine, flow, request, carried, cause, at);
      leaveUnfinished(engine, carried, cause);
      bisectAccepted(flow.sink, engine.store.bisectGroups, request.request, carried);
      break;
    case "rejected":
      bisectRefused(flow.sink, engine.store, request.request, carried);
      if (carried.length === 1)
        forPerson(engine, carried, refusedBecause(cause, request.machine.said), at);
      break;
    case "cancelled":
      for (const one of carried) deliveries.reopen(one.delivery);
      break;
    case "manual": {
      if (carried.length > 1) return takeApart(engine, flow, request, carried);
      const looked = request.machine.firstSentWallMs === null;
      forPerson(engine, carried, looked ? taken(cause) : undecided(cause), at);
      break;
    }
    case "ready":
    case "preflight":
    case "sending":
    case "unknown":
      break;
  }
  return request;
}

function forPerson(
  { store }: Engine,
  carried: readonly Carried[],
  fault: Fault,
  atMs: number,
): void {
  for (const { delivery } of carried)
    store.deliveries.quarantine(delivery, { number: null, fault }, atMs);
}

/** Of several documents a person decides about those that it is about; each is looked for by itself. */
function takeApart(
  engine: Engine,
  flow: Flow,
  request: StoredRequest,
  carried: readonly Carried[],
): StoredRequest {
  const event = { type: "decision", at: engine.clock.now(), decision: "cancel" } as const;
  const detail = `its ${carried.length} documents go on one by one, each looked for first`;
  const after = moved(engine, flow, request, event, detail);
  tookApart(engine.store, request.request, carried);
  return after;
}

function outgoing(engine: Engine, request: StoredRequest, carried: readonly Carried[]): Outgoing {
  const first = request.machine.firstSentWallMs;
  return {
    key: request.key,
    target: request.target,
    body: request.body,
    items: carried.map(({ number, recordId, revision }) => ({ number, id: recordId, revision })),
    frozenAt: iso(request.createdMs),
    firstSentAt: first === null ? null : iso(first),
    ...(hasSharedKey(engine, request)
      ? { ofEverySite: request.machine.taken ? "taken" : "first" }
      : {}),
  };
}

/** The receiver's words may be about another document of the request. */
const REFUSED_WITH_OTHERS =
  "the request was refused because of one of its documents; they go again in smaller requests";

/** By delivery; undefined when there is one only, or the receiver did not speak of each. */
function partsOf(carried: readonly Carried[], each: readonly string[] = []): Entry["parts"] {
  if (carried.length < 2 || each.length !== carried.length) return undefined;
  return Object.fromEntries(carried.map(({ delivery }, at) => [delivery, each[at] as string]));
}

function told(answer: Answer): string {
  return answer.requestId === undefined ? answer.detail : `${answer.detail} [${answer.requestId}]`;
}

export function retryMoment(untilMs: number | null, now: Moment): Moment | null {
  if (untilMs === null) return null;
  return later(now, untilMs - now.wallMs);
}

/** Sends are not torn off when we stop: the work in hand is finished, each has a deadline of its own. */
const never = new AbortController().signal;

// Which of many documents made a receiver refuse them all? A search by halves (ADR 0004): the first half is tried, and
// only its outcome says where the bad one is. While it is accepted, the bad one is in the second half, which is halved
// at once; when it is refused, nothing is known of the second half, which goes on with the others.
// A bad document of n so costs about log2 n requests, and the good ones travel in large batches all the while. Where
// many are bad, batches grow smaller by themselves. The two parts of a refused request r are bisect groups 2r and 2r + 1.
// A request that only a person can settle is taken apart: its documents go on one by one, each looked for by itself
// first, so that a person has the one that it is about, with its own cause, and nobody waits for that. They are group -r.

/** A request with these deliveries was refused. Inside the transaction of its answer. */
function bisectRefused(
  sink: Sink,
  { deliveries, bisectGroups }: Pick<Store, "deliveries" | "bisectGroups">,
  request: number,
  carried: readonly Carried[],
): void {
  const group = groupOf(carried);
  if (group === null) learn(sink, 0.7);
  else if (isApart(group)) return;
  // Of the other half nothing is known now.
  else if (isFirst(group))
    for (const delivery of bisectGroups.pending(group + 1)) bisectGroups.put(delivery, null);
  if (carried.length === 1) return;
  const middle = Math.ceil(carried.length / 2);
  carried.forEach(({ delivery }, index) => {
    deliveries.reopen(delivery, bisectPart(request, index < middle));
  });
}

/** A request was accepted: where it was a first half, what is bad is in the other. Inside the same transaction. */
function bisectAccepted(
  sink: Sink,
  bisectGroups: BisectGroups,
  request: number,
  carried: readonly Carried[],
): void {
  const group = groupOf(carried);
  if (group === null) learn(sink, 1.5);
  else if (!isApart(group) && isFirst(group)) {
    const suspects = bisectGroups.pending(group + 1);
    const middle = Math.ceil(suspects.length / 2);
    suspects.forEach((delivery, index) => {
      bisectGroups.put(delivery, bisectPart(request, index < middle));
    });
  }
}

/** A second half waits for what the first one shows. */
export const waitsForFirst = (bisectGroups: BisectGroups, group: number | null): boolean =>
  group !== null && !isApart(group) && !isFirst(group) && bisectGroups.isOpen(group - 1);

/** A request of several is a person's, and was given up for that. Inside the transaction of what it met. */
function tookApart(
  { deliveries, bisectGroups }: Pick<Store, "deliveries" | "bisectGroups">,
  request: number,
  carried: readonly Carried[],
): void {
  for (const { delivery } of carried) {
    deliveries.reopen(delivery);
    bisectGroups.putNewest(delivery, -request);
  }
}

/** The request that was taken apart; null: none was. */
export const takenFrom = (group: number | null): number | null =>
  group !== null && isApart(group) ? -group : null;

/** How many of a group go together at most. */
export const mostOf = (group: number | null, sink: Sink): number =>
  group === null ? shareOf(sink) : isApart(group) ? 1 : sink.itemsMax;

/** How many documents of no group go together now; at least 1. */
const shareOf = (sink: Sink): number => Math.floor(shares.get(sink) ?? sink.itemsMax);

/** By how the last batches fared. A hint for speed, so it is not stored. */
const shares = new WeakMap<Sink, number>();

function learn(sink: Sink, factor: number): void {
  const share = (shares.get(sink) ?? sink.itemsMax) * factor;
  shares.set(sink, Math.min(Math.max(share, 1), sink.itemsMax));
}

/** They are all of the same one; null when they are of none. */
const groupOf = ([first]: readonly Carried[]): number | null => first?.bisectGroup ?? null;

const bisectPart = (request: number, first: boolean): number => 2 * request + (first ? 0 : 1);

const isApart = (group: number): boolean => group < 0;

const isFirst = (group: number): boolean => group % 2 === 0;

// What the store knows that a look at a receiver needs.

/** Of a request that carries these. Asks the store only when it is asked. */
function memoryOf(
  { store, flows, tables }: Engine,
  flow: Flow,
  carried: readonly Carried[],
): Memory {
  const [first] = carried;
  const there = otherSide(flow.side);
  const alike = [flow, ...flows.filter((one) => one !== flow)].filter(
    (one) => one.side === flow.side && namesOf(one) === namesOf(flow),
  );
  const told = (one: Flow, link: Link | null): readonly Linked[] => {
    if (link === null) return [];
    const { kind } = one.mapping;
    const id = ownId(link, flow.side);
    const { lastRequest } = store.losses;
    // One that was left behind is not called by its id any more.
    const request =
      lastRequest(one.flow, id, null) ?? lastRequest(one.flow, link.number, link.content);
    return [
      {
        kind,
        number: link.number,
        isOwnKind: kind === flow.mapping.kind,
        isOwnRecord: one.from === flow.from && id === first?.recordId,
        body: store.requests.bytes(request),
      },
    ];
  };
  return {
    linked: (counterpart) =>
      alike.flatMap((one) => told(one, store.links.find(one.mapping.kind, there, counterpart))),
    numbered: (number) =>
      alike.flatMap((one) => {
        const { kind } = one.mapping;
        const { links } = store;
        const link = links.numbered(kind, number, flow.side) ?? links.numbered(kind, number, there);
        return told(one, link);
      }),
    isTold: (id) => alike.some((one) => store.openRecords.newest(one.flow, id) !== null),
    isDismissed: (counterpart) =>
      carried.some(({ delivery }) => store.incidents.isDismissed(delivery, counterpart)),
    named(name) {
      const { table = "", column = "" } = flow.mapping.namedIn ?? {};
      const rows = table === "" ? [] : (tables.rows?.(table) ?? []);
      return rows
        .filter(({ row: { [column]: cell } }) => cell !== undefined && sameNumber(cell, name))
        .flatMap(({ row }) => Object.values(row)[0] ?? []);
    },
  };
}

/** What the documents of its sink are at their receiver. */
export const namesOf = ({ sink }: Flow): string => sink.names?.what ?? sink.operation;

/** How many pieces of work may be under way at once; the others wait for their turn, in order. */
function limited(places: number) {
  let free = places;
  const waiting: (() => void)[] = [];
  return {
    take: (): Promise<void> =>
      new Promise((resolve) => {
        if (free > 0) {
          free--;
          resolve();
        } else waiting.push(resolve);
      }),
    leave(): void {
      const next = waiting.shift();
      if (next === undefined) free++;
      else next();
    },
  };
}

/**
 * From business identity, never from chance or time: the same intent has the same key after any restart. `isShared`: every site
 * makes this (engine/sites.ts), each in words of its own: all of them under one key.
 */
export function keyOf(
  { company, environment }: Engine,
  { operation, kind, number, revision, generation }: KeyIdentity,
  isShared: boolean,
): string {
  const whose = isShared
    ? { company: EVERY_SITE, number: comparedNumber(kind, number), revision: "" }
    : { company, number, revision };
  return idempotencyKey({ environment, operation, generation, ...whose });
}

type KeyIdentity = Pick<StoredRequest, "operation" | "kind" | "number" | "revision"> &
  Pick<RequestState, "generation">;

/** Its key tells: rules may have changed since. */
const hasSharedKey = (engine: Engine, request: StoredRequest): boolean =>
  engine.sites !== undefined &&
  request.key === keyOf(engine, { ...request, ...request.machine }, true);

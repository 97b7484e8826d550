/**
 * Runs flows when they are due, one run per flow at a time. Aborting stops between two pieces of work: a page that is
 * stored, a request that is answered.
 */
import { setImmediate } from "node:timers/promises";
import type { Frozen, Item, Sink } from "../core/contract.ts";
import { ConfigurationError, FuelbridgeError } from "../core/errors.ts";
import { sha256 } from "../core/keys.ts";
import { comparedNumber, holdingKindOf, type Kind, showsIn } from "../core/kinds.ts";
import { apart, freshRequest } from "../core/request.ts";
import { later, type Moment, reached } from "../core/time.ts";
import type { PendingDelivery } from "../store/deliveries.ts";
import {
  expectAcknowledgements,
  finish,
  nextRevisit,
  referenceTaken,
  revisit,
  settleAcknowledgements,
} from "./delivered.ts";
import {
  blocked,
  clearBreakers,
  ClockWatch,
  endIdleStops,
  type Jump,
  mayFreeze,
  unreadBy,
} from "./breakers.ts";
import { tellWaiting } from "./awaited.ts";
import {
  deliver,
  type Delivered,
  keyOf,
  mostOf,
  moved,
  namesOf,
  ready,
  retryMoment,
  takenFrom,
  watchForRestore,
} from "./deliver.ts";
import { delivering, endpointOf, type Engine, type Flow, PLATFORM } from "./engine.ts";
import { leave, redirect } from "./left.ts";
import { type Judged, type Ready, Round } from "./lifecycle.ts";
import { pull, type Trouble } from "./pull.ts";
import type { Nightly } from "./reconcile/nightly.ts";
import { acquaint } from "./restored.ts";
import { dueAfterJump, dueFrom, intervalOf, nextDue, outOfStep, untilDue } from "./schedule.ts";
import { isOfEverySite } from "./sites.ts";
import { verify, verifyDue } from "./verify.ts";

interface Lane {
  readonly flow: Flow;
  running: Promise<void> | null;
  /** When its source is read next; null: as the store says. */
  due: Moment | null;
  /** Deliveries may have become possible: look again without pulling. */
  nudged: boolean;
  wakeAt: Moment | null;
  /** A stop kept its source from being read the last time. */
  barred: boolean;
  /** When its receiver was last asked whether it still has what it was given. */
  verified: Moment | null;
}

/** Nothing is waited for longer than this in one go: the wall clock may jump. */
const LONGEST_PAUSE_MS = 30_000;
/** `once` waits this long for a request that has to settle; what needs longer is for the daemon. */
const ONCE_WAITS_MS = 120_000;
/** While it gets on, however slowly, for no longer than this. */
const ONCE_TAKES_MS = 15 * 60_000;

export class Daemon {
  readonly #engine: Engine;
  readonly #lanes: readonly Lane[];
  readonly #clocks: ClockWatch;
  /** The reconciliation that it runs by itself; null: none. */
  readonly #nightly: Nightly | null;
  #stir = new AbortController();
  #fatal: Error | null = null;
  /** Asked once before the first flow; again where the platform could not be asked. */
  #acquainted: ReturnType<typeof acquaint> | null = null;
  /** Something was done since the last rest. */
  #worked = false;

  /** What was under way when the last process ended is read back before anything is sent again. */
  constructor(engine: Engine, flows: readonly Flow[], nightly: Nightly | null = null) {
    this.#engine = engine;
    this.#nightly = nightly;
    this.#lanes = flows.map((flow) => ({
      flow,
      running: null,
      due: null,
      nudged: true,
      wakeAt: null,
      barred: false,
      verified: null,
    }));
    this.#clocks = new ClockWatch(engine);
    watchForRestore(engine);
    for (const flow of flows) {
      const open = recover(engine, flow);
      if (open > 0) engine.note("recovering", { flow: flow.name, requests: open });
    }
    const [some] = flows;
    if (some !== undefined) leave(engine, some);
  }

  /** The last time that the wall clock was found to have been set, since the start or at it. */
  get clockJump(): Jump | null {
    return this.#clocks.last;
  }

  get flows(): readonly Flow[] {
    return this.#lanes.map(({ flow }) => flow);
  }

  /** Until `signal` aborts and the work in hand is finished. @throws FuelbridgeError */
  async run(signal: AbortSignal): Promise<void> {
    signal.addEventListener("abort", () => this.#stir.abort(), { once: true });
    while (!signal.aborted && this.#fatal === null) {
      this.#stir = new AbortController();
      const pauseMs = Math.min(this.#startDue(signal), this.#startNightly(signal));
      if (this.#worked && this.#lanes.every(({ running }) => running === null)) {
        this.#worked = false;
        this.#engine.rest?.();
      }
      await this.#engine.clock.pause(Math.max(pauseMs, 1), this.#stir.signal);
    }
    await this.#nightly?.stop();
    for (const { running } of this.#lanes) await running;
    if (this.#fatal !== null) throw this.#fatal;
  }

  /**
   * Runs every flow until nothing more can go now. `inStep`: nothing is left that a machine could do; what is paused or
   * waits for payments does not count ({@link outOfStep} names it). @throws FuelbridgeError
   */
  async once(signal: AbortSignal): Promise<{ inStep: boolean }> {
    const { clock, store } = this.#engine;
    const active = this.#lanes.filter(({ flow }) => !flow.paused);
    const flows = active.map(({ flow }) => flow);
    const end = later(clock.now(), ONCE_TAKES_MS);
    let giveUp = later(clock.now(), ONCE_WAITS_MS);
    for (let withPull = true; !signal.aborted; withPull = false) {
      let progress = 0;
      for (const lane of active) {
        const mayBeRead = lane.barred && !this.#isBarred(lane.flow);
        progress += await this.#step(lane, withPull || mayBeRead, signal);
      }
      if (progress > 0) {
        // A try that only meets the same stop again is no getting on.
        if (store.journal.breakers().length === 0) giveUp = later(clock.now(), ONCE_WAITS_MS);
        continue;
      }
      const wakes = active.flatMap(({ wakeAt }) => (wakeAt === null ? [] : [wakeAt.monoMs]));
      const next = Math.min(...wakes);
      if (wakes.length === 0 || next > Math.min(giveUp.monoMs, end.monoMs)) break;
      await clock.pause(Math.max(next - clock.now().monoMs, 1), signal);
    }
    return { inStep: outOfStep(this.#engine, flows).every(({ held }) => held) };
  }

  /** Makes a flow due at once. */
  wake(name: string): void {
    const lane = this.#lanes.find(({ flow }) => flow.name === name);
    if (lane === undefined) return;
    const { store, clock } = this.#engine;
    store.transaction(() => store.flows.setDue(lane.flow.flow, 0));
    lane.due = clock.now();
    this.#stir.abort();
  }

  /** An endpoint that calls us is there: what stopped it is over, its sources are read, and what waits for it goes. */
  arrived(endpoint: string): void {
    clearBreakers(this.#engine, [endpoint]);
    for (const { flow } of this.#lanes)
      if (endpointOf(flow.from) === endpoint) this.wake(flow.name);
    this.nudge();
  }

  /** Has every flow look at its pending deliveries again, without reading its source. */
  nudge(): void {
    for (const lane of this.#lanes) lane.nudged = true;
    this.#stir.abort();
  }

  isRunning(name: string): boolean {
    return this.#lanes.some(({ flow, running }) => flow.name === name && running !== null);
  }

  /** Starts what is due and returns how long nothing else will be, in ms. */
  #startDue(signal: AbortSignal): number {
    const now = this.#engine.clock.now();
    if (this.#clocks.jumped(now)) this.#redate(now);
    let pauseMs = LONGEST_PAUSE_MS;
    for (const lane of this.#lanes) {
      const { flow, running, nudged, wakeAt } = lane;
      if (running !== null || flow.paused) continue;
      const dueInMs = untilDue(flow.schedule, this.#dueOf(lane, now), now);
      const woken = nudged || (wakeAt !== null && reached(wakeAt, now));
      if (dueInMs <= 0 || woken) void this.#start(lane, dueInMs <= 0, signal);
      else pauseMs = Math.min(pauseMs, dueInMs, wakeAt ? wakeAt.monoMs - now.monoMs : pauseMs);
    }
    return pauseMs;
  }

  #startNightly(signal: AbortSignal): number {
    const ended = (error: Error | null, stirred: boolean): void => {
      this.#fatal ??= error;
      if (stirred) this.nudge();
      this.#stir.abort();
    };
    return this.#nightly?.start(ended, signal) ?? Infinity;
  }

  #dueOf(lane: Lane, now: Moment): Moment {
    const { name, schedule } = lane.flow;
    const storedMs = this.#engine.store.flows.find(name)?.next_due_ms ?? 0;
    return (lane.due ??= dueFrom(schedule, storedMs, now, intervalOf(this.#engine, lane.flow)));
  }

  /** The wall clock was set: due times are told by it as it is now, and what was stopped may be tried now. */
  #redate(now: Moment): void {
    const { store } = this.#engine;
    store.transaction(() => {
      for (const lane of this.#lanes) {
        lane.due = dueAfterJump(lane.flow.schedule, this.#dueOf(lane, now), now);
        store.flows.setDue(lane.flow.flow, Math.round(lane.due.wallMs));
      }
    });
    this.nudge();
  }

  #start(lane: Lane, withPull: boolean, signal: AbortSignal): Promise<void> {
    const ended = (): void => {
      lane.running = null;
      this.#stir.abort();
    };
    return (lane.running = this.#step(lane, withPull, signal).then(ended, (error: unknown) => {
      this.#fatal ??= error as Error;
      ended();
    }));
  }

  /** One run of a flow. Only what makes every flow impossible is thrown on. */
  #step(lane: Lane, withPull: boolean, signal: AbortSignal): Promise<number> {
    const { journal } = this.#engine.store;
    return journal.spending(lane.flow.flow, () => this.#work(lane, withPull, signal));
  }

  async #work(lane: Lane, withPull: boolean, signal: AbortSignal): Promise<number> {
    const { flow } = lane;
    const engine = this.#engine;
    lane.nudged = false;
    lane.wakeAt = null;
    const began = engine.clock.now();
    try {
      const stranger = await (this.#acquainted ??= acquaint(engine, signal));
      if (stranger !== null) {
        this.#acquainted = null;
        this.#scheduleNext(lane, began, { ...UNREAD, trouble: stranger, waitMs: stranger.waitMs });
        return 0;
      }
      if (withPull) {
        lane.barred = this.#isBarred(flow);
        await this.#verify(lane, signal);
      }
      // Before anything goes there: restored books give the numbers of what they lost to what is sent next.
      for (const other of this.#lanes)
        if (other.verified === null && endpointOf(other.flow.to) === endpointOf(flow.to))
          await this.#verify(other, signal);
      const pulled = withPull ? await pull(engine, flow, signal) : UNREAD;
      if (pulled.received > 0) await this.#readParties(flow, signal);
      const ran = { ...pulled, ...(await push(engine, flow, signal)) };
      lane.wakeAt = ran.wakeAt;
      if (withPull) this.#scheduleNext(lane, began, ran);
      endIdleStops(engine);
      this.#worked ||= ran.progress + ran.received > 0;
      // What was delivered may be what a flow waits for; what was refused as one of many may go alone now.
      if (ran.progress > 0) for (const other of this.#lanes) other.nudged = true;
      if (ran.done > 0 && endpointOf(flow.to) === PLATFORM) this.#lookSooner(flow.mapping.kind);
      return ran.progress + ran.received;
    } catch (thrown) {
      const error = engine.store.told(thrown);
      // A cross-reference table that is being edited: this flow waits until it can be read again.
      const waits = error instanceof ConfigurationError;
      if (error instanceof FuelbridgeError && !waits) throw error;
      const { message } = error as Error;
      const code = waits ? error.code : "failed";
      const next = waits ? error.next : "This is a fault in fuelbridge or a mapping: see the log.";
      engine.note("flow failed", { flow: flow.name, error });
      this.#scheduleNext(lane, began, { ...UNREAD, trouble: { code, message, next } });
      return 0;
    }
  }

  /**
   * Reads the lists of parties of the books from which documents came, before these go: a list says whose a code is now.
   * Not where a document names its party by an id that nobody can give to another one.
   */
  async #readParties(
    { from, side, source, mapping: { kind } }: Flow,
    signal: AbortSignal,
  ): Promise<void> {
    if (side === "platform" || source.keepsIds === true || isParty(kind)) return;
    for (const lane of this.#lanes) {
      const { flow } = lane;
      if (flow.paused || !isParty(flow.mapping.kind) || endpointOf(flow.from) !== endpointOf(from))
        continue;
      // A run that began before may have read the list as it was before.
      while (lane.running !== null) await lane.running;
      await this.#start(lane, true, signal);
    }
  }

  /**
   * What was written to the platform shows in feeds of it: those that find their own pace look sooner. Where one write follows
   * another they look as often as after changes, and no more.
   */
  #lookSooner(written: Kind): void {
    const { store, clock } = this.#engine;
    const now = clock.now();
    for (const lane of this.#lanes) {
      const { flow, running, due } = lane;
      const { schedule, side, mapping } = flow;
      if (running !== null || due === null || side !== "platform" || !("auto" in schedule))
        continue;
      if (!showsIn(mapping.kind, written)) continue;
      const leftMs = untilDue(schedule, due, now);
      const afterWriteMs = intervalOf(this.#engine, flow, "write") ?? Infinity;
      // The other interval would be found for nothing.
      if (leftMs <= afterWriteMs) continue;
      const sinceMs = now.wallMs - (store.flows.find(flow.name)?.last_run_ms ?? 0);
      const afterChangeMs = (intervalOf(this.#engine, flow, "change") ?? Infinity) - sinceMs;
      const soonMs = Math.max(afterWriteMs, afterChangeMs);
      if (leftMs <= soonMs) continue;
      const soon = later(now, soonMs);
      lane.due = soon;
      store.transaction(() => store.flows.setDue(flow.flow, Math.round(soon.wallMs)));
    }
  }

  #isBarred(flow: Flow): boolean {
    return unreadBy(this.#engine, flow) !== null;
  }

  async #verify(lane: Lane, signal: AbortSignal): Promise<void> {
    const now = this.#engine.clock.now();
    if (!verifyDue(lane.verified, now)) return;
    const finished = await finish(this.#engine, lane.flow, signal);
    if (finished > 0) this.#engine.note("finished", { flow: lane.flow.name, documents: finished });
    const gone = await verify(this.#engine, lane.flow, signal);
    if (gone !== null) lane.verified = now;
    if (gone) this.#engine.note("gone", { flow: lane.flow.name, documents: gone });
  }

  #scheduleNext(lane: Lane, began: Moment, ran: typeof UNREAD): void {
    const { trouble, waitMs, pages, received, notOurs } = ran;
    // The end of the process cut it short: it goes on at the next start, as if it had just been due.
    if (trouble === null && pages === null) return;
    // What the site wrote has brought its look forward when it was written.
    const changes = Math.max(received - notOurs, 0);
    const { store, clock } = this.#engine;
    const { flow } = lane;
    const now = clock.now();
    const at = now.wallMs;
    const due = nextDue(
      flow.schedule,
      at,
      intervalOf(this.#engine, flow, changes > 0 ? "change" : "nothing"),
    );
    // A source that could not be read may say when it can.
    const soon = waitMs === null ? due : Math.min(due, at + Math.max(waitMs, 1_000));
    lane.due = later(now, soon - at);
    const tookMs = Math.round(now.monoMs - began.monoMs);
    const fromMs = store.flows.find(flow.name)?.success_ms ?? null;
    store.transaction(() => {
      if (pages !== null && fromMs !== null)
        this.#engine.pace?.looked(flow, { fromMs, toMs: at, changes });
      store.flows.ran(flow.flow, { atMs: at, dueMs: soon, pages, received, tookMs }, trouble);
    });
  }
}

const isParty = (kind: Kind): boolean => holdingKindOf(kind) === "party";

/** What a run that read no source says of it. */
const UNREAD: Pick<Ran, "received" | "notOurs" | "pages" | "trouble" | "waitMs"> = {
  received: 0,
  notOurs: 0,
  pages: null,
  trouble: null,
  waitMs: null,
};

// One run of a flow: pull, then map, freeze and deliver until nothing is left that can go now.

interface Ran {
  readonly trouble: Trouble | null;
  readonly received: number;
  /** Judged to be what this site wrote itself, or another site's: nobody here waits for it. */
  readonly notOurs: number;
  /** What its source came to; null: it was not read to its end. */
  readonly pages: number | null;
  /** Deliveries that left the pending state, and steps of requests. */
  readonly progress: number;
  /** Requests that the receiver has taken. */
  readonly done: number;
  readonly wakeAt: Moment | null;
  /** When the source said to come back, ms; null when it did not. */
  readonly waitMs: number | null;
}

export async function runFlow(engine: Engine, flow: Flow, signal: AbortSignal): Promise<Ran> {
  const pulled = await pull(engine, flow, signal);
  const pushed = await push(engine, flow, signal);
  return { ...pulled, ...pushed };
}

/**
 * No more is frozen ahead than this. What is pending is replaced by its next version; what is frozen is sent as it is.
 * Where requests carry many documents they share an ordering key, and the next one is made when the last is settled.
 */
const OPEN_MAX = 1_000;

/** Everything after the pull. */
export async function push(
  engine: Engine,
  flow: Flow,
  signal: AbortSignal,
): Promise<Pick<Ran, "progress" | "done" | "notOurs" | "wakeAt">> {
  const openMax = flow.sink.itemsMax > 1 ? 1 : OPEN_MAX;
  let progress = 0;
  revisit(engine, flow);
  progress += settleLate(engine, flow);
  let delivered = await deliverThere(engine, flow, signal);
  progress += delivered.steps;
  let { done } = delivered;
  let notOurs = 0;
  let after = 0;
  while (!signal.aborted && delivered.open < openMax) {
    const round = freezeNext(engine, flow, after);
    if (round === null) break;
    progress += round.frozen + round.settled;
    notOurs += round.notOurs;
    engine.progress?.(delivering(flow.name));
    if (round.frozen > 0) {
      delivered = await deliverThere(engine, flow, signal);
      progress += delivered.steps;
      done += delivered.done;
      // Of 200,000 that are all refused or skipped there is nothing to wait for, and others have their turn.
    } else await setImmediate();
    // What was left is looked at again at once when it can have become possible.
    if (round.left === 0 || delivered.open > 0 || round.frozen + round.settled === 0)
      after = round.last;
  }
  const wakeAt = sooner(delivered.wakeAt, nextRevisit(engine, flow));
  return { progress, done, notOurs, wakeAt: sooner(wakeAt, nextLate(engine, flow)) };
}

/** Where the files of a flow go is known before anything is judged or sent, for what went elsewhere is judged otherwise. */
async function deliverThere(engine: Engine, flow: Flow, signal: AbortSignal): Promise<Delivered> {
  const { store, clock } = engine;
  const isWaiting = (): boolean =>
    store.requests.openCount(flow.flow) > 0 || store.deliveries.counts(flow.flow).has("pending");
  const stopped = () => blocked(engine, [endpointOf(flow.to)]);
  if (flow.sink.place === undefined) await redirect(engine, flow);
  else if (isWaiting()) {
    const isKnown = stopped() === null && (await ready(engine, flow, () => redirect(engine, flow)));
    if (!isKnown) {
      const untilMs = stopped()?.untilMs ?? null;
      const open = store.requests.openCount(flow.flow);
      return { steps: 0, done: 0, open, wakeAt: retryMoment(untilMs, clock.now()) };
    }
  }
  return deliver(engine, flow, signal);
}

/** Acknowledgements that are late by now. */
function settleLate(engine: Engine, flow: Flow): number {
  const { store, clock } = engine;
  const at = clock.now().wallMs;
  if (store.acknowledgements.open(flow.flow, at).length === 0) return 0;
  return store.transaction(() => settleAcknowledgements(engine, flow, at));
}

const LATE_AGAIN_MS = 60_000;

/** When the next acknowledgement is late; null: none is awaited. */
function nextLate({ store, clock }: Engine, flow: Flow): Moment | null {
  const next = store.acknowledgements.nextDueMs(flow.flow);
  const now = clock.now();
  // One that is late already waits for what is on its way of the same record.
  return next === null ? null : later(now, Math.max(next - now.wallMs, LATE_AGAIN_MS));
}

const sooner = (one: Moment | null, other: Moment | null): Moment | null =>
  one !== null && (other === null || one.monoMs < other.monoMs) ? one : other;

/** At start: whatever was under way when the last process ended is of unknown outcome. */
export function recover(engine: Engine, flow: Flow): number {
  const { store, clock } = engine;
  return store.transaction(() => {
    const open = store.requests.open(flow.flow).filter(({ machine }) => machine.state !== "manual");
    for (const request of open)
      moved(engine, flow, request, { type: "restart", at: clock.now() }, request.machine.state);
    return open.length;
  });
}

// Store → requests: judges what is pending and freezes what is ready, key and bytes, before anything leaves.

/** Deliveries mapped in one transaction. */
const AT_ONCE = 200;

interface FrozenRound {
  /** The last delivery that was looked at. */
  readonly last: number;
  readonly frozen: number;
  readonly settled: number;
  /** Of those: what this site wrote, or what is another site's. */
  readonly notOurs: number;
  /** Not in the next request: their ordering key is taken, or it is full. */
  readonly left: number;
}

/** Freezes the next {@link AT_ONCE} of the flow's pending deliveries after `after`. Null when there are none. */
export function freezeNext(engine: Engine, flow: Flow, after: number): FrozenRound | null {
  const { store, clock } = engine;
  const most = Math.max(AT_ONCE, flow.sink.itemsMax);
  const deliveries = store.deliveries.pending(flow.flow, after, most);
  const last = deliveries.at(-1)?.delivery;
  if (last === undefined) return null;
  const at = clock.now().wallMs;
  return store.transaction(() => {
    const mayGo = mayFreeze(engine, flow);
    const round = new Round(engine, flow, deliveries, at);
    const ready: Ready[] = [];
    let [settled, notOurs, apart] = [0, 0, 0];
    for (const delivery of deliveries) {
      if (!joins(delivery, ready, flow.sink)) {
        apart++;
        continue;
      }
      const judged = round.judge(delivery);
      // Before all that is ours is known, a fault may only mean that it is.
      if (!mayGo && (judged.verdict === "ready" || judged.verdict === "quarantined")) continue;
      if (judged.likenesses !== null) store.likenesses.keep(delivery.record, judged.likenesses);
      if (judged.verdict === "ready") {
        ready.push(judged.ready);
        continue;
      }
      if (judged.verdict === "apart") apart++;
      else endWith(engine, flow, delivery, judged, at);
      if (judged.verdict !== "held") settled++;
      const isOther = judged.verdict === "skipped" && judged.site !== undefined;
      if (judged.verdict === "echo" || isOther) notOurs++;
    }
    const { frozen, left } = freezeAll(engine, flow, ready, at);
    return { last, settled, notOurs, frozen, left: left + apart };
  });
}

/** What a verdict means for a delivery that is not frozen, and for what waits for it. */
function endWith(
  engine: Engine,
  flow: Flow,
  { delivery, record, recordId }: PendingDelivery,
  judged: Exclude<Judged, { verdict: "ready" }>,
  at: number,
): void {
  const { deliveries } = engine.store;
  if (judged.verdict === "quarantined") {
    deliveries.quarantine(delivery, judged, at);
    judged.also?.();
    tellWaiting(engine, flow, recordId, null, at);
  } else if (judged.verdict === "skipped" || judged.verdict === "echo") {
    deliveries.end(delivery, judged.verdict, judged.note, judged.number ?? undefined);
    if (judged.verdict === "echo") return judged.also();
    tellWaiting(engine, flow, recordId, { skipped: judged.note }, at);
    if (judged.site === undefined) return;
    deliveries.setSite(delivery, judged.site);
    if (engine.sites?.own === null) engine.store.routes.add(flow.flow, record, judged.site, at);
    // What belongs to another site's document is that site's, too.
    for (const waiting of engine.store.causes.waitingFor(flow.mapping.kind, recordId, recordId))
      deliveries.reopen(waiting);
  }
}

/** Where requests carry many documents only the next request is made: what cannot be in it need not be mapped yet. */
function joins({ bisectGroup }: PendingDelivery, ready: readonly Ready[], sink: Sink): boolean {
  const [first] = ready;
  if (sink.itemsMax === 1 || first === undefined) return true;
  return bisectGroup === first.delivery.bisectGroup && ready.length < mostOf(bisectGroup, sink);
}

/** Groups what may share a request and stores the frozen bytes; an ordering key carries one request at a time. */
function freezeAll(
  engine: Engine,
  flow: Flow,
  ready: readonly Ready[],
  at: number,
): Pick<FrozenRound, "frozen" | "left"> {
  const { store } = engine;
  const { sink, mapping } = flow;
  let made = 0;
  let left = 0;
  for (const group of groups(ready, flow)) {
    const first = group[0] as Ready;
    const items = group.map(({ item }) => item);
    const several = sink.itemsMax > 1;
    const revision = several
      ? sha256(JSON.stringify(items.map(({ number, revision }) => [number, revision]))).slice(0, 22)
      : first.item.revision;
    const number = several ? `${flow.name}:${revision}` : first.item.number;
    const orderingKey = several
      ? sink.operation
      : `${namesOf(flow)} ${sink.names?.called(first.item.document) ?? comparedNumber(mapping.kind, number)}`;
    // A batch that waits for a person holds up no other; a document that does waits for that.
    const isTaken =
      (!several && store.requests.live(mapping.kind, number) !== null) ||
      referenceTaken(engine, flow, first) !== null;
    if (isTaken || store.requests.isOrderingKeyLive(orderingKey, several ? null : sink.operation)) {
      left += group.length;
      continue;
    }
    const { operation } = sink;
    const isShared = isOfEverySite(engine, flow, first.item, first.delivery.text);
    const generation = isShared
      ? store.requests.nextOfNumber(operation, mapping.kind, number)
      : store.requests.nextGeneration(operation, number, revision);
    const whole = takenFrom(first.delivery.bisectGroup);
    const before = whole === null ? null : store.requests.get(whole);
    const machine =
      before === null ? { ...freshRequest, generation } : apart(before.machine, generation);
    const identity = { operation, kind: mapping.kind, number, revision, generation };
    const key = keyOf(engine, identity, isShared);
    const frozen = numbered(engine, sink, items, first.alone);
    const request = store.requests.add(
      {
        flow: flow.flow,
        ...identity,
        orderingKey,
        key,
        machine,
        ...frozen,
      },
      at,
    );
    for (const { delivery, mapped } of group)
      store.deliveries.freeze(delivery.delivery, request, mapped);
    const carried = group.map(({ delivery }) => delivery.delivery);
    expectAcknowledgements(engine, flow, frozen, carried);
    made++;
  }
  return { frozen: made, left };
}

/** In order, each bisect group by itself and what is of none by the share; one number once per group. */
function* groups(ready: readonly Ready[], { sink, mapping: { kind } }: Flow): Generator<Ready[]> {
  for (const [bisectGroup, members] of Map.groupBy(ready, ({ delivery }) => delivery.bisectGroup)) {
    const most = mostOf(bisectGroup, sink);
    let group: Ready[] = [];
    let numbers = new Set<string>();
    for (const one of members) {
      const number = comparedNumber(kind, one.item.number);
      if (group.length >= most || numbers.has(number)) {
        yield group;
        group = [];
        numbers = new Set();
      }
      group.push(one);
      numbers.add(number);
    }
    if (group.length > 0) yield group;
  }
}

/** The bytes that go out, under the next number of the sink's sequence. Inside the transaction that stores them. */
function numbered({ store }: Engine, sink: Sink, items: readonly Item[], alone: Frozen): Frozen {
  if (sink.sequence !== undefined) return sink.freeze(items, store.sequences.next(sink.sequence));
  return items.length === 1 ? alone : sink.freeze(items);
}

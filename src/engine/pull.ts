/** Source → store: one page, one transaction, until the source has no more. */
import { z } from "zod";
import {
  type Advance,
  heldLists,
  type Mapping,
  type Obstacle,
  type Page,
  type Reply,
  type Sink,
  type Source,
} from "../core/contract.ts";
import { SourceUnavailable } from "../core/errors.ts";
import type { Fault } from "../core/record.ts";
import { type Json, stringifyExact } from "../core/json.ts";
import { sha256 } from "../core/keys.ts";
import { ENDINGS, type Kind } from "../core/kinds.ts";
import { placeOf, toldOf } from "../core/silence.ts";
import type { News } from "../store/records.ts";
import type { Store } from "../store/store.ts";
import { lost, takeAcknowledgements } from "./delivered.ts";
import { clearBreakers, trip, unreadBy } from "./breakers.ts";
import {
  audit,
  countWaits,
  askedFor,
  endpointOf,
  type Engine,
  type Flow,
  flowBeside,
  tellSetBack,
  usualLimits,
} from "./engine.ts";

/** Why reading stopped early. */
export interface Trouble {
  /** A stop's name, or as {@link SourceUnavailable} has it. */
  readonly code: string;
  readonly message: string;
  readonly next: string;
}

interface Pulled {
  /** Null: the source was not read to its end. */
  readonly pages: number | null;
  readonly received: number;
  /** Null when the walk is complete. */
  readonly trouble: Trouble | null;
  /** When the source said to come back, ms; null when it did not. */
  readonly waitMs: number | null;
}

/** Stops that say nothing of the endpoint's other sources. */
const OF_ONE_SOURCE: ReadonlySet<string> = new Set(["scope", "endless"]);

/** Aborting `signal` stops between two pages; the position is where the last stored page ended. */
export async function pull(engine: Engine, flow: Flow, signal: AbortSignal): Promise<Pulled> {
  const { store, clock } = engine;
  const scope = askedFor(flow);
  let pages = 0;
  let received = 0;
  let stored = 0;
  let came = false;
  const stop = unreadBy(engine, flow);
  if (stop !== null) return { pages: null, received, trouble: stop, waitMs: null };

  const obstacles: Obstacle[] = [];
  const reading = {
    signal,
    hindered: (obstacle: Obstacle) => void obstacles.push(obstacle),
    advanced: ({ records, share }: Advance) =>
      engine.progress?.({ flow: flow.name, step: "reading", count: records, share }),
    known: (arrival: string) => store.intake.known(flow.flow, arrival),
    stored: (id: string, version: string) => store.intake.stored(flow.flow, id, version),
  };
  const list = new ListReading(engine, flow);
  try {
    for await (const page of flow.source.read(store.flows.position(flow.name), reading)) {
      const held = list.held(page);
      if (held !== null) {
        obstacles.push(held);
        break;
      }
      const at = clock.now().wallMs;
      const taken = store.transaction(() => {
        const told = takeAcknowledgements(engine, page, at);
        const notices = [...(page.notices ?? []), ...told];
        for (const notice of notices) audit(engine, flow, "notice", notice);
        const refused = keepRefused(engine, flow, page, at);
        storeReplies(engine, flow, page.replies ?? [], at);
        const stored = store.intake.page(flow.flow, page, at, list.see);
        const versions = stored.news.map(({ version }) => version);
        countWaits(engine, flow, "stored", versions, at);
        tellSetBack(engine, flow, stored.news);
        keepDrift(engine, flow, page, stored.news, at);
        return { ...stored, notices, refused, torn: list.stored(page, at) };
      });
      pages++;
      came ||= page.cameAt !== undefined;
      received += taken.received;
      for (const refusal of taken.refused) engine.note("refused", { flow: flow.name, ...refusal });
      if (taken.torn !== null) engine.note("list torn", { flow: flow.name, ...taken.torn });
      for (const notice of taken.notices) engine.note("notice", { flow: flow.name, notice });
      stored += page.changes.length;
      engine.progress?.({
        flow: flow.name,
        step: "storing",
        count: stored,
        share: page.share ?? null,
      });
    }
    if (!signal.aborted) {
      hindered(engine, flow, obstacles);
      if (flow.source.silenceMs === undefined && received > 0) brought(engine, flow);
      else if (!came && obstacles.length === 0) empty(engine, flow);
    }
    clearBreakers(engine, [scope, flow.from], true);
    const againMs = Math.min(...obstacles.map(({ againMs = Infinity }) => againMs));
    const waitMs = againMs === Infinity ? null : againMs;
    return { pages: signal.aborted ? null : pages, received, trouble: null, waitMs };
  } catch (error) {
    if (!(error instanceof SourceUnavailable)) throw error;
    if (obstacles.length > 0) hindered(engine, flow, obstacles);
    const trouble = { code: error.code, message: error.message, next: error.next };
    engine.note("source unavailable", { flow: flow.name, ...trouble });
    if (error.stop !== null)
      trip(engine, {
        breaker: error.stop,
        scope: OF_ONE_SOURCE.has(error.stop) ? flow.from : scope,
        detail: error.message,
        waitMs: error.waitMs,
        next: error.next,
      });
    return { pages: null, received, trouble, waitMs: error.waitMs };
  }
}

/** Counts what is new of it: a list, or a walk's overlap, tells the same records again. Inside the page's transaction. */
function keepDrift(
  { store }: Engine,
  { flow }: Flow,
  { drift = [] }: Page,
  news: readonly News[],
  atMs: number,
): void {
  if (drift.length === 0 || news.length === 0) return;
  const fresh = new Set(news.map(({ id }) => id));
  for (const { records, ...seen } of drift) {
    const ids = records.filter((id) => fresh.has(id));
    const [record] = ids;
    if (record !== undefined) store.drifts.add({ ...seen, count: ids.length, record, flow, atMs });
  }
}

/** A list brought something new. What comes into a folder says by itself when it came. */
function brought({ store, clock }: Engine, { flow }: Flow): void {
  const at = clock.now().wallMs;
  store.transaction(() => store.rhythms.came(flow, at, at));
}

/** Nothing lay there, or nothing was new: too long already? */
function empty(engine: Engine, flow: Flow): void {
  const { store, clock, note } = engine;
  const silenceMs = flow.silenceMs ?? flow.source.silenceMs ?? null;
  const told = store.transaction(() => {
    const silence = store.rhythms.empty(flow.flow, clock.now().wallMs, silenceMs);
    if (silence === null) return null;
    const words = toldOf(silence, placeOf(flow.source));
    audit(engine, flow, "silent", words.message);
    return words;
  });
  if (told !== null) note("silent", { flow: flow.name, ...told });
}

/** Keeps what came and was refused, and returns what is new of it. Inside the page's transaction. */
function keepRefused(
  engine: Engine,
  flow: Flow,
  { whole, refused = [] }: Page,
  at: number,
): Record<"what" | "code" | "message" | "next", string>[] {
  const { obstacles } = engine.store;
  if (whole !== undefined) obstacles.whole(flow.flow, whole);
  return refused.flatMap((refusal) => {
    if (!obstacles.refuse(flow.flow, refusal, at)) return [];
    const { what, fault } = refusal;
    const { code, message, next } = fault;
    audit(engine, flow, "refused", `${what}: ${message}`);
    return [{ what, code, message, next }];
  });
}

/** Keeps what is not read as of now, and tells what is new of it. */
function hindered(engine: Engine, flow: Flow, told: readonly Obstacle[]): void {
  const { store, clock, note } = engine;
  if (store.obstacles.are(flow.flow, told)) return;
  const news = store.transaction(() => {
    const fresh = store.obstacles.replace(flow.flow, told, clock.now().wallMs);
    for (const { what, fault } of fresh)
      audit(engine, flow, "not read", `${what}: ${fault.message}`);
    return fresh;
  });
  for (const { what, fault, behind, awaited } of news)
    note(awaited ? "not read yet" : "not read", {
      flow: flow.name,
      what,
      code: fault.code,
      message: fault.message,
      next: fault.next,
      behind: behind.count,
    });
}

// Whole lists. What is missing in one is there no more, and a person is told of what was delivered of it: no receiver has
// a way to end it by itself. A list that has lost too much is taken for torn, and nothing is concluded from what it lacks;
// one that has grown too much is not taken at all. Both wait for a person. @see docs/adr/0014-lists-and-silence.md

/** A small list grows by as much without a word. */
const NEW_MAX = 1_000;
/** Of a list of a few records each one is more than a fifth: so few may go at once, unless none is left. */
const LOST_FEW = 1;
/** What was accepted may have grown by so much since, as a share. */
const LEEWAY = 0.1;
const NAMED = 3;

type Listing = NonNullable<Page["list"]>;

/** The lists of one reading of a flow's source, one after the other. */
class ListReading {
  readonly #engine: Engine;
  readonly #flow: Flow;
  #had = 0;
  #seen: Seen | null = null;
  #lacking: ReadonlySet<number> = new Set();

  constructor(engine: Engine, flow: Flow) {
    this.#engine = engine;
    this.#flow = flow;
  }

  /** Before a page is stored: why nothing of its list is taken; null: it is taken, or is no list. */
  held({ list }: Page): Obstacle | null {
    if (list === undefined || this.#seen !== null) return null;
    const { store } = this.#engine;
    const { flow, limits = usualLimits } = this.#flow;
    this.#had = store.lists.had(flow);
    const { name, total } = list;
    const { accepted } = store.lists.limit(flow);
    const most = Math.max(this.#had * limits.growthTimes, this.#had + NEW_MAX - 1);
    const isAccepted = accepted !== null && total <= accepted * (1 + LEEWAY);
    if (this.#had === 0 || total <= most || isAccepted) {
      this.#seen = new Seen();
      this.#lacking = new Set(store.lists.standing(flow).map(({ record }) => record));
      return null;
    }
    store.transaction(() => store.lists.hold(flow, total));
    const behind = { count: 0, names: [] };
    return { what: name, fault: grew(this.#flow, list, this.#had), awaited: false, behind };
  }

  /** A record of the page, as the store numbers it. Inside its transaction. */
  readonly see = (record: number): void => {
    if (this.#seen === null) return;
    this.#seen.add(record);
    if (ENDINGS[this.#flow.mapping.kind] !== undefined) this.#expectValid(record);
    if (this.#lacking.has(record)) this.#cameBack(record);
  };

  /** What its own list has, and another one has ended at the receiver: whether it goes there anew is for a person. */
  #expectValid(record: number): void {
    const { links, lists } = this.#engine.store;
    const { mapping, side } = this.#flow;
    const id = lists.idOf(record);
    const link = links.find(mapping.kind, side, id);
    if (link !== null && isEnded(this.#engine, this.#flow, id))
      lost(this.#engine, this.#flow, link);
  }

  /** After the page is stored, inside its transaction. Returns what a person should be told that is new. */
  stored({ list }: Page, atMs: number): Fault | null {
    const seen = this.#seen;
    if (list === undefined || seen === null || !list.isLast) return null;
    this.#seen = null;
    const { store } = this.#engine;
    const { flow } = this.#flow;
    store.lists.taken(flow);
    if (!list.isComplete) return null;
    const concluded = new Set(
      store.lists.standing(flow).flatMap((row) => (row.concluded === 1 ? [row.record] : [])),
    );
    const lost = store.lists
      .records(flow)
      .filter((record) => !seen.has(record) && !concluded.has(record));
    const isTorn = this.#isTorn(lost.length, list);
    store.lists.forget(flow);
    for (const record of lost) store.lists.lack(flow, record, isTorn ? 0 : 1, atMs);
    if (isTorn) return this.#tear(list, lost, atMs);
    store.obstacles.mend(flow, heldLists.shrank);
    tellUnlisted(this.#engine, this.#flow, atMs);
    return null;
  }

  #isTorn(lost: number, { total }: Listing): boolean {
    const { lostPercent } = this.#flow.limits ?? usualLimits;
    if (lost * 100 <= this.#had * lostPercent || lostPercent >= 100) return false;
    return lost > LOST_FEW || total === 0;
  }

  #tear(list: Listing, lost: readonly number[], atMs: number): Fault | null {
    const { store } = this.#engine;
    const { flow } = this.#flow;
    const names = lost.slice(0, NAMED).map((record) => store.lists.idOf(record));
    const fault = shrank(this.#flow, list, { had: this.#had, lost: lost.length, names });
    const since = store.obstacles.mend(flow, heldLists.shrank);
    const id = sha256(fault.message);
    store.obstacles.refuse(flow, { what: list.name, id, fault }, since ?? atMs);
    if (since !== null) return null;
    audit(this.#engine, this.#flow, "list torn", fault.message);
    return fault;
  }

  #cameBack(record: number): void {
    const { store } = this.#engine;
    store.lists.back(record);
    const told = store.disagreements.find(record, "list");
    if (told === null) return;
    store.disagreements.close("list", told);
    const { delivery } = told;
    audit(this.#engine, this.#flow, "listed again", store.lists.idOf(record), { delivery });
  }
}

/** Everything that was delivered and that the believed list lacks goes to a person. Inside a transaction. Returns how much. */
function tellUnlisted(engine: Engine, flow: Flow, atMs: number): number {
  const { store } = engine;
  for (const { record } of store.lists.standing(flow.flow)) {
    const told = store.disagreements.find(record, "list");
    if (told !== null && isEnded(engine, flow, store.lists.idOf(record)))
      store.disagreements.close("list", told);
  }
  const untold = store.lists.untold(flow.flow).filter(({ id }) => !isEnded(engine, flow, id));
  for (const { record, id, delivery, state, sinceMs } of untold) {
    const fault = unlisted(flow, id, sinceMs);
    const row = { record, delivery, was: state, digest: "unlisted" };
    store.disagreements.open("list", row, fault, atMs);
    audit(engine, flow, "no longer listed", id, { delivery });
  }
  return untold.length;
}

/** Its end went to the receiver as a document of its own, after all that was delivered of it. */
function isEnded({ store }: Engine, { mapping, side }: Flow, id: string): boolean {
  const linkedMs = (kind: Kind | undefined): number | null =>
    (kind === undefined ? null : store.links.find(kind, side, id))?.linkedMs ?? null;
  const ended = linkedMs(ENDINGS[mapping.kind]);
  return ended !== null && ended >= (linkedMs(mapping.kind) ?? 0);
}

/**
 * A person believes the list that was held. Inside a transaction.
 * @returns whether it is taken at the next look (it grew), or what it lacks is told now (it lost); null: none is held
 */
export function acceptList(engine: Engine, flow: Flow, atMs: number): "next" | number | null {
  const { store } = engine;
  if (store.lists.accept(flow.flow)) return "next";
  if (store.obstacles.mend(flow.flow, heldLists.shrank) === null) return null;
  store.lists.conclude(flow.flow);
  return tellUnlisted(engine, flow, atMs);
}

/** Of a record that was delivered and that its newest list lacks. */
export const LEFT_THE_LIST = "left-the-list";

const unlisted = (flow: Flow, id: string, sinceMs: number): Fault => ({
  code: LEFT_THE_LIST,
  message: `"${endpointOf(flow.from)}" no longer has ${id} in its newest list, since ${new Date(sinceMs).toISOString()}; "${endpointOf(flow.to)}" has it still`,
  next: `If it is right, end it in "${endpointOf(flow.to)}" by hand and close this. If it is not, put it back into the list: this closes by itself.`,
});

const grew = ({ name: flow }: Flow, { name, total }: Listing, had: number): Fault => ({
  code: heldLists.grew,
  message: `${name} has ${total} records; the list before had ${had}. Nothing of it is taken.`,
  next: `Look at it. If it is right: fuelbridge accept ${flow} --note <text>, or the page Flows. If it is not, move it away and send the right one.`,
});

function shrank(
  { name: flow }: Flow,
  { name, total }: Listing,
  { had, lost, names }: { had: number; lost: number; names: readonly string[] },
): Fault {
  const more = lost > names.length ? `, and ${lost - names.length} more` : "";
  return {
    code: heldLists.shrank,
    message: `${name} has ${total} records and lacks ${lost} of the ${had} that the list had (${names.join(", ")}${more}): it is taken for torn. What it has is read; nothing is concluded from what it lacks.`,
    next: `Send the whole list. If they are really gone: fuelbridge accept ${flow} --note <text>, or the page Flows.`,
  };
}

/** Numbers of records, a bit each: a list may have millions. */
class Seen {
  #bits = new Uint8Array(1_024);

  add(record: number): void {
    const at = record >>> 3;
    if (at >= this.#bits.length) {
      const grown = new Uint8Array(Math.max(this.#bits.length * 2, at + 1));
      grown.set(this.#bits);
      this.#bits = grown;
    }
    this.#bits[at] = (this.#bits[at] ?? 0) | (1 << (record & 7));
  }

  has(record: number): boolean {
    return ((this.#bits[record >>> 3] ?? 0) & (1 << (record & 7))) !== 0;
  }
}

// What is written back for what was read, such as X12's functional acknowledgement (ADR 0019). A flow whose source has
// replies has a second flow beside it: the page that brings a reply stores it there, and it goes the road of every
// document, so that each is written once.

const ReplyRecord = z.object({
  id: z.string().min(1),
  content: z.custom<Json>((value) => value !== undefined),
});
type ReplyRecord = z.infer<typeof ReplyRecord>;

const mapping: Mapping<ReplyRecord, ReplyRecord> = {
  name: "reply",
  kind: "reply",
  input: ReplyRecord,
  output: ReplyRecord,
  number: ({ id }) => id,
  map: (record) => record,
  figures: () => ({ amount: null, gallons: null }),
};

const nothing: Source = {
  async *read() {
    // Its records come with the pages of the other flow.
  },
};

/** A flow named `prices` replies by one named `prices.replies`. */
export const replyFlow = (store: Store, flow: Flow, sink: Sink): Flow =>
  flowBeside(store, flow, "replies", {
    repliesTo: flow.name,
    to: `${endpointOf(flow.from)}.${flow.name}.replies`,
    mapping,
    source: nothing,
    sink: withoutIds(sink),
  });

/** Nobody gives a reply an id, so nothing is linked. */
const withoutIds = (sink: Sink): Sink => ({
  ...sink,
  async send(request, signal) {
    const answer = await sink.send(request, signal);
    return answer.outcome === "done" ? { ...answer, ids: request.items.map(() => null) } : answer;
  },
  async find(request, signal) {
    const finding = await sink.find(request, signal);
    return finding.found === "exact" ? { ...finding, ids: request.items.map(() => null) } : finding;
  },
});

/** Inside the transaction of the page. */
function storeReplies(
  { store, flows }: Engine,
  flow: Flow,
  replies: readonly Reply[],
  atMs: number,
): void {
  if (replies.length === 0) return;
  const replying = flows.find(({ repliesTo }) => repliesTo === flow.name);
  if (replying === undefined) throw new TypeError(`flow ${flow.name} replies nowhere`);
  const changes = replies.map(({ id, content }) => ({
    id,
    version: null,
    text: stringifyExact({ id, content }),
  }));
  store.intake.page(replying.flow, { changes, position: null }, atMs);
}

/** Source → store: one page, one transaction, until the source has no more. */
import type { Advance, Obstacle, Page } from "../core/contract.ts";
import { SourceUnavailable } from "../core/errors.ts";
import { placeOf, toldOf } from "../core/silence.ts";
import { takeAcknowledgements } from "./acknowledged.ts";
import { blocked, clearBreakers, trip } from "./breakers.ts";
import { endpointOf, type Engine, type Flow } from "./engine.ts";
import { ListReading } from "./lists.ts";
import { storeReplies } from "./reply.ts";

/** Why reading stopped early. */
export interface Trouble {
  /** A stop's name, or as {@link SourceUnavailable} has it. */
  readonly code: string;
  readonly message: string;
  readonly next: string;
}

export interface Pulled {
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
  const scope = endpointOf(flow.from);
  let pages = 0;
  let received = 0;
  let stored = 0;
  let came = false;
  const stop = blocked(engine, [scope, flow.from]);
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
        for (const notice of notices)
          store.journal.audit(at, { flow: flow.flow, event: "notice", detail: notice });
        const refused = keepRefused(engine, flow, page, at);
        storeReplies(engine, flow, page.replies ?? [], at);
        const stored = store.intake.page(flow.flow, page, at, list.see);
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
    clearBreakers(engine, [scope, flow.from]);
    return { pages: signal.aborted ? null : pages, received, trouble: null, waitMs: null };
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

/** A list brought something new. What comes into a folder says by itself when it came. */
function brought({ store, clock }: Engine, { flow }: Flow): void {
  const at = clock.now().wallMs;
  store.transaction(() => store.rhythms.came(flow, at, at));
}

/** Nothing lay there, or nothing was new: too long already? */
function empty({ store, clock, note }: Engine, { flow, name, source, silenceMs: own }: Flow): void {
  const silenceMs = own ?? source.silenceMs ?? null;
  const at = clock.now().wallMs;
  const told = store.transaction(() => {
    const silence = store.rhythms.empty(flow, at, silenceMs);
    if (silence === null) return null;
    const words = toldOf(silence, placeOf(source));
    store.journal.audit(at, { flow, event: "silent", detail: words.message });
    return words;
  });
  if (told !== null) note("silent", { flow: name, ...told });
}

/** Keeps what came and was refused, and returns what is new of it. Inside the page's transaction. */
function keepRefused(
  { store }: Engine,
  { flow }: Flow,
  { whole, refused = [] }: Page,
  at: number,
): Record<"what" | "code" | "message" | "next", string>[] {
  if (whole !== undefined) store.obstacles.whole(flow, whole);
  return refused.flatMap((refusal) => {
    if (!store.obstacles.refuse(flow, refusal, at)) return [];
    const { what, fault } = refusal;
    const { code, message, next } = fault;
    store.journal.audit(at, { flow, event: "refused", detail: `${what}: ${message}` });
    return [{ what, code, message, next }];
  });
}

/** Keeps what is not read as of now, and tells what is new of it. */
function hindered({ store, clock, note }: Engine, flow: Flow, told: readonly Obstacle[]): void {
  if (store.obstacles.are(flow.flow, told)) return;
  const at = clock.now().wallMs;
  const news = store.transaction(() => {
    const fresh = store.obstacles.replace(flow.flow, told, at);
    for (const { what, fault } of fresh)
      store.journal.audit(at, {
        flow: flow.flow,
        event: "not read",
        detail: `${what}: ${fault.message}`,
      });
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

/**
 * What a receiver tells later of documents that were delivered to it: X12's functional acknowledgement, SAP's ALEAUD. What
 * it refuses is not there, and what it does not tell of in time may not be: a person has those (ADR 0019), as they have
 * what is gone. A late acknowledgement closes it by itself.
 */
import type { Acknowledgement, Frozen, Page, Sink, Source } from "../core/contract.ts";
import { SourceUnavailable } from "../core/errors.ts";
import type { Fault } from "../core/record.ts";
import type { Answer, Finding } from "../core/outcome.ts";
import type { Acknowledging } from "../store/quarantine.ts";
import type { Carried } from "../store/deliveries.ts";
import { linked, lost } from "./delivered.ts";
import { endpointOf, type Engine, type Flow } from "./engine.ts";

/**
 * What the receiver tells comes with the source's own pages, before them; the source's position stays as it is. Where it
 * cannot be read, the source is read all the same.
 */
export function withAcknowledgements(source: Source, { acknowledged }: Sink): Source {
  const told = acknowledged?.source;
  if (told === undefined) return source;
  return {
    ...source,
    async *read(position, reading) {
      let trouble: SourceUnavailable | null = null;
      try {
        // That they come is no sign that anything comes into the source itself.
        for await (const { cameAt: _, ...page } of told.read(null, reading))
          yield { ...page, position };
      } catch (error) {
        if (!(error instanceof SourceUnavailable)) throw error;
        trouble = error;
      }
      yield* source.read(position, reading);
      if (trouble === null) return;
      // Its stop would be one of the endpoint that the flow reads from.
      const { message, next } = trouble;
      throw new SourceUnavailable(message, { next, cause: trouble });
    },
  };
}

/**
 * What a receiver tells of a document it tells by a reference: no two documents share one. Those of a sink with a sequence
 * are counted; others follow from the document. The document that went under this one's before; null: none did.
 */
export function referenceTaken(
  { store }: Engine,
  sink: Sink,
  frozen: Frozen,
  record: number,
): { readonly reference: string; readonly by: string } | null {
  if (sink.sequence !== undefined) return null;
  for (const reference of sink.acknowledged?.references(frozen, 1) ?? []) {
    const by = store.acknowledgements.other({ ...reference, record });
    if (by !== null) return { reference: reference.exchange, by };
  }
  return null;
}

/** Frozen under these references. Inside the same transaction. */
export function expectAcknowledgements(
  { store }: Engine,
  { flow, sink }: Flow,
  frozen: Frozen,
  deliveries: readonly number[],
): void {
  const references = sink.acknowledged?.references(frozen, deliveries.length) ?? [];
  for (const [at, reference] of references.entries()) {
    const delivery = deliveries[at];
    if (delivery !== undefined) store.acknowledgements.expect({ ...reference, flow, delivery });
  }
}

/** It was delivered: from now on the receiver has time. Inside the transaction of the answer. */
export function awaitAcknowledgements(
  { store }: Engine,
  { sink }: Flow,
  frozen: Frozen,
  carried: readonly Carried[],
  cause: Answer | Finding,
  atMs: number,
): void {
  if (sink.acknowledged === undefined) return;
  const { references, withinMs } = sink.acknowledged;
  const ids = "ids" in cause ? (cause.ids ?? []) : [];
  for (const [at, reference] of references(frozen, carried.length).entries())
    store.acknowledgements.delivered({
      ...reference,
      counterpart: ids[at] ?? null,
      dueMs: withinMs === null ? null : atMs + withinMs,
    });
}

/**
 * What came in one page. Inside its transaction. Returns what a person should be told besides. A page that brought nothing
 * new (no arrival) tells again what was told before.
 */
export function takeAcknowledgements(
  engine: Engine,
  { acknowledgements = [], arrival }: Pick<Page, "acknowledgements" | "arrival">,
  atMs: number,
): string[] {
  const { store, flows } = engine;
  const notices: string[] = [];
  for (const one of acknowledgements) {
    const rows = store.acknowledgements.named(one);
    if (rows.length === 0 && arrival !== undefined)
      notices.push(`An acknowledgement names ${one.exchange}, which was not sent from here.`);
    for (const row of rows) {
      // What is said of a whole adds to what was said of its documents by themselves only that it was refused.
      const isSaid =
        row.state === "refused" || (row.state === "accepted" && one.verdict === "accepted");
      if (one.item === null && isSaid) continue;
      if (isOutdated(row, one)) continue;
      store.acknowledgements.take({ ...row, ...one, item: row.item, at: one.at ?? "" });
      const { flow, delivery } = row;
      const event = EVENTS[one.verdict];
      const detail = `${one.exchange}${row.item === "" ? "" : ` ${row.item}`}: ${one.detail}`;
      store.journal.audit(atMs, { flow, delivery, event, detail });
      const own = flows.find((flow) => flow.flow === row.flow);
      if (own === undefined) continue;
      // Its inspection tells people.
      if (own.sink.acknowledged?.inspected === true) store.acknowledgements.tell(row);
      else if (one.verdict === "accepted") notices.push(...accept(engine, own, row, atMs));
      // A person has it already because it was late: what they read is why it was refused.
      else if (
        one.verdict === "refused" &&
        row.told === 1 &&
        store.acknowledgements.stateOf(delivery) === "quarantined"
      )
        store.causes.add(
          delivery,
          faultOf(own, { ...row, state: "refused", detail: one.detail }),
          atMs,
        );
    }
  }
  for (const flow of flows) settleAcknowledgements(engine, flow, atMs);
  return notices;
}

const EVENTS = {
  accepted: "acknowledged",
  refused: "refused later",
  awaited: "on its way there",
} as const satisfies Record<Acknowledgement["verdict"], string>;

/** What was told later, or just this, is known. */
const isOutdated = (row: Acknowledging, { verdict, detail, at }: Acknowledgement): boolean =>
  at !== undefined &&
  (at < row.said_at || (at === row.said_at && verdict === row.state && detail === row.detail));

/** What was refused, and what is late, becomes work for a person. Inside a transaction. Returns how many. */
export function settleAcknowledgements(engine: Engine, flow: Flow, atMs: number): number {
  const { store } = engine;
  if (flow.sink.acknowledged === undefined) return 0;
  let told = 0;
  for (const row of store.acknowledgements.open(flow.flow, atMs)) {
    const carried = store.deliveries.carried(row.delivery);
    const link =
      carried === null ? null : store.links.find(flow.mapping.kind, flow.side, carried.recordId);
    // Somebody has settled it otherwise, or a newer version went since and is told of by itself.
    const isOver = carried === null || link === null || link.content !== carried.content;
    // Where a newer version is on its way it is looked at again after.
    if (isOver || lost(engine, flow, link, faultOf(flow, row))) {
      store.acknowledgements.tell(row);
      told++;
    }
  }
  return told;
}

/**
 * A document that a person had because nothing was told of it, or because it was refused, is there after all. Returns
 * what a person should be told.
 */
function accept(engine: Engine, flow: Flow, row: Acknowledging, atMs: number): string[] {
  const { deliveries, disagreements, incidents, links, acknowledgements } = engine.store;
  const carried = row.told === 1 ? deliveries.carried(row.delivery) : null;
  if (carried === null || row.counterpart === null) return [];
  const { recordId, number, delivery } = carried;
  const last = disagreements.last(flow.flow, recordId);
  const isLinked = links.find(flow.mapping.kind, flow.side, recordId) !== null;
  if (isLinked || last?.state !== "quarantined") {
    if (isLinked && !acknowledgements.wentAgain(row)) return [];
    return [
      `${number} (${row.exchange}) was acknowledged after a person had decided about it or had it sent again: look whether it is there twice.`,
    ];
  }
  incidents.end(delivery, "gone");
  linked(engine, flow, carried, row.counterpart, atMs);
  const state = acknowledgements.stateOf(delivery);
  if (state === "quarantined" || state === "superseded")
    deliveries.end(delivery, "delivered", row.counterpart);
  // A version that came since is judged now that this one counts.
  if (last.delivery !== delivery) deliveries.reopen(last.delivery);
  return [];
}

function faultOf(flow: Flow, { state, exchange, item, detail }: Acknowledging): Fault {
  const endpoint = endpointOf(flow.to);
  const name = item === "" ? exchange : `${exchange}, ${item}`;
  if (state === "refused")
    return {
      code: "refused-later",
      message: `"${endpoint}" got it (${name}) and refused it: ${detail}`,
      next: "Correct what it names where the document comes from, then retry: it is sent under a new number. If it counts there after all, resolve it with --receiver-id.",
    };
  return {
    code: "not-acknowledged",
    message: `"${endpoint}" has not said in time whether it took it (${name})`,
    next: "Ask there. It closes by itself when the acknowledgement comes. If they have the document, resolve it with --receiver-id; if they have not, retry: it is sent under a new number.",
  };
}

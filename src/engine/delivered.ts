/** What a request that is done means for its documents: links, what they wait for, and what waited for them. */
import type { Acknowledgement, Frozen, Item, Page, Sink, Source } from "../core/contract.ts";
import { SourceUnavailable } from "../core/errors.ts";
import type { Difference } from "../core/holdings.ts";
import { parseExact } from "../core/json.ts";
import { sha256 } from "../core/keys.ts";
import { holdingKindOf } from "../core/kinds.ts";
import { type Answer, type Finding, type Waits } from "../core/outcome.ts";
import type { Fault } from "../core/record.ts";
import { later, type Moment } from "../core/time.ts";
import { inWords, labelOf } from "../ledger/compare.ts";
import {
  type Carried,
  type Link,
  otherId,
  otherSide,
  ownId,
  type PendingDelivery,
} from "../store/deliveries.ts";
import type { QuarantinedRow } from "../store/queries.ts";
import type { Disagreement, Finder } from "../store/reconciliation.ts";
import {
  audit,
  countWaits,
  endpointOf,
  type Engine,
  type Flow,
  wantAttachment,
  tellShared,
} from "./engine.ts";
import type { Acknowledging, Lost } from "../store/quarantine.ts";

/** Booked twice here and once there is for a person: the link stays with the one that has it. */
export function arrived(
  engine: Engine,
  flow: Flow,
  carried: readonly Carried[],
  cause: Answer | Finding,
  at: number,
): void {
  const { ids = [], waits = [] }: Pick<Answer, "ids" | "waits"> = "ids" in cause ? cause : {};
  const there = otherSide(flow.side);
  const versions = carried.map(({ version }) => version);
  countWaits(engine, flow, "delivered", versions, at);
  carried.forEach((one, index) => {
    const id = ids[index] ?? null;
    const known = id === null ? null : engine.store.links.find(flow.mapping.kind, there, id);
    const isAnother = known !== null && otherId(known, there) !== one.recordId;
    // Where the receiver can be asked, the other one is gone there; elsewhere nobody can tell.
    const isClear = flow.sink.inspect !== undefined || flow.mapping.posts !== true;
    if (isAnother && !isClear) {
      const fault = sameThere(`${id}`, known);
      engine.store.deliveries.quarantine(one.delivery, { number: null, fault }, at);
      return;
    }
    if (isAnother) reassigned(engine, flow, known);
    linkBoth(engine, flow, one, id, at);
    if (id !== null) tellShared(engine, flow, one.number, id);
    wantAttachment(engine, flow, one, id, at);
    keepWait(engine, flow, one.delivery, waits[index] ?? null);
    hasten(engine, flow, one.delivery);
  });
}

/** Links both ids, ends the delivery, and wakes what waited for it. `other`: what the receiver calls it, if anything. */
export function linkBoth(
  engine: Engine,
  flow: Flow,
  carried: Carried,
  other: string | null,
  at: number,
): void {
  engine.store.deliveries.end(carried.delivery, "delivered", other ?? "");
  if (other !== null) linked(engine, flow, carried, other, at);
}

/**
 * Links both ids and wakes what waited for it. What the platform had of the record under another id stays known as left
 * behind, until another record takes it: reconciliation tells it while it is there. Inside a transaction.
 */
function linked(
  engine: Engine,
  flow: Flow,
  { recordId, number, content, amount, party }: Carried,
  other: string,
  at: number,
): void {
  const { causes, deliveries, links } = engine.store;
  const { kind } = flow.mapping;
  const [platformId, erpId] = flow.side === "platform" ? [recordId, other] : [other, recordId];
  const before = flow.side === "erp" ? links.find(kind, "erp", erpId) : null;
  if (before !== null && before.born === "erp" && before.platformId !== platformId)
    leaveBehind(engine, before, platformId);
  links.save({ kind, platformId, erpId, born: flow.side, number, content, amount, party }, at);
  const byId = causes.waitingFor(kind, recordId, other);
  // A remittance knows its invoice by number.
  const byNumber = number === recordId ? [] : causes.waitingFor(kind, number, number);
  for (const waiting of new Set([...byId, ...byNumber])) deliveries.reopen(waiting);
}

/** What its receiver has of a record stays known when the record is something else there from now on. Inside a transaction. */
export function leaveBehind({ store, clock }: Engine, link: Link, now: string): void {
  store.links.save({ ...link, erpId: `${link.erpId}, which is ${now} now` }, clock.now().wallMs);
}

// Documents that wait for what settles them (ADR 0010): an invoice that comes as paid is delivered and left open, so
// that its payments arrive as themselves. Its wait is a row of the store: it ends when a send says that all is done, it
// is due at its bound, and sooner when a payment of it was delivered. What is due is mapped, frozen and sent again.

/** Since when a document waits that is frozen at `atMs`; null: no flow brings what settles it. Inside a transaction. */
export function waitsSince(
  engine: Engine,
  flow: Flow,
  { record }: Pick<PendingDelivery, "record">,
  atMs: number,
): string | null {
  if (!isSettledByFlow(engine, flow)) return null;
  return new Date(engine.store.waits.of(record)?.sinceMs ?? atMs).toISOString();
}

/** A paused flow counts: what it brings may still come. */
const isSettledByFlow = ({ flows }: Engine, flow: Flow): boolean =>
  flows.some(
    (other) =>
      other.mapping.settles?.kind === flow.mapping.kind &&
      other.side === flow.side &&
      endpointOf(other.to) === endpointOf(flow.to),
  );

/** It goes again because it was due, though its content is the same. */
export const isRevisit = (
  { store }: Engine,
  { record, delivery }: Pick<PendingDelivery, "record" | "delivery">,
): boolean => store.waits.of(record)?.delivery === delivery;

/** What a send or a read-back said of one delivery. Inside the transaction of the answer. */
function keepWait(engine: Engine, flow: Flow, delivery: number, until: Waits[number]): void {
  const { waits } = engine.store;
  if (until === null) {
    waits.end(delivery);
    return;
  }
  const untilMs = Date.parse(until);
  waits.keep(delivery, untilMs, untilMs - (flow.sink.settleAfterMs ?? 0));
  audit(engine, flow, "waits", `for what settles it, until ${until} at the latest`, { delivery });
}

/** What was delivered may settle a document that waits. Inside the transaction of its answer. */
function hasten({ store, clock, flows }: Engine, flow: Flow, delivery: number): void {
  const { settles, input } = flow.mapping;
  const settled = flows.find(
    (other) => other.mapping.kind === settles?.kind && other.side === flow.side,
  );
  const text = settled === undefined ? null : store.waits.text(delivery);
  if (settles === undefined || settled === undefined || text === null) return;
  const record = input.safeParse(parseExact(text));
  if (record.success) store.waits.hasten(settled.flow, settles.of(record.data), clock.now().wallMs);
}

/** Flows whose waits have the bound of this configuration. */
const rebound = new WeakSet<Flow>();

/** The bound of a wait is the configuration's as it is now, also for what waited under another one. */
function bind(engine: Engine, flow: Flow): void {
  if (rebound.has(flow)) return;
  rebound.add(flow);
  const { settleAfterMs } = flow.sink;
  if (settleAfterMs === undefined) return;
  const boundMs = isSettledByFlow(engine, flow) ? settleAfterMs : 0;
  if (!engine.store.waits.isUnbound(flow.flow, boundMs)) return;
  engine.store.transaction(() => engine.store.waits.bind(flow.flow, boundMs));
}

/** What is due becomes pending. */
export function revisit(engine: Engine, flow: Flow): void {
  bind(engine, flow);
  const { store, clock } = engine;
  const at = clock.now().wallMs;
  if (store.waits.due(flow.flow, at).length === 0) return;
  store.transaction(() => {
    for (const due of store.waits.due(flow.flow, at)) {
      if (!store.waits.reopen(due)) continue;
      const { delivery } = due;
      audit(engine, flow, "looked at", "is it settled by now?", { delivery });
    }
  });
}

/** When the next one is due; null: none waits. */
export function nextRevisit({ store, clock }: Engine, flow: Flow): Moment | null {
  const next = store.waits.nextMs(flow.flow);
  const now = clock.now();
  return next === null ? null : later(now, next - now.wallMs);
}

// A document that was delivered and is gone at its receiver: a person decides whether it goes again (ADR 0002).

/**
 * The receiver knows another document by the id of this one: this one is gone there, for a receiver that can be asked
 * gives an id to one document at a time. Inside a transaction.
 */
function reassigned(engine: Engine, flow: Flow, before: Link): void {
  if (flow.sink.inspect !== undefined && before.born === flow.side) lost(engine, flow, before);
}

/**
 * The link is dropped, so that a retry delivers it anew. Inside a transaction. False when another version of the record
 * is on its way: that one finds out by itself. `fault`: what a person is told of it.
 */
export function lost(
  engine: Engine,
  flow: Flow,
  link: Link,
  fault: Fault = gone(endpointOf(flow.to)),
): boolean {
  const { store, clock } = engine;
  const at = clock.now().wallMs;
  const { number } = link;
  const recordId = ownId(link, flow.side);
  const last = store.disagreements.last(flow.flow, recordId);
  if (last !== null) store.disagreements.forget(last.record);
  const delivery = store.losses.lastDelivered(flow.flow, recordId);
  if (delivery === null) return false;
  store.links.drop(flow.mapping.kind, flow.side, recordId);
  store.losses.lose(delivery, number, fault, at);
  audit(engine, flow, fault.code, number, { delivery });
  return true;
}

/**
 * What was gone is there again: it is linked and delivered as it was. False: it is another one's, or it has changed since, and that
 * version goes on as a change. Inside a transaction.
 */
export function foundAgain(
  engine: Engine,
  flow: Flow,
  link: Link,
  { delivery, code }: Pick<Lost, "delivery" | "code">,
): boolean {
  const { store, clock } = engine;
  const carried = store.deliveries.carried(delivery);
  const other = otherId(link, flow.side);
  // The receiver may have given its id to another document of ours meanwhile.
  const there = otherSide(flow.side);
  if (carried === null || store.links.find(link.kind, there, other) !== null) return false;
  const { number, content, amount, party = null } = link;
  linked(engine, flow, { ...carried, number, content, amount, party }, other, clock.now().wallMs);
  if (code === GONE) store.deliveries.end(delivery, store.unfinished.endOf(delivery), other);
  else store.deliveries.reopen(delivery);
  store.incidents.end(delivery, "gone");
  audit(engine, flow, "found again", link.number, { delivery });
  return code === GONE;
}

// What arrived, and does not count there before a person has done the rest: a draft that must be issued. It is linked,
// so that it never goes twice, stands in the quarantine, and clears by itself.

/** After they were delivered; inside the same transaction. */
export function leaveUnfinished(
  { store, clock }: Engine,
  carried: readonly Carried[],
  cause: Answer | Finding,
): void {
  const fault = "unfinished" in cause ? cause.unfinished : undefined;
  if (fault === undefined) return;
  const at = clock.now().wallMs;
  for (const { delivery } of carried) {
    store.journal.audit(at, { delivery, event: "unfinished", detail: fault.message });
    store.incidents.open(delivery, "unfinished");
    store.unfinished.leave(delivery, fault, at);
  }
}

/**
 * A person has settled something else of it: what is to be done at the receiver still stands. Null: nothing is, or it is
 * that what the person has settled. Inside a transaction.
 */
export function stillUnfinished(
  { store }: Engine,
  { sink, mapping, side }: Flow,
  row: Pick<QuarantinedRow, "delivery" | "record" | "recordId" | "code">,
): { readonly fault: Fault; readonly counterpart: string } | null {
  const fault = sink.unfinished?.fault;
  const link = store.links.find(mapping.kind, side, row.recordId);
  const isOpen = store.incidents.state(row.record, "unfinished") === "open";
  if (fault === undefined || link === null || !isOpen) return null;
  if (row.code !== fault.code) return { fault, counterpart: otherId(link, side) };
  store.incidents.end(row.delivery, "unfinished");
  return null;
}

/** Asks which of them count by now; those are delivered. Returns how many. */
export async function finish(engine: Engine, flow: Flow, signal: AbortSignal): Promise<number> {
  const { store } = engine;
  const { unfinished } = flow.sink;
  if (unfinished === undefined) return 0;
  const waiting = store.unfinished.of(flow.flow, unfinished.fault.code).flatMap((one) => {
    const link = store.links.find(flow.mapping.kind, flow.side, one.recordId);
    const amount = link?.amount ?? null;
    return link === null ? [] : [{ ...one, amount, counterpart: otherId(link, flow.side) }];
  });
  if (waiting.length === 0) return 0;
  try {
    const open = await unfinished.still(
      waiting.map(({ counterpart }) => counterpart),
      signal,
    );
    return store.transaction(() => {
      // Meanwhile another look may have ended it, or a person.
      const left = new Set(store.unfinished.of(flow.flow, unfinished.fault.code).map(idOf));
      const done = waiting.filter((one, at) => open[at] === false && left.has(one.delivery));
      for (const { delivery, counterpart, amount } of done) {
        if (amount !== null) store.deliveries.setAmount(delivery, amount);
        store.deliveries.end(delivery, store.unfinished.endOf(delivery), counterpart);
        store.incidents.end(delivery, "unfinished");
        audit(engine, flow, "finished", counterpart, { delivery });
      }
      return done.length;
    });
  } catch (error) {
    if (!(error instanceof SourceUnavailable)) throw error;
    return 0;
  }
}

const idOf = ({ delivery }: { readonly delivery: number }): number => delivery;

// A receiver holds other values than those that a document was brought to: a person has it until both agree again
// (ADR 0009). Verification tells of what it inspected, reconciliation of what it compared; each closes its own only.

export interface Compared {
  readonly link: Link;
  /** None: both agree. */
  readonly differences: readonly Difference[];
  /** What is told of it, where more is known than its fields. */
  readonly fault?: Fault | null;
}

/** So many that differ in the same fields, and such a share of those compared, have one cause. */
const MANY = 20;
const SHARE = 0.2;
/** Lines of a cause. */
const LINES_MAX = 12;

type Fresh = Omit<Disagreement, "state"> & Compared;

/**
 * Opens what is new, and closes what agrees again. A disagreement is told once for the same values, also when a person
 * has resolved it; other values are told anew. A record of which a newer version is on its way, or that a person has
 * for another reason, is left alone. Call it inside a transaction.
 * @returns how many were opened
 */
export function settleDifferences(
  engine: Engine,
  flow: Flow,
  compared: readonly Compared[],
  finder: Finder,
): number {
  const fresh: Fresh[] = [];
  for (const one of compared)
    if (one.differences.length === 0) agree(engine, flow, one, finder);
    else fresh.push(...unlessTold(engine, flow, one, finder));
  const alike = Map.groupBy(fresh, ({ differences }) => fieldsOf(flow, differences));
  for (const [fields, group] of alike) {
    const isStorm =
      group.every(({ fault }) => fault === null) &&
      group.length > MANY &&
      group.length > compared.length * SHARE;
    if (isStorm) announce(engine, flow, fields, group.length);
    for (const one of group) openDifference(engine, flow, one, finder);
  }
  return fresh.length;
}

/**
 * A person has brought there by hand what the receiver had refused because it differs: it is delivered. Inside a
 * transaction.
 */
export function arrivedByHand(engine: Engine, flow: Flow, link: Link, delivery: number): void {
  const carried = engine.store.deliveries.carried(delivery);
  if (carried === null) return;
  linkBoth(engine, flow, carried, otherId(link, flow.side), engine.clock.now().wallMs);
  audit(engine, flow, "agrees again", link.number, { delivery });
}

function agree(engine: Engine, flow: Flow, { link }: Compared, finder: Finder): void {
  const { disagreements } = engine.store;
  const id = ownId(link, flow.side);
  const last = disagreements.last(flow.flow, id);
  const row = last === null ? null : disagreements.find(last.record, finder);
  if (row !== null) {
    disagreements.close(finder, row);
    audit(engine, flow, "agrees again", link.number, { delivery: row.delivery });
  }
  // Reconciliation compares the newest version, whether the receiver took it or not.
  const refused = disagreements.refused(flow.flow, id);
  if (finder === "reconciliation" && refused !== null)
    arrivedByHand(engine, flow, link, refused.delivery);
}

function unlessTold(
  { store }: Engine,
  flow: Flow,
  { link, differences, fault = null }: Compared,
  finder: Finder,
): Fresh[] {
  const last = store.disagreements.last(flow.flow, ownId(link, flow.side));
  if (last === null) return [];
  const { record, delivery, state } = last;
  const row = store.disagreements.find(record, finder);
  const digest = digestOf(differences);
  const isTold = row?.state === "quarantined" || row?.state === "resolved";
  if (isTold && row?.digest === digest) return [];
  const fresh = { record, digest, link, differences, fault };
  if (state === "delivered" || state === "skipped") return [{ ...fresh, delivery, was: state }];
  // Other values than those that a person has, or has accepted.
  return isTold && row?.delivery === delivery ? [{ ...fresh, delivery, was: row.was }] : [];
}

function openDifference(
  engine: Engine,
  flow: Flow,
  { record, delivery, was, digest, link, differences, fault: known }: Fresh,
  finder: Finder,
): void {
  const at = engine.clock.now().wallMs;
  const lines = linesOf(engine, flow, differences);
  const fault = known ?? differsFault(flow, lines, fieldsOf(flow, differences));
  engine.store.disagreements.open(finder, { record, delivery, was, digest }, fault, at);
  audit(engine, flow, "differs", `${link.number}: ${lines.join("; ")}`, { delivery });
}

function differsFault(flow: Flow, lines: readonly string[], fields: string): Fault {
  const endpoint = endpointOf(flow.to);
  return {
    ...differs(endpoint, shortened(lines).join("\n"), flow.sink.writes === "upsert"),
    reason: `differs in "${endpoint}" from what was delivered: ${fields}`,
  };
}

/** `payer: erp A-1038, platform A-1001`: the receiver's value, and that of the side where the document began. */
function linesOf(engine: Engine, flow: Flow, differences: readonly Difference[]): string[] {
  const sides = { held: endpointOf(flow.to), expected: endpointOf(flow.from) };
  const { links } = engine.store;
  // Books compare what a payment settles by their own id: people know it by its number.
  const kind = flow.mapping.kind === "bill-payment" ? "bill" : "invoice";
  const named = (id: string): string => links.find(kind, "erp", id)?.number ?? id;
  return differences.map((one) => {
    const { field, expected, held } = one;
    const told =
      field === "document" ? { field, expected: named(expected), held: named(held) } : one;
    return inWords(kindOf(flow), told, sides);
  });
}

const shortened = (lines: readonly string[]): readonly string[] =>
  lines.length <= LINES_MAX
    ? lines
    : [...lines.slice(0, LINES_MAX - 1), `and ${lines.length - LINES_MAX + 1} more`];

function announce(engine: Engine, flow: Flow, fields: string, documents: number): void {
  const to = endpointOf(flow.to);
  const notice = `${documents} documents differ in "${to}" from what was delivered, all in: ${fields}`;
  audit(engine, flow, "notice", notice);
  engine.note("many differ", { flow: flow.name, documents, fields });
}

/** `due date, payer`; lines of a document are one field, whichever differ. With why, where that is known. */
function fieldsOf(flow: Flow, differences: readonly Difference[]): string {
  const names = differences.map(({ field, reason }) => {
    const name = labelOf(kindOf(flow), field).replace(/^line \d+/, "line");
    return reason === undefined ? name : `${name} (${reason})`;
  });
  return [...new Set(names)].toSorted().join(", ");
}

/** Only for the words of people: orders and tickets have those of invoices. */
const kindOf = ({ mapping }: Flow) => holdingKindOf(mapping.kind) ?? "invoice";

export const digestOf = (differences: readonly Difference[]): string =>
  sha256(
    JSON.stringify(differences.map(({ field, expected, held }) => [field, expected, held])),
  ).slice(0, 22);

// What an outcome means for people: causes in the quarantine, each with its next step.

/** `said`: what the receiver said of the refusal, where a read only proved that nothing happened. */
export function refusedBecause(cause: Answer | Finding, said: Fault | null): Fault {
  const fault = "fault" in cause ? cause.fault : undefined;
  return (
    fault ??
    said ?? {
      code: "refused",
      message: `the receiver refused it: ${cause.detail}`,
      next: "Correct the document where it comes from, or the mapping, then retry.",
    }
  );
}

/** Nothing was sent: the look before the first send found something else. */
export function taken(cause: Answer | Finding): Fault {
  const fault = "fault" in cause ? cause.fault : undefined;
  return (
    fault ?? {
      code: "number-taken",
      message: `the receiver has another document under this number: ${cause.detail}`,
      next: "Compare both. Correct the number where it comes from, then retry; or close it with its id there when both are the same.",
    }
  );
}

/** Two of ours are one there. */
function sameThere(id: string, { number }: Link): Fault {
  return {
    code: "one-at-receiver",
    message: `the receiver has it as ${id}, and has another one of ours (${number}) as the same`,
    next: "Look which of the two counts. Close it when there is rightly one; else correct its number where it comes from.",
  };
}

/** It was delivered, and is not at the endpoint any more, or is back at an earlier state. */
const GONE = "gone";
const gone = (endpoint: string): Fault => ({
  code: GONE,
  message: `it was delivered, but "${endpoint}" no longer has it, or not as it was brought there`,
  next: `Were the books of "${endpoint}" restored from a backup? Then retry: it is delivered again; once it is there again it closes by itself. If it was removed or taken back on purpose, close it.`,
});

/** Nobody has decided about the version that is gone, or somebody let it be. */
export const goneBefore = (endpoint: string): Fault => ({
  code: "gone-before",
  message: `it changed, and the version that was delivered before is gone from "${endpoint}"`,
  next: `Retry it when it belongs there: it is delivered as a new one; once the one before is there again, it goes on as its change. If it was removed on purpose, close it.`,
});

/** The flow takes a record no more (an option, a role, a filter, a draft again) that it has delivered. */
export const skippedSince = (endpoint: string, { number }: Link, why: string): Fault => ({
  code: "skipped-after-delivery",
  message: `${number} was delivered, and "${endpoint}" has it as it was then: it is not taken any more (${why})`,
  next: `Change it in "${endpoint}" by hand, or cancel it there, and close this. If it still belongs there, correct it where it comes from, and it closes by itself; or correct the flow's options or its filter, then retry.`,
  reason: `was delivered and is not taken any more: ${why}`,
});

/** The receiver holds other values. `message`: one line per field. */
const differs = (endpoint: string, message: string, takesChanges: boolean): Fault => ({
  code: "differs",
  message,
  next: takesChanges
    ? `Correct it in "${endpoint}", and it closes by itself; or retry: it is delivered again as it is now. If "${endpoint}" is right, close it: exactly these values are accepted.`
    : `Correct it in "${endpoint}" by hand, for it takes no changes: then it closes by itself. If "${endpoint}" is right, close it: exactly these values are accepted.`,
});

const needsDecision = (message: string): Fault => ({
  code: "needs-decision",
  message,
  next: "Look for it at the receiver: close it with its id there when it is there, retry it when it is not.",
});

/** What a look found there says more than that nobody can tell. */
export const undecided = (cause: Answer | Finding): Fault =>
  ("found" in cause && cause.found === "different" ? cause.fault : undefined) ??
  needsDecision(`nobody can tell by machine whether it arrived: ${cause.detail}`);

export const undecidedBefore = needsDecision(
  "an earlier version of it was sent, and nobody can tell by machine whether it arrived",
);

// What a receiver tells later of documents that were delivered to it: X12's functional acknowledgement, SAP's ALEAUD. What
// it refuses is not there, and what it does not tell of in time may not be: a person has those (ADR 0019), as they have
// what is gone. A late acknowledgement closes it by itself.

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
 * What a receiver tells of a document it tells by a reference: no two documents share one. Where requests are counted the
 * document's own number is what it is known by there; elsewhere references follow from the document. The document that
 * went under this one's before; null: none did.
 */
export function referenceTaken(
  { store }: Engine,
  { sink, mapping, side }: Flow,
  one: {
    readonly alone: Frozen;
    readonly item: Item;
    readonly delivery: { readonly record: number };
  },
): { readonly reference: string; readonly by: string } | null {
  const { alone, item, delivery } = one;
  if (sink.sequence !== undefined) {
    const there = otherSide(side);
    const link = store.links.find(mapping.kind, there, item.number);
    const by = link === null ? item.id : ownId(link, side);
    return by === item.id ? null : { reference: item.number, by };
  }
  for (const reference of sink.acknowledged?.references(alone, 1) ?? []) {
    const by = store.acknowledgements.other({ ...reference, record: delivery.record });
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
    if (delivery !== undefined)
      store.acknowledgements.expect({ sentAs: "", ...reference, flow, delivery });
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

/** The exchange, which of its documents where one is named, and what it went as where that is said. */
const namedIn = ({ exchange, item, sentAs }: Acknowledgement): string =>
  [exchange, item, sentAs && `as ${sentAs}`].filter(Boolean).join(" ");

/**
 * What came in one page. Inside its transaction. Returns what a person should be told besides. A page that brought nothing
 * new (no arrival) tells again what was told before: without a time, something only of what is awaited.
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
      notices.push(
        `An acknowledgement (${one.detail}) names ${namedIn(one)}, which was not sent from here.`,
      );
    for (const row of rows) {
      // What is said of a whole adds to what was said of its documents by themselves only that it was refused.
      const isSaid =
        row.state === "refused" || (row.state === "accepted" && one.verdict !== "refused");
      if (one.item === null && isSaid) continue;
      const isAgain = arrival === undefined && one.at === undefined && row.state !== "awaited";
      if (isAgain || isOutdated(row, one)) continue;
      const { at = "", reason = "" } = one;
      store.acknowledgements.take({ ...row, ...one, item: row.item, at, reason });
      const { flow, delivery } = row;
      const event = EVENTS[one.verdict];
      const detail = `${namedIn({ ...one, item: row.item })}: ${one.detail}`;
      store.journal.audit(atMs, { flow, delivery, event, detail });
      const own = flows.find((flow) => flow.flow === row.flow);
      if (own === undefined) continue;
      // Its inspection tells people.
      if (own.sink.acknowledged?.inspected === true) store.acknowledgements.tell(row);
      else if (one.verdict === "accepted") notices.push(...accept(engine, own, row, atMs));
      // A reply is no document: nothing is linked that a person could have.
      else if (own.repliesTo !== undefined && one.verdict === "refused")
        notices.push(
          `"${endpointOf(own.to)}" refused the reply ${one.exchange} to what came in "${own.repliesTo}": ${one.detail}. Tell them by hand what was taken, or have them send it again under a new number.`,
        );
      // A person has it already because it was late: what they read is why it was refused.
      else if (
        one.verdict === "refused" &&
        row.told === 1 &&
        store.acknowledgements.stateOf(delivery) === "quarantined"
      )
        store.causes.add(
          delivery,
          unacknowledged(own, { ...row, state: "refused", detail: one.detail, reason }),
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
    if (isOver || lost(engine, flow, link, unacknowledged(flow, row))) {
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

function unacknowledged(
  flow: Flow,
  { state, exchange, item, detail, reason }: Acknowledging,
): Fault {
  const endpoint = endpointOf(flow.to);
  const name = item === "" ? exchange : `${exchange}, ${item}`;
  if (state === "refused")
    return {
      code: "refused-later",
      message: `"${endpoint}" got it (${name}) and refused it: ${detail}`,
      ...(reason === "" ? {} : { reason: `"${endpoint}" got it and refused it: ${reason}` }),
      next: "Correct what it names where the document comes from, then retry: it is sent under a new number. If it counts there after all, close it with its id there.",
    };
  return {
    code: "not-acknowledged",
    message: `"${endpoint}" has not said in time whether it took it (${name})`,
    next: "Ask there. It closes by itself when the acknowledgement comes. If they have the document, close it with its id there; if they have not, retry: it is sent under a new number.",
  };
}

/** What a request that is done means for its documents: links, what they wait for, and what waited for them. */
import { attachmentKind, attachmentMapping, attachmentText, NoFile } from "../core/attachment.ts";
import type { Outgoing, Sink, Source } from "../core/contract.ts";
import { SourceUnavailable } from "../core/errors.ts";
import type { Difference } from "../core/holdings.ts";
import { parseExact } from "../core/json.ts";
import { sha256 } from "../core/keys.ts";
import { holdingKindOf } from "../core/kinds.ts";
import { type Answer, type Finding, nothingDone, refused, type Waits } from "../core/outcome.ts";
import type { Fault } from "../core/record.ts";
import { later, type Moment } from "../core/time.ts";
import { inWords, labelOf } from "../ledger/compare.ts";
import {
  type Carried,
  type Link,
  otherId,
  ownId,
  type PendingDelivery,
} from "../store/deliveries.ts";
import type { QuarantinedRow } from "../store/queries.ts";
import type { Disagreement, Finder } from "../store/reconciliation.ts";
import type { Store } from "../store/store.ts";
import { audit, countWaits, endpointOf, type Engine, type Flow, flowBeside } from "./engine.ts";

/** Booked twice here and once there is for a person: the link stays with the one that has it. */
export function arrived(
  engine: Engine,
  flow: Flow,
  carried: readonly Carried[],
  cause: Answer | Finding,
  at: number,
): void {
  const { ids = [], waits = [] }: Pick<Answer, "ids" | "waits"> = "ids" in cause ? cause : {};
  const there = flow.side === "platform" ? "erp" : "platform";
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
export function linked(
  engine: Engine,
  flow: Flow,
  { recordId, number, content, amount }: Carried,
  other: string,
  at: number,
): void {
  const { causes, deliveries, links } = engine.store;
  const { kind } = flow.mapping;
  const [platformId, erpId] = flow.side === "platform" ? [recordId, other] : [other, recordId];
  const before = flow.side === "erp" ? links.find(kind, "erp", erpId) : null;
  if (before !== null && before.born === "erp" && before.platformId !== platformId)
    links.save({ ...before, erpId: `${erpId}, which is ${platformId} now` }, at);
  links.save({ kind, platformId, erpId, born: flow.side, number, content, amount }, at);
  const byId = causes.waitingFor(kind, recordId, other);
  // A remittance knows its invoice by number.
  const byNumber = number === recordId ? [] : causes.waitingFor(kind, number, number);
  for (const waiting of new Set([...byId, ...byNumber])) deliveries.reopen(waiting);
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
  waits.keep(delivery, Date.parse(until));
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
  const lines = linesOf(flow, differences);
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
function linesOf(flow: Flow, differences: readonly Difference[]): string[] {
  const sides = { held: endpointOf(flow.to), expected: endpointOf(flow.from) };
  return differences.map((one) => inWords(kindOf(flow), one, sides));
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

/** `due date, payer`; lines of a document are one field, whichever differ. */
function fieldsOf(flow: Flow, differences: readonly Difference[]): string {
  const names = differences.map(({ field }) => labelOf(kindOf(flow), field));
  return [...new Set(names.map((name) => name.replace(/^line \d+/, "line")))].toSorted().join(", ");
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
      next: "Compare both. Correct the number where it comes from, then retry; or resolve it with --receiver-id when both are the same.",
    }
  );
}

/** Two of ours are one there. */
function sameThere(id: string, { number }: Link): Fault {
  return {
    code: "one-at-receiver",
    message: `the receiver has it as ${id}, and has another one of ours (${number}) as the same`,
    next: "Look which of the two counts. Resolve it when there is rightly one; else correct its number where it comes from.",
  };
}

/** It was delivered, and is not at the endpoint any more, or is back at an earlier state. */
const gone = (endpoint: string): Fault => ({
  code: "gone",
  message: `it was delivered, but "${endpoint}" no longer has it, or not as it was brought there`,
  next: `Were the books of "${endpoint}" restored from a backup? Then retry: it is delivered again. If it was removed or taken back on purpose, resolve it.`,
});

/** Nobody has decided about the version that is gone, or somebody let it be. */
export const goneBefore = (endpoint: string): Fault => ({
  code: "gone-before",
  message: `it changed, and the version that was delivered before is gone from "${endpoint}"`,
  next: `Retry it when it belongs there: it is delivered as a new one. If it was removed on purpose, resolve it.`,
});

/** The receiver holds other values. `message`: one line per field. */
const differs = (endpoint: string, message: string, takesChanges: boolean): Fault => ({
  code: "differs",
  message,
  next: takesChanges
    ? `Correct it in "${endpoint}", and it closes by itself; or retry: it is delivered again as it is now. If "${endpoint}" is right, resolve it: exactly these values are accepted.`
    : `Correct it in "${endpoint}" by hand, for it takes no changes: then it closes by itself. If "${endpoint}" is right, resolve it: exactly these values are accepted.`,
});

const needsDecision = (message: string): Fault => ({
  code: "needs-decision",
  message,
  next: "Look for it at the receiver: resolve it with --receiver-id when it is there, retry it when it is not.",
});

/** What a look found says more than that nobody can tell: which documents of the receiver may be it, or another amount. */
export const undecided = (cause: Answer | Finding): Fault => {
  const fault = "found" in cause && cause.found === "different" ? cause.fault : undefined;
  return fault?.candidates === undefined && fault?.amount === undefined
    ? needsDecision(`nobody can tell by machine whether it arrived: ${cause.detail}`)
    : fault;
};

export const undecidedBefore = needsDecision(
  "an earlier version of it was sent, and nobody can tell by machine whether it arrived",
);

// PDFs of delivered documents (ADR 0020). A flow that attaches them has a second flow beside it: the transaction that
// records a document as delivered stores the record of its attachment, and that goes the road of every document. A PDF
// that cannot be fetched never holds back its document.

/** Fetching a file fails this often before a person is asked: with the back-off, about an hour. */
export const FETCHES_MAX = 20;

interface Attaching {
  /** Attaches to the documents that the flow's own sink books. */
  readonly sink: Sink;
  /** The PDF of a document, by its id on the platform. @throws NoFile */
  readonly fetch: (id: string) => Promise<Uint8Array>;
  /** Documents that were last delivered before the option was switched on count from here, ms UTC; null: none do. */
  readonly sinceMs: number | null;
}

/** The flow that attaches PDFs to what `flow` delivers. @throws TypeError for a kind of document that has none */
export function attachmentFlow(
  store: Store,
  flow: Flow,
  { sink, fetch, sinceMs }: Attaching,
): Flow {
  const kind = attachmentKind(flow.mapping.kind);
  if (kind === null) throw new TypeError(`flow ${flow.name}: a ${flow.mapping.kind} has no PDF`);
  return flowBeside(store, flow, "pdf", {
    attachesTo: flow.name,
    mapping: attachmentMapping(kind, flow.mapping.kind),
    source: olderDocuments(store, flow, sinceMs),
    sink: {
      ...sink,
      async send(request, signal) {
        const file = () => fetch(request.items[0]?.id ?? "");
        try {
          return await sink.send({ ...request, file }, signal);
        } catch (error) {
          if (!(error instanceof NoFile)) throw error;
          const before = store.requests.live(kind, request.items[0]?.number ?? "");
          return withoutFile(error, request, (before?.machine.failures ?? 0) + 1);
        }
      },
    },
  });
}

/** Stores the record of a delivered document's attachment, where its flow attaches. Inside the same transaction. */
function wantAttachment(
  { store, flows }: Engine,
  flow: Flow,
  { recordId, number }: Pick<Carried, "recordId" | "number">,
  counterpart: string | null,
  atMs: number,
): void {
  const attaching = flows.find(({ attachesTo }) => attachesTo === flow.name);
  if (attaching === undefined || counterpart === null) return;
  const change = changeOf({ id: recordId, number, counterpart });
  const position = store.flows.position(attaching.name);
  store.intake.page(attaching.flow, { changes: [change], position }, atMs);
}

const changeOf = (document: Parameters<typeof attachmentText>[0]) => ({
  id: document.id,
  version: null,
  text: attachmentText(document),
});

/** The file did not come, so nothing was written. @param failures of this request, with this one */
function withoutFile(error: NoFile, { items }: Outgoing, failures: number): Answer {
  const { sort, message, waitMs } = error;
  if (sort === "passing") return nothingDone(message, { waitMs });
  if (sort === "failed" && failures < FETCHES_MAX) return nothingDone(message);
  const number = items[0]?.number ?? "";
  const tries = failures === 1 ? "" : `, ${failures} times`;
  return refused({
    code: "no-pdf",
    message: `the PDF of ${number} could not be fetched from the platform${tries}: ${message}`,
    next: `${number} itself is booked. Open its PDF on the platform: when it can be seen there, retry this; else resolve it, and ${number} stays without one.`,
  });
}

/** Links that are read in one page. */
const LINKS_AT_ONCE = 200;

/** How far the reading of older documents has got: all since `sinceMs` up to the platform's id `after`; null: all. */
interface Position {
  readonly sinceMs: number;
  readonly after: string | null;
}

/** Documents that were delivered before the option was switched on, each once; none unless it is asked for. */
function olderDocuments(store: Store, flow: Flow, sinceMs: number | null): Source {
  return {
    async *read(position, { signal }) {
      if (sinceMs === null) return;
      const stored = position as Position | null;
      let after = stored?.sinceMs === sinceMs ? stored.after : "";
      while (after !== null && !signal.aborted) {
        const { kind } = flow.mapping;
        const links = store.links.deliveredSince(kind, flow.side, sinceMs, after, LINKS_AT_ONCE);
        after = links.length < LINKS_AT_ONCE ? null : (links.at(-1)?.platformId ?? null);
        yield { changes: links.map(changeIn(flow)), position: { sinceMs, after } };
      }
    },
  };
}

const changeIn =
  ({ side }: Flow) =>
  (link: Link) =>
    changeOf({ id: ownId(link, side), number: link.number, counterpart: otherId(link, side) });

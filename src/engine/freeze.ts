/** Store → requests: maps what is pending and freezes it, key and bytes, before anything leaves. */
import type { Figures, Frozen, Item, References, Sink, Skip } from "../core/contract.ts";
import type { Fault } from "../core/fault.ts";
import { FuelbridgeError, Refused, WaitsFor } from "../core/errors.ts";
import { Decimal } from "../core/decimal.ts";
import { parseExact } from "../core/json.ts";
import { sameNumber, sha256 } from "../core/keys.ts";
import { comparedNumber, type Kind } from "../core/kinds.ts";
import { apart } from "../core/request.ts";
import { freshRequest } from "../core/request-state.ts";
import type { Mapped, PendingDelivery } from "../store/deliveries.ts";
import { type Link, otherId, ownId } from "../store/links.ts";
import { foldedOf } from "../store/statements.ts";
import { expectAcknowledgements, expectOwnReference, referenceTaken } from "./acknowledged.ts";
import { awaitedFault, tellWaiting } from "./awaited.ts";
import { contentOf, isContentOf } from "./content.ts";
import { copied, likenessesOf } from "./copies.ts";
import { correctedBefore } from "./corrected.ts";
import { moved } from "./deliver.ts";
import { endpointOf, type Engine, type Flow } from "./engine.ts";
import { mostOf, takenFrom, waitsForFirst } from "./halving.ts";
import { goneBefore, undecidedBefore } from "./faults.ts";
import { keyOf } from "./key.ts";
import { referencesOf } from "./looked-up.ts";
import { numbered } from "./numbered.ts";
import { mayFreeze } from "./restored.ts";
import { turned, turning } from "./turned.ts";
import { type Earlier, earlierThan } from "./under-way.ts";
import { isRevisit, waitsSince } from "./waits.ts";

/** Deliveries mapped in one transaction. */
const AT_ONCE = 200;

interface Ready {
  readonly delivery: PendingDelivery;
  readonly item: Item;
  readonly mapped: Mapped;
  /** By what copies of it are known (copies.ts). */
  readonly likenesses: readonly string[];
  /** What goes out when it shares its request with no other; that it could be made is its local check. */
  readonly alone: Frozen;
}

type Judged =
  | { readonly verdict: "ready"; readonly ready: Ready }
  | { readonly verdict: "skipped" | "echo"; readonly note: string; readonly number: string }
  | {
      readonly verdict: "quarantined";
      readonly fault: Fault;
      readonly number: string | null;
      /** What a person's decision about it is a decision about, too. */
      readonly request?: number;
      /** What is written down with it. */
      readonly also?: () => void;
    }
  /** Something it depends on is on its way: it is looked at again once that is settled. */
  | { readonly verdict: "held" }
  /** It goes by itself now. */
  | { readonly verdict: "apart" };

/** What the documents of one round have in common. */
interface Round extends Earlier {
  readonly turning: ReadonlySet<string>;
  readonly references: References;
}

export interface FrozenRound {
  /** The last delivery that was looked at. */
  readonly last: number;
  readonly frozen: number;
  readonly settled: number;
  /** Not in the next request: their ordering key is taken, or it is full. */
  readonly left: number;
}

/** Freezes the next {@link AT_ONCE} of the flow's pending deliveries after `after`. Null when there are none. */
export function freezeNext(engine: Engine, flow: Flow, after: number): FrozenRound | null {
  const { store, clock } = engine;
  const deliveries = store.deliveries.pending(
    flow.flow,
    after,
    Math.max(AT_ONCE, flow.sink.itemsMax),
  );
  const last = deliveries.at(-1)?.delivery;
  if (last === undefined) return null;
  const at = clock.now().wallMs;
  return store.transaction(() => {
    const mayGo = mayFreeze(engine, flow);
    const round: Round = {
      ...earlierThan(engine, flow, deliveries),
      turning: turning(engine, flow),
      references: referencesOf(engine, flow, (table, key) => store.rowUses.used(table, key, at)),
    };
    const ready: Ready[] = [];
    let settled = 0;
    let apart = 0;
    for (const delivery of deliveries) {
      if (!joins(delivery, ready, flow.sink)) {
        apart++;
        continue;
      }
      const judged = judge(engine, flow, delivery, round);
      // Before all that is ours is known, a fault may only mean that it is.
      if (!mayGo && (judged.verdict === "ready" || judged.verdict === "quarantined")) continue;
      if (judged.verdict === "ready") {
        ready.push(judged.ready);
        store.likenesses.keep(delivery.record, judged.ready.likenesses);
      } else if (judged.verdict === "apart") apart++;
      else if (judged.verdict === "quarantined") {
        store.deliveries.quarantine(delivery.delivery, judged, at);
        judged.also?.();
      } else if (judged.verdict === "skipped" || judged.verdict === "echo")
        store.deliveries.end(delivery.delivery, judged.verdict, judged.note, judged.number);
      if (judged.verdict === "skipped")
        tellWaiting(engine, flow, delivery.recordId, { skipped: judged.note }, at);
      else if (judged.verdict === "quarantined")
        tellWaiting(engine, flow, delivery.recordId, null, at);
      if (judged.verdict !== "held" && judged.verdict !== "ready") settled++;
    }
    const { frozen, left } = freezeAll(engine, flow, ready, at);
    return { last, settled, frozen, left: left + apart };
  });
}

/** Where requests carry many documents only the next request is made: what cannot be in it need not be mapped yet. */
function joins({ bisectGroup }: PendingDelivery, ready: readonly Ready[], sink: Sink): boolean {
  const [first] = ready;
  if (sink.itemsMax === 1 || first === undefined) return true;
  return bisectGroup === first.delivery.bisectGroup && ready.length < mostOf(bisectGroup, sink);
}

function judge(engine: Engine, flow: Flow, delivery: PendingDelivery, round: Round): Judged {
  const { store } = engine;
  const { mapping, sink, side } = flow;
  if (delivery.fault !== null)
    return { verdict: "quarantined", fault: delivery.fault, number: delivery.recordId };
  if (waitsForFirst(store.bisectGroups, delivery.bisectGroup)) return { verdict: "held" };
  let number: string | null = null;
  try {
    const told = parseExact(delivery.text);
    const record = parsed(mapping.input, told, "does-not-fit");
    number = mapping.number(record);
    const link = store.links.find(mapping.kind, side, delivery.recordId);
    if (link !== null && link.born !== side)
      return { verdict: "echo", note: `written by us as ${number}`, number };
    const before = round.before(delivery.record, number, told);
    if (before.is === "ours")
      return { verdict: "echo", note: `written by us as ${number}`, number };
    if (before.is === "undecided")
      return { verdict: "quarantined", number, fault: undecidedBefore, request: before.request };
    if (before.is === "under-way") return { verdict: "held" };
    if (before.is === "replaced") return takesOver(engine, flow, delivery, before.request);
    if (link === null && round.turning.has(delivery.recordId)) return { verdict: "held" };
    const turn = link === null ? turned(engine, flow, delivery, number) : null;
    if (turn !== null) return { verdict: "quarantined", number, ...turn };
    if (link === null) expectNoDouble(engine, flow, delivery, number);
    if (link === null && store.incidents.state(delivery.record, "gone") === "open")
      return { verdict: "quarantined", number, fault: goneBefore(endpointOf(flow.to)) };
    const again = correctedBefore(engine, flow, delivery, told);
    if (again !== null) return { verdict: "quarantined", number, ...again };

    const out = mapping.map(record, round.references) as Skip | object;
    if ("skip" in out && typeof out.skip === "string")
      return { verdict: "skipped", note: out.skip, number };
    const document = parsed(mapping.output, out, "mapping-output");
    const figures = mapping.figures(document);
    const received = sink.concerns?.(document) ?? document;
    const content = contentOf(received);
    const isSame = link?.content === content && isRevisit(engine, delivery);
    const settledBefore =
      link === null || isSame ? null : compare(flow, link, received, figures, number);
    const waits = settledBefore?.verdict === "skipped" && isUnfinished(engine, flow, delivery);
    if (waits && sink.unfinished !== undefined)
      return { verdict: "quarantined", number, fault: sink.unfinished.fault };
    const settled = settledBefore && unlessDisagreed(engine, flow, delivery, settledBefore);
    if (settled !== null) return settled;

    const likenesses = likenessesOf(engine, flow, record);
    const copy = link === null ? copied(engine, flow, delivery, number, likenesses) : null;
    if (copy !== null) return { verdict: "quarantined", number, fault: copy };
    const settledSince = waitsSince(engine, flow, delivery, engine.clock.now().wallMs);
    const item: Item = {
      number,
      id: delivery.recordId,
      revision: delivery.revision,
      document,
      counterpart: link === null ? null : otherId(link, side),
      ...(settledSince === null ? {} : { settledSince }),
    };
    const alone = sink.freeze([item]);
    expectOwnReference(engine, sink, alone, delivery.record);
    const mapped = kept(mapping.kind, number, figures, content);
    return { verdict: "ready", ready: { delivery, item, mapped, alone, likenesses } };
  } catch (error) {
    const fault = error instanceof WaitsFor ? awaitedFault(engine, flow, error) : faultOf(error);
    return { verdict: "quarantined", fault, number };
  }
}

/** Where requests carry many documents, a newer version takes the place of one that a person has, and is looked for first. */
function takesOver(
  engine: Engine,
  flow: Flow,
  { delivery }: PendingDelivery,
  before: number,
): Judged {
  const { store, clock } = engine;
  const request = store.requests.get(before);
  const event = { type: "decision", at: clock.now(), decision: "cancel" } as const;
  if (request !== null) moved(engine, flow, request, event, "a newer version goes instead");
  store.bisectGroups.put(delivery, -before);
  return { verdict: "apart" };
}

/** What a document waits for at its receiver, its newer version waits for as well. */
const isUnfinished = ({ store }: Engine, { sink }: Flow, { record }: PendingDelivery): boolean =>
  sink.unfinished !== undefined && store.incidents.state(record, "unfinished") === "open";

/** @throws Refused when we have written a document of this number to the side that this one comes from */
function expectNoDouble(
  { store }: Engine,
  { mapping, side }: Flow,
  { recordId }: PendingDelivery,
  number: string,
): void {
  const ours = store.links.numbered(mapping.kind, number, side === "platform" ? "erp" : "platform");
  if (ours === null) return;
  throw new Refused({
    code: "doubled",
    message: `${number} is there twice: we wrote ${ours.number === number ? "it" : ours.number} as ${ownId(ours, side)}, and this is ${recordId}`,
    next: "Have the one that is too many removed where it is; then resolve this.",
  });
}

/** One bad record stops nothing else, not even one that a mapping stumbles over. @throws what is no record's fault */
export function faultOf(error: unknown): Fault {
  if (error instanceof Refused) return error.fault;
  if (error instanceof FuelbridgeError) throw error;
  const { name, message, code } = error as Error & { code?: unknown };
  if (typeof code === "string" && code.startsWith("SQLITE_")) throw error;
  return {
    code: "mapping-failed",
    message: `the mapping failed: ${name}: ${message}`,
    next: "This is a fault in the mapping: report it with this sentence, then retry.",
  };
}

/** What follows from having delivered this thing before. Null: deliver this content too. */
function compare(
  flow: Flow,
  link: Link,
  document: unknown,
  { amount }: Figures,
  number: string,
): Judged | null {
  const isSame = isContentOf(document, link.content);
  // Without content it was linked by a person, who has seen what is there.
  // A new number is a change of a known document: both are told.
  const isRenumbered = !sameNumber(link.number, number);
  if (isSame || (link.content === null && flow.sink.writes === "create" && !isRenumbered))
    return { verdict: "skipped", note: "nothing new for the receiver", number };
  const was = link.amount === null ? null : Decimal.of(link.amount);
  const named = isRenumbered ? `it was delivered as ${link.number} and is ${number} now; ` : "";
  if (flow.mapping.posts && was !== null && !(amount?.equals(was) ?? false))
    return {
      verdict: "quarantined",
      number,
      fault: {
        code: "amount-changed-after-posting",
        message: `${named}the amount changed from ${was.plain()} to ${amount?.plain() ?? "none"} after it was delivered`,
        next: "An accountant decides: book a correction or credit note by hand, then resolve it here. It closes by itself when the amount is changed back.",
      },
    };
  if (flow.sink.writes === "create" && isRenumbered)
    return {
      verdict: "quarantined",
      number,
      fault: {
        code: "renumbered",
        message: `${named}the receiver takes no changes`,
        next: "Give it its old number again where it comes from, and it closes by itself; or have the number changed at the receiver by hand, then resolve it here.",
      },
    };
  if (flow.sink.writes === "create")
    return {
      verdict: "quarantined",
      number,
      fault: {
        code: "changed-after-delivery",
        message: "it changed after it was delivered, and the receiver takes no changes",
        next: "Change it there by hand if it matters, then resolve it here.",
      },
    };
  return null;
}

/**
 * Nothing new to deliver, but the receiver holds other values (differs.ts): the newest delivery takes the older one's
 * place with the person, and goes once more when that person has retried it.
 */
function unlessDisagreed(
  { store }: Engine,
  { sink }: Flow,
  { record, delivery }: PendingDelivery,
  settled: Judged,
): Judged | null {
  if (settled.verdict !== "skipped") return settled;
  const { disagreements } = store;
  const standing = disagreements.standing(record, delivery);
  if (standing === "retried") return sink.writes === "create" ? settled : null;
  if (standing === null) return settled;
  const also = (): void => disagreements.carry(record, delivery);
  return { verdict: "quarantined", number: settled.number, fault: standing, also };
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
      : `${sink.names ?? sink.operation} ${comparedNumber(mapping.kind, number)}`;
    // A batch that waits for a person holds up no other; a document that does waits for that.
    const isTaken = referenceTaken(engine, sink, first.alone, first.delivery.record) !== null;
    if (isTaken || store.requests.isOrderingKeyLive(orderingKey, several ? null : sink.operation)) {
      left += group.length;
      continue;
    }
    const generation = store.requests.nextGeneration(sink.operation, number, revision);
    const whole = takenFrom(first.delivery.bisectGroup);
    const before = whole === null ? null : store.requests.get(whole);
    const machine =
      before === null ? { ...freshRequest, generation } : apart(before.machine, generation);
    const key = keyOf(engine, { operation: sink.operation, number, revision, generation });
    const frozen = numbered(engine, sink, items, first.alone);
    const request = store.requests.add(
      {
        flow: flow.flow,
        operation: sink.operation,
        kind: mapping.kind,
        number,
        revision,
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

/** @throws Refused with the schema's first complaints */
export function parsed(
  schema: {
    safeParse(value: unknown): { success: true; data: unknown } | { success: false; error: Issues };
  },
  value: unknown,
  code: string,
): unknown {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issues = result.error.issues.slice(0, 3);
  const field = issues[0]?.path.join(".");
  throw new Refused({
    code,
    message: issues
      .map(({ path, message }) => `${path.join(".") || "record"}: ${message}`)
      .join("; "),
    next:
      code === "does-not-fit"
        ? "Correct the record where it comes from; the corrected one is taken by itself."
        : "The mapping makes a document that its receiver does not take: correct the mapping, then retry.",
    ...(field ? { field } : {}),
  });
}

interface Issues {
  readonly issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[];
}

function kept(kind: Kind, number: string, figures: Figures, content: string): Mapped {
  return {
    number,
    folded: foldedOf(kind, number),
    content,
    amount: figures.amount?.plain() ?? null,
    gallons: figures.gallons?.plain() ?? null,
  };
}

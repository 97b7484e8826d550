/**
 * Is a document one that is known already? A clerk copied it, entered it twice, or entered on one side by hand what came
 * from the other; or it was sent by a store that does not know it any more. Whatever looks so waits for a person before
 * its first byte leaves (ADR 0008). What the store knows is compared when a document is judged; what only the receiver
 * can know, before the first send, by one list of the days that these documents are of.
 */
import type { Item, Likeness, References, Skip } from "../core/contract.ts";
import { Decimal } from "../core/decimal.ts";
import { FuelbridgeError } from "../core/errors.ts";
import {
  type Day,
  type FactLine,
  type Facts,
  type Holding,
  type Holdings,
  partyRole,
  type Scope,
} from "../core/holdings.ts";
import { parseExact } from "../core/json.ts";
import { bareNumber, foldedNumber, sameNumber, sha256 } from "../core/keys.ts";
import { type Kind, kinds } from "../core/kinds.ts";
import type { Fault } from "../core/record.ts";
import { remembered } from "../core/remembered.ts";
import { dayAt, dayBefore } from "../core/time.ts";
import {
  type Carried,
  type Likened,
  type Link,
  otherSide,
  type PendingDelivery,
} from "../store/deliveries.ts";
import type { StoredRequest } from "../store/requests.ts";
import { endpointOf, type Engine, type Flow, hasForgotten, referencesOf } from "./engine.ts";

/**
 * Whoever enters a document on the other side by hand dates it as it is, or when it is entered. What is delivered week by
 * week for the same amount is further apart.
 */
const DAYS_APART = 3;
/** Shorter than a hash: what begins with a number is in no range of days, which begins with one. */
const LEAD_MAX = 20;

/* Against what the store knows */

/** By what a document is known when another one looks like it, and by what it is known as a copy itself. */
export interface Likenesses {
  readonly told: Likeness | null;
  readonly own: readonly string[];
  readonly alike: readonly string[];
  /** As one of the other side: the number there, the reference here. */
  readonly crossing: readonly string[];
  /** As one of the other side by its party, amount and day alone: one for each day that counts as the same. */
  readonly twins: readonly string[];
}

/** Its mapping tells nothing, or nothing is like it. */
const LIKE_NOTHING: Likenesses = { told: null, own: [], alike: [], crossing: [], twins: [] };

export function likenessesOf(flow: Flow, record: unknown, references: References): Likenesses {
  const told = flow.mapping.likeness?.(record, references) ?? null;
  if (told === null) return LIKE_NOTHING;
  const { kind } = flow.mapping;
  const { party, company, amount, day, names, loads, lines, number } = told;
  const key = (...parts: readonly string[]): string =>
    sha256(JSON.stringify([kind, ...parts])).slice(0, 22);
  // Documents of one time have days and numbers in a row: what begins with them is in the same pages of the store.
  const of = (lead: string, ...parts: readonly string[]): string =>
    `${lead.slice(0, LEAD_MAX)} ${key(...parts)}`;
  const copied = (by: string, words: readonly string[] | null): string[] =>
    words === null ? [] : [of(day, flow.side, party, by, amount.plain(), day, ...words)];
  const words = names.length === 0 ? null : [...names, ...loads];
  const all = lines === null ? null : [...lines, ...loads].map(foldedNumber);
  const named = [
    ...copied("copied", words?.map(foldedNumber) ?? null),
    ...(number === null
      ? []
      : [of(foldedNumber(number), flow.side, party, "numbered", foldedNumber(number))]),
  ];
  const [unreferenced, referenced] = [copied("lines", all), copied("referenced lines", all)];
  const there = otherSide(flow.side);
  // The platform's document by its number, one of the books by what it refers to: both sides name the party otherwise.
  const across = (side: Flow["side"]): string[] =>
    (flow.side === "platform" ? [number ?? ""] : (words ?? []))
      .filter((word) => word.trim() !== "")
      .map(foldedNumber)
      .map((word) => of(word, "crossing", side, amount.plain(), word));
  const on = (side: Flow["side"], days: readonly Day[]): string[] => {
    if (company === null) return [];
    const twin = key("day", side, company, amount.plain());
    return days.map((one) => `${one} ${twin}`);
  };
  return {
    told,
    own: [
      ...across(flow.side),
      ...on(flow.side, [day]),
      ...named,
      ...(words === null ? unreferenced : referenced),
    ],
    alike: [...named, ...unreferenced, ...(words === null ? referenced : [])],
    crossing: across(there),
    twins: on(there, around(day)),
  };
}

/** The days around this one that count as the same for what is entered by hand, from the first to the last. */
const around = remembered((day: Day): readonly Day[] =>
  Array.from({ length: 2 * DAYS_APART + 1 }, (_, at) => dayBefore(day, DAYS_APART - at)),
);

interface Judging {
  readonly engine: Engine;
  readonly flow: Flow;
  readonly link: Link | null;
  readonly delivery: PendingDelivery;
  readonly number: string;
  readonly likenesses: Likenesses;
}

/** Why a document that was never delivered waits; null: it looks like no other that the store knows. */
export function copied({
  engine,
  flow,
  link,
  delivery,
  number,
  likenesses,
}: Judging): Fault | null {
  if (link !== null || flow.duplicates === "deliver") return null;
  const { told, alike, crossing } = likenesses;
  const store = engine.store.likenesses;
  if (!store.isAny([...alike, ...crossing, ...likenesses.twins], delivery.record)) return null;
  const [from, to] = [endpointOf(flow.from), endpointOf(flow.to)];
  const fault = (others: readonly Likened[], why: string): Fault =>
    duplicate({ number, id: delivery.recordId }, others, why, {
      look: `Compare both in "${from}". Is it the same document twice? Then remove one there and close this.`,
    });
  const copies = store.others(alike, delivery.record, false);
  if (copies.length > 0)
    return fault(
      copies,
      `, taken from "${from}" before: the party is the same, and so is the number, or the amount (of goods the gallons), the day and the reference`,
    );
  const numbered = store.others(crossing, delivery.record, true);
  if (numbered.length > 0)
    return fault(
      numbered,
      `, which "${to}" has already: the number of one is the reference of the other, and the amount is the same`,
    );
  const twins = store
    .others(likenesses.twins, delivery.record, true)
    .filter((one) => mayBeOne(engine, told, one));
  if (twins.length === 0) return null;
  return fault(
    twins,
    `, which "${to}" has already: the party, the amount (of goods the gallons) and the day are the same, and no number or load tells them apart`,
  );
}

/** Two documents that name different orders, or different loads, are two. */
function mayBeOne(engine: Engine, told: Likeness | null, { flow, text }: Likened): boolean {
  const from = engine.flows.find((one) => one.flow === flow);
  const record = from?.mapping.input.safeParse(parseExact(text));
  // Nobody can tell any more what it says.
  if (told === null || from === undefined || record?.success !== true) return true;
  const other = from.mapping.likeness?.(record.data, referencesOf(engine, from)) ?? null;
  if (other === null) return false;
  return (["names", "loads"] as const).every((words) => {
    const [ours, theirs] = [told[words], other[words]].map((all) => all.filter(bareNumber));
    const isSaid = (ours ?? []).length > 0 && (theirs ?? []).length > 0;
    return !isSaid || (ours ?? []).some((one) => theirs?.some((word) => isPart(one, word)));
  });
}

/** People write a name in part, with words and signs around it: `PO PO-7`, `7`. */
const isPart = (one: string, other: string): boolean =>
  bareNumber(one).includes(bareNumber(other)) || bareNumber(other).includes(bareNumber(one));

interface Named {
  readonly number: string;
  readonly id: string;
}

/** How many of the others are named. */
const SHOWN = 3;

function duplicate(
  one: Named,
  others: readonly (Named | Likened)[],
  why: string,
  { look }: { readonly look: string },
): Fault {
  const all = others.map((other) => ("id" in other ? other : { ...other, id: other.recordId }));
  const more = all.length > SHOWN ? [`${all.length - SHOWN} more`] : [];
  const shown = [...all.slice(0, SHOWN).map(nameOf), ...more].join(" and ");
  return {
    code: "duplicate",
    message: `${nameOf(one)} looks like ${shown}${why}`,
    next: `${look} Is it another one? Then retry: it goes as it is. (duplicates: deliver in the flow switches this off.)`,
    candidates: all.map(({ id }) => id),
  };
}

const nameOf = ({ number, id }: Named): string => (number === id ? number : `${number} (${id})`);

/* Against what only the receiver knows */

/** What of a receiver is asked before a first send. */
type Held = Pick<Holdings, "strength" | "list" | "expect">;

/** A request that was looked for by its number, and whose first byte is about to leave. */
export interface FirstSend {
  readonly request: StoredRequest;
  readonly carried: readonly Carried[];
}

/** Of these kinds a number alone names a document at its receiver: another number is another document there. */
const COMPARED: Readonly<Record<Flow["side"], readonly Kind[]>> = {
  erp: ["invoice", "delivery-ticket"],
  platform: ["invoice", "bill"],
};

/**
 * May the receiver have such a document already though nothing here says so? It may while the flow begins, for all that came
 * before a restored store was released (both: {@link Store.flows} `doubtful_ms`), and where no flow reads what people enter there.
 */
export function mayBeThere(engine: Engine, flow: Flow, { request, carried }: FirstSend): boolean {
  const { store, flows } = engine;
  const { mapping, holdings, side } = flow;
  const strength = holdings?.strength[kinds[mapping.kind] ?? "price"] ?? "remembered";
  const isCompared = COMPARED[side].includes(mapping.kind) && mapping.likeness !== undefined;
  if (!isCompared || strength === "remembered" || flow.duplicates === "deliver") return false;
  const { sends, firstSentWallMs } = request.machine;
  if (sends > 0 || firstSentWallMs !== null) return false;
  if (carried.every(({ recordId }) => store.links.find(mapping.kind, side, recordId) !== null))
    return false;
  const isRead = flows.some(
    (one) => one.side !== side && one.mapping.kind === mapping.kind && !one.paused,
  );
  return !isRead || isDoubtful(engine, flow, request);
}

/** It came before it was certain what of this flow's documents the receiver has. */
function isDoubtful({ store }: Engine, { name }: Flow, { request }: StoredRequest): boolean {
  const untilMs = store.flows.find(name)?.doubtful_ms ?? null;
  return untilMs === null || (store.requests.receivedMs(request) ?? 0) <= untilMs;
}

/** A store that was restored looks for all that it had before its release where it can, whatever its policy says. */
export const isForgotten = (engine: Engine, flow: Flow, request: StoredRequest): boolean =>
  flow.sink.forgets !== true && hasForgotten(engine) && isDoubtful(engine, flow, request);

interface Asked extends Named {
  readonly request: number;
  readonly delivery: number;
  readonly day: Day;
  readonly facts: Facts;
}

/** Its record would not be mapped as it was frozen any more: it is judged anew. */
export const ANEW = "anew";

/**
 * The requests of which a document looks like one that the receiver has and nothing here is linked with, and how. One list of the
 * receiver's, whatever their number. @throws SourceUnavailable
 */
export async function twinsAtReceiver(
  engine: Engine,
  flow: Flow,
  sends: readonly FirstSend[],
  signal: AbortSignal,
): Promise<ReadonlyMap<number, Fault | typeof ANEW>> {
  const faults = new Map<number, Fault | typeof ANEW>();
  const { holdings } = flow;
  if (holdings === undefined) return faults;
  const told = await askedOf(engine, flow, holdings, sends, signal);
  for (const request of told.changed) faults.set(request, ANEW);
  const { asked } = told;
  if (asked.length === 0) return faults;
  const there = await heldSince(
    engine,
    flow,
    holdings,
    asked.map(({ day }) => day),
    signal,
  );
  for (const one of asked) {
    const twins = there.filter(
      (holding) => isAlike(one, holding) && isFree(engine, flow, one, holding),
    );
    if (twins.length === 0) continue;
    const others = twins.map(({ id, facts }) => ({ id, number: facts.number ?? id }));
    const to = endpointOf(flow.to);
    const why = `, which "${to}" has and nothing here is linked with: the party, the amount (of goods the gallons), the lines and the day, or the day it is due, are the same`;
    const look = `Look in "${to}". Is it that one? Then close this with its id there.`;
    faults.set(one.request, duplicate(one, others, why, { look }));
  }
  return faults;
}

/** What of these was never delivered, in the receiver's words. @throws SourceUnavailable */
async function askedOf(
  engine: Engine,
  flow: Flow,
  holdings: Held,
  sends: readonly FirstSend[],
  signal: AbortSignal,
): Promise<{ readonly asked: readonly Asked[]; readonly changed: ReadonlySet<number> }> {
  const { store } = engine;
  const { mapping, side } = flow;
  const references = referencesOf(engine, flow);
  const changed = new Set<number>();
  const documents = sends.flatMap(({ request: { request }, carried }) =>
    carried.flatMap(({ delivery, recordId: id, revision, number }) => {
      if (store.links.find(mapping.kind, side, id) !== null) return [];
      try {
        const record = mapping.input.parse(parseExact(store.deliveries.text(delivery)));
        const { day = null } = mapping.likeness?.(record, references) ?? {};
        const document = mapping.map(record, references) as object | Skip;
        if ("skip" in document) changed.add(request);
        if ("skip" in document || day === null) return [];
        const item: Item = { number, id, revision, document, counterpart: null };
        return [{ item, asked: { number, id, request, delivery, day } }];
      } catch (error) {
        if (error instanceof FuelbridgeError) throw error;
        changed.add(request);
        return [];
      }
    }),
  );
  const kind = kinds[mapping.kind];
  if (kind === null || documents.length === 0) return { asked: [], changed };
  const items = documents.map(({ item }) => item);
  const expected = await holdings.expect(kind, items, signal);
  const asked = documents.flatMap(({ asked }, at) => {
    const one = expected[at];
    return one !== undefined && "facts" in one ? [{ ...asked, facts: one.facts }] : [];
  });
  return { asked, changed };
}

/** What was read of a receiver: since which day, and of which changes since then. */
interface Snapshot {
  from: Day;
  upTo: string;
  readonly held: Map<string, Holding>;
}
const snapshots = new WeakMap<Held, Map<string, Snapshot>>();
/** What was committed late, and clocks that differ. */
const OVERLAP_MS = 10 * 60_000;

/** What the receiver holds of these days, once; after that, what has changed since. @throws SourceUnavailable */
async function heldSince(
  { clock }: Engine,
  { mapping }: Flow,
  holdings: Held,
  days: readonly Day[],
  signal: AbortSignal,
): Promise<readonly Holding[]> {
  const kind = kinds[mapping.kind];
  if (kind === null) return [];
  const [first = ""] = days.toSorted();
  const from = dayBefore(first, DAYS_APART);
  const nowMs = clock.now().wallMs;
  const upTo = new Date(nowMs - OVERLAP_MS).toISOString();
  const kept = snapshots.get(holdings) ?? new Map<string, Snapshot>();
  snapshots.set(holdings, kept);
  const known = kept.get(kind);
  const isKnown = known !== undefined && known.from <= from;
  if (isKnown) forget(known, from);
  const snapshot = isKnown ? known : { from, upTo, held: new Map<string, Holding>() };
  const to = dayBefore(dayAt(nowMs), -DAYS_APART);
  const scope: Scope = isKnown
    ? { dated: null, changedSince: known.upTo, open: false, beforeSend: true }
    : { dated: { from, to }, changedSince: null, open: false, beforeSend: true };
  for await (const page of holdings.list(kind, scope, null, signal))
    for (const one of page.holdings) snapshot.held.set(one.id, { ...one, change: null });
  // A reading that was stopped has not told all there is.
  signal.throwIfAborted();
  snapshot.upTo = upTo;
  kept.set(kind, snapshot);
  return [...snapshot.held.values()];
}

/** What is long before the days at hand is like none of them: of a year of work nothing is kept. */
const KEPT_DAYS = 60;

function forget(snapshot: Snapshot, from: Day): void {
  const day = dayBefore(from, KEPT_DAYS);
  if (snapshot.from >= day) return;
  snapshot.from = day;
  for (const [id, { facts }] of snapshot.held)
    if ((facts.days?.date ?? day) < day) snapshot.held.delete(id);
}

/** Nothing here has to do with it: no link, no mark, nothing that is on its way under its number; and no person has said that it is another. */
function isFree(
  { store }: Engine,
  { mapping: { kind }, side }: Flow,
  { delivery }: Asked,
  { id, aliases = [], mark, facts }: Holding,
): boolean {
  const there = otherSide(side);
  if (mark !== null || facts.state === "ended") return false;
  if ([id, ...aliases].some((one) => store.links.find(kind, there, one) !== null)) return false;
  // It may be one of ours whose answer is not known yet.
  const live = facts.number === undefined ? null : store.requests.live(kind, facts.number);
  if ((live?.machine.firstSentWallMs ?? null) !== null) return false;
  return !store.incidents.isDismissed(delivery, id);
}

/** The same party, amount and lines, on the same day or due on the same; numbers do not count. */
function isAlike({ facts, day, number }: Asked, { facts: held, kind }: Holding): boolean {
  const isSameParty = (facts.party ?? null) !== null && facts.party === held.party;
  const [side, otherSide] = [facts, held].map((one) => partyRole({ kind, facts: one }));
  if (!isSameParty || side !== otherSide || !isSameAmount(facts, held)) return false;
  if (isSaidOtherwise("order", facts, held)) return false;
  if (isSaidOtherwise("reference", facts, held, [number, held.number ?? number])) return false;
  const [due, otherDue] = [facts.days?.due ?? null, held.days?.due ?? null];
  const isDueAlike = due !== null && due === otherDue;
  return isDueAlike || around(day).includes(held.days?.date ?? "");
}

/** Both say something there, and not the same. Books without a reference repeat a number there. */
function isSaidOtherwise(
  word: "order" | "reference",
  { words: ours }: Facts,
  { words: theirs }: Facts,
  numbers: readonly string[] = [],
): boolean {
  const [one, other] = [ours?.[word] ?? "", theirs?.[word] ?? ""].map((text) => text.trim());
  if (!one || !other || isPart(one, other)) return false;
  return !numbers.some((number) => sameNumber(number, one) || sameNumber(number, other));
}

/** In total, and line by line where both have as many: whoever enters it by hand may enter its sum alone. */
function isSameAmount(ours: Facts, theirs: Facts): boolean {
  const [total, otherTotal] = [ours.money?.total ?? null, theirs.money?.total ?? null];
  const [lines, otherLines] = [figuresIn(ours.lines), figuresIn(theirs.lines)];
  if (total === null || otherTotal === null)
    return total === otherTotal && lines.length > 0 && lines.join() === otherLines.join();
  if (!total.equals(otherTotal)) return false;
  return lines.length !== otherLines.length || lines.join() === otherLines.join();
}

/** An amount of 0 is that of goods. */
const figuresIn = (lines: readonly FactLine[] = []): string[] =>
  lines
    .map(({ quantity, amount }) =>
      amount.sign === 0 ? (quantity ?? Decimal.zero).plain() : amount.plain(),
    )
    .toSorted();

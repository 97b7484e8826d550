/**
 * What becomes of a pending document: one ordered list of rules, and the first that has a verdict decides. A document of
 * which no rule says anything is ready: it may be frozen. The rules ask; what follows is written down where they are
 * applied (daemon.ts), in the same transaction.
 */
import type { FaultCode } from "../core/faults.ts";
import {
  checkedBy,
  type Figures,
  type Frozen,
  type Item,
  type References,
  type Skip,
} from "../core/contract.ts";
import { type Fault, leavesIn } from "../core/record.ts";
import { Decimal } from "../core/decimal.ts";
import { complaintOf, FuelbridgeError, Refused, WaitsFor } from "../core/errors.ts";
import { parseExact } from "../core/json.ts";
import { contentOf, sameNumber } from "../core/keys.ts";
import type { Kind } from "../core/kinds.ts";
import { amountText, folded } from "../core/text.ts";
import {
  type Link,
  type Mapped,
  otherId,
  otherSide,
  ownId,
  type PendingDelivery,
} from "../store/deliveries.ts";
import { foldedOf } from "../store/statements.ts";
import {
  goneBefore,
  isRevisit,
  leaveBehind,
  linkBoth,
  referenceTaken,
  settleDifferences,
  skippedSince,
  undecidedBefore,
  waitsSince,
} from "./delivered.ts";
import { copied, type Likenesses, likenessesOf } from "./copies.ts";
import { aboutOf, changesIn } from "./about.ts";
import { awaitedFault } from "./awaited.ts";
import { moved, namesOf, recognised, waitsForFirst } from "./deliver.ts";
import { audit, endpointOf, type Engine, type Flow, referencesOf } from "./engine.ts";
import { otherReceiver, receiversOf } from "./left.ts";
import { movedAway, whoseIs } from "./sites.ts";

export interface Ready {
  readonly delivery: PendingDelivery;
  readonly item: Item;
  readonly mapped: Mapped;
  /** What goes out when it shares its request with no other; that it could be made is its local check. */
  readonly alone: Frozen;
}

type Verdict =
  | {
      readonly verdict: "skipped";
      readonly note: string;
      /** The other site that has it: what waits for it is that site's, too. */
      readonly site?: string;
    }
  | {
      readonly verdict: "echo";
      readonly note: string;
      /** What is written down with it. */
      readonly also: () => void;
    }
  | {
      readonly verdict: "quarantined";
      readonly fault: Fault;
      /** What a person's decision about it is a decision about, too. */
      readonly request?: number;
      /** What is written down with it. */
      readonly also?: () => void;
    }
  /** Something it depends on is on its way: it is looked at again once that is settled. */
  | { readonly verdict: "held" }
  /** It goes by itself now. */
  | { readonly verdict: "apart" };

/** `number`: null where nobody can tell it. */
export type Judged = (
  | ({ readonly number: string | null } & Verdict)
  | { readonly verdict: "ready"; readonly ready: Ready }
) & {
  /** By what copies of it are known; null: as before. */
  readonly likenesses: readonly string[] | null;
};

interface Rule {
  readonly name: string;
  /** Null: this rule says nothing of it. @throws Refused, WaitsFor */
  judge(document: PendingDocument, round: Round): Verdict | null;
}

const HELD: Verdict = { verdict: "held" };

type Quarantined = Extract<Verdict, { verdict: "quarantined" }>;

const quarantined = (fault: Fault, more: Partial<Quarantined> = {}): Quarantined => ({
  verdict: "quarantined",
  fault,
  ...more,
});

const writtenByUs = (number: string, also = (): void => {}): Verdict => ({
  verdict: "echo",
  note: `written by us as ${number}`,
  also,
});

/** In this order: what is ours or on its way comes before what is wrong with a document, for then it is not at fault. */
const rules: readonly Rule[] = [
  { name: "another site has it, or nobody knows which one", judge: judgeSite },
  {
    name: "its source says what is wrong with it",
    judge: judgeTold,
  },
  {
    name: "a second half waits for what the first one shows",
    judge: ({ engine: { store }, delivery: { bisectGroup } }) =>
      waitsForFirst(store.bisectGroups, bisectGroup) ? HELD : null,
  },
  { name: "we wrote it: it is known as the other side's", judge: judgeWritten },
  { name: "an earlier version is on its way", judge: judgeEarlierVersion },
  { name: "a document of its number is on its way", judge: judgeSameNumber },
  {
    name: "it is on its way as the other kind",
    judge: ({ link, delivery: { recordId } }, { turning }) =>
      link === null && turning.has(recordId) ? HELD : null,
  },
  { name: "it turned into the other kind", judge: judgeTurned },
  { name: "it is there twice", judge: judgeDoubled },
  {
    name: "the version before is gone from its receiver",
    judge: ({ engine: { store }, flow, link, delivery: { record } }) =>
      link === null && store.incidents.state(record, "gone") === "open"
        ? quarantined(goneBefore(endpointOf(flow.to)))
        : null,
  },
  { name: "a person has corrected the version before", judge: judgeCorrected },
  { name: "its mapping skips it", judge: judgeSkipped },
  { name: "nothing new for the receiver", judge: judgeUnchanged },
  { name: "it was delivered to another receiver", judge: judgeElsewhere },
  { name: "it changed after it was delivered", judge: judgeChanged },
  {
    name: "it looks like another one",
    judge: (document) => {
      const fault = copied(document);
      return fault && quarantined(fault);
    },
  },
  { name: "its reference at the receiver is another one's", judge: judgeReference },
];

/** What the documents of one round have in common. */
export class Round {
  readonly references: References;
  /** Ids of the platform's records that are on their way as the other kind: their outcome is waited for. */
  readonly turning: ReadonlySet<string>;
  readonly #engine: Engine;
  readonly #flow: Flow;
  /** The newest version of a record that is on its way. */
  readonly #versions;

  /** Inside the transaction of the round. */
  constructor(engine: Engine, flow: Flow, deliveries: readonly PendingDelivery[], atMs: number) {
    const { store, flows } = engine;
    this.#engine = engine;
    this.#flow = flow;
    this.references = referencesOf(engine, flow, (table, key) =>
      store.rowUses.used(table, key, atMs),
    );
    const home = new Set(flows.filter(({ side }) => side === "platform").map((one) => one.flow));
    const live = turnsOf(flow).flatMap((kind) => store.underWay.records(kind));
    this.turning = new Set(
      live.filter((row) => home.has(row.flow)).map(({ recordId }) => recordId),
    );
    const ids = deliveries.map(({ recordId }) => recordId);
    for (const kind of [flow.mapping.kind, ...turnsOf(flow)])
      store.links.ahead(kind, flow.side, ids);
    const own = deliveries.map(({ record }) => record);
    const versions = store.underWay.versions(flow.mapping.kind, flow.flow, own);
    this.#versions = new Map(versions.map((one) => [one.record, one]));
  }

  version = (record: number) => this.#versions.get(record) ?? null;

  judge(delivery: PendingDelivery): Judged {
    const document = new PendingDocument(this.#engine, this.#flow, delivery, this.references);
    try {
      for (const rule of rules) {
        const verdict = rule.judge(document, this);
        if (verdict === null) continue;
        if (verdict.verdict === "held") return { ...verdict, number: null, likenesses: null };
        const { knownNumber: number, knownLikenesses } = document;
        const likenesses = verdict.verdict === "quarantined" ? knownLikenesses : null;
        return { ...verdict, number, likenesses };
      }
      return { verdict: "ready", ready: document.ready, likenesses: document.likenesses.own };
    } catch (error) {
      const { knownNumber: number, knownLikenesses: likenesses } = document;
      const fault =
        error instanceof WaitsFor
          ? awaitedFault(this.#engine, this.#flow, error)
          : knownAs(document.link, number, faultOf(error));
      return { ...quarantined(fault), number, likenesses };
    }
  }
}

/** With the number that the other side has it under: one that is void or deleted may have lost its own where it comes from. */
function knownAs(link: Link | null, number: string | null, fault: Fault): Fault {
  if (link === null || number === null || !isRenumbered(link, number)) return fault;
  const { message, reason = message } = fault;
  return { ...fault, message: `delivered as ${link.number}: ${message}`, reason };
}

/** A delivery and what its rules ask of it, each made when the first rule asks. @throws Refused, WaitsFor */
export class PendingDocument {
  readonly engine: Engine;
  readonly flow: Flow;
  readonly delivery: PendingDelivery;
  readonly #references: References;
  #told: ReturnType<typeof parseExact> | undefined;
  #record: unknown;
  #number: string | null = null;
  #link: Link | null | undefined;
  #mapped: Skip | MappedDocument | undefined;
  #likenesses: Likenesses | undefined;
  #item: Item | undefined;
  #alone: Frozen | undefined;

  constructor(engine: Engine, flow: Flow, delivery: PendingDelivery, references: References) {
    this.engine = engine;
    this.flow = flow;
    this.delivery = delivery;
    this.#references = references;
  }

  /** As its source told it. */
  get told() {
    return (this.#told ??= parseExact(this.delivery.text));
  }

  get record(): unknown {
    return (this.#record ??= parsed(this.flow.mapping.input, this.told, "does-not-fit"));
  }

  get number(): string {
    return (this.#number ??= this.flow.mapping.number(this.record));
  }

  /** What is told of a document whose source says that it is wrong goes by its id. */
  get knownNumber(): string | null {
    if (this.delivery.fault !== null) return this.delivery.recordId;
    try {
      return this.number;
    } catch (error) {
      faultOf(error);
      return null;
    }
  }

  /** What its record was delivered as. */
  get link(): Link | null {
    if (this.#link !== undefined) return this.#link;
    const { mapping, side } = this.flow;
    return (this.#link = this.engine.store.links.find(mapping.kind, side, this.delivery.recordId));
  }

  get mapped(): Skip | MappedDocument {
    if (this.#mapped !== undefined) return this.#mapped;
    const isThere = this.link !== null;
    const mapped = mappedBy(this.flow, this.record, { ...this.#references, isThere });
    if ("skip" in mapped || isThere) return (this.#mapped = mapped);
    const reason = this.flow.sink.skips?.(mapped.document) ?? null;
    return (this.#mapped = reason === null ? mapped : { skip: reason });
  }

  /** Of a document that is not skipped. */
  get made(): MappedDocument {
    return this.mapped as MappedDocument;
  }

  get likenesses(): Likenesses {
    return (this.#likenesses ??= likenessesOf(this.flow, this.record, this.#references));
  }

  /** Of one that cannot go as it is: a person may enter it by hand. Null: it cannot be read. */
  get knownLikenesses(): readonly string[] | null {
    try {
      return this.likenesses.own;
    } catch (error) {
      faultOf(error);
      return null;
    }
  }

  /** The other side's id of what it was made of there, as the record says; null: it does not, or cannot be read. */
  get madeOf(): string | null {
    try {
      return "skip" in this.mapped ? (this.mapped.madeOf ?? null) : null;
    } catch (error) {
      faultOf(error);
      return null;
    }
  }

  get item(): Item {
    if (this.#item !== undefined) return this.#item;
    const { engine, flow, delivery, link, number } = this;
    const settledSince = waitsSince(engine, flow, delivery, engine.clock.now().wallMs);
    const ours = link?.born === flow.side ? link.content : null;
    return (this.#item = {
      number,
      id: delivery.recordId,
      revision: delivery.revision,
      document: this.made.document,
      counterpart: link === null ? null : otherId(link, flow.side),
      ...(ours === null ? {} : { delivered: () => this.#bytesOf(ours) }),
      ...(settledSince === null ? {} : { settledSince }),
    });
  }

  /** Null also where it went with others. */
  #bytesOf(content: string): string | null {
    const { engine, flow, delivery } = this;
    const { losses, requests } = engine.store;
    const request = losses.lastRequest(flow.flow, delivery.recordId, content);
    const isAlone = request !== null && requests.carried(request).length === 1;
    return isAlone ? requests.bytes(request) : null;
  }

  get alone(): Frozen {
    return (this.#alone ??= this.flow.sink.freeze([this.item]));
  }

  get ready(): Ready {
    const { delivery, item, alone, number } = this;
    const mapped = {
      number,
      folded: foldedOf(this.flow.mapping.kind, number),
      content: this.made.content,
      amount: amountOf(this.made),
      party: partyOf(this.made),
    };
    return { delivery, item, mapped, alone };
  }
}

interface MappedDocument {
  readonly document: unknown;
  readonly figures: Figures;
  readonly content: string;
}

/** @throws Refused, WaitsFor; Refused also when the mapping has made no such document */
function mappedBy(
  { mapping, sink }: Flow,
  record: unknown,
  references: References,
): Skip | MappedDocument {
  const out = mapping.map(record, references) as Skip | object;
  if ("skip" in out && typeof out.skip === "string") return out;
  const document = parsed(mapping.output, out, "mapping-output") as object;
  checkedBy.set(document, mapping.output);
  const content = contentOf(sink.concerns?.(document) ?? document);
  return { document, figures: mapping.figures(document), content };
}

const amountOf = ({ figures }: MappedDocument): string | null => figures.amount?.plain() ?? null;

const partyOf = ({ figures }: MappedDocument): string | null => figures.party ?? null;

/**
 * A person says that the receiver has this version as `other`: what changes after it is told as after a delivery. One that
 * cannot be mapped has the number and the amount of what was delivered before. Inside a transaction.
 */
export function linkByHand(engine: Engine, flow: Flow, delivery: number, other: string): void {
  const { deliveries, links } = engine.store;
  const carried = deliveries.carried(delivery);
  if (carried === null) return;
  const before = links.find(flow.mapping.kind, flow.side, carried.recordId);
  const made = carried.content === null ? mappedNow(engine, flow, delivery) : carried;
  const number = carried.number || (before?.number ?? "");
  const { amount = null, party = null } = made ?? before ?? {};
  const content = made?.content ?? null;
  if (amount !== null) deliveries.setAmount(delivery, amount);
  linkBoth(
    engine,
    flow,
    { ...carried, number, content, amount, party },
    other,
    engine.clock.now().wallMs,
  );
}

/** Null: it cannot be mapped, or is rightly not sent. */
function mappedNow(
  engine: Engine,
  flow: Flow,
  delivery: number,
): Pick<Mapped, "content" | "amount" | "party"> | null {
  try {
    const record = parsed(
      flow.mapping.input,
      parseExact(engine.store.deliveries.text(delivery)),
      "does-not-fit",
    );
    const mapped = mappedBy(flow, record, referencesOf(engine, flow));
    if ("skip" in mapped) return null;
    return { content: mapped.content, amount: amountOf(mapped), party: partyOf(mapped) };
  } catch (error) {
    faultOf(error);
    return null;
  }
}

/** Another site's record is skipped; one that no rule fits, or rules of two sites, is a person's. @throws WaitsFor */
function judgeSite(document: PendingDocument): Verdict | null {
  const { engine, flow, delivery } = document;
  if (engine.sites === undefined) return null;
  const whose = whoseIs(engine, flow, document.told);
  const { link } = document;
  if (whose.is === "other" && link === null) {
    const { site } = whose;
    return { verdict: "skipped", note: `it belongs to site ${site}`, site };
  }
  if (whose.is === "other" && link?.born === flow.side)
    return quarantined(movedAway(link, whose.site));
  // What we have is ours, and what is wrong with a record comes first.
  if (whose.is === "ours" || link !== null || delivery.fault !== null) return null;
  if (whose.is === "other") return null;
  if (whose.is === "waits") throw new WaitsFor(whose.kind, whose.id);
  return quarantined(whose.fault);
}

/**
 * Where its receiver is not asked how our documents stand there (verify.ts), only what comes by from there tells that
 * somebody has changed an amount, or has voided what is valid where it began.
 */
function judgeWritten({ engine, flow, link, number, record }: PendingDocument): Verdict | null {
  if (link === null || link.born === flow.side) return null;
  const { mapping } = flow;
  const { amount: held, ended } = mapping.about?.(record) ?? {};
  if (mapping.posts !== true || !held || link.amount === null) return writtenByUs(number);
  const brought = Decimal.of(link.amount);
  const total = { field: "money.total", expected: amountText(brought), held: amountText(held) };
  const isVoid = { field: "state", expected: "valid", held: "void" };
  return writtenByUs(number, () => {
    for (const one of engine.flows) {
      if (one.side === flow.side || one.mapping.kind !== mapping.kind || one.sink.inspect) continue;
      const text = ended ? engine.store.openRecords.text(one.flow, ownId(link, one.side)) : null;
      const isEnded = ended === true && aboutOf(one, text).ended !== true;
      const differences = [...(held.equals(brought) ? [] : [total]), ...(isEnded ? [isVoid] : [])];
      settleDifferences(engine, one, [{ link, differences }], "inspection");
    }
  });
}

function judgeEarlierVersion(document: PendingDocument, round: Round): Verdict | null {
  const { engine, flow, delivery } = document;
  const version = round.version(delivery.record);
  // While a batch is on its way its ordering key holds up all.
  const isAlone = flow.sink.itemsMax === 1;
  if (version?.state !== "manual") return version !== null && isAlone ? HELD : null;
  // An earlier version waits for a person, whose decision this one needs as well.
  if (isAlone) return quarantined(undecidedBefore, { request: version.request });
  // In a batch this one takes its place, and is looked for first by itself.
  const { store, clock } = engine;
  const request = store.requests.get(version.request);
  const event = { type: "decision", at: clock.now(), decision: "cancel" } as const;
  if (request !== null) moved(engine, flow, request, event, "a newer version goes instead");
  store.bisectGroups.put(delivery.delivery, -version.request);
  return { verdict: "apart" };
}

function judgeSameNumber({ engine, flow, number, told }: PendingDocument): Verdict | null {
  const { store, flows } = engine;
  const { kind } = flow.mapping;
  const live = store.requests.live(kind, number);
  // Our own document may come by in a poll before its outcome is known.
  if (live !== null && live.flow !== flow.flow && recognised(engine, live, told))
    return writtenByUs(number);
  // A twin of another kind that waits for a person is another document.
  const hasTwin = flows.some(
    (one) =>
      one.mapping.kind !== kind &&
      namesOf(one) === namesOf(flow) &&
      (store.requests.live(one.mapping.kind, number)?.machine.state ?? "manual") !== "manual",
  );
  // In a batch, too: its request has no document's number.
  return live !== null || hasTwin || store.underWay.elsewhere(kind, number, flow.flow)
    ? HELD
    : null;
}

/**
 * A sale that turned into a purchase, or back: a record of the platform that was booked by one flow comes by in the flow
 * of the other kind, under the same id. The first document would stay and a second one be booked, so a person decides
 * (ADR 0009). Orders and tickets are of one kind each: their sinks see it (src/ledger/goods.ts).
 */
const TURNING_KINDS: Readonly<
  Partial<Record<Kind, { readonly word: string; readonly turns: readonly Kind[] }>>
> = {
  invoice: { word: "sale", turns: ["bill"] },
  bill: { word: "purchase", turns: ["invoice"] },
  payment: { word: "payment received", turns: ["bill-payment"] },
  "bill-payment": { word: "payment made", turns: ["payment"] },
};

/** Only ids of the platform name the same thing in two flows; an ERP may count each kind from 1. */
const turnsOf = ({ side, mapping }: Flow): readonly Kind[] =>
  side === "platform" ? (TURNING_KINDS[mapping.kind]?.turns ?? []) : [];

/** What its source only doubts goes when a person retries it. */
function judgeTold(document: PendingDocument): Verdict | null {
  const { fault } = document.delivery;
  return fault?.code === "row-twice" ? untilRetried(document, fault) : fault && quarantined(fault);
}

/** Null also where a person has seen to it and said so with a retry. */
function judgeTurned(document: PendingDocument): Verdict | null {
  const { engine, flow, link, delivery, number } = document;
  if (link !== null) return null;
  const { links } = engine.store;
  const { recordId } = delivery;
  const all = turnsOf(flow).flatMap((kind) => links.find(kind, "platform", recordId) ?? []);
  const [booked] = all;
  if (booked === undefined) return null;
  const told = `${booked.kind} ${booked.number}, ${booked.erpId}`;
  const verdict = untilRetried(document, turnedFault(flow, booked, number), told);
  if (verdict !== null) return verdict;
  // What began in the ERP stays known as its own.
  for (const { kind, born } of all) if (born === "platform") links.drop(kind, "platform", recordId);
  return null;
}

/** A person has it until that person retries it. */
function untilRetried(
  { engine, flow, delivery: { delivery, record } }: PendingDocument,
  fault: Fault,
  told = fault.message,
): Verdict | null {
  const { incidents } = engine.store;
  if (incidents.state(record, "turned") === "retried") {
    audit(engine, flow, `${fault.code} over`, told, { delivery });
    incidents.end(delivery, "turned");
    return null;
  }
  const also = (): void => {
    audit(engine, flow, fault.code, told, { delivery });
    incidents.open(delivery, "turned");
  };
  return quarantined(fault, { also });
}

function turnedFault(flow: Flow, { kind, number: booked, erpId }: Link, number: string): Fault {
  const endpoint = endpointOf(flow.to);
  const was = TURNING_KINDS[kind]?.word ?? kind;
  const is = TURNING_KINDS[flow.mapping.kind]?.word ?? "";
  return {
    code: "turned",
    message: `${was} ${booked} is booked in "${endpoint}" as ${erpId}; the platform now says ${is} ${number}`,
    next: `If the platform is right, cancel ${erpId} in "${endpoint}", then retry: it is booked as ${is}. If not, correct it on the platform, and close this.`,
  };
}

/** We have written a document of this number to the side that this one comes from, and it does not say that it is that one. */
function judgeDoubled(document: PendingDocument): Verdict | null {
  const { engine, flow, link, delivery, number } = document;
  if (link !== null) return null;
  const { mapping, side } = flow;
  const there = otherSide(side);
  const ours = engine.store.links.numbered(mapping.kind, number, there);
  if (ours === null || document.madeOf === otherId(ours, side)) return null;
  return quarantined({
    code: "doubled",
    message: `${number} is there twice: we wrote ${ours.number === number ? "it" : ours.number} as ${ownId(ours, side)}, and this is ${delivery.recordId}`,
    next: "Have the one that is too many removed where it is; then close this.",
  });
}

/** A person's correction ends with a newer version, never in silence (ADR 0007). Null: that one says something else in every corrected field. */
function judgeCorrected({ engine, flow, delivery, told }: PendingDocument): Verdict | null {
  const { correctedBefore: before, record } = delivery;
  if (before.length === 0) return null;
  const end = (): void => {
    engine.store.corrections.end(record, engine.clock.now().wallMs);
    for (const { field, value, who } of before) {
      const detail = `a newer version came; ${who} had corrected ${field} to "${value}"`;
      audit(engine, flow, "correction ended", detail, { delivery: delivery.delivery });
    }
  };
  const now = new Map(leavesIn(told).map(({ field, value }) => [field, value]));
  const repeated = before.find(({ field, was }) => now.get(field) === was);
  if (repeated === undefined) {
    end();
    return null;
  }
  const { field, was, value, who } = repeated;
  const fault: Fault = {
    code: "corrected-before",
    message: `${who} had corrected ${field} to "${value}", and a newer version says ${was === null ? "nothing" : `"${was}"`} there again`,
    next: "Have it corrected where it comes from, and it is taken by itself; or correct it here again (`fuelbridge quarantine edit`). Retry it to send it as it came.",
    field,
  };
  return quarantined(fault, { also: end });
}

/**
 * What was delivered before would stay at its receiver as it was, and nobody would know. Where the record says what the
 * receiver has it as (`madeOf`), the receiver knows more than we would tell it.
 */
function judgeSkipped({ flow, link, mapped }: PendingDocument): Verdict | null {
  if (!("skip" in mapped)) return null;
  if (link === null || mapped.madeOf !== undefined)
    return { verdict: "skipped", note: mapped.skip };
  return quarantined(skippedSince(endpointOf(flow.to), link, mapped.skip));
}

/** How a document stands to what was delivered of it; `due`: it goes again with the same content. */
function standOf({
  engine,
  flow,
  link,
  delivery,
  number,
  made,
}: PendingDocument): "new" | "due" | "unchanged" | "changed" {
  if (link === null) return "new";
  const isSame = link.content === made.content;
  if (isSame) return isRevisit(engine, delivery) ? "due" : "unchanged";
  // Without content it was linked by a person, who has seen what is there. A new number is a change of a known document.
  const isLinkedByHand = link.content === null && flow.sink.writes === "create";
  const isSeen =
    !isRenumbered(link, number) && (link.amount === null || link.amount === amountOf(made));
  return isLinkedByHand && isSeen ? "unchanged" : "changed";
}

/** A version that nobody could read may be linked by hand: then its number is not known. */
const isRenumbered = (link: Link, number: string): boolean =>
  link.number !== "" && !sameNumber(link.number, number);

function judgeUnchanged(document: PendingDocument): Verdict | null {
  if (standOf(document) !== "unchanged") return null;
  const { engine, flow, delivery } = document;
  const { store } = engine;
  const { sink } = flow;
  const { record } = delivery;
  // What a document waits for at its receiver, its newer version waits for as well.
  if (sink.unfinished !== undefined && store.incidents.state(record, "unfinished") === "open")
    return quarantined(sink.unfinished.fault);
  // The receiver holds other values (delivered.ts): the newest delivery takes the older one's place with the person, and
  // goes once more when that person has retried it.
  const { disagreements } = store;
  const standing = disagreements.standing(record, delivery.delivery);
  if (standing === "retried" && sink.writes !== "create") return null;
  if (standing === null || standing === "retried")
    return { verdict: "skipped", note: "nothing new for the receiver" };
  const also = (): void => void disagreements.carry(record, delivery.delivery);
  return quarantined(standing, { also });
}

/** A person's, until that person has it go to the receiver of now: there it is a new one, and mapped as such. */
function judgeElsewhere(document: PendingDocument): Verdict | null {
  const { engine, flow, link, delivery, number } = document;
  const receivers = link === null ? null : receiversOf(engine, flow, link);
  if (link === null || receivers === null) return null;
  const verdict = untilRetried(document, otherReceiver(number, receivers));
  if (verdict === null) engine.store.links.drop(link.kind, flow.side, delivery.recordId);
  return verdict ?? { verdict: "apart" };
}

/** Null: the receiver takes this change. */
function judgeChanged(document: PendingDocument): Verdict | null {
  const { flow, link, number } = document;
  if (link === null || standOf(document) !== "changed") return null;
  const { amount } = document.made.figures;
  const hasNewNumber = isRenumbered(link, number);
  const named = hasNewNumber ? `it was delivered as ${link.number} and is ${number} now; ` : "";
  const was = link.amount === null ? null : Decimal.of(link.amount);
  if (flow.mapping.posts && was !== null && !(amount?.equals(was) ?? false))
    return quarantined({
      code: "amount-changed-after-posting",
      message: `${named}the amount changed from ${amountText(was)} to ${amount === null ? "none" : amountText(amount)} after it was delivered`,
      next: "An accountant decides: book a correction or credit note by hand, then close it here. It closes by itself when the amount is changed back.",
    });
  if (flow.sink.writes !== "create") return judgeRebilled(document, link);
  if (hasNewNumber)
    return quarantined({
      code: "renumbered",
      message: `${named}the receiver takes no changes`,
      next: "Give it its old number again where it comes from, and it closes by itself; or have the number changed at the receiver by hand, then close it here.",
    });
  const before = document.item.delivered?.() ?? null;
  const changes = before === null ? "" : changesIn(before, document.alone.body);
  // Two customers that became one, in the books: who owes it is another one there than here.
  const party = partyOf(document.made) ?? link.party ?? "";
  const isTurned = Boolean(link.party) && folded(party) !== folded(link.party ?? "");
  if (isTurned && flow.sink.names !== undefined && flow.source.keepsIds !== true)
    return judgeNamed(document, link, changes);
  return quarantined({
    code: "changed-after-delivery",
    message: `${isTurned ? `it was delivered for ${link.party} and is for ${party} now` : "it changed after it was delivered"}, and the receiver takes no changes${changes && `:\n${changes}`}`,
    next: "Change it there by hand if it matters, then close it here.",
    ...(isTurned
      ? { reason: "it is for another party now, and the receiver takes no changes" }
      : {}),
  });
}

/** A party under another name: its code may be another firm's now, which gets a company of its own when a person says so. */
function judgeNamed(document: PendingDocument, link: Link, changes: string): Verdict {
  const { engine, flow, number } = document;
  const there = otherId(link, flow.side);
  const verdict = untilRetried(document, {
    code: "code-changed",
    message: `${link.kind} ${number} has another name than it was delivered with, and what names it waits${changes && `:\n${changes}`}`,
    next: `Is it the same firm? Then close this, and change the name there (${there}), too. Has another firm its code now? Then retry this: it gets a company of its own; or close this with the id of that firm there.`,
    reason: "its code may be another firm's now",
    candidates: [there],
  });
  if (verdict === null) leaveBehind(engine, link, partyOf(document.made) ?? "");
  return verdict ?? { verdict: "apart" };
}

/**
 * A posted document that is another company's now, by the platform or by a table: in the books it would stand twice. Null
 * also where a person has seen to it and said so with a retry.
 */
function judgeRebilled(document: PendingDocument, link: Link): Verdict | null {
  const { flow, number } = document;
  const party = partyOf(document.made);
  if (!link.party || party === null || party === link.party) return null;
  const reason = `was delivered for ${link.party} and is for ${party} now`;
  const fault: Fault = {
    code: "turned",
    message: `${number} ${reason}`,
    next: `If that is right, cancel what "${endpointOf(flow.to)}" booked for ${link.party}, or see that both are one account there; then retry. If not, correct it where it comes from, or in the table, and it closes by itself.`,
    reason,
  };
  return untilRetried(document, fault, `${link.party}, now ${party}`);
}

function judgeReference(document: PendingDocument): Verdict | null {
  const taken = referenceTaken(document.engine, document.flow, document);
  if (taken === null) return null;
  return quarantined({
    code: "reference-taken",
    message: `its number at the receiver (${taken.reference}) is that of ${taken.by}, which went there before`,
    next: "Enter this one there by hand, then close it here: under one number nobody could tell which of the two an answer is about.",
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

/** @throws Refused with the schema's first complaints */
export function parsed(
  schema: {
    safeParse(value: unknown): { success: true; data: unknown } | { success: false; error: Issues };
  },
  value: unknown,
  code: FaultCode,
): unknown {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issues = result.error.issues.slice(0, 3);
  const field = issues[0]?.path.join(".");
  throw new Refused({
    code,
    message: issues.map(complaintOf).join("; "),
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

/** What the engine works with. It knows the store and the contract of endpoints; nothing of HTTP, files or any ERP. */
import {
  type Mapping,
  type Outgoing,
  type References,
  referencesBy,
  type Sink,
  type Source,
} from "../core/contract.ts";
import { WaitsFor } from "../core/errors.ts";
import type { Holdings } from "../core/holdings.ts";
import type { SiteRules } from "../core/sites.ts";
import type { Clock } from "../core/time.ts";
import { type After, lengthOf } from "../core/pace.ts";
import { monthAt } from "../core/budget.ts";
import type { Counted, Entry } from "../store/journal.ts";
import {
  type Carried,
  type Link,
  otherId,
  otherSide,
  ownId,
  type Side,
} from "../store/deliveries.ts";
import type { Store } from "../store/store.ts";
import { Decimal } from "../core/decimal.ts";
import { attachmentKind, attachmentMapping, attachmentText, NoFile } from "../core/attachment.ts";
import { type Answer, nothingDone, refused } from "../core/outcome.ts";

/** When a list is not believed. */
export interface ListLimits {
  /** A list that lacks more than this share of what it had is torn, percent. 100: it never is. */
  readonly lostPercent: number;
  /** One of more than so many times what it had waits for a person. */
  readonly growthTimes: number;
}

export const usualLimits: ListLimits = { lostPercent: 20, growthTimes: 10 };

export interface Engine {
  readonly store: Store;
  readonly clock: Clock;
  /** Enters every idempotency key. */
  readonly company: string;
  readonly environment: "live" | "test";
  /** ISO 4217. */
  readonly currency: string;
  /** The calendar day (`YYYY-MM-DD`) of an instant where the company is. */
  readonly dayOf: (instant: string) => string;
  readonly tables: Tables;
  /** All that are configured. */
  readonly flows: readonly Flow[];
  /** What the platform already has of this company; left out: nobody asks. @throws SourceUnavailable */
  readonly knowsUs?: (signal: AbortSignal) => Promise<string | null>;
  /** The day on which fuelbridge works here for the first time, as its configuration says. */
  readonly firstStart?: string | null;
  /** Where several sites share the API key: whose records are whose. `own` null: a hub, which has none. Left out: all are ours. */
  readonly sites?: { readonly own: string | null; readonly rules: SiteRules };
  /** A line for the log and for whoever watches: never a payload. */
  readonly note: (event: string, details: Readonly<Record<string, unknown>>) => void;
  /** Told during long readings, and after every page, round of freezing and answer. */
  readonly progress?: (progress: Progress) => void;
  /** Told when work was done and nothing more is to do just now. */
  readonly rest?: () => void;
  /** How far apart looks at what the platform has are just now; left out: as configured. */
  readonly pace?: Pace;
}

/** Where the work on a flow stands. */
export interface Progress {
  readonly flow: string;
  readonly step: "reading" | "storing" | "delivering";
  /** Records that were read or stored in this step; documents to deliver are counted in the store. */
  readonly count: number | null;
  /** Of the whole step, 0 to 1; null: not known here. */
  readonly share: number | null;
}

export const delivering = (flow: string): Progress => ({
  flow,
  step: "delivering",
  count: null,
  share: null,
});

/** Cross-reference tables, as people maintain them. */
export interface Tables {
  row(table: string, key: string): Readonly<Record<string, string>> | null;
  /** Every row; none where there is no such table. Left out: no table is known as a whole. */
  rows?(table: string): readonly { readonly row: Readonly<Record<string, string>> }[];
}

/** A mapping put to work by the configuration. */
export interface Flow {
  /** Its row in the store. */
  readonly flow: number;
  readonly name: string;
  /** `platform.invoicesIssued` */
  readonly from: string;
  readonly to: string;
  /** What is there, where the same name may stand for another one some day: `erp.invoices (files)`. Left out: `to`. */
  readonly receiver?: string;
  /** The side its records come from. */
  readonly side: Side;
  readonly mapping: Mapping;
  readonly source: Source;
  readonly sink: Sink;
  /** What its receiver holds: asked before what may be there already is sent (copies.ts). Left out: it cannot tell. */
  readonly holdings?: Pick<Holdings, "strength" | "list" | "expect">;
  readonly schedule: Schedule;
  /** A person is told when it brings nothing for so many ms; infinite: never. Left out: as its source says, else learned. */
  readonly silenceMs?: number;
  readonly paused: boolean;
  /** When a whole list of its source is not believed; left out: as usual. */
  readonly limits?: ListLimits;
  /** `deliver`: a document that looks like another one goes like all others (copies.ts). Left out: it waits for a person. */
  readonly duplicates?: "deliver";
  /** It attaches PDFs to what the flow of this name delivers (below); left out: it is a flow of its own. */
  readonly attachesTo?: string;
  /** It writes back for what the flow of this name reads (pull.ts); left out: it is a flow of its own. */
  readonly repliesTo?: string;
}

/** `auto`: looks are as far apart as the month's requests allow, no closer than `leastMs` and no further than `everyMs`. */
export type Schedule =
  | { readonly everyMs: number; readonly auto?: { readonly leastMs: number } }
  | { readonly cron: string; readonly timeZone: string };

/** How far apart the looks of flows at an interval are, as the month's requests allow (office/month.ts). */
export interface Pace {
  /** ms until the next look at the flow's source, after what was seen or done; undefined: its calendar says. */
  intervalMs(flow: Pick<Flow, "name" | "schedule">, after: After): number | undefined;
  /** A look was whole and found so many changes since the one before (ms UTC). Inside a transaction. */
  looked(flow: Flow, look: { fromMs: number; toMs: number; changes: number }): void;
  /** Does the site work at this instant (ms UTC)? */
  isWorked(atMs: number): boolean;
}

/** The endpoint that is no ERP. */
export const PLATFORM = "platform";

export const endpointOf = (name: string): string => name.split(".", 1)[0] as string;

/** Whose stops keep a flow from reading. */
export const askedFor = ({ from, source }: Pick<Flow, "from" | "source">): string =>
  source.via ?? endpointOf(from);

/** Writes down what happened to a flow, or to one of its deliveries. Inside a transaction. */
export const audit = (
  { store, clock }: Pick<Engine, "store" | "clock">,
  { flow }: Pick<Flow, "flow">,
  event: string,
  detail: string,
  about: Pick<Entry, "delivery" | "person"> = {},
): void => store.journal.audit(clock.now().wallMs, { flow, event, detail, ...about });

/** The platform's clock may be ahead of ours by so much; what says that it is from later says nothing of its wait. */
const AHEAD_MS = 60_000;

/**
 * Counts how long changes of the platform had waited when they were stored or delivered, by the time that the platform says
 * of each (`versions`); what a first reading brings has waited for no look. Inside a transaction.
 */
export function countWaits(
  { store, pace }: Pick<Engine, "store" | "pace">,
  { flow, side }: Pick<Flow, "flow" | "side">,
  step: Counted["step"],
  versions: readonly (string | null)[],
  atMs: number,
): void {
  const sinceMs = side === "platform" ? store.flows.doubtfulMs(flow) : null;
  const waits = versions.map((version): Omit<Counted, "step" | "count"> => {
    const changedMs = sinceMs === null || version === null ? NaN : Date.parse(version);
    const isKnown = changedMs > (sinceMs ?? Infinity) && changedMs <= atMs + AHEAD_MS;
    if (!isKnown) return { worked: 0, length: 0 };
    const worked = pace?.isWorked(changedMs) === true ? 1 : 0;
    return { worked, length: lengthOf(atMs - changedMs) };
  });
  const { name: month } = monthAt(atMs);
  for (const those of Map.groupBy(waits, ({ worked, length }) => length * 2 + worked).values()) {
    const [first] = those as [(typeof waits)[number]];
    store.journal.waited(month, flow, { ...first, step, count: those.length });
  }
}

/** Inside a transaction. */
export function tellSetBack(
  engine: Pick<Engine, "store" | "clock">,
  flow: Flow,
  news: readonly { readonly id: string; readonly isSetBack: boolean }[],
): void {
  const why =
    "changed under an earlier time than it had: the clock there was ahead and was put right";
  for (const { id, isSetBack } of news)
    if (isSetBack) audit(engine, flow, "notice", `${id} ${why}; it is taken as it is now`);
}

/** Of a firm that buys and sells, as far as nothing but its code and name says so. Inside a transaction. */
export function tellShared(engine: Engine, flow: Flow, number: string, id: string): void {
  const { kind } = flow.mapping;
  for (const { mapping, side, sink } of engine.flows) {
    const isTwin = mapping.kind !== kind && side === flow.side && sink.names !== undefined;
    if (!isTwin || sink.names.what !== flow.sink.names?.what) continue;
    const twin = engine.store.links.find(mapping.kind, otherSide(side), id);
    if (twin === null) continue;
    const told = `${kind} ${number} and ${mapping.kind} ${twin.number} are one ${sink.names.what} there, ${id}: nothing says that they are two. If they are, give one of them another name where it comes from`;
    audit(engine, flow, "notice", told);
  }
}

/** The flow `invoices.pdf` beside `invoices`: no configuration can name another one so, and both are paused together. */
export function flowBeside(store: Store, flow: Flow, ending: string, more: Partial<Flow>): Flow {
  const name = `${flow.name}.${ending}`;
  return {
    ...flow,
    flow: store.flows.open(name, (more.mapping ?? flow.mapping).kind).flow,
    name,
    silenceMs: Infinity,
    ...more,
    get paused() {
      return flow.paused;
    },
  };
}

/** The stop of a store that does not know all that was sent (daemon.ts). */
export const RESTORED = "restored";

export const inRecovery = ({ store }: Pick<Engine, "store">): boolean =>
  store.journal.breakers().some(({ breaker }) => breaker === RESTORED);

/**
 * It stands in for a lost store, or was restored from an older copy, released or not: what it has no link for may have
 * been delivered.
 */
export const hasForgotten = (engine: Engine): boolean =>
  inRecovery(engine) || engine.store.journal.releasedAt(RESTORED) !== null;

// What a mapping can look up while documents are mapped for a flow: tables, and the ids and amounts that the store knows.

/**
 * For documents that are mapped in one go: a row is looked up for the first of them, and is the same for all. `used`: told
 * of each row that was asked for and is there, once.
 */
export function referencesOf(
  engine: Engine,
  { side, flow }: Flow,
  used?: (table: string, key: string) => void,
): References {
  const { links, incidents } = engine.store;
  const find: References["find"] = (kind, id): string | null => {
    const link = links.find(kind, side, id);
    return link === null ? null : otherId(link, side);
  };
  const amountOf: References["amountOf"] = (kind, id) => {
    const amount = links.find(kind, side, id)?.amount ?? null;
    return amount === null ? null : Decimal.of(amount);
  };
  const wasLost = (id: string): boolean => incidents.ever(flow, id, "gone") || hasForgotten(engine);
  const numbered: References["numbered"] = (kind, number) => {
    const link = links.numbered(kind, number, side);
    return link === null ? null : ownId(link, side);
  };
  const own = referencesBy(engine, find);
  const counterpart: References["counterpart"] = (kind, id) => {
    const link = links.find(kind, side, id);
    const bringing = engine.flows.find(
      ({ mapping, side: from, sink }) =>
        sink.names !== undefined && mapping.kind === kind && from === link?.born,
    );
    // Whose it is now a person says first.
    if (link !== null && bringing && incidents.isDoubted(bringing.flow, ownId(link, link.born)))
      throw new WaitsFor(kind, id);
    return own.counterpart(kind, id);
  };
  const references = { ...own, counterpart, amountOf, numbered, wasLost };
  const rows = new Map<string, ReturnType<References["row"]>>();
  return {
    ...references,
    row(table, key) {
      const name = `${table}\n${key}`;
      const known = rows.get(name);
      if (known !== undefined) return known;
      const row = references.row(table, key);
      used?.(table, key);
      rows.set(name, row);
      return row;
    },
  };
}

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
export function wantAttachment(
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
    next: `${number} itself is booked. Open its PDF on the platform: when it can be seen there, retry this; else close it, and ${number} stays without one.`,
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

/**
 * What every write to the platform has in common: a checked document, one request under its key, one answer. What
 * differs from write to write is a row of the table in index.ts.
 */
import type { z } from "zod";
import type { Item, Memory, Outgoing, Sink } from "../../core/contract.ts";
import { Decimal } from "../../core/decimal.ts";
import { defined } from "../../core/defined.ts";
import { complaintOf, Refused, SourceUnavailable } from "../../core/errors.ts";
import { canonical, canonicalOf, type Json, parseExact, stringifyExact } from "../../core/json.ts";
import { sortableInstant, usualId } from "../../core/keys.ts";
import { type Finding, notRead, type Policy, unknown } from "../../core/outcome.ts";
import type { Fault } from "../../core/record.ts";
import { answerOf, outcomeOf, type PlatformAnswer } from "../answers.ts";
import type { Exchange, PlatformRequest } from "../client.ts";
import { ListedInvoice } from "../contract/invoice.ts";
import { Connection } from "../contract/network.ts";
import { type ListOperation, type OperationId, pathOf } from "../contract/operations.ts";
import { CompanyProfile } from "../contract/place.ts";
import { type Numeric, toDecimal } from "../contract/primitives.ts";
import { arrayAt, listed, type Query, type ReadContext, recordAt, recordIn } from "../reading.ts";

/* Looking for what was written: lists, single records, what of a document they show, and which company we are in them. */

interface Listing<Item> {
  readonly list: ListOperation;
  readonly query: Query;
  readonly item: z.ZodType<Item>;
  /** What is looked for: numbers, codes, ids. A record that cannot be read is none of ours while it names none. */
  readonly names: readonly string[];
}

/** Every record of a list. @throws SourceUnavailable, also when a record that may be ours cannot be read */
export async function* listAll<Item>(
  context: ReadContext,
  { list, query, item, names }: Listing<Item>,
): AsyncGenerator<Item> {
  for await (const { records } of listed(context, list, query))
    for (const record of records) {
      const read = recordIn(item, record);
      if (read !== null) yield read;
      else if (mentions(record, names)) throw unreadable(pathOf(list), item, record);
    }
}

function mentions(record: string, names: readonly string[]): boolean {
  const text = canonical(record);
  return names.some((name) => text.includes(JSON.stringify(name).slice(1, -1)));
}

/**
 * The first of a list, at most `count`. The first page may have none of them (part 4, P2).
 * @throws SourceUnavailable, also when one of them cannot be read
 */
export async function firstOf<Item>(
  context: ReadContext,
  { list, query, item }: Omit<Listing<Item>, "names">,
  count: number,
): Promise<readonly Item[]> {
  const found: Item[] = [];
  for await (const { records } of listed(context, list, { ...query, pageSize: String(count) })) {
    found.push(...records.map((record) => readAs(item, record, pathOf(list))));
    if (found.length >= count) break;
  }
  return found.slice(0, count);
}

/** A record; null when there is none to be seen (rule V1). @throws SourceUnavailable */
export async function readAt<T>(
  context: ReadContext,
  path: string,
  schema: z.ZodType<T>,
): Promise<T | null> {
  const record = await recordAt(context, path);
  return record === null ? null : readAs(schema, record, path);
}

/** All of a list that is not paged; null when there is none to be seen (rule V1). @throws SourceUnavailable */
export async function readAllAt<T>(
  context: ReadContext,
  path: string,
  schema: z.ZodType<T>,
): Promise<readonly T[] | null> {
  const records = await arrayAt(context, path);
  return records?.map((record) => readAs(schema, record, path)) ?? null;
}

function readAs<T>(schema: z.ZodType<T>, record: string, path: string): T {
  const read = recordIn(schema, record);
  if (read === null) throw unreadable(path, schema, record);
  return read;
}

function unreadable(path: string, schema: z.ZodType, record: string): SourceUnavailable {
  const [id, why] = faultIn(schema, record);
  return new SourceUnavailable(
    `${path} answered with a record${id} that is not in its contract: ${why}.`,
    { next: "It is tried again by itself. If it stays so, report it to the platform's support." },
  );
}

/** Which record it is, and the first that is wrong with it. */
function faultIn(schema: z.ZodType, record: string): readonly [id: string, why: string] {
  try {
    const value = parseExact(record);
    const [why = ""] = schema.safeParse(value).error?.issues.map(complaintOf) ?? [];
    const { id } = (value ?? {}) as { readonly id?: unknown };
    return [typeof id === "string" ? ` ${id.slice(0, 80)}` : "", why];
  } catch {
    return ["", "it is not valid JSON"];
  }
}

async function reading(look: () => Promise<Finding>): Promise<Finding> {
  try {
    return await look();
  } catch (error) {
    if (!(error instanceof SourceUnavailable)) throw error;
    return notRead(error.message, error);
  }
}

/** What was written this long before our first send may still be ours, besides what the platform's clock is seen to be behind. */
const SKEW_MS = 120_000;

/** Could this instant of the platform's be after our first send? Before any send, none is. */
export function isSince(
  at: string,
  { firstSentAt }: Outgoing,
  { behindMs }: Pick<SinkContext, "behindMs">,
): boolean {
  if (firstSentAt === null) return false;
  return Date.parse(at) >= Date.parse(firstSentAt) - SKEW_MS - behindMs();
}

/** The client, and how far the platform's clock was behind ours at most, by the header `Date` of every answer through it. */
function heard({ client, clock }: ReadContext): Pick<SinkContext, "client" | "behindMs"> {
  let mostMs = 0;
  return {
    behindMs: () => mostMs,
    client: {
      ...client,
      async exchange(request) {
        const exchange = await client.exchange(request);
        const told = exchange.kind === "answer" ? Date.parse(exchange.headers["date"] ?? "") : NaN;
        if (!Number.isNaN(told)) mostMs = Math.max(mostMs, clock.now().wallMs - told);
        return exchange;
      },
    },
  };
}

/** The matches of a write that makes a record: one is ours, more are one too many. */
export function foundIn(matches: ReadonlySet<string>, what: string): Finding {
  const [first] = matches;
  if (first === undefined) return { found: "none", detail: `no ${what}` };
  if (matches.size > 1)
    return { found: "several", detail: `${what} is there as ${[...matches].join(" and ")}` };
  return { found: "exact", ids: [first], detail: `${what} is ${first}` };
}

/**
 * The record that a write made, among those of a list. `judge`: null for ours; in what a record with our number differs;
 * undefined for any other record. `taken`: how to say that our number is used by another.
 */
export async function findListed<Item extends { readonly id: string }>(
  context: ReadContext,
  listing: Listing<Item>,
  { what, taken }: { readonly what: string; readonly taken: string },
  judge: (item: Item) => string | null | undefined,
): Promise<Finding> {
  // A page may repeat what slid down from the one before.
  const ours = new Set<string>();
  let other: string | null = null;
  for await (const item of listAll(context, listing)) {
    const difference = judge(item);
    if (difference === null) ours.add(item.id);
    else other = difference ?? other;
  }
  if (ours.size === 0 && other !== null) return { found: "different", detail: `${taken} ${other}` };
  return foundIn(ours, what);
}

/**
 * Whether a record shows what a PUT sent. Where it does not, the write has not happened if the record is as old as
 * before our first send, or shows what it was delivered with before; if not, another change may stand above ours, and a
 * person must tell.
 */
export function foundChanged(
  context: SinkContext,
  request: Outgoing,
  schema: z.ZodObject,
  record: { readonly id: string; readonly updatedAt: string },
  memory?: Memory,
): Finding {
  const { id, updatedAt } = record;
  const difference = differs(parseExact(request.body) as object, record, schema);
  if (difference === null) return { found: "exact", ids: [id], detail: `${id} shows it` };
  const isAsBefore = (memory?.linked(id) ?? []).some(
    ({ body }) => body && differs(parseExact(body) as object, record, schema) === null,
  );
  const changed = !isAsBefore && isSince(updatedAt, request, context);
  return {
    found: changed ? "different" : "none",
    detail: changed
      ? `${id} changed at ${updatedAt}: ${difference}`
      : `${id} is as it was: ${difference}`,
  };
}

/**
 * The first field in which a record differs from what was sent; null when there is none. What is not sent, and what
 * records of this schema do not show, cannot be compared.
 */
export function differs(sent: object, record: object, { shape }: z.ZodObject): string | null {
  const shown = record as Readonly<Record<string, unknown>>;
  for (const [field, value] of Object.entries(sent))
    if (field in shape && !isSame(value, shown[field])) return `another ${field}`;
  return null;
}

function isSame(sent: unknown, shown: unknown): boolean {
  const [ours, theirs] = [orNull(sent), orNull(shown)];
  if (isNumber(ours)) return isNumber(theirs) && toDecimal(ours).equals(toDecimal(theirs));
  if (typeof ours === "string" && typeof theirs === "string")
    return ours === theirs || isSameInstant(ours, theirs);
  if (typeof ours !== "object" || typeof theirs !== "object" || ours === null || theirs === null)
    return ours === theirs;
  if (Array.isArray(ours) !== Array.isArray(theirs)) return false;
  const parts = Object.entries(ours);
  if (Array.isArray(ours) && parts.length !== Object.keys(theirs).length) return false;
  return parts.every(([name, part]) => isSame(part, (theirs as Record<string, unknown>)[name]));
}

const isNumber = (value: unknown): value is Numeric =>
  typeof value === "number" || value instanceof Decimal;

/** An empty list says no more than none. */
const orNull = (value: unknown): unknown =>
  value === undefined || (Array.isArray(value) && value.length === 0) ? null : value;

/** The platform may keep fewer digits of a second than we send. */
export function isSameInstant(one: string, other: string): boolean {
  if (sortableInstant(one) === null || sortableInstant(other) === null) return false;
  return Math.abs(Date.parse(one) - Date.parse(other)) <= 1_000;
}

/* Which company the API key acts for. No operation tells it, so it is derived from records that only we can have. */

/** Our company's id (UUID); null while nothing tells it. @throws SourceUnavailable */
export type Ourselves = () => Promise<string | null>;

/**
 * In this order: the one company that is an end of all our connections (part 2, 2.8: each has us at one end); the
 * issuer of an invoice that we issue (part 4, query `role`); the one end of our only connection whose profile we may
 * read (part 4: own company). Asked once; what it found is kept.
 */
export function ourselves(context: ReadContext): Ourselves {
  let known: string | null = null;
  return async () => {
    known ??= await derived(context);
    return known;
  };
}

/** The end of a connection that is not us; null when neither end is us. */
export function otherEnd(
  { fromCompanyId, toCompanyId }: Pick<Connection, "fromCompanyId" | "toCompanyId">,
  us: string,
): string | null {
  if (fromCompanyId === us) return toCompanyId;
  return toCompanyId === us ? fromCompanyId : null;
}

const CONNECTIONS = 100;

async function derived(context: ReadContext): Promise<string | null> {
  const connections = await firstOf(
    context,
    { list: "listConnections", query: { direction: "all" }, item: Connection },
    CONNECTIONS,
  );
  const ends = commonEnds(connections);
  if (ends.length === 1) return ends[0] ?? null;
  const issued = { list: "listInvoices", query: { role: "issuer" }, item: ListedInvoice } as const;
  const [invoice] = await firstOf(context, issued, 1);
  if (invoice !== undefined) return invoice.companyId;
  const readable: string[] = [];
  for (const id of ends) {
    const path = pathOf("getCompanyProfile", id);
    if ((await readAt(context, path, CompanyProfile)) !== null) readable.push(id);
  }
  return readable.length === 1 ? (readable[0] ?? null) : null;
}

/** Our company's id where a list of all our connections is at hand; null while nothing tells it. @throws SourceUnavailable */
export async function ourselvesAmong(
  connections: readonly Connection[],
  ask: Ourselves,
): Promise<string | null> {
  if (connections.length === 0) return null;
  const [end, another] = commonEnds(connections);
  return end !== undefined && another === undefined ? end : ask();
}

/** The companies that are an end of every one. */
function commonEnds(connections: readonly Connection[]): string[] {
  const [first] = connections;
  if (first === undefined) return [];
  return [...new Set([first.fromCompanyId, first.toCompanyId])].filter((id) =>
    connections.every((one) => otherEnd(one, id) !== null),
  );
}

export interface SinkContext extends ReadContext {
  /** Null: every operation keeps its own settling time. */
  readonly settleMs: number | null;
  readonly ourselves: Ourselves;
  /** How far the platform's clock was behind ours at most, ms, as this sink has heard; 0: it never was. */
  readonly behindMs: () => number;
}

/** What a flow may name as a sink of the platform, and how it writes and looks for what it wrote. */
export interface SinkPart {
  /** The operations that it writes and reads back with. */
  readonly uses: readonly OperationId[];
  readonly operation: string;
  /** `create` when left out. */
  readonly writes?: Sink["writes"];
  /** 1 when left out. */
  readonly itemsMax?: number;
  readonly names?: Sink["names"];
  readonly makesOne?: true;
  readonly policy: Policy;
  /** The platform gives what is written no id of its own ({@link Offer.anonymous}). */
  readonly anonymous?: true;
  /**
   * Method and path of these items' request, `PUT /invoices/<id>/mark-paid`, and its body; undefined: none. Further
   * words of the target are for the read-back. @throws Refused
   */
  readonly write: (items: readonly Item[]) => { readonly target: string; readonly body: unknown };
  /** What the platform calls each item, by an answer's data; null when that does not tell. By default the record's own id. */
  readonly ids?: (data: unknown, request: Outgoing) => readonly (string | null)[] | null;
  /** Does an answer's data count less than these ids, which were sent? */
  readonly isInPart?: (data: unknown, ids: readonly (string | null)[]) => boolean;
  /** Looks for what was written. @throws SourceUnavailable */
  readonly find: (context: SinkContext, request: Outgoing, memory?: Memory) => Promise<Finding>;
  /** The same for a PUT, where that is looked for otherwise. @throws SourceUnavailable */
  readonly findChanged?: SinkPart["find"];
  readonly recognise?: NonNullable<Sink["recognise"]>;
  /** What a person has to do there still: the fault, and by an answer's data whether there is any. */
  readonly unfinished?: {
    readonly fault: Fault;
    readonly isOpen: (data: unknown) => boolean;
    /** Of these records: is it open still? */
    readonly still: (context: SinkContext, ids: readonly string[]) => Promise<readonly boolean[]>;
  };
}

export function openSink(part: SinkPart, opened: Omit<SinkContext, "behindMs">): Sink {
  const context: SinkContext = { ...opened, ...heard(opened) };
  const { operation, writes = "create", itemsMax = 1, ids = ownId, unfinished } = part;
  const { client, clock } = context;
  return {
    operation,
    writes,
    itemsMax,
    ...defined({ names: part.names, makesOne: part.makesOne, recognise: part.recognise }),
    policy: settledIn(part.policy, context.settleMs),
    find(request, _signal, memory) {
      const isChange = request.target.startsWith("PUT ");
      const find = isChange ? (part.findChanged ?? part.find) : part.find;
      return reading(() => find(context, request, memory));
    },
    ...defined({
      unfinished: unfinished && {
        fault: unfinished.fault,
        still: (ids: readonly string[]) => unfinished.still(context, ids),
      },
    }),
    freeze(items) {
      const { target, body } = part.write(items);
      return { target, body: body === undefined ? "" : stringifyExact(body) };
    },
    async send(request) {
      const { target, body, key } = request;
      const [method, path = ""] = target.split(" ") as [PlatformRequest["method"], string?];
      const exchange = await client.exchange({
        method,
        path,
        ...(body === "" ? {} : { body }),
        idempotencyKey: key,
        purpose: "write",
      });
      let [isOpen, isInPart] = [false, false];
      const read = (data: unknown): ReturnType<typeof ids> => {
        isOpen = unfinished?.isOpen(data) ?? false;
        const named = ids(data, request);
        isInPart = named !== null && (part.isInPart?.(data, named) ?? false);
        return named;
      };
      const answer = answerOf(exchange, read, new Date(clock.now().wallMs), method);
      if (isInPart)
        return unknown(`${answer.detail}, and it counts less`, { person: "unless-found" });
      const told = isOpen && unfinished ? { ...answer, unfinished: unfinished.fault } : answer;
      return outcomeOf(amongSites(ownReplay(told, exchange, request), request));
    },
  };
}

function ownId(data: unknown): readonly string[] | null {
  const id = (data as { id?: unknown } | undefined)?.id;
  return typeof id === "string" ? [usualId(id)] : null;
}

/** Fields that a record has as it was sent, and by which it is told from another one. */
const IDENTITY = ["invoiceNumber", "ticketNumber", "terminalCode", "total"] as const;

/**
 * A replay answers the bytes that were sent first under its key. The answer as it is; a replay that shows another record
 * becomes a key conflict, for somebody else has used our key for it. Fields that either side lacks, or shows in another
 * type, are not compared.
 */
export function ownReplay(
  answer: PlatformAnswer,
  exchange: Exchange,
  request: Outgoing,
): PlatformAnswer {
  if (answer.name !== "replayed" || exchange.kind !== "answer" || request.body === "")
    return answer;
  const sent = membersOf(parseExact(request.body));
  const shown = membersOf(membersOf(parseExact(exchange.text))["data"]);
  const field = IDENTITY.find((name) => isOther(sent[name], shown[name]));
  if (field === undefined) return answer;
  const { detail, requestId } = answer;
  const what = `${field} ${stringifyExact(shown[field])}, and ours is ${stringifyExact(sent[field])}`;
  return {
    name: "key-conflict",
    detail: `${detail}, but it shows another record: ${what}`,
    ...defined({ requestId }),
  };
}

/** Where another site writes the same under the same key, other bytes are its bytes: ours did nothing. */
function amongSites(
  { name, detail, ...answer }: PlatformAnswer,
  request: Outgoing,
): PlatformAnswer {
  if (request.ofEverySite === undefined || name !== "key-conflict")
    return { name, detail, ...answer };
  // How long the key is held says nothing of when the other's shows.
  const { waitMs: _, ...rest } = answer;
  return {
    name: "taken",
    detail: `${detail}: another site has written it in other words`,
    ...rest,
  };
}

const isOther = (sent: Json | undefined, shown: Json | undefined): boolean =>
  sent !== undefined &&
  shown !== undefined &&
  typeof sent === typeof shown &&
  canonicalOf(sent) !== canonicalOf(shown);

const membersOf = (value: Json | undefined): Readonly<Record<string, Json>> =>
  typeof value === "object" && value !== null ? (value as Readonly<Record<string, Json>>) : {};

/** The id in a target's path: `PUT /invoices/<id>/mark-paid`. */
export const idIn = ({ target }: Outgoing): string =>
  decodeURIComponent(target.split(" ")[1]?.split("/")[2] ?? "");

/**
 * The document itself, once the contract takes it: what the schema would add is the platform's to add. A limit that it
 * breaks costs no request. @throws Refused
 */
export function accepted<T>(schema: z.ZodType<T>, document: unknown): T {
  const checked = schema.safeParse(document);
  if (!checked.success) throw new Refused(refusal(checked.error, document));
  return document as T;
}

function refusal(error: z.ZodError, document: unknown): Fault {
  const first = error.issues[0];
  const field = first?.path.join(".") ?? "";
  const value = first?.path.reduce<unknown>(
    (part, name) => (part as Record<PropertyKey, unknown> | null | undefined)?.[name],
    document,
  );
  const shown = value === undefined ? "" : ` ${stringifyExact(value).slice(0, 80)}`;
  return {
    code: "over-the-contract",
    message: `the platform would refuse it: ${field || "document"}${shown}: ${first?.message ?? "invalid"}`,
    next: "Correct the document in the ERP, or the mapping, then retry.",
    ...(field === "" ? {} : { field }),
  };
}

/*
 * How writes to the platform are treated when their outcome is unknown. How long a key is remembered and held is in
 * specification part 4 (W1 to W6); what the platform does not say (how late a write may show) is bounded from above.
 */

const MINUTE = 60_000;

const base = {
  reads: 2,
  readGapMs: MINUTE,
  preflight: false,
  afterNone: "again",
  resendsMax: null,
  resend: "same",
  // The platform forgets a key after 24 h; an hour is left for clocks that differ.
  keyLifeMs: 23 * 60 * MINUTE,
  // A key is held 60 s after a failure that we may not have seen (W5); less the time to connect and a margin.
  probeMs: 45_000,
} as const;

/** Money and parties: looked for before the first send, and a person decides after a timeout. */
export const money: Policy = {
  ...base,
  settleMs: 15 * MINUTE,
  preflight: true,
  afterTimeout: "person",
};

/** Payments: a second time changes nothing, so they go again; looked for first, since not every invoice may be paid. */
export const payments: Policy = { ...money, afterTimeout: "again" };

/** Tickets and their signatures: found again by our own number, or by their id. */
export const tickets: Policy = { ...base, settleMs: 10 * MINUTE, afterTimeout: "again" };

/** Freight rates and terminals: what somebody entered by hand, or changed, is seen before the first send. */
export const masterData: Policy = { ...tickets, preflight: true };

/** Notes have nothing but their words to be known by: a person decides after a timeout, and after one more try. */
export const notes: Policy = { ...tickets, afterTimeout: "person", resendsMax: 1 };

/** Prices: the newest value wins, so old bytes go again only while the network may hold them (ADR 0003). */
export const prices: Policy = {
  ...base,
  settleMs: 5 * MINUTE,
  reads: 1,
  afterTimeout: "again",
  resend: "anew",
};

/** The configuration may shorten (or lengthen) the settling where the platform's bounds are known. */
function settledIn(policy: Policy, settleMs: number | null): Policy {
  return settleMs === null
    ? policy
    : { ...policy, settleMs, readGapMs: Math.min(policy.readGapMs, settleMs) };
}

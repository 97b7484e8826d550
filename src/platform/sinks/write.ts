/**
 * What every write to the platform has in common: a checked document, one request under its key, one answer. What
 * differs from write to write is a row of the table in index.ts.
 */
import type { z } from "zod";
import type { Item, Memory, Outgoing, Sink } from "../../core/contract.ts";
import { defined } from "../../core/defined.ts";
import type { Fault } from "../../core/record.ts";
import { Refused } from "../../core/errors.ts";
import { canonicalOf, type Json, parseExact, stringifyExact } from "../../core/json.ts";
import type { Finding, Policy } from "../../core/outcome.ts";
import { outcomeOf, type PlatformAnswer } from "../answers.ts";
import type { Exchange, PlatformRequest } from "../client.ts";
import type { OperationId } from "../contract/operations.ts";
import { answerOf } from "../outcomes.ts";
import { type Ourselves, reading } from "./read-back.ts";
import type { ReadContext } from "../reading.ts";

export interface SinkContext extends ReadContext {
  /** Null: every operation keeps its own settling time. */
  readonly settleMs: number | null;
  readonly ourselves: Ourselves;
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
  readonly names?: string;
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

export function openSink(part: SinkPart, context: SinkContext): Sink {
  const { operation, writes = "create", itemsMax = 1, ids = ownId, unfinished } = part;
  const { client, clock } = context;
  return {
    operation,
    writes,
    itemsMax,
    ...defined({ names: part.names, recognise: part.recognise }),
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
      let isOpen = false;
      const read = (data: unknown): ReturnType<typeof ids> => {
        isOpen = unfinished?.isOpen(data) ?? false;
        return ids(data, request);
      };
      const answer = answerOf(exchange, read, new Date(clock.now().wallMs), method);
      const told = isOpen && unfinished ? { ...answer, unfinished: unfinished.fault } : answer;
      return outcomeOf(ownReplay(told, exchange, request));
    },
  };
}

function ownId(data: unknown): readonly string[] | null {
  const id = (data as { id?: unknown } | undefined)?.id;
  return typeof id === "string" ? [id] : null;
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

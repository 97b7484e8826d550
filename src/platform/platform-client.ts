/**
 * The platform's operations as methods, one for each row of the contract's table: what a method takes and gives is
 * derived from its row, so a new row needs nothing here. Requests are checked before they leave, answers when they
 * come; every number of an answer is a Decimal, and Decimals of a request leave with their digits. Nothing is tried
 * again: a PlatformError says what happened, and whoever called decides.
 */
import { Readable } from "node:stream";
import { z } from "zod";
import { ConfigurationError } from "../core/errors.ts";
import { parseExact, stringifyExact } from "../core/json.ts";
import { faultOfAddress } from "../core/settings.ts";
import {
  type Download,
  type Exchange,
  openClient,
  type PlatformOptions,
  type PlatformRequest,
} from "./client.ts";
import { listOf, type Meta, type Operation, successOf } from "./contract/operation.ts";
import { type OperationId, operations } from "./contract/operations.ts";
import { id as uuid } from "./contract/primitives.ts";
import { errorOf, invalid, PlatformError, unreadable } from "./answers.ts";
import { isIdle } from "./reading.ts";

type Table = typeof operations;

/** What a call takes: the parts that its row has. Query values are sent as text, `undefined` is not sent. */
type CallOf<Id extends OperationId> = (Table[Id] extends { path: `${string}{id}${string}` }
  ? { readonly id: string }
  : object) &
  (Table[Id] extends { query: infer Query extends z.ZodType }
    ? { readonly query?: Partial<z.output<Query>> }
    : object) &
  (Table[Id] extends { body: infer Body extends z.ZodType }
    ? undefined extends z.input<Body>
      ? { readonly body?: z.input<Body> }
      : { readonly body: z.input<Body> }
    : object) &
  /** 16 to 200 characters of A-Z a-z 0-9 _ - (rule W1). The same key and body is the same write, for 24 hours. */
  (Table[Id] extends { idempotencyKey: true } ? { readonly idempotencyKey: string } : object);

type ItemOf<Id extends OperationId> = Table[Id]["success"] extends {
  data: infer Data extends z.ZodType;
}
  ? z.output<Data>
  : never;

/** One page of a list. */
interface Listed<Item = unknown> {
  readonly data: readonly Item[];
  readonly meta: Meta;
}

/** What a call gives: a record, all records, a page of them, the bytes of a PDF, or nothing. */
type ResultOf<Id extends OperationId> = {
  one: ItemOf<Id>;
  array: readonly ItemOf<Id>[];
  list: Listed<ItemOf<Id>>;
  /** Fails with a PlatformError when it is torn: read it to its end, or destroy it. */
  pdf: Readable;
  none: void;
}[Table[Id]["success"]["kind"]];

type Methods = {
  readonly [Id in OperationId]: (
    ...call: object extends CallOf<Id> ? [call?: CallOf<Id>] : [call: CallOf<Id>]
  ) => Promise<ResultOf<Id>>;
};

type ListId = {
  [Id in OperationId]: Table[Id]["success"]["kind"] extends "list" ? Id : never;
}[OperationId];
type WalkId = {
  [Id in OperationId]: Table[Id] extends { cursorWalk: true } ? Id : never;
}[OperationId];
type QueryOf<Id extends ListId> =
  CallOf<Id> extends { readonly query?: infer Query } ? NonNullable<Query> : never;

/**
 * Methods reject with a PlatformError, and with an EnvironmentError once live and sandbox turn out to be mixed up
 * (then nothing more is sent).
 */
export interface PlatformClient extends Methods {
  /** What changed since `updatedSince`, or from `cursor` on, cursor after cursor (rule P2). */
  walk<Id extends WalkId>(
    operation: Id,
    query: QueryOf<Id> & ({ readonly updatedSince: string } | { readonly cursor: string }),
  ): AsyncGenerator<ResultOf<Id>, void>;
  /** A list page after page, from `page` or the first one on (rule P1). Records that move meanwhile may repeat. */
  pages<Id extends ListId>(operation: Id, query?: QueryOf<Id>): AsyncGenerator<ResultOf<Id>, void>;
  close(): Promise<void>;
}

/** @throws ConfigurationError when key, address and environment do not go together */
export function openPlatformClient(options: PlatformOptions): PlatformClient {
  checkOptions(options);
  const exchanger = openClient(options);
  const now = () => new Date(options.clock.now().wallMs);
  const callers = Object.entries(operations).map(([name, operation]: [string, Operation]) => {
    const id = name as OperationId;
    const read = readerOf(id, operation);
    const call = async (given: Call = {}): Promise<unknown> => {
      const request = requestOf(id, operation, given);
      const exchange =
        operation.success.kind === "pdf"
          ? await exchanger.download(request, PDF_TYPE)
          : await exchanger.exchange(request);
      if (exchange.kind === "download") return streamOf(id, exchange);
      if (exchange.kind === "answer" && isSuccess(exchange.status)) return read(exchange);
      throw errorOf(id, exchange, now());
    };
    return [id, call] as const;
  });
  const methods = Object.fromEntries(callers) as Record<OperationId, Caller>;
  const client = {
    ...methods,
    walk: (id: OperationId, query: Query) => walk(id, methods[id], query),
    pages: (id: OperationId, query: Query = {}) => pages(id, methods[id], query),
    close: () => exchanger.close(),
  };
  return client as unknown as PlatformClient;
}

type Query = Readonly<Record<string, unknown>>;
type Caller = (call?: Call) => Promise<unknown>;

/** A call of any operation; its type promised that the parts are those of the row. */
interface Call {
  readonly id?: string;
  readonly query?: Query;
  readonly body?: unknown;
  readonly idempotencyKey?: string;
}

const PDF_TYPE = "application/pdf";
const isSuccess = (status: number): boolean => status >= 200 && status < 300;

/** Specification part 5, rule 2. Plain http would show the key to everyone on the way. */
function checkOptions({ url, apiKey, environment }: PlatformOptions): void {
  if (!apiKey.startsWith(`svc_${environment}_`))
    throw new ConfigurationError(
      `The API key is not one of the ${environment} environment: it does not begin with svc_${environment}_.`,
      "Take the other key, or the other environment.",
    );
  const fault = faultOfAddress(url);
  if (fault !== null)
    throw new ConfigurationError(`${url} ${fault}.`, "Use the https address of the platform.");
}

interface Issue {
  readonly path: string;
  readonly message: string;
}

/** @throws PlatformError `invalid` for what the platform would refuse */
function requestOf(id: OperationId, operation: Operation, call: Call): PlatformRequest {
  const { method, path, success, query, body, idempotencyKey } = operation;
  const asked = Object.entries(call.query ?? {}).filter(([, value]) => value !== undefined);
  const texts = Object.fromEntries(asked.map(([name, value]) => [name, String(value)]));
  const issues = [
    ...(path.includes("{id}") && !isPathId(operation, call.id)
      ? [{ path: "id", message: operation.textId ? "cannot be in a path" : "is no UUID" }]
      : []),
    ...issuesIn(query, texts),
    ...issuesIn(body, call.body),
    ...(idempotencyKey && !KEY.test(call.idempotencyKey ?? "")
      ? [{ path: "idempotencyKey", message: "must have 16 to 200 characters of A-Z a-z 0-9 _ -" }]
      : []),
  ];
  if (issues.length > 0) throw invalid(id, issues);
  const search = new URLSearchParams(texts).toString();
  return {
    method,
    path:
      path.replace("{id}", () => encodeURIComponent(call.id ?? "")) +
      (search === "" ? "" : `?${search}`),
    purpose: method !== "GET" ? "write" : success.kind === "list" ? "poll" : "detail",
    ...(call.body === undefined ? {} : { body: stringifyExact(call.body) }),
    ...(idempotencyKey && call.idempotencyKey ? { idempotencyKey: call.idempotencyKey } : {}),
  };
}

/** Rule W1. */
const KEY = /^[A-Za-z0-9_-]{16,200}$/;

/** Text ids may be anything but what a path swallows. */
const isPathId = ({ textId }: Operation, value = ""): boolean =>
  textId ? !["", ".", ".."].includes(value) : uuid.safeParse(value).success;

function issuesIn(schema: z.ZodType | undefined, value: unknown): Issue[] {
  const issues = schema?.safeParse(value).error?.issues ?? [];
  return issues.map(({ path, message }) => ({ path: path.join(".") || "body", message }));
}

type Answer = Extract<Exchange, { kind: "answer" }>;

/** Takes the data out of an answer's envelope. @throws PlatformError `unreadable` */
function readerOf(id: OperationId, { success }: Operation): (answer: Answer) => unknown {
  const { kind, data = z.never() } = success;
  const envelope =
    kind === "list" ? listOf(data) : successOf(kind === "array" ? z.array(data) : data);
  return ({ status, headers, text }) => {
    if (kind === "none") return undefined;
    const requestId = headers["x-request-id"];
    try {
      const { data, meta }: { data: unknown; meta?: unknown } = envelope.parse(parseExact(text));
      return kind === "list" ? { data, meta } : data;
    } catch (cause) {
      const parts = { status, cause, ...(requestId === undefined ? {} : { requestId }) };
      throw unreadable(id, `the answer with ${status} is not that of the contract`, parts);
    }
  };
}

function streamOf(id: OperationId, { status, body, leave }: Download): Readable {
  async function* bytes() {
    try {
      yield* body;
    } catch (cause) {
      const { message } = cause as Error;
      throw new PlatformError(id, { kind: "torn", status, message, cause });
    }
  }
  return Readable.from(bytes(), { objectMode: false }).once("close", leave);
}

async function* walk(id: OperationId, call: Caller, query: Query): AsyncGenerator<Listed, void> {
  const seen = new Set<unknown>([query["cursor"]]);
  let idle = 0;
  for (let { cursor } = query; ;) {
    const page = (await call({ query: { ...query, cursor } })) as Listed;
    yield page;
    const { hasMore, nextCursor } = page.meta;
    if (!hasMore) return;
    // A page may have nothing, and lead on (part 4, P2).
    idle = page.data.length === 0 ? idle + 1 : 0;
    if (nextCursor === null) throw unreadable(id, "there is more, but no cursor to it");
    if (seen.has(nextCursor)) throw unreadable(id, "the walk came to the same cursor twice");
    if (isIdle(page.meta, idle)) throw unreadable(id, `there is more, but ${idle} pages are empty`);
    seen.add(nextCursor);
    cursor = nextCursor;
  }
}

async function* pages(id: OperationId, call: Caller, query: Query): AsyncGenerator<Listed, void> {
  for (let page = Number(query["page"] ?? 1); ; page++) {
    const listed = (await call({ query: { ...query, page } })) as Listed;
    yield listed;
    const { data, meta } = listed;
    if (!meta.hasMore) return;
    if (data.length === 0) throw unreadable(id, "there is more, but the page is empty");
    if (meta.page !== page) throw unreadable(id, `page ${page} was answered with ${meta.page}`);
  }
}

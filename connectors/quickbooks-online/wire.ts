/**
 * QuickBooks Online over REST v3: one call is one exchange, and whatever fails is a {@link LedgerError} that says what it
 * proves. Numbers are exact decimals in both directions.
 */
import { createHash } from "node:crypto";
import { z } from "zod";
import type { Notebook, Surroundings } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { stringifyExact } from "../../src/core/json.ts";
import { decimal } from "../../src/ledger/documents.ts";
import { type Call, LedgerError } from "../../src/ledger/port.ts";
import { parsedExact, waitMsOf } from "../../src/ledger/rest.ts";
import { openHttp, TransportError } from "../../src/transport/http.ts";
import { addressesOf, type QuickbooksOnlineConfig } from "./config.ts";
import { CapturedRow, type Entity, instant } from "./rows.ts";
import { openTokens, type Tokens } from "./tokens.ts";

/** Every method @throws LedgerError */
export interface Wire {
  /** `SELECT * FROM entity …`: what stands behind the entity. */
  query<Row>(
    entity: Entity | "Preferences" | "CompanyInfo",
    rest: string,
    schema: z.ZodType<Row>,
    signal: AbortSignal,
  ): Promise<readonly Row[]>;
  /** What of these was changed or deleted since an instant (ISO 8601, an offset): at most {@link CHANGES_MOST} rows in all. */
  changes(entities: readonly Entity[], since: string, signal: AbortSignal): Promise<Changed>;
  /** QuickBooks' own clock, ISO 8601 UTC. */
  time(signal: AbortSignal): Promise<string>;
  /** Writes one record, under a request id that is the same for the same content; what is null is not sent. Its id. */
  readonly write: Write;
  close(): Promise<void>;
}

/** An answer of change data capture. */
export interface Changed {
  /** QuickBooks' clock when it answered, ISO 8601 UTC. */
  readonly time: string;
  readonly rows: readonly ChangedRow[];
}

/** A record as it is now, or what is left of a deleted one: its id, and as a rule when it was deleted. */
export interface ChangedRow extends z.infer<typeof CapturedRow> {
  readonly entity: Entity;
  readonly deleted: boolean;
  /** ISO 8601 with an offset; null: it is not told. */
  readonly at: string | null;
}

export const changedIn = (entity: Entity, row: z.infer<typeof CapturedRow>): ChangedRow => ({
  ...row,
  entity,
  deleted: row.status === "Deleted",
  at: row.MetaData?.LastUpdatedTime ?? null,
});

/** Objects of one answer of change data capture: with as many, the answer may be cut off. */
export const CHANGES_MOST = 1000;

/** Since August 2025 the oldest that Intuit serves, and what every answer is in. */
const MINOR_VERSION = "75";

export function openWire(
  config: QuickbooksOnlineConfig,
  surroundings: Surroundings,
  tokens: Tokens = openTokens(config, surroundings),
): Wire {
  const { exchange, close } = openLine(config, surroundings, tokens);
  const ask = (entity: string, rest: string, signal: AbortSignal): Promise<unknown> => {
    const path = `/query?minorversion=${MINOR_VERSION}`;
    const body = `SELECT * FROM ${entity}${rest === "" ? "" : ` ${rest}`}`;
    const asked = { method: "POST", path, type: "application/text", body } as const;
    return exchange(asked, `query of ${entity}`, signal);
  };
  return {
    async query(entity, rest, schema, signal) {
      // Without a row the entity's key is absent.
      const rows = z.array(schema).default([]);
      const shape = z.object({ QueryResponse: z.record(z.string(), z.unknown()) });
      const what = `query of ${entity}`;
      const { QueryResponse } = shaped(what, shape, await ask(entity, rest, signal));
      return shaped(what, rows, QueryResponse[entity]);
    },
    async changes(entities, since, signal) {
      const parameters = new URLSearchParams({
        entities: entities.join(","),
        changedSince: since,
        minorversion: MINOR_VERSION,
      });
      const path = `/cdc?${parameters.toString()}`;
      const what = `changes of ${entities.join(", ")}`;
      const asked = { method: "GET", path, type: "text/plain", body: null } as const;
      const { time, CDCResponse } = shaped(what, ChangesBody, await exchange(asked, what, signal));
      const answers = CDCResponse.flatMap(({ QueryResponse }) => QueryResponse);
      const rows = answers.flatMap((answer) =>
        entities.flatMap((entity) =>
          shaped(what, z.array(CapturedRow).default([]), answer[entity]).map((row) =>
            changedIn(entity, row),
          ),
        ),
      );
      return { time: utc(time), rows };
    },
    async time(signal) {
      const json = await ask("CompanyInfo", "", signal);
      return utc(shaped("query of CompanyInfo", z.object({ time: instant }), json).time);
    },
    write: openWrites(exchange, surroundings.notebook),
    close,
  };
}

const utc = (text: string): string => new Date(text).toISOString();

/** One answer lists its entities one by one; beside the rows stand their counts. */
const ChangesBody = z.object({
  time: instant,
  CDCResponse: z.array(
    z.object({ QueryResponse: z.array(z.record(z.string(), z.unknown())).default([]) }),
  ),
});

/** @param what was asked, for people @throws LedgerError: an answer in another form proves nothing */
function shaped<T>(what: string, schema: z.ZodType<T>, json: unknown): T {
  const answer = schema.safeParse(json);
  if (answer.success) return answer.data;
  const [issue] = answer.error.issues;
  const where = `${issue?.path.join(".") ?? ""} ${issue?.message ?? ""}`;
  throw new LedgerError("torn", `${what}: the answer does not have QuickBooks' form: ${where}`);
}

interface Exchanged {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly type: string;
  readonly body: string | null;
}

const ANSWER_BYTES = 32 * 1024 * 1024;

/** The answer's JSON. @param what for people @throws LedgerError */
type Exchange = (asked: Exchanged, what: string, signal: AbortSignal) => Promise<unknown>;

interface Line {
  readonly exchange: Exchange;
  readonly close: () => Promise<void>;
}

function openLine(
  config: QuickbooksOnlineConfig,
  surroundings: Surroundings,
  tokens: Tokens,
): Line {
  const { company, deadlineMs } = config;
  const { origin, pathname } = new URL(addressesOf(config).url);
  const prefix = `${pathname.replace(/\/$/, "")}/v3/company/${company}`;
  const http = openHttp({ origin, connections: 4, headersMs: deadlineMs, bodyMs: deadlineMs });

  async function once({ method, path, type, body }: Exchanged, token: string, signal: AbortSignal) {
    if (signal.aborted) throw new LedgerError("not-sent", `${path}: stopped before it was sent`);
    const answer = await http.ask({
      method,
      path: `${prefix}${path}`,
      headers: {
        authorization: `Bearer ${token}`,
        accept: "application/json",
        "content-type": type,
      },
      body,
      signal: AbortSignal.any([AbortSignal.timeout(deadlineMs), signal]),
    });
    const { status, headers } = answer;
    return { status, headers, text: await answer.text(ANSWER_BYTES) };
  }

  /** A token that is refused has done nothing: the same bytes go once more with a new one. */
  async function exchange(asked: Exchanged, what: string, signal: AbortSignal): Promise<unknown> {
    try {
      const token = await tokens.access();
      let answer = await once(asked, token, signal);
      if (answer.status === 401) answer = await once(asked, await tokens.access(token), signal);
      const fault = faultIn(what, answer);
      if (fault === null) return timed(parsedExact(answer.text), answer.headers["date"]);
      surroundings.note("QuickBooks refused a call", {
        what,
        status: answer.status,
        code: fault.code,
        intuitTid: answer.headers["intuit_tid"] ?? null,
      });
      throw fault;
    } catch (error) {
      if (!(error instanceof TransportError)) throw error;
      throw new LedgerError(error.phase, `${what}: ${error.message}`, { cause: error });
    }
  }

  let closed: Promise<void> | null = null;
  return {
    exchange,
    close: () => (closed ??= Promise.all([http.close(), tokens.close()]).then(() => {})),
  };
}

interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** Every answer tells QuickBooks' clock; where the body leaves it out, the head has it. */
const timed = (json: unknown, date: string | undefined): unknown => {
  const at = Date.parse(date ?? "");
  return Number.isNaN(at) ? json : { time: new Date(at).toISOString(), ...(json as object) };
};

/** Null: it is none. A fault may come with HTTP 200. */
function faultIn(what: string, { status, headers, text }: Answered): LedgerError | null {
  const json = parsedExact(text);
  const more = { status, waitMs: waitMsOf(headers["retry-after"]) };
  const refusal = refusalIn(json);
  if (refusal !== null) {
    const { code, words } = refusal;
    const message = `${what}: ${words} (${code ?? "no code"})`;
    return new LedgerError("answered", message, { ...more, code });
  }
  if (status !== 200) return new LedgerError("answered", `${what}: HTTP ${status}`, more);
  return json === null ? new LedgerError("torn", `${what}: the answer is not JSON`) : null;
}

/* What QuickBooks refuses, in every form that Intuit's services and gateways write it in, wherever it stands in an answer. */

interface Refusal {
  /** Without leading zeros: gateways write `003001`. Null: it has none. */
  readonly code: string | null;
  readonly words: string;
}

const TEXT_MOST = 300;

const written = z
  .union([z.string(), decimal.transform(({ text }) => text)])
  .nullish()
  .transform((value) => value ?? "");

const ErrorBody = z.preprocess(
  small,
  z.object({ message: written, detail: written, code: written }),
);

/** A service writes `Fault` and `Error`, a gateway writes small letters, and null where there is nothing. */
const FaultBody = z.preprocess(
  small,
  z.object({ error: z.union([z.array(ErrorBody).min(1), ErrorBody.transform((one) => [one])]) }),
);

/** The first fault of an answer; null: there is none. An answer with a fault never counts as rows that are not there. */
function refusalIn(json: unknown): Refusal | null {
  const [fault] = faultsIn(json);
  if (fault === undefined) return null;
  const [first] = FaultBody.safeParse(fault).data?.error ?? [];
  if (first === undefined) return { code: null, words: "a fault that says nothing" };
  const { message, detail, code } = first;
  const number = code === "" ? (/errorCode=(\w+)/.exec(message)?.[1] ?? null) : code;
  const words = (detail.trim() === "" ? message : detail).replaceAll(/\s+/g, " ").trim();
  return { code: number?.replace(/^0+(?=\d)/, "") ?? null, words: words.slice(0, TEXT_MOST) };
}

/** Of the whole, of a query, of change data capture, and of one of its entities. */
function faultsIn(json: unknown): unknown[] {
  const { fault, queryresponse, cdcresponse } = small(json);
  const inside = [queryresponse, ...listOf(cdcresponse)].map(small);
  const entities = inside.flatMap((one) => listOf(one["queryresponse"])).map(small);
  return [
    fault,
    ...inside.map((one) => one["fault"]),
    ...entities.map((one) => one["fault"]),
  ].filter((one) => one !== undefined && one !== null);
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** Its members by their names in small letters. */
function small(value: unknown): Record<string, unknown> {
  if (value === null || typeof value !== "object") return {};
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name.toLowerCase(), one as unknown]),
  );
}

/*
 * Writes to QuickBooks: one record each, under a request id that is the same for the same content, so that a repeat is
 * answered with the first answer. How long Intuit keeps these is not published: an answer may be of a record that is gone.
 */

interface WriteOptions {
  readonly operation?: "void";
  /** A number that another document has is taken. */
  readonly twice?: boolean;
}

/** Writes one record; its id. @throws LedgerError */
type Write = (entity: Entity, body: object, call: Call, more?: WriteOptions) => Promise<string>;

/** What says which record it is: an id may be given again in a company that was restored. */
const Written = z.object({
  Id: z.string().min(1),
  status: z.string().nullish(),
  MetaData: z.object({ CreateTime: z.string() }).nullish(),
});
type Written = z.infer<typeof Written>;

/** Request ids that are remembered. */
const REMEMBERED = 10_000;

/** `notebook`: keeps refusals. A process that forgot one would write under an id that may make what a later one made. */
function openWrites(exchange: Exchange, notebook: Notebook | undefined): Write {
  /** What made records, with the id of each. */
  const made = new Map<string, string>();

  async function post(
    entity: Entity,
    body: string,
    request: string,
    { operation, twice }: WriteOptions,
    signal: AbortSignal,
  ): Promise<Written> {
    const parameters = new URLSearchParams({
      minorversion: MINOR_VERSION,
      requestid: request,
      ...(operation === undefined ? {} : { operation }),
      ...(twice === true ? { include: "allowduplicatedocnum" } : {}),
    });
    const path = `/${entity.toLowerCase()}?${parameters.toString()}`;
    const what = `${operation ?? "write"} of ${entity}`;
    const asked = { method: "POST", path, type: "application/json", body } as const;
    return writtenIn(what, entity, await exchange(asked, what, signal));
  }

  /** Deleted since, or another record has its id now. @throws LedgerError */
  async function isGone(entity: Entity, before: Written, signal: AbortSignal): Promise<boolean> {
    const what = `read of ${entity} ${before.Id}`;
    const path = `/${entity.toLowerCase()}/${before.Id}?minorversion=${MINOR_VERSION}`;
    try {
      const asked = { method: "GET", path, type: "text/plain", body: null } as const;
      const now = writtenIn(what, entity, await exchange(asked, what, signal));
      return now.status === "Deleted" || madeAt(now) !== madeAt(before);
    } catch (error) {
      if (error instanceof LedgerError && error.code === "610") return true;
      throw error;
    }
  }

  return async (entity, body, call, more = {}) => {
    const text = bodyText(body);
    const { signal } = call;
    const what = `${entity.toLowerCase()} ${more.operation ?? ""}${more.twice === true ? "twice" : ""}`;
    const first = requestId(call.key, what, text);
    // How often QuickBooks refused it, and so did not do it: its next write is another request.
    const count = Number(notebook?.get(refusedName(first)) ?? 0);
    const request = count === 0 ? first : requestId(call.key, what, `${text}\nrefused ${count}`);
    const written = await post(entity, text, request, more, signal).catch((error: unknown) => {
      if (isRefusal(error)) notebook?.set(refusedName(first), String(count + 1));
      throw error;
    });
    if ("Id" in body) return written.Id;
    const isRepeated = made.get(request) === written.Id;
    remember(made, request, written.Id);
    // It was answered with this record before, and whoever writes it again has looked for it and not found it.
    if (!isRepeated || !(await isGone(entity, written, signal))) return written.Id;
    const again = requestId(call.key, what, `${text}\n${written.Id} ${madeAt(written)}`);
    return (await post(entity, text, again, more, signal)).Id;
  };
}

const refusedName = (request: string): string => `refused ${request}`;

const madeAt = ({ MetaData }: Written): number => Date.parse(MetaData?.CreateTime ?? "1970-01-01");

/** QuickBooks says that it did nothing; 600 says that it is doing it, or has done it. */
const isRefusal = (error: unknown): boolean =>
  error instanceof LedgerError &&
  error.phase === "answered" &&
  error.code !== null &&
  error.code !== "600" &&
  (error.status ?? 500) < 500;

function remember(made: Map<string, string>, request: string, id: string): void {
  made.set(request, id);
  const [oldest] = made.keys();
  if (made.size > REMEMBERED && oldest !== undefined) made.delete(oldest);
}

const writtenIn = (what: string, entity: Entity, json: unknown): Written =>
  shaped(what, z.object({ [entity]: Written }), json)[entity] as Written;

/** The bytes of a record that is written. */
export const bodyText = (body: object): string => stringifyExact(withoutNulls(body));

/** What is null or undefined is left out, however deep. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (value === null || typeof value !== "object" || value instanceof Decimal) return value;
  const members = Object.entries(value).filter(([, one]) => one !== null && one !== undefined);
  return Object.fromEntries(members.map(([name, one]) => [name, withoutNulls(one)]));
}

/**
 * At most 50 characters; 32 fit a batch as well. The same request with the same content has the same one, so that a
 * repeat is answered with the first answer; other content is another request.
 */
export const requestId = (key: string, what: string, body: string): string =>
  createHash("sha256").update(`${key}\n${what}\n${body}`).digest("hex").slice(0, 32);

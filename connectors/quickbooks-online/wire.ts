/**
 * QuickBooks Online over REST v3: one call is one exchange, and whatever fails is a {@link LedgerError} that says what it
 * proves. Numbers are exact decimals in both directions.
 */
import { z } from "zod";
import { LedgerError } from "../../src/ledger/port.ts";
import type { Surroundings } from "../../src/core/contract.ts";
import { parseExact } from "../../src/core/json.ts";
import { openHttp, TransportError } from "../../src/transport/http.ts";
import { addressesOf, type QuickbooksOnlineConfig } from "./config.ts";
import { type Changed, changedIn, timeIn, unreadable } from "./captured.ts";
import { refusalIn } from "./refusals.ts";
import { openTokens, type Tokens } from "./tokens.ts";
import { MINOR_VERSION, openWrites, type Write } from "./writes.ts";

export type Entity =
  | "Account"
  | "Bill"
  | "BillPayment"
  | "Class"
  | "Customer"
  | "Department"
  | "Estimate"
  | "Invoice"
  | "Item"
  | "Payment"
  | "PurchaseOrder"
  | "Vendor";

/** Every method @throws LedgerError */
export interface Wire {
  /** `SELECT * FROM entity …`: what stands behind the entity. */
  query<Row>(
    entity: Entity | "Preferences" | "CompanyInfo",
    rest: string,
    schema: z.ZodType<Row>,
    signal: AbortSignal,
  ): Promise<readonly Row[]>;
  /** What of these was changed or deleted since an instant (ISO 8601, an offset): at most 1,000 rows in all. */
  changes(entities: readonly Entity[], since: string, signal: AbortSignal): Promise<Changed>;
  /** QuickBooks' own clock, ISO 8601 UTC. */
  time(signal: AbortSignal): Promise<string>;
  /** Writes one record, under a request id that is the same for the same content. Its id. */
  readonly write: Write;
  close(): Promise<void>;
}

interface Exchanged {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly type: string;
  readonly body: string | null;
}

const ANSWER_BYTES = 32 * 1024 * 1024;

/** The answer's JSON. @param what for people @throws LedgerError */
export type Exchange = (asked: Exchanged, what: string, signal: AbortSignal) => Promise<unknown>;

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
    return {
      status: answer.status,
      headers: answer.headers,
      text: await answer.text(ANSWER_BYTES),
    };
  }

  /** A token that is refused has done nothing: the same bytes go once more with a new one. */
  async function exchange(asked: Exchanged, what: string, signal: AbortSignal): Promise<unknown> {
    try {
      const token = await tokens.access();
      let answer = await once(asked, token, signal);
      if (answer.status === 401) answer = await once(asked, await tokens.access(token), signal);
      const fault = faultIn(what, answer);
      if (fault === null) return timed(parsed(answer.text), answer.headers["date"]);
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

export function openWire(
  config: QuickbooksOnlineConfig,
  surroundings: Surroundings,
  tokens: Tokens = openTokens(config, surroundings),
): Wire {
  const { exchange, close } = openLine(config, surroundings, tokens);
  return {
    async query(entity, rest, schema, signal) {
      const what = `query of ${entity}`;
      const json = await exchange(asking(entity, rest), what, signal);
      // Without a row the entity's key is absent.
      const shape = z.object({ QueryResponse: z.record(z.string(), z.unknown()) });
      const answer = shape.safeParse(json);
      if (!answer.success) throw unreadable(what, answer.error);
      const rows = z.array(schema).safeParse(answer.data.QueryResponse[entity] ?? []);
      if (!rows.success) throw unreadable(what, rows.error);
      return rows.data;
    },
    async changes(entities, since, signal) {
      const parameters = new URLSearchParams({
        entities: entities.join(","),
        changedSince: since,
        minorversion: MINOR_VERSION,
      });
      const path = `/cdc?${parameters.toString()}`;
      const what = `changes of ${entities.join(", ")}`;
      const json = await exchange(
        { method: "GET", path, type: "text/plain", body: null },
        what,
        signal,
      );
      return changedIn(what, json, entities);
    },
    async time(signal) {
      const what = "query of CompanyInfo";
      const json = await exchange(asking("CompanyInfo", ""), what, signal);
      return timeIn(what, json);
    },
    write: openWrites(exchange, surroundings.notebook),
    close,
  };
}

const asking = (entity: string, rest: string): Exchanged => ({
  method: "POST",
  path: `/query?minorversion=${MINOR_VERSION}`,
  type: "application/text",
  body: `SELECT * FROM ${entity}${rest === "" ? "" : ` ${rest}`}`,
});

/** A text of the query language. */
export const quoted = (text: string): string =>
  `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;

/** `('a', 'b')` */
export const among = (values: readonly string[]): string => `(${values.map(quoted).join(", ")})`;

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
  const json = parsed(text);
  const waitMs = waitMsOf(headers["retry-after"]);
  const more = { status, ...(waitMs === null ? {} : { waitMs }) };
  const refusal = refusalIn(json);
  if (refusal !== null) {
    const { code, words } = refusal;
    const message = `${what}: ${words} (${code ?? "no code"})`;
    return new LedgerError("answered", message, { ...more, ...(code === null ? {} : { code }) });
  }
  if (status !== 200) return new LedgerError("answered", `${what}: HTTP ${status}`, more);
  return json === null ? new LedgerError("torn", `${what}: the answer is not JSON`) : null;
}

const RETRY_MOST_MS = 3_600_000;

/** Seconds; a date is left to the row's own time. */
function waitMsOf(header: string | undefined): number | null {
  if (header === undefined || !/^\d{1,6}$/.test(header)) return null;
  return Math.min(Number(header) * 1000, RETRY_MOST_MS);
}

function parsed(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return null;
  }
}

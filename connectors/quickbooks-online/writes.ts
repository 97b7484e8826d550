/**
 * Writes to QuickBooks: one record each, under a request id that is the same for the same content, so that a repeat is
 * answered with the first answer. How long Intuit keeps these is not published: an answer may be of a record that is gone.
 */
import { createHash } from "node:crypto";
import { z } from "zod";
import { LedgerError, type Call } from "../../src/ledger/port.ts";
import type { Notebook } from "../../src/core/contract.ts";
import { stringifyExact } from "../../src/core/json.ts";
import { unreadable } from "./captured.ts";
import type { Entity, Exchange } from "./wire.ts";

/** Since August 2025 the oldest that Intuit serves, and what every answer is in. */
export const MINOR_VERSION = "75";

export interface WriteOptions {
  readonly operation?: "void";
  /** A number that another document has is taken. */
  readonly twice?: boolean;
}

/** Writes one record; its id. @throws LedgerError */
export type Write = (
  entity: Entity,
  body: object,
  call: Call,
  more?: WriteOptions,
) => Promise<string>;

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
export function openWrites(exchange: Exchange, notebook: Notebook | undefined): Write {
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
    const text = stringifyExact(body);
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

function writtenIn(what: string, entity: Entity, json: unknown): Written {
  const answer = z.object({ [entity]: Written }).safeParse(json);
  const row = answer.data?.[entity];
  if (row === undefined) throw unreadable(what, answer.error);
  return row;
}

/**
 * At most 50 characters; 32 fit a batch as well. The same request with the same content has the same one, so that a
 * repeat is answered with the first answer; other content is another request.
 */
export const requestId = (key: string, what: string, body: string): string =>
  createHash("sha256").update(`${key}\n${what}\n${body}`).digest("hex").slice(0, 32);

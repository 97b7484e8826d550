/**
 * The conformance suite speaks HTTP to a sandbox: one sandbox per file, back to its first state before every test.
 * A test's name is the sentence it holds the sandbox to; "reading" marks one where the specification is silent.
 */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { startSandbox } from "../../src/sandbox/server.ts";

export type Row = Record<string, unknown>;
type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

interface Meta {
  readonly total: number;
  readonly page: number;
  readonly pageSize: number;
  readonly totalPages: number;
  readonly hasMore: boolean;
  readonly nextCursor?: string | null;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The JSON body; empty when there is none. */
  readonly body: Row;
  /** `data` of a single answer, of a list, and its `meta`; which of them is there depends on the operation. */
  readonly data: Row;
  readonly rows: Row[];
  readonly meta: Meta;
  readonly error: Row;
}

export interface Call {
  /** The name of the key; null sends no credentials. Default: supplier. */
  readonly as?: string | null;
  /** Idempotency-Key; null sends none, default is a fresh one on every write. */
  readonly key?: string | null;
  readonly headers?: Record<string, string>;
  /** Sent as it is, instead of a JSON body. */
  readonly raw?: string;
  readonly signal?: AbortSignal;
  /** The base to use instead of the one the sandbox announces. */
  readonly base?: string;
}

export interface Key extends Row {
  readonly name: string;
  readonly key: string;
  readonly companyId: string;
}

async function exchange(url: string, init: RequestInit): Promise<Answer> {
  const response = await fetch(url, { ...init, redirect: "manual" });
  const text = await response.text();
  const json = /json/.test(response.headers.get("content-type") ?? "");
  const body = json && text !== "" ? (JSON.parse(text) as Row) : {};
  return {
    status: response.status,
    headers: response.headers,
    text,
    body,
    data: body["data"] as Row,
    rows: body["data"] as Row[],
    meta: body["meta"] as Meta,
    error: body["error"] as Row,
  };
}

const json = (body: unknown): RequestInit =>
  body === undefined
    ? {}
    : { body: JSON.stringify(body), headers: { "content-type": "application/json" } };

/** The control interface of a sandbox: whatever it answers must be a success unless a test asks with `ask`. */
export function controlOf(url: () => string) {
  const ask = (method: Method, path: string, body?: unknown): Promise<Answer> =>
    exchange(url() + path, { method, ...json(body) });
  const done = async (method: Method, path: string, body?: unknown): Promise<Row> => {
    const answer = await ask(method, path, body);
    expect(answer.status, `${method} ${path}: ${answer.text}`).toBeLessThan(300);
    return answer.body;
  };
  return {
    ask,
    /** Creates raw records and answers them. */
    records: async (resource: string, records: readonly Row[], key = "supplier") =>
      (await done("POST", `/records/${resource}`, { key, records }))["records"] as Row[],
    stored: async (resource: string, key?: string) =>
      (await done("GET", `/records/${resource}${key === undefined ? "" : `?key=${key}`}`))[
        "records"
      ] as Row[],
    patch: (resource: string, id: unknown, fields: Row) =>
      done("PATCH", `/records/${resource}/${String(id)}`, fields),
    advance: async (advanceSeconds: number) =>
      Date.parse((await done("POST", "/clock", { advanceSeconds }))["now"] as string),
    now: async () => Date.parse((await done("GET", "/clock"))["now"] as string),
    fault: async (fault: Row) => (await done("POST", "/faults", fault))["id"],
    faults: async () => (await done("GET", "/faults"))["faults"] as Row[],
    limits: (limits: Row) => done("POST", "/limits", limits),
    readings: (readings: Row) => done("POST", "/readings", readings),
    requests: async (query = "") => (await done("GET", `/requests${query}`))["requests"] as Row[],
    token: async (key: string) => (await done("POST", "/tokens", { key }))["token"] as string,
    generate: (what: Row) => done("POST", "/generate", what),
    reset: (scenario?: string) =>
      done("POST", "/reset", scenario === undefined ? {} : { scenario }),
    keys: async () => (await done("GET", "/keys"))["keys"] as Key[],
  };
}

/** The platform's side of a sandbox. `keys` tells the secrets. */
export function clientOf(base: () => string, keys: () => readonly Key[]) {
  const secret = (name: string): string => keyNamed(keys(), name).key;
  const call = (method: Method, path: string, body?: unknown, options: Call = {}) => {
    const { as = "supplier", key, headers, raw, signal } = options;
    const idempotencyKey = key === undefined && method !== "GET" ? randomUUID() : key;
    const content = raw === undefined ? json(body) : { body: raw };
    return exchange((options.base ?? base()) + path, {
      method,
      ...content,
      headers: {
        ...(content.body === undefined ? {} : { "content-type": "application/json" }),
        ...(as === null ? {} : { "x-api-key": secret(as) }),
        ...(typeof idempotencyKey === "string" ? { "idempotency-key": idempotencyKey } : {}),
        ...headers,
      },
      ...(signal === undefined ? {} : { signal }),
    });
  };
  return {
    call,
    secret,
    company: (name: string) => keyNamed(keys(), name).companyId,
    get: (path: string, options?: Call) => call("GET", path, undefined, options),
    post: (path: string, body?: unknown, options?: Call) => call("POST", path, body, options),
    put: (path: string, body?: unknown, options?: Call) => call("PUT", path, body, options),
    delete: (path: string, options?: Call) => call("DELETE", path, undefined, options),
  };
}

const keyNamed = (keys: readonly Key[], name: string): Key => {
  const key = keys.find((candidate) => candidate.name === name);
  if (key === undefined) throw new Error(`the sandbox has no key named ${name}`);
  return key;
};

/** A sandbox for the tests of one file; a file may say itself when it is set back (`fresh`). */
export function useSandbox(
  scenario: "empty" | "conformance" | "demo" = "empty",
  isSetBack: "before every test" | "when told" = "before every test",
) {
  let running: Awaited<ReturnType<typeof startSandbox>>;
  let keys: readonly Key[] = [];
  const control = controlOf(() => running.controlUrl);
  beforeAll(async () => {
    running = await startSandbox({ scenario });
  });
  const fresh = async (): Promise<void> => {
    await control.reset(scenario);
    keys = await control.keys();
  };
  if (isSetBack === "before every test") beforeEach(fresh);
  afterAll(() => running.close());
  return {
    control,
    fresh,
    urls: () => running,
    ...clientOf(
      () => running.baseUrl,
      () => keys,
    ),
  };
}

/** What the control interface keeps records of. */
export { resourceNames as resources } from "../../src/sandbox/kinds.ts";

/** What an error answer must look like. */
export const refused = (status: number, code: string) => ({
  status,
  body: { success: false, error: { code, message: expect.any(String) as string } },
});
export const invalid = refused(400, "VALIDATION_ERROR");
export const notFound = refused(404, "NOT_FOUND");
export const forbidden = refused(403, "INSUFFICIENT_SCOPE");

export const times = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at));
export const chars = (count: number): string => "x".repeat(count);
export const nulls = (...fields: readonly string[]): Row =>
  Object.fromEntries(fields.map((field) => [field, null]));
export const idsOf = (rows: readonly Row[]): unknown[] => rows.map((row) => row["id"]);

/** ISO 8601 of an instant, `seconds` after a fixed one: older than any clock of a test. */
export const instant = (seconds: number): string =>
  new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString();

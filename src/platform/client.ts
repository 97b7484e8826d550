/**
 * The one place that knows HTTP. It sends what it is given, once, and reports what came back or how it failed; what
 * that means is decided in outcomes.ts. No redirects, no decompression, no retries (reliability 2.7, finding 6).
 */
import { buildConnector, Pool } from "undici";
import { EnvironmentError } from "../core/errors.ts";
import type { Clock } from "../core/moment.ts";

export interface PlatformOptions {
  /** `https://host/v1/public` */
  readonly url: string;
  readonly apiKey: string;
  /** Which header carries the key; both work identically (specification part 5, rule 1). */
  readonly auth: "bearer" | "x-api-key";
  readonly environment: "live" | "test";
  readonly clock: Clock;
  /** Told before every request: the month allows 50,000. */
  readonly onRequest: (purpose: Purpose) => void;
  /** Sent as the user agent. */
  readonly version: string;
}

export type Purpose = "poll" | "detail" | "write" | "read-back" | "check";

export interface PlatformRequest {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Below the base URL, with its query. */
  readonly path: string;
  readonly purpose: Purpose;
  readonly body?: string;
  readonly idempotencyKey?: string;
}

/** What came back, or how it failed. */
export type Exchange =
  | {
      readonly kind: "answer";
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly text: string;
    }
  /** No byte of the request left this machine. */
  | { readonly kind: "not-sent"; readonly detail: string }
  /** It may have arrived. */
  | { readonly kind: "torn"; readonly detail: string };

export interface PlatformClient {
  /** @throws EnvironmentError when live and sandbox are mixed up: the daemon must stop (reliability O24) */
  exchange(request: PlatformRequest): Promise<Exchange>;
  close(): Promise<void>;
}

const CONNECT_MS = 5_000;
const HEADERS_MS = 35_000;
const BODY_MS = 10_000;
const DEADLINE_MS = 40_000;
const READ_BYTES_MAX = 8 * 1024 * 1024;
const CONNECTIONS = 4;

export function openClient(options: PlatformOptions): PlatformClient {
  const base = new URL(options.url);
  const root = base.pathname.replace(/\/$/, "");
  const pool = new Pool(base.origin, {
    connections: CONNECTIONS,
    pipelining: 1,
    connect: connector(),
    headersTimeout: HEADERS_MS,
    bodyTimeout: BODY_MS,
  });
  const gate = minuteGate(options.clock);
  let mixedUp: EnvironmentError | null = null;

  return {
    async exchange(request) {
      await gate.pass();
      if (mixedUp !== null) throw mixedUp;
      options.onRequest(request.purpose);
      try {
        const response = await pool.request({
          method: request.method,
          path: root + request.path,
          headers: headersOf(options, request),
          body: request.body ?? null,
          signal: AbortSignal.timeout(DEADLINE_MS),
        });
        const headers = flat(response.headers);
        mixedUp = mixUp(options, headers, response.statusCode);
        if (mixedUp !== null) {
          response.body.destroy();
          throw mixedUp;
        }
        gate.learn(headers, response.statusCode);
        return {
          kind: "answer",
          status: response.statusCode,
          headers,
          text: await bounded(response.body),
        };
      } catch (error) {
        if (error instanceof EnvironmentError) throw error;
        return failure(error);
      }
    },
    close: () => pool.close(),
  };
}

function headersOf(options: PlatformOptions, request: PlatformRequest): Record<string, string> {
  return {
    ...(options.auth === "bearer"
      ? { authorization: `Bearer ${options.apiKey}` }
      : { "x-api-key": options.apiKey }),
    accept: "application/json",
    "accept-encoding": "identity",
    "user-agent": `fuelbridge/${options.version}`,
    ...(request.body === undefined ? {} : { "content-type": "application/json" }),
    ...(request.idempotencyKey === undefined ? {} : { "idempotency-key": request.idempotencyKey }),
  };
}

/**
 * Test keys are told by a header once they are accepted (specification part 1, convention 6). Without it only a
 * success is proof: a refusal, or the redirect of a proxy, may come from before the key was looked at.
 */
function mixUp(
  { environment, url }: PlatformOptions,
  headers: Readonly<Record<string, string>>,
  status: number,
): EnvironmentError | null {
  const isTest = headers["x-svc-sandbox"] === "true";
  if (isTest === (environment === "test") || (!isTest && status >= 300)) return null;
  return new EnvironmentError(
    `The platform at ${url} answered for a ${isTest ? "test" : "live"} key, but platform.environment is "${environment}".`,
    "Set platform.environment to what the API key is for, or use the other key. Nothing more is sent.",
  );
}

async function bounded(body: AsyncIterable<Uint8Array> & { destroy(): unknown }): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > READ_BYTES_MAX) {
      body.destroy();
      throw Object.assign(new Error(`the answer is larger than ${READ_BYTES_MAX} bytes`), {
        code: "TOO_LARGE",
      });
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Failures before a connection existed prove that nothing was sent; all others prove nothing (row 24 and 25). */
function failure(error: unknown): Exchange {
  if (error instanceof NotConnected) return { kind: "not-sent", detail: told(error.cause) };
  return { kind: "torn", detail: told(error) };
}

function told(error: unknown): string {
  const { name, code = name, message } = error as Error & { code?: string };
  return message === "" ? code : `${code}: ${message}`;
}

/** The connection could not be made: address, network, TLS. */
class NotConnected extends Error {}

/** Requests wait for a connection: whatever fails in here fails before a byte of one has left. */
function connector(): buildConnector.connector {
  const connect = buildConnector({ timeout: CONNECT_MS });
  return (options, callback) => {
    connect(options, (...[error, socket]) => {
      if (error === null) callback(null, socket);
      else callback(new NotConnected("not connected", { cause: error }), null);
    });
  };
}

function flat(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(", ") : (value ?? ""),
    ]),
  );
}

/** Waits out the minute when the platform says that nothing is left of it (specification part 7 and 8). */
function minuteGate(clock: Clock) {
  let closedUntil = 0;
  return {
    async pass(): Promise<void> {
      for (
        let wait = closedUntil - clock.now().monoMs;
        wait > 0;
        wait = closedUntil - clock.now().monoMs
      )
        await clock.pause(wait);
    },
    learn(headers: Readonly<Record<string, string>>, status: number): void {
      const reset = Number(headers["ratelimit-reset"]);
      const spent = headers["ratelimit-remaining"] === "0" && status !== 429;
      if (spent && reset > 0 && reset <= 60) closedUntil = clock.now().monoMs + reset * 1_000;
    },
  };
}

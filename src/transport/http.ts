/**
 * HTTP as connectors and the platform use it: one request is sent once, and what failed says whether a byte of it may
 * have left. No redirects, no decompression, no retries, no HTTP/2: what an answer means is its reader's business.
 */
import type { buildConnector, Pool } from "undici";

/** A request that has no answer, or whose answer has no end. */
export class TransportError extends Error {
  /** `not-sent`: no byte of the request left this machine. `torn`: it may have arrived. */
  readonly phase: "not-sent" | "torn";

  constructor(phase: TransportError["phase"], cause: unknown) {
    super(wordsOf(cause), { cause });
    this.name = "TransportError";
    this.phase = phase;
  }
}

interface HttpOptions {
  /** `https://host:port` */
  readonly origin: string;
  readonly connections: number;
  /** For the head of an answer. */
  readonly headersMs: number;
  /** Between two pieces of its body. */
  readonly bodyMs: number;
}

export interface HttpRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | null;
  readonly signal: AbortSignal;
  /** True: a connection of its own, closed after the answer. */
  readonly reset?: boolean;
}

/** The head of an answer, and the body that is still arriving: read it to its end, or {@link HttpAnswer.leave} it. */
export interface HttpAnswer {
  readonly status: number;
  /** Names in lower case; what came several times is joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  /** UTF-8. @throws TransportError `torn`, also when it is larger than `bytesMax` */
  text(bytesMax: number): Promise<string>;
  /** @throws TransportError `torn`, also when it is larger than `bytesMax` */
  bytes(bytesMax: number): AsyncIterable<Uint8Array>;
  /** Ends the connection when the body was not read to its end; harmless otherwise. */
  readonly leave: () => void;
}

export interface Http {
  /** @throws TransportError */
  ask(request: HttpRequest): Promise<HttpAnswer>;
  close(): Promise<void>;
}

const CONNECT_MS = 5_000;

/** The client is loaded with the first request: a command that asks nobody does without it. */
export function openHttp(options: HttpOptions): Http {
  let opening: Promise<Opened> | null = null;
  return {
    async ask(request) {
      const opened = await (opening ??= openPool(options));
      try {
        const { statusCode, headers, body } = await opened.request(request);
        const bytes = (bytesMax: number) => limited(body, bytesMax);
        return {
          status: statusCode,
          headers: flat(headers),
          bytes,
          text: async (bytesMax) => {
            const chunks: Uint8Array[] = [];
            for await (const chunk of bytes(bytesMax)) chunks.push(chunk);
            return Buffer.concat(chunks).toString("utf8");
          },
          leave: () => void body.on("error", () => {}).destroy(),
        };
      } catch (error) {
        if (error instanceof NotConnected) throw new TransportError("not-sent", error.cause);
        throw new TransportError("torn", error);
      }
    },
    close: async () => (await opening)?.close(),
  };
}

type Opened = Pick<Pool, "request" | "close">;

const part = async <Part>(path: string): Promise<Part> =>
  ((await import(`undici/lib/${path}.js`)) as { default: Part }).default;

/** Without undici's index, which loads as many modules again, for fetch, caches and web sockets. */
async function openPool({ origin, connections, headersMs, bodyMs }: HttpOptions): Promise<Opened> {
  const [PoolOf, connector, api] = await Promise.all([
    part<typeof Pool>("dispatcher/pool"),
    part<typeof buildConnector>("core/connect"),
    part<{ readonly request: Pool["request"] }>("api/index"),
  ]);
  const pool = new PoolOf(origin, {
    connections,
    pipelining: 1,
    // Over HTTP/2 undici sends a request again by itself where a server has refused its stream.
    connect: provingConnector(connector({ timeout: CONNECT_MS, allowH2: false })),
    headersTimeout: headersMs,
    bodyTimeout: bodyMs,
  });
  return { request: api.request.bind(pool), close: () => pool.close() };
}

/** Whoever leaves the loop early, by an error too, ends the connection. */
async function* limited(
  body: AsyncIterable<Uint8Array>,
  bytesMax: number,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > bytesMax)
        throw Object.assign(new Error(`the answer is larger than ${bytesMax} bytes`), {
          code: "TOO_LARGE",
        });
      yield chunk;
    }
  } catch (error) {
    throw new TransportError("torn", error);
  }
}

function wordsOf(error: unknown): string {
  const { name, code, message } = error as Error & { code?: unknown };
  // The code of a DOMException (a deadline) is a number that says nothing.
  const word = typeof code === "string" ? code : name;
  return message === "" ? word : `${word}: ${message}`;
}

/** The connection could not be made: address, network, TLS. */
class NotConnected extends Error {}

/** Requests wait for a connection: whatever fails in here fails before a byte of one has left. */
function provingConnector(connect: buildConnector.connector): buildConnector.connector {
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

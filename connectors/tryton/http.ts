/**
 * One POST at a time: Tryton computes in one process, and two that post at once only lock each other out of the
 * number sequence. No redirects, no retries, no connection used twice (trytond closes each).
 */
import { buildConnector, Pool } from "undici";
import { TrytonFault } from "./fault.ts";

export interface Http {
  /** @throws TrytonFault `not-sent` or `torn` */
  post(request: Posted): Promise<{ readonly status: number; readonly text: string }>;
  close(): Promise<void>;
}

interface Posted {
  /** For messages. */
  readonly method: string;
  readonly body: string;
  readonly authorization: string | null;
  readonly signal: AbortSignal | undefined;
}

const CONNECT_MS = 5_000;
const ANSWER_BYTES_MAX = 32 * 1024 * 1024;

/** `path`: of the database. `deadlineMs`: for a request and its whole answer, once its turn has come. */
export function openHttp(url: string, database: string, deadlineMs: number): Http {
  const base = new URL(url);
  const path = `${base.pathname.replace(/\/$/, "")}/${encodeURIComponent(database)}/`;
  const pool = new Pool(base.origin, {
    connections: 1,
    pipelining: 1,
    connect: connector(),
    headersTimeout: deadlineMs,
    bodyTimeout: deadlineMs,
  });
  let turn: Promise<unknown> = Promise.resolve();

  async function send({ method, body, authorization, signal }: Posted) {
    if (signal?.aborted === true) throw new TrytonFault("not-sent", `${method}: stopped`);
    const deadline = AbortSignal.timeout(deadlineMs);
    try {
      const { statusCode, body: answer } = await pool.request({
        method: "POST",
        path,
        reset: true,
        headers: {
          "content-type": "application/json",
          accept: "application/json",
          "accept-encoding": "identity",
          ...(authorization === null ? {} : { authorization }),
        },
        body,
        signal: signal === undefined ? deadline : AbortSignal.any([deadline, signal]),
      });
      return { status: statusCode, text: await bounded(answer) };
    } catch (error) {
      if (error instanceof NotConnected)
        throw new TrytonFault("not-sent", `${method}: ${told(error.cause)}`);
      throw new TrytonFault("torn", `${method}: ${told(error)}`);
    }
  }

  return {
    post(request) {
      const answered = turn.then(() => send(request));
      turn = answered.catch(() => {});
      return answered;
    },
    close: () => pool.close(),
  };
}

async function bounded(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES_MAX)
      throw new Error(`the answer is larger than ${ANSWER_BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function told(error: unknown): string {
  const { name, code, message } = error as Error & { code?: unknown };
  // The code of a DOMException (a deadline) is a number that says nothing.
  const word = typeof code === "string" ? code : name;
  return message === "" ? word : `${word}: ${message}`;
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

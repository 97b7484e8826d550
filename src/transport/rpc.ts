/** JSON-RPC over HTTP: calls to one server, one at a time, each with its whole answer and proof of what a failed one did. */
import { openHttp, TransportError } from "./http.ts";

interface RpcOptions {
  /** `https://books.example.com/erp`: the paths of calls are below it. */
  readonly url: string;
  /** For a request and its whole answer, ms. */
  readonly deadlineMs: number;
  /** With every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** True: a connection of its own for each. */
  readonly reset?: boolean;
  readonly encode: (value: unknown) => string;
  /** @throws SyntaxError */
  readonly decode: (text: string) => unknown;
}

/** What a call that failed is to its caller: what each of these makes is thrown. @param method as it was called */
export interface RpcFaults {
  /** It was not sent, or not answered in full. */
  ofTransport(method: string, error: TransportError): Error;
  /** An HTTP status that is not 200. */
  ofStatus(method: string, status: number): Error;
  /** The `error` of an answer. */
  ofError(method: string, error: unknown): Error;
  /** What was answered is no JSON-RPC: it may have been carried out. */
  ofOther(method: string): Error;
}

interface Rpc {
  /** The `result`. @param path below the server's address, begins with `/` @throws what {@link RpcFaults} make */
  call(
    path: string,
    method: string,
    params: readonly unknown[],
    headers: Readonly<Record<string, string>>,
    signal?: AbortSignal,
  ): Promise<unknown>;
  close(): Promise<void>;
}

const STOPPED = Object.assign(new Error(), { code: "stopped" });
const ANSWER_BYTES_MAX = 32 * 1024 * 1024;

export function openRpc(options: RpcOptions, faults: RpcFaults): Rpc {
  const { url, deadlineMs, encode, decode, reset = false } = options;
  const { origin, pathname } = new URL(url);
  const prefix = pathname.replace(/\/$/, "");
  const http = openHttp({ origin, connections: 1, headersMs: deadlineMs, bodyMs: deadlineMs });
  let turn: Promise<unknown> = Promise.resolve();
  let requests = 0;

  async function post(
    path: string,
    body: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal | undefined,
  ): Promise<{ status: number; text: string }> {
    if (signal?.aborted === true) throw new TransportError("not-sent", STOPPED);
    const deadline = AbortSignal.timeout(deadlineMs);
    const answer = await http.ask({
      method: "POST",
      path: `${prefix}${path}`,
      reset,
      headers: { "content-type": "application/json", ...options.headers, ...headers },
      body,
      signal: signal === undefined ? deadline : AbortSignal.any([deadline, signal]),
    });
    return { status: answer.status, text: await answer.text(ANSWER_BYTES_MAX) };
  }

  /** Empty for what is no JSON-RPC. */
  function decoded(text: string): { readonly result?: unknown; readonly error?: unknown } {
    try {
      return decode(text) ?? {};
    } catch {
      return {};
    }
  }

  return {
    async call(path, method, params, headers, signal) {
      const body = encode({ id: ++requests, method, params });
      const answered = turn.then(() => post(path, body, headers, signal));
      turn = answered.catch(() => {});
      const { status, text } = await answered.catch((error: unknown) => {
        throw error instanceof TransportError ? faults.ofTransport(method, error) : error;
      });
      if (status !== 200) throw faults.ofStatus(method, status);
      const { result, error } = decoded(text);
      if (error !== undefined) throw faults.ofError(method, error);
      if (result === undefined) throw faults.ofOther(method);
      return result;
    },
    close: () => http.close(),
  };
}

/** JSON-RPC over HTTP: calls to one server, one at a time, each with its whole answer and proof of what a failed one did. */
import { type ExchangeOptions, openExchange, TransportError } from "./exchange.ts";

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

/** How values travel. @throws SyntaxError, of `decode` */
export interface RpcValues {
  readonly encode: (value: unknown) => string;
  readonly decode: (text: string) => unknown;
}

export interface Rpc {
  /** The `result`. @param path below the server's address @throws what {@link RpcFaults} make */
  call(
    path: string,
    method: string,
    params: readonly unknown[],
    headers: Readonly<Record<string, string>>,
    signal?: AbortSignal,
  ): Promise<unknown>;
  close(): Promise<void>;
}

export function openRpc(
  options: Omit<ExchangeOptions, "connections">,
  { encode, decode }: RpcValues,
  faults: RpcFaults,
): Rpc {
  const http = openExchange({ ...options, connections: 1 });
  let turn: Promise<unknown> = Promise.resolve();
  let requests = 0;

  function resultOf(method: string, text: string): unknown {
    const { result, error } = (decoded(text) ?? {}) as { result?: unknown; error?: unknown };
    if (error !== undefined) throw faults.ofError(method, error);
    if (result === undefined) throw faults.ofOther(method);
    return result;
  }

  function decoded(text: string): unknown {
    try {
      return decode(text);
    } catch {
      return null;
    }
  }

  return {
    async call(path, method, params, headers, signal) {
      const body = encode({ id: ++requests, method, params });
      const answered = turn.then(() => http.post(path, body, headers, signal));
      turn = answered.catch(() => {});
      const { status, text } = await answered.catch((error: unknown) => {
        throw error instanceof TransportError ? faults.ofTransport(method, error) : error;
      });
      if (status !== 200) throw faults.ofStatus(method, status);
      return resultOf(method, text);
    },
    close: () => http.close(),
  };
}

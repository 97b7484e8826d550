/** One POST and its whole answer, as connectors make them: with a deadline, and proof of what a failed one did. */
import { openHttp, TransportError } from "./http.ts";

export { TransportError };

export interface ExchangeOptions {
  /** `https://books.example.com/erp`: what requests name is below it. */
  readonly url: string;
  readonly connections: number;
  /** For a request and its whole answer, ms. */
  readonly deadlineMs: number;
  /** With every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** True: a connection of its own for each. */
  readonly reset?: boolean;
}

export interface Exchange {
  /** `path` begins with `/`. An answer of any status. @throws TransportError */
  post(
    path: string,
    body: string,
    headers: Readonly<Record<string, string>>,
    signal?: AbortSignal,
  ): Promise<{ readonly status: number; readonly text: string }>;
  close(): Promise<void>;
}

const STOPPED = Object.assign(new Error(), { code: "stopped" });
const ANSWER_BYTES_MAX = 32 * 1024 * 1024;

export function openExchange(options: ExchangeOptions): Exchange {
  const { url, connections, deadlineMs, reset = false } = options;
  const { origin, pathname } = new URL(url);
  const prefix = pathname.replace(/\/$/, "");
  const http = openHttp({ origin, connections, headersMs: deadlineMs, bodyMs: deadlineMs });
  return {
    async post(path, body, more, signal) {
      if (signal?.aborted === true) throw new TransportError("not-sent", STOPPED);
      const deadline = AbortSignal.timeout(deadlineMs);
      const answer = await http.ask({
        method: "POST",
        path: `${prefix}${path}`,
        reset,
        headers: { "content-type": "application/json", ...options.headers, ...more },
        body,
        signal: signal === undefined ? deadline : AbortSignal.any([deadline, signal]),
      });
      return { status: answer.status, text: await answer.text(ANSWER_BYTES_MAX) };
    },
    close: () => http.close(),
  };
}

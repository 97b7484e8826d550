/** The ledger's HTTP: one call is one transaction. Whatever fails is a {@link BookError} that says what it proves. */
import { z } from "zod";
import { BookError } from "../../src/books/adapter.ts";
import { parseExact, stringifyExact } from "../../src/core/json.ts";
import { openHttp, TransportError } from "../../src/transport/http.ts";
import type { ExampleConfig } from "./config.ts";

export interface Wire {
  /** `POST path`. The answer, if it has the shape of `schema`. @throws BookError */
  call<T>(path: string, body: object, schema: z.ZodType<T>, signal: AbortSignal): Promise<T>;
  close(): Promise<void>;
}

const ANSWER_BYTES_MAX = 32 * 1024 * 1024;
const Told = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

export function openWire({ url, token, deadlineMs }: ExampleConfig): Wire {
  const { origin } = new URL(url);
  const http = openHttp({ origin, connections: 2, headersMs: deadlineMs, bodyMs: deadlineMs });
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };

  async function exchange(path: string, body: object, signal: AbortSignal) {
    if (signal.aborted) throw new BookError("not-sent", `${path}: stopped`);
    const within = AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)]);
    try {
      const answer = await http.ask({
        method: "POST",
        path,
        headers,
        body: stringifyExact(body),
        signal: within,
      });
      return { status: answer.status, text: await answer.text(ANSWER_BYTES_MAX) };
    } catch (error) {
      if (!(error instanceof TransportError)) throw error;
      throw new BookError(error.phase, `${path}: ${error.message}`, { cause: error });
    }
  }

  let closed: Promise<void> | null = null;
  return {
    async call(path, body, schema, signal) {
      const { status, text } = await exchange(path, body, signal);
      const json = parsed(text);
      if (status === 200) {
        const answer = schema.safeParse(json);
        if (answer.success) return answer.data;
        throw new BookError("torn", `${path}: the answer does not have the ledger's form`);
      }
      const { error } = Told.safeParse(json).data ?? {};
      const message = `${path}: ${error?.message ?? `HTTP ${status}`}`;
      throw new BookError("answered", message, { status, code: error?.code ?? null });
    },
    close: () => (closed ??= http.close()),
  };
}

function parsed(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return null;
  }
}

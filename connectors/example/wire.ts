/** The ledger's HTTP: one call is one transaction. Whatever fails is a {@link LedgerError} that says what it proves. */
import { z } from "zod";
import { LedgerError } from "../../src/ledger/port.ts";
import { parseExact, stringifyExact } from "../../src/core/json.ts";
import { openExchange, TransportError } from "../../src/transport/exchange.ts";
import type { ExampleConfig } from "./config.ts";

export interface Wire {
  /** `POST path`. The answer, if it has the shape of `schema`. @throws LedgerError */
  call<T>(path: string, body: object, schema: z.ZodType<T>, signal: AbortSignal): Promise<T>;
  close(): Promise<void>;
}

const Told = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

export function openWire({ url, token, deadlineMs }: ExampleConfig): Wire {
  const http = openExchange({ url, connections: 2, deadlineMs });
  const headers = { authorization: `Bearer ${token}` };

  let closed: Promise<void> | null = null;
  return {
    async call(path, body, schema, signal) {
      const { status, text } = await http
        .post(path, stringifyExact(body), headers, signal)
        .catch((error: unknown) => {
          if (!(error instanceof TransportError)) throw error;
          throw new LedgerError(error.phase, `${path}: ${error.message}`, { cause: error });
        });
      const json = parsed(text);
      if (status === 200) {
        const answer = schema.safeParse(json);
        if (answer.success) return answer.data;
        throw new LedgerError("torn", `${path}: the answer does not have the ledger's form`);
      }
      const { error } = Told.safeParse(json).data ?? {};
      const message = `${path}: ${error?.message ?? `HTTP ${status}`}`;
      throw new LedgerError("answered", message, { status, code: error?.code ?? null });
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

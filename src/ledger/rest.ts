/** JSON over HTTP as ledgers speak it: one call is one exchange, and whatever fails is a {@link LedgerError} that says what it proves. */
import type { z } from "zod";
import { parseExact, stringifyExact } from "../core/json.ts";
import { type HttpRequest, openHttp, TransportError } from "../transport/http.ts";
import { LedgerError } from "./port.ts";

interface RestOptions {
  /** `https://books.example.com/erp`: paths are below it. */
  readonly url: string;
  /** For a request and its whole answer, ms. */
  readonly deadlineMs: number;
  readonly connections?: number;
  /** With every request: the credentials. */
  readonly headers: Readonly<Record<string, string>>;
  /** Reads the ERP's own code and words from an answer that is no success. */
  readonly error: z.ZodType<{ readonly code: string | null; readonly message: string }>;
}

export interface Rest {
  /**
   * `path` begins with `/`. The answer, if it has the shape of `schema`; its numbers are exact decimals. A body of null is
   * none, and makes the method GET where no other is given. @throws LedgerError
   */
  call<T>(
    path: string,
    body: object | null,
    schema: z.ZodType<T>,
    signal: AbortSignal,
    method?: HttpRequest["method"],
  ): Promise<T>;
  close(): Promise<void>;
}

const ANSWER_BYTES_MAX = 32 * 1024 * 1024;

export function openRest({ url, deadlineMs, connections = 2, headers, error }: RestOptions): Rest {
  const { origin, pathname } = new URL(url);
  const prefix = pathname.replace(/\/$/, "");
  const http = openHttp({ origin, connections, headersMs: deadlineMs, bodyMs: deadlineMs });
  let closed: Promise<void> | null = null;
  return {
    async call(path, body, schema, signal, method = body === null ? "GET" : "POST") {
      if (signal.aborted) throw new LedgerError("not-sent", `${path}: stopped before it was sent`);
      try {
        const answer = await http.ask({
          method,
          path: `${prefix}${path}`,
          headers: { accept: "application/json", "content-type": "application/json", ...headers },
          body: body === null ? null : stringifyExact(body),
          signal: AbortSignal.any([AbortSignal.timeout(deadlineMs), signal]),
        });
        const json = parsedExact(await answer.text(ANSWER_BYTES_MAX));
        const { status } = answer;
        if (status < 200 || status > 299) {
          const { code = null, message = `HTTP ${status}` } = error.safeParse(json).data ?? {};
          const waitMs = waitMsOf(answer.headers["retry-after"]);
          throw new LedgerError("answered", `${path}: ${message}`, { status, code, waitMs });
        }
        const read = schema.safeParse(json);
        if (read.success) return read.data;
        // It was carried out, as far as anybody can tell.
        const [issue] = read.error.issues;
        const where = `${issue?.path.join(".") ?? ""} ${issue?.message ?? ""}`.trim();
        throw new LedgerError("torn", `${path}: the answer has another form: ${where}`);
      } catch (failed) {
        if (!(failed instanceof TransportError)) throw failed;
        throw new LedgerError(failed.phase, `${path}: ${failed.message}`, { cause: failed });
      }
    },
    close: () => (closed ??= http.close()),
  };
}

/** Null: it is no JSON. */
export function parsedExact(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return null;
  }
}

const WAIT_MOST_MS = 3_600_000;

/** Seconds; a date is left to the time of the error's row. */
export const waitMsOf = (header: string | undefined): number | undefined =>
  header !== undefined && /^\d{1,6}$/.test(header)
    ? Math.min(Number(header) * 1000, WAIT_MOST_MS)
    : undefined;

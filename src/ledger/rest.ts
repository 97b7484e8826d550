/** JSON over HTTP as ledgers speak it: one call is one exchange, and whatever fails is a {@link LedgerError} that says what it proves. */
import { z } from "zod";
import { defined } from "../core/defined.ts";
import type { Scope } from "../core/holdings.ts";
import { parseExact, stringifyExact } from "../core/json.ts";
import { type HttpRequest, openHttp, TransportError } from "../transport/http.ts";
import { LedgerError } from "./port.ts";
import { pagesOf, rowsIn, stampedList, unitedPages } from "./stamps.ts";

interface RestOptions {
  /** `https://books.example.com/erp`: paths are below it. */
  readonly url: string;
  /** For a request and its whole answer, ms. */
  readonly deadlineMs: number;
  readonly connections?: number;
  /** With every request: the credentials. */
  readonly headers: Headers | Credentials;
  /** Reads the ERP's own code and words from an answer that is no success. */
  readonly error: z.ZodType<{ readonly code: string | null; readonly message: string }>;
}

type Headers = Readonly<Record<string, string>>;

/**
 * Credentials that end. `refused`: those that were just answered with 401, which has done nothing: the same bytes go once
 * more with what this gives then. @throws LedgerError
 */
export type Credentials = (signal?: AbortSignal, refused?: Headers) => Promise<Headers>;

export type Rest = ReturnType<typeof openRest>;

const ANSWER_BYTES_MAX = 32 * 1024 * 1024;

interface LineOptions extends Pick<RestOptions, "url" | "deadlineMs" | "connections"> {
  /** Of an answer; more than that is none. Left out: as of lists. */
  readonly bytesMax?: number;
  /** Left out: none. */
  readonly credentials?: Credentials;
}

interface Asking extends Partial<Pick<HttpRequest, "method" | "headers" | "body" | "reset">> {
  readonly signal?: AbortSignal | undefined;
}

/** Exchanges below the address of one server. What has no whole answer is a {@link LedgerError} that says what it proves. */
export function openLine(options: LineOptions) {
  const { url, deadlineMs, connections = 2, bytesMax = ANSWER_BYTES_MAX, credentials } = options;
  const { origin, pathname } = new URL(url);
  const prefix = pathname.replace(/\/$/, "");
  const http = openHttp({ origin, connections, headersMs: deadlineMs, bodyMs: deadlineMs });
  let closed: Promise<void> | null = null;
  return {
    prefix,
    /** A body makes the method POST where no other is given. @param what of errors, for people @throws LedgerError */
    async ask(path: string, what: string, { headers, body = null, signal, ...more }: Asking) {
      const send = (own: Headers = {}) => {
        if (signal?.aborted === true)
          throw new LedgerError("not-sent", `${what}: stopped before it was sent`);
        const deadline = AbortSignal.timeout(deadlineMs);
        return http.ask({
          method: body === null ? "GET" : "POST",
          path: `${prefix}${path}`,
          body,
          ...more,
          headers: { ...own, ...headers },
          signal: signal === undefined ? deadline : AbortSignal.any([deadline, signal]),
        });
      };
      try {
        const first = await credentials?.(signal);
        let answer = await send(first);
        if (answer.status === 401 && first !== undefined) {
          answer.leave();
          answer = await send(await credentials?.(signal, first));
        }
        const text = await answer.text(bytesMax);
        return { status: answer.status, headers: answer.headers, text };
      } catch (failed) {
        if (!(failed instanceof TransportError)) throw failed;
        throw new LedgerError(failed.phase, `${what}: ${failed.message}`, { cause: failed });
      }
    },
    close: (): Promise<void> => (closed ??= http.close()),
  };
}

const JSON_BOTH_WAYS = { accept: "application/json", "content-type": "application/json" };
const FILE = { "content-type": "application/octet-stream" };

export function openRest({ headers: fixed, error, ...options }: RestOptions) {
  const isFixed = typeof fixed !== "function";
  const line = openLine({ ...options, ...(isFixed ? {} : { credentials: fixed }) });
  return {
    /**
     * `path` begins with `/`. The answer, if it has the shape of `schema`; its numbers are exact decimals, and null stands for
     * an answer without a body. A body of null is none, and makes the method GET where no other is given; bytes go as they
     * are. `headers`: of this call (`if-match`). @throws LedgerError
     */
    async call<T>(
      path: string,
      body: object | null,
      schema: z.ZodType<T>,
      signal: AbortSignal,
      {
        method,
        headers: own,
      }: Partial<Pick<HttpRequest, "method">> & { readonly headers?: Headers } = {},
    ): Promise<T> {
      const isFile = body instanceof Uint8Array;
      // A question may be hundreds of escaped characters, which tell people nothing.
      const [what = path] = path.split("?");
      const answer = await line.ask(path, what, {
        headers: { ...JSON_BOTH_WAYS, ...(isFile ? FILE : {}), ...(isFixed ? fixed : {}), ...own },
        body: body === null || isFile ? body : stringifyExact(body),
        ...defined({ method }),
        signal,
      });
      const { status } = answer;
      const json = parsedExact(answer.text);
      if (status < 200 || status > 299) {
        const { code = null, message = `HTTP ${status}` } = error.safeParse(json).data ?? {};
        const waitMs = waitMsOf(answer.headers["retry-after"]);
        throw new LedgerError("answered", `${what}: ${message}`, { status, code, waitMs });
      }
      const read = schema.safeParse(json);
      if (read.success) return read.data;
      // It was carried out, as far as anybody can tell.
      const [issue] = read.error.issues;
      const where = `${issue?.path.join(".") ?? ""} ${issue?.message ?? ""}`.trim();
      throw new LedgerError("torn", `${what}: the answer has another form: ${where}`);
    },
    /** A link in an answer (the next page), as a path for {@link call}: whatever host it names, nothing is sent to another. */
    pathIn(link: string): string {
      const { pathname, search } = new URL(link, options.url);
      if (pathname.startsWith(`${line.prefix}/`))
        return `${pathname.slice(line.prefix.length)}${search}`;
      throw new LedgerError("torn", `the answer has a link to another address: ${link}`);
    },
    close: line.close,
  };
}

/** A page as an ERP gives it. `position`: where the next one begins, in its own words; null: it was the last. */
interface Paged<Row> {
  readonly rows: readonly Row[];
  readonly position: string | null;
}

/** Pages one after the other. @param page the one that begins there; null: the first */
export async function* paged<Row>(
  from: string | null,
  page: (from: string | null) => Promise<Paged<Row>>,
): AsyncGenerator<Paged<Row>> {
  for (let next = from, goesOn = true; goesOn;) {
    const told = await page(next);
    next = told.position;
    goesOn = next !== null;
    yield told;
  }
}

/** `Asked`: a question to a list of records, in the ERP's own words. */
interface ListOptions<Asked, Raw, Row> {
  /** What the position of its source is stored under: it never changes. */
  readonly name: string;
  /** @throws LedgerError */
  readonly pages: (
    asked: Asked,
    from: string | null,
    signal: AbortSignal,
  ) => AsyncIterable<Paged<Raw>>;
  /** Questions that together have everything in a scope: see `conditionsIn` of stamps.ts. */
  readonly scope: (scope: Scope) => readonly Asked[];
  /** What has this stamp or a later one, the earliest first; null: everything. */
  readonly since: (stamp: string | null) => Asked;
  /** ISO 8601 with its zone. */
  readonly stampOf: (row: Row) => string;
  /** What is told of these rows. Left out: they say all there is. */
  readonly whole?: (rows: readonly Raw[], signal: AbortSignal) => Promise<readonly Row[]>;
}

/** A list of an ERP as its table asks for it: what some questions find, all in a scope, and what changed by its stamps. */
export function openList<Asked, Raw extends { readonly id: string }, Row = Raw>({
  name,
  pages,
  scope: asked,
  since,
  stampOf,
  whole = async (rows) => rows as unknown as readonly Row[],
}: ListOptions<Asked, Raw, Row>) {
  return {
    /** Each row once. Of one part the questions go one after the other. */
    search: async (parts: readonly (readonly Asked[])[], signal: AbortSignal) => {
      const found = await Promise.all(
        parts.map(async (part) => {
          const rows: Raw[] = [];
          for (const one of part) rows.push(...(await rowsIn(pages(one, null, signal))));
          return rows;
        }),
      );
      return whole([...new Map(found.flat().map((row) => [row.id, row])).values()], signal);
    },
    list: (scope: Scope, from: string | null, signal: AbortSignal) =>
      pagesOf(
        unitedPages(
          asked(scope).map((one) => (start: string | null) => pages(one, start, signal)),
          from,
        ),
        (rows) => whole(rows, signal),
      ),
    changed: stampedList<Row>({
      name,
      stampOf,
      async *pages(at, signal) {
        for await (const { rows } of pages(since(at), null, signal)) yield whole(rows, signal);
      },
    }),
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

/* Tokens of OAuth 2 (RFC 6749): one question to a token address, and credentials of an application that renew themselves. */

/** For one question and its answer. */
export const TOKEN_MS = 30_000;
const TOKEN_BYTES_MAX = 64 * 1024;
/** A token is renewed so long before its end. */
const EARLY_MS = 5 * 60_000;

const Told = z.object({
  error: z.string().regex(/^[a-z_]+$/),
  error_description: z.string().nullish(),
});

/**
 * The answer of a token address, if it has the shape of `schema`. The code of the error is the address's own
 * (`invalid_client`). @throws LedgerError, without any of what was sent; `not-sent`: it may be asked again, for nothing of a
 * document has left this machine
 */
export async function askToken<T>(
  url: string,
  form: Readonly<Record<string, string>>,
  schema: z.ZodType<T>,
  headers: Readonly<Record<string, string>> = {},
): Promise<T> {
  const line = openLine({
    url,
    deadlineMs: TOKEN_MS,
    connections: 1,
    bytesMax: TOKEN_BYTES_MAX,
  });
  const type = { "content-type": "application/x-www-form-urlencoded", accept: "application/json" };
  const body = new URLSearchParams(form).toString();
  try {
    const asked = { headers: { ...headers, ...type }, body };
    const { status, text } = await line.ask(new URL(url).search, "no new token", asked);
    const json = parsedExact(text);
    const read = schema.safeParse(json);
    if (status === 200 && read.success) return read.data;
    const { error: code = null, error_description: words } = Told.safeParse(json).data ?? {};
    const told = [code, words].filter((text) => text).join(": ");
    const message = `no new token: HTTP ${status} ${told}`.trim();
    // Of a gateway that fails nothing follows: it is asked again.
    if (code === null || status >= 500) throw new LedgerError("not-sent", message);
    throw new LedgerError("answered", message, { status, code });
  } catch (error) {
    if (!(error instanceof LedgerError) || error.phase !== "torn") throw error;
    throw new LedgerError("not-sent", error.message, { cause: error });
  } finally {
    await line.close();
  }
}

interface Application {
  /** The token address. */
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope: string;
}

const Answer = z.object({
  access_token: z.string().min(1),
  expires_in: z.coerce.number().positive().default(3600),
});

/** An application's own credentials (4.4): one token for all requests, renewed before its end and when it is refused. */
export function clientCredentials(
  { url, clientId, clientSecret, scope }: Application,
  now: () => Date,
): Credentials {
  let good = { headers: {}, untilMs: -Infinity };
  let asking: Promise<typeof good> | null = null;
  async function ask() {
    const form = {
      grant_type: "client_credentials",
      client_id: clientId,
      client_secret: clientSecret,
      scope,
    };
    const { access_token: token, expires_in: seconds } = await askToken(url, form, Answer);
    const untilMs = now().getTime() + seconds * 1000 - EARLY_MS;
    return { headers: { authorization: `Bearer ${token}` }, untilMs };
  }
  return async (_signal, refused) => {
    if (good.headers !== refused && good.untilMs > now().getTime()) return good.headers;
    asking ??= ask().finally(() => void (asking = null));
    good = await asking;
    return good.headers;
  };
}

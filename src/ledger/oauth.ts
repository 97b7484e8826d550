/** Tokens of OAuth 2 (RFC 6749): one question to a token address, and credentials of an application that renew themselves. */
import { z } from "zod";
import { LedgerError } from "./port.ts";
import { type Credentials, openLine, parsedExact } from "./rest.ts";

/** For one question and its answer. */
export const TOKEN_MS = 30_000;
const ANSWER_BYTES_MAX = 64 * 1024;
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
    bytesMax: ANSWER_BYTES_MAX,
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

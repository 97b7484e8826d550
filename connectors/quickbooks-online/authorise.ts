/**
 * A person lets fuelbridge into a company (OAuth 2, authorization code): they sign in at Intuit, which sends their browser
 * to the redirect address with a code. The code is exchanged once; the tokens go into their file and nowhere else.
 */
import { randomBytes, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import { dirname } from "node:path";
import { mkdirSync } from "node:fs";
import { LedgerError } from "../../src/ledger/port.ts";
import { EnvironmentError } from "../../src/core/errors.ts";
import type { QuickbooksOnlineConfig } from "./config.ts";
import { askTokens, type Stored, tokenFile, withLock, writeTokens } from "./tokens.ts";

const AUTHORISE = "https://appcenter.intuit.com/connect/oauth2";
const SCOPE = "com.intuit.quickbooks.accounting";
const AGAIN = "Run the command again and sign in as an administrator of the company.";

export interface Authorising {
  /** What the person opens in a browser. */
  readonly address: string;
  /** @param redirected the whole address that the browser ended at @throws EnvironmentError */
  readonly finish: (redirected: string) => Promise<Stored>;
}

/** @param folder the configuration's */
export function beginAuthorising(
  config: QuickbooksOnlineConfig,
  folder: string,
  { now, pause }: { readonly now: () => Date; readonly pause: (ms: number) => Promise<void> },
): Authorising {
  const state = randomBytes(24).toString("base64url");
  const query = new URLSearchParams({
    client_id: config.clientId,
    response_type: "code",
    scope: SCOPE,
    redirect_uri: config.redirectUri,
    state,
  });
  return {
    address: `${AUTHORISE}?${query.toString()}`,
    async finish(redirected) {
      const code = codeIn(config, state, redirected);
      const file = tokenFile(config, folder);
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      // Nobody replaces old tokens meanwhile.
      return withLock(file, { pause }, async () => {
        const form = { grant_type: "authorization_code", code, redirect_uri: config.redirectUri };
        const tokens = await askTokens(config, form, now());
        const stored = { ...tokens, company: config.company, authorisedAt: now().toISOString() };
        writeTokens(file, stored);
        return stored;
      }).catch((error: unknown) => {
        if (!(error instanceof LedgerError)) throw error;
        throw new EnvironmentError(`Intuit gave no tokens: ${error.message}.`, AGAIN, error);
      });
    },
  };
}

/** @throws EnvironmentError when it is not the answer to this question, or is of another company */
function codeIn(
  { company, redirectUri }: QuickbooksOnlineConfig,
  state: string,
  redirected: string,
): string {
  const url = URL.parse(redirected.trim());
  const desired = new URL(redirectUri);
  if (url === null || url.origin !== desired.origin || url.pathname !== desired.pathname)
    throw new EnvironmentError(
      "That is not the address that Intuit sends a browser to.",
      `Copy the whole address from the browser: it begins with ${redirectUri}.`,
    );
  const { searchParams } = url;
  if (!isSame(searchParams.get("state") ?? "", state))
    throw new EnvironmentError("The answer belongs to another question.", AGAIN);
  const code = searchParams.get("code");
  if (code === null || code === "")
    throw new EnvironmentError("Intuit did not let fuelbridge in.", AGAIN);
  const realm = searchParams.get("realmId");
  if (realm !== company)
    throw new EnvironmentError(
      `The person chose the company ${realm ?? "(none)"}, and the configuration names ${company}.`,
      "Choose the right company at Intuit, or correct company in the configuration.",
    );
  return code;
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Does the browser of this machine end at us? */
export function isLoopback({ redirectUri }: QuickbooksOnlineConfig): boolean {
  const { protocol, hostname } = new URL(redirectUri);
  return protocol === "http:" && (hostname === "localhost" || hostname === "127.0.0.1");
}

/** Waits on the loopback address for the browser; what does not fit the question ends nothing. @throws EnvironmentError */
export async function redirectedHere(
  { redirectUri }: QuickbooksOnlineConfig,
  { finish }: Authorising,
  signal: AbortSignal,
): Promise<Stored> {
  const { port, origin, pathname } = new URL(redirectUri);
  const { promise, resolve, reject } = Promise.withResolvers<Stored>();
  const server = createServer((request, response) => {
    const say = (status: number, text: string) =>
      void response.writeHead(status, { "content-type": "text/plain; charset=utf-8" }).end(text);
    const asked = URL.parse(`${origin}${request.url ?? ""}`);
    if (request.method !== "GET" || asked?.pathname !== pathname) return say(404, "Not here.\n");
    finish(asked.href).then(
      (stored) => {
        say(200, "fuelbridge is authorised. You can close this page.\n");
        resolve(stored);
      },
      (error: unknown) => say(400, `${error instanceof Error ? error.message : ""}\n`),
    );
  });
  server.on("error", (error) =>
    reject(
      new EnvironmentError(
        `Nothing can wait at ${redirectUri}: ${error.message}.`,
        "End what uses that port, or set another redirectUri (in the app at developer.intuit.com, too).",
        error,
      ),
    ),
  );
  const stop = () =>
    reject(new EnvironmentError("Nobody signed in at Intuit in time.", "Run the command again."));
  signal.addEventListener("abort", stop, { once: true });
  server.listen(Number(port === "" ? "80" : port), "127.0.0.1");
  try {
    return await promise;
  } finally {
    signal.removeEventListener("abort", stop);
    server.closeAllConnections();
    server.close();
  }
}

/**
 * The tokens of one company (OAuth 2). An access token lives an hour; a refresh token gives the next one, and may be
 * replaced by another with each answer (rotation). The file is replaced whole (written, synced, renamed), and one process
 * at a time asks for new tokens: a token that was replaced is refused from then on.
 *
 * Killed between an answer and its storing, the old refresh token stands in the file. Intuit changes its value once a day
 * only, and takes the previous one for a while; where it does not, a person authorises anew, and nothing was written.
 */
import { randomBytes, randomUUID } from "node:crypto";
import {
  closeSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname, resolve } from "node:path";
import { z } from "zod";
import type { Surroundings } from "../../src/core/contract.ts";
import { EnvironmentError } from "../../src/core/errors.ts";
import { parsedJson } from "../../src/core/json.ts";
import { isSameSecret } from "../../src/core/keys.ts";
import { askToken, TOKEN_MS } from "../../src/ledger/rest.ts";
import { LedgerError } from "../../src/ledger/port.ts";
import { writeWhole } from "../../src/transport/whole.ts";
import { addressesOf, type QuickbooksOnlineConfig } from "./config.ts";
import { DAY_MS } from "../../src/core/time.ts";

const Stored = z.strictObject({
  company: z.string(),
  accessToken: z.string(),
  /** ISO 8601 UTC, like all of these. */
  accessUntil: z.string(),
  refreshToken: z.string(),
  /** Without any use until then it ends. Each answer moves it. */
  refreshUntil: z.string(),
  authorisedAt: z.string(),
});
type Stored = z.infer<typeof Stored>;

const seconds = z.coerce.number().positive();

/**
 * Answers of the token address; times in seconds. An answer is stored whatever it leaves out: it may have ended the tokens
 * before it. Without a new refresh token the old one goes on (RFC 6749, 6).
 */
const Answer = z.object({
  access_token: z.string().min(1),
  refresh_token: z.string().min(1).nullish(),
  expires_in: seconds.default(3600),
  x_refresh_token_expires_in: seconds.default(100 * 86_400),
  /** Whatever use is made of it: then a person authorises. */
  x_refresh_token_hard_expires_in: seconds.optional(),
});

/** A person who must authorise anew is told this many days before. */
export const EARLY_DAYS = 7;
const EARLY_MS = 5 * 60_000;
/** As long as the engine waits before it tries credentials again. */
const ENDED_MS = 5 * 60_000;
const LOCK_TRIES = 600;
const LOCK_MS = 100;
/** A lock this old was left by a process that was killed: asking takes half of it at most. */
const ABANDONED_MS = 2 * TOKEN_MS;
/** Since November 2025 a person authorises anew at least every five years. */
const LIFE_DAYS = 5 * 365;

export function openTokens(config: QuickbooksOnlineConfig, surroundings: Surroundings) {
  const file = tokenFile(config, surroundings.folder);
  let refreshing: Promise<string> | null = null;
  /** The refresh token that Intuit ended: whoever asks is told so, without a call. */
  let ended: { readonly refreshToken: string; readonly untilMs: number; error: unknown } | null =
    null;
  const isGood = ({ accessToken, accessUntil }: Stored, rejected: string | undefined): boolean =>
    accessToken !== rejected && Date.parse(accessUntil) - EARLY_MS > surroundings.now().getTime();
  return {
    /** An access token that is good now. @param rejected the one that QuickBooks has just refused @throws LedgerError */
    async access(rejected?: string): Promise<string> {
      const stored = readTokens(file, config.company);
      const nowMs = surroundings.now().getTime();
      if (ended?.refreshToken === stored.refreshToken && nowMs < ended.untilMs) throw ended.error;
      if (isGood(stored, rejected)) return stored.accessToken;
      // Nobody's deadline ends it: an answer that is not stored may be the only one with the next token.
      refreshing ??= withLock(file, surroundings, async () => {
        const now = readTokens(file, config.company);
        if (isGood(now, rejected)) return now.accessToken;
        const form = { grant_type: "refresh_token", refresh_token: now.refreshToken };
        const next = await askTokens(config, form, surroundings.now()).catch((error: unknown) => {
          if (error instanceof LedgerError && error.code === "invalid_grant")
            ended = { refreshToken: now.refreshToken, untilMs: nowMs + ENDED_MS, error };
          throw error;
        });
        const tokens = { ...next, company: config.company, authorisedAt: now.authorisedAt };
        writeTokens(file, tokens);
        const { day, days } = authoriseBy(tokens, surroundings.now());
        const soon = "QuickBooks wants a person soon: run `fuelbridge quickbooks authorise`";
        if (days <= EARLY_DAYS) surroundings.note(soon, { company: config.company, until: day });
        return next.accessToken;
      }).finally(() => void (refreshing = null));
      return refreshing;
    },
    close: async () => void (await refreshing?.catch(() => {})),
  };
}

export const tokenFile = ({ tokens }: QuickbooksOnlineConfig, folder: string): string =>
  resolve(folder, tokens);

/** @throws LedgerError `no-tokens` when there are none for this company, or others may read them */
export function readTokens(file: string, company: string): Stored {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw noTokens(`there are no tokens in ${file}`, error);
  }
  if (process.platform !== "win32" && (statSync(file).mode & 0o077) !== 0)
    throw noTokens(`others may read ${file}: its mode must be 0600`);
  const stored = Stored.safeParse(parsedJson(text)).data;
  if (stored === undefined) throw noTokens(`${file} does not hold tokens`);
  if (stored.company !== company)
    throw noTokens(`the tokens in ${file} are of the company ${stored.company}, not of ${company}`);
  return stored;
}

/** Replaces the file whole, or leaves it as it was. */
export function writeTokens(file: string, tokens: Stored): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeWhole(file, `${JSON.stringify(tokens)}\n`);
}

/** The day by which a person must authorise anew, and in how many days that is. */
export function authoriseBy(
  { refreshUntil, authorisedAt }: Stored,
  now: Date,
): { readonly day: string; readonly days: number } {
  const end = Date.parse(authorisedAt) + LIFE_DAYS * DAY_MS;
  const until = new Date(Math.min(Date.parse(refreshUntil), end));
  const days = Math.floor((until.getTime() - now.getTime()) / DAY_MS);
  return { day: until.toISOString().slice(0, 10), days };
}

/** One question to the token address. @throws LedgerError, without any of what was sent */
async function askTokens(
  config: QuickbooksOnlineConfig,
  form: Readonly<Record<string, string>>,
  now: Date,
) {
  const basic = Buffer.from(`${config.clientId}:${config.clientSecret}`).toString("base64");
  const authorization = `Basic ${basic}`;
  const { tokenUrl } = addressesOf(config);
  const answer = await askToken(tokenUrl, form, Answer, { authorization });
  const refreshToken = answer.refresh_token ?? form["refresh_token"];
  if (refreshToken === undefined) throw new LedgerError("not-sent", "no new token: HTTP 200");
  const after = (left: number): string => new Date(now.getTime() + left * 1000).toISOString();
  const { x_refresh_token_expires_in: idle, x_refresh_token_hard_expires_in: hard = idle } = answer;
  return {
    accessToken: answer.access_token,
    accessUntil: after(answer.expires_in),
    refreshToken,
    refreshUntil: after(Math.min(idle, hard)),
  };
}

/** One process at a time; a lock that a killed one left is taken after a minute. @throws LedgerError when it stays taken */
async function withLock<T>(
  file: string,
  { pause }: Pick<Surroundings, "pause">,
  work: () => Promise<T>,
): Promise<T> {
  const lock = `${file}.lock`;
  for (let tries = 0; !taken(lock); tries++) {
    if (tries >= LOCK_TRIES)
      throw new LedgerError("not-sent", `another process is asking for new tokens: ${lock}`);
    await pause(LOCK_MS);
  }
  try {
    return await work();
  } finally {
    rmSync(lock, { force: true });
  }
}

function taken(lock: string): boolean {
  try {
    closeSync(openSync(lock, "wx", 0o600));
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") throw noTokens(`there are no tokens beside ${lock}`, error);
    if (code !== "EEXIST") throw new LedgerError("not-sent", `no lock ${lock}`, { cause: error });
  }
  const since = statSync(lock, { throwIfNoEntry: false })?.mtimeMs;
  if (since !== undefined && Date.now() - since > ABANDONED_MS) takeAside(lock, since);
  return false;
}

/** Only the one that was looked at: somebody may have taken it aside since, and hold a new one. */
function takeAside(lock: string, since: number): void {
  const aside = `${lock}.${randomUUID()}`;
  try {
    renameSync(lock, aside);
    if (statSync(aside).mtimeMs !== since) linkSync(aside, lock);
    rmSync(aside, { force: true });
  } catch {
    // Another process was faster.
  }
}

const noTokens = (message: string, cause?: unknown): LedgerError =>
  new LedgerError("answered", message, { status: 401, code: "no-tokens", cause });

/*
 * A person lets fuelbridge into a company (OAuth 2, authorization code): they sign in at Intuit, which sends their browser
 * to the redirect address with a code. The code is exchanged once; the tokens go into their file and nowhere else.
 */

const AUTHORISE = "https://appcenter.intuit.com/connect/oauth2";
const SCOPE = "com.intuit.quickbooks.accounting";
const AGAIN = "Run the command again and sign in as an administrator of the company.";

/** @param folder the configuration's */
export function beginAuthorising(
  config: QuickbooksOnlineConfig,
  folder: string,
  { now, pause }: { readonly now: () => Date; readonly pause: (ms: number) => Promise<void> },
) {
  const state = randomBytes(24).toString("base64url");
  const query = new URLSearchParams({
    client_id: config.clientId,
    response_type: "code",
    scope: SCOPE,
    redirect_uri: config.redirectUri,
    state,
  });
  return {
    /** What the person opens in a browser. */
    address: `${AUTHORISE}?${query.toString()}`,
    /** @param redirected the whole address that the browser ended at @throws EnvironmentError */
    async finish(redirected: string): Promise<Stored> {
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
  if (!isSameSecret(searchParams.get("state") ?? "", state))
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

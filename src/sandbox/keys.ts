/** Companies' keys: what a request's credentials prove, and the limits of a key (specification parts 5 and 8). */
import { createHash, createPublicKey, generateKeyPairSync, sign, verify } from "node:crypto";
import { type Refusal, refusal } from "./answer.ts";
import { Part } from "./database.ts";
import { companies } from "./scenes/companies.ts";
import { iso, wholeSeconds } from "./settings.ts";

/** A key as it is used: name, company and rights. */
export interface Key {
  readonly name: string;
  readonly value: string;
  readonly company: string;
  readonly type: string;
  readonly scopes: readonly string[];
  /** Null: any address. */
  readonly addresses: readonly string[] | null;
  readonly sandbox: boolean;
}

/** The limits of a key, and what is used of them. */
interface Usage {
  readonly perMinute: number;
  readonly monthlyCap: number;
  /** When the minute began, ms; null: no request has come yet. */
  readonly start: number | null;
  readonly minuteUsed: number;
  /** `2026-11` */
  readonly month: string;
  readonly monthUsed: number;
}

type Limits = { readonly [Name in "perMinute" | "monthlyCap"]?: number | undefined };

export interface Credentials {
  readonly apiKey: string | undefined;
  readonly authorization: string | undefined;
}

/** The specification names two scopes; what the other writes need is `write`, a reading. */
export const WRITE_SCOPE = "write";
const ALL = [WRITE_SCOPE, "pricing:write", "supplier_terminals:write"];
const TEST_KEY = "supplier-test";

const UNUSED = { perMinute: 600, monthlyCap: 50_000, start: null, minuteUsed: 0, monthUsed: 0 };
const WINDOW_MS = 60_000;
const TOKEN_SECONDS = 15 * 60;
const TOKEN_KEY = "token-key";

interface Seed extends Partial<Pick<Key, "scopes" | "addresses">> {
  readonly of?: { readonly id: string; readonly type: string };
}
const seeds: Readonly<Record<string, Seed>> = {
  supplier: {},
  customer: { of: companies.customer },
  carrier: { of: companies.carrier },
  outsider: { of: companies.outsider },
  "supplier-pricing-only": { scopes: ["pricing:write"] },
  "supplier-read-only": { scopes: [] },
  "supplier-blocked-ip": { addresses: ["203.0.113.10"] },
  [TEST_KEY]: { of: companies.supplierTest },
};

export class Keys extends Part {
  /** The same keys on every start, limits and counts anew. */
  seed(): void {
    this.sql.run("delete from key");
    for (const [name, seed] of Object.entries(seeds)) {
      const { of: company = companies.supplier, scopes = ALL, addresses = null } = seed;
      const sandbox = name === TEST_KEY;
      const digest = createHash("sha256").update(`fuelbridge ${name}`).digest("hex");
      const value = `svc_${sandbox ? "test" : "live"}_${digest.slice(0, 32)}`;
      const { id, type } = company;
      const key: Key = { name, value, company: id, type, scopes, addresses, sandbox };
      const usage = JSON.stringify({ ...UNUSED, month: "" });
      this.sql.run("insert into key values (?, ?, ?, ?)", name, value, JSON.stringify(key), usage);
    }
  }

  get(name: string): Key | null {
    return this.#key("name", name);
  }

  all(): Key[] {
    const rows = this.sql.all<{ fields: string }>("select fields from key order by rowid");
    return rows.map(({ fields }) => JSON.parse(fields) as Key);
  }

  /** Part 5, rules 1 and 3: of two credentials X-API-Key counts (readings). */
  authenticate(headers: Credentials, now: number): Key {
    const given =
      headers.apiKey?.trim() || /^Bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1];
    if (given === undefined || given === "")
      throw refusal("INVALID_API_KEY", "Credentials are missing.");
    const key = this.#key("value", given) ?? this.#bearer(headers, given, now);
    if (key === null) throw refusal("INVALID_API_KEY", "The credentials are not valid.");
    return key;
  }

  /** An access token for the key's company, good for 15 minutes. */
  token(key: Key, now: number): string {
    const issued = Math.floor(now / 1000);
    const claims = { sub: key.company, key: key.name, iat: issued, exp: issued + TOKEN_SECONDS };
    const signed = [{ alg: "RS256", typ: "JWT" }, claims].map(base64url).join(".");
    const signature = sign("RSA-SHA256", Buffer.from(signed), this.#privateKey());
    return `${signed}.${signature.toString("base64url")}`;
  }

  /** Counts a request. The RateLimit headers of its answer, and the refusal when a limit is exceeded. */
  admit(key: string, now: number): { headers: Headers; refused: Refusal | null } {
    const usage = this.#usage(key, now);
    const { perMinute, monthlyCap, minuteUsed, monthUsed, start } = usage;
    const end = (start ?? now) + WINDOW_MS;
    const full = minuteUsed >= perMinute;
    const used = full ? minuteUsed : minuteUsed + 1;
    this.#use(key, { ...usage, start: start ?? now, minuteUsed: used });
    const headers = rateHeaders(perMinute, full ? 0 : perMinute - used, wholeSeconds(end - now));
    if (full) return { headers, refused: exceeded("burst", end, now) };
    const capped = monthUsed >= monthlyCap;
    return { headers, refused: capped ? exceeded("quota", nextMonth(now), now) : null };
  }

  /** Counts an answer that is billed: below 400 and no replay (readings). */
  bill(key: string, now: number): void {
    const usage = this.#usage(key, now);
    this.#use(key, { ...usage, monthUsed: usage.monthUsed + 1 });
  }

  /** Every key's limits, and what is used of them. */
  limits(now: number): object[] {
    return this.all().map(({ name: key }) => {
      const { perMinute, minuteUsed, monthlyCap, monthUsed } = this.#usage(key, now);
      return { key, perMinute, minuteUsed, monthlyCap, monthUsed };
    });
  }

  /** Changes the limits that are given, at once; what was used counts. Answers all of them. */
  limit(key: string, now: number, given: Limits) {
    const usage = this.#usage(key, now);
    const { perMinute = usage.perMinute, monthlyCap = usage.monthlyCap } = given;
    this.#use(key, { ...usage, perMinute, monthlyCap });
    return { key, perMinute, monthlyCap };
  }

  #key(by: "name" | "value", text: string): Key | null {
    const fields = this.sql.value<string>(`select fields from key where ${by} = ?`, text);
    return fields === undefined ? null : (JSON.parse(fields) as Key);
  }

  /** A window opens with a key's first request; months are those of the calendar, UTC. */
  #usage(name: string, now: number): Usage {
    const text = this.sql.value<string>("select usage from key where name = ?", name) as string;
    const usage = JSON.parse(text) as Usage;
    const isOpen = usage.start !== null && now < usage.start + WINDOW_MS;
    const month = iso(now).slice(0, 7);
    return {
      ...usage,
      ...(isOpen ? {} : { start: null, minuteUsed: 0 }),
      ...(usage.month === month ? {} : { month, monthUsed: 0 }),
    };
  }

  #use(name: string, usage: Usage): void {
    this.sql.run("update key set usage = ? where name = ?", JSON.stringify(usage), name);
  }

  /** A token is a bearer's; in X-API-Key it is no key. */
  #bearer(headers: Credentials, token: string, now: number): Key | null {
    const [head, body, signature] = token.split(".");
    if (headers.apiKey?.trim() || !head || !body || !signature) return null;
    const signed = Buffer.from(`${head}.${body}`);
    const given = Buffer.from(signature, "base64url");
    if (!verify("RSA-SHA256", signed, createPublicKey(this.#privateKey()), given)) return null;
    const claims: unknown = JSON.parse(Buffer.from(body, "base64url").toString());
    const { key, exp } = claims as { key: string; exp: number };
    return now < exp * 1000 ? this.get(key) : null;
  }

  #privateKey(): string {
    const known = this.sql.setting(TOKEN_KEY);
    if (known !== null) return known;
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const made = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    this.sql.set(TOKEN_KEY, made);
    return made;
  }
}

type Headers = Readonly<Record<string, string>>;

/** Part 7: `RateLimit-*` on every response. */
const rateHeaders = (limit: number, remaining: number, reset: number): Headers => ({
  "RateLimit-Limit": String(limit),
  "RateLimit-Remaining": String(remaining),
  "RateLimit-Reset": String(reset),
  "RateLimit-Policy": `${limit};w=${WINDOW_MS / 1000}`,
});

/** Those of an answer to nobody in particular. */
export const defaultRateHeaders = rateHeaders(UNUSED.perMinute, UNUSED.perMinute, 60);

const LIMITS = {
  burst: { code: "RATE_LIMIT_EXCEEDED", what: "requests of this minute" },
  quota: { code: "MONTHLY_CAP_EXCEEDED", what: "billable requests of this month" },
} as const;

function exceeded(kind: keyof typeof LIMITS, until: number, now: number): Refusal {
  const retryAfterSec = wholeSeconds(until - now);
  const { code, what } = LIMITS[kind];
  return refusal(code, `The ${what} are used up.`, {
    fields: { retryAfterSec, kind, resetAt: iso(until) },
    headers: { "Retry-After": String(retryAfterSec) },
  });
}

function nextMonth(now: number): number {
  const date = new Date(now);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}

const base64url = (value: object): string =>
  Buffer.from(JSON.stringify(value)).toString("base64url");

/** Companies' keys: what a request's credentials prove, and the limits of a key (specification parts 5 and 8). */
import { createHash, createPublicKey, generateKeyPairSync, sign, verify } from "node:crypto";
import { type Refusal, refusal } from "./answer.ts";
import { iso } from "./clock.ts";
import type { Sql } from "./database.ts";
import { companies } from "./scenes/companies.ts";

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

interface Row {
  /** JSON of the {@link Key}. */
  readonly fields: string;
  readonly per_minute: number;
  readonly monthly_cap: number;
  readonly window_start: number | null;
  readonly window_used: number;
  readonly month: string | null;
  readonly month_used: number;
}

export interface Credentials {
  readonly apiKey: string | undefined;
  readonly authorization: string | undefined;
}

/** The specification names two scopes; what the other writes need is `write`, a reading. */
export const WRITE_SCOPE = "write";
const ALL = [WRITE_SCOPE, "pricing:write", "supplier_terminals:write"];
const ELSEWHERE = ["203.0.113.10"];
const TEST_KEY = "supplier-test";

const DEFAULT_PER_MINUTE = 600;
const DEFAULT_MONTHLY_CAP = 50_000;
const WINDOW_MS = 60_000;
const TOKEN_SECONDS = 15 * 60;
const TOKEN_KEY = "token-key";

type Seed = readonly [
  name: string,
  company: { readonly id: string; readonly type: string },
  scopes?: readonly string[],
  addresses?: readonly string[],
];
const seeds: readonly Seed[] = [
  ["supplier", companies.supplier],
  ["customer", companies.customer],
  ["carrier", companies.carrier],
  ["outsider", companies.outsider],
  ["supplier-pricing-only", companies.supplier, ["pricing:write"]],
  ["supplier-read-only", companies.supplier, []],
  ["supplier-blocked-ip", companies.supplier, ALL, ELSEWHERE],
  [TEST_KEY, companies.supplierTest],
];

export class Keys {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** The same keys on every start, limits and counts anew. */
  seed(): void {
    this.#sql.run("delete from key");
    for (const [name, company, scopes = ALL, addresses = null] of seeds) {
      const sandbox = name === TEST_KEY;
      const digest = createHash("sha256").update(`fuelbridge ${name}`).digest("hex");
      const value = `svc_${sandbox ? "test" : "live"}_${digest.slice(0, 32)}`;
      const { id, type } = company;
      const key: Key = { name, value, company: id, type, scopes, addresses, sandbox };
      this.#sql.run("insert into key values (?, ?, ?, ?, ?, null, 0, null, 0)", [
        name,
        value,
        JSON.stringify(key),
        DEFAULT_PER_MINUTE,
        DEFAULT_MONTHLY_CAP,
      ]);
    }
  }

  get(name: string): Key | null {
    return keyFrom(this.#row(name));
  }

  all(): Key[] {
    return this.#rows().map((row) => keyFrom(row) as Key);
  }

  /** Part 5, rules 1 and 3: of two credentials X-API-Key counts (readings). */
  authenticate(headers: Credentials, now: number): Key {
    const given =
      headers.apiKey?.trim() || /^Bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1];
    if (given === undefined || given === "")
      throw refusal("INVALID_API_KEY", "Credentials are missing.");
    const row = this.#sql.get<Row>("select * from key where value = ?", given);
    const key = keyFrom(row) ?? this.#bearer(headers, given, now);
    if (key === null) throw refusal("INVALID_API_KEY", "The credentials are not valid.");
    return key;
  }

  /** An access token for the key's company, good for 15 minutes. */
  token(key: Key, now: number): string {
    const issued = Math.floor(now / 1000);
    const claims = { sub: key.company, key: key.name, iat: issued, exp: issued + TOKEN_SECONDS };
    const signed = [{ alg: "RS256", typ: "JWT" }, claims].map(base64url).join(".");
    return `${signed}.${sign("RSA-SHA256", Buffer.from(signed), this.#privateKey()).toString("base64url")}`;
  }

  /** Counts a request. The RateLimit headers of its answer, and the refusal when a limit is exceeded. */
  admit(key: string, now: number): { headers: Headers; refused: Refusal | null } {
    const row = this.#row(key) as Row;
    const { start, used, spent } = usageOf(row, now);
    const end = start + WINDOW_MS;
    const full = used >= row.per_minute;
    this.#sql.run("update key set window_start = ?, window_used = ? where name = ?", [
      start,
      full ? used : used + 1,
      key,
    ]);
    const left = full ? 0 : row.per_minute - used - 1;
    const headers = rateHeaders(row.per_minute, left, seconds(end - now));
    if (full) return { headers, refused: exceeded("RATE_LIMIT_EXCEEDED", "burst", end, now) };
    const capped = spent >= row.monthly_cap;
    const refused = capped ? exceeded("MONTHLY_CAP_EXCEEDED", "quota", nextMonth(now), now) : null;
    return { headers, refused };
  }

  /** Counts an answer that is billed: below 400 and no replay (readings). */
  bill(key: string, now: number): void {
    const { spent } = usageOf(this.#row(key) as Row, now);
    this.#sql.run("update key set month = ?, month_used = ? where name = ?", [
      monthOf(now),
      spent + 1,
      key,
    ]);
  }

  /** Every key's limits, and what is used of them. */
  limits(now: number): object[] {
    return this.#rows().map((row) => {
      const { used, spent } = usageOf(row, now);
      const { per_minute: perMinute, monthly_cap: monthlyCap } = row;
      const key = keyFrom(row)?.name;
      return { key, perMinute, minuteUsed: used, monthlyCap, monthUsed: spent };
    });
  }

  /** Changes the limits that are given, at once; what was used counts. Answers all of them. */
  limit(key: string, perMinute: number | undefined, monthlyCap: number | undefined): object {
    this.#sql.run(
      `update key set per_minute = coalesce(?, per_minute), monthly_cap = coalesce(?, monthly_cap)
       where name = ?`,
      [perMinute ?? null, monthlyCap ?? null, key],
    );
    const limits = this.#row(key) as Row;
    return { key, perMinute: limits.per_minute, monthlyCap: limits.monthly_cap };
  }

  #row(name: string): Row | undefined {
    return this.#sql.get<Row>("select * from key where name = ?", name);
  }

  #rows(): Row[] {
    return this.#sql.all<Row>("select * from key order by rowid");
  }

  /** A token is a bearer's; in X-API-Key it is no key. */
  #bearer(headers: Credentials, token: string, now: number): Key | null {
    const [head, body, signature] = token.split(".");
    const secret = this.#sql.setting(TOKEN_KEY);
    if (headers.apiKey?.trim() || !head || !body || !signature || secret === null) return null;
    const signed = Buffer.from(`${head}.${body}`);
    const given = Buffer.from(signature, "base64url");
    if (!verify("RSA-SHA256", signed, createPublicKey(secret), given)) return null;
    const { key, exp } = JSON.parse(Buffer.from(body, "base64url").toString()) as {
      key: string;
      exp: number;
    };
    return now < exp * 1000 ? this.get(key) : null;
  }

  #privateKey(): string {
    const stored = this.#sql.setting(TOKEN_KEY);
    if (stored !== null) return stored;
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const made = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    this.#sql.set(TOKEN_KEY, made);
    return made;
  }
}

type Headers = Readonly<Record<string, string>>;

/** Part 7: `RateLimit-*` on every response. */
function rateHeaders(limit: number, remaining: number, reset: number): Headers {
  return {
    "RateLimit-Limit": String(limit),
    "RateLimit-Remaining": String(remaining),
    "RateLimit-Reset": String(reset),
    "RateLimit-Policy": `${limit};w=${WINDOW_MS / 1000}`,
  };
}

/** Those of an answer to nobody in particular. */
export const defaultRateHeaders = rateHeaders(DEFAULT_PER_MINUTE, DEFAULT_PER_MINUTE, 60);

/** A window opens with a key's first request; months are those of the calendar, UTC. */
function usageOf(row: Row, now: number): { start: number; used: number; spent: number } {
  const open = row.window_start !== null && now < row.window_start + WINDOW_MS;
  const [start, used] = open ? [row.window_start, row.window_used] : [now, 0];
  return { start, used, spent: row.month === monthOf(now) ? row.month_used : 0 };
}

function exceeded(
  code: "RATE_LIMIT_EXCEEDED" | "MONTHLY_CAP_EXCEEDED",
  kind: "burst" | "quota",
  until: number,
  now: number,
): Refusal {
  const retryAfterSec = seconds(until - now);
  const what = kind === "burst" ? "requests of this minute" : "billable requests of this month";
  return refusal(code, `The ${what} are used up.`, {
    fields: { retryAfterSec, kind, resetAt: iso(until) },
    headers: { "Retry-After": String(retryAfterSec) },
  });
}

/** Whole seconds, never too few. */
export const seconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1000));

const monthOf = (now: number): string => iso(now).slice(0, 7);

function nextMonth(now: number): number {
  const date = new Date(now);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}

const base64url = (value: object): string =>
  Buffer.from(JSON.stringify(value)).toString("base64url");

const keyFrom = (row: Row | undefined): Key | null =>
  row === undefined ? null : (JSON.parse(row.fields) as Key);

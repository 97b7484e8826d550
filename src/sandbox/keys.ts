/** Companies, their keys, and what a request's credentials prove (specification part 5). */
import { createHash, createPublicKey, generateKeyPairSync, sign, verify } from "node:crypto";
import type { Database, Statement } from "better-sqlite3";
import { refusal } from "./answer.ts";
import { companies } from "./scenes/index.ts";
import type { Settings } from "./settings.ts";

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

interface KeyRow extends Omit<Key, "scopes" | "addresses" | "sandbox"> {
  readonly scopes: string;
  readonly addresses: string | null;
  readonly sandbox: number;
}

/** The specification names two scopes; what the other writes need is `write`, a reading. */
export const WRITE_SCOPE = "write";
const ALL = [WRITE_SCOPE, "pricing:write", "supplier_terminals:write"];
const ELSEWHERE = ["203.0.113.10"];

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
  ["supplier-test", companies.supplierTest],
];
const TEST_KEY = "supplier-test";

export class Keys {
  readonly #settings: Settings;
  readonly #byName: Statement<[string], KeyRow>;
  readonly #byValue: Statement<[string], KeyRow>;
  readonly #all: Statement<[], KeyRow>;
  readonly #insert: Statement<[Record<string, unknown>]>;
  readonly #delete: Statement<[]>;

  constructor(database: Database, settings: Settings) {
    this.#settings = settings;
    this.#byName = database.prepare("select * from key where name = ?");
    this.#byValue = database.prepare("select * from key where value = ?");
    this.#all = database.prepare("select * from key order by rowid");
    this.#insert = database.prepare(
      `insert into key values
       (:name, :value, :company, :type, :scopes, :addresses, :sandbox, 600, 50000, null, 0, null, 0)`,
    );
    this.#delete = database.prepare("delete from key");
  }

  /** The same keys on every start, limits and counts anew. */
  seed(): void {
    this.#delete.run();
    for (const [name, company, scopes = ALL, addresses = null] of seeds) {
      const sandbox = name === TEST_KEY;
      this.#insert.run({
        name,
        value: `svc_${sandbox ? "test" : "live"}_${createHash("sha256").update(`fuelbridge ${name}`).digest("hex").slice(0, 32)}`,
        company: company.id,
        type: company.type,
        scopes: JSON.stringify(scopes),
        addresses: addresses === null ? null : JSON.stringify(addresses),
        sandbox: sandbox ? 1 : 0,
      });
    }
  }

  get(name: string): Key | null {
    return fromRow(this.#byName.get(name));
  }

  all(): Key[] {
    return this.#all.all().map((row) => fromRow(row) as Key);
  }

  /** Part 5, rules 1 and 3: of two credentials X-API-Key counts (readings). */
  authenticate(headers: Credentials, now: number): Key {
    const given =
      headers.apiKey?.trim() || /^Bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1];
    if (given === undefined || given === "")
      throw refusal("INVALID_API_KEY", "Credentials are missing.");
    const key = fromRow(this.#byValue.get(given)) ?? this.#bearer(headers, given, now);
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

  /** A token is a bearer's; in X-API-Key it is no key. */
  #bearer(headers: Credentials, token: string, now: number): Key | null {
    const [head, body, signature] = token.split(".");
    const secret = this.#settings.get(TOKEN_KEY);
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
    return this.#settings.keep(TOKEN_KEY, () => {
      const encoding = { type: "pkcs8", format: "pem" } as const;
      const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
      return privateKey.export(encoding).toString();
    });
  }
}

const TOKEN_KEY = "token-key";

export interface Credentials {
  readonly apiKey: string | undefined;
  readonly authorization: string | undefined;
}

const TOKEN_SECONDS = 15 * 60;

const base64url = (value: object): string =>
  Buffer.from(JSON.stringify(value)).toString("base64url");

function fromRow(row: KeyRow | undefined): Key | null {
  if (row === undefined) return null;
  const { name, value, company, type, scopes, addresses, sandbox } = row;
  return {
    name,
    value,
    company,
    type,
    scopes: JSON.parse(scopes) as string[],
    addresses: addresses === null ? null : (JSON.parse(addresses) as string[]),
    sandbox: sandbox === 1,
  };
}

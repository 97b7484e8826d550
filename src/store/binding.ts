/**
 * Whose store this is: one company, one platform, one environment. They enter every key and every link, so with another
 * one everything would be written again; such a configuration is refused (ADR 0025).
 */
import Database from "better-sqlite3";
import { existsSync } from "node:fs";
import { ConfigurationError } from "../core/errors.ts";
import type { journal } from "./journal.ts";
import { storeFile } from "./rights.ts";

/** What a configuration says of itself. */
export interface Owner {
  readonly company: string;
  /** The platform's address, as it was written. */
  readonly platform: string;
  readonly environment: string;
  /** Addresses at which the same platform was before. */
  readonly formerUrls: readonly string[];
}

export interface Bound {
  readonly company: string | null;
  /** As {@link addressOf} gives it. */
  readonly platform: string | null;
  readonly environment: string | null;
}

/** Reads what a store says of itself. */
export const BOUND = "select company, platform, environment from identity";

export function binding(
  database: Database.Database,
  folder: string,
  told: ReturnType<typeof journal>,
) {
  const read = database.prepare<[], Bound>(BOUND);
  const bind = database.prepare<Bound>(
    "update identity set company = :company, platform = :platform, environment = :environment",
  );

  return {
    /** A store that nobody has yet is anybody's. Inside a transaction. @throws ConfigurationError for another owner */
    expect(owner: Owner): void {
      refuseOther(`the store in ${folder}`, read.get(), owner);
    },
    /**
     * The same, and from here on it is this owner's; `atMs` is now. Inside a transaction.
     * @throws ConfigurationError for another owner
     */
    claim(owner: Owner, atMs: number): void {
      const before = read.get();
      refuseOther(`the store in ${folder}`, before, owner);
      const { company, environment } = owner;
      const platform = addressOf(owner.platform);
      bind.run({ company, platform, environment });
      const from = before?.platform ?? null;
      if (from !== null && from !== platform)
        told.audit(atMs, { event: "platform moved", detail: `from ${from} to ${platform}` });
    },
  };
}

/**
 * For who looks and must change nothing. A store that another process holds, that cannot be read, or that is from
 * before ADR 0025 says nothing. @throws ConfigurationError for another owner
 */
export function expectOwner(folder: string, owner: Owner): void {
  if (!existsSync(storeFile(folder))) return;
  refuseOther(`the store in ${folder}`, looked(folder), owner);
}

function looked(folder: string): Bound | undefined {
  try {
    const database = new Database(storeFile(folder), { timeout: 0, fileMustExist: true });
    try {
      // No file is made beside it.
      database.pragma("locking_mode = exclusive");
      return database.prepare<[], Bound>(BOUND).get();
    } finally {
      database.close();
    }
  } catch (error) {
    if (error instanceof Database.SqliteError) return undefined;
    throw error;
  }
}

/** `what`: "the store in /var/lib/fuelbridge". @throws ConfigurationError for another owner's */
export function refuseOther(what: string, bound: Bound | undefined, owner: Owner): void {
  const { company = null, platform = null, environment = null } = bound ?? {};
  const address = addressOf(owner.platform);
  if (company !== null && company !== owner.company)
    throw new ConfigurationError(
      `${sentence(what)} belongs to the company "${company}", but company is "${owner.company}" in this configuration.`,
      `The company is part of every idempotency key: under another one everything would be written again. Set company back to "${company}"; for another company, set state to a folder of its own.`,
    );
  if (environment !== null && environment !== owner.environment)
    throw new ConfigurationError(
      `${sentence(what)} belongs to the ${environment} environment, but platform.environment is "${owner.environment}" in this configuration.`,
      `The two environments hold different documents. Set platform.environment back to ${environment}; for the other one, set state to a folder of its own.`,
    );
  const isKnown = [address, ...owner.formerUrls.map(addressOf)].includes(platform ?? address);
  if (!isKnown)
    throw new ConfigurationError(
      `${sentence(what)} belongs to the platform at ${platform}, but platform.url is ${address} in this configuration.`,
      `What it knows as delivered is not on another platform. Set platform.url back. If the same platform has moved, say so: platform.formerUrls: ["${platform}"]. For another platform, set state to a folder of its own.`,
    );
}

/** Equal for addresses that lead to the same place: case of the host, default port, slashes at the end. */
function addressOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname.replace(/\/+$/, "");
}

const sentence = (what: string): string => what.charAt(0).toUpperCase() + what.slice(1);

/** Who is logged in, and logins that failed: in the memory of the daemon. */
import { createHmac, randomBytes } from "node:crypto";
import { isIPv6 } from "node:net";
import type { Inline } from "../views/blocks.ts";
import { sha256 } from "../core/keys.ts";

export interface Session {
  readonly user: string;
  /** In every form of this session. */
  readonly csrf: string;
  /** Told once, on the next page. */
  told: Inline | null;
}

interface Kept extends Session {
  readonly sinceMs: number;
  seenMs: number;
}

/** Without a request of a person. */
const IDLE_MS = 30 * 60_000;
const LONGEST_MS = 12 * 3_600_000;
/** More than a site has people; the oldest is logged out. */
const SESSIONS_MAX = 200;

export class Sessions {
  readonly #nowMs: () => number;
  readonly #byDigest = new Map<string, Kept>();
  readonly #secret = randomBytes(32);

  /** `nowMs`: a clock that never goes back. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** The value of the cookie. */
  open(user: string): string {
    const nowMs = this.#nowMs();
    const id = secretText();
    this.#byDigest.set(sha256(id), {
      user,
      csrf: secretText(),
      told: null,
      sinceMs: nowMs,
      seenMs: nowMs,
    });
    const [oldest] = this.#byDigest.keys();
    if (this.#byDigest.size > SESSIONS_MAX && oldest !== undefined) this.#byDigest.delete(oldest);
    return id;
  }

  /** `isPerson`: false for what a page asks by itself, which keeps nobody logged in. */
  find(id: string | undefined, isPerson: boolean): Session | null {
    if (id === undefined) return null;
    const key = sha256(id);
    const found = this.#byDigest.get(key);
    if (found === undefined) return null;
    const nowMs = this.#nowMs();
    if (nowMs - found.seenMs > IDLE_MS || nowMs - found.sinceMs > LONGEST_MS) {
      this.#byDigest.delete(key);
      return null;
    }
    if (isPerson) found.seenMs = nowMs;
    return found;
  }

  end(id: string | undefined): void {
    if (id !== undefined) this.#byDigest.delete(sha256(id));
  }

  /** For the form of the login: made from a cookie that only this browser has, before there is a session. */
  loginToken(cookie: string): string {
    return createHmac("sha256", this.#secret).update(cookie).digest("base64url");
  }
}

/** 32 random bytes. */
export const secretText = (): string => randomBytes(32).toString("base64url");

/** So many may fail in a row: for one name from one address, and for all names from it. */
const FREE = { name: 5, address: 200 } as const;
const FIRST_WAIT_MS = 15_000;
const LONGEST_WAIT_MS = 15 * 60_000;
/** After so long without another one, what failed does not count any more. */
const FORGOTTEN_MS = 24 * 60 * 60_000;
/** Of names and addresses that are remembered; the oldest is forgotten. */
const REMEMBERED_MAX = 10_000;

interface FailedLogins {
  readonly count: number;
  readonly atMs: number;
  readonly untilMs: number;
}

/**
 * Logins that failed: after some for a name from an address, the next one waits, and each further one twice as long. What
 * is counted for an address alone stands far above that: an office, or a proxy that does not say who asks, is one address.
 */
export class Attempts {
  readonly #nowMs: () => number;
  readonly #failed = new Map<string, FailedLogins>();

  /** `nowMs`: a clock that never goes back. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** How long nobody may try this name from this address, ms; 0: now. */
  waitMs(name: string, address: string): number {
    const nowMs = this.#nowMs();
    const until = keysOf(name, address).map(([key]) => this.#failed.get(key)?.untilMs ?? 0);
    return Math.max(0, ...until.map((ms) => ms - nowMs));
  }

  failed(name: string, address: string): void {
    const atMs = this.#nowMs();
    for (const [key, free] of keysOf(name, address)) {
      const before = this.#failed.get(key);
      const isOld = before === undefined || atMs - before.atMs > FORGOTTEN_MS;
      const count = (isOld ? 0 : before.count) + 1;
      const waitMs = Math.min(FIRST_WAIT_MS * 2 ** Math.max(count - free, 0), LONGEST_WAIT_MS);
      this.#failed.delete(key);
      this.#failed.set(key, { count, atMs, untilMs: count < free ? 0 : atMs + waitMs });
    }
    for (const key of this.#failed.keys()) {
      if (this.#failed.size <= REMEMBERED_MAX) break;
      this.#failed.delete(key);
    }
  }

  /** The attempt was counted as failed before its password was known: it is taken back, and what the name had failed. */
  succeeded(name: string, address: string): void {
    const [[own], [all]] = keysOf(name, address);
    this.#failed.delete(own);
    const before = this.#failed.get(all);
    if (before === undefined) return;
    const count = before.count - 1;
    this.#failed.set(all, { ...before, count, untilMs: count < FREE.address ? 0 : before.untilMs });
  }
}

type Key = [key: string, free: number];
const keysOf = (name: string, address: string): [own: Key, all: Key] => {
  const network = networkOf(address);
  return [
    [`name ${network} ${name}`, FREE.name],
    [`address ${network}`, FREE.address],
  ];
};

/** Of IPv6 the first 64 bits: who has one address there has all of them. */
function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = "", tail] = address.split("::");
  const [before, after] = [groupsOf(head), groupsOf(tail ?? "")];
  const zeros = tail === undefined ? 0 : Math.max(8 - before.length - after.length, 0);
  return [...before, ...Array.from({ length: zeros }, () => "0"), ...after].slice(0, 4).join(":");
}

const groupsOf = (text: string): string[] => (text === "" ? [] : text.split(":"));

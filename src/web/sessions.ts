/** Who is logged in: random ids that only their digests are kept of, in the memory of the daemon. */
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";

export interface Session {
  readonly user: string;
  /** In every form of this session. */
  readonly csrf: string;
  /** Told once, on the next page. */
  told: string | null;
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
    this.#byDigest.set(digest(id), {
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
    const key = digest(id);
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
    if (id !== undefined) this.#byDigest.delete(digest(id));
  }

  /** For the form of the login: made from a cookie that only this browser has, before there is a session. */
  loginToken(cookie: string): string {
    return createHmac("sha256", this.#secret).update(cookie).digest("base64url");
  }
}

/** 32 random bytes. */
export const secretText = (): string => randomBytes(32).toString("base64url");

/** In a time that tells nothing about either. */
export const isSame = (one: string, other: string): boolean =>
  timingSafeEqual(Buffer.from(digest(one)), Buffer.from(digest(other)));

const digest = (text: string): string => createHash("sha256").update(text).digest("hex");

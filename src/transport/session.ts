/**
 * A login that is kept until the other side ends it. Whoever comes while one is under way waits for that one; a call that
 * meets an ended session has not run, and is made once more in a new one.
 */
import { isWithin } from "../core/time.ts";

interface SessionOptions<Session> {
  logIn(): Promise<Session>;
  /** The call has not run, and a new login may help. */
  isEnded(error: unknown): boolean;
  /** How long no login is tried after one that failed with this, ms; null: the next call may try. */
  waitMsOf(error: unknown): number | null;
  /** What a call fails with meanwhile. */
  waiting(error: unknown, leftMs: number): Error;
  /** A session ended, and a new one is opened. */
  ended(): void;
  now(): Date;
}

interface Sessions<Session> {
  current(): Promise<Session>;
  /** Runs a call. @throws what it throws, and what the login throws */
  within<T>(call: (session: Session) => Promise<T>): Promise<T>;
  /** Forgets the session; the one that was open, null where none is. */
  leave(): Promise<Session | null>;
}

export function openSessions<Session>(options: SessionOptions<Session>): Sessions<Session> {
  let session: Promise<Session> | null = null;
  let failed: {
    readonly error: unknown;
    readonly waitMs: number;
    readonly sinceMs: number;
  } | null = null;

  function current(): Promise<Session> {
    const nowMs = options.now().getTime();
    if (failed !== null && isWithin(failed.sinceMs, failed.waitMs, nowMs)) {
      const leftMs = failed.sinceMs + failed.waitMs - nowMs;
      return Promise.reject(options.waiting(failed.error, leftMs));
    }
    session ??= options.logIn().catch((error: unknown) => {
      session = null;
      const waitMs = options.waitMsOf(error);
      if (waitMs !== null) failed = { error, waitMs, sinceMs: options.now().getTime() };
      throw error;
    });
    return session;
  }

  return {
    current,
    async within(call) {
      const opened = current();
      const first = await opened;
      try {
        return await call(first);
      } catch (error) {
        if (!options.isEnded(error)) throw error;
        options.ended();
        if (session === opened) session = null;
        return await call(await current());
      }
    },
    async leave() {
      const open = (await session?.catch(() => null)) ?? null;
      session = null;
      return open;
    },
  };
}

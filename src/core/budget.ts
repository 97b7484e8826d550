/**
 * The requests that the platform allows: 600 a minute, 50,000 a month per key (specification part 8). Every request
 * asks the governor first, and what it refuses is not sent.
 */

/** What a request is for. Purposes share the month by reserves: polling never eats what writing needs. */
export type Purpose = "poll" | "detail" | "write" | "read-back" | "check" | "audit";

export type Admission =
  | { readonly admitted: true }
  /** Nothing was sent. `waitMs`: how long until it is worth asking again. */
  | { readonly admitted: false; readonly waitMs: number; readonly detail: string };

export interface Governor {
  /** Waits for a place within the minute, and counts the request against the month. */
  admit(purpose: Purpose): Promise<Admission>;
  /** What the head of an answer says about the limits (`RateLimit-*`, specification part 7). */
  learn(headers: Readonly<Record<string, string>>, status: number): void;
}

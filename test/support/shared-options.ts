/** How the processes of a test share a Redis, and what they send: a look ten times a second. */
import type { Exchange } from "../../src/platform/client.ts";
import type { SharedOptions } from "../../src/queue/shared.ts";

export const sharedOptions = (
  { url }: { readonly url: string },
  options: Partial<SharedOptions> = {},
): SharedOptions => ({
  redis: { url, username: null, password: null },
  scope: "test",
  note: () => {},
  lookMs: 100,
  atOnce: 1,
  ...options,
});

let requests = 0;

/** One write, as it is once admitted; each under a key of its own. */
export const requestOf = (body: string) => ({
  method: "POST" as const,
  path: "/things",
  purpose: "write" as const,
  body,
  idempotencyKey: `key-${++requests}`,
});

export type TestRequest = ReturnType<typeof requestOf>;

export const done = (text: string): Exchange => ({
  kind: "answer",
  status: 201,
  headers: {},
  text,
});

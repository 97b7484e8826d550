/**
 * The checks before a request's body, in their order (readings, Idempotency): 401, 429, 403, 404 for what is no
 * operation at all, key missing, the key's record. A fault is taken behind them, so a request that is refused or
 * replayed anyway uses none up.
 */
import type { Operation } from "../platform/contract/operation.ts";
import { type OperationId, operations } from "../platform/contract/operations.ts";
import { type Answer, hashOf, notFound, Refusal, refusal, type Sent } from "./answer.ts";
import { iso } from "./clock.ts";
import type { Fault } from "./faults.ts";
import { requiredKey, type Write } from "./idempotency.ts";
import { type Credentials, defaultRateHeaders, type Key, WRITE_SCOPE } from "./keys.ts";
import type { World } from "./world.ts";

export interface Arrived extends Sent {
  readonly method: string;
  /** Without the root. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Credentials & { readonly idempotencyKey: string | undefined };
  /** The caller's. */
  readonly address: string;
}

export interface Admitted {
  readonly arrived: Arrived;
  readonly match: Match;
  readonly key: Key;
  /** Null: the operation takes no Idempotency-Key. */
  readonly write: Write | null;
  readonly fault: Fault | null;
  /** When it arrived, milliseconds. */
  readonly at: number;
  /** Its line in the request log. */
  readonly seq: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** An operation of the contract, and the record that a path names. */
export interface Match {
  readonly name: OperationId;
  readonly operation: Operation;
  /** The decoded `{id}`, or nothing. */
  readonly id: string;
}

/** An answer without the operation: a refusal or a replay. */
export interface Settled {
  readonly settled: Answer;
  readonly headers: Readonly<Record<string, string>>;
}

export function admit(world: World, arrived: Arrived): Admitted | Settled {
  const now = world.clock.now();
  const seq = world.log.begin(lineOf(arrived, now));
  let headers = defaultRateHeaders;
  let key: Key | null = null;
  try {
    key = world.keys.authenticate(arrived.headers, now);
    const limit = world.keys.admit(key.name, now);
    headers = { ...limit.headers, ...(key.sandbox ? { "X-SVC-Sandbox": "true" } : {}) };
    if (limit.refused !== null) throw limit.refused;
    checkAddress(key, arrived.address);
    const match = matchRoute(arrived.method, arrived.path);
    if (match === null) throw notFound(`${arrived.method} ${arrived.path}`);
    checkScope(key, match);
    const write = writeOf(key, match, arrived);
    const replay = write === null ? null : replayOf(world, write, now);
    if (replay !== null) {
      world.log.end(seq, key.name, { status: replay.status, replayed: true, fault: null });
      return { settled: replay, headers };
    }
    const fault = world.faults.take({
      method: arrived.method,
      route: match.operation.path,
      key: key.name,
      hasCursor: (arrived.query.cursor ?? "") !== "",
    });
    // Only a delayed write can be met in flight: the others end in the transaction that they begin in.
    if (write !== null && fault?.kind === "delay") world.idempotency.begin(write, now);
    return { arrived, match, key, write, fault, at: now, seq, headers };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { status } = error.answer;
    world.log.end(seq, key?.name ?? null, { status, replayed: false, fault: null });
    return { settled: error.answer, headers };
  }
}

/** The original answer of a write that has been carried out; null when it may run. @throws Refusal */
export function replayOf(world: World, write: Write, now: number): Answer | null {
  const replay = world.idempotency.check(write, now);
  return replay === null || world.readings.values().replayShown
    ? replay
    : { ...replay, headers: {} };
}

function lineOf({ method, path, query, headers, body, digest, tooLarge }: Arrived, now: number) {
  return {
    at: iso(now),
    key: null,
    method,
    path,
    query,
    idempotencyKey: headers.idempotencyKey ?? null,
    bodyHash: body.length === 0 && !tooLarge ? null : digest,
  };
}

/** Part 5, rule 4: the address of the caller must be on the key's list when it has one. */
function checkAddress({ addresses }: Key, address: string): void {
  if (addresses === null || addresses.includes(address)) return;
  throw refusal("INSUFFICIENT_SCOPE", `The address ${address} is not allowed.`);
}

/** Part 5, rules 4 and 5. Reading, and the freight calculation, need no scope (readings). */
function checkScope({ scopes }: Key, { operation }: Match): void {
  if (!operation.idempotencyKey) return;
  const scope = operation.scope ?? WRITE_SCOPE;
  if (!scopes.includes(scope))
    throw refusal("INSUFFICIENT_SCOPE", `The key lacks the scope ${scope}.`);
}

/** Rule W1; on the freight calculation the header is ignored. */
function writeOf(key: Key, match: Match, arrived: Arrived): Write | null {
  if (!match.operation.idempotencyKey) return null;
  const { method, path } = arrived;
  const value = requiredKey(arrived.headers.idempotencyKey);
  return { company: key.company, key: value, method, path, hash: hashOf(arrived) };
}

const routes = (Object.entries(operations) as [OperationId, Operation][]).map(
  ([name, operation]) => ({
    name,
    operation,
    pattern: new RegExp(`^${operation.path.replace("{id}", "([^/]+)")}$`),
  }),
);

/** Null for a path or method that the contract does not have: both are 404 (readings). */
export function matchRoute(method: string, path: string): Match | null {
  for (const { name, operation, pattern } of routes) {
    const found = operation.method === method ? pattern.exec(path) : null;
    if (found === null) continue;
    try {
      return { name, operation, id: decodeURIComponent(found[1] ?? "") };
    } catch {
      // The id is not encoded as a URL has it: no path of the contract.
    }
  }
  return null;
}

/**
 * One request from arrival to answer. The checks before its body come in their order (readings, Idempotency): 401, 429,
 * 403, 404 for what is no operation at all, key missing, the key's record. A fault is taken behind them, so a request
 * that is refused or replayed anyway uses none up. What a request writes, its idempotency record and its line in the log
 * are one transaction; only a delay makes them two, with the key in flight in between.
 */
import { hash } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import type { Operation } from "../platform/contract/operation.ts";
import { type OperationId, operations } from "../platform/contract/operations.ts";
import {
  type Answer,
  bodyOf,
  codeOf,
  hashOf,
  invalid,
  json,
  JSON_TYPE,
  notFound,
  parsed,
  Refusal,
  refusal,
  type Sent,
} from "./answer.ts";
import { print } from "./document.ts";
import { type Credentials, defaultRateHeaders, type Key, WRITE_SCOPE } from "./keys.ts";
import { written } from "./notation.ts";
import type { Json } from "../core/json.ts";
import { type Match, perform } from "./operations.ts";
import { type Fault, requiredKey, type Write } from "./requests.ts";
import { iso } from "./settings.ts";
import type { World } from "./world.ts";

interface Arrived extends Sent {
  readonly method: string;
  /** Without the root. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Credentials & { readonly idempotencyKey: string | undefined };
  /** The caller's. */
  readonly address: string;
}

/** A request that may run. */
interface Admitted {
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
  readonly headers: Answer["headers"];
}

/**
 * A write that is carried out later: one that answered 5xx (reading `failingWritesCommitLateSeconds`), or one that the
 * network holds (fault `held`).
 */
interface LateWrite {
  readonly due: number;
  readonly key: string;
  readonly method: string;
  readonly path: string;
  readonly body: Buffer | null;
  /** JSON of its {@link Write} when it arrives only then (fault `held`); null: it arrived and commits late. */
  readonly write: string | null;
}

/** What the client gets. */
export interface Departure {
  /** Null: the connection is torn down with no answer. */
  readonly answer: Answer | null;
  /** Half of the body, then the connection is torn down. */
  readonly half?: boolean;
}

const TORN: Departure = { answer: null };

/** Behind those of the request, the answer's own. */
const withHeaders = (headers: Answer["headers"], answer: Answer): Answer => ({
  ...answer,
  headers: { ...headers, ...answer.headers },
});

const GARBAGE = json(200, "<html><body>It works, but this is no JSON</body>");

export class Exchange {
  readonly #world: World;
  readonly #end = new AbortController();
  readonly #running = new Set<Promise<unknown>>();
  /** Answers so far. */
  #answers = 0;

  constructor(world: World) {
    this.#world = world;
  }

  async handle(arrived: Arrived): Promise<Departure> {
    const departure = this.#handle(arrived);
    this.#running.add(departure);
    try {
      return await departure;
    } finally {
      this.#running.delete(departure);
    }
  }

  /** Resolves when no request is in flight, its client gone or not. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.#running);
  }

  /** Gives up what is still delayed: those writes never run, and their keys have an unknown outcome. */
  abandon(): void {
    this.#end.abort();
  }

  /** Carries out the writes that failed and commit late, and those that the network held, each at its time. */
  commitLate(): void {
    const world = this.#world;
    world.transaction(() => {
      const now = world.clock.now();
      for (let late = this.#late(now); late !== undefined; late = this.#late(now)) {
        const { key, method, path, body, due, write } = late;
        const caller = world.keys.get(key);
        const match = matchRoute(method, path);
        if (caller === null || match === null) continue;
        const given = (): Json | undefined => (body === null ? undefined : parsed(body));
        const run = (): Answer => perform(world, caller, match, {}, given(), due);
        if (write === null) this.#attempt(run);
        else this.#arrive(late, JSON.parse(write) as Write, run);
      }
    });
  }

  /** Takes the next write whose time has come. */
  #late(now: number): LateWrite | undefined {
    return this.#world.sql.get<LateWrite>(
      `delete from late where id = (select id from late where due <= ? order by due, id limit 1)
       returning due, key, method, path, body, write`,
      now,
    );
  }

  /** A write that the network held comes at last, under its key, and nobody waits for the answer. */
  #arrive({ key, method, path, body, due }: LateWrite, write: Write, run: () => Answer): void {
    const { log, idempotency } = this.#world;
    const bodyHash = body === null ? null : hash("sha256", body);
    const arrival = { at: iso(due), key, method, path, query: {}, bodyHash };
    const seq = log.begin({ ...arrival, idempotencyKey: write.key });
    let replay: Answer | null = null;
    const answer = this.#attempt(() => (replay = idempotency.check(write, due)) ?? run());
    const { status } = answer;
    if (replay === null && status !== 409) idempotency.end(write, answer, due, due);
    log.end(seq, key, { status, replayed: replay !== null, fault: null });
  }

  async #handle(arrived: Arrived): Promise<Departure> {
    const world = this.#world;
    this.commitLate();
    const first = world.transaction(() => {
      const admitted = admit(world, arrived);
      if ("answer" in admitted || admitted.fault?.kind === "delay") return admitted;
      return this.#finish(admitted);
    });
    const { answer, half } = "answer" in first ? first : await this.#later(first);
    if (answer === null) return TORN;
    const headers = { Date: new Date(world.clock.now()).toUTCString() };
    return { answer: withHeaders(headers, await this.#written(answer)), half: half === true };
  }

  /** A fault `delay`: the key is in flight, then the write runs, whether or not its client still waits. */
  async #later(admitted: Admitted): Promise<Departure> {
    const world = this.#world;
    const { epoch } = world;
    const ms = admitted.fault?.kind === "delay" ? admitted.fault.ms : 0;
    try {
      await setTimeout(ms, undefined, { signal: this.#end.signal });
    } catch {
      return TORN;
    }
    // A reset came in between: the world that this request came to is gone.
    return world.epoch === epoch ? world.transaction(() => this.#finish(admitted)) : TORN;
  }

  /** Runs the operation, or what a fault makes of it, and keeps the outcome. */
  #finish(admitted: Admitted): Departure {
    const { clock, idempotency, keys, log } = this.#world;
    const { key, write, fault, seq, headers, at } = admitted;
    const now = clock.now();
    const { result, seen } = this.#run(admitted, now);
    if (write !== null && result === null) idempotency.free(write);
    if (write !== null && result !== null) idempotency.end(write, result, at, now);
    const isTwice = fault?.kind === "twice" && write !== null;
    const again = isTwice ? replayOf(this.#world, write, now) : null;
    const status = seen?.status ?? null;
    if (status !== null && status < 400) keys.bill(key.name, now);
    log.end(seq, key.name, { status, replayed: again !== null, fault: fault?.kind ?? null });
    const answer = again ?? seen;
    return { answer: answer && withHeaders(headers, answer), half: fault?.kind === "truncate" };
  }

  /**
   * `result`: what its idempotency record holds; null: nothing ran. `seen`: what the client gets; null: a torn connection.
   */
  #run(admitted: Admitted, now: number): { result: Answer | null; seen: Answer | null } {
    const { fault, write } = admitted;
    switch (fault?.kind) {
      case "status":
        if (fault.when === "after" && !this.#putOff(admitted, fault.status, now))
          this.#operate(admitted, now);
        return plainly(statusAnswer(fault));
      case "reset":
        return { result: fault.when === "after" ? this.#operate(admitted, now) : null, seen: null };
      case "garbage":
        return { result: this.#operate(admitted, now), seen: GARBAGE };
      case "cursor":
        return plainly(invalid("cursor is not valid any more: start the walk again.").answer);
      case "held":
        // Nobody misses a read.
        if (write !== null) this.#defer(admitted, now + fault.seconds * 1000, write);
        return { result: null, seen: null };
      case "delay":
      case "truncate":
      case "twice":
      case undefined:
        return plainly(this.#operate(admitted, now));
    }
  }

  #operate({ arrived, match, key }: Admitted, now: number): Answer {
    return this.#attempt(() => {
      const body = bodyOf(arrived, match.operation.body !== undefined);
      return perform(this.#world, key, match, arrived.query, body, now);
    });
  }

  /** What a refused operation wrote is undone; its refusal is the answer. */
  #attempt(work: () => Answer): Answer {
    try {
      return this.#world.transaction(work);
    } catch (error) {
      if (error instanceof Refusal) return error.answer;
      throw error;
    }
  }

  /** Leaves a write that answers 5xx for later, when the reading says so. */
  #putOff(admitted: Admitted, status: number, now: number): boolean {
    const late = this.#world.readings.values().failingWritesCommitLateSeconds;
    if (late === 0 || status < 500 || admitted.write === null) return false;
    this.#defer(admitted, now + late * 1000, null);
    return true;
  }

  /** Carries a write out at `due`: one that has arrived, or one that arrives only then, under its key. */
  #defer({ arrived, key }: Admitted, due: number, write: Write | null): void {
    const { method, path } = arrived;
    const body = arrived.body.length === 0 ? null : arrived.body;
    const held = write === null ? null : JSON.stringify(write);
    const late = "insert into late (due, key, method, path, body, write) values (?, ?, ?, ?, ?, ?)";
    this.#world.sql.run(late, due, key.name, method, path, body, held);
  }

  async #written(answer: Answer): Promise<Answer> {
    if (answer.paper !== undefined) return { ...answer, body: await print(answer.paper) };
    const nth = this.#answers++;
    if (answer.type !== JSON_TYPE || typeof answer.body !== "string") return answer;
    return { ...answer, body: written(answer.body, nth, this.#world.readings.values()) };
  }
}

/** What may run, or the answer without the operation: a refusal or a replay. */
function admit(world: World, arrived: Arrived): Admitted | Departure {
  const { method, path, query, body, digest, tooLarge } = arrived;
  const now = world.clock.now();
  const { idempotencyKey = null } = arrived.headers;
  const bodyHash = body.length === 0 && !tooLarge ? null : digest;
  const line = { at: iso(now), key: null, method, path, query, idempotencyKey, bodyHash };
  const seq = world.log.begin(line);
  let headers = defaultRateHeaders;
  let key: Key | null = null;
  const settled = (answer: Answer, replayed: boolean): Departure => {
    world.log.end(seq, key?.name ?? null, { status: answer.status, replayed, fault: null });
    return { answer: withHeaders(headers, answer) };
  };
  try {
    key = world.keys.authenticate(arrived.headers, now);
    const limit = world.keys.admit(key.name, now);
    headers = { ...limit.headers, ...(key.sandbox ? { "X-SVC-Sandbox": "true" } : {}) };
    if (limit.refused !== null) throw limit.refused;
    const match = matchAllowed(key, arrived);
    const write = writeOf(key, match, arrived);
    const replay = write === null ? null : replayOf(world, write, now);
    if (replay !== null) return settled(replay, true);
    const hasCursor = (query["cursor"] ?? "") !== "";
    const target = { method, path: match.operation.path, key: key.name, hasCursor };
    const fault = world.faults.take(target);
    // Only a delayed write can be met in flight: the others end in the transaction that they begin in.
    if (write !== null && fault?.kind === "delay") world.idempotency.begin(write, now);
    return { arrived, match, key, write, fault, at: now, seq, headers };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return settled(error.answer, false);
  }
}

const plainly = (answer: Answer) => ({ result: answer, seen: answer });

/** The original answer of a write that has been carried out; null when it may run. @throws Refusal */
function replayOf(world: World, write: Write, now: number): Answer | null {
  const replay = world.idempotency.check(write, now);
  const isShown = world.readings.values().replayShown;
  return replay === null || isShown ? replay : { ...replay, headers: {} };
}

/**
 * The operation, where the key may ask for it (part 5, rules 4 and 5): the address of the caller must be on the key's list
 * when it has one. Reading, and the freight calculation, need no scope (readings). @throws Refusal
 */
function matchAllowed({ addresses, scopes }: Key, { address, method, path }: Arrived): Match {
  if (addresses !== null && !addresses.includes(address))
    throw refusal("INSUFFICIENT_SCOPE", `The address ${address} is not allowed.`);
  const match = matchRoute(method, path);
  if (match === null) throw notFound(`${method} ${path}`);
  const { idempotencyKey, scope = WRITE_SCOPE } = match.operation;
  if (idempotencyKey && !scopes.includes(scope))
    throw refusal("INSUFFICIENT_SCOPE", `The key lacks the scope ${scope}.`);
  return match;
}

/** Rule W1; on the freight calculation the header is ignored. */
function writeOf({ company }: Key, { operation }: Match, arrived: Arrived): Write | null {
  if (!operation.idempotencyKey) return null;
  const { method, path, headers } = arrived;
  return { company, key: requiredKey(headers.idempotencyKey), method, path, hash: hashOf(arrived) };
}

const routes = (Object.entries(operations) as [OperationId, Operation][]).map(
  ([name, operation]) => ({
    name,
    operation,
    pattern: new RegExp(`^${operation.path.replace("{id}", "([^/]+)")}$`),
  }),
);

/** Null for a path or method that the contract does not have: both are 404 (readings). */
function matchRoute(method: string, path: string): Match | null {
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

function statusAnswer(fault: Extract<Fault, { kind: "status" }>): Answer {
  const { status, code = codeOf(status), retryAfter } = fault;
  const headers: Record<string, string> =
    retryAfter === undefined ? {} : { "Retry-After": String(retryAfter) };
  return new Refusal(status, code, "A fault of the sandbox.", { headers }).answer;
}

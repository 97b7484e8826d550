/**
 * One request from arrival to answer. The checks come in this order (readings, Idempotency): 401, 429, 403, key
 * missing, the key's record, body, 404; the faults stand between the key's record and the body. What a request
 * writes, its idempotency record and its line in the log are one transaction.
 */
import { setTimeout } from "node:timers/promises";
import { type Answer, codeOf, json, notFound, Refusal } from "./answer.ts";
import { bodyOf, hashOf, type Sent } from "./body.ts";
import { iso } from "./clock.ts";
import { print, type PrintedDocument } from "./document.ts";
import type { Fault } from "./faults.ts";
import { requiredKey, type Write } from "./idempotency.ts";
import { type Key, WRITE_SCOPE } from "./keys.ts";
import { DEFAULT_PER_MINUTE, rateHeaders } from "./limits.ts";
import { perform } from "./perform.ts";
import { isWrite, type Match, matchRoute } from "./routes.ts";
import type { World } from "./world.ts";

export interface Arrived extends Sent {
  readonly method: string;
  /** Without the root. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: {
    readonly apiKey: string | undefined;
    readonly authorization: string | undefined;
    readonly idempotencyKey: string | undefined;
  };
  readonly address: string;
}

export interface Departure {
  /** Null: the connection is torn down with no answer. */
  readonly answer: Answer | null;
  /** Half of the body, then the connection is torn down. */
  readonly half: boolean;
}

/** A request that has passed the checks before its body. */
interface Admitted {
  readonly arrived: Arrived;
  readonly match: Match;
  readonly key: Key;
  readonly write: Write | null;
  readonly fault: Fault | null;
  readonly at: number;
  readonly seq: number;
  readonly headers: Readonly<Record<string, string>>;
}

interface Outcome {
  readonly answer: Answer | PrintedDocument | null;
  readonly half: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

export class Exchange {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  async handle(arrived: Arrived): Promise<Departure> {
    const world = this.#world;
    this.commitLate();
    const first = world.transaction(() => {
      const admitted = this.#admit(arrived);
      if ("answer" in admitted || admitted.fault?.kind === "delay") return admitted;
      return this.#finish(admitted);
    });
    return this.#depart("answer" in first ? first : await this.#later(first));
  }

  /** Carries out the writes that failed and commit late, each at its time. */
  commitLate(): void {
    const world = this.#world;
    world.transaction(() => {
      for (let now = world.clock.now(), write = world.late.next(now); write;) {
        const { method, path, body, due } = write;
        const key = world.keys.get(write.key);
        const match = matchRoute(method, path);
        if (key !== null && match !== null)
          this.#attempt(() => {
            const given = bodyOf({ ...NOTHING_SENT, body: Buffer.from(body ?? "") }, true);
            return perform(world, key, match, {}, given, due);
          });
        write = world.late.next(now);
      }
    });
  }

  /** A fault `delay`: the key is in flight, then the write runs, whether or not its client still waits. */
  async #later(admitted: Admitted): Promise<Outcome> {
    const world = this.#world;
    const { epoch } = world;
    await setTimeout(admitted.fault?.kind === "delay" ? admitted.fault.ms : 0);
    // A reset came in between: there is no world left to write to.
    if (world.epoch !== epoch) return { answer: null, half: false, headers: {} };
    return world.transaction(() => this.#finish(admitted));
  }

  #admit(arrived: Arrived): Admitted | Outcome {
    const world = this.#world;
    const now = world.clock.now();
    const { method, path, query, headers } = arrived;
    const seq = world.log.begin({
      at: iso(now),
      key: null,
      method,
      path,
      query,
      idempotencyKey: headers.idempotencyKey ?? null,
      bodyHash: arrived.body.length === 0 ? null : arrived.digest,
    });
    let sent = rateHeaders(DEFAULT_PER_MINUTE, DEFAULT_PER_MINUTE, 60);
    let key: Key | null = null;
    try {
      key = world.keys.authenticate(headers, now);
      const limit = world.limits.admit(key.name, now);
      sent = { ...limit.headers, ...(key.sandbox ? { "X-SVC-Sandbox": "true" } : {}) };
      if (limit.refused !== null) throw limit.refused;
      checkAddress(key, arrived.address);
      const match = matchRoute(method, path);
      if (match === null) throw notFound(`${method} ${path}`);
      checkScope(key, match);
      const write = writeOf(key, match, arrived);
      const replay = write === null ? null : world.idempotency.check(write, now);
      if (replay !== null) {
        world.log.end(seq, key.name, { status: replay.status, replayed: true, fault: null });
        return { answer: replay, half: false, headers: sent };
      }
      const target = { method, route: match.operation.path, key: key.name };
      const fault = world.faults.take({ ...target, hasCursor: (query.cursor ?? "") !== "" });
      if (write !== null) world.idempotency.begin(write, now);
      return { arrived, match, key, write, fault, at: now, seq, headers: sent };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const status = error.status;
      world.log.end(seq, key?.name ?? null, { status, replayed: false, fault: null });
      return { answer: error.answer, half: false, headers: sent };
    }
  }

  /** Runs the operation, or what a fault makes of it, and keeps the outcome. */
  #finish(admitted: Admitted): Outcome {
    const world = this.#world;
    const { key, write, fault, seq, headers } = admitted;
    const now = world.clock.now();
    const { result, seen, status } = this.#run(admitted, now);
    if (write !== null) {
      if (result === null) world.idempotency.free(write);
      else if (isAnswer(result)) world.idempotency.end(write, result, admitted.at, now);
    }
    if (status !== null && status < 400) world.limits.bill(key.name, now);
    world.log.end(seq, key.name, { status, replayed: false, fault: fault?.kind ?? null });
    return { answer: seen, half: fault?.kind === "truncate", headers };
  }

  /**
   * `result` is what the idempotency record holds (null: nothing ran), `seen` what the client gets (null: a torn
   * connection).
   */
  #run(admitted: Admitted, now: number) {
    const { fault, write } = admitted;
    const same = (answer: Answer | PrintedDocument) => ({
      result: answer,
      seen: answer,
      status: isAnswer(answer) ? answer.status : 200,
    });
    switch (fault?.kind) {
      case "status": {
        const late = this.#world.readings.values().failingWritesCommitLateSeconds;
        if (fault.when === "after") {
          if (late > 0 && fault.status >= 500 && write !== null)
            this.#writeLate(admitted, now + late * 1000);
          else this.#operate(admitted, now);
        }
        return same(statusAnswer(fault));
      }
      case "reset": {
        const result = fault.when === "after" ? this.#operate(admitted, now) : null;
        return { result, seen: null, status: null };
      }
      case "garbage": {
        const result = this.#operate(admitted, now);
        return { result, seen: GARBAGE, status: GARBAGE.status };
      }
      case "cursor":
        return same(new Refusal(400, "VALIDATION_ERROR", "cursor is not valid any more.").answer);
      default:
        return same(this.#operate(admitted, now));
    }
  }

  #operate({ arrived, match, key }: Admitted, now: number): Answer | PrintedDocument {
    return this.#attempt(() => {
      const body = bodyOf(arrived, match.operation.body !== undefined);
      return perform(this.#world, key, match, arrived.query, body, now);
    });
  }

  /** What a refused operation wrote is undone; its refusal is the answer. */
  #attempt(work: () => Answer | PrintedDocument): Answer | PrintedDocument {
    try {
      return this.#world.transaction(work);
    } catch (error) {
      if (error instanceof Refusal) return error.answer;
      throw error;
    }
  }

  #writeLate({ arrived, key }: Admitted, due: number): void {
    const { method, path, body } = arrived;
    const text = body.length === 0 ? null : body.toString("utf8");
    this.#world.late.add({ due, key: key.name, method, path, body: text });
  }

  async #depart({ answer, half, headers }: Outcome): Promise<Departure> {
    if (answer === null) return { answer: null, half };
    const date = new Date(this.#world.clock.now()).toUTCString();
    const whole = isAnswer(answer) ? answer : await printed(answer);
    return { answer: { ...whole, headers: { Date: date, ...headers, ...whole.headers } }, half };
  }
}

/** Part 5, rule 4: the address of the caller must be on the key's list when it has one. */
function checkAddress({ addresses }: Key, address: string): void {
  if (addresses === null || addresses.includes(address)) return;
  throw new Refusal(403, "INSUFFICIENT_SCOPE", `The address ${address} is not allowed.`);
}

/** Part 5, rules 4 and 5. Reading, and the freight calculation, need no scope (readings). */
function checkScope({ scopes }: Key, { operation }: Match): void {
  if (!operation.idempotencyKey) return;
  const scope = operation.scope ?? WRITE_SCOPE;
  if (!scopes.includes(scope))
    throw new Refusal(403, "INSUFFICIENT_SCOPE", `The key lacks the scope ${scope}.`);
}

/** Rule W1: null when the operation takes no Idempotency-Key. */
function writeOf(key: Key, match: Match, arrived: Arrived): Write | null {
  if (!isWrite(arrived.method) || !match.operation.idempotencyKey) return null;
  const { method, path } = arrived;
  const value = requiredKey(arrived.headers.idempotencyKey);
  return { company: key.company, key: value, method, path, hash: hashOf(arrived) };
}

function statusAnswer(fault: Extract<Fault, { kind: "status" }>): Answer {
  const { status, code = codeOf(status), retryAfter } = fault;
  const headers: Record<string, string> =
    retryAfter === undefined ? {} : { "Retry-After": String(retryAfter) };
  return new Refusal(status, code, "A fault of the sandbox.", { headers }).answer;
}

async function printed(document: PrintedDocument): Promise<Answer> {
  const body = await print(document);
  const name = document.title.replaceAll(/[^A-Za-z0-9-]+/g, "-");
  const headers = { "Content-Disposition": `inline; filename="${name}.pdf"` };
  return { status: 200, type: "application/pdf", body, headers };
}

const isAnswer = (value: Answer | PrintedDocument): value is Answer => "status" in value;

const NOTHING_SENT = { digest: "", contentType: undefined, tooLarge: false };

const GARBAGE = json(200, "<html><body>It works, but this is no JSON</body>");

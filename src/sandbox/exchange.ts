/**
 * One request from arrival to answer. What it writes, its idempotency record and its line in the log are one
 * transaction; only a delay makes them two, with the key in flight in between.
 */
import { hash } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { admit, type Admitted, type Arrived, matchRoute, replayOf } from "./admission.ts";
import {
  type Answer,
  bodyOf,
  codeOf,
  invalid,
  json,
  JSON_TYPE,
  parsed,
  Refusal,
} from "./answer.ts";
import { iso } from "./clock.ts";
import { print, type PrintedDocument } from "./document.ts";
import type { Fault } from "./faults.ts";
import type { Write } from "./idempotency.ts";
import { written } from "./notation.ts";
import { perform } from "./operations/index.ts";
import type { World } from "./world.ts";

export interface Departure {
  /** Null: the connection is torn down with no answer. */
  readonly answer: Answer | null;
  /** Half of the body, then the connection is torn down. */
  readonly half: boolean;
}

type Result = Answer | PrintedDocument;

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

/** What came of a request. */
interface Run {
  /** What its idempotency record holds; null: nothing ran. */
  readonly result: Result | null;
  /** What the client gets; null: a torn connection. */
  readonly seen: Result | null;
}

interface Outcome {
  readonly seen: Result | null;
  readonly half: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

const TORN: Outcome = { seen: null, half: false, headers: {} };

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
        const run = (): Result => {
          const given = body === null ? undefined : parsed(body);
          return perform(world, caller, match, {}, given, due);
        };
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
  #arrive({ key, method, path, body, due }: LateWrite, write: Write, run: () => Result): void {
    const world = this.#world;
    const bodyHash = body === null ? null : hash("sha256", body);
    const arrival = { at: iso(due), key, method, path, query: {}, bodyHash };
    const seq = world.log.begin({ ...arrival, idempotencyKey: write.key });
    let replay: Answer | null = null;
    const answer = this.#attempt(() => (replay = world.idempotency.check(write, due)) ?? run());
    const { status } = isAnswer(answer) ? answer : { status: 200 };
    if (replay === null && isAnswer(answer) && status !== 409)
      world.idempotency.end(write, answer, due, due);
    world.log.end(seq, key, { status, replayed: replay !== null, fault: null });
  }

  async #handle(arrived: Arrived): Promise<Departure> {
    const world = this.#world;
    this.commitLate();
    const first = world.transaction(() => {
      const admitted = admit(world, arrived);
      if ("settled" in admitted)
        return { seen: admitted.settled, half: false, headers: admitted.headers };
      return admitted.fault?.kind === "delay" ? admitted : this.#finish(admitted);
    });
    return this.#depart("seen" in first ? first : await this.#later(first));
  }

  /** A fault `delay`: the key is in flight, then the write runs, whether or not its client still waits. */
  async #later(admitted: Admitted): Promise<Outcome> {
    const world = this.#world;
    const { epoch } = world;
    const ms = admitted.fault?.kind === "delay" ? admitted.fault.ms : 0;
    try {
      await setTimeout(ms, undefined, { signal: this.#end.signal });
    } catch {
      return TORN;
    }
    // A reset came in between: the world that this request came to is gone.
    if (world.epoch !== epoch) return TORN;
    return world.transaction(() => this.#finish(admitted));
  }

  /** Runs the operation, or what a fault makes of it, and keeps the outcome. */
  #finish(admitted: Admitted): Outcome {
    const world = this.#world;
    const { key, write, fault, seq, headers, at } = admitted;
    const now = world.clock.now();
    const { result, seen } = this.#run(admitted, now);
    if (write !== null && result === null) world.idempotency.free(write);
    if (write !== null && result !== null && isAnswer(result))
      world.idempotency.end(write, result, at, now);
    const again = fault?.kind === "twice" && write !== null ? replayOf(world, write, now) : null;
    const status = seen === null ? null : isAnswer(seen) ? seen.status : 200;
    if (status !== null && status < 400) world.keys.bill(key.name, now);
    const replayed = again !== null;
    world.log.end(seq, key.name, { status, replayed, fault: fault?.kind ?? null });
    return { seen: again ?? seen, half: fault?.kind === "truncate", headers };
  }

  #run(admitted: Admitted, now: number): Run {
    const { fault } = admitted;
    switch (fault?.kind) {
      case "status": {
        if (fault.when === "after" && !this.#putOff(admitted, fault, now))
          this.#operate(admitted, now);
        return plainly(statusAnswer(fault));
      }
      case "reset": {
        const result = fault.when === "after" ? this.#operate(admitted, now) : null;
        return { result, seen: null };
      }
      case "garbage":
        return { result: this.#operate(admitted, now), seen: GARBAGE };
      case "cursor":
        return plainly(invalid("cursor is not valid any more: start the walk again.").answer);
      case "held":
        // Nobody misses a read.
        if (admitted.write !== null)
          this.#defer(admitted, now + fault.seconds * 1000, admitted.write);
        return { result: null, seen: null };
      case "delay":
      case "truncate":
      case "twice":
      case undefined:
        return plainly(this.#operate(admitted, now));
    }
  }

  #operate({ arrived, match, key }: Admitted, now: number): Result {
    return this.#attempt(() => {
      const body = bodyOf(arrived, match.operation.body !== undefined);
      return perform(this.#world, key, match, arrived.query, body, now);
    });
  }

  /** What a refused operation wrote is undone; its refusal is the answer. */
  #attempt(work: () => Result): Result {
    try {
      return this.#world.transaction(work);
    } catch (error) {
      if (error instanceof Refusal) return error.answer;
      throw error;
    }
  }

  /** Leaves a write that answers 5xx for later, when the reading says so. */
  #putOff(admitted: Admitted, { status }: StatusFault, now: number): boolean {
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
    this.#world.sql.run(
      "insert into late (due, key, method, path, body, write) values (?, ?, ?, ?, ?, ?)",
      [due, key.name, method, path, body, held],
    );
  }

  async #depart({ seen, half, headers }: Outcome): Promise<Departure> {
    if (seen === null) return { answer: null, half };
    const date = new Date(this.#world.clock.now()).toUTCString();
    const whole = isAnswer(seen) ? this.#written(seen) : await printed(seen);
    return { answer: { ...whole, headers: { Date: date, ...headers, ...whole.headers } }, half };
  }

  #written(answer: Answer): Answer {
    const nth = this.#answers++;
    if (answer.type !== JSON_TYPE || typeof answer.body !== "string") return answer;
    return { ...answer, body: written(answer.body, nth, this.#world.readings.values()) };
  }
}

type StatusFault = Extract<Fault, { kind: "status" }>;

const plainly = (result: Result): Run => ({ result, seen: result });

function statusAnswer({ status, code = codeOf(status), retryAfter }: StatusFault): Answer {
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

const isAnswer = (value: Result): value is Answer => "status" in value;

const GARBAGE = json(200, "<html><body>It works, but this is no JSON</body>");

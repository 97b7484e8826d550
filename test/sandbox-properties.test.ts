/**
 * The sandbox against the model of W1 to W6: random writes, faults, moves of the clock, restarts and crashes, over HTTP.
 * Time stands still but for the moves, so every bound is met to the millisecond. A failure says its seed.
 *
 * @module-tag numbers
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import {
  begun,
  crash,
  type Expected,
  type Fault,
  fits,
  type Model,
  recordOf,
  release,
  type Seen,
  send,
  type Write,
} from "../src/sandbox/model.suite.ts";
import { runs } from "./support/runs.ts";
import { control, inProcess, type Rig } from "../src/sandbox/rig.suite.ts";

const START = Date.UTC(2026, 0, 15);
const SEQUENCES = runs(20, 200, 1_000);

/** The writes that a fault delays wait here, in this process, until they are let go. */
const { parked } = vi.hoisted(() => ({ parked: [] as (() => void)[] }));
vi.mock("node:timers/promises", async (original) => ({
  ...(await original<object>()),
  setTimeout: () => new Promise<void>((resolve) => parked.push(resolve)),
}));

type Command =
  | { readonly do: "write"; readonly write: Write; readonly spelling: number }
  | { readonly do: "together"; readonly writes: readonly Write[] }
  | { readonly do: "arm"; readonly fault: Fault }
  | { readonly do: "advance"; readonly seconds: number }
  | { readonly do: "release" | "restart" | "crash" };

const write: fc.Arbitrary<Write> = fc.record({
  company: fc.constantFrom("supplier", "supplier", "customer"),
  path: fc.constantFrom("/invoices", "/invoices", "/delivery-tickets"),
  key: fc.oneof(
    { weight: 20, arbitrary: fc.constantFrom("property-key-0001", "property-key-0002") },
    { weight: 1, arbitrary: fc.constantFrom("", "short") },
  ),
  body: fc.constantFrom("A", "A", "A", "B", "wrong"),
});

const fault: fc.Arbitrary<Fault> = fc
  .tuple(
    fc.constantFrom<Pick<Fault, "kind" | "status" | "when">>(
      ...[400, 404, 500, 503, 504].flatMap((status) => [
        { kind: "status" as const, status, when: "before" as const },
        { kind: "status" as const, status, when: "after" as const },
      ]),
      { kind: "reset", when: "before" },
      { kind: "reset", when: "after" },
      { kind: "truncate" },
      { kind: "garbage" },
      { kind: "delay" },
      { kind: "delay" },
      { kind: "delay" },
    ),
    fc.record(
      {
        path: fc.constantFrom<Write["path"]>("/invoices", "/delivery-tickets"),
        key: fc.constantFrom<Write["company"]>("supplier", "customer"),
      },
      { requiredKeys: [] },
    ),
    fc.constantFrom(1, 1, 2),
  )
  .map(([what, match, times]) => ({ ...what, ...match, times }));

const MOVES = [0.001, 1, 30, 59, 59.999, 60, 60.001, 3_600, 86_340, 86_399.999, 86_400, 200_000];

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 12, arbitrary: fc.record({ do: fc.constant("write"), write, spelling: fc.nat(1) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("together"),
      writes: fc.array(write, { minLength: 2, maxLength: 3 }),
    }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("arm"), fault }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("advance"), seconds: fc.constantFrom(...MOVES) }),
  },
  { weight: 2, arbitrary: fc.constant({ do: "release" }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("restart", "crash") }) },
);

/** One sequence: every answer, and what is left at its end, as the model says. Returns how many commands it was. */
async function play(rig: Rig, commands: readonly Command[]): Promise<number> {
  await control(rig, "POST", "/reset", { scenario: "empty" });
  const player = new Player(rig);
  for (const command of commands) {
    await player.play(command);
    await player.checkTotal();
  }
  await player.settle();
  await player.checkRecords();
  return commands.length;
}

class Player {
  readonly #rig: Rig;
  #model = begun(START);
  /** What the clients of the delayed writes will see. */
  #waiting: Promise<Seen>[] = [];

  constructor(rig: Rig) {
    this.#rig = rig;
  }

  async play(command: Command): Promise<void> {
    const rig = this.#rig;
    switch (command.do) {
      case "write":
        return this.#write(command.write, command.spelling);
      case "together":
        return this.#together(command.writes);
      case "arm": {
        const { fault } = command;
        await control(rig, "POST", "/faults", {
          ...fault,
          method: "POST",
          ...(fault.kind === "delay" ? { ms: 600_000 } : {}),
        });
        this.#model = { ...this.#model, faults: [...this.#model.faults, fault] };
        return;
      }
      case "advance":
        await control(rig, "POST", "/clock", { advanceSeconds: command.seconds });
        this.#model = { ...this.#model, now: this.#model.now + command.seconds * 1_000 };
        return;
      case "release":
        if (this.#waiting.length > 0) await this.#release();
        return;
      case "restart":
        return this.#restart();
      case "crash":
        await rig.crash();
        await Promise.all(this.#waiting.splice(0));
        this.#model = crash(this.#model);
    }
  }

  /** Nothing is in flight any more. */
  async settle(): Promise<void> {
    while (this.#waiting.length > 0) await this.#release();
  }

  async checkTotal(): Promise<void> {
    const state = await control<{ records: Record<string, number> }>(this.#rig, "GET", "/state");
    const { invoices = 0, "delivery-tickets": tickets = 0 } = state.records;
    const counts = Object.values(this.#model.written);
    expect(invoices + tickets).toBe(counts.reduce((sum, count) => sum + count, 0));
  }

  async checkRecords(): Promise<void> {
    expect(await recordsOf(this.#rig)).toEqual(this.#model.written);
  }

  async #write(write: Write, spelling: number): Promise<void> {
    const { expected, after } = send(this.#model, write);
    if (expected === null) {
      const before = await lastRequest(this.#rig);
      this.#waiting.push(sent(this.#rig, write, spelling));
      while ((await lastRequest(this.#rig)) === before) await new Promise(setImmediate);
      this.#model = after(NOTHING);
      return;
    }
    const seen = await sent(this.#rig, write, spelling);
    this.#check(write, expected, seen);
    this.#model = after(seen);
  }

  /** At the same time: the answers must be those of one order or another. */
  async #together(writes: readonly Write[]): Promise<void> {
    if (this.#model.faults.some(({ kind }) => kind === "delay")) {
      for (const write of writes) await this.#write(write, 0);
      return;
    }
    const seen = await Promise.all(writes.map((write) => sent(this.#rig, write, 0)));
    const pairs = writes.map((write, at) => [write, seen[at] as Seen] as const);
    for (const order of orders(pairs)) {
      const model = inOrder(this.#model, order);
      if (model === null) continue;
      this.#model = model;
      return;
    }
    throw new Error(
      `no order explains ${JSON.stringify(pairs)} after ${JSON.stringify(this.#model)}`,
    );
  }

  async #release(): Promise<void> {
    const {
      parked: [write],
    } = this.#model;
    const { expected, after } = release(this.#model);
    this.#rig.release();
    const seen = await (this.#waiting.shift() as Promise<Seen>);
    this.#check(write as Write, expected as Expected, seen);
    this.#model = after(seen);
  }

  /** An orderly end waits for what is in flight. */
  async #restart(): Promise<void> {
    const ended = this.#rig.restart();
    while (this.#waiting.length > 0) await this.#release();
    await ended;
  }

  #check(write: Write, expected: Expected, seen: Seen): void {
    if (fits(expected, seen)) return;
    const [asked, got, model] = [write, seen, this.#model].map((value) => JSON.stringify(value));
    throw new Error(`${asked}\n  got ${got}\n  not ${JSON.stringify(expected)}\n  after ${model}`);
  }
}

const NOTHING: Seen = { status: null, text: null, replayed: false, retryAfter: null };

/** The model after these answers in this order, or null if they do not fit. */
function inOrder(model: Model, pairs: readonly (readonly [Write, Seen])[]): Model | null {
  return pairs.reduce<Model | null>((before, [write, seen]) => {
    if (before === null) return null;
    const { expected, after } = send(before, write);
    return expected !== null && fits(expected, seen) ? after(seen) : null;
  }, model);
}

const orders = <T>(items: readonly T[]): T[][] =>
  items.length === 0
    ? [[]]
    : items.flatMap((first, at) => orders(items.toSpliced(at, 1)).map((rest) => [first, ...rest]));

const secrets = new Map<string, string>();

/** A is valid on both paths, in two spellings of one value. */
function bodyOf(name: Write["body"], spelling: number): string {
  if (name === "wrong") return '{"invoiceNumber":7,"ticketNumber":7}';
  return spelling === 0
    ? `{"invoiceNumber":"${name}","ticketNumber":"${name}","subtotal":1,"total":1,"lineItems":[{"description":"x","amount":1}]}`
    : `{"total":1.0,"subtotal":1e0,"lineItems":[{"amount":1.00,"description":"x"}],"ticketNumber":"${name}","invoiceNumber":"${name}"}`;
}

async function sent(
  rig: Rig,
  { company, path, key, body }: Write,
  spelling: number,
): Promise<Seen> {
  try {
    const answer = await fetch(rig.baseUrl + path, {
      method: "POST",
      headers: {
        "X-API-Key": secrets.get(company) ?? "",
        "Idempotency-Key": key,
        "Content-Type": "application/json",
      },
      body: bodyOf(body, spelling),
    });
    return {
      status: answer.status,
      text: await answer.text().catch(() => null),
      replayed: answer.headers.get("Idempotency-Replayed") === "true",
      retryAfter: answer.headers.get("Retry-After"),
    };
  } catch {
    return NOTHING;
  }
}

async function lastRequest(rig: Rig): Promise<number> {
  const { requests } = await control<{ requests: { seq: number }[] }>(
    rig,
    "GET",
    "/requests?last=1",
  );
  return requests[0]?.seq ?? 0;
}

/** How many records there are of a company, path and body. */
async function recordsOf(rig: Rig): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const company of ["supplier", "customer"] as const)
    for (const path of ["/invoices", "/delivery-tickets"] as const) {
      const { records } = await control<{ records: Record<string, string>[] }>(
        rig,
        "GET",
        `/records${path}?key=${company}`,
      );
      for (const { invoiceNumber, ticketNumber } of records) {
        const body = (invoiceNumber ?? ticketNumber) as Write["body"];
        const record = recordOf({ company, path, body, key: "" });
        counts[record] = (counts[record] ?? 0) + 1;
      }
    }
  return counts;
}

async function learnSecrets(rig: Rig): Promise<void> {
  const { keys } = await control<{ keys: { name: string; key: string }[] }>(rig, "GET", "/keys");
  for (const { name, key } of keys) secrets.set(name, key);
}

describe("W1 to W6, as a model says", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "fuelbridge-model-"));
    vi.useFakeTimers({ toFake: ["Date"], now: START });
  });
  afterAll(() => {
    vi.useRealTimers();
    rmSync(folder, { recursive: true, force: true });
  });

  it(
    "hundreds or thousands of commands: writes, faults, moves of the clock, restarts, crashes",
    async () => {
      const rig = await inProcess(folder, parked);
      await learnSecrets(rig);
      let played = 0;
      const sequence = fc.array(command, { minLength: 1, maxLength: 22, size: "max" });
      const property = fc.asyncProperty(sequence, async (commands) => {
        played += await play(rig, commands);
      });
      try {
        await fc.assert(property, { numRuns: SEQUENCES });
        expect(played).toBeGreaterThan(SEQUENCES * 6);
      } finally {
        await rig.end();
      }
    },
    SEQUENCES * 10_000,
  );
});

/** A real store under an engine whose endpoints do what the test says. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { calendarOf } from "../../src/core/time.ts";
import { z } from "zod";
import {
  type Change,
  defineMapping,
  type Outgoing,
  type Page,
  type Sink,
  type Source,
} from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { stringifyExact } from "../../src/core/json.ts";
import type { Answer, Finding, Policy } from "../../src/core/outcome.ts";
import type { Engine, Flow } from "../../src/engine/engine.ts";
import { openDatabase, storeFile } from "../../src/store/database.ts";
import { openStore, type Store } from "../../src/store/store.ts";
import { expectSeen } from "./seen.ts";
import { testClock, type TestClock } from "./clock.ts";

export const Bill = z.looseObject({
  number: z.string(),
  amount: z.custom<Decimal>((value) => value instanceof Decimal),
  payer: z.string().optional(),
  product: z.string().optional(),
});
type Bill = z.infer<typeof Bill>;

export const billMapping = defineMapping<Bill, Bill>({
  name: "test/bills",
  kind: "invoice",
  input: Bill,
  output: Bill,
  number: ({ number }) => number,
  map: (bill, references) => {
    if (bill.payer !== undefined) references.counterpart("customer", bill.payer);
    if (bill.product !== undefined) references.row("products", bill.product);
    return bill;
  },
  figures: ({ amount }) => ({ amount, gallons: null }),
  posts: true,
});

export const quickPolicy: Policy = {
  settleMs: 1_000,
  reads: 1,
  readGapMs: 0,
  preflight: false,
  afterTimeout: "person",
  afterNone: "again",
  resendsMax: null,
  resend: "same",
  keyLifeMs: 23 * 3_600_000,
  probeMs: 45_000,
};

interface Scripted {
  readonly answer: Answer;
  readonly execute: boolean;
}

/** A receiver that keeps what it executed and answers as it is told to. */
export interface Receiver extends Omit<Sink, "send"> {
  send: Sink["send"];
  readonly executed: { key: string; body: string }[];
  readonly sent: { key: string; body: string }[];
  /** What to answer next; executed when the answer's rule says so, or when `execute` says otherwise. */
  readonly script: ((request: Outgoing) => Scripted | Promise<Scripted>)[];
}

export function receiver(options: Partial<Sink> = {}): Receiver {
  const executed: { key: string; body: string }[] = [];
  const sent: { key: string; body: string }[] = [];
  const script: Receiver["script"] = [];
  const idOf = (body: string): string =>
    `id-of-${(JSON.parse(body) as { number?: string }[])[0]?.number}`;
  return {
    operation: "bill.create",
    writes: "create",
    itemsMax: 1,
    policy: quickPolicy,
    executed,
    sent,
    script,
    freeze: (items) => ({
      target: "bills",
      body: stringifyExact(items.map(({ document }) => document)),
    }),
    async send(request) {
      const { key, body } = request;
      sent.push({ key, body });
      const next = await script.shift()?.(request);
      const { answer, execute } = next ?? {
        answer: { outcome: "done", detail: "201", ids: [idOf(body)] },
        execute: true,
      };
      if (execute) executed.push({ key, body });
      return answer;
    },
    async find({ body }): Promise<Finding> {
      const there = executed.filter((one) => one.body === body);
      if (there.length > 1) return { found: "several", detail: "twice" };
      return there.length === 1
        ? { found: "exact", ids: [idOf(body)], detail: "there" }
        : { found: "none", detail: "not there" };
    },
    ...options,
  };
}

export function bill(number: string, amount: string, extra: object = {}): Change {
  return {
    id: number,
    version: null,
    text: stringifyExact({ number, amount: Decimal.of(amount), ...extra }),
    origin: `bills.csv line ${number}`,
  };
}

/** Yields these pages, one read after the other. */
export function pagesOf(...reads: Page[][]): Source {
  return {
    async *read() {
      yield* reads.shift() ?? [];
    },
  };
}

export interface Bench {
  readonly engine: Engine;
  readonly store: Store;
  readonly clock: TestClock;
  readonly notes: string[];
  flow(options: Partial<Flow> & { sink: Sink; source: Source }): Flow;
}

/** An empty store as it is after all migrations, made once: making it is a quarter of what a short test computes. */
let made: Buffer | null = null;

function newStore(folder: string): void {
  const path = storeFile(folder);
  if (!existsSync(folder) || existsSync(path)) return;
  if (made === null) {
    const template = mkdtempSync(join(tmpdir(), "fuelbridge-"));
    openDatabase(storeFile(template)).close();
    made = readFileSync(storeFile(template));
    rmSync(template, { recursive: true });
  }
  writeFileSync(path, made, { mode: 0o600 });
}

export function engineOn(folder: string, clock = testClock()): Bench {
  newStore(folder);
  const store = openStore(folder);
  expectSeen(folder, store);
  const notes: string[] = [];
  const tables = new Map<string, Record<string, string>>();
  const flows: Flow[] = [];
  const engine: Engine = {
    store,
    clock,
    company: "bluebonnet",
    environment: "test",
    currency: "USD",
    dayOf: calendarOf("America/Chicago"),
    flows,
    tables: { row: (table, key) => tables.get(`${table} ${key}`) ?? null },
    note: (event) => notes.push(event),
  };
  return {
    engine,
    store,
    clock,
    notes,
    flow({ name = "bills", mapping = billMapping, ...rest }) {
      const flow: Flow = {
        flow: store.flows.open(name, mapping.kind).flow,
        name,
        from: "erp.bills",
        to: "platform.bills",
        side: "erp",
        mapping,
        schedule: { everyMs: 60_000 },
        paused: false,
        ...rest,
      };
      flows.push(flow);
      return flow;
    },
  };
}

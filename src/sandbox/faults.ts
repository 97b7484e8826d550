/** Armed faults (docs/sandbox.md, Faults). They queue up; a request uses up the oldest one that matches it. */
import type { Database, Statement } from "better-sqlite3";
import { z } from "zod";
import { operations } from "../platform/contract/operations.ts";

const paths = Object.values(operations).map(({ path }) => path);

const match = {
  method: z.enum(["GET", "POST", "PUT", "DELETE", "PATCH"]).optional(),
  path: z.enum(paths).optional(),
  key: z.string().optional(),
  times: z.int().min(1).default(1),
};
const when = z.enum(["before", "after"]);

export const Fault = z.discriminatedUnion("kind", [
  z.strictObject({
    ...match,
    kind: z.literal("status"),
    status: z.int().min(400).max(599),
    when: when.default("before"),
    code: z.string().min(1).optional(),
    retryAfter: z.union([z.number().min(0), z.string().min(1)]).optional(),
  }),
  z.strictObject({ ...match, kind: z.literal("reset"), when: when.default("before") }),
  z.strictObject({ ...match, kind: z.literal("delay"), ms: z.number().min(0).max(600_000) }),
  z.strictObject({ ...match, kind: z.literal("truncate") }),
  z.strictObject({ ...match, kind: z.literal("garbage") }),
  z.strictObject({ ...match, kind: z.literal("cursor") }),
  z.strictObject({ ...match, kind: z.literal("twice") }),
  z.strictObject({ ...match, kind: z.literal("held"), seconds: z.number().min(0).max(604_800) }),
]);
export type Fault = z.infer<typeof Fault>;

export interface Target {
  readonly method: string;
  /** The route as the specification writes it. */
  readonly route: string;
  readonly key: string;
  readonly hasCursor: boolean;
}

interface Row {
  readonly id: number;
  readonly times: number;
  readonly fault: string;
}

export class Faults {
  readonly #all: Statement<[], Row>;
  readonly #insert: Statement<[number, string]>;
  readonly #use: Statement<[number]>;
  readonly #spent: Statement<[]>;
  readonly #clear: Statement<[]>;

  constructor(database: Database) {
    this.#all = database.prepare("select id, times, fault from fault order by id");
    this.#insert = database.prepare("insert into fault (times, fault) values (?, ?)");
    this.#use = database.prepare("update fault set times = times - 1 where id = ?");
    this.#spent = database.prepare("delete from fault where times <= 0");
    this.#clear = database.prepare("delete from fault");
  }

  arm(fault: Fault): number {
    return Number(this.#insert.run(fault.times, JSON.stringify(fault)).lastInsertRowid);
  }

  /** What is armed, with how many times are left. */
  list(): object[] {
    return this.#all.all().map(({ id, times, fault }) => ({ id, ...JSON.parse(fault), times }));
  }

  clear(): void {
    this.#clear.run();
  }

  take(target: Target): Fault | null {
    for (const { id, fault: text } of this.#all.all()) {
      const fault = JSON.parse(text) as Fault;
      if (!matches(fault, target)) continue;
      this.#use.run(id);
      this.#spent.run();
      return fault;
    }
    return null;
  }
}

function matches(fault: Fault, { method, route, key, hasCursor }: Target): boolean {
  return (
    (fault.method ?? method) === method &&
    (fault.path ?? route) === route &&
    (fault.key ?? key) === key &&
    (fault.kind !== "cursor" || hasCursor)
  );
}

/** Armed faults (docs/sandbox.md, Faults). They queue up; a request uses up the oldest one that matches it. */
import { z } from "zod";
import { operations } from "../platform/contract/operations.ts";
import type { Sql } from "./database.ts";

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
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  arm(fault: Fault): number {
    const text = JSON.stringify(fault);
    const sql = "insert into fault (times, fault) values (?, ?)";
    return Number(this.#sql.run(sql, fault.times, text).lastInsertRowid);
  }

  /** What is armed, with how many times are left. */
  list(): object[] {
    return this.#all().map(({ id, times, fault }) => ({ id, ...JSON.parse(fault), times }));
  }

  clear(): void {
    this.#sql.run("delete from fault");
  }

  take(target: Target): Fault | null {
    for (const { id, fault: text } of this.#all()) {
      const fault = JSON.parse(text) as Fault;
      if (!matches(fault, target)) continue;
      this.#sql.run("update fault set times = times - 1 where id = ?", id);
      this.#sql.run("delete from fault where times <= 0");
      return fault;
    }
    return null;
  }

  #all(): Row[] {
    return this.#sql.all<Row>("select id, times, fault from fault order by id");
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

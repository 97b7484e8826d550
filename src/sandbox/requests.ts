/** What requests leave and meet: their log, armed faults, and the records behind Idempotency-Key. */
import { z } from "zod";
import { operations } from "../platform/contract/operations.ts";
import { type Answer, invalid, refusal } from "./answer.ts";
import { Part } from "./database.ts";
import { wholeSeconds } from "./settings.ts";

/** One request as `GET /requests` tells it. */
interface Arrival {
  readonly at: string;
  readonly key: string | null;
  readonly method: string;
  /** Concrete, without the root. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly idempotencyKey: string | null;
  readonly bodyHash: string | null;
}

interface Ending {
  /** Null for a torn connection. */
  readonly status: number | null;
  readonly replayed: boolean;
  readonly fault: string | null;
}

interface Wanted {
  /** A sequence number, exclusive. */
  readonly since: number;
  /** At most so many, the latest; -1: all. */
  readonly last: number;
  readonly method: string | null;
  readonly path: string | null;
}

const KEPT = 100_000;

/** The last 100,000 requests, refused ones too. A reset empties the log; the sequence goes on. */
export class RequestLog extends Part {
  /** Its sequence number. The status stays null until it ends. */
  begin(arrival: Arrival): number {
    const { lastInsertRowid } = this.sql.run(
      `insert into request (at, key, method, path, query, idempotency_key, replayed, body_hash)
       values (:at, :key, :method, :path, :query, :idempotencyKey, 0, :bodyHash)`,
      { ...arrival, query: JSON.stringify(arrival.query) },
    );
    const seq = Number(lastInsertRowid);
    this.sql.run("delete from request where seq <= ?", seq - KEPT);
    return seq;
  }

  end(seq: number, key: string | null, { status, replayed, fault }: Ending): void {
    const ended = "update request set key = ?, status = ?, replayed = ?, fault = ? where seq = ?";
    this.sql.run(ended, key, status, replayed ? 1 : 0, fault, seq);
  }

  /** Oldest first. */
  list(wanted: Wanted): object[] {
    const rows = this.sql.all<Record<string, unknown>>(
      `select seq, at, key, method, path, query, idempotency_key as idempotencyKey, status, replayed, fault,
         body_hash as bodyHash
       from request where seq > :since and (:method is null or method = :method)
         and (:path is null or path = :path) order by seq desc limit :last`,
      wanted,
    );
    return rows.toReversed().map(({ query, replayed, ...row }) => ({
      ...row,
      query: JSON.parse(String(query)) as object,
      replayed: replayed === 1,
    }));
  }

  clear(): void {
    this.sql.run("delete from request");
  }
}

const match = {
  method: z.enum(["GET", "POST", "PUT", "DELETE", "PATCH"]).optional(),
  path: z.enum(Object.values(operations).map(({ path }) => path)).optional(),
  key: z.string().optional(),
  times: z.int().min(1).default(1),
};
const when = z.enum(["before", "after"]).default("before");

const fault = <const Kind extends string, Fields extends z.ZodRawShape>(
  kind: Kind,
  fields: Fields,
) => z.strictObject({ ...match, kind: z.literal(kind), ...fields });

/** An armed fault (docs/sandbox.md, Faults). */
export const Fault = z.discriminatedUnion("kind", [
  fault("status", {
    status: z.int().min(400).max(599),
    when,
    code: z.string().min(1).optional(),
    retryAfter: z.union([z.number().min(0), z.string().min(1)]).optional(),
  }),
  fault("reset", { when }),
  fault("delay", { ms: z.number().min(0).max(600_000) }),
  fault("truncate", {}),
  fault("garbage", {}),
  fault("cursor", {}),
  fault("twice", {}),
  fault("held", { seconds: z.number().min(0).max(604_800) }),
]);
export type Fault = z.infer<typeof Fault>;

interface Target {
  readonly method: string;
  /** The route as the specification writes it. */
  readonly path: string;
  readonly key: string;
  readonly hasCursor: boolean;
}

/** They queue up; a request uses up the oldest one that matches it. */
export class Faults extends Part {
  arm(fault: Fault): number {
    const text = JSON.stringify(fault);
    const sql = "insert into fault (times, fault) values (?, ?)";
    return Number(this.sql.run(sql, fault.times, text).lastInsertRowid);
  }

  /** What is armed, with how many times are left. */
  list(): (Fault & { readonly id: number })[] {
    const rows = this.sql.all<{ id: number; times: number; fault: string }>(
      "select id, times, fault from fault order by id",
    );
    return rows.map(({ id, times, fault }) => ({ id, ...(JSON.parse(fault) as Fault), times }));
  }

  clear(): void {
    this.sql.run("delete from fault");
  }

  take(target: Target): Fault | null {
    const found = this.list().find((fault) => matches(fault, target));
    if (found === undefined) return null;
    this.sql.run("update fault set times = times - 1 where id = ?", found.id);
    this.sql.run("delete from fault where times <= 0");
    return found;
  }
}

const matches = (fault: Fault, target: Target): boolean =>
  (["method", "path", "key"] as const).every((of) => (fault[of] ?? target[of]) === target[of]) &&
  (fault.kind !== "cursor" || target.hasCursor);

/** What a key stands for: a key belongs to a company, over all operations. */
export interface Write {
  readonly company: string;
  readonly key: string;
  readonly method: string;
  readonly path: string;
  /** Equal for equal JSON values. */
  readonly hash: string;
}

interface Row extends Write {
  readonly state: "running" | "done" | "held";
  readonly status: number | null;
  readonly type: string | null;
  readonly body: string | null;
  readonly arrived: number;
  readonly until: number | null;
}

const RETENTION_MS = 24 * 3600 * 1000;
const HOLD_MS = 60 * 1000;

/** The records behind Idempotency-Key (specification part 4, rules W1 to W6; readings, Idempotency). */
export class Idempotency extends Part {
  /** Null when the write may run, else the original answer (W2). @throws Refusal when the key is taken (W3 to W5). */
  check(write: Write, now: number): Answer | null {
    const known = "select * from idempotency where company = ? and key = ?";
    const row = this.sql.get<Row>(known, write.company, write.key);
    if (row === undefined) return null;
    const running = row.state === "running";
    const left = (row.until ?? now) - now;
    if (!running && now >= row.arrived + RETENTION_MS) return null;
    if (row.state === "held" && left <= 0) return null;
    const retry = { headers: { "Retry-After": running ? "1" : String(wholeSeconds(left)) } };
    if (row.method !== write.method || row.path !== write.path || row.hash !== write.hash)
      throw refusal(
        "IDEMPOTENCY_KEY_CONFLICT",
        "The Idempotency-Key was used for another request.",
        row.state === "done" ? {} : retry,
      );
    if (running)
      throw refusal("IDEMPOTENCY_IN_FLIGHT", "The first request with this key is running.", retry);
    if (row.state === "held")
      throw refusal(
        "IDEMPOTENCY_OUTCOME_UNKNOWN",
        "The first request with this key failed; the write may have completed.",
        retry,
      );
    const { status, type, body } = row;
    const headers = { "Idempotency-Replayed": "true" };
    return { status: status ?? 200, type, body: body ?? "", headers };
  }

  /** From now on the key is in flight (W4). */
  begin(write: Write, now: number): void {
    const nothing = { status: null, type: null, body: null, until: null };
    this.#save({ ...write, ...nothing, state: "running", arrived: now });
  }

  /** The outcome of a write that began at `arrived`: kept, held or freed by its status. */
  end(write: Write, answer: Answer, arrived: number, now: number): void {
    const { status, type } = answer;
    const outdated = "delete from idempotency where arrived <= ? and state <> 'running'";
    this.sql.run(outdated, now - RETENTION_MS);
    if (status >= 400 && status < 500) return this.free(write);
    const done = status < 500;
    const until = done ? null : status === 504 ? arrived + RETENTION_MS : now + HOLD_MS;
    const state = done ? "done" : "held";
    this.#save({ ...write, state, status, type, body: String(answer.body), arrived, until });
  }

  free({ company, key }: Write): void {
    this.sql.run("delete from idempotency where company = ? and key = ?", company, key);
  }

  /** After a restart nobody knows what became of the writes in flight (W5). */
  restart(now: number): void {
    this.sql.run(
      "update idempotency set state = 'held', until = min(?, arrived + ?) where state = 'running'",
      [now + HOLD_MS, RETENTION_MS],
    );
  }

  #save(row: Row): void {
    this.sql.run(
      `insert or replace into idempotency values
       (:company, :key, :method, :path, :hash, :state, :status, :type, :body, :arrived, :until)`,
      row,
    );
  }
}

/** Rule W1; an empty header counts as missing, one of the wrong form is invalid (readings). */
export function requiredKey(header: string | undefined): string {
  if (header === undefined || header === "")
    throw refusal("IDEMPOTENCY_KEY_REQUIRED", "A write needs the header Idempotency-Key.");
  if (!/^[A-Za-z0-9_-]{16,200}$/.test(header))
    throw invalid("Idempotency-Key must be 16 to 200 characters of A-Z a-z 0-9 _ -.");
  return header;
}

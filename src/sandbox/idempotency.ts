/** The records behind Idempotency-Key (specification part 4, rules W1 to W6; readings, Idempotency). */
import { type Answer, invalid, refusal } from "./answer.ts";
import type { Sql } from "./database.ts";
import { seconds } from "./keys.ts";

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

export class Idempotency {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Null when the write may run, else the original answer (W2). @throws Refusal when the key is taken (W3 to W5). */
  check(write: Write, now: number): Answer | null {
    const row = this.#sql.get<Row>("select * from idempotency where company = ? and key = ?", [
      write.company,
      write.key,
    ]);
    if (row === undefined) return null;
    const running = row.state === "running";
    if (!running && now >= row.arrived + RETENTION_MS) return null;
    const left = (row.until ?? now) - now;
    if (row.state === "held" && left <= 0) return null;
    const retry = { headers: { "Retry-After": running ? "1" : String(seconds(left)) } };
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
    this.#sql.run(
      "delete from idempotency where arrived <= ? and state <> 'running'",
      now - RETENTION_MS,
    );
    if (status >= 400 && status < 500) return this.free(write);
    const body = String(answer.body);
    const failed = status >= 500;
    const until = status === 504 ? arrived + RETENTION_MS : now + HOLD_MS;
    const state = failed ? "held" : "done";
    this.#save({ ...write, state, status, type, body, arrived, until: failed ? until : null });
  }

  free({ company, key }: Write): void {
    this.#sql.run("delete from idempotency where company = ? and key = ?", company, key);
  }

  /** After a restart nobody knows what became of the writes in flight (W5). */
  restart(now: number): void {
    this.#sql.run(
      "update idempotency set state = 'held', until = min(?, arrived + ?) where state = 'running'",
      [now + HOLD_MS, RETENTION_MS],
    );
  }

  #save(row: Row): void {
    this.#sql.run(
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

import type { Sql } from "./database.ts";

/** One request as `GET /requests` tells it. */
export interface Arrival {
  readonly at: string;
  readonly key: string | null;
  readonly method: string;
  /** Concrete, without the root. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly idempotencyKey: string | null;
  readonly bodyHash: string | null;
}

export interface Ending {
  /** Null for a torn connection. */
  readonly status: number | null;
  readonly replayed: boolean;
  readonly fault: string | null;
}

export interface Wanted {
  /** A sequence number, exclusive. */
  readonly since: number;
  /** At most so many, the latest. */
  readonly last: number | null;
  readonly method: string | null;
  readonly path: string | null;
}

const KEPT = 100_000;

/** The last 100,000 requests, refused ones too. A reset empties the log; the sequence goes on. */
export class RequestLog {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Its sequence number. The status stays null until it ends. */
  begin(arrival: Arrival): number {
    const { lastInsertRowid } = this.#sql.run(
      `insert into request (at, key, method, path, query, idempotency_key, replayed, body_hash)
       values (:at, :key, :method, :path, :query, :idempotencyKey, 0, :bodyHash)`,
      { ...arrival, query: JSON.stringify(arrival.query) },
    );
    const seq = Number(lastInsertRowid);
    this.#sql.run("delete from request where seq <= ?", seq - KEPT);
    return seq;
  }

  end(seq: number, key: string | null, { status, replayed, fault }: Ending): void {
    this.#sql.run("update request set key = ?, status = ?, replayed = ?, fault = ? where seq = ?", [
      key,
      status,
      replayed ? 1 : 0,
      fault,
      seq,
    ]);
  }

  /** Oldest first. */
  list({ last, ...wanted }: Wanted): object[] {
    const rows = this.#sql.all<Record<string, unknown>>(
      `select seq, at, key, method, path, query, idempotency_key as idempotencyKey, status, replayed, fault,
         body_hash as bodyHash
       from request where seq > :since and (:method is null or method = :method)
         and (:path is null or path = :path) order by seq desc limit :last`,
      { ...wanted, last: last ?? -1 },
    );
    return rows.toReversed().map((row) => ({
      ...row,
      query: JSON.parse(String(row.query)) as object,
      replayed: row.replayed === 1,
    }));
  }

  clear(): void {
    this.#sql.run("delete from request");
  }
}

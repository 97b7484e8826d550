/** What was delivered, as it was written: for receivers that cannot be asked. Read only. */
import type Database from "better-sqlite3";
import type { Remembered } from "../core/contract.ts";
import { shownId } from "./ids.ts";
import { expectBody } from "./sums.ts";

interface ItemRow {
  readonly request: number;
  readonly id: Buffer | string;
  readonly number: string;
}
interface BytesRow {
  readonly request: number;
  readonly target: string;
  readonly body: string;
  readonly body_sha256: string;
  readonly updated_ms: number;
  readonly body_gone_ms: number | null;
}

export function remembered(database: Database.Database) {
  const items = database.prepare<[string], ItemRow>(
    `select delivery.request, record.id, delivery.number
     from (select max(delivery) as delivery from delivery where state = 'delivered' and content is not null
           group by record)
       join delivery using (delivery) join request using (request) join record using (record)
     where operation = +? order by delivery.request`,
  );
  const bytes = database.prepare<[number], BytesRow>(
    "select request, target, body, body_sha256, updated_ms, body_gone_ms from request where request = ?",
  );
  return {
    /**
     * Requests of an operation, oldest first, each document in the newest that delivered it.
     * @throws StorageError when frozen bytes are damaged
     */
    *of(operation: string): Generator<Remembered> {
      for (const [request, own] of Map.groupBy(items.all(operation), (row) => row.request)) {
        const row = bytes.get(request);
        if (row === undefined || row.body_gone_ms !== null) continue;
        expectBody(row);
        yield {
          target: row.target,
          body: row.body,
          items: own.map(({ id, number }) => ({ id: shownId(id), number })),
          deliveredAt: new Date(row.updated_ms).toISOString(),
        };
      }
    },
  };
}

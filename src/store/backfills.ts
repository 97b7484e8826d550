/** Past periods that are read anew, each with a position of its own. */
import type Database from "better-sqlite3";
import type { Json } from "../core/json.ts";

export interface BackfillRow {
  readonly backfill: number;
  readonly flow: string;
  /** Days of the company (`2026-10-01`), both included. */
  readonly fromDay: string;
  readonly toDay: string;
  /** `reading` also when the process that read was killed. */
  readonly state: "reading" | "paused" | "done";
  /** Percent of the month's requests that backfills may use, this one included. */
  readonly share: number;
  readonly askedBy: string;
  readonly beganMs: number;
  readonly changedMs: number;
  /** Records that its source said it has to go through; null: it did not say. */
  readonly expected: number | null;
  /** Records that it has gone through. */
  readonly gone: number;
  /** Those of the period. */
  readonly records: number;
  /** Those of which a delivery was made. */
  readonly received: number;
  readonly requests: number;
  /** Why it is paused; null: it is not. */
  readonly code: string | null;
  readonly message: string | null;
  readonly next: string | null;
}

export interface NewBackfill {
  readonly flow: number;
  readonly fromDay: string;
  readonly toDay: string;
  readonly position: Json;
  readonly share: number;
  readonly askedBy: string;
  readonly expected: number | null;
}

export function backfills(database: Database.Database) {
  const columns = `backfill, flow.name as flow, from_day as fromDay, to_day as toDay, state, share,
    asked_by as askedBy, began_ms as beganMs, changed_ms as changedMs, expected, gone, records, received,
    requests, code, message, next from backfill join flow using (flow)`;
  const list = database.prepare<[number], BackfillRow>(
    `select ${columns} order by backfill desc limit ?`,
  );
  const unfinished = database.prepare<[], BackfillRow>(
    `select ${columns} where state <> 'done' order by backfill`,
  );
  const get = database.prepare<[number], BackfillRow>(`select ${columns} where backfill = ?`);
  const find = database.prepare<[string, string, string], BackfillRow>(
    `select ${columns} where state <> 'done' and flow.name = ? and from_day = ? and to_day = ?`,
  );
  const add = database.prepare(
    `insert into backfill (flow, from_day, to_day, state, position, share, asked_by, began_ms, changed_ms, expected)
     values (:flow, :fromDay, :toDay, 'reading', :position, :share, :askedBy, :at, :at, :expected)`,
  );
  const goOn = database.prepare(
    `update backfill set state = 'reading', share = ?, changed_ms = ?, code = null, message = null, next = null
     where backfill = ?`,
  );
  const advance = database.prepare(
    `update backfill set position = :position, gone = gone + :gone, records = records + :records,
       received = received + :received, changed_ms = :at where backfill = :backfill`,
  );
  const spend = database.prepare("update backfill set requests = requests + ? where backfill = ?");
  const end = database.prepare(
    `update backfill set state = :state, code = :code, message = :message, next = :next, changed_ms = :at
     where backfill = :backfill`,
  );
  const position = database
    .prepare<[number], string>("select position from backfill where backfill = ?")
    .pluck();

  return {
    /** The newest first. */
    list: (limit: number): BackfillRow[] => list.all(limit),
    /** The oldest first. */
    unfinished: (): BackfillRow[] => unfinished.all(),
    get: (backfill: number): BackfillRow => get.get(backfill) as BackfillRow,
    /** The unfinished one of this flow and period; null: there is none. */
    find: (flow: string, fromDay: string, toDay: string): BackfillRow | null =>
      find.get(flow, fromDay, toDay) ?? null,
    position: (backfill: number): Json => JSON.parse(position.get(backfill) ?? "null") as Json,
    /** Inside a transaction, as all that follow. */
    add(row: NewBackfill, at: number): number {
      return Number(
        add.run({ ...row, position: JSON.stringify(row.position), at }).lastInsertRowid,
      );
    },
    goOn(backfill: number, share: number, at: number): void {
      goOn.run(share, at, backfill);
    },
    /** One more page is stored. */
    advance(
      backfill: number,
      page: Pick<BackfillRow, "gone" | "records" | "received"> & { readonly position: Json },
      at: number,
    ): void {
      advance.run({ ...page, backfill, position: JSON.stringify(page.position), at });
    },
    spend(backfill: number, requests: number): void {
      spend.run(requests, backfill);
    },
    /** `trouble`: why it is paused; null: it is done. */
    end(
      backfill: number,
      trouble: { readonly code: string; readonly message: string; readonly next: string } | null,
      at: number,
    ): void {
      const { code = null, message = null, next = null } = trouble ?? {};
      end.run({ backfill, state: trouble === null ? "done" : "paused", code, message, next, at });
    },
  };
}

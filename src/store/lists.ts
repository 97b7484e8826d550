/**
 * Whole lists, per flow: the records that the newest one no longer has, and what a person has said of one that was held
 * (src/engine/lists.ts). A record that is not here is in the newest list.
 */
import type Database from "better-sqlite3";
import { shownId } from "./ids.ts";
import { wholeIn } from "./sums.ts";

/** A record that was delivered and that its list no longer has. */
export interface Unlisted {
  readonly record: number;
  readonly id: string;
  /** Its newest delivery, and the state of it. */
  readonly delivery: number;
  readonly state: "delivered" | "skipped";
  /** Since when the list lacks it, ms. */
  readonly sinceMs: number;
}

export function lists(database: Database.Database) {
  const count = database
    .prepare<[number], number>("select coalesce(sum(count), 0) from record_count where flow = ?")
    .pluck();
  const concluded = database
    .prepare<[number], number>("select count(*) from unlisted where flow = ? and concluded = 1")
    .pluck();
  const records = database
    .prepare<[number], number>("select record from record where flow = ?")
    .pluck();
  const standing = database.prepare<[number], { record: number; concluded: 0 | 1 }>(
    "select record, concluded from unlisted where flow = ?",
  );
  const add = database.prepare(
    `insert into unlisted (record, flow, since_ms, concluded) values (?, ?, ?, ?)
     on conflict do update set concluded = max(concluded, excluded.concluded)`,
  );
  const back = database.prepare("delete from unlisted where record = ?");
  const forget = database.prepare("delete from unlisted where flow = ? and concluded = 0");
  const conclude = database.prepare("update unlisted set concluded = 1 where flow = ?");
  const untold = database.prepare<[number], Omit<Unlisted, "id"> & { id: Buffer | string }>(
    `select u.record, r.id, d.delivery, d.state, u.since_ms as sinceMs
     from unlisted u join record r using (record)
       join delivery d on d.delivery = (select max(delivery) from delivery n where n.record = u.record)
     where u.flow = ? and u.concluded = 1 and d.state in ('delivered', 'skipped')
       and exists (select 1 from delivery e where e.record = u.record and e.state = 'delivered')
       and not exists (select 1 from disagreement g where g.record = u.record and g.finder = 'list')
     order by u.record`,
  );
  const delivered = database.prepare<[number], { id: Buffer | string; text: string }>(
    `select id, ${wholeIn("record")} as text from record
     where flow = ? and exists (select 1 from delivery indexed by delivery_of_record
       where record = record.record and state = 'delivered')`,
  );
  const idOf = database
    .prepare<[number], Buffer | string>("select id from record where record = ?")
    .pluck();
  const since = database
    .prepare<[number, Buffer | string], number>(
      `select since_ms from unlisted join record using (record)
       where record.flow = ? and record.id = ? and concluded = 1`,
    )
    .pluck();
  const held = database.prepare<[number], { held: number | null; accepted: number | null }>(
    "select held, accepted from list_limit where flow = ?",
  );
  const hold = database.prepare(
    `insert into list_limit (flow, held) values (?, ?) on conflict do update set held = excluded.held`,
  );
  const accept = database.prepare(
    "update list_limit set accepted = held, held = null where flow = ? and held is not null",
  );
  const drop = database.prepare("delete from list_limit where flow = ?");

  return {
    /** How many records the newest list that was believed had. */
    had: (flow: number): number => (count.get(flow) ?? 0) - (concluded.get(flow) ?? 0),
    /** Every record that ever came from it, in no order. */
    records: (flow: number): readonly number[] => records.all(flow),
    /** Those that the newest list lacks; `concluded`: it was believed. */
    standing: (flow: number) => standing.all(flow),
    /** Inside a transaction, as all that follow. */
    lack(flow: number, record: number, isConcluded: boolean, atMs: number): void {
      add.run(record, flow, atMs, isConcluded ? 1 : 0);
    },
    back: (record: number): void => void back.run(record),
    /** What a list lacked that was not believed is of no consequence. */
    forget: (flow: number): void => void forget.run(flow),
    /** A person believes it. */
    conclude: (flow: number): void => void conclude.run(flow),
    /** Records that were delivered, that the list lacks, and that nobody was told of. */
    untold: (flow: number): Unlisted[] =>
      untold.all(flow).map((row) => ({ ...row, id: shownId(row.id) })),
    /** Records that were delivered once, with their newest text; in no order. */
    *delivered(flow: number): Iterable<{ readonly id: string; readonly text: string }> {
      for (const { id, text } of delivered.iterate(flow)) yield { id: shownId(id), text };
    },
    idOf: (record: number): string => shownId(idOf.get(record) ?? ""),
    /** How many records a list has that waits for a person; and how many a person has accepted. */
    limit: (flow: number) => held.get(flow) ?? { held: null, accepted: null },
    hold: (flow: number, total: number): void => void hold.run(flow, total),
    /** False: none waits. */
    accept: (flow: number): boolean => accept.run(flow).changes > 0,
    taken: (flow: number): void => void drop.run(flow),
    /** Since when its newest list lacks a record, ms; null: it has it, or was not believed. */
    lackedSince: (flow: number, id: Buffer | string): number | null => since.get(flow, id) ?? null,
  };
}

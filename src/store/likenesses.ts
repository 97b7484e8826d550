/** By what copies of documents would be known (src/engine/copies.ts), of each document that went or is on its way. */
import type Database from "better-sqlite3";
import { shownId } from "./ids.ts";

export interface Likened {
  readonly recordId: string;
  readonly number: string;
}

/** By the first key of its table, and what is known of each record by its own. */
export const OTHERS = `select likeness.record, record.id, coalesce((select number from delivery
     where delivery.record = likeness.record and number is not null order by delivery desc limit 1), '') as number
   from likeness cross join record on record.record = likeness.record
   where likeness.likeness = ? and likeness.record <> +? and exists (
     select 1 from delivery left join request using (request) where delivery.record = likeness.record
       and (delivery.state in ('pending', 'frozen', 'delivered') or request.live = 1))`;

export function likenesses(database: Database.Database) {
  const others = database.prepare<
    [string, number],
    { record: number; id: Buffer | string; number: string }
  >(OTHERS);
  const drop = database.prepare("delete from likeness where record = ?");
  const add = database.prepare("insert or ignore into likeness (likeness, record) values (?, ?)");

  return {
    /** Other records that are like it and went, or are on their way. */
    others: (likeness: string, record: number): Likened[] =>
      others
        .all(likeness, record)
        .map(({ id, number }) => ({ recordId: shownId(id), number: number || shownId(id) })),
    /** The record goes: by these its copies are known from now on. Inside a transaction. */
    keep(record: number, all: readonly string[]): void {
      drop.run(record);
      for (const likeness of all) add.run(likeness, record);
    },
  };
}

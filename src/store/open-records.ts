/** Records whose deliveries are not decided, or were decided without a delivery. Read only. */
import type Database from "better-sqlite3";
import { wholeIn } from "./sums.ts";
import { corrected } from "../core/correction.ts";
import { corrections } from "./corrections.ts";
import { storedId } from "./ids.ts";

export function openRecords(database: Database.Database) {
  const fields = corrections(database);
  const waiting = database.prepare<[number], { record: number; text: string }>(
    `select record, ${wholeIn("record")} as text from delivery join record using (record)
     where delivery.flow = ? and delivery.state in ('pending', 'quarantined')`,
  );
  const newest = database.prepare<
    [number, Buffer | string],
    { open: 0 | 1; skipped: string | null; closed: string | null }
  >(
    `select exists (select 1 from delivery
                    where record = r.record and state in ('pending', 'quarantined')) as open,
            (select coalesce(note, '') from delivery indexed by delivery_of_record
             where record = r.record and state = 'skipped' and revision = r.revision
             order by delivery desc limit 1) as skipped,
            (select coalesce(note, '') from delivery indexed by delivery_of_record
             where record = r.record and state = 'resolved' and revision = r.revision
             order by delivery desc limit 1) as closed
     from record r where r.flow = ? and r.id = ?`,
  );

  return {
    /** Of a flow, as text with the corrections of people: those whose deliveries wait to be mapped, or for a person. */
    *waiting(flow: number): Iterable<string> {
      for (const { record, text } of waiting.all(flow))
        yield corrected(text, fields.standing(record));
    },

    /**
     * A record of a flow: why its newest version was skipped, and what a person said who closed it, where that was so.
     * Null: the flow has no such record.
     */
    newest(flow: number, id: string): { skipped: string | null; closed: string | null } | null {
      const row = newest.get(flow, storedId(id));
      if (row === undefined) return null;
      const { open, skipped, closed } = row;
      return open === 1 ? { skipped: null, closed: null } : { skipped, closed };
    },
  };
}

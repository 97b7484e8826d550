/**
 * What happened to a document and still matters for its later versions, per record, whatever its number is: it is
 * gone at its receiver, its record turned into the other kind, or it is not finished at its receiver.
 */
import type Database from "better-sqlite3";
import { storedId } from "./ids.ts";

/**
 * - `gone`: it was delivered, and its receiver no longer has it (src/engine/lost.ts)
 * - `turned`: it is booked as the other kind (src/engine/turned.ts)
 * - `unfinished`: it is at its receiver, where a person must do the rest (src/engine/unfinished.ts)
 */
type Incident = "gone" | "turned" | "unfinished";

/** `retried`: a person has said that it goes again. `over`: it has no consequence any more. */
type IncidentState = "open" | "retried" | "over";

export function incidents(database: Database.Database) {
  const open = database.prepare(
    `insert into incident (record, incident, state)
     select record, :incident, 'open' from delivery where delivery = :delivery
     on conflict do update set state = 'open'`,
  );
  const end = database.prepare(
    `update incident set state = 'over'
     where record = (select record from delivery where delivery = :delivery) and incident = :incident`,
  );
  const state = database
    .prepare<[number, Incident], IncidentState>(
      "select state from incident where record = ? and incident = ?",
    )
    .pluck();
  const ever = database
    .prepare<[Incident, number, Buffer | string], number>(
      `select 1 from incident where incident = ?
         and record = (select record from record where flow = ? and id = ?) limit 1`,
    )
    .pluck();
  const retry = database.prepare(
    `update incident set state = 'retried'
     where incident in ('gone', 'turned') and state = 'open'
       and record = (select record from delivery where delivery = ?)`,
  );
  const dismiss = database.prepare(
    `insert or ignore into dismissed (record, counterpart)
     select record, value from quarantine join delivery using (delivery), json_each(candidates)
     where delivery = ?`,
  );
  const dismissed = database
    .prepare<[number, string], number>(
      `select 1 from dismissed
       where record = (select record from delivery where delivery = ?) and counterpart = ?`,
    )
    .pluck();

  return {
    /** It happens, perhaps again. Inside a transaction. */
    open(delivery: number, incident: Incident): void {
      open.run({ delivery, incident });
    },
    /** Inside a transaction. */
    end(delivery: number, incident: Incident): void {
      end.run({ delivery, incident });
    },
    /** Null: it never happened to the record. */
    state: (record: number, incident: Incident): IncidentState | null =>
      state.get(record, incident) ?? null,
    /** Did it ever happen to this record, whatever was decided since? */
    ever: (flow: number, recordId: string, incident: Incident): boolean =>
      ever.get(incident, flow, storedId(recordId)) !== undefined,
    /**
     * A person has a delivery in quarantine go again: what was open is retried, and the documents that were shown as
     * perhaps the same are not. Before the cause is dropped, inside a transaction.
     */
    retried(delivery: number): void {
      retry.run(delivery);
      dismiss.run(delivery);
    },
    /** Has a person said that this document is another one? */
    isDismissed: (delivery: number, counterpart: string): boolean =>
      dismissed.get(delivery, counterpart) !== undefined,
  };
}

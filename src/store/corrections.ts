/** Fields of records that people corrected (ADR 0054). The record itself stays as it was received. */
import type Database from "better-sqlite3";
import type { FieldCorrection } from "../core/correction.ts";
import { resumming } from "./sums.ts";
import { storedId } from "./ids.ts";

export interface Correction extends FieldCorrection {
  readonly who: string;
  readonly reason: string;
  readonly atMs: number;
}

export interface Correcting extends Correction {
  readonly record: number;
  /** The delivery that is in quarantine with it. */
  readonly delivery: number;
  /** The record's revision from now on: its content for the receiver is another one. */
  readonly revision: string;
}

export function corrections(database: Database.Database) {
  const columns = "field, was, value, who, reason, at_ms as atMs";
  const standing = database.prepare<[number], Correction>(
    `select ${columns} from correction
     where record = ? and ended_ms is null
       and revision = (select revision from record where record = correction.record)
     order by correction`,
  );
  const outdated = database.prepare<[number], Correction>(
    `select ${columns} from correction
     where record = ? and ended_ms is null
       and revision <> (select revision from record where record = correction.record)
     order by correction`,
  );
  const recordOf = database
    .prepare<[number, Buffer | string], number>(
      "select record from record where flow = ? and id = ?",
    )
    .pluck();
  const endField = database.prepare(
    "update correction set ended_ms = ? where record = ? and field = ? and ended_ms is null",
  );
  const endAll = database.prepare(
    "update correction set ended_ms = ? where record = ? and ended_ms is null",
  );
  const add = database.prepare<[Omit<Correcting, "delivery">]>(
    `insert into correction (record, field, was, value, revision, who, reason, at_ms)
     values (:record, :field, :was, :value, :revision, :who, :reason, :atMs)`,
  );
  const carry = database.prepare(
    "update correction set revision = ? where record = ? and ended_ms is null",
  );
  const revise = database.prepare("update record set revision = ? where record = ?");
  const resum = resumming(database, "record");
  const resumDelivery = resumming(database, "delivery");
  const reviseDelivery = database.prepare("update delivery set revision = ? where delivery = ?");

  return {
    /** Those that are applied before the mapping, the oldest first. */
    standing: (record: number): Correction[] => standing.all(record),
    /** Those of a version that a newer one has replaced. */
    outdated: (record: number): Correction[] => outdated.all(record),
    /** The standing ones, by what the source calls the record. */
    ofSource(flow: number, id: string): Correction[] {
      const record = recordOf.get(flow, storedId(id));
      return record === undefined ? [] : standing.all(record);
    },
    /** In place of what was corrected in the field before; what was received again only ends that. In a transaction. */
    correct({ delivery, ...one }: Correcting): void {
      endField.run(one.atMs, one.record, one.field);
      if (one.value !== (one.was ?? "")) add.run(one);
      carry.run(one.revision, one.record);
      revise.run(one.revision, one.record);
      resum.run(one.record);
      reviseDelivery.run(one.revision, delivery);
      resumDelivery.run(delivery);
    },
    /** A newer version has come. In a transaction. */
    end(record: number, atMs: number): void {
      endAll.run(atMs, record);
    },
  };
}

/**
 * What a page brings that was not there before: records in a row get their deliveries by one statement, in their order,
 * and both are counted in the page's transaction for the tables of counts that people's pages read (ADR 0061). Triggers
 * count the moves and changes that come later (schema.ts).
 */
import type Database from "better-sqlite3";

export function newcomers(database: Database.Database) {
  const deliver = database.prepare(
    `insert into delivery (flow, record, revision, received_ms, version, origin)
     select flow, record, revision, ?, version, origin from record where record between ? and ? order by record`,
  );
  const addDeliveries = database.prepare(
    `insert into delivery_count (flow, state, count) values (?, 'pending', ?)
     on conflict do update set count = count + excluded.count`,
  );
  const addRecords = database.prepare(
    `insert into record_count (flow, day, count) values (?, substr(?, 1, 10), ?)
     on conflict do update set count = count + excluded.count`,
  );
  let first: number | bigint | null = null;
  let last: number | bigint = 0;
  let deliveries = 0;
  const days = new Map<string, number>();

  function forget(): void {
    first = null;
    deliveries = 0;
    days.clear();
  }

  return {
    /** Before a page: the transaction of the one before may have failed. */
    forget,
    /** A record that was not there before, as its insert numbered it. Its delivery is made by {@link save}. */
    record(record: number | bigint, version: string | null): void {
      first ??= record;
      last = record;
      deliveries++;
      const day = dayOf(version);
      days.set(day, (days.get(day) ?? 0) + 1);
    },
    /** A pending delivery of a record that was there before. */
    delivery(): void {
      deliveries++;
    },
    /** After a page, and before something of it moves or another record of it gets a delivery. All of it is of this flow. */
    save(flow: number, atMs: number): void {
      if (first !== null) deliver.run(atMs, first, last);
      if (deliveries > 0) addDeliveries.run(flow, deliveries);
      for (const [day, count] of days) addRecords.run(flow, day, count);
      forget();
    },
  };
}

/** What SQL takes the day from: ten characters, unless one takes two code units. */
function dayOf(version: string | null): string {
  const day = version?.slice(0, 10) ?? "";
  return /[\ud800-\udfff]/.test(day) ? (version ?? "") : day;
}

/** Stores of many documents, made by statements: for benches only. */
import Database from "better-sqlite3";
import { storeFile } from "../src/store/database.ts";
import { sumAnew } from "../test/support/sums.ts";

/** Copies of the first document, each with its request, link and audit, searched by; one of 1,000 needs a person, one of 10 was sent from here. */
export function fillStore(folder: string, count: number): void {
  const database = new Database(storeFile(folder));
  database.pragma("locking_mode = exclusive");
  // By the log of a store each page would be written twice.
  database.pragma("journal_mode = memory");
  database.pragma("synchronous = off");
  database.pragma("cache_size = -200000");
  database.exec("update delivery set state = 'superseded' where state = 'pending'");
  const before = database.prepare("select max(record) from record").pluck().get() as number;
  database.transaction(() => {
    for (const sql of FILLING) database.prepare(sql).run({ count, before, at: Date.now() });
    sumAnew(database);
  })();
  database.pragma("journal_mode = wal");
  database.close();
}

/** The records after `:before`, `:count` of them. */
const OURS = "record > :before and :count > 0 and :at > 0";

const FILLING = [
  `with recursive n (i) as (select 1 union all select i + 1 from n where i < :count)
   insert into record (flow, id, version, revision, text)
   select flow, randomblob(16), version, revision, text from n join record
   where record.record = 1 and :before > 0 and :at > 0`,
  `insert into request (request, flow, operation, kind, number, revision, ordering_key, key, target, body, body_sha256, state,
     machine, created_ms, updated_ms, sent_ms)
   select record, flow, 'file.customer-invoice', 'invoice', 'B-' || record, revision, 'B-' || record, 'key-' || record,
     'import/B-' || record, substr(text, 1, 600), 'x', 'done', '{}', :at - record, :at - record, :at - record
   from record where ${OURS}`,
  // What is not mapped has no request.
  `insert into delivery (flow, record, revision, received_ms, state, request, number, amount, content, version)
   select flow, record, revision, :at - 1000 * (:before + :count - record), case when record % 1000 = 0 then 'quarantined' when record % 1000 = 1 then 'resolved'
       when record % 10 = 3 then 'echo' when record % 20 = 7 then 'skipped' else 'delivered' end, iif(record % 1000 = 0, null, record), 'B-' || record, '10.00', 'c', version
   from record where ${OURS}`,
  `insert into quarantine (delivery, code, cause, next, group_key, since_ms, lookup_table, lookup_key)
   select delivery, 'not-mapped', 'crossref/items.csv has no row P' || (record % 7), 'Add a row.', 'items' || char(10) || 'P' || (record % 7), :at, 'items', 'P' || (record % 7)
   from delivery where state = 'quarantined' and ${OURS}`,
  `insert into link (kind, platform_id, erp_id, born, number, content, amount, linked_ms)
   select 'invoice', lower(hex(id)), 'B-' || record, 'platform', 'B-' || record, 'c', '10.00', :at - record
   from record where ${OURS}`,
  `insert into audit (at_ms, flow, request, delivery, event, detail, who, chain)
   select :at, flow, request, delivery, 'done', '201', iif(record % 100 = 0, 'ann', null), x'00' from delivery where ${OURS}`,
  `insert or ignore into search_party (name)
   select 'A-' || (record % 500) || ' Party ' || (record % 500) from record where ${OURS} limit 500`,
  `insert into search_record (record, party, name, number, amount, currency, cents, day)
   select record, 1 + record % 500, 'Party ' || (record % 500), 'B-' || record, (record % 5000) || '.00', 'USD', 100 * (record % 5000), date(:at / 1000 - record % 31536000, 'unixepoch')
   from record where ${OURS}`,
  // As the store counts what comes (src/store/records.ts).
  `insert into record_count (flow, day, count)
   select flow, coalesce(substr(version, 1, 10), ''), count(*) from record where ${OURS} group by 1, 2
   on conflict do update set count = count + excluded.count`,
  `insert into delivery_count (flow, state, count)
   select flow, state, count(*) from delivery where ${OURS} group by 1, 2
   on conflict do update set count = count + excluded.count`,
  `update search_end set delivery = (select max(delivery) from delivery where ${OURS})`,
];

/**
 * What the console shows of people and documents: flows that a person holds, the row that a document waits for, and by
 * what documents are searched.
 */
export const consoleFacts = `
  -- A flow that a person has paused: since when. Null: nobody has.
  alter table flow add column held_ms integer;

  -- The row of a cross-reference table that a document waits for. It was told by the sentence alone.
  alter table quarantine add column lookup_table text;
  alter table quarantine add column lookup_key text;

  -- By what a document is found beside its number: the other party, the amount, the day (src/report/searching.ts). It is
  -- made from the records and can be made again.
  create table search_party (
    party integer primary key,
    name text not null unique
  ) strict;
  create table search_record (
    record integer primary key references record,
    party integer references search_party,
    amount text,
    day text not null
  ) strict;
  create index search_by_party on search_record (party) where party is not null;
  create index search_by_amount on search_record (amount) where amount is not null;
  create index search_by_day on search_record (day);
  -- The last delivery whose record was taken into it.
  create table search_end (delivery integer not null) strict;
  insert into search_end values (0);
`;

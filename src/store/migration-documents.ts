/**
 * A document is its source's id and its kind, never its number: what happened to a record is kept by the record, and numbers
 * are found as people read them.
 */
export const documentsByTheirIds = `
  -- A number as duplicates are looked for by it (\`comparedNumber\`, src/core/kinds.ts); null: it is written so.
  alter table link add column folded text;
  create index link_folded on link (folded) where folded is not null;
  alter table request add column folded text;
  create index request_folded on request (folded) where folded is not null;
  alter table delivery add column folded text;
  create index delivery_folded on delivery (folded) where folded is not null;

  -- What happened to a record counts whatever its number is by now.
  alter table incident rename to incident_before;
  create table incident (
    record integer not null references record,
    incident text not null check (incident in ('gone', 'turned', 'unfinished')),
    state text not null check (state in ('open', 'retried', 'over')),
    primary key (record, incident)
  ) strict, without rowid;
  insert into incident (record, incident, state)
  select record, incident, case max(case state when 'open' then 2 when 'retried' then 1 else 0 end)
    when 2 then 'open' when 1 then 'retried' else 'over' end
  from incident_before group by record, incident;
  drop table incident_before;
  alter table dismissed rename to dismissed_before;
  create table dismissed (
    record integer not null references record,
    counterpart text not null,
    primary key (record, counterpart)
  ) strict, without rowid;
  insert or ignore into dismissed (record, counterpart) select record, counterpart from dismissed_before;
  drop table dismissed_before;

  -- By what a copy of a document would be known (src/engine/copies.ts): one row for each way, of each document that went.
  create table likeness (
    likeness text not null,
    record integer not null references record,
    primary key (likeness, record)
  ) strict, without rowid;
  create index likeness_record on likeness (record);
`;

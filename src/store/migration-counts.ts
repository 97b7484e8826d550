/**
 * What people look at in a store of a million documents without reading all of them: how many deliveries of each flow are
 * in each state and how many records have versions of which day, held by triggers,
 * and indices for what is searched by number and grouped by cause (ADR 0061).
 */
export const countsKept = `
  create table delivery_count (
    flow integer not null references flow,
    state text not null,
    count integer not null,
    primary key (flow, state)
  ) strict, without rowid;
  insert into delivery_count (flow, state, count) select flow, state, count(*) from delivery group by flow, state;
  create trigger delivery_counted after insert on delivery
  begin
    insert into delivery_count (flow, state, count) values (new.flow, new.state, 1)
    on conflict do update set count = count + 1;
  end;
  create trigger delivery_moved after update of state on delivery when old.state <> new.state
  begin
    update delivery_count set count = count - 1 where flow = old.flow and state = old.state;
    insert into delivery_count (flow, state, count) values (new.flow, new.state, 1)
    on conflict do update set count = count + 1;
  end;

  -- Records by the first ten characters of their version: its day, where it is a time stamp. '' stands for none.
  create table record_count (
    flow integer not null references flow,
    day text not null,
    count integer not null,
    primary key (flow, day)
  ) strict, without rowid;
  insert into record_count (flow, day, count)
  select flow, coalesce(substr(version, 1, 10), ''), count(*) from record group by 1, 2;
  create trigger record_counted after insert on record
  begin
    insert into record_count (flow, day, count) values (new.flow, coalesce(substr(new.version, 1, 10), ''), 1)
    on conflict do update set count = count + 1;
  end;
  create trigger record_changed after update of version on record
  when substr(old.version, 1, 10) is not substr(new.version, 1, 10)
  begin
    update record_count set count = count - 1
    where flow = old.flow and day = coalesce(substr(old.version, 1, 10), '');
    insert into record_count (flow, day, count) values (new.flow, coalesce(substr(new.version, 1, 10), ''), 1)
    on conflict do update set count = count + 1;
  end;

  -- With the record, so that the newest ones under a prefix are found without reading their deliveries.
  drop index delivery_number;
  create index delivery_number on delivery (number, record) where number is not null;
  create index quarantine_cause on quarantine (code, cause);
`;

/** What is inserted is counted page by page (newcomers.ts): a trigger for each row took a quarter of storing it. */
export const countsByPage = `
  drop trigger delivery_counted;
  drop trigger record_counted;
`;

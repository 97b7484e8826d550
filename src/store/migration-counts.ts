/**
 * What people look at in a store of a million documents without reading all of them: how many deliveries of each flow are
 * in each state, held by triggers, and indices for what is searched by number and grouped by cause (ADR 0061).
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

  -- With the record, so that the newest ones under a prefix are found without reading their deliveries.
  drop index delivery_number;
  create index delivery_number on delivery (number, record) where number is not null;
  create index quarantine_cause on quarantine (code, cause);
`;

/** What shows whether flows work as they usually do: their last runs, and how long they were silent by hour of the week. */
export const flowsWatched = `
  -- The longest silence of a flow in each hour of the week, UTC (src/core/silence.ts).
  create table silent_hour (
    flow integer not null references flow,
    hour integer not null check (hour between 0 and 167),
    longest_ms integer not null,
    primary key (flow, hour)
  ) strict, without rowid;

  -- The newest looks of each flow at its source, for people.
  create table flow_run (
    run integer primary key,
    flow integer not null references flow,
    ended_ms integer not null,
    took_ms integer not null,
    received integer not null,
    error text
  ) strict;
  create index flow_run_flow on flow_run (flow, run);
`;

/** Past periods that are read anew beside the live position (src/engine/backfill.ts): each with a position of its own. */
export const backfillsKept = `
  create table backfill (
    backfill integer primary key,
    flow integer not null references flow,
    from_day text not null,
    to_day text not null,
    state text not null check (state in ('reading', 'paused', 'done')),
    position text not null,
    share integer not null,
    asked_by text not null,
    began_ms integer not null,
    changed_ms integer not null,
    expected integer,
    gone integer not null default 0,
    records integer not null default 0,
    received integer not null default 0,
    requests integer not null default 0,
    code text,
    message text,
    next text
  ) strict;
  create unique index backfill_open on backfill (flow, from_day, to_day) where state <> 'done';
`;

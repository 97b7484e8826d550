/** Fields that people corrected, beside the records as they were received (ADR 0054); rows of tables that were used. */
export const correctedFields = `
  create table correction (
    correction integer primary key,
    record integer not null references record,
    field text not null,
    -- What was received; null: the field was empty.
    was text,
    value text not null,
    -- Of the record with its corrections. Another one there: a newer version has come.
    revision text not null,
    who text not null,
    reason text not null,
    at_ms integer not null,
    -- Null: it stands.
    ended_ms integer
  ) strict;
  create unique index correction_standing on correction (record, field) where ended_ms is null;

  -- Rows of cross-reference tables that a document asked for: when first and last, the latter to the day.
  create table row_use (
    lookup_table text not null,
    key text not null,
    first_ms integer not null,
    last_ms integer not null,
    primary key (lookup_table, key)
  ) strict, without rowid;
`;

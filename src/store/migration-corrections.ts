/** Fields that people corrected, beside the records as they were received (ADR 0054). */
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
`;
